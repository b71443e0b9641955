use super::verify::signed::Against;
use super::*;
use crate::domain::audit::{Attachment, Event, GENESIS, Subject, Walk};
use chrono::{DateTime, TimeDelta, Utc};
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;

mod subject;

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

fn of(source: &str, key: &str) -> Subject {
    Subject { source: source.to_owned(), key: key.to_owned(), table: None }
}

fn seqs(entries: &[Entry]) -> Vec<i64> {
    entries.iter().map(|entry| entry.seq).collect()
}

#[tokio::test]
async fn entries_are_chained_and_given_back_as_they_were_written() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    let odd = "inv\0-1\u{202e}\n'; DROP TABLE entries; --";
    let first = record.append(vec![entry(Event::Checked, None, odd)]).await.unwrap();
    let more =
        record.append(vec![attached("b", &["{}", ""]), entry(Event::Unmasked, None, "c")]).await.unwrap();
    assert_eq!((seqs(&first), seqs(&more)), (vec![1], vec![2, 3]));
    assert_eq!((first[0].prev.as_str(), &more[0].prev), (GENESIS, &first[0].hash));
    assert_eq!(first[0].at, "2027-01-15T08:00:00Z");
    assert_eq!(first[0].body, r#"{"reason":"seen in the ledger","amount":10.1}"#);

    let mut walk = Walk::default();
    let mut read = SqliteRecord::open_to_read(&path).unwrap().page(None, 10).await.unwrap();
    read.reverse();
    assert_eq!(read, [first, more].concat());
    assert!(read.iter().all(|entry| walk.step(entry).is_ok()));
    let body: Value = serde_json::from_str(&read[1].body).unwrap();
    assert_eq!(body["attachments"][0]["text_sha256"], append::sha256_of("{}"));
}

/// Cases 21, 55 and 56: every act is one entry that says who, from where, when, on what and why.
#[tokio::test]
async fn every_act_is_kept_with_who_when_and_why() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    for (decision, event) in (1..).zip(Event::ALL) {
        record.append(vec![entry(event, Some(decision), "inv-1")]).await.unwrap();
    }
    let kept = record.of_item(&of("billing", "inv-1"), usize::MAX).await.unwrap();
    assert_eq!(kept.len(), Event::ALL.len());
    for (entry, event) in kept.iter().rev().zip(Event::ALL) {
        let said = [&*entry.event, &entry.at, &entry.operator, &entry.origin, &entry.source, &entry.key];
        assert_eq!(said, [event.as_str(), "2027-01-15T08:00:00Z", "ana", "ana@ops-1", "billing", "inv-1"]);
        assert!(entry.body.contains("seen in the ledger"));
    }
}

#[tokio::test]
async fn an_intent_is_unfinished_until_its_outcome() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    let events = [
        (Event::Intended, 1),
        (Event::Intended, 2),
        (Event::Applied, 1),
        (Event::Intended, 3),
        (Event::Intended, 4),
        (Event::Failed, 4),
        (Event::Refused, 5),
        (Event::DryRun, 2),
    ];
    let entries = events.iter().map(|(event, id)| entry(*event, Some(*id), "a")).collect();
    record.append(entries).await.unwrap();
    record.append(vec![entry(Event::Checked, None, "a")]).await.unwrap();
    assert_eq!(seqs(&record.unfinished().await.unwrap()), [2, 4]);
    record.append(vec![entry(Event::Refused, Some(2), "a")]).await.unwrap();
    assert_eq!(seqs(&record.unfinished().await.unwrap()), [4]);
    assert_eq!(seqs(&record.of_decision(Uuid::from_u128(2)).await.unwrap()), [2, 8, 10]);
    assert_eq!(record.of_decision(Uuid::from_u128(9)).await.unwrap(), []);
}

/// Two consoles may settle the same decision at the same time: whoever comes second is told, and writes nothing.
#[rstest]
#[case::the_same(Event::Applied)]
#[case::another(Event::Refused)]
#[tokio::test]
async fn a_decision_ends_once(#[case] second: Event) {
    let (_folder, path) = folder();
    let (one, other) = (SqliteRecord::open(&path).unwrap(), SqliteRecord::open(&path).unwrap());
    let ended = [Event::Intended, Event::Applied].map(|event| entry(event, Some(1), "a"));
    one.append(ended.to_vec()).await.unwrap();
    let batch = vec![entry(Event::Checked, None, "b"), entry(second, Some(1), "a")];
    let fault = other.append(batch).await.unwrap_err();
    assert!(fault.what.contains("has an outcome already (entry 2)"), "{}", fault.what);
    assert_eq!(seqs(&one.page(None, 9).await.unwrap()), [2, 1], "the whole batch is refused");
    other.append(vec![entry(second, Some(2), "a")]).await.unwrap();
}

