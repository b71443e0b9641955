//! Source presets: how to read one job system's rows and how to write the three decisions. Data, not code.
//!
//! [`mod@file`] is what may be written; the types here are what the program uses, checked.

pub mod file;
mod sql;
mod variants;

pub use sql::{parameters_of, positional};
pub use variants::{Detect, Engine, Look, Need, Table};

use crate::domain::decision::Choice;
use crate::domain::item::State;
use crate::domain::moment::{TimeFormat, Zone};
use crate::ports::source::{LateWriter, Leaves, Rows};
use std::sync::Arc;

/// A checked source preset: one job system, in each of the shapes that its tables have.
#[derive(Debug, Clone, PartialEq)]
pub struct SourcePreset {
    /// Its name.
    pub name: Arc<str>,
    /// What it reads, in a line.
    pub title: String,
    /// What it was verified with.
    pub verified_with: Vec<String>,
    /// The versions of the job system that it is for.
    pub versions: Vec<String>,
    /// Where its facts are from.
    pub facts_from: Vec<String>,
    /// How the job system is recognised; `None` for one that must be configured.
    pub detect: Option<Detect>,
    /// Why it cannot be read at all, and what to do instead; `None` for one that can.
    pub unreadable: Option<String>,
    /// The shapes that its tables have: the first that fits what the database's catalogue shows is the one. Empty where
    /// it cannot be read.
    pub variants: Vec<Arc<Mapping>>,
}

/// How the rows of one shape of tables are read, and how decisions are written to them.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapping {
    /// The preset's name.
    pub preset: Arc<str>,
    /// Which of the preset's shapes it is; empty for the only one.
    pub variant: Arc<str>,
    /// The engines that it is for.
    pub engines: Vec<Engine>,
    /// What the database's catalogue must show.
    pub needs: Vec<Need>,
    /// The schema that its tables are in; `None` for wherever the connection looks first.
    pub schema: Option<String>,
    /// The table that decisions write to; without a `select` also the one that is read.
    pub table: String,
    /// A query whose rows are the items, `{schema}` and `{table}` still in it; `None` where the table itself is read.
    pub select: Option<String>,
    /// The columns that make up the key, in order.
    pub key: Vec<String>,
    /// The column with the native status.
    pub status: String,
    /// The kind of its items.
    pub kind: KindFrom,
    /// The column that counts attempts.
    pub attempts: Option<String>,
    /// The column with the latest error.
    pub error: Option<String>,
    /// The column with the payload.
    pub payload: Option<String>,
    /// How the payload is spelled.
    pub payload_is: PayloadIs,
    /// The columns that pin a row's version, beside the key.
    pub version: Vec<String>,
    /// Whether the job system never takes a key a second time by itself.
    pub tried_once: bool,
    /// Whether a running row's last change is the moment it was taken: then it tells when the attempt began.
    pub updated_when_taken: bool,
    /// A SQL condition that holds for every row that may be a finding, so that an index keeps the others from being read;
    /// `None` where the states' own rules do.
    pub unfinished: Option<String>,
    /// The columns with a sentence on a row for whoever looks at its finding. What they say is of another row or another
    /// table, so it may change without the row.
    pub notes: Vec<String>,
    /// Further fields for templates: a name and a SQL expression over the row.
    pub fields: Vec<(String, String)>,
    /// The times it tells.
    pub times: TimeColumns,
    /// Who holds a running item, and for how long.
    pub lease: LeaseColumns,
    /// The states, the first rule that fits counts.
    pub states: Vec<StateRule>,
    /// What each choice writes.
    pub decisions: Decisions,
    /// A table of ours in the same database that takes each decision's id in the decision's own transaction: after a
    /// crash it tells for certain what was carried out. `None` where the database is to hold nothing of ours.
    pub decisions_table: Option<String>,
}

/// Where an item's kind comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KindFrom {
    /// Every item has this one.
    Fixed(Arc<str>),
    /// A column says it.
    Column(String),
}

/// One column with a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeColumn {
    /// The column.
    pub column: String,
    /// How it spells times.
    pub format: TimeFormat,
    /// The zone of times that name none.
    pub zone: Zone,
}

/// The columns with times, by what they mean.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeColumns {
    /// When the item came into being.
    pub created: Option<TimeColumn>,
    /// When its first attempt began.
    pub first_attempt: Option<TimeColumn>,
    /// When its latest attempt began.
    pub started: Option<TimeColumn>,
    /// When its row last changed.
    pub updated: Option<TimeColumn>,
}

impl TimeColumns {
    /// Each of them that there is.
    pub fn all(&self) -> impl Iterator<Item = &TimeColumn> {
        [&self.created, &self.first_attempt, &self.started, &self.updated].into_iter().flatten()
    }

