//! Writing: all of a decision or nothing, on one row.

use super::*;
use crate::domain::decision::Choice;
use crate::ports::source::{Applied, Rows, SourceFaultKind};
use pretty_assertions::assert_eq;
use rstest::rstest;

#[rstest]
#[tokio::test]
async fn what_is_written_is_told_before_and_after_and_touches_one_row(
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, &format!("{TABLES}{JOBS}")).await else { return };
    let source = db.preset("jobs");
    let change = change_of(&reading(&*source, "a").await);
    let applied = source.apply(Choice::MarkDone, &change).await.unwrap();
    let after = reading(&*source, "a").await.row;
    assert_eq!(applied, Applied::Written { before: change.seen, after: Some(after) });
    let rows = ["a|done|2026-11-30T08:00:00.250000|∅", "b|failed|2026-05-04T10:00:00.000001|timed out"];
    assert_eq!(db.dump("jobs").await, rows);
}

#[rstest]
#[tokio::test]
async fn a_released_reservation_keeps_its_content_in_the_outcome(
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, &format!("{TABLES}{JOBS}")).await else { return };
    let source = db.preset("jobs");
    let change = change_of(&reading(&*source, "a").await);
    let applied = source.apply(Choice::Retry, &change).await.unwrap();
    assert_eq!(applied, Applied::Written { before: change.seen.clone(), after: None });
    assert_eq!(change.seen.get("last_error"), Some(&text("timed out")));
    assert_eq!(db.dump("jobs").await, ["b|failed|2026-05-04T10:00:00.000001|timed out"]);
}

#[rstest]
#[case::done(Choice::MarkDone)]
#[case::retry(Choice::Retry)]
#[tokio::test]
async fn a_decision_is_applied_once(
    #[case] choice: Choice,
    #[values("jobs", "processed_items", "sent_emails")] name: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let rows = "INSERT INTO processed_items VALUES ('a','failed',1,'2026-05-04 10:00:00','x');
         INSERT INTO sent_emails VALUES ('a','failed','2026-05-04 10:00:00');";
    let Some(db) = Db::with(on, &format!("{TABLES}{JOBS}{rows}")).await else { return };
    let source = db.preset(name);
    let change = change_of(&reading(&*source, "a").await);
    assert!(matches!(source.apply(choice, &change).await, Ok(Applied::Written { .. })));
    let once = db.dump(name).await;
    assert!(matches!(source.apply(choice, &change).await, Ok(Applied::Changed(_))));
    assert_eq!(db.dump(name).await, once);
}

#[rstest]
#[tokio::test]
async fn an_escalation_writes_nothing(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, &format!("{TABLES}{JOBS}")).await else { return };
    let source = db.preset("jobs");
    let change = change_of(&reading(&*source, "a").await);
    let before = db.dump("jobs").await;
    let applied = source.apply(Choice::Escalate, &change).await.unwrap();
    assert_eq!(applied, Applied::Written { before: change.seen.clone(), after: Some(change.seen) });
    assert_eq!(db.dump("jobs").await, before);
}

#[rstest]
#[tokio::test]
async fn a_row_that_is_gone_or_finished_meanwhile_is_refused(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, &format!("{TABLES}{JOBS}")).await else { return };
    let source = db.preset("jobs");
    let (gone, finished) =
        (change_of(&reading(&*source, "a").await), change_of(&reading(&*source, "b").await));
    db.run("DELETE FROM jobs WHERE \"key\" = 'a'; UPDATE jobs SET status = 'done' WHERE \"key\" = 'b'").await;
    assert_eq!(source.apply(Choice::Retry, &gone).await.unwrap(), Applied::Changed(None));
    let now = reading(&*source, "b").await.row;
    assert_eq!(source.apply(Choice::Retry, &finished).await.unwrap(), Applied::Changed(Some(now)));
    assert_eq!(db.dump("jobs").await.len(), 1);
}

/// [`VERSIONED`] with a second statement when it is marked done.
fn with_second(statement: &str, rows: &str) -> String {
    let one = "[{ rows = 1, sql = \"UPDATE {table} SET s = 'done' WHERE {unchanged}\" }]";
    let two = format!("{}, {{ rows = {rows}, sql = \"{statement}\" }}]", one.trim_end_matches(']'));
    assert!(VERSIONED.contains(one));
    VERSIONED.replacen(one, &two, 1)
}

