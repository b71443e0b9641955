//! Decisions through the real program: what may be written, what must not, and what is on record afterwards.

use crate::incident::Incident;
use crate::world::two_lines;
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::Value;

#[test]
fn what_happened_is_marked_done_and_what_did_not_is_released() {
    let incident = Incident::new();
    let done = incident.run("decide inv-1 --source jobs --done --reason charged,_see_ch_1");
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(done.out, "inv-1: mark done applied (audit entry 2)\n");
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("done"));
    let retry = incident.run("decide inv-2 --source jobs --retry --reason nothing_there --json");
    assert_eq!((retry.code, retry.each("outcome")), (Some(0), vec!["applied".to_owned()]));
    assert_eq!(incident.status_of("inv-2"), None);
    let events = ["intended inv-1", "applied inv-1", "intended inv-2", "applied inv-2"];
    assert_eq!(incident.events(), events);
    let entries = incident.run("audit list --json --key inv-2").json();
    assert!(entries[0]["body"].to_string().contains("Read timed out"), "the released row's content is kept");
    assert_eq!(
        (&entries[1]["operator"], &entries[1]["body"]["reason"]),
        (&"ana".into(), &"nothing there".into())
    );
}

#[test]
fn a_finished_item_needs_no_decision_and_the_refusal_is_on_record() {
    let incident = Incident::new();
    let before = incident.jobs();
    let ran = incident.run("decide inv-3 --source jobs --retry --reason again");
    let what = "inv-3: retry refused: the item is `done` (done) and needs no decision";
    assert_eq!(
        (ran.code, ran.err),
        (Some(1), two_lines(what, "Look at it as it is now, then decide again."))
    );
    assert_eq!((incident.jobs(), incident.events()), (before, vec!["refused inv-3".to_owned()]));
}

#[rstest]
#[case::done(
    "inv-2 --done",
    "marked done, an effect that is not there would be lost.",
    "Insist with `--override` and a reason (it goes on record), or escalate."
)]
#[case::retry(
    "inv-1 --retry",
    "a retry could repeat an effect, and this kind is financial.",
    "Insist with `--override` and a reason: a second person must approve it then. Or escalate."
)]
fn against_the_advice_nothing_is_written(#[case] choice: &str, #[case] why: &str, #[case] do_next: &str) {
    let incident = Incident::new();
    let before = incident.jobs();
    let ran = incident.run(&format!("decide {choice} --source jobs --reason I_think_so"));
    assert_eq!(ran.code, Some(1));
    let lines: Vec<&str> = ran.err.lines().collect();
    assert!(lines[0].ends_with(why), "{}", ran.err);
    assert_eq!((lines[1].trim_start(), lines.len()), (do_next, 2));
    assert_eq!(incident.jobs(), before);
}

#[test]
fn whoever_insists_is_on_record() {
    let incident = Incident::new();
    let ran = incident.run("decide inv-2 --source jobs --done --override --reason paid_in_cash");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(incident.status_of("inv-2").as_deref(), Some("done"));
    let intent = &incident.run("audit list --json").json()[1];
    assert_eq!((&intent["event"], &intent["body"]["insisted"]), (&"intended".into(), &Value::Bool(true)));
    // A retry of money is never a matter of insisting alone.
    let retry = incident.run("decide inv-1 --source jobs --retry --override --reason again --json");
    assert_eq!((retry.each("outcome"), retry.code), (vec!["proposed".to_owned()], Some(0)));
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("failed"));
}

#[rstest]
#[case::empty("")]
#[case::blank("   ")]
#[case::dots("...")]
fn a_reason_must_say_something(#[case] reason: &str) {
    let incident = Incident::new();
    let ran =
        incident.world.run_all(&["--config", "config.toml", "decide", "inv-1", "--done", "--reason", reason]);
    let told = two_lines("the reason says nothing", "Say why, in words: it goes on record.");
    assert_eq!((ran.code, ran.err), (Some(2), told));
    assert!(!incident.world.path("audit.db").exists(), "not even an audit was begun");
}

#[test]
fn read_only_refuses_before_anything_is_touched() {
    let incident = Incident::new();
    incident.run("check --all --json");
    let files = || ["jobs.db", "audit.db"].map(|name| std::fs::read(incident.world.path(name)).unwrap());
    let before = files();
    for arguments in
        ["inv-1 --source jobs --done", "--all --where kind:invoice --done", "inv-2 --retry --override"]
    {
        let ran = incident.run(&format!("--read-only decide {arguments} --reason because"));
        let told = two_lines(
            "decisions are refused: the console is read-only",
            "Start it without `--read-only` to decide.",
        );
        assert_eq!((ran.code, ran.out.as_str(), ran.err), (Some(1), "", told));
    }
    assert!(files() == before, "a file changed");
}

