//! What tables a file has, so that known ones are found without configuration.

use super::fault::fault_of_sql;
use super::open::Place;
use crate::ports::source::SourceFault;
use crate::preset::source::Table;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The tables and views of a file. Blocking.
///
/// # Errors
/// What keeps the file from being read.
pub fn tables_of(path: &Path) -> Result<Vec<Table>, SourceFault> {
    let place = Place::new(PathBuf::from(path));
    let connection = place.open_to_read(Arc::default())?;
    read_tables(&connection).map_err(|fault| fault_of_sql(path, &fault))
}

fn read_tables(connection: &Connection) -> rusqlite::Result<Vec<Table>> {
    let mut names = connection.prepare(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )?;
    let names = names.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    names.into_iter().map(|name| Ok(table(columns_of(connection, &name)?, name))).collect()
}

fn table(columns: Vec<(String, String)>, name: String) -> Table {
    Table { schema: String::new(), is_first: true, name, columns }
}

/// Those of some tables that there are.
pub(super) fn tables_named(connection: &Connection, names: &[&str]) -> rusqlite::Result<Vec<Table>> {
    let mut tables = Vec::with_capacity(names.len());
    for name in names {
        let columns = columns_of(connection, name)?;
        if !columns.is_empty() {
            tables.push(table(columns, (*name).to_owned()));
        }
    }
    Ok(tables)
}

/// The columns of a table with their declared types; none where there is no such table.
pub(super) fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement =
        connection.prepare("SELECT name, type FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid")?;
    statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