const NUMBERED: &str = "CREATE TABLE t (k {int} PRIMARY KEY, s {text}, v {int}, n {int});
INSERT INTO t VALUES (1,'failed',1,0),(2,'failed',1,0),(3,'failed',1,0)";

#[rstest]
#[case::too_many("UPDATE {table} SET n = 1 WHERE :seen_k IS NOT NULL", "1", 3)]
#[case::too_few("UPDATE {table} SET n = 1 WHERE k = :seen_k", "2", 1)]
#[case::none("UPDATE {table} SET n = 1 WHERE k IS NULL", "1", 0)]
#[case::as_it_is_already("UPDATE {table} SET n = 0 WHERE v = :seen_v", "[1, 2]", 3)]
#[case::a_query("SELECT k FROM {table} WHERE v = :seen_v", "1", 3)]
#[case::a_query_for_nothing("SELECT k FROM {table} WHERE v = 2", "1", 0)]
#[tokio::test]
async fn another_count_of_rows_rolls_all_of_it_back(
    #[case] second: &str,
    #[case] rows: &str,
    #[case] found: u64,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, NUMBERED).await else { return };
    let second =
        if on == Postgres { second.replace(":seen_k IS", ":seen_k::int8 IS") } else { second.to_owned() };
    let source = db.through(&with_second(&second, rows));
    let before = db.dump("t").await;
    let change = change_of(&reading(&*source, "1").await);
    let applied = source.apply(Choice::MarkDone, &change).await.unwrap();
    let expected = match rows {
        "[1, 2]" => Rows { at_least: 1, at_most: 2 },
        count => Rows::exactly(count.parse().unwrap()),
    };
    assert_eq!(applied, Applied::WrongCount { statement: 2, expected, found });
    assert_eq!(db.dump("t").await, before);
}

#[rstest]
#[case::found_and_set("UPDATE {table} SET n = 0 WHERE v = :seen_v", "3")]
#[case::a_range("DELETE FROM {table} WHERE v = :seen_v AND k > 1", "[0, 2]")]
#[case::a_query("SELECT k FROM {table} WHERE v = :seen_v", "3")]
#[tokio::test]
async fn as_many_rows_as_the_preset_says_are_written(
    #[case] second: &str,
    #[case] rows: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, NUMBERED).await else { return };
    let source = db.through(&with_second(second, rows));
    let change = change_of(&reading(&*source, "1").await);
    assert!(matches!(source.apply(Choice::MarkDone, &change).await, Ok(Applied::Written { .. })));
    assert_eq!(db.dump("t").await[0], "1|done|1|0");
}

#[rstest]
#[case::check(
    "CREATE TABLE t (k {int} PRIMARY KEY, s {name}, v {int}, CHECK (s <> 'done'))",
    Choice::MarkDone
)]
#[case::unique("CREATE TABLE t (k {int} PRIMARY KEY, s {name}, v {int}, UNIQUE (s, v))", Choice::MarkDone)]
#[case::referred_to(
    "CREATE TABLE t (k {int} PRIMARY KEY, s {name}, v {int}); CREATE TABLE invoice_lines (job {int}, FOREIGN KEY (job) REFERENCES t (k))",
    Choice::Retry
)]
#[tokio::test]
async fn what_the_database_itself_refuses_is_a_clear_fault_and_nothing_is_written(
    #[case] create: &str,
    #[case] choice: Choice,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, &format!("{create}; INSERT INTO t VALUES (1,'failed',1)")).await else {
        return;
    };
    match choice {
        Choice::Retry => db.run("INSERT INTO invoice_lines VALUES (1)").await,
        _ if create.contains("UNIQUE") => db.run("INSERT INTO t VALUES (2,'done',1)").await,
        _ => {}
    }
    let source = db.through(VERSIONED);
    let before = db.dump("t").await;
    let change = change_of(&reading(&*source, "1").await);
    let fault = source.apply(choice, &change).await.unwrap_err();
    let [what, do_next] = db.told(&fault);
    assert!(what.starts_with("db: cannot be written ("), "{what}");
    assert!(do_next.starts_with("The database itself refuses this change: read its words"), "{do_next}");
    assert_eq!((fault.kind, fault.may_have_written), (SourceFaultKind::Mismatch, false));
    assert_eq!(db.dump("t").await, before);
}