/// Among the three that settle a proposal there is one a decision, whoever comes first.
#[rstest]
#[case(Event::Intended, Event::Intended)]
#[case(Event::Intended, Event::Withdrawn)]
#[case(Event::Withdrawn, Event::Intended)]
#[case(Event::Lapsed, Event::Intended)]
#[tokio::test]
async fn a_decision_is_settled_once(#[case] first: Event, #[case] second: Event) {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    record.append(vec![entry(Event::Proposed, Some(1), "a")]).await.unwrap();
    let Once::Placed(placed) = record.append_once(entry(first, Some(1), "a")).await.unwrap() else {
        panic!()
    };
    // Also through another connection, as another process has one.
    let other = SqliteRecord::open(&path).unwrap();
    assert_eq!(other.append_once(entry(second, Some(1), "a")).await.unwrap(), Once::Taken(placed.clone()));
    // And by a program that does not ask first.
    let fault = other.append(vec![entry(second, Some(1), "a")]).await.unwrap_err();
    assert!(fault.what.contains("once"), "{fault:?}");
    let of_another = record.append_once(entry(second, Some(2), "a")).await.unwrap();
    assert!(matches!(of_another, Once::Placed(entry) if entry.seq == 3));
    assert_eq!(seqs(&record.page(None, 9).await.unwrap()), [3, 2, 1]);
    assert_eq!((placed.seq, verify::verify(&path, &Against::default()).unwrap().is_whole()), (2, true));
}

/// Two programs at the same instant, many times over.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_who_approve_at_once_one_is_first() {
    let (_folder, path) = folder();
    let programs = [SqliteRecord::open(&path).unwrap(), SqliteRecord::open(&path).unwrap()];
    for decision in 1..=20 {
        let approve = |program: &SqliteRecord| {
            let program = program.clone();
            tokio::spawn(async move {
                program.append_once(entry(Event::Intended, Some(decision), "a")).await.unwrap()
            })
        };
        let [first, second] = programs.each_ref().map(approve);
        match (first.await.unwrap(), second.await.unwrap()) {
            (Once::Placed(placed), Once::Taken(there)) | (Once::Taken(there), Once::Placed(placed)) => {
                assert_eq!(placed, there);
            }
            both => panic!("{both:?}"),
        }
    }
    assert_eq!(programs[0].unfinished().await.unwrap().len(), 20);
    assert!(verify::verify(&path, &Against::default()).unwrap().is_whole());
}

#[tokio::test]
async fn only_what_a_decision_has_once_is_written_once() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    assert!(record.append_once(entry(Event::Applied, Some(1), "a")).await.is_err());
    assert!(record.append_once(entry(Event::Intended, None, "a")).await.is_err());
    assert_eq!(record.page(None, 9).await.unwrap(), []);
}

#[tokio::test]
async fn a_proposal_waits_until_it_is_settled() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    let events = [
        (Event::Proposed, 1, "a"),
        (Event::Proposed, 2, "b"),
        (Event::Proposed, 3, "a"),
        (Event::Proposed, 4, "c"),
        (Event::Intended, 1, "a"),
        (Event::Withdrawn, 2, "b"),
        // An attempt that came to nothing is another decision's.
        (Event::Refused, 9, "a"),
    ];
    record
        .append(events.iter().map(|(event, id, key)| entry(*event, Some(*id), key)).collect())
        .await
        .unwrap();
    assert_eq!(seqs(&record.waiting(0, 9).await.unwrap()), [3, 4]);
    assert_eq!(seqs(&record.waiting(0, 1).await.unwrap()), [3]);
    assert_eq!(seqs(&record.waiting(3, 9).await.unwrap()), [4]);
    assert_eq!(seqs(&record.waiting_on(&of("billing", "a")).await.unwrap()), [3]);
    assert_eq!(record.waiting_on(&of("mail", "a")).await.unwrap(), []);
    record.append_once(entry(Event::Lapsed, Some(3), "a")).await.unwrap();
    assert_eq!(seqs(&record.waiting(0, 9).await.unwrap()), [4]);
}

