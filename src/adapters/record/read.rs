//! The questions that the workflow asks the audit. Their SQL is the same for every engine: what is asked stands here once.

use super::fault;
use crate::domain::audit::{Entry, Subject};
use crate::domain::proposal::IdEnding;
use crate::ports::record::RecordFault;
use rusqlite::{Connection, Params, Row, params};
use std::path::Path;
use uuid::Uuid;

/// An entry's columns, in the order of [`entry_of`].
pub(super) const COLUMNS: &str = "seq, at, event, decision, source, key, operator, origin, body, prev, hash";

/// The entry in a row of [`COLUMNS`].
pub(super) fn entry_of(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        seq: row.get(0)?,
        at: row.get(1)?,
        event: row.get(2)?,
        decision: row.get(3)?,
        source: row.get(4)?,
        key: row.get(5)?,
        operator: row.get(6)?,
        origin: row.get(7)?,
        body: row.get(8)?,
        prev: row.get(9)?,
        hash: row.get(10)?,
    })
}

/// Intents without an outcome of the same decision, the oldest first.
pub(super) fn unfinished(path: &Path, connection: &mut Connection) -> Result<Vec<Entry>, RecordFault> {
    entries(path, connection, &asked_for_unfinished(), [])
}

pub(super) fn asked_for_unfinished() -> String {
    format!(
        "SELECT {COLUMNS} FROM entries AS intent WHERE event = 'intended' AND NOT EXISTS (
           SELECT 1 FROM entries AS outcome
           WHERE outcome.decision <> '' AND outcome.decision = intent.decision
             AND outcome.event IN ('applied', 'refused', 'failed'))
         ORDER BY seq"
    )
}

/// Every entry of one decision, in order.
pub(super) fn of_decision(
    path: &Path,
    connection: &Connection,
    decision: Uuid,
) -> Result<Vec<Entry>, RecordFault> {
    entries(path, connection, &asked_for_decision(), [decision.to_string()])
}

pub(super) fn asked_for_decision() -> String {
    format!("SELECT {COLUMNS} FROM entries WHERE decision <> '' AND decision = ?1 ORDER BY seq")
}

/// What makes an entry one of an item ([`Subject::is_of`]): its source ?1, its key ?2, its table ?3 or NULL. A body that is
/// no JSON any more is told by `verify`, and is no reason to find nothing.
pub(super) const ON_ITEM: &str =
    "key = ?2 AND (source = ?1 OR iif(json_valid(body), body ->> '$.table', NULL) = ?3)";

/// The newest entries of one item.
pub(super) fn of_item(
    path: &Path,
    connection: &mut Connection,
    subject: &Subject,
    entries_max: usize,
) -> Result<Vec<Entry>, RecordFault> {
    entries(
        path,
        connection,
        &asked_for_item(),
        params![subject.source, subject.key, subject.table, limit(entries_max)],
    )
}

pub(super) fn asked_for_item() -> String {
    format!("SELECT {COLUMNS} FROM entries WHERE {ON_ITEM} ORDER BY seq DESC LIMIT ?4")
}

/// The newest entries of decisions on one item that came to an intent.
pub(super) fn intended_on(
    path: &Path,
    connection: &mut Connection,
    subject: &Subject,
    entries_max: usize,
) -> Result<Vec<Entry>, RecordFault> {
    entries(
        path,
        connection,
        &asked_for_intended(),
        params![subject.source, subject.key, subject.table, limit(entries_max)],
    )
}

pub(super) fn asked_for_intended() -> String {
    format!(
        "SELECT {COLUMNS} FROM entries WHERE {ON_ITEM} AND decision IN (
             SELECT decision FROM entries WHERE {ON_ITEM} AND event = 'intended')
         ORDER BY seq DESC LIMIT ?4"
    )
}

/// The outcomes of decisions that were carried out and tell of an escalation. The text decides here only what is not looked
/// at: whether it is one is read from the entry itself.
pub(super) fn escalated(
    path: &Path,
    connection: &mut Connection,
    entries_max: usize,
) -> Result<Vec<Entry>, RecordFault> {
    entries(path, connection, &asked_for_escalated(), [limit(entries_max)])
}

pub(super) fn asked_for_escalated() -> String {
    let columns: Vec<String> = COLUMNS.split(", ").map(|column| format!("outcome.{column}")).collect();
    format!(
        "SELECT {} FROM entries AS intent JOIN entries AS outcome
           ON outcome.decision <> '' AND outcome.decision = intent.decision AND outcome.event = 'applied'
         WHERE intent.event = 'intended' AND outcome.body LIKE '%\"choice\":\"escalate\"%'
         ORDER BY intent.seq DESC LIMIT ?1",
        columns.join(", ")
    )
}

