use super::walk::PAGE_ENTRIES;
use super::*;
use crate::adapters::record::SqliteRecord;
use crate::adapters::record::read::{COLUMNS, entry_of};
use crate::adapters::record::tests::{attached, entry, folder};
use crate::domain::audit::Event;
use crate::ports::record::Record;
use pretty_assertions::assert_eq;
use rstest::rstest;
use rusqlite::types::Value as Stored;
use std::path::PathBuf;
use tempfile::TempDir;

/// Six entries; the second and the last have attachments.
async fn audit() -> (TempDir, PathBuf) {
    let (folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    let entries = vec![
        entry(Event::Intended, Some(1), "a"),
        attached("b", &["first", "second"]),
        entry(Event::Applied, Some(1), "a"),
        entry(Event::Unmasked, None, "c"),
        entry(Event::Intended, Some(2), "d"),
        attached("e", &["third"]),
    ];
    record.append(entries).await.unwrap();
    (folder, path)
}

/// Lifts the triggers, does something, and puts the very same triggers back.
pub(in crate::adapters::record) fn tamper(path: &Path, statements: &str) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
    let triggers: Vec<(String, String)> = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for (name, _) in &triggers {
        connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    connection.execute_batch(statements).unwrap();
    for (_, sql) in &triggers {
        connection.execute_batch(sql).unwrap();
    }
}

/// Gives an entry the hash that belongs to what it says now.
fn hash_anew(path: &Path, seq: i64) {
    let connection = Connection::open(path).unwrap();
    let read = format!("SELECT {COLUMNS} FROM entries WHERE seq = {seq}");
    let entry = connection.query_row(&read, [], entry_of).unwrap();
    tamper(path, &format!("UPDATE entries SET hash = '{}' WHERE seq = {seq}", entry.expected_hash()));
}

#[tokio::test]
async fn a_whole_audit_is_whole() {
    let (_folder, path) = audit().await;
    let last = SqliteRecord::open_to_read(&path).unwrap().page(None, 1).await.unwrap();
    let expected = Verified { entries: 6, head: last[0].hash.clone(), ..Verified::nothing_yet() };
    assert_eq!(verify(&path, &Against::default()).unwrap(), expected);
    assert!(expected.is_whole() && expected.first_bad().is_none());
}

#[test]
fn a_new_audit_is_whole() {
    let (_folder, path) = folder();
    SqliteRecord::open(&path).unwrap();
    assert_eq!(verify(&path, &Against::default()).unwrap(), Verified::nothing_yet());
}

const MISSING_3: &str = "entry 3: is missing (the next one there is 4)";

#[rstest]
#[case::at(
    "UPDATE entries SET at = '2027-01-15T08:00:01Z' WHERE seq = 4",
    "entry 4: is not what was written"
)]
#[case::event("UPDATE entries SET event = 'refused' WHERE seq = 3", "entry 3: is not what was written")]
#[case::decision("UPDATE entries SET decision = '' WHERE seq = 1", "entry 1: is not what was written")]
#[case::source("UPDATE entries SET source = 'x' WHERE seq = 1", "entry 1: is not what was written")]
#[case::key("UPDATE entries SET key = key || ' ' WHERE seq = 6", "entry 6: is not what was written")]
#[case::operator("UPDATE entries SET operator = 'eve' WHERE seq = 5", "entry 5: is not what was written")]
#[case::origin("UPDATE entries SET origin = 'eve@x' WHERE seq = 5", "entry 5: is not what was written")]
#[case::body("UPDATE entries SET body = '{}' WHERE seq = 2", "entry 2: is not what was written")]
#[case::prev("UPDATE entries SET prev = hash WHERE seq = 2", "entry 2: does not follow the entry before it")]
#[case::hash("UPDATE entries SET hash = prev WHERE seq = 2", "entry 2: is not what was written")]
#[case::between_two_fields(
    "UPDATE entries SET source = 'billin', key = 'ga' WHERE seq = 1",
    "entry 1: is not what was written"
)]
#[case::first_removed("DELETE FROM entries WHERE seq = 1", "entry 1: is missing (the next one there is 2)")]
#[case::middle_removed("DELETE FROM entries WHERE seq = 3", MISSING_3)]
#[case::relinked(
    "DELETE FROM entries WHERE seq = 3; UPDATE entries SET prev = (SELECT hash FROM entries WHERE seq = 2) WHERE seq = 4",
    MISSING_3
)]
#[case::last_removed(
    "DELETE FROM entries WHERE seq = 6",
    "entry 6: is missing (entries up to 6 were written)"
)]
#[case::tail_removed(
    "DELETE FROM entries WHERE seq > 3",
    "entry 4: is missing (entries up to 6 were written)"
)]
#[case::all_removed("DELETE FROM entries", "entry 1: is missing (entries up to 6 were written)")]
#[case::renumbered(
    "DELETE FROM entries WHERE seq = 3; UPDATE entries SET seq = 3 WHERE seq = 4",
    "entry 3: does not follow the entry before it"
)]
#[case::swapped(
    "UPDATE entries SET seq = 99 WHERE seq = 3; UPDATE entries SET seq = 3 WHERE seq = 4; UPDATE entries SET seq = 4 WHERE seq = 99",
    "entry 3: does not follow the entry before it"
)]
#[case::inserted_at_the_end(
    "INSERT INTO entries SELECT 7, at, event, decision, source, key, operator, origin, body, hash, hash FROM entries WHERE seq = 6",
    "entry 7: is not what was written"
)]
#[case::inserted_before(
    "INSERT INTO entries SELECT -1, at, event, decision, source, key, operator, origin, body, prev, hash FROM entries WHERE seq = 4",
    "entry 1: is missing (the next one there is -1)"
)]
#[case::attachment_changed(
    "UPDATE attachments SET text = 'sEcond' WHERE place = 2",
    "entry 2: its attachment 2 is not what was written"
)]
#[case::attachment_rehashed(
    "UPDATE attachments SET text_sha256 = sha256 WHERE seq = 6",
    "entry 6: its attachment 1 is not what was written"
)]
#[case::attachment_origin(
    "UPDATE attachments SET sha256 = text_sha256 WHERE seq = 6",
    "entry 6: its attachment 1 is not what was written"
)]
#[case::attachment_moved(
    "UPDATE attachments SET place = 5 WHERE place = 2",
    "entry 2: its attachment 2 is not what was written"
)]
#[case::attachment_removed("DELETE FROM attachments WHERE seq = 6", "entry 6: its attachment 1 is missing")]
#[case::attachment_added(
    "INSERT INTO attachments VALUES (3, 1, '', '', '')",
    "entry 3: has an attachment that was not written with it"
)]
#[case::attachment_of_nothing(
    "INSERT INTO attachments VALUES (9, 1, '', '', '')",
    "entry 9: is missing, but its attachments are there"
)]
#[case::tail_and_memory_cut_but_not_beside(
    "DELETE FROM entries WHERE seq = 6; UPDATE sqlite_sequence SET seq = 5",
    "entry 6: is missing, but its attachments are there"
)]
#[case::memory_lost("DELETE FROM sqlite_sequence", "the audit: it remembers 0 entries and has 6")]
#[case::memory_low("UPDATE sqlite_sequence SET seq = 2", "the audit: it remembers 2 entries and has 6")]
#[case::memory_high(
    "UPDATE sqlite_sequence SET seq = 8",
    "entry 7: is missing (entries up to 8 were written)"
)]
#[tokio::test]
async fn every_change_is_found_where_it_was_made(#[case] tampering: &str, #[case] told: &str) {
    let (_folder, path) = audit().await;
    tamper(&path, tampering);
    let verified = verify(&path, &Against::default()).unwrap();
    let flaws: Vec<String> = verified.flaws.iter().map(ToString::to_string).collect();
    assert_eq!(flaws, [told]);
    let named = told.strip_prefix("entry ").and_then(|rest| rest.split(':').next()?.parse().ok());
    assert_eq!(verified.first_bad(), named);
}

