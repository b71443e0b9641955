//! What is wrong with a table, in exactly two lines, and what `doctor` tells.

use super::*;
use crate::ports::source::{Health, SourceFaultKind};
use pretty_assertions::assert_eq;
use rstest::rstest;

const SEE_COLUMNS: &str = "Map the columns in the configuration; `unstuck doctor` lists those there are.";
const SEE_PRESET: &str = "`unstuck doctor` shows the table's columns beside the preset's.";

#[rstest]
#[case::no_table(
    "CREATE TABLE other (x {int})",
    "",
    "db: has no table `t`",
    "`unstuck doctor` lists those there are."
)]
#[case::one_column("CREATE TABLE t (k {int})", "", "db: table `t` has no column `s`", SEE_COLUMNS)]
#[case::more_columns(
    "CREATE TABLE t (x {int})",
    "error = 'a'\npayload = 'b'",
    "db: table `t` has no column `a`, `b`, `k`, `s`",
    SEE_COLUMNS
)]
#[case::field(
    "CREATE TABLE t (k {int}, s {text})",
    "fields = { x = 'nowhere' }",
    "db: cannot be read ",
    SEE_PRESET
)]
#[case::syntax(
    "CREATE TABLE t (k {int}, s {text})",
    "fields = { x = 'k k k' }",
    "db: cannot be read ",
    SEE_PRESET
)]
#[tokio::test]
async fn a_table_that_is_not_as_the_preset_says(
    #[case] sql: &str,
    #[case] more: &str,
    #[case] what: &str,
    #[case] do_next: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, sql).await else { return };
    let fault = db.mapped(more).scan(&everything(), None).await.unwrap_err();
    assert_eq!((fault.kind, fault.may_have_written), (SourceFaultKind::Mismatch, false));
    let told = db.told(&fault);
    assert!(told[0].starts_with(what) && !told[0].contains('\n'), "{told:?}");
    assert!(told[1].ends_with(do_next) && !told[1].contains('\n'), "{told:?}");
}

#[rstest]
#[tokio::test]
async fn what_is_examined_is_told_line_by_line(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let rows =
        "INSERT INTO jobs VALUES ('a','running','2026-05-04 10:00:00',NULL), ('b','parked','soon',NULL)";
    let Some(db) = Db::with(on, &format!("{TABLES}{rows}")).await else { return };
    let lines = db.preset("jobs").examine().await;
    let line = |what: &str| {
        let line = lines.iter().find(|line| line.what == what).unwrap_or_else(|| panic!("{what}: {lines:?}"));
        (line.health, line.finding.as_str())
    };
    assert!(line("table").1.starts_with("jobs(key "), "{lines:?}");
    assert_eq!(
        line("statuses"),
        (Health::Doubtful, "`parked` = NOT IN THE PRESET (1), `running` = running (1)")
    );
    assert_eq!(line("times"), (Health::Good, "1 candidates looked at, all readable"));
    assert_eq!(line("decisions").0, Health::Good);
    assert!(line("decisions").1.ends_with("a worker that comes back late is unguarded"), "{lines:?}");
    assert_eq!(line("clock").0, Health::Good);
}

#[rstest]
#[tokio::test]
async fn a_wrong_table_is_examined_with_those_there_are(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, "CREATE TABLE jobs (id {int}, \"sta\u{1b}[31mtus\" {int})").await else {
        return;
    };
    let lines = db.preset("jobs").examine().await;
    assert_eq!(lines.iter().map(|line| line.health).max(), Some(Health::Misfit));
    let told: Vec<&str> = lines.iter().map(|line| line.finding.as_str()).collect();
    assert!(
        told.iter().any(|told| told.contains("has no column `key`, `last_error`, `status`, `updated_at`"))
    );
    assert!(told.contains(&"jobs(id, sta␛[31mtus)"), "{told:?}");
}

/// Reading never writes: not even where the preset's own SQL would.
#[rstest]
#[case::postgres(Postgres, "nextval('counter')")]
#[case::mysql(Mysql, "nextval(counter)")]
#[tokio::test]
async fn a_session_that_reads_cannot_write(#[case] on: Engine, #[case] expression: &str) {
    let create =
        "CREATE SEQUENCE counter; CREATE TABLE t (k {int}, s {text}); INSERT INTO t VALUES (1, 'failed')";
    let Some(db) = Db::with(on, create).await else { return };
    let source = db.mapped(&format!("fields = {{ x = \"{expression}\" }}"));
    let fault = source.scan(&everything(), None).await.unwrap_err();
    assert!(fault.what.to_lowercase().contains("read"), "{}", fault.what);
}
