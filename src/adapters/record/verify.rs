//! Whether the audit is as it was written.

use super::append::{ATTACHMENTS, highest_ever, sha256_of};
use super::read::{COLUMNS, entry_of};
use super::schema::{self, LATER, TABLES};
use super::{absolute, fault};
use crate::domain::audit::{Break, Entry, Walk};
use crate::domain::text::clean_cut;
use crate::ports::record::RecordFault;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Statement, Transaction};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// How many entries are read in one transaction: between two, others can append.
const PAGE_ENTRIES: i64 = 2_000;
/// How many complaints of SQLite about a damaged file are told.
const COMPLAINTS_MAX: i64 = 10;
/// How much of a complaint is told.
const TOLD_CHARS_MAX: usize = 200;

/// What a walk over the whole audit found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// How many entries, from the first on, are as they were written.
    pub entries: i64,
    /// The hash of the last of them: whoever noted it down earlier can compare.
    pub head: String,
    /// What is wrong; empty for a whole audit.
    pub flaws: Vec<Flaw>,
}

impl Verified {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.flaws.is_empty()
    }

    /// The first entry that is wrong; `None` where none is, or only the file around them.
    pub fn first_bad(&self) -> Option<i64> {
        self.flaws.iter().find_map(|flaw| match flaw {
            Flaw::Entry(broken) => Some(broken.seq),
            Flaw::File(_) => None,
        })
    }
}

/// One thing that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// The first entry that is wrong. Nothing after it can be vouched for.
    Entry(Break),
    /// The file around the entries: its structure, its tables, its triggers.
    File(String),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry(broken) => broken.fmt(f),
            Self::File(what) => write!(f, "the file: {what}"),
        }
    }
}

/// Walks the whole audit and says what is not as it was written.
///
/// Found are: a changed bit in any column of an entry or an attachment; an entry that was removed (also the last one),
/// inserted, replaced or moved, and a gap whose neighbours were linked anew; attachments that were added or removed;
/// missing, changed or foreign tables, indexes and triggers; and damage to the file's structure. Entries are read page by
/// page, so neither memory nor the time that others wait grows with the audit.
///
/// A chain alone cannot show two things, because whoever can write the file can also compute its hashes: a tail that was
/// cut off together with what `sqlite_sequence` remembers of it, and a chain that was written anew as a whole, from some
/// entry to the end. Against both helps a head that was noted down elsewhere: [`Verified::head`] is there to be kept.
///
/// # Errors
/// [`RecordFault`] where there is no audit to walk: missing, locked, another program's or another version's. A damaged
/// file is no fault but a [`Flaw`].
pub fn verify(path: &Path) -> Result<Verified, RecordFault> {
    let path = absolute(path)?;
    schema::refuse_missing(&path)?;
    let mut verified = Verified { entries: 0, head: Walk::default().head().to_owned(), flaws: Vec::new() };
    match schema::connect_to_read(&path) {
        Ok((mut connection, state)) => {
            schema::refuse_foreign(&path, state)?;
            look_at_all(&path, &mut connection, &mut verified)?;
        }
        Err(fault) => verified.flaws.push(flaw_of(&path, &fault)?),
    }
    Ok(verified)
}

fn look_at_all(path: &Path, connection: &mut Connection, verified: &mut Verified) -> Result<(), RecordFault> {
    for look in [look_at_structure, look_at_length, look_at_tables] {
        match look(connection) {
            Ok(flaws) => verified.flaws.extend(flaws.into_iter().map(Flaw::File)),
            Err(fault) => verified.flaws.push(flaw_of(path, &fault)?),
        }
    }
    let mut walk = Walk::default();
    let walked = walk_pages(connection, &mut walk);
    verified.entries = walk.count();
    walk.head().clone_into(&mut verified.head);
    match walked {
        Ok(()) => {}
        Err(Stop::Flaw(flaw)) => verified.flaws.push(flaw),
        Err(Stop::Sql(fault)) => verified.flaws.push(flaw_of(path, &fault)?),
    }
    Ok(())
}