/// Case 23, by somebody who also computes the hash of the entry after the gap.
#[tokio::test]
async fn a_gap_that_was_linked_anew_is_found() {
    let (_folder, path) = audit().await;
    let relinked = "DELETE FROM entries WHERE seq = 3;
        UPDATE entries SET prev = (SELECT hash FROM entries WHERE seq = 2) WHERE seq = 4";
    tamper(&path, relinked);
    hash_anew(&path, 4);
    assert_eq!(verify(&path, &Against::default()).unwrap().flaws[0].to_string(), MISSING_3);

    tamper(&path, "UPDATE entries SET seq = 3 WHERE seq = 4");
    hash_anew(&path, 3);
    assert_eq!(
        verify(&path, &Against::default()).unwrap().flaws[0].to_string(),
        "entry 4: is missing (the next one there is 5)"
    );
}

#[tokio::test]
async fn a_changed_entry_with_a_fitting_hash_breaks_the_next() {
    let (_folder, path) = audit().await;
    tamper(&path, "UPDATE entries SET operator = 'eve' WHERE seq = 3");
    hash_anew(&path, 3);
    let verified = verify(&path, &Against::default()).unwrap();
    assert_eq!(verified.flaws[0].to_string(), "entry 4: does not follow the entry before it");
    assert_eq!(verified.entries, 3);
}

