//! Everything that somebody can do to a signed audit who can write its file, also with the chain computed anew: found, and
//! where.

use super::signed::{Against, Bytes};
use super::tests::tamper;
use super::*;
use crate::adapters::record::read::{COLUMNS, entry_of};
use crate::adapters::record::tests::{attached, entry, folder, moment};
use crate::adapters::record::{Seals, SqliteRecord};
use crate::domain::audit::{Entry, Event};
use crate::ports::record::Record;
use pretty_assertions::assert_eq;
use std::path::PathBuf;
use tempfile::TempDir;

/// How many runs wrote the audit, and how many entries each.
const RUNS: i64 = 4;
const RUN_ENTRIES: i64 = 15;
const ENTRIES: i64 = RUNS * RUN_ENTRIES;

struct Signed {
    _folder: TempDir,
    path: PathBuf,
    against: Against,
    /// The file as it was sealed.
    sealed: Vec<u8>,
}

/// Checks with their answers, and decisions with intent and outcome, of several runs that were sealed each.
async fn signed_audit() -> Signed {
    let (folder, path) = folder();
    let seals = Seals::of(&path, Some(folder.path().join("keys/audit.key")), None);
    for run in 0..RUNS {
        let record = SqliteRecord::open(&path).unwrap().signed(seals.clone());
        for at in 0..RUN_ENTRIES / 3 {
            let (key, id) = (format!("invoice:{run}-{at}:2027-01"), u128::try_from(run * 100 + at).unwrap());
            let answer = format!(
                "{{\"object\":\"list\",\"data\":[{{\"id\":\"ch_{run}{at}\",\"status\":\"succeeded\",\"amount\":{at}}}]}}"
            );
            let texts = vec![answer.as_str(); usize::try_from(at % 3).unwrap()];
            let decided = [Event::Intended, Event::Applied].map(|event| entry(event, Some(id), &key));
            record.append(vec![attached(&key, &texts)]).await.unwrap();
            record.append(decided.to_vec()).await.unwrap();
        }
        record.seal(moment(run)).await.unwrap();
    }
    let against = Against::of(&path, &seals, Vec::new(), Vec::new()).unwrap();
    let sealed = std::fs::read(&path).unwrap();
    Signed { _folder: folder, path, against, sealed }
}

impl Signed {
    fn restore(&self) {
        std::fs::write(&self.path, &self.sealed).unwrap();
    }

    fn verify(&self) -> Result<Verified, RecordFault> {
        verify(&self.path, &self.against)
    }

    /// What is said after some statements, the chain left as they leave it.
    fn told_after(&self, statements: &str) -> Verified {
        self.restore();
        tamper(&self.path, statements);
        self.verify().unwrap()
    }

    /// What is said after some statements by somebody who then writes the chain anew.
    fn told_after_anew(&self, statements: &str) -> Verified {
        self.restore();
        tamper(&self.path, statements);
        write_anew(&self.path);
        self.verify().unwrap()
    }
}

/// Gives every entry the number, the link and the hash that it would have had in this place, and lets the file remember so
/// many.
fn write_anew(path: &Path) {
    let connection = Connection::open(path).unwrap();
    let read = format!("SELECT {COLUMNS} FROM entries ORDER BY seq");
    let entries: Vec<Entry> = connection
        .prepare(&read)
        .unwrap()
        .query_map([], entry_of)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    drop(connection);
    let (mut statements, mut prev) = (String::new(), crate::domain::audit::GENESIS.to_owned());
    for (seq, entry) in (1_i64..).zip(entries) {
        let anew = Entry { seq, prev: prev.clone(), ..entry.clone() };
        let hash = anew.expected_hash();
        statements.push_str(&format!(
            "UPDATE entries SET seq = {seq}, prev = '{prev}', hash = '{hash}' WHERE seq = {0};
             UPDATE attachments SET seq = {seq} WHERE seq = {0};",
            entry.seq
        ));
        prev = hash;
    }
    statements.push_str("UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(seq), 0) FROM entries)");
    tamper(path, &statements);
}

