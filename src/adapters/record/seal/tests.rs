use super::*;
use crate::adapters::record::SqliteRecord;
use crate::adapters::record::key::KeyState;
use crate::adapters::record::tests::{entry, folder, moment};
use crate::adapters::record::verify::signed::{Against, Bytes};
use crate::adapters::record::verify::{Verified, verify};
use crate::domain::audit::{Event, NewEntry};
use crate::ports::record::Record;
use pretty_assertions::assert_eq;
use tempfile::TempDir;

struct Place {
    folder: TempDir,
    path: PathBuf,
    seals: Seals,
}

impl Place {
    fn new() -> Self {
        let (folder, path) = folder();
        let seals = Seals::of(&path, Some(folder.path().join("keys/audit.key")), None);
        Self { folder, path, seals }
    }

    fn open(&self) -> SqliteRecord {
        SqliteRecord::open(&self.path).unwrap().signed(self.seals.clone())
    }

    /// A run that puts so many entries on record and is sealed.
    async fn run(&self, entries: usize) {
        let record = self.open();
        record.append(some(entries)).await.unwrap();
        record.seal(moment(9)).await.unwrap();
    }

    fn verify(&self) -> Verified {
        let against = Against::of(&self.path, &self.seals, Vec::new(), Vec::new()).unwrap();
        verify(&self.path, &against).unwrap()
    }

    /// How many entries each checkpoint covers, and whether it seals the file.
    fn checkpoints(&self) -> Vec<(i64, bool)> {
        let text = std::fs::read_to_string(&self.seals.checkpoints).unwrap_or_default();
        let Ok(KeyState::Private(key)) = key::look(self.seals.key.as_ref().unwrap()) else {
            return Vec::new();
        };
        text.lines()
            .map(|line| Signed::from_line(line, &[key]).unwrap().checkpoint)
            .map(|checkpoint| (checkpoint.entries, checkpoint.file.is_some()))
            .collect()
    }

    fn tamper(&self, statements: &str) {
        let lifted = "DROP TRIGGER entries_stay; DROP TRIGGER entries_remain";
        Connection::open(&self.path).unwrap().execute_batch(&format!("{lifted}; {statements}")).unwrap();
    }
}

fn some(count: usize) -> Vec<NewEntry> {
    (0..count).map(|at| entry(Event::Checked, None, &at.to_string())).collect()
}

#[tokio::test]
async fn each_run_that_wrote_something_is_sealed_once() {
    let place = Place::new();
    let record = place.open();
    record.seal(moment(1)).await.unwrap();
    assert_eq!((place.checkpoints(), place.seals.checkpoints.exists()), (Vec::new(), false));
    record.append(some(2)).await.unwrap();
    record.seal(moment(2)).await.unwrap();
    record.seal(moment(3)).await.unwrap();
    assert_eq!(place.checkpoints(), [(2, true)]);
    place.run(1).await;
    assert_eq!(place.checkpoints(), [(2, true), (3, true)]);
    let verified = place.verify();
    assert_eq!((verified.flaws, verified.signatures.bytes), (Vec::new(), Bytes::AsSealed));
}

#[tokio::test]
async fn a_long_run_is_signed_on_its_way() {
    let place = Place::new();
    let record = place.open();
    for _ in 0..5 {
        record.append(some(CHECKPOINT_ENTRIES / 2)).await.unwrap();
    }
    let each = i64::try_from(CHECKPOINT_ENTRIES).unwrap();
    assert_eq!(place.checkpoints(), [(each, false), (each * 2, false)]);
    record.seal(moment(1)).await.unwrap();
    assert_eq!(place.checkpoints()[2..], [(each * 5 / 2, true)]);
    assert_eq!(place.verify().signatures.bytes, Bytes::AsSealed);
}

