//! Effects that are rows of a MySQL or MariaDB database.

use super::connect::{Lent, Place};
use super::query::bound;
use super::value::{cell_at, held_by};
use crate::adapters::sql::effects::{
    Bounds, EffectsDatabase, EffectsSession, RowsFacts, Standing, Tally, fault_of, from_sql,
};
use crate::adapters::sql::{Address, Column, Held};
use crate::domain::cell::Cell;
use crate::domain::evidence::Fault;
use crate::domain::text::clean_cut;
use crate::ports::source::{SourceFault, SourceFaultKind};
use crate::preset::provider::{RowsFrom, SqlLookUp};
use crate::preset::source::Engine;
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta};
use mysql_async::consts::ColumnType;
use mysql_async::{Error, Params, Row};
use std::sync::Arc;

const ENGINE: Engine = Engine::Mysql;
/// How many bytes a character may take in what the server sends us.
const BYTES_PER_CHAR: u32 = 4;
/// What a table is and what holds its rows.
const RELATION: &str = "
SELECT CAST(table_type AS CHAR), CAST(coalesce(engine, '') AS CHAR)
  FROM information_schema.tables WHERE table_schema = coalesce(?, DATABASE()) AND table_name = ?";
/// The columns that come first in an index.
const INDEXED: &str = "
SELECT CAST(column_name AS CHAR)
  FROM information_schema.statistics
 WHERE table_schema = coalesce(?, DATABASE()) AND table_name = ? AND seq_in_index = 1 AND column_name IS NOT NULL";
/// How a replica calls itself: MySQL 8.4 and MariaDB 10.5 know only, or also, the first.
const REPLICATION: [&str; 2] = ["SHOW REPLICA STATUS", "SHOW SLAVE STATUS"];
const LAGS: [&str; 2] = ["Seconds_Behind_Source", "Seconds_Behind_Master"];

/// A MySQL or MariaDB database that holds effects.
#[derive(Debug)]
pub struct MysqlEffects {
    place: Arc<Place>,
}

impl MysqlEffects {
    /// Effects in a database. Nothing is connected yet.
    pub fn new(address: Address) -> Self {
        Self { place: Arc::new(Place::new(address)) }
    }
}

/// One transaction that cannot write.
struct Session {
    lent: Lent,
    place: Arc<Place>,
    from: RowsFrom,
    facts: RowsFacts,
}

#[async_trait]
impl EffectsDatabase for MysqlEffects {
    fn engine(&self) -> Engine {
        ENGINE
    }

    fn place(&self) -> &str {
        self.place.shown()
    }

    async fn begin(&self, look: &SqlLookUp) -> Result<Box<dyn EffectsSession>, SourceFault> {
        let place = &self.place;
        let mut lent = place.to_read().await?;
        match facts_of(place, &mut lent, look).await {
            Ok(facts) => {
                Ok(Box::new(Session { lent, place: Arc::clone(place), from: look.from.clone(), facts }))
            }
            Err(fault) => lent.ended(Err(fault)),
        }
    }
}

