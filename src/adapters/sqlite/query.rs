//! The queries that read: built from the preset, values bound, identifiers quoted. The database filters.

use super::Inner;
use super::detect::columns_of;
use super::fault::{fault_of, fault_of_sql};
use super::key;
use super::rows::{Named, bindable, cell_of, item_of};
use crate::domain::cell::Cell;
use crate::domain::item::{ItemKey, Row, State};
use crate::domain::moment::{TimeFormat, Zone};
use crate::ports::source::{Cursor, Page, Payload, Reading, SourceFault, SourceFaultKind, Wanted};
use crate::preset::source::{Condition, LeaseColumns, Literal, SourcePreset, TimeColumn};
use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{Connection, params_from_iter};
use std::sync::Arc;

/// How much of a long error is read from each of its ends, in characters.
const ERROR_END_CHARS: usize = 8_000;
/// How much younger than the policy's limit the rows are that the database begins to hand out: pure code decides on the
/// exact edge.
const PREFILTER_SLACK: TimeDelta = TimeDelta::seconds(10);

/// An identifier, quoted.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Literal::Integer(number) => number.to_string(),
        Literal::Truth(truth) => i32::from(*truth).to_string(),
    }
}

fn condition_sql(condition: &Condition) -> String {
    match condition {
        Condition::OneOf(column, values) => {
            let values: Vec<String> = values.iter().map(literal).collect();
            format!("{} IN ({})", quoted(column), values.join(", "))
        }
        Condition::IsNull(column) => format!("{} IS NULL", quoted(column)),
        Condition::IsNotNull(column) => format!("{} IS NOT NULL", quoted(column)),
        Condition::BeginsWith(column, text) => {
            let text = literal(&Literal::Text(text.clone()));
            // A NULL begins with nothing; without coalesce it would make the whole rule NULL.
            format!("coalesce(substr({}, 1, length({text})) = {text}, 0)", quoted(column))
        }
        Condition::Sql(expression) => format!("({expression})"),
    }
}

fn rule_sql(when: &[Condition]) -> String {
    when.iter().map(condition_sql).collect::<Vec<_>>().join(" AND ")
}

/// The state of a row as a number: its place in [`State::ALL`], or NULL where no rule fits.
fn state_sql(preset: &SourcePreset) -> String {
    let branches: Vec<String> = preset
        .states
        .iter()
        .map(|rule| format!("WHEN {} THEN {}", rule_sql(&rule.when), state_number(rule.state)))
        .collect();
    format!("CASE {} END", branches.join(" "))
}

/// The same, for `doctor`.
pub(super) fn state_of_rules(preset: &SourcePreset) -> String {
    state_sql(preset)
}

fn state_number(state: State) -> usize {
    State::ALL.iter().position(|known| *known == state).unwrap_or_default()
}

fn state_of(cell: &Cell) -> Option<State> {
    match cell {
        Cell::Integer(number) => usize::try_from(*number).ok().and_then(|at| State::ALL.get(at).copied()),
        _ => None,
    }
}

/// Rows that may be findings. Each rule stands on its own so that an index on the status can be used.
fn candidates_sql(preset: &SourcePreset, cutoff: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let branches: Vec<String> = preset
        .states
        .iter()
        .filter_map(|rule| match rule.state {
            State::Pending | State::Done => None,
            State::Failed | State::Dead => Some(format!("({})", rule_sql(&rule.when))),
            State::Running => Some(match not_young_sql(preset, cutoff, now) {
                Some(not_young) => format!("({} AND {not_young})", rule_sql(&rule.when)),
                None => format!("({})", rule_sql(&rule.when)),
            }),
        })
        .collect();
    if branches.is_empty() { "0".to_owned() } else { branches.join(" OR ") }
}

/// "Not surely young": what the database cannot read passes, because it is never fresh.
fn not_young_sql(preset: &SourcePreset, cutoff: DateTime<Utc>, now: DateTime<Utc>) -> Option<String> {
    if preset.lease != LeaseColumns::None {
        return None;
    }
    let mut times: Vec<&TimeColumn> =
        [&preset.times.started, &preset.times.updated].into_iter().flatten().collect();
    if times.is_empty() {
        times.extend(&preset.times.created);
    }
    let young: Vec<String> =
        times.into_iter().map(|time| young_sql(time, cutoff, now)).collect::<Option<Vec<_>>>()?;
    (!young.is_empty()).then(|| format!("NOT ({})", young.join(" OR ")))
}

