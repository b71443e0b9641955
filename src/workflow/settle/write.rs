//! The part of a decision that touches something: from the intent to the outcome, without a way out between.

use super::entries::{self, Receipted};
use super::notice::notice;
use super::{Decided, OrderFault};
use crate::domain::audit::Entry;
use crate::domain::cell::Cell;
use crate::domain::decision::{Choice, Intended, Outcome, Permitted};
use crate::domain::evidence::Hindrance;
use crate::domain::proposal::{Closed, Closing};
use crate::domain::text::count_of;
use crate::ports::escalation::NotTaken;
use crate::ports::record::Once;
use crate::ports::source::{Applied, Change, Payload, PlannedStatement, Source, SourceFault};
use crate::workflow::check::Checked;
use crate::workflow::desk::Desk;
use crate::workflow::recover::{Seen, certain, compare, is_new, is_shared, read_row};
use crate::workflow::scan::Found;
use std::sync::Arc;

/// What a decision rests on and what it is going to write.
pub(super) struct Grounds {
    /// The source that is written.
    pub(super) source: Arc<dyn Source>,
    /// The finding as it is now.
    pub(super) found: Found,
    /// The check right before.
    pub(super) checked: Checked,
    /// The statements with their values.
    pub(super) statements: Vec<PlannedStatement>,
    /// What the source is given.
    pub(super) change: Change,
    /// The payload's beginning; `None` where the source keeps none.
    pub(super) payload: Option<Payload>,
}

/// Records the intent, touches what is to be touched, records the outcome.
pub(super) async fn carry_out(
    desk: &Desk,
    permitted: Permitted,
    grounds: Grounds,
) -> Result<Decided, OrderFault> {
    let record = desk.record.as_ref().map_err(|fault| OrderFault::Record(fault.clone()))?;
    let intent = entries::intent(desk, &permitted, &grounds);
    let intent = match record.append_once(intent).await.map_err(OrderFault::Record)? {
        Once::Placed(entry) => entry,
        Once::Taken(earlier) => return Ok(too_late(&permitted, grounds, &earlier)),
    };
    let intended = permitted.intended(intent.seq);
    let Touched { outcome, note, hindrance } = match in_the_way(desk, &intended, &grounds).await {
        Some(outcome) => Touched::of(outcome),
        None => touch(desk, &intended, &grounds).await,
    };
    let ended = record.append(vec![entries::outcome(desk, &intended, &outcome, note.as_deref())]).await;
    let (entry, fault) = match ended {
        Ok(placed) => (placed.last().map(|entry| entry.seq), None),
        Err(fault) => (None, Some(fault)),
    };
    let draft = intended.draft();
    let receipt = Receipted {
        key: draft.key.as_str(),
        choice: draft.choice,
        reason: draft.reason.as_str(),
        found: Some(&grounds.found),
    };
    let receipt_fault = receipt.write(desk, &outcome, Some(&grounds.checked), entry);
    Ok(Decided {
        decision: draft.id,
        choice: draft.choice,
        do_next: next_step(&outcome),
        hindrance,
        outcome,
        checked: Some(grounds.checked),
        entry,
        record_fault: fault.or(receipt_fault),
    })
}

/// Somebody else settled the proposal between the look at it and the intent: nothing is written, not even that.
fn too_late(permitted: &Permitted, grounds: Grounds, earlier: &Entry) -> Decided {
    let by = crate::domain::text::clean_cut(&earlier.operator, 60);
    let (did, seq) = match Closed::of(earlier).map(|closed| closed.closing) {
        Some(Closing::Approved) | None => ("approved it", earlier.seq),
        Some(Closing::Withdrawn) => ("withdrew it", earlier.seq),
        Some(Closing::Lapsed) => ("found that it has lapsed", earlier.seq),
    };
    let draft = permitted.draft();
    Decided {
        decision: draft.id,
        choice: draft.choice,
        outcome: Outcome::Refused {
            why: format!("somebody {did} a moment ago ({by}, audit entry {seq})"),
            now: None,
        },
        do_next: Some(
            "Look at the item as it is now; `unstuck audit list` shows what came of it.".to_owned(),
        ),
        hindrance: None,
        checked: Some(grounds.checked),
        entry: None,
        record_fault: None,
    }
}

fn next_step(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Applied { .. } => None,
        Outcome::Refused { .. } | Outcome::Proposed { .. } => {
            Some("Look at it as it is now, then decide again.".to_owned())
        }
        Outcome::Failed { .. } => {
            Some("Run `unstuck doctor`, look at the item, then decide again.".to_owned())
        }
    }
}

/// Of two that escalate an item at the same instant, the one whose intent came second touches nothing. Decisions that write
/// need no such look: there the row itself lets one through.
async fn in_the_way(desk: &Desk, intended: &Intended, grounds: &Grounds) -> Option<Outcome> {
    if intended.draft().choice != Choice::Escalate {
        return None;
    }
    match entries::escalated_before(desk, &grounds.found, intended.seen(), Some(intended.intent())).await {
        Ok(earlier) => {
            earlier.map(|earlier| Outcome::Refused { why: earlier.why(), now: Some(intended.seen().clone()) })
        }
        Err(fault) => Some(Outcome::Failed {
            why: format!(
                "nothing was sent, for whether somebody else escalates it cannot be read: {}",
                fault.what
            ),
        }),
    }
}

/// What came of touching something.
struct Touched {
    outcome: Outcome,
    /// What the target of an escalation answered.
    note: Option<String>,
    hindrance: Option<Hindrance>,
}

