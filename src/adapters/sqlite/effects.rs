//! Effects that are rows of a SQLite file.

use super::cells::{bindable, cell_of};
use super::detect::columns_of;
use super::open::Place;
use super::query::clock_of;
use super::{StopOnDrop, broke_off};
use crate::adapters::sql::effects::{
    Bounds, EffectsDatabase, EffectsSession, RowsFacts, Standing, Tally, fault_of, from_sql,
};
use crate::adapters::sql::{Column, Held};
use crate::domain::cell::Cell;
use crate::domain::evidence::Fault;
use crate::domain::text::clean_cut;
use crate::ports::source::{SourceFault, SourceFaultKind};
use crate::preset::provider::{RowsFrom, SqlLookUp};
use crate::preset::source::{Engine, positional};
use async_trait::async_trait;
use rusqlite::{Connection, Statement, params_from_iter};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const ENGINE: Engine = Engine::Sqlite;

/// A SQLite file that holds effects. Every look opens it anew.
#[derive(Debug)]
pub struct SqliteEffects {
    place: Arc<Place>,
    shown: String,
}

impl SqliteEffects {
    /// Effects in a file. Nothing is opened yet.
    pub fn new(path: PathBuf) -> Self {
        let shown = path.display().to_string();
        Self { place: Arc::new(Place::new(path)), shown }
    }
}

/// One snapshot of a file. Its queries run on threads of their own, and stop with it.
struct Session {
    connection: Option<Connection>,
    place: Arc<Place>,
    shown: String,
    table: Option<String>,
    facts: RowsFacts,
    _stop: StopOnDrop,
}

#[async_trait]
impl EffectsDatabase for SqliteEffects {
    fn engine(&self) -> Engine {
        ENGINE
    }

    fn place(&self) -> &str {
        &self.shown
    }

    async fn begin(&self, look: &SqlLookUp) -> Result<Box<dyn EffectsSession>, SourceFault> {
        let stop = StopOnDrop(Arc::new(AtomicBool::new(false)));
        let (place, stopped, from) = (Arc::clone(&self.place), Arc::clone(&stop.0), look.from.clone());
        let opened = tokio::task::spawn_blocking(move || {
            let connection = place.open_to_read(stopped)?;
            let facts = facts_of(&place, &connection, &from)?;
            Ok((connection, facts))
        });
        let (connection, facts) = opened.await.unwrap_or_else(|_| Err(broke_off(&self.shown)))?;
        let table = match &look.from {
            RowsFrom::Table { table, .. } => Some(table.clone()),
            RowsFrom::Select(_) => None,
        };
        Ok(Box::new(Session {
            connection: Some(connection),
            place: Arc::clone(&self.place),
            shown: self.shown.clone(),
            table,
            facts,
            _stop: stop,
        }))
    }
}

/// Begins the snapshot and reads the columns. Without this, SQLite reads a missing quoted column as a text.
fn facts_of(place: &Place, connection: &Connection, from: &RowsFrom) -> Result<RowsFacts, SourceFault> {
    let read = || -> rusqlite::Result<RowsFacts> {
        connection.execute_batch("BEGIN")?;
        let sql = format!("SELECT * FROM {} LIMIT 0", from_sql(ENGINE, from));
        let column =
            |name: &str| Column { name: name.into(), held: Held::Any, may_be_null: true, words: None };
        let names = |statement: Statement<'_>| statement.column_names().map(column).collect();
        let columns: Vec<Column> = connection.prepare(&sql).map(names)?;
        let now = clock_of(connection)?;
        Ok(RowsFacts { columns, chars_max: Vec::new(), standing: Standing::Primary, doubts: Vec::new(), now })
    };
    let fault = |fault: rusqlite::Error| place.fault(&fault);
    if let RowsFrom::Table { table, .. } = from
        && columns_of(connection, table).map_err(fault)?.is_empty()
    {
        let what = format!("has no table `{}`", clean_cut(table, 60));
        return Err(place.fault_of(SourceFaultKind::Mismatch, &what, "Name the right table in the preset."));
    }
    read().map_err(fault)
}

impl Session {
    /// Runs work on the connection, on a thread of its own.
    async fn on_thread<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Connection, &Place) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let lost = || fault_of(broke_off(&self.shown));
        let connection = self.connection.take().ok_or_else(lost)?;
        let place = Arc::clone(&self.place);
        let done = tokio::task::spawn_blocking(move || {
            let result = work(&connection, &place);
            (connection, result)
        });
        let (connection, result) = done.await.map_err(|_| fault_of(broke_off(&self.shown)))?;
        self.connection = Some(connection);
        result
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
        let (spelled, names) = positional(sql, ENGINE);
        let value =
            |name: &String| values.iter().find(|(known, _)| known == name).map(|(_, cell)| cell.clone());
        let bound: Vec<Cell> = names.iter().map(|name| value(name).unwrap_or(Cell::Null)).collect();
        self.on_thread(move |connection, place| {
            let fault = |fault: rusqlite::Error| fault_of(place.fault(&fault));
            let mut statement = connection.prepare(&spelled).map_err(fault)?;
            let width = statement.column_count();
            let mut rows = statement.query(params_from_iter(bound.iter().map(bindable))).map_err(fault)?;
            let mut tally = Tally::new(bounds);
            while let Some(row) = rows.next().map_err(fault)? {
                let cells = (0..width).map(|at| row.get_ref(at).map(cell_of));
                tally.keep(cells.collect::<Result<_, _>>().map_err(fault)?)?;
            }
            Ok(tally.into_rows())
        })
        .await
    }

    async fn server(&mut self) -> Result<String, Fault> {
        Ok(format!("the file {} can be read", self.shown))
    }

    async fn indexed(&mut self) -> Result<Option<Vec<String>>, Fault> {
        let Some(table) = self.table.clone() else { return Ok(None) };
        self.on_thread(move |connection, place| {
            let read = || -> rusqlite::Result<Vec<String>> {
                let mut statement = connection.prepare(
                    "SELECT i.name FROM pragma_index_list(?1) AS l, pragma_index_info(l.name) AS i \
                      WHERE i.seqno = 0 AND i.name IS NOT NULL \
                     UNION SELECT name FROM pragma_table_info(?1) WHERE pk = 1",
                )?;
                statement.query_map([&table], |row| row.get(0))?.collect()
            };
            read().map(Some).map_err(|fault| fault_of(place.fault(&fault)))
        })
        .await
    }

    async fn end(mut self: Box<Self>) {
        // Nothing was written: whatever closing says changes nothing.
        let _closed = self.on_thread(|connection, _| Ok(connection.execute_batch("ROLLBACK"))).await;
    }
}
