//! What truly happens: the table of jobs, the provider's effects, and what the simulator writes down of both.

use crate::domain::cell::Cell;
use crate::domain::evidence::{Answer, Effect, EffectState};
use crate::domain::item::{Item, ItemKey, LastError, Row, State, Times};
use crate::domain::moment::{Reading, stamp};
use crate::workflow::fakes::{SOURCE, now};
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::BTreeMap;

/// How long after it took a job a worker may still send its request.
pub(super) const ACT_MAX: TimeDelta = TimeDelta::minutes(4);
/// How long after it was asked for an effect shows at the latest.
pub(super) const LAG_MAX: TimeDelta = TimeDelta::minutes(4);
/// What the provider's preset says of the two together, with a little to spare.
pub(super) const SETTLE: TimeDelta = TimeDelta::minutes(10);
/// How far back the preset says that a look-up sees.
pub(super) const LOOKBACK: TimeDelta = TimeDelta::hours(8);
/// How much further it really sees: a decision may take so long from reading the row to the answer.
pub(super) const LOOKBACK_TO_SPARE: TimeDelta = TimeDelta::minutes(10);
/// How long the provider remembers a key.
pub(super) const KEY_TTL: TimeDelta = TimeDelta::hours(6);

/// The world that a seed plays in.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn by itself, in every combination")]
pub(super) struct Setting {
    /// Whether a job is tried once: to retry it, its row is deleted. Else it is set to `pending`.
    pub is_tried_once: bool,
    /// Whether a worker writes only where the row is as it left it.
    pub is_guarded: bool,
    /// Whether the workers send an idempotency key.
    pub sends_key: bool,
    /// Whether the provider forgets effects.
    pub forgets: bool,
    /// Whether a repeat costs money.
    pub is_financial: bool,
    /// Whether escalations go to somebody.
    pub escalates: bool,
    /// Whether a decision that writes takes two persons.
    pub takes_two: bool,
}

/// A row of the table of jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    pub status: &'static str,
    pub attempts: i64,
    pub first: DateTime<Utc>,
    pub updated: DateTime<Utc>,
    pub error: Option<String>,
}

impl Job {
    pub(super) fn taken(attempts: i64, first: DateTime<Utc>, at: DateTime<Utc>) -> Self {
        Self { status: "running", attempts, first, updated: at, error: None }
    }

    /// The row that it is.
    pub(super) fn row(&self, setting: &Setting, key: &str) -> Row {
        let text = |text: &str| Cell::text(text);
        let mut columns = vec![
            ("key".into(), text(key)),
            ("status".into(), text(self.status)),
            ("updated_at".into(), text(&stamp(self.updated))),
            ("last_error".into(), self.error.as_deref().map_or(Cell::Null, text)),
        ];
        if !setting.is_tried_once {
            columns.push(("attempts".into(), Cell::Integer(self.attempts)));
            columns.push(("first_at".into(), text(&stamp(self.first))));
        }
        Row { columns }
    }

    /// The item that it is.
    pub(super) fn item(&self, setting: &Setting, key: &str) -> Item {
        let state = State::ALL.into_iter().find(|state| state.as_str() == self.status);
        Item {
            source: SOURCE.into(),
            key: ItemKey::new(vec![Cell::text(key)]),
            kind: "job".into(),
            status: self.status.into(),
            state: state.unwrap(),
            attempts: (!setting.is_tried_once).then_some(self.attempts),
            tried_once: setting.is_tried_once,
            times: Times {
                updated: Reading::Known(self.updated),
                first_attempt: if setting.is_tried_once {
                    Reading::Missing
                } else {
                    Reading::Known(self.first)
                },
                ..Times::default()
            },
            last_error: self.error.as_deref().map_or(LastError::Absent, LastError::of),
            fields: self.row(setting, key).columns,
            oddities: Vec::new(),
        }
    }
}

/// What a worker was told of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Succeeded,
    Declined,
    TimedOut,
    NeverLeft,
}

/// One worker at one job.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    pub key: String,
    pub at: DateTime<Utc>,
    /// The row as the worker left it when it took the job.
    pub left: Job,
    /// What it was told; `None` while its request is not sent.
    pub told: Option<Told>,
    /// It sleeps until then, and does not know.
    pub sleeps_until: DateTime<Utc>,
    /// It has written its end, or it is dead.
    pub is_over: bool,
}

/// How an effect ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Happened,
    Declined,
    /// Undecided until then, and so afterwards.
    Pending(DateTime<Utc>, EffectState),
}

