//! One suite of tests for whatever stands behind the port [`Source`]: each runs on every engine that is there. What is
//! about a SQLite file alone is tested beside the SQLite source.

mod apply;
pub(in crate::adapters) mod bench;
mod cancel;
mod decisions_table;
mod effects;
mod faults;
mod keys;
mod large;
mod leases;
mod names;
mod paging;
mod prefilter;
mod races;
mod scan;
mod texts;
mod times;
mod variants;
mod versions;

use crate::domain::cell::Cell;
use crate::domain::item::Item;
use crate::ports::source::{Change, Reading, Source, Wanted};
use crate::preset::source::Engine::{self, Mysql, Postgres, Sqlite};
use bench::{Db, MAPPING};
use chrono::{DateTime, TimeDelta, Utc};
use std::sync::Arc;
use uuid::Uuid;

/// The three tables that everyone starts with.
const TABLES: &str = "
CREATE TABLE jobs (\"key\" {name} PRIMARY KEY, status {text}, updated_at {text}, last_error {text});
CREATE TABLE processed_items (item_key {name} PRIMARY KEY, status {text}, attempts {int}, updated_at {text}, last_error {text});
CREATE TABLE sent_emails (email_key {name} PRIMARY KEY, status {text}, created_at {text});
";

/// Two rows of the first.
const JOBS: &str = "INSERT INTO jobs VALUES ('a','failed','2026-05-04T10:00:00.000001','timed out'),
('b','failed','2026-05-04T10:00:00.000001','timed out');";

/// A mapping whose version is one column `v`.
const VERSIONED: &str = r#"
table = "t"
key = "k"
status = "s"
version = ["v"]
state = [
    { is = "running", when = { s = "running" } },
    { is = "failed", when = { s = "failed" } },
    { is = "done", when = { s = "done" } },
]
[decisions]
late_writer = "guarded"
done = { leaves = "done", statements = [{ rows = 1, sql = "UPDATE {table} SET s = 'done' WHERE {unchanged}" }] }
retry = { leaves = "absent", statements = [{ rows = 1, sql = "DELETE FROM {table} WHERE {unchanged}" }] }
"#;

/// More pages than any of these tables has.
const PAGES_MAX: usize = 100;

/// Everything that may be a finding, whatever its age.
fn everything() -> Wanted {
    Wanted { running_older_than: TimeDelta::zero(), page_items_max: 1_000, every_item: false }
}

fn older_than(span: TimeDelta) -> Wanted {
    Wanted { running_older_than: span, page_items_max: 1_000, every_item: false }
}

fn page_of(items_max: usize) -> Wanted {
    Wanted { page_items_max: items_max, ..everything() }
}

/// All pages of a scan.
async fn scan_all(source: &dyn Source, wanted: &Wanted) -> Vec<Item> {
    let (mut items, mut next) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let page = source.scan(wanted, next).await.unwrap();
        items.extend(page.items);
        next = page.next;
        if next.is_none() {
            return items;
        }
    }
    panic!("the scan has no end; it stands at {next:?}");
}

/// The keys of items, sorted: each engine has an order of its own.
fn keys(items: &[Item]) -> Vec<&str> {
    let mut keys: Vec<&str> = items.iter().map(|item| item.key.as_str()).collect();
    keys.sort_unstable();
    keys
}

async fn reading(source: &dyn Source, key: &str) -> Reading {
    source.read(key).await.unwrap().unwrap_or_else(|| panic!("there is no `{key}`"))
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

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn text(value: &str) -> Cell {
    Cell::text(value)
}

fn cell_named(item: &Item, name: &str) -> Cell {
    let found = item.fields.iter().find(|(known, _): &&(Arc<str>, Cell)| &**known == name);
    found.map(|(_, cell)| cell.clone()).unwrap()
}
