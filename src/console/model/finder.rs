//! Fuzzy find: what is typed, and the findings whose key or reference it fits best.

use super::findings::{Findings, Identity};
use super::fuzzy::Sought;
use crate::workflow::Found;
use std::sync::Arc;
use tui_input::Input;

/// How many of those that fit are shown.
pub const HITS_MAX: usize = 12;

/// The box that finds.
#[derive(Debug, Default)]
pub struct Finder {
    /// What is typed.
    pub input: Input,
    /// What is looked for.
    pub sought: Sought,
    /// The best, the very best first; with nothing typed, the first of the list.
    pub hits: Vec<Arc<Found>>,
    /// The line of the cursor.
    pub cursor: usize,
    /// Every finding that fits.
    fitting: Fitting,
}

/// The findings that fit a text, by their numbers.
#[derive(Debug, Default)]
struct Fitting {
    typed: String,
    /// `None` where all fit.
    ids: Option<Vec<u32>>,
    /// The list they are numbers of: they mean nothing in another one.
    edition: u64,
}

impl Finder {
    /// The box with nothing typed.
    pub fn new(findings: &Findings) -> Self {
        let mut finder = Self::default();
        finder.find(findings);
        finder
    }

    /// How many fit.
    pub fn fitting_len(&self, findings: &Findings) -> usize {
        self.fitting.ids.as_ref().map_or(findings.total(), Vec::len)
    }

    /// What the cursor is on.
    pub fn current(&self) -> Option<Identity> {
        self.hits.get(self.cursor).map(|found| Identity::of(&found.finding.item))
    }

    /// Looks for what is typed; only among those that fitted before, where it has grown.
    pub fn find(&mut self, findings: &Findings) {
        let typed = self.input.value();
        let narrows =
            self.fitting.edition == findings.edition() && typed.starts_with(self.fitting.typed.as_str());
        let before = if narrows { self.fitting.ids.take() } else { None };
        self.sought = Sought::new(typed);
        let (ids, hits) = if self.sought.is_empty() {
            (None, findings.first(HITS_MAX))
        } else {
            let (ids, hits) = findings.fitting(&self.sought, before.as_deref(), HITS_MAX);
            (Some(ids), hits)
        };
        self.fitting = Fitting { typed: typed.to_owned(), ids, edition: findings.edition() };
        (self.hits, self.cursor) = (hits, 0);
    }

    /// Looks again where findings came, went or changed; the cursor stays on its finding.
    pub fn find_again(&mut self, findings: &Findings) {
        if self.fitting.edition == findings.edition() {
            return;
        }
        let at = self.current();
        self.find(findings);
        let is_at = |found: &Arc<Found>| at.as_ref() == Some(&Identity::of(&found.finding.item));
        self.cursor = self.hits.iter().position(is_at).unwrap_or(0);
    }
}
