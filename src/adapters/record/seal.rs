//! Signs what the audit holds. Entries are signed some at a time and at the end of each run, never one by one: a signature
//! must be on the disk to count, and so must every checkpoint before it.

use super::append::{read_end, sha256_of};
use super::checkpoints::{self, End};
use super::verify::walk::{Stop, follow};
use super::watch::doubt_of;
use super::{fault, key};
use crate::domain::audit::Walk;
use crate::domain::cell::hex;
use crate::domain::checkpoint::{Checkpoint, FileSeal, Signed, VERSION, entries_in_words, prev_of};
use crate::domain::signing::{PublicKey, SigningKey};
use crate::ports::record::RecordFault;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// After how many entries of one run a checkpoint is written in the middle of it.
pub(super) const CHECKPOINT_ENTRIES: usize = 1_000;
/// How large a file is read at the end of each run to seal its bytes; of a larger one the entries are sealed alone.
const FILE_SEALED_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// How much of a file is read at once.
const READ_BYTES: usize = 128 * 1024;

/// Where checkpoints and their key are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seals {
    /// The file with the private key; `None` where no folder for it is known.
    pub key: Option<PathBuf>,
    /// The audit's own file of checkpoints.
    pub checkpoints: PathBuf,
}

impl Seals {
    /// The places for an audit: its checkpoints lie beside it where nobody says otherwise.
    pub fn of(audit: &Path, key: Option<PathBuf>, checkpoints: Option<PathBuf>) -> Self {
        let beside = || {
            let mut name = audit.as_os_str().to_owned();
            name.push(".checkpoints");
            PathBuf::from(name)
        };
        Self { key, checkpoints: checkpoints.unwrap_or_else(beside) }
    }

    /// The places for an audit in a database: this operator's own checkpoints lie beside the key where nobody says otherwise.
    pub fn of_server(shown: &str, key: Option<PathBuf>, checkpoints: Option<PathBuf>) -> Self {
        let beside = || {
            let folder = key.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
            let name = sha256_of(shown);
            folder.join("checkpoints").join(format!("{}.jsonl", name.get(..32).unwrap_or(&name)))
        };
        let checkpoints = checkpoints.unwrap_or_else(beside);
        Self { key, checkpoints }
    }
}

/// What is sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The entries.
    Entries,
    /// The entries and every byte of the file.
    EntriesAndFile,
}

/// Signs what the audit holds now, if what was added since the last checkpoint is whole.
pub(super) fn take(
    path: &Path,
    connection: &mut Connection,
    seals: &Seals,
    at: &str,
    reach: Reach,
) -> Result<(), RecordFault> {
    Signer::new(path, seals)?.sign(connection, at, reach)
}

/// Who signs an audit, wherever that is: a file, or what an address shows.
pub(super) struct Signer<'a> {
    path: &'a Path,
    pub(super) seals: &'a Seals,
    pub(super) key: SigningKey,
    witness: PathBuf,
}

/// What the last checkpoint is, and where the next one goes.
pub(super) struct Last {
    pub(super) signed: Option<Signed>,
    end: End,
}

impl<'a> Signer<'a> {
    /// With the key of this account, which is made where it is not there.
    pub(super) fn new(path: &'a Path, seals: &'a Seals) -> Result<Self, RecordFault> {
        let key_file = seals.key.as_deref().ok_or_else(|| fault::no_key_place(path))?;
        let key = key::read_or_make(key_file).map_err(|why| fault::no_key(path, key_file, &why))?;
        Ok(Self { path, seals, key, witness: checkpoints::witness_of(key_file, path) })
    }

    fn sign(&self, connection: &mut Connection, at: &str, reach: Reach) -> Result<(), RecordFault> {
        self.refuse_doubt()?;
        let sql = |fault: rusqlite::Error| fault::of_sql(self.path, &fault);
        // The long way first, while others can still write.
        let before = self.last()?.signed;
        let mut walk = self.begin(connection, before.as_ref())?;
        self.walk(connection, &mut walk)?;
        // Opened before the lock is taken and closed after it is gone: to close a file gives up the locks on it.
        let file =
            File::open(self.path).map_err(|fault| fault::of_io(self.path, "cannot be read", &fault))?;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
        let last = self.last()?;
        if last.signed != before {
            walk = self.begin(&transaction, last.signed.as_ref())?;
        }
        self.walk(&transaction, &mut walk)?;
        let (count, head) = read_end(self.path, &transaction)?;
        if (count, head.as_str()) != (walk.count(), walk.head()) {
            return Err(self.refused(&format!("entry {} is missing", walk.count() + 1)));
        }
        if count > 0 && !is_signed(last.signed.as_ref(), count, reach) {
            let seal = match reach {
                Reach::Entries => None,
                Reach::EntriesAndFile => {
                    seal_of(&file).map_err(|fault| fault::of_io(self.path, "cannot be read", &fault))?
                }
            };
            let first = hash_at(&transaction, 1).map_err(sql)?.unwrap_or_default();
            self.keep(&last, &first, &walk, at, seal)?;
        }
        drop(transaction);
        drop(file);
        Ok(())
    }

    /// A change that an earlier run found is not signed over by a later one.
    fn refuse_doubt(&self) -> Result<(), RecordFault> {
        let place = doubt_of(&self.witness);
        match checkpoints::remembered(&place) {
            Ok(None) => Ok(()),
            Ok(Some(found)) => Err(fault::doubted(self.path, &found, &place)),
            Err(fault) => Err(self.refused(&format!("{} cannot be read ({fault})", place.display()))),
        }
    }