pub(super) fn young_sql(time: &TimeColumn, cutoff: DateTime<Utc>, now: DateTime<Utc>) -> Option<String> {
    if time.zone != Zone::Utc {
        return None;
    }
    let column = quoted(&time.column);
    let between = |read: &str, is_number: &str, low: String, high: String| {
        Some(format!("coalesce({is_number} AND {read} BETWEEN {low} AND {high}, 0)"))
    };
    let julian = |at: DateTime<Utc>| {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of this century")]
        let days = at.timestamp_millis() as f64 / 86_400_000.0 + 2_440_587.5;
        format!("{days:.9}")
    };
    match time.format {
        // As a time, never as text: an isoformat `T` sorts after a space.
        TimeFormat::Iso => {
            between(&format!("julianday({column})"), &is_iso_sql(&column), julian(cutoff), julian(now))
        }
        TimeFormat::Julian => {
            between(&column, &format!("typeof({column}) = 'real'"), julian(cutoff), julian(now))
        }
        epoch => {
            let per_second = epoch.units_per_second()?;
            let units = |at: DateTime<Utc>| i128::from(at.timestamp()) * i128::from(per_second);
            let number = format!("typeof({column}) IN ('integer', 'real')");
            between(&column, &number, units(cutoff).to_string(), units(now).to_string())
        }
    }
}

/// Whether a column holds a text that SQLite reads as the same time as [`crate::domain::moment::read`]. SQLite alone
/// would also take a date without a time, a 31st of February, an hour 24, bytes, and a text that goes on after a NUL.
fn is_iso_sql(column: &str) -> String {
    format!(
        "typeof({column}) = 'text' AND length({column}) = octet_length({column}) \
         AND {column} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][T ][0-9][0-9]:[0-9][0-9]*' \
         AND substr({column}, 12, 2) < '24' AND date(substr({column}, 1, 10)) = substr({column}, 1, 10)"
    )
}

/// The latest error, cut in the middle: only its ends are looked at.
fn error_sql(column: &str) -> String {
    let column = quoted(column);
    format!(
        "CASE WHEN octet_length({column}) <= {limit} THEN {column} \
         WHEN typeof({column}) = 'text' THEN substr({column}, 1, {end}) || char(10) || '[cut]' || char(10) || substr({column}, -{end}) \
         ELSE substr({column}, 1, {end}) END",
        limit = 2 * ERROR_END_CHARS,
        end = ERROR_END_CHARS,
    )
}

/// The columns of an item by name, and the list to select: fields, then the error, then the state.
fn selection(preset: &SourcePreset) -> (Vec<Arc<str>>, String) {
    let mut names: Vec<Arc<str>> = Vec::new();
    let mut expressions = Vec::new();
    for column in preset.columns() {
        let is_large = [&preset.error, &preset.payload].into_iter().flatten().any(|large| large == column);
        if !is_large {
            names.push(column.into());
            expressions.push(quoted(column));
        }
    }
    for (name, expression) in &preset.fields {
        names.push(name.as_str().into());
        expressions.push(format!("({expression})"));
    }
    expressions.push(preset.error.as_deref().map_or_else(|| "NULL".to_owned(), error_sql));
    expressions.push(state_sql(preset));
    (names, expressions.join(", "))
}

/// The source's own clock. SQLite has none but its machine's.
pub(super) fn clock_of(connection: &Connection) -> rusqlite::Result<DateTime<Utc>> {
    let millis: i64 = connection.query_row(
        "SELECT CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER)",
        [],
        |row| row.get(0),
    )?;
    Ok(DateTime::from_timestamp_millis(millis).unwrap_or_default())
}

/// Makes sure that the table and its columns are there. Without this, SQLite reads a missing quoted column as a text.
pub(super) fn check_columns(
    inner: &Inner,
    connection: &Connection,
) -> Result<Vec<(String, String)>, SourceFault> {
    let (path, preset) = (inner.place.path(), &inner.preset);
    let columns = columns_of(connection, &preset.table).map_err(|fault| fault_of_sql(path, &fault))?;
    let mismatch =
        |what: String, do_next: &str| Err(fault_of(path, SourceFaultKind::Mismatch, &what, do_next));
    if columns.is_empty() {
        return mismatch(
            format!("has no table `{}`", crate::domain::text::clean(&preset.table)),
            "Name the right table in the configuration; `unstuck doctor` lists those there are.",
        );
    }
    let missing: Vec<String> = preset
        .columns()
        .into_iter()
        .filter(|wanted| !columns.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted)))
        .map(|column| format!("`{}`", crate::domain::text::clean(column)))
        .collect();
    if !missing.is_empty() {
        return mismatch(
            format!(
                "table `{}` has no column {}",
                crate::domain::text::clean(&preset.table),
                missing.join(", ")
            ),
            "Map the columns in the configuration; `unstuck doctor` lists those there are.",
        );
    }
    Ok(columns)
}

