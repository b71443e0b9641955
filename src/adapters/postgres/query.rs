//! What is read of a PostgreSQL database.

use super::Inner;
use super::client::{Client, Error, RowStream, value_at};
use super::connect::Lent;
use super::fault::is_no_such_value;
use super::look::look;
use super::value::{Bound, cell_at};
use crate::adapters::sql::{Held, Named, Picked, Sql, decisions_table, item_of, key, state_of};
use crate::domain::cell::Cell;
use crate::domain::item::{Item, ItemKey, Row, State};
use crate::ports::source::{Payload, Reading, SourceFault, SourceFaultKind};
use crate::preset::source::{Engine, PayloadIs, positional};
use chrono::{DateTime, Utc};
use std::sync::Arc;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

pub(super) const ENGINE: Engine = Engine::Postgres;

/// Values by the names that a statement calls them.
pub(super) type Values = [(String, Cell)];

/// A statement as the server wants it, and the values in that order.
pub(super) fn bound(sql: &str, values: &Values) -> (String, Vec<Bound>) {
    let (spelled, names) = positional(sql, ENGINE);
    let value = |name: &String| values.iter().find(|(known, _)| known == name).map(|(_, cell)| cell.clone());
    (spelled, names.iter().map(|name| Bound(value(name).unwrap_or(Cell::Null))).collect())
}

/// The rows of a query with named values.
pub(super) async fn rows(
    client: &Client,
    sql: &str,
    values: &Values,
) -> Result<Vec<tokio_postgres::Row>, Error> {
    let (spelled, bound) = bound(sql, values);
    let parameters: Vec<&(dyn ToSql + Sync)> = bound.iter().map(|one| one as &(dyn ToSql + Sync)).collect();
    client.query(&spelled, &parameters).await
}

/// The same, one after the other as they come.
pub(super) async fn stream(client: &Client, sql: &str, values: &Values) -> Result<RowStream, Error> {
    let (spelled, bound) = bound(sql, values);
    client.stream(&spelled, bound.iter().map(|one| one as &(dyn ToSql + Sync))).await
}

/// The source's own clock, which goes on within a transaction.
pub(super) async fn clock_of(client: &Client) -> Result<DateTime<Utc>, Error> {
    let row = client.query_one("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8", &[]).await?;
    Ok(DateTime::from_timestamp_micros(row.try_get(0)?).unwrap_or_default())
}

/// The item of a row that was selected as [`Sql::selection`] says.
pub(super) fn item_at(
    inner: &Inner,
    picked: &Picked,
    names: &[Arc<str>],
    row: &tokio_postgres::Row,
) -> Result<Item, Error> {
    let sql = picked.sql(ENGINE);
    let is_field = |name: &str| picked.mapping.fields.iter().any(|(field, _)| field == name);
    let mut cells = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        let held = if is_field(name) { Held::Text } else { sql.held(name) };
        cells.push((Arc::clone(name), cell_at(row, at, held)?));
    }
    let error_held = match picked.mapping.error.as_deref().map(|column| sql.held(column)) {
        Some(Held::Bytes) => Held::Bytes,
        _ => Held::Text,
    };
    let error = cell_at(row, names.len(), error_held)?;
    let state: Option<i32> = row.try_get(names.len() + 1)?;
    let state = state.and_then(|number| state_of(&Cell::Integer(number.into())));
    let name = &inner.known.facts().name;
    // A status that no rule names needs no decision of ours.
    Ok(item_of(name, &picked.mapping, Named { cells }, error, state.unwrap_or(State::Pending)))
}

/// One item by what a person typed as its key.
pub(super) async fn read(inner: &Inner, lent: &Lent, typed: &str) -> Result<Option<Reading>, SourceFault> {
    let picked = look(inner, lent).await?;
    let mut readings: Vec<Reading> = Vec::new();
    for parts in key::meanings(&picked.sql(ENGINE), typed) {
        match read_by_parts(inner, &picked, lent.client(), &parts).await {
            Ok(Some(reading)) if !readings.iter().any(|known| known.item.key == reading.item.key) => {
                readings.push(reading);
            }
            Ok(_) => {}
            Err(fault) if is_no_such_value(&fault) => {
                lent.begin_again().await.map_err(|fault| inner.place.fault(&fault))?;
            }
            Err(fault) => return Err(inner.place.fault(&fault)),
        }
    }
    key::only_one(readings, typed)
        .map_err(|(what, do_next)| inner.place.fault_of(SourceFaultKind::Mismatch, &what, do_next))
}

