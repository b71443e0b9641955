//! How many findings there are of each sort, and the money at stake, kept up to date row by row: a frame counts nothing.

use super::row::{Gist, Row};
use crate::domain::advice::Advice;
use crate::domain::finding::FindingKind;
use crate::domain::stake::Stake;
use crate::domain::verdict::Verdict;
use crate::workflow::Checked;
use std::sync::Arc;

/// How many findings there are of each sort.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// By finding, in the order of [`FindingKind::ALL`].
    pub findings: [usize; FindingKind::ALL.len()],
    /// By verdict, in the order of [`Verdict::ALL`].
    pub verdicts: [usize; Verdict::ALL.len()],
    /// By advice, in the order of [`Advice::ALL`].
    pub advices: [usize; Advice::ALL.len()],
    /// By the number of their words.
    pub words: Vec<usize>,
    /// Not checked.
    pub unchecked: usize,
    /// Selected.
    pub selected: usize,
    /// What moved for them, as far as providers told.
    pub stake: Stake,
}

impl Counts {
    /// Counts a row in, but for its money.
    pub fn add(&mut self, gist: &Gist, selected: bool) {
        each(self, gist, selected, |count| *count += 1);
    }

    /// Counts a row out, but for its money.
    pub fn take(&mut self, gist: &Gist, selected: bool) {
        each(self, gist, selected, |count| *count = count.saturating_sub(1));
    }

    /// A row's check was replaced: so is its money.
    pub fn replace_stake(&mut self, before: Option<&Arc<Checked>>, now: Option<&Arc<Checked>>) {
        if before.map(Arc::as_ptr) == now.map(Arc::as_ptr) {
            return;
        }
        if let Some(checked) = before {
            self.stake.take(&Stake::of(&checked.judgement));
        }
        if let Some(checked) = now {
            self.stake.add(&Stake::of(&checked.judgement));
        }
    }

    /// Counts a row out that leaves the list.
    pub fn leave(&mut self, gist: &Gist, row: &Row) {
        self.take(gist, row.selected);
        self.replace_stake(row.checked.as_ref(), None);
    }
}

/// Does something to each count that a row is in.
fn each(counts: &mut Counts, gist: &Gist, selected: bool, step: impl Fn(&mut usize)) {
    counts.findings.get_mut(gist.finding as usize).map(&step);
    match gist.verdict {
        None => step(&mut counts.unchecked),
        Some(verdict) => {
            counts.verdicts.get_mut(verdict as usize).map(&step);
        }
    }
    if let Some(advice) = gist.advice {
        let at = Advice::ALL.iter().position(|other| *other == advice);
        at.and_then(|at| counts.advices.get_mut(at)).map(&step);
    }
    let words = gist.words as usize;
    if words >= counts.words.len() {
        counts.words.resize(words + 1, 0);
    }
    counts.words.get_mut(words).map(&step);
    if selected {
        step(&mut counts.selected);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts take a verdict and a finding for their place in the lists of all.
    #[test]
    fn the_lists_of_all_are_in_the_order_of_their_enums() {
        assert!(Verdict::ALL.iter().enumerate().all(|(at, verdict)| *verdict as usize == at));
        assert!(FindingKind::ALL.iter().enumerate().all(|(at, kind)| *kind as usize == at));
    }
}
