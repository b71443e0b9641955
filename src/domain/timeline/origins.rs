//! From what each origin tells to happenings: the row, its list of errors, the provider's effects, our own record.

use super::{Clock, Ending, Happening, ItemName, Origin, Told, What};
use crate::domain::audit::{Entry, Event};
use crate::domain::cell::Cell;
use crate::domain::evidence::{Effect, EffectState};
use crate::domain::item::{Item, Lease, Row, State};
use crate::domain::mask::mask_document;
use crate::domain::moment::{Reading, TimeFormat, Zone, read};
use crate::domain::text::clean_cut;
use serde_json::Value;
use std::sync::Arc;

/// The longest text that is taken over, in characters.
const TEXT_CHARS_MAX: usize = 300;

fn shown(text: &str, masks: &[String]) -> String {
    clean_cut(&mask_document(text, masks), TEXT_CHARS_MAX)
}

/// The name of an item.
pub fn name_of(item: &Item) -> ItemName {
    ItemName { source: Arc::clone(&item.source), key: item.key.shared() }
}

/// What an item's row tells: the times that its preset names, further columns that are known by their names, and the list of
/// its errors where it has one.
pub fn of_row(item: &Item, row: Option<&Row>, masks: &[String]) -> Vec<Happening> {
    let told = Told {
        attempt: item.attempts,
        word: item.status.to_string(),
        error: item.last_error.text().map(|error| shown(error, masks)),
        ..Told::default()
    };
    let started = Told { error: None, ..told.clone() };
    let ended = match item.state {
        State::Done => Some(What::Ended(Ending::Done, Told { error: None, ..told })),
        State::Failed | State::Dead => Some(What::Ended(Ending::Failed, told)),
        State::Pending | State::Running => None,
    };
    let times = &item.times;
    let mut all = Vec::new();
    let mut add = |name: &str, at: &Reading, what: What| {
        all.push(happening(item, Origin::Row, name, at.clone(), what));
    };
    if !times.created.is_missing() {
        add("created", &times.created, What::Created);
    }
    if !times.first_attempt.is_missing() && times.first_attempt != times.started {
        add(
            "first attempt",
            &times.first_attempt,
            What::Started(Told { attempt: Some(1), ..started.clone() }),
        );
    }
    let is_taken_once = item.tried_once && times.started.is_missing() && times.updated.is_missing();
    let taken = match (&times.started, item.state) {
        (Reading::Missing, State::Running) if !times.updated.is_missing() => Some(&times.updated),
        // It was made when it was taken, and its row tells no other time.
        (Reading::Missing, _) if is_taken_once => Some(&times.created),
        (Reading::Missing, _) => None,
        (started, _) => Some(started),
    };
    if let Some(taken) = taken {
        add("taken", taken, What::Started(started.clone()));
    } else if item.state == State::Running {
        add("taken", &Reading::Missing, What::Started(started.clone()));
    }
    let is_told_as_taken = taken == Some(&times.updated);
    match ended {
        Some(ended) => add("last change", &times.updated, ended),
        None if !is_told_as_taken && !times.updated.is_missing() => {
            add("last change", &times.updated, What::Changed(item.status.to_string()));
        }
        None => {}
    }
    match &times.lease {
        Lease::EndsAt(end) if !end.is_missing() => add("lease", end, What::LeaseEnds),
        Lease::Heartbeat { beat, .. } if !beat.is_missing() => add("heartbeat", beat, What::Beat),
        Lease::None | Lease::EndsAt(_) | Lease::Seconds(_) | Lease::Told(_) | Lease::Heartbeat { .. } => {}
    }
    if let Some(row) = row {
        all.extend(of_columns(item, row, masks));
    }
    all
}

fn happening(item: &Item, origin: Origin, place: &str, at: Reading, what: What) -> Happening {
    Happening {
        at,
        clock: Clock::Source(Arc::clone(&item.source)),
        origin,
        place: format!("{}: {place}", item.source),
        item: Some(name_of(item)),
        what,
    }
}

