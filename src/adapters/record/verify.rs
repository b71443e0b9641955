//! Whether the audit is as it was written.
//!
//! - `walk`: the chain, page by page.
//! - `signed`: what checkpoints say of it.
//! - [`export`]: the same of an export, without the audit.

pub mod export;
pub mod signed;
pub(super) mod walk;

use self::signed::{Against, Read, Signatures};
use self::walk::{Pages, Stop};
use super::append::highest_ever;
use super::schema::{self, FileState, LATER, TABLES};
use super::{absolute, fault};
use crate::domain::audit::{Break, Walk};
use crate::domain::checkpoint::{Marks, entries_in_words, were_in_words};
use crate::domain::text::clean_cut;
use crate::ports::record::RecordFault;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

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
    /// What checkpoints vouch for.
    pub signatures: Signatures,
    /// What is wrong; empty for a whole audit.
    pub flaws: Vec<Flaw>,
}

impl Verified {
    pub(super) fn nothing_yet() -> Self {
        let start = Walk::default();
        Self {
            entries: 0,
            head: start.head().to_owned(),
            signatures: Signatures::default(),
            flaws: Vec::new(),
        }
    }

    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.flaws.is_empty()
    }

    /// The first entry that is wrong; `None` where none is, or only what is around them.
    pub fn first_bad(&self) -> Option<i64> {
        let numbers = self.flaws.iter().filter_map(|flaw| match flaw {
            Flaw::Entry(broken) => Some(broken.seq),
            Flaw::File(_) | Flaw::Checkpoints(_) => None,
        });
        numbers.min()
    }

    pub(super) fn take_flaws_of_checkpoints(&mut self, flaws: Vec<String>, against: &Against) {
        self.flaws.extend(flaws.into_iter().map(Flaw::Checkpoints));
        if against.must_be_signed && self.is_whole() && self.signatures.count == 0 {
            let what = "there is none, so nothing shows whether the end is missing";
            self.flaws.push(Flaw::Checkpoints(what.to_owned()));
        }
    }

    pub(super) fn take(&mut self, walk: &Walk) {
        self.entries = walk.count();
        walk.head().clone_into(&mut self.head);
    }
}

/// One thing that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// The first entry that is wrong. Nothing after it can be vouched for.
    Entry(Break),
    /// The file around the entries: its structure, its tables, its triggers, its unused bytes.
    File(String),
    /// A file of checkpoints: which one, and what is wrong.
    Checkpoints(String),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry(broken) => broken.fmt(f),
            Self::File(what) => write!(f, "the audit: {what}"),
            Self::Checkpoints(what) => write!(f, "checkpoints: {what}"),
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
/// Two things a chain alone cannot show, because whoever can write the file can also compute its hashes: a tail that was
/// cut off together with what `sqlite_sequence` remembers of it, and a chain that was written anew as a whole, from some
/// entry to the end. The checkpoints to compare `against` show both, and any other changed byte of the file, as far as
/// they reach.
///
/// # Errors
/// [`RecordFault`] where there is no audit to walk: missing, locked, another program's or another version's; or where a
/// file to compare against cannot be read. A damaged file is no fault but a [`Flaw`].
pub fn verify(path: &Path, against: &Against) -> Result<Verified, RecordFault> {
    let path = absolute(path)?;
    let mut verified = Verified::nothing_yet();
    if let Err(missing) = schema::refuse_missing(&path) {
        return gone(&path, "does not exist", against, missing);
    }
    match schema::connect_to_read(&path) {
        Ok((mut connection, state)) => {
            if let Err(foreign) = schema::refuse_foreign(&path, state) {
                return match state {
                    FileState::Empty => gone(&path, "is empty", against, foreign),
                    FileState::Ours | FileState::OfVersion(_) | FileState::Foreign => Err(foreign),
                };
            }
            look_at_all(&path, &mut connection, against, &mut verified)?;
        }
        Err(fault) => verified.flaws.push(flaw_of(&path, &fault)?),
    }
    Ok(verified)
}

