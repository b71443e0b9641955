//! The ports themselves, in memory.

use super::{Script, evidence, item_of, now, row, stuck_row};
use crate::domain::audit::{Entry, Event, GENESIS, NewEntry, Subject};
use crate::domain::cell::Cell;
use crate::domain::decision::Choice;
use crate::domain::evidence::{Answer, Clocks, Evidence, Fault, FaultKind};
use crate::domain::item::{ItemKey, Row, State};
use crate::domain::listing::{ListedEffect, Listing};
use crate::domain::moment::stamp;
use crate::domain::plan::{Confirming, ListingFacts};
use crate::domain::proposal::IdEnding;
use crate::ports::clock::Clock;
use crate::ports::escalation::{Escalation, NotTaken, Notice, ShownRequest};
use crate::ports::provider::{Listed, Provider, ProviderFacts, Question, Told, Window};
use crate::ports::record::{Once, Record, RecordFault};
use crate::ports::source::{
    Applied, Change, Cursor, Examined, Health, LateWriter, Leaves, Page, Payload, PlannedStatement, Reading,
    Rows, Source, SourceFacts, SourceFault, SourceFaultKind, Unsupported, Wanted,
};
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use uuid::Uuid;

/// A clock that stands still until somebody sets it. Only the processes with an odd number live, and the desk's own.
pub(super) struct FakeClock {
    pub process: u32,
    pub ahead: Arc<Mutex<TimeDelta>>,
}

impl Clock for FakeClock {
    fn now(&self) -> DateTime<Utc> {
        now() + *self.ahead.lock().unwrap()
    }

    fn new_id(&self) -> Uuid {
        Uuid::now_v7()
    }

    fn process(&self) -> u32 {
        self.process
    }

    fn lives(&self, process: u32) -> Option<bool> {
        Some(process == self.process || process % 2 == 1)
    }
}

/// A table of jobs with the columns `key`, `status` and `updated_at`.
pub(crate) struct FakeSource {
    script: Arc<Script>,
    facts: Arc<SourceFacts>,
    rows: Mutex<BTreeMap<String, Row>>,
    page_items: usize,
    /// Whether a write that did not come about is told as one that may have.
    loses_commits: AtomicBool,
}

impl FakeSource {
    pub(super) fn new(script: Arc<Script>, keys: &[&str]) -> Self {
        let facts = Arc::new(SourceFacts {
            name: super::SOURCE.into(),
            place: "memory".to_owned(),
            whole_place: "memory".to_owned(),
            table: Some("memory/jobs".into()),
            preset: "fake".into(),
            variant: Arc::default(),
            late_writer: LateWriter::Guarded,
            leaves: [
                (Choice::MarkDone, Leaves::State(State::Done)),
                (Choice::Retry, Leaves::Absent),
                (Choice::Escalate, Leaves::Unchanged),
            ],
            unsupported: Vec::new(),
        });
        let rows = keys.iter().map(|key| ((*key).to_owned(), stuck_row(key))).collect();
        Self { script, facts, rows: Mutex::new(rows), page_items: 2, loses_commits: AtomicBool::new(false) }
    }

    /// The row of a key, as anybody could read it.
    pub(crate) fn row(&self, key: &str) -> Option<Row> {
        self.rows.lock().unwrap().get(key).cloned()
    }

    /// Somebody else writes.
    pub(crate) fn overwrite(&self, key: &str, status: &str) {
        self.rows.lock().unwrap().insert(key.to_owned(), row(key, status, "2027-01-15 07:59:00"));
    }

    /// From now on a write that did not come about is told as one that may have.
    pub(crate) fn lose_commits(&self) {
        self.loses_commits.store(true, Ordering::Relaxed);
    }

    /// Somebody else removes a row.
    pub(crate) fn remove(&self, key: &str) {
        self.rows.lock().unwrap().remove(key);
    }

