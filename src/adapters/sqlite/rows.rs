//! From SQLite's values to items.

use crate::domain::cell::Cell;
use crate::domain::item::{Item, ItemKey, LastError, Lease, State, Times};
use crate::domain::moment::{self, Reading};
use crate::preset::source::{KindFrom, LeaseColumns, SourcePreset, TimeColumn};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use std::sync::Arc;

/// A value as SQLite holds it.
pub(super) fn cell_of(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Cell::Text(text.to_owned()),
            Err(_) => Cell::BadText(bytes.to_vec()),
        },
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
    }
}

/// A value to bind, the same that was read.
pub(super) fn bindable(cell: &Cell) -> rusqlite::types::ToSqlOutput<'_> {
    use rusqlite::types::ToSqlOutput::Borrowed;
    Borrowed(match cell {
        Cell::Null => ValueRef::Null,
        Cell::Integer(number) => ValueRef::Integer(*number),
        Cell::Real(number) => ValueRef::Real(*number),
        Cell::Text(text) => ValueRef::Text(text.as_bytes()),
        Cell::BadText(bytes) => ValueRef::Text(bytes),
        Cell::Blob(bytes) => ValueRef::Blob(bytes),
    })
}

/// The values of one row by name, as a scan or a look-up selected them.
pub(super) struct Named {
    pub(super) cells: Vec<(Arc<str>, Cell)>,
}

impl Named {
    /// The first values of a row from column `first` on, one for each name.
    pub(super) fn of(names: &[Arc<str>], row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let mut cells = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            cells.push((Arc::clone(name), cell_of(row.get_ref(first + at)?)));
        }
        Ok(Self { cells })
    }

    fn get(&self, name: &str) -> &Cell {
        self.cells.iter().find(|(known, _)| &**known == name).map_or(&Cell::Null, |(_, cell)| cell)
    }
}

/// A value as plain text; a text is not copied.
fn into_plain(cell: Cell) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text),
        other => other.to_plain(),
    }
}

/// An item from its row. `state` is what the preset's rules made of it.
pub(super) fn item_of(
    source: &Arc<str>,
    preset: &SourcePreset,
    row: Named,
    error: Cell,
    state: State,
) -> Item {
    let mut oddities = Vec::new();
    let status = row.get(&preset.status);
    let kind = match &preset.kind {
        KindFrom::Fixed(kind) => Arc::clone(kind),
        KindFrom::Column(column) => row.get(column).to_plain().unwrap_or_default().into(),
    };
    let attempts =
        preset.attempts.as_ref().and_then(|column| attempts_of(row.get(column), column, &mut oddities));
    let error_column = preset.error.as_deref();
    let key = ItemKey::new(preset.key.iter().map(|column| row.get(column).clone()).collect());
    let status = match status {
        Cell::Text(text) => text.as_str().into(),
        other => other.to_plain().unwrap_or_else(|| "NULL".to_owned()).into(),
    };
    let times = times_of(preset, &row, state);
    let mut fields = row.cells;
    fields.retain(|(name, _)| Some(&**name) != error_column);
    Item {
        source: Arc::clone(source),
        key,
        kind,
        status,
        state,
        attempts,
        tried_once: preset.tried_once,
        times,
        last_error: match (error_column, error) {
            (None, _) => LastError::NotKept,
            (Some(_), Cell::Null) => LastError::Absent,
            (Some(_), cell) => LastError::Text(into_plain(cell).unwrap_or_default()),
        },
        fields,
        oddities,
    }
}

fn attempts_of(cell: &Cell, column: &str, oddities: &mut Vec<String>) -> Option<i64> {
    match cell {
        Cell::Null => None,
        Cell::Integer(count) => Some(*count),
        other => {
            let count = other.as_text().and_then(|text| text.trim().parse().ok());
            if count.is_none() {
                let shown = crate::domain::text::clean_cut(&other.shown(), 40);
                oddities.push(format!("Its {column} holds {shown}, which is not a number."));
            }
            count
        }
    }
}

fn times_of(preset: &SourcePreset, row: &Named, state: State) -> Times {
    let read = |time: &TimeColumn| moment::read(row.get(&time.column), time.format, time.zone);
    let of = |time: &Option<TimeColumn>| time.as_ref().map_or(Reading::Missing, read);
    Times {
        created: of(&preset.times.created),
        first_attempt: of(&preset.times.first_attempt),
        started: match &preset.times.started {
            None if preset.updated_when_taken && state == State::Running => of(&preset.times.updated),
            started => of(started),
        },
        updated: of(&preset.times.updated),
        lease: match &preset.lease {
            LeaseColumns::None => Lease::None,
            LeaseColumns::EndsAt(time) => Lease::EndsAt(read(time)),
            LeaseColumns::Seconds { column, unlimited } => seconds_of(row.get(column), unlimited),
            LeaseColumns::Heartbeat { beat, limit_seconds } => {
                Lease::Heartbeat { beat: read(beat), limit_seconds: *limit_seconds }
            }
        },
    }
}

fn seconds_of(cell: &Cell, unlimited: &[i64]) -> Lease {
    match cell {
        Cell::Integer(seconds) if unlimited.contains(seconds) => Lease::Seconds(None),
        Cell::Integer(seconds) if *seconds >= 0 => Lease::Seconds(Some(*seconds)),
        // Without a readable limit of its own, the policy's counts.
        _ => Lease::None,
    }
}
