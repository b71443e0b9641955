//! What was said of the incident, against what the provider really did.

use super::incident::{Case, Incident};
use super::ledger::Entry;
use crate::domain::advice::Advice;
use crate::domain::finding::FindingKind;
use crate::domain::verdict::Verdict;
use std::collections::BTreeMap;
use std::fmt;

/// What was said of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// The finding.
    pub finding: FindingKind,
    /// The verdict.
    pub verdict: Verdict,
    /// How many effects happened.
    pub effects: usize,
    /// The advice.
    pub advice: Advice,
}

/// The score: perfect when nothing is in its lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Score {
    /// How many items had to be found.
    pub cases: usize,
    /// How many of them were.
    pub found: usize,
    /// How many verdicts are right.
    pub right: usize,
    /// Cases that were not listed.
    pub missing: Vec<String>,
    /// Verdicts that are wrong, and how.
    pub wrong: Vec<String>,
    /// Items whose advice would repeat an effect.
    pub is_unsafe: Vec<String>,
    /// Items that were listed and are no case.
    pub not_a_case: Vec<String>,
}

impl Score {
    /// Compares. The keys of `said` are table and key.
    pub fn of(incident: &Incident, said: &BTreeMap<(String, String), Said>) -> Self {
        let mut score = Self::default();
        for case in &incident.cases {
            let name = format!("{} {}", case.table, case.key);
            let said = said.get(&(case.table.to_owned(), case.key.clone()));
            score.cases += usize::from(case.finding.is_some());
            match (case.finding, said) {
                (None, None) => {}
                (None, Some(_)) => score.not_a_case.push(name),
                (Some(_), None) => score.missing.push(name),
                (Some(finding), Some(said)) => score.compare(incident, case, finding, *said, name),
            }
        }
        score
    }

    fn compare(&mut self, incident: &Incident, case: &Case, finding: FindingKind, said: Said, name: String) {
        self.found += 1;
        let really = incident.ledger.under(case.book, &case.key);
        let (verdict, effects) = expected(&really);
        if said.finding == finding && said.verdict == verdict && said.effects == effects {
            self.right += 1;
        } else {
            self.wrong.push(format!(
                "{name}: said {} {}/{}, was {finding} {verdict}/{effects}",
                said.finding, said.verdict, said.effects
            ));
        }
        // Whatever the list shows yet: what is there or on its way must not be repeated.
        let would_repeat = really.iter().any(|entry| entry.status != "failed");
        if said.advice == Advice::Retry && would_repeat {
            self.is_unsafe.push(name);
        }
    }

    /// Whether nothing is wrong.
    pub fn is_perfect(&self) -> bool {
        self.cases > 0
            && self.missing.is_empty()
            && self.wrong.is_empty()
            && self.is_unsafe.is_empty()
            && self.not_a_case.is_empty()
    }
}

/// The verdict that what is visible deserves, written down here once more and more simply than where it is judged.
fn expected(really: &[&Entry]) -> (Verdict, usize) {
    let visible: Vec<&str> =
        really.iter().filter(|entry| entry.is_visible).map(|entry| entry.status).collect();
    let happened = visible.iter().filter(|status| **status == "succeeded").count();
    let verdict = match happened {
        0 if visible.contains(&"under_review") => Verdict::Unknown,
        0 if visible.contains(&"pending") => Verdict::Pending,
        0 if visible.contains(&"failed") => Verdict::Failed,
        0 => Verdict::NotFound,
        1 => Verdict::Happened,
        _ => Verdict::Duplicated,
    };
    (verdict, happened)
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cases {}  found {}  verdicts right {}  unsafe advice {}  not a case {}",
            self.cases,
            self.found,
            self.right,
            self.is_unsafe.len(),
            self.not_a_case.len()
        )?;
        for (what, names) in [
            ("missing", &self.missing),
            ("wrong", &self.wrong),
            ("unsafe", &self.is_unsafe),
            ("not a case", &self.not_a_case),
        ] {
            for name in names.iter().take(LISTED_MAX) {
                write!(f, "\n  {what}: {name}")?;
            }
        }
        Ok(())
    }
}

/// How many items of each list are printed.
const LISTED_MAX: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::faults::Fault;
    use crate::demo::ledger::{Book, Ledger};

    fn incident(effects: &[&'static str]) -> Incident {
        let mut ledger = Ledger::default();
        for status in effects {
            ledger.add(Book::Charges, "k", status, None, 0, true);
        }
        let case = Case {
            table: "jobs",
            key: "k".to_owned(),
            fault: Fault::Slow,
            finding: Some(FindingKind::Ambiguous),
            book: Book::Charges,
        };
        Incident { cases: vec![case], ledger }
    }

    fn said(verdict: Verdict, effects: usize, advice: Advice) -> BTreeMap<(String, String), Said> {
        let said = Said { finding: FindingKind::Ambiguous, verdict, effects, advice };
        BTreeMap::from([(("jobs".to_owned(), "k".to_owned()), said)])
    }

    #[test]
    fn a_right_verdict_is_perfect_and_a_wrong_one_is_not() {
        let happened = incident(&["succeeded"]);
        assert!(Score::of(&happened, &said(Verdict::Happened, 1, Advice::MarkDone)).is_perfect());
        assert_eq!(Score::of(&happened, &said(Verdict::NotFound, 0, Advice::Wait)).wrong.len(), 1);
        assert_eq!(Score::of(&happened, &said(Verdict::Happened, 1, Advice::Retry)).is_unsafe.len(), 1);
        assert_eq!(Score::of(&happened, &BTreeMap::new()).missing.len(), 1);
        assert!(!Score::of(&happened, &BTreeMap::new()).is_perfect());
    }

    #[test]
    fn two_effects_are_a_duplicate() {
        let twice = incident(&["succeeded", "failed", "succeeded"]);
        assert!(Score::of(&twice, &said(Verdict::Duplicated, 2, Advice::Escalate)).is_perfect());
    }
}
