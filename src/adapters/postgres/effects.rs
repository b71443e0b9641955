//! Effects that are rows of a PostgreSQL database.

use super::client::{Error, value_at};
use super::connect::{Lent, Place};
use super::fault::is_no_such_value;
use super::query::{ENGINE, clock_of, stream};
use super::value::{cell_at, held_by};
use crate::adapters::sql::effects::{
    Bounds, EffectsDatabase, EffectsSession, RowsFacts, Standing, Tally, fault_of, from_sql,
};
use crate::adapters::sql::{Address, Column, Held};
use crate::domain::cell::Cell;
use crate::domain::evidence::{Fault, FaultKind};
use crate::domain::text::clean_cut;
use crate::ports::source::{SourceFault, SourceFaultKind};
use crate::preset::provider::{RowsFrom, SqlLookUp};
use crate::preset::source::Engine;
use async_trait::async_trait;
use chrono::TimeDelta;
use std::sync::Arc;
use tokio_postgres::types::Type;

/// Every relation of a name, with what it is and whether the connection looks there by itself.
const RELATIONS: &str = "
SELECT n.nspname::text, c.relkind::text, c.relpersistence::text, pg_table_is_visible(c.oid)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
   AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_toast%'
   AND n.nspname NOT LIKE 'pg\\_temp%'
 ORDER BY 1";

/// How far behind a replica is: what was committed since the last commit that it shows is not shown. On a primary that has
/// nothing to do it looks further behind than it is, which costs a look at the primary and no second charge.
const STANDING: &str = "
SELECT pg_is_in_recovery(),
       (extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::int8";

/// The columns that come first in an index that is ready to be used for every row.
const INDEXED: &str = "
SELECT a.attname::text
  FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
 WHERE i.indrelid = to_regclass($1) AND i.indisvalid AND i.indpred IS NULL";

/// The function of the server that refuses a query which row-level security would filter.
const REFUSES_FILTERED_ROWS: &str = "check_enable_rls";

/// A PostgreSQL database that holds effects.
#[derive(Debug)]
pub struct PostgresEffects {
    place: Arc<Place>,
}

impl PostgresEffects {
    /// Effects in a database. Nothing is connected yet.
    pub fn new(address: Address) -> Self {
        Self { place: Arc::new(Place::new(address)) }
    }
}

/// One transaction that cannot write.
struct Session {
    lent: Lent,
    place: Arc<Place>,
    table: Option<String>,
    facts: RowsFacts,
}

#[async_trait]
impl EffectsDatabase for PostgresEffects {
    fn engine(&self) -> Engine {
        ENGINE
    }

    fn place(&self) -> &str {
        self.place.shown()
    }

    async fn begin(&self, look: &SqlLookUp) -> Result<Box<dyn EffectsSession>, SourceFault> {
        let place = &self.place;
        let lent = place.to_read().await?;
        match facts_of(place, &lent, look).await {
            Ok(facts) => Ok(Box::new(Session {
                lent,
                place: Arc::clone(place),
                table: matches!(look.from, RowsFrom::Table { .. }).then(|| from_sql(ENGINE, &look.from)),
                facts,
            })),
            Err(fault) => lent.ended(Err(fault)).await,
        }
    }
}

async fn facts_of(place: &Place, lent: &Lent, look: &SqlLookUp) -> Result<RowsFacts, SourceFault> {
    let of_sql = |fault: Error| source_fault(place, &fault);
    // Rows that a policy hides would be an absence: with this the server refuses instead, also within views.
    lent.client().batch_execute("SET LOCAL row_security = off").await.map_err(of_sql)?;
    let mut doubts = Vec::new();
    if let RowsFrom::Table { schema, table } = &look.from {
        doubts.extend(relation(place, lent, schema.as_deref(), table).await?);
    }
    let row = lent.client().query_one(STANDING, &[]).await.map_err(of_sql)?;
    let (is_replica, lag): (bool, Option<i64>) =
        (value_at(&row, 0).map_err(of_sql)?, value_at(&row, 1).map_err(of_sql)?);
    let standing = if is_replica {
        Standing::Replica { lag: lag.map(TimeDelta::milliseconds) }
    } else {
        Standing::Primary
    };
    let sql = format!("SELECT * FROM {} LIMIT 0", from_sql(ENGINE, &look.from));
    let statement = lent.client().prepare(&sql).await.map_err(of_sql)?;
    let columns = statement.columns();
    let kept = |column: &tokio_postgres::Column| {
        // The length of `varchar(n)`: what is longer was perhaps cut by whoever writes.
        let chars_max = usize::try_from(column.type_modifier() - 4).ok()?;
        (*column.type_() == Type::VARCHAR).then(|| (column.name().to_owned(), chars_max))
    };
    Ok(RowsFacts {
        chars_max: columns.iter().filter_map(kept).collect(),
        columns: columns
            .iter()
            .map(|column| Column {
                name: column.name().into(),
                held: held_by(column.type_()),
                may_be_null: true,
                words: None,
            })
            .collect(),
        standing,
        doubts,
        now: clock_of(lent.client()).await.map_err(of_sql)?,
    })
}

/// Makes sure that there is exactly one table that can be meant, and says why an absence in it would prove nothing.
async fn relation(
    place: &Place,
    lent: &Lent,
    schema: Option<&str>,
    table: &str,
) -> Result<Option<String>, SourceFault> {
    let of_sql = |fault: Error| place.fault(&fault);
    let mut found: Vec<(String, String, String, bool)> = Vec::new();
    for row in lent.client().query(RELATIONS, &[&table]).await.map_err(of_sql)? {
        let read = || Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?));
        found.push(read().map_err(of_sql)?);
    }
    let shown = clean_cut(table, 60);
    let names_schema = schema.is_some() || place.names_schema()?;
    if found.len() > 1 && !names_schema {
        let schemas: Vec<String> = found.iter().map(|(schema, ..)| clean_cut(schema, 60)).collect();
        return Err(place.fault_of(
            SourceFaultKind::Mismatch,
            &format!(
                "has a table `{shown}` in several schemas ({}): which one is meant?",
                schemas.join(", ")
            ),
            "Say it: `schema` in the preset, or ?schema= in the address.",
        ));
    }
    let meant = found.iter().find(|(known, _, _, is_first)| match schema {
        Some(schema) => known == schema,
        None => *is_first,
    });
    let Some((_, kind, persistence, _)) = meant else {
        return Err(place.fault_of(
            SourceFaultKind::Mismatch,
            &format!("has no table `{shown}` where the connection looks"),
            "Name the right table in the preset, and its schema where it is not in the search path.",
        ));
    };
    Ok(match (kind.as_str(), persistence.as_str()) {
        ("m", _) => Some(format!(
            "`{shown}` is a materialized view, which shows what there was when it was refreshed"
        )),
        (_, "u") => Some(format!("`{shown}` is an unlogged table, which a crash of the server empties")),
        _ => None,
    })
}

