//! From what a preset's file says to what the program uses: one small function a rule, each with a sentence of its own.

use super::{
    DecisionsFile, LeaseFile, LiteralFile, LiteralsFile, OneOrMore, RowsFile, SourceFile, StateFile,
    TimeFile, TimesFile, WritingFile,
};
use crate::domain::item::State;
use crate::domain::moment::{Zone, parse_duration};
use crate::ports::source::{LateWriter, Leaves, Rows};
use crate::preset::PresetFault;
use crate::preset::source::{
    Condition, Decisions, Detect, Engine, KindFrom, LeaseColumns, Literal, Mapping, Need, SourcePreset,
    StateRule, Statement, TimeColumn, TimeColumns, Writing, parameters_of,
};
use std::sync::Arc;

/// The parameters a statement may use beside `:seen_<column>`.
const OWN_PARAMETERS: [&str; 5] = [":now", ":operator", ":reason", ":decision", ":released"];

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
        let detect = self.detect.as_ref();
        Ok(SourcePreset {
            name: name.into(),
            title: self.title.clone(),
            verified_with: self.verified_with.clone(),
            versions: self.versions.clone(),
            facts_from: self.facts_from.clone(),
            detect: detect
                .map(|detect| Detect { table: detect.table.clone(), columns: detect.columns.clone() }),
            unreadable: self.unreadable.clone(),
            variants: self.checked_variants(name)?,
        })
    }

    fn checked_variants(&self, name: &str) -> Result<Vec<Arc<Mapping>>, String> {
        match (&self.unreadable, self.variant.as_slice()) {
            (Some(_), []) => Ok(Vec::new()),
            (Some(_), _) => Err("it is `unreadable` and has variants".to_owned()),
            (None, []) => Ok(vec![Arc::new(self.mapping(name, "")?)]),
            (None, variants) => variants
                .iter()
                .map(|variant| {
                    let own = variant.name.trim();
                    if own.is_empty() || !variant.variant.is_empty() {
                        return Err("each `[[variant]]` has a `name`, and no variants of its own".to_owned());
                    }
                    let whole = self.overlaid(variant);
                    whole.mapping(name, own).map(Arc::new).map_err(|what| format!("variant `{own}`: {what}"))
                })
                .collect(),
        }
    }

    /// What a variant says, and what this file says where the variant says nothing.
    fn overlaid(&self, variant: &Self) -> Self {
        let list = |own: &[String], base: &[String]| if own.is_empty() { base } else { own }.to_vec();
        let text = |own: &Option<String>, base: &Option<String>| own.clone().or_else(|| base.clone());
        let kind_is_own = variant.kind.is_some() || variant.kind_column.is_some();
        let kind_from = if kind_is_own { variant } else { self };
        Self {
            engines: if variant.engines.is_empty() { self.engines.clone() } else { variant.engines.clone() },
            has: [self.has.as_slice(), &variant.has].concat(),
            lacks: [self.lacks.as_slice(), &variant.lacks].concat(),
            schema: text(&variant.schema, &self.schema),
            table: text(&variant.table, &self.table),
            select: text(&variant.select, &self.select),
            key: variant.key.clone().or_else(|| self.key.clone()),
            status: text(&variant.status, &self.status),
            kind: kind_from.kind.clone(),
            kind_column: kind_from.kind_column.clone(),
            attempts: text(&variant.attempts, &self.attempts),
            error: text(&variant.error, &self.error),
            payload: text(&variant.payload, &self.payload),
            payload_is: variant.payload_is.or(self.payload_is),
            version: list(&variant.version, &self.version),
            tried_once: variant.tried_once.or(self.tried_once),
            updated_when_taken: variant.updated_when_taken.or(self.updated_when_taken),
            unfinished: text(&variant.unfinished, &self.unfinished),
            notes: list(&variant.notes, &self.notes),
            fields: self.fields.clone().into_iter().chain(variant.fields.clone()).collect(),
            times: variant.times.clone().or_else(|| self.times.clone()),
            lease: variant.lease.clone().or_else(|| self.lease.clone()),
            state: if variant.state.is_empty() { self.state.clone() } else { variant.state.clone() },
            decisions: match (&self.decisions, &variant.decisions) {
                (Some(base), Some(own)) => Some(base.overlaid(own)),
                (base, own) => own.clone().or_else(|| base.clone()),
            },
            decisions_table: text(&variant.decisions_table, &self.decisions_table),
            ..Self::default()
        }
    }

    fn mapping(&self, preset: &str, variant: &str) -> Result<Mapping, String> {
        let need = |value: &Option<String>, field: &str| {
            value
                .clone()
                .filter(|text| !text.trim().is_empty())
                .ok_or_else(|| format!("`{field}` is missing"))
        };
        let times = self.times.clone().unwrap_or_default();
        let mapping = Mapping {
            preset: preset.into(),
            variant: variant.into(),
            engines: if self.engines.is_empty() { Engine::ALL.to_vec() } else { self.engines.clone() },
            needs: self.checked_needs()?,
            // A variant takes its preset's schema away by an empty one.
            schema: self.schema.clone().filter(|schema| !schema.is_empty()),
            table: need(&self.table, "table")?,
            select: self.select.clone(),
            key: self.checked_key()?,
            status: need(&self.status, "status")?,
            kind: self.checked_kind(preset)?,
            attempts: self.attempts.clone(),
            error: self.error.clone(),
            payload: self.payload.clone(),
            payload_is: self.payload_is.unwrap_or_default(),
            version: self.checked_version()?,
            tried_once: self.tried_once.unwrap_or(false),
            updated_when_taken: self.updated_when_taken.unwrap_or(false),
            unfinished: self.unfinished.clone(),
            notes: self.notes.clone(),
            fields: self.fields.clone().into_iter().collect(),
            lease: self.lease.as_ref().map_or(Ok(LeaseColumns::None), |lease| lease.checked(&times))?,
            times: times.checked()?,
            states: self.checked_states()?,
            decisions: self.checked_decisions()?,
            decisions_table: self.checked_decisions_table()?,
        };
        check_names(&mapping)?;
        check_statements(&mapping)?;
        Ok(mapping)
    }

    fn checked_needs(&self) -> Result<Vec<Need>, String> {
        let has = self.has.iter().map(|text| Need::parse(text, true));
        has.chain(self.lacks.iter().map(|text| Need::parse(text, false))).collect()
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

impl DecisionsFile {
    fn overlaid(&self, own: &Self) -> Self {
        let writing =
            |own: &Option<WritingFile>, base: &Option<WritingFile>| own.clone().or_else(|| base.clone());
        Self {
            late_writer: own.late_writer.or(self.late_writer),
            done: writing(&own.done, &self.done),
            retry: writing(&own.retry, &self.retry),
            escalate: writing(&own.escalate, &self.escalate),
        }
    }
}

impl LeaseFile {
    fn checked(&self, times: &TimesFile) -> Result<LeaseColumns, String> {
        match (&self.ends_at, &self.seconds, &self.heartbeat, &self.lasts, &self.told) {
            (Some(end), None, None, None, None) => Ok(LeaseColumns::EndsAt(times.column(end)?)),
            (None, Some(column), None, None, None) => {
                Ok(LeaseColumns::Seconds { column: column.clone(), unlimited: self.unlimited.clone() })
            }
            (None, None, None, Some(lasts), None) => {
                Ok(LeaseColumns::Lasts(parse_duration(lasts)?.num_seconds()))
            }
            (None, None, None, None, Some(column)) => Ok(LeaseColumns::Told(column.clone())),
            (None, None, Some(beat), None, None) => {
                let limit = self
                    .heartbeat_limit
                    .as_deref()
                    .ok_or("`lease.heartbeat_limit` is missing: how long may a holder be silent?")?;
                let limit_seconds = parse_duration(limit)?.num_seconds();
                Ok(LeaseColumns::Heartbeat { beat: times.column(beat)?, limit_seconds })
            }
            _ => {
                Err("`lease` must have exactly one of `ends_at`, `seconds`, `lasts`, `heartbeat` and `told`"
                    .to_owned())
            }
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
                Ok(Writing::Unsupported(match &self.instead {
                    Some(instead) => format!("{}. Instead: {instead}", reason.trim_end_matches('.')),
                    None => reason.clone(),
                }))
            } else {
                Err(format!("`decisions.{name}` is `unsupported` and has statements"))
            };
        }
        if self.instead.is_some() {
            return Err(format!("`decisions.{name}` says `instead` and not why it is `unsupported`"));
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
            .map(|statement| {
                Ok(Statement {
                    sql: statement.sql.clone(),
                    rows: statement.rows.checked(name)?,
                    why: statement.why.clone(),
                })
            })
            .collect::<Result<Vec<_>, String>>()?;
        Ok(Writing::Statements { statements, leaves })
    }
}

impl RowsFile {
    fn checked(self, name: &str) -> Result<Rows, String> {
        match self {
            Self::Exactly(count) => Ok(Rows::exactly(count)),
            Self::Between([at_least, at_most]) if at_least <= at_most => Ok(Rows { at_least, at_most }),
            Self::Between(_) => {
                Err(format!("`decisions.{name}`: `rows` must be [from, to], the smaller first"))
            }
        }
    }
}

/// Two columns whose values would travel under one parameter's name could not be compared with what was seen.
fn check_names(mapping: &Mapping) -> Result<(), String> {
    let compared: Vec<&String> = mapping.key.iter().chain(&mapping.version).collect();
    for (at, column) in compared.iter().enumerate() {
        let parameter = Mapping::seen_parameter(column);
        let twin = compared
            .iter()
            .skip(at + 1)
            .find(|other| !other.eq_ignore_ascii_case(column) && Mapping::seen_parameter(other) == parameter);
        if let Some(twin) = twin {
            return Err(format!(
                "the columns `{column}` and `{twin}` would both be `{parameter}` in a statement: leave one out"
            ));
        }
    }
    Ok(())
}

/// Every parameter must be one that a decision can bind, and the first statement must compare before it sets.
fn check_statements(mapping: &Mapping) -> Result<(), String> {
    for (name, writing) in [
        ("done", &mapping.decisions.done),
        ("retry", &mapping.decisions.retry),
        ("escalate", &mapping.decisions.escalate),
    ] {
        let Writing::Statements { statements, .. } = writing else { continue };
        if mapping.select.is_some()
            && !statements.is_empty()
            && !statements.iter().any(|one| is_guarded(mapping, &one.sql))
        {
            return Err(format!(
                "`decisions.{name}` must compare each key column and a version column with `:seen_<column>` in one of its statements: nobody's work may be overwritten"
            ));
        }
        for (at, statement) in statements.iter().enumerate() {
            let place = format!("`decisions.{name}` statement {}", at + 1);
            if at == 0 && mapping.select.is_none() && !statement.sql.contains("{unchanged}") {
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
            if parameters_of(&statement.sql).iter().any(|p| p == ":now") && mapping.times.written().is_none()
            {
                return Err(format!("{place} uses `:now`, but no time column says how to write it"));
            }
        }
    }
    Ok(())
}

/// Whether a statement finds the row only as it was seen. A query's columns are not all the table's: there a statement
/// names those that are.
fn is_guarded(mapping: &Mapping, sql: &str) -> bool {
    let used = parameters_of(sql);
    let compares = |column: &String| used.contains(&Mapping::seen_parameter(column));
    sql.contains("{unchanged}") || (mapping.key.iter().all(compares) && mapping.version.iter().any(compares))
}