    /// Compare and set, as a transaction does it.
    fn write(&self, choice: Choice, change: &Change) -> Applied {
        let mut rows = self.rows.lock().unwrap();
        let key = change.key.as_str();
        let current = rows.get(key).cloned();
        if current.as_ref() != Some(&change.seen) {
            return Applied::Changed(current);
        }
        let after = match choice {
            Choice::MarkDone => Some(row(key, "done", &stamp(change.now))),
            Choice::Retry => None,
            Choice::Escalate => current,
        };
        match after.clone() {
            Some(after) => drop(rows.insert(key.to_owned(), after)),
            None => drop(rows.remove(key)),
        }
        Applied::Written { before: change.seen.clone(), after }
    }
}

fn source_fault(what: &str, may_have_written: bool) -> SourceFault {
    SourceFault {
        kind: SourceFaultKind::Broken,
        what: what.to_owned(),
        do_next: "Try again.".to_owned(),
        may_have_written,
    }
}

#[async_trait]
impl Source for FakeSource {
    fn facts(&self) -> Arc<SourceFacts> {
        Arc::clone(&self.facts)
    }

    async fn scan(&self, _wanted: &Wanted, after: Option<Cursor>) -> Result<Page, SourceFault> {
        let call = self.script.begin("source.scan", "").await;
        if call.fails_before() || call.fails_after().await {
            return Err(source_fault("the scan broke", false));
        }
        let from = super::place_of(after.as_ref());
        let rows = self.rows.lock().unwrap();
        let items: Vec<_> = rows.values().skip(from).take(self.page_items).map(item_of).collect();
        let next = from + items.len();
        let next = (next < rows.len()).then(|| super::cursor_at(next));
        Ok(Page { items, next, source_now: now() })
    }

    async fn read(&self, key: &str) -> Result<Option<Reading>, SourceFault> {
        let call = self.script.begin("source.read", key).await;
        if call.fails_before() || call.fails_after().await {
            return Err(source_fault("the row cannot be read", false));
        }
        Ok(self.row(key).map(|row| Reading { item: item_of(&row), row, source_now: now() }))
    }

    async fn payload(&self, key: &ItemKey, bytes_max: usize) -> Result<Option<Payload>, SourceFault> {
        let call = self.script.begin("source.payload", key.as_str()).await;
        if call.fails_before() || call.fails_after().await {
            return Err(source_fault("the payload cannot be read", false));
        }
        Ok(Some(Payload { bytes: vec![b'x'; bytes_max], size_bytes: 5_000_000, is_closed: false }))
    }

    fn plan(&self, choice: Choice, change: &Change) -> Result<Vec<PlannedStatement>, Unsupported> {
        let seen = change.seen.columns.iter().map(|(name, cell)| (format!(":seen_{name}"), cell.clone()));
        let now = (":now".to_owned(), Cell::text(stamp(change.now)));
        let sql = match choice {
            Choice::MarkDone => "UPDATE jobs SET status = 'done', updated_at = :now WHERE …",
            Choice::Retry => "DELETE FROM jobs WHERE …",
            Choice::Escalate => return Ok(Vec::new()),
        };
        Ok(vec![PlannedStatement {
            sql: sql.to_owned(),
            parameters: seen.chain([now]).collect(),
            rows: Rows::exactly(1),
            why: None,
        }])
    }

    async fn apply(&self, choice: Choice, change: &Change) -> Result<Applied, SourceFault> {
        let call = self.script.begin("source.apply", change.key.as_str()).await;
        if call.fails_before() {
            let may_have_written = self.loses_commits.load(Ordering::Relaxed);
            return Err(source_fault("the transaction was not begun", may_have_written));
        }
        let applied = self.write(choice, change);
        if call.fails_after().await {
            return Err(source_fault("the answer to the commit was lost", true));
        }
        Ok(applied)
    }

    async fn examine(&self) -> Vec<Examined> {
        Vec::new()
    }
}

/// An audit in memory with a real chain.
pub(crate) struct FakeRecord {
    script: Arc<Script>,
    entries: Mutex<Vec<Entry>>,
    transactions: Mutex<Vec<usize>>,
}

impl FakeRecord {
    pub(super) fn new(script: Arc<Script>) -> Self {
        Self { script, entries: Mutex::default(), transactions: Mutex::default() }
    }

