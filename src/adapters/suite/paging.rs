//! Pages: every row once, whatever the key is and whoever writes in between.

use super::*;
use crate::ports::source::Page;
use pretty_assertions::assert_eq;
use rstest::rstest;

/// 25 rows whose keys are `k01` to `k25`.
fn rows() -> String {
    let values: Vec<String> = (1..=25).map(|i| format!("('k{i:02}', 'failed')")).collect();
    format!("INSERT INTO t (k, s) VALUES {};", values.join(", "))
}

fn expected() -> Vec<String> {
    (1..=25).map(|i| format!("k{i:02}")).collect()
}

#[rstest]
#[tokio::test]
async fn every_row_is_read_once(
    #[values(1, 4, 5, 25, 26)] items_max: usize,
    #[values("PRIMARY KEY", "")] index: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let create = format!("CREATE TABLE t (k {{name}} {index}, s {{text}});{}", rows());
    let Some(db) = Db::with(on, &create).await else { return };
    assert_eq!(keys(&scan_all(&*db.mapped(""), &page_of(items_max)).await), expected());
}

#[rstest]
#[tokio::test]
async fn the_lowest_and_the_highest_number_are_read(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE t (k {int} PRIMARY KEY, s {text});
        INSERT INTO t VALUES (-9223372036854775808, 'failed'), (0, 'failed'), (9223372036854775807, 'failed')";
    let Some(db) = Db::with(on, create).await else { return };
    let items = scan_all(&*db.mapped(""), &page_of(1)).await;
    assert_eq!(keys(&items), ["-9223372036854775808", "0", "9223372036854775807"]);
}

/// The mapping of a table whose key is two columns.
fn composite() -> String {
    MAPPING.replace("key = \"k\"", "key = [\"a\", \"b\"]")
}

