//! Looks whether the file is still as it was sealed before a run adds to it: afterwards nobody could tell.

use super::key::{self, KeyState};
use super::seal::{Seals, seal_of};
use super::{checkpoints, fault};
use crate::domain::checkpoint::Signed;
use crate::ports::record::RecordFault;
use rusqlite::{Connection, OptionalExtension};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What a run knows of the file as it was before it.
#[derive(Debug, Default)]
pub(super) struct Watch {
    seen: Option<Seen>,
    /// How its bytes were not those that were sealed, in a sentence about them.
    doubt: Option<String>,
}

impl Watch {
    /// Looks at the file, if anything touched it since it was last looked at: of a large one every byte takes a while.
    pub(super) fn look(&mut self, path: &Path, connection: &mut Connection, seals: &Seals) {
        let now = Seen::of(path);
        if self.doubt.is_some() || (now.is_some() && now == self.seen) {
            return;
        }
        self.seen = now;
        // What cannot be read here is told by whoever writes or signs.
        self.doubt = difference(path, connection, seals);
    }

    /// Keeps what was found beside the key, for the runs after this one. To be called before anything is added.
    pub(super) fn keep(&self, path: &Path, seals: &Seals) {
        let (Some(doubt), Some(key)) = (&self.doubt, &seals.key) else { return };
        let place = doubt_of(&checkpoints::witness_of(key, path));
        // The first is kept: it names the last checkpoint that fitted. Without it this run still signs nothing.
        if !place.exists() {
            let _known_to_this_run = checkpoints::remember(&place, doubt);
        }
    }

    /// Refuses to sign on top of what was changed.
    pub(super) fn refuse_doubt(&self, path: &Path, seals: &Seals) -> Result<(), RecordFault> {
        match (&self.doubt, &seals.key) {
            (Some(doubt), Some(key)) => {
                Err(fault::doubted(path, doubt, &doubt_of(&checkpoints::witness_of(key, path))))
            }
            (None, _) | (_, None) => Ok(()),
        }
    }
}

/// Where it is kept that the file was changed, beside the last checkpoint that is remembered.
pub(super) fn doubt_of(witness: &Path) -> PathBuf {
    witness.with_extension("changed")
}

/// What the file system says of a file, which nobody changes without a trace in it.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    bytes: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    changed: (u64, i64, i64),
}

impl Seen {
    fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        let told = std::fs::metadata(path).ok()?;
        Some(Self {
            bytes: told.len(),
            modified: told.modified().ok(),
            #[cfg(unix)]
            changed: (told.ino(), told.ctime(), told.ctime_nsec()),
        })
    }
}

/// How the bytes differ from those that the last checkpoint sealed; `None` where they do not, or entries came after it.
fn difference(path: &Path, connection: &mut Connection, seals: &Seals) -> Option<String> {
    let Ok(KeyState::Private(key) | KeyState::Shared(key)) = key::look(seals.key.as_deref()?) else {
        return None;
    };
    // Opened before the read lock is taken and closed after it is gone: to close a file gives up the locks on it.
    let file = File::open(path).ok()?;
    let transaction = connection.transaction().ok()?;
    let end: Option<(i64, String)> = transaction
        .query_row("SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()
        .ok()?;
    // Read only now that nobody adds an entry.
    let line = checkpoints::end_of(&seals.checkpoints).ok()?.last_line?;
    let last = Signed::from_line(&line, &[key]).ok()?.checkpoint;
    let sealed = last.file.filter(|_| end == Some((last.entries, last.head)))?;
    let there = seal_of(&file).ok()?;
    drop(transaction);
    drop(file);
    (there != Some(sealed)).then(|| {
        format!(
            "its bytes were no longer those that were sealed at {} when something was added after entry {}",
            last.at, last.entries
        )
    })
}
