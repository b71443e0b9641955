//! The queries of a source, whole: a page of a scan, one item, its row.

use super::key;
use super::spell::Sql;
use crate::domain::cell::Cell;
use crate::ports::source::Wanted;
use crate::preset::source::Engine;
use chrono::{DateTime, Utc};

impl Sql<'_> {
    /// One page of candidates in the order of their keys, on a server. With a key to go on from, that has so many parts,
    /// called `:k1`, `:k2`…
    pub fn page(&self, wanted: &Wanted, now: DateTime<Utc>, after_parts: usize) -> String {
        let (_, selected) = self.selection();
        let key: Vec<String> = self.mapping.key.iter().map(|column| self.quoted(column)).collect();
        let after = if after_parts == 0 { String::new() } else { format!("({}) AND ", self.after(&key)) };
        format!(
            "SELECT {selected} FROM {} WHERE {after}({}) ORDER BY {} LIMIT {}",
            self.from(),
            self.wanted(wanted, now),
            key.join(", "),
            wanted.page_items_max
        )
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
        format!("SELECT {selected} FROM {} WHERE {} LIMIT 1", self.from(), key::find(self, parts))
    }

    /// Every column of one row but its payload.
    pub fn row(&self, parts: &[Cell]) -> String {
        let selected: Vec<String> = self.row_columns().iter().map(|name| self.read(name)).collect();
        format!(
            "SELECT {} FROM {} WHERE {} LIMIT 1",
            selected.join(", "),
            self.from(),
            key::find(self, parts)
        )
    }

    /// The statuses there are, each with its state and how many rows have it.
    pub fn statuses(&self, statuses_max: usize) -> String {
        let status = match self.engine {
            Engine::Postgres => format!("{}::text", self.quoted(&self.mapping.status)),
            Engine::Sqlite | Engine::Mysql => self.quoted(&self.mapping.status),
        };
        format!(
            "SELECT {status}, {}, count(*) FROM {} GROUP BY 1, 2 ORDER BY 3 DESC LIMIT {statuses_max}",
            self.state(),
            self.from()
        )
    }
}
