//! Pages by the number of the row: every row once, whatever the table is.

use super::*;
use pretty_assertions::assert_eq;
use rstest::rstest;

fn page_of(items_max: usize) -> Wanted {
    Wanted { page_items_max: items_max, ..everything() }
}

const ROWS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25)
INSERT INTO t(k, s) SELECT printf('k%02d', i), 'failed' FROM n;";

#[rstest]
#[case::plain("CREATE TABLE t (k, s);")]
#[case::without_rowid("CREATE TABLE t (k PRIMARY KEY, s) WITHOUT ROWID;")]
#[case::rowid_taken("CREATE TABLE t (k, s, rowid TEXT, oid TEXT);")]
#[case::all_names_taken("CREATE TABLE t (k, s, rowid TEXT, oid TEXT, _rowid_ TEXT);")]
#[tokio::test]
async fn every_row_is_read_once(#[case] create: &str, #[values(1, 4, 5, 25, 26)] items_max: usize) {
    let file = File::with(&format!("{create}{ROWS}"));
    let items = scan_all(&file.mapped(""), &page_of(items_max)).await;
    let expected: Vec<String> = (1..=25).map(|i| format!("k{i:02}")).collect();
    assert_eq!(keys(&items), expected);
}

#[tokio::test]
async fn a_view_is_read_whole() {
    let file = File::with(&format!(
        "CREATE TABLE u (k, s); {} CREATE VIEW t AS SELECT k, s, 1 AS rowid FROM u",
        ROWS.replace("INTO t", "INTO u")
    ));
    assert_eq!(scan_all(&file.mapped(""), &page_of(4)).await.len(), 25);
}

#[tokio::test]
async fn the_lowest_and_the_highest_row_number_are_read() {
    let file = File::with(&format!(
        "CREATE TABLE t (k INTEGER PRIMARY KEY, s); INSERT INTO t VALUES ({}, 'failed'), (0, 'failed'), ({}, 'failed')",
        i64::MIN,
        i64::MAX
    ));
    let items = scan_all(&file.mapped(""), &page_of(1)).await;
    assert_eq!(keys(&items), ["-9223372036854775808", "0", "9223372036854775807"]);
}

#[tokio::test]
async fn the_parts_of_a_large_table_read_every_row_once() {
    let file = File::with(
        "CREATE TABLE t (k, s);
         WITH RECURSIVE n(i) AS (SELECT -3 UNION ALL SELECT i + 1 FROM n WHERE i < 96)
         INSERT INTO t(rowid, k, s) SELECT i * 10000, printf('k%02d', i + 3), 'failed' FROM n;",
    );
    let source = file.mapped("");
    let parts = source.parts(4).await.unwrap();
    assert_eq!(parts.len(), 4);
    let mut items = Vec::new();
    for part in parts {
        let mut after = part;
        while let Some(cursor) = after {
            let page = source.scan(&page_of(7), Some(cursor)).await.unwrap();
            items.extend(page.items);
            after = page.next;
        }
    }
    let expected: Vec<String> = (0..100).map(|i| format!("k{i:02}")).collect();
    assert_eq!(keys(&items), expected);
}

#[rstest]
#[case::small(ROWS)]
#[case::empty("")]
#[tokio::test]
async fn a_small_table_is_read_in_one_part(#[case] rows: &str) {
    let file = File::with(&format!("CREATE TABLE t (k, s);{rows}"));
    assert_eq!(file.mapped("").parts(4).await, Ok(vec![None]));
}

#[tokio::test]
async fn the_widest_span_of_row_numbers_is_divided() {
    let file = File::with(&format!(
        "CREATE TABLE t (k INTEGER PRIMARY KEY, s); INSERT INTO t VALUES ({}, 'failed'), ({}, 'failed')",
        i64::MIN,
        i64::MAX
    ));
    let source = file.mapped("");
    let mut found = Vec::new();
    for part in source.parts(3).await.unwrap() {
        found.extend(source.scan(&page_of(7), part).await.unwrap().items);
    }
    assert_eq!(keys(&found), ["-9223372036854775808", "9223372036854775807"]);
}
