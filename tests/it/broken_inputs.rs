//! A folder of broken inputs: each is told in two exact lines, and hides no good one beside it.

use crate::world::{Ran, TABLES, World, two_lines};
use pretty_assertions::assert_eq;
use rstest::rstest;
use rusqlite::Connection;

const DAMAGED: &str = "Copy it away before anything else; `sqlite3 FILE .recover` may save rows.";
const NO_DATABASE: &str = "Check the path; an encrypted file cannot be read.";
const MAP_IT: &str = "Map your table in a configuration: see config.example.toml, or run `unstuck init`.";

/// Everything that may be wrong with what is called `bad.db`, by name.
fn spoil(world: &World, how: &str) {
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                INSERT INTO jobs SELECT printf('job-%d', i), 'failed', '2026-05-04 10:00:00', 'timed out' FROM n";
    match how {
        "missing" => {}
        "folder" => std::fs::create_dir(world.path("bad.db")).unwrap(),
        "empty" => drop(world.write("bad.db", "")),
        "text" => drop(world.write("bad.db", "key,status\na,running\n".repeat(100))),
        "one_byte" => drop(world.write("bad.db", "x")),
        "random" => {
            drop(world.write("bad.db", (0..9_000_u32).map(|i| (i * i % 251) as u8).collect::<Vec<u8>>()));
        }
        "half" => {
            let whole = std::fs::read(world.database("bad.db", &format!("{TABLES}{rows}"))).unwrap();
            world.write("bad.db", &whole[..whole.len() / 2]);
        }
        "overwritten" => {
            let mut whole = std::fs::read(world.database("bad.db", &format!("{TABLES}{rows}"))).unwrap();
            whole[4_096..].fill(0xA5);
            world.write("bad.db", whole);
        }
        "no_tables" => drop(world.database("bad.db", "PRAGMA user_version = 1; PRAGMA journal_mode = WAL")),
        "other_tables" => {
            drop(world.database("bad.db", "CREATE TABLE \"a\u{1b}[31m\" (x); CREATE TABLE b (y)"));
        }
        "missing_columns" => drop(world.database("bad.db", "CREATE TABLE jobs (key, status)")),
        other => panic!("{other}"),
    }
}

#[rstest]
#[case::missing(
    "missing",
    3,
    "bad.db: does not exist",
    "Check the path; a relative one counts from the configuration's folder."
)]
#[case::folder("folder", 3, "bad.db: is a folder, not a database", "Name the database file in it.")]
#[case::empty(
    "empty",
    3,
    "bad.db: is empty",
    "Check the path: an application writes its tables before its first job."
)]
#[case::text("text", 3, "bad.db: is not a SQLite database (or is encrypted)", NO_DATABASE)]
#[case::one_byte("one_byte", 3, "bad.db: is not a SQLite database (or is encrypted)", NO_DATABASE)]
#[case::random("random", 3, "bad.db: is not a SQLite database (or is encrypted)", NO_DATABASE)]
#[case::half("half", 3, "bad.db: is damaged (database disk image is malformed)", DAMAGED)]
#[case::overwritten("overwritten", 3, "bad.db: is damaged (database disk image is malformed)", DAMAGED)]
#[case::no_tables("no_tables", 2, "bad.db: no table that is known (it has none)", MAP_IT)]
#[case::other_tables("other_tables", 2, "bad.db: no table that is known (it has a␛[31m, b)", MAP_IT)]
#[case::missing_columns("missing_columns", 2, "bad.db: no table that is known (it has jobs)", MAP_IT)]
fn a_broken_database_is_told_in_two_lines(
    #[case] how: &str,
    #[case] code: i32,
    #[case] what: &str,
    #[case] do_next: &str,
) {
    let world = World::new();
    spoil(&world, how);
    let told = Ran { code: Some(code), out: String::new(), err: two_lines(what, do_next) };
    if how == "overwritten" {
        // Its schema can be read, and none of its rows: it is opened, and each table says the same once.
        let ran = world.run("list --db sqlite://bad.db");
        let nothing = format!("{}No findings in what could be read.\n", told.err);
        assert_eq!(ran, Ran { err: nothing, ..told });
        return;
    }
    for command in
        ["list", "list --json", "list --csv", "check --all", "check --all --json", "doctor", "doctor --json"]
    {
        assert_eq!(world.run(&format!("{command} --db sqlite://bad.db")), told, "{command}");
    }
    let decided = world.run_all(&["decide", "a", "--done", "--reason", "why", "--db", "sqlite://bad.db"]);
    assert_eq!(decided, told);
    assert_eq!(world.run("init --db sqlite://bad.db").code, if code == 3 { Some(3) } else { Some(0) });
}

