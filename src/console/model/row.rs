//! One row of the list: a finding with what is known of it here.

use crate::domain::advice::Advice;
use crate::domain::decision::Choice;
use crate::domain::finding::FindingKind;
use crate::domain::harm::Plight;
use crate::domain::item::Item;
use crate::domain::verdict::Verdict;
use crate::workflow::{Checked, Found};
use chrono::TimeDelta;
use std::sync::Arc;

/// What a finding is known by through scans, sorts and filters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The source's name.
    pub source: Arc<str>,
    /// The key as a person writes it.
    pub key: Arc<str>,
}

impl Identity {
    /// The identity of an item.
    pub fn of(item: &Item) -> Self {
        Self { source: Arc::clone(&item.source), key: item.key.shared() }
    }
}

/// One finding with what is known of it here.
#[derive(Debug, Clone)]
pub struct Row {
    /// The finding.
    pub found: Arc<Found>,
    /// Its latest check; `None` before the first, and once its row changed.
    pub checked: Option<Arc<Checked>>,
    /// Whether the record did not take that check: it was told, and nobody will find it later.
    pub is_unrecorded: bool,
    /// The number of the checks it waits for; `None` when it waits for none.
    pub asked: Option<u64>,
    /// Whether it is selected.
    pub selected: bool,
    /// What was decided on it from here and left it in the list.
    pub decided: Option<Choice>,
    /// The number of the scan that saw it last.
    pub(super) seen_in: u64,
    /// The number of the scan that brought it.
    pub(in crate::console) came_in: u64,
}

impl Row {
    pub(super) fn new(found: Arc<Found>, run: u64) -> Self {
        Self {
            found,
            checked: None,
            is_unrecorded: false,
            asked: None,
            selected: false,
            decided: None,
            seen_in: run,
            came_in: run,
        }
    }

    /// Takes in a check, and whether it is on record.
    pub fn learn(&mut self, checked: Option<Arc<Checked>>, on_record: bool) {
        self.is_unrecorded = checked.is_some() && !on_record;
        self.checked = checked;
    }

    /// Whether a finding that was read anew is of an unchanged row.
    pub(super) fn is_of(&self, found: &Found) -> bool {
        is_same_row(&self.found.finding.item, &found.finding.item)
    }

    /// The verdict; `None` before a check.
    pub fn verdict(&self) -> Option<Verdict> {
        self.checked.as_ref().map(|checked| checked.verdict())
    }

    /// What its weight is made of.
    pub fn plight(&self) -> Plight {
        let finding = &self.found.finding;
        Plight {
            verdict: self.verdict(),
            risk: self.found.risk,
            finding: finding.kind,
            class: finding.error.as_ref().map(|sorted| sorted.class),
        }
    }

    /// Whether an identity is its own.
    pub fn has(&self, identity: &Identity) -> bool {
        let item = &self.found.finding.item;
        item.key.as_str() == &*identity.key && item.source == identity.source
    }

    /// Its identity.
    pub fn identity(&self) -> Identity {
        Identity::of(&self.found.finding.item)
    }
}

/// Whether an item was read twice from an unchanged row: what was learned of it still holds.
pub fn is_same_row(before: &Item, now: &Item) -> bool {
    before.status == now.status && before.fields == now.fields && before.last_error == now.last_error
}

/// What order, filter and counts need of a row. Gists lie side by side; the findings themselves are spread over memory,
/// and a key that had to visit 100,000 of them would be felt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gist {
    /// The number of its words in the list of words.
    pub words: u32,
    /// How much it hurts.
    pub weight: u8,
    /// Why it needs a person.
    pub finding: FindingKind,
    /// The verdict; `None` before a check.
    pub verdict: Option<Verdict>,
    /// The advice; `None` before a check.
    pub advice: Option<Advice>,
    /// Its age; `None` where it is not known.
    pub age: Option<TimeDelta>,
    /// Its attempts; `None` where they are not known.
    pub attempts: Option<i64>,
}

impl Gist {
    /// The gist of a row that has the words of a number.
    pub fn of(row: &Row, words: u32) -> Self {
        let finding = &row.found.finding;
        Self {
            words,
            weight: row.plight().weight(),
            finding: finding.kind,
            verdict: row.verdict(),
            advice: row.checked.as_ref().map(|checked| checked.advice()),
            age: finding.age,
            attempts: finding.item.attempts,
        }
    }
}