#[rstest]
#[case::trigger_dropped(
    "DROP TRIGGER entries_remain",
    "the audit: the trigger `entries_remain` is missing or changed"
)]
#[case::trigger_changed(
    "DROP TRIGGER entries_stay; CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT 1; END",
    "the audit: the trigger `entries_stay` is missing or changed"
)]
#[case::index_dropped(
    "DROP INDEX entries_of_item",
    "the audit: the index `entries_of_item` is missing or changed"
)]
#[case::trigger_added(
    "CREATE TRIGGER gone AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE operator = 'eve'; END",
    "the audit: the trigger `gone` is not of this program"
)]
#[case::table_added("CREATE TABLE t (x)", "the audit: the table `t` is not of this program")]
#[tokio::test]
async fn tables_and_triggers_must_be_ours(#[case] change: &str, #[case] told: &str) {
    let (_folder, path) = audit().await;
    Connection::open(&path).unwrap().execute_batch(change).unwrap();
    let flaws: Vec<String> =
        verify(&path, &Against::default()).unwrap().flaws.iter().map(ToString::to_string).collect();
    assert_eq!(flaws, [told]);
}

#[tokio::test]
async fn a_table_that_is_gone_is_a_flaw_and_no_panic() {
    let (_folder, path) = audit().await;
    Connection::open(&path).unwrap().execute_batch("DROP TABLE attachments").unwrap();
    let verified = verify(&path, &Against::default()).unwrap();
    assert!(!verified.is_whole());
    assert!(
        verified.flaws.iter().any(|flaw| flaw.to_string().contains("the table `attachments` is missing"))
    );
}

#[tokio::test]
async fn a_file_that_was_cut_off_is_broken_or_refused() {
    let (_folder, path) = audit().await;
    let whole = std::fs::read(&path).unwrap();
    for bytes in (0..whole.len()).step_by(997) {
        std::fs::write(&path, &whole[..bytes]).unwrap();
        assert!(
            !verify(&path, &Against::default()).is_ok_and(|verified| verified.is_whole()),
            "cut to {bytes} bytes"
        );
    }
}

