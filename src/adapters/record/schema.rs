//! The audit's tables, and how its file is opened and known.

use super::fault;
use crate::ports::record::RecordFault;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// How long a call waits for another process that appends, verifies or exports.
pub(super) const LOCK_WAIT_MAX: Duration = Duration::from_secs(10);
/// What marks the file as an audit of this program: `unst` in ASCII.
pub(super) const APPLICATION_ID: i32 = 0x756e_7374;
/// The version of the tables below; a file with a higher one is of a newer program.
pub(super) const VERSION: i32 = 1;

/// Tables, the triggers that keep them append-only, and one index for each question.
///
/// The triggers stop mistakes and stray statements, not somebody who drops them: that is what the chain and the
/// comparison of this very text in `verify` are for. The two `_once` triggers are there for `INSERT OR REPLACE`, which
/// deletes a row without asking the triggers on DELETE.
pub(super) const TABLES: &str = "
CREATE TABLE entries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  event TEXT NOT NULL,
  decision TEXT NOT NULL,
  source TEXT NOT NULL,
  key TEXT NOT NULL,
  operator TEXT NOT NULL,
  origin TEXT NOT NULL,
  body TEXT NOT NULL,
  prev TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;
CREATE TABLE attachments (
  seq INTEGER NOT NULL,
  place INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  text TEXT NOT NULL,
  text_sha256 TEXT NOT NULL,
  PRIMARY KEY (seq, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX entries_intended ON entries (seq) WHERE event = 'intended';
CREATE INDEX entries_of_decision ON entries (decision, event) WHERE decision <> '';
CREATE INDEX entries_of_item ON entries (source, key, seq);
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'the audit only grows: entries cannot be changed'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'the audit only grows: entries cannot be removed'); END;
CREATE TRIGGER entries_once BEFORE INSERT ON entries WHEN EXISTS (SELECT 1 FROM entries WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'the audit only grows: entries cannot be replaced'); END;
CREATE TRIGGER attachments_stay BEFORE UPDATE ON attachments
BEGIN SELECT RAISE(ABORT, 'the audit only grows: attachments cannot be changed'); END;
CREATE TRIGGER attachments_remain BEFORE DELETE ON attachments
BEGIN SELECT RAISE(ABORT, 'the audit only grows: attachments cannot be removed'); END;
CREATE TRIGGER attachments_once BEFORE INSERT ON attachments
WHEN EXISTS (SELECT 1 FROM attachments WHERE seq = NEW.seq AND place = NEW.place)
BEGIN SELECT RAISE(ABORT, 'the audit only grows: attachments cannot be replaced'); END;
";

/// What files of earlier programs lack: made before something is added to a file, so one that is as it was is whole
/// without it. The first keeps two persons from approving the same decision, whatever the programs do; the trigger beside
/// it is there for `INSERT OR REPLACE` once more.
pub(super) const LATER: [(&str, &str); 4] = [
    (
        "entries_once_a_decision",
        "CREATE UNIQUE INDEX entries_once_a_decision ON entries (decision)
  WHERE event IN ('intended', 'withdrawn', 'lapsed')",
    ),
    (
        "entries_settle_once",
        "CREATE TRIGGER entries_settle_once BEFORE INSERT ON entries
WHEN NEW.event IN ('intended', 'withdrawn', 'lapsed') AND EXISTS (
  SELECT 1 FROM entries WHERE decision <> '' AND decision = NEW.decision
    AND event IN ('intended', 'withdrawn', 'lapsed'))
BEGIN SELECT RAISE(ABORT, 'a decision is intended, withdrawn or lapsed once'); END",
    ),
    ("entries_proposed", "CREATE INDEX entries_proposed ON entries (seq) WHERE event = 'proposed'"),
    ("entries_of_key", "CREATE INDEX entries_of_key ON entries (key, seq)"),
];

/// Opens the file to append; makes it, its folder and its tables where they are not there.
pub(super) fn open_to_append(path: &Path) -> Result<Connection, RecordFault> {
    refuse_folder(path)?;
    if let Some(folder) = path.parent() {
        make_folder(folder).map_err(|fault| fault::of_io(path, "its folder cannot be made", &fault))?;
    }
    make_file(path).map_err(|fault| fault::of_io(path, "cannot be written", &fault))?;
    let sql = |fault: rusqlite::Error| fault::of_sql(path, &fault);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sql)?;
    if state_of(&connection).map_err(sql)? == FileState::Empty {
        make_tables(&mut connection).map_err(sql)?;
    }
    refuse_foreign(path, state_of(&connection).map_err(sql)?)?;
    make_durable(&connection).map_err(sql)?;
    Ok(connection)
}

