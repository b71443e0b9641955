//! Beside an application that writes: nobody waits for the other longer than a page.

use super::*;
use crate::domain::decision::Choice;
use crate::ports::source::{Applied, SourceFaultKind};
use pretty_assertions::assert_eq;
use rstest::rstest;
use std::time::Duration;

const ROWS: &str =
    "INSERT INTO jobs VALUES ('a','failed','x',NULL),('b','failed','x',NULL),('c','failed','x',NULL);";
const SHORT: Duration = Duration::from_millis(50);

fn pages_of_one() -> Wanted {
    Wanted { page_items_max: 1, ..everything() }
}

#[rstest]
#[tokio::test]
async fn a_writer_that_never_waits_commits_between_two_pages(#[values("wal", "delete")] journal: &str) {
    let file = File::with(&format!("PRAGMA journal_mode = {journal};{TABLES}{ROWS}"));
    let (source, writer) = (file.preset("jobs"), file.connect());
    let first = source.scan(&pages_of_one(), None).await.unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE; UPDATE jobs SET status = 'done' WHERE key = 'b'; COMMIT").unwrap();
    let second = source.scan(&pages_of_one(), first.next).await.unwrap();
    assert_eq!(keys(&second.items), ["c"]);
    writer.execute_batch("BEGIN EXCLUSIVE; DELETE FROM jobs; COMMIT").unwrap();
    assert_eq!(source.read("a").await.unwrap(), None);
    writer.execute_batch("BEGIN EXCLUSIVE; COMMIT").unwrap();
}

#[rstest]
#[case::wal_immediate("wal", "BEGIN IMMEDIATE")]
#[case::wal_exclusive("wal", "BEGIN EXCLUSIVE")]
#[case::rollback_immediate("delete", "BEGIN IMMEDIATE")]
#[tokio::test]
async fn an_open_transaction_is_read_past(#[case] journal: &str, #[case] begin: &str) {
    let file = File::with(&format!("PRAGMA journal_mode = {journal};{TABLES}{ROWS}"));
    let writer = file.connect();
    writer.execute_batch(&format!("{begin}; DELETE FROM jobs WHERE key = 'a'")).unwrap();
    let items = scan_all(&file.preset("jobs").waiting_at_most(SHORT), &everything()).await;
    assert_eq!(keys(&items), ["a", "b", "c"]);
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(keys(&scan_all(&file.preset("jobs"), &everything()).await), ["b", "c"]);
}

#[tokio::test]
async fn a_file_that_is_held_alone_is_busy_after_the_wait() {
    let file = File::with(&format!("{TABLES}{ROWS}"));
    let holder = file.connect();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let fault = scan_fault(&file.preset("jobs").waiting_at_most(SHORT)).await;
    assert_eq!(fault.kind, SourceFaultKind::Busy);
    let lines = [
        "jobs.db: is locked by another program",
        "Try again; if it stays locked, find who holds it (`fuser FILE`).",
    ];
    assert_eq!(told(&file, &fault), lines);
}

#[rstest]
#[case::held("BEGIN IMMEDIATE")]
#[case::held_alone("BEGIN EXCLUSIVE")]
#[tokio::test]
async fn a_decision_on_a_locked_file_writes_nothing(
    #[case] begin: &str,
    #[values("wal", "delete")] journal: &str,
) {
    let file = File::with(&format!("PRAGMA journal_mode = {journal};{TABLES}{ROWS}"));
    let source = file.preset("jobs").waiting_at_most(SHORT);
    let change = change_of(&reading(&source, "a").await);
    let holder = file.connect();
    holder.execute_batch(begin).unwrap();
    let fault = source.apply(Choice::MarkDone, &change).await.unwrap_err();
    assert_eq!((fault.kind, fault.may_have_written), (SourceFaultKind::Busy, false));
    holder.execute_batch("COMMIT").unwrap();
    assert!(matches!(source.apply(Choice::MarkDone, &change).await, Ok(Applied::Written { .. })));
}

#[tokio::test]
async fn a_reader_that_stays_does_not_lose_a_decision() {
    // In a rollback journal a commit waits for readers: in vain, so nothing is written and nothing is in doubt.
    let file = File::with(&format!("{TABLES}{ROWS}"));
    let source = file.preset("jobs").waiting_at_most(SHORT);
    let change = change_of(&reading(&source, "a").await);
    let reader = file.connect();
    reader.execute_batch("BEGIN; SELECT count(*) FROM jobs").unwrap();
    let fault = source.apply(Choice::MarkDone, &change).await.unwrap_err();
    assert_eq!((fault.kind, fault.may_have_written), (SourceFaultKind::Busy, false));
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(reading(&source, "a").await.row, change.seen);
}

