//! Two sessions and one row: whoever was first keeps what he wrote.

use super::*;
use crate::domain::decision::Choice;
use crate::ports::source::{Applied, SourceFaultKind};
use pretty_assertions::assert_eq;
use rstest::rstest;

const ROW: &str =
    "CREATE TABLE t (k {int} PRIMARY KEY, s {text}, v {int}); INSERT INTO t VALUES (1, 'failed', 1);";

#[rstest]
#[case::changed("UPDATE t SET v = 2", Some("1|failed|2"))]
#[case::finished("UPDATE t SET s = 'done', v = 2", Some("1|done|2"))]
#[case::removed("DELETE FROM t", None)]
#[case::made_anew("DELETE FROM t; INSERT INTO t VALUES (1, 'running', 2)", Some("1|running|2"))]
#[tokio::test]
async fn a_row_that_another_session_holds_and_changes_is_not_overwritten(
    #[case] theirs: &str,
    #[case] left: Option<&str>,
    #[values(Choice::MarkDone, Choice::Retry)] choice: Choice,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, ROW).await else { return };
    let source = db.through(VERSIONED);
    let change = change_of(&reading(&*source, "1").await);
    let mut holder = db.session().await;
    holder.run(&format!("{{begin}}; {theirs}")).await;
    let theirs_first = async {
        db.until_somebody_waits().await;
        holder.run("COMMIT").await;
    };
    let (applied, ()) = tokio::join!(source.apply(choice, &change), theirs_first);
    let Applied::Changed(row) = applied.unwrap() else { panic!("it was overwritten") };
    assert_eq!(row.is_some(), left.is_some());
    assert_eq!(db.dump("t").await, left.into_iter().collect::<Vec<_>>());
}

#[rstest]
#[tokio::test]
async fn a_row_that_another_session_holds_and_lets_be_is_written(
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, ROW).await else { return };
    let source = db.through(VERSIONED);
    let change = change_of(&reading(&*source, "1").await);
    let mut holder = db.session().await;
    holder.run("{begin}; UPDATE t SET v = 2").await;
    let they_give_up = async {
        db.until_somebody_waits().await;
        holder.run("ROLLBACK").await;
    };
    let (applied, ()) = tokio::join!(source.apply(Choice::MarkDone, &change), they_give_up);
    assert!(matches!(applied, Ok(Applied::Written { .. })), "{applied:?}");
    assert_eq!(db.dump("t").await, ["1|done|1"]);
}

#[rstest]
#[case::both_done(Choice::MarkDone, Choice::MarkDone)]
#[case::done_and_retry(Choice::MarkDone, Choice::Retry)]
#[tokio::test]
async fn of_two_decisions_at_once_one_is_written(
    #[case] one: Choice,
    #[case] other: Choice,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, ROW).await else { return };
    let versioned = VERSIONED.replace("SET s = 'done'", "SET s = 'done', v = v + 1");
    let (first, second) = (db.through(&versioned), db.through(&versioned));
    for _ in 0..10 {
        db.run("DELETE FROM t; INSERT INTO t VALUES (1, 'failed', 1)").await;
        let change = change_of(&reading(&*first, "1").await);
        let both = tokio::join!(first.apply(one, &change), second.apply(other, &change));
        let written = [&both.0, &both.1]
            .into_iter()
            .filter(|applied| matches!(applied, Ok(Applied::Written { .. })))
            .count();
        let changed = [&both.0, &both.1]
            .into_iter()
            .filter(|applied| matches!(applied, Ok(Applied::Changed(_))))
            .count();
        assert_eq!((written, changed), (1, 1), "{both:?}");
    }
}

/// SQLite's own bound is tested beside it, with a shorter one.
#[rstest]
#[tokio::test]
async fn a_row_that_is_held_for_too_long_is_busy_and_not_written(#[values(Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, ROW).await else { return };
    let source = db.through(VERSIONED);
    let change = change_of(&reading(&*source, "1").await);
    let mut holder = db.session().await;
    holder.run("{begin}; UPDATE t SET v = 2").await;
    let fault = source.apply(Choice::MarkDone, &change).await.unwrap_err();
    assert_eq!((fault.kind, fault.may_have_written), (SourceFaultKind::Busy, false), "{fault:?}");
    assert_eq!(db.told(&fault)[0], "db: the row is held by another session for too long");
    holder.run("ROLLBACK").await;
    assert_eq!(db.dump("t").await, ["1|failed|1"]);
    assert!(matches!(source.apply(Choice::MarkDone, &change).await, Ok(Applied::Written { .. })));
}

