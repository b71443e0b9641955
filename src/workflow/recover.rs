//! Recover: decisions that were intended and have no outcome, because the program or the machine stopped between.
//! They are settled by reading the row, never by writing.

use crate::domain::audit::{Entry, Event, NewEntry};
use crate::domain::cell::Cell;
use crate::domain::decision::{Choice, Outcome};
use crate::domain::item::Row;
use crate::ports::record::RecordFault;
use crate::ports::source::{Leaves, Reading, Source};
use crate::workflow::desk::Desk;
use crate::workflow::settle::outcome_json;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

/// How long a decision of a process that cannot be looked at may be under way before it counts as broken off.
const UNDER_WAY_MAX: TimeDelta = TimeDelta::minutes(5);

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
        if is_under_way(desk, &intent) {
            continue;
        }
        let one = settle_one(desk, intent).await;
        if let Some(outcome) = &one.outcome
            && !desk.read_only
        {
            record.append(vec![entry_of(desk, &one, outcome)]).await?;
        }
        recovered.push(one);
    }
    Ok(recovered)
}

/// Whether the process that intended it may still be at it.
fn is_under_way(desk: &Desk, intent: &Entry) -> bool {
    let body: Value = serde_json::from_str(&intent.body).unwrap_or_default();
    let same_machine = intent.origin.split_once('@').is_some_and(|(_, host)| *host == *desk.operator.host);
    let process = body["process"].as_u64().and_then(|number| u32::try_from(number).ok());
    let lives = if same_machine { process.and_then(|process| desk.clock.lives(process)) } else { None };
    match lives {
        Some(false) => false,
        // This process begins: what it finds under its own number is another's.
        Some(true) if process == Some(desk.clock.process()) => false,
        Some(true) | None => DateTime::parse_from_rfc3339(&intent.at)
            .is_ok_and(|at| desk.clock.now() - at.with_timezone(&Utc) < UNDER_WAY_MAX),
    }
}

async fn settle_one(desk: &Desk, intent: Entry) -> Recovered {
    let body: Value = serde_json::from_str(&intent.body).unwrap_or_default();
    let choice = Choice::ALL.into_iter().find(|choice| body["choice"] == choice.as_str());
    let open = |intent, told: String| Recovered { intent, choice, outcome: None, told };
    let (Some(choice), Some(row), Some(sha256)) =
        (choice, Row::from_json(&body["row_seen"]), body["row_seen_sha256"].as_str())
    else {
        return open(intent, "the intent cannot be read; run `unstuck audit verify`".to_owned());
    };
    let Some(source) = desk.source(&intent.source) else {
        let told = format!("its source `{}` is not open here", intent.source);
        return open(intent, told);
    };
    let reading = match source.read(&intent.key).await {
        Ok(reading) => reading,
        Err(fault) => return open(intent, format!("its row cannot be read now: {}", fault.what)),
    };
    match was_followed(desk, &intent).await {
        Ok(false) => {}
        Ok(true) => {
            let why = "broken off, and a later decision on the same item followed: whether this one was carried out cannot be told";
            let outcome = Some(Outcome::Failed { why: why.to_owned() });
            return Recovered { intent, choice: Some(choice), outcome, told: why.to_owned() };
        }
        Err(fault) => return open(intent, format!("what followed it cannot be read: {}", fault.what)),
    }
    let outcome = compare(
        &**source,
        choice,
        Seen { row, sha256: sha256.to_owned() },
        reading,
        &planned_values(&body),
        escalates(&body),
    );
    let told = match &outcome {
        Outcome::Applied { .. } => "it was carried out: the row is as the decision leaves it".to_owned(),
        Outcome::Refused { why, .. } | Outcome::Proposed { why, .. } | Outcome::Failed { why } => why.clone(),
    };
    Recovered { intent, choice: Some(choice), outcome: Some(outcome), told }
}

/// Whether a later decision touched the same item: then its row no longer tells of this one.
async fn was_followed(desk: &Desk, intent: &Entry) -> Result<bool, RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let newest = record.of_item(&intent.source, &intent.key, LATER_ENTRIES_MAX).await?;
    let touches = |entry: &&Entry| entry.seq > intent.seq && entry.decision != intent.decision;
    Ok(newest.iter().filter(touches).any(|entry| entry.event == Event::Intended.as_str()))
}

/// How many of an item's newest entries are looked through for a later decision.
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

/// What a row says of a decision whose end nobody saw. `planned` are the values that it was going to write.
pub(super) fn compare(
    source: &dyn Source,
    choice: Choice,
    seen: Seen,
    reading: Option<Reading>,
    planned: &[Cell],
    escalates: bool,
) -> Outcome {
    let leaves = source.facts().leaves(choice);
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
            (Choice::Escalate, true) => Outcome::Failed {
                why: "broken off: whether the escalation arrived is not known; to repeat it does no harm"
                    .to_owned(),
            },
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
        || reading
            .row
            .columns
            .iter()
            .any(|(name, cell)| seen.row.get(name) != Some(cell) && planned.contains(cell));
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
    !name.starts_with(SEEN_PREFIX) && !cell.is_null()
}

/// Parameters that only compare begin so; the others carry what is new.
const SEEN_PREFIX: &str = ":seen_";

fn escalates(body: &Value) -> bool {
    !body["escalates_to"].is_null()
}

fn entry_of(desk: &Desk, recovered: &Recovered, outcome: &Outcome) -> NewEntry {
    let (event, mut body) = outcome_json(desk, outcome);
    body["intent"] = json!(recovered.intent.seq);
    body["choice"] = json!(recovered.choice.map(Choice::as_str));
    body["recovered"] = json!(true);
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
