//! What a watch remembers from look to look, and what it tells: new, changed, gone. Pure.
//!
//! A source that could not be read is no source without findings: what was known of it stays, and nothing of it is gone.

use crate::domain::cell::hex;
use crate::domain::text::{clean_cut, count_of};
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The version of the state below: a file with another one is of another program.
pub const STATE_VERSION: u32 = 1;
/// How many notices wait for a webhook at most; beyond, the oldest is given up, which is counted and told.
pub const OUTBOX_NOTICES_MAX: usize = 100;
/// How many changes a notice spells out; the others are counted.
pub const NOTICE_CHANGES_MAX: usize = 100;
/// How long to wait before a notice that was not taken is sent again; each further wait is twice as long.
pub const RESEND_WAIT_FIRST: TimeDelta = TimeDelta::seconds(15);
/// The longest of these waits.
pub const RESEND_WAIT_MAX: TimeDelta = TimeDelta::hours(1);

/// A finding as it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seen {
    /// Its kind.
    pub kind: String,
    /// Its native status.
    pub status: String,
    /// Why it needs a person.
    pub finding: String,
    /// What a wrong decision costs.
    pub risk: String,
    /// Since when it is so; `None` where no readable time says it.
    pub since: Option<DateTime<Utc>>,
    /// How many times it was tried; `None` where that is not kept.
    pub attempts: Option<i64>,
    /// What the provider said; `None` where nobody asked.
    pub verdict: Option<String>,
    /// What to do; `None` where nobody asked.
    pub advice: Option<String>,
    /// How many effects really happened; `None` where nobody asked.
    pub effects: Option<usize>,
    /// How much money it is about, in the currency itself; `None` where nobody said.
    pub amount: Option<String>,
    /// The currency of that; `None` where nobody said.
    pub currency: Option<String>,
    /// Whether the provider could not be asked: then its answer of before still stands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unasked: bool,
}

impl Seen {
    /// Whether a person would want to hear of the difference. A time that a worker touches is none.
    fn differs_from(&self, before: &Self) -> bool {
        let asked_twice = self.verdict.is_some() && before.verdict.is_some();
        self.finding != before.finding
            || self.status != before.status
            || self.attempts != before.attempts
            || (asked_twice && (&self.verdict, self.effects) != (&before.verdict, before.effects))
    }

    /// The same with the answer of before, where the provider could not be asked now.
    fn with_answer_of(mut self, before: Option<&Self>) -> Self {
        let Some(before) = before.filter(|before| before.verdict.is_some()) else { return self };
        if self.is_unasked || self.verdict.is_none() {
            self.verdict.clone_from(&before.verdict);
            self.advice.clone_from(&before.advice);
            self.effects = before.effects;
        }
        self
    }
}

/// Findings by their key.
pub type Items = BTreeMap<String, Seen>;

/// One look: each source with its findings, or why it could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// When it was begun.
    pub at: DateTime<Utc>,
    /// How long it took.
    pub took: TimeDelta,
    /// The sources by their name.
    pub sources: BTreeMap<String, Result<Items, String>>,
}

/// What is remembered of one source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceState {
    /// When it was last read whole; `None` before that.
    pub read_at: Option<DateTime<Utc>>,
    /// Why the last look could not read it; `None` where it could.
    pub unread: Option<String>,
    /// Its findings when it was last read.
    pub items: Items,
}

/// What is remembered from look to look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// [`STATE_VERSION`].
    pub version: u32,
    /// What is watched: sources and filter. A state is of one watch.
    pub scope: String,
    /// How many looks there were.
    pub looks: u64,
    /// When the last one was begun.
    pub looked_at: Option<DateTime<Utc>>,
    /// How long it took, in milliseconds.
    pub took_ms: i64,
    /// When every source was last read.
    pub succeeded_at: Option<DateTime<Utc>>,
    /// The sources by their name.
    pub sources: BTreeMap<String, SourceState>,
    /// What the webhook has not taken yet, the oldest first.
    pub outbox: Vec<Waiting>,
    /// How many notices were given up because too many waited.
    pub given_up: u64,
}

impl State {
    /// Nothing seen yet.
    pub fn new(scope: impl Into<String>) -> Self {
        Self {
            version: STATE_VERSION,
            scope: scope.into(),
            looks: 0,
            looked_at: None,
            took_ms: 0,
            succeeded_at: None,
            sources: BTreeMap::new(),
            outbox: Vec::new(),
            given_up: 0,
        }
    }

