//! What is read from one answer and why, for a person who tries a preset. Pure, and by the same steps as the reading itself.

use super::{Reply, document, effects_of, fields, good_document, is_ours, items, read_page, references_of};
use crate::adapters::http::paging::{Next, Total};
use crate::domain::evidence::{Effect, Fault};
use crate::preset::provider::{
    Absence, BodyTest, CurrencyPlace, LookUp, PageEnd, PageStep, Place, ReferencePlace, StatusPlace,
};
use crate::preset::template::Fields;
use serde_json::Value;

/// What one answer holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageTold {
    /// How many items the page has, ours or not; `None` where they were not found.
    pub items: Option<usize>,
    /// Its effects in order, as far as they could be read.
    pub effects: Vec<TellEffect>,
    /// What the page says of further ones; `None` where it came to nothing.
    pub further: Option<&'static str>,
    /// Why the page counts for nothing; `None` where it counts.
    pub fault: Option<Fault>,
}

/// One effect of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TellEffect {
    /// The provider's id.
    pub id: String,
    /// The references that it carries.
    pub references: Vec<String>,
    /// Whether one of them is exactly ours.
    pub is_ours: bool,
    /// Status, money and time, where it is ours.
    pub read: Option<Effect>,
}

/// Tells what is read from an answer whose status counts.
pub fn tell(look: &LookUp, reference: &str, vars: &Fields, reply: &Reply) -> PageTold {
    let mut told = PageTold::default();
    match read_page(look, reference, vars, reply) {
        Ok(page) => {
            told.items = Some(page.items);
            told.further = Some(match (&page.further.next, page.further.total) {
                (Next::End, _) => "it is the last page",
                (Next::With(_) | Next::Url(_), _) => "it tells where the next page is",
                (Next::Counted, Some(Total::Items(_))) => "it tells how many items there are in all",
                (Next::Counted, Some(Total::Pages(_))) => "it tells how many pages there are in all",
                (Next::Counted, None) => "the next page is asked for by its number",
                (Next::Unsaid, _) => "it is full and says nothing of a next page",
            });
        }
        Err(fault) => told.fault = Some(fault),
    }
    if reply.status != 404 {
        // What can be read of a page that counts for nothing says where it goes wrong.
        told.effects = effects(look, reference, vars, reply, &mut told.items).unwrap_or_default();
    }
    told
}

fn effects(
    look: &LookUp,
    reference: &str,
    vars: &Fields,
    reply: &Reply,
    count: &mut Option<usize>,
) -> Result<Vec<TellEffect>, Fault> {
    let document = good_document(look, reply)?;
    let items = items(&look.effects, &document)?;
    *count = Some(items.len());
    let mut told = Vec::new();
    for item in items {
        for effect in effects_of(&look.effects, item)? {
            let Ok(id) = fields::id(&look.effects, effect) else { continue };
            let references = references_of(&look.effects.reference, item, effect, &id).unwrap_or_default();
            let is_ours = is_ours(&look.effects.reference, item, effect, reference, &id).unwrap_or_default();
            let read =
                is_ours.then(|| fields::effect(look, effect, id.clone(), reference, vars).ok()).flatten();
            told.push(TellEffect { id, references, is_ours, read });
        }
    }
    Ok(told)
}

/// Every value of an answer's document that its reading looks at, but for what only people look at (links) and other
/// people's references.
pub fn read_nodes<'document>(
    look: &LookUp,
    reference: &str,
    document: &'document Value,
) -> Vec<&'document Value> {
    let tests = |tests: &[BodyTest]| -> Vec<&'document Value> {
        tests.iter().flat_map(|test| test.place.all(document)).collect()
    };
    let mut nodes = tests(&look.success);
    if let Absence::Status404(when) = &look.absence {
        nodes.extend(tests(when));
    }
    match &look.paging.end {
        PageEnd::More(place) | PageEnd::Total(place) | PageEnd::Pages(place) => {
            nodes.extend(place.all(document));
        }
        PageEnd::TotalHeader(_) | PageEnd::EmptyPage | PageEnd::StepEnds | PageEnd::Below(_) => {}
    }
    if let PageStep::Token { next, .. } | PageStep::NextUrl { next, .. } = &look.paging.step {
        nodes.extend(next.all(document));
    }
    for item in items(&look.effects, document).unwrap_or_default() {
        if let PageStep::LastId { id, .. } = &look.paging.step {
            nodes.extend(id.all(item));
        }
        for effect in effects_of(&look.effects, item).unwrap_or_default() {
            nodes.extend(places_in_effect(look).into_iter().flat_map(|place| place.all(effect)));
            let found = match &look.effects.reference {
                ReferencePlace::InAddress => None,
                ReferencePlace::InEffect { place, .. } => Some((place, effect)),
                ReferencePlace::InItem { place, .. } => Some((place, item)),
            };
            if let Some((place, node)) = found {
                let ours = reference.trim().to_lowercase();
                nodes.extend(place.all(node).into_iter().filter(|found| {
                    fields::plain_text(found).is_some_and(|text| text.trim().to_lowercase() == ours)
                }));
            }
        }
    }
    nodes
}

fn places_in_effect(look: &LookUp) -> Vec<&Place> {
    let place = &look.effects;
    let mut places = vec![&place.id];
    if let StatusPlace::At(status) = &place.status {
        places.push(status);
    }
    if let Some(amount) = &place.amount {
        places.push(&amount.place);
        if let CurrencyPlace::At(currency) = &amount.currency {
            places.push(currency);
        }
    }
    places.extend(place.time.as_ref().map(|time| &time.place));
    places
}

/// An answer as one document: its JSON, or the headers of a HEAD; `None` where it is neither.
pub fn document_of(look: &LookUp, reply: &Reply) -> Option<Value> {
    document(&look.request.method, reply).ok()
}

/// How references are matched, in words.
pub fn matching(look: &LookUp) -> String {
    match &look.effects.reference {
        ReferencePlace::InAddress => "what is at the address is ours".to_owned(),
        ReferencePlace::InEffect { place, .. } => format!("`{}` of each effect, exactly", place.source()),
        ReferencePlace::InItem { place, .. } => {
            format!("`{}` of the item around it, exactly", place.source())
        }
    }
}