/// Everything that can be asked of the file: all rows of all tables, the schema, and the numbers in its head.
fn contents(path: &Path) -> rusqlite::Result<Vec<Vec<Stored>>> {
    let connection = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut all = Vec::new();
    for asked in [
        "SELECT * FROM entries ORDER BY seq",
        "SELECT * FROM attachments ORDER BY seq, place",
        "SELECT * FROM sqlite_sequence",
        "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema",
        "SELECT seq FROM entries INDEXED BY entries_intended WHERE event = 'intended' ORDER BY seq",
        "SELECT decision, event FROM entries INDEXED BY entries_of_decision WHERE decision <> '' ORDER BY 1, 2",
        "SELECT source, key, seq FROM entries INDEXED BY entries_of_item ORDER BY 1, 2, 3",
        "PRAGMA application_id",
        "PRAGMA user_version",
    ] {
        let mut statement = connection.prepare(asked)?;
        let width = statement.column_count();
        let rows = statement.query_map([], |row| (0..width).map(|at| row.get(at)).collect())?;
        all.extend(rows.collect::<rusqlite::Result<Vec<Vec<Stored>>>>()?);
    }
    Ok(all)
}

/// One bit of the file changed, at seeded places all over it: found, or provably in bytes that hold nothing. (SQLite
/// keeps free space in its pages and counters in its head, which nobody reads as part of an entry.)
#[tokio::test]
async fn a_changed_bit_is_found_or_holds_nothing() {
    const FLIPS: usize = 300;
    let (folder, path) = audit().await;
    let whole = std::fs::read(&path).unwrap();
    let expected = contents(&path).unwrap();
    let flipped = folder.path().join("flipped.db");
    let used: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0 || *at < 100).collect();
    let mut random: u64 = 0x5eed;
    let (mut found, mut in_unused) = (0, 0);
    for flip in 0..FLIPS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let high = usize::try_from(random >> 33).unwrap();
        // Two of three in bytes that are not zero, one of three anywhere; the head of the file first of all.
        let at = match flip % 3 {
            _ if flip < 100 => flip,
            0 => high % whole.len(),
            _ => used[high % used.len()],
        };
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (random % 8);
        std::fs::write(&flipped, bytes).unwrap();
        if verify(&flipped, &Against::default()).is_ok_and(|verified| verified.is_whole()) {
            assert_eq!(contents(&flipped).unwrap(), expected, "byte {at} of {}", whole.len());
            in_unused += 1;
        } else {
            found += 1;
        }
    }
    assert_eq!(found + in_unused, FLIPS);
    assert!(found > FLIPS / 3, "found {found}, in unused bytes {in_unused}");
}

/// Every bit of every text that an entry or an attachment holds.
#[tokio::test]
async fn every_bit_of_an_entrys_text_counts() {
    let (folder, path) = audit().await;
    let whole = std::fs::read(&path).unwrap();
    let body = br#"{"reason":"seen in the ledger""#;
    let starts: Vec<usize> =
        whole.windows(body.len()).enumerate().filter(|(_, part)| part == body).map(|(at, _)| at).collect();
    assert_eq!(starts.len(), 6);
    let flipped = folder.path().join("flipped.db");
    for at in (starts[0]..starts[0] + body.len()).chain(starts[5]..starts[5] + body.len()) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&flipped, bytes).unwrap();
        assert!(
            !verify(&flipped, &Against::default()).is_ok_and(|verified| verified.is_whole()),
            "byte {at}"
        );
    }
}

#[tokio::test]
async fn a_walk_goes_on_over_pages() {
    let (_folder, path) = folder();
    let record = SqliteRecord::open(&path).unwrap();
    let many = usize::try_from(PAGE_ENTRIES).unwrap();
    record
        .append((0..many * 2).map(|at| entry(Event::Checked, None, &at.to_string())).collect())
        .await
        .unwrap();
    assert_eq!(verify(&path, &Against::default()).unwrap().entries, PAGE_ENTRIES * 2);
    tamper(&path, &format!("UPDATE entries SET key = '' WHERE seq = {}", PAGE_ENTRIES + 1));
    assert_eq!(verify(&path, &Against::default()).unwrap().first_bad(), Some(PAGE_ENTRIES + 1));
}
