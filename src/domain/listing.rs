//! A provider's list over a window, read whole once and matched on our side. Pure.
//!
//! It answers for one reference as an answer to a question for that reference would: with the same effects, or with the
//! fault that the same item would be there.

pub mod window;

use crate::domain::evidence::{Answer, Effect, EffectState, Fault, FaultKind};
use crate::domain::text::clean_cut;
use chrono::{DateTime, Utc};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The most effects of one reference that are counted: nobody was charged so often, and each goes on record.
pub const EFFECTS_MAX: usize = 1_000;

/// One effect as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedEffect {
    /// The provider's id.
    pub id: String,
    /// The references that it carries; none where it may have none.
    pub references: Vec<String>,
    /// On which page it came first, from 0.
    pub page: usize,
    /// What it is, or why that cannot be read: a fault for whoever it belongs to, and for nobody else.
    pub read: Result<Effect, Fault>,
}

impl ListedEffect {
    /// When it came about; `None` where no time can be read.
    pub fn at(&self) -> Option<DateTime<Utc>> {
        self.read.as_ref().ok()?.at
    }

    fn carries(&self, reference: &str) -> bool {
        self.references.iter().any(|theirs| theirs == reference)
    }
}

/// Every effect of a window, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    effects: Vec<ListedEffect>,
    /// Where the effects of a reference are, its case and outer spaces aside.
    places: HashMap<String, Vec<usize>>,
    known: HashMap<(String, Option<EffectState>), usize>,
    seen_from: Option<DateTime<Utc>>,
    reference_chars_max: Option<usize>,
}

impl Listing {
    /// Nothing read yet. `reference_chars_max` is how much of a reference the provider keeps.
    pub fn new(reference_chars_max: Option<usize>) -> Self {
        Self { reference_chars_max, ..Self::default() }
    }

    /// Takes an effect in, once. Pages shift while they are read, so the same one may come twice, told the same way; one
    /// that came with another status is kept beside the first, and the verdict says so.
    ///
    /// # Errors
    /// It came with two amounts, or with two references.
    pub fn keep(&mut self, effect: ListedEffect) -> Result<(), Fault> {
        let state = effect.read.as_ref().ok().map(|read| read.state);
        match self.known.entry((effect.id.clone(), state)) {
            Entry::Vacant(place) => {
                place.insert(self.effects.len());
                for reference in &effect.references {
                    let places = self.places.entry(folded(reference)).or_default();
                    if places.last() != Some(&self.effects.len()) {
                        places.push(self.effects.len());
                    }
                }
                self.effects.push(effect);
                Ok(())
            }
            Entry::Occupied(place) => match self.effects.get(*place.get()) {
                Some(known) if known.references != effect.references => Err(twice(&effect.id, "references")),
                Some(ListedEffect { read: Ok(known), .. })
                    if effect.read.as_ref().is_ok_and(|read| read.money != known.money) =>
                {
                    Err(twice(&effect.id, "amounts"))
                }
                _ => Ok(()),
            },
        }
    }

    /// Says from when on effects could be seen; `None` where nothing set a bound.
    pub fn set_seen_from(&mut self, from: Option<DateTime<Utc>>) {
        self.seen_from = from;
    }

    /// From when on effects could be seen; `None` where nothing set a bound.
    pub fn seen_from(&self) -> Option<DateTime<Utc>> {
        self.seen_from
    }

    /// Every effect in the list's order.
    pub fn effects(&self) -> &[ListedEffect] {
        &self.effects
    }

    /// The same with what it may not show replaced, its ids too. The order stays, and nothing is taken in afterwards.
    pub fn map_effects(&mut self, change: impl FnOnce(Vec<ListedEffect>) -> Vec<ListedEffect>) {
        self.effects = change(std::mem::take(&mut self.effects));
        self.known.clear();
    }

    /// The answer for one reference, matched exactly.
    ///
    /// An effect whose reference is ours but for case or outer spaces is a fault: somebody changed references on the way,
    /// and then the absence of ours proves nothing. So is a reference that the provider would have cut.
    pub fn answer(&self, reference: &str) -> Answer {
        let fault = |kind, sentence: String| Answer::Fault(Fault::new(kind, sentence));
        if let Some(chars_max) = self.reference_chars_max
            && reference.chars().count() > chars_max
        {
            let sentence =
                format!("the reference is longer than the {chars_max} characters that the provider keeps");
            return fault(FaultKind::Question, sentence);
        }
        let mut effects = Vec::new();
        for listed in self.of(reference) {
            if !listed.carries(reference) {
                let theirs = listed.references.iter().find(|theirs| folded(theirs) == folded(reference));
                let sentence = format!(
                    "effect {} carries `{}`, almost our reference: are references changed on the way?",
                    shown(&listed.id),
                    shown(theirs.map_or("", String::as_str))
                );
                return fault(FaultKind::Shape, sentence);
            }
            match &listed.read {
                Ok(effect) => effects.push(effect.clone()),
                Err(why) => return Answer::Fault(why.clone()),
            }
        }
        if effects.len() > EFFECTS_MAX {
            return fault(FaultKind::Shape, format!("more than {EFFECTS_MAX} effects carry our reference"));
        }
        Answer::Complete { effects, seen_from: self.seen_from }
    }

    /// The pages that show something of a reference, in order.
    pub fn pages_of(&self, reference: &str) -> Vec<usize> {
        let mut pages: Vec<usize> = self.of(reference).map(|listed| listed.page).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// The effects of a reference, and those that are almost of it.
    fn of(&self, reference: &str) -> impl Iterator<Item = &ListedEffect> {
        let places = self.places.get(&folded(reference)).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|place| self.effects.get(*place))
    }
}

/// A reference without its case and outer spaces.
fn folded(reference: &str) -> String {
    reference.trim().to_lowercase()
}

fn twice(id: &str, what: &str) -> Fault {
    Fault::new(FaultKind::Shape, format!("effect {} came with two {what}", shown(id)))
}

fn shown(text: &str) -> String {
    clean_cut(text, 80)
}

#[cfg(test)]
mod tests;