    /// The last checkpoint, if it can be gone on from.
    pub(super) fn last(&self) -> Result<Last, RecordFault> {
        let shown = self.seals.checkpoints.display();
        let end = checkpoints::end_of(&self.seals.checkpoints)
            .map_err(|fault| self.refused(&format!("its checkpoints {shown} cannot be read ({fault})")))?;
        let key = self.key.public();
        let read = |line: &str, place: &str| {
            Signed::from_line(line, &[key]).map_err(|fault| self.refused(&format!("{place} {fault}")))
        };
        let signed = end
            .last_line
            .as_deref()
            .map(|line| read(line, &format!("the last line of {shown}")))
            .transpose()?;
        let remembered = checkpoints::remembered(&self.witness)
            .map_err(|fault| self.refused(&format!("{} cannot be read ({fault})", self.witness.display())))?;
        if let Some(line) = remembered {
            let remembered = read(&line, &format!("the line in {}", self.witness.display()))?.checkpoint;
            if signed.as_ref().is_none_or(|last| last.checkpoint.entries < remembered.entries) {
                return Err(self.refused(&format!(
                    "the checkpoint of {} for {}, remembered in {}, is gone from {shown}",
                    remembered.at,
                    entries_in_words(remembered.entries),
                    self.witness.display()
                )));
            }
        }
        Ok(Last { signed, end })
    }

    /// A walk from the last checkpoint on, whose entry must still be there.
    fn begin(&self, connection: &Connection, last: Option<&Signed>) -> Result<Walk, RecordFault> {
        let Some(Signed { checkpoint, .. }) = last else { return Ok(Walk::default()) };
        let hash_of = |seq: i64| hash_at(connection, seq).map_err(|fault| fault::of_sql(self.path, &fault));
        self.go_on(checkpoint, hash_of(1)?.as_deref(), hash_of(checkpoint.entries)?.as_deref())
    }

    /// A walk that goes on after a checkpoint, if the first entry and the last of those that it covers are those it says.
    pub(super) fn go_on(
        &self,
        checkpoint: &Checkpoint,
        first: Option<&str>,
        last: Option<&str>,
    ) -> Result<Walk, RecordFault> {
        if !is_of(checkpoint, first, last) {
            return Err(self.refused(&format!(
                "it is not the audit that the checkpoint of {} was taken of, with {}",
                checkpoint.at,
                entries_in_words(checkpoint.entries)
            )));
        }
        Ok(Walk::after(checkpoint.entries, &checkpoint.head))
    }

    fn walk(&self, connection: &Connection, walk: &mut Walk) -> Result<(), RecordFault> {
        follow(connection, walk, |_| {}).map_err(|stop| match stop {
            Stop::Entry(broken) => self.refused(&broken.to_string()),
            Stop::File(what) => self.refused(&what),
            Stop::Sql(fault) => fault::of_sql(self.path, &fault),
            Stop::Fault(fault) => fault,
        })
    }

    /// Signs what a walk came to and keeps it here; the line that is kept.
    pub(super) fn keep(
        &self,
        last: &Last,
        first: &str,
        walk: &Walk,
        at: &str,
        file: Option<FileSeal>,
    ) -> Result<String, RecordFault> {
        let checkpoint = Checkpoint {
            version: VERSION,
            audit: first.to_owned(),
            entries: walk.count(),
            head: walk.head().to_owned(),
            at: at.to_owned(),
            file,
            prev: prev_of(last.signed.as_ref()),
            key: PublicKey::fingerprint(self.key.public()),
        };
        let line = checkpoint.sign(&self.key).to_line();
        let unwritten = |place: &Path, fault: &io::Error| {
            self.refused(&format!("its checkpoint cannot be written to {} ({fault})", place.display()))
        };
        checkpoints::append(&self.seals.checkpoints, &last.end, &line)
            .map_err(|fault| unwritten(&self.seals.checkpoints, &fault))?;
        // Only now: what is remembered must be there.
        checkpoints::remember(&self.witness, &line).map_err(|fault| unwritten(&self.witness, &fault))?;
        Ok(line)
    }

    pub(super) fn refused(&self, why: &str) -> RecordFault {
        fault::unsigned(self.path, why, [&self.seals.checkpoints, &self.witness])
    }
}

/// Whether a checkpoint is of an audit with this first entry, and with this one where the checkpoint ends.
pub(super) fn is_of(checkpoint: &Checkpoint, first: Option<&str>, last: Option<&str>) -> bool {
    first == Some(&*checkpoint.audit) && last == Some(&*checkpoint.head)
}

fn is_signed(last: Option<&Signed>, count: i64, reach: Reach) -> bool {
    last.is_some_and(|last| {
        last.checkpoint.entries == count && (reach == Reach::Entries || last.checkpoint.file.is_some())
    })
}

fn hash_at(connection: &Connection, seq: i64) -> rusqlite::Result<Option<String>> {
    connection.query_row("SELECT hash FROM entries WHERE seq = ?1", [seq], |row| row.get(0)).optional()
}

/// The seal of a file's bytes; `None` for a file that is too large.
pub(super) fn seal_of(mut file: &File) -> io::Result<Option<FileSeal>> {
    if file.metadata()?.len() > FILE_SEALED_BYTES_MAX {
        return Ok(None);
    }
    let (mut hasher, mut bytes, mut buffer) = (Sha256::new(), 0_u64, vec![0; READ_BYTES]);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(Some(FileSeal { sha256: hex(&hasher.finalize()), bytes }));
        }
        hasher.update(buffer.get(..count).unwrap_or_default());
        bytes += u64::try_from(count).unwrap_or(u64::MAX);
    }
}

#[cfg(test)]
mod tests;
