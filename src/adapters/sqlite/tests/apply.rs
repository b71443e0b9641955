//! Writing: only where the row is still exactly as it was seen, all of it or nothing.

use super::*;
use crate::domain::decision::Choice;
use crate::ports::source::Rows;
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

#[tokio::test]
async fn what_is_written_is_told_before_and_after_and_touches_one_row() {
    let file = File::with(&format!("{TABLES}{JOBS}"));
    let source = file.preset("jobs");
    let change = change_of(&reading(&source, "a").await);
    let applied = source.apply(Choice::MarkDone, &change).await.unwrap();
    let after = reading(&source, "a").await.row;
    assert_eq!(applied, Applied::Written { before: change.seen, after: Some(after) });
    let rows = [
        "'a','done','2026-11-30T08:00:00.250000',NULL",
        "'b','failed','2026-05-04T10:00:00.000001','timed out'",
    ];
    assert_eq!(dump(&file.path(), "jobs"), rows);
}

#[tokio::test]
async fn a_released_reservation_keeps_its_content_in_the_outcome() {
    let file = File::with(&format!("{TABLES}{JOBS}"));
    let source = file.preset("jobs");
    let change = change_of(&reading(&source, "a").await);
    let applied = source.apply(Choice::Retry, &change).await.unwrap();
    assert_eq!(applied, Applied::Written { before: change.seen.clone(), after: None });
    assert_eq!(change.seen.get("last_error"), Some(&text("timed out")));
    assert_eq!(dump(&file.path(), "jobs"), ["'b','failed','2026-05-04T10:00:00.000001','timed out'"]);
}

#[rstest]
#[case::done(Choice::MarkDone)]
#[case::retry(Choice::Retry)]
#[tokio::test]
async fn a_decision_is_applied_once(
    #[case] choice: Choice,
    #[values("jobs", "processed_items", "sent_emails")] name: &str,
) {
    let file = File::with(&format!(
        "{TABLES}{JOBS}
         INSERT INTO processed_items VALUES ('a','failed',1,'2026-05-04 10:00:00','x');
         INSERT INTO sent_emails VALUES ('a','failed','2026-05-04 10:00:00');"
    ));
    let source = file.preset(name);
    let change = change_of(&reading(&source, "a").await);
    assert!(matches!(source.apply(choice, &change).await, Ok(Applied::Written { .. })));
    let once = dump(&file.path(), name);
    assert!(matches!(source.apply(choice, &change).await, Ok(Applied::Changed(_))));
    assert_eq!(dump(&file.path(), name), once);
}

#[tokio::test]
async fn an_escalation_writes_nothing() {
    let file = File::with(&format!("{TABLES}{JOBS}"));
    let source = file.preset("jobs");
    let change = change_of(&reading(&source, "a").await);
    let before = dump(&file.path(), "jobs");
    let applied = source.apply(Choice::Escalate, &change).await.unwrap();
    assert_eq!(applied, Applied::Written { before: change.seen.clone(), after: Some(change.seen) });
    assert_eq!(dump(&file.path(), "jobs"), before);
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

#[tokio::test]
async fn a_row_that_is_gone_or_finished_meanwhile_is_refused() {
    let file = File::with(&format!("{TABLES}{JOBS}"));
    let source = file.preset("jobs");
    let (gone, finished) = (change_of(&reading(&source, "a").await), change_of(&reading(&source, "b").await));
    file.connect()
        .execute_batch("DELETE FROM jobs WHERE key = 'a'; UPDATE jobs SET status = 'done' WHERE key = 'b'")
        .unwrap();
    assert_eq!(source.apply(Choice::Retry, &gone).await.unwrap(), Applied::Changed(None));
    let now = reading(&source, "b").await.row;
    assert_eq!(source.apply(Choice::Retry, &finished).await.unwrap(), Applied::Changed(Some(now)));
    assert_eq!(dump(&file.path(), "jobs").len(), 1);
}

#[rstest]
#[case::too_many("UPDATE {table} SET n = 1 WHERE :seen_k IS NOT NULL", 1, 3)]
#[case::too_few("UPDATE {table} SET n = 1 WHERE k = :seen_k", 2, 1)]
#[case::none("UPDATE {table} SET n = 1 WHERE k IS NULL", 1, 0)]
#[tokio::test]
async fn another_count_of_rows_rolls_all_of_it_back(
    #[case] second: &str,
    #[case] rows: u64,
    #[case] found: u64,
) {
    let file = File::with(
        "CREATE TABLE t (k, s, v, n); INSERT INTO t VALUES (1,'failed',1,0),(2,'failed',1,0),(3,'failed',1,0)",
    );
    let done = "done = { leaves = \"done\", statements = [{ rows = 1, sql = \"UPDATE {table} SET s = 'done' WHERE {unchanged}\" }] }";
    let two = format!(
        "done = {{ leaves = \"done\", statements = [
            {{ rows = 1, sql = \"UPDATE {{table}} SET s = 'done' WHERE {{unchanged}}\" }},
            {{ rows = {rows}, sql = \"{second}\" }},
        ] }}"
    );
    assert!(VERSIONED.contains(done));
    let source = SqliteSource::new("versioned", file.path(), mapping(&VERSIONED.replace(done, &two)));
    let before = dump(&file.path(), "t");
    let change = change_of(&reading(&source, "1").await);
    let applied = source.apply(Choice::MarkDone, &change).await.unwrap();
    assert_eq!(applied, Applied::WrongCount { statement: 2, expected: Rows::exactly(rows), found });
    assert_eq!(dump(&file.path(), "t"), before);
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

#[rstest]
#[case::at_once("")]
#[case::at_commit("DEFERRABLE INITIALLY DEFERRED")]
#[tokio::test]
async fn a_row_that_others_refer_to_is_not_released(#[case] deferred: &str) {
    let file = File::with(&format!(
        "CREATE TABLE t (k PRIMARY KEY, s, v); INSERT INTO t VALUES (1,'failed',1);
         CREATE TABLE lines (job REFERENCES t(k) {deferred}); INSERT INTO lines VALUES (1);"
    ));
    let source = versioned(&file);
    let change = change_of(&reading(&source, "1").await);
    let fault = source.apply(Choice::Retry, &change).await.unwrap_err();
    assert_eq!(told(&file, &fault)[0], "jobs.db: cannot be written (FOREIGN KEY constraint failed)");
    assert!(!fault.may_have_written);
    assert_eq!(dump(&file.path(), "t"), ["1,'failed',1"]);
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

#[tokio::test]
async fn a_plan_spells_every_value() {
    let file = File::with(&format!("{TABLES}{JOBS}"));
    let source = file.preset("jobs");
    let change = change_of(&reading(&source, "a").await);
    let planned = source.plan(Choice::MarkDone, &change).unwrap();
    assert_eq!(
        planned[0].sql,
        "UPDATE \"jobs\" SET status = 'done', updated_at = :now, last_error = NULL WHERE (\"key\" IS :seen_key AND \
         \"status\" IS :seen_status AND \"updated_at\" IS :seen_updated_at AND \"last_error\" IS :seen_last_error)"
    );
    let parameters: Vec<_> =
        planned[0].parameters.iter().map(|(name, cell)| (name.as_str(), cell.shown())).collect();
    assert_eq!(
        parameters,
        [
            (":now", "2026-11-30T08:00:00.250000".to_owned()),
            (":seen_key", "a".to_owned()),
            (":seen_status", "failed".to_owned()),
            (":seen_updated_at", "2026-05-04T10:00:00.000001".to_owned()),
            (":seen_last_error", "timed out".to_owned()),
        ]
    );
}
