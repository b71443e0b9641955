//! What happened, drawn from the audit's entries: for the next shift and for the post-mortem. Pure.
//!
//! Every number here is counted from entries, so that whoever has the audit can count them again.

use crate::domain::audit::{Entry, Event};
use crate::domain::incident::Incident;
use crate::domain::mask::mask_text;
use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

mod decided;
mod money;
#[cfg(test)]
mod tests;

pub use decided::{Decided, Outcome};
pub use money::Money;

/// How many items that are still open are named one by one; the others are counted.
pub const OPEN_ITEMS_MAX: usize = 1_000;

/// What is reported on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The incident; `None` where a window was asked for.
    pub incident: Option<Incident>,
    /// The window's beginning; `None` has no bound.
    pub from: Option<DateTime<Utc>>,
    /// The window's end, exclusive; `None` has no bound.
    pub until: Option<DateTime<Utc>>,
}

impl Scope {
    /// Whether an entry lies in the window. One whose time cannot be read does: nothing is left out in silence.
    pub fn has(&self, entry: &Entry) -> bool {
        entry.at.parse::<DateTime<Utc>>().map_or(true, |at| {
            self.from.is_none_or(|from| at >= from) && self.until.is_none_or(|until| at < until)
        })
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The incident; `None` where a window was asked for.
    pub incident: Option<Incident>,
    /// The window's beginning; `None` has no bound.
    pub from: Option<DateTime<Utc>>,
    /// The window's end; `None` has no bound.
    pub until: Option<DateTime<Utc>>,
    /// The entries it is drawn from.
    pub entries: Span,
    /// What happened how often.
    pub counts: Counts,
    /// The decisions by what was chosen and what became of it.
    pub choices: Vec<ChoiceCounts>,
    /// The decisions by who made them.
    pub operators: Vec<OperatorCounts>,
    /// The items that were asked about, by their last verdict.
    pub verdicts: Vec<VerdictCount>,
    /// Money, by currency.
    pub money: Vec<Money>,
    /// Every decision, in the order in which they began.
    pub decisions: Vec<Decided>,
    /// Items that were asked about and that nobody settled since: the first of them.
    pub open_items: Vec<OpenItem>,
}

/// The entries a report is drawn from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Span {
    /// How many there are in the window.
    pub count: usize,
    /// The first one's number; `None` where there is none.
    pub first: Option<i64>,
    /// The last one's number.
    pub last: Option<i64>,
    /// The last one's hash: with it, `audit verify` says whether they are still what they were.
    pub head: Option<String>,
}

/// What happened how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// How often a provider was asked about an item by itself, without a decision.
    pub checks: usize,
    /// How many items were asked about.
    pub items: usize,
    /// How many lists of providers were read.
    pub lists: usize,
    /// Decisions of any outcome.
    pub decisions: usize,
    /// Those that were carried out.
    pub applied: usize,
    /// Those that touched nothing.
    pub refused: usize,
    /// Those that broke.
    pub failed: usize,
    /// Those that began and have no outcome.
    pub unfinished: usize,
    /// Those that wait for a second person.
    pub waiting: usize,
    /// Those whose proposal was taken back or rejected.
    pub withdrawn: usize,
    /// Those whose proposal lapsed.
    pub lapsed: usize,
    /// Those that two persons made.
    pub by_two: usize,
    /// Those against the advice.
    pub insisted: usize,
    /// Looks at what a decision would write.
    pub dry_runs: usize,
    /// Looks at hidden fields.
    pub unmasked: usize,
    /// Items that were asked about and that nobody settled since.
    pub open_items: usize,
}

/// The decisions of one choice.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ChoiceCounts {
    /// What was chosen.
    pub choice: String,
    /// How many were carried out.
    pub applied: usize,
    /// How many touched nothing.
    pub refused: usize,
    /// How many broke.
    pub failed: usize,
    /// How many have another end, or none yet.
    pub other: usize,
}

/// The decisions of one person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperatorCounts {
    /// Who.
    pub operator: String,
    /// How many decisions.
    pub decisions: usize,
    /// How many of them were carried out.
    pub applied: usize,
}

/// How many items have a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictCount {
    /// The verdict.
    pub verdict: String,
    /// How many items.
    pub items: usize,
}

/// An item that was asked about and that nobody settled since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenItem {
    /// The source's name.
    pub source: String,
    /// The item's key.
    pub key: String,
    /// Its kind.
    pub kind: String,
    /// What the provider said last.
    pub verdict: String,
    /// What to do.
    pub advice: String,
    /// When that was asked.
    pub at: String,
    /// The audit entry that tells it.
    pub entry: i64,
}

/// The last that was heard of an item.
struct Last<'a> {
    entry: &'a Entry,
    check: Value,
}