/// Opens the file to read; never writes, not even to roll back what an interrupted write left.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, RecordFault> {
    refuse_missing(path)?;
    let (connection, state) = connect_to_read(path).map_err(|fault| fault::of_sql(path, &fault))?;
    refuse_foreign(path, state)?;
    Ok(connection)
}

/// A connection that cannot write, and what the file is.
pub(super) fn connect_to_read(path: &Path) -> rusqlite::Result<(Connection, FileState)> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "query_only", true)?;
    let state = state_of(&connection)?;
    Ok((connection, state))
}

fn connect(path: &Path, how: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, how | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(LOCK_WAIT_MAX)?;
    // A file that somebody prepared must not run functions of theirs, and a damaged page must not be trusted.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

/// A commit is on the disk when it returns, and the record is one file.
///
/// The journal is rolled back and deleted, not a write-ahead log: a log keeps the newest entries in a second file, which
/// whoever copies or hands over `audit.db` would leave behind. EXTRA also syncs the folder after the journal is deleted;
/// without it a power cut could bring the journal back and roll back an intent that a decision already relied on.
fn make_durable(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "EXTRA")
}

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileState {
    /// A database without anything in it, as a new file is.
    Empty,
    /// An audit of this version.
    Ours,
    /// An audit of another version of this program.
    OfVersion(i32),
    /// A database of somebody else.
    Foreign,
}

fn state_of(connection: &Connection) -> rusqlite::Result<FileState> {
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let objects: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (number("application_id")?, number("user_version")?) {
        (0, 0) if objects == 0 => FileState::Empty,
        (APPLICATION_ID, VERSION) => FileState::Ours,
        (APPLICATION_ID, version) => FileState::OfVersion(version),
        _ => FileState::Foreign,
    })
}

/// Refuses every file but an audit of this version.
pub(super) fn refuse_foreign(path: &Path, state: FileState) -> Result<(), RecordFault> {
    match state {
        FileState::Ours => Ok(()),
        FileState::Empty => Err(fault::of(
            path,
            "is empty, it holds no audit yet",
            "Check the path, or restore the last copy.",
        )),
        FileState::OfVersion(version) => Err(fault::of(
            path,
            &format!("has version {version}, and this program knows version {VERSION}"),
            "Use the version of `unstuck` that wrote it, or name a new file as the audit.",
        )),
        FileState::Foreign => Err(fault::of(
            path,
            "is a database of another program, or its head was changed",
            "Name another file as the audit; this one was not touched.",
        )),
    }
}

/// Refuses a path where no file is.
pub(super) fn refuse_missing(path: &Path) -> Result<(), RecordFault> {
    refuse_folder(path)?;
    if !path.exists() {
        return Err(fault::absent(
            path,
            "does not exist",
            "Check the path; the file is made when something is decided or checked for the first time.",
        ));
    }
    Ok(())
}

fn refuse_folder(path: &Path) -> Result<(), RecordFault> {
    if path.is_dir() {
        return Err(fault::of(path, "is a folder, not a file", "Name a file in it, for example `audit.db`."));
    }
    Ok(())
}

/// Makes a folder, and those above it, for its owner alone.
pub(super) fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Makes the file before SQLite would, because it holds rows and answers that are only for its owner. SQLite gives its
/// journal the same permissions.
fn make_file(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

fn make_tables(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have made them while this one waited.
    if state_of(&transaction)? == FileState::Empty {
        transaction.execute_batch(TABLES)?;
        make_later(&transaction)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}

/// Makes what is in [`LATER`] and not there yet. Only together with an entry: until then a file that was sealed stays as it
/// is.
pub(super) fn make_later(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    for (name, made) in LATER {
        if !is_there(transaction, name)? {
            transaction.execute_batch(made)?;
        }
    }
    Ok(())
}

fn is_there(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let asked = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)";
    connection.prepare_cached(asked)?.query_row([name], |row| row.get(0))
}
