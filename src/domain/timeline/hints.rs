//! Hints: what an experienced eye would see in a timeline. They explain; no verdict and no advice comes from them.

use super::{Ending, Line, Order, Origin, Run, Timeline, What};
use crate::domain::moment::{span, stamp};
use chrono::{DateTime, TimeDelta, Utc};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The limits that spacings are held against, each with where it is from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Limits {
    /// After how long an item is given to somebody else.
    pub visibility: Vec<(String, TimeDelta)>,
    /// How long a caller waits for the provider.
    pub timeouts: Vec<(String, TimeDelta)>,
    /// How long the provider remembers an idempotency key.
    pub key_ttl: Option<TimeDelta>,
}

impl Limits {
    /// Adds the time-outs that an error text itself tells, such as `(read timeout=30)` or `timeout of 30000ms exceeded`.
    pub fn add_timeout_of(&mut self, error: &str) {
        static TOLD: LazyLock<Option<Regex>> = LazyLock::new(|| {
            Regex::new(r"(?i)read timeout=(\d+(?:\.\d+)?)|timed?[ -]?out\D{0,20}?(\d+(?:\.\d+)?) ?(ms|milliseconds|s|sec|seconds)\b").ok()
        });
        let Some(found) = TOLD.as_ref().and_then(|told| told.captures(error)) else { return };
        // `requests` tells seconds and no unit; of anything else the unit must be said.
        let (number, unit) = match (found.get(1), found.get(2), found.get(3)) {
            (Some(seconds), _, _) => (seconds.as_str(), "s"),
            (None, Some(number), Some(unit)) => (number.as_str(), unit.as_str()),
            _ => return,
        };
        let per_second = if unit.to_ascii_lowercase().starts_with('m') { 1.0 } else { 1_000.0 };
        let Ok(number) = number.parse::<f64>() else { return };
        let millis = number * per_second;
        if (1.0..1e10).contains(&millis) {
            #[expect(clippy::cast_possible_truncation, reason = "bounded just above")]
            let timeout = TimeDelta::milliseconds(millis.round() as i64);
            if !self.timeouts.iter().any(|(_, known)| *known == timeout) {
                self.timeouts.push(("told by its error".to_owned(), timeout));
            }
        }
    }

    /// How far a spacing may lie from a limit and still be called equal to it.
    const NEAR: TimeDelta = TimeDelta::seconds(2);
    /// A gap counts as "just over" a time-out while it is at most this many quarters of it.
    const OVER_QUARTERS_MAX: i32 = 6;

    /// The visibility limit that a spacing equals.
    fn equal_to(&self, spacing: TimeDelta) -> Option<&(String, TimeDelta)> {
        self.visibility.iter().find(|(_, limit)| (spacing - *limit).abs() <= Self::NEAR)
    }

    /// The time-out that a gap lies just over.
    fn just_under(&self, gap: TimeDelta) -> Option<&(String, TimeDelta)> {
        let is_just_over = |limit: TimeDelta| limit <= gap && gap <= limit / 4 * Self::OVER_QUARTERS_MAX;
        self.timeouts.iter().find(|(_, limit)| is_just_over(*limit))
    }
}