async fn facts_of(place: &Place, lent: &mut Lent, look: &SqlLookUp) -> Result<RowsFacts, SourceFault> {
    let of_sql = |fault: Error| place.fault(&fault);
    // Whatever the server's own level is: what is not committed is nobody's effect.
    for begin in [
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
    ] {
        lent.conn().query_drop(begin).await.map_err(of_sql)?;
    }
    let mut doubts = Vec::new();
    if let RowsFrom::Table { schema, table } = &look.from {
        let found: Option<(String, String)> =
            lent.conn().exec_first(RELATION, (schema.as_deref(), table.as_str())).await.map_err(of_sql)?;
        if let Some((_, engine)) = &found
            && engine.eq_ignore_ascii_case("MEMORY")
        {
            let table = clean_cut(table, 60);
            doubts.push(format!("`{table}` is kept in memory, and empty after each start of the server"));
        }
    }
    let query = "SELECT @@global.read_only, CAST(unix_timestamp(sysdate(6)) * 1000000 AS SIGNED)";
    let (read_only, micros): (i64, i64) =
        lent.conn().query_first(query).await.map_err(of_sql)?.unwrap_or_default();
    let sql = format!("SELECT * FROM {} LIMIT 0", from_sql(ENGINE, &look.from));
    let statement = lent.conn().prep(sql).await.map_err(|fault| missing(place, &fault, look))?;
    let columns = statement.columns();
    let described: Vec<Column> = columns
        .iter()
        .map(|column| Column {
            name: column.name_str().as_ref().into(),
            held: held_by(column),
            may_be_null: true,
            words: None,
        })
        .collect();
    let kept = |column: &mysql_async::Column| {
        let is_chars = matches!(
            column.column_type(),
            ColumnType::MYSQL_TYPE_VAR_STRING
                | ColumnType::MYSQL_TYPE_STRING
                | ColumnType::MYSQL_TYPE_VARCHAR
        );
        let chars_max = usize::try_from(column.column_length() / BYTES_PER_CHAR).ok()?;
        // A server that is not strict cuts what is longer, and says nothing.
        (is_chars && held_by(column) == Held::Text).then(|| (column.name_str().into_owned(), chars_max))
    };
    let chars_max = columns.iter().filter_map(kept).collect();
    lent.conn().close(statement).await.map_err(of_sql)?;
    let standing =
        if read_only == 0 { Standing::Primary } else { Standing::Replica { lag: lag(lent).await } };
    let now = DateTime::from_timestamp_micros(micros).unwrap_or_default();
    Ok(RowsFacts { columns: described, chars_max, standing, doubts, now })
}

/// A table that is not there, in the words of whoever named it.
fn missing(place: &Place, fault: &Error, look: &SqlLookUp) -> SourceFault {
    match (fault, &look.from) {
        (Error::Server(server), RowsFrom::Table { table, .. }) if server.code == 1146 => place.fault_of(
            SourceFaultKind::Mismatch,
            &format!("has no table `{}`", clean_cut(table, 60)),
            "Name the right table in the preset; the database is in the address.",
        ),
        _ => place.fault(fault),
    }
}

/// How far behind a replica is, as far as the account may know it and both of its threads run.
async fn lag(lent: &mut Lent) -> Option<TimeDelta> {
    for query in REPLICATION {
        let Ok(rows) = lent.conn().query::<Row>(query).await else { continue };
        let row = rows.first()?;
        let seconds = LAGS.iter().find_map(|name| row.get_opt::<Option<i64>, _>(*name)?.ok().flatten());
        return seconds.and_then(TimeDelta::try_seconds);
    }
    None
}

impl Session {
    fn fault(&self, fault: &Error) -> Fault {
        fault_of(self.place.fault(fault))
    }
}

#[async_trait]
impl EffectsSession for Session {
    fn facts(&self) -> &RowsFacts {
        &self.facts
    }

    async fn rows(
        &mut self,
        sql: &str,
        values: &[(String, Cell)],
        bounds: Bounds,
    ) -> Result<Vec<Vec<Cell>>, Fault> {
        let place = Arc::clone(&self.place);
        let of_sql = |fault: Error| fault_of(place.fault(&fault));
        let (spelled, values): (String, Params) = bound(sql, values);
        let mut tally = Tally::new(bounds);
        let keep = |row: Row| tally.keep((0..row.len()).map(|at| cell_at(&row, at)).collect());
        self.lent.conn().exec_each(spelled, values, keep).await.map_err(of_sql)??;
        Ok(tally.into_rows())
    }

    async fn server(&mut self) -> Result<String, Fault> {
        let query = "SELECT version(), current_user(), database()";
        let found: Result<Option<(String, String, String)>, Error> =
            self.lent.conn().query_first(query).await;
        let (version, user, database) = found.map_err(|fault| self.fault(&fault))?.unwrap_or_default();
        let kind = if version.contains("MariaDB") { "MariaDB" } else { "MySQL" };
        Ok(format!("{kind} {version}, {user} in {database}"))
    }

    async fn indexed(&mut self) -> Result<Option<Vec<String>>, Fault> {
        let RowsFrom::Table { schema, table } = self.from.clone() else { return Ok(None) };
        let names = self.lent.conn().exec(INDEXED, (schema, table)).await;
        names.map(Some).map_err(|fault| self.fault(&fault))
    }

    async fn end(mut self: Box<Self>) {
        let ended = self.lent.conn().query_drop("ROLLBACK").await.map_err(|fault| self.place.fault(&fault));
        // A connection that is not out of its transaction is not lent again.
        let _ended = self.lent.ended(ended);
    }
}
