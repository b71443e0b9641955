//! Findings: which items need a person, and why.

use crate::domain::error_class::ErrorClass;
use crate::domain::item::{self, Item, LastError, Lease, State};
use crate::domain::moment::{Reading, span, stamp};
use crate::domain::policy::Policy;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Why an item needs a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Taken, and silent for longer than its policy or lease allows.
    Stuck,
    /// Ended with an error that does not prove whether the effect happened.
    Ambiguous,
    /// More than one effect carries its reference.
    Duplicate,
    /// Says done, and the provider has nothing.
    Lost,
    /// The amount or currency differs.
    Mismatch,
}

impl FindingKind {
    /// Every one, in the order of the enum.
    pub const ALL: [Self; 5] = [Self::Stuck, Self::Ambiguous, Self::Duplicate, Self::Lost, Self::Mismatch];

    /// The word as files and JSON spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stuck => "stuck",
            Self::Ambiguous => "ambiguous",
            Self::Duplicate => "duplicate",
            Self::Lost => "lost",
            Self::Mismatch => "mismatch",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What an item's error text proves, and by which rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sorted {
    /// The class.
    pub class: ErrorClass,
    /// Why, in words.
    pub why: Arc<str>,
}

/// An item that needs a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The item.
    pub item: Item,
    /// Why it needs a person.
    pub kind: FindingKind,
    /// What its error proves; `None` for an item that tells no error.
    pub error: Option<Sorted>,
    /// Since when it is as it is; `None` where no readable time says so.
    pub since: Option<DateTime<Utc>>,
    /// How long that is, by the source's own clock.
    pub age: Option<TimeDelta>,
    /// Whether the source shows somebody holding the item at this moment.
    pub held: bool,
    /// What a person should know about it, in sentences.
    pub notes: Vec<String>,
}

/// How far in the future a time may lie before it is called wrong: clocks are read at different instants.
pub const FUTURE_TOLERANCE: TimeDelta = TimeDelta::seconds(5);
/// No inhabited zone is further from UTC than this.
const ZONE_MAX: TimeDelta = TimeDelta::hours(14);

/// Decides whether an item is a finding. `now` is the source's own clock.
pub fn find(
    item: Item,
    stuck_after: TimeDelta,
    error: Option<Sorted>,
    now: DateTime<Utc>,
) -> Option<Finding> {
    match item.state {
        State::Pending | State::Done => None,
        State::Running => find_stuck(item, stuck_after, error, now),
        State::Failed | State::Dead => find_ambiguous(item, error, now),
    }
}

fn find_ambiguous(item: Item, error: Option<Sorted>, now: DateTime<Utc>) -> Option<Finding> {
    let proves_nothing = error.as_ref().is_none_or(|sorted| sorted.class == ErrorClass::Ambiguous);
    if !proves_nothing {
        return None;
    }
    let mut notes = item.oddities.clone();
    if item.last_error == LastError::NotKept {
        notes.push("This source keeps no errors: why it failed is not known.".to_owned());
    }
    let since = base_time(&item, now, &mut notes);
    let age = since.map(|at| (now - at).max(TimeDelta::zero()));
    Some(Finding { item, kind: FindingKind::Ambiguous, error, since, age, held: false, notes })
}

/// What a running item's holder looks like.
enum Holder {
    /// Lives, or is allowed its time.
    Live,
    /// Silent for too long.
    Silent,
}

