//! Scans of many rows: one query is given out page by page, and goes on behind the last key where its rest is lost.

use super::Desk;
use super::postgres::{PASSWORD, Postgres};
use pretty_assertions::assert_eq;
use rstest::rstest;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::runtime::Runtime;
use unstuck::adapters::postgres::PostgresSource;
use unstuck::adapters::sql::Address;
use unstuck::ports::source::{Cursor, Page, Source, Wanted};
use unstuck::preset::catalogue::Catalogue;

fn with_rows(count: usize) -> Option<Postgres> {
    let server = Postgres::start()?;
    server.sql(&format!(
        "TRUNCATE jobs; INSERT INTO jobs SELECT 'job-' || lpad(n::text, 6, '0'), 'running', now() - interval '2 hours', NULL \
         FROM generate_series(1, {count}) AS n"
    ));
    Some(server)
}

/// A page holds 2,000, a query hands out 50,000.
#[rstest]
#[case::none(0)]
#[case::a_page(2_000)]
#[case::a_query(50_000)]
#[case::more(52_001)]
fn each_row_is_listed_once(#[case] count: usize) {
    let Some(server) = with_rows(count) else { return };
    let desk = Desk::new(&server.url("ana:s3cr3t-of-ana"), "");
    let keys = desk.listed();
    let jobs: BTreeSet<&String> = keys.iter().filter(|key| key.starts_with("job-")).collect();
    assert_eq!((jobs.len(), keys.len()), (count, count + 1));
}

fn source(server: &Postgres) -> PostgresSource {
    let (_, preset) = Catalogue::new(&[]).unwrap().sources.get("jobs").cloned().unwrap();
    let address = Address {
        url: server.url(&format!("ana:{PASSWORD}")).into(),
        shown: server.shown("ana"),
        password: None,
        environment: Arc::new(|_| None),
    };
    PostgresSource::new("billing", address, preset)
}

fn page(runtime: &Runtime, source: &PostgresSource, after: Option<Cursor>) -> Page {
    let wanted =
        Wanted { running_older_than: chrono::TimeDelta::minutes(30), page_items_max: 300, every_item: false };
    runtime.block_on(source.scan(&wanted, after)).unwrap()
}

#[test]
fn a_scan_goes_on_behind_its_last_key_with_a_server_that_was_started_anew() {
    let Some(mut server) = with_rows(1_000) else { return };
    // More than what may be on its way when the server is killed.
    server.sql("UPDATE jobs SET last_error = repeat('x', 15000)");
    let (runtime, source) = (Runtime::new().unwrap(), source(&server));
    let mut pages = vec![page(&runtime, &source, None)];
    server.kill();
    server.restart();
    // What comes before the key was read; what comes behind it is read as it is now.
    server.sql("DELETE FROM jobs WHERE key IN ('job-000100', 'job-000900')");
    while let Some(after) = pages.last().unwrap().next.clone() {
        pages.push(page(&runtime, &source, Some(after)));
    }
    let sizes: Vec<usize> = pages.iter().map(|page| page.items.len()).collect();
    assert_eq!(sizes, [300, 300, 300, 99]);
    let keys: BTreeSet<&str> =
        pages.iter().flat_map(|page| &page.items).map(|item| item.key.as_str()).collect();
    assert_eq!(keys.len(), 999);
    assert!(keys.contains("job-000100") && !keys.contains("job-000900"));
}

/// One query, and one snapshot: what others change meanwhile is seen with the next scan.
#[test]
fn a_scan_sees_its_rows_as_they_were_when_it_began() {
    let Some(server) = with_rows(1_000) else { return };
    let (runtime, source) = (Runtime::new().unwrap(), source(&server));
    let mut pages = vec![page(&runtime, &source, None)];
    // Rows that are being read are not held: others write them.
    server.sql("UPDATE jobs SET status = 'done'");
    while let Some(after) = pages.last().unwrap().next.clone() {
        pages.push(page(&runtime, &source, Some(after)));
    }
    assert_eq!(pages.iter().map(|page| page.items.len()).sum::<usize>(), 1_000);
    let first = pages.first().unwrap().source_now;
    assert!(pages.iter().all(|page| page.source_now >= first), "its clock goes back");
    assert_eq!(page(&runtime, &source, None).items.len(), 0);
}

/// Nobody waits any more: the server is told to stop at once, not at its time-out.
#[test]
fn a_scan_that_nobody_waits_for_is_stopped_on_the_server() {
    let Some(server) = Postgres::start() else { return };
    server.sql(
        "ALTER TABLE jobs RENAME TO stored; \
         CREATE VIEW jobs AS SELECT key, status, updated_at, last_error FROM stored, pg_sleep(3600); \
         GRANT SELECT ON jobs TO ana",
    );
    let (runtime, source) = (Runtime::new().unwrap(), Arc::new(source(&server)));
    let scanning = Arc::clone(&source);
    let wanted =
        Wanted { running_older_than: chrono::TimeDelta::minutes(30), page_items_max: 300, every_item: false };
    let task = runtime.spawn(async move { scanning.scan(&wanted, None).await });
    server.has_session("wait_event = 'PgSleep'");
    task.abort();
    let asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    super::process::wait_until("the end of the query", || server.sql(asked) == "0");
    assert!(runtime.block_on(task).unwrap_err().is_cancelled());
}