    /// Every entry, in order.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap().clone()
    }

    /// The entries that follow those that somebody knows already; `None` when what is known is another now.
    pub(crate) fn entries_after(&self, known: &[Entry]) -> Option<Vec<Entry>> {
        self.entries.lock().unwrap().strip_prefix(known).map(<[Entry]>::to_vec)
    }

    /// How many entries each transaction had.
    pub(crate) fn transactions(&self) -> Vec<usize> {
        self.transactions.lock().unwrap().clone()
    }

    /// Keeps entries, whatever they say.
    pub(crate) fn keep(&self, new: Vec<NewEntry>) -> Vec<Entry> {
        self.transactions.lock().unwrap().push(new.len());
        let placed = self.as_if_kept(new);
        self.entries.lock().unwrap().extend(placed.iter().cloned());
        placed
    }

    /// The entries in the places that they would have.
    pub(crate) fn as_if_kept(&self, new: Vec<NewEntry>) -> Vec<Entry> {
        let entries = self.entries.lock().unwrap();
        let mut placed: Vec<Entry> = Vec::with_capacity(new.len());
        for new in new {
            let last = placed.last().or(entries.last());
            let prev = last.map_or_else(|| GENESIS.to_owned(), |entry| entry.hash.clone());
            let mut entry = Entry {
                seq: last.map_or(1, |entry| entry.seq + 1),
                at: stamp(new.at),
                event: new.event.as_str().to_owned(),
                decision: new.decision.map(|id| id.to_string()).unwrap_or_default(),
                source: new.source,
                key: new.key,
                operator: new.operator,
                origin: new.origin,
                body: new.body.to_string(),
                prev,
                hash: String::new(),
            };
            entry.hash = entry.expected_hash();
            placed.push(entry);
        }
        placed
    }

    /// Whether an entry is the outcome of a decision that has one.
    fn has_ended(&self, new: &NewEntry) -> bool {
        let decision = new.decision.map(|id| id.to_string()).unwrap_or_default();
        let is_outcome = |entry: &&Entry| {
            entry.decision == decision && Event::from_word(&entry.event).is_some_and(Event::is_outcome)
        };
        new.event.is_outcome() && self.entries.lock().unwrap().iter().any(|entry| is_outcome(&entry))
    }

    /// Somebody changes the first entry and gives it the hash of what it says now.
    pub(crate) fn rewrite_first(&self) {
        if let Some(first) = self.entries.lock().unwrap().first_mut() {
            first.operator.push('?');
            first.hash = first.expected_hash();
        }
    }

    async fn read<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&[Entry]) -> T + Send,
    ) -> Result<T, RecordFault> {
        let call = self.script.begin(name, "").await;
        if call.fails_before() || call.fails_after().await {
            return Err(record_fault("the audit cannot be read"));
        }
        Ok(read(&self.entries.lock().unwrap()))
    }
}

fn record_fault(what: &str) -> RecordFault {
    RecordFault { is_absent: false, what: what.to_owned(), do_next: "Make room.".to_owned() }
}

fn is_once(entry: &Entry) -> bool {
    Event::from_word(&entry.event).is_some_and(|event| Event::ONCE.contains(&event))
}

fn waits(entries: &[Entry], proposal: &Entry) -> bool {
    proposal.event == Event::Proposed.as_str()
        && !entries.iter().any(|entry| entry.decision == proposal.decision && is_once(entry))
}

fn newest_first(entries: &[Entry], entries_max: usize, is_wanted: impl Fn(&Entry) -> bool) -> Vec<Entry> {
    entries.iter().rev().filter(|entry| is_wanted(entry)).take(entries_max).cloned().collect()
}

#[async_trait]
impl Record for FakeRecord {
    async fn append(&self, entries: Vec<NewEntry>) -> Result<Vec<Entry>, RecordFault> {
        let event = entries.first().map_or("", |entry| entry.event.as_str());
        let call = self.script.begin("record.append", event).await;
        if call.fails_before() {
            return Err(record_fault("the audit's disk is full"));
        }
        if entries.iter().any(|entry| self.has_ended(entry)) {
            return Err(record_fault("the decision has an outcome already"));
        }
        let placed = self.keep(entries);
        if call.fails_after().await {
            return Err(record_fault("the audit's answer was lost"));
        }
        Ok(placed)
    }

