//! Files of checkpoints, one JSON object a line: the audit's own, copies that are kept elsewhere, and the last one beside
//! the key.

use super::append::sha256_of;
use super::schema::make_folder;
use crate::domain::audit::GENESIS;
use crate::domain::checkpoint::{Checkpoint, LineFault, Signed};
use crate::domain::signing::PublicKey;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How long a checkpoint's line can be at most.
const LINE_BYTES_MAX: u64 = 4_096;
/// How long any other line of an export can be at most.
pub(super) const EXPORT_LINE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// How many lines are looked at at once.
const LINES_AT_ONCE: usize = 1_000;
/// Fewer lines than these are looked at sooner than they are handed to other processors.
const ALONE_BELOW: usize = 20;
/// What a line of an export that is an entry begins with.
pub(super) const ENTRY_BEGINS: &[u8] = b"{\"seq\":";

/// What a file of checkpoints holds.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Those that a known key signed.
    pub(super) checkpoints: Vec<Checkpoint>,
    /// Those that other keys signed: they vouch for nothing. Empty where no known key signed anything, which is a flaw.
    pub(super) others: Others,
    /// What is wrong with the file, in sentences about it.
    pub(super) flaws: Vec<String>,
}

/// How many checkpoints each unknown key signed, by its fingerprint.
pub(super) type Others = BTreeMap<String, usize>;

/// Whether lines belong to one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The audit's own file: it grows line by line, each with the hash of the one before it.
    Own,
    /// Any lines that somebody kept, also a whole export.
    Copy,
}

/// Reads a file of checkpoints.
pub(super) fn read(path: &Path, kind: Kind, keys: &[PublicKey]) -> io::Result<Found> {
    let mut reader = BufReader::new(File::open(path)?);
    let (mut found, mut prev, mut number) = (Found::default(), GENESIS.to_owned(), 0_usize);
    let mut by_others = Vec::new();
    loop {
        let mut lines = Vec::new();
        while lines.len() < LINES_AT_ONCE
            && let Some(line) = next_line(&mut reader, EXPORT_LINE_BYTES_MAX)?
        {
            number += 1;
            let is_foreign = kind == Kind::Copy && line.starts_with(ENTRY_BEGINS);
            if !is_foreign {
                lines.push((number, line));
            }
        }
        if lines.is_empty() {
            break;
        }
        let parse_one = |(number, line): &(usize, Vec<u8>)| (*number, parse(line, keys));
        let parsed: Vec<_> = if lines.len() < ALONE_BELOW {
            lines.iter().map(parse_one).collect()
        } else {
            lines.par_iter().map(parse_one).collect()
        };
        for (number, parsed) in parsed {
            match parsed {
                // Many operators may have signed what was copied.
                Err(Refused { fault: Some(LineFault::OtherKey), key: Some(key), told })
                    if kind == Kind::Copy =>
                {
                    by_others.push((key, format!("line {number} {told}")));
                }
                Err(refused) => found.flaws.push(format!("line {number} {}", refused.told)),
                Ok(signed) => found.take(number, signed, kind, &mut prev),
            }
        }
    }
    for (key, flaw) in by_others {
        if found.checkpoints.is_empty() {
            found.flaws.push(flaw);
        } else {
            *found.others.entry(key).or_default() += 1;
        }
    }
    if number == 0 {
        found.flaws.push("it is empty, and it never is once something was signed".to_owned());
    }
    Ok(found)
}

impl Found {
    fn take(&mut self, number: usize, signed: Signed, kind: Kind, prev: &mut String) {
        if kind == Kind::Own && signed.checkpoint.prev != *prev {
            self.flaws.push(format!(
                "line {number} does not follow the one before it: lines were removed, added or moved"
            ));
        }
        *prev = signed.hash();
        self.checkpoints.push(signed.checkpoint);
    }
}

/// A line that counts for nothing.
struct Refused {
    fault: Option<LineFault>,
    /// Whose it is, where it says that.
    key: Option<String>,
    told: String,
}

