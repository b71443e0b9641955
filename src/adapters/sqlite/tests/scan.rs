//! What a scan makes of rows: states, types, fields, leases, attempts.

use super::*;
use crate::domain::item::{LastError, Lease, State};
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
        _ => [LastError::Absent, LastError::Text("timed out".to_owned())],
    };
    assert_eq!(errors, expected);
}

#[tokio::test]
async fn the_first_rule_that_fits_decides() {
    let file = File::with(
        "CREATE TABLE t (k, s, e); INSERT INTO t VALUES (1,'failed','released x'),(2,'failed','y'),(3,'other','')",
    );
    let preset = mapping(
        r#"
        table = "t"
        key = "k"
        status = "s"
        error = "e"
        version = ["s"]
        state = [
            { is = "running", when = { s = "running" } },
            { is = "pending", when = { s = "failed" }, when_begins_with = { e = "released" } },
            { is = "failed", when = { s = "failed" } },
            { is = "dead", when_sql = "s = 'other' AND k > 2" },
            { is = "done", when = { s = "done" } },
        ]
        "#,
    );
    let source = SqliteSource::new("mapped", file.path(), preset);
    let items = scan_all(&source, &everything()).await;
    let states: Vec<_> = items.iter().map(|item| (item.key.as_str(), item.state)).collect();
    assert_eq!(states, [("1", State::Pending), ("2", State::Failed), ("3", State::Dead)]);
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
#[case::empty("''", LastError::Text(String::new()))]
#[case::bad_text("CAST(x'E9' AS TEXT)", LastError::Text("\\xE9".to_owned()))]
#[case::blob("x'E900'", LastError::Text("x'E900'".to_owned()))]
#[case::number("7", LastError::Text("7".to_owned()))]
#[tokio::test]
async fn null_empty_and_odd_errors_are_told_apart(#[case] value: &str, #[case] error: LastError) {
    let file =
        File::with(&format!("{TABLES} INSERT INTO jobs VALUES ('a','failed','2026-05-04 10:00:00',{value})"));
    let items = scan_all(&file.preset("jobs"), &everything()).await;
    assert_eq!(items[0].last_error, error);
}

#[tokio::test]
async fn fields_are_expressions_over_the_row() {
    let file = File::with(
        "CREATE TABLE t (k, s, args); INSERT INTO t VALUES (1,'failed','{\"id\":1970670598291982290}')",
    );
    let source = file.mapped("[fields]\norder = \"json_extract(args, '$.id')\"\nupper = \"upper(s)\"");
    let items = scan_all(&source, &everything()).await;
    assert_eq!(cell_named(&items[0], "order"), Cell::Integer(1_970_670_598_291_982_290));
    assert_eq!(cell_named(&items[0], "upper"), text("FAILED"));
}

#[rstest]
#[case::ends_at(
    "ends_at = \"l\"",
    "'2026-05-04 10:00:00'",
    Lease::EndsAt(Time::Known(at("2026-05-04T10:00:00Z")))
)]
#[case::endless("ends_at = \"l\"", "NULL", Lease::EndsAt(Time::Missing))]
#[case::seconds("seconds = \"l\"", "3600", Lease::Seconds(Some(3600)))]
#[case::unlimited("seconds = \"l\"\nunlimited = [-1, 0]", "-1", Lease::Seconds(None))]
#[case::zero_is_a_limit("seconds = \"l\"", "0", Lease::Seconds(Some(0)))]
#[case::negative("seconds = \"l\"", "-1", Lease::None)]
#[case::no_number("seconds = \"l\"", "'soon'", Lease::None)]
#[case::heartbeat(
    "heartbeat = \"l\"\nheartbeat_limit = \"1m\"",
    "'2026-05-04 10:00:00'",
    Lease::Heartbeat { beat: Time::Known(at("2026-05-04T10:00:00Z")), limit_seconds: 60 }
)]
#[tokio::test]
async fn a_lease_is_read_as_the_preset_says(
    #[case] lease: &str,
    #[case] value: &str,
    #[case] expected: Lease,
) {
    let file = File::with(&format!("CREATE TABLE t (k, s, l); INSERT INTO t VALUES (1,'running',{value})"));
    let source = file.mapped(&format!("[lease]\n{lease}"));
    // A lease decides by itself: no age keeps such a row from being handed out.
    let items = scan_all(&source, &older_than(TimeDelta::days(30_000))).await;
    assert_eq!(items[0].times.lease, expected);
}

#[tokio::test]
async fn names_with_quotes_spaces_and_statements_are_names() {
    let table = "we\"ird; drop";
    let file = File::with(
        "CREATE TABLE \"we\"\"ird; drop\" (\"the key\" TEXT, \"sta\"\"tus\" TEXT, \"updated at\" TEXT);
         INSERT INTO \"we\"\"ird; drop\" VALUES ('a', 'running', '2026-05-04 10:00:00'), ('it''s', 'failed', NULL)",
    );
    let preset = mapping(
        r#"
        table = 'we"ird; drop'
        key = "the key"
        status = 'sta"tus'
        version = ['sta"tus', "updated at"]
        times = { updated = "updated at" }
        state = [
            { is = "running", when = { 'sta"tus' = "running" } },
            { is = "failed", when = { 'sta"tus' = ["failed", "it's"] } },
            { is = "done", when = { 'sta"tus' = "done" } },
        ]
        [decisions]
        late_writer = "guarded"
        done = { leaves = "done", statements = [
            { rows = 1, sql = "UPDATE {table} SET \"sta\"\"tus\" = 'done', \"updated at\" = :now WHERE {unchanged}" },
        ] }
        "#,
    );
    let source = SqliteSource::new("mapped", file.path(), preset);
    assert_eq!(keys(&scan_all(&source, &everything()).await), ["a", "it's"]);
    let change = change_of(&reading(&source, "it's").await);
    source.apply(crate::domain::decision::Choice::MarkDone, &change).await.unwrap();
    let rows = ["'a','running','2026-05-04 10:00:00'", "'it''s','done','2026-11-30T08:00:00.250000'"];
    assert_eq!(dump(&file.path(), table), rows);
}
