//! The audit: durable, append-only, and able to show that nothing in it was changed. One SQLite file, or a schema of a
//! PostgreSQL database (`postgres`), with the same chain, questions, checkpoints and exports; what follows is of the file.
//!
//! - `schema`: the tables, the triggers that refuse changes, and how a file is opened and known.
//! - `append`: one transaction that chains new entries to the last.
//! - `read`: the questions that the workflow asks.
//! - [`verify`]: whether everything is as it was written.
//! - [`export`]: everything, as JSON Lines or CSV.
//! - `seal`: signs what it holds; [`key`]: with what; `checkpoints`: where that is written.
//! - `watch`: looks for other changes before a run adds to what was sealed.
//! - `postgres`: the audit in a database.
//! - `fault`: SQLite's errors as one line what and one line what to do.

mod append;
mod checkpoints;
pub mod export;
mod fault;
pub mod key;
mod postgres;
mod read;
mod schema;
mod seal;
pub mod verify;
mod watch;

pub use postgres::PostgresRecord;
pub use seal::Seals;

use self::seal::{CHECKPOINT_ENTRIES, Reach};
use self::watch::Watch;
use crate::domain::audit::{Entry, NewEntry, Subject};
use crate::domain::moment::stamp;
use crate::domain::proposal::IdEnding;
use crate::ports::record::{Once, Record, RecordFault};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use uuid::Uuid;

/// The audit in a SQLite file.
///
/// Every call runs on a thread that may block. A call that has begun is carried to its end even when nobody waits for
/// it any more, so an append is never half done. Several processes may append to one file: each waits for its turn.
#[derive(Debug, Clone)]
pub struct SqliteRecord {
    path: Arc<Path>,
    read_only: bool,
    seals: Option<Arc<Seals>>,
    opened: Arc<Mutex<Opened>>,
}

/// What one call at a time works with.
#[derive(Debug)]
struct Opened {
    connection: Connection,
    /// How many entries this run has added since it last signed.
    unsigned: usize,
    watch: Watch,
}

impl Opened {
    /// Looks at the file before the first entry that is not signed yet, and keeps what was found.
    fn look(&mut self, path: &Path, seals: &Seals) {
        if self.unsigned == 0 {
            self.watch.look(path, &mut self.connection, seals);
            self.watch.keep(path, seals);
        }
    }

    /// Signs, unless the file was changed before this run.
    fn sign(&mut self, path: &Path, seals: &Seals, at: &str, reach: Reach) -> Result<(), RecordFault> {
        self.watch.refuse_doubt(path, seals)?;
        seal::take(path, &mut self.connection, seals, at, reach)
    }
}

impl SqliteRecord {
    /// Opens the audit to read and append; makes the file and its folder where they are not there yet.
    ///
    /// A new file can be read by its owner alone.
    ///
    /// # Errors
    /// [`RecordFault`] naming the path: not an audit, one of a newer version, locked, or not to be written.
    pub fn open(path: &Path) -> Result<Self, RecordFault> {
        let path = absolute(path)?;
        let connection = schema::open_to_append(&path)?;
        Ok(Self::of(&path, connection, false))
    }

    /// Also signs what it holds: now and then, and when [`Record::seal`] is called. Compares the file with the last seal at
    /// once, because later there may be no time: nothing slow may come before an intent.
    #[must_use]
    pub fn signed(self, seals: Seals) -> Self {
        {
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            let Opened { connection, watch, .. } = &mut *opened;
            watch.look(&self.path, connection, &seals);
        }
        Self { seals: Some(Arc::new(seals)), ..self }
    }

    fn of(path: &Path, connection: Connection, read_only: bool) -> Self {
        Self {
            path: path.into(),
            read_only,
            seals: None,
            opened: Arc::new(Mutex::new(Opened { connection, unsigned: 0, watch: Watch::default() })),
        }
    }