#[rstest]
#[case::integer("{int}", "1")]
#[case::text("{name}", "'eu'")]
#[case::moment("{moment}", "'2026-05-04 10:00:00'")]
#[tokio::test]
async fn ties_in_the_first_column_of_a_key_are_read_once(
    #[case] declared: &str,
    #[case] tied: &str,
    #[values(1, 2, 3, 7)] items_max: usize,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let values: Vec<String> = (0..10).map(|b| format!("({tied}, {b}, 'failed')")).collect();
    let create = format!(
        "CREATE TABLE t (a {declared}, b {{int}}, s {{text}}, PRIMARY KEY (a, b)); INSERT INTO t VALUES {}",
        values.join(", ")
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let items = scan_all(&*db.through(&composite()), &page_of(items_max)).await;
    let numbers: Vec<String> = items.iter().map(|item| cell_named(item, "b").shown()).collect();
    assert_eq!(numbers, (0..10).map(|b| b.to_string()).collect::<Vec<_>>());
}

/// Rows that the database sorts as one: its order is coarser than what tells keys apart.
#[rstest]
#[case::case_and_spaces("{name}", &["'a'", "'A'", "'a '", "'b'", "'B'", "'á'"])]
#[case::nulls("{name}", &["NULL", "'a'", "''", "'NULL'"])]
#[case::numbers_and_null("{int}", &["NULL", "1", "2", "-1"])]
#[tokio::test]
async fn keys_that_sort_alike_are_read_once(
    #[case] declared: &str,
    #[case] values: &[&str],
    #[values(1, 2, 3)] items_max: usize,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let rows: Vec<String> = values.iter().map(|value| format!("({value}, 'failed')")).collect();
    let create =
        format!("CREATE TABLE t (k {declared}, s {{text}}); INSERT INTO t VALUES {}", rows.join(", "));
    let Some(db) = Db::with(on, &create).await else { return };
    let items = scan_all(&*db.mapped(""), &page_of(items_max)).await;
    let mut found: Vec<Vec<Cell>> = items.into_iter().map(|item| item.key.parts).collect();
    assert_eq!(found.len(), values.len(), "{found:?}");
    found.dedup();
    assert_eq!(found.len(), values.len(), "{found:?}");
}

#[rstest]
#[tokio::test]
async fn parts_of_a_key_that_are_null_are_read_once(
    #[values(1, 2, 3)] items_max: usize,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let create = "CREATE TABLE t (a {name}, b {int}, s {text}); INSERT INTO t VALUES
        (NULL, NULL, 'failed'), (NULL, 1, 'failed'), (NULL, 2, 'failed'), ('x', NULL, 'failed'), ('x', 1, 'failed'),
        ('y', 1, 'failed'), ('y', NULL, 'failed')";
    let Some(db) = Db::with(on, create).await else { return };
    let items = scan_all(&*db.through(&composite()), &page_of(items_max)).await;
    let listed = ["NULL/1", "NULL/2", "NULL/NULL", "x/1", "x/NULL", "y/1", "y/NULL"];
    assert_eq!(keys(&items), listed);
}

#[rstest]
#[case::unsigned("BIGINT UNSIGNED", &["18446744073709551613", "18446744073709551614", "18446744073709551615", "1"])]
#[case::decimal("DECIMAL(30,2)", &["12345678901234567890.51", "12345678901234567890.52", "1.00"])]
#[case::bytes("BINARY(4)", &["x'000000FF'", "x'FFFFFFFE'", "x'00000041'"])]
#[case::single("FLOAT", &["0.1", "0.2", "0.3"])]
#[case::latin("VARCHAR(9) CHARACTER SET latin1", &["'é'", "'z'", "'ö'"])]
#[case::one_of("ENUM('z','m','a')", &["'z'", "'m'", "'a'"])]
#[case::uuid("UUID", &["'018f3e9a-0000-7000-8000-000000000001'", "'f18f3e9a-0000-7000-8000-000000000002'", "'018f3e9a-0000-4000-8000-000000000003'"])]
#[case::time_of_day("TIME(6)", &["'10:00:00.5'", "'9:00:00'", "'-10:00:00'"])]
#[tokio::test]
async fn mysqls_own_types_are_read_once(
    #[case] declared: &str,
    #[case] values: &[&str],
    #[values(1, 2)] items_max: usize,
) {
    let rows: Vec<String> = values.iter().map(|value| format!("({value}, 'failed')")).collect();
    let create = format!(
        "CREATE TABLE t (k {declared} PRIMARY KEY, s {{text}}); INSERT INTO t VALUES {}",
        rows.join(", ")
    );
    let Some(db) = Db::with(Mysql, &create).await else { return };
    let items = scan_all(&*db.mapped(""), &page_of(items_max)).await;
    let mut found = keys(&items);
    found.dedup();
    assert_eq!((items.len(), found.len()), (values.len(), values.len()), "{found:?}");
}

#[rstest]
#[case::uuid("uuid", &["'018f3e9a-0000-7000-8000-000000000001'", "'f18f3e9a-0000-7000-8000-000000000002'", "'018f3e9a-0000-4000-8000-000000000003'"])]
#[case::numeric("numeric", &["12345678901234567890.51", "12345678901234567890.52", "1.50", "'NaN'"])]
#[case::single("real", &["0.1", "0.2", "0.3", "'Infinity'", "'NaN'"])]
#[case::moment("timestamptz", &["'infinity'", "'2026-05-04 10:00:00.000001+00'", "'2026-05-04 10:00:00.000002+00'"])]
#[case::bytes("bytea", &["'\\xFF'", "'\\x'", "'\\x41'"])]
#[case::one_of("mood", &["'z'", "'m'", "'a'"])]
#[case::padded("char(4)", &["'a'", "'A'", "'b'"])]
#[case::any_case("text COLLATE any_case", &["'a'", "'b'", "'c'"])]
#[case::list("int[]", &["'{1}'", "'{1,2}'", "'{0}'"])]
#[case::name("name", &["'a'", "'B'", "'c'"])]
#[tokio::test]
async fn postgres_own_types_are_read_once(
    #[case] declared: &str,
    #[case] values: &[&str],
    #[values(1, 2)] items_max: usize,
) {
    let rows: Vec<String> = values.iter().map(|value| format!("({value}, 'failed')")).collect();
    let create = format!(
        "CREATE TYPE mood AS ENUM ('z', 'm', 'a');
         CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
         CREATE TABLE t (k {declared} PRIMARY KEY, s {{text}}); INSERT INTO t VALUES {}",
        rows.join(", ")
    );
    let Some(db) = Db::with(Postgres, &create).await else { return };
    let items = scan_all(&*db.mapped(""), &page_of(items_max)).await;
    let mut found = keys(&items);
    found.dedup();
    assert_eq!((items.len(), found.len()), (values.len(), values.len()), "{found:?}");
}

/// A collation that minds no case, and a column without a unique index.
#[tokio::test]
async fn keys_that_postgres_sorts_alike_are_read_once() {
    let create =
        "CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
         CREATE TABLE t (k text COLLATE any_case, s text);
         INSERT INTO t VALUES ('a', 'failed'), ('A', 'failed'), ('b', 'failed'), ('B', 'failed')";
    let Some(db) = Db::with(Postgres, create).await else { return };
    let source = db.mapped("");
    assert_eq!(keys(&scan_all(&*source, &page_of(1)).await), ["A", "B", "a", "b"]);
    for key in ["a", "A", "b", "B"] {
        assert_eq!(reading(&*source, key).await.item.key.as_str(), key);
    }
}

async fn next_page(source: &dyn Source, page: &Page) -> Page {
    source.scan(&page_of(10), page.next.clone()).await.unwrap()
}

/// New keys before and behind the place where the scan stands, rows that are gone on both sides of it, and the very row at
/// which the page ended.
#[rstest]
#[tokio::test]
async fn rows_inserted_and_removed_between_pages_shift_nothing(
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let create = format!("CREATE TABLE t (k {{name}} PRIMARY KEY, s {{text}});{}", rows());
    let Some(db) = Db::with(on, &create).await else { return };
    let source = db.mapped("");
    let mut page = source.scan(&page_of(10), None).await.unwrap();
    let mut all = page.items.clone();
    for (gone, new) in [("'k01', 'k10', 'k25'", "'a'"), ("'k02', 'k20'", "'k15b'"), ("'k03'", "'zz'")] {
        db.run(&format!("DELETE FROM t WHERE k IN ({gone}); INSERT INTO t VALUES ({new}, 'failed')")).await;
        if page.next.is_some() {
            page = next_page(&*source, &page).await;
            all.extend(page.items.clone());
        }
    }
    assert_eq!(page.next, None);
    let read = keys(&all);
    for i in (1..=25).filter(|i| *i != 25) {
        let key = format!("k{i:02}");
        let times = read.iter().filter(|one| **one == key).count();
        // A row that was removed before its page came may be missing; none is ever there twice.
        let may_be_gone = i == 20;
        assert!(times == 1 || (may_be_gone && times == 0), "{key} was read {times} times");
    }
}

#[rstest]
#[tokio::test]
async fn rows_that_are_no_candidates_do_not_end_a_page(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = format!(
        "CREATE TABLE t (k {{name}} PRIMARY KEY, s {{text}});{} UPDATE t SET s = 'done' WHERE k NOT IN ('k05', 'k10', 'k15', 'k20', 'k25')",
        rows()
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let items = scan_all(&*db.mapped(""), &page_of(2)).await;
    assert_eq!(keys(&items), ["k05", "k10", "k15", "k20", "k25"]);
}

#[rstest]
#[tokio::test]
async fn a_view_is_read(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = format!(
        "CREATE TABLE u (k {{name}} PRIMARY KEY, s {{text}}); {} CREATE VIEW t AS SELECT k, s FROM u",
        rows().replace("INTO t", "INTO u")
    );
    let Some(db) = Db::with(on, &create).await else { return };
    assert_eq!(keys(&scan_all(&*db.mapped(""), &page_of(4)).await), expected());
}

#[rstest]
#[tokio::test]
async fn the_parts_of_a_table_read_every_row_once(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = format!("CREATE TABLE t (k {{name}} PRIMARY KEY, s {{text}});{}", rows());
    let Some(db) = Db::with(on, &create).await else { return };
    let source = db.mapped("");
    let mut items = Vec::new();
    for part in source.parts(4).await.unwrap() {
        let mut page = source.scan(&page_of(7), part).await.unwrap();
        items.append(&mut page.items);
        while page.next.is_some() {
            page = source.scan(&page_of(7), page.next).await.unwrap();
            items.append(&mut page.items);
        }
    }
    assert_eq!(keys(&items), expected());
}
