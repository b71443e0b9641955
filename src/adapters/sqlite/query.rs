//! What is read of a SQLite file.

use super::Inner;
use super::cells::{bindable, cell_of};
use super::detect::{columns_of, tables_named};
use crate::adapters::sql::{
    Column, Held, Named, Picked, Sql, decisions_table, item_of, key, no_table, pick, state_of,
};
use crate::domain::cell::Cell;
use crate::domain::item::{ItemKey, Row, State};
use crate::ports::source::{Cursor, Page, Payload, Reading, SourceFault, SourceFaultKind, Wanted};
use crate::preset::source::{Engine, PayloadIs};
use chrono::{DateTime, Utc};
use rusqlite::{Connection, Rows, Statement};
use std::sync::Arc;
use uuid::Uuid;

/// The source's own clock. SQLite has none but its machine's.
pub(super) fn clock_of(connection: &Connection) -> rusqlite::Result<DateTime<Utc>> {
    let millis: i64 = connection.query_row(
        "SELECT CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)",
        [],
        |row| row.get(0),
    )?;
    Ok(DateTime::from_timestamp_millis(millis).unwrap_or_default())
}

/// Chooses the preset's shape, and makes sure that the table and its columns are there. Without this, SQLite reads a
/// missing quoted column as a text.
pub(super) fn look(inner: &Inner, connection: &Connection) -> Result<Arc<Picked>, SourceFault> {
    let (place, preset) = (&inner.place, &inner.known.preset);
    let tables = tables_named(connection, &preset.tables()).map_err(|fault| place.fault(&fault))?;
    let mapping = pick(preset, Engine::Sqlite, &tables).map_err(|misfit| place.misfit(misfit))?;
    let known = tables.iter().find(|table| table.name.eq_ignore_ascii_case(&mapping.table));
    let Some(table) = known else { return Err(place.misfit(no_table(&mapping, Engine::Sqlite))) };
    let column = |name: &str| Column { name: name.into(), held: Held::Any, may_be_null: true, words: None };
    let mut picked =
        Picked { columns: table.columns.iter().map(|(name, _)| column(name)).collect(), mapping };
    if picked.mapping.select.is_some() {
        let sql = format!("SELECT * FROM {} LIMIT 0", picked.sql(Engine::Sqlite).from());
        let names = |statement: Statement<'_>| statement.column_names().map(column).collect();
        picked.columns = connection.prepare(&sql).map(names).map_err(|fault| place.fault(&fault))?;
    }
    picked.check_columns(Engine::Sqlite).map_err(|misfit| place.misfit(misfit))?;
    let file = std::fs::canonicalize(place.path()).unwrap_or_else(|_| place.path().to_owned());
    let table = format!("sqlite:{}/{}", file.display(), table.name.to_lowercase());
    Ok(inner.known.keep(picked, &table))
}

/// One page of candidates.
pub(super) fn scan(
    inner: &Inner,
    connection: &Connection,
    wanted: &Wanted,
    after: Option<&Cursor>,
) -> Result<Page, SourceFault> {
    let picked = look(inner, connection)?;
    let read = || -> rusqlite::Result<Page> {
        let (sql, name) = (picked.sql(Engine::Sqlite), &inner.known.facts().name);
        let source_now = clock_of(connection)?;
        let (names, _) = sql.selection();
        let row_number = row_number_of(connection, &sql);
        let query = scan_sql(&sql, row_number, wanted, source_now);
        let mut statement = connection.prepare(&query)?;
        let (from, to) = match after {
            Some(Cursor::Rows { from, to }) => (*from, *to),
            // No scan of ours ends at a key.
            Some(Cursor::After(_)) | None => (i64::MIN, i64::MAX),
        };
        let mut rows = statement.query([from, to])?;
        let mut items = Vec::with_capacity(wanted.page_items_max.min(ITEMS_EXPECTED_MAX));
        let (mut read_count, mut last) = (0_usize, i64::MIN);
        while let Some(row) = rows.next()? {
            last = row.get(0)?;
            read_count += 1;
            let of_row = named(&names, row, 1)?;
            let error = cell_of(row.get_ref(names.len() + 1)?);
            if let Some(state) = state_of(&cell_of(row.get_ref(names.len() + 2)?)) {
                items.push(item_of(name, &picked.mapping, of_row, error, state));
            }
        }
        let is_full = row_number.is_some() && read_count == wanted.page_items_max;
        let next =
            last.checked_add(1).filter(|next| is_full && *next <= to).map(|from| Cursor::Rows { from, to });
        Ok(Page { items, next, source_now })
    };
    read().map_err(|fault| inner.place.fault(&fault))
}

