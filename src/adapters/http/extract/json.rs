//! Bytes as JSON, strictly: what two readers could understand differently is not understood.

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;

/// The byte order mark that some servers put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Parses a body, whatever its content type says.
///
/// # Errors
/// A sentence: empty, not JSON, nested too deep, or with one name twice in an object (a reader that keeps the last
/// `data` of two sees an empty list where another sees a charge).
pub(super) fn parse(body: &[u8]) -> Result<Value, String> {
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    if body.trim_ascii().is_empty() {
        return Err("the answer is empty".to_owned());
    }
    serde_json::from_slice::<NamesOnce>(body).map_err(|fault| no_json(body, &fault))?;
    serde_json::from_slice(body).map_err(|fault| no_json(body, &fault))
}

fn no_json(body: &[u8], fault: &serde_json::Error) -> String {
    let begins_like_markup = body.trim_ascii_start().first() == Some(&b'<');
    let hint = if begins_like_markup { "; it looks like a web page" } else { "" };
    format!("the answer is no JSON ({}){hint}", crate::domain::text::clean_cut(&fault.to_string(), 120))
}

/// Any JSON in which no object has a name twice.
struct NamesOnce;

impl<'de> Deserialize<'de> for NamesOnce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NamesOnceVisitor)
    }
}

struct NamesOnceVisitor;

impl<'de> Visitor<'de> for NamesOnceVisitor {
    type Value = NamesOnce;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<NamesOnce, E> {
        Ok(NamesOnce)
    }

    fn visit_bool<E>(self, _: bool) -> Result<NamesOnce, E> {
        Ok(NamesOnce)
    }

    fn visit_i64<E>(self, _: i64) -> Result<NamesOnce, E> {
        Ok(NamesOnce)
    }

    fn visit_u64<E>(self, _: u64) -> Result<NamesOnce, E> {
        Ok(NamesOnce)
    }

    fn visit_f64<E>(self, _: f64) -> Result<NamesOnce, E> {
        Ok(NamesOnce)
    }

    fn visit_str<E>(self, _: &str) -> Result<NamesOnce, E> {
        Ok(NamesOnce)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<NamesOnce, A::Error> {
        while values.next_element::<NamesOnce>()?.is_some() {}
        Ok(NamesOnce)
    }

    // A number comes here too: with exact numbers serde_json hands it on as an object of one name.
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<NamesOnce, A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            if names.contains(&name) {
                return Err(A::Error::custom(format_args!("the name `{name}` stands twice in one object")));
            }
            names.insert(name);
            fields.next_value::<NamesOnce>()?;
        }
        Ok(NamesOnce)
    }
}
