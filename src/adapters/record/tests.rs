use super::verify::signed::Against;
use super::*;
use crate::domain::audit::{Attachment, Event};
use chrono::{DateTime, TimeDelta, Utc};
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::json;
use std::time::Duration;
use tempfile::TempDir;

pub(super) fn moment(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap() + TimeDelta::seconds(seconds)
}

pub(super) fn entry(event: Event, decision: Option<u128>, key: &str) -> NewEntry {
    NewEntry {
        at: moment(0),
        event,
        decision: decision.map(Uuid::from_u128),
        source: "billing".to_owned(),
        key: key.to_owned(),
        operator: "ana".to_owned(),
        origin: "ana@ops-1".to_owned(),
        body: json!({ "reason": "seen in the ledger", "amount": 10.10 }),
        attachments: Vec::new(),
    }
}

pub(super) fn attached(key: &str, texts: &[&str]) -> NewEntry {
    let kept = |text: &&str| Attachment {
        sha256: append::sha256_of(&format!("raw {text}")),
        text: (*text).to_owned(),
    };
    NewEntry { attachments: texts.iter().map(kept).collect(), ..entry(Event::Checked, None, key) }
}

pub(super) fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    (folder, path)
}

fn seqs(entries: &[Entry]) -> Vec<i64> {
    entries.iter().map(|entry| entry.seq).collect()
}

/// A file of an earlier program lacks what keeps a decision from being settled twice: it is made, and nothing else changes.
#[tokio::test]
async fn a_file_of_an_earlier_program_is_whole_and_gets_what_it_lacks() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    record.append(vec![entry(Event::Intended, Some(1), "a")]).await.unwrap();
    drop(record);
    let file = Connection::open(&path).unwrap();
    for (name, made) in schema::LATER {
        let kind = if made.contains("TRIGGER") { "TRIGGER" } else { "INDEX" };
        file.execute_batch(&format!("DROP {kind} {name}")).unwrap();
    }
    let there = || {
        let count = "SELECT count(*) FROM sqlite_schema WHERE name = ?1";
        schema::LATER.map(|(name, _)| file.query_row(count, [name], |row| row.get::<_, i64>(0)).unwrap())
    };
    assert_eq!(there(), [0, 0, 0, 0]);
    assert!(verify::verify(&path, &Against::default()).unwrap().is_whole());
    // To read it changes nothing.
    assert_eq!(SqliteRecord::open_to_read(&path).unwrap().waiting(0, 9).await.unwrap(), []);
    assert_eq!(there(), [0, 0, 0, 0]);
    let record = SqliteRecord::open(&path).unwrap();
    assert!(matches!(record.append_once(entry(Event::Intended, Some(1), "a")).await, Ok(Once::Taken(_))));
    // Nothing was added, so the file is as it was sealed.
    assert_eq!(there(), [0, 0, 0, 0]);
    record.append(vec![entry(Event::Intended, Some(2), "a")]).await.unwrap();
    assert_eq!(there(), [1, 1, 1, 1]);
    assert!(verify::verify(&path, &Against::default()).unwrap().is_whole());
}

