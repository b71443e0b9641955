//! What is read of a MySQL or MariaDB database.

use super::Inner;
use super::conn::Conn;
use super::connect::Lent;
use super::look::look;
use super::value::{bindable, cell_at};
use crate::adapters::sql::{Named, Picked, Sql, decisions_table, item_of, key, state_of, whole_page};
use crate::domain::cell::Cell;
use crate::domain::item::{Item, ItemKey, Row, State};
use crate::ports::source::{Cursor, Page, Payload, Reading, SourceFault, SourceFaultKind, Wanted};
use crate::preset::source::{Engine, PayloadIs, positional};
use chrono::{DateTime, Utc};
use mysql_async::{Error, Params};
use std::sync::Arc;
use uuid::Uuid;

const ENGINE: Engine = Engine::Mysql;

/// A statement as the server wants it, and the values in that order.
pub(super) fn bound(sql: &str, values: &[(String, Cell)]) -> (String, Params) {
    let (spelled, names) = positional(sql, ENGINE);
    let value = |name: &String| values.iter().find(|(known, _)| known == name).map(|(_, cell)| cell);
    let values: Vec<_> = names.iter().map(|name| bindable(value(name).unwrap_or(&Cell::Null))).collect();
    (spelled, if values.is_empty() { Params::Empty } else { Params::Positional(values) })
}

/// The rows of a query with named values.
pub(super) async fn rows(
    conn: &mut Conn,
    sql: &str,
    values: &[(String, Cell)],
) -> Result<Vec<mysql_async::Row>, Error> {
    let (spelled, values) = bound(sql, values);
    conn.exec(spelled, values).await
}

/// The source's own clock.
async fn clock_of(conn: &mut Conn) -> Result<DateTime<Utc>, Error> {
    let micros: Option<i64> =
        conn.query_first("SELECT CAST(unix_timestamp(sysdate(6)) * 1000000 AS SIGNED)").await?;
    Ok(micros.and_then(DateTime::from_timestamp_micros).unwrap_or_default())
}

/// One page of candidates, after the last one's key.
pub(super) async fn scan(
    inner: &Inner,
    lent: &mut Lent,
    wanted: &Wanted,
    after: Option<&Cursor>,
) -> Result<Page, SourceFault> {
    // A scan that goes on goes on with the shape that it began with.
    let picked = match (after, inner.known.picked()) {
        (Some(_), Some(picked)) => picked,
        _ => look(inner, lent).await?,
    };
    let read = async {
        let source_now = clock_of(lent.conn()).await?;
        let sql = picked.sql(ENGINE);
        let after = match after {
            Some(Cursor::After(parts)) => parts.as_slice(),
            Some(Cursor::Rows { .. }) | None => &[],
        };
        let query = sql.page(wanted, source_now, after.len(), wanted.page_items_max);
        let (names, _) = sql.selection();
        let items_of = |found: Vec<mysql_async::Row>| -> Vec<Item> {
            found.iter().map(|row| item_at(inner, &picked, &names, row)).collect()
        };
        let items = items_of(rows(lent.conn(), &query, &key::values(after)).await?);
        let is_full = items.len() == wanted.page_items_max;
        let others = match items.last().filter(|_| is_full) {
            Some(last) => {
                let ties = sql.ties(wanted, source_now);
                rows(lent.conn(), &ties, &key::values(&last.key.parts)).await?
            }
            None => match sql.keyless(wanted, source_now) {
                Some(keyless) => rows(lent.conn(), &keyless, &[]).await?,
                None => Vec::new(),
            },
        };
        let (items, next) = whole_page(items, items_of(others), is_full);
        Ok(Page { items, next, source_now })
    };
    read.await.map_err(|fault: Error| inner.place.fault(&fault))
}

/// The item of a row that was selected as [`Sql::selection`] says.
fn item_at(inner: &Inner, picked: &Picked, names: &[Arc<str>], row: &mysql_async::Row) -> Item {
    let cells = names.iter().enumerate().map(|(at, name)| (Arc::clone(name), cell_at(row, at))).collect();
    let error = cell_at(row, names.len());
    // A status that no rule names needs no decision of ours.
    let state = state_of(&cell_at(row, names.len() + 1)).unwrap_or(State::Pending);
    item_of(&inner.known.facts().name, &picked.mapping, Named { cells }, error, state)
}

/// One item by what a person typed as its key.
pub(super) async fn read(
    inner: &Inner,
    lent: &mut Lent,
    typed: &str,
) -> Result<Option<Reading>, SourceFault> {
    let picked = look(inner, lent).await?;
    let mut readings: Vec<Reading> = Vec::new();
    for parts in key::meanings(&picked.sql(ENGINE), typed) {
        let reading = read_by_parts(inner, &picked, lent.conn(), &parts)
            .await
            .map_err(|fault| inner.place.fault(&fault))?;
        if let Some(reading) = reading
            && !readings.iter().any(|known| known.item.key == reading.item.key)
        {
            readings.push(reading);
        }
    }
    key::only_one(readings, typed)
        .map_err(|(what, do_next)| inner.place.fault_of(SourceFaultKind::Mismatch, &what, do_next))
}