impl Report {
    /// Draws a report from entries, oldest first: those of the window, and whole decisions that reach beyond it.
    pub fn of(scope: Scope, entries: &[Entry]) -> Self {
        let inside: Vec<&Entry> = entries.iter().filter(|entry| scope.has(entry)).collect();
        let decisions = Decided::all_of(entries, |entry| scope.has(entry));
        let lasts = lasts(&inside);
        let open = open_items(&lasts, &decisions);
        let count = |event: Event| inside.iter().filter(|entry| entry.event == event.as_str()).count();
        let ended = |outcome| decisions.iter().filter(|one| one.outcome == outcome).count();
        let counts = Counts {
            checks: count(Event::Checked),
            items: lasts.len(),
            lists: count(Event::Listed),
            decisions: decisions.len(),
            applied: ended(Outcome::Applied),
            refused: ended(Outcome::Refused),
            failed: ended(Outcome::Failed),
            unfinished: ended(Outcome::Unfinished),
            waiting: ended(Outcome::Waiting),
            withdrawn: ended(Outcome::Withdrawn),
            lapsed: ended(Outcome::Lapsed),
            by_two: decisions.iter().filter(|one| one.approved_by.is_some()).count(),
            insisted: decisions.iter().filter(|one| one.insisted).count(),
            dry_runs: count(Event::DryRun),
            unmasked: count(Event::Unmasked),
            open_items: open.len(),
        };
        Self {
            entries: Span {
                count: inside.len(),
                first: inside.first().map(|entry| entry.seq),
                last: inside.last().map(|entry| entry.seq),
                head: inside.last().map(|entry| entry.hash.clone()),
            },
            counts,
            choices: choices(&decisions),
            operators: operators(&decisions),
            verdicts: verdicts(&lasts),
            money: money::sums(&decisions, lasts.values().map(|last| &last.check)),
            open_items: open.into_iter().take(OPEN_ITEMS_MAX).collect(),
            decisions,
            incident: scope.incident,
            from: scope.from,
            until: scope.until,
        }
    }
}

/// The last check of each item, alone or within a decision.
fn lasts<'a>(inside: &[&'a Entry]) -> BTreeMap<(&'a str, &'a str), Last<'a>> {
    let mut lasts = BTreeMap::new();
    for &entry in inside {
        // Somebody who only looked at what would be written asked the provider too.
        let body: Value = serde_json::from_str(&entry.body).unwrap_or_default();
        let check = if entry.event == Event::Checked.as_str() { body } else { body["check"].clone() };
        if check["verdict"].is_string() {
            lasts.insert((entry.source.as_str(), entry.key.as_str()), Last { entry, check });
        }
    }
    lasts
}

/// Items whose last word is no decision that was carried out.
fn open_items(lasts: &BTreeMap<(&str, &str), Last<'_>>, decisions: &[Decided]) -> Vec<OpenItem> {
    let applied = decisions.iter().filter(|one| one.outcome == Outcome::Applied);
    let settled: BTreeMap<(&str, &str), i64> =
        applied.map(|one| ((one.source.as_str(), one.key.as_str()), one.last_entry())).collect();
    let is_open = |(item, last): &(&(&str, &str), &Last<'_>)| {
        settled.get(*item).is_none_or(|entry| *entry < last.entry.seq)
    };
    let open = lasts.iter().filter(is_open);
    open.map(|((source, key), last)| OpenItem {
        source: (*source).to_owned(),
        key: (*key).to_owned(),
        kind: word(&last.check, "kind"),
        verdict: word(&last.check, "verdict"),
        advice: word(&last.check, "advice"),
        at: last.entry.at.clone(),
        entry: last.entry.seq,
    })
    .collect()
}

fn choices(decisions: &[Decided]) -> Vec<ChoiceCounts> {
    let mut counts: BTreeMap<&str, ChoiceCounts> = BTreeMap::new();
    for one in decisions {
        let count = counts.entry(one.choice.as_str()).or_default();
        match one.outcome {
            Outcome::Applied => count.applied += 1,
            Outcome::Refused => count.refused += 1,
            Outcome::Failed => count.failed += 1,
            Outcome::Unfinished | Outcome::Waiting | Outcome::Withdrawn | Outcome::Lapsed => count.other += 1,
        }
    }
    let named = counts.into_iter().map(|(choice, count)| ChoiceCounts { choice: choice.to_owned(), ..count });
    named.collect()
}

fn operators(decisions: &[Decided]) -> Vec<OperatorCounts> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for one in decisions {
        let persons: BTreeSet<&str> =
            [Some(one.operator.as_str()), one.approved_by.as_deref()].into_iter().flatten().collect();
        for person in persons {
            let (all, applied) = counts.entry(person).or_default();
            *all += 1;
            *applied += usize::from(one.outcome == Outcome::Applied);
        }
    }
    let told = counts.into_iter().map(|(operator, (decisions, applied))| OperatorCounts {
        operator: operator.to_owned(),
        decisions,
        applied,
    });
    told.collect()
}

fn verdicts(lasts: &BTreeMap<(&str, &str), Last<'_>>) -> Vec<VerdictCount> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for last in lasts.values() {
        *counts.entry(word(&last.check, "verdict")).or_default() += 1;
    }
    counts.into_iter().map(|(verdict, items)| VerdictCount { verdict, items }).collect()
}

/// A text of a body; empty where it is not there. What looks secret in it is hidden once more.
fn word(body: &Value, name: &str) -> String {
    body[name].as_str().map(|text| mask_text(text).into_owned()).unwrap_or_default()
}

fn decimal(value: &Value) -> Option<Decimal> {
    Decimal::from_str(value.as_str()?).ok()
}
