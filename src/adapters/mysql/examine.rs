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
use crate::domain::text::clean_cut;
use crate::ports::source::Examined;
use crate::preset::source::Engine;
use mysql_async::Error;

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
    lines.push(rights(inner, lent, picked).await);
    if let Some(table) = &mapping.decisions_table {
        let checked = check_decisions_table(inner, lent.conn(), table).await;
        lines.push(health::decisions_table(table, checked));
    }
    lines.push(good("clock", "the server's own"));
    lines
}

/// The rights to write that this account has of its own on a table, on its database, or everywhere. A database's name in a
/// grant is a pattern.
const RIGHTS: &str = "
SELECT COUNT(DISTINCT privilege_type), COALESCE(CURRENT_ROLE(), 'NONE') FROM (
  SELECT grantee, privilege_type FROM information_schema.user_privileges
  UNION ALL SELECT grantee, privilege_type FROM information_schema.schema_privileges WHERE DATABASE() LIKE table_schema
  UNION ALL SELECT grantee, privilege_type FROM information_schema.table_privileges
             WHERE table_schema = DATABASE() AND table_name = ?) AS given
 WHERE privilege_type IN ('UPDATE', 'DELETE')
   AND grantee = CONCAT('''', LEFT(CURRENT_USER(), CHAR_LENGTH(CURRENT_USER()) - CHAR_LENGTH(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)) - 1),
                        '''@''', SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''')";

/// Whether this account may write the table.
async fn rights(inner: &Inner, lent: &mut Lent, picked: &Picked) -> Examined {
    let late = picked.mapping.decisions.late_writer.as_str();
    let asked: Result<Option<(i64, String)>, Error> =
        lent.conn().exec_first(RIGHTS, (picked.mapping.table.as_str(),)).await;
    match asked {
        Ok(Some((2, _))) => {
            good("decisions", format!("can be written; a worker that comes back late is {late}"))
        }
        // What a role may do is in nobody's own grants.
        Ok(Some((_, role))) if role != "NONE" => {
            let role = clean_cut(&role, 80);
            doubtful(
                "decisions",
                format!(
                    "this account may not UPDATE and DELETE by itself; whether its role {role} may is not looked at"
                ),
            )
        }
        Ok(_) => doubtful("decisions", "this account may not UPDATE and DELETE: decisions will be refused"),
        Err(fault) => bad("decisions", &inner.place.fault(&fault)),
    }
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