/// What an error means, rows that a policy may hide among them.
fn source_fault(place: &Place, fault: &Error) -> SourceFault {
    if fault.as_db_error().is_some_and(|told| told.routine() == Some(REFUSES_FILTERED_ROWS)) {
        return place.fault_of(
            SourceFaultKind::Mismatch,
            "row-level security may hide rows from this role, and then nothing proves anything",
            "Connect as the table's owner or a role with BYPASSRLS.",
        );
    }
    place.fault(fault)
}

/// What an error is to somebody who asked for an effect.
fn fault(place: &Place, fault: &Error) -> Fault {
    if is_no_such_value(fault) {
        let told = clean_cut(&super::fault::told(fault), 120);
        return Fault::new(
            FaultKind::Question,
            format!("the reference is none that its column can hold ({told})"),
        );
    }
    fault_of(source_fault(place, fault))
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
        let of_sql = |told: Error| fault(&self.place, &told);
        let mut rows = stream(self.lent.client(), sql, values).await.map_err(of_sql)?;
        let mut tally = Tally::new(bounds);
        while let Some(row) = rows.next().await.map_err(of_sql)? {
            let cells = (0..row.len()).map(|at| cell_at(&row, at, Held::Text).map_err(Error::Told));
            tally.keep(cells.collect::<Result<_, _>>().map_err(of_sql)?)?;
        }
        Ok(tally.into_rows())
    }

    async fn server(&mut self) -> Result<String, Fault> {
        let query = "SELECT current_setting('server_version'), current_user::text, current_database()::text, \
                     coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)";
        let of_sql = |told: Error| fault(&self.place, &told);
        let row = self.lent.client().query_one(query, &[]).await.map_err(of_sql)?;
        let read = || -> Result<(String, String, String, bool), Error> {
            Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?))
        };
        let (version, user, database, is_tls) = read().map_err(of_sql)?;
        let tls = if is_tls { "with TLS" } else { "without TLS" };
        Ok(format!("PostgreSQL {version}, {user} in {database}, {tls}"))
    }

    async fn indexed(&mut self) -> Result<Option<Vec<String>>, Fault> {
        let Some(table) = &self.table else { return Ok(None) };
        let of_sql = |told: Error| fault(&self.place, &told);
        let rows = self.lent.client().query(INDEXED, &[table]).await.map_err(of_sql)?;
        let names: Result<Vec<String>, Error> = rows.iter().map(|row| value_at(row, 0)).collect();
        names.map(Some).map_err(of_sql)
    }

    async fn end(self: Box<Self>) {
        self.lent.done().await;
    }
}