#[test]
fn a_dry_run_shows_the_statements_and_writes_none() {
    let incident = Incident::new();
    let before = std::fs::read(&incident.database).unwrap();
    let ran = incident.run("decide inv-1 --source jobs --done --dry-run --reason because");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for line in [
        "Dry run: nothing was written.",
        "verdict    happened",
        "permitted  yes",
        "UPDATE \"jobs\" SET status = 'done', updated_at = :now, last_error = NULL WHERE (\"key\" IS :seen_key",
        ":seen_key = inv-1",
        "late       A worker that still lives would overwrite this later.",
    ] {
        assert!(ran.out.contains(line), "{line} is not in\n{}", ran.out);
    }
    let json = incident.run("decide inv-1 --source jobs --retry --dry-run --reason because --json");
    assert_eq!(
        (json.code, json.each("permitted")),
        (Some(1), vec!["only with --override and a second person's approval".to_owned()])
    );
    assert!(std::fs::read(&incident.database).unwrap() == before, "the database changed");
    assert_eq!(incident.events(), ["dry_run inv-1", "dry_run inv-1"]);
}

#[test]
fn a_key_in_several_sources_must_be_told_apart() {
    let incident = Incident::new();
    rusqlite::Connection::open(&incident.database)
        .unwrap()
        .execute_batch("INSERT INTO processed_items SELECT key, status, 1, updated_at, last_error FROM jobs")
        .unwrap();
    let ran = incident.run("decide inv-1 --done --reason because");
    let what = "several sources have an item `inv-1`: jobs, processed items"
        .replace("processed items", "processed_items");
    assert_eq!((ran.code, ran.err), (Some(2), two_lines(&what, "Name one with --source.")));
}

#[rstest]
#[case::list("list --source nowhere")]
#[case::check("check --all --source nowhere")]
#[case::decide("decide inv-1 --source nowhere --done --reason because")]
fn a_source_that_is_not_configured(#[case] arguments: &str) {
    let ran = Incident::new().run(arguments);
    let told = two_lines("there is no source `nowhere`", "There are jobs, processed_items, sent_emails.");
    assert_eq!((ran.code, ran.err), (Some(2), told));
}

#[rstest]
#[case::check("check inv-9")]
#[case::decide("decide inv-9 --done --reason because")]
fn a_key_that_no_source_has(#[case] arguments: &str) {
    let ran = Incident::new().run(arguments);
    let told = two_lines("no source has an item `inv-9`", "`unstuck list` shows the keys of the findings.");
    assert_eq!((ran.code, ran.err), (Some(1), told));
}

#[test]
fn many_are_settled_by_filter_and_advice_alone() {
    let incident = Incident::new();
    let ran = incident.run("decide --all --where kind:invoice --done --reason seen_at_the_provider");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told = "mark done: 1 applied, 0 refused, 0 failed, 1 left out (their advice is another)\n";
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("inv-1: mark done applied (audit entry 4)\n", told));
    let states = ["inv-1", "inv-2", "inv-3"].map(|key| incident.status_of(key).unwrap());
    assert_eq!(states, ["done", "failed", "done"]);
}

/// What a policy names is hidden in every spelling, also as the value a decision compares with.
#[rstest]
#[case::text("")]
#[case::json(" --json")]
fn a_dry_run_hides_what_a_policy_names(#[case] spelling: &str) {
    let incident = Incident::new();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    let named = config.replacen("risk = \"financial\"", "risk = \"financial\"\nmask = [\"last_error\"]", 1);
    incident.world.write("config.toml", named);
    let ran =
        incident.run(&format!("decide inv-1 --source jobs --done --reason because --dry-run{spelling}"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains(":seen_last_error") && !ran.out.contains("Read timed out"), "{}", ran.out);
    let entry = incident.run("audit list --key inv-1 --json").json().remove(0);
    assert!(!entry["body"]["statements"].to_string().contains("Read timed out"), "{entry}");
    assert!(entry["body"]["row"]["last_error"] == "••••", "{entry}");
}

/// A decision that has no outcome is settled, and told, before another is begun.
#[test]
fn what_broke_off_is_settled_before_the_next_decision() {
    let incident = Incident::new();
    incident.run("decide inv-2 --source jobs --retry --reason nothing_there");
    // As if the program had ended before the outcome was recorded: the last entry is taken off, its number forgotten.
    rusqlite::Connection::open(incident.world.path("audit.db"))
        .unwrap()
        .execute_batch(
            "DROP TRIGGER entries_remain; DELETE FROM entries WHERE seq = 2;
             CREATE TRIGGER entries_remain BEFORE DELETE ON entries
                 BEGIN SELECT RAISE(ABORT, 'the audit only grows: entries are never removed'); END;
             UPDATE sqlite_sequence SET seq = 1 WHERE name = 'entries';",
        )
        .unwrap();
    let ran = incident.run("decide inv-1 --source jobs --done --reason seen");
    assert!(
        ran.err.contains("Broken off earlier: retry inv-2 (audit entry 1): it was carried out"),
        "{}",
        ran.err
    );
    assert_eq!(incident.events()[..2], ["intended inv-2", "applied inv-2"]);
}
