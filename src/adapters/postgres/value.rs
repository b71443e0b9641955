//! PostgreSQL's values and ours. Values go out as text, so that the server reads them as the type that stands there.

use crate::adapters::sql::Held;
use crate::domain::cell::{Cell, hex};
use bytes::BytesMut;
use std::error::Error;
use tokio_postgres::Row;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};

/// A value to bind.
#[derive(Debug)]
pub(super) struct Bound(pub(super) Cell);

impl ToSql for Bound {
    fn to_sql(&self, _type: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let text = match &self.0 {
            Cell::Null => return Ok(IsNull::Yes),
            Cell::Integer(number) => number.to_string(),
            Cell::Real(number) => number.to_string(),
            Cell::Text(text) => text.clone(),
            Cell::BadText(bytes) => String::from_utf8(bytes.clone())?,
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
        Held::Bytes => row.try_get::<_, Option<Vec<u8>>>(at)?.map_or(Cell::Null, Cell::Blob),
        Held::Text | Held::Moment | Held::NaiveMoment | Held::Any => {
            row.try_get::<_, Option<String>>(at)?.map_or(Cell::Null, Cell::Text)
        }
    })
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
