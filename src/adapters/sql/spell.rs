//! The SQL that reads: built from a mapping, values bound, identifiers quoted. The database filters.

use super::times::young_sql;
use crate::domain::item::State;
use crate::ports::source::Wanted;
use crate::preset::source::{Condition, Engine, LeaseColumns, Literal, Mapping, TimeColumn};
use chrono::{DateTime, TimeDelta, Utc};
use std::sync::Arc;

/// How much of a long error is read from each of its ends, in characters.
const ERROR_END_CHARS: usize = 8_000;
/// How much younger than the policy's limit the rows are that the database begins to hand out: pure code decides on the
/// exact edge.
const PREFILTER_SLACK: TimeDelta = TimeDelta::seconds(10);

/// What a column holds, as far as it changes how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// Whole numbers.
    Integer,
    /// Floating-point numbers.
    Real,
    /// Bytes.
    Bytes,
    /// A point in time with its zone.
    Moment,
    /// A date and a time of day without a zone.
    NaiveMoment,
    /// Anything else, read as the database spells it.
    Text,
    /// One word of a list, which the database sorts by its place in the list and compares by its letters.
    Word,
    /// Anything: each value tells for itself, as in SQLite.
    Any,
}

/// A column of what is read: the table's, or the query's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: Arc<str>,
    /// What it holds.
    pub held: Held,
    /// Whether it may be NULL, as far as the database tells.
    pub may_be_null: bool,
    /// The only words that it can hold, for a type of PostgreSQL's that is a list of words: there, to compare with any other
    /// is an error.
    pub words: Option<Vec<String>>,
}

/// A mapping, spelled for an engine.
#[derive(Debug, Clone, Copy)]
pub struct Sql<'a> {
    /// The engine.
    pub engine: Engine,
    /// The mapping.
    pub mapping: &'a Mapping,
    /// The columns of what is read.
    pub columns: &'a [Column],
}