/// The number after the last checkpoint before an entry: the first that can be bad.
fn after_checkpoint(seq: i64) -> i64 {
    (seq - 1) / RUN_ENTRIES * RUN_ENTRIES + 1
}

#[tokio::test]
async fn a_signed_audit_is_whole_to_its_last_byte() {
    let audit = signed_audit().await;
    let verified = audit.verify().unwrap();
    assert_eq!((verified.flaws, verified.entries), (Vec::new(), ENTRIES));
    assert_eq!((verified.signatures.count, verified.signatures.bytes), (4, Bytes::AsSealed));
    assert_eq!(verified.signatures.last.map(|last| last.entries), Some(ENTRIES));
    assert_eq!(std::fs::read(&audit.path).unwrap(), audit.sealed);
}

/// A byte changed at 2,000 seeded places all over the file, used or not: 500 a seed.
#[rstest::rstest]
#[case::head_first(1)]
#[case::second(2)]
#[case::third(3)]
#[case::fourth(4)]
#[tokio::test]
async fn every_changed_byte_is_found(#[case] seed: u64) {
    const CHANGES: usize = 500;
    let audit = signed_audit().await;
    let mut random = seed;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap()
    };
    let (mut in_entries, mut in_the_file, mut refused) = (0, 0, 0);
    for change in 0..CHANGES {
        // The head of the file first of all, byte by byte.
        let at = if seed == 1 && change < 100 { change } else { next() % audit.sealed.len() };
        let mut bytes = audit.sealed.clone();
        bytes[at] ^= u8::try_from(next() % 255 + 1).unwrap();
        std::fs::write(&audit.path, bytes).unwrap();
        match audit.verify() {
            Ok(verified) => {
                assert!(!verified.is_whole(), "byte {at} of {} was changed unseen", audit.sealed.len());
                if verified.first_bad().is_some() { in_entries += 1 } else { in_the_file += 1 }
            }
            Err(fault) => {
                assert!(fault.what.contains("audit.db: ") && !fault.do_next.is_empty(), "{fault:?}");
                refused += 1;
            }
        }
    }
    assert_eq!(in_entries + in_the_file + refused, CHANGES);
    assert!(
        in_entries > CHANGES / 10,
        "{in_entries} in entries, {in_the_file} around them, {refused} refused"
    );
    audit.restore();
    assert!(audit.verify().unwrap().is_whole());
}

#[tokio::test]
async fn every_cut_of_the_file_is_found() {
    let audit = signed_audit().await;
    for bytes in (0..audit.sealed.len()).step_by(509) {
        std::fs::write(&audit.path, &audit.sealed[..bytes]).unwrap();
        assert!(!audit.verify().is_ok_and(|verified| verified.is_whole()), "cut to {bytes} bytes");
    }
    std::fs::write(&audit.path, [audit.sealed.as_slice(), &[0]].concat()).unwrap();
    let told = audit.verify().unwrap().flaws[0].to_string();
    assert!(told.starts_with("the audit: no entry is changed, but its bytes are not those"), "{told}");
}

#[tokio::test]
async fn every_removal_is_found_where_it_was_made() {
    let audit = signed_audit().await;
    for seq in 1..=ENTRIES {
        let removed =
            format!("DELETE FROM entries WHERE seq = {seq}; DELETE FROM attachments WHERE seq = {seq}");
        assert_eq!(audit.told_after(&removed).first_bad(), Some(seq));
        // The file keeps no trace now: only what was signed does.
        let anew = audit.told_after_anew(&removed);
        if seq <= ENTRIES - RUN_ENTRIES {
            assert_eq!(anew.first_bad(), Some(after_checkpoint(seq)), "{:?}", anew.flaws);
        } else {
            // One is missing, and nothing says which of those that the last checkpoint covered.
            assert_eq!(anew.first_bad(), Some(ENTRIES));
            assert!(anew.flaws[0].to_string().ends_with("; for entries 46 to 59 no checkpoint vouches"));
        }
    }
}

