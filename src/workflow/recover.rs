//! Recover: decisions that were intended and have no outcome, because the program or the machine stopped between.
//! They are settled by reading the row, never by writing.

use crate::domain::audit::{Entry, Event, NewEntry, Subject};
use crate::domain::cell::Cell;
use crate::domain::decision::{Choice, Outcome};
use crate::domain::escalated::UNDER_WAY_MAX;
use crate::domain::item::Row;
use crate::domain::moment::is_stored_as;
use crate::domain::text::clean;
use crate::ports::record::{Record, RecordFault};
use crate::ports::source::{Leaves, PlannedStatement, Reading, Source, SourceFault, SourceFaultKind};
use crate::workflow::desk::Desk;
use crate::workflow::settle::outcome_json;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// A decision that had broken off, and what its row says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    /// The intent.
    pub intent: Entry,
    /// What was chosen.
    pub choice: Option<Choice>,
    /// What came of it; `None` where the row cannot be read now, so it stays open.
    pub outcome: Option<Outcome>,
    /// In a sentence.
    pub told: String,
}

/// Settles every decision that broke off. Those of a process that still lives are left to it.
///
/// # Errors
/// The audit's own fault.
pub async fn recover(desk: &Desk) -> Result<Vec<Recovered>, RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let mut recovered = Vec::new();
    for intent in record.unfinished().await? {
        let holder = holder_of(desk, &intent);
        if holder == Holder::AtIt {
            continue;
        }
        let one = settle_one(desk, intent, holder).await;
        if let Some(outcome) = &one.outcome
            && !desk.read_only
            && let Err(fault) = record.append(vec![entry_of(desk, &one, outcome)]).await
        {
            match ended_as(&**record, &one.intent).await {
                // Written, and only the answer was lost; or another console saw the same.
                Some(event) if event == outcome.as_str() => {}
                // Another console settled it meanwhile: it tells of it.
                Some(_) => continue,
                None => return Err(fault),
            }
        }
        recovered.push(one);
    }
    Ok(recovered)
}

/// The outcome that a decision has on record by now.
async fn ended_as(record: &dyn Record, intent: &Entry) -> Option<String> {
    let entries = record.of_decision(Uuid::parse_str(&intent.decision).ok()?).await.ok()?;
    let outcome = entries.into_iter().find(is_outcome)?;
    Some(outcome.event)
}

fn is_outcome(entry: &Entry) -> bool {
    Event::from_word(&entry.event).is_some_and(Event::is_outcome)
}

/// What is known of the process that intended a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// It may be at it at this moment: the decision is left to it.
    AtIt,
    /// It has ended: what it did not do, it will not do.
    Gone,
    /// It has not been heard of for long. It may be held up and go on.
    Silent,
}

/// Who intended it, and whether that process is still at it.
fn holder_of(desk: &Desk, intent: &Entry) -> Holder {
    let body = body_of(intent);
    let same_machine = intent.origin.split_once('@').is_some_and(|(_, host)| *host == *desk.operator.host);
    let process = body["process"].as_u64().and_then(|number| u32::try_from(number).ok());
    let lives = if same_machine { process.and_then(|process| desk.clock.lives(process)) } else { None };
    match lives {
        Some(false) => Holder::Gone,
        // This process begins: what it finds under its own number is another's.
        Some(true) if process == Some(desk.clock.process()) => Holder::Gone,
        Some(true) | None => {
            let at = DateTime::parse_from_rfc3339(&intent.at);
            let is_recent = at.is_ok_and(|at| desk.clock.now() - at.with_timezone(&Utc) < UNDER_WAY_MAX);
            if is_recent { Holder::AtIt } else { Holder::Silent }
        }
    }
}

async fn settle_one(desk: &Desk, intent: Entry, holder: Holder) -> Recovered {
    let body = body_of(&intent);
    let choice = choice_of(&body);
    let open = |intent, told: String| Recovered { intent, choice, outcome: None, told };
    let (Some(choice), Some(row), Some(sha256)) =
        (choice, Row::from_json(&body["row_seen"]), body["row_seen_sha256"].as_str())
    else {
        return open(intent, "the intent cannot be read; run `unstuck audit verify`".to_owned());
    };
    let (source, reading) = match found_again(desk, &intent, &body).await {
        Ok(found) => found,
        Err(told) => return open(intent, told),
    };
    let seen = Seen { row, sha256: sha256.to_owned() };
    let outcome = match is_kept(&**source, &intent, &body).await {
        Err(fault) => return open(intent, format!("its decisions cannot be read now: {}", fault.what)),
        Ok(Some(was_written)) => certain(was_written, escalates(&body), seen, reading),
        // Nobody but the row tells, and only as long as nobody else had a hand in it.
        Ok(None) => match is_shared(desk, &intent.source, &intent.key, &intent.decision, reading.is_none())
            .await
        {
            Err(fault) => return open(intent, format!("what followed it cannot be read: {}", fault.what)),
            Ok(true) => Outcome::Failed { why: SHARED.to_owned() },
            Ok(false) => compare(&**source, choice, seen, reading, &planned_values(&body), escalates(&body)),
        },
    };
    let outcome = match outcome {
        Outcome::Refused { .. } if holder == Holder::Silent => Outcome::Failed {
            why: "not carried out so far, and not heard of for long: if its program still runs, it may yet be carried out".to_owned(),
        },
        outcome => outcome,
    };
    let told = match &outcome {
        Outcome::Applied { .. } => "it was carried out: the row is as the decision leaves it".to_owned(),
        Outcome::Refused { why, .. } | Outcome::Proposed { why, .. } | Outcome::Failed { why } => why.clone(),
    };
    Recovered { intent, choice: Some(choice), outcome: Some(outcome), told }
}

