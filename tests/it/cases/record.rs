//! What is on record of who did what, and what is shown of it later.

use crate::incident::Incident;
use crate::world::{TABLES, World};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// Every act of a person is an entry with who, from where, when, on what, what it was before and after, and why.
#[test]
fn case_21_every_act_is_an_entry_with_who_where_when_what_and_why() {
    let incident = Incident::new();
    let runs = [
        "decide inv-1 --source jobs --retry --reason try_it --dry-run",
        "decide inv-1 --source jobs --retry --reason try_it",
        "decide inv-1 --source jobs --escalate --reason look_at_it",
        "decide inv-1 --source jobs --done --reason charged",
        "decide inv-2 --source jobs --retry --reason nothing_there",
    ];
    for run in runs {
        incident.run(&format!("--operator op-a {run}"));
    }
    let entries = incident.run("audit list --json").json();
    let told: Vec<(&str, &str)> = entries
        .iter()
        .rev()
        .map(|entry| (entry["event"].as_str().unwrap(), entry["body"]["choice"].as_str().unwrap_or("-")))
        .collect();
    assert_eq!(
        told,
        [
            ("dry_run", "retry"),
            ("refused", "retry"),
            ("intended", "escalate"),
            ("applied", "escalate"),
            ("intended", "mark_done"),
            ("applied", "mark_done"),
            ("intended", "retry"),
            ("applied", "retry"),
        ]
    );
    for entry in &entries {
        assert_eq!(entry["operator"], "op-a");
        assert!(entry["origin"].as_str().unwrap().contains('@'), "{entry}");
        assert!(entry["at"].as_str().unwrap().ends_with('Z'), "{entry}");
        assert!(entry["key"].as_str().unwrap().starts_with("inv-"), "{entry}");
        if entry["event"] == "intended" || entry["event"] == "refused" {
            assert!(entry["body"]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{entry}");
        }
    }
    let done =
        entries.iter().find(|entry| entry["event"] == "applied" && entry["body"]["choice"] == "mark_done");
    let body = &done.unwrap()["body"];
    assert_eq!(
        (&body["row_before"]["status"], &body["row_after"]["status"]),
        (&json!("failed"), &json!("done"))
    );
}

/// The newest attempt is one that a person began a minute ago; the row that shows the one before it is not retried once more.
#[test]
fn case_60_a_retry_of_an_attempt_that_was_retried_already_is_refused_and_says_by_whom() {
    let incident = Incident::new();
    let row = incident.jobs();
    let first = incident.run("--operator op-a decide inv-2 --source jobs --retry --reason nothing_there");
    assert_eq!((first.code, incident.status_of("inv-2")), (Some(0), None), "{}", first.err);
    // A late worker writes down how the older attempt ended.
    let again = "INSERT INTO jobs SELECT 'inv-2', 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'Read timed out'";
    rusqlite::Connection::open(&incident.database).unwrap().execute_batch(again).unwrap();
    let shown = incident.run("decide inv-2 --source jobs --retry --reason again --dry-run");
    assert_eq!(shown.code, Some(1), "{}", shown.err);
    assert!(shown.out.contains("permitted  only with --override") && shown.out.contains("op-a retried it "));
    let second = incident.run("--operator op-b decide inv-2 --source jobs --retry --reason again");
    assert_eq!(second.code, Some(1), "{}", second.out);
    assert!(second.err.contains("inv-2: retry refused: op-a retried it "), "{}", second.err);
    assert!(second.err.contains("audit entry 2"), "{}", second.err);
    assert_eq!((incident.jobs().len(), incident.status_of("inv-2").as_deref()), (row.len(), Some("failed")));
    // An attempt of its own that failed afterwards is retried like any other.
    rusqlite::Connection::open(&incident.database)
        .unwrap()
        .execute_batch("UPDATE jobs SET updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now', '+2 seconds') WHERE key = 'inv-2'")
        .unwrap();
    let own = incident.run("decide inv-2 --source jobs --retry --reason again");
    assert!(!own.err.contains("retried it"), "{}", own.err);
    // One person alone does not insist on another retry of what is financial.
    rusqlite::Connection::open(&incident.database)
        .unwrap()
        .execute_batch("UPDATE jobs SET updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours') WHERE key = 'inv-2'")
        .unwrap();
    let insisted = "--operator op-b decide inv-2 --source jobs --retry --override --reason again";
    let proposed = incident.run(insisted);
    assert!(proposed.out.contains("proposed"), "{}{}", proposed.out, proposed.err);
    assert_eq!(incident.status_of("inv-2").as_deref(), Some("failed"));
}

/// The queue forgets what a retry overwrites; the record does not.
#[test]
fn case_22_the_error_of_an_attempt_is_told_after_a_retry_has_removed_its_row() {
    let incident = Incident::new();
    incident.run("check inv-2");
    let ran = incident.run("decide inv-2 --source jobs --retry --reason nothing_there");
    assert_eq!((ran.code, incident.status_of("inv-2")), (Some(0), None));
    let entries = incident.run("audit list --key inv-2 --json").json();
    let applied = entries.iter().find(|entry| entry["event"] == "applied").unwrap();
    assert_eq!(applied["body"]["row_before"]["last_error"], "Read timed out");
    assert!(applied["body"]["row_before"]["updated_at"].as_str().is_some_and(|at| at.starts_with("20")));
    let checked = entries.iter().find(|entry| entry["event"] == "checked").unwrap();
    assert_eq!(checked["body"]["last_error"], "Read timed out");
}

/// The state is looked at in the write itself: what finished meanwhile is left alone, and nobody is told otherwise.
#[test]
fn case_57_what_finished_meanwhile_is_not_touched_nor_recorded_as_retried() {
    let incident = Incident::new();
    let connection = rusqlite::Connection::open(&incident.database).unwrap();
    connection.execute("UPDATE jobs SET status = 'done' WHERE key = 'inv-2'", []).unwrap();
    let ran = incident.run("decide inv-2 --source jobs --retry --override --reason again");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(format!("{}{}", ran.out, ran.err).contains("the item is `done` (done)"), "{ran:?}");
    assert_eq!(incident.status_of("inv-2").as_deref(), Some("done"));
    assert_eq!(incident.events(), ["refused inv-2"]);
}

/// One payload that cannot be read hides no other row, and is told as what it is.
#[test]
fn case_70_a_row_that_cannot_be_read_is_listed_between_the_others() {
    let world = World::new();
    world.database(
        "jobs.db",
        &format!(
            "{TABLES} ALTER TABLE jobs ADD COLUMN args;
             INSERT INTO jobs VALUES ('a', 'running', '2026-01-01 00:00:00', NULL, '{{}}'),
                 ('b', 'running', '2026-01-01 00:00:01', CAST(x'E9' AS TEXT), '{{not json'),
                 ('c', 'running', '2026-01-01 00:00:02', '', '{{}}');"
        ),
    );
    let own = include_str!("../../../assets/presets/jobs.toml")
        .replace("error = \"last_error\"", "error = \"last_error\"\npayload = \"args\"");
    std::fs::create_dir(world.path("presets")).unwrap();
    world.write("presets/jobs.toml", own);
    world.write(
        "config.toml",
        "[[sources]]\nname = \"jobs\"\nurl = \"sqlite://jobs.db\"\npreset = \"jobs\"\nkind = \"j\"\n\
         [kinds.j]\nrisk = \"safe\"\nreference = \"{{ payload.id }}\"\n",
    );
    let ran = world.run("list --json --config config.toml");
    assert_eq!((ran.code, ran.each("key")), (Some(0), vec!["a".into(), "b".into(), "c".into()]));
    let lines = ran.json();
    assert_eq!(lines[1]["reference"], Value::Null);
    // A text of one bad byte, an empty one and none are three things.
    let errors: Vec<&Value> = lines.iter().map(|line| &line["last_error"]).collect();
    assert_eq!(errors, [&Value::Null, &json!("\\xE9"), &json!("")]);
}
