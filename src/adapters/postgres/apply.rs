//! Writing a decision: compare and set, in one transaction that sees one snapshot. A row that somebody else wrote since
//! that snapshot cannot be written: the server refuses it, whatever the statements compare.

use super::Inner;
use super::client::{Client, Error};
use super::fault::{is_overtaken, is_rolled_back};
use super::look::look;
use super::query::{bound, check_decisions_table, read_row};
use crate::adapters::sql::{Sql, is_as_seen, plan};
use crate::domain::decision::Choice;
use crate::ports::source::{Applied, Change, PlannedStatement, SourceFault, SourceFaultKind};
use crate::preset::source::Engine;
use tokio_postgres::types::ToSql;

/// Carries out a choice.
pub(super) async fn apply(inner: &Inner, choice: Choice, change: &Change) -> Result<Applied, SourceFault> {
    let lent = inner.place.to_read().await?;
    let picked = look(inner, &lent).await;
    let picked = lent.ended(picked).await?;
    let sql = picked.sql(Engine::Postgres);
    let planned = plan(&sql, choice, change).map_err(|unsupported| {
        inner.place.fault_of(SourceFaultKind::Mismatch, &unsupported.0, "Escalate it, or see the preset.")
    })?;
    let writing = inner.place.to_write().await?;
    let client = writing.client();
    if let Some(table) = &picked.mapping.decisions_table {
        check_decisions_table(inner, client, table).await?;
    }
    match write(&sql, client, change, &planned).await {
        Ok(applied) => Ok(applied),
        // Somebody else was first, and nothing of ours was written: the row as it is now is theirs.
        Err((fault, _)) if is_overtaken(&fault) => {
            let now = async {
                writing.begin_again().await?;
                read_row(&sql, client, &change.key.parts).await
            };
            now.await.map(Applied::Changed).map_err(|fault| inner.place.fault(&fault))
        }
        Err((fault, committing)) => {
            // A commit that the server answered with an error wrote nothing; one whose answer was lost may have.
            let may_have_written = committing && !is_rolled_back(&fault);
            Err(SourceFault { may_have_written, ..inner.place.fault(&fault) })
        }
    }
}

/// The server's error, and whether it came from the commit itself.
type WriteFault = (Error, bool);

async fn write(
    sql: &Sql<'_>,
    client: &Client,
    change: &Change,
    planned: &[PlannedStatement],
) -> Result<Applied, WriteFault> {
    let before_commit = |fault| (fault, false);
    let parts = &change.key.parts;
    let before = read_row(sql, client, parts).await.map_err(before_commit)?;
    let before = match before {
        Some(row) if is_as_seen(sql.mapping, &row, &change.seen) => row,
        changed => {
            client.batch_execute("ROLLBACK").await.map_err(before_commit)?;
            return Ok(Applied::Changed(changed));
        }
    };
    for (at, statement) in planned.iter().enumerate() {
        let found = run(client, statement).await.map_err(before_commit)?;
        if !statement.rows.fits(found) {
            client.batch_execute("ROLLBACK").await.map_err(before_commit)?;
            return Ok(Applied::WrongCount { statement: at + 1, expected: statement.rows, found });
        }
    }
    let after = read_row(sql, client, parts).await.map_err(before_commit)?;
    client.batch_execute("COMMIT").await.map_err(|fault| (fault, true))?;
    Ok(Applied::Written { before, after })
}

/// Runs a statement. A query's rows stand for the count: it may look for a lock, or call a function.
async fn run(client: &Client, planned: &PlannedStatement) -> Result<u64, Error> {
    let (spelled, values) = bound(&planned.sql, &planned.parameters);
    let parameters: Vec<&(dyn ToSql + Sync)> = values.iter().map(|one| one as &(dyn ToSql + Sync)).collect();
    client.execute(&spelled, &parameters).await
}
