//! The timeline: what is known of one item, and of all that share its reference, as one ordered list that names its origins.
//!
//! Times are kept as each origin told them. Where two clocks may differ by more than what lies between two lines, the second
//! line says that their order is not certain; nothing is moved to make it look certain.

mod hints;
mod merge;
pub mod origins;
mod runs;
#[cfg(test)]
mod tests;

use crate::domain::evidence::EffectState;
use crate::domain::mark::MarkKind;
use crate::domain::moment::Reading;
use crate::domain::money::Money;
use chrono::{DateTime, TimeDelta, Timelike, Utc};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use hints::{Hint, Limits, hints};
pub use merge::merge;
pub use runs::{Run, runs};

/// What is said under hints that speak against a retry.
pub const LOOK_FIRST: &str = "Look before a retry.";

/// Whose clock told a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Clock {
    /// A source's.
    Source(Arc<str>),
    /// That of whoever wrote a log of receipts.
    Log(Arc<str>),
    /// A provider's.
    Provider(Arc<str>),
    /// That of whoever wrote a list of marks.
    Marks(Arc<str>),
    /// This machine's.
    Console,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(name) | Self::Log(name) | Self::Provider(name) | Self::Marks(name) => {
                f.write_str(name)
            }
            Self::Console => f.write_str("console"),
        }
    }
}

/// How far clocks are ahead of the console's, where somebody measured it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gaps(pub BTreeMap<Clock, TimeDelta>);

impl Gaps {
    /// By how much two clocks may differ where nobody measured: what machines that set their clocks by the network keep.
    pub const UNMEASURED: TimeDelta = TimeDelta::seconds(1);

    /// By how much two clocks may differ.
    pub fn between(&self, one: &Clock, other: &Clock) -> TimeDelta {
        if one == other {
            return TimeDelta::zero();
        }
        let gap = |clock: &Clock| match clock {
            Clock::Console => Some(TimeDelta::zero()),
            _ => self.0.get(clock).copied(),
        };
        match (gap(one), gap(other)) {
            (Some(one), Some(other)) => (one - other).abs().max(Self::UNMEASURED),
            (Some(known), None) | (None, Some(known)) => known.abs().max(Self::UNMEASURED),
            (None, None) => Self::UNMEASURED,
        }
    }
}

/// Where a line is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A column of the row.
    Row,
    /// A list of errors or attempts that the job system keeps.
    Attempts,
    /// A line of an application's log.
    Receipt,
    /// The provider.
    Effect,
    /// A mark: a deploy, a restart, a network incident.
    Mark,
    /// Our own record.
    Audit,
}

impl Origin {
    /// The word as JSON spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Attempts => "attempts",
            Self::Receipt => "receipt",
            Self::Effect => "effect",
            Self::Mark => "mark",
            Self::Audit => "audit",
        }
    }
}

/// Which item a line is of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemName {
    /// Its source; empty where a log names only a key.
    pub source: Arc<str>,
    /// Its key.
    pub key: Arc<str>,
}

impl fmt::Display for ItemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.source.is_empty() {
            f.write_str(&self.key)
        } else {
            write!(f, "{} {}", self.source, self.key)
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It said that all went well.
    Done,
    /// It said that it failed.
    Failed,
}

/// What is told of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Told {
    /// Which attempt it says it is.
    pub attempt: Option<i64>,
    /// Who ran it.
    pub owner: Option<String>,
    /// The status or action, in the words of its origin.
    pub word: String,
    /// The error it tells.
    pub error: Option<String>,
    /// The id of the effect it names.
    pub effect: Option<String>,
    /// What it calls the item by its nature.
    pub natural_key: Option<String>,
    /// The idempotency key it sent.
    pub idempotency_key: Option<String>,
}