/// A column that says by its name what it tells.
type Named = (&'static str, fn(Told) -> What);

/// Columns that say by their names what they tell.
const NAMED: [Named; 9] = [
    ("scheduled_at", |_| What::Scheduled),
    ("run_at", |_| What::Scheduled),
    ("scheduled_for", |_| What::Scheduled),
    ("locked_at", What::Started),
    ("finished_at", |told| What::Changed(told.word)),
    ("finalized_at", |told| What::Changed(told.word)),
    ("completed_at", |told| What::Changed(told.word)),
    ("discarded_at", |told| What::Changed(told.word)),
    ("cancelled_at", |told| What::Changed(told.word)),
];

/// Names of columns with a list of errors, one an attempt.
const ERROR_LISTS: [&str; 3] = ["errors", "attempt_errors", "error_list"];

fn of_columns(item: &Item, row: &Row, masks: &[String]) -> Vec<Happening> {
    let known = [&item.times.created, &item.times.first_attempt, &item.times.started, &item.times.updated];
    let told = || Told { word: item.status.to_string(), ..Told::default() };
    let zone = zone_of(item, row);
    let mut all = Vec::new();
    for (name, what) in NAMED {
        let Some(cell) = row.get(name).filter(|cell| !cell.is_null()) else { continue };
        let at = read(cell, TimeFormat::Iso, zone);
        if !known.contains(&&at) {
            all.push(happening(item, Origin::Row, name, at, what(told())));
        }
    }
    for name in ERROR_LISTS {
        let list = row.get(name).and_then(Cell::as_text).and_then(|text| serde_json::from_str(text).ok());
        let Some(Value::Array(errors)) = list else { continue };
        let each = errors.iter().enumerate();
        all.extend(
            each.filter_map(|(place, error)| of_error(item, &format!("{name}[{place}]"), error, zone, masks)),
        );
    }
    all
}

/// One error of a list, as Oban and River keep them: when, which attempt, what.
fn of_error(item: &Item, place: &str, error: &Value, zone: Zone, masks: &[String]) -> Option<Happening> {
    let text = error.get("error").and_then(Value::as_str)?;
    let at = match error.get("at") {
        Some(Value::String(at)) => read(&Cell::text(at.as_str()), TimeFormat::Iso, zone),
        Some(Value::Number(number)) => Reading::unit_unclear(number.to_string()),
        Some(_) | None => Reading::Missing,
    };
    let told = Told {
        attempt: error.get("attempt").and_then(Value::as_i64),
        error: Some(shown(text, masks)),
        ..Told::default()
    };
    Some(happening(item, Origin::Attempts, place, at, What::Ended(Ending::Failed, told)))
}

/// The zone of columns that no preset reads. Where a time that a preset does read stands in the row just so in UTC, the
/// table writes UTC; else nobody knows.
fn zone_of(item: &Item, row: &Row) -> Zone {
    let times = &item.times;
    let known: Vec<_> = [&times.created, &times.first_attempt, &times.started, &times.updated]
        .into_iter()
        .filter_map(Reading::known)
        .collect();
    let writes_utc = row.columns.iter().any(|(_, cell)| {
        cell.as_text().is_some()
            && read(cell, TimeFormat::Iso, Zone::Utc).known().is_some_and(|at| known.contains(&at))
    });
    if writes_utc { Zone::Utc } else { Zone::Unclear }
}

/// What a provider did.
pub fn of_effects(operation: &str, effects: &[Effect]) -> Vec<Happening> {
    let each = effects.iter().map(|effect| Happening {
        at: effect.at.map_or(Reading::Missing, Reading::Known),
        clock: Clock::Provider(operation.into()),
        origin: Origin::Effect,
        place: operation.to_owned(),
        item: None,
        what: What::Effect {
            id: clean_cut(&effect.id, TEXT_CHARS_MAX),
            status: clean_cut(&effect.status, TEXT_CHARS_MAX),
            state: effect.state,
            money: effect.money.clone(),
        },
    });
    each.collect()
}

/// Our own checks and decisions.
pub fn of_entries(entries: &[Entry]) -> Vec<Happening> {
    entries.iter().filter_map(of_entry).collect()
}

fn of_entry(entry: &Entry) -> Option<Happening> {
    let event = Event::from_word(&entry.event)?;
    let body: Value = serde_json::from_str(&entry.body).unwrap_or_default();
    let text =
        |name: &str| body.get(name).and_then(Value::as_str).map(|text| clean_cut(text, TEXT_CHARS_MAX));
    let who = clean_cut(&entry.operator, TEXT_CHARS_MAX);
    let what = match event {
        Event::Checked => What::Checked(format!("{} ({who})", text("verdict").unwrap_or_default())),
        Event::Listed | Event::DryRun | Event::Unmasked | Event::Opened | Event::Noted | Event::Closed => {
            return None;
        }
        Event::Proposed
        | Event::Withdrawn
        | Event::Lapsed
        | Event::Intended
        | Event::Applied
        | Event::Refused
        | Event::Failed => {
            let choice = text("choice").map(|choice| format!("{choice} ")).unwrap_or_default();
            let why =
                text("reason").or_else(|| text("why")).map(|why| format!(": {why}")).unwrap_or_default();
            What::Decided(format!("{choice}{} by {who}{why}", event.as_str()))
        }
    };
    Some(Happening {
        at: read(&Cell::text(entry.at.as_str()), TimeFormat::Iso, Zone::Utc),
        clock: Clock::Console,
        origin: Origin::Audit,
        place: format!("audit entry {}", entry.seq),
        item: Some(ItemName { source: entry.source.as_str().into(), key: entry.key.as_str().into() }),
        what,
    })
}

/// A check as it is on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCheck {
    /// The entry's number.
    pub entry: i64,
    /// When, as it is stored.
    pub at: String,
    /// The verdict.
    pub verdict: String,
    /// The advice.
    pub advice: String,
    /// Its reasons.
    pub reasons: Vec<String>,
    /// The hash of the evidence.
    pub evidence: Option<String>,
    /// The effects it saw; `None` where only their ids are on record.
    pub effects: Option<Vec<Effect>>,
}

