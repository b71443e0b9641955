//! Text that a terminal, a sheet or a log would obey is shown, in every output, and never passed on.

use super::harmless::assert_harmless;
use crate::world::World;
use pretty_assertions::assert_eq;
use rstest::rstest;

/// What a job system may hold when somebody means harm, in SQL.
const HOSTILE: &str = "
CREATE TABLE jobs (key, status, updated_at, last_error);
CREATE TABLE processed_items (item_key, status, attempts, updated_at, last_error);
CREATE TABLE sent_emails (email_key, status, created_at);
INSERT INTO jobs VALUES
  ('esc' || char(27) || '[2J' || char(27) || ']0;owned' || char(7), 'failed', char(27) || '[31m', char(27) || 'c timed out'),
  ('c1' || char(155) || '31m' || char(133) || char(144), 'failed', 'x', char(157) || '52;c;eA==' || char(156)),
  ('bidi' || char(8238) || 'gpj.exe' || char(8294) || char(8203) || char(65279), 'failed', char(8233), char(8232) || 'x'),
  ('lines' || char(10) || 'inv-7' || char(13) || 'inv-8' || char(9), 'failed', 'x' || char(10), 'a' || char(10) || 'b'),
  ('del' || char(127) || char(8) || char(0) || 'end', 'failed', 'x', 'y' || char(127)),
  ('=1+1', 'failed', '@x', '=HYPERLINK(\"http://x\")'),
  ('+1', 'failed', '-1', '+cmd|x'),
  (char(9) || '=2', 'failed', 'x', char(13) || '=3'),
  (x'1B5B33316D', 'failed', 'x', CAST(x'1B5B9BFF' AS TEXT)),
  ('tag' || char(917505) || char(917536), 'failed', 'x', char(173) || 'soft');
INSERT INTO processed_items VALUES ('p' || char(27), 'failed', char(27) || '[1m', 'x', NULL);
INSERT INTO sent_emails VALUES ('s', 'parked' || char(27) || '[5m' || char(8238), 'x');
";

#[rstest]
#[case("list")]
#[case("list --json")]
#[case("list --csv")]
#[case("check --all")]
#[case("check --all --json")]
#[case("check --all --csv")]
#[case("doctor")]
#[case("doctor --json")]
#[case("init")]
#[case("decide --all --where kind:jobs --escalate --reason because")]
#[case("decide --all --where kind:jobs --escalate --reason because --json")]
#[case("decide --all --where kind:jobs --escalate --reason because --dry-run")]
#[case("decide --all --where kind:jobs --done --override --reason because")]
fn nothing_that_a_terminal_obeys_leaves_the_program(#[case] arguments: &str) {
    let world = World::new();
    world.database("jobs.db", HOSTILE);
    let ran = world.run(&format!("{arguments} --db sqlite://jobs.db --audit-file audit.db"));
    assert!(!ran.out.is_empty(), "{}", ran.err);
    assert_harmless("stdout", &ran.out);
    assert_harmless("stderr", &ran.err);
    for action in ["list", "list --json", "export --format json", "export --format csv"] {
        let record = world.run(&format!("audit {action} --audit-file audit.db"));
        assert_harmless(action, &record.out);
    }
}

#[test]
fn every_hostile_key_can_be_typed_and_is_told_cleanly() {
    let world = World::new();
    world.database("jobs.db", HOSTILE);
    let keys = world.run("list --json --source jobs --db sqlite://jobs.db").each("key");
    assert_eq!(keys.len(), 10);
    for key in keys.iter().filter(|key| !key.contains('\0')) {
        for choice in ["--dry-run", "--json"] {
            let ran = world.run_all(&[
                "decide",
                "--source",
                "jobs",
                "--escalate",
                "--reason",
                "\u{1b}[31mbecause\u{202e}",
                choice,
                "--db",
                "sqlite://jobs.db",
                "--audit-file",
                "audit.db",
                "--",
                key,
            ]);
            assert_eq!(ran.code, Some(0), "{key:?}: {}", ran.err);
            assert_harmless("stdout", &ran.out);
        }
        // Escalated already: refused, and told.
        let again = world.run_all(&[
            "decide",
            "--source",
            "jobs",
            "--escalate",
            "--reason",
            "because",
            "--db",
            "sqlite://jobs.db",
            "--audit-file",
            "audit.db",
            "--",
            key,
        ]);
        assert_eq!(again.code, Some(1), "{key:?}: {}", again.out);
        assert_harmless("stderr", &again.err);
        assert_eq!(again.err.lines().count(), 2, "{}", again.err);
    }
    assert_harmless("audit", &world.run("audit list --audit-file audit.db").out);
}

#[test]
fn no_cell_of_a_sheet_is_a_formula() {
    let world = World::new();
    world.database("jobs.db", HOSTILE);
    world.run("check --all --db sqlite://jobs.db --audit-file audit.db");
    let outputs = [
        world.run("list --csv --db sqlite://jobs.db").out,
        world.run("check --all --csv --db sqlite://jobs.db --audit-file audit.db").out,
        world.run("audit export --format csv --audit-file audit.db").out,
    ];
    for output in outputs {
        let mut reader = csv::Reader::from_reader(output.as_bytes());
        for record in reader.records() {
            for cell in &record.unwrap() {
                assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell}");
            }
        }
    }
}

/// Arguments are outside text too.
#[rstest]
#[case::database(&["list", "--db", "sqlite://no\u{1b}[31m\u{202e}.db"])]
#[case::engine(&["list", "--db", "post\u{1b}[31mgres://x"])]
#[case::config(&["list", "--config", "no\u{1b}]0;x\u{7}.toml"])]
#[case::source(&["list", "--db", "sqlite://jobs.db", "--source", "\u{1b}[31m"])]
#[case::filter(&["list", "--db", "sqlite://jobs.db", "--where", "age>\u{1b}[31m"])]
#[case::key(&["check", "--db", "sqlite://jobs.db", "\u{1b}[31m\u{202e}"])]
#[case::preset(&["presets", "\u{1b}[31m"])]
#[case::output(&["init", "--db", "sqlite://jobs.db", "--output", "no/\u{1b}[31m"])]
#[case::audit(&["audit", "verify", "--audit-file", "no\u{1b}[31m\u{202e}.db"])]
fn a_message_about_an_argument_is_clean(#[case] arguments: &[&str]) {
    let world = World::new();
    world.database("jobs.db", HOSTILE);
    let ran = world.run_all(arguments);
    assert_ne!(ran.code, Some(0));
    assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
    assert_harmless("stderr", &ran.err);
    assert_eq!(ran.out, "");
}
