//! A table of ours beside the jobs: a decision is there exactly when it was carried out.

use super::*;
use crate::adapters::sql::decisions_table::create_sql;
use crate::domain::decision::Choice;
use crate::ports::source::Applied;
use pretty_assertions::assert_eq;
use rstest::rstest;

const JOB: &str = "INSERT INTO jobs VALUES ('a','failed','2026-05-04T10:00:00.000001','timed out');";
const TABLE: &str = "our decisions";

fn keeping(file: &File) -> SqliteSource {
    let preset = changed(&built_in("jobs"), |mapping| mapping.decisions_table = Some(TABLE.to_owned()));
    SqliteSource::new("jobs", file.path(), preset)
}

fn with_table() -> File {
    File::with(&format!("{TABLES}{JOB}{}", create_sql(Engine::Sqlite, TABLE)))
}

#[rstest]
#[case::done(Choice::MarkDone, "mark_done")]
#[case::retry(Choice::Retry, "retry")]
#[case::escalate(Choice::Escalate, "escalate")]
#[tokio::test]
async fn a_decision_is_written_down_in_its_own_transaction(#[case] choice: Choice, #[case] word: &str) {
    let file = with_table();
    let source = keeping(&file);
    let change = change_of(&reading(&source, "a").await);
    assert_eq!(source.has_decision(change.decision).await, Ok(Some(false)));
    assert!(matches!(source.apply(choice, &change).await, Ok(Applied::Written { .. })));
    assert_eq!(source.has_decision(change.decision).await, Ok(Some(true)));
    let id = change.decision;
    assert_eq!(dump(&file.path(), TABLE), [format!("'{id}','a','{word}','ana','2026-11-30T08:00:00.250Z'")]);
}

#[tokio::test]
async fn what_is_not_carried_out_is_not_written_down() {
    let file = with_table();
    let source = keeping(&file);
    let change = change_of(&reading(&source, "a").await);
    file.connect().execute_batch("UPDATE jobs SET last_error = 'another'").unwrap();
    assert!(matches!(source.apply(Choice::MarkDone, &change).await, Ok(Applied::Changed(Some(_)))));
    assert_eq!(dump(&file.path(), TABLE), Vec::<String>::new());
}

#[tokio::test]
async fn the_same_decision_is_impossible_twice_even_where_the_row_is_as_it_was_seen_again() {
    let file = with_table();
    let source = keeping(&file);
    let change = change_of(&reading(&source, "a").await);
    source.apply(Choice::Retry, &change).await.unwrap();
    file.connect().execute_batch(JOB).unwrap();
    let fault = source.apply(Choice::Retry, &change).await.unwrap_err();
    assert!(!fault.may_have_written && fault.what.contains("UNIQUE"), "{fault:?}");
    assert_eq!(dump(&file.path(), "jobs").len(), 1);
}

#[tokio::test]
async fn the_statement_is_shown_before_it_runs() {
    let file = with_table();
    let source = keeping(&file);
    let change = change_of(&reading(&source, "a").await);
    let planned = source.plan(Choice::MarkDone, &change).unwrap();
    assert_eq!(planned.len(), 2);
    assert_eq!(
        planned[0].sql,
        "INSERT INTO \"our decisions\" (decision, item, choice, operator, decided_at) \
         VALUES (:kept_decision, :kept_item, :kept_choice, :kept_operator, :kept_decided_at)"
    );
}

#[rstest]
#[case::none("", "has no table `our decisions` to write decisions down in")]
#[case::another(
    "CREATE TABLE \"our decisions\" (decision);",
    "has a table `our decisions` that is not made to write decisions down in"
)]
#[tokio::test]
async fn without_the_table_nothing_is_written_and_how_to_make_it_is_told(
    #[case] sql: &str,
    #[case] what: &str,
) {
    let file = File::with(&format!("{TABLES}{JOB}{sql}"));
    let (source, before) = (keeping(&file), dump(&file.path(), "jobs"));
    let change = change_of(&reading(&source, "a").await);
    let expected = [
        format!("jobs.db: {what}"),
        format!("Make it with `{}`, or take `decisions_table` out.", create_sql(Engine::Sqlite, TABLE)),
    ];
    let fault = source.apply(Choice::MarkDone, &change).await.unwrap_err();
    assert_eq!((told(&file, &fault), fault.may_have_written), (expected.clone(), false));
    assert_eq!(told(&file, &source.has_decision(change.decision).await.unwrap_err()), expected);
    assert_eq!(dump(&file.path(), "jobs"), before);
    assert!(
        source
            .examine()
            .await
            .iter()
            .any(|line| line.what == "decisions table" && line.finding.contains(what))
    );
}

#[tokio::test]
async fn a_source_without_such_a_table_says_so() {
    let file = File::with(&format!("{TABLES}{JOB}"));
    assert_eq!(file.preset("jobs").has_decision(Uuid::from_u128(7)).await, Ok(None));
}
