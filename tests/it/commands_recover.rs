//! Decisions that broke off, through the real program, where the source keeps a table of ours: what it says is certain,
//! whatever became of the row since.

use crate::incident::Incident;
use pretty_assertions::assert_eq;
use rstest::rstest;
use rusqlite::Connection;

/// An incident whose source writes decisions down, with one decision whose outcome never reached the record.
fn broken_off(choice: &str) -> Incident {
    let incident = Incident::new();
    let config = incident.world.path("config.toml");
    let written = std::fs::read_to_string(&config).unwrap();
    let keeping = written.replacen(
        "preset = \"jobs\"",
        "preset = \"jobs\"\ndecisions_table = \"unstuck_decisions\"",
        1,
    );
    assert_ne!(written, keeping);
    std::fs::write(&config, keeping).unwrap();
    let unmade = incident.run("doctor").out;
    let create = unmade.split("Make it with `").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
    Connection::open(&incident.database).unwrap().execute_batch(create).unwrap();
    let ran = incident.run(&format!("decide {choice} --source jobs --reason seen"));
    assert_eq!((ran.code, incident.events().len()), (Some(0), 2), "{}", ran.err);
    // The crash: what came after the intent was never written.
    incident.world.tamper("DELETE FROM entries WHERE seq = 2; UPDATE sqlite_sequence SET seq = 1");
    incident.world.unsign();
    incident
}

/// How the broken-off decision ended, by the record.
fn ending(incident: &Incident) -> (String, String) {
    let entries = incident.run("audit list --json --limit 50").json();
    let entry = entries.iter().find(|entry| entry["body"]["recovered"] == true).expect("recovered");
    (
        entry["event"].as_str().unwrap().to_owned(),
        entry["body"]["why"].as_str().unwrap_or_default().to_owned(),
    )
}

#[rstest]
#[case::as_it_was_left("inv-1 --done", "SELECT 1")]
#[case::changed_since(
    "inv-1 --done",
    "UPDATE jobs SET status = 'running', last_error = 'by a worker' WHERE key = 'inv-1'"
)]
#[case::gone_since("inv-1 --done", "DELETE FROM jobs WHERE key = 'inv-1'")]
#[case::taken_anew(
    "inv-2 --retry",
    "INSERT INTO jobs VALUES ('inv-2', 'failed', '2026-11-30T08:00:00', 'again')"
)]
fn what_the_source_wrote_down_was_carried_out(#[case] choice: &str, #[case] since: &str) {
    let incident = broken_off(choice);
    Connection::open(&incident.database).unwrap().execute_batch(since).unwrap();
    let ran = incident.run("decide inv-3 --source jobs --retry --reason starts_the_program");
    assert!(ran.err.starts_with("Broken off earlier: "), "{ran:?}");
    assert_eq!(ending(&incident).0, "applied");
}

#[test]
fn what_the_source_did_not_write_down_was_not_carried_out() {
    let incident = broken_off("inv-1 --done");
    // As if the transaction had never been: and then a worker marked the job done by itself.
    Connection::open(&incident.database).unwrap().execute_batch("DELETE FROM unstuck_decisions").unwrap();
    incident.run("decide inv-3 --source jobs --retry --reason starts_the_program");
    let why = "broken off before it was carried out: the source has not written it down";
    assert_eq!(ending(&incident), ("refused".to_owned(), why.to_owned()));
}

/// The configuration, with the first source as it is called and where it is by now.
fn moved(incident: &Incident, name: &str, file: &str) {
    let path = incident.world.path("config.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    let config = config.replacen("name = \"jobs\"", &format!("name = \"{name}\""), 1);
    std::fs::write(&path, config.replacen("sqlite://jobs.db", &format!("sqlite://{file}"), 1)).unwrap();
}

#[test]
fn a_source_that_is_called_otherwise_by_now_still_tells() {
    let incident = broken_off("inv-1 --done");
    moved(&incident, "ledger", "jobs.db");
    let ran = incident.run("decide inv-3 --source ledger --retry --reason starts_the_program");
    assert!(ran.err.starts_with("Broken off earlier: "), "{ran:?}");
    assert_eq!(ending(&incident).0, "applied");
}

/// A row of the same key in another table says nothing of the one that was decided on.
#[test]
fn a_table_of_the_same_name_elsewhere_settles_nothing() {
    let incident = broken_off("inv-1 --done");
    std::fs::copy(&incident.database, incident.world.path("copy.db")).unwrap();
    moved(&incident, "jobs", "copy.db");
    let ran = incident.run("decide inv-3 --source jobs --retry --reason starts_the_program");
    assert!(ran.err.contains("its source `jobs` is another table here"), "{ran:?}");
    assert!(ran.err.contains("jobs.db/jobs"), "{ran:?}");
    assert!(!incident.events().iter().any(|event| event.starts_with("applied")), "{:?}", incident.events());
}