/// The latest check among entries that are the newest first.
pub fn latest_check(entries: &[Entry]) -> Option<RecordedCheck> {
    let entry = entries.iter().find(|entry| entry.event == Event::Checked.as_str())?;
    let body: Value = serde_json::from_str(&entry.body).ok()?;
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |name: &str| body.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    Some(RecordedCheck {
        entry: entry.seq,
        at: entry.at.clone(),
        verdict: text("verdict"),
        advice: text("advice"),
        reasons: list("reasons").iter().filter_map(|reason| reason.as_str().map(str::to_owned)).collect(),
        evidence: body.pointer("/evidence/hash").and_then(Value::as_str).map(str::to_owned),
        effects: body
            .get("effects_told")
            .and_then(Value::as_array)
            .and_then(|told| told.iter().map(effect_from_json).collect()),
    })
}

/// An effect for the record.
pub fn effect_json(effect: &Effect) -> Value {
    serde_json::json!({
        "id": effect.id,
        // A status is a word; what is not may be megabytes, and the record has the answer itself.
        "status": clean_cut(&effect.status, TEXT_CHARS_MAX),
        "state": effect.state,
        "amount": effect.money.as_ref().map(|money| money.amount.to_string()),
        "currency": effect.money.as_ref().and_then(|money| money.currency.as_deref()),
        "at": effect.at.map(crate::domain::moment::stamp),
        "link": effect.link,
    })
}

fn effect_from_json(value: &Value) -> Option<Effect> {
    use crate::domain::money::{Money, Unit};
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let state: EffectState = serde_json::from_value(value.get("state")?.clone()).ok()?;
    let money = text("amount").and_then(|amount| Money::read(amount, text("currency"), Unit::Major).ok());
    let at = text("at").and_then(|at| read(&Cell::text(at), TimeFormat::Iso, Zone::Utc).known());
    Some(Effect {
        id: text("id")?.to_owned(),
        status: text("status")?.to_owned(),
        state,
        money,
        at,
        link: text("link").map(str::to_owned),
    })
}
