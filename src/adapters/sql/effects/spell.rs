//! The queries that read effects. Identifiers are quoted, values bound. Pure.

use super::RowsFacts;
use crate::adapters::sql::{Held, older_sql, quoted};
use crate::domain::cell::Cell;
use crate::domain::evidence::{Fault, FaultKind};
use crate::domain::text::clean_cut;
use crate::preset::provider::{CurrencyColumn, RowsFrom, SQL_REFERENCE_BYTES_MAX, SqlLookUp, StatusColumn};
use crate::preset::source::Engine;
use chrono::{DateTime, Utc};

/// How many different statuses `doctor` tells.
pub(super) const STATUSES_MAX: usize = 30;

/// A query and its values by the names that it calls them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) sql: String,
    pub(super) values: Vec<(String, Cell)>,
}

/// A look-up spelled for an engine, over the columns that are there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spelled<'a> {
    pub(super) engine: Engine,
    pub(super) look: &'a SqlLookUp,
    pub(super) facts: &'a RowsFacts,
}

/// What rows are read from.
pub fn from_sql(engine: Engine, from: &RowsFrom) -> String {
    match from {
        RowsFrom::Table { schema, table } => {
            let schema = schema.as_ref().filter(|_| engine != Engine::Sqlite);
            let schema = schema.map(|schema| format!("{}.", quoted(engine, schema))).unwrap_or_default();
            format!("{schema}{}", quoted(engine, table))
        }
        RowsFrom::Select(select) => format!("({select}) AS effect"),
    }
}