/// What an experienced eye would see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// Two runs of one item ran at the same time.
    Overlap {
        /// For how long.
        lasted: TimeDelta,
        /// The lines that show it.
        lines: Vec<usize>,
    },
    /// Two runs began exactly one visibility limit apart.
    EqualsVisibility {
        /// How far apart.
        spacing: TimeDelta,
        /// The limit, and where it is from.
        limit: (String, TimeDelta),
        /// The lines that show it.
        lines: Vec<usize>,
    },
    /// Somebody gave a lock back that somebody else held.
    OddUnlock {
        /// Who gave it back.
        by: String,
        /// Who held it.
        holder: String,
        /// The lines that show it.
        lines: Vec<usize>,
    },
    /// It was said to have failed, or to be dead, after it had said that all went well.
    FailedAfterDone {
        /// How much later.
        after: TimeDelta,
        /// The lines that show it.
        lines: Vec<usize>,
    },
    /// A later run began: ages count from there.
    LatestRun {
        /// When it began.
        at: DateTime<Utc>,
        /// The line that shows it.
        lines: Vec<usize>,
    },
    /// How far two effects lie apart, beside the time-out that this lies just over.
    EffectsApart {
        /// How far.
        gap: TimeDelta,
        /// The time-out, and where it is from.
        timeout: Option<(String, TimeDelta)>,
        /// The lines that show it.
        lines: Vec<usize>,
    },
    /// Each run sent another idempotency key.
    KeyChanges {
        /// The keys.
        keys: Vec<String>,
        /// The lines that show it.
        lines: Vec<usize>,
    },
    /// Two effects lie further apart than the provider remembers a key.
    KeyForgotten {
        /// How far apart.
        gap: TimeDelta,
        /// How long a key is remembered.
        key_ttl: TimeDelta,
        /// The lines that show it.
        lines: Vec<usize>,
    },
    /// The row and a log tell the same end at different times.
    EndsDisagree {
        /// By how much.
        by: TimeDelta,
        /// Whether the row's time is the earlier one.
        row_is_earlier: bool,
        /// The lines that show it.
        lines: Vec<usize>,
    },
}

impl Hint {
    /// The word as JSON spells it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Overlap { .. } => "overlap",
            Self::EqualsVisibility { .. } => "equals_visibility_limit",
            Self::OddUnlock { .. } => "odd_unlock",
            Self::FailedAfterDone { .. } => "failed_after_done",
            Self::LatestRun { .. } => "latest_run",
            Self::EffectsApart { .. } => "effects_apart",
            Self::KeyChanges { .. } => "key_changes",
            Self::KeyForgotten { .. } => "key_forgotten",
            Self::EndsDisagree { .. } => "ends_disagree",
        }
    }

    /// The lines that show it, by number.
    pub fn lines(&self) -> &[usize] {
        match self {
            Self::Overlap { lines, .. }
            | Self::EqualsVisibility { lines, .. }
            | Self::OddUnlock { lines, .. }
            | Self::FailedAfterDone { lines, .. }
            | Self::LatestRun { lines, .. }
            | Self::EffectsApart { lines, .. }
            | Self::KeyChanges { lines, .. }
            | Self::KeyForgotten { lines, .. }
            | Self::EndsDisagree { lines, .. } => lines,
        }
    }

    /// The line of the row whose time is doubted: a log tells the same end at another time.
    pub fn doubted_line(&self) -> Option<usize> {
        match self {
            Self::EndsDisagree { lines, .. } => lines.first().copied(),
            Self::Overlap { .. }
            | Self::EqualsVisibility { .. }
            | Self::OddUnlock { .. }
            | Self::FailedAfterDone { .. }
            | Self::LatestRun { .. }
            | Self::EffectsApart { .. }
            | Self::KeyChanges { .. }
            | Self::KeyForgotten { .. } => None,
        }
    }

    /// Whether a retry must not be what is offered first.
    pub fn warns_against_retry(&self) -> bool {
        match self {
            Self::Overlap { .. }
            | Self::EqualsVisibility { .. }
            | Self::OddUnlock { .. }
            | Self::FailedAfterDone { .. }
            | Self::EffectsApart { .. }
            | Self::KeyChanges { .. }
            | Self::KeyForgotten { .. } => true,
            Self::LatestRun { .. } | Self::EndsDisagree { .. } => false,
        }
    }

    /// The hint as a sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Overlap { lasted, .. } => format!("Two runs overlap {}.", span(*lasted)),
            Self::EqualsVisibility { spacing, limit: (from, limit), .. } => format!(
                "Two runs began {} apart: that equals the visibility limit of {} ({from}).",
                span(*spacing),
                span(*limit)
            ),
            Self::OddUnlock { by, holder, .. } => {
                format!("{by} gave back a lock that {holder} held: whoever came next found it free.")
            }
            Self::FailedAfterDone { after, .. } => format!(
                "It was said to have failed {} after it had said that all went well: look before a retry.",
                span(*after)
            ),
            Self::LatestRun { at, .. } => {
                format!("The latest of its runs began at {}: its age counts from there.", stamp(*at))
            }
            Self::EffectsApart { gap, timeout: Some((from, timeout)), .. } => format!(
                "Two effects lie {} apart, just over the time-out of {} ({from}).",
                span(*gap),
                span(*timeout)
            ),
            Self::EffectsApart { gap, timeout: None, .. } => {
                format!("Two effects lie {} apart.", span(*gap))
            }
            Self::KeyChanges { keys, .. } => format!(
                "The idempotency key changes per attempt ({}): it protects nothing, so ask the provider before a retry.",
                keys.join(", ")
            ),
            Self::KeyForgotten { gap, key_ttl, .. } => format!(
                "Two effects lie {} apart, and the provider remembers a key for {}: it had forgotten it.",
                span(*gap),
                span(*key_ttl)
            ),
            Self::EndsDisagree { by, row_is_earlier, .. } => {
                let (early, late) = if *row_is_earlier { ("row", "log") } else { ("log", "row") };
                format!(
                    "The {early} tells its last end {} before the {late} does: one of them was changed or has another clock.",
                    span(*by)
                )
            }
        }
    }
}

