//! What a scan makes of rows: states, fields, attempts, errors.

use super::*;
use crate::domain::item::{LastError, State};
use crate::domain::moment::Reading as Time;
use pretty_assertions::assert_eq;
use rstest::rstest;

#[rstest]
#[case::jobs("jobs", "({k}, {s}, '2026-05-04T10:00:00.000001', {e})")]
#[case::processed_items("processed_items", "({k}, {s}, 1, '2026-05-04T10:00:00.000001', {e})")]
#[case::sent_emails("sent_emails", "({k}, {s}, '2026-05-04T10:00:00.000001')")]
#[tokio::test]
async fn every_built_in_preset_reads_its_table(
    #[case] name: &str,
    #[case] row: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let rows = [("'a'", "'running'", "NULL"), ("'b'", "'failed'", "'timed out'"), ("'c'", "'done'", "NULL")]
        .map(|(k, s, e)| row.replace("{k}", k).replace("{s}", s).replace("{e}", e));
    let insert = format!("INSERT INTO {name} VALUES {}", rows.join(", "));
    let Some(db) = Db::with(on, &format!("{TABLES}{insert}")).await else { return };
    let items = scan_all(&*db.preset(name), &everything()).await;
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
#[tokio::test]
async fn the_first_rule_that_fits_decides(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE t (k {int} PRIMARY KEY, s {text}, e {text}); INSERT INTO t VALUES
        (1,'failed','released x'),(2,'failed','y'),(3,'other',''),(4,'failed',NULL),(5,'parked',''),(6,NULL,'');";
    let Some(db) = Db::with(on, create).await else { return };
    let source = db.through(
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
            { is = "dead", when_null = ["s"] },
            { is = "done", when = { s = "done" }, when_not_null = ["e"] },
        ]
        "#,
    );
    let items = scan_all(&*source, &everything()).await;
    let mut states: Vec<_> = items.iter().map(|item| (item.key.as_str(), item.state)).collect();
    states.sort_unstable_by_key(|(key, _)| *key);
    let expected = [
        ("1", State::Pending),
        ("2", State::Failed),
        ("3", State::Dead),
        ("4", State::Failed),
        ("6", State::Dead),
    ];
    assert_eq!(states, expected);
    // What no rule names is never a finding; it can be looked at.
    assert_eq!(reading(&*source, "5").await.item.state, State::Pending);
}

/// A text that begins with signs that mean something to a pattern is only a text.
#[rstest]
#[tokio::test]
async fn a_beginning_is_compared_letter_by_letter(
    #[values("100%", "a_b", "it's", "back\\slash", "é", "x ")] beginning: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let value = beginning.replace('\'', "''");
    let create = format!(
        "CREATE TABLE t (k {{int}} PRIMARY KEY, s {{text}}, e {{text}}); INSERT INTO t VALUES
        (1,'failed','{value} and more'),(2,'failed','{value}'),(3,'failed','axb 100x back slash')"
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let text = MAPPING.replace(
        "{ is = \"failed\", when = { s = \"failed\" } },",
        &format!("{{ is = \"failed\", when_begins_with = {{ e = '''{beginning}''' }} }},"),
    );
    assert_eq!(keys(&scan_all(&*db.through(&text), &everything()).await), ["1", "2"]);
}

#[rstest]
#[case::number("{int}", "3", Some(3), "")]
#[case::null("{int}", "NULL", None, "")]
#[case::number_as_text("{text}", "' 4 '", Some(4), "")]
#[case::text("{text}", "'abc'", None, "Its n holds abc, which is not a number.")]
#[case::escape("{text}", "'\u{1b}[2J'", None, "Its n holds ␛[2J, which is not a number.")]
#[case::bytes("{bytes}", "{x:00}", None, "Its n holds x'00', which is not a number.")]
#[tokio::test]
async fn attempts_that_are_no_number_are_an_oddity(
    #[case] declared: &str,
    #[case] value: &str,
    #[case] attempts: Option<i64>,
    #[case] oddity: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let create = format!(
        "CREATE TABLE t (k {{int}} PRIMARY KEY, s {{text}}, n {declared}); INSERT INTO t VALUES (1,'failed',{value})"
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let items = scan_all(&*db.mapped("attempts = \"n\""), &everything()).await;
    assert_eq!(items[0].attempts, attempts);
    assert_eq!(items[0].oddities.join(" "), oddity);
}

#[rstest]
#[case::null("{text}", "NULL", LastError::Absent)]
#[case::empty("{text}", "''", LastError::of(""))]
#[case::bytes("{bytes}", "{x:E900}", LastError::of("x'E900'"))]
#[case::number("{int}", "7", LastError::of("7"))]
#[case::real("{real}", "1.5", LastError::of("1.5"))]
#[tokio::test]
async fn null_empty_and_odd_errors_are_told_apart(
    #[case] declared: &str,
    #[case] value: &str,
    #[case] error: LastError,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let create = format!(
        "CREATE TABLE t (k {{int}} PRIMARY KEY, s {{text}}, e {declared}); INSERT INTO t VALUES (1,'failed',{value})"
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let items = scan_all(&*db.mapped("error = \"e\""), &everything()).await;
    assert_eq!(items[0].last_error, error);
}

#[rstest]
#[case::sqlite(Sqlite, "json_extract(args, '$.id')", Cell::Integer(1_970_670_598_291_982_290))]
#[case::postgres(Postgres, "args::jsonb -> 'id'", text("1970670598291982290"))]
#[case::mysql(Mysql, "json_value(args, '$.id')", text("1970670598291982290"))]
#[tokio::test]
async fn fields_are_expressions_over_the_row(
    #[case] on: Engine,
    #[case] order: &str,
    #[case] expected: Cell,
) {
    let create = "CREATE TABLE t (k {int} PRIMARY KEY, s {text}, args {text});
        INSERT INTO t VALUES (1,'failed','{\"id\":1970670598291982290}')";
    let Some(db) = Db::with(on, create).await else { return };
    let source = db.mapped(&format!("[fields]\norder = \"{order}\"\nupper = \"upper(s)\""));
    let items = scan_all(&*source, &everything()).await;
    assert_eq!(cell_named(&items[0], "order"), expected);
    assert_eq!(cell_named(&items[0], "upper"), text("FAILED"));
}
