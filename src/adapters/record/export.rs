//! The whole audit as text, the oldest entry first.

use super::read::{COLUMNS, entry_of};
use super::{absolute, fault, schema};
use crate::domain::audit::{Attachment, Entry};
use crate::domain::text::{clean_for_sheet, escape_json};
use crate::ports::record::RecordFault;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// How many entries are read in one transaction: between two, others can append.
const PAGE_ENTRIES: i64 = 500;
/// The columns of the CSV, which are also the members of a JSON line.
const FIELDS: [&str; 12] = [
    "seq",
    "at",
    "event",
    "decision",
    "source",
    "key",
    "operator",
    "origin",
    "body",
    "prev",
    "hash",
    "attachments",
];

/// An entry with what is kept beside it.
struct Whole {
    entry: Entry,
    attachments: Vec<Attachment>,
}

/// Writes every entry as one line of JSON, and says how many there were.
///
/// Nothing is lost: `body` is the JSON it was, and hidden characters are written as `\u` escapes, so the hashes can be
/// computed anew from an export.
///
/// # Errors
/// [`RecordFault`] where the audit cannot be read or the export not be written.
pub fn export_json_lines(path: &Path, out: &mut dyn Write) -> Result<i64, RecordFault> {
    let path = absolute(path)?;
    each_entry(&path, |whole| writeln!(out, "{}", escape_json(json_of(&whole).to_string())))
        .and_then(|count| out.flush().map_err(|fault| unwritten(&path, &fault)).map(|()| count))
}

/// Writes every entry as one row of CSV under a head row, and says how many there were.
///
/// For people and their spreadsheets: hidden characters become signs, and a cell that a spreadsheet would run as a
/// formula begins with an apostrophe. Whoever wants to compute hashes anew takes the JSON Lines.
///
/// # Errors
/// [`RecordFault`] where the audit cannot be read or the export not be written.
pub fn export_csv(path: &Path, out: &mut dyn Write) -> Result<i64, RecordFault> {
    let path = absolute(path)?;
    let mut table = csv::Writer::from_writer(out);
    table.write_record(FIELDS).map_err(|fault| unwritten(&path, &fault.into()))?;
    let count =
        each_entry(&path, |whole| table.write_record(cells_of(&whole)).map_err(std::io::Error::from))?;
    table.flush().map_err(|fault| unwritten(&path, &fault))?;
    Ok(count)
}

fn each_entry(path: &Path, mut write: impl FnMut(Whole) -> std::io::Result<()>) -> Result<i64, RecordFault> {
    let mut connection = schema::open_to_read(path)?;
    let (mut from, mut count) = (i64::MIN, 0);
    loop {
        let page = read_page(&mut connection, from).map_err(|fault| fault::of_sql(path, &fault))?;
        let Some(last) = page.last().map(|whole| whole.entry.seq) else { return Ok(count) };
        for whole in page {
            write(whole).map_err(|fault| unwritten(path, &fault))?;
            count += 1;
        }
        from = last.saturating_add(1);
    }
}

fn unwritten(path: &Path, fault: &std::io::Error) -> RecordFault {
    fault::of_io(path, "its export cannot be written", fault)
}

fn read_page(connection: &mut Connection, from: i64) -> rusqlite::Result<Vec<Whole>> {
    let transaction = connection.transaction()?;
    let asked = format!("SELECT {COLUMNS} FROM entries WHERE seq >= ?1 ORDER BY seq LIMIT ?2");
    let mut statement = transaction.prepare_cached(&asked)?;
    let entries = statement.query_map([from, PAGE_ENTRIES], entry_of)?;
    entries
        .map(|entry| {
            let entry = entry?;
            let attachments = attachments_of(&transaction, entry.seq)?;
            Ok(Whole { entry, attachments })
        })
        .collect()
}

fn attachments_of(connection: &Connection, seq: i64) -> rusqlite::Result<Vec<Attachment>> {
    connection
        .prepare_cached("SELECT sha256, text FROM attachments WHERE seq = ?1 ORDER BY place")?
        .query_map([seq], |row| Ok(Attachment { sha256: row.get(0)?, text: row.get(1)? }))?
        .collect()
}

fn json_of(whole: &Whole) -> Value {
    let entry = &whole.entry;
    // A body that is no JSON was not written by this program: it is exported as the text it is.
    let body: Value = serde_json::from_str(&entry.body).unwrap_or_else(|_| entry.body.clone().into());
    json!({
        "seq": entry.seq,
        "at": entry.at,
        "event": entry.event,
        "decision": entry.decision,
        "source": entry.source,
        "key": entry.key,
        "operator": entry.operator,
        "origin": entry.origin,
        "body": body,
        "prev": entry.prev,
        "hash": entry.hash,
        "attachments": attachments_json(&whole.attachments),
    })
}

fn attachments_json(attachments: &[Attachment]) -> Value {
    attachments.iter().map(|kept| json!({ "sha256": kept.sha256, "text": kept.text })).collect()
}

fn cells_of(whole: &Whole) -> [String; FIELDS.len()] {
    let entry = &whole.entry;
    let attachments = match whole.attachments[..] {
        [] => String::new(),
        _ => attachments_json(&whole.attachments).to_string(),
    };
    [
        entry.seq.to_string(),
        clean_for_sheet(&entry.at),
        clean_for_sheet(&entry.event),
        clean_for_sheet(&entry.decision),
        clean_for_sheet(&entry.source),
        clean_for_sheet(&entry.key),
        clean_for_sheet(&entry.operator),
        clean_for_sheet(&entry.origin),
        clean_for_sheet(&entry.body),
        clean_for_sheet(&entry.prev),
        clean_for_sheet(&entry.hash),
        clean_for_sheet(&attachments),
    ]
}

#[cfg(test)]
mod tests;
