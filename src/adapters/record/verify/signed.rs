//! What checkpoints say of an audit, and what they vouch for.

use super::{Flaw, Verified};
use crate::adapters::record::checkpoints::{self, Found, Kind, Others, signer_of};
use crate::adapters::record::fault;
use crate::adapters::record::key::{self, KeyState};
use crate::adapters::record::seal::{Seals, seal_of};
use crate::adapters::record::watch::doubt_of;
use crate::domain::checkpoint::{Checkpoint, LineFault, Marks, Signed, entries_in_words};
use crate::domain::signing::PublicKey;
use crate::ports::record::RecordFault;
use rusqlite::{Connection, OptionalExtension};
use std::fs::File;
use std::path::{Path, PathBuf};

/// What an audit is compared against. Nothing by default: then its chain is all there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Against {
    /// What signatures are checked with: one audit may be signed by several operators, each with a key of their own.
    pub keys: Vec<PublicKey>,
    /// The audit's own file of checkpoints, where there is one.
    pub own: Option<PathBuf>,
    /// The last checkpoint that is remembered beside the private key.
    pub witness: Option<PathBuf>,
    /// Checkpoints that were kept elsewhere.
    pub copies: Vec<PathBuf>,
    /// The checkpoints that the audit's database holds, a line each; `None` for an audit that is a file.
    pub lines: Option<Vec<String>>,
    /// Whether there must be some: whoever brings a key of their own knows that something was signed.
    pub must_be_signed: bool,
}

impl Against {
    /// The checkpoints of this machine, with its own key or others.
    ///
    /// # Errors
    /// A key file that cannot be read.
    pub fn of(
        audit: &Path,
        seals: &Seals,
        other_keys: Vec<PublicKey>,
        copies: Vec<PathBuf>,
    ) -> Result<Self, RecordFault> {
        let audit = super::absolute(audit)?;
        let must_be_signed = !other_keys.is_empty();
        let own_key = match &seals.key {
            Some(file) if !must_be_signed => own_key(&audit, file)?,
            Some(_) | None => None,
        };
        let witness = own_key.and(seals.key.as_ref()).map(|file| checkpoints::witness_of(file, &audit));
        let keys = if must_be_signed { other_keys } else { own_key.into_iter().collect() };
        let own = Some(seals.checkpoints.clone());
        Ok(Self { keys, own, witness, copies, must_be_signed, lines: None })
    }

    /// The same for an audit in a database, which many sign: this machine's own checkpoints, and whatever else is known.
    ///
    /// # Errors
    /// A key file that cannot be read.
    pub fn of_many(
        audit: &Path,
        seals: &Seals,
        given: &[PublicKey],
        known: &[PublicKey],
        copies: Vec<PathBuf>,
    ) -> Result<Self, RecordFault> {
        let own_key = seals.key.as_deref().map(|file| own_key(audit, file)).transpose()?.flatten();
        let mut keys: Vec<PublicKey> = own_key.into_iter().collect();
        for key in given.iter().chain(known) {
            if !keys.contains(key) {
                keys.push(*key);
            }
        }
        let of_own = |path: PathBuf| own_key.is_some().then_some(path);
        Ok(Self {
            keys,
            own: of_own(seals.checkpoints.clone()),
            witness: seals.key.as_deref().and_then(|file| of_own(checkpoints::witness_of(file, audit))),
            copies,
            lines: None,
            must_be_signed: !given.is_empty(),
        })
    }

    /// Reads all of it.
    pub(in crate::adapters::record) fn read(&self, audit: &Path) -> Result<Read, RecordFault> {
        let remembered = match &self.witness {
            None => None,
            Some(witness) => checkpoints::remembered(witness)
                .map_err(|io| fault::unreadable_checkpoints(audit, witness, &io))?
                .map(|line| (witness, line)),
        };
        // Looked for only now: what is remembered was written to the audit's own file before.
        let own = self.own.as_ref().filter(|own| own.exists());
        let has_lines = self.lines.as_ref().is_some_and(|lines| !lines.is_empty());
        if own.is_none() && self.copies.is_empty() && remembered.is_none() && !has_lines {
            return Ok(Read::default());
        }
        if self.keys.is_empty() {
            return Err(fault::no_key_to_check(audit));
        }
        let (mut all, mut flaws, mut others) = (Vec::new(), Vec::new(), Others::new());
        if let Some(doubt) = self.witness.as_deref().map(doubt_of) {
            let found = checkpoints::remembered(&doubt)
                .map_err(|io| fault::unreadable_checkpoints(audit, &doubt, &io))?;
            flaws.extend(found.map(|found| format!("{}: {found}", doubt.display())));
        }
        let own = own.map(|own| (own, Kind::Own));
        let mut own_checkpoints = Vec::new();
        for (file, kind) in own.into_iter().chain(self.copies.iter().map(|copy| (copy, Kind::Copy))) {
            let found = read_file(audit, file, kind, &self.keys)?;
            others.extend(found.others.clone());
            flaws.extend(in_short(&found.flaws).map(|flaw| format!("{}: {flaw}", file.display())));
            if kind == Kind::Own {
                own_checkpoints.extend(found.checkpoints);
            } else {
                all.extend(found.checkpoints);
            }
        }
        if let Some((witness, line)) = remembered {
            match Signed::from_line(&line, &self.keys) {
                Err(fault) => flaws.push(format!("{}: the line {fault}", witness.display())),
                Ok(Signed { checkpoint, .. }) => {
                    if !own_checkpoints.contains(&checkpoint) {
                        flaws.push(format!(
                            "the one of {} for {}, remembered in {}, is gone",
                            checkpoint.at,
                            entries_in_words(checkpoint.entries),
                            witness.display()
                        ));
                    }
                    all.push(checkpoint);
                }
            }
        }
        if let Some(lines) = &self.lines {
            let held = read_lines(lines, &self.keys, &mut others, &mut flaws);
            let gone = own_checkpoints.iter().filter(|own| !held.contains(own));
            let gone: Vec<String> = gone
                .map(|own| {
                    format!(
                        "the one of {} for {}, kept here, is not in the database",
                        own.at,
                        entries_in_words(own.entries)
                    )
                })
                .collect();
            flaws.extend(in_short(&gone));
            all.extend(held);
        }
        all.extend(own_checkpoints);
        Ok(Read { marks: Marks::new(all), flaws, others: others.len() })
    }
}