    async fn seal(&self, _at: DateTime<Utc>) -> Result<(), RecordFault> {
        Ok(())
    }

    async fn append_once(&self, entry: NewEntry) -> Result<Once, RecordFault> {
        let call = self.script.begin("record.append", entry.event.as_str()).await;
        if call.fails_before() {
            return Err(record_fault("the audit's disk is full"));
        }
        // No await between looking and writing: it is one step, as a transaction is.
        let decision = entry.decision.unwrap().to_string();
        let earlier =
            self.entries().into_iter().find(|earlier| earlier.decision == decision && is_once(earlier));
        let once = match earlier {
            Some(earlier) => Once::Taken(earlier),
            None => Once::Placed(self.keep(vec![entry]).remove(0)),
        };
        if call.fails_after().await {
            return Err(record_fault("the audit's answer was lost"));
        }
        Ok(once)
    }

    async fn unfinished(&self) -> Result<Vec<Entry>, RecordFault> {
        self.read("record.unfinished", |entries| {
            let ends = |intent: &Entry, entry: &Entry| {
                entry.decision == intent.decision
                    && Event::from_word(&entry.event).is_some_and(Event::is_outcome)
            };
            let is_open = |intent: &&Entry| {
                intent.event == Event::Intended.as_str() && !entries.iter().any(|entry| ends(intent, entry))
            };
            entries.iter().filter(is_open).cloned().collect()
        })
        .await
    }

    async fn of_decision(&self, decision: Uuid) -> Result<Vec<Entry>, RecordFault> {
        let decision = decision.to_string();
        self.read("record.of_decision", |entries| {
            entries.iter().filter(|entry| entry.decision == decision).cloned().collect()
        })
        .await
    }

    async fn intended_on(&self, subject: &Subject, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.read("record.of_item", |entries| {
            let intended: Vec<&str> = entries
                .iter()
                .filter(|entry| entry.event == Event::Intended.as_str())
                .map(|entry| &*entry.decision)
                .collect();
            let is_wanted = |entry: &Entry| subject.is_of(entry) && intended.contains(&&*entry.decision);
            newest_first(entries, entries_max, is_wanted)
        })
        .await
    }

    async fn of_item(&self, subject: &Subject, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.read("record.of_item", |entries| {
            newest_first(entries, entries_max, |entry| subject.is_of(entry))
        })
        .await
    }

    async fn escalated(&self, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.read("record.escalated", |entries| {
            newest_first(entries, entries_max, |entry| entry.event == Event::Applied.as_str())
        })
        .await
    }

    async fn waiting(&self, after: i64, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.read("record.waiting", |entries| {
            let waiting = entries.iter().filter(|entry| entry.seq > after && waits(entries, entry));
            waiting.take(entries_max).cloned().collect()
        })
        .await
    }

    async fn waiting_on(&self, subject: &Subject) -> Result<Vec<Entry>, RecordFault> {
        self.read("record.waiting_on", |entries| {
            let on_item = |entry: &&Entry| subject.is_of(entry) && waits(entries, entry);
            entries.iter().filter(on_item).cloned().collect()
        })
        .await
    }

    async fn proposals_ending(
        &self,
        ending: &IdEnding,
        entries_max: usize,
    ) -> Result<Vec<Entry>, RecordFault> {
        let is_wanted = |entry: &Entry| {
            entry.event == Event::Proposed.as_str()
                && entry.decision.replace('-', "").ends_with(ending.as_str())
        };
        self.read("record.proposals_ending", |entries| newest_first(entries, entries_max, is_wanted)).await
    }

    async fn page(&self, before: Option<i64>, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        let is_wanted = |entry: &Entry| before.is_none_or(|before| entry.seq < before);
        self.read("record.page", |entries| newest_first(entries, entries_max, is_wanted)).await
    }
}

/// A provider that knows what a test told it.
pub(super) struct FakeProvider {
    script: Arc<Script>,
    facts: ProviderFacts,
    answers: Arc<Mutex<BTreeMap<String, Answer>>>,
}