/// An audit that was removed or emptied, if something that was signed says that there was one; otherwise the fault.
fn gone(path: &Path, how: &str, against: &Against, fault: RecordFault) -> Result<Verified, RecordFault> {
    let Ok(Read { marks, flaws, .. }) = against.read(path) else { return Err(fault) };
    let Some(last) = marks.last() else { return Err(fault) };
    let mut verified = Verified::nothing_yet();
    verified.flaws.push(Flaw::File(format!(
        "it {how}, and a checkpoint of {} says that there {}",
        last.at,
        were_in_words(last.entries)
    )));
    verified.take_flaws_of_checkpoints(flaws, against);
    Ok(verified)
}

fn look_at_all(
    path: &Path,
    connection: &mut Connection,
    against: &Against,
    verified: &mut Verified,
) -> Result<(), RecordFault> {
    for look in [look_at_structure, look_at_length, look_at_tables] {
        match look(connection) {
            Ok(flaws) => verified.flaws.extend(flaws.into_iter().map(Flaw::File)),
            Err(fault) => verified.flaws.push(flaw_of(path, &fault)?),
        }
    }
    let Read { marks, flaws, others } = against.read(path)?;
    let mut comparison = Comparison::new(marks);
    let mut walk = Walk::default();
    let walked = walk_pages(connection, &mut walk, &mut comparison);
    verified.take(&walk);
    comparison.end(walked, path, verified)?;
    verified.signatures.others = others;
    verified.take_flaws_of_checkpoints(flaws, against);
    if verified.is_whole() {
        signed::look_at_bytes(path, connection, &comparison.marks, verified)?;
    }
    Ok(())
}

/// A chain on its way past what was signed of it.
pub(super) struct Comparison {
    marks: Marks,
    broken: Option<Break>,
}

impl Comparison {
    pub(super) fn new(marks: Marks) -> Self {
        Self { marks, broken: None }
    }

    pub(super) fn see(&mut self, walk: &Walk) {
        if self.broken.is_none() {
            self.broken = self.marks.look(walk.count(), walk.head());
        }
    }

    /// What the walk came to, with what the checkpoints say of it.
    pub(super) fn end(
        &mut self,
        walked: Result<(), Stop>,
        path: &Path,
        verified: &mut Verified,
    ) -> Result<(), RecordFault> {
        if walked.is_ok() && self.broken.is_none() {
            self.broken = self.marks.missing_after(verified.entries);
        }
        verified.flaws.extend(self.broken.take().map(Flaw::Entry));
        match walked {
            Ok(()) => {}
            Err(Stop::Entry(broken)) => verified.flaws.push(Flaw::Entry(broken)),
            Err(Stop::File(what)) => verified.flaws.push(Flaw::File(what)),
            Err(Stop::Sql(fault)) => verified.flaws.push(flaw_of(path, &fault)?),
            Err(Stop::Fault(fault)) => return Err(fault),
        }
        verified.signatures = Signatures::of(&self.marks);
        Ok(())
    }
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
    // One that an earlier program wrote lacks them until something is added to it.
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

fn walk_pages(connection: &mut Connection, walk: &mut Walk, comparison: &mut Comparison) -> Result<(), Stop> {
    let mut pages = Pages::from(walk);
    loop {
        // The last page and the end are looked at in one transaction, so that nobody appends between them.
        let transaction = connection.transaction()?;
        if pages.step(&transaction, walk, &mut |walk| comparison.see(walk))? {
            return look_at_end(&transaction, walk);
        }
    }
}

/// What the chain cannot say of itself: whether its last entry is the last that was written.
fn look_at_end(transaction: &Transaction<'_>, walk: &Walk) -> Result<(), Stop> {
    let (last, highest) = (walk.count(), highest_ever(transaction)?);
    if highest > last {
        return Err(Stop::at(last + 1, format!("is missing (entries up to {highest} were written)")));
    }
    if highest < last {
        return Err(Stop::File(format!("it remembers {} and has {last}", entries_in_words(highest))));
    }
    let orphan =
        "SELECT seq FROM attachments WHERE seq NOT IN (SELECT seq FROM entries) ORDER BY seq LIMIT 1";
    match transaction.query_row(orphan, [], |row| row.get::<_, i64>(0)).optional()? {
        Some(seq) => Err(Stop::at(seq, "is missing, but its attachments are there")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod changes;
#[cfg(test)]
pub(super) mod tests;
