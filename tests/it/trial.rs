//! A preset of one's own, tried on a database before anything is configured.

use crate::world::{TABLES, World};
use pretty_assertions::assert_eq;

const PRESET: &str = r#"
type = "source"
name = "payouts"
title = "payouts"
table = "jobs"
key = "key"
status = "status"
error = "last_error"
version = ["status", "updated_at"]
times = { updated = "updated_at" }
state = [
    { is = "running", when = { status = "running" } },
    { is = "failed", when = { status = "failed" } },
    { is = "done", when = { status = "finished" } },
]
[decisions]
late_writer = "unguarded"
done = { leaves = "done", statements = [{ rows = 1, sql = "UPDATE {table} SET status = 'finished' WHERE {unchanged}" }] }
retry = { unsupported = "only the nightly run makes them.", instead = "bin/nightly --only {key}" }
"#;

fn world() -> World {
    let world = World::new();
    let rows = "INSERT INTO jobs VALUES ('a','running','2026-05-04T10:00:00',NULL),('b','failed','2026-05-04T10:00:00','read timed out'),('c','odd','2026-05-04T10:00:00',NULL);";
    world.database("jobs.db", &format!("{TABLES}{rows}"));
    world.write("own.toml", PRESET);
    world
}

#[test]
fn it_says_what_the_preset_sees_and_what_each_decision_would_run() {
    let world = world();
    let ran = world.run_all(&["doctor", "--preset", "own.toml", "--db", "sqlite://jobs.db", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let lines = ran.json();
    let told = |what: &str| {
        let of = lines.iter().filter(|line| line["what"] == what);
        of.map(|line| format!("{}: {}", line["health"], line["finding"]).replace('"', "")).collect::<Vec<_>>()
    };
    assert_eq!(told("findings"), ["good: 1 stuck, 1 ambiguous"]);
    let examples = told("example");
    assert!(examples.len() == 2 && examples[1].ends_with("error `read timed out`"), "{examples:?}");
    assert!(
        told("statuses")[0].starts_with("doubtful: ") && told("statuses")[0].contains("NOT IN THE PRESET")
    );
    assert!(told("mark_done")[0].contains("UPDATE") && told("mark_done")[0].ends_with("(1 rows)"));
    let instead = "doubtful: unsupported: only the nightly run makes them. Instead: bin/nightly --only a";
    assert_eq!(told("retry"), [instead]);
    assert!(
        !world.path(".local").exists() && !world.path("audit.db").exists(),
        "a trial leaves nothing behind"
    );
}

#[test]
fn what_keeps_it_from_being_tried_is_told_in_two_lines() {
    let world = world();
    for (arguments, what) in [
        (&["doctor", "--preset", "own.toml"][..], "no database is named to try the preset on"),
        (&["doctor", "--preset", "none.toml", "--db", "jobs.db"][..], "none.toml: cannot be read"),
        (&["doctor", "--preset", "jobs.db", "--db", "jobs.db"][..], "jobs.db: cannot be read"),
        (&["doctor", "--preset", "own.toml", "--db", "nowhere.db"][..], "nowhere.db: does not exist"),
    ] {
        let ran = world.run_all(arguments);
        assert!(matches!(ran.code, Some(2 | 3)) && ran.out.is_empty(), "{ran:?}");
        assert!(ran.err.starts_with(&format!("unstuck: {what}")), "{ran:?}");
        assert_eq!(ran.err.lines().count(), 2, "{ran:?}");
    }
}

/// A job system whose tables tell nothing is named, with what to do instead.
#[test]
fn a_system_that_cannot_be_read_is_named() {
    let world = World::new();
    world.database(
        "huey.db",
        "CREATE TABLE task (id INTEGER PRIMARY KEY, queue TEXT, data BLOB, priority REAL)",
    );
    let ran = world.run_all(&["list", "--db", "sqlite://huey.db"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.err.starts_with("unstuck: huey.db: has the tables of `huey`, which cannot be read\n"),
        "{ran:?}"
    );
    assert!(ran.err.contains("keep a journal of your own"), "{ran:?}");
}
