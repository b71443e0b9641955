//! What a source preset's file may say, and how it is checked.

use super::{
    Condition, Decisions, Detect, KindFrom, LeaseColumns, Literal, SourcePreset, StateRule, Statement,
    TimeColumn, TimeColumns, Writing, parameters_of,
};
use crate::domain::item::State;
use crate::domain::moment::{TimeFormat, Zone, parse_duration};
use crate::ports::source::{LateWriter, Leaves};
use crate::preset::PresetFault;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A source preset as it is written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
    /// How its table is recognised.
    pub detect: Option<DetectFile>,
    /// The table.
    pub table: Option<String>,
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
    /// The columns that pin a row's version, beside the key.
    #[serde(default)]
    pub version: Vec<String>,
    /// Whether the job system never takes a key a second time by itself.
    #[serde(default)]
    pub tried_once: bool,
    /// Whether a running row's last change is the moment it was taken (nobody touches it in between).
    #[serde(default)]
    pub updated_when_taken: bool,
    /// Further fields for templates, each a SQL expression.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// The times it tells.
    #[serde(default)]
    pub times: TimesFile,
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
#[serde(deny_unknown_fields)]
pub struct DetectFile {
    table: String,
    columns: Vec<String>,
}

/// One name, or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "this must be a column's name, or a list of names")]
pub enum OneOrMore {
    /// One.
    One(String),
    /// Several.
    More(Vec<String>),
}

/// The times a source tells.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
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
#[serde(untagged, expecting = "this must be a column's name, or { column = …, format = …, zone = … }")]
pub enum TimeFile {
    /// A column in the format of the section.
    Column(String),
    /// A column with its own format or zone.
    Own(OwnTime),
}

/// A column with its own format or zone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnTime {
    column: String,
    format: Option<TimeFormat>,
    zone: Option<String>,
}

/// Who holds a running item.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseFile {
    ends_at: Option<TimeFile>,
    seconds: Option<String>,
    #[serde(default)]
    unlimited: Vec<i64>,
    heartbeat: Option<TimeFile>,
    heartbeat_limit: Option<String>,
}

/// One state rule.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
#[serde(untagged, expecting = "this must be a text, a whole number or a truth value, or a list of them")]
pub enum LiteralsFile {
    /// Several.
    More(Vec<LiteralFile>),
    /// One.
    One(LiteralFile),
}

/// A value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecisionsFile {
    late_writer: Option<LateWriter>,
    done: Option<WritingFile>,
    retry: Option<WritingFile>,
    escalate: Option<WritingFile>,
}

/// What one choice writes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WritingFile {
    #[serde(default)]
    statements: Vec<StatementFile>,
    leaves: Option<String>,
    unsupported: Option<String>,
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementFile {
    sql: String,
    rows: u64,
}

/// The parameters a statement may use beside `:seen_<column>`.
const OWN_PARAMETERS: [&str; 4] = [":now", ":operator", ":reason", ":decision"];

impl SourceFile {
    /// Reads a preset's text.
    ///
    /// # Errors
    /// [`PresetFault`] naming the file and the place.
    pub fn parse(file_name: &str, text: &str) -> Result<Self, PresetFault> {
        toml::from_str(text).map_err(|fault| PresetFault {
            preset: file_name.to_owned(),
            what: crate::preset::catalogue::one_line(&fault, text),
        })
    }

    /// Checks what was written.
    ///
    /// # Errors
    /// [`PresetFault`] with the first thing that is wrong.
    pub fn check(&self) -> Result<SourcePreset, PresetFault> {
        let name = if self.name.is_empty() { "(unnamed)" } else { &self.name };
        self.checked(name).map_err(|what| PresetFault { preset: name.to_owned(), what })
    }

