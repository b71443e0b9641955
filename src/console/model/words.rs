//! The words of findings, each set of them once: thousands of findings share source, kind, status and the like.

use crate::domain::error_class::ErrorClass;
use crate::domain::filter::Facts;
use crate::domain::finding::FindingKind;
use crate::domain::policy::Risk;
use crate::workflow::Found;
use std::collections::HashMap;
use std::sync::Arc;

/// The words of one finding.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WordSet {
    /// The source's name.
    pub source: Arc<str>,
    /// The kind.
    pub kind: Arc<str>,
    status: Arc<str>,
    /// What a wrong decision costs.
    pub risk: Risk,
    /// Why it needs a person.
    pub finding: FindingKind,
    /// What its error proves; `None` where it tells none.
    pub class: Option<ErrorClass>,
}

impl WordSet {
    /// The kind.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The source's name.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn of(found: &Found) -> Self {
        let item = &found.finding.item;
        Self {
            source: Arc::clone(&item.source),
            kind: Arc::clone(&item.kind),
            status: Arc::clone(&item.status),
            risk: found.risk,
            finding: found.finding.kind,
            class: found.finding.error.as_ref().map(|sorted| sorted.class),
        }
    }

    /// What a filter sees of them.
    pub fn facts(&self) -> Facts<'_> {
        Facts {
            source: &self.source,
            kind: &self.kind,
            status: &self.status,
            risk: self.risk.as_str(),
            finding: self.finding.as_str(),
            class: self.class.map_or("", ErrorClass::as_str),
            ..Facts::default()
        }
    }
}

/// All sets of words that were seen, by number.
#[derive(Debug, Clone, Default)]
pub struct Words {
    sets: Vec<WordSet>,
    numbers: HashMap<WordSet, u32>,
}

impl Words {
    /// How many sets there are.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// All sets, by number.
    pub fn all(&self) -> impl Iterator<Item = &WordSet> {
        self.sets.iter()
    }

    /// The words of a number.
    pub fn get(&self, number: u32) -> Option<&WordSet> {
        self.sets.get(number as usize)
    }

    /// The number of a finding's words.
    pub fn number_of(&mut self, found: &Found) -> u32 {
        let set = WordSet::of(found);
        if let Some(number) = self.numbers.get(&set) {
            return *number;
        }
        let number = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }

    /// Where each set stands by one of its words; equal words stand at the same place.
    pub fn ranks(&self, word: impl Fn(&WordSet) -> &str) -> Vec<u32> {
        let mut words: Vec<&str> = self.sets.iter().map(&word).collect();
        words.sort_unstable();
        words.dedup();
        let place = |set| words.binary_search(&word(set)).unwrap_or_else(|place| place);
        self.sets.iter().map(|set| u32::try_from(place(set)).unwrap_or(u32::MAX)).collect()
    }
}
