//! Keys as people type them: what one can mean, and how its row is found.

use super::query::quoted;
use crate::domain::cell::Cell;
use crate::preset::source::SourcePreset;

/// In how many ways a typed key is read at most: types of its parts, and places where a composite one may be split.
const KEY_MEANINGS_MAX: usize = 256;

/// The condition that finds a key, and its values. Compared twice: once as the column does, so that its index is used,
/// and once byte by byte, because a column that does not mind case may hold both `A-1` and `a-1`.
pub(super) fn find_sql(preset: &SourcePreset) -> String {
    let parts: Vec<String> = preset
        .key
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let (column, at) = (quoted(column), at + 1);
            format!("{column} IS ?{at} AND {column} IS (?{at} COLLATE BINARY)")
        })
        .collect();
    parts.join(" AND ")
}

/// Everything a typed key can mean: each part as a text, a number, bytes or NULL, and a composite one split at any `/`.
pub(super) fn meanings(key: &str, parts_count: usize) -> Vec<Vec<Cell>> {
    let mut all = Vec::new();
    for texts in splits(key, parts_count) {
        let mut parts: Vec<Vec<Cell>> = vec![Vec::new()];
        for text in texts {
            let ways = ways_of(text);
            parts = parts
                .into_iter()
                .flat_map(|before| {
                    ways.iter()
                        .map(move |way| before.iter().cloned().chain([way.clone()]).collect::<Vec<_>>())
                })
                .take(KEY_MEANINGS_MAX)
                .collect();
        }
        all.extend(parts);
        if all.len() >= KEY_MEANINGS_MAX {
            break;
        }
    }
    all
}

/// Every way to split a text at `/` into so many parts: a part may hold a `/` itself.
fn splits(text: &str, parts_count: usize) -> Vec<Vec<&str>> {
    if parts_count <= 1 {
        return vec![vec![text]];
    }
    let slashes = text.match_indices('/').take(KEY_MEANINGS_MAX);
    let each = slashes.flat_map(|(at, _)| {
        let (head, tail) = (text.get(..at).unwrap_or(""), text.get(at + 1..).unwrap_or(""));
        splits(tail, parts_count - 1).into_iter().map(move |rest| [vec![head], rest].concat())
    });
    each.take(KEY_MEANINGS_MAX).collect()
}

/// What one part of a typed key can be.
fn ways_of(text: &str) -> Vec<Cell> {
    let mut ways = vec![Cell::Text(text.to_owned())];
    if text.contains("\\x") {
        ways.push(Cell::BadText(unescape_bytes(text)));
    }
    if let Ok(whole) = text.parse() {
        ways.push(Cell::Integer(whole));
    } else if let Ok(real) = text.parse::<f64>() {
        ways.push(Cell::Real(real));
    }
    let digits = text.strip_prefix("x'").and_then(|rest| rest.strip_suffix('\''));
    ways.extend(
        digits.and_then(|digits| Cell::from_json(&serde_json::json!({ "blob_hex": digits.to_lowercase() }))),
    );
    if text == "NULL" {
        ways.push(Cell::Null);
    }
    ways
}

/// The bytes that `\xE9` spells: keys that are not valid text are shown so.
fn unescape_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        let (head, tail) = rest.split_at(at);
        bytes.extend_from_slice(head.as_bytes());
        if let Some(byte) = tail.get(2..4).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = tail.get(4..).unwrap_or("");
        } else {
            bytes.extend_from_slice(b"\\x");
            rest = tail.get(2..).unwrap_or("");
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}
