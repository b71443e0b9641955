//! Decisions that are being written, and what came of each.

use super::findings::Identity;
use crate::console::words;
use crate::domain::decision::{Choice, Outcome};
use crate::domain::text::clean_cut;
use crate::workflow::Decided;
use crate::workflow::settle::OrderFault;

/// What came of one order.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The item.
    pub identity: Identity,
    /// The outcome, or why it came to nothing.
    pub result: Result<Decided, OrderFault>,
}

impl Settled {
    /// Whether it came to what was wanted: carried out, or proposed where it takes two; and on record.
    pub fn is_well(&self) -> bool {
        self.result.as_ref().is_ok_and(|decided| {
            decided.record_fault.is_none()
                && match decided.outcome {
                    Outcome::Applied { .. } | Outcome::Proposed { .. } => true,
                    Outcome::Refused { .. } | Outcome::Failed { .. } => false,
                }
        })
    }
}

fn is_proposed(settled: &Settled) -> bool {
    matches!(&settled.result, Ok(decided) if matches!(decided.outcome, Outcome::Proposed { .. }))
}

/// What happens before the next order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gait {
    /// Nothing: it goes on.
    #[default]
    Going,
    /// It waits until it is told to go on.
    Paused,
    /// It ends there.
    Stopping,
}

/// A series of orders, perhaps of one.
#[derive(Debug, Clone)]
pub struct Settling {
    /// The task's number.
    pub run: u64,
    /// What was chosen for all.
    pub choice: Choice,
    /// How many orders there are.
    pub total: usize,
    /// What came of them so far, in order.
    pub results: Vec<Settled>,
    /// What happens before the next.
    pub gait: Gait,
    /// Whether all that will come has come.
    pub ended: bool,
    /// Whether somebody has seen how it ended, or sees it now.
    pub seen: bool,
}

/// How many keys a summary names.
const KEYS_NAMED_MAX: usize = 5;

impl Settling {
    /// The summary in one line: "3 retried, 2 refused (a, b)".
    pub fn summary(&self) -> String {
        let mut parts = vec![format!("{} {}", self.applied_count(), words::done(self.choice))];
        let proposed = self.results.iter().filter(|settled| is_proposed(settled)).count();
        parts.extend((proposed > 0).then(|| format!("{proposed} proposed to a second person")));
        let is_refused = |settled: &&Settled| matches!(&settled.result, Ok(decided) if matches!(decided.outcome, Outcome::Refused { .. }));
        let is_broken = |settled: &&Settled| matches!(&settled.result, Ok(decided) if matches!(decided.outcome, Outcome::Failed { .. }));
        let is_fault = |settled: &&Settled| settled.result.is_err();
        parts.extend(named(self.results.iter().filter(is_refused), "refused"));
        parts.extend(named(self.results.iter().filter(is_broken), "broken off"));
        parts.extend(named(self.results.iter().filter(is_fault), "not begun"));
        let left = self.total.saturating_sub(self.results.len());
        if self.ended && left > 0 {
            parts.push(format!("{left} left as they were"));
        }
        parts.join(", ")
    }

    /// How many were carried out.
    pub fn applied_count(&self) -> usize {
        let is_applied = |settled: &&Settled| matches!(&settled.result, Ok(decided) if matches!(decided.outcome, Outcome::Applied { .. }));
        self.results.iter().filter(is_applied).count()
    }

    /// Whether every one was carried out or proposed, and is on record.
    pub fn all_well(&self) -> bool {
        self.results.len() == self.total && self.results.iter().all(Settled::is_well)
    }
}

fn named<'a>(settled: impl Iterator<Item = &'a Settled>, word: &str) -> Option<String> {
    let keys: Vec<String> = settled.map(|settled| clean_cut(&settled.identity.key, 40)).collect();
    if keys.is_empty() {
        return None;
    }
    let more = keys.len().saturating_sub(KEYS_NAMED_MAX);
    let mut listed = keys.iter().take(KEYS_NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 {
        listed = format!("{listed} and {more} more");
    }
    Some(format!("{} {word} ({listed})", keys.len()))
}