/// Looking, a second console, a write that was refused and one that broke off: none of them is an alarm.
#[tokio::test]
async fn what_changes_nothing_raises_no_alarm() {
    let place = Place::new();
    place.run(3).await;
    let sealed = std::fs::read(&place.path).unwrap();

    SqliteRecord::open_to_read(&place.path).unwrap().page(None, 9).await.unwrap();
    let second = place.open();
    assert_eq!(second.unfinished().await.unwrap(), []);
    assert_eq!(place.verify().signatures.bytes, Bytes::AsSealed);

    let mut refused = some(2);
    refused[1].body = serde_json::json!([]);
    second.append(refused).await.unwrap_err();
    {
        let writer = Connection::open(&place.path).unwrap();
        writer.execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE").unwrap();
        for at in 0..300 {
            let text = "y".repeat(500);
            writer.execute("INSERT INTO attachments VALUES (1, ?1, '', ?2, '')", (at, text)).unwrap();
        }
        assert!(std::fs::metadata(&place.path).unwrap().len() > sealed.len() as u64, "pages were spilled");
        writer.execute_batch("ROLLBACK").unwrap();
    }
    second.seal(moment(1)).await.unwrap();
    assert_eq!(std::fs::read(&place.path).unwrap(), sealed);
    let verified = place.verify();
    assert_eq!((verified.flaws, verified.signatures.bytes), (Vec::new(), Bytes::AsSealed));
    assert_eq!(place.checkpoints(), [(3, true)]);
}

/// Two consoles on one audit: whoever ends last seals what both wrote.
#[tokio::test]
async fn several_consoles_seal_one_after_the_other() {
    let place = Place::new();
    let (one, two) = (place.open(), place.open());
    one.append(some(2)).await.unwrap();
    two.append(some(2)).await.unwrap();
    one.seal(moment(1)).await.unwrap();
    two.append(some(1)).await.unwrap();
    assert_eq!(place.verify().signatures.bytes, Bytes::Unsealed);
    two.seal(moment(2)).await.unwrap();
    one.seal(moment(3)).await.unwrap();
    assert_eq!(place.checkpoints(), [(4, true), (5, true)]);
    assert_eq!(place.verify().signatures.bytes, Bytes::AsSealed);
}

/// A run that was killed signs nothing; the next one signs for both.
#[tokio::test]
async fn what_a_killed_run_left_is_signed_by_the_next() {
    let place = Place::new();
    place.run(2).await;
    let killed = place.open();
    killed.append(some(3)).await.unwrap();
    drop(killed);
    let verified = place.verify();
    assert_eq!((verified.flaws, verified.entries), (Vec::new(), 5));
    assert_eq!(verified.signatures.last.map(|last| last.entries), Some(2));
    place.run(1).await;
    assert_eq!(place.checkpoints(), [(2, true), (6, true)]);
}

#[rstest::rstest]
#[case::changed("UPDATE entries SET operator = 'eve' WHERE seq = 4", "entry 4: is not what was written")]
#[case::removed("DELETE FROM entries WHERE seq = 4", "entry 4: is missing (the next one there is 5)")]
#[case::cut_below_the_last(
    "DELETE FROM entries WHERE seq > 2; UPDATE sqlite_sequence SET seq = 2",
    "it is not the audit that the checkpoint of 2027-01-15T08:00:09Z was taken of, with 3 entries"
)]
#[case::another_audit(
    "UPDATE entries SET hash = prev WHERE seq = 1",
    "it is not the audit that the checkpoint of 2027-01-15T08:00:09Z was taken of, with 3 entries"
)]
#[tokio::test]
async fn what_is_not_whole_is_not_signed(#[case] tampering: &str, #[case] told: &str) {
    let place = Place::new();
    place.run(3).await;
    let record = place.open();
    record.append(some(2)).await.unwrap();
    place.tamper(tampering);
    record.append(some(1)).await.unwrap();
    let before = std::fs::read(&place.seals.checkpoints).unwrap();
    let fault = record.seal(moment(1)).await.unwrap_err();
    assert!(fault.what.contains("what this run put on record is not signed, because "), "{fault:?}");
    assert!(fault.what.contains(told), "{fault:?}");
    assert_eq!(std::fs::read(&place.seals.checkpoints).unwrap(), before);
}