#[tokio::test]
async fn proposals_are_found_by_the_end_of_their_id() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    let (one, other) = (0x1111_2222_3333_4444_5555_6666_7777_8888, 0x9999_2222_3333_4444_5555_6666_7777_8888);
    for id in [one, other] {
        record.append(vec![entry(Event::Proposed, Some(id), "a")]).await.unwrap();
        record.append(vec![entry(Event::Intended, Some(id), "a")]).await.unwrap();
    }
    let found =
        async |typed: &str| seqs(&record.proposals_ending(&IdEnding::read(typed).unwrap(), 9).await.unwrap());
    assert_eq!(found("77778888").await, [3, 1]);
    assert_eq!(found("6666-7777-8888").await, [3, 1]);
    assert_eq!(found("11112222-3333-4444-5555-666677778888").await, [1]);
    assert_eq!(found("77778889").await, Vec::<i64>::new());
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

#[tokio::test]
async fn items_and_pages_are_read_newest_first() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    for key in ["a", "b", "a", "a"] {
        record.append(vec![entry(Event::Checked, None, key)]).await.unwrap();
    }
    assert_eq!(seqs(&record.of_item(&of("billing", "a"), 2).await.unwrap()), [4, 3]);
    assert_eq!(seqs(&record.of_item(&of("billing", "a"), usize::MAX).await.unwrap()), [4, 3, 1]);
    assert_eq!(record.of_item(&of("mail", "a"), 9).await.unwrap(), []);
    assert_eq!(seqs(&record.page(None, 2).await.unwrap()), [4, 3]);
    assert_eq!(seqs(&record.page(Some(3), 9).await.unwrap()), [2, 1]);
    assert_eq!(record.page(Some(1), 9).await.unwrap(), []);
}

#[tokio::test]
async fn a_batch_is_written_whole_or_not_at_all() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    let mut bad = entry(Event::Checked, None, "b");
    bad.body = json!("no object");
    let fault = record.append(vec![entry(Event::Checked, None, "a"), bad]).await.unwrap_err();
    assert!(fault.what.contains("must be a JSON object"), "{fault:?}");
    assert_eq!(record.page(None, 9).await.unwrap(), []);
    assert_eq!(record.append(Vec::new()).await.unwrap(), []);
}

#[rstest]
#[case::reserved_member(json!({ "attachments": [] }), Event::Checked, "a member of the record's own")]
#[case::intent_of_nothing(json!({}), Event::Intended, "belongs to no decision")]
#[case::list(json!([]), Event::Checked, "must be a JSON object")]
#[tokio::test]
async fn what_could_not_be_found_again_is_refused(
    #[case] body: Value,
    #[case] event: Event,
    #[case] told: &str,
) {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    let fault = record.append(vec![NewEntry { body, ..entry(event, None, "a") }]).await.unwrap_err();
    assert!(fault.what.contains(told), "{fault:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_connections_append_at_once_and_the_chain_stays_whole() {
    let (_folder, path) = folder();
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let record = SqliteRecord::open(&path).unwrap();
            tokio::spawn(async move {
                for at in 0..15 {
                    let key = format!("{writer}-{at}");
                    record
                        .append(vec![attached(&key, &["x"]), entry(Event::Checked, None, &key)])
                        .await
                        .unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let verified = verify::verify(&path, &Against::default()).unwrap();
    assert_eq!((verified.entries, verified.flaws), (120, Vec::new()));
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

/// However often a decision on an item was refused since, what was carried out on it is found.
#[tokio::test]
async fn refusals_crowd_no_decision_out() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    record
        .append([Event::Intended, Event::Applied].map(|event| entry(event, Some(1), "a")).to_vec())
        .await
        .unwrap();
    let others = [entry(Event::Checked, None, "a"), entry(Event::Intended, Some(7), "b")];
    record.append(others.to_vec()).await.unwrap();
    let refused = (100..400).map(|decision| entry(Event::Refused, Some(decision), "a"));
    record.append(refused.collect()).await.unwrap();
    assert_eq!(seqs(&record.intended_on(&of("billing", "a"), 5).await.unwrap()), [2, 1]);
    assert_eq!(seqs(&record.intended_on(&of("billing", "a"), 1).await.unwrap()), [2]);
}
