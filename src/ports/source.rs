//! Reading items and writing decisions.

use crate::domain::decision::Choice;
use crate::domain::evidence::{FaultKind, Hindrance};
use crate::domain::item::{Item, ItemKey, Row, State};
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use std::fmt;
use std::sync::Arc;
use uuid::Uuid;

/// One table of jobs, read through its preset.
#[async_trait]
pub trait Source: Send + Sync {
    /// What is known of the source without asking it now. Which variant of its preset fits is known once it was read.
    fn facts(&self) -> Arc<SourceFacts>;

    /// Where scans may begin so that together they read every item once: `None` is the very beginning. At most
    /// `parts_max` of them; one where the source is small or cannot be divided.
    async fn parts(&self, parts_max: usize) -> Result<Vec<Option<Cursor>>, SourceFault> {
        let _cannot_be_divided = parts_max;
        Ok(vec![None])
    }

    /// One page of the items that may be findings, from `after` on, in the source's own order.
    ///
    /// No lock is held between two pages: an application that writes waits for a page at most.
    async fn scan(&self, wanted: &Wanted, after: Option<Cursor>) -> Result<Page, SourceFault>;

    /// One item with its whole row, by what a person typed as its key; `None` where there is none.
    async fn read(&self, key: &str) -> Result<Option<Reading>, SourceFault>;

    /// The item's payload, at most `bytes_max` of it; `None` where the source keeps none or the item is gone.
    async fn payload(&self, key: &ItemKey, bytes_max: usize) -> Result<Option<Payload>, SourceFault>;

    /// The statements that a choice would run on a row, with every value spelled.
    ///
    /// # Errors
    /// [`Unsupported`] where this job system cannot take the choice by SQL.
    fn plan(&self, choice: Choice, change: &Change) -> Result<Vec<PlannedStatement>, Unsupported>;

    /// Carries out a choice on a row that is still exactly as seen, in one transaction.
    async fn apply(&self, choice: Choice, change: &Change) -> Result<Applied, SourceFault>;

    /// Whether a decision was carried out, by the source's own word; `None` where it keeps no decisions of ours.
    async fn has_decision(&self, decision: Uuid) -> Result<Option<bool>, SourceFault> {
        let _keeps_none = decision;
        Ok(None)
    }

    /// Lets the database take back what a write left half done whose program was killed.
    ///
    /// Asked only where a decision of ours broke off and its row cannot be read: that write may be ours. A database with a
    /// server of its own has done it by itself.
    async fn take_back(&self) -> Result<(), SourceFault> {
        Ok(())
    }

    /// Looks at everything a source needs, for `doctor`.
    async fn examine(&self) -> Vec<Examined>;
}

/// What is known of a source without asking it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFacts {
    /// Its name in the configuration.
    pub name: Arc<str>,
    /// Where it is, without secrets.
    pub place: String,
    /// The same without any doubt: what tells two databases of one name apart.
    pub whole_place: String,
    /// Its table, by what the database itself calls server, database and table: the same for every source that reads this
    /// table, whatever name and address it has. `None` before it was read.
    pub table: Option<Arc<str>>,
    /// The preset it is read through.
    pub preset: Arc<str>,
    /// Which shape of the preset; empty where it has one, or where nothing was read yet.
    pub variant: Arc<str>,
    /// Whether a worker that still lives would overwrite a decision later.
    pub late_writer: LateWriter,
    /// What each choice leaves behind, to recognise it after a crash.
    pub leaves: [(Choice, Leaves); 3],
    /// Choices this job system cannot take by SQL, each with the reason.
    pub unsupported: Vec<(Choice, String)>,
}

impl SourceFacts {
    /// What a choice leaves behind.
    pub fn leaves(&self, choice: Choice) -> &Leaves {
        match choice {
            Choice::MarkDone => &self.leaves[0].1,
            Choice::Retry => &self.leaves[1].1,
            Choice::Escalate => &self.leaves[2].1,
        }
    }
}

/// Whether a worker that still lives would overwrite a decision later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LateWriter {
    /// Its write is guarded: it finds the row changed and leaves it.
    Guarded,
    /// It writes by key alone.
    Unguarded,
}

impl LateWriter {
    /// The word as presets and JSON spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guarded => "guarded",
            Self::Unguarded => "unguarded",
        }
    }
}

/// What a row looks like after a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaves {
    /// The row as it was.
    Unchanged,
    /// No row.
    Absent,
    /// The row in this state.
    State(State),
}

/// Which items are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Running items are wanted when their time is older than this (by the source's clock), or cannot be told.
    pub running_older_than: TimeDelta,
    /// How many items a page may hold.
    pub page_items_max: usize,
    /// Whether every item is wanted, whatever its state: to match all of them with what a provider did.
    pub every_item: bool,
}

/// Where a scan goes on, and where it ends; only the source knows what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cursor {
    /// By the number of the row, which SQLite keeps: from one to another, both included.
    Rows {
        /// The first that is left.
        from: i64,
        /// The last that this scan reads.
        to: i64,
    },
    /// After the row with this key.
    After(Vec<crate::domain::cell::Cell>),
}

/// One page of a scan.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The items: a superset of the findings, which pure code sorts out.
    pub items: Vec<Item>,
    /// Where to go on; `None` at the end.
    pub next: Option<Cursor>,
    /// The source's own clock.
    pub source_now: DateTime<Utc>,
}

