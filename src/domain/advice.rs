//! The advice: what policy and verdict add up to, with its reasons.

use crate::domain::attempt::KeyProtection;
use crate::domain::finding::FindingKind;
use crate::domain::policy::Risk;
use crate::domain::verdict::{Judgement, Verdict};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What to do with an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// A person with more rights or knowledge must look.
    Escalate,
    /// The effect is there: write that down.
    MarkDone,
    /// The effect is not there: let it be tried again.
    Retry,
    /// Nothing is certain yet: ask again later.
    Wait,
}

impl Advice {
    /// Every advice.
    pub const ALL: [Self; 4] = [Self::Escalate, Self::MarkDone, Self::Retry, Self::Wait];

    /// The word as files and JSON spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MarkDone => "mark_done",
            Self::Retry => "retry",
            Self::Wait => "wait",
            Self::Escalate => "escalate",
        }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An advice with its reasons in plain sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advised {
    /// What to do.
    pub advice: Advice,
    /// Why, the weightiest first.
    pub reasons: Vec<String>,
}

/// Adds up what is known to an advice.
///
/// `live_holder` says that the source shows somebody holding the item at this moment.
pub fn advise(
    risk: Risk,
    finding: FindingKind,
    judgement: &Judgement,
    key: KeyProtection,
    live_holder: bool,
) -> Advised {
    let (advice, own) = branch(risk, finding, judgement, key, live_holder);
    let mut reasons: Vec<String> = judgement.reasons.clone();
    reasons.extend(own);
    // Rule 4, once more and on its own: the table above may change, this may not.
    let advice = match advice {
        Advice::Retry if judgement.verdict.forbids_retry() || !judgement.settled => Advice::Escalate,
        other => other,
    };
    Advised { advice, reasons }
}

const HELD: &str = "Somebody still holds the item: its effect may be on the way.";
const DISAGREE: &str = "The record says one thing and the provider another: somebody must look.";

fn branch(
    risk: Risk,
    finding: FindingKind,
    judgement: &Judgement,
    key: KeyProtection,
    live_holder: bool,
) -> (Advice, Vec<String>) {
    let say = |sentence: &str| vec![sentence.to_owned()];
    match judgement.verdict {
        Verdict::Duplicated => {
            (Advice::Escalate, say("It happened more than once: somebody must undo what is too much."))
        }
        Verdict::Mismatch => (Advice::Escalate, say("What happened is not what was asked for.")),
        Verdict::Happened if judgement.pending_count() > 0 => (
            Advice::Wait,
            say("It happened once already and a second one is under way: ask again before deciding."),
        ),
        Verdict::Happened => (Advice::MarkDone, say("The effect is there: a retry would repeat it.")),
        Verdict::Pending => (Advice::Wait, say("The provider is still at it: ask again later.")),
        Verdict::Unknown => of_unknown(judgement),
        Verdict::Failed => of_failed(risk, finding, judgement, key, live_holder),
        Verdict::NotFound if !judgement.settled => {
            (Advice::Wait, say("Ask again once the effect has had time to show."))
        }
        Verdict::NotFound if live_holder => (Advice::Wait, say(HELD)),
        Verdict::NotFound => of_settled_absence(risk, finding, key),
    }
}

fn of_unknown(judgement: &Judgement) -> (Advice, Vec<String>) {
    match &judgement.fault {
        Some(fault) if fault.kind.may_pass() => {
            (Advice::Wait, vec!["The question may be answered later: ask again.".to_owned()])
        }
        _ => (
            Advice::Escalate,
            vec!["Asking again will not help: somebody must look at the provider.".to_owned()],
        ),
    }
}

fn of_failed(
    risk: Risk,
    finding: FindingKind,
    judgement: &Judgement,
    key: KeyProtection,
    live_holder: bool,
) -> (Advice, Vec<String>) {
    let say = |sentence: &str| vec![sentence.to_owned()];
    if key.bars_retry() {
        return (Advice::Escalate, vec![key.sentence()]);
    }
    match (risk, finding) {
        (Risk::Financial, _) => (
            Advice::Escalate,
            say(
                "The provider turned it down: a retry with the same key gets the same answer, one with a new key is a new charge.",
            ),
        ),
        (_, FindingKind::Duplicate | FindingKind::Lost | FindingKind::Mismatch) => {
            (Advice::Escalate, say(DISAGREE))
        }
        (Risk::Safe | Risk::CheckFirst, _) if !judgement.settled => (
            Advice::Wait,
            say("Another try may still be on its way: ask again once it has had time to show."),
        ),
        (Risk::Safe | Risk::CheckFirst, _) if live_holder => (Advice::Wait, say(HELD)),
        (Risk::Safe | Risk::CheckFirst, FindingKind::Stuck | FindingKind::Ambiguous) => {
            (Advice::Retry, vec![key.sentence()])
        }
    }
}

fn of_settled_absence(risk: Risk, finding: FindingKind, key: KeyProtection) -> (Advice, Vec<String>) {
    let mut reasons = vec![key.sentence()];
    match (risk, finding) {
        (_, FindingKind::Duplicate | FindingKind::Lost | FindingKind::Mismatch) => {
            reasons.insert(0, DISAGREE.to_owned());
            (Advice::Escalate, reasons)
        }
        (_, FindingKind::Stuck | FindingKind::Ambiguous) if key.bars_retry() => (Advice::Escalate, reasons),
        (Risk::Financial, FindingKind::Stuck | FindingKind::Ambiguous) if !key.protects() => {
            reasons.push("A second look by a person is worth it before money moves anew.".to_owned());
            (Advice::Retry, reasons)
        }
        (Risk::Safe | Risk::CheckFirst | Risk::Financial, FindingKind::Stuck | FindingKind::Ambiguous) => {
            (Advice::Retry, reasons)
        }
    }
}

#[cfg(test)]
mod tests;
