//! What a scan makes of rows in each journal mode, and of values whose type is not their column's.

use super::*;
use crate::domain::item::{LastError, State};
use crate::domain::moment::Reading as Time;
use pretty_assertions::assert_eq;
use rstest::rstest;

const OLD: &str = "2026-05-04T10:00:00.000001";

#[rstest]
#[case::jobs(
    "jobs",
    "INSERT INTO jobs VALUES ('a','running',?1,NULL),('b','failed',?1,'timed out'),('c','done',?1,NULL)"
)]
#[case::processed_items(
    "processed_items",
    "INSERT INTO processed_items VALUES ('a','running',1,?1,NULL),('b','failed',2,?1,'timed out'),('c','done',1,?1,NULL)"
)]
#[case::sent_emails(
    "sent_emails",
    "INSERT INTO sent_emails VALUES ('a','running',?1),('b','failed',?1),('c','done',?1)"
)]
#[tokio::test]
async fn every_built_in_preset_reads_its_table(
    #[case] name: &str,
    #[case] insert: &str,
    #[values("wal", "delete")] journal: &str,
) {
    let file = File::with(&format!("PRAGMA journal_mode = {journal};{TABLES}"));
    file.connect().execute(insert, [OLD]).unwrap();
    let items = scan_all(&file.preset(name), &everything()).await;
    assert_eq!(keys(&items), ["a", "b"]);
    assert_eq!(items.iter().map(|item| item.state).collect::<Vec<_>>(), [State::Running, State::Failed]);
    let known = Time::Known(at("2026-05-04T10:00:00.000001Z"));
    let time = if name == "sent_emails" { &items[0].times.created } else { &items[0].times.updated };
    assert_eq!(*time, known);
    let errors: Vec<_> = items.iter().map(|item| item.last_error.clone()).collect();
    let expected = match name {
        "sent_emails" => [LastError::NotKept, LastError::NotKept],
        _ => [LastError::Absent, LastError::of("timed out")],
    };
    assert_eq!(errors, expected);
}

#[rstest]
#[case::number("3", Some(3), "")]
#[case::null("NULL", None, "")]
#[case::number_as_text("' 4 '", Some(4), "")]
#[case::text("'abc'", None, "Its attempts holds abc, which is not a number.")]
#[case::escape("char(27) || '[2J'", None, "Its attempts holds ␛[2J, which is not a number.")]
#[case::blob("x'00'", None, "Its attempts holds x'00', which is not a number.")]
#[tokio::test]
async fn attempts_that_are_no_number_are_an_oddity(
    #[case] value: &str,
    #[case] attempts: Option<i64>,
    #[case] oddity: &str,
) {
    let file = File::with(&format!(
        "{TABLES} INSERT INTO processed_items VALUES ('a','failed',{value},'2026-05-04 10:00:00',NULL)"
    ));
    let items = scan_all(&file.preset("processed_items"), &everything()).await;
    assert_eq!(items[0].attempts, attempts);
    assert_eq!(items[0].oddities.join(" "), oddity);
}

#[rstest]
#[case::null("NULL", LastError::Absent)]
#[case::empty("''", LastError::of(""))]
#[case::bad_text("CAST(x'E9' AS TEXT)", LastError::of("\\xE9"))]
#[case::blob("x'E900'", LastError::of("x'E900'"))]
#[case::number("7", LastError::of("7"))]
#[tokio::test]
async fn null_empty_and_odd_errors_are_told_apart(#[case] value: &str, #[case] error: LastError) {
    let file =
        File::with(&format!("{TABLES} INSERT INTO jobs VALUES ('a','failed','2026-05-04 10:00:00',{value})"));
    let items = scan_all(&file.preset("jobs"), &everything()).await;
    assert_eq!(items[0].last_error, error);
}