    /// How many findings there are, as far as is known.
    pub fn findings_count(&self) -> usize {
        self.sources.values().map(|source| source.items.len()).sum()
    }

    /// The sources that the last look could not read.
    pub fn unread(&self) -> Vec<&str> {
        let unread = self.sources.iter().filter(|(_, source)| source.unread.is_some());
        unread.map(|(name, _)| name.as_str()).collect()
    }

    /// Takes in a look, and says what is new, gone or changed since the one before.
    pub fn take(&mut self, look: Look) -> Vec<Change> {
        let mut changes = Vec::new();
        let is_whole = look.sources.values().all(Result::is_ok);
        self.looks += 1;
        self.looked_at = Some(look.at);
        self.took_ms = look.took.num_milliseconds();
        if is_whole {
            self.succeeded_at = Some(look.at);
        }
        // What somebody took out of what is watched is forgotten: nothing became of its findings.
        self.sources.retain(|name, _| look.sources.contains_key(name));
        for (name, read) in look.sources {
            match read {
                Err(why) => self.unread_now(&name, why, &mut changes),
                Ok(items) => self.read_now(&name, items, look.at, &mut changes),
            }
        }
        changes
    }

    fn unread_now(&mut self, name: &str, why: String, changes: &mut Vec<Change>) {
        let source = self.sources.entry(name.to_owned()).or_default();
        if source.unread.is_none() {
            changes.push(Change { why: Some(why.clone()), ..Change::of_source(What::Unread, name) });
        }
        source.unread = Some(why);
    }

    fn read_now(&mut self, name: &str, items: Items, at: DateTime<Utc>, changes: &mut Vec<Change>) {
        let source = self.sources.entry(name.to_owned()).or_default();
        if source.unread.take().is_some() {
            changes.push(Change::of_source(What::ReadAgain, name));
        }
        let mut before = std::mem::take(&mut source.items);
        for (key, seen) in items {
            let known = before.remove(&key);
            let now = seen.with_answer_of(known.as_ref());
            match known {
                None => changes.push(Change::of_item(What::New, name, &key, &now, None)),
                Some(known) if now.differs_from(&known) => {
                    changes.push(Change::of_item(What::Changed, name, &key, &now, Some(known)));
                }
                Some(_) => {}
            }
            source.items.insert(key, now);
        }
        changes.extend(before.iter().map(|(key, seen)| Change::of_item(What::Gone, name, key, seen, None)));
        source.read_at = Some(at);
    }

    /// Puts a notice of changes into the outbox. Whether it is given up some day for want of room is counted.
    pub fn post(&mut self, changes: &[Change], at: DateTime<Utc>) {
        if changes.is_empty() {
            return;
        }
        let notice = Notice::of(self, changes, at);
        // Kept as it is sent: a repeat is the same to its last byte.
        let body = serde_json::to_value(&notice).unwrap_or_default();
        self.outbox.push(Waiting { dedup_key: notice.dedup_key, body, tries: 0, next_try_at: at });
        while self.outbox.len() > OUTBOX_NOTICES_MAX {
            self.outbox.remove(0);
            self.given_up += 1;
        }
    }

    /// When the next notice may be sent; `None` where none waits. They go in order: what is gone must not come before it
    /// was new.
    pub fn next_try_at(&self) -> Option<DateTime<Utc>> {
        self.outbox.first().map(|waiting| waiting.next_try_at)
    }

    /// The next notice, where its time has come.
    pub fn due(&self, now: DateTime<Utc>) -> Option<&Waiting> {
        // A clock that was set back must not hold up a notice for longer than the longest wait.
        let is_due =
            |waiting: &Waiting| waiting.next_try_at <= now || waiting.next_try_at - now > RESEND_WAIT_MAX;
        self.outbox.first().filter(|waiting| is_due(waiting))
    }

    /// The first notice was taken.
    pub fn sent(&mut self) {
        if !self.outbox.is_empty() {
            self.outbox.remove(0);
        }
    }

    /// The first notice was not taken: it is sent again later.
    pub fn not_sent(&mut self, now: DateTime<Utc>) {
        if let Some(waiting) = self.outbox.first_mut() {
            waiting.tries = waiting.tries.saturating_add(1);
            waiting.next_try_at = now + resend_wait(waiting.tries);
        }
    }
}