#[rstest]
#[tokio::test]
async fn a_row_that_is_held_is_read_as_it_was(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, ROW).await else { return };
    let source = db.through(VERSIONED);
    let mut holder = db.session().await;
    holder.run("{begin}; UPDATE t SET s = 'done', v = 2").await;
    assert_eq!(&*reading(&*source, "1").await.item.status, "failed");
    assert_eq!(keys(&scan_all(&*source, &everything()).await), ["1"]);
    holder.run("COMMIT").await;
    assert_eq!(&*reading(&*source, "1").await.item.status, "done");
}

/// An item and its row are one look: whoever decides on the item would otherwise overwrite a row that nobody has seen.
#[rstest]
#[tokio::test]
async fn an_item_and_its_row_are_of_one_moment(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, ROW).await else { return };
    let source = db.through(VERSIONED);
    let mut writer = db.session().await;
    let writing = async {
        for count in 0..200 {
            writer.run(&format!("UPDATE t SET s = '{}'", ["done", "failed"][count % 2])).await;
            tokio::task::yield_now().await;
        }
    };
    let looking = async {
        loop {
            let Reading { item, row, .. } = reading(&*source, "1").await;
            assert_eq!(row.get("s").and_then(Cell::as_text), Some(&*item.status));
        }
    };
    tokio::select! { () = writing => {}, () = looking => {} }
}

const JOINED: &str = r#"
table = "claims"
select = "SELECT c.id AS claim, c.job_id, j.state AS s, j.v, w.beat FROM {schema}claims c JOIN {schema}jobs j ON j.id = c.job_id LEFT JOIN {schema}workers w ON w.id = c.worker"
key = "claim"
status = "s"
version = ["s", "v", "beat"]
state = [
    { is = "running", when = { s = "running" } },
    { is = "failed", when = { s = "failed" } },
    { is = "done", when = { s = "done" } },
]
[decisions]
late_writer = "guarded"
retry = { leaves = "absent", statements = [
    { rows = 1, sql = "DELETE FROM {table} WHERE id = :seen_claim AND EXISTS (SELECT 1 FROM jobs WHERE id = :seen_job_id AND v = :seen_v)" },
    { rows = 1, sql = "UPDATE jobs SET state = 'ready' WHERE id = :seen_job_id" },
] }
"#;

const JOINED_TABLES: &str = "
CREATE TABLE jobs (id {int} PRIMARY KEY, state {text}, v {int});
CREATE TABLE workers (id {int} PRIMARY KEY, beat {int});
CREATE TABLE claims (id {int} PRIMARY KEY, job_id {int}, worker {int});
INSERT INTO jobs VALUES (1, 'running', 1), (2, 'running', 1);
INSERT INTO workers VALUES (5, 100);
INSERT INTO claims VALUES (10, 1, 5), (20, 2, NULL);";

#[rstest]
#[tokio::test]
async fn a_joined_item_is_read_and_written(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, JOINED_TABLES).await else { return };
    let source = db.through(JOINED);
    assert_eq!(keys(&scan_all(&*source, &page_of(1)).await), ["10", "20"]);
    for key in ["10", "20"] {
        let change = change_of(&reading(&*source, key).await);
        let applied = source.apply(Choice::Retry, &change).await.unwrap();
        assert_eq!(applied, Applied::Written { before: change.seen, after: None });
    }
    assert_eq!(db.dump("claims").await, Vec::<String>::new());
    assert_eq!(db.dump("jobs").await, ["1|ready|1", "2|ready|1"]);
}

#[rstest]
#[case::the_job("UPDATE jobs SET v = 2 WHERE id = 1")]
#[case::the_worker("UPDATE workers SET beat = 101")]
#[case::the_claim("DELETE FROM claims WHERE id = 10")]
#[tokio::test]
async fn a_joined_item_that_changed_in_any_table_is_left_alone(
    #[case] theirs: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, JOINED_TABLES).await else { return };
    let source = db.through(JOINED);
    let change = change_of(&reading(&*source, "10").await);
    db.run(theirs).await;
    let (claims, jobs) = (db.dump("claims").await, db.dump("jobs").await);
    assert!(matches!(source.apply(Choice::Retry, &change).await, Ok(Applied::Changed(_))));
    assert_eq!((db.dump("claims").await, db.dump("jobs").await), (claims, jobs));
}
