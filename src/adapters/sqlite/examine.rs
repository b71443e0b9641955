//! What `doctor` looks at in a SQLite source.

use super::Inner;
use super::cells::cell_of;
use super::detect::{columns_of, tables_of};
use super::query::{check_decisions_table, clock_of, look, scan};
use crate::adapters::sql::{Picked, state_of};
use crate::domain::item::State;
use crate::domain::text::clean_cut;
use crate::ports::source::{Examined, Health, SourceFault, SourceFaultKind, Wanted};
use crate::preset::source::Engine;
use rusqlite::Connection;
use std::sync::Arc;

/// How many different statuses are listed.
const STATUSES_MAX: usize = 30;

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
            lines.push(tables_line(inner));
            return lines;
        }
    };
    lines.push(columns_line(&picked, &connection));
    lines.push(statuses_line(&picked, &connection));
    lines.push(findings_line(inner, &connection));
    lines.push(writing_line(inner, &picked));
    lines.extend(picked.mapping.decisions_table.as_ref().map(|table| {
        match check_decisions_table(inner, &connection, table) {
            Ok(()) => good("decisions table", format!("`{}` is there", clean_cut(table, 80))),
            Err(fault) => bad("decisions table", &fault),
        }
    }));
    lines.push(match clock_of(&connection) {
        Ok(_) => good("clock", "this machine's own".to_owned()),
        Err(fault) => doubtful("clock", fault.to_string()),
    });
    lines
}

fn good(what: &str, finding: String) -> Examined {
    Examined { what: what.to_owned(), health: Health::Good, finding }
}

fn doubtful(what: &str, finding: String) -> Examined {
    Examined { what: what.to_owned(), health: Health::Doubtful, finding }
}

fn bad(what: &str, fault: &SourceFault) -> Examined {
    let health = match fault.kind {
        SourceFaultKind::Unreachable | SourceFaultKind::Busy => Health::Unreachable,
        SourceFaultKind::Mismatch | SourceFaultKind::Broken | SourceFaultKind::Interrupted => Health::Bad,
    };
    Examined { what: what.to_owned(), health, finding: format!("{}. {}", fault.what, fault.do_next) }
}

fn tables_line(inner: &Inner) -> Examined {
    let tables = tables_of(inner.place.path()).unwrap_or_default();
    let names: Vec<String> = tables
        .iter()
        .map(|table| {
            let columns: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
            clean_cut(&format!("{}({})", table.name, columns.join(", ")), 200)
        })
        .collect();
    let told = if names.is_empty() { "no tables at all".to_owned() } else { names.join("; ") };
    Examined { what: "tables there are".to_owned(), health: Health::Doubtful, finding: told }
}

fn columns_line(picked: &Picked, connection: &Connection) -> Examined {
    let columns = columns_of(connection, &picked.mapping.table).unwrap_or_default();
    let names: Vec<String> =
        columns.iter().map(|(name, declared)| format!("{name} {declared}").trim().to_owned()).collect();
    good("table", clean_cut(&format!("{}({})", picked.mapping.table, names.join(", ")), 300))
}

/// A status that no rule names is never listed as a finding: somebody must know that it is there.
fn statuses_line(picked: &Picked, connection: &Connection) -> Examined {
    let sql = picked.sql(Engine::Sqlite);
    let (status, table, state) = (sql.quoted(&picked.mapping.status), sql.from(), sql.state());
    let sql = format!(
        "SELECT {status}, {state}, count(*) FROM {table} GROUP BY 1, 2 ORDER BY 3 DESC LIMIT {STATUSES_MAX}"
    );
    let read = || -> rusqlite::Result<Vec<(String, Option<State>, i64)>> {
        let mut statement = connection.prepare(&sql)?;
        let rows = statement.query_map([], |row| {
            let native = clean_cut(&cell_of(row.get_ref(0)?).shown(), 40);
            Ok((native, state_of(&cell_of(row.get_ref(1)?)), row.get(2)?))
        })?;
        rows.collect()
    };
    match read() {
        Err(fault) => doubtful("statuses", clean_cut(&fault.to_string(), 200)),
        Ok(found) => {
            let is_whole = found.iter().all(|(_, state, _)| state.is_some());
            let told: Vec<String> = found
                .iter()
                .map(|(native, state, count)| match state {
                    Some(state) => format!("`{native}` = {state} ({count})"),
                    None => format!("`{native}` = NOT IN THE PRESET ({count})"),
                })
                .collect();
            let told = if told.is_empty() { "the table is empty".to_owned() } else { told.join(", ") };
            if is_whole { good("statuses", told) } else { doubtful("statuses", told) }
        }
    }
}

fn findings_line(inner: &Inner, connection: &Connection) -> Examined {
    let wanted = Wanted { running_older_than: chrono::TimeDelta::zero(), page_items_max: 1_000 };
    match scan(inner, connection, &wanted, None) {
        Err(fault) => bad("times", &fault),
        Ok(page) => {
            let odd = page.items.iter().find_map(|item| {
                let times = [&item.times.created, &item.times.started, &item.times.updated];
                times.into_iter().find(|reading| reading.known().is_none() && !reading.is_missing()).cloned()
            });
            match odd {
                Some(reading) => {
                    doubtful("times", format!("some cannot be read for certain, such as {reading}"))
                }
                None => good("times", format!("{} candidates looked at, all readable", page.items.len())),
            }
        }
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
