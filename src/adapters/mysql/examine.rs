//! What `doctor` looks at in a MySQL or MariaDB source.

use super::Inner;
use super::connect::Lent;
use super::fault::told;
use super::look::{look, tables};
use super::query::{check_decisions_table, rows, scan};
use super::value::cell_at;
use crate::adapters::sql::health::{self, STATUSES_MAX, bad, doubtful, good};
use crate::adapters::sql::{Picked, state_of};
use crate::domain::cell::Cell;
use crate::ports::source::Examined;
use crate::preset::source::Engine;
use mysql_async::Error;
use mysql_async::prelude::Queryable;

/// Looks at server, table, statuses and times.
pub(super) async fn examine(inner: &Inner) -> Vec<Examined> {
    let mut lines = Vec::new();
    let mut lent = match inner.place.to_read().await {
        Ok(lent) => lent,
        Err(fault) => return vec![bad("server", &fault)],
    };
    match server(&mut lent).await {
        Ok((told, true)) => lines.push(good("server", told)),
        Ok((told, false)) => lines.push(doubtful("server", told)),
        Err(fault) => lines.push(bad("server", &inner.place.fault(&fault))),
    }
    match look(inner, &mut lent).await {
        Ok(picked) => lines.extend(of_tables(inner, &mut lent, &picked).await),
        Err(fault) => {
            lines.push(bad("table", &fault));
            lines.extend(tables(&mut lent, None).await.ok().map(|tables| health::tables(&tables)));
        }
    }
    lent.ended(Ok(lines)).unwrap_or_default()
}

/// The server in words, and whether decisions can be written there.
async fn server(lent: &mut Lent) -> Result<(String, bool), Error> {
    let query = "SELECT version(), current_user(), database(), @@global.read_only";
    let found: Option<(String, String, String, i64)> = lent.conn().query_first(query).await?;
    let cipher: Option<(String, String)> = lent.conn().query_first("SHOW STATUS LIKE 'Ssl_cipher'").await?;
    let tls = if cipher.is_some_and(|(_, cipher)| !cipher.is_empty()) { "with TLS" } else { "without TLS" };
    let (version, user, database, read_only) = found.unwrap_or_default();
    let kind = if version.contains("MariaDB") { "MariaDB" } else { "MySQL" };
    let replica = if read_only != 0 { "; read only: no decision can be written" } else { "" };
    Ok((format!("{kind} {version}, {user} in {database}, {tls}{replica}"), read_only == 0))
}

async fn of_tables(inner: &Inner, lent: &mut Lent, picked: &Picked) -> Vec<Examined> {
    let mapping = &picked.mapping;
    let there = tables(lent, Some(&[&mapping.table])).await.unwrap_or_default();
    let columns = there.first().map(|table| table.columns.clone()).unwrap_or_default();
    let mut lines = vec![health::columns(&mapping.table, &columns)];
    lines.extend(health::variant(mapping));
    lines.push(statuses(lent, picked).await);
    lines.push(match scan(inner, lent, &health::candidates(), None).await {
        Ok(page) => health::times(&page),
        Err(fault) => bad("times", &fault),
    });
    let late = mapping.decisions.late_writer.as_str();
    lines.push(good("decisions", format!("a worker that comes back late is {late}")));
    if let Some(table) = &mapping.decisions_table {
        let checked = check_decisions_table(inner, lent.conn(), table).await;
        lines.push(health::decisions_table(table, checked));
    }
    lines.push(good("clock", "the server's own"));
    lines
}

async fn statuses(lent: &mut Lent, picked: &Picked) -> Examined {
    let query = picked.sql(Engine::Mysql).statuses(STATUSES_MAX);
    match rows(lent.conn(), &query, &[]).await {
        Err(fault) => doubtful("statuses", told(&fault)),
        Ok(found) => {
            let count = |row| match cell_at(row, 2) {
                Cell::Integer(count) => count,
                _ => 0,
            };
            let each = found.iter().map(|row| (cell_at(row, 0), state_of(&cell_at(row, 1)), count(row)));
            health::statuses(&each.collect::<Vec<_>>())
        }
    }
}