/// The source that has the table of an intent, with the row as it is now; else what to tell. It may have another name by
/// now, and its name may be another table's.
async fn found_again<'a>(
    desk: &'a Desk,
    intent: &Entry,
    body: &Value,
) -> Result<(&'a Arc<dyn Source>, Option<Reading>), String> {
    let table = body[Subject::TABLE].as_str();
    let (namesakes, others): (Vec<_>, Vec<_>) =
        desk.sources.iter().partition(|source| *source.facts().name == *intent.source);
    let is_named = !namesakes.is_empty();
    // Without its table on record, as earlier programs left it, its name is all there is.
    for source in namesakes.into_iter().chain(others.into_iter().filter(|_| table.is_some())) {
        let by_name = *source.facts().name == *intent.source;
        let reading = match read_row(&**source, &intent.key, by_name && !desk.read_only).await {
            Ok(reading) => reading,
            Err(fault) if by_name => return Err(format!("its row cannot be read now: {}", fault.what)),
            Err(_) => continue,
        };
        let now = source.facts().table.clone();
        if table.is_none_or(|table| now.is_none_or(|now| *now == *table)) {
            return Ok((source, reading));
        }
    }
    let name = clean(&intent.source);
    Err(if is_named {
        let table = clean(table.unwrap_or_default());
        format!(
            "its source `{name}` is another table here: open the database in which it was decided ({table})"
        )
    } else {
        format!("its source `{name}` is not open here")
    })
}

/// Whether the source itself wrote the decision down; `None` where it was not asked to, or is no longer.
async fn is_kept(source: &dyn Source, intent: &Entry, body: &Value) -> Result<Option<bool>, SourceFault> {
    let statements = body["statements"].as_array().map(Vec::as_slice).unwrap_or_default();
    let keeps = statements
        .iter()
        .filter_map(|statement| statement["parameters"].as_object())
        .any(|parameters| parameters.keys().any(|name| name.starts_with(PlannedStatement::KEPT)));
    match Uuid::parse_str(&intent.decision) {
        Ok(decision) if keeps => source.has_decision(decision).await,
        Ok(_) | Err(_) => Ok(None),
    }
}

/// What came of a decision by the source's own word, whatever became of its row since.
pub(super) fn certain(was_written: bool, escalates: bool, seen: Seen, reading: Option<Reading>) -> Outcome {
    let row = reading.map(|reading| reading.row);
    match (was_written, escalates) {
        (true, _) => Outcome::Applied { before: seen.row, after: row },
        (false, true) => Outcome::Failed { why: ESCALATION_UNKNOWN.to_owned() },
        (false, false) => Outcome::Refused {
            why: "broken off before it was carried out: the source has not written it down".to_owned(),
            now: row,
        },
    }
}

/// Reads the row of a decision whose end nobody saw. What its own write left half done may keep the row from being read:
/// that is taken back first, where writing is allowed.
pub(super) async fn read_row(
    source: &dyn Source,
    key: &str,
    may_take_back: bool,
) -> Result<Option<Reading>, SourceFault> {
    match source.read(key).await {
        Err(fault) if fault.kind == SourceFaultKind::Unreachable && may_take_back => {
            source.take_back().await?;
            source.read(key).await
        }
        read => read,
    }
}

/// Whether another decision may have left an item as it is now: then its row no longer tells of this one. Those that
/// were refused touched nothing.
///
/// A row that is gone (`is_gone`) carries nobody's mark, and this decision may have seen it before an earlier one removed
/// it: there, any other retry counts.
pub(super) async fn is_shared(
    desk: &Desk,
    source: &str,
    key: &str,
    decision: &str,
    is_gone: bool,
) -> Result<bool, RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let newest = record.intended_on(&desk.subject(source, key), LATER_ENTRIES_MAX).await?;
    let is_intent = |entry: &&Entry| entry.event == Event::Intended.as_str();
    let own = newest.iter().filter(is_intent).find(|entry| entry.decision == decision);
    let own_seq = own.map_or(0, |entry| entry.seq);
    let own_body = own.map(body_of).unwrap_or_default();
    Ok(newest.iter().filter(is_intent).filter(|intent| intent.decision != decision).any(|intent| {
        let outcome = newest.iter().find(|entry| entry.decision == intent.decision && is_outcome(entry));
        let has_touched = outcome.is_none_or(|outcome| outcome.event != Event::Refused.as_str());
        let is_over = outcome.is_some_and(|outcome| outcome.seq < own_seq);
        let body = body_of(intent);
        let choice = choice_of(&body);
        // It set out from the very row that this one had seen too: the row as it is may be its doing.
        let was_first =
            choice != Some(Choice::Escalate) && body["row_seen_sha256"] == own_body["row_seen_sha256"];
        has_touched && (!is_over || was_first || (is_gone && choice == Some(Choice::Retry)))
    }))
}