#[tokio::test]
async fn a_scan_that_nobody_waits_for_is_stopped() {
    let file = File::with("CREATE TABLE t (k, s); INSERT INTO t VALUES (1, 'failed')");
    let source = file.mapped(
        "[fields]\nendless = \"(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n)\"",
    );
    let wanted = everything();
    let given_up = tokio::time::timeout(SHORT, source.scan(&wanted, None)).await;
    assert!(given_up.is_err(), "the query has no end");
    // The query held the file; now that it is stopped, an application can have it alone.
    let writer = file.connect();
    writer.busy_timeout(Duration::from_secs(20)).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE; COMMIT").unwrap();
}

#[tokio::test]
async fn reading_never_writes_and_leaves_nothing_behind() {
    let file = File::with(&format!("{TABLES}{ROWS}"));
    let before = std::fs::read(file.path()).unwrap();
    let source = file.preset("jobs");
    scan_all(&source, &everything()).await;
    let change = change_of(&reading(&source, "a").await);
    source.plan(Choice::MarkDone, &change).unwrap();
    source.examine().await;
    assert_eq!(std::fs::read(file.path()).unwrap(), before);
    let names: Vec<_> =
        std::fs::read_dir(file.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["jobs.db"]);
}

/// SQLite's locks on a file belong to the process: another handle on it that is closed takes them all away.
#[tokio::test]
async fn a_scan_takes_no_lock_from_a_decision_under_way() {
    let file = File::with(&format!("{TABLES}{ROWS}"));
    let deciding = file.connect();
    deciding.execute_batch("BEGIN IMMEDIATE; UPDATE jobs SET status = 'done' WHERE key = 'a'").unwrap();
    let source = file.preset("jobs");
    scan_all(&source, &everything()).await;
    source.examine().await;
    super::super::tables_of(&file.path()).unwrap();
    let other = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "adapters::sqlite::tests::locks::another_process_writes", "--ignored"])
        .env("UNSTUCK_TEST_FILE", file.path())
        .output()
        .unwrap();
    assert!(!other.status.success(), "another process could write in the middle of a transaction");
    deciding.execute_batch("COMMIT").unwrap();
}

/// The other process of the test above.
#[test]
#[ignore = "run by a_scan_takes_no_lock_from_a_decision_under_way"]
fn another_process_writes() {
    let path = std::env::var_os("UNSTUCK_TEST_FILE").unwrap();
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(SHORT).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE; COMMIT").unwrap();
}

/// A file as it lies there after its application was killed in the middle of a commit: some of the new pages are in it, and
/// the old ones in its journal.
fn broken_off() -> File {
    let file = File::with(&format!("{TABLES}{ROWS}"));
    let application = file.connect();
    // So small a cache writes pages before the commit.
    application
        .execute_batch(
            "PRAGMA cache_size = 2; BEGIN; UPDATE jobs SET status = 'done';
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
             INSERT INTO jobs SELECT 'more-' || i, 'failed', 'x', NULL FROM n",
        )
        .unwrap();
    let left = File { folder: TempDir::new().unwrap() };
    for name in ["jobs.db", "jobs.db-journal"] {
        std::fs::copy(file.folder.path().join(name), left.folder.path().join(name)).unwrap();
    }
    left
}

#[tokio::test]
async fn what_a_killed_writer_left_is_told_and_only_taken_back_when_asked() {
    let file = broken_off();
    let bytes =
        || ["jobs.db", "jobs.db-journal"].map(|name| std::fs::read(file.folder.path().join(name)).ok());
    let (source, before) = (file.preset("jobs"), bytes());
    let lines = [
        "jobs.db: a write to it was broken off and has to be rolled back before anybody can read it",
        "Start its application, or run `sqlite3 FILE .schema` once; keep the `-journal` file beside it.",
    ];
    assert_eq!(told(&file, &scan_fault(&source).await), lines);
    assert!(bytes() == before, "to look at it changed it");
    source.take_back().await.unwrap();
    assert_eq!(bytes()[1], None, "the journal is used up");
    let items = scan_all(&source, &everything()).await;
    assert_eq!(items.iter().map(|item| &*item.status).collect::<Vec<_>>(), ["failed"; 3]);
}

/// An item and its row are one look: whoever decides on the item would otherwise overwrite a row that nobody has seen.
#[rstest]
#[tokio::test]
async fn an_item_and_its_row_are_of_one_moment(#[values("wal", "delete")] journal: &str) {
    let file = File::with(&format!("PRAGMA journal_mode = {journal};{TABLES}{ROWS}"));
    let (source, writer) = (file.preset("jobs"), file.connect());
    writer.busy_timeout(Duration::from_secs(10)).unwrap();
    writer.execute_batch("PRAGMA synchronous = OFF").unwrap();
    let writing = std::thread::spawn(move || {
        for count in 0..500 {
            let status = ["done", "failed"][count % 2];
            writer.execute("UPDATE jobs SET status = ?1 WHERE key = 'a'", [status]).unwrap();
            // Whoever reads comes in between.
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    while !writing.is_finished() {
        let Reading { item, row, .. } = reading(&source, "a").await;
        assert_eq!(row.get("status").and_then(Cell::as_text), Some(&*item.status));
    }
    writing.join().unwrap();
}