fn find_stuck(
    item: Item,
    stuck_after: TimeDelta,
    error: Option<Sorted>,
    now: DateTime<Utc>,
) -> Option<Finding> {
    let mut notes = item.oddities.clone();
    let since = base_time(&item, now, &mut notes);
    let age = since.map(|at| (now - at).max(TimeDelta::zero()));
    let holder = match &item.times.lease {
        Lease::None | Lease::Told(item::Holder::Unknown) => by_policy(&item, age, stuck_after, now),
        Lease::EndsAt(Reading::Known(end)) => by_lease_end(*end, TimeDelta::zero(), now, &mut notes),
        // Only what has ended in every zone of the world has ended.
        Lease::EndsAt(Reading::ZoneUnclear(end)) => by_lease_end(*end, ZONE_MAX, now, &mut notes),
        Lease::EndsAt(Reading::Missing) => {
            notes.push("Its lease has no end: its age counts instead.".to_owned());
            by_policy(&item, age, stuck_after, now)
        }
        Lease::EndsAt(odd) => {
            notes.push(format!("The end of its lease cannot be read: {odd}."));
            Holder::Silent
        }
        Lease::Seconds(None) | Lease::Told(item::Holder::Live) => Holder::Live,
        Lease::Seconds(Some(seconds)) => {
            let allowed = TimeDelta::try_seconds(*seconds).unwrap_or(TimeDelta::MAX);
            notes.push(format!("It was allowed {}.", span(allowed)));
            by_age(&item, age, allowed, now)
        }
        Lease::Told(item::Holder::Expired) => {
            notes.push("Whoever held it is gone, as its source shows.".to_owned());
            Holder::Silent
        }
        Lease::Heartbeat { beat, limit_seconds } => {
            let limit = TimeDelta::try_seconds(*limit_seconds).unwrap_or(TimeDelta::MAX);
            by_heartbeat(&item, beat, limit, since, now, &mut notes)
        }
    };
    match holder {
        Holder::Live => None,
        Holder::Silent => {
            Some(Finding { item, kind: FindingKind::Stuck, error, since, age, held: false, notes })
        }
    }
}

/// Why a running item is no finding, as a sentence about "it" goes on: what keeps it from being called stuck.
pub fn why_live(item: &Item, stuck_after: TimeDelta, now: DateTime<Utc>) -> Option<String> {
    if item.state != State::Running {
        return None;
    }
    let mut notes = Vec::new();
    let age = base_time(item, now, &mut notes).map(|at| (now - at).max(TimeDelta::zero()));
    let has_run =
        age.map_or("runs since nobody knows when".to_owned(), |age| format!("runs for {}", span(age)));
    let within = |limit: TimeDelta| format!("{has_run}, and may for {}", span(limit));
    Some(match &item.times.lease {
        Lease::Seconds(None) => format!("{has_run}, and no limit is set for it"),
        Lease::Seconds(Some(seconds)) => within(TimeDelta::try_seconds(*seconds).unwrap_or(TimeDelta::MAX)),
        Lease::EndsAt(Reading::Known(end)) => format!(
            "{has_run}, and its lease ends in {} ({}); whether its holder lives is not known",
            span(*end - now),
            stamp(*end)
        ),
        Lease::Told(item::Holder::Live) => format!("{has_run}, and its holder lives, as its source shows"),
        Lease::Heartbeat { beat: Reading::Known(beat), .. } if is_believable(*beat, now) => {
            format!(
                "{has_run}, and its holder gave a sign of life {} ago",
                span((now - *beat).max(TimeDelta::zero()))
            )
        }
        Lease::None | Lease::Told(_) | Lease::EndsAt(_) | Lease::Heartbeat { .. }
            if stuck_after >= Policy::NEVER =>
        {
            format!("{has_run}, and no limit is set for it")
        }
        Lease::None | Lease::Told(_) | Lease::EndsAt(_) | Lease::Heartbeat { .. } => within(stuck_after),
    })
}

fn by_policy(item: &Item, age: Option<TimeDelta>, stuck_after: TimeDelta, now: DateTime<Utc>) -> Holder {
    if stuck_after >= Policy::NEVER { Holder::Live } else { by_age(item, age, stuck_after, now) }
}

fn by_age(item: &Item, age: Option<TimeDelta>, stuck_after: TimeDelta, now: DateTime<Utc>) -> Holder {
    match (age, zone_unclear_time(item)) {
        (Some(age), _) if age < stuck_after => Holder::Live,
        (None, Some(at)) if may_be_younger(at, stuck_after, now) => Holder::Live,
        _ => Holder::Silent,
    }
}

/// Whether a time of no known zone may lie less than a limit ago. Only what is old in every zone of the world is old;
/// and what lies in the future in every zone is wrong, not fresh.
fn may_be_younger(at: DateTime<Utc>, limit: TimeDelta, now: DateTime<Utc>) -> bool {
    let age = now - at;
    age - ZONE_MAX < limit && age + ZONE_MAX >= -FUTURE_TOLERANCE
}