    fn checked(&self, name: &str) -> Result<SourcePreset, String> {
        if self.file_type.as_deref().is_some_and(|file_type| file_type != "source") {
            return Err("`type` must be \"source\"".to_owned());
        }
        let need = |value: &Option<String>, field: &str| {
            value
                .clone()
                .filter(|text| !text.trim().is_empty())
                .ok_or_else(|| format!("`{field}` is missing"))
        };
        let preset = SourcePreset {
            name: name.into(),
            title: self.title.clone(),
            verified_with: self.verified_with.clone(),
            detect: self
                .detect
                .as_ref()
                .map(|detect| Detect { table: detect.table.clone(), columns: detect.columns.clone() }),
            table: need(&self.table, "table")?,
            key: self.checked_key()?,
            status: need(&self.status, "status")?,
            kind: self.checked_kind(name)?,
            attempts: self.attempts.clone(),
            error: self.error.clone(),
            payload: self.payload.clone(),
            version: self.checked_version()?,
            tried_once: self.tried_once,
            updated_when_taken: self.updated_when_taken,
            fields: self.fields.clone().into_iter().collect(),
            times: self.times.checked()?,
            lease: self.lease.as_ref().map_or(Ok(LeaseColumns::None), |lease| lease.checked(&self.times))?,
            states: self.checked_states()?,
            decisions: self.checked_decisions()?,
            decisions_table: self.checked_decisions_table()?,
        };
        check_names(&preset)?;
        check_statements(&preset)?;
        Ok(preset)
    }

    fn checked_key(&self) -> Result<Vec<String>, String> {
        match &self.key {
            Some(OneOrMore::One(column)) => Ok(vec![column.clone()]),
            Some(OneOrMore::More(columns)) if !columns.is_empty() => Ok(columns.clone()),
            Some(OneOrMore::More(_)) | None => Err("`key` is missing: name the column or columns".to_owned()),
        }
    }

    fn checked_kind(&self, name: &str) -> Result<KindFrom, String> {
        match (&self.kind, &self.kind_column) {
            (Some(_), Some(_)) => Err("`kind` and `kind_column` exclude each other".to_owned()),
            (None, Some(column)) => Ok(KindFrom::Column(column.clone())),
            (Some(kind), None) => Ok(KindFrom::Fixed(kind.as_str().into())),
            (None, None) => Ok(KindFrom::Fixed(name.into())),
        }
    }

    fn checked_version(&self) -> Result<Vec<String>, String> {
        if self.version.is_empty() {
            return Err(
                "`version` is missing: name the columns that must be unchanged when a decision is written"
                    .to_owned(),
            );
        }
        Ok(self.version.clone())
    }

    fn checked_states(&self) -> Result<Vec<StateRule>, String> {
        let rules = self
            .state
            .iter()
            .enumerate()
            .map(|(at, rule)| rule.checked(at + 1))
            .collect::<Result<Vec<_>, _>>()?;
        for needed in [State::Running, State::Failed, State::Done] {
            if !rules.iter().any(|rule| rule.state == needed) {
                return Err(format!("no `[[state]]` rule says what is \"{needed}\""));
            }
        }
        Ok(rules)
    }

    fn checked_decisions_table(&self) -> Result<Option<String>, String> {
        match &self.decisions_table {
            Some(table) if table.trim().is_empty() => {
                Err("`decisions_table` is empty: name a table, or take it out".to_owned())
            }
            Some(table) if self.table.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(table)) => {
                Err("`decisions_table` must be another table than the jobs'".to_owned())
            }
            table => Ok(table.clone()),
        }
    }

    fn checked_decisions(&self) -> Result<Decisions, String> {
        let nothing = |reason: &str| Writing::Unsupported(reason.to_owned());
        let Some(file) = &self.decisions else {
            let reason = "its `[decisions]` are not configured";
            return Ok(Decisions {
                late_writer: LateWriter::Unguarded,
                done: nothing(reason),
                retry: nothing(reason),
                escalate: Writing::Statements { statements: Vec::new(), leaves: Leaves::Unchanged },
            });
        };
        let late_writer =
            file.late_writer.ok_or("`decisions.late_writer` is missing: \"guarded\" or \"unguarded\"")?;
        let of = |writing: &Option<WritingFile>, name: &str| match writing {
            Some(writing) => writing.checked(name),
            None => Ok(nothing("its statements are not configured")),
        };
        let escalate = match &file.escalate {
            Some(writing) => writing.checked("escalate")?,
            None => Writing::Statements { statements: Vec::new(), leaves: Leaves::Unchanged },
        };
        Ok(Decisions {
            late_writer,
            done: of(&file.done, "done")?,
            retry: of(&file.retry, "retry")?,
            escalate,
        })
    }
}