/// What makes an entry a proposal that waits.
pub(super) const WAITS: &str = "event = 'proposed' AND NOT EXISTS (
    SELECT 1 FROM entries AS closing
    WHERE closing.decision <> '' AND closing.decision = proposal.decision
      AND closing.event IN ('intended', 'withdrawn', 'lapsed'))";

/// Proposals that wait, the oldest first.
pub(super) fn waiting(
    path: &Path,
    connection: &mut Connection,
    after: i64,
    entries_max: usize,
) -> Result<Vec<Entry>, RecordFault> {
    entries(path, connection, &asked_for_waiting(), params![after, limit(entries_max)])
}

pub(super) fn asked_for_waiting() -> String {
    format!("SELECT {COLUMNS} FROM entries AS proposal WHERE {WAITS} AND seq > ?1 ORDER BY seq LIMIT ?2")
}

/// Proposals that wait on one item, the oldest first.
pub(super) fn waiting_on(
    path: &Path,
    connection: &mut Connection,
    subject: &Subject,
) -> Result<Vec<Entry>, RecordFault> {
    entries(path, connection, &asked_for_waiting_on(), params![subject.source, subject.key, subject.table])
}

pub(super) fn asked_for_waiting_on() -> String {
    format!("SELECT {COLUMNS} FROM entries AS proposal WHERE {ON_ITEM} AND {WAITS} ORDER BY seq")
}

/// Proposals, waiting or not, whose decision's id ends so, the newest first.
pub(super) fn proposals_ending(
    path: &Path,
    connection: &mut Connection,
    ending: &IdEnding,
    entries_max: usize,
) -> Result<Vec<Entry>, RecordFault> {
    entries(path, connection, &asked_for_ending(), params![ending.as_str(), limit(entries_max)])
}

pub(super) fn asked_for_ending() -> String {
    format!(
        "SELECT {COLUMNS} FROM entries WHERE event = 'proposed' AND replace(decision, '-', '') LIKE '%' || ?1
         ORDER BY seq DESC LIMIT ?2"
    )
}

/// The newest entries before a number, or of all.
pub(super) fn page(
    path: &Path,
    connection: &mut Connection,
    before: Option<i64>,
    entries_max: usize,
) -> Result<Vec<Entry>, RecordFault> {
    entries(path, connection, &asked_for_page(), params![before.unwrap_or(i64::MAX), limit(entries_max)])
}

pub(super) fn asked_for_page() -> String {
    format!("SELECT {COLUMNS} FROM entries WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2")
}

fn entries(
    path: &Path,
    connection: &Connection,
    asked: &str,
    parameters: impl Params,
) -> Result<Vec<Entry>, RecordFault> {
    let read = || -> rusqlite::Result<Vec<Entry>> {
        connection.prepare_cached(asked)?.query_map(parameters, entry_of)?.collect()
    };
    read().map_err(|fault| fault::of_sql(path, &fault))
}

pub(super) fn limit(entries_max: usize) -> i64 {
    i64::try_from(entries_max).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::record::schema::{LATER, TABLES};
    use pretty_assertions::assert_eq;

    fn plan_of(asked: &str) -> String {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(TABLES).unwrap();
        for (_, made) in LATER {
            connection.execute_batch(made).unwrap();
        }
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {asked}")).unwrap();
        let given = vec!["1"; statement.parameter_count()];
        let steps = statement.query_map(rusqlite::params_from_iter(given), |row| row.get(3)).unwrap();
        steps.collect::<Result<Vec<String>, _>>().unwrap().join("; ")
    }

    /// What is asked at each start and for each item that is opened never walks over all entries.
    #[test]
    fn questions_are_answered_from_indexes() {
        let unfinished = "SCAN intent USING INDEX entries_intended; CORRELATED SCALAR SUBQUERY 1; \
             SEARCH outcome USING COVERING INDEX entries_of_decision (decision=? AND event=?)";
        assert_eq!(plan_of(&asked_for_unfinished()), unfinished);
        assert!(
            !plan_of(&asked_for_intended()).contains("SCAN entries"),
            "{}",
            plan_of(&asked_for_intended())
        );
        let escalated = "SCAN intent USING INDEX entries_intended; \
             SEARCH outcome USING INDEX entries_of_decision (decision=? AND event=?)";
        assert_eq!(plan_of(&asked_for_escalated()), escalated);
        assert_eq!(plan_of(&asked_for_item()), "SEARCH entries USING INDEX entries_of_key (key=?)");
    }
}