/// A constraint that is looked at only when all is written.
#[rstest]
#[case::sqlite(Sqlite)]
#[case::postgres(Postgres)]
#[tokio::test]
async fn what_is_refused_at_the_commit_is_not_written_for_certain(#[case] on: Engine) {
    let create = "CREATE TABLE t (k {int} PRIMARY KEY, s {text}, v {int}); INSERT INTO t VALUES (1,'failed',1);
         CREATE TABLE invoice_lines (job {int} REFERENCES t(k) DEFERRABLE INITIALLY DEFERRED); INSERT INTO invoice_lines VALUES (1);";
    let Some(db) = Db::with(on, create).await else { return };
    let source = db.through(VERSIONED);
    let change = change_of(&reading(&*source, "1").await);
    let fault = source.apply(Choice::Retry, &change).await.unwrap_err();
    assert!(db.told(&fault)[0].starts_with("db: cannot be written ("), "{}", fault.what);
    assert!(!fault.may_have_written);
    assert_eq!(db.dump("t").await, ["1|failed|1"]);
}

#[rstest]
#[tokio::test]
async fn what_a_person_typed_is_a_value(
    #[values("it's", "\\", "a\\'; DROP TABLE jobs; --", "é😀\n\u{1b}[31m", "$1 ? :now {unchanged} %s")]
    reason: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, &format!("{TABLES}{JOBS}")).await else { return };
    let text = r#"
        table = "jobs"
        key = "key"
        status = "status"
        version = ["status"]
        state = [
            { is = "running", when = { status = "running" } },
            { is = "failed", when = { status = "failed" } },
            { is = "done", when = { status = "done" } },
        ]
        [decisions]
        late_writer = "guarded"
        done = { leaves = "done", statements = [
            { rows = 1, sql = "UPDATE {table} SET status = 'done', updated_at = :operator, last_error = :reason WHERE {unchanged}" },
        ] }
    "#;
    let source = db.through(text);
    let mut change = change_of(&reading(&*source, "a").await);
    change.reason = reason.into();
    change.operator = reason.into();
    let applied = source.apply(Choice::MarkDone, &change).await.unwrap();
    assert!(matches!(applied, Applied::Written { .. }), "{applied:?}");
    let row = reading(&*source, "a").await.row;
    assert_eq!(row.get("last_error").and_then(Cell::as_text), Some(reason));
    assert_eq!(row.get("updated_at").and_then(Cell::as_text), Some(reason));
}

#[rstest]
#[tokio::test]
async fn a_plan_spells_every_value(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, &format!("{TABLES}{JOBS}")).await else { return };
    let source = db.preset("jobs");
    let change = change_of(&reading(&*source, "a").await);
    let planned = source.plan(Choice::MarkDone, &change).unwrap();
    let unchanged = match on {
        Sqlite => {
            "\"key\" IS :seen_key AND \"status\" IS :seen_status AND \"updated_at\" IS :seen_updated_at AND \
             \"last_error\" IS :seen_last_error"
        }
        Postgres => {
            "\"key\" = :seen_key AND \"status\"::text IS NOT DISTINCT FROM :seen_status AND \
             \"updated_at\"::text IS NOT DISTINCT FROM :seen_updated_at AND \
             \"last_error\"::text IS NOT DISTINCT FROM :seen_last_error"
        }
        Mysql => {
            "`key` <=> :seen_key AND `status` <=> :seen_status AND `updated_at` <=> :seen_updated_at AND \
             `last_error` <=> :seen_last_error"
        }
    };
    let table = db.quoted("jobs");
    let sql = format!(
        "UPDATE {table} SET status = 'done', updated_at = :now, last_error = NULL WHERE ({unchanged})"
    );
    assert_eq!(planned[0].sql, sql);
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
