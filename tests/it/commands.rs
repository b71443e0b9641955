//! The outside contract, through the real program.

use crate::incident::Incident;
use crate::world::{TABLES, World, two_lines};
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

/// What a JSON value is, as a word.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

fn types_of(line: &Value) -> Vec<(String, &'static str)> {
    line.as_object().unwrap().iter().map(|(name, value)| (name.clone(), type_of(value))).collect()
}

const FINDING: [(&str, &str); 14] = [
    ("source", "text"),
    ("key", "text"),
    ("kind", "text"),
    ("status", "text"),
    ("state", "text"),
    ("finding", "text"),
    ("since", "text"),
    ("age_seconds", "number"),
    ("attempts", "null"),
    ("last_error", "text"),
    ("error_class", "text"),
    ("reference", "text"),
    ("risk", "text"),
    ("notes", "list"),
];
const CHECK: [(&str, &str); 9] = [
    ("verdict", "text"),
    ("effects", "number"),
    ("effect_ids", "list"),
    ("settled", "boolean"),
    ("advice", "text"),
    ("reasons", "list"),
    ("evidence", "text"),
    ("checked_at", "text"),
    ("on_record", "boolean"),
];

fn named(fields: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    fields.iter().map(|(name, word)| ((*name).to_owned(), *word)).collect()
}

#[test]
fn list_and_check_print_the_fields_of_the_contract() {
    let incident = Incident::new();
    let listed = incident.run("list --json");
    assert_eq!((listed.code, listed.err.as_str()), (Some(0), ""));
    assert_eq!(listed.each("key"), ["inv-1", "inv-2"]);
    for line in listed.json() {
        assert_eq!(types_of(&line), named(&FINDING));
    }
    let checked = incident.run("check --all --json");
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""));
    for line in checked.json() {
        assert_eq!(types_of(&line), named(&[&FINDING[..], &CHECK].concat()));
        let (verdict, advice) =
            if line["key"] == "inv-1" { ("happened", "mark_done") } else { ("not_found", "retry") };
        assert_eq!((&line["verdict"], &line["advice"]), (&Value::from(verdict), &Value::from(advice)));
    }
    assert_eq!(incident.events().len(), 2, "each check is on record");
}

#[test]
fn presets_are_listed_with_their_kind() {
    let ran = World::new().run("presets --json");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let lines = ran.json();
    let of_type = |wanted: &str| lines.iter().filter(|line| line["type"] == wanted).count();
    assert!(of_type("source") >= 22 + 3, "{} source presets", of_type("source"));
    let (providers, escalations) = (of_type("provider"), of_type("escalation"));
    assert!(providers >= 1 && of_type("source") + providers + escalations == lines.len());
    assert_eq!(escalations, 5);
    for line in lines {
        // Huey and the outbox of Debezium cannot be read: there is nothing to verify.
        let is_verified = line["verified_with"].as_array().is_some_and(|with| !with.is_empty());
        let is_unreadable = ["huey", "outbox_debezium"].contains(&line["name"].as_str().unwrap());
        assert!(is_verified || is_unreadable || line["type"] != "source", "{line}");
        let fields = [("name", "text"), ("type", "text"), ("title", "text"), ("verified_with", "list")];
        assert_eq!(types_of(&line), named(&fields));
    }
}

#[test]
fn what_init_writes_can_be_used_at_once() {
    let world = World::new();
    world.database(
        "jobs.db",
        &format!("{TABLES} INSERT INTO jobs VALUES ('a', 'failed', '2026-05-04 10:00:00', 'timed out')"),
    );
    let ran = world.run("init --db sqlite://jobs.db --output config.toml");
    let told = "Written to config.toml. Next: unstuck --config config.toml doctor\n";
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", told));
    let listed = world.run("list --json --config config.toml");
    assert_eq!((listed.code, listed.each("key")), (Some(0), vec!["a".to_owned()]));
    let printed = world.run("init --db sqlite://jobs.db");
    assert_eq!(
        printed.out,
        std::fs::read_to_string(world.path("config.toml"))
            .unwrap()
            .replace(world.path("").to_str().unwrap().trim_end_matches('/'), "FOLDER")
    );
}

/// Two databases may have the same tables: what is written names them apart, and is at work at once.
#[test]
fn init_gives_each_source_a_name_of_its_own() {
    let world = World::new();
    for name in ["shop.db", "mail.db"] {
        world.database(
            name,
            &format!("{TABLES} INSERT INTO jobs VALUES ('a', 'failed', '2026-05-04 10:00:00', 'timed out')"),
        );
    }
    let ran = world.run("init --db sqlite://shop.db --db sqlite://mail.db --output config.toml");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let listed = world.run("list --json --config config.toml");
    assert_eq!((listed.code, listed.err.as_str()), (Some(0), ""));
    assert_eq!(listed.each("source"), ["jobs", "mail.jobs"]);
}