/// One page of candidates.
pub(super) fn scan(
    inner: &Inner,
    connection: &Connection,
    wanted: &Wanted,
    after: Option<&Cursor>,
) -> Result<Page, SourceFault> {
    let columns = check_columns(inner, connection)?;
    let read = || -> rusqlite::Result<Page> {
        let preset = &inner.preset;
        let source_now = clock_of(connection)?;
        let cutoff = source_now - wanted.running_older_than + PREFILTER_SLACK;
        let (names, _) = selection(preset);
        let row_number = row_number_of(connection, &columns, &quoted(&preset.table));
        let sql = scan_sql(preset, row_number, (cutoff, source_now), wanted.page_items_max);
        let mut statement = connection.prepare(&sql)?;
        let (from, to) = after.map_or((i64::MIN, i64::MAX), |cursor| (cursor.from, cursor.to));
        let mut rows = statement.query([from, to])?;
        let mut items = Vec::with_capacity(wanted.page_items_max.min(ITEMS_EXPECTED_MAX));
        let (mut read_count, mut last) = (0_usize, i64::MIN);
        while let Some(row) = rows.next()? {
            last = row.get(0)?;
            read_count += 1;
            let of_row = Named::of(&names, row, 1)?;
            let error = cell_of(row.get_ref(names.len() + 1)?);
            let state = state_of(&cell_of(row.get_ref(names.len() + 2)?));
            if let Some(state) = state {
                items.push(item_of(&inner.facts.name, preset, of_row, error, state));
            }
        }
        let is_full = row_number.is_some() && read_count == wanted.page_items_max;
        let next = last.checked_add(1).filter(|next| is_full && *next <= to).map(|from| Cursor { from, to });
        Ok(Page { items, next, source_now })
    };
    read().map_err(|fault| fault_of_sql(inner.place.path(), &fault))
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
    let columns = check_columns(inner, connection)?;
    let table = quoted(&inner.preset.table);
    let Some(number) = row_number_of(connection, &columns, &table) else { return Ok(vec![None]) };
    let sql = format!(
        "SELECT coalesce((SELECT min({number}) FROM {table}), 0), coalesce((SELECT max({number}) FROM {table}), 0)"
    );
    let bounds = connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
    let (lowest, highest) = bounds.map_err(|fault| fault_of_sql(inner.place.path(), &fault))?;
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
    (0..parts).map(|part| Some(Cursor { from: begin(part), to: end(part) })).collect()
}

/// The query of one page, from a row number (`?1`) to another (`?2`).
pub(super) fn scan_sql(
    preset: &SourcePreset,
    row_number: Option<&str>,
    (cutoff, now): (DateTime<Utc>, DateTime<Utc>),
    page_items_max: usize,
) -> String {
    let (_, selected) = selection(preset);
    let candidates = candidates_sql(preset, cutoff, now);
    let table = quoted(&preset.table);
    match row_number {
        Some(number) => format!(
            "SELECT {number}, {selected} FROM {table} WHERE {number} BETWEEN ?1 AND ?2 AND ({candidates}) \
             ORDER BY {number} LIMIT {page_items_max}"
        ),
        // A table without row numbers is read in one page: there is nothing stable to go on from.
        None => format!("SELECT ?1, {selected} FROM {table} WHERE ?2 IS NOT NULL AND ({candidates})"),
    }
}

/// SQLite's name for the number of a row, as long as no column has taken it; `None` for a view, and for a table without.
fn row_number_of(connection: &Connection, columns: &[(String, String)], table: &str) -> Option<&'static str> {
    ["rowid", "_rowid_", "oid"]
        .into_iter()
        .find(|name| !columns.iter().any(|(column, _)| column.eq_ignore_ascii_case(name)))
        .filter(|name| connection.prepare(&format!("SELECT {name} FROM {table} LIMIT 0")).is_ok())
}