/// The first values of a row from column `first` on, one for each name.
fn named(names: &[Arc<str>], row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Named> {
    let mut cells = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        cells.push((Arc::clone(name), cell_of(row.get_ref(first + at)?)));
    }
    Ok(Named { cells })
}

/// For how many items of a page room is made beforehand.
const ITEMS_EXPECTED_MAX: usize = 2_000;
/// Fewer row numbers than these are read by one scan.
const PART_ROWS_MIN: i64 = 100_000;

/// The beginnings of scans that share the row numbers evenly.
pub(super) fn parts(
    inner: &Inner,
    connection: &Connection,
    parts_max: usize,
) -> Result<Vec<Option<Cursor>>, SourceFault> {
    let picked = look(inner, connection)?;
    let sql = picked.sql(Engine::Sqlite);
    let Some(number) = row_number_of(connection, &sql) else { return Ok(vec![None]) };
    let table = sql.table();
    let query = format!(
        "SELECT coalesce((SELECT min({number}) FROM {table}), 0), coalesce((SELECT max({number}) FROM {table}), 0)"
    );
    let bounds = connection.query_row(&query, [], |row| Ok((row.get(0)?, row.get(1)?)));
    let (lowest, highest) = bounds.map_err(|fault| inner.place.fault(&fault))?;
    Ok(divide(lowest, highest, parts_max))
}

fn divide(lowest: i64, highest: i64, parts_max: usize) -> Vec<Option<Cursor>> {
    let span = highest.saturating_sub(lowest);
    let parts = i64::try_from(parts_max).unwrap_or(i64::MAX).min(span / PART_ROWS_MIN);
    if parts < 2 {
        return vec![None];
    }
    let begin = |part: i64| if part == 0 { i64::MIN } else { lowest + span / parts * part };
    let end = |part: i64| if part == parts - 1 { i64::MAX } else { begin(part + 1) - 1 };
    (0..parts).map(|part| Some(Cursor::Rows { from: begin(part), to: end(part) })).collect()
}

/// The query of one page, from a row number (`?1`) to another (`?2`).
pub(super) fn scan_sql(
    sql: &Sql<'_>,
    row_number: Option<&str>,
    wanted: &Wanted,
    now: DateTime<Utc>,
) -> String {
    let (_, selected) = sql.selection();
    let (candidates, from) = (sql.wanted(wanted, now), sql.from());
    let page_items_max = wanted.page_items_max;
    match row_number {
        Some(number) => format!(
            "SELECT {number}, {selected} FROM {from} WHERE {number} BETWEEN ?1 AND ?2 AND ({candidates}) \
             ORDER BY {number} LIMIT {page_items_max}"
        ),
        // A query, and a table without row numbers, is read in one page: there is nothing stable to go on from.
        None => format!("SELECT ?1, {selected} FROM {from} WHERE ?2 IS NOT NULL AND ({candidates})"),
    }
}

/// SQLite's name for the number of a row, as long as no column has taken it; `None` for a query, a view, and a table
/// without.
fn row_number_of(connection: &Connection, sql: &Sql<'_>) -> Option<&'static str> {
    if sql.mapping.select.is_some() {
        return None;
    }
    ["rowid", "_rowid_", "oid"]
        .into_iter()
        .find(|name| !sql.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name)))
        .filter(|name| connection.prepare(&format!("SELECT {name} FROM {} LIMIT 0", sql.table())).is_ok())
}

/// One item by what a person typed as its key.
pub(super) fn read(
    inner: &Inner,
    connection: &Connection,
    typed: &str,
) -> Result<Option<Reading>, SourceFault> {
    let picked = look(inner, connection)?;
    let found = || -> rusqlite::Result<Vec<Reading>> {
        // One snapshot: an item that was read before somebody else's write and its row after it would together be a row
        // that nobody has seen, and a decision on the one would overwrite the other.
        let _snapshot = connection.unchecked_transaction()?;
        let mut readings: Vec<Reading> = Vec::new();
        for parts in key::meanings(&picked.sql(Engine::Sqlite), typed) {
            if let Some(reading) = read_by_parts(inner, &picked, connection, &parts)?
                && !readings.iter().any(|known| known.item.key == reading.item.key)
            {
                readings.push(reading);
            }
        }
        Ok(readings)
    };
    let readings = found().map_err(|fault| inner.place.fault(&fault))?;
    key::only_one(readings, typed)
        .map_err(|(what, do_next)| inner.place.fault_of(SourceFaultKind::Mismatch, &what, do_next))
}