impl Sql<'_> {
    /// An identifier, quoted.
    pub fn quoted(&self, name: &str) -> String {
        quoted(self.engine, name)
    }

    /// The schema with the point behind it; nothing where the connection's own is meant.
    pub fn schema(&self) -> String {
        match &self.mapping.schema {
            Some(schema) if self.engine != Engine::Sqlite => format!("{}.", self.quoted(schema)),
            _ => String::new(),
        }
    }

    /// The table that decisions write to.
    pub fn table(&self) -> String {
        format!("{}{}", self.schema(), self.quoted(&self.mapping.table))
    }

    /// A preset's own SQL with its places filled in.
    pub fn filled(&self, sql: &str) -> String {
        sql.replace("{table}", &self.table()).replace("{schema}", &self.schema()).replace("{is}", self.is())
    }

    /// What items are read from: the table, or the query as a table.
    pub fn from(&self) -> String {
        match &self.mapping.select {
            Some(select) => format!("({}) AS item", self.filled(select.trim().trim_end_matches(';'))),
            None => self.table(),
        }
    }

    /// "The same, also where both are NULL".
    pub fn is(&self) -> &'static str {
        match self.engine {
            Engine::Sqlite => "IS",
            Engine::Postgres => "IS NOT DISTINCT FROM",
            Engine::Mysql => "<=>",
        }
    }

    /// What a column holds.
    pub fn held(&self, column: &str) -> Held {
        self.known(column).map_or(Held::Any, |known| known.held)
    }

    /// A column of what is read. PostgreSQL tells names apart by case; where the engine does not, only one can be there.
    fn known(&self, column: &str) -> Option<&Column> {
        let exactly = self.columns.iter().find(|known| &*known.name == column);
        exactly.or_else(|| self.columns.iter().find(|known| known.name.eq_ignore_ascii_case(column)))
    }

    /// Whether a column may be NULL.
    pub fn may_be_null(&self, column: &str) -> bool {
        self.known(column).is_none_or(|known| known.may_be_null)
    }

    /// Whether a value may stand beside a column in a comparison. A word that an older list lacks is in no row.
    fn is_comparable(&self, column: &str, value: &Literal) -> bool {
        match (value, self.known(column).and_then(|known| known.words.as_ref())) {
            (Literal::Text(text), Some(words)) => words.contains(text),
            _ => true,
        }
    }

    /// A column as it is sorted by: in the order that comparing it gives.
    pub fn sorted(&self, column: &str) -> String {
        let name = self.quoted(column);
        if self.held(column) == Held::Word { format!("CAST({name} AS CHAR)") } else { name }
    }

    /// A text column of MySQL in the encoding that we read, whatever its own is; anything else as it is.
    pub fn in_utf8(&self, column: &str) -> String {
        let name = self.quoted(column);
        if self.held(column) == Held::Bytes { name } else { format!("CONVERT({name} USING utf8mb4)") }
    }

    /// A column as it is read: at full precision, and in a spelling that compares equal to itself.
    pub fn read(&self, column: &str) -> String {
        let name = self.quoted(column);
        match (self.engine, self.held(column)) {
            (Engine::Postgres, Held::Integer) => format!("{name}::int8"),
            (Engine::Postgres, Held::Real) => format!("{name}::float8"),
            (Engine::Postgres, held) if held != Held::Bytes => format!("{name}::text"),
            (Engine::Postgres | Engine::Sqlite | Engine::Mysql, _) => name,
        }
    }

    fn literal(&self, value: &Literal) -> String {
        match (value, self.engine) {
            // A backslash escapes in MySQL, unless its mode says otherwise.
            (Literal::Text(text), Engine::Mysql) => {
                format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
            }
            (Literal::Text(text), _) => format!("'{}'", text.replace('\'', "''")),
            (Literal::Integer(number), _) => number.to_string(),
            (Literal::Truth(truth), Engine::Postgres) => truth.to_string(),
            (Literal::Truth(truth), _) => i32::from(*truth).to_string(),
        }
    }

    fn condition(&self, condition: &Condition) -> String {
        match condition {
            Condition::OneOf(column, values) => {
                // The bare column, so that an index on it is used.
                let values: Vec<String> = values
                    .iter()
                    .filter(|value| self.is_comparable(column, value))
                    .map(|value| self.literal(value))
                    .collect();
                if values.is_empty() {
                    return self.never().to_owned();
                }
                format!("{} IN ({})", self.quoted(column), values.join(", "))
            }
            Condition::IsNull(column) => format!("{} IS NULL", self.quoted(column)),
            Condition::IsNotNull(column) => format!("{} IS NOT NULL", self.quoted(column)),
            Condition::BeginsWith(column, text) => {
                let text = self.literal(&Literal::Text(text.clone()));
                let is_word = self.known(column).is_some_and(|known| known.words.is_some());
                let cast = if is_word { "::text" } else { "" };
                let (column, no) = (format!("{}{cast}", self.quoted(column)), self.never());
                // A NULL begins with nothing; without coalesce it would make the whole rule NULL.
                format!("coalesce(substr({column}, 1, {}({text})) = {text}, {no})", self.length())
            }
            Condition::Sql(expression) => format!("({})", self.filled(expression)),
        }
    }

    /// What is never true.
    fn never(&self) -> &'static str {
        if self.engine == Engine::Postgres { "false" } else { "0" }
    }

    /// The function that counts characters.
    fn length(&self) -> &'static str {
        if self.engine == Engine::Mysql { "char_length" } else { "length" }
    }

    fn rule(&self, when: &[Condition]) -> String {
        when.iter().map(|condition| self.condition(condition)).collect::<Vec<_>>().join(" AND ")
    }

    /// The state of a row as a number: its place in [`State::ALL`], or NULL where no rule fits.
    pub fn state(&self) -> String {
        let number = |state: State| State::ALL.iter().position(|known| *known == state).unwrap_or_default();
        let branches: Vec<String> = self
            .mapping
            .states
            .iter()
            .map(|rule| format!("WHEN {} THEN {}", self.rule(&rule.when), number(rule.state)))
            .collect();
        format!("CASE {} END", branches.join(" "))
    }

    /// Rows that are wanted.
    pub fn wanted(&self, wanted: &Wanted, now: DateTime<Utc>) -> String {
        if wanted.every_item {
            return "1 = 1".to_owned();
        }
        let candidates = self.candidates(now - wanted.running_older_than + PREFILTER_SLACK, now);
        match &self.mapping.unfinished {
            Some(unfinished) => format!("({}) AND ({candidates})", self.filled(unfinished)),
            None => candidates,
        }
    }

    /// Rows that may be findings. Each rule stands on its own so that an index on the status can be used.
    fn candidates(&self, cutoff: DateTime<Utc>, now: DateTime<Utc>) -> String {
        let branches: Vec<String> = self
            .mapping
            .states
            .iter()
            .filter_map(|rule| match rule.state {
                State::Pending | State::Done => None,
                State::Failed | State::Dead => Some(format!("({})", self.rule(&rule.when))),
                State::Running => Some(match self.not_young(cutoff, now) {
                    Some(not_young) => format!("({} AND {not_young})", self.rule(&rule.when)),
                    None => format!("({})", self.rule(&rule.when)),
                }),
            })
            .collect();
        if branches.is_empty() { self.never().to_owned() } else { branches.join(" OR ") }
    }

    /// "Not surely young": what the database cannot read passes, because it is never fresh.
    fn not_young(&self, cutoff: DateTime<Utc>, now: DateTime<Utc>) -> Option<String> {
        let times = &self.mapping.times;
        if self.mapping.lease != LeaseColumns::None {
            return None;
        }
        let mut counting: Vec<&TimeColumn> = [&times.started, &times.updated].into_iter().flatten().collect();
        if counting.is_empty() {
            counting.extend(&times.created);
        }
        let young: Vec<String> = counting
            .into_iter()
            .map(|time| young_sql(self, time, cutoff, now))
            .collect::<Option<Vec<_>>>()?;
        (!young.is_empty()).then(|| format!("NOT ({})", young.join(" OR ")))
    }

    /// The latest error, cut in the middle: only its ends are looked at.
    fn error(&self, column: &str) -> String {
        let (limit, end) = (2 * ERROR_END_CHARS, ERROR_END_CHARS);
        let name = self.quoted(column);
        match self.engine {
            Engine::Sqlite => format!(
                "CASE WHEN octet_length({name}) <= {limit} THEN {name} \
                 WHEN typeof({name}) = 'text' THEN substr({name}, 1, {end}) || char(10) || '[cut]' || char(10) || substr({name}, -{end}) \
                 ELSE substr({name}, 1, {end}) END"
            ),
            Engine::Postgres => {
                if self.held(column) == Held::Bytes {
                    return format!("substr({name}, 1, {limit})");
                }
                let text = format!("{name}::text");
                format!(
                    "CASE WHEN octet_length({text}) <= {limit} THEN {text} \
                     ELSE left({text}, {end}) || E'\\n[cut]\\n' || right({text}, {end}) END"
                )
            }
            Engine::Mysql => {
                let text = self.in_utf8(column);
                format!(
                    "CASE WHEN octet_length({text}) <= {limit} THEN {text} \
                     ELSE concat(left({text}, {end}), '\n[cut]\n', right({text}, {end})) END"
                )
            }
        }
    }

    /// What is selected of an item: the names of its small columns and fields, and the list for them, the error and the
    /// state after them.
    pub fn selection(&self) -> (Vec<Arc<str>>, String) {
        let mapping = self.mapping;
        let (mut names, mut expressions): (Vec<Arc<str>>, Vec<String>) = (Vec::new(), Vec::new());
        for column in mapping.columns() {
            let is_large =
                [&mapping.error, &mapping.payload].into_iter().flatten().any(|large| large == column);
            if !is_large {
                names.push(column.into());
                expressions.push(self.read(column));
            }
        }
        for (name, expression) in &mapping.fields {
            names.push(name.as_str().into());
            let expression = self.filled(expression);
            expressions.push(match self.engine {
                Engine::Postgres => format!("({expression})::text"),
                Engine::Sqlite | Engine::Mysql => format!("({expression})"),
            });
        }
        expressions
            .push(mapping.error.as_deref().map_or_else(|| "NULL".to_owned(), |column| self.error(column)));
        expressions.push(self.state());
        if self.engine == Engine::Postgres {
            // `"k"::text` would be called `k` as the column is, and sorted by in its place.
            for (at, expression) in expressions.iter_mut().enumerate() {
                expression.push_str(&format!(" AS \"unstuck {at}\""));
            }
        }
        (names, expressions.join(", "))
    }

    /// Every column of a row but its payload and its notes: what a decision is compared with.
    pub fn row_columns(&self) -> Vec<Arc<str>> {
        let payload = self.mapping.payload.as_deref();
        let is_payload = |name: &str| payload.is_some_and(|payload| payload.eq_ignore_ascii_case(name));
        let is_note = |name: &str| self.mapping.notes.iter().any(|note| note.eq_ignore_ascii_case(name));
        self.columns
            .iter()
            .map(|column| &column.name)
            .filter(|name| !is_payload(name) && !is_note(name))
            .map(Arc::clone)
            .collect()
    }

    /// The columns that the mapping names and that are not there.
    pub fn missing(&self) -> Vec<&str> {
        let is_there =
            |wanted: &&str| self.columns.iter().any(|known| known.name.eq_ignore_ascii_case(wanted));
        self.mapping.columns().into_iter().filter(|wanted| !is_there(wanted)).collect()
    }
}

/// An identifier, quoted as an engine does it.
pub fn quoted(engine: Engine, name: &str) -> String {
    match engine {
        Engine::Mysql => format!("`{}`", name.replace('`', "``")),
        Engine::Sqlite | Engine::Postgres => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}