/// An error on the way: a flaw where the file is to blame, a fault where the surroundings are.
fn flaw_of(path: &Path, fault: &rusqlite::Error) -> Result<Flaw, RecordFault> {
    match fault.sqlite_error_code() {
        // No code: a value is not of its column's type. `Unknown` is SQLITE_ERROR, such as a table that is not there.
        None | Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => {
            Ok(Flaw::File(format!("it is damaged ({})", told(fault))))
        }
        Some(_) => Err(fault::of_sql(path, fault)),
    }
}

fn told(fault: &rusqlite::Error) -> String {
    clean_cut(&fault.to_string(), TOLD_CHARS_MAX)
}

fn look_at_structure(connection: &mut Connection) -> rusqlite::Result<Vec<String>> {
    let asked = format!("PRAGMA integrity_check({COMPLAINTS_MAX})");
    let complaints: Vec<String> =
        connection.prepare(&asked)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let real = complaints.into_iter().filter(|complaint| complaint != "ok");
    Ok(real.map(|complaint| clean_cut(&complaint, TOLD_CHARS_MAX)).collect())
}

/// A last page that is there in part is read as if zeros followed, which an index without entries cannot be told from.
fn look_at_length(connection: &mut Connection) -> rusqlite::Result<Vec<String>> {
    // Within a transaction that has read something nobody makes the file longer or shorter.
    let transaction = connection.transaction()?;
    let number = |pragma: &str| transaction.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let wanted = number("page_count")?.saturating_mul(number("page_size")?);
    let path = transaction.path().map(Path::new);
    let length = path
        .and_then(|path| std::fs::metadata(path).ok())
        .map(|told| i64::try_from(told.len()).unwrap_or(i64::MAX));
    Ok(match length {
        Some(length) if length < wanted => vec![format!("it is cut off after {length} of {wanted} bytes")],
        Some(_) | None => Vec::new(),
    })
}

/// Compares every table, index and trigger with those that a new audit has, word by word.
fn look_at_tables(connection: &mut Connection) -> rusqlite::Result<Vec<String>> {
    let fresh = Connection::open_in_memory()?;
    fresh.execute_batch(TABLES)?;
    LATER.iter().try_for_each(|(_, made)| fresh.execute_batch(made))?;
    let (expected, there) = (objects_of(&fresh)?, objects_of(connection)?);
    // One that an earlier program wrote lacks them until it is opened to append.
    let is_later = |object: &Object| {
        let is_there = there.iter().any(|(_, name, ..)| *name == object.1);
        LATER.iter().any(|(name, _)| *name == object.1) && !is_there
    };
    let lost = expected
        .difference(&there)
        .filter(|object| !is_later(object))
        .map(|(kind, name, ..)| format!("the {kind} `{name}` is missing or changed"));
    let foreign = there
        .difference(&expected)
        .filter(|(_, name, ..)| !expected.iter().any(|(_, known, ..)| known == name))
        .map(|(kind, name, ..)| {
            format!("the {kind} `{}` is not of this program", clean_cut(name, TOLD_CHARS_MAX))
        });
    Ok(lost.chain(foreign).collect())
}

/// Kind, name, table and text of something in the schema; an index of SQLite's own has no text.
type Object = (String, String, String, Option<String>);

fn objects_of(connection: &Connection) -> rusqlite::Result<BTreeSet<Object>> {
    connection
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect()
}

/// Why a walk ended before the end.
enum Stop {
    Flaw(Flaw),
    Sql(rusqlite::Error),
}

impl Stop {
    fn at(seq: i64, what: impl Into<String>) -> Self {
        Self::Flaw(Flaw::Entry(Break { seq, what: what.into() }))
    }
}

impl From<rusqlite::Error> for Stop {
    fn from(fault: rusqlite::Error) -> Self {
        Self::Sql(fault)
    }
}

