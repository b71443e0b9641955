//! The whole audit as text, the oldest entry first.

use super::read::{COLUMNS, entry_of};
use super::{absolute, fault, schema};
use crate::domain::audit::{Attachment, Entry};
use crate::domain::checkpoint::Signed;
use crate::domain::text::{clean_for_sheet, escape_json};
use crate::ports::record::RecordFault;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::Path;

/// How many entries are read in one transaction: between two, others can append.
const PAGE_ENTRIES: i64 = 500;
/// The columns of the CSV, which are also the members of a JSON line.
pub(super) const FIELDS: [&str; 12] = [
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
pub(super) struct Exported {
    pub(super) entry: Entry,
    pub(super) attachments: Vec<Attachment>,
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
    let count = each_entry(&path, |whole| writeln!(out, "{}", line_of(&whole)))?;
    out.flush().map_err(|fault| unwritten(&path, &fault))?;
    Ok(count)
}

/// Writes the checkpoints of what was exported, as they are: with them and the public key an export can be verified
/// where the audit is not. They come after the entries, so that none of them is lost when the end is.
///
/// # Errors
/// [`RecordFault`] where they cannot be read or the export not be written.
pub fn export_checkpoints(
    path: &Path,
    checkpoints: &Path,
    entries: i64,
    out: &mut dyn Write,
) -> Result<(), RecordFault> {
    let path = absolute(path)?;
    let unread = |fault: &std::io::Error| fault::unreadable_checkpoints(&path, checkpoints, fault);
    let file = match File::open(checkpoints) {
        Ok(file) => file,
        Err(fault) if fault.kind() == ErrorKind::NotFound => return Ok(()),
        Err(fault) => return Err(unread(&fault)),
    };
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|fault| unread(&fault))?;
        // What was signed after the last entry was read is of more than this export holds.
        let is_later =
            serde_json::from_str::<Signed>(&line).is_ok_and(|signed| signed.checkpoint.entries > entries);
        if !is_later {
            writeln!(out, "{line}").map_err(|fault| unwritten(&path, &fault))?;
        }
    }
    out.flush().map_err(|fault| unwritten(&path, &fault))
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

fn each_entry(
    path: &Path,
    mut write: impl FnMut(Exported) -> std::io::Result<()>,
) -> Result<i64, RecordFault> {
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

pub(super) fn unwritten(path: &Path, fault: &std::io::Error) -> RecordFault {
    fault::of_io(path, "its export cannot be written", fault)
}

fn read_page(connection: &mut Connection, from: i64) -> rusqlite::Result<Vec<Exported>> {
    let transaction = connection.transaction()?;
    let asked = format!("SELECT {COLUMNS} FROM entries WHERE seq >= ?1 ORDER BY seq LIMIT ?2");
    let mut statement = transaction.prepare_cached(&asked)?;
    let entries = statement.query_map([from, PAGE_ENTRIES], entry_of)?;
    entries
        .map(|entry| {
            let entry = entry?;
            let attachments = attachments_of(&transaction, entry.seq)?;
            Ok(Exported { entry, attachments })
        })
        .collect()
}

fn attachments_of(connection: &Connection, seq: i64) -> rusqlite::Result<Vec<Attachment>> {
    connection
        .prepare_cached("SELECT sha256, text FROM attachments WHERE seq = ?1 ORDER BY place")?
        .query_map([seq], |row| Ok(Attachment { sha256: row.get(0)?, text: row.get(1)? }))?
        .collect()
}

/// An entry as a line of JSON, without its end.
pub(super) fn line_of(whole: &Exported) -> String {
    escape_json(json_of(whole).to_string())
}

/// The entry in a line; `None` where this program would spell it otherwise, so that a single changed byte is enough.
pub(super) fn read_line(line: &str) -> Option<Exported> {
    let json: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| json.get(name)?.as_str().map(str::to_owned);
    let attachments = json.get("attachments")?.as_array()?.iter().map(|kept| {
        let text = |name: &str| kept.get(name)?.as_str().map(str::to_owned);
        Some(Attachment { sha256: text("sha256")?, text: text("text")? })
    });
    let exported = Exported {
        attachments: attachments.collect::<Option<_>>()?,
        entry: Entry {
            seq: json.get("seq")?.as_i64()?,
            at: text("at")?,
            event: text("event")?,
            decision: text("decision")?,
            source: text("source")?,
            key: text("key")?,
            operator: text("operator")?,
            origin: text("origin")?,
            body: json.get("body")?.to_string(),
            prev: text("prev")?,
            hash: text("hash")?,
        },
    };
    (line_of(&exported) == line).then_some(exported)
}

fn json_of(whole: &Exported) -> Value {
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

pub(super) fn cells_of(whole: &Exported) -> [String; FIELDS.len()] {
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