/// One item by what a person typed as its key.
pub(super) fn read(
    inner: &Inner,
    connection: &Connection,
    key: &str,
) -> Result<Option<Reading>, SourceFault> {
    check_columns(inner, connection)?;
    let found = || -> rusqlite::Result<Vec<Reading>> {
        // One snapshot: an item that was read before somebody else's write and its row after it would together be a row
        // that nobody has seen, and a decision on the one would overwrite the other.
        let _snapshot = connection.unchecked_transaction()?;
        let mut readings: Vec<Reading> = Vec::new();
        for parts in key::meanings(key, inner.preset.key.len()) {
            if let Some(reading) = read_by_parts(inner, connection, &parts)?
                && !readings.iter().any(|known| known.item.key == reading.item.key)
            {
                readings.push(reading);
            }
        }
        Ok(readings)
    };
    let mut readings = found().map_err(|fault| fault_of_sql(inner.place.path(), &fault))?;
    // What is written exactly so comes before another spelling of it: `007` is not 7 where there is a `007`.
    if readings.iter().any(|reading| reading.item.key.as_str() == key) {
        readings.retain(|reading| reading.item.key.as_str() == key);
    }
    // The text '7' and the number 7 look the same: nothing may be decided on the one that was not meant.
    if readings.len() > 1 {
        let shown = crate::domain::text::clean_cut(key, 80);
        let what = format!("has {} items that are written `{shown}`", readings.len());
        let do_next = "Give the preset a key whose values differ in writing, such as the row's number.";
        return Err(fault_of(inner.place.path(), SourceFaultKind::Mismatch, &what, do_next));
    }
    Ok(readings.pop())
}

/// One item by its key's exact values.
pub(super) fn read_by_parts(
    inner: &Inner,
    connection: &Connection,
    parts: &[Cell],
) -> rusqlite::Result<Option<Reading>> {
    let preset = &inner.preset;
    let (names, selected) = selection(preset);
    let sql =
        format!("SELECT {selected} FROM {} WHERE {} LIMIT 1", quoted(&preset.table), key::find_sql(preset));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params_from_iter(parts.iter().map(bindable)))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let of_row = Named::of(&names, row, 0)?;
    let error = cell_of(row.get_ref(names.len())?);
    // A status that no rule names needs no decision of ours.
    let state = state_of(&cell_of(row.get_ref(names.len() + 1)?)).unwrap_or(State::Pending);
    let item = item_of(&inner.facts.name, preset, of_row, error, state);
    drop(rows);
    let Some(whole) = read_row(preset, connection, parts)? else { return Ok(None) };
    Ok(Some(Reading { item, row: whole, source_now: clock_of(connection)? }))
}

/// Every column of a row but its payload.
pub(super) fn read_row(
    preset: &SourcePreset,
    connection: &Connection,
    parts: &[Cell],
) -> rusqlite::Result<Option<Row>> {
    let columns: Vec<String> = columns_of(connection, &preset.table)?
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| preset.payload.as_ref().is_none_or(|payload| !payload.eq_ignore_ascii_case(name)))
        .collect();
    let selected: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
    let sql = format!(
        "SELECT {} FROM {} WHERE {} LIMIT 1",
        selected.join(", "),
        quoted(&preset.table),
        key::find_sql(preset)
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params_from_iter(parts.iter().map(bindable)))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let cells = columns
        .iter()
        .enumerate()
        .map(|(at, name)| Ok((Arc::from(name.as_str()), cell_of(row.get_ref(at)?))))
        .collect::<rusqlite::Result<_>>()?;
    Ok(Some(Row { columns: cells }))
}

/// The beginning of an item's payload.
pub(super) fn payload(
    inner: &Inner,
    connection: &Connection,
    key: &ItemKey,
    bytes_max: usize,
) -> Result<Option<Payload>, SourceFault> {
    let Some(column) = &inner.preset.payload else { return Ok(None) };
    check_columns(inner, connection)?;
    let read = || -> rusqlite::Result<Option<Payload>> {
        // Measured and cut in the database: a 50 MB payload never crosses over.
        let sql = format!(
            "SELECT coalesce(octet_length({column}), 0), substr(CAST({column} AS BLOB), 1, {bytes_max}) FROM {} WHERE {} LIMIT 1",
            quoted(&inner.preset.table),
            key::find_sql(&inner.preset),
            column = quoted(column),
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query(params_from_iter(key.parts.iter().map(bindable)))?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let size: i64 = row.get(0)?;
        let bytes = match row.get_ref(1)? {
            rusqlite::types::ValueRef::Blob(bytes) | rusqlite::types::ValueRef::Text(bytes) => bytes.to_vec(),
            _ => Vec::new(),
        };
        Ok(Some(Payload { bytes, size_bytes: u64::try_from(size).unwrap_or_default() }))
    };
    read().map_err(|fault| fault_of_sql(inner.place.path(), &fault))
}