const GOOD: &str = "INSERT INTO jobs VALUES ('good', 'failed', '2026-05-04 10:00:00', 'timed out')";
/// A configuration with the good database on either side of the bad one.
const CONFIG: &str = r#"
[audit]
path = "audit.db"
[[sources]]
name = "first"
url = "sqlite://good.db"
preset = "jobs"
[[sources]]
name = "bad"
url = "sqlite://bad.db"
preset = "jobs"
[[sources]]
name = "last"
url = "sqlite://good.db"
preset = "jobs"
"#;

#[rstest]
#[case::missing("missing", 3, 3)]
#[case::text("text", 3, 3)]
#[case::half("half", 3, 1)]
#[case::missing_columns("missing_columns", 2, 2)]
fn the_good_ones_beside_it_are_listed(#[case] how: &str, #[case] code: i32, #[case] doctors: i32) {
    let world = World::new();
    world.database("good.db", &format!("{TABLES}{GOOD}"));
    spoil(&world, how);
    world.write("config.toml", CONFIG);
    let listed = world.run("list --json --config config.toml");
    assert_eq!(
        (listed.code, listed.each("source")),
        (Some(code), vec!["first".to_owned(), "last".to_owned()])
    );
    assert!(
        listed.err.starts_with("unstuck: FOLDER/bad.db: ") || listed.err.starts_with("unstuck: bad.db: "),
        "{}",
        listed.err
    );
    assert_eq!(listed.err.lines().count(), 2);
    let checked = world.run("check --all --json --config config.toml");
    assert_eq!((checked.code, checked.each("key")), (Some(code), vec!["good".to_owned(); 2]));
    let doctor = world.run("doctor --json --config config.toml");
    assert_eq!((doctor.code, doctor.err.as_str()), (Some(doctors), ""));
    let ill: Vec<_> = doctor.json().into_iter().filter(|line| line["subject"] == "source bad").collect();
    assert!(ill.iter().any(|line| matches!(line["health"].as_str(), Some("bad" | "unreachable"))), "{ill:?}");
}

#[test]
fn without_a_configuration_a_broken_one_hides_no_good_one() {
    let world = World::new();
    world.database("good.db", &format!("{TABLES}{GOOD}"));
    let ran = world.run("list --json --db sqlite://bad.db --db sqlite://good.db");
    let told = two_lines(
        "bad.db: does not exist",
        "Check the path; a relative one counts from the configuration's folder.",
    );
    assert_eq!((ran.code, ran.each("key"), ran.err), (Some(3), vec!["good".to_owned()], told));
    // A decision waits until everything can be read: the key may be in the other one too.
    let decided = world.run_all(&[
        "decide",
        "good",
        "--done",
        "--reason",
        "why",
        "--db",
        "sqlite://bad.db",
        "--db",
        "sqlite://good.db",
    ]);
    assert_eq!((decided.code, decided.out.as_str()), (Some(3), ""));
}

#[test]
fn nothing_found_in_what_could_be_read_is_not_nothing_found() {
    let world = World::new();
    world.database("good.db", TABLES);
    let ran = world.run("list --db sqlite://bad.db --db sqlite://good.db");
    assert_eq!(ran.err.lines().last(), Some("No findings in what could be read."));
}

#[test]
fn a_locked_database_is_told_after_a_while() {
    let world = World::new();
    let holder = Connection::open(world.database("bad.db", TABLES)).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let do_next = "Try again; if it stays locked, find who holds it (`fuser FILE`).";
    let told = Ran {
        code: Some(3),
        out: String::new(),
        err: two_lines("bad.db: is locked by another program", do_next),
    };
    assert_eq!(world.run("list --db sqlite://bad.db"), told);
}

#[cfg(unix)]
#[test]
fn a_database_that_may_not_be_read_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let path = world.database("bad.db", TABLES);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever may do anything is not kept from it by permissions.
    if std::fs::File::open(&path).is_ok() {
        return;
    }
    let what = "bad.db: cannot be opened (unable to open database file)";
    let do_next = "Check the permissions of the file and its folder (a WAL database needs its -shm file).";
    let told = Ran { code: Some(3), out: String::new(), err: two_lines(what, do_next) };
    assert_eq!(world.run("list --db sqlite://bad.db"), told);
}