/// One item by its key's exact values.
fn read_by_parts(
    inner: &Inner,
    picked: &Picked,
    connection: &Connection,
    parts: &[Cell],
) -> rusqlite::Result<Option<Reading>> {
    let sql = picked.sql(Engine::Sqlite);
    let (names, _) = sql.selection();
    let mut statement = connection.prepare(&sql.item(parts))?;
    let mut rows = by_key(&mut statement, parts)?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let of_row = named(&names, row, 0)?;
    let error = cell_of(row.get_ref(names.len())?);
    // A status that no rule names needs no decision of ours.
    let state = state_of(&cell_of(row.get_ref(names.len() + 1)?)).unwrap_or(State::Pending);
    let item = item_of(&inner.known.facts().name, &picked.mapping, of_row, error, state);
    drop(rows);
    let Some(whole) = read_row(&sql, connection, parts)? else { return Ok(None) };
    Ok(Some(Reading { item, row: whole, source_now: clock_of(connection)? }))
}

/// Runs a query for a key. Its values are numbered in the order in which [`key::find`] first names them.
fn by_key<'a>(statement: &'a mut Statement<'_>, parts: &[Cell]) -> rusqlite::Result<Rows<'a>> {
    statement.query(rusqlite::params_from_iter(parts.iter().map(bindable)))
}

/// Every column of a row but its payload.
pub(super) fn read_row(
    sql: &Sql<'_>,
    connection: &Connection,
    parts: &[Cell],
) -> rusqlite::Result<Option<Row>> {
    let names = sql.row_columns();
    let selected: Vec<String> = names.iter().map(|name| sql.quoted(name)).collect();
    let query =
        format!("SELECT {} FROM {} WHERE {} LIMIT 1", selected.join(", "), sql.from(), key::find(sql, parts));
    let mut statement = connection.prepare(&query)?;
    let mut rows = by_key(&mut statement, parts)?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(Row { columns: named(&names, row, 0)?.cells }))
}

/// The beginning of an item's payload.
pub(super) fn payload(
    inner: &Inner,
    connection: &Connection,
    item: &ItemKey,
    bytes_max: usize,
) -> Result<Option<Payload>, SourceFault> {
    let picked = look(inner, connection)?;
    let Some(column) = &picked.mapping.payload else { return Ok(None) };
    let is_closed = picked.mapping.payload_is == PayloadIs::Closed;
    let bytes_max = if is_closed { 0 } else { bytes_max };
    let read = || -> rusqlite::Result<Option<Payload>> {
        let sql = picked.sql(Engine::Sqlite);
        // Measured and cut in the database: a 50 MB payload never crosses over.
        let query = format!(
            "SELECT coalesce(octet_length({column}), 0), substr(CAST({column} AS BLOB), 1, {bytes_max}) FROM {} WHERE {} LIMIT 1",
            sql.from(),
            key::find(&sql, &item.parts),
            column = sql.quoted(column),
        );
        let mut statement = connection.prepare(&query)?;
        let mut rows = by_key(&mut statement, &item.parts)?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let size: i64 = row.get(0)?;
        let bytes = match row.get_ref(1)? {
            rusqlite::types::ValueRef::Blob(bytes) | rusqlite::types::ValueRef::Text(bytes) => bytes.to_vec(),
            _ => Vec::new(),
        };
        Ok(Some(Payload { bytes, size_bytes: u64::try_from(size).unwrap_or_default(), is_closed }))
    };
    read().map_err(|fault| inner.place.fault(&fault))
}

/// Makes sure that the table of decisions is there with its columns.
pub(super) fn check_decisions_table(
    inner: &Inner,
    connection: &Connection,
    table: &str,
) -> Result<(), SourceFault> {
    let there = columns_of(connection, table).map_err(|fault| inner.place.fault(&fault))?;
    let names: Vec<&str> = there.iter().map(|(name, _)| name.as_str()).collect();
    match decisions_table::fault(Engine::Sqlite, table, &names) {
        None => Ok(()),
        Some((what, do_next)) => Err(inner.place.fault_of(SourceFaultKind::Mismatch, &what, &do_next)),
    }
}

/// Whether a decision was written down.
pub(super) fn has_decision(
    inner: &Inner,
    connection: &Connection,
    decision: Uuid,
) -> Result<Option<bool>, SourceFault> {
    let picked = look(inner, connection)?;
    let Some(table) = &picked.mapping.decisions_table else { return Ok(None) };
    check_decisions_table(inner, connection, table)?;
    let id = Cell::text(decision.to_string());
    let query = decisions_table::has_sql(Engine::Sqlite, table);
    let count = connection.query_row(&query, [bindable(&id)], |row| row.get::<_, i64>(0));
    count.map(|count| Some(count > 0)).map_err(|fault| inner.place.fault(&fault))
}
