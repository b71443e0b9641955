//! A world in memory behind the ports, with scripted troubles: for tests of the workflow and of what stands on it.
//!
//! Every port call is counted and logged in [`World`], may be held at a gate until a test lets it go, and may fail or
//! crash before or after it acted.

mod ports;
mod script;

pub(crate) use ports::{FakeRecord, FakeSource, as_shown, it_answers};
pub(crate) use script::{Script, Trouble};

use crate::config::kind::Kind;
use crate::domain::approval::ApprovalRules;
use crate::domain::audit::{Entry, Event, Walk};
use crate::domain::cell::Cell;
use crate::domain::decision::{Choice, Operator, Reason};
use crate::domain::error_class::ErrorTable;
use crate::domain::evidence::{Answer, Effect, EffectState, Evidence};
use crate::domain::item::{Item, ItemKey, LastError, Row, State, Times};
use crate::domain::moment::Reading as Moment;
use crate::domain::policy::{CheckName, Policy, Risk};
use crate::ports::escalation::Escalation;
use crate::ports::source::Cursor;
use crate::ports::source::Source;
use crate::workflow::{Desk, Found, Order};
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

/// The source of every test.
pub(crate) const SOURCE: &str = "jobs";
/// The process that a test's desk says it is.
pub(crate) const PROCESS: u32 = 100;

/// The moment of every test.
pub(crate) fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap()
}

/// Everything outside the program: it outlives a crash.
#[derive(Clone)]
pub(crate) struct World {
    /// What is called, and what goes wrong.
    pub script: Arc<Script>,
    /// The table of jobs.
    pub source: Arc<FakeSource>,
    /// The audit.
    pub record: Arc<FakeRecord>,
    /// What the provider says of each reference; nothing is an empty answer.
    pub answers: Arc<Mutex<BTreeMap<String, Answer>>>,
    /// The deduplication keys of the escalations that arrived.
    pub escalations: Arc<Mutex<Vec<String>>>,
    /// How far the consoles' clock is ahead of the source's.
    pub clock_ahead: Arc<Mutex<TimeDelta>>,
    /// How long after the last attempt the provider's absences count.
    settle: TimeDelta,
    /// Whether the provider can be listed.
    is_listed: bool,
}

impl World {
    /// A table with these keys, each running for hours, and a provider that knows of none of them.
    pub(crate) fn with_stuck(keys: &[&str]) -> Self {
        let script = Arc::new(Script::default());
        let source = FakeSource::new(Arc::clone(&script), keys);
        Self {
            source: Arc::new(source),
            record: Arc::new(FakeRecord::new(Arc::clone(&script))),
            answers: Arc::default(),
            escalations: Arc::default(),
            settle: TimeDelta::minutes(10),
            is_listed: false,
            clock_ahead: Arc::new(Mutex::new(TimeDelta::zero())),
            script,
        }
    }

    /// Makes the provider have so many effects for a key.
    pub(crate) fn happened(self, key: &str, count: usize) -> Self {
        let effects = (0..count).map(|number| Effect {
            id: format!("ch_{key}_{number}"),
            status: "succeeded".to_owned(),
            state: EffectState::Happened,
            money: None,
            at: Some(now() - TimeDelta::hours(2)),
            link: None,
        });
        self.answers
            .lock()
            .unwrap()
            .insert(key.to_owned(), Answer::Complete { effects: effects.collect(), seen_from: None });
        self
    }

    /// Makes the provider's absences count only after that long.
    pub(crate) fn that_settles_after(self, settle: TimeDelta) -> Self {
        Self { settle, ..self }
    }

    /// Makes the provider one that can be listed.
    pub(crate) fn that_can_be_listed(self) -> Self {
        Self { is_listed: true, ..self }
    }

    /// A desk on this world.
    pub(crate) fn desk(&self) -> Arc<Desk> {
        Arc::new(self.desk_of_process(PROCESS))
    }

    /// The desk of a process: after a crash it is another.
    pub(crate) fn desk_of_process(&self, process: u32) -> Desk {
        let kind = job_kind();
        let name = kind.policy.check.clone().unwrap();
        let mut provider =
            ports::FakeProvider::new(Arc::clone(&self.script), Arc::clone(&self.answers), self.settle);
        if self.is_listed {
            provider.can_be_listed();
        }
        Desk {
            sources: vec![Arc::clone(&self.source) as Arc<dyn Source>],
            kinds: BTreeMap::new(),
            other_kinds: kind,
            providers: BTreeMap::from([(name, Arc::new(provider) as _)]),
            record: Ok(Arc::clone(&self.record) as _),
            receipts: None,
            logs: Arc::new(crate::ports::logs::NoLogs),
            escalation: None,
            escalations: BTreeMap::new(),
            clock: Arc::new(ports::FakeClock { process, ahead: Arc::clone(&self.clock_ahead) }),
            errors: error_table(),
            operator: Operator { name: "Ada".into(), login: "ada".into(), host: "desk-1".into() },
            read_only: false,
            approval_rules: ApprovalRules::default(),
        }
    }

