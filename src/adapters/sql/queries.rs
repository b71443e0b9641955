//! The queries of a source, whole: a page of a scan, one item, its row.

use super::key;
use super::spell::Sql;
use crate::domain::cell::Cell;
use crate::ports::source::Wanted;
use crate::preset::source::Engine;
use chrono::{DateTime, Utc};

impl Sql<'_> {
    /// So many candidates in the order of their keys, on a server. With a key to go on from, that has so many parts, called
    /// `:k1`, `:k2`…
    pub fn page(&self, wanted: &Wanted, now: DateTime<Utc>, after_parts: usize, rows_max: usize) -> String {
        let key = self.sorted_key();
        let after = if after_parts == 0 { String::new() } else { format!("({}) AND ", self.after(&key)) };
        let whole: Vec<String> = key.iter().map(|column| format!("{column} IS NOT NULL")).collect();
        format!(
            "{} AND {after}{} ORDER BY {} LIMIT {rows_max}",
            self.candidates_where(&whole.join(" AND ")),
            self.may_be_findings(wanted, now),
            key.join(", "),
        )
    }

    /// The candidates whose key the database calls equal to one (`:k1`, `:k2`…): a collation that minds no case sorts both
    /// `a` and `A` there, and a page must not end between them.
    pub fn ties(&self, wanted: &Wanted, now: DateTime<Utc>) -> String {
        let key = self.sorted_key().into_iter().enumerate();
        let same: Vec<String> = key.map(|(at, column)| format!("{column} = :k{}", at + 1)).collect();
        format!("{} AND {}", self.candidates_where(&same.join(" AND ")), self.may_be_findings(wanted, now))
    }

    /// The candidates with a NULL in their key: nothing lies before or behind them, so they are read at once, at the end.
    /// `None` where there can be none.
    pub fn keyless(&self, wanted: &Wanted, now: DateTime<Utc>) -> Option<String> {
        let may_be_null = self.mapping.key.iter().filter(|column| self.may_be_null(column));
        let nothing: Vec<String> =
            may_be_null.map(|column| format!("{} IS NULL", self.quoted(column))).collect();
        let condition = format!("({})", nothing.join(" OR "));
        let query =
            || format!("{} AND {}", self.candidates_where(&condition), self.may_be_findings(wanted, now));
        (!nothing.is_empty()).then(query)
    }

    fn sorted_key(&self) -> Vec<String> {
        self.mapping.key.iter().map(|column| self.sorted(column)).collect()
    }

    fn candidates_where(&self, condition: &str) -> String {
        format!("SELECT {} FROM {} WHERE {condition}", self.selection().1, self.from())
    }

    fn may_be_findings(&self, wanted: &Wanted, now: DateTime<Utc>) -> String {
        format!("({})", self.wanted(wanted, now))
    }

    /// "Behind this key", in a form for which the engine uses an index.
    fn after(&self, key: &[String]) -> String {
        let place = |at: usize| format!(":k{}", at + 1);
        if self.engine == Engine::Postgres {
            let places: Vec<String> = (0..key.len()).map(place).collect();
            return format!("({}) > ({})", key.join(", "), places.join(", "));
        }
        let each = key.iter().enumerate().map(|(at, column)| {
            let same =
                key.iter().take(at).enumerate().map(|(at, column)| format!("{column} = {} AND ", place(at)));
            format!("({}{column} > {})", same.collect::<String>(), place(at))
        });
        each.collect::<Vec<_>>().join(" OR ")
    }

    /// One item by its key, its values as [`key::find`] names them.
    pub fn item(&self, parts: &[Cell]) -> String {
        let (_, selected) = self.selection();
        format!(
            "SELECT {selected} FROM {} WHERE {}{} LIMIT 1",
            self.from(),
            key::find(self, parts),
            key::exact_first(self, parts)
        )
    }

    /// Every column of one row but its payload.
    pub fn row(&self, parts: &[Cell]) -> String {
        let selected: Vec<String> = self.row_columns().iter().map(|name| self.read(name)).collect();
        format!(
            "SELECT {} FROM {} WHERE {}{} LIMIT 1",
            selected.join(", "),
            self.from(),
            key::find(self, parts),
            key::exact_first(self, parts)
        )
    }

    /// The statuses there are, each with its state and how many rows have it.
    pub fn statuses(&self, statuses_max: usize) -> String {
        let status = match self.engine {
            Engine::Postgres => format!("{}::text", self.quoted(&self.mapping.status)),
            Engine::Sqlite | Engine::Mysql => self.quoted(&self.mapping.status),
        };
        format!(
            "SELECT {status}, {}, count(*) FROM {} GROUP BY 1, 2 ORDER BY 3 DESC, 1 LIMIT {statuses_max}",
            self.state(),
            self.from()
        )
    }
}
