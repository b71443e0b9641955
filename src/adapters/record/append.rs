//! Adds entries to the end of the chain.

use super::read::{COLUMNS, entry_of};
use super::{fault, read, schema};
use crate::domain::audit::{Attachment, Entry, Event, GENESIS, NewEntry, RECORDED_BY, RecordedBy};
use crate::domain::cell::hex;
use crate::domain::moment::stamp;
use crate::ports::record::{Once, RecordFault};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

/// The member of an entry's body that the record itself adds: which attachments belong to it, by their hashes. It puts
/// them under the entry's own hash, so that a change in an attachment breaks the chain.
pub(super) const ATTACHMENTS: &str = "attachments";

/// Asks for the entry that ended a decision.
pub(super) const ASKED_FOR_END: &str = "SELECT seq FROM entries
    WHERE decision = ?1 AND decision <> '' AND event IN ('applied', 'refused', 'failed') LIMIT 1";
/// What is wrong with an entry that [`Record::append_once`] does not take.
///
/// [`Record::append_once`]: crate::ports::record::Record::append_once
pub(super) const NOT_ONCE: &str = "an entry that a decision has once belongs to none, or is of another sort";

/// Writes all entries or none. When it returns, they are on the disk.
pub(super) fn append(
    path: &Path,
    connection: &mut Connection,
    entries: Vec<NewEntry>,
) -> Result<Vec<Entry>, RecordFault> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let transaction = begin(path, connection)?;
    let written = write(path, &transaction, entries)?;
    transaction.commit().map_err(|fault| fault::of_sql(path, &fault))?;
    Ok(written)
}

/// Writes an entry of which a decision has one at most, or gives the one that is there.
pub(super) fn append_once(
    path: &Path,
    connection: &mut Connection,
    entry: NewEntry,
) -> Result<Once, RecordFault> {
    let Some(decision) = entry.decision.filter(|_| Event::ONCE.contains(&entry.event)) else {
        return Err(fault::of_program(path, NOT_ONCE));
    };
    let transaction = begin(path, connection)?;
    // In the same transaction as the write: between the two nobody else gets in.
    if let Some(earlier) = once_among(read::of_decision(path, &transaction, decision)?) {
        return Ok(Once::Taken(earlier));
    }
    let written = write(path, &transaction, vec![entry])?;
    transaction.commit().map_err(|fault| fault::of_sql(path, &fault))?;
    written.into_iter().next().map(Once::Placed).ok_or_else(|| fault::of_program(path, NOT_ONCE))
}

/// The entry among those of a decision of which it has one at most.
pub(super) fn once_among(entries: Vec<Entry>) -> Option<Entry> {
    let is_once =
        |entry: &Entry| Event::from_word(&entry.event).is_some_and(|event| Event::ONCE.contains(&event));
    entries.into_iter().find(is_once)
}

fn begin<'a>(path: &Path, connection: &'a mut Connection) -> Result<Transaction<'a>, RecordFault> {
    // Immediate: the head must not move between reading it and writing after it.
    let sql = |fault: rusqlite::Error| fault::of_sql(path, &fault);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
    schema::make_later(&transaction).map_err(sql)?;
    Ok(transaction)
}

/// Writes entries behind the last one.
fn write(
    path: &Path,
    transaction: &Transaction<'_>,
    entries: Vec<NewEntry>,
) -> Result<Vec<Entry>, RecordFault> {
    for entry in &entries {
        refuse_malformed(entry).map_err(|what| fault::of_program(path, what))?;
    }
    let (mut seq, mut prev) = read_end(path, transaction)?;
    let mut written = Vec::with_capacity(entries.len());
    for new in entries {
        refuse_second_end(path, transaction, &new)?;
        seq += 1;
        let (entry, attachments) = place(new, seq, &prev, None);
        prev.clone_from(&entry.hash);
        insert(transaction, &entry, &attachments).map_err(|fault| fault::of_sql(path, &fault))?;
        written.push(entry);
    }
    Ok(written)
}

/// Why an entry could not be found again, or not be told from what the record itself adds.
pub(super) fn refuse_malformed(entry: &NewEntry) -> Result<(), &'static str> {
    match entry.body.as_object() {
        None => Err("an entry's body must be a JSON object"),
        Some(body) if body.contains_key(ATTACHMENTS) || body.contains_key(RECORDED_BY) => {
            Err("an entry's body has a member of the record's own")
        }
        Some(_) if entry.event == Event::Intended && entry.decision.is_none() => {
            Err("an intent belongs to no decision, so its outcome could never be found")
        }
        Some(_) => Ok(()),
    }
}