#[tokio::test]
async fn shortened_checkpoints_are_not_gone_on_from() {
    let place = Place::new();
    place.run(2).await;
    let first = std::fs::read(&place.seals.checkpoints).unwrap();
    place.run(2).await;
    for shortened in [first.as_slice(), b""] {
        std::fs::write(&place.seals.checkpoints, shortened).unwrap();
        let record = place.open();
        record.append(some(1)).await.unwrap();
        let fault = record.seal(moment(1)).await.unwrap_err();
        assert!(fault.what.contains("for 4 entries, remembered in "), "{fault:?}");
        assert_eq!(std::fs::read(&place.seals.checkpoints).unwrap(), shortened);
    }
}

/// A power cut while a checkpoint was written leaves half a line.
#[tokio::test]
async fn half_a_line_is_told_and_mended_by_the_next_run() {
    let place = Place::new();
    place.run(2).await;
    let mut text = std::fs::read_to_string(&place.seals.checkpoints).unwrap();
    let half = text[..text.len() / 2].to_owned();
    text.push_str(&half);
    std::fs::write(&place.seals.checkpoints, text).unwrap();
    let told = place.verify().flaws[0].to_string();
    assert!(told.ends_with("audit.db.checkpoints: line 2 is cut off"), "{told}");
    place.run(1).await;
    assert_eq!(place.checkpoints(), [(2, true), (3, true)]);
    assert!(place.verify().is_whole());
}

#[tokio::test]
async fn without_a_key_entries_are_written_and_the_reason_is_told() {
    let place = Place::new();
    let blocked = place.folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    for (key, told) in [
        (None, "there is no home folder for the key"),
        (Some(blocked.join("audit.key")), "file/audit.key cannot be "),
        (Some(blocked), "file holds no key"),
    ] {
        let seals = Seals { key, ..place.seals.clone() };
        let record = SqliteRecord::open(&place.path).unwrap().signed(seals);
        assert_eq!(record.append(some(1)).await.unwrap().len(), 1);
        let fault = record.seal(moment(1)).await.unwrap_err();
        assert!(fault.what.contains(told) && !fault.do_next.is_empty(), "{fault:?}");
    }
    assert_eq!(place.verify().entries, 3);
    assert!(!place.seals.checkpoints.exists());
}

#[tokio::test]
async fn files_are_for_their_owner_alone_and_hold_no_private_key() {
    let place = Place::new();
    place.run(2).await;
    let private = std::fs::read_to_string(place.seals.key.as_ref().unwrap()).unwrap();
    let secret: String = private.lines().filter(|line| !line.starts_with("-----")).collect();
    let mut seen = 0;
    let mut folders = vec![place.folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for found in std::fs::read_dir(folder).unwrap().map(|found| found.unwrap().path()) {
            if found.is_dir() {
                folders.push(found);
                continue;
            }
            seen += 1;
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let mode = std::fs::metadata(&found).unwrap().permissions().mode() & 0o777;
                assert_eq!(mode, 0o600, "{}", found.display());
            }
            if Some(&found) != place.seals.key.as_ref() {
                let text = String::from_utf8_lossy(&std::fs::read(&found).unwrap()).into_owned();
                assert!(!text.contains(&secret[..32]), "{}", found.display());
            }
        }
    }
    assert_eq!(seen, 4, "the audit, its checkpoints, the key, and the last checkpoint beside it");
}