/// What happened, in one of the ways that matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The item came into being.
    Created,
    /// The item is, or was, to be run then.
    Scheduled,
    /// Somebody took the item, or began to run it.
    Started(Told),
    /// A run ended.
    Ended(Ending, Told),
    /// A run found that it has nothing to do.
    Skipped(Told),
    /// Somebody gave a lock back.
    Unlocked(Told),
    /// The item was put back to be run again.
    Requeued(Told),
    /// Somebody who watches said that its run is dead.
    DeclaredDead(Told),
    /// The row last changed; its status now.
    Changed(String),
    /// Whoever holds the item gave a sign of life.
    Beat,
    /// Until when the item may be held.
    LeaseEnds,
    /// The provider did something.
    Effect {
        /// Its id.
        id: String,
        /// Its status, as the provider writes it.
        status: String,
        /// What that amounts to.
        state: EffectState,
        /// The amount, where it is told.
        money: Option<Money>,
    },
    /// A mark.
    Mark(MarkKind, String),
    /// A provider was asked; the verdict.
    Checked(String),
    /// A decision moved on, in words.
    Decided(String),
    /// Something else that a log tells.
    Noted(Told),
}

impl What {
    /// The word as JSON spells it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Scheduled => "scheduled",
            Self::Started(_) => "started",
            Self::Ended(Ending::Done, _) => "ended_done",
            Self::Ended(Ending::Failed, _) => "ended_failed",
            Self::Skipped(_) => "skipped",
            Self::Unlocked(_) => "unlocked",
            Self::Requeued(_) => "requeued",
            Self::DeclaredDead(_) => "declared_dead",
            Self::Changed(_) => "changed",
            Self::Beat => "heartbeat",
            Self::LeaseEnds => "lease_ends",
            Self::Effect { .. } => "effect",
            Self::Mark(..) => "mark",
            Self::Checked(_) => "checked",
            Self::Decided(_) => "decided",
            Self::Noted(_) => "noted",
        }
    }

    /// What is told of a run, if this is of one.
    pub fn told(&self) -> Option<&Told> {
        match self {
            Self::Started(told)
            | Self::Ended(_, told)
            | Self::Skipped(told)
            | Self::Unlocked(told)
            | Self::Requeued(told)
            | Self::DeclaredDead(told)
            | Self::Noted(told) => Some(told),
            Self::Created
            | Self::Scheduled
            | Self::Changed(_)
            | Self::Beat
            | Self::LeaseEnds
            | Self::Effect { .. }
            | Self::Mark(..)
            | Self::Checked(_)
            | Self::Decided(_) => None,
        }
    }

    /// Which of two that share a moment comes first: causes before what they bring about.
    fn causal_rank(&self) -> u8 {
        match self {
            Self::Mark(..) => 0,
            Self::Created => 1,
            Self::Scheduled => 2,
            Self::Started(_) => 3,
            Self::Beat => 4,
            Self::Effect { .. } => 5,
            Self::Noted(_) => 6,
            Self::Ended(..) | Self::Skipped(_) => 7,
            Self::Changed(_) => 8,
            Self::Unlocked(_) => 9,
            Self::Requeued(_) => 10,
            Self::LeaseEnds => 11,
            Self::DeclaredDead(_) => 12,
            Self::Checked(_) => 13,
            Self::Decided(_) => 14,
        }
    }

    /// The sentence of a line.
    pub fn sentence(&self) -> String {
        match self {
            Self::Created => "created".to_owned(),
            Self::Scheduled => "scheduled for this moment".to_owned(),
            Self::Started(told) => run_sentence(told, "started"),
            Self::Ended(Ending::Done, told) => run_sentence(told, "ended well"),
            Self::Ended(Ending::Failed, told) => run_sentence(told, "ended with an error"),
            Self::Skipped(told) => run_sentence(told, "did nothing"),
            Self::Unlocked(told) => run_sentence(told, "gave the lock back"),
            Self::Requeued(told) => run_sentence(told, "put back to be run again"),
            Self::DeclaredDead(told) => run_sentence(told, "was said to be dead"),
            Self::Changed(status) => format!("the row last changed; it says `{status}`"),
            Self::Beat => "sign of life of whoever holds it".to_owned(),
            Self::LeaseEnds => "it may be held until then".to_owned(),
            Self::Effect { id, status, money, .. } => {
                let money = money.as_ref().map(|money| format!(", {money}")).unwrap_or_default();
                format!("effect {id}: {status}{money}")
            }
            Self::Mark(kind, text) => format!("{}: {text}", kind.as_str()),
            Self::Checked(verdict) => format!("checked: {verdict}"),
            Self::Decided(words) => words.clone(),
            Self::Noted(told) => run_sentence(told, "noted"),
        }
    }
}

