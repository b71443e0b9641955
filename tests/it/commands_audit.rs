//! The record, through the real program: listed, exported, and found out when anything in it changed.

use crate::incident::Incident;
use crate::world::two_lines;
use pretty_assertions::assert_eq;
use rstest::rstest;
use rusqlite::Connection;

/// An incident with six entries on record.
fn decided() -> Incident {
    let incident = Incident::new();
    incident.run("check --all --json");
    incident.run("decide inv-1 --source jobs --done --reason charged");
    incident.run("decide inv-2 --source jobs --retry --reason nothing_there");
    assert_eq!(incident.events().len(), 6);
    incident
}

/// What somebody does to the file who can write it, triggers or not.
fn tamper(incident: &Incident, sql: &str) {
    let connection = Connection::open(incident.world.path("audit.db")).unwrap();
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
    connection.execute_batch(sql).unwrap();
    for (_, again) in &triggers {
        connection.execute_batch(again).unwrap();
    }
}

#[test]
fn a_whole_audit_is_verified_with_its_head() {
    let incident = decided();
    let ran = incident.run("audit verify");
    let head = incident.run("audit list --json --limit 1").each("hash").remove(0);
    let told = format!("audit.db: 6 entries, the chain is whole (head {head})\n");
    assert_eq!((ran.code, ran.out, ran.err.as_str()), (Some(0), told, ""));
}

#[rstest]
#[case::bit(
    "UPDATE entries SET body = replace(body, 'charged', 'chargee') WHERE event = 'intended' AND key = 'inv-1'",
    "entry 3: "
)]
#[case::operator("UPDATE entries SET operator = 'eve' WHERE seq = 2", "entry 2: ")]
#[case::time("UPDATE entries SET at = replace(at, 'Z', 'z') WHERE seq = 5", "entry 5: ")]
#[case::removed("DELETE FROM entries WHERE seq = 4", "entry 4: ")]
#[case::removed_first("DELETE FROM entries WHERE seq = 1", "entry 1: ")]
#[case::removed_last("DELETE FROM entries WHERE seq = 6", "entry 6: ")]
#[case::swapped(
    "UPDATE entries SET seq = 99 WHERE seq = 3; UPDATE entries SET seq = 3 WHERE seq = 4; UPDATE entries SET seq = 4 WHERE seq = 99",
    "entry 3: "
)]
#[case::relinked(
    "DELETE FROM entries WHERE seq = 3;
     UPDATE entries SET prev = (SELECT hash FROM entries WHERE seq = 2) WHERE seq = 4",
    "entry 3: "
)]
#[case::attachment("UPDATE attachments SET text = text || ' '", "entry 1: ")]
#[case::trigger("CREATE TRIGGER extra AFTER INSERT ON entries BEGIN SELECT 1; END", "the file: ")]
fn any_change_is_found_and_named(#[case] sql: &str, #[case] names: &str) {
    let incident = decided();
    tamper(&incident, sql);
    let ran = incident.run("audit verify");
    let told = two_lines(
        "audit.db: the audit is not what was written",
        "Keep this file as it is, and compare it with a copy or an export.",
    );
    assert_eq!((ran.code, ran.err), (Some(1), told));
    assert!(ran.out.starts_with(&format!("audit.db: {names}")), "{}", ran.out);
}

#[test]
fn the_file_itself_refuses_changes() {
    let incident = decided();
    let connection = Connection::open(incident.world.path("audit.db")).unwrap();
    for sql in ["UPDATE entries SET operator = 'eve'", "DELETE FROM entries", "DELETE FROM attachments"] {
        assert!(connection.execute_batch(sql).is_err(), "{sql}");
    }
}

#[rstest]
#[case::json("json")]
#[case::csv("csv")]
fn an_export_holds_every_entry_and_no_secret(#[case] format: &str) {
    let incident = decided();
    let ran = incident.run(&format!("audit export --format {format}"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let head = usize::from(format == "csv");
    assert_eq!(ran.out.lines().count(), 6 + head);
    assert!(!ran.out.contains("sk_test_7"), "the provider's secret is in the export");
    if format == "json" {
        assert_eq!(ran.each("key"), ["inv-1", "inv-2", "inv-1", "inv-1", "inv-2", "inv-2"]);
    }
}

#[test]
fn an_audit_that_is_not_there_is_no_empty_one() {
    let incident = Incident::new();
    for action in ["list", "verify", "export"] {
        let ran = incident.run(&format!("audit {action}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{action}");
        assert!(ran.err.starts_with("unstuck: audit FOLDER/audit.db: "), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 2);
        assert!(!incident.world.path("audit.db").exists());
    }
}

#[test]
fn without_an_audit_nothing_is_decided() {
    let incident = Incident::new();
    let before = incident.jobs();
    incident.world.write("audit.db", "this is no database, and must be left as it is".repeat(50));
    let ran = incident.run("decide inv-1 --source jobs --done --reason charged");
    assert_eq!(ran.code, Some(1));
    let what = "unstuck: nothing was changed, because the audit cannot be written: audit FOLDER/audit.db: ";
    assert!(ran.err.starts_with(what), "{}", ran.err);
    assert_eq!((ran.err.lines().count(), incident.jobs()), (2, before));
}
