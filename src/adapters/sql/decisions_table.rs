//! A table of ours beside the jobs: each decision's id, written in the decision's own transaction. After a crash it tells
//! for certain what was carried out. It is never made by the console: whoever owns the database makes it.

use super::spell::quoted;
use crate::domain::cell::Cell;
use crate::domain::decision::Choice;
use crate::ports::source::{Change, PlannedStatement, Rows};
use crate::preset::source::Engine;

/// The columns, each with its declaration. A key has a length: MySQL wants one.
const COLUMNS: [(&str, &str); 5] = [
    ("decision", "VARCHAR(36) NOT NULL PRIMARY KEY"),
    ("item", "TEXT NOT NULL"),
    ("choice", "TEXT NOT NULL"),
    ("operator", "TEXT NOT NULL"),
    ("decided_at", "TEXT NOT NULL"),
];

/// The statement that makes the table.
pub fn create_sql(engine: Engine, table: &str) -> String {
    let columns: Vec<String> = COLUMNS.iter().map(|(name, declared)| format!("{name} {declared}")).collect();
    format!("CREATE TABLE {} ({})", quoted(engine, table), columns.join(", "))
}

/// The statement that writes a decision down. Its key makes a second run of the same decision impossible.
pub fn insert(engine: Engine, table: &str, choice: Choice, change: &Change) -> PlannedStatement {
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
    let sql = format!("INSERT INTO {} ({into}) VALUES ({from})", quoted(engine, table));
    let parameters = places.into_iter().zip(values.map(Cell::text)).collect();
    PlannedStatement { sql, parameters, rows: Rows::exactly(1), why: None }
}

/// What is wrong with a table that should take decisions, and what to do; `None` where it is as it must be. `columns` are
/// those it has.
pub fn fault(engine: Engine, table: &str, columns: &[&str]) -> Option<(String, String)> {
    if COLUMNS.iter().all(|(name, _)| columns.contains(name)) {
        return None;
    }
    let shown = crate::domain::text::clean(table);
    let what = if columns.is_empty() {
        format!("has no table `{shown}` to write decisions down in")
    } else {
        format!("has a table `{shown}` that is not made to write decisions down in")
    };
    Some((what, format!("Make it with `{}`, or take `decisions_table` out.", create_sql(engine, table))))
}

/// The query that tells whether a decision (`:k1`) was written down.
pub fn has_sql(engine: Engine, table: &str) -> String {
    format!("SELECT count(*) FROM {} WHERE decision = :k1", quoted(engine, table))
}
