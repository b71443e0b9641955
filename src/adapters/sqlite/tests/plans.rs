//! How SQLite goes about a scan: finished rows are not read where an index tells them apart.

use super::*;
use rstest::rstest;

/// SQLite's own account of how it would carry out a scan.
fn plan_of(file: &File, source: &SqliteSource) -> String {
    let connection = file.connect();
    let sql = crate::adapters::sqlite::query::scan_sql(
        &source.inner.known.picked().unwrap().sql(Engine::Sqlite),
        Some("rowid"),
        &older_than(TimeDelta::minutes(30)),
        now(),
    );
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let lines = statement.query_map([i64::MIN, i64::MAX], |row| row.get::<_, String>(3)).unwrap();
    lines.collect::<Result<Vec<_>, _>>().unwrap().join("\n")
}

#[rstest]
#[case::jobs("jobs")]
#[case::processed_items("processed_items")]
#[case::sent_emails("sent_emails")]
fn an_index_on_the_status_is_used(#[case] table: &str, #[values(false, true)] analyzed: bool) {
    let file = File::with(&format!(
        "{TABLES} CREATE INDEX by_status ON {table}(status);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
         INSERT INTO {table}(rowid, status) SELECT i, 'done' FROM n;
         INSERT INTO {table}(status) VALUES ('running'), ('failed');"
    ));
    if analyzed {
        file.connect().execute_batch("ANALYZE").unwrap();
    }
    let plan = plan_of(&file, &file.preset(table));
    assert!(plan.contains("USING INDEX by_status (status=?"), "{plan}");
    assert!(!plan.contains("SCAN"), "{plan}");
}

#[test]
fn without_an_index_one_pass_in_the_order_of_the_rows_does() {
    let file = File::with(TABLES);
    let plan = plan_of(&file, &file.preset("jobs"));
    assert_eq!(plan, "SEARCH jobs USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)");
}