#[test]
fn the_questions_about_proposals_are_answered_by_their_indexes() {
    let (_folder, path) = folder();
    SqliteRecord::open(&path).unwrap();
    let file = Connection::open(&path).unwrap();
    let plan = |asked: &str| -> String {
        let explained = format!("EXPLAIN QUERY PLAN {asked}");
        let mut statement = file.prepare(&explained).unwrap();
        let told = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
        told.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    };
    let waiting = plan(&format!("SELECT seq FROM entries AS proposal WHERE {} AND seq > 7", read::WAITS));
    assert!(waiting.contains("entries_proposed") && waiting.contains("entries_"), "{waiting}");
    assert!(!waiting.contains("SCAN closing"), "{waiting}");
    let item = read::ON_ITEM.replace("?1", "'a'").replace("?2", "'b'").replace("?3", "'c'");
    let on_item = plan(&format!("SELECT seq FROM entries AS proposal WHERE {item} AND {}", read::WAITS));
    assert!(on_item.contains("entries_of_key") || on_item.contains("entries_proposed"), "{on_item}");
    assert!(!on_item.contains("SCAN closing"), "{on_item}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_append_that_nobody_waits_for_any_more_is_still_written() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    let held = record.opened.clone();
    let guard = std::thread::spawn(move || {
        let guard = held.lock().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        drop(guard);
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let append = record.append(vec![entry(Event::Checked, None, "a")]);
    assert!(tokio::time::timeout(Duration::from_millis(20), append).await.is_err());
    guard.join().unwrap();
    while record.page(None, 1).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[rstest]
#[case::change("UPDATE entries SET operator = 'eve'", "entries cannot be changed")]
#[case::removal("DELETE FROM entries", "entries cannot be removed")]
#[case::replacement("REPLACE INTO entries SELECT * FROM entries LIMIT 1", "entries cannot be replaced")]
#[case::change_beside("UPDATE attachments SET text = ''", "attachments cannot be changed")]
#[case::removal_beside("DELETE FROM attachments", "attachments cannot be removed")]
#[case::replacement_beside(
    "REPLACE INTO attachments SELECT * FROM attachments",
    "attachments cannot be replaced"
)]
#[case::another_type(
    "INSERT INTO entries VALUES (9, x'00', '', '', '', '', '', '', '', '', '')",
    "cannot store BLOB"
)]
#[tokio::test]
async fn the_file_itself_refuses_changes(#[case] statement: &str, #[case] told: &str) {
    let (_folder, path) = folder();
    SqliteRecord::open(&path).unwrap().append(vec![attached("a", &["x"])]).await.unwrap();
    let fault = Connection::open(&path).unwrap().execute_batch(statement).unwrap_err();
    assert!(fault.to_string().contains(told), "{fault}");
    assert!(verify::verify(&path, &Against::default()).unwrap().is_whole());
}

#[tokio::test]
async fn the_folder_is_made_and_the_file_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/audit.db");
    let record = SqliteRecord::open(&path).unwrap();
    record.append(vec![entry(Event::Checked, None, "a")]).await.unwrap();
    assert_eq!(record.path(), path);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    }
    let left: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "the record is one file");
    let connection = &record.opened.lock().unwrap().connection;
    let journal: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
    assert_eq!((&*journal, synchronous), ("delete", 3));
}

#[tokio::test]
async fn reading_never_writes() {
    let (_folder, path) = folder();
    let fault = SqliteRecord::open_to_read(&path).unwrap_err();
    assert!(fault.what.ends_with("audit.db: does not exist"), "{fault:?}");
    assert!(!path.exists());

    SqliteRecord::open(&path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let record = SqliteRecord::open_to_read(&path).unwrap();
    let fault = record.append(vec![entry(Event::Checked, None, "a")]).await.unwrap_err();
    assert!(fault.what.contains("opened to read only"), "{fault:?}");
    assert_eq!(record.unfinished().await.unwrap(), []);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[rstest]
#[case::text("not a database, but longer than a hundred bytes: ", "is not a SQLite database")]
#[case::empty("", "is empty, it holds no audit yet")]
fn a_file_that_is_no_audit_is_refused(#[case] content: &str, #[case] told: &str) {
    let (_folder, path) = folder();
    std::fs::write(&path, content.repeat(20)).unwrap();
    let faults = [SqliteRecord::open_to_read(&path).err(), verify::verify(&path, &Against::default()).err()];
    for fault in faults {
        let fault = fault.unwrap();
        assert!(fault.what.contains(told) && fault.what.contains("audit.db"), "{fault:?}");
        assert!(!fault.do_next.is_empty());
    }
    // An empty file is what SQLite leaves before its first commit, so to append it is a new one.
    assert_eq!(SqliteRecord::open(&path).is_ok(), content.is_empty());
}

#[rstest]
#[case::foreign("CREATE TABLE jobs (key TEXT)", "is a database of another program")]
#[case::foreign_mark("PRAGMA application_id = 7", "is a database of another program")]
#[case::newer(
    "PRAGMA application_id = 1970172788; PRAGMA user_version = 2",
    "has version 2, and this program knows version 1"
)]
fn another_programs_database_is_left_alone(#[case] made_by: &str, #[case] told: &str) {
    let (_folder, path) = folder();
    Connection::open(&path).unwrap().execute_batch(made_by).unwrap();
    let before = std::fs::read(&path).unwrap();
    for fault in [
        SqliteRecord::open(&path).err(),
        SqliteRecord::open_to_read(&path).err(),
        verify::verify(&path, &Against::default()).err(),
    ] {
        assert!(fault.unwrap().what.contains(told));
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_folder_in_place_of_the_file_is_said() {
    let folder = tempfile::tempdir().unwrap();
    for fault in [SqliteRecord::open(folder.path()).err(), SqliteRecord::open_to_read(folder.path()).err()] {
        assert!(fault.unwrap().what.ends_with("is a folder, not a file"));
    }
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let fault = SqliteRecord::open(&file.join("audit.db")).unwrap_err();
    assert!(fault.what.contains("file/audit.db: its folder cannot be made"), "{fault:?}");
}

#[tokio::test]
async fn a_lock_that_stays_is_said() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    record.opened.lock().unwrap().connection.busy_timeout(Duration::from_millis(30)).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let fault = record.append(vec![entry(Event::Checked, None, "a")]).await.unwrap_err();
    assert!(fault.what.contains("audit.db: stayed locked by another program"), "{fault:?}");
    assert!(record.page(None, 1).await.is_err());
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(record.append(vec![entry(Event::Checked, None, "a")]).await.unwrap().len(), 1);
}

/// Case 24: a full disk refuses the whole append, so the decision is refused before anything else is touched.
#[tokio::test]
async fn a_full_disk_writes_nothing_and_leaves_the_chain_whole() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    record.append(vec![entry(Event::Checked, None, "a")]).await.unwrap();
    {
        let connection = &record.opened.lock().unwrap().connection;
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        connection.pragma_update(None, "max_page_count", pages + 1).unwrap();
    }
    let large = "x".repeat(20_000);
    let fault =
        record.append(vec![entry(Event::Checked, None, "b"), attached("c", &[&large])]).await.unwrap_err();
    assert!(fault.what.contains("audit.db: the disk is full, nothing was written"), "{fault:?}");
    assert_eq!(seqs(&record.page(None, 9).await.unwrap()), [1]);
    assert_eq!(seqs(&record.append(vec![entry(Event::Checked, None, "d")]).await.unwrap()), [2]);
    assert!(verify::verify(&path, &Against::default()).unwrap().is_whole());
}

