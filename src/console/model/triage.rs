//! The dialog of triage: the counts, and which of them the cursor is on.

use super::facets::{Tally, tallies};
use super::findings::Findings;
use crate::console::keymap::{Keymap, Place};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The dialog.
#[derive(Debug)]
pub struct Triage {
    /// The counts. They keep their places, and so their letters, as long as the dialog is open.
    pub tallies: Vec<Tally>,
    /// The letters that pick a count, in the order of the counts: those that mean nothing else here.
    letters: Vec<char>,
    /// The count under the cursor.
    pub cursor: usize,
}

impl Triage {
    /// The dialog over the findings as they are.
    pub fn new(findings: &Findings, keys: &Keymap) -> Self {
        let means_nothing = |letter: &char| {
            let event = KeyEvent::new(KeyCode::Char(*letter), KeyModifiers::NONE);
            keys.action_of(Place::Triage, event).is_none()
        };
        let letters = ('a'..='z').chain('1'..='9').chain('A'..='Z').filter(means_nothing).collect();
        Self { tallies: tallies(findings), letters, cursor: 0 }
    }

    /// The letter of a count; `None` where there are more counts than letters.
    pub fn letter(&self, at: usize) -> Option<char> {
        self.letters.get(at).copied()
    }

    /// The count of a letter.
    pub fn at_letter(&self, letter: char) -> Option<usize> {
        let at = self.letters.iter().position(|own| *own == letter)?;
        (at < self.tallies.len()).then_some(at)
    }

    /// Counts anew. What is new stands at the end.
    pub fn count_again(&mut self, findings: &Findings) {
        let mut now = tallies(findings);
        for known in &mut self.tallies {
            let is_it = |other: &Tally| other.facet == known.facet && other.value == known.value;
            if let Some(at) = now.iter().position(is_it) {
                *known = now.remove(at);
            } else {
                (known.total, known.shown, known.is_on) = (0, 0, false);
            }
        }
        self.tallies.extend(now);
    }
}
