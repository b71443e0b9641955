//! What is wrong with a file or a table, in exactly two lines.

use super::*;
use crate::ports::source::{Health, SourceFaultKind};
use pretty_assertions::assert_eq;
use rstest::rstest;

const SEE_COLUMNS: &str = "Map the columns in the configuration; `unstuck doctor` lists those there are.";
const SEE_PRESET: &str = "`unstuck doctor` shows the table's columns beside the preset's.";

#[rstest]
#[case::no_table(
    "CREATE TABLE other (x)",
    "",
    "jobs.db: has no table `t`",
    "Name the right table in the configuration; `unstuck doctor` lists those there are."
)]
#[case::one_column("CREATE TABLE t (k)", "", "jobs.db: table `t` has no column `s`", SEE_COLUMNS)]
#[case::more_columns(
    "CREATE TABLE t (x)",
    "error = 'a'\npayload = 'b'",
    "jobs.db: table `t` has no column `a`, `b`, `k`, `s`",
    SEE_COLUMNS
)]
#[case::field(
    "CREATE TABLE t (k, s)",
    "fields = { x = 'nowhere' }",
    "jobs.db: cannot be read as its preset says (no such column: nowhere)",
    SEE_PRESET
)]
#[case::syntax(
    "CREATE TABLE t (k, s)",
    "fields = { x = 'k k k' }",
    "jobs.db: cannot be read as its preset says (near \"k\": syntax error)",
    SEE_PRESET
)]
#[case::broken_view(
    "CREATE TABLE u (k, s); CREATE VIEW t AS SELECT k, s FROM u; DROP TABLE u",
    "",
    "jobs.db: cannot be read as its preset says (no such table: main.u)",
    SEE_PRESET
)]
#[tokio::test]
async fn a_table_that_is_not_as_the_preset_says(
    #[case] sql: &str,
    #[case] more: &str,
    #[case] what: &str,
    #[case] do_next: &str,
) {
    let file = File::with(sql);
    let fault = scan_fault(&file.mapped(more)).await;
    assert_eq!((fault.kind, fault.may_have_written), (SourceFaultKind::Mismatch, false));
    assert_eq!(told(&file, &fault), [what, do_next]);
}

/// Makes a path unusable as a database.
type Spoil = fn(&Path);

#[rstest]
#[case::missing(
    |path: &Path| std::fs::remove_file(path).unwrap(),
    SourceFaultKind::Unreachable,
    "jobs.db: does not exist",
    "Check the path; a relative one counts from the configuration's folder."
)]
#[case::folder(
    |path: &Path| { std::fs::remove_file(path).unwrap(); std::fs::create_dir(path).unwrap(); },
    SourceFaultKind::Unreachable,
    "jobs.db: is a folder, not a database",
    "Name the database file in it."
)]
#[case::empty(
    |path: &Path| std::fs::write(path, b"").unwrap(),
    SourceFaultKind::Unreachable,
    "jobs.db: is empty",
    "Check the path: an application writes its tables before its first job."
)]
#[case::text(
    |path: &Path| std::fs::write(path, "key,status\na,running\n".repeat(100)).unwrap(),
    SourceFaultKind::Unreachable,
    "jobs.db: is not a SQLite database (or is encrypted)",
    "Check the path; an encrypted file cannot be read."
)]
#[case::short_text(
    |path: &Path| std::fs::write(path, "x").unwrap(),
    SourceFaultKind::Unreachable,
    "jobs.db: is not a SQLite database (or is encrypted)",
    "Check the path; an encrypted file cannot be read."
)]
#[case::half(
    |path: &Path| { let all = std::fs::read(path).unwrap(); std::fs::write(path, &all[..all.len() / 2]).unwrap(); },
    SourceFaultKind::Broken,
    "jobs.db: is damaged (database disk image is malformed)",
    "Copy it away before anything else; `sqlite3 FILE .recover` may save rows."
)]
#[case::overwritten(
    |path: &Path| {
        let mut all = std::fs::read(path).unwrap();
        all[4_096..].fill(0xA5);
        std::fs::write(path, all).unwrap();
    },
    SourceFaultKind::Broken,
    "jobs.db: is damaged (database disk image is malformed)",
    "Copy it away before anything else; `sqlite3 FILE .recover` may save rows."
)]
#[tokio::test]
async fn a_file_that_cannot_be_read(
    #[case] spoil: Spoil,
    #[case] kind: SourceFaultKind,
    #[case] what: &str,
    #[case] do_next: &str,
) {
    let file = File::with(&format!(
        "{TABLES} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
         INSERT INTO jobs SELECT printf('job-%d', i), 'failed', '2026-05-04 10:00:00', NULL FROM n"
    ));
    spoil(&file.path());
    let fault = scan_fault(&file.preset("jobs")).await;
    assert_eq!(told(&file, &fault), [what, do_next]);
    assert_eq!(fault.kind, kind);
    let health = file.preset("jobs").examine().await.iter().map(|line| line.health).max();
    let expected = match kind {
        SourceFaultKind::Unreachable => Health::Unreachable,
        SourceFaultKind::Mismatch => Health::Misfit,
        _ => Health::Bad,
    };
    assert_eq!(health, Some(expected));
}

#[tokio::test]
async fn what_is_examined_is_told_line_by_line() {
    let file = File::with(&format!(
        "{TABLES} INSERT INTO jobs VALUES ('a','running','2026-05-04 10:00:00',NULL), ('b','parked','soon',NULL)"
    ));
    let lines: Vec<_> = file
        .preset("jobs")
        .examine()
        .await
        .into_iter()
        .map(|line| (line.what, line.health, line.finding))
        .collect();
    let path = file.path().display().to_string();
    let line = |what: &str, health, finding: &str| (what.to_owned(), health, finding.to_owned());
    assert_eq!(
        lines,
        [
            line("file", Health::Good, &format!("{path} can be read")),
            line("table", Health::Good, "jobs(key TEXT, status TEXT, updated_at TEXT, last_error TEXT)"),
            line("statuses", Health::Doubtful, "`parked` = NOT IN THE PRESET (1), `running` = running (1)"),
            line("times", Health::Good, "1 candidates looked at, all readable"),
            line("decisions", Health::Good, "can be written; a worker that comes back late is unguarded"),
            line("clock", Health::Good, "this machine's own"),
        ]
    );
}

#[tokio::test]
async fn a_wrong_table_is_examined_with_those_there_are() {
    let file = File::with("CREATE TABLE jobs (id, \"sta\u{1b}[31mtus\")");
    let lines: Vec<_> = file.preset("jobs").examine().await.into_iter().map(|line| line.finding).collect();
    let path = file.path().display().to_string();
    assert_eq!(
        lines,
        [
            format!("{path} can be read"),
            format!(
                "{path}: table `jobs` has no column `key`, `last_error`, `status`, `updated_at`. {SEE_COLUMNS}"
            ),
            "jobs(id, sta␛[31mtus)".to_owned(),
        ]
    );
}
