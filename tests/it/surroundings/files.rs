//! Files that are moved, replaced, cut short, or not where they should be.

use super::*;
use rstest::rstest;

/// What becomes of the audit's file between an intent and its outcome; afterwards the file with the intent is brought back.
#[rstest]
#[case::moved("moved")]
#[case::replaced("replaced")]
#[case::cut_short("cut_short")]
fn an_audit_that_goes_away_between_intent_and_outcome_is_told(#[case] how: &str) {
    let incident = witnessed();
    let audit = incident.world.path("audit.db");
    let intended = Intended::begin(&incident);
    let kept = std::fs::read(&audit).unwrap();
    match how {
        "moved" => std::fs::rename(&audit, incident.world.path("moved.db")).unwrap(),
        "replaced" => {
            incident.world.write("other.db", &kept);
            std::fs::rename(incident.world.path("other.db"), &audit).unwrap();
        }
        "cut_short" => drop(std::fs::File::create(&audit).unwrap()),
        other => panic!("{other}"),
    }
    intended.let_go();
    let ran = intended.ended();
    assert_two_lines(&ran, 1, "unstuck: audit FOLDER/audit.db: ");
    // The file with the intent is put back, as whoever looks for it would do.
    std::fs::write(&audit, kept).unwrap();
    it_was_written_once_and_a_good_start_says_so(&incident);
}

/// What becomes of the source between an intent and its write.
#[rstest]
#[case::replaced("replaced")]
#[case::removed("removed")]
fn a_source_that_is_replaced_before_the_write_is_not_written(#[case] how: &str) {
    let incident = witnessed();
    let source = &incident.database;
    // A copy from before the lock, as a restored backup is one.
    let (backup, old) = (incident.world.path("backup.db"), incident.world.path("old.db"));
    Connection::open(source).unwrap().execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
    let intended = Intended::begin(&incident);
    std::fs::rename(source, &old).unwrap();
    if how == "replaced" {
        std::fs::rename(&backup, source).unwrap();
    }
    intended.let_go();
    let ran = intended.ended();
    assert_two_lines(&ran, 1, "inv-1: mark done failed: nothing was written: ");
    assert_eq!(changes_of(&old), [], "the file that was moved away was written");
    if how == "removed" {
        std::fs::rename(&backup, source).unwrap();
    }
    nothing_was_written_and_a_good_start_decides(&incident, &["failed", "applied"]);
}

/// The audit's folder is made where it is missing, and told where it cannot be.
#[rstest]
#[case::missing(false)]
#[case::a_file(true)]
fn the_audits_folder(#[case] is_a_file: bool) {
    let incident = witnessed();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    let moved = config.replace("path = \"audit.db\"", "path = \"state/deeper/audit.db\"");
    incident.world.write("config.toml", moved);
    if is_a_file {
        let state = incident.world.write("state", "somebody's notes");
        let ran = decide(&incident);
        assert_two_lines(&ran, 3, "nothing was changed, because the audit cannot be written");
        assert_eq!(
            (std::fs::read_to_string(&state).unwrap().as_str(), changes(&incident)),
            ("somebody's notes", vec![])
        );
        std::fs::remove_file(state).unwrap();
    }
    let ran = decide(&incident);
    assert_eq!((ran.code, ran.err.as_str(), changes(&incident).len()), (Some(0), "", 1));
    assert_eq!(incident.run("audit verify").code, Some(0));
    assert_eq!(entries_of(&incident.world.path("state/deeper/audit.db")).len(), 2);
}

/// A write of the program itself that a kill left half done: its next start lets SQLite roll it back, and decides nothing on
/// what it cannot see; a command that only looks says what to do and changes nothing.
#[test]
fn a_half_done_write_is_told_by_what_looks_and_taken_back_by_what_settles() {
    let incident = witnessed();
    Intended::begin(&incident).killed();
    // The write as it lies there after the kill: pages of it in the file, the old ones in the journal.
    let broken = incident.world.path("broken.db");
    let writer = Connection::open(&incident.database).unwrap();
    writer
        .execute_batch(
            "PRAGMA cache_size = 2; BEGIN; UPDATE jobs SET status = 'done';
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
             INSERT INTO jobs SELECT 'more-' || i, 'failed', 'x', NULL FROM n",
        )
        .unwrap();
    let journal = incident.world.path("jobs.db-journal");
    std::fs::copy(&incident.database, &broken).unwrap();
    std::fs::copy(&journal, incident.world.path("kept-journal")).unwrap();
    drop(writer);
    std::fs::rename(&broken, &incident.database).unwrap();
    std::fs::rename(incident.world.path("kept-journal"), &journal).unwrap();

    let bytes = || std::fs::read(&incident.database).unwrap();
    let before = bytes();
    for command in ["list --source jobs", "check inv-1 --json", "--read-only list --source jobs"] {
        let ran = incident.run(command);
        assert_eq!(ran.code, Some(3), "{command}: {ran:?}");
        assert!(
            ran.err.contains("has to be rolled back before anybody can read it"),
            "{command}: {}",
            ran.err
        );
        assert!(bytes() == before && journal.exists(), "{command} wrote to the source");
    }
    let ran = decide(&incident);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err.contains("broken off before it was carried out: the row is as it was seen"),
        "{}",
        ran.err
    );
    assert_eq!((changes(&incident).len(), incident.jobs().len()), (1, 3));
    assert_on_record(&incident, &["refused", "applied"]);
}