impl Touched {
    /// An outcome that nothing outside stood in the way of.
    fn of(outcome: Outcome) -> Self {
        Self { outcome, note: None, hindrance: None }
    }
}

async fn touch(desk: &Desk, intended: &Intended, grounds: &Grounds) -> Touched {
    let Grounds { found, checked, .. } = grounds;
    let mut note = None;
    if intended.draft().choice == Choice::Escalate
        && let Some(escalation) = desk.escalation_of(&found.finding.item.kind)
    {
        let (reason, seen) = (&intended.draft().reason, intended.seen());
        let notice = notice(desk, found, checked, seen, reason, intended.intent());
        match escalation.send(&notice).await {
            Ok(answer) => note = Some(answer),
            Err(NotTaken { why, hindrance }) => {
                let why = format!("the escalation was not taken: {why}");
                return Touched { hindrance, ..Touched::of(Outcome::Failed { why }) };
            }
        }
    }
    // A row that could not be written is a decision that failed, whatever kept it from being written.
    let outcome = match grounds.source.apply(intended.draft().choice, &grounds.change).await {
        Ok(applied) => outcome_of(applied, &grounds.statements),
        Err(fault) if fault.may_have_written => read_back(desk, intended, grounds, &fault).await,
        Err(fault) => Outcome::Failed { why: format!("nothing was written: {}", fault.what) },
    };
    let outcome = match outcome {
        // Refused would mean that nothing was touched.
        Outcome::Refused { why, .. } if note.is_some() => {
            Outcome::Failed { why: format!("the escalation arrived, and {why}") }
        }
        outcome => outcome,
    };
    Touched { note, ..Touched::of(outcome) }
}

fn outcome_of(applied: Applied, planned: &[PlannedStatement]) -> Outcome {
    match applied {
        Applied::Written { before, after } => Outcome::Applied { before, after },
        Applied::Changed(now) => Outcome::Refused {
            why: if now.is_some() {
                "the row changed since it was seen".to_owned()
            } else {
                "the row is gone since it was seen".to_owned()
            },
            now,
        },
        Applied::WrongCount { statement, expected, found } => {
            let meaning = statement.checked_sub(1).and_then(|at| planned.get(at)?.why.as_deref());
            Outcome::Failed {
                why: match meaning {
                    Some(meaning) => format!("nothing was written: {meaning}"),
                    None => format!(
                        "nothing was written: statement {statement} would have changed {} and must change {expected}",
                        count_of(usize::try_from(found).unwrap_or(usize::MAX), "row")
                    ),
                },
            }
        }
    }
}

/// The row is as it was, and a server that only hangs may yet do what it was asked.
fn still_open(fault: &SourceFault) -> Outcome {
    let why = format!(
        "the commit was not confirmed ({}): the row is as it was so far, and may still change",
        fault.what
    );
    Outcome::Failed { why }
}

/// The answer to a commit was lost: the row itself says whether it was written, by the same rule as after a crash.
async fn read_back(desk: &Desk, intended: &Intended, grounds: &Grounds, fault: &SourceFault) -> Outcome {
    let Grounds { source, statements, change, .. } = grounds;
    let draft = intended.draft();
    let reading = match read_row(&**source, change.key.as_str(), true).await {
        Ok(reading) => reading,
        Err(second) => {
            let why = format!(
                "the commit was not confirmed ({}), and the row cannot be read: {}",
                fault.what, second.what
            );
            return Outcome::Failed { why };
        }
    };
    match source.has_decision(change.decision).await {
        Ok(Some(true)) => return certain(true, false, Seen::of(&change.seen), reading),
        Ok(Some(false)) if fault.may_still_write() => return still_open(fault),
        Ok(Some(false)) => {
            return Outcome::Failed { why: format!("nothing was written: {}", fault.what) };
        }
        Ok(None) | Err(_) => {}
    }
    if reading.as_ref().is_some_and(|reading| reading.row == change.seen) {
        if fault.may_still_write() {
            return still_open(fault);
        }
        return Outcome::Failed {
            why: format!("nothing was written (the row is as it was): {}", fault.what),
        };
    }
    let decision = draft.id.to_string();
    match is_shared(desk, &draft.source, draft.key.as_str(), &decision, reading.is_none()).await {
        Ok(false) => {}
        Ok(true) => {
            let why = format!(
                "the commit was not confirmed, and another decision touched the same item since: {}",
                fault.what
            );
            return Outcome::Failed { why };
        }
        Err(second) => {
            let why = format!(
                "the commit was not confirmed ({}), and whether another decision touched the item cannot be read: {}",
                fault.what, second.what
            );
            return Outcome::Failed { why };
        }
    }
    let state = if reading.is_some() { "changed" } else { "gone" };
    let parameters = statements.iter().flat_map(|statement| &statement.parameters);
    let planned: Vec<Cell> =
        parameters.filter(|(name, cell)| is_new(name, cell)).map(|(_, cell)| cell.clone()).collect();
    match compare(&**source, draft.choice, Seen::of(&change.seen), reading, &planned, false) {
        applied @ Outcome::Applied { .. } => applied,
        Outcome::Refused { .. } | Outcome::Proposed { .. } | Outcome::Failed { .. } => Outcome::Failed {
            why: format!(
                "the commit was not confirmed, and the row is {state} now by somebody else: {}",
                fault.what
            ),
        },
    }
}