/// One item by its key's exact values, item and row of one snapshot.
async fn read_by_parts(
    inner: &Inner,
    picked: &Picked,
    conn: &mut Conn,
    parts: &[Cell],
) -> Result<Option<Reading>, Error> {
    conn.query_drop("START TRANSACTION WITH CONSISTENT SNAPSHOT").await?;
    let read = read_in_transaction(inner, picked, conn, parts).await;
    // It read only: there is nothing to keep.
    conn.query_drop("ROLLBACK").await?;
    read
}

async fn read_in_transaction(
    inner: &Inner,
    picked: &Picked,
    conn: &mut Conn,
    parts: &[Cell],
) -> Result<Option<Reading>, Error> {
    let sql = picked.sql(ENGINE);
    let (names, _) = sql.selection();
    let found = rows(conn, &sql.item(parts), &key::values(parts)).await?;
    let Some(row) = found.first() else { return Ok(None) };
    let item = item_at(inner, picked, &names, row);
    let Some(whole) = read_row(&sql, conn, parts).await? else { return Ok(None) };
    Ok(Some(Reading { item, row: whole, source_now: clock_of(conn).await? }))
}

/// Every column of a row but its payload.
pub(super) async fn read_row(sql: &Sql<'_>, conn: &mut Conn, parts: &[Cell]) -> Result<Option<Row>, Error> {
    let found = rows(conn, &sql.row(parts), &key::values(parts)).await?;
    let Some(row) = found.first() else { return Ok(None) };
    let named = sql.row_columns().into_iter().enumerate().map(|(at, name)| (name, cell_at(row, at)));
    Ok(Some(Row { columns: named.collect() }))
}

/// The beginning of an item's payload, measured and cut in the database.
pub(super) async fn payload(
    inner: &Inner,
    lent: &mut Lent,
    item: &ItemKey,
    bytes_max: usize,
) -> Result<Option<Payload>, SourceFault> {
    let picked = look(inner, lent).await?;
    let Some(column) = &picked.mapping.payload else { return Ok(None) };
    let is_closed = picked.mapping.payload_is == PayloadIs::Closed;
    let bytes_max = if is_closed { 0 } else { bytes_max };
    let sql = picked.sql(ENGINE);
    let text = sql.in_utf8(column);
    let query = format!(
        "SELECT coalesce(octet_length({text}), 0), left(CAST({text} AS BINARY), {bytes_max}) FROM {} WHERE {} LIMIT 1",
        sql.from(),
        key::find(&sql, &item.parts)
    );
    let found = rows(lent.conn(), &query, &key::values(&item.parts)).await;
    let found = found.map_err(|fault| inner.place.fault(&fault))?;
    let Some(row) = found.first() else { return Ok(None) };
    let size_bytes = match cell_at(row, 0) {
        Cell::Integer(size) => u64::try_from(size).unwrap_or_default(),
        _ => 0,
    };
    let bytes = match cell_at(row, 1) {
        Cell::Blob(bytes) | Cell::BadText(bytes) => bytes.to_vec(),
        Cell::Text(text) => text.as_bytes().to_vec(),
        Cell::Null | Cell::Integer(_) | Cell::Real(_) => Vec::new(),
    };
    Ok(Some(Payload { bytes, size_bytes, is_closed }))
}

/// Makes sure that the table of decisions is there with its columns.
pub(super) async fn check_decisions_table(
    inner: &Inner,
    conn: &mut Conn,
    table: &str,
) -> Result<(), SourceFault> {
    let query = "SELECT CAST(column_name AS CHAR) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?";
    let names: Vec<String> = conn.exec(query, (table,)).await.map_err(|fault| inner.place.fault(&fault))?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match decisions_table::fault(ENGINE, table, &names) {
        None => Ok(()),
        Some((what, do_next)) => Err(inner.place.fault_of(SourceFaultKind::Mismatch, &what, &do_next)),
    }
}

/// Whether a decision was written down.
pub(super) async fn has_decision(
    inner: &Inner,
    lent: &mut Lent,
    decision: Uuid,
) -> Result<Option<bool>, SourceFault> {
    let picked = look(inner, lent).await?;
    let Some(table) = &picked.mapping.decisions_table else { return Ok(None) };
    check_decisions_table(inner, lent.conn(), table).await?;
    let values = key::values(&[Cell::text(decision.to_string())]);
    let found = rows(lent.conn(), &decisions_table::has_sql(ENGINE, table), &values).await;
    let found = found.map_err(|fault| inner.place.fault(&fault))?;
    Ok(Some(found.first().is_some_and(|row| cell_at(row, 0) != Cell::Integer(0))))
}