fn run_sentence(told: &Told, did: &str) -> String {
    let who = match told.attempt {
        Some(attempt) => format!("attempt {attempt} {did}"),
        None => did.to_owned(),
    };
    let mut parts = vec![who];
    parts.extend((!told.word.is_empty()).then(|| format!("`{}`", told.word)));
    parts.extend(told.owner.as_ref().map(|owner| format!("by {owner}")));
    parts.extend(told.effect.as_ref().map(|effect| format!("effect {effect}")));
    parts.extend(told.idempotency_key.as_ref().map(|key| format!("idempotency key {key}")));
    parts.extend(told.error.as_ref().map(|error| format!("error: {error}")));
    parts.join(", ")
}

/// One thing that is known, before it has its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happening {
    /// When, as far as it can be read.
    pub at: Reading,
    /// By whose clock.
    pub clock: Clock,
    /// Where it is from.
    pub origin: Origin,
    /// Where exactly: a column, a file and line, an operation, an entry of the audit.
    pub place: String,
    /// Which item it is of; `None` for what is of all.
    pub item: Option<ItemName>,
    /// What happened.
    pub what: What,
}

impl Happening {
    /// What happened as a line tells it, the item's name before it.
    pub fn words(&self) -> String {
        let item = self.item.as_ref().map(|item| format!("{}: ", item.key)).unwrap_or_default();
        format!("{item}{}", self.what.sentence())
    }
}

/// The lines that show something, as they stand behind a sentence; nothing where none do.
pub fn see(lines: &[usize]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let numbers: Vec<String> = lines.iter().map(ToString::to_string).collect();
    format!(" [line {}]", numbers.join(", "))
}

/// A happening in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// When, by its own clock.
    pub at: DateTime<Utc>,
    /// What.
    pub happening: Happening,
    /// Why its order after the line before it is not certain; `None` where it is.
    pub uncertain: Option<String>,
}

impl Line {
    /// The moment after which it surely had happened: a time without a fraction may be any moment of its second.
    pub fn latest(&self) -> DateTime<Utc> {
        self.at + resolution(self.at)
    }

    /// That its order is not certain, as a sentence; `None` where it is.
    pub fn uncertainty(&self) -> Option<String> {
        let why = self.uncertain.as_ref()?;
        Some(format!("its order after the line above is not certain: {why}"))
    }
}

/// How coarse a time is. One that falls on a whole second was probably cut there.
pub fn resolution(at: DateTime<Utc>) -> TimeDelta {
    if at.nanosecond() == 0 { TimeDelta::seconds(1) } else { TimeDelta::zero() }
}

/// A happening without a place, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untimed {
    /// What.
    pub happening: Happening,
    /// Why its time says nothing.
    pub why: String,
}

/// Everything in order, and at its end what has no time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timeline {
    /// The lines, in the order of their times.
    pub lines: Vec<Line>,
    /// What has no readable time.
    pub untimed: Vec<Untimed>,
    /// How far the clocks are apart.
    pub gaps: Gaps,
}

/// Which of two lines came first, as far as clocks and fractions tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The first one, surely.
    Before,
    /// The second one, surely.
    After,
    /// Nobody can tell.
    Uncertain,
}

impl Timeline {
    /// Which of two lines came first.
    pub fn order(&self, one: &Line, other: &Line) -> Order {
        let may_differ = self.gaps.between(&one.happening.clock, &other.happening.clock);
        if one.latest() + may_differ <= other.at {
            Order::Before
        } else if other.latest() + may_differ <= one.at {
            Order::After
        } else {
            Order::Uncertain
        }
    }

    /// Every happening, those without a time last.
    pub fn happenings(&self) -> impl Iterator<Item = &Happening> {
        let timed = self.lines.iter().map(|line| &line.happening);
        timed.chain(self.untimed.iter().map(|untimed| &untimed.happening))
    }

    /// The lines of effects that really happened.
    pub fn effects(&self) -> impl Iterator<Item = &Line> {
        self.lines
            .iter()
            .filter(|line| matches!(line.happening.what, What::Effect { state: EffectState::Happened, .. }))
    }
}