/// Each of them leaves the chain after the last checkpoint whole. The runs after it must not make it fit again.
#[rstest::rstest]
#[case::index_dropped("DROP INDEX entries_proposed")]
#[case::trigger_dropped("DROP TRIGGER entries_settle_once")]
#[case::written_anew_by_vacuum("VACUUM")]
#[case::journal_mode("PRAGMA journal_mode = WAL")]
#[case::entry_before_the_last_checkpoint(
    "DROP TRIGGER entries_stay; UPDATE entries SET operator = 'eve' WHERE seq = 2"
)]
#[tokio::test]
async fn changed_bytes_are_not_sealed_over_by_the_next_runs(
    #[case] tampering: &str,
    #[values(false, true)] while_open: bool,
    #[values(false, true)] first_is_killed: bool,
) {
    let place = Place::new();
    place.run(3).await;
    place.run(1).await;
    let before = std::fs::read(&place.seals.checkpoints).unwrap();
    let tamper = || {
        let file = Connection::open(&place.path).unwrap();
        file.execute_batch(tampering).unwrap();
    };
    let open_before = while_open.then(|| place.open());
    tamper();
    let first = open_before.unwrap_or_else(|| place.open());
    assert_eq!(first.append(some(1)).await.unwrap().len(), 1);
    if !first_is_killed {
        first.seal(moment(5)).await.unwrap_err();
    }
    drop(first);
    for _ in 0..2 {
        let record = place.open();
        assert_eq!(record.append(some(1)).await.unwrap().len(), 1);
        let fault = record.seal(moment(6)).await.unwrap_err();
        let told =
            "is not signed, because its bytes were no longer those that were sealed at 2027-01-15T08:00:09Z";
        assert!(fault.what.contains(told), "{fault:?}");
    }
    assert_eq!(std::fs::read(&place.seals.checkpoints).unwrap(), before);
    let flaws: Vec<String> = place.verify().flaws.iter().map(ToString::to_string).collect();
    let told = ".changed: its bytes were no longer those that were sealed at ";
    assert!(flaws.iter().any(|flaw| flaw.contains(told)), "{flaws:?}");
}

/// Whoever changed the file on purpose moves what was found away, and the next run signs again.
#[tokio::test]
async fn what_was_found_is_moved_away_by_whoever_knows_the_cause() {
    let place = Place::new();
    place.run(2).await;
    Connection::open(&place.path).unwrap().execute_batch("VACUUM").unwrap();
    let record = place.open();
    record.append(some(1)).await.unwrap();
    let fault = record.seal(moment(1)).await.unwrap_err();
    let witness = checkpoints::witness_of(place.seals.key.as_ref().unwrap(), &place.path);
    let kept = doubt_of(&witness);
    assert!(fault.do_next.contains(&kept.display().to_string()), "{fault:?}");
    std::fs::remove_file(kept).unwrap();
    place.run(1).await;
    assert_eq!(place.checkpoints(), [(2, true), (4, true)]);
    assert!(place.verify().is_whole());
}

/// What a new program adds to the file of an earlier one is no change by somebody else.
#[tokio::test]
async fn a_file_of_an_earlier_program_is_signed_on() {
    let place = Place::new();
    place.run(2).await;
    let file = Connection::open(&place.path).unwrap();
    file.execute_batch("DROP INDEX entries_proposed").unwrap();
    drop(file);
    // As the earlier program sealed it.
    std::fs::remove_file(&place.seals.checkpoints).unwrap();
    std::fs::remove_dir_all(place.seals.key.as_ref().unwrap().with_file_name("last")).unwrap();
    let seal_again = || {
        let mut connection = Connection::open(&place.path).unwrap();
        take(&place.path, &mut connection, &place.seals, "2027-01-15T08:00:09Z", Reach::EntriesAndFile)
    };
    seal_again().unwrap();
    // A run that adds nothing changes nothing.
    place.open().unfinished().await.unwrap();
    place.run(1).await;
    assert_eq!(place.checkpoints(), [(2, true), (3, true)]);
    assert!(place.verify().is_whole());
}

#[tokio::test]
async fn one_cause_in_many_lines_is_told_once() {
    let place = Place::new();
    for _ in 0..4 {
        place.run(1).await;
    }
    let text = std::fs::read_to_string(&place.seals.checkpoints).unwrap();
    std::fs::write(&place.seals.checkpoints, text.replace('\n', "\r\n")).unwrap();
    let flaws: Vec<String> = place.verify().flaws.iter().map(ToString::to_string).collect();
    assert!(flaws[0].ends_with("audit.db.checkpoints: line 1 is not a checkpoint (and 3 more)"), "{flaws:?}");
    assert_eq!(flaws.len(), 2, "the other is the one that is remembered: {flaws:?}");
}