#[tokio::test]
async fn every_swap_of_neighbours_is_found_at_the_first_of_them() {
    let audit = signed_audit().await;
    for seq in 1..ENTRIES {
        let swapped: String = ["entries", "attachments"]
            .map(|table| {
                format!(
                    "UPDATE {table} SET seq = 999 WHERE seq = {seq};
                     UPDATE {table} SET seq = {seq} WHERE seq = {0};
                     UPDATE {table} SET seq = {0} WHERE seq = 999;",
                    seq + 1
                )
            })
            .concat();
        assert_eq!(audit.told_after(&swapped).first_bad(), Some(seq));
        let anew = audit.told_after_anew(&swapped);
        assert_eq!(anew.first_bad(), Some(after_checkpoint(seq)), "{:?}", anew.flaws);
    }
}

#[tokio::test]
async fn every_cut_off_tail_is_found_where_it_begins() {
    let audit = signed_audit().await;
    for left in 0..ENTRIES {
        let cut =
            format!("DELETE FROM entries WHERE seq > {left}; DELETE FROM attachments WHERE seq > {left}");
        assert_eq!(audit.told_after(&cut).first_bad(), Some(left + 1));
        let forgotten = format!("{cut}; UPDATE sqlite_sequence SET seq = {left}");
        let verified = audit.told_after(&forgotten);
        let mut told = format!(
            "entry {}: is missing: a checkpoint of 2027-01-15T08:00:03Z says that there were 60 entries",
            left + 1
        );
        let sound = left / RUN_ENTRIES * RUN_ENTRIES;
        if sound < left {
            told.push_str(&format!("; for entries {} to {left} no checkpoint vouches", sound + 1));
        }
        assert_eq!(verified.flaws.iter().map(ToString::to_string).collect::<Vec<_>>(), [told]);
    }
}

#[tokio::test]
async fn every_chain_written_anew_is_found_within_its_checkpoint() {
    let audit = signed_audit().await;
    for seq in 1..=ENTRIES {
        let verified =
            audit.told_after_anew(&format!("UPDATE entries SET operator = 'eve' WHERE seq = {seq}"));
        let first = after_checkpoint(seq);
        assert_eq!(verified.first_bad(), Some(first), "{:?}", verified.flaws);
        let told = verified.flaws[0].to_string();
        let range = format!("covers entries {first} to {}", first + RUN_ENTRIES - 1);
        let of_another = "is of an audit that begins with another entry";
        assert!(told.ends_with(if seq == 1 { of_another } else { &range }), "{told}");
    }
}

/// Whoever has the file and its checkpoints, but not the key, cannot make them fit again.
#[tokio::test]
async fn checkpoints_cannot_be_forged_shortened_or_moved() {
    let audit = signed_audit().await;
    let own = audit.against.own.clone().unwrap();
    let whole = std::fs::read_to_string(&own).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let cut = lines[3].len() / 2;
    let gone = "the one of 2027-01-15T08:00:03Z for 60 entries, remembered in";
    let out_of_order = "line 2 does not follow the one before it: lines were removed, added or moved";
    for (changed, told) in [
        (String::new(), "it is empty, and it never is once something was signed"),
        (lines[..3].concat(), gone),
        ([lines[0], lines[2], lines[1], lines[3]].concat(), out_of_order),
        ([lines[0], lines[2], lines[3]].concat(), out_of_order),
        (lines[1..].concat(), "line 1 does not follow the one before it"),
        (format!("{whole}{}", lines[3..].concat()), "line 5 does not follow the one before it"),
        (whole[..whole.len() - cut].to_owned(), "line 4 is cut off"),
        (
            whole.replace("\"entries\":60", "\"entries\":45"),
            "line 4 is forged: its signature does not fit what it says",
        ),
        // Another key's name on what this one signed is no other key's checkpoint.
        (
            whole.replace("\"key\":\"sha256:", "\"key\":\"sha256:0"),
            "line 1 is forged: its signature does not fit what it says",
        ),
        (whole.replace("\"version\":1", "\"version\": 1"), "line 1 is not a checkpoint"),
        (format!("{whole}x\n"), "line 5 is not a checkpoint"),
    ] {
        std::fs::write(&own, &changed).unwrap();
        let verified = audit.verify().unwrap();
        let flaws: Vec<String> = verified.flaws.iter().map(ToString::to_string).collect();
        assert!(
            flaws.iter().any(|flaw| flaw.starts_with("checkpoints: ") && flaw.contains(told)),
            "{told}: {flaws:?}"
        );
        assert_eq!(verified.first_bad(), None, "the entries are whole: {flaws:?}");
    }
    std::fs::remove_file(&own).unwrap();
    let told = audit.verify().unwrap().flaws[0].to_string();
    assert!(told.contains(gone), "{told}");
    std::fs::write(&own, &whole).unwrap();
    assert!(audit.verify().unwrap().is_whole());
}

