use super::*;
use crate::adapters::record::tests::{attached, entry, folder, moment};
use crate::adapters::record::verify::export::verify_export;
use crate::adapters::record::verify::signed::Against;
use crate::adapters::record::{Seals, SqliteRecord};
use crate::domain::audit::{Event, NewEntry, Walk};
use crate::domain::text::is_plain;
use crate::ports::record::Record;
use pretty_assertions::assert_eq;
use std::path::PathBuf;
use tempfile::TempDir;

const ODD_KEY: &str = "=cmd|'/c calc'!A1\u{202e}\n\u{9b}31m";

async fn audit() -> (TempDir, PathBuf) {
    let (folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    let mut exact = entry(Event::Applied, Some(7), ODD_KEY);
    exact.body = serde_json::from_str(
        r#"{"id":1970670598291982290,"amount":10.10,"note":"a\u001b[31m é","z":1,"a":2}"#,
    )
    .unwrap();
    record.append(vec![attached("inv-1", &["one", "@two"]), exact]).await.unwrap();
    (folder, path)
}

fn exported(export: fn(&Path, &mut dyn Write) -> Result<i64, RecordFault>, path: &Path) -> String {
    let mut out = Vec::new();
    export(path, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[tokio::test]
async fn json_lines_lose_nothing_and_hide_nothing() {
    let (_folder, path) = audit().await;
    let text = exported(export_json_lines, &path);
    assert!(text.chars().all(|character| character == '\n' || is_plain(character)));
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].as_object().unwrap().keys().collect::<Vec<_>>(), FIELDS);
    assert_eq!(lines[0]["attachments"][1]["text"], "@two");
    assert_eq!(lines[1]["key"], ODD_KEY);
    assert_eq!(lines[1]["body"]["id"].to_string(), "1970670598291982290");

    let mut walk = Walk::default();
    for line in &lines {
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        let entry = Entry {
            seq: line["seq"].as_i64().unwrap(),
            at: text("at"),
            event: text("event"),
            decision: text("decision"),
            source: text("source"),
            key: text("key"),
            operator: text("operator"),
            origin: text("origin"),
            body: line["body"].to_string(),
            prev: text("prev"),
            hash: text("hash"),
        };
        walk.step(&entry).unwrap();
    }
}

#[tokio::test]
async fn csv_runs_nothing_in_a_spreadsheet() {
    let (_folder, path) = audit().await;
    let text = exported(export_csv, &path);
    let mut table = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(table.headers().unwrap(), FIELDS.to_vec());
    let rows: Vec<csv::StringRecord> = table.records().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(&rows[1][5], "'=cmd|'/c calc'!A1<U+202E>⏎<U+009B>31m");
    assert_eq!((&rows[0][5], &rows[1][11]), ("inv-1", ""));
    assert!(rows[0][11].contains("@two"));
}

#[tokio::test]
async fn every_page_is_written_once_and_in_order() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    let many = usize::try_from(PAGE_ENTRIES).unwrap() * 2 + 1;
    let entries: Vec<NewEntry> = (0..many).map(|at| entry(Event::Checked, None, &at.to_string())).collect();
    record.append(entries).await.unwrap();
    let mut out = Vec::new();
    assert_eq!(export_json_lines(&path, &mut out).unwrap(), PAGE_ENTRIES * 2 + 1);
    let text = String::from_utf8(out).unwrap();
    assert!(text.lines().enumerate().all(|(at, line)| line.starts_with(&format!("{{\"seq\":{},", at + 1))));
}

#[test]
fn what_cannot_be_exported_is_said() {
    let (_folder, path) = folder();
    assert!(export_csv(&path, &mut Vec::new()).unwrap_err().what.ends_with("does not exist"));
}

#[tokio::test]
async fn an_export_that_cannot_be_written_is_said() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no space left"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (_folder, path) = audit().await;
    for export in [export_json_lines, export_csv] {
        let fault = export(&path, &mut Full).unwrap_err();
        assert!(fault.what.contains("its export cannot be written (no space left)"), "{fault:?}");
    }
}

/// An audit of two runs that were sealed, its export with its checkpoints, and a copy of the public key.
async fn signed_export() -> (TempDir, PathBuf, Against) {
    let (folder, path) = folder();
    let seals = Seals::of(&path, Some(folder.path().join("keys/audit.key")), None);
    for run in 0..2 {
        let record = SqliteRecord::open(&path).unwrap().signed(seals.clone());
        let odd = format!("{ODD_KEY}{run}");
        record.append(vec![attached(&odd, &["one", "{\"two\":2}"])]).await.unwrap();
        record.append(vec![entry(Event::Intended, Some(7 + run), "a"), attached("b", &["x"])]).await.unwrap();
        record.seal(moment(i64::try_from(run).unwrap())).await.unwrap();
    }
    let export = folder.path().join("export.jsonl");
    let mut out = Vec::new();
    let entries = export_json_lines(&path, &mut out).unwrap();
    export_checkpoints(&path, &seals.checkpoints, entries, &mut out).unwrap();
    std::fs::write(&export, out).unwrap();
    let keys = Against::of(&path, &seals, Vec::new(), Vec::new()).unwrap().keys;
    std::fs::remove_file(&path).unwrap();
    (folder, export, Against { keys, ..Against::default() })
}

/// An auditor with the export and the public key, and nothing else.
#[tokio::test]
async fn an_export_is_verified_without_the_audit() {
    let (_folder, export, against) = signed_export().await;
    let verified = verify_export(&export, &against).unwrap();
    assert_eq!((verified.flaws, verified.entries, verified.signatures.count), (Vec::new(), 6, 2));
    assert_eq!(verified.signatures.last.map(|last| last.entries), Some(6));
    let fault = verify_export(&export, &Against::default()).unwrap_err();
    assert!(fault.what.ends_with("because there is no key"), "{fault:?}");
}

#[tokio::test]
async fn every_changed_byte_of_an_export_is_found() {
    let (_folder, export, against) = signed_export().await;
    let whole = std::fs::read(&export).unwrap();
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&export, bytes).unwrap();
        assert!(!verify_export(&export, &against).unwrap().is_whole(), "byte {at} of {}", whole.len());
    }
}

#[tokio::test]
async fn a_removal_from_an_export_is_found_where_it_was_made() {
    let (_folder, export, against) = signed_export().await;
    let whole = std::fs::read_to_string(&export).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for removed in 0..6 {
        let left: String = (0..lines.len()).filter(|at| *at != removed).map(|at| lines[at]).collect();
        std::fs::write(&export, left).unwrap();
        let verified = verify_export(&export, &against).unwrap();
        assert_eq!(verified.first_bad(), Some(i64::try_from(removed).unwrap() + 1));
    }
    // Cut off anywhere, with its checkpoints: then nothing vouches for the end, and that is said.
    for kept in 1..7 {
        std::fs::write(&export, lines[..kept].concat()).unwrap();
        let told = verify_export(&export, &against).unwrap().flaws[0].to_string();
        assert!(told.contains("nothing shows whether the end is missing"), "{told}");
    }
}

/// Between the entries and the checkpoints of an export others may append and sign.
#[tokio::test]
async fn checkpoints_of_later_entries_are_not_exported() {
    let (folder, export, _) = signed_export().await;
    let checkpoints = folder.path().join("audit.db.checkpoints");
    let mut out = Vec::new();
    export_checkpoints(&export, &checkpoints, 3, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), 1);
    let mut none = Vec::new();
    export_checkpoints(&export, &folder.path().join("none"), 3, &mut none).unwrap();
    assert!(none.is_empty());
}
