//! Every key that is listed can be typed, and means that row alone; what no row can have as its key is not there.

use super::*;
use crate::domain::decision::Choice;
use crate::ports::source::Applied;
use pretty_assertions::assert_eq;
use rstest::rstest;

const DECISIONS: &str = "
[decisions]
late_writer = \"guarded\"
retry = { leaves = \"absent\", statements = [{ rows = 1, sql = \"DELETE FROM {table} WHERE {unchanged}\" }] }
";

/// Each listed item is read by its key as it is printed, and a decision on it is one on that row.
async fn listed_is_read_and_decided(db: &Db, source: &dyn Source, count: usize) {
    let items = scan_all(source, &everything()).await;
    assert_eq!(items.len(), count);
    for (at, item) in items.iter().enumerate() {
        let found = reading(source, item.key.as_str()).await;
        assert_eq!(found.item, *item);
        assert!(source.payload(&item.key, 10).await.unwrap().is_some());
        let applied = source.apply(Choice::Retry, &change_of(&found)).await.unwrap();
        assert!(
            matches!(applied, Applied::Written { after: None, .. }),
            "{}: {applied:?}",
            item.key.as_str()
        );
        assert_eq!(db.dump("t").await.len(), count - at - 1);
    }
}

#[rstest]
#[case::texts("{name}", &["'inv-1'", "'007'", "''", "'it''s'", "'\\xE9'", "'a\nb'", "'\u{202e}b'", "'NULL'", "'é😀'", "'$1'", "'?'", "'%'", "'x''00'''"])]
#[case::integers("{int}", &["41", "-41", "0", "9223372036854775807", "-9223372036854775808"])]
#[case::reals("{real}", &["1.5", "2.0", "-0.1", "1e300", "5e-324"])]
#[case::moments("{moment}", &["'2026-05-04 10:00:00.123456'", "'2026-05-04 10:00:00'"])]
#[tokio::test]
async fn a_listed_key_reads_its_row_back(
    #[case] declared: &str,
    #[case] values: &[&str],
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let rows: Vec<String> = values.iter().map(|value| format!("({value}, 'failed', 'x')")).collect();
    let create = format!(
        "CREATE TABLE t (k {declared} PRIMARY KEY, s {{text}}, p {{text}}); INSERT INTO t VALUES {}",
        rows.join(", ")
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let source = db.mapped(&format!("payload = \"p\"\n{DECISIONS}"));
    listed_is_read_and_decided(&db, &*source, values.len()).await;
}

#[rstest]
#[case::sqlite_bytes(Sqlite, "BLOB", &["x'CAFE00'", "x''", "x'41'"])]
#[case::bytes(Postgres, "bytea", &["'\\xCAFE00'", "'\\x'", "'\\x41'"])]
#[case::uuid(Postgres, "uuid", &["'018f3e9a-0000-7000-8000-000000000001'"])]
#[case::numeric(Postgres, "numeric", &["1.50", "12345678901234567890.5"])]
#[case::single(Postgres, "real", &["0.1", "16777217"])]
#[case::small(Postgres, "smallint", &["7", "-7"])]
#[case::padded(Postgres, "char(5)", &["'a'", "'A'"])]
#[case::one_of(Postgres, "mood", &["'so so'", "'fine'"])]
#[case::day(Postgres, "date", &["'2026-05-04'"])]
#[case::json(Postgres, "jsonb", &["'{\"a\": [1, null]}'"])]
#[case::list(Postgres, "text[]", &["'{a,\"b c\"}'"])]
#[case::uuid_as_bytes(Mysql, "BINARY(16)", &["x'018F3E9A00007000800000000000FFFE'", "x'00000000000000000000000000000041'"])]
#[case::bytes(Mysql, "VARBINARY(16)", &["x'CAFE00'", "x''", "x'41'"])]
#[case::uuid(Mysql, "UUID", &["'018f3e9a-0000-7000-8000-000000000001'"])]
#[case::uuid_as_text(Mysql, "CHAR(36) CHARACTER SET ascii", &["'018f3e9a-0000-7000-8000-000000000001'"])]
#[case::unsigned(Mysql, "BIGINT UNSIGNED", &["18446744073709551615", "18446744073709551614", "9223372036854775808", "1"])]
#[case::decimal(Mysql, "DECIMAL(30,2)", &["1.50", "12345678901234567890.51", "12345678901234567890.52"])]
#[case::single(Mysql, "FLOAT", &["0.1", "16777216"])]
#[case::latin(Mysql, "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_bin", &["'é'", "'e'", "'É'"])]
#[case::wide(Mysql, "VARCHAR(20) CHARACTER SET utf16", &["'é'", "'a'"])]
#[case::exact(Mysql, "VARCHAR(20) COLLATE utf8mb4_bin", &["'a'", "'A'", "'é'"])]
#[case::one_of(Mysql, "ENUM('so so', 'fine')", &["'so so'", "'fine'"])]
#[case::day(Mysql, "DATE", &["'2026-05-04'"])]
#[case::time_of_day(Mysql, "TIME", &["'10:00:00'", "'-100:00:01'"])]
#[case::stamp(Mysql, "TIMESTAMP(6)", &["'2026-05-04 10:00:00.123456'"])]
#[case::year(Mysql, "YEAR", &["2026"])]
#[case::bits(Mysql, "BIT(8)", &["b'101'"])]
#[case::address(Mysql, "INET6", &["'::1'", "'2001:db8::ff'"])]
#[tokio::test]
async fn a_listed_key_of_an_engines_own_type_reads_its_row_back(
    #[case] on: Engine,
    #[case] declared: &str,
    #[case] values: &[&str],
) {
    let rows: Vec<String> = values.iter().map(|value| format!("({value}, 'failed', 'x')")).collect();
    let mood = if declared == "mood" { "CREATE TYPE mood AS ENUM ('so so', 'fine');" } else { "" };
    let create = format!(
        "{mood} CREATE TABLE t (k {declared} PRIMARY KEY, s {{text}}, p {{text}}); INSERT INTO t VALUES {}",
        rows.join(", ")
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let source = db.mapped(&format!("payload = \"p\"\n{DECISIONS}"));
    listed_is_read_and_decided(&db, &*source, values.len()).await;
}

#[rstest]
#[case::text_and_integer("{name}", "{int}", &["'eu', 7", "'eu/west', 7", "'', 0", "'eu', -7"])]
#[case::integer_and_text("{int}", "{name}", &["7, 'a/b/c'", "7, ''", "8, '/'"])]
#[case::texts("{name}", "{name}", &["'a/b', 'c'", "'x', 'y'", "'', ''", "'A', 'b'"])]
#[tokio::test]
async fn a_composite_key_reads_its_row_back(
    #[case] first: &str,
    #[case] second: &str,
    #[case] values: &[&str],
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let rows: Vec<String> = values.iter().map(|value| format!("({value}, 'failed', 'x')")).collect();
    let create = format!(
        "CREATE TABLE t (a {first}, b {second}, s {{text}}, p {{text}}, PRIMARY KEY (a, b)); INSERT INTO t VALUES {}",
        rows.join(", ")
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let mapping = MAPPING.replace("key = \"k\"", "key = [\"a\", \"b\"]\npayload = \"p\"");
    let source = db.through(&format!("{mapping}{DECISIONS}"));
    listed_is_read_and_decided(&db, &*source, values.len()).await;
}

#[rstest]
#[tokio::test]
async fn two_rows_that_are_written_alike_are_never_taken_for_each_other(
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let create = "CREATE TABLE t (a {name}, b {name}, s {text}, PRIMARY KEY (a, b));
         INSERT INTO t VALUES ('x', 'y/z', 'failed'), ('x/y', 'z', 'failed')";
    let Some(db) = Db::with(on, create).await else { return };
    let source = db.through(&MAPPING.replace("key = \"k\"", "key = [\"a\", \"b\"]"));
    let fault = source.read("x/y/z").await.unwrap_err();
    let lines = [
        "db: has 2 items that are written `x/y/z`",
        "Give the preset a key whose values differ in writing, such as the row's number.",
    ];
    assert_eq!(db.told(&fault), lines);
}

#[rstest]
#[tokio::test]
async fn another_spelling_of_a_number_finds_it(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE t (k {int} PRIMARY KEY, s {text}); INSERT INTO t VALUES (7, 'failed')";
    let Some(db) = Db::with(on, create).await else { return };
    assert_eq!(reading(&*db.mapped(""), "007").await.item.key.as_str(), "7");
}

/// What people type, mistype and paste.
const TYPED: [&str; 17] = [
    "8",
    "",
    " ",
    "x'",
    "x'0'",
    "x'00'",
    "NULL",
    "7; DROP TABLE t",
    "\\x",
    "\\xE9",
    "' OR 1=1 --",
    "7.5",
    "99999999999999999999999999",
    "2026-02-30 25:00",
    "a\0b",
    "\u{1b}[31m",
    "018f3e9a-0000-7000-8000-00000000000z",
];

#[rstest]
#[case::text("{name}", "'7'")]
#[case::integer("{int}", "7")]
#[case::real("{real}", "7")]
#[case::moment("{moment}", "'2026-05-04 10:00:00'")]
#[tokio::test]
async fn what_no_row_has_as_its_key_is_not_there(
    #[case] declared: &str,
    #[case] value: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let create = format!(
        "CREATE TABLE t (k {declared} PRIMARY KEY, s {{text}}); INSERT INTO t VALUES ({value}, 'failed')"
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let source = db.mapped("");
    for typed in TYPED {
        assert_eq!(source.read(typed).await, Ok(None), "{typed:?}");
    }
}

#[rstest]
#[case::uuid(Postgres, "uuid", "'018f3e9a-0000-7000-8000-000000000001'")]
#[case::bytes(Postgres, "bytea", "'\\xCAFE'")]
#[case::numeric(Postgres, "numeric(6,2)", "3")]
#[case::small(Postgres, "smallint", "3")]
#[case::truth(Postgres, "boolean", "true")]
#[case::one_of(Postgres, "mood", "'fine'")]
#[case::day(Postgres, "date", "'2026-05-04'")]
#[case::json(Postgres, "jsonb", "'{}'")]
#[case::list(Postgres, "int[]", "'{1}'")]
#[case::span(Postgres, "interval", "'1 day'")]
#[case::address(Postgres, "inet", "'10.0.0.1'")]
#[case::bits(Postgres, "bit(3)", "B'101'")]
#[case::bytes(Mysql, "BINARY(16)", "x'018F3E9A00007000800000000000FFFE'")]
#[case::uuid(Mysql, "UUID", "'018f3e9a-0000-7000-8000-000000000001'")]
#[case::unsigned(Mysql, "BIGINT UNSIGNED", "18446744073709551615")]
#[case::decimal(Mysql, "DECIMAL(6,2)", "3")]
#[case::one_of(Mysql, "ENUM('fine')", "'fine'")]
#[case::day(Mysql, "DATE", "'2026-05-04'")]
#[case::stamp(Mysql, "TIMESTAMP(6)", "'2026-05-04 10:00:00'")]
#[case::latin(Mysql, "VARCHAR(20) CHARACTER SET latin1", "'é'")]
#[case::address(Mysql, "INET6", "'::1'")]
#[case::bits(Mysql, "BIT(8)", "b'101'")]
#[tokio::test]
async fn what_is_no_value_of_the_keys_type_is_not_there(
    #[case] on: Engine,
    #[case] declared: &str,
    #[case] value: &str,
) {
    let mood = if declared == "mood" { "CREATE TYPE mood AS ENUM ('fine');" } else { "" };
    let create = format!(
        "{mood} CREATE TABLE t (k {declared} PRIMARY KEY, s {{text}}); INSERT INTO t VALUES ({value}, 'failed')"
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let source = db.mapped("");
    for typed in TYPED.iter().chain(&["18446744073709551614", "e", "10.0.0.2/99", "soon", "0"]) {
        assert_eq!(source.read(typed).await, Ok(None), "{typed:?}");
    }
}

/// A column without a unique index that minds neither case nor spaces at the end.
#[rstest]
#[tokio::test]
async fn keys_that_differ_in_case_or_spaces_are_two(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE t (k {name}, s {text});
         INSERT INTO t VALUES ('a-1', 'failed'), ('A-1', 'failed'), ('a-1 ', 'failed'), ('á-1', 'failed')";
    let Some(db) = Db::with(on, create).await else { return };
    let source = db.mapped(DECISIONS);
    for key in ["a-1", "A-1", "a-1 ", "á-1"] {
        assert_eq!(reading(&*source, key).await.item.key.as_str(), key);
    }
    assert_eq!(source.read("A-1 ").await, Ok(None));
}