fn body_of(entry: &Entry) -> Value {
    serde_json::from_str(&entry.body).unwrap_or_default()
}

fn choice_of(body: &Value) -> Option<Choice> {
    Choice::ALL.into_iter().find(|choice| body["choice"] == choice.as_str())
}

/// How many of an item's newest entries are looked through for another decision.
const LATER_ENTRIES_MAX: usize = 200;

/// A row as it was seen: on record with its secrets hidden, so that its hash tells whether a row is still the same.
pub(super) struct Seen {
    pub(super) row: Row,
    pub(super) sha256: String,
}

impl Seen {
    /// A row that is at hand, nothing hidden.
    pub(super) fn of(row: &Row) -> Self {
        Self { sha256: row.sha256(), row: row.clone() }
    }
}

const SHARED: &str = "broken off, and another decision touched the same item since: whether this one was carried out cannot be told";
const ESCALATION_UNKNOWN: &str =
    "broken off: whether the escalation arrived is not known; to repeat it does no harm";

/// What a row says of a decision whose end nobody saw. `planned` are the values that it was going to write.
pub(super) fn compare(
    source: &dyn Source,
    choice: Choice,
    seen: Seen,
    reading: Option<Reading>,
    planned: &[Cell],
    escalates: bool,
) -> Outcome {
    let facts = source.facts();
    let leaves = facts.leaves(choice);
    let Some(reading) = reading else {
        return match leaves {
            Leaves::Absent => Outcome::Applied { before: seen.row, after: None },
            Leaves::Unchanged | Leaves::State(_) => Outcome::Failed {
                why: "broken off, and the row is gone: somebody else removed it".to_owned(),
            },
        };
    };
    if reading.row.sha256() == seen.sha256 {
        return match (choice, escalates) {
            (Choice::Escalate, true) => Outcome::Failed { why: ESCALATION_UNKNOWN.to_owned() },
            (Choice::Escalate, false) if *leaves == Leaves::Unchanged => {
                Outcome::Applied { after: Some(reading.row), before: seen.row }
            }
            _ => Outcome::Refused {
                why: "broken off before it was carried out: the row is as it was seen".to_owned(),
                now: Some(reading.row),
            },
        };
    }
    // The state alone could be a worker's doing; a value that only this decision wrote could not. Where a decision
    // writes no value of its own, the state must do.
    let carries_our_value = planned.is_empty()
        || reading.row.columns.iter().any(|(name, cell)| {
            seen.row.get(name) != Some(cell) && planned.iter().any(|written| is_stored_as(written, cell))
        });
    match leaves {
        Leaves::State(state) if *state == reading.item.state && carries_our_value => {
            Outcome::Applied { before: seen.row, after: Some(reading.row) }
        }
        Leaves::State(_) | Leaves::Unchanged | Leaves::Absent => Outcome::Failed {
            why: "broken off, and the row is neither as it was seen nor as the decision leaves it: somebody else changed it"
                .to_owned(),
        },
    }
}

/// The values that the intent was going to write, apart from those that were there before.
fn planned_values(body: &Value) -> Vec<Cell> {
    let statements = body["statements"].as_array().map(Vec::as_slice).unwrap_or_default();
    statements
        .iter()
        .filter_map(|statement| statement["parameters"].as_object())
        .flatten()
        .filter_map(|(name, value)| Some((name.as_str(), Cell::from_json(value)?)))
        .filter(|(name, cell)| is_new(name, cell))
        .map(|(_, cell)| cell)
        .collect()
}

/// Whether a statement's parameter is something new that it writes.
pub(super) fn is_new(name: &str, cell: &Cell) -> bool {
    let is_ours = [PlannedStatement::SEEN, PlannedStatement::KEPT].iter().any(|own| name.starts_with(own));
    !is_ours && !cell.is_null()
}

fn escalates(body: &Value) -> bool {
    !body["escalates_to"].is_null()
}

fn entry_of(desk: &Desk, recovered: &Recovered, outcome: &Outcome) -> NewEntry {
    let (event, mut body) = outcome_json(desk, outcome);
    body["intent"] = json!(recovered.intent.seq);
    body["choice"] = json!(recovered.choice.map(Choice::as_str));
    body["recovered"] = json!(true);
    body[Subject::TABLE] = body_of(&recovered.intent)[Subject::TABLE].clone();
    debug_assert!(event.is_outcome(), "{event} ends no decision: {}", Event::Intended);
    NewEntry {
        at: desk.clock.now(),
        event,
        decision: Uuid::parse_str(&recovered.intent.decision).ok(),
        source: recovered.intent.source.clone(),
        key: recovered.intent.key.clone(),
        operator: desk.operator.name.to_string(),
        origin: desk.origin(),
        body,
        attachments: Vec::new(),
    }
}
