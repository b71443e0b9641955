//! PostgreSQL's values and ours. Values go out as text, so that the server reads them as the type that stands there.

use crate::adapters::sql::Held;
use crate::domain::cell::{Cell, hex};
use bytes::BytesMut;
use std::error::Error;
use tokio_postgres::Row;
use tokio_postgres::types::{Format, FromSql, IsNull, ToSql, Type, to_sql_checked};

/// A value to bind.
#[derive(Debug)]
pub(super) struct Bound(pub(super) Cell);

impl ToSql for Bound {
    fn to_sql(&self, _type: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let text = match &self.0 {
            Cell::Null => return Ok(IsNull::Yes),
            Cell::Integer(number) => number.to_string(),
            Cell::Real(number) => number.to_string(),
            Cell::Text(text) => {
                out.extend_from_slice(text.as_bytes());
                return Ok(IsNull::No);
            }
            Cell::BadText(bytes) => {
                out.extend_from_slice(bytes);
                return Ok(IsNull::No);
            }
            Cell::Blob(bytes) => format!("\\x{}", hex(bytes)),
        };
        out.extend_from_slice(text.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_type: &Type) -> bool {
        true
    }

    fn encode_format(&self, _type: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

/// A value of a row that was selected as [`crate::adapters::sql::Sql::read`] writes it.
pub(super) fn cell_at(row: &Row, at: usize, held: Held) -> Result<Cell, tokio_postgres::Error> {
    Ok(match held {
        Held::Integer => row.try_get::<_, Option<i64>>(at)?.map_or(Cell::Null, Cell::Integer),
        Held::Real => row.try_get::<_, Option<f64>>(at)?.map_or(Cell::Null, Cell::Real),
        Held::Bytes => row.try_get::<_, Option<Vec<u8>>>(at)?.map_or(Cell::Null, Cell::blob),
        Held::Text | Held::Word | Held::Moment | Held::NaiveMoment | Held::Any => {
            row.try_get::<_, Option<Spelled>>(at)?.map_or(Cell::Null, |spelled| spelled.0)
        }
    })
}

/// A text. A database whose encoding is `SQL_ASCII` takes any bytes for one.
struct Spelled(Cell);

impl<'a> FromSql<'a> for Spelled {
    fn from_sql(_type: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match std::str::from_utf8(raw) {
            Ok(text) => Cell::text(text),
            Err(_) => Cell::bad_text(raw.to_vec()),
        }))
    }

    fn accepts(of: &Type) -> bool {
        <&str as FromSql>::accepts(of)
    }
}

/// What a type holds.
pub(super) fn held_by(of: &Type) -> Held {
    match *of {
        Type::INT2 | Type::INT4 | Type::INT8 => Held::Integer,
        Type::FLOAT4 | Type::FLOAT8 => Held::Real,
        Type::BYTEA => Held::Bytes,
        Type::TIMESTAMPTZ => Held::Moment,
        Type::TIMESTAMP => Held::NaiveMoment,
        _ => Held::Text,
    }
}
