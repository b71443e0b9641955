//! Writing to a file: values of any type in any column, triggers, permissions.

use super::*;
use crate::domain::decision::Choice;
use crate::ports::source::{Applied, SourceFaultKind};
use pretty_assertions::assert_eq;
use rstest::rstest;

const JOBS: &str = "INSERT INTO jobs VALUES ('a','failed','2026-05-04T10:00:00.000001','timed out'),
('b','failed','2026-05-04T10:00:00.000001','timed out');";

/// A mapping whose version is one column `v`, which a decision changes.
const VERSIONED: &str = r#"
table = "t"
key = "k"
status = "s"
version = ["v"]
state = [
    { is = "running", when = { s = "running" } },
    { is = "failed", when = { s = "failed" } },
    { is = "done", when = { s = "done" } },
]
[decisions]
late_writer = "guarded"
done = { leaves = "done", statements = [{ rows = 1, sql = "UPDATE {table} SET s = 'done' WHERE {unchanged}" }] }
retry = { leaves = "absent", statements = [{ rows = 1, sql = "DELETE FROM {table} WHERE {unchanged}" }] }
"#;

fn versioned(file: &File) -> SqliteSource {
    SqliteSource::new("versioned", file.path(), mapping(VERSIONED))
}

#[rstest]
#[case::text("'x'", "'y'")]
#[case::case_alone("'x'", "'X'")]
#[case::space_at_the_end("'x'", "'x '")]
#[case::from_null("NULL", "''")]
#[case::to_null("''", "NULL")]
#[case::null_to_zero("NULL", "0")]
#[case::integer("1", "2")]
#[case::large_integer("9007199254740993", "9007199254740992")]
#[case::real("1.5", "1.5000000000000002")]
#[case::integer_to_real("1", "1.0")]
#[case::number_to_text("1", "'1'")]
#[case::blob("x'00'", "x'0000'")]
#[case::text_to_blob("'x'", "x'78'")]
#[case::bad_text("CAST(x'E9' AS TEXT)", "CAST(x'EA' AS TEXT)")]
#[case::after_nul("'a' || char(0) || 'b'", "'a' || char(0) || 'c'")]
#[tokio::test]
async fn a_row_that_changed_in_the_least_is_left_alone(
    #[case] seen: &str,
    #[case] now: &str,
    #[values("", "COLLATE NOCASE", "COLLATE RTRIM")] declared: &str,
) {
    let file = File::with(&format!(
        "CREATE TABLE t (k, s, v {declared}); INSERT INTO t VALUES (1, 'failed', {seen})"
    ));
    let source = versioned(&file);
    let change = change_of(&reading(&source, "1").await);
    file.connect().execute_batch(&format!("UPDATE t SET v = {now}")).unwrap();
    let changed = dump(&file.path(), "t");
    let row = reading(&source, "1").await.row;
    for choice in [Choice::MarkDone, Choice::Retry] {
        assert_eq!(source.apply(choice, &change).await.unwrap(), Applied::Changed(Some(row.clone())));
    }
    assert_eq!(dump(&file.path(), "t"), changed);
    // The other way round: as it was seen again, it is written.
    file.connect().execute_batch(&format!("UPDATE t SET v = {seen}")).unwrap();
    assert!(matches!(source.apply(Choice::MarkDone, &change).await, Ok(Applied::Written { .. })));
}

#[rstest]
#[case::trigger(
    "CREATE TRIGGER no BEFORE UPDATE ON t BEGIN SELECT RAISE(ABORT, 'not in the \u{1b}[31mmonth'); END",
    "jobs.db: cannot be written (not in the ␛[31mmonth)"
)]
#[case::check("", "jobs.db: cannot be written (CHECK constraint failed: s <> 'done' OR v IS NULL)")]
#[tokio::test]
async fn a_statement_that_the_database_refuses_writes_nothing(#[case] more: &str, #[case] what: &str) {
    let check = if more.is_empty() { ", CHECK (s <> 'done' OR v IS NULL)" } else { "" };
    let file =
        File::with(&format!("CREATE TABLE t (k, s, v{check}); INSERT INTO t VALUES (1,'failed',1); {more}"));
    let source = versioned(&file);
    let before = dump(&file.path(), "t");
    let change = change_of(&reading(&source, "1").await);
    let fault = source.apply(Choice::MarkDone, &change).await.unwrap_err();
    let do_next = "The database itself refuses this change: read its words, or escalate.";
    assert_eq!(told(&file, &fault), [what, do_next]);
    assert_eq!((fault.kind, fault.may_have_written), (SourceFaultKind::Mismatch, false));
    assert_eq!(dump(&file.path(), "t"), before);
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_may_not_be_written_is_said_so() {
    use std::os::unix::fs::PermissionsExt;
    let file = File::with(&format!("{TABLES}{JOBS}"));
    let source = file.preset("jobs");
    let change = change_of(&reading(&source, "a").await);
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o444)).unwrap();
    let before = std::fs::read(file.path()).unwrap();
    // Whoever may do anything is not kept from it by permissions.
    if std::fs::OpenOptions::new().append(true).open(file.path()).is_ok() {
        return;
    }
    let fault = source.apply(Choice::MarkDone, &change).await.unwrap_err();
    let lines = ["jobs.db: cannot be written", "Check the permissions of the file and its folder."];
    assert_eq!(told(&file, &fault), lines);
    assert_eq!(std::fs::read(file.path()).unwrap(), before);
}
