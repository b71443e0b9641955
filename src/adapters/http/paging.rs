//! What follows a page, and whether the pages together are the whole answer. Pure.

mod sequence;

pub(super) use sequence::Sequence;

use crate::adapters::http::extract::fields::{plain_text, single};
use crate::adapters::http::extract::{Reply, read_page, shape, shown};
use crate::domain::evidence::{Effect, EffectState, Fault, FaultKind};
use crate::domain::listing::EFFECTS_MAX;
use crate::preset::provider::{LookUp, PageEnd, PageStep, Paging, ReferencePlace};
use crate::preset::template::Fields;
use serde_json::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What a page says of further ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Further {
    /// How many there are in all, where the page says so: it decides whether there is a next one.
    pub total: Option<Total>,
    /// Where the next one is.
    pub next: Next,
}

impl Further {
    /// None: the page is the last.
    pub const NONE: Self = Self { total: None, next: Next::End };
}

/// How many there are in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// So many items.
    Items(u64),
    /// So many pages.
    Pages(u64),
}

/// Where the next page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Nowhere.
    End,
    /// Asked for with this value of the paging parameter.
    With(String),
    /// At this address, perhaps relative.
    Url(String),
    /// Where the count of pages or items so far says.
    Counted,
    /// The page is full, and says nothing of another one, not even that there is none.
    Unsaid,
}

/// What a page says of further ones.
///
/// # Errors
/// A shape fault: it says that there is more and not where, or what it says is of another type than declared.
pub(super) fn further(
    paging: &Paging,
    document: &Value,
    items: &[&Value],
    reply: &Reply,
) -> Result<Further, Fault> {
    let total = match &paging.end {
        PageEnd::More(place) => match single(place, document)? {
            Some(Value::Bool(false)) => return Ok(Further::NONE),
            Some(Value::Bool(true)) => None,
            _ => return Err(shape(format!("`{}` does not say whether there is more", place.source()))),
        },
        PageEnd::EmptyPage if items.is_empty() => return Ok(Further::NONE),
        PageEnd::Total(place) => Some(Total::Items(counted(place, document)?)),
        PageEnd::TotalHeader(header) => Some(Total::Items(counted_in_header(header, reply)?)),
        PageEnd::Pages(place) => Some(Total::Pages(counted(place, document)?)),
        PageEnd::Below(max) if items.len() >= *max => return Err(more_than_one_page()),
        PageEnd::EmptyPage | PageEnd::StepEnds | PageEnd::Below(_) => None,
    };
    let next = step(paging, document, items, reply)?;
    let must_go_on = matches!(paging.end, PageEnd::More(_) | PageEnd::EmptyPage);
    let is_full = paging.page_items.is_some_and(|full| items.len() >= full);
    if next == Next::End && total.is_none() && is_full && !says_of_next(&paging.step, document, reply) {
        return Ok(Further { total, next: Next::Unsaid });
    }
    if next == Next::End && must_go_on {
        return Err(match paging.step {
            PageStep::Single => more_than_one_page(),
            _ => shape("the answer says that there is more, and not where"),
        });
    }
    Ok(Further { total, next })
}

fn more_than_one_page() -> Fault {
    Fault::new(FaultKind::TooManyPages, "the answer has more than the one page that the preset reads")
}

fn counted(place: &crate::preset::provider::Place, document: &Value) -> Result<u64, Fault> {
    single(place, document)?
        .and_then(plain_text)
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| shape(format!("`{}` is no count", place.source())))
}

fn counted_in_header(header: &str, reply: &Reply) -> Result<u64, Fault> {
    let count = reply.header(header).and_then(|text| text.trim().parse().ok());
    count.ok_or_else(|| shape(format!("the header `{header}` is no count")))
}

/// Whether an answer that names no next page says at least that it knows of pages.
fn says_of_next(step: &PageStep, document: &Value, reply: &Reply) -> bool {
    match step {
        PageStep::LinkHeader { .. } => reply.header("link").is_some(),
        PageStep::HeaderToken { header, .. } => reply.header(header).is_some(),
        PageStep::Token { next, .. } | PageStep::NextUrl { next, .. } => !next.all(document).is_empty(),
        PageStep::Single
        | PageStep::LastId { .. }
        | PageStep::PageNumber { .. }
        | PageStep::Offset { .. } => true,
    }
}

fn step(paging: &Paging, document: &Value, items: &[&Value], reply: &Reply) -> Result<Next, Fault> {
    let token = |next, may_be_missing: bool| -> Result<Option<String>, Fault> {
        let place: &crate::preset::provider::Place = next;
        if place.all(document).is_empty() && !may_be_missing {
            return Err(shape(format!(
                "`{}` is not in the answer, so the last page cannot be known",
                place.source()
            )));
        }
        match single(place, document)? {
            None => Ok(None),
            Some(found) => plain_text(found)
                .map(|text| Some(text).filter(|text| !text.is_empty()))
                .ok_or_else(|| shape(format!("`{}` is no text", place.source()))),
        }
    };
    Ok(match &paging.step {
        PageStep::Single => Next::End,
        PageStep::LastId { id, .. } => match items.last() {
            // Whether that is the end is decided by what says how many there are.
            None => Next::End,
            Some(last) => match single(id, last)?.and_then(plain_text) {
                Some(id) => Next::With(id),
                None => return Err(shape(format!("the last item has no id (`{}`)", id.source()))),
            },
        },
        PageStep::Token { next, may_be_missing, .. } => {
            token(next, *may_be_missing)?.map_or(Next::End, Next::With)
        }
        PageStep::NextUrl { next, may_be_missing } => {
            token(next, *may_be_missing)?.map_or(Next::End, Next::Url)
        }
        PageStep::HeaderToken { header, .. } => reply
            .header(header)
            .filter(|token| !token.is_empty())
            .map_or(Next::End, |token| Next::With(token.to_owned())),
        PageStep::LinkHeader { .. } => link_next(reply)?.map_or(Next::End, Next::Url),
        PageStep::PageNumber { .. } | PageStep::Offset { .. } => Next::Counted,
    })
}

