//! Writing a decision: compare and set, in one transaction.

use super::Inner;
use super::cells::bindable;
use super::query::{check_decisions_table, look, read_row};
use crate::adapters::sql::{Sql, is_as_seen, plan};
use crate::domain::decision::Choice;
use crate::ports::source::{Applied, Change, PlannedStatement, SourceFault, SourceFaultKind};
use crate::preset::source::Engine;
use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Carries out a choice. Blocking.
pub(super) fn apply(inner: &Inner, choice: Choice, change: &Change) -> Result<Applied, SourceFault> {
    let mut connection = inner.place.open_to_write()?;
    let picked = look(inner, &connection)?;
    let sql = picked.sql(Engine::Sqlite);
    let planned = plan(&sql, choice, change).map_err(|unsupported| {
        inner.place.fault_of(SourceFaultKind::Mismatch, &unsupported.0, "Escalate it, or see the preset.")
    })?;
    if let Some(table) = &picked.mapping.decisions_table {
        check_decisions_table(inner, &connection, table)?;
    }
    let written = write(&sql, &mut connection, change, &planned);
    written.map_err(|(fault, committing)| SourceFault {
        may_have_written: committing && !is_surely_unwritten(&fault),
        ..inner.place.fault(&fault)
    })
}

/// A commit that found the file locked or full, or a row that others still refer to, wrote nothing; of other faults one
/// cannot be sure.
fn is_surely_unwritten(fault: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{ConstraintViolation, DatabaseBusy, DatabaseLocked, DiskFull, ReadOnly};
    let code = fault.sqlite_error_code();
    matches!(code, Some(ConstraintViolation | DatabaseBusy | DatabaseLocked | DiskFull | ReadOnly))
}

/// The error of SQLite, and whether it came from the commit itself.
type WriteFault = (rusqlite::Error, bool);

fn write(
    sql: &Sql<'_>,
    connection: &mut Connection,
    change: &Change,
    planned: &[PlannedStatement],
) -> Result<Applied, WriteFault> {
    let before_commit = |fault| (fault, false);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(before_commit)?;
    let parts = &change.key.parts;
    let before = read_row(sql, &transaction, parts).map_err(before_commit)?;
    // Compared here value by value, and again by the statement itself: a collation that calls `A` and `a` the same
    // would satisfy the one, never the other.
    let before = match before {
        Some(row) if is_as_seen(sql.mapping, &row, &change.seen) => row,
        changed => return Ok(Applied::Changed(changed)),
    };
    for (at, statement) in planned.iter().enumerate() {
        let found = run(&transaction, statement).map_err(before_commit)?;
        if !statement.rows.fits(found) {
            return Ok(Applied::WrongCount { statement: at + 1, expected: statement.rows, found });
        }
    }
    let after = read_row(sql, &transaction, parts).map_err(before_commit)?;
    transaction.commit().map_err(|fault| (fault, true))?;
    Ok(Applied::Written { before, after })
}

fn run(transaction: &Transaction<'_>, planned: &PlannedStatement) -> rusqlite::Result<u64> {
    let mut statement = transaction.prepare(&planned.sql)?;
    for (name, value) in &planned.parameters {
        if let Some(at) = statement.parameter_index(name)? {
            statement.raw_bind_parameter(at, bindable(value))?;
        }
    }
    // A query's rows stand for the count: it may look for a lock, or call a function.
    if statement.column_count() > 0 {
        let mut rows = statement.raw_query();
        let mut found = 0;
        while rows.next()?.is_some() {
            found += 1;
        }
        return Ok(found);
    }
    let changed = statement.raw_execute()?;
    Ok(u64::try_from(changed).unwrap_or(u64::MAX))
}