fn zone(text: Option<&str>) -> Result<Zone, String> {
    match text {
        None | Some("UTC" | "utc" | "Z") => Ok(Zone::Utc),
        Some("unclear") => Ok(Zone::Unclear),
        Some(offset) => {
            let sample = format!("2000-01-01T00:00:00{offset}");
            chrono::DateTime::parse_from_rfc3339(&sample).map(|at| Zone::Fixed(*at.offset())).map_err(|_| {
                format!("zone `{offset}` must be \"UTC\", an offset such as \"-03:00\", or \"unclear\"")
            })
        }
    }
}

impl TimesFile {
    fn column(&self, time: &TimeFile) -> Result<TimeColumn, String> {
        let (column, own_format, own_zone) = match time {
            TimeFile::Column(column) => (column, None, None),
            TimeFile::Own(own) => (&own.column, own.format, own.zone.as_deref()),
        };
        Ok(TimeColumn {
            column: column.clone(),
            format: own_format.or(self.format).unwrap_or_default(),
            zone: zone(own_zone.or(self.zone.as_deref()))?,
        })
    }

    fn checked(&self) -> Result<TimeColumns, String> {
        let of = |time: &Option<TimeFile>| time.as_ref().map(|time| self.column(time)).transpose();
        Ok(TimeColumns {
            created: of(&self.created)?,
            first_attempt: of(&self.first_attempt)?,
            started: of(&self.started)?,
            updated: of(&self.updated)?,
        })
    }
}

impl LeaseFile {
    fn checked(&self, times: &TimesFile) -> Result<LeaseColumns, String> {
        match (&self.ends_at, &self.seconds, &self.heartbeat) {
            (Some(end), None, None) => Ok(LeaseColumns::EndsAt(times.column(end)?)),
            (None, Some(column), None) => {
                Ok(LeaseColumns::Seconds { column: column.clone(), unlimited: self.unlimited.clone() })
            }
            (None, None, Some(beat)) => {
                let limit = self
                    .heartbeat_limit
                    .as_deref()
                    .ok_or("`lease.heartbeat_limit` is missing: how long may a holder be silent?")?;
                let limit_seconds = parse_duration(limit)?.num_seconds();
                Ok(LeaseColumns::Heartbeat { beat: times.column(beat)?, limit_seconds })
            }
            _ => Err("`lease` must have exactly one of `ends_at`, `seconds` and `heartbeat`".to_owned()),
        }
    }
}

impl StateFile {
    fn checked(&self, number: usize) -> Result<StateRule, String> {
        let mut when = Vec::new();
        for (column, values) in &self.when {
            let values = match values {
                LiteralsFile::One(value) => std::slice::from_ref(value),
                LiteralsFile::More(values) => values.as_slice(),
            };
            if values.is_empty() {
                return Err(format!("`[[state]]` rule {number}: `{column}` names no value"));
            }
            when.push(Condition::OneOf(column.clone(), values.iter().map(literal).collect()));
        }
        when.extend(self.when_null.iter().cloned().map(Condition::IsNull));
        when.extend(self.when_not_null.iter().cloned().map(Condition::IsNotNull));
        when.extend(
            self.when_begins_with
                .iter()
                .map(|(column, text)| Condition::BeginsWith(column.clone(), text.clone())),
        );
        when.extend(self.when_sql.iter().cloned().map(Condition::Sql));
        if when.is_empty() {
            return Err(format!("`[[state]]` rule {number} has no condition"));
        }
        Ok(StateRule { state: self.is, when })
    }
}

