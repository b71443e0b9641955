//! A table of ours beside the jobs: a decision is there exactly when it was carried out.

use super::bench::built_in;
use super::*;
use crate::adapters::sql::decisions_table::create_sql;
use crate::domain::decision::Choice;
use crate::ports::source::Applied;
use crate::preset::source::SourcePreset;
use pretty_assertions::assert_eq;
use rstest::rstest;

const JOB: &str = "INSERT INTO jobs VALUES ('a','failed','2026-05-04T10:00:00.000001','timed out');";
const TABLE: &str = "our decisions";

fn keeping(db: &Db) -> Box<dyn Source> {
    let preset = built_in("jobs");
    let mut mapping = (*preset.variants[0]).clone();
    mapping.decisions_table = Some(TABLE.to_owned());
    db.source(SourcePreset { variants: vec![Arc::new(mapping)], ..preset })
}

/// The statement that makes the table, as the applications of these tests write it.
fn create(on: Engine) -> String {
    create_sql(on, TABLE).replace('`', "\"")
}

async fn with_table(on: Engine) -> Option<Db> {
    Db::with(on, &format!("{TABLES}{JOB}{}", create(on))).await
}

#[rstest]
#[case::done(Choice::MarkDone, "mark_done")]
#[case::retry(Choice::Retry, "retry")]
#[case::escalate(Choice::Escalate, "escalate")]
#[tokio::test]
async fn a_decision_is_written_down_in_its_own_transaction(
    #[case] choice: Choice,
    #[case] word: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = with_table(on).await else { return };
    let source = keeping(&db);
    let change = change_of(&reading(&*source, "a").await);
    assert_eq!(source.has_decision(change.decision).await, Ok(Some(false)));
    assert!(matches!(source.apply(choice, &change).await, Ok(Applied::Written { .. })));
    assert_eq!(source.has_decision(change.decision).await, Ok(Some(true)));
    let id = change.decision;
    assert_eq!(db.dump(TABLE).await, [format!("{id}|a|{word}|ana|2026-11-30T08:00:00.250Z")]);
}

#[rstest]
#[tokio::test]
async fn what_is_not_carried_out_is_not_written_down(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = with_table(on).await else { return };
    let source = keeping(&db);
    let change = change_of(&reading(&*source, "a").await);
    db.run("UPDATE jobs SET last_error = 'another'").await;
    assert!(matches!(source.apply(Choice::MarkDone, &change).await, Ok(Applied::Changed(Some(_)))));
    assert_eq!(db.dump(TABLE).await, Vec::<String>::new());
}

/// The unique key of the table is what makes it so.
#[rstest]
#[tokio::test]
async fn the_same_decision_is_impossible_twice_even_where_the_row_is_as_it_was_seen_again(
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = with_table(on).await else { return };
    let source = keeping(&db);
    let change = change_of(&reading(&*source, "a").await);
    source.apply(Choice::Retry, &change).await.unwrap();
    db.run(JOB).await;
    let fault = source.apply(Choice::Retry, &change).await.unwrap_err();
    let what = fault.what.to_lowercase();
    assert!(!fault.may_have_written && (what.contains("unique") || what.contains("duplicate")), "{fault:?}");
    assert_eq!(db.dump("jobs").await.len(), 1);
}

#[rstest]
#[tokio::test]
async fn the_statement_is_shown_before_it_runs(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = with_table(on).await else { return };
    let source = keeping(&db);
    let change = change_of(&reading(&*source, "a").await);
    let planned = source.plan(Choice::MarkDone, &change).unwrap();
    assert_eq!(planned.len(), 2);
    let table = db.quoted(TABLE);
    assert_eq!(
        planned[0].sql,
        format!(
            "INSERT INTO {table} (decision, item, choice, operator, decided_at) \
             VALUES (:kept_decision, :kept_item, :kept_choice, :kept_operator, :kept_decided_at)"
        )
    );
}

#[rstest]
#[case::none("", "has no table `our decisions` to write decisions down in")]
#[case::another(
    "CREATE TABLE \"our decisions\" (decision {int});",
    "has a table `our decisions` that is not made to write decisions down in"
)]
#[tokio::test]
async fn without_the_table_nothing_is_written_and_how_to_make_it_is_told(
    #[case] sql: &str,
    #[case] what: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, &format!("{TABLES}{JOB}{sql}")).await else { return };
    let (source, before) = (keeping(&db), db.dump("jobs").await);
    let change = change_of(&reading(&*source, "a").await);
    let expected = [
        format!("db: {what}"),
        format!("Make it with `{}`, or take `decisions_table` out.", create_sql(on, TABLE)),
    ];
    let fault = source.apply(Choice::MarkDone, &change).await.unwrap_err();
    assert_eq!((db.told(&fault), fault.may_have_written), (expected.clone(), false));
    assert_eq!(db.told(&source.has_decision(change.decision).await.unwrap_err()), expected);
    assert_eq!(db.dump("jobs").await, before);
    let lines = source.examine().await;
    assert!(lines.iter().any(|line| line.what == "decisions table" && line.finding.contains(what)));
}

#[rstest]
#[tokio::test]
async fn a_source_without_such_a_table_says_so(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, &format!("{TABLES}{JOB}")).await else { return };
    assert_eq!(db.preset("jobs").has_decision(Uuid::from_u128(7)).await, Ok(None));
}