/// One item by its key's exact values: item and row are of one snapshot, the transaction's.
async fn read_by_parts(
    inner: &Inner,
    picked: &Picked,
    client: &Client,
    parts: &[Cell],
) -> Result<Option<Reading>, Error> {
    let sql = picked.sql(ENGINE);
    let (names, _) = sql.selection();
    let found = rows(client, &sql.item(parts), &key::values(parts)).await?;
    let Some(row) = found.first() else { return Ok(None) };
    let item = item_at(inner, picked, &names, row)?;
    let Some(whole) = read_row(&sql, client, parts).await? else { return Ok(None) };
    Ok(Some(Reading { item, row: whole, source_now: clock_of(client).await? }))
}

/// Every column of a row but its payload.
pub(super) async fn read_row(sql: &Sql<'_>, client: &Client, parts: &[Cell]) -> Result<Option<Row>, Error> {
    let names = sql.row_columns();
    let found = rows(client, &sql.row(parts), &key::values(parts)).await?;
    let Some(row) = found.first() else { return Ok(None) };
    let mut columns = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        columns.push((Arc::clone(name), cell_at(row, at, sql.held(name))?));
    }
    Ok(Some(Row { columns }))
}

/// The beginning of an item's payload, measured and cut in the database.
pub(super) async fn payload(
    inner: &Inner,
    lent: &Lent,
    item: &ItemKey,
    bytes_max: usize,
) -> Result<Option<Payload>, SourceFault> {
    let picked = look(inner, lent).await?;
    let Some(column) = &picked.mapping.payload else { return Ok(None) };
    let is_closed = picked.mapping.payload_is == PayloadIs::Closed;
    let bytes_max = if is_closed { 0 } else { bytes_max };
    let sql = picked.sql(ENGINE);
    let bytes = match sql.held(column) {
        Held::Bytes => sql.quoted(column),
        // As the session is told a text: in UTF-8, or whatever the bytes are where the database has no encoding.
        _ => format!("textsend({}::text)", sql.quoted(column)),
    };
    let query = format!(
        "SELECT octet_length({bytes})::int8, substr({bytes}, 1, {bytes_max}) FROM {} WHERE {}{} LIMIT 1",
        sql.from(),
        key::find(&sql, &item.parts),
        key::exact_first(&sql, &item.parts)
    );
    let read = async {
        let found = rows(lent.client(), &query, &key::values(&item.parts)).await?;
        let Some(row) = found.first() else { return Ok(None) };
        let (size, bytes): (Option<i64>, Option<Vec<u8>>) = (row.try_get(0)?, row.try_get(1)?);
        let size_bytes = u64::try_from(size.unwrap_or_default()).unwrap_or_default();
        Ok(Some(Payload { bytes: bytes.unwrap_or_default(), size_bytes, is_closed }))
    };
    read.await.map_err(|fault: Error| inner.place.fault(&fault))
}

/// Makes sure that the table of decisions is there with its columns.
pub(super) async fn check_decisions_table(
    inner: &Inner,
    client: &Client,
    table: &str,
) -> Result<(), SourceFault> {
    let query = "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass(quote_ident($1)) AND attnum > 0 AND NOT attisdropped";
    let found = client.query(query, &[&table]).await.map_err(|fault| inner.place.fault(&fault))?;
    let names: Vec<String> = found.iter().filter_map(|row| row.try_get(0).ok()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match decisions_table::fault(ENGINE, table, &names) {
        None => Ok(()),
        Some((what, do_next)) => Err(inner.place.fault_of(SourceFaultKind::Mismatch, &what, &do_next)),
    }
}

/// Whether a decision was written down.
pub(super) async fn has_decision(
    inner: &Inner,
    lent: &Lent,
    decision: Uuid,
) -> Result<Option<bool>, SourceFault> {
    let picked = look(inner, lent).await?;
    let Some(table) = &picked.mapping.decisions_table else { return Ok(None) };
    check_decisions_table(inner, lent.client(), table).await?;
    let values = key::values(&[Cell::text(decision.to_string())]);
    let count = async {
        let found = rows(lent.client(), &decisions_table::has_sql(ENGINE, table), &values).await?;
        found.first().map_or(Ok(0), |row| value_at::<i64>(row, 0))
    };
    count.await.map(|count| Some(count > 0)).map_err(|fault| inner.place.fault(&fault))
}
