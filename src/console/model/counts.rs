//! How many findings there are of each sort, kept up to date row by row: a frame counts nothing.

use super::row::Gist;
use crate::domain::finding::FindingKind;
use crate::domain::verdict::Verdict;

/// How many findings there are of each sort.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// By finding, in the order of its enum.
    pub findings: [usize; 5],
    /// By verdict, in the order of [`Verdict::ALL`].
    pub verdicts: [usize; 7],
    /// Not checked.
    pub unchecked: usize,
    /// Selected.
    pub selected: usize,
}

impl Counts {
    /// Counts a row in.
    pub fn add(&mut self, gist: &Gist, selected: bool) {
        each(self, gist, selected, |count| *count += 1);
    }

    /// Counts a row out.
    pub fn take(&mut self, gist: &Gist, selected: bool) {
        each(self, gist, selected, |count| *count = count.saturating_sub(1));
    }
}

/// Does something to each count that a row is in.
fn each(counts: &mut Counts, gist: &Gist, selected: bool, step: impl Fn(&mut usize)) {
    let kind = match gist.finding {
        FindingKind::Stuck => 0,
        FindingKind::Ambiguous => 1,
        FindingKind::Duplicate => 2,
        FindingKind::Lost => 3,
        FindingKind::Mismatch => 4,
    };
    counts.findings.get_mut(kind).map(&step);
    match gist.verdict {
        None => step(&mut counts.unchecked),
        Some(verdict) => {
            let at = Verdict::ALL.iter().position(|other| *other == verdict);
            at.and_then(|at| counts.verdicts.get_mut(at)).map(&step);
        }
    }
    if selected {
        step(&mut counts.selected);
    }
}