/// How long to wait after so many tries.
pub fn resend_wait(tries_made: u32) -> TimeDelta {
    let doublings = tries_made.saturating_sub(1).min(16);
    (RESEND_WAIT_FIRST * (1 << doublings)).min(RESEND_WAIT_MAX)
}

/// What became of something since the look before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// It was no finding before.
    New,
    /// It is another finding, or another answer, than before.
    Changed,
    /// It is no finding any more.
    Gone,
    /// A source cannot be read any more.
    Unread,
    /// A source can be read again.
    ReadAgain,
}

/// One change, as it is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What became of it.
    pub event: What,
    /// The source's name.
    pub source: String,
    /// The item's key; `None` for a source.
    pub key: Option<String>,
    /// The finding as it is; as it last was where it is gone; `None` for a source.
    #[serde(flatten)]
    pub seen: Option<Seen>,
    /// What it was before; only of what changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Seen>,
    /// Why a source cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Change {
    fn of_source(event: What, source: &str) -> Self {
        Self { event, source: source.to_owned(), key: None, seen: None, before: None, why: None }
    }

    fn of_item(event: What, source: &str, key: &str, seen: &Seen, before: Option<Seen>) -> Self {
        let (key, seen) = (Some(key.to_owned()), Some(seen.clone()));
        Self { event, source: source.to_owned(), key, seen, before, why: None }
    }
}

/// How many changes of which sort there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// New findings.
    pub new: usize,
    /// Changed ones.
    pub changed: usize,
    /// Those that are gone.
    pub gone: usize,
}

impl Counts {
    /// Counts changes.
    pub fn of(changes: &[Change]) -> Self {
        let count = |event| changes.iter().filter(|change| change.event == event).count();
        Self { new: count(What::New), changed: count(What::Changed), gone: count(What::Gone) }
    }
}

/// What a template of a webhook's body may use of a [`Notice`]: its plain members.
pub const NOTICE_FIELDS: [&str; 8] =
    ["dedup_key", "at", "text", "new", "changed", "gone", "findings", "changes_left_out"];

/// What a webhook is told of one look, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// The same for the same changes at the same look, so that a repeat is known as one.
    pub dedup_key: String,
    /// When it was looked.
    pub at: DateTime<Utc>,
    /// All of it in one line; a chat shows it.
    pub text: String,
    /// How many changes there are.
    #[serde(flatten)]
    pub counts: Counts,
    /// How many findings there are now.
    pub findings: usize,
    /// The sources that could not be read.
    pub unread: Vec<String>,
    /// The first changes.
    pub changes: Vec<Change>,
    /// How many more there are.
    pub changes_left_out: usize,
}

impl Notice {
    fn of(state: &State, changes: &[Change], at: DateTime<Utc>) -> Self {
        let counts = Counts::of(changes);
        let unread: Vec<String> = state.unread().into_iter().map(str::to_owned).collect();
        let findings = state.findings_count();
        let mut told = vec![format!("{} new, {} changed, {} gone", counts.new, counts.changed, counts.gone)];
        told.push(format!("{} now", count_of(findings, "finding")));
        if !unread.is_empty() {
            told.push(format!("not read: {}", clean_cut(&unread.join(", "), 200)));
        }
        Self {
            dedup_key: dedup_key(state, changes),
            at,
            text: format!("unstuck: {}", told.join("; ")),
            counts,
            findings,
            unread,
            changes: changes.iter().take(NOTICE_CHANGES_MAX).cloned().collect(),
            changes_left_out: changes.len().saturating_sub(NOTICE_CHANGES_MAX),
        }
    }
}

/// The same for the same changes after the same look: also where the program ended before it could remember them.
fn dedup_key(state: &State, changes: &[Change]) -> String {
    let mut hasher = Sha256::new();
    let mut put = |text: &str| {
        hasher.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
        hasher.update(text.as_bytes());
    };
    put(&state.scope);
    put(&state.looks.to_string());
    for change in changes {
        put(&serde_json::to_string(change).unwrap_or_default());
    }
    format!("unstuck-watch-{}", &hex(&hasher.finalize())[..32])
}

/// A notice that waits for its webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The notice's key.
    pub dedup_key: String,
    /// A [`Notice`] as it is sent.
    pub body: serde_json::Value,
    /// How many times it was sent in vain.
    pub tries: u32,
    /// When it may be sent next.
    pub next_try_at: DateTime<Utc>,
}

#[cfg(test)]
mod tests;