fn parse(line: &[u8], keys: &[PublicKey]) -> Result<Signed, Refused> {
    let Some(whole) = line.strip_suffix(b"\n") else {
        return Err(Refused { fault: None, key: None, told: "is cut off".to_owned() });
    };
    let text = std::str::from_utf8(whole).unwrap_or_default();
    Signed::from_line(text, keys).map_err(|fault| Refused {
        fault: Some(fault),
        key: signer_of(text),
        told: fault.to_string(),
    })
}

/// The fingerprint that a line says it is signed with.
pub(super) fn signer_of(line: &str) -> Option<String> {
    serde_json::from_str::<Signed>(line).ok().map(|signed| signed.checkpoint.key)
}

/// The next line with its end, if it has one; no more than so many bytes of it.
pub(super) fn next_line(reader: &mut impl BufRead, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    reader.take(bytes_max).read_until(b'\n', &mut line)?;
    Ok((!line.is_empty()).then_some(line))
}

/// The end of the audit's own file.
#[derive(Debug, Default)]
pub(super) struct End {
    /// The last whole line, as it is.
    pub(super) last_line: Option<String>,
    /// How many bytes are whole lines; what comes after them broke off while it was written.
    whole_bytes: u64,
}

/// Reads the end of the audit's own file; nothing where there is no file.
pub(super) fn end_of(path: &Path) -> io::Result<End> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(fault) if fault.kind() == ErrorKind::NotFound => return Ok(End::default()),
        Err(fault) => return Err(fault),
    };
    let bytes = file.metadata()?.len();
    // The last line may have broken off, so the one before it must be seen too.
    let from = bytes.saturating_sub(2 * LINE_BYTES_MAX);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.take(2 * LINE_BYTES_MAX).read_to_end(&mut tail)?;
    let Some(last_end) = tail.iter().rposition(|byte| *byte == b'\n') else {
        return Ok(End { last_line: None, whole_bytes: from });
    };
    let whole = tail.get(..last_end).unwrap_or_default();
    let begin = whole.iter().rposition(|byte| *byte == b'\n').map_or(0, |before| before + 1);
    let last = String::from_utf8_lossy(whole.get(begin..).unwrap_or_default()).into_owned();
    let whole_bytes = from + u64::try_from(last_end + 1).unwrap_or(u64::MAX);
    Ok(End { last_line: Some(last), whole_bytes })
}

/// Adds a line to the audit's own file. When it returns, the line is on the disk.
pub(super) fn append(path: &Path, end: &End, line: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    if file.metadata()?.len() > end.whole_bytes {
        file.set_len(end.whole_bytes)?;
    }
    let written = file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a line would be taken for a cut-off file. Where even this fails, the next run does it.
        let _cut_later = file.set_len(end.whole_bytes);
    }
    written
}

/// Where the last checkpoint of an audit is remembered beside the key: whoever can write the audit's folder, but not the
/// key's, cannot shorten both.
pub(super) fn witness_of(key: &Path, audit: &Path) -> PathBuf {
    // Of an audit that was removed its folder is still there.
    let in_its_folder = || Some(audit.parent()?.canonicalize().ok()?.join(audit.file_name()?));
    let audit = audit.canonicalize().ok().or_else(in_its_folder).unwrap_or_else(|| audit.to_owned());
    let name = sha256_of(&audit.to_string_lossy());
    let folder = key.parent().unwrap_or(Path::new("."));
    folder.join("last").join(format!("{}.jsonl", name.get(..32).unwrap_or(&name)))
}

/// The line that is remembered; `None` where none is.
pub(super) fn remembered(witness: &Path) -> io::Result<Option<String>> {
    match std::fs::read_to_string(witness) {
        Ok(text) => Ok(Some(text.trim_end_matches('\n').to_owned())),
        Err(fault) if fault.kind() == ErrorKind::NotFound => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Remembers a line in the place of the one before it.
pub(super) fn remember(witness: &Path, line: &str) -> io::Result<()> {
    let folder = witness.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(witness).map(drop).map_err(|fault| fault.error)
}