fn by_lease_end(end: DateTime<Utc>, zone: TimeDelta, now: DateTime<Utc>, notes: &mut Vec<String>) -> Holder {
    let over = now - end - zone;
    if over < TimeDelta::zero() {
        return Holder::Live;
    }
    notes.push(if zone.is_zero() {
        format!("Its lease ended {} ago.", span(over))
    } else {
        format!("Its lease ended at least {} ago, whatever its zone.", span(over))
    });
    Holder::Silent
}

fn by_heartbeat(
    item: &Item,
    beat: &Reading,
    limit: TimeDelta,
    since: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
    notes: &mut Vec<String>,
) -> Holder {
    notes.extend(oddity_of("last sign of life", beat, now));
    let believed = beat.known().filter(|at| is_believable(*at, now));
    if let (Some(beat), Some(since)) = (believed, since)
        && since - beat > limit
    {
        notes.push(format!(
            "It started {} after its last sign of life: the clocks differ.",
            span(since - beat)
        ));
    }
    let unclear = match beat {
        Reading::ZoneUnclear(at) => Some(*at),
        _ => zone_unclear_time(item),
    };
    match ([believed, since].into_iter().flatten().max(), unclear) {
        (Some(at), _) if now - at <= limit => Holder::Live,
        (_, Some(at)) if may_be_younger(at, limit, now) => Holder::Live,
        (Some(at), _) => {
            notes.push(format!("Its holder has been silent for {}.", span(now - at)));
            Holder::Silent
        }
        (None, _) => {
            notes.extend(beat.is_missing().then(|| "Its holder never gave a sign of life.".to_owned()));
            Holder::Silent
        }
    }
}

/// Whether a time can be true: not in the future, but for the moment between reading two clocks.
fn is_believable(at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    at - now <= FUTURE_TOLERANCE
}

/// What is odd about a time, in a sentence.
fn oddity_of(name: &str, reading: &Reading, now: DateTime<Utc>) -> Option<String> {
    match reading {
        Reading::Known(at) if !is_believable(*at, now) => {
            Some(format!("Its {name} lies {} in the future ({}).", span(*at - now), stamp(*at)))
        }
        Reading::UnitUnclear(_) | Reading::ZoneUnclear(_) | Reading::Unreadable(_) => {
            Some(format!("Its {name} cannot be read for certain: {reading}."))
        }
        Reading::Known(_) | Reading::Missing => None,
    }
}

/// The time from which an item is as it is, and notes on every time that is odd.
fn base_time(item: &Item, now: DateTime<Utc>, notes: &mut Vec<String>) -> Option<DateTime<Utc>> {
    let times = &item.times;
    let named = [("start", &times.started), ("last change", &times.updated), ("creation", &times.created)];
    notes.extend(named.into_iter().filter_map(|(name, reading)| oddity_of(name, reading, now)));
    let believable = |reading: &Reading| reading.known().filter(|at| is_believable(*at, now));
    let latest = [&times.started, &times.updated].into_iter().filter_map(believable).max();
    let unreadable = [&times.started, &times.updated].into_iter().any(|reading| !reading.is_missing());
    // The creation stands in only where nothing else is told at all: a wrong start must not become an old creation.
    let since = latest.or_else(|| if unreadable { None } else { believable(&times.created) });
    if since.is_none() && named.iter().all(|(_, reading)| reading.is_missing()) {
        notes.push("It tells no start time.".to_owned());
    }
    since
}

/// The time that counts where no zone is known; chosen as [`base_time`] chooses.
fn zone_unclear_time(item: &Item) -> Option<DateTime<Utc>> {
    let unclear = |reading: &Reading| match reading {
        Reading::ZoneUnclear(at) => Some(*at),
        Reading::Missing | Reading::Known(_) | Reading::UnitUnclear(_) | Reading::Unreadable(_) => None,
    };
    let times = &item.times;
    let told = [&times.started, &times.updated];
    let latest = told.into_iter().filter_map(unclear).max();
    latest.or_else(|| if told.into_iter().all(Reading::is_missing) { unclear(&times.created) } else { None })
}

#[cfg(test)]
mod tests;