/// What an audit is compared against, as it was read.
#[derive(Debug, Default)]
pub(in crate::adapters::record) struct Read {
    /// What known keys signed.
    pub marks: Marks,
    /// What is wrong with the checkpoints.
    pub flaws: Vec<String>,
    /// How many keys signed some that are not known here.
    pub others: usize,
}

/// The checkpoints among the lines that a database holds. Those of unknown keys vouch for nothing and are no flaw: any
/// operator may sign.
fn read_lines(
    lines: &[String],
    keys: &[PublicKey],
    others: &mut Others,
    flaws: &mut Vec<String>,
) -> Vec<Checkpoint> {
    let (mut held, mut wrong) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(lines) {
        match Signed::from_line(line, keys) {
            Ok(signed) => held.push(signed.checkpoint),
            Err(LineFault::OtherKey) => {
                *others.entry(signer_of(line).unwrap_or_default()).or_default() += 1;
            }
            Err(fault @ (LineFault::NotOne | LineFault::Forged)) => {
                wrong.push(format!("in the database: number {number} {fault}"));
            }
        }
    }
    flaws.extend(in_short(&wrong));
    held
}

/// One cause (another key, ends of lines that were changed) is wrong with every line: the first of them is enough.
fn in_short(flaws: &[String]) -> impl Iterator<Item = String> + use<'_> {
    flaws.first().into_iter().map(|first| match flaws.len() - 1 {
        0 => first.clone(),
        more => format!("{first} (and {more} more)"),
    })
}

fn own_key(audit: &Path, file: &Path) -> Result<Option<PublicKey>, RecordFault> {
    match key::look(file) {
        Ok(KeyState::Missing) => Ok(None),
        Ok(KeyState::Private(key) | KeyState::Shared(key)) => Ok(Some(key)),
        Err(why) => Err(fault::unreadable_key(audit, file, &why)),
    }
}

fn read_file(audit: &Path, file: &Path, kind: Kind, keys: &[PublicKey]) -> Result<Found, RecordFault> {
    checkpoints::read(file, kind, keys).map_err(|io| fault::unreadable_checkpoints(audit, file, &io))
}

/// What checkpoints vouch for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signatures {
    /// How many checkpoints there are.
    pub count: usize,
    /// The last one that fits: so many entries are as they were when it was signed.
    pub last: Option<Checkpoint>,
    /// What they say of the file's bytes.
    pub bytes: Bytes,
    /// How many keys signed some of it that are not known here: those vouch for nothing.
    pub others: usize,
}

/// What checkpoints say of the file's bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Bytes {
    /// Nothing: no checkpoint sealed the file as it should be now.
    #[default]
    Unsealed,
    /// They are those that were sealed.
    AsSealed,
}

impl Signatures {
    pub(super) fn of(marks: &Marks) -> Self {
        Self { count: marks.count(), last: marks.sound().cloned(), bytes: Bytes::Unsealed, others: 0 }
    }
}

/// Compares every byte of the file with those that were sealed, if nothing was added since.
pub(super) fn look_at_bytes(
    path: &Path,
    connection: &mut Connection,
    marks: &Marks,
    verified: &mut Verified,
) -> Result<(), RecordFault> {
    let seals: Vec<_> = marks.file_seals(verified.entries).collect();
    if seals.is_empty() {
        return Ok(());
    }
    let unreadable = |io: &std::io::Error| fault::of_io(path, "cannot be read", io);
    // Opened before the read lock is taken and closed after it is gone: to close a file gives up the locks on it.
    let file = File::open(path).map_err(|io| unreadable(&io))?;
    let sql = |fault: rusqlite::Error| fault::of_sql(path, &fault);
    let transaction = connection.transaction().map_err(sql)?;
    let end: Option<(i64, String)> = transaction
        .query_row("SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()
        .map_err(sql)?;
    // Nobody writes while this transaction reads. If somebody did before it, the seal is of the past.
    if end.is_some_and(|(seq, head)| seq == verified.entries && head == verified.head) {
        let there = seal_of(&file).map_err(|io| unreadable(&io))?;
        match seals.iter().find(|(_, seal)| there.as_ref() != Some(*seal)) {
            None => verified.signatures.bytes = Bytes::AsSealed,
            Some((at, _)) => verified.flaws.push(Flaw::File(format!(
                "no entry is changed, but its bytes are not those that were sealed at {at}"
            ))),
        }
    }
    drop(transaction);
    drop(file);
    Ok(())
}