/// One item with its whole row.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The item.
    pub item: Item,
    /// Every column but the payload, as it is.
    pub row: Row,
    /// The source's own clock.
    pub source_now: DateTime<Utc>,
}

/// An item's payload, or its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How large the whole is, in bytes.
    pub size_bytes: u64,
    /// Whether only its own application may open it (pickle, PHP or Java serialization): then the bytes are not read.
    pub is_closed: bool,
}

/// What a decision brings to a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The item.
    pub key: ItemKey,
    /// The row as the operator saw it.
    pub seen: Row,
    /// The decision's id.
    pub decision: Uuid,
    /// Who decides.
    pub operator: Arc<str>,
    /// Why.
    pub reason: Arc<str>,
    /// The moment to write where the job system keeps one.
    pub now: DateTime<Utc>,
}

/// One statement as it would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStatement {
    /// The SQL with named parameters.
    pub sql: String,
    /// Each parameter and its value, spelled.
    pub parameters: Vec<(String, crate::domain::cell::Cell)>,
    /// How many rows it must change, or return.
    pub rows: Rows,
    /// What it means where that count is not met, in a sentence; `None` where the preset says nothing.
    pub why: Option<String>,
}

/// How many rows a statement must change, or return where it is a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// No fewer.
    pub at_least: u64,
    /// No more.
    pub at_most: u64,
}

impl Rows {
    /// Exactly so many.
    pub fn exactly(count: u64) -> Self {
        Self { at_least: count, at_most: count }
    }

    /// Whether a count is as it must be.
    pub fn fits(self, count: u64) -> bool {
        (self.at_least..=self.at_most).contains(&count)
    }

    /// As JSON: a number, or a text where it is a range.
    pub fn to_json(self) -> serde_json::Value {
        if self.at_least == self.at_most { self.at_least.into() } else { self.to_string().into() }
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { at_least, at_most } if at_least == at_most => write!(f, "{at_least}"),
            Self { at_least, at_most } => write!(f, "{at_least} to {at_most}"),
        }
    }
}

impl PlannedStatement {
    /// The beginning of parameters that only compare: the row as it was seen.
    pub const SEEN: &'static str = ":seen_";
    /// The beginning of parameters that go into a table of ours, where a source keeps one.
    pub const KEPT: &'static str = ":kept_";

    /// The column that a parameter's value is of: `:seen_token` is `token` as it was seen. Its own name for any other.
    pub fn column_of(parameter: &str) -> &str {
        parameter.trim_start_matches(':').trim_start_matches("seen_")
    }
}

/// A choice that a job system cannot take by SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported(pub String);

/// What applying came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Applied {
    /// Written: the row before and after (`None` where the choice removed it).
    Written {
        /// The row before.
        before: Row,
        /// The row after.
        after: Option<Row>,
    },
    /// Not written: the row is not as it was seen (`None`: it is gone).
    Changed(Option<Row>),
    /// Not written: a statement would have changed another number of rows than it must; rolled back.
    WrongCount {
        /// Which statement, from 1.
        statement: usize,
        /// How many rows it must change.
        expected: Rows,
        /// How many it would have changed.
        found: u64,
    },
}

/// One line of a source's health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// What was looked at.
    pub what: String,
    /// Whether it is as it must be.
    pub health: Health,
    /// What was seen, in a sentence.
    pub finding: String,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// As it must be.
    Good,
    /// It works, and somebody should know.
    Doubtful,
    /// It does not work.
    Bad,
    /// It does not work, because the configuration tells of something that is not there.
    Misfit,
    /// It could not be reached.
    Unreachable,
}

impl Health {
    /// What a fault on the way to somebody who is asked amounts to.
    pub fn of(kind: FaultKind) -> Self {
        match kind.hindrance() {
            Some(Hindrance::Unreachable) => Self::Unreachable,
            Some(Hindrance::Misconfigured) => Self::Misfit,
            None => Self::Bad,
        }
    }
}

/// Why a source could not do what it was asked. Each variant says what was being done; `what` is one line, `do_next` another.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SourceFault {
    /// Which kind of fault.
    pub kind: SourceFaultKind,
    /// What happened, one line.
    pub what: String,
    /// What to do, one line.
    pub do_next: String,
    /// Whether something may have been written nonetheless (a commit whose answer was lost).
    pub may_have_written: bool,
}

impl SourceFault {
    /// A fault at a place (a file, a server's address), where nothing was written.
    pub fn at(place: impl fmt::Display, kind: SourceFaultKind, what: &str, do_next: &str) -> Self {
        Self { kind, what: format!("{place}: {what}"), do_next: do_next.to_owned(), may_have_written: false }
    }

    /// Whether what was asked may be done only later: the server went silent over it, and may yet come back to it.
    pub fn may_still_write(&self) -> bool {
        self.may_have_written && self.kind == SourceFaultKind::Unreachable
    }
}

/// Kinds of source faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFaultKind {
    /// It is not there, or not readable.
    Unreachable,
    /// Somebody else holds it for too long.
    Busy,
    /// It is there and is not what the preset describes.
    Mismatch,
    /// It broke while it was read or written.
    Broken,
    /// The operator moved on.
    Interrupted,
}

impl SourceFaultKind {
    /// What stood in the way; `None` where nothing did but the operator.
    pub fn hindrance(self) -> Option<Hindrance> {
        match self {
            Self::Unreachable | Self::Busy | Self::Broken => Some(Hindrance::Unreachable),
            Self::Mismatch => Some(Hindrance::Misconfigured),
            Self::Interrupted => None,
        }
    }
}