    /// The column whose spelling a decision's own time follows.
    pub fn written(&self) -> Option<&TimeColumn> {
        self.updated.as_ref().or(self.started.as_ref()).or(self.created.as_ref())
    }
}

/// Where a lease is told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LeaseColumns {
    /// Nowhere.
    #[default]
    None,
    /// A column holds its end.
    EndsAt(TimeColumn),
    /// Every attempt may take so many seconds: the job system takes it for dead after that.
    Lasts(i64),
    /// A column says `live`, `expired` or `unknown`: what the query made of heartbeats, claims or locks.
    Told(String),
    /// A column holds how many seconds an attempt may take.
    Seconds {
        /// The column.
        column: String,
        /// Values that mean "no limit"; NULL always does not.
        unlimited: Vec<i64>,
    },
    /// A column holds the latest sign of life.
    Heartbeat {
        /// The column.
        beat: TimeColumn,
        /// How long a silence may last, in seconds.
        limit_seconds: i64,
    },
}

/// One state rule: all its conditions must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct StateRule {
    /// The state.
    pub state: State,
    /// The conditions.
    pub when: Vec<Condition>,
}

/// One condition of a state rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// The column holds one of these values.
    OneOf(String, Vec<Literal>),
    /// The column is NULL.
    IsNull(String),
    /// The column is not NULL.
    IsNotNull(String),
    /// The column's text begins so.
    BeginsWith(String, String),
    /// A SQL expression over the row is true.
    Sql(String),
}

/// A value in a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A truth value, which SQLite and MySQL keep as 1 or 0.
    Truth(bool),
}

/// What each choice writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// Whether a worker that still lives would overwrite a decision later.
    pub late_writer: LateWriter,
    /// Mark done.
    pub done: Writing,
    /// Retry.
    pub retry: Writing,
    /// Escalate.
    pub escalate: Writing,
}

impl Decisions {
    /// What a choice writes.
    pub fn of(&self, choice: Choice) -> &Writing {
        match choice {
            Choice::MarkDone => &self.done,
            Choice::Retry => &self.retry,
            Choice::Escalate => &self.escalate,
        }
    }
}

/// What one choice writes.
#[derive(Debug, Clone, PartialEq)]
pub enum Writing {
    /// These statements, in one transaction; what they leave behind.
    Statements {
        /// In order.
        statements: Vec<Statement>,
        /// What the row looks like afterwards.
        leaves: Leaves,
    },
    /// The job system cannot take it by SQL: why, and what to do instead.
    Unsupported(String),
}

/// How a payload is spelled. What would run code when it is read, or needs the application to be read, stays closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PayloadIs {
    /// JSON, or a text that is shown as it is.
    #[default]
    Json,
    /// Something that only its own application may open: pickle, PHP or Java serialization, YAML with objects.
    Closed,
}

impl Writing {
    /// What it leaves behind.
    pub fn leaves(&self) -> Leaves {
        match self {
            Self::Statements { leaves, .. } => leaves.clone(),
            Self::Unsupported(_) => Leaves::Unchanged,
        }
    }
}

/// One statement of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The SQL, `{table}`, `{schema}`, `{is}` and `{unchanged}` still in it.
    pub sql: String,
    /// How many rows it must change, or return.
    pub rows: Rows,
    /// What it means where that count is not met.
    pub why: Option<String>,
}

impl Mapping {
    /// The name of the parameter that carries a column's seen value.
    pub fn seen_parameter(column: &str) -> String {
        let safe: String = column
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
            .collect();
        format!(":seen_{safe}")
    }

    /// Every column that the preset reads as such (not those inside SQL expressions).
    pub fn columns(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = self.key.iter().map(String::as_str).collect();
        columns.push(&self.status);
        if let KindFrom::Column(column) = &self.kind {
            columns.push(column);
        }
        columns
            .extend([&self.attempts, &self.error, &self.payload].into_iter().flatten().map(String::as_str));
        columns.extend(self.version.iter().chain(&self.notes).map(String::as_str));
        columns.extend(self.times.all().map(|time| time.column.as_str()));
        match &self.lease {
            LeaseColumns::None | LeaseColumns::Lasts(_) => {}
            LeaseColumns::EndsAt(time) | LeaseColumns::Heartbeat { beat: time, .. } => {
                columns.push(&time.column);
            }
            LeaseColumns::Seconds { column, .. } | LeaseColumns::Told(column) => columns.push(column),
        }
        for condition in self.states.iter().flat_map(|rule| &rule.when) {
            match condition {
                Condition::OneOf(column, _)
                | Condition::IsNull(column)
                | Condition::IsNotNull(column)
                | Condition::BeginsWith(column, _) => columns.push(column),
                Condition::Sql(_) => {}
            }
        }
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}
