//! What `doctor` looks at in a SQLite source.

use super::Inner;
use super::cells::cell_of;
use super::detect::{columns_of, tables_of};
use super::query::{check_decisions_table, clock_of, look, scan};
use crate::adapters::sql::health::{self, STATUSES_MAX, bad, doubtful, good};
use crate::adapters::sql::{Picked, state_of};
use crate::domain::cell::Cell;
use crate::domain::item::State;
use crate::domain::text::clean_cut;
use crate::ports::source::Examined;
use crate::preset::source::Engine;
use rusqlite::Connection;
use std::sync::Arc;

/// Looks at file, table, statuses and times. Blocking.
pub(super) fn examine(inner: &Inner) -> Vec<Examined> {
    let mut lines = Vec::new();
    let connection = match inner.place.open_to_read(Arc::default()) {
        Ok(connection) => connection,
        Err(fault) => return vec![bad("file", &fault)],
    };
    lines.push(good("file", format!("{} can be read", inner.place.path().display())));
    let picked = match look(inner, &connection) {
        Ok(picked) => picked,
        Err(fault) => {
            lines.push(bad("table", &fault));
            lines.push(health::tables(&tables_of(inner.place.path()).unwrap_or_default()));
            return lines;
        }
    };
    let columns = columns_of(&connection, &picked.mapping.table).unwrap_or_default();
    lines.push(health::columns(&picked.mapping.table, &columns));
    lines.extend(health::variant(&picked.mapping));
    lines.push(statuses_line(&picked, &connection));
    lines.push(times_line(inner, &connection));
    lines.push(writing_line(inner, &picked));
    if let Some(table) = &picked.mapping.decisions_table {
        lines.push(health::decisions_table(table, check_decisions_table(inner, &connection, table)));
    }
    lines.push(match clock_of(&connection) {
        Ok(_) => good("clock", "this machine's own".to_owned()),
        Err(fault) => doubtful("clock", fault.to_string()),
    });
    lines
}

fn statuses_line(picked: &Picked, connection: &Connection) -> Examined {
    let sql = picked.sql(Engine::Sqlite);
    let query = sql.statuses(STATUSES_MAX);
    let read = || -> rusqlite::Result<Vec<(Cell, Option<State>, i64)>> {
        let mut statement = connection.prepare(&query)?;
        let rows = statement.query_map([], |row| {
            Ok((cell_of(row.get_ref(0)?), state_of(&cell_of(row.get_ref(1)?)), row.get(2)?))
        })?;
        rows.collect()
    };
    match read() {
        Err(fault) => doubtful("statuses", clean_cut(&fault.to_string(), 200)),
        Ok(found) => health::statuses(&found),
    }
}

fn times_line(inner: &Inner, connection: &Connection) -> Examined {
    match scan(inner, connection, &health::candidates(), None) {
        Err(fault) => bad("times", &fault),
        Ok(page) => health::times(&page),
    }
}

fn writing_line(inner: &Inner, picked: &Picked) -> Examined {
    let is_writable = std::fs::metadata(inner.place.path()).is_ok_and(|meta| !meta.permissions().readonly());
    let late = picked.mapping.decisions.late_writer.as_str();
    if is_writable {
        good("decisions", format!("can be written; a worker that comes back late is {late}"))
    } else {
        doubtful("decisions", "the file is read-only: no decision can be written".to_owned())
    }
}
