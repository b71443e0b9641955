//! SQLite's values and ours.

use crate::domain::cell::Cell;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// A value as SQLite holds it.
pub(super) fn cell_of(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Cell::text(text),
            Err(_) => Cell::bad_text(bytes.to_vec()),
        },
        ValueRef::Blob(bytes) => Cell::blob(bytes.to_vec()),
    }
}

/// A value to bind, the same that was read.
pub(super) fn bindable(cell: &Cell) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match cell {
        Cell::Null => ValueRef::Null,
        Cell::Integer(number) => ValueRef::Integer(*number),
        Cell::Real(number) => ValueRef::Real(*number),
        Cell::Text(text) => ValueRef::Text(text.as_bytes()),
        Cell::BadText(bytes) => ValueRef::Text(bytes),
        Cell::Blob(bytes) => ValueRef::Blob(bytes),
    })
}
