//! The words and signs of the console: one place, so that every screen says the same.
//!
//! Signs are ASCII: no terminal draws them two cells wide. An ambiguous finding is "not confirmed", never "failed".

use crate::domain::advice::Advice;
use crate::domain::decision::{Choice, Outcome};
use crate::domain::error_class::ErrorClass;
use crate::domain::finding::FindingKind;
use crate::domain::item::State;
use crate::domain::moment::stamp;
use crate::domain::policy::Risk;
use crate::domain::proposal::Proposal;
use crate::domain::text::clean_cut;
use crate::domain::verdict::Verdict;
use chrono::TimeDelta;

/// A verdict's sign; `None` is "not checked".
pub fn verdict_sign(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        None => ".",
        Some(Verdict::Duplicated) => "#",
        Some(Verdict::Mismatch) => "%",
        Some(Verdict::Happened) => "+",
        Some(Verdict::Pending) => "~",
        Some(Verdict::Failed) => "x",
        Some(Verdict::NotFound) => "-",
        Some(Verdict::Unknown) => "?",
    }
}

/// A verdict's word; `None` is "not checked".
pub fn verdict(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        None => "unchecked",
        Some(Verdict::NotFound) => "not found",
        Some(
            other @ (Verdict::Duplicated
            | Verdict::Mismatch
            | Verdict::Happened
            | Verdict::Pending
            | Verdict::Failed
            | Verdict::Unknown),
        ) => other.as_str(),
    }
}

/// A finding's word.
pub fn finding(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Ambiguous => "not confirmed",
        FindingKind::Stuck => "stuck",
        FindingKind::Duplicate => "duplicate",
        FindingKind::Lost => "lost",
        FindingKind::Mismatch => "mismatch",
    }
}

/// A finding's sign.
pub fn finding_sign(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Ambiguous => "~",
        FindingKind::Stuck => "=",
        FindingKind::Duplicate => "#",
        FindingKind::Lost => "0",
        FindingKind::Mismatch => "%",
    }
}

/// A state's word. An attempt that ended with an error is "ended": whether it failed is the question.
pub fn state(state: State) -> &'static str {
    match state {
        State::Pending => "waiting",
        State::Running => "running",
        State::Failed => "ended",
        State::Done => "done",
        State::Dead => "given up",
    }
}

/// A state's sign.
pub fn state_sign(state: State) -> &'static str {
    match state {
        State::Pending => ".",
        State::Running => ">",
        State::Failed => "|",
        State::Done => "+",
        State::Dead => "X",
    }
}

/// What an error proves, in words.
pub fn class(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::BeforeEffect => "before effect",
        ErrorClass::Ambiguous => "ambiguous",
        ErrorClass::Refused => "refused",
    }
}

/// An advice in words.
pub fn advice(advice: Advice) -> &'static str {
    match advice {
        Advice::MarkDone => "mark done",
        Advice::Retry => "retry",
        Advice::Wait => "wait",
        Advice::Escalate => "escalate",
    }
}

/// A risk in words.
pub fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Safe => "safe: a repeat does no harm",
        Risk::CheckFirst => "check first: a repeat is a nuisance",
        Risk::Financial => "financial: a repeat costs somebody money",
    }
}

/// A button's word: the verb that is written.
pub fn button(choice: Choice) -> &'static str {
    match choice {
        Choice::MarkDone => "Mark done",
        Choice::Retry => "Retry",
        Choice::Escalate => "Escalate",
    }
}

/// What was done, once it is.
pub fn done(choice: Choice) -> &'static str {
    match choice {
        Choice::MarkDone => "marked done",
        Choice::Retry => "retried",
        Choice::Escalate => "escalated",
    }
}

/// An outcome's word.
pub fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Applied { .. } => "APPLIED",
        Outcome::Refused { .. } => "REFUSED",
        Outcome::Proposed { .. } => "PROPOSED",
        Outcome::Failed { .. } => "BROKEN OFF",
    }
}

/// A proposal in a line: what, by whom, until when.
pub fn proposal(proposal: &Proposal) -> String {
    format!(
        "{} by {}, until {} ({})",
        proposal.choice.verb(),
        clean_cut(&proposal.proposer.name, 40),
        stamp(proposal.until),
        proposal.short_id()
    )
}

/// The choice that an advice speaks for; `None` for "wait".
pub fn choice_of(advice: Advice) -> Option<Choice> {
    match advice {
        Advice::MarkDone => Some(Choice::MarkDone),
        Advice::Retry => Some(Choice::Retry),
        Advice::Escalate => Some(Choice::Escalate),
        Advice::Wait => None,
    }
}

/// A span in at most six characters: `45s`, `12m`, `9h05m`, `3d04h`, `210d`.
pub fn short_span(delta: TimeDelta) -> String {
    let seconds = delta.num_seconds().max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{minutes}m"),
        3_600..86_400 => format!("{hours}h{minutes:02}m"),
        _ if days < 100 => format!("{days}d{hours:02}h"),
        _ => format!("{days}d"),
    }
}

/// A size for people.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{}.{} KB", bytes / 1_024, bytes % 1_024 * 10 / 1_024),
        _ => format!("{}.{} MB", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

/// A count with its noun, in the plural where it is not one.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