    /// Where escalations go, for a desk that has such a place.
    pub(crate) fn escalation(&self) -> Arc<dyn Escalation> {
        Arc::new(ports::FakeEscalation {
            script: Arc::clone(&self.script),
            arrived: Arc::clone(&self.escalations),
        })
    }

    /// The events in the audit, in order.
    pub(crate) fn events(&self) -> Vec<String> {
        self.entries().into_iter().map(|entry| entry.event).collect()
    }

    /// The entries of the audit, their chain checked.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let entries = self.record.entries();
        let mut walk = Walk::default();
        for entry in &entries {
            walk.step(entry).unwrap();
        }
        entries
    }

    /// How many entries tell an event.
    pub(crate) fn count(&self, event: Event) -> usize {
        self.entries().iter().filter(|entry| entry.event == event.as_str()).count()
    }
}

/// What error texts prove: read once, for it takes longer than most tests.
fn error_table() -> Arc<ErrorTable> {
    static TABLE: LazyLock<Arc<ErrorTable>> =
        LazyLock::new(|| Arc::new(ErrorTable::parse(include_str!("../../assets/errors.toml")).unwrap()));
    Arc::clone(&TABLE)
}

/// The kind of every job: read once, as the error table.
fn job_kind() -> Arc<Kind> {
    static KIND: LazyLock<Arc<Kind>> = LazyLock::new(|| {
        let check = CheckName { provider: "pay".into(), operation: "charges".into() };
        let policy = Policy { risk: Risk::CheckFirst, check: Some(check), ..Policy::unconfigured("job") };
        Arc::new(Kind::new(policy).unwrap())
    });
    Arc::clone(&KIND)
}

/// The row of a stuck job as every test finds it.
pub(crate) fn stuck_row(key: &str) -> Row {
    row(key, "running", "2027-01-15 03:00:00")
}

/// A row of the table of jobs.
pub(crate) fn row(key: &str, status: &str, updated_at: &str) -> Row {
    let text = |text: &str| Cell::text(text);
    Row {
        columns: vec![
            ("key".into(), text(key)),
            ("status".into(), text(status)),
            ("updated_at".into(), text(updated_at)),
        ],
    }
}

/// The item that a row is.
pub(crate) fn item_of(row: &Row) -> Item {
    let text = |name: &str| row.get(name).and_then(Cell::as_text).unwrap_or_default().to_owned();
    let status = text("status");
    let state = State::ALL.into_iter().find(|state| state.as_str() == status).unwrap_or(State::Running);
    Item {
        source: SOURCE.into(),
        key: ItemKey::new(vec![Cell::text(text("key"))]),
        kind: "job".into(),
        status: status.into(),
        state,
        attempts: None,
        tried_once: true,
        times: Times { updated: Moment::Known(now() - TimeDelta::hours(5)), ..Times::default() },
        last_error: LastError::Absent,
        fields: row.columns.clone(),
        oddities: Vec::new(),
    }
}

/// A finding as a scan tells it.
pub(crate) async fn found(desk: &Desk, key: &str) -> Arc<Found> {
    let reread = crate::workflow::settle::reread(desk, SOURCE, key).await.unwrap().unwrap();
    Arc::new(reread.found.unwrap())
}

/// An order for a stuck job as it was shown.
pub(crate) fn order(key: &str, choice: Choice) -> Order {
    Order {
        source: SOURCE.into(),
        key: key.into(),
        shown: Some(item_of(&stuck_row(key))),
        shown_verdict: None,
        choice,
        reason: Reason::new("looked at it with the team").unwrap(),
        insists: false,
    }
}

/// Evidence that says nothing but that somebody asked.
fn evidence(reference: &str) -> Evidence {
    Evidence {
        check: "pay.charges".to_owned(),
        reference: Some(reference.to_owned()),
        at: now(),
        took_ms: 1,
        asked: Vec::new(),
        hash: String::new(),
        listing: None,
        bodies: Vec::new(),
    }
}

/// Where a scan of the fakes goes on.
pub(crate) fn place_of(after: Option<&Cursor>) -> usize {
    match after {
        Some(Cursor::Rows { from, .. }) => usize::try_from(*from).unwrap(),
        Some(Cursor::After(_)) | None => 0,
    }
}

/// A scan of the fakes that goes on at a place.
pub(crate) fn cursor_at(place: usize) -> Cursor {
    Cursor::Rows { from: i64::try_from(place).unwrap(), to: i64::MAX }
}