#[rstest]
#[case::tail_removed(
    "DROP TRIGGER entries_remain; DELETE FROM entries WHERE seq = 3",
    "it ends at entry 2, and entry 3 was written"
)]
#[case::all_removed(
    "DROP TRIGGER entries_remain; DELETE FROM entries",
    "it ends at entry 0, and entry 3 was written"
)]
#[case::tail_changed(
    "DROP TRIGGER entries_stay; UPDATE entries SET operator = 'eve' WHERE seq = 3",
    "its last entry (3) is not what was written"
)]
#[tokio::test]
async fn nothing_is_chained_to_a_broken_end(#[case] tampering: &str, #[case] told: &str) {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    for key in ["a", "b", "c"] {
        record.append(vec![entry(Event::Checked, None, key)]).await.unwrap();
    }
    Connection::open(&path).unwrap().execute_batch(tampering).unwrap();
    let fault = record.append(vec![entry(Event::Checked, None, "d")]).await.unwrap_err();
    assert!(fault.what.contains(told), "{fault:?}");
}

/// A crash in the middle of a write: the file and its journal as they were at that instant.
#[tokio::test]
async fn an_interrupted_write_is_rolled_back_by_the_next_that_writes() {
    let (folder, path) = folder();
    SqliteRecord::open(&path).unwrap().append(vec![attached("a", &["x"])]).await.unwrap();
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE").unwrap();
    for place in 2..400 {
        let text = "y".repeat(500);
        writer.execute("INSERT INTO attachments VALUES (1, ?1, '', ?2, '')", (place, text)).unwrap();
    }
    let crashed = folder.path().join("crashed.db");
    std::fs::copy(&path, &crashed).unwrap();
    std::fs::copy(folder.path().join("audit.db-journal"), folder.path().join("crashed.db-journal")).unwrap();

    let fault = SqliteRecord::open_to_read(&crashed).unwrap_err();
    assert!(fault.what.contains("a write was interrupted"), "{fault:?}");
    let record = SqliteRecord::open(&crashed).unwrap();
    assert_eq!(seqs(&record.append(vec![entry(Event::Checked, None, "b")]).await.unwrap()), [2]);
    assert!(verify::verify(&crashed, &Against::default()).unwrap().is_whole());
}