impl Spelled<'_> {
    /// Makes sure that every column is there, and holds what can be compared and counted exactly.
    pub(super) fn check_columns(&self) -> Result<(), Fault> {
        let missing: Vec<String> = self
            .look
            .columns()
            .into_iter()
            .filter(|name| self.facts.column(name).is_none())
            .map(|name| format!("`{}`", clean_cut(name, 60)))
            .collect();
        if !missing.is_empty() {
            let name = clean_cut(self.look.name(), 60);
            return Err(shape(format!("`{name}` has no column {}", missing.join(", "))));
        }
        if self.held(&self.look.reference) == Held::Bytes {
            return Err(shape(format!(
                "the column `{}` holds bytes, and a reference is a text: make one of it in a `select`",
                clean_cut(&self.look.reference, 60)
            )));
        }
        if let Some(amount) = &self.look.amount
            && self.held(&amount.column) == Held::Real
        {
            return Err(shape(format!(
                "the column `{}` holds floating-point numbers, and an amount is a decimal: make one of it in a `select`",
                clean_cut(&amount.column, 60)
            )));
        }
        Ok(())
    }

    fn held(&self, column: &str) -> Held {
        self.facts.column(column).map_or(Held::Any, |column| column.held)
    }

    fn quoted(&self, name: &str) -> String {
        // As it is spelled there: PostgreSQL tells names apart by case.
        quoted(self.engine, self.facts.column(name).map_or(name, |column| &column.name))
    }

    /// A column as it is read: PostgreSQL spells everything as text, exactly.
    fn read(&self, name: Option<&str>) -> String {
        let expression = name.map_or_else(|| "NULL".to_owned(), |name| self.quoted(name));
        if self.engine == Engine::Postgres { format!("{expression}::text") } else { expression }
    }

    /// Id, reference, status, amount, currency and time, always six.
    fn selection(&self) -> String {
        let look = self.look;
        let status = match &look.status {
            StatusColumn::Column(column) => Some(column.as_str()),
            StatusColumn::Fixed(_) => None,
        };
        let amount = look.amount.as_ref();
        let currency = amount.and_then(|amount| match &amount.currency {
            CurrencyColumn::Column(column) => Some(column.as_str()),
            CurrencyColumn::Fixed(_) => None,
        });
        let columns = [
            Some(look.id.as_str()),
            Some(look.reference.as_str()),
            status,
            amount.map(|amount| amount.column.as_str()),
            currency,
            look.time.as_ref().map(|time| time.column.as_str()),
        ];
        columns.map(|column| self.read(column)).join(", ")
    }

    fn from(&self) -> String {
        from_sql(self.engine, &self.look.from)
    }

    /// The rows that the database calls of one reference: a few too many where it minds neither case nor spaces, and those are
    /// sorted out on our side.
    ///
    /// # Errors
    /// No row can carry this reference, so that an absence would prove nothing.
    pub(super) fn of_reference(&self, reference: &str, rows_max: usize) -> Result<Query, Fault> {
        self.check_reference(reference)?;
        let column = self.quoted(&self.look.reference);
        let text = Cell::text(reference);
        let mut values = vec![(":reference".to_owned(), text)];
        let condition = match (self.engine, self.held(&self.look.reference)) {
            // A value of SQLite is of its own type, whatever its column says: the same digits as a number, or as bytes.
            (Engine::Sqlite, _) => {
                values.push((":bytes".to_owned(), Cell::blob(reference.as_bytes().to_vec())));
                let mut places = vec![":reference", ":bytes"];
                if let Some(number) = whole(reference) {
                    values.push((":number".to_owned(), Cell::Integer(number)));
                    places.push(":number");
                }
                format!("{column} IN ({})", places.join(", "))
            }
            // As a number: MySQL would compare a text with a number as two floating-point numbers.
            (Engine::Mysql | Engine::Postgres, Held::Integer) => {
                let number = whole(reference).ok_or_else(|| {
                    question("the reference is no whole number, and its column holds nothing else".to_owned())
                })?;
                values = vec![(":reference".to_owned(), Cell::Integer(number))];
                format!("{column} = :reference")
            }
            (Engine::Mysql | Engine::Postgres, _) => format!("{column} = :reference"),
        };
        let sql = format!(
            "SELECT {} FROM {} WHERE {condition} LIMIT {}",
            self.selection(),
            self.from(),
            rows_max.saturating_add(1)
        );
        Ok(Query { sql, values })
    }

    /// The rows that carry nearly this reference, in another case or with blanks around it: what the database tells apart
    /// exactly may be ours all the same, changed on the way. `None` where a column cannot hold such a one.
    pub(super) fn nearly(&self, reference: &str, rows_max: usize) -> Option<Query> {
        if self.held(&self.look.reference) == Held::Integer {
            return None;
        }
        let column = self.quoted(&self.look.reference);
        let folded = |text: &str| match self.engine {
            Engine::Sqlite => format!("lower(trim(CAST({text} AS TEXT), char(32, 9, 10, 13)))"),
            Engine::Postgres => format!("lower(btrim(({text})::text, E' \\t\\n\\r'))"),
            Engine::Mysql => format!("LOWER(TRIM({text}))"),
        };
        let sql = format!(
            "SELECT {} FROM {} WHERE {} = {} LIMIT {}",
            self.selection(),
            self.from(),
            folded(&column),
            folded(":reference"),
            rows_max.saturating_add(1)
        );
        let values = vec![(":reference".to_owned(), Cell::text(reference))];
        Some(Query { sql, values })
    }

    fn check_reference(&self, reference: &str) -> Result<(), Fault> {
        if reference.trim().is_empty() {
            return Err(question("the reference is empty".to_owned()));
        }
        if reference.len() > SQL_REFERENCE_BYTES_MAX {
            return Err(question(format!("the reference is longer than {SQL_REFERENCE_BYTES_MAX} bytes")));
        }
        if reference.contains('\0') && self.engine != Engine::Sqlite {
            return Err(question("the reference has a NUL, which no text of the database keeps".to_owned()));
        }
        let column = self.facts.column(&self.look.reference).map(|column| &*column.name);
        let of_column = self.facts.chars_max.iter().find(|(name, _)| Some(name.as_str()) == column);
        let chars_max = [self.look.reference_chars_max, of_column.map(|(_, chars_max)| *chars_max)];
        match chars_max.into_iter().flatten().min() {
            Some(chars_max) if reference.chars().count() > chars_max => Err(question(format!(
                "the reference is longer than the {chars_max} characters that its column keeps"
            ))),
            _ => Ok(()),
        }
    }

    /// Any row with a reference: a table without one proves nothing.
    pub(super) fn any(&self) -> String {
        let column = self.quoted(&self.look.reference);
        format!(
            "SELECT {} FROM {} WHERE {column} IS NOT NULL LIMIT 1",
            self.read(Some(&self.look.reference)),
            self.from()
        )
    }

    /// Every row that is not surely older than a window's beginning.
    pub(super) fn listed(&self, from: Option<DateTime<Utc>>, rows_max: usize) -> String {
        let time = self.look.time.as_ref();
        let in_window = time.zip(from).and_then(|(time, from)| {
            older_sql(self.engine, self.held(&time.column), &self.quoted(&time.column), time, from)
        });
        let condition = in_window.map(|condition| format!(" WHERE {condition}")).unwrap_or_default();
        format!(
            "SELECT {} FROM {}{condition} LIMIT {}",
            self.selection(),
            self.from(),
            rows_max.saturating_add(1)
        )
    }

    /// The statuses there are and how many rows have each; `None` where no column tells it.
    pub(super) fn statuses(&self) -> Option<String> {
        let StatusColumn::Column(column) = &self.look.status else { return None };
        let count = if self.engine == Engine::Postgres { "count(*)::text" } else { "count(*)" };
        Some(format!(
            "SELECT {}, {count} FROM {} GROUP BY 1 ORDER BY count(*) DESC LIMIT {STATUSES_MAX}",
            self.read(Some(column)),
            self.from()
        ))
    }
}

/// A whole number that is written as a database would write it.
fn whole(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|number| number.to_string() == text)
}

fn question(sentence: String) -> Fault {
    Fault::new(FaultKind::Question, sentence)
}

fn shape(sentence: String) -> Fault {
    Fault::new(FaultKind::Shape, sentence)
}