/// Everything an experienced eye would see, in the order in which a person should read it.
pub fn hints(timeline: &Timeline, runs: &[Run], limits: &Limits) -> Vec<Hint> {
    let disagreeing = ends_disagree(timeline);
    let mut all = failed_after_done(timeline, &disagreeing);
    all.extend(overlaps(runs));
    all.extend(odd_unlocks(timeline));
    all.extend(key_changes(runs));
    all.extend(effects_apart(timeline, limits));
    all.extend(equal_spacings(runs, limits));
    all.extend(latest_run(runs));
    all.extend(disagreeing);
    all
}

fn both(one: &Run, other: &Run) -> Vec<usize> {
    let mut lines: Vec<usize> = one.lines.iter().chain(&other.lines).copied().collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

fn overlaps(runs: &[Run]) -> Vec<Hint> {
    let mut hints = Vec::new();
    for (place, one) in runs.iter().enumerate() {
        for other in &runs[place + 1..] {
            // They are in the order of their moments: what follows begins, or ends, later still.
            if other.moment() >= one.end {
                break;
            }
            let (Some(from), Some(one_end)) = (one.start.max(other.start), one.end) else { continue };
            if one.start.is_none() || other.start.is_none() || one.item != other.item {
                continue;
            }
            // A run whose end nobody wrote down overlaps for as long as the other one is known to have lasted.
            let until = other.end.map_or(one_end, |end| end.min(one_end));
            if from < until {
                hints.push(Hint::Overlap { lasted: until - from, lines: both(one, other) });
            }
        }
    }
    hints
}

fn equal_spacings(runs: &[Run], limits: &Limits) -> Vec<Hint> {
    let started: Vec<(DateTime<Utc>, &Run)> = runs.iter().filter_map(|run| Some((run.start?, run))).collect();
    let pairs = started.windows(2).filter_map(|pair| {
        let [(first, one), (second, other)] = pair else { return None };
        if one.item != other.item {
            return None;
        }
        let spacing = *second - *first;
        let limit = limits.equal_to(spacing)?.clone();
        Some(Hint::EqualsVisibility { spacing, limit, lines: both(one, other) })
    });
    pairs.collect()
}

/// Follows who holds the lock. Whoever gives it back without holding it frees what somebody else holds.
fn odd_unlocks(timeline: &Timeline) -> Vec<Hint> {
    let mut holder: Option<(String, usize)> = None;
    let mut hints = Vec::new();
    for line in &timeline.lines {
        match &line.happening.what {
            What::Started(told) if told.owner.is_some() => {
                holder = told.owner.clone().map(|owner| (owner, line.number));
            }
            What::Unlocked(told) => {
                if let (Some(by), Some((held_by, since))) = (&told.owner, &holder)
                    && by != held_by
                {
                    hints.push(Hint::OddUnlock {
                        by: by.clone(),
                        holder: held_by.clone(),
                        lines: vec![*since, line.number],
                    });
                }
                holder = None;
            }
            _ => {}
        }
    }
    hints
}

/// A row's end whose time is doubted shows no order.
fn failed_after_done(timeline: &Timeline, disagreeing: &[Hint]) -> Vec<Hint> {
    let doubted: BTreeSet<usize> = disagreeing.iter().filter_map(Hint::doubted_line).collect();
    let mut done: Option<&Line> = None;
    let mut hints = Vec::new();
    for line in timeline.lines.iter().filter(|line| !doubted.contains(&line.number)) {
        match &line.happening.what {
            What::Ended(Ending::Done, _) => done = Some(line),
            // A new run may fail for reasons of its own.
            What::Started(_) | What::Requeued(_) => done = None,
            What::Ended(Ending::Failed, _) | What::DeclaredDead(_) => {
                let same = |before: &&Line| before.happening.item == line.happening.item;
                let is_later = |before: &&Line| {
                    attempt_of(before).is_none_or(|one| attempt_of(line).is_none_or(|other| one <= other))
                };
                if let Some(before) = done.filter(same).filter(is_later) {
                    let lines = vec![before.number, line.number];
                    hints.push(Hint::FailedAfterDone { after: line.at - before.at, lines });
                }
            }
            _ => {}
        }
    }
    hints
}

fn attempt_of(line: &Line) -> Option<i64> {
    line.happening.what.told().and_then(|told| told.attempt)
}

fn latest_run(runs: &[Run]) -> Option<Hint> {
    let latest = runs.last()?;
    let at = latest.start.filter(|_| runs.len() > 1 && latest.end.is_none())?;
    Some(Hint::LatestRun { at, lines: latest.lines.clone() })
}

fn effects_apart(timeline: &Timeline, limits: &Limits) -> Vec<Hint> {
    let effects: Vec<&Line> = timeline.effects().collect();
    let mut hints = Vec::new();
    for pair in effects.windows(2) {
        let [one, other] = pair else { continue };
        let (gap, lines) = (other.at - one.at, vec![one.number, other.number]);
        let timeout = limits.just_under(gap).cloned();
        if let Some(key_ttl) = limits.key_ttl.filter(|ttl| gap >= *ttl) {
            hints.push(Hint::KeyForgotten { gap, key_ttl, lines: lines.clone() });
        }
        hints.push(Hint::EffectsApart { gap, timeout, lines });
    }
    hints
}

fn key_changes(runs: &[Run]) -> Option<Hint> {
    let mut keys: Vec<String> = Vec::new();
    let mut lines = BTreeSet::new();
    for run in runs {
        let Some(key) = &run.idempotency_key else { continue };
        lines.extend(run.lines.iter().copied());
        if !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    (keys.len() > 1).then(|| Hint::KeyChanges { keys, lines: lines.into_iter().collect() })
}

/// The row and the log each tell the last end of an item; where both tell the same ending at times that clocks do not
/// explain, one of them is wrong.
fn ends_disagree(timeline: &Timeline) -> Vec<Hint> {
    let mut hints = Vec::new();
    for row in timeline.lines.iter().filter(|line| line.happening.origin == Origin::Row) {
        let What::Ended(ending, _) = &row.happening.what else { continue };
        let same = |line: &&Line| {
            let is_end = matches!(&line.happening.what, What::Ended(other, _) if other == ending);
            let key = |line: &Line| line.happening.item.as_ref().map(|item| item.key.clone());
            line.happening.origin == Origin::Receipt && is_end && key(line) == key(row)
        };
        let Some(log) = timeline.lines.iter().rev().find(same) else { continue };
        let row_is_earlier = match timeline.order(row, log) {
            Order::Before => true,
            Order::After => false,
            Order::Uncertain => continue,
        };
        // A worker writes its log and its row one after the other: only more than that is a disagreement.
        let by = (row.at - log.at).abs();
        if by > TimeDelta::minutes(1) {
            hints.push(Hint::EndsDisagree { by, row_is_earlier, lines: vec![row.number, log.number] });
        }
    }
    hints
}
