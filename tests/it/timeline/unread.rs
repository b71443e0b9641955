//! A record that cannot be read, and one that takes no entry: both are told by every command that would lean on it.

use super::{Recorded, answers};
use pretty_assertions::assert_eq;
use serde_json::Value;

/// An incident whose check of one item was on record, and whose audit is no audit any more.
fn without_record() -> Recorded {
    let recorded = Recorded::new();
    recorded.shown("order:1001", "");
    recorded.world.write("audit.db", "this is no audit".repeat(100));
    recorded
}

#[test]
fn what_was_checked_is_not_called_unasked_where_the_record_cannot_be_read() {
    let recorded = without_record();
    let ran = recorded.world.run("--config config.toml show order:1001");
    assert_eq!(ran.code, Some(3), "{}", ran.out);
    assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
    assert!(ran.err.contains("audit.db: is not a SQLite database"), "{}", ran.err);
    assert!(ran.out.contains("record     COULD NOT BE READ: audit "), "{}", ran.out);
    assert!(!ran.out.contains("nobody asked"), "{}", ran.out);
    let ran = recorded.world.run("--config config.toml show order:1001 --json");
    let story = ran.json().remove(0);
    assert_eq!((ran.code, &story["record"]["read"]), (Some(3), &Value::from(false)));
    assert!(story["record"]["fault"].as_str().unwrap().contains("is not a SQLite database"), "{story}");
    assert_eq!(answers(&story), ["yes", "yes", "yes", "yes", "not_known", "not_known"]);
    for question in story["questions"].as_array().unwrap().iter().skip(4) {
        let told = question["told"].as_str().unwrap();
        assert!(told.starts_with("the record could not be read: "), "{told}");
    }
    // Whether the record knows it is not known: that is no "nothing".
    let ran = recorded.world.run("--config config.toml show order:7");
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    assert!(ran.err.starts_with("unstuck: the record could not be read: audit "), "{}", ran.err);
}

#[test]
fn a_list_says_that_proposals_may_wait_in_a_record_that_cannot_be_read() {
    let recorded = without_record();
    let ran = recorded.world.run("--config config.toml list");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let what = "whether proposals wait for a second person is not known: audit ";
    assert!(ran.err.contains(what), "{}", ran.err);
    std::fs::remove_file(recorded.world.path("audit.db")).unwrap();
    let ran = recorded.world.run("--config config.toml list");
    assert!(!ran.err.contains("proposals"), "where there is no audit yet, nothing waits in it: {}", ran.err);
}

/// Every verdict that the record did not take says so, in each spelling, and the fault is named once.
#[test]
fn a_verdict_that_the_record_did_not_take_says_so() {
    let recorded = without_record();
    let commands = [
        "check order:1001",
        "duplicates --since 36500d",
        "reconcile --since 36500d",
        "show order:1001 --check",
    ];
    for command in commands {
        let run = |more: &str| recorded.world.run(&format!("--config config.toml {command} {more}"));
        let text = run("");
        assert_eq!(text.code, Some(3), "{command}: {}", text.err);
        assert!(text.out.contains("NOT ON RECORD"), "{command}: {}", text.out);
        assert_eq!(text.err.matches("is not a SQLite database").count(), 1, "{command}: {}", text.err);
        let lines = run("--json").json();
        let line = lines.iter().find(|line| line.to_string().contains("order:1001")).unwrap();
        let part = if command.starts_with("show") { &line["check"] } else { line };
        assert_eq!(part["on_record"], false, "{command}: {line}");
        if !command.starts_with("show") {
            let csv = run("--csv").out;
            let (head, row) =
                (csv.lines().next().unwrap(), csv.lines().find(|row| row.contains("order:1001")));
            assert!(head.ends_with(",on_record") && row.unwrap().ends_with(",false"), "{command}: {csv}");
        }
    }
    std::fs::remove_file(recorded.world.path("audit.db")).unwrap();
    for command in commands {
        let ran = recorded.world.run(&format!("--config config.toml {command} --json"));
        let lines = ran.json();
        let line = lines.iter().find(|line| line.to_string().contains("order:1001")).unwrap();
        let part = if command.starts_with("show") { &line["check"] } else { line };
        assert_eq!(part["on_record"], true, "{command}: {line}");
    }
}
