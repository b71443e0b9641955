use super::*;
use crate::adapters::record::SqliteRecord;
use crate::adapters::record::tests::{attached, entry, folder};
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
