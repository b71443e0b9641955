//! Opening a file: to look at without ever writing, or to carry out a decision.

use super::fault::fault_of_sql;
use crate::adapters::sql::Misfit;
use crate::ports::source::{SourceFault, SourceFaultKind};
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a read waits for an application that holds the file alone.
const READ_WAITS_MAX: Duration = Duration::from_secs(3);
/// How long a decision waits for its turn to write.
const WRITE_WAITS_MAX: Duration = Duration::from_secs(10);
/// After how many steps of SQLite's machine a query looks whether it is still wanted.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// How much of a file a connection that reads keeps in memory, as SQLite counts (negative: KiB). Each call has a
/// connection of its own and goes through the file once: a larger cache would only be filled, and thrown away.
const READ_CACHE_KIB: i64 = -256;

/// Where a database is, and how long it may be waited for.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    read_waits_max: Duration,
    write_waits_max: Duration,
}

impl Place {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, read_waits_max: READ_WAITS_MAX, write_waits_max: WRITE_WAITS_MAX }
    }

    /// The same with one bound for every wait, for a test that waits in vain.
    #[cfg(test)]
    pub(super) fn waiting_at_most(self, waits_max: Duration) -> Self {
        Self { read_waits_max: waits_max, write_waits_max: waits_max, ..self }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn fault(&self, fault: &rusqlite::Error) -> SourceFault {
        fault_of_sql(&self.path, fault)
    }

    pub(super) fn fault_of(&self, kind: SourceFaultKind, what: &str, do_next: &str) -> SourceFault {
        SourceFault::at(self.path.display(), kind, what, do_next)
    }

    /// What does not fit there.
    pub(super) fn misfit(&self, (kind, what, do_next): Misfit) -> SourceFault {
        self.fault_of(kind, &what, do_next)
    }

    /// Opens read-only. A query on it ends once `stopped` is true.
    pub(super) fn open_to_read(&self, stopped: Arc<AtomicBool>) -> Result<Connection, SourceFault> {
        let mut connection = self.open(OpenFlags::SQLITE_OPEN_READ_ONLY, self.read_waits_max)?;
        connection
            .pragma_update(None, "query_only", true)
            .and_then(|()| connection.pragma_update(None, "cache_size", READ_CACHE_KIB))
            .map_err(|fault| self.fault(&fault))?;
        connection
            .progress_handler(STEPS_BETWEEN_LOOKS, Some(move || stopped.load(Ordering::Relaxed)))
            .map_err(|fault| self.fault(&fault))?;
        Ok(connection)
    }

    /// Opens to write one decision.
    pub(super) fn open_to_write(&self) -> Result<Connection, SourceFault> {
        self.open(OpenFlags::SQLITE_OPEN_READ_WRITE, self.write_waits_max)
    }

    fn open(&self, how: OpenFlags, waits_max: Duration) -> Result<Connection, SourceFault> {
        self.check_file()?;
        let open = || {
            let connection = Connection::open_with_flags(&self.path, how | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
            connection.busy_timeout(waits_max)?;
            // The first real look at the file: a wrong or locked one says so here.
            let pages: i64 =
                connection.query_row("SELECT page_count FROM pragma_page_count", [], |row| row.get(0))?;
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok((connection, pages))
        };
        let (connection, pages) = open().map_err(|fault| self.fault(&fault))?;
        if pages == 0 {
            // A few bytes, which SQLite takes for a database that nobody has written to yet.
            return Err(self.fault(&not_a_database()));
        }
        Ok(connection)
    }

    /// Says in plain words what SQLite would only call "unable to open database file".
    ///
    /// The file itself is left to SQLite: whoever opens and closes it beside SQLite takes away every lock that this
    /// process holds on it (POSIX gives them to the process, not to the file's handle), also in the middle of a decision.
    fn check_file(&self) -> Result<(), SourceFault> {
        let unreachable =
            |what: &str, do_next: &str| Err(self.fault_of(SourceFaultKind::Unreachable, what, do_next));
        match std::fs::metadata(&self.path) {
            Ok(meta) if meta.is_dir() => {
                unreachable("is a folder, not a database", "Name the database file in it.")
            }
            Ok(meta) if meta.len() == 0 => unreachable(
                "is empty",
                "Check the path: an application writes its tables before its first job.",
            ),
            Ok(_) => Ok(()),
            Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => unreachable(
                "does not exist",
                "Check the path; a relative one counts from the configuration's folder.",
            ),
            Err(fault) => {
                unreachable(&format!("cannot be reached ({fault})"), "Check the path and its permissions.")
            }
        }
    }
}

fn not_a_database() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB), None)
}