/// A decision ends once. Looked at under the lock: two consoles may settle the same one at the same time.
fn refuse_second_end(
    path: &Path,
    transaction: &Transaction<'_>,
    entry: &NewEntry,
) -> Result<(), RecordFault> {
    let Some(decision) = entry.decision.filter(|_| entry.event.is_outcome()) else { return Ok(()) };
    let earlier: Option<i64> = transaction
        .prepare_cached(ASKED_FOR_END)
        .and_then(|mut statement| statement.query_row([decision.to_string()], |row| row.get(0)).optional())
        .map_err(|fault| fault::of_sql(path, &fault))?;
    match earlier {
        None => Ok(()),
        Some(seq) => Err(fault::ended_before(path, seq)),
    }
}

/// The number and hash that the next entry follows. The last entry must be whole and be the last that ever was: a new
/// one would otherwise take the number of a removed one and hide that it is gone.
pub(super) fn read_end(path: &Path, transaction: &Transaction<'_>) -> Result<(i64, String), RecordFault> {
    let sql = |fault: rusqlite::Error| fault::of_sql(path, &fault);
    let last = transaction
        .prepare_cached(&format!("SELECT {COLUMNS} FROM entries ORDER BY seq DESC LIMIT 1"))
        .and_then(|mut statement| statement.query_row([], entry_of).optional())
        .map_err(sql)?;
    let highest = highest_ever(transaction).map_err(sql)?;
    let (seq, hash) = match last {
        Some(entry) if entry.hash != entry.expected_hash() => {
            return Err(fault::broken_end(
                path,
                &format!("its last entry ({}) is not what was written", entry.seq),
            ));
        }
        Some(entry) => (entry.seq, entry.hash),
        None => (0, GENESIS.to_owned()),
    };
    if seq != highest {
        return Err(fault::broken_end(
            path,
            &format!("it ends at entry {seq}, and entry {highest} was written"),
        ));
    }
    Ok((seq, hash))
}

/// The highest number that was ever given, as SQLite remembers it.
pub(super) fn highest_ever(connection: &Connection) -> rusqlite::Result<i64> {
    let remembered = "SELECT seq FROM sqlite_sequence WHERE name = 'entries'";
    Ok(connection.query_row(remembered, [], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// A new entry in its place in the chain, with the database's login where it has logins.
pub(super) fn place(
    new: NewEntry,
    seq: i64,
    prev: &str,
    recorded_by: Option<&RecordedBy>,
) -> (Entry, Vec<Attachment>) {
    let mut body = new.body;
    if !new.attachments.is_empty() {
        let listed =
            |kept: &Attachment| json!({ "sha256": kept.sha256, "text_sha256": sha256_of(&kept.text) });
        body[ATTACHMENTS] = Value::Array(new.attachments.iter().map(listed).collect());
    }
    if let Some(recorded_by) = recorded_by {
        // The last member: the database compares the end of the body with what it knows.
        body[RECORDED_BY] = recorded_by.to_json();
    }
    let mut entry = Entry {
        seq,
        at: stamp(new.at),
        event: new.event.as_str().to_owned(),
        decision: new.decision.map(|id| id.to_string()).unwrap_or_default(),
        source: new.source,
        key: new.key,
        operator: new.operator,
        origin: new.origin,
        body: body.to_string(),
        prev: prev.to_owned(),
        hash: String::new(),
    };
    entry.hash = entry.expected_hash();
    (entry, new.attachments)
}

fn insert(transaction: &Transaction<'_>, entry: &Entry, attachments: &[Attachment]) -> rusqlite::Result<()> {
    let values = "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    transaction.prepare_cached(&format!("INSERT INTO entries ({COLUMNS}) {values}"))?.execute(params![
        entry.seq,
        entry.at,
        entry.event,
        entry.decision,
        entry.source,
        entry.key,
        entry.operator,
        entry.origin,
        entry.body,
        entry.prev,
        entry.hash,
    ])?;
    let into_attachments =
        "INSERT INTO attachments (seq, place, sha256, text, text_sha256) VALUES (?1, ?2, ?3, ?4, ?5)";
    for (place, kept) in (1_i64..).zip(attachments) {
        transaction.prepare_cached(into_attachments)?.execute(params![
            entry.seq,
            place,
            kept.sha256,
            kept.text,
            sha256_of(&kept.text),
        ])?;
    }
    Ok(())
}

/// SHA-256 of a text's bytes, in hexadecimal.
pub(super) fn sha256_of(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
