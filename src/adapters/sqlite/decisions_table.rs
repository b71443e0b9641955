//! A table of ours beside the jobs: each decision's id, written in the decision's own transaction. After a crash it tells
//! for certain what was carried out. It is never made by the console: whoever owns the database makes it.

use super::detect::columns_of;
use super::fault::{fault_of, fault_of_sql};
use super::query::quoted;
use super::{Inner, rows};
use crate::domain::cell::Cell;
use crate::domain::decision::Choice;
use crate::ports::source::{Change, PlannedStatement, SourceFault, SourceFaultKind};
use rusqlite::Connection;
use uuid::Uuid;

/// The columns, each with its declaration.
const COLUMNS: [(&str, &str); 5] = [
    ("decision", "TEXT NOT NULL PRIMARY KEY"),
    ("item", "TEXT NOT NULL"),
    ("choice", "TEXT NOT NULL"),
    ("operator", "TEXT NOT NULL"),
    ("decided_at", "TEXT NOT NULL"),
];

/// The statement that makes the table.
pub(super) fn create_sql(table: &str) -> String {
    let columns: Vec<String> = COLUMNS.iter().map(|(name, declared)| format!("{name} {declared}")).collect();
    format!("CREATE TABLE {} ({})", quoted(table), columns.join(", "))
}

/// The statement that writes a decision down. Its key makes a second run of the same decision impossible.
pub(super) fn insert(table: &str, choice: Choice, change: &Change) -> PlannedStatement {
    let values = [
        change.decision.to_string(),
        change.key.as_str().to_owned(),
        choice.as_str().to_owned(),
        change.operator.to_string(),
        crate::domain::moment::stamp(change.now),
    ];
    let columns = COLUMNS.map(|(name, _)| name);
    let places = columns.map(|name| format!("{}{name}", PlannedStatement::KEPT));
    let (into, from) = (columns.join(", "), places.join(", "));
    let sql = format!("INSERT INTO {} ({into}) VALUES ({from})", quoted(table));
    let parameters = places.into_iter().zip(values.map(Cell::Text)).collect();
    PlannedStatement { sql, parameters, rows: 1 }
}

/// Makes sure that the table is there with its columns.
pub(super) fn check(inner: &Inner, connection: &Connection, table: &str) -> Result<(), SourceFault> {
    let path = inner.place.path();
    let there = columns_of(connection, table).map_err(|fault| fault_of_sql(path, &fault))?;
    let is_whole = COLUMNS.iter().all(|(name, _)| there.iter().any(|(known, _)| known == name));
    if is_whole {
        return Ok(());
    }
    let shown = crate::domain::text::clean(table);
    let what = if there.is_empty() {
        format!("has no table `{shown}` to write decisions down in")
    } else {
        format!("has a table `{shown}` that is not made to write decisions down in")
    };
    let do_next = format!("Make it with `{}`, or take `decisions_table` out.", create_sql(table));
    Err(fault_of(path, SourceFaultKind::Mismatch, &what, &do_next))
}

/// Whether a decision was written down.
pub(super) fn has(
    inner: &Inner,
    connection: &Connection,
    decision: Uuid,
) -> Result<Option<bool>, SourceFault> {
    let Some(table) = &inner.preset.decisions_table else { return Ok(None) };
    check(inner, connection, table)?;
    let sql = format!("SELECT EXISTS (SELECT 1 FROM {} WHERE decision = ?1)", quoted(table));
    let id = Cell::Text(decision.to_string());
    let found = connection.query_row(&sql, [rows::bindable(&id)], |row| row.get(0));
    found.map(Some).map_err(|fault| fault_of_sql(inner.place.path(), &fault))
}