    /// Opens the audit to read. Never writes: a missing file is a fault, and so is one that an interrupted write left.
    ///
    /// # Errors
    /// [`RecordFault`] naming the path.
    pub fn open_to_read(path: &Path) -> Result<Self, RecordFault> {
        let path = absolute(path)?;
        let connection = schema::open_to_read(&path)?;
        Ok(Self::of(&path, connection, true))
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Path, &mut Connection) -> Result<T, RecordFault> + Send + 'static,
    ) -> Result<T, RecordFault> {
        self.run_opened(|path, opened| call(path, &mut opened.connection)).await
    }

    async fn run_opened<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Path, &mut Opened) -> Result<T, RecordFault> + Send + 'static,
    ) -> Result<T, RecordFault> {
        let (path, opened) = (Arc::clone(&self.path), Arc::clone(&self.opened));
        let task = tokio::task::spawn_blocking(move || {
            // A transaction that a panic broke off was rolled back when it was dropped: the connection is good.
            let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
            call(&path, &mut opened)
        });
        task.await.unwrap_or_else(|_| Err(fault::stopped(&self.path)))
    }

    /// Writes, counts what is not signed yet, and signs at intervals. `new` are the entries that were written.
    async fn write<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Path, &mut Connection) -> Result<T, RecordFault> + Send + 'static,
        new: fn(&T) -> &[Entry],
    ) -> Result<T, RecordFault> {
        if self.read_only {
            return Err(fault::opened_to_read(&self.path));
        }
        let seals = self.seals.clone();
        self.run_opened(move |path, opened| {
            if let Some(seals) = &seals {
                opened.look(path, seals);
            }
            // What cannot be written cannot be signed: whoever is told of the one need not wait to be told of the other.
            let written = call(path, &mut opened.connection).inspect_err(|_| opened.unsigned = 0)?;
            let (before, entries) = (opened.unsigned, new(&written));
            opened.unsigned += entries.len();
            if let (Some(seals), Some(last)) = (&seals, entries.last())
                && opened.unsigned / CHECKPOINT_ENTRIES > before / CHECKPOINT_ENTRIES
            {
                // What was appended is on the disk, signed or not: why it is not is told when the run is sealed.
                let _told_later = opened.sign(path, seals, &last.at, Reach::Entries);
            }
            Ok(written)
        })
        .await
    }
}

#[async_trait]
impl Record for SqliteRecord {
    async fn append(&self, entries: Vec<NewEntry>) -> Result<Vec<Entry>, RecordFault> {
        self.write(|path, connection| append::append(path, connection, entries), Vec::as_slice).await
    }

    async fn seal(&self, at: DateTime<Utc>) -> Result<(), RecordFault> {
        let Some(seals) = self.seals.clone() else { return Ok(()) };
        self.run_opened(move |path, opened| {
            if opened.unsigned == 0 {
                return Ok(());
            }
            opened.sign(path, &seals, &stamp(at), Reach::EntriesAndFile)?;
            opened.unsigned = 0;
            Ok(())
        })
        .await
    }

    async fn append_once(&self, entry: NewEntry) -> Result<Once, RecordFault> {
        fn placed(once: &Once) -> &[Entry] {
            match once {
                Once::Placed(entry) => std::slice::from_ref(entry),
                Once::Taken(_) => &[],
            }
        }
        self.write(|path, connection| append::append_once(path, connection, entry), placed).await
    }

    async fn unfinished(&self) -> Result<Vec<Entry>, RecordFault> {
        self.run(read::unfinished).await
    }

    async fn of_decision(&self, decision: Uuid) -> Result<Vec<Entry>, RecordFault> {
        self.run(move |path, connection| read::of_decision(path, connection, decision)).await
    }

    async fn intended_on(&self, subject: &Subject, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        let subject = subject.clone();
        self.run(move |path, connection| read::intended_on(path, connection, &subject, entries_max)).await
    }

    async fn of_item(&self, subject: &Subject, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        let subject = subject.clone();
        self.run(move |path, connection| read::of_item(path, connection, &subject, entries_max)).await
    }

    async fn escalated(&self, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.run(move |path, connection| read::escalated(path, connection, entries_max)).await
    }

    async fn waiting(&self, after: i64, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.run(move |path, connection| read::waiting(path, connection, after, entries_max)).await
    }

    async fn waiting_on(&self, subject: &Subject) -> Result<Vec<Entry>, RecordFault> {
        let subject = subject.clone();
        self.run(move |path, connection| read::waiting_on(path, connection, &subject)).await
    }

    async fn proposals_ending(
        &self,
        ending: &IdEnding,
        entries_max: usize,
    ) -> Result<Vec<Entry>, RecordFault> {
        let ending = ending.clone();
        self.run(move |path, connection| read::proposals_ending(path, connection, &ending, entries_max)).await
    }

    async fn page(&self, before: Option<i64>, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.run(move |path, connection| read::page(path, connection, before, entries_max)).await
    }
}

/// The path from the root, so that SQLite takes no name (`:memory:`) for anything but a file.
fn absolute(path: &Path) -> Result<PathBuf, RecordFault> {
    std::path::absolute(path).map_err(|fault| fault::of_io(path, "cannot be found", &fault))
}

#[cfg(test)]
mod suite;
#[cfg(test)]
mod tests;