/// One row of `jobs`, and what is listed of it.
#[rstest]
#[case::all_null("NULL, 'running', NULL, NULL", "NULL", "It tells no start time.", None)]
#[case::no_time(
    "'a', 'running', 'soon', NULL",
    "a",
    "Its start cannot be read for certain: soon (not a time).",
    None
)]
#[case::blob_time(
    "'a', 'running', x'00', NULL",
    "a",
    "Its start cannot be read for certain: x'00' (bytes, not a time).",
    None
)]
#[case::bare_seconds(
    "'a', 'running', 1800000000, NULL",
    "a",
    "Its start cannot be read for certain: 1800000000 (unit unclear).",
    None
)]
#[case::bare_millis(
    "'a', 'running', 1800000000000, NULL",
    "a",
    "Its start cannot be read for certain: 1800000000000 (unit unclear).",
    None
)]
#[case::year_57974(
    "'a', 'running', '57974-01-01 00:00:00', NULL",
    "a",
    "Its start cannot be read for certain: 57974-01-01 00:00:00 (not a time).",
    None
)]
#[case::year_9999(
    "'a', 'running', '9999-12-31 23:59:59', NULL",
    "a",
    "Its start cannot be read for certain: 9999-12-31 23:59:59 (year out of range (is the unit right?)).",
    None
)]
#[case::date_alone(
    "'a', 'running', '2026-05-04', NULL",
    "a",
    "Its start cannot be read for certain: 2026-05-04 (a date without a time).",
    None
)]
#[case::blob_key(
    "x'00FF', 'failed', NULL, 'timed out'",
    "x'00FF'",
    "It tells no start time.",
    Some("timed out")
)]
#[case::bad_utf8(
    "CAST(x'63E9' AS TEXT), 'failed', NULL, CAST(x'E9' AS TEXT)",
    "c\\xE9",
    "It tells no start time.",
    Some("\\xE9")
)]
#[case::empty_error("'a', 'failed', NULL, ''", "a", "It tells no start time.", Some(""))]
#[case::null_error("'a', 'failed', NULL, NULL", "a", "It tells no start time.", None)]
#[case::number_error(
    "'a', 'failed', NULL, 1970670598291982290",
    "a",
    "It tells no start time.",
    Some("1970670598291982290")
)]
fn an_odd_row_is_listed_with_what_is_odd(
    #[case] values: &str,
    #[case] key: &str,
    #[case] note: &str,
    #[case] error: Option<&str>,
) {
    let world = World::new();
    world.database("odd.db", &format!("{TABLES} INSERT INTO jobs VALUES ({values})"));
    let ran = world.run("list --json --db sqlite://odd.db");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let line = &ran.json()[0];
    assert_eq!((&line["key"], &line["notes"][0]), (&key.into(), &note.into()));
    assert_eq!((line["last_error"].as_str(), line["age_seconds"].is_null()), (error, true));
}

#[test]
fn a_payload_of_50_mb_is_neither_listed_nor_read() {
    let world = World::new();
    world.database("large.db", "CREATE TABLE t (k, s, p); INSERT INTO t VALUES ('a', 'failed', zeroblob(50000000)), ('b', 'failed', '{}')");
    world.write(
        "config.toml",
        "[[sources]]\nname = \"t\"\nurl = \"sqlite://large.db\"\n[sources.mapping]\ntable = \"t\"\nkey = \"k\"\nstatus = \"s\"
        payload = \"p\"\nversion = [\"s\"]\nstate = [
        { is = \"running\", when = { s = \"running\" } }, { is = \"failed\", when = { s = \"failed\" } },
        { is = \"done\", when = { s = \"done\" } } ]",
    );
    // Half of what the payload alone would take, above what the program takes anyway. Stacks count too, and there would be
    // one for each of the machine's cores.
    let limited = |arguments: &str| {
        let program = assert_cmd::cargo::cargo_bin("unstuck");
        let script = format!("ulimit -d 60000 && exec {} {arguments}", program.display());
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]).current_dir(world.path("")).env_clear().env("HOME", world.path(""));
        command.env("TOKIO_WORKER_THREADS", "1").env("MALLOC_ARENA_MAX", "1");
        command.output().unwrap()
    };
    let output = limited("list --json --config config.toml");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((text.lines().count(), text.len() < 2_000), (2, true));
}