fn literal(value: &LiteralFile) -> Literal {
    match value {
        LiteralFile::Truth(truth) => Literal::Truth(*truth),
        LiteralFile::Integer(number) => Literal::Integer(*number),
        LiteralFile::Text(text) => Literal::Text(text.clone()),
    }
}

impl WritingFile {
    fn checked(&self, name: &str) -> Result<Writing, String> {
        if let Some(reason) = &self.unsupported {
            return if self.statements.is_empty() {
                Ok(Writing::Unsupported(reason.clone()))
            } else {
                Err(format!("`decisions.{name}` is `unsupported` and has statements"))
            };
        }
        let leaves = match self.leaves.as_deref() {
            Some("absent") => Leaves::Absent,
            Some("unchanged") => Leaves::Unchanged,
            Some(word) => {
                State::ALL.into_iter().find(|state| state.as_str() == word).map(Leaves::State).ok_or_else(
                    || format!("`decisions.{name}.leaves` must be \"absent\", \"unchanged\" or a state"),
                )?
            }
            None if self.statements.is_empty() => Leaves::Unchanged,
            None => {
                return Err(format!(
                    "`decisions.{name}.leaves` is missing: what does the row look like afterwards?"
                ));
            }
        };
        if self.statements.is_empty() && name != "escalate" {
            return Err(format!(
                "`decisions.{name}` has no statements; say `unsupported = \"why\"` if there are none"
            ));
        }
        let statements = self
            .statements
            .iter()
            .map(|s| Statement { sql: s.sql.clone(), rows: s.rows })
            .collect::<Vec<_>>();
        Ok(Writing::Statements { statements, leaves })
    }
}

/// Two columns whose values would travel under one parameter's name could not be compared with what was seen.
fn check_names(preset: &SourcePreset) -> Result<(), String> {
    let compared: Vec<&String> = preset.key.iter().chain(&preset.version).collect();
    for (at, column) in compared.iter().enumerate() {
        let parameter = SourcePreset::seen_parameter(column);
        let twin = compared.iter().skip(at + 1).find(|other| {
            !other.eq_ignore_ascii_case(column) && SourcePreset::seen_parameter(other) == parameter
        });
        if let Some(twin) = twin {
            return Err(format!(
                "the columns `{column}` and `{twin}` would both be `{parameter}` in a statement: leave one out"
            ));
        }
    }
    Ok(())
}

/// Every parameter must be one that a decision can bind, and the first statement must compare before it sets.
fn check_statements(preset: &SourcePreset) -> Result<(), String> {
    for (name, writing) in [
        ("done", &preset.decisions.done),
        ("retry", &preset.decisions.retry),
        ("escalate", &preset.decisions.escalate),
    ] {
        let Writing::Statements { statements, .. } = writing else { continue };
        for (at, statement) in statements.iter().enumerate() {
            let place = format!("`decisions.{name}` statement {}", at + 1);
            if at == 0 && !statement.sql.contains("{unchanged}") {
                return Err(format!(
                    "{place} must have `{{unchanged}}` in its WHERE: nobody's work may be overwritten"
                ));
            }
            let odd = parameters_of(&statement.sql).into_iter().find(|parameter| {
                !OWN_PARAMETERS.contains(&parameter.as_str()) && !parameter.starts_with(":seen_")
            });
            if let Some(parameter) = odd {
                return Err(format!(
                    "{place} uses `{parameter}`; there are {} and :seen_<column>",
                    OWN_PARAMETERS.join(", ")
                ));
            }
            if parameters_of(&statement.sql).iter().any(|p| p == ":now") && preset.times.written().is_none() {
                return Err(format!("{place} uses `:now`, but no time column says how to write it"));
            }
        }
    }
    Ok(())
}