/// Something that the provider did.
#[derive(Debug, Clone)]
pub(super) struct Done {
    pub id: String,
    pub key: String,
    pub at: DateTime<Utc>,
    pub shows_from: DateTime<Utc>,
    pub fate: Fate,
}

impl Done {
    pub(super) fn state(&self, now: DateTime<Utc>) -> EffectState {
        match self.fate {
            Fate::Happened => EffectState::Happened,
            Fate::Declined => EffectState::Failed,
            Fate::Pending(until, _) if now < until => EffectState::Pending,
            Fate::Pending(_, then) => then,
        }
    }
}

/// An answer that was given, by its number.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub at: DateTime<Utc>,
    /// Whether something went wrong on the way.
    pub is_fault: bool,
    /// The effects that it told of, ordered.
    pub effects: Vec<(String, EffectState)>,
}

impl Given {
    /// Whether it told of an effect that happened or may yet.
    pub(super) fn tells_effect(&self) -> bool {
        self.effects.iter().any(|(_, state)| *state != EffectState::Failed)
    }
}

/// A notice that arrived at the second line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arrived {
    pub dedup_key: String,
    pub key: String,
    pub intent: i64,
}

/// Everything outside the consoles.
pub(super) struct Truth {
    pub setting: Setting,
    /// The true time: the source's and the provider's clock.
    pub now: DateTime<Utc>,
    pub jobs: BTreeMap<String, Job>,
    pub attempts: Vec<Attempt>,
    pub effects: Vec<Done>,
    pub given: Vec<Given>,
    pub arrived: Vec<Arrived>,
    /// How many times workers and people by hand wrote a row.
    writes: i64,
}

impl Truth {
    pub(super) fn new(setting: Setting) -> Self {
        Self {
            setting,
            now: now(),
            jobs: BTreeMap::new(),
            attempts: Vec::new(),
            effects: Vec::new(),
            given: Vec::new(),
            arrived: Vec::new(),
            writes: 0,
        }
    }

    /// The moment as somebody other than a console writes it into a row: told apart from every other such moment, as a
    /// column with microseconds does.
    pub(super) fn moment_of_write(&mut self) -> DateTime<Utc> {
        self.writes += 1;
        self.now + TimeDelta::microseconds(self.writes)
    }

    pub(super) fn row(&self, key: &str) -> Option<Row> {
        Some(self.jobs.get(key)?.row(&self.setting, key))
    }

    /// What the provider tells of a reference at this moment, when all goes well.
    pub(super) fn answer(&self, key: &str, from: Option<DateTime<Utc>>) -> Answer {
        let sees_back = LOOKBACK + LOOKBACK_TO_SPARE;
        let is_forgotten = |done: &Done| {
            self.setting.forgets
                && (self.now - done.at > sees_back || from.is_some_and(|from| done.at < from))
        };
        let is_told = |done: &&Done| done.key == key && done.shows_from <= self.now && !is_forgotten(done);
        let effects = self.effects.iter().filter(is_told).map(|done| Effect {
            id: done.id.clone(),
            status: done.state(self.now).word().to_owned(),
            state: done.state(self.now),
            money: None,
            at: Some(done.at),
            link: None,
        });
        let seen_from = from.filter(|_| self.setting.forgets);
        Answer::Complete { effects: effects.collect(), seen_from }
    }

    /// Why a new try of a job could repeat an effect at this moment, if it could: one happened, or may yet.
    pub(super) fn could_repeat(&self, key: &str) -> Option<String> {
        let there = self.effects.iter().find(|done| {
            done.key == key && matches!(done.state(self.now), EffectState::Happened | EffectState::Pending)
        });
        if let Some(done) = there {
            return Some(format!("effect {} is there or on its way", done.id));
        }
        let coming = self.attempts.iter().find(|attempt| {
            attempt.key == key
                && !attempt.is_over
                && attempt.told.is_none()
                && self.now - attempt.at <= ACT_MAX
        });
        coming.map(|attempt| format!("the worker that took it at {} may still act", stamp(attempt.at)))
    }

    /// Until when the provider remembers a key; `None` where no request with it came.
    pub(super) fn remembers_until(&self, key: &str) -> Option<DateTime<Utc>> {
        self.effects.iter().filter(|done| done.key == key).map(|done| done.at + KEY_TTL).min()
    }
}

trait Word {
    fn word(self) -> &'static str;
}

impl Word for EffectState {
    fn word(self) -> &'static str {
        match self {
            Self::Happened => "succeeded",
            Self::Pending => "processing",
            Self::Failed => "declined",
            Self::Unlisted => "odd",
        }
    }
}