fn walk_pages(connection: &mut Connection, walk: &mut Walk) -> Result<(), Stop> {
    // An entry with a number below the first would be a foreign one: begin below it.
    let mut from = i64::MIN;
    loop {
        // The last page and the end are looked at in one transaction, so that nobody appends between them.
        let transaction = connection.transaction()?;
        if walk_page(&transaction, walk, from)? < PAGE_ENTRIES {
            return look_at_end(&transaction, walk);
        }
        from = walk.count() + 1;
    }
}

fn walk_page(transaction: &Transaction<'_>, walk: &mut Walk, from: i64) -> Result<i64, Stop> {
    let asked = format!("SELECT {COLUMNS} FROM entries WHERE seq >= ?1 ORDER BY seq LIMIT ?2");
    let mut statement = transaction.prepare_cached(&asked)?;
    let mut rows = statement.query([from, PAGE_ENTRIES])?;
    let beside = "SELECT place, sha256, text, text_sha256 FROM attachments WHERE seq = ?1 ORDER BY place";
    let mut beside = transaction.prepare_cached(beside)?;
    let mut walked = 0;
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        let entry =
            entry_of(row).map_err(|fault| Stop::at(seq, format!("cannot be read ({})", told(&fault))))?;
        let mut next = walk.clone();
        next.step(&entry).map_err(|broken| Stop::Flaw(Flaw::Entry(broken)))?;
        look_at_attachments(&mut beside, &entry)?;
        // Counted only now: an entry whose attachments are wrong is not as it was written.
        *walk = next;
        walked += 1;
    }
    Ok(walked)
}

/// Compares an entry's attachments with the hashes in its body, which its own hash vouches for.
fn look_at_attachments(beside: &mut Statement<'_>, entry: &Entry) -> Result<(), Stop> {
    let listed = attachments_listed(&entry.body);
    let mut rows = beside.query([entry.seq])?;
    let mut found = 0;
    while let Some(row) = rows.next()? {
        let changed = || Stop::at(entry.seq, format!("its attachment {} is not what was written", found + 1));
        let place: i64 = row.get(0).map_err(|_| changed())?;
        let column = |at| row.get::<_, String>(at).map_err(|_| changed());
        let (sha256, text, text_sha256) = (column(1)?, column(2)?, column(3)?);
        let Some(expected) = listed.get(found) else {
            return Err(Stop::at(entry.seq, "has an attachment that was not written with it"));
        };
        let there = (sha256, text_sha256);
        if *expected != there || there.1 != sha256_of(&text) || usize::try_from(place) != Ok(found + 1) {
            return Err(changed());
        }
        found += 1;
    }
    if found < listed.len() {
        return Err(Stop::at(entry.seq, format!("its attachment {} is missing", found + 1)));
    }
    Ok(())
}

/// Each attachment's hash as it came and as it is kept.
fn attachments_listed(body: &str) -> Vec<(String, String)> {
    // Most bodies list none: do not parse them.
    if !body.contains(ATTACHMENTS) {
        return Vec::new();
    }
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let listed = body.get(ATTACHMENTS).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let hash =
        |kept: &Value, name: &str| kept.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    listed.iter().map(|kept| (hash(kept, "sha256"), hash(kept, "text_sha256"))).collect()
}

/// What the chain cannot say of itself: whether its last entry is the last that was written.
fn look_at_end(transaction: &Transaction<'_>, walk: &Walk) -> Result<(), Stop> {
    let (last, highest) = (walk.count(), highest_ever(transaction)?);
    if highest > last {
        return Err(Stop::at(last + 1, format!("is missing (entries up to {highest} were written)")));
    }
    if highest < last {
        let what = format!("it remembers {highest} entries and has {last}");
        return Err(Stop::Flaw(Flaw::File(what)));
    }
    let orphan =
        "SELECT seq FROM attachments WHERE seq NOT IN (SELECT seq FROM entries) ORDER BY seq LIMIT 1";
    match transaction.query_row(orphan, [], |row| row.get::<_, i64>(0)).optional()? {
        Some(seq) => Err(Stop::at(seq, "is missing, but its attachments are there")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
