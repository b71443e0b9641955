//! What is about SQLite files alone; what every source must do is in the suite beside the adapters.

mod apply;
mod faults;
mod keys;
mod large;
mod locks;
mod paging;
mod plans;
mod prefilter;
mod scan;

use super::SqliteSource;
use crate::adapters::sql::quoted;
use crate::domain::cell::Cell;
use crate::domain::item::Item;
use crate::ports::source::{Change, Reading, Source, SourceFault, Wanted};
use crate::preset::catalogue::Catalogue;
use crate::preset::source::file::SourceFile;
use crate::preset::source::{Engine, SourcePreset};
use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use uuid::Uuid;

/// The three tables that everyone starts with.
const TABLES: &str = "
CREATE TABLE jobs (key TEXT PRIMARY KEY, status TEXT, updated_at TEXT, last_error TEXT);
CREATE TABLE processed_items (item_key TEXT PRIMARY KEY, status TEXT, attempts INTEGER, updated_at TEXT, last_error TEXT);
CREATE TABLE sent_emails (email_key TEXT PRIMARY KEY, status TEXT, created_at TEXT);
";

/// A mapping of an own table, with everything that a test does not care about.
const MAPPING: &str = r#"
table = "t"
key = "k"
status = "s"
version = ["s"]
state = [
    { is = "running", when = { s = "running" } },
    { is = "failed", when = { s = "failed" } },
    { is = "done", when = { s = "done" } },
]
"#;

/// A database file in a folder of its own.
struct File {
    folder: TempDir,
}

impl File {
    /// A file with these tables and rows.
    fn with(sql: &str) -> Self {
        let file = Self { folder: TempDir::new().unwrap() };
        file.connect().execute_batch(sql).unwrap();
        file
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("jobs.db")
    }

    /// A connection as an application has one, which never waits.
    fn connect(&self) -> Connection {
        let connection = Connection::open(self.path()).unwrap();
        connection.busy_timeout(std::time::Duration::ZERO).unwrap();
        connection
    }

    /// The file through a built-in preset.
    fn preset(&self, name: &str) -> SqliteSource {
        SqliteSource::new(name, self.path(), built_in(name))
    }

    /// The file through a mapping; what is given is added to [`MAPPING`].
    fn mapped(&self, more: &str) -> SqliteSource {
        SqliteSource::new("mapped", self.path(), mapping(&format!("{MAPPING}{more}")))
    }
}

fn built_in(name: &str) -> SourcePreset {
    Catalogue::new(&[]).unwrap().sources[name].1.clone()
}

fn mapping(text: &str) -> SourcePreset {
    SourceFile::parse("mapping", text).unwrap().check().unwrap()
}

/// Everything that may be a finding, whatever its age.
fn everything() -> Wanted {
    Wanted { running_older_than: TimeDelta::zero(), page_items_max: 1_000, every_item: false }
}

fn older_than(span: TimeDelta) -> Wanted {
    Wanted { running_older_than: span, page_items_max: 1_000, every_item: false }
}

/// All pages of a scan.
async fn scan_all(source: &SqliteSource, wanted: &Wanted) -> Vec<Item> {
    let (mut items, mut next) = (Vec::new(), None);
    loop {
        let page = source.scan(wanted, next).await.unwrap();
        items.extend(page.items);
        next = page.next;
        if next.is_none() {
            return items;
        }
    }
}

async fn scan_fault(source: &SqliteSource) -> SourceFault {
    source.scan(&everything(), None).await.unwrap_err()
}

fn keys(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.key.as_str()).collect()
}

/// The two lines of a fault, with the file's folder taken out.
fn told(file: &File, fault: &SourceFault) -> [String; 2] {
    let folder = format!("{}/", file.folder.path().display());
    [fault.what.replace(&folder, ""), fault.do_next.clone()]
}

async fn reading(source: &SqliteSource, key: &str) -> Reading {
    source.read(key).await.unwrap().unwrap()
}

/// A decision on a row as it was read.
fn change_of(reading: &Reading) -> Change {
    Change {
        key: reading.item.key.clone(),
        seen: reading.row.clone(),
        decision: Uuid::from_u128(7),
        operator: "ana".into(),
        reason: "seen at the provider".into(),
        now: at("2026-11-30T08:00:00.25Z"),
    }
}

/// SQLite's clock is the machine's, so a test of ages asks the machine.
fn now() -> DateTime<Utc> {
    use crate::ports::clock::Clock;
    crate::adapters::system::SystemClock.now()
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn text(value: &str) -> Cell {
    Cell::text(value)
}

/// Every row of a table as SQLite spells it, to compare before and after.
fn dump(path: &Path, table: &str) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let columns: Vec<String> = super::detect::columns_of(&connection, table)
        .unwrap()
        .iter()
        .map(|(name, _)| format!("quote({})", quoted(Engine::Sqlite, name)))
        .collect();
    let sql = format!("SELECT {} FROM {}", columns.join(" || ',' || "), quoted(Engine::Sqlite, table));
    let mut statement = connection.prepare(&sql).unwrap();
    let rows = statement.query_map([], |row| {
        let bytes = row.get_ref(0)?.as_bytes_or_null()?.unwrap_or_default();
        Ok(crate::domain::text::escape_bytes(bytes))
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}