impl FakeProvider {
    pub(super) fn new(
        script: Arc<Script>,
        answers: Arc<Mutex<BTreeMap<String, Answer>>>,
        settle: TimeDelta,
    ) -> Self {
        let facts = ProviderFacts {
            name: "pay.charges".into(),
            place: "memory".to_owned(),
            clocks: Clocks { settle, lookback: None, key_ttl: None },
            in_flight_max: 3,
            interval: std::time::Duration::ZERO,
            listing: None,
            confirming: Confirming::default(),
            check_max: std::time::Duration::from_secs(30),
        };
        Self { script, facts, answers }
    }

    pub(super) fn can_be_listed(&mut self) {
        let listing_max = std::time::Duration::from_mins(15);
        self.facts.listing = Some(ListingFacts { page_items: 100, pages_max: 1_000, listing_max });
    }
}

#[async_trait]
impl Provider for FakeProvider {
    fn facts(&self) -> &ProviderFacts {
        &self.facts
    }

    async fn ask(&self, question: &Question) -> Told {
        let call = self.script.begin("provider.ask", &question.reference).await;
        let evidence = evidence(&question.reference);
        if call.fails_before() || call.fails_after().await {
            return Told {
                answer: Answer::Fault(Fault::new(FaultKind::Timeout, "no answer in 10 s")),
                evidence,
            };
        }
        let nothing = Answer::Complete { effects: Vec::new(), seen_from: None };
        let answer = self.answers.lock().unwrap().get(&question.reference).cloned().unwrap_or(nothing);
        Told { answer, evidence }
    }

    async fn list(&self, window: &Window) -> Listed {
        let call = self.script.begin("provider.list", &format!("{:?}", window.from)).await;
        let evidence = Some(Evidence { reference: None, hash: "listing".to_owned(), ..evidence("") });
        if call.fails_before() || call.fails_after().await {
            let fault = Fault::new(FaultKind::ServerError, "page 2: 500");
            return Listed { outcome: Err(fault), evidence };
        }
        let mut listing = Listing::new(None);
        for (reference, answer) in self.answers.lock().unwrap().iter() {
            let Answer::Complete { effects, .. } = answer else { continue };
            for effect in effects {
                let references = vec![reference.clone()];
                let (id, read) = (effect.id.clone(), Ok(effect.clone()));
                listing.keep(ListedEffect { id, references, page: 0, read }).unwrap();
            }
        }
        Listed { outcome: Ok(listing), evidence }
    }
}

/// Somebody who takes escalations.
pub(super) struct FakeEscalation {
    pub script: Arc<Script>,
    pub arrived: Arc<Mutex<Vec<String>>>,
}

/// What a place for escalations that is sound says of itself.
pub(crate) fn it_answers() -> Examined {
    Examined { what: "answer".to_owned(), health: Health::Good, finding: "it answers".to_owned() }
}

/// What such a place would be sent.
pub(crate) fn as_shown(notice: &Notice) -> ShownRequest {
    ShownRequest {
        method: "POST".to_owned(),
        url: "https://second.line".to_owned(),
        headers: Vec::new(),
        body: notice.dedup_key.clone(),
        asks_before: None,
        repeat: "it is known".to_owned(),
    }
}

#[async_trait]
impl Escalation for FakeEscalation {
    fn place(&self) -> String {
        "the second line".to_owned()
    }

    async fn examine(&self) -> Examined {
        it_answers()
    }

    fn shown(&self, notice: &Notice) -> Result<ShownRequest, String> {
        Ok(as_shown(notice))
    }

    async fn send(&self, notice: &Notice) -> Result<String, NotTaken> {
        let call = self.script.begin("escalation.send", &notice.key).await;
        if call.fails_before() {
            return Err(NotTaken::new(
                "connection refused: it did not arrive".to_owned(),
                FaultKind::Connect,
            ));
        }
        self.arrived.lock().unwrap().push(notice.dedup_key.clone());
        if call.fails_after().await {
            return Err(NotTaken::new("no answer: it may have arrived".to_owned(), FaultKind::Timeout));
        }
        Ok("ticket 7".to_owned())
    }
}
