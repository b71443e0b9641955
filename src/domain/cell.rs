//! One value of a database row, kept exactly as it was read.

use crate::domain::text;
use serde_json::{Value, json};
use std::sync::Arc;

/// A value as the database stores it, at full precision and without interpretation.
///
/// A declared type proves nothing (a column declared INTEGER may hold `'abc'`), so each value carries its own. Texts and
/// bytes are shared: a list of 200,000 items holds a key once, not as a column, a key and a reference.
#[derive(Debug, Clone)]
pub enum Cell {
    /// SQL NULL: different from an empty text.
    Null,
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Valid UTF-8 text.
    Text(Arc<str>),
    /// Bytes that the database calls text but that are not valid UTF-8.
    BadText(Arc<[u8]>),
    /// Bytes.
    Blob(Arc<[u8]>),
}

impl PartialEq for Cell {
    /// Equal bit by bit: compare-and-set must not call two different NaNs or zeros the same.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Real(a), Self::Real(b)) => a.to_bits() == b.to_bits(),
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::BadText(a), Self::BadText(b)) | (Self::Blob(a), Self::Blob(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Cell {}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// Bytes that the database calls text but that are not valid UTF-8.
    pub fn bad_text(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self::BadText(bytes.into())
    }

    /// Bytes.
    pub fn blob(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self::Blob(bytes.into())
    }

    /// Whether this is SQL NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The text, where the value is valid text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as plain text for templates and keys; `None` for NULL.
    ///
    /// Bytes that are no text are spelled so that they can be told apart (`x'CAFE'`, `\xE9`).
    pub fn to_plain(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Integer(number) => Some(number.to_string()),
            Self::Real(number) => Some(number.to_string()),
            Self::Text(text) => Some(text.to_string()),
            Self::BadText(bytes) => Some(text::escape_bytes(bytes)),
            Self::Blob(bytes) => Some(blob_literal(bytes)),
        }
    }

    /// The value as a person sees it: cleaned, with NULL and the empty text told apart.
    pub fn shown(&self) -> String {
        match self {
            Self::Null => "NULL".to_owned(),
            Self::Text(text) if text.is_empty() => "''".to_owned(),
            other => text::clean(&other.to_plain().unwrap_or_default()),
        }
    }

    /// The value as JSON for the record: numbers and texts as such, bytes tagged so that they can be restored.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Integer(number) => json!(number),
            Self::Real(number) if number.is_finite() => json!(number),
            Self::Real(number) => json!({ "real": number.to_string() }),
            Self::Text(text) => json!(&**text),
            Self::BadText(bytes) => json!({ "text_hex": hex(bytes) }),
            Self::Blob(bytes) => json!({ "blob_hex": hex(bytes) }),
        }
    }

    /// The value that [`Cell::to_json`] wrote; `None` for JSON that it never writes.
    pub fn from_json(value: &Value) -> Option<Self> {
        // What is read otherwise than it was written would be compared with a row that it is not.
        Self::read_json(value).filter(|cell| cell.to_json() == *value)
    }

    fn read_json(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Number(number) => match number.as_i64() {
                Some(whole) if !number.to_string().contains(['.', 'e', 'E']) => Self::Integer(whole),
                _ => Self::Real(number.to_string().parse().ok()?),
            },
            Value::String(text) => Self::text(text.as_str()),
            Value::Object(tagged) => {
                let (tag, inner) = tagged.iter().next()?;
                match (tag.as_str(), inner.as_str()?) {
                    ("text_hex", digits) => Self::bad_text(unhex(digits)?),
                    ("blob_hex", digits) => Self::blob(unhex(digits)?),
                    ("real", number) => Self::Real(number.parse().ok()?),
                    _ => return None,
                }
            }
            Value::Bool(_) | Value::Array(_) => return None,
        })
    }

    /// The size in bytes of the value itself.
    pub fn size_bytes(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Integer(_) | Self::Real(_) => 8,
            Self::Text(text) => text.len(),
            Self::BadText(bytes) | Self::Blob(bytes) => bytes.len(),
        }
    }
}

fn blob_literal(bytes: &[u8]) -> String {
    format!("x'{}'", hex(bytes).to_uppercase())
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    // By hand: a million hashes are written when an audit is verified.
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        digits.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
    digits
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_cell() -> impl Strategy<Value = Cell> {
        prop_oneof![
            Just(Cell::Null),
            any::<i64>().prop_map(Cell::Integer),
            any::<f64>().prop_map(Cell::Real),
            any::<String>().prop_map(Cell::text),
            any::<Vec<u8>>().prop_map(Cell::blob),
            any::<Vec<u8>>().prop_map(Cell::bad_text),
        ]
    }

    proptest! {
        #[test]
        fn the_record_gives_back_what_was_read(cell in any_cell()) {
            let written = serde_json::to_string(&cell.to_json()).unwrap();
            let back = Cell::from_json(&serde_json::from_str(&written).unwrap()).unwrap();
            match (&cell, &back) {
                (Cell::Real(a), Cell::Real(b)) if a.is_nan() => prop_assert!(b.is_nan()),
                _ => prop_assert_eq!(cell, back),
            }
        }
    }

    #[test]
    fn null_empty_and_bad_text_look_different() {
        let shown = [
            Cell::Null.shown(),
            Cell::text("").shown(),
            Cell::bad_text(vec![0xE9]).shown(),
            Cell::blob(vec![0xE9]).shown(),
        ];
        assert_eq!(shown, ["NULL", "''", "\\xE9", "x'E9'"]);
    }
}