/// An audit of another place with checkpoints of its own, all by the same key, put in the place of this one.
#[tokio::test]
async fn another_audit_in_this_place_is_found() {
    let (ours, theirs) = (signed_audit().await, signed_audit().await);
    tamper(&theirs.path, "UPDATE entries SET key = 'x' WHERE seq = 1");
    write_anew(&theirs.path);
    std::fs::copy(&theirs.path, &ours.path).unwrap();
    let verified = ours.verify().unwrap();
    assert_eq!(verified.first_bad(), Some(1));
    assert!(verified.flaws[0].to_string().contains("is of an audit that begins with another entry"));
}

/// What was kept elsewhere counts even where everything on this machine was made to fit, the remembered line too.
#[tokio::test]
async fn a_copy_that_was_kept_elsewhere_shows_what_this_machine_forgot() {
    let audit = signed_audit().await;
    let own = audit.against.own.clone().unwrap();
    let whole = std::fs::read_to_string(&own).unwrap();
    let copy = own.with_extension("copy");
    std::fs::write(&copy, whole.split_inclusive('\n').next_back().unwrap()).unwrap();
    tamper(
        &audit.path,
        "DELETE FROM entries WHERE seq > 45; DELETE FROM attachments WHERE seq > 45;
                         UPDATE sqlite_sequence SET seq = 45",
    );
    std::fs::write(&own, whole.split_inclusive('\n').take(3).collect::<String>()).unwrap();
    let fooled = Against { witness: None, ..audit.against.clone() };
    // Every byte of the third seal's file would have to be restored too; without that seal nothing shows.
    let without_bytes = verify(&audit.path, &fooled).unwrap();
    assert_eq!(without_bytes.first_bad(), None);
    let with_copy = Against { copies: vec![copy], ..fooled };
    assert_eq!(verify(&audit.path, &with_copy).unwrap().first_bad(), Some(46));
}

/// Entries that nobody signed, for instance because the program was killed: told, and no alarm.
#[tokio::test]
async fn entries_after_the_last_checkpoint_are_counted() {
    let audit = signed_audit().await;
    let record = SqliteRecord::open(&audit.path).unwrap();
    record.append(vec![entry(Event::Checked, None, "a"), entry(Event::Checked, None, "b")]).await.unwrap();
    let verified = audit.verify().unwrap();
    assert!(verified.is_whole(), "{:?}", verified.flaws);
    assert_eq!(verified.entries - verified.signatures.last.unwrap().entries, 2);
    assert_eq!(verified.signatures.bytes, Bytes::Unsealed);
}

#[tokio::test]
async fn without_the_key_checkpoints_are_not_believed() {
    let audit = signed_audit().await;
    let keyless = Against { keys: Vec::new(), ..audit.against.clone() };
    let fault = verify(&audit.path, &keyless).unwrap_err();
    assert!(fault.what.ends_with("its checkpoints cannot be checked, because there is no key"), "{fault:?}");
    std::fs::remove_file(audit.against.own.as_ref().unwrap()).unwrap();
    let key_alone = Against { witness: None, must_be_signed: true, ..audit.against.clone() };
    let told = verify(&audit.path, &key_alone).unwrap().flaws[0].to_string();
    assert_eq!(told, "checkpoints: there is none, so nothing shows whether the end is missing");
    let missing = Against { copies: vec![audit.path.with_extension("none")], ..audit.against };
    assert!(verify(&audit.path, &missing).unwrap_err().what.contains("audit.none cannot be read"));
}