/// The address with `rel="next"` in the `Link` headers (RFC 8288).
///
/// # Errors
/// A shape fault where a header is not as it must be: a link that cannot be read could be the one to the next page.
fn link_next(reply: &Reply) -> Result<Option<String>, Fault> {
    for (_, value) in reply.headers.iter().filter(|(name, _)| name == "link") {
        let mut rest = value.trim();
        while !rest.is_empty() {
            let unreadable = || shape(format!("the Link header `{}` cannot be read", shown(value)));
            let (target, tail) =
                rest.strip_prefix('<').and_then(|text| text.split_once('>')).ok_or_else(unreadable)?;
            let (parameters, others) = split_at_comma(tail);
            if parameters.split(';').any(|parameter| is_rel_next(parameter.trim())) {
                return Ok(Some(target.to_owned()));
            }
            rest = others.trim();
        }
    }
    Ok(None)
}

/// Splits before the next link: at a comma outside quotes.
fn split_at_comma(text: &str) -> (&str, &str) {
    let mut quoted = false;
    for (at, character) in text.char_indices() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => return (&text[..at], &text[at + 1..]),
            _ => {}
        }
    }
    (text, "")
}

fn is_rel_next(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, value)| {
        let value = value.trim().trim_matches('"');
        name.trim().eq_ignore_ascii_case("rel")
            && value.split(' ').any(|rel| rel.eq_ignore_ascii_case("next"))
    })
}

/// The pages of one answer as they come in, and whether they are one whole.
#[derive(Debug)]
pub struct Reading<'look> {
    look: &'look LookUp,
    reference: &'look str,
    vars: &'look Fields,
    sequence: Sequence<'look>,
    carries_references: bool,
    effects: Vec<Effect>,
    kept: HashMap<(String, EffectState), usize>,
}

/// What to do after a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// The answer is whole.
    Whole,
    /// Ask for the next page with this value of the paging parameter.
    AskWith(String),
    /// Ask for the next page at this address, perhaps relative.
    AskAt(String),
}

impl<'look> Reading<'look> {
    /// Nothing read yet.
    pub fn new(look: &'look LookUp, reference: &'look str, vars: &'look Fields, pages_max: usize) -> Self {
        let sequence = Sequence::new(&look.paging, pages_max);
        let (effects, kept) = (Vec::new(), HashMap::new());
        Self { look, reference, vars, sequence, carries_references: false, effects, kept }
    }

    /// Whether no page was read yet.
    pub fn is_first_page(&self) -> bool {
        self.sequence.pages == 0
    }

    /// The effects of a whole answer.
    ///
    /// # Errors
    /// A shape fault where nobody's effect carries a reference: it may be that they are elsewhere (a metadata key that was
    /// misspelt, another field), and then the absence of ours proves nothing.
    pub fn into_effects(self) -> Result<Vec<Effect>, Fault> {
        if self.sequence.items > 0
            && !self.carries_references
            && let Some(fault) = nobody_carries(self.look, self.sequence.items)
        {
            return Err(fault);
        }
        Ok(self.effects)
    }

    /// Takes the next page in.
    ///
    /// # Errors
    /// The fault that the page is, alone or with those before.
    pub fn take(&mut self, reply: &Reply) -> Result<After, Fault> {
        let page = read_page(self.look, self.reference, self.vars, reply)?;
        self.carries_references |= page.carries_references;
        for effect in page.effects {
            self.keep(effect)?;
        }
        self.sequence.take(page.items, page.ids, &page.further)
    }

    /// Keeps an effect once. Pages shift while they are read, so the same effect may come twice, told the same way.
    ///
    /// One that came with another status is kept beside the first: the verdict says so.
    fn keep(&mut self, effect: Effect) -> Result<(), Fault> {
        if self.effects.len() >= EFFECTS_MAX {
            return Err(shape(format!("more than {EFFECTS_MAX} effects carry our reference")));
        }
        match self.kept.entry((effect.id.clone(), effect.state)) {
            Entry::Vacant(place) => {
                place.insert(self.effects.len());
                self.effects.push(effect);
            }
            Entry::Occupied(place) => {
                let kept = &self.effects[*place.get()];
                if kept.money != effect.money {
                    return Err(shape(format!("effect {} came with two amounts", shown(&effect.id))));
                }
            }
        }
        Ok(())
    }
}

/// The fault of an answer with so many items, none of which carries a reference; `None` where none has to.
pub(super) fn nobody_carries(look: &LookUp, items: u64) -> Option<Fault> {
    let place = match &look.effects.reference {
        ReferencePlace::InEffect { place, .. } | ReferencePlace::InItem { place, .. } => place.source(),
        ReferencePlace::InAddress => return None,
    };
    Some(shape(format!(
        "the answer has {items} items, and none carries a reference at `{place}`: is that where ours would be?"
    )))
}

#[cfg(test)]
mod tests;
