//! Writing a decision: compare and set, in one transaction. The row is locked before it is compared, so that nobody can
//! write it between the two.

use super::Inner;
use super::conn::{Conn, Counted};
use super::fault::is_overtaken;
use super::look::look;
use super::query::{bound, check_decisions_table, read_row, rows};
use crate::adapters::sql::{Sql, is_as_seen, key, plan};
use crate::domain::decision::Choice;
use crate::ports::source::{Applied, Change, PlannedStatement, SourceFault, SourceFaultKind};
use crate::preset::source::Engine;
use mysql_async::Error;

/// Carries out a choice.
pub(super) async fn apply(inner: &Inner, choice: Choice, change: &Change) -> Result<Applied, SourceFault> {
    let mut lent = inner.place.to_read().await?;
    let picked = look(inner, &mut lent).await;
    let picked = lent.ended(picked)?;
    let sql = picked.sql(Engine::Mysql);
    let planned = plan(&sql, choice, change).map_err(|unsupported| {
        inner.place.fault_of(SourceFaultKind::Mismatch, &unsupported.0, "Escalate it, or see the preset.")
    })?;
    let mut conn = inner.place.to_write().await?;
    if let Some(table) = &picked.mapping.decisions_table {
        check_decisions_table(inner, &mut conn, table).await?;
    }
    let written = write(&sql, &mut conn, change, &planned).await;
    let applied = match written {
        Ok(applied) => Ok(applied),
        // Somebody else was first, and nothing of ours was written: the row as it is now is theirs.
        Err((fault, _)) if is_overtaken(&fault) => {
            let now = read_row(&sql, &mut conn, &change.key.parts).await;
            now.map(Applied::Changed).map_err(|fault| inner.place.fault(&fault))
        }
        Err((fault, committing)) => {
            // A commit that the server answered with an error wrote nothing; one whose answer was lost may have.
            let may_have_written = committing && !matches!(fault, Error::Server(_));
            Err(SourceFault { may_have_written, ..inner.place.fault(&fault) })
        }
    };
    // What is not committed by now is rolled back by the server.
    conn.disconnect().await;
    applied
}

/// The server's error, and whether it came from the commit itself.
type WriteFault = (Error, bool);

async fn write(
    sql: &Sql<'_>,
    conn: &mut Conn,
    change: &Change,
    planned: &[PlannedStatement],
) -> Result<Applied, WriteFault> {
    let before_commit = |fault| (fault, false);
    let parts = &change.key.parts;
    if sql.mapping.select.is_some() {
        // What a query joins is of several tables, and its key may have another name there: every row that it reads is held.
        let serializable = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE";
        conn.query_drop(serializable).await.map_err(before_commit)?;
    }
    conn.query_drop("START TRANSACTION READ WRITE").await.map_err(before_commit)?;
    if sql.mapping.select.is_none() {
        // The lock comes before the first look: this transaction's snapshot is taken when the row cannot change any more.
        let lock = format!("SELECT 1 FROM {} WHERE {} FOR UPDATE", sql.table(), key::find(sql, parts));
        rows(conn, &lock, &key::values(parts)).await.map_err(before_commit)?;
    }
    let before = read_row(sql, conn, parts).await.map_err(before_commit)?;
    let before = match before {
        Some(row) if is_as_seen(sql.mapping, &row, &change.seen) => row,
        changed => {
            conn.query_drop("ROLLBACK").await.map_err(before_commit)?;
            return Ok(Applied::Changed(changed));
        }
    };
    for (at, statement) in planned.iter().enumerate() {
        let found = run(conn, statement).await.map_err(before_commit)?;
        if !statement.rows.fits(found) {
            conn.query_drop("ROLLBACK").await.map_err(before_commit)?;
            return Ok(Applied::WrongCount { statement: at + 1, expected: statement.rows, found });
        }
    }
    let after = read_row(sql, conn, parts).await.map_err(before_commit)?;
    conn.query_drop("COMMIT").await.map_err(|fault| (fault, true))?;
    Ok(Applied::Written { before, after })
}

/// Runs a statement. A query's rows stand for the count: it may look for a lock, or call a function.
async fn run(conn: &mut Conn, planned: &PlannedStatement) -> Result<u64, Error> {
    let (spelled, values) = bound(&planned.sql, &planned.parameters);
    let Counted { changed, returned } = conn.exec_counted(spelled, values).await?;
    Ok(returned.map_or(changed, |returned| u64::try_from(returned).unwrap_or(u64::MAX)))
}
