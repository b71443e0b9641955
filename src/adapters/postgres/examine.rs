//! What `doctor` looks at in a PostgreSQL source.

use super::Inner;
use super::client::Error;
use super::connect::Lent;
use super::going::Going;
use super::look::{hidden, look, tables};
use super::query::{check_decisions_table, rows};
use super::value::cell_at;
use crate::adapters::sql::health::{self, CANDIDATES_MAX, STATUSES_MAX, bad, doubtful, good};
use crate::adapters::sql::{Held, Picked, state_of};
use crate::domain::cell::Cell;
use crate::domain::text::clean_cut;
use crate::ports::source::{Examined, Page, SourceFault};
use crate::preset::source::Engine;

/// Looks at server, table, statuses, times and rights.
pub(super) async fn examine(inner: &Inner) -> Vec<Examined> {
    let mut lines = Vec::new();
    let lent = match inner.place.to_read().await {
        Ok(lent) => lent,
        Err(fault) => return vec![bad("server", &fault)],
    };
    match server(&lent).await {
        Ok((told, true)) => lines.push(good("server", told)),
        Ok((told, false)) => lines.push(doubtful("server", told)),
        Err(fault) => lines.push(bad("server", &inner.place.fault(&fault))),
    }
    match look(inner, &lent).await {
        Ok(picked) => lines.extend(of_tables(inner, &lent, &picked).await),
        Err(fault) => {
            lines.push(bad("table", &fault));
            let _begun = lent.begin_again().await;
            lines.extend(tables(&lent, None).await.ok().map(|tables| health::tables(&tables)));
        }
    }
    lent.done().await;
    lines
}

/// The server in words, and whether decisions can be written there.
async fn server(lent: &Lent) -> Result<(String, bool), Error> {
    let query = "SELECT current_setting('server_version'), current_user::text, current_database()::text, \
                 coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false), pg_is_in_recovery(), \
                 current_setting('default_transaction_read_only') = 'on'";
    let row = lent.client().query_one(query, &[]).await?;
    let (version, user, database): (String, String, String) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let tls = if row.try_get(3)? { "with TLS" } else { "without TLS" };
    let (is_replica, only_reads): (bool, bool) = (row.try_get(4)?, row.try_get(5)?);
    let (refuses, can_write) = match (is_replica, only_reads) {
        (true, _) => ("; a replica: no decision can be written", false),
        (false, true) => {
            ("; set to read only (default_transaction_read_only): no decision can be written", false)
        }
        (false, false) => ("", true),
    };
    Ok((format!("PostgreSQL {version}, {user} in {database}, {tls}{refuses}"), can_write))
}

async fn of_tables(inner: &Inner, lent: &Lent, picked: &Picked) -> Vec<Examined> {
    let mapping = &picked.mapping;
    let there = tables(lent, Some(&inner.known.preset.tables())).await.unwrap_or_default();
    let own =
        there.iter().find(|table| table.name == mapping.table && table.is_in(mapping.schema.as_deref()));
    let mut lines = Vec::new();
    let columns = own.map(|table| table.columns.clone()).unwrap_or_default();
    lines.push(health::columns(&mapping.table, &columns));
    lines.extend(health::variant(mapping));
    lines.push(statuses(lent, picked).await);
    lines.push(match candidates(inner).await {
        Ok(page) => health::times(&page),
        Err(fault) => bad("times", &fault),
    });
    lines.push(rights(inner, lent, picked).await);
    for (table, _) in hidden(lent, mapping, &there).await.unwrap_or_default() {
        let table = clean_cut(&table, 80);
        lines.push(doubtful(
            "hidden rows",
            format!("row-level security is on for `{table}`: this role sees only what a policy lets it see"),
        ));
    }
    if let Some(table) = &mapping.decisions_table {
        let checked = check_decisions_table(inner, lent.client(), table).await;
        lines.push(health::decisions_table(table, checked));
    }
    lines.push(good("clock", "the server's own"));
    lines
}

/// The first of those that may be findings.
async fn candidates(inner: &Inner) -> Result<Page, SourceFault> {
    let wanted = health::candidates();
    // One more than there are, so that the query is read to its end.
    let (page, _) =
        Going::begin(inner, &wanted, None, CANDIDATES_MAX).await?.page(inner, CANDIDATES_MAX + 1).await?;
    Ok(page)
}

async fn statuses(lent: &Lent, picked: &Picked) -> Examined {
    let sql = picked.sql(Engine::Postgres);
    let query = sql.statuses(STATUSES_MAX);
    let read = async {
        let mut found = Vec::new();
        for row in rows(lent.client(), &query, &[]).await? {
            let state: Option<i32> = row.try_get(1)?;
            let state = state.and_then(|number| state_of(&Cell::Integer(number.into())));
            found.push((cell_at(&row, 0, Held::Text)?, state, row.try_get(2)?));
        }
        Ok(found)
    };
    let read: Result<_, Error> = read.await;
    match read {
        Ok(found) => health::statuses(&found),
        Err(fault) => {
            // What is wrong with the connection itself is told by whatever is looked at next.
            let _begun = lent.begin_again().await;
            doubtful("statuses", super::fault::told(&fault))
        }
    }
}

/// Whether this role may write the table.
async fn rights(inner: &Inner, lent: &Lent, picked: &Picked) -> Examined {
    let table = picked.sql(Engine::Postgres).table();
    let query = "SELECT has_table_privilege($1::text, 'UPDATE'), has_table_privilege($1::text, 'DELETE')";
    let late = picked.mapping.decisions.late_writer.as_str();
    match lent.client().query_one(query, &[&table]).await {
        Ok(row) => match (row.try_get(0), row.try_get(1)) {
            (Ok(true), Ok(true)) => {
                good("decisions", format!("can be written; a worker that comes back late is {late}"))
            }
            _ => doubtful("decisions", "this role may not UPDATE and DELETE: decisions will be refused"),
        },
        Err(fault) => bad("decisions", &inner.place.fault(&fault)),
    }
}
