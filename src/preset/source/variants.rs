//! Which shape a job system's tables have: told by the database's own catalogue, never guessed from rows.

use super::{Mapping, SourcePreset};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A kind of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
}

impl Engine {
    /// Every engine.
    pub const ALL: [Self; 3] = [Self::Sqlite, Self::Postgres, Self::Mysql];

    /// The word as presets spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MySQL",
        })
    }
}

/// How a job system is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detect {
    /// A table's name.
    pub table: String,
    /// Columns it must have.
    pub columns: Vec<String>,
}

/// One thing that a database's catalogue must show, or must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The table.
    pub table: String,
    /// A column of it; `None` for the table itself.
    pub column: Option<String>,
    /// The types that the column may have, in the database's own words; empty for any.
    pub types: Vec<String>,
    /// Whether it must be there, or must not.
    pub is_there: bool,
}

impl Need {
    /// Reads `table`, `table.column` or `table.column: type | type`.
    ///
    /// # Errors
    /// A sentence saying how it is written.
    pub fn parse(text: &str, is_there: bool) -> Result<Self, String> {
        let odd = || format!("`{text}` must be \"table\", \"table.column\" or \"table.column: type | type\"");
        let (place, types) = match text.split_once(':') {
            Some((place, types)) => {
                let types: Vec<String> = types.split('|').map(|one| one.trim().to_lowercase()).collect();
                (place.trim(), types)
            }
            None => (text.trim(), Vec::new()),
        };
        let (table, column) = match place.split_once('.') {
            Some((table, column)) => (table, Some(column.to_owned())),
            None => (place, None),
        };
        let is_sound = !table.is_empty()
            && column.as_ref().is_none_or(|column| !column.is_empty())
            && types.iter().all(|one| !one.is_empty())
            && (types.is_empty() || column.is_some());
        if is_sound { Ok(Self { table: table.to_owned(), column, types, is_there }) } else { Err(odd()) }
    }

    fn holds(&self, tables: &[Table]) -> bool {
        let table = tables.iter().find(|table| table.name.eq_ignore_ascii_case(&self.table));
        let is_there = match (&self.column, table) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(column), Some(table)) => table.type_of(column).is_some_and(|has| {
                self.types.is_empty() || self.types.iter().any(|wanted| has.eq_ignore_ascii_case(wanted))
            }),
        };
        is_there == self.is_there
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_there {
            f.write_str("no ")?;
        }
        match &self.column {
            None => write!(f, "table `{}`", self.table)?,
            Some(column) => write!(f, "column `{}.{column}`", self.table)?,
        }
        if self.types.is_empty() { Ok(()) } else { write!(f, " of type {}", self.types.join(" or ")) }
    }
}

/// A table or view with its columns, as a database's catalogue tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The schema it is in; empty where the engine has none.
    pub schema: String,
    /// Whether it is found by its name alone.
    pub is_first: bool,
    /// Its name.
    pub name: String,
    /// Its columns and their types in the database's own words, in order.
    pub columns: Vec<(String, String)>,
}

impl Table {
    /// The type of a column; `None` where there is no such column.
    pub fn type_of(&self, column: &str) -> Option<&str> {
        let known = self.columns.iter().find(|(name, _)| name.eq_ignore_ascii_case(column));
        known.map(|(_, declared)| declared.as_str())
    }

    /// Whether it is where a preset looks: in its schema, or where the connection looks first.
    pub fn is_in(&self, schema: Option<&str>) -> bool {
        match schema {
            Some(schema) if !self.schema.is_empty() => self.schema == schema,
            _ => self.is_first,
        }
    }
}

/// What looking for the shape of a job system came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Look<'a> {
    /// This one.
    Found(&'a Arc<Mapping>),
    /// The preset knows none for this engine.
    OtherEngine,
    /// The catalogue shows none of those that the preset knows; what each of them misses.
    Unknown(Vec<String>),
}

impl SourcePreset {
    /// Whether a database has this job system.
    pub fn is_in(&self, engine: Engine, tables: &[Table]) -> bool {
        let has_engine = self.variants.iter().any(|variant| variant.engines.contains(&engine));
        has_engine && self.has_tables(tables)
    }

    /// Whether a database has the tables that the job system is recognised by, also where it cannot be read.
    pub fn has_tables(&self, tables: &[Table]) -> bool {
        let schema = self.variants.iter().find_map(|variant| variant.schema.as_deref());
        self.detect.as_ref().is_some_and(|detect| {
            tables.iter().any(|table| {
                table.is_in(schema)
                    && table.name.eq_ignore_ascii_case(&detect.table)
                    && detect.columns.iter().all(|wanted| table.type_of(wanted).is_some())
            })
        })
    }

    /// The names of all tables that must be looked at to choose a shape.
    pub fn tables(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .variants
            .iter()
            .flat_map(|variant| variant.needs.iter().map(|need| need.table.as_str()).chain([&*variant.table]))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The shape that fits what the catalogue shows. `tables` are those of [`SourcePreset::tables`] that there are.
    pub fn variant_for(&self, engine: Engine, tables: &[Table]) -> Look<'_> {
        let mut misses = Vec::new();
        for variant in self.variants.iter().filter(|variant| variant.engines.contains(&engine)) {
            match variant.needs.iter().find(|need| !need.holds(tables)) {
                None => return Look::Found(variant),
                Some(need) if variant.variant.is_empty() => misses.push(need.to_string()),
                Some(need) => misses.push(format!("{}: {need}", variant.variant)),
            }
        }
        if misses.is_empty() { Look::OtherEngine } else { Look::Unknown(misses) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, columns: &[(&str, &str)]) -> Table {
        let columns = columns.iter().map(|(name, of)| ((*name).to_owned(), (*of).to_owned())).collect();
        Table { schema: String::new(), is_first: true, name: name.to_owned(), columns }
    }

    #[test]
    fn a_need_is_met_by_table_column_and_type() {
        let tables = [table("jobs", &[("errors", "jsonb[]")])];
        let holds = |text: &str, is_there| Need::parse(text, is_there).unwrap().holds(&tables);
        assert!(holds("jobs", true) && !holds("jobs", false));
        assert!(holds("other", false) && !holds("other", true));
        assert!(holds("jobs.errors", true) && !holds("jobs.other", true));
        assert!(holds("jobs.errors: jsonb | jsonb[]", true) && !holds("jobs.errors: jsonb", true));
    }

    #[test]
    fn a_need_that_is_written_wrongly_is_told() {
        for text in ["", "jobs.", ".x", "jobs: text", "jobs.x:", "jobs.x: a |"] {
            assert!(Need::parse(text, true).is_err(), "{text}");
        }
    }
}
