//! MySQL's values and ours.

use crate::adapters::sql::Held;
use crate::domain::cell::Cell;
use mysql_async::consts::{ColumnFlags, ColumnType};
use mysql_async::{Column, Row, Value};

/// The collation of what is no text.
const BINARY: u16 = 63;

/// A value to bind.
pub(super) fn bindable(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::NULL,
        Cell::Integer(number) => Value::Int(*number),
        Cell::Real(number) => Value::Double(*number),
        Cell::Text(text) => Value::Bytes(text.as_bytes().to_vec()),
        Cell::BadText(bytes) | Cell::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

/// A value of a row, by what its column says that it is.
pub(super) fn cell_at(row: &Row, at: usize) -> Cell {
    let columns = row.columns_ref();
    match (row.as_ref(at), columns.get(at)) {
        (Some(value), Some(column)) => cell_of(value, column),
        _ => Cell::Null,
    }
}

fn cell_of(value: &Value, column: &Column) -> Cell {
    match value {
        Value::NULL => Cell::Null,
        Value::Int(number) => Cell::Integer(*number),
        Value::UInt(number) => {
            i64::try_from(*number).map_or_else(|_| Cell::text(number.to_string()), Cell::Integer)
        }
        // As it is, not as it is printed: what a FLOAT is compared with is no FLOAT.
        Value::Float(number) => Cell::Real(f64::from(*number)),
        Value::Double(number) => Cell::Real(*number),
        Value::Date(year, month, day, hour, minute, second, micros) => {
            let date = format!("{year:04}-{month:02}-{day:02}");
            Cell::text(match (column.column_type(), *micros) {
                (ColumnType::MYSQL_TYPE_DATE, _) => date,
                (_, 0) => format!("{date} {hour:02}:{minute:02}:{second:02}"),
                (_, micros) => format!("{date} {hour:02}:{minute:02}:{second:02}.{micros:06}"),
            })
        }
        Value::Time(is_negative, days, hours, minutes, seconds, micros) => {
            let sign = if *is_negative { "-" } else { "" };
            let hours = u32::from(*hours) + days * 24;
            // As the server prints it: as many digits as the column has.
            let fraction: String = match usize::from(column.decimals()) {
                0 => String::new(),
                digits => format!(".{micros:06}").chars().take(1 + digits).collect(),
            };
            Cell::text(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}"))
        }
        Value::Bytes(bytes) if column.column_type() == ColumnType::MYSQL_TYPE_BIT => {
            Cell::Integer(bytes.iter().take(8).fold(0, |number, byte| number << 8 | i64::from(*byte)))
        }
        Value::Bytes(bytes) if held_by(column) == Held::Bytes => Cell::blob(bytes.clone()),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Cell::text(text),
            Err(_) => Cell::bad_text(bytes.clone()),
        },
    }
}

/// What a column holds.
pub(super) fn held_by(column: &Column) -> Held {
    use ColumnType as Of;
    if column.flags().intersects(ColumnFlags::ENUM_FLAG | ColumnFlags::SET_FLAG) {
        return Held::Word;
    }
    match column.column_type() {
        Of::MYSQL_TYPE_TINY
        | Of::MYSQL_TYPE_SHORT
        | Of::MYSQL_TYPE_LONG
        | Of::MYSQL_TYPE_LONGLONG
        | Of::MYSQL_TYPE_INT24
        | Of::MYSQL_TYPE_YEAR
        | Of::MYSQL_TYPE_BIT => Held::Integer,
        Of::MYSQL_TYPE_FLOAT | Of::MYSQL_TYPE_DOUBLE => Held::Real,
        Of::MYSQL_TYPE_TIMESTAMP | Of::MYSQL_TYPE_TIMESTAMP2 => Held::Moment,
        Of::MYSQL_TYPE_DATETIME | Of::MYSQL_TYPE_DATETIME2 => Held::NaiveMoment,
        Of::MYSQL_TYPE_TINY_BLOB
        | Of::MYSQL_TYPE_MEDIUM_BLOB
        | Of::MYSQL_TYPE_LONG_BLOB
        | Of::MYSQL_TYPE_BLOB
        | Of::MYSQL_TYPE_STRING
        | Of::MYSQL_TYPE_VAR_STRING
        | Of::MYSQL_TYPE_VARCHAR
            if column.character_set() == BINARY =>
        {
            Held::Bytes
        }
        _ => Held::Text,
    }
}
