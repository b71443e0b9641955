//! What the audit gives back: rows from its JSON, and the file itself.

use super::texts::must;
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;
use unstuck::adapters::record::SqliteRecord;
use unstuck::adapters::record::export::export_json_lines;
use unstuck::adapters::record::verify::signed::Against;
use unstuck::adapters::record::verify::verify;
use unstuck::domain::audit::{Attachment, Event, NewEntry};
use unstuck::domain::cell::Cell;
use unstuck::domain::item::Row;
use unstuck::ports::record::Record;

/// A row is compared with what stands there: one that is read otherwise than it was written compares wrongly.
pub fn a_row_is_read_only_as_it_was_written(input: &[u8]) -> Result<(), String> {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(input) else { return Ok(()) };
    if let Some(cell) = Cell::from_json(&value) {
        must(cell.to_json() == value, || {
            format!("{value} is read as {cell:?}, which is written {}", cell.to_json())
        })?;
    }
    if let Some(row) = Row::from_json(&value) {
        must(row.to_json() == value, || format!("{value} is read as {row:?}"))?;
        let again = Row::from_json(&row.to_json());
        must(again.is_some_and(|again| again.sha256() == row.sha256()), || {
            format!("{value} changes its hash")
        })?;
    }
    Ok(())
}

/// A real audit, in pieces: the folder it stands in, its bytes, and what an export of it says.
struct Kept {
    folder: TempDir,
    bytes: Vec<u8>,
    export: Vec<u8>,
}

impl Kept {
    fn path(&self) -> PathBuf {
        self.folder.path().join("audit.db")
    }

    fn make() -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("audit.db");
        let entry = |number: usize| NewEntry {
            at: "2026-11-30T08:00:00Z".parse().unwrap(),
            event: if number.is_multiple_of(2) { Event::Checked } else { Event::Unmasked },
            decision: None,
            source: "jobs".to_owned(),
            key: format!("inv-{number}"),
            operator: "ana".to_owned(),
            origin: "ana@desk".to_owned(),
            body: serde_json::json!({ "reason": "why", "number": number }),
            attachments: vec![Attachment { sha256: "00".repeat(32), text: format!("answer {number}") }],
        };
        let record = SqliteRecord::open(&path).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(record.append((0..6).map(entry).collect())).unwrap();
        drop(record);
        let bytes = std::fs::read(&path).unwrap();
        let mut export = Vec::new();
        export_json_lines(&path, &mut export).unwrap();
        for beside in ["audit.db-wal", "audit.db-shm"] {
            assert!(!folder.path().join(beside).exists(), "everything is in the one file");
        }
        Self { folder, bytes, export }
    }
}

static KEPT: LazyLock<Kept> = LazyLock::new(Kept::make);

/// The input says what to do to a real audit, two numbers a line: a place, and the byte that comes there. A place past the
/// end cuts the file there.
///
/// Bytes change that mean nothing (free space, counters): then it is whole, and an export says what it said.
pub fn an_audit_that_is_whole_tells_what_was_written(input: &[u8]) -> Result<(), String> {
    let kept = &*KEPT;
    let mut bytes = kept.bytes.clone();
    for line in String::from_utf8_lossy(input).lines() {
        let mut numbers = line.split_whitespace().map(|word| word.parse::<usize>().unwrap_or(word.len()));
        let (Some(place), Some(value)) = (numbers.next(), numbers.next()) else { continue };
        if bytes.is_empty() {
            break;
        }
        if place > kept.bytes.len() {
            bytes.truncate(place % kept.bytes.len());
        } else {
            let at = place % bytes.len();
            bytes[at] = u8::try_from(value % 256).unwrap();
        }
    }
    std::fs::write(kept.path(), &bytes).unwrap();
    let verified = match verify(&kept.path(), &Against::default()) {
        Ok(verified) => verified,
        Err(fault) => {
            return must(!fault.what.is_empty() && !fault.do_next.is_empty(), || {
                "a fault says nothing".to_owned()
            });
        }
    };
    let mut export = Vec::new();
    let exported = export_json_lines(&kept.path(), &mut export);
    if verified.is_whole() {
        must(exported.is_ok() && export == kept.export, || {
            format!("it is called whole and tells {exported:?}: {}", String::from_utf8_lossy(&export))
        })?;
    }
    must(export.len() <= kept.export.len() + bytes.len(), || "an export grows".to_owned())
}
