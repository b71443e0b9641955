//! Writing a decision: compare and set, in one transaction.

use super::fault::{fault_of, fault_of_sql};
use super::query::{check_columns, quoted, read_row};
use super::rows::bindable;
use super::{Inner, decisions_table};
use crate::domain::cell::Cell;
use crate::domain::decision::Choice;
use crate::domain::item::Row;
use crate::domain::moment::write_like;
use crate::ports::source::{Applied, Change, PlannedStatement, SourceFault, SourceFaultKind, Unsupported};
use crate::preset::source::{SourcePreset, Writing, parameters_of};
use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The statements of a choice with every value spelled.
pub(super) fn plan(
    preset: &SourcePreset,
    choice: Choice,
    change: &Change,
) -> Result<Vec<PlannedStatement>, Unsupported> {
    let statements = match preset.decisions.of(choice) {
        Writing::Unsupported(reason) => return Err(Unsupported(reason.clone())),
        Writing::Statements { statements, .. } => statements,
    };
    let unchanged = unchanged_sql(preset);
    let kept = preset.decisions_table.iter().map(|table| Ok(decisions_table::insert(table, choice, change)));
    let own = statements.iter().map(|statement| {
        let sql = statement.sql.replace("{table}", &quoted(&preset.table)).replace("{unchanged}", &unchanged);
        let parameters = parameters_of(&sql)
            .into_iter()
            .map(|name| match value_of(preset, &name, change) {
                Some(value) => Ok((name, value)),
                None => Err(Unsupported(format!("the row has no column for `{name}`"))),
            })
            .collect::<Result<_, _>>()?;
        Ok(PlannedStatement { sql, parameters, rows: statement.rows })
    });
    kept.chain(own).collect()
}

/// "The row is still as it was seen": NULL-safe, on the key and every version column.
fn unchanged_sql(preset: &SourcePreset) -> String {
    let parts: Vec<String> = preset
        .key
        .iter()
        .chain(&preset.version)
        .map(|column| format!("{} IS {}", quoted(column), SourcePreset::seen_parameter(column)))
        .collect();
    format!("({})", parts.join(" AND "))
}

fn value_of(preset: &SourcePreset, parameter: &str, change: &Change) -> Option<Cell> {
    match parameter {
        ":operator" => Some(Cell::Text(change.operator.to_string())),
        ":reason" => Some(Cell::Text(change.reason.to_string())),
        ":decision" => Some(Cell::Text(change.decision.to_string())),
        ":now" => {
            let time = preset.times.written()?;
            let seen = column_of(&change.seen, &time.column)?;
            Some(write_like(seen, time.format, time.zone, change.now))
        }
        seen => change
            .seen
            .columns
            .iter()
            .find(|(name, _)| SourcePreset::seen_parameter(name) == seen)
            .map(|(_, cell)| cell.clone()),
    }
}

fn column_of<'a>(row: &'a Row, column: &str) -> Option<&'a Cell> {
    row.columns.iter().find(|(name, _)| name.eq_ignore_ascii_case(column)).map(|(_, cell)| cell)
}

/// Carries out a choice. Blocking.
pub(super) fn apply(inner: &Inner, choice: Choice, change: &Change) -> Result<Applied, SourceFault> {
    let path = inner.place.path();
    let planned = plan(&inner.preset, choice, change).map_err(|unsupported| {
        fault_of(path, SourceFaultKind::Mismatch, &unsupported.0, "Escalate it, or see the preset.")
    })?;
    let mut connection = inner.place.open_to_write()?;
    check_columns(inner, &connection)?;
    if let Some(table) = &inner.preset.decisions_table {
        decisions_table::check(inner, &connection, table)?;
    }
    let written = write(inner, &mut connection, change, &planned);
    written.map_err(|(fault, committing)| SourceFault {
        may_have_written: committing && !is_surely_unwritten(&fault),
        ..fault_of_sql(path, &fault)
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
    inner: &Inner,
    connection: &mut Connection,
    change: &Change,
    planned: &[PlannedStatement],
) -> Result<Applied, WriteFault> {
    let before_commit = |fault| (fault, false);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(before_commit)?;
    let parts = &change.key.parts;
    let before = read_row(&inner.preset, &transaction, parts).map_err(before_commit)?;
    // Compared here value by value, and again by the statement itself: a collation that calls `A` and `a` the same
    // would satisfy the one, never the other.
    let Some(before) = before.filter(|row| is_as_seen(&inner.preset, row, &change.seen)) else {
        let now = read_row(&inner.preset, &transaction, parts).map_err(before_commit)?;
        return Ok(Applied::Changed(now));
    };
    for (at, statement) in planned.iter().enumerate() {
        let found = run(&transaction, statement).map_err(before_commit)?;
        if found != statement.rows {
            return Ok(Applied::WrongCount { statement: at + 1, expected: statement.rows, found });
        }
    }
    let after = read_row(&inner.preset, &transaction, parts).map_err(before_commit)?;
    transaction.commit().map_err(|fault| (fault, true))?;
    Ok(Applied::Written { before, after })
}

fn is_as_seen(preset: &SourcePreset, row: &Row, seen: &Row) -> bool {
    preset.key.iter().chain(&preset.version).all(|column| column_of(row, column) == column_of(seen, column))
}

fn run(transaction: &Transaction<'_>, planned: &PlannedStatement) -> rusqlite::Result<u64> {
    let mut statement = transaction.prepare(&planned.sql)?;
    for (name, value) in &planned.parameters {
        if let Some(at) = statement.parameter_index(name)? {
            statement.raw_bind_parameter(at, bindable(value))?;
        }
    }
    let changed = statement.raw_execute()?;
    Ok(u64::try_from(changed).unwrap_or(u64::MAX))
}
