//! Keys as people type them: what one can mean, and how its row is found.

use super::spell::{Held, Sql};
use crate::domain::cell::Cell;
use crate::ports::source::Reading;
use crate::preset::source::Engine;

/// In how many ways a typed key is read at most: types of its parts, and places where a composite one may be split.
const KEY_MEANINGS_MAX: usize = 256;

/// The condition that finds a key, its values as `:k1`, `:k2`…
pub fn find(sql: &Sql<'_>, parts: &[Cell]) -> String {
    let each = sql.mapping.key.iter().zip(parts).enumerate().map(|(at, (column, part))| {
        let (name, at) = (sql.quoted(column), at + 1);
        match (sql.engine, sql.held(column)) {
            // Compared twice: once as the column does, so that its index is used, and once byte by byte, because a column
            // that does not mind case may hold both `A-1` and `a-1`.
            (Engine::Sqlite, _) => format!("{name} IS :k{at} AND {name} IS (:k{at} COLLATE BINARY)"),
            (Engine::Mysql, Held::Text) => format!(
                "{name} <=> :k{at} AND CAST({} AS BINARY) <=> CAST(:k{at} AS BINARY)",
                sql.in_utf8(column)
            ),
            // A number beyond ours is a text here, which would be compared as a rounded one.
            (Engine::Mysql, Held::Integer) if matches!(part, Cell::Text(_)) => {
                format!("{name} <=> CAST(:k{at} AS UNSIGNED)")
            }
            (Engine::Mysql, _) => format!("{name} <=> :k{at}"),
            (Engine::Postgres, _) if part.is_null() => format!("{name} IS NULL"),
            (Engine::Postgres, _) => format!("{name} = :k{at}"),
        }
    });
    each.collect::<Vec<_>>().join(" AND ")
}

/// Of rows whose keys PostgreSQL calls equal (a collation or a type may mind no case), the one that is written so first.
pub fn exact_first(sql: &Sql<'_>, parts: &[Cell]) -> String {
    let each = sql.mapping.key.iter().zip(parts).enumerate().filter_map(|(at, (column, part))| {
        let is_text = sql.engine == Engine::Postgres
            && sql.held(column) == Held::Text
            && matches!(part, Cell::Text(_) | Cell::BadText(_));
        is_text.then(|| format!("{}::text COLLATE \"C\" = :x{}::text DESC", sql.quoted(column), at + 1))
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { String::new() } else { format!(" ORDER BY {}", each.join(", ")) }
}

/// The values of a key by the names that [`find`] and [`exact_first`] give them: those of one must not share a type with
/// those of the other.
pub fn values(parts: &[Cell]) -> Vec<(String, Cell)> {
    let named = |letter: char| {
        parts.iter().enumerate().map(move |(at, part)| (format!(":{letter}{}", at + 1), part.clone()))
    };
    named('k').chain(named('x')).collect()
}

/// Everything that a typed key can mean: each part as whatever its column may hold, and a composite one split at any `/`.
pub fn meanings(sql: &Sql<'_>, key: &str) -> Vec<Vec<Cell>> {
    let held: Vec<Held> = sql.mapping.key.iter().map(|column| sql.held(column)).collect();
    let mut all = Vec::new();
    for texts in splits(key, held.len()) {
        let mut parts: Vec<Vec<Cell>> = vec![Vec::new()];
        for (text, held) in texts.into_iter().zip(&held) {
            let ways = ways_of(sql.engine, text, *held);
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

/// What one part of a typed key can be in a column that holds such values.
fn ways_of(engine: Engine, text: &str, held: Held) -> Vec<Cell> {
    let mut ways = all_ways_of(text);
    ways.retain(|way| match (held, way) {
        (Held::Any, _) | (_, Cell::Null) => true,
        // Beyond ours are the larger half of the numbers without a sign.
        (Held::Integer, Cell::Text(digits)) => {
            digits.parse::<i64>().is_err() && digits.parse::<u64>().is_ok()
        }
        (Held::Integer, way) => matches!(way, Cell::Integer(_)),
        (Held::Real, way) => matches!(way, Cell::Integer(_) | Cell::Real(_)),
        (Held::Bytes, way) => matches!(way, Cell::Blob(_)),
        // A PostgreSQL database may be told to take any bytes for text.
        (Held::Text, Cell::BadText(_)) => engine == Engine::Postgres,
        (Held::Text | Held::Word | Held::Moment | Held::NaiveMoment, way) => matches!(way, Cell::Text(_)),
    });
    ways
}

fn all_ways_of(text: &str) -> Vec<Cell> {
    let mut ways = vec![Cell::text(text)];
    if text.contains("\\x") {
        ways.push(Cell::bad_text(unescape_bytes(text)));
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

/// The one that was meant, of the items that a typed key can mean.
///
/// # Errors
/// Several look the same: what, and what to do.
pub fn only_one(mut readings: Vec<Reading>, typed: &str) -> Result<Option<Reading>, (String, &'static str)> {
    // What is written exactly so comes before another spelling of it: `007` is not 7 where there is a `007`.
    if readings.iter().any(|reading| reading.item.key.as_str() == typed) {
        readings.retain(|reading| reading.item.key.as_str() == typed);
    }
    // The text '7' and the number 7 look the same: nothing may be decided on the one that was not meant.
    if readings.len() > 1 {
        let shown = crate::domain::text::clean_cut(typed, 80);
        return Err((
            format!("has {} items that are written `{shown}`", readings.len()),
            "Give the preset a key whose values differ in writing, such as the row's number.",
        ));
    }
    Ok(readings.pop())
}