/// Which database is meant is nobody's to guess: a decision would land in the other one.
#[test]
fn a_configuration_and_a_database_are_not_named_together() {
    let world = World::new();
    for name in ["prod.db", "stage.db"] {
        world.database(
            name,
            &format!("{TABLES} INSERT INTO jobs VALUES ('a', 'failed', '2026-05-04 10:00:00', 'timed out')"),
        );
    }
    world.write("prod.toml", "[[sources]]\nname = \"jobs\"\nurl = \"sqlite://prod.db\"\npreset = \"jobs\"\n");
    let what = "both a configuration (prod.toml) and --db are named";
    let do_next = "Name one of the two: --db looks without a configuration, --config (or $UNSTUCK_CONFIG) names the sources itself.";
    for command in ["list", "decide a --source jobs --done --override --reason x", "check --all", "doctor"] {
        let ran = world.run(&format!("{command} --config prod.toml --db sqlite://stage.db"));
        assert_eq!((ran.code, ran.err), (Some(2), two_lines(what, do_next)), "{command}");
    }
    for name in ["prod.db", "stage.db"] {
        let status: String = rusqlite::Connection::open(world.path(name))
            .unwrap()
            .query_row("SELECT status FROM jobs", [], |row| row.get(0))
            .unwrap();
        assert_eq!(status, "failed");
    }
}

#[test]
fn init_never_overwrites() {
    let world = World::new();
    world.database("jobs.db", TABLES);
    world.write("config.toml", "mine");
    let ran = world.run("init --db sqlite://jobs.db --output config.toml");
    let what = "config.toml: is there already and was left as it is";
    let do_next = "Name another file with --output, or `-` for standard output.";
    assert_eq!((ran.code, ran.err), (Some(2), two_lines(what, do_next)));
    assert_eq!(std::fs::read_to_string(world.path("config.toml")).unwrap(), "mine");
}

#[test]
fn a_table_that_is_named_like_a_configuration_adds_no_line_to_one() {
    let world = World::new();
    world.database(
        "jobs.db",
        &format!("{TABLES} CREATE TABLE \"x\n[audit]\npath = 'y'\n\u{202e}\" (\"a\nb\", \"status\")"),
    );
    let printed = world.run("init --db sqlite://jobs.db").out;
    assert_eq!(printed.matches("\n[audit]").count(), 1, "{printed}");
    world.write("config.toml", printed.replace("FOLDER", world.path("").to_str().unwrap()));
    assert_eq!(world.run("list --config config.toml").code, Some(0));
}

#[test]
fn findings_can_fail_a_script() {
    let incident = Incident::new();
    assert_eq!(incident.run("list --fail-on-findings").code, Some(1));
    assert_eq!(incident.run("check --all --fail-on-findings").code, Some(1));
    let none = incident.run("list --fail-on-findings --where kind:order");
    assert_eq!((none.code, none.out.as_str(), none.err.as_str()), (Some(0), "", "No findings.\n"));
}

/// `| head -1`: the reader takes a line and goes.
#[rstest]
#[case::list("list --db sqlite://many.db")]
#[case::list_json("list --json --db sqlite://many.db")]
#[case::list_csv("list --csv --db sqlite://many.db")]
#[case::doctor("doctor --db sqlite://many.db")]
#[case::presets("presets")]
#[case::preset("presets jobs")]
#[case::init("init --db sqlite://many.db")]
#[case::export("audit export --audit-file audit.db")]
#[case::audit("audit list --limit 9999 --audit-file audit.db")]
fn a_reader_that_has_seen_enough_is_no_trouble(#[case] arguments: &str) {
    let world = World::new();
    world.database(
        "many.db",
        &format!(
            "{TABLES} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
         INSERT INTO jobs SELECT printf('job-%d', i), 'failed', '2026-05-04 10:00:00', 'timed out' FROM n"
        ),
    );
    world.run("check --all --db sqlite://many.db --audit-file audit.db --json");
    let program = assert_cmd::cargo::cargo_bin("unstuck");
    let mut child = std::process::Command::new(program)
        .args(arguments.split_whitespace())
        .current_dir(world.path(""))
        .env_clear()
        .env("HOME", world.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::with_capacity(64, child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}
