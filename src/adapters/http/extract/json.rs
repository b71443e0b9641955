//! Bytes as JSON, strictly: what two readers could understand differently is not understood.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

/// The byte order mark that some servers put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The most values, at every depth, of an answer that is read. In memory a value takes up to a hundred times what it takes
/// in an answer, so the bytes alone bound nothing; a page of a hundred charges has some thousands.
const VALUES_MAX: usize = 100_000;

/// Parses a body, whatever its content type says.
///
/// # Errors
/// A sentence: empty, not JSON, nested too deep, of too many values, or with one name twice in an object (a reader that keeps the last
/// `data` of two sees an empty list where another sees a charge).
pub(super) fn parse(body: &[u8]) -> Result<Value, String> {
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    if body.trim_ascii().is_empty() {
        return Err("the answer is empty".to_owned());
    }
    look_through(body).map_err(|fault| no_json(body, &fault))?;
    serde_json::from_slice(body).map_err(|fault| no_json(body, &fault))
}

fn no_json(body: &[u8], fault: &serde_json::Error) -> String {
    let begins_like_markup = body.trim_ascii_start().first() == Some(&b'<');
    let hint = if begins_like_markup { "; it looks like a web page" } else { "" };
    format!("the answer is no JSON ({}){hint}", crate::domain::text::clean_cut(&fault.to_string(), 120))
}

/// Reads a body once without keeping it.
fn look_through(body: &[u8]) -> serde_json::Result<()> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    NamesOnce { values_left: &Cell::new(VALUES_MAX) }.deserialize(&mut reader)?;
    reader.end()
}

/// Any JSON in which no object has a name twice, of not too many values.
#[derive(Clone, Copy)]
struct NamesOnce<'count> {
    values_left: &'count Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for NamesOnce<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.values_left.get().checked_sub(1) {
            Some(left) => self.values_left.set(left),
            None => return Err(D::Error::custom(format_args!("it has more than {VALUES_MAX} values"))),
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NamesOnce<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        while values.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    // A number comes here too: with exact numbers serde_json hands it on as an object of one name.
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            if names.contains(&name) {
                return Err(A::Error::custom(format_args!("the name `{name}` stands twice in one object")));
            }
            names.insert(name);
            fields.next_value_seed(self)?;
        }
        Ok(())
    }
}
