//! What a source preset's file may say.

mod check;
#[cfg(test)]
mod tests;

use super::{Engine, PayloadIs};
use crate::domain::item::State;
use crate::domain::moment::TimeFormat;
use crate::ports::source::LateWriter;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A source preset as it is written. A variant of it is written in the same words, and says only what differs.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// Its name; a mapping inside a configuration takes its source's name.
    #[serde(default)]
    pub name: String,
    /// `source`, so that a file says what it is.
    #[serde(rename = "type", default)]
    pub file_type: Option<String>,
    /// What it reads, in a line.
    #[serde(default)]
    pub title: String,
    /// What it was verified with.
    #[serde(default)]
    pub verified_with: Vec<String>,
    /// The versions of the job system that it is for.
    #[serde(default)]
    pub versions: Vec<String>,
    /// Where its facts are from.
    #[serde(default)]
    pub facts_from: Vec<String>,
    /// How the job system is recognised.
    pub detect: Option<DetectFile>,
    /// Why it cannot be read, and what to do instead.
    pub unreadable: Option<String>,
    /// The shapes that its tables have, where there are several.
    #[serde(default)]
    pub variant: Vec<SourceFile>,
    /// The engines it is for; any where it is not said.
    #[serde(default)]
    pub engines: Vec<Engine>,
    /// What the database's catalogue must show: `table`, `table.column`, `table.column: type | type`.
    #[serde(default)]
    pub has: Vec<String>,
    /// What it must not show.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// The schema its tables are in.
    pub schema: Option<String>,
    /// The table that decisions write to; without a `select` also the one that is read.
    pub table: Option<String>,
    /// A query whose rows are the items.
    pub select: Option<String>,
    /// The column or columns that make up the key.
    pub key: Option<OneOrMore>,
    /// The column with the native status.
    pub status: Option<String>,
    /// The kind of every item.
    pub kind: Option<String>,
    /// The column that says an item's kind.
    pub kind_column: Option<String>,
    /// The column that counts attempts.
    pub attempts: Option<String>,
    /// The column with the latest error.
    pub error: Option<String>,
    /// The column with the payload.
    pub payload: Option<String>,
    /// How the payload is spelled; JSON or a plain text where it is not said.
    pub payload_is: Option<PayloadIs>,
    /// The columns that pin a row's version, beside the key.
    #[serde(default)]
    pub version: Vec<String>,
    /// Whether the job system never takes a key a second time by itself.
    pub tried_once: Option<bool>,
    /// Whether a running row's last change is the moment it was taken (nobody touches it in between).
    pub updated_when_taken: Option<bool>,
    /// A SQL condition that holds for every row that may be a finding, and for which the table has an index: finished rows are
    /// then not read.
    pub unfinished: Option<String>,
    /// Columns with a sentence on a row for whoever looks at its finding; NULL where there is nothing to say.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Further fields for templates, each a SQL expression.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// The times it tells.
    pub times: Option<TimesFile>,
    /// Who holds a running item.
    pub lease: Option<LeaseFile>,
    /// The states, in order.
    #[serde(default)]
    pub state: Vec<StateFile>,
    /// What each choice writes.
    pub decisions: Option<DecisionsFile>,
    /// A table of ours in the same database, where each decision's id is written with the decision itself.
    pub decisions_table: Option<String>,
}

/// How a table is recognised.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DetectFile {
    table: String,
    columns: Vec<String>,
}

/// One name, or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "this must be a column's name, or a list of names")]
pub enum OneOrMore {
    /// One.
    One(String),
    /// Several.
    More(Vec<String>),
}

/// The times a source tells.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TimesFile {
    format: Option<TimeFormat>,
    zone: Option<String>,
    created: Option<TimeFile>,
    first_attempt: Option<TimeFile>,
    started: Option<TimeFile>,
    updated: Option<TimeFile>,
}

/// One time: a column, or a column with its own format.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "this must be a column's name, or { column = …, format = …, zone = … }")]
pub enum TimeFile {
    /// A column in the format of the section.
    Column(String),
    /// A column with its own format or zone.
    Own(OwnTime),
}

/// A column with its own format or zone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OwnTime {
    column: String,
    format: Option<TimeFormat>,
    zone: Option<String>,
}

/// Who holds a running item.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LeaseFile {
    lasts: Option<String>,
    told: Option<String>,
    ends_at: Option<TimeFile>,
    seconds: Option<String>,
    #[serde(default)]
    unlimited: Vec<i64>,
    heartbeat: Option<TimeFile>,
    heartbeat_limit: Option<String>,
}

/// One state rule.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StateFile {
    is: State,
    /// Columns and the values they may hold.
    #[serde(default)]
    when: BTreeMap<String, LiteralsFile>,
    #[serde(default)]
    when_null: Vec<String>,
    #[serde(default)]
    when_not_null: Vec<String>,
    #[serde(default)]
    when_begins_with: BTreeMap<String, String>,
    when_sql: Option<String>,
}

/// One value, or several.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "this must be a text, a whole number or a truth value, or a list of them")]
pub enum LiteralsFile {
    /// Several.
    More(Vec<LiteralFile>),
    /// One.
    One(LiteralFile),
}

/// A value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "this must be a text, a whole number or a truth value")]
pub enum LiteralFile {
    /// A truth value.
    Truth(bool),
    /// A whole number.
    Integer(i64),
    /// A text.
    Text(String),
}

/// What each choice writes.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DecisionsFile {
    late_writer: Option<LateWriter>,
    done: Option<WritingFile>,
    retry: Option<WritingFile>,
    escalate: Option<WritingFile>,
}

/// What one choice writes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WritingFile {
    #[serde(default)]
    statements: Vec<StatementFile>,
    leaves: Option<String>,
    unsupported: Option<String>,
    /// What to do instead, beside why it is unsupported: a command to run, with `{key}` in it, or a place to go.
    instead: Option<String>,
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StatementFile {
    sql: String,
    rows: RowsFile,
    /// What it means where another count of rows than that is met, in a sentence.
    why: Option<String>,
}

/// How many rows: so many, or from so many to so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "this must be a whole number, 0 or more, or [from, to]")]
pub enum RowsFile {
    /// Exactly.
    Exactly(u64),
    /// From so many to so many.
    Between([u64; 2]),
}
