//! Compare and set: a row that changed in the least since it was seen is left alone, whatever type its version has.

use super::*;
use crate::domain::decision::Choice;
use crate::ports::source::Applied;
use pretty_assertions::assert_eq;
use rstest::rstest;

/// A version as it was seen, another that somebody wrote meanwhile, and back again.
async fn compare(db: &Db, seen: &str, now: &str) {
    let source = db.through(VERSIONED);
    let change = change_of(&reading(&*source, "1").await);
    db.run(&format!("UPDATE t SET v = {now}")).await;
    let (changed, row) = (db.dump("t").await, reading(&*source, "1").await.row);
    assert_ne!(row, change.seen, "the change is to be seen");
    for choice in [Choice::MarkDone, Choice::Retry] {
        assert_eq!(source.apply(choice, &change).await.unwrap(), Applied::Changed(Some(row.clone())));
    }
    assert_eq!(db.dump("t").await, changed);
    // The other way round: as it was seen again, it is written.
    db.run(&format!("UPDATE t SET v = {seen}")).await;
    let applied = source.apply(Choice::MarkDone, &change).await.unwrap();
    assert!(matches!(applied, Applied::Written { .. }), "{applied:?}");
}

async fn with_version(on: Engine, declared: &str, seen: &str) -> Option<Db> {
    let create = format!(
        "CREATE TABLE t (k {{int}} PRIMARY KEY, s {{text}}, v {declared}); INSERT INTO t VALUES (1, 'failed', {seen})"
    );
    Db::with(on, &create).await
}

#[rstest]
#[case::text("{text}", "'x'", "'y'")]
#[case::case_alone("{name}", "'x'", "'X'")]
#[case::accent("{name}", "'e'", "'é'")]
#[case::another_form_of_an_accent("{name}", "'é'", "'e\u{301}'")]
#[case::space_at_the_end("{name}", "'x'", "'x '")]
#[case::long_text_case("{text}", "'x'", "'X'")]
#[case::from_null("{text}", "NULL", "''")]
#[case::to_null("{text}", "''", "NULL")]
#[case::null_to_zero("{int}", "NULL", "0")]
#[case::integer("{int}", "1", "2")]
#[case::large_integer("{int}", "9007199254740993", "9007199254740992")]
#[case::smallest_integer("{int}", "-9223372036854775808", "-9223372036854775807")]
#[case::real("{real}", "1.5", "1.5000000000000002")]
#[case::tiny_real("{real}", "5e-324", "1e-323")]
#[case::bytes("{bytes}", "{x:00}", "{x:0000}")]
#[case::empty_bytes("{bytes}", "{x:}", "NULL")]
#[case::microseconds("{moment}", "'2026-05-04 10:00:00.123456'", "'2026-05-04 10:00:00.123457'")]
#[case::null_time("{moment}", "NULL", "'2026-05-04 10:00:00'")]
#[tokio::test]
async fn every_engine(
    #[case] declared: &str,
    #[case] seen: &str,
    #[case] now: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = with_version(on, declared, seen).await else { return };
    compare(&db, seen, now).await;
}

#[rstest]
#[case::naive("timestamp", "'2026-05-04 10:00:00.123456'", "'2026-05-04 10:00:00.123457'")]
#[case::endless("timestamptz", "'infinity'", "'-infinity'")]
#[case::before_christ("timestamptz", "'0044-03-15 12:00:00 BC'", "'0044-03-15 12:00:00'")]
#[case::scale("numeric", "1.5", "1.50")]
#[case::many_digits("numeric", "123456789012345678901234567890.1", "123456789012345678901234567890.2")]
#[case::single("real", "0.1", "0.10000001")]
#[case::no_number("double precision", "'NaN'", "'Infinity'")]
#[case::zero_below_zero("double precision", "'0'", "'-0'")]
#[case::truth("boolean", "true", "false")]
#[case::uuid("uuid", "'018f3e9a-0000-7000-8000-000000000001'", "'018f3e9a-0000-7000-8000-000000000002'")]
#[case::json_as_written("json", "'{\"a\":1}'", "'{\"a\": 1}'")]
#[case::jsonb("jsonb", "'{\"a\":1.0}'", "'{\"a\":1.00}'")]
#[case::list("text[]", "'{a,NULL}'", "'{a,\"NULL\"}'")]
#[case::span("interval", "'1 day'", "'24 hours'")]
#[case::time_of_day("time", "'10:00:00.000001'", "'10:00:00.000002'")]
#[case::day("date", "'2026-05-04'", "'2026-05-05'")]
#[case::padded("char(3)", "'a'", "'A'")]
#[case::small("smallint", "1", "2")]
#[case::bits("bit(3)", "B'101'", "B'100'")]
#[case::address("inet", "'10.0.0.1/32'", "'10.0.0.1/8'")]
#[case::shape("point", "'(1,2)'", "'(1,2.0000001)'")]
#[case::transaction_number("xid", "'7'", "'8'")]
#[tokio::test]
async fn postgres_alone(#[case] declared: &str, #[case] seen: &str, #[case] now: &str) {
    let Some(db) = with_version(Postgres, declared, seen).await else { return };
    compare(&db, seen, now).await;
}

#[rstest]
#[case::stamp("TIMESTAMP(6) NULL", "'2026-05-04 10:00:00.123456'", "'2026-05-04 10:00:00.123457'")]
#[case::no_date("DATETIME", "'0000-00-00 00:00:00'", "'2026-05-04 10:00:00'")]
#[case::time_of_day("TIME(6)", "'-10:00:00.000001'", "'-10:00:00.000002'")]
#[case::whole_time_of_day("TIME", "'10:00:00'", "'10:00:01'")]
#[case::day("DATE", "'2026-05-04'", "'2026-05-05'")]
#[case::year("YEAR", "2026", "2027")]
#[case::decimal("DECIMAL(30,10)", "12345678901234567890.1", "12345678901234567890.1000000001")]
#[case::single("FLOAT", "0.1", "0.10000001")]
#[case::unsigned("BIGINT UNSIGNED", "18446744073709551615", "18446744073709551614")]
#[case::small("TINYINT(1)", "1", "2")]
#[case::bits("BIT(3)", "b'101'", "b'100'")]
#[case::one_of("ENUM('a','A') COLLATE utf8mb4_bin", "'a'", "'A'")]
#[case::some_of("SET('a','b')", "'a'", "'a,b'")]
#[case::json("JSON", "'{\"a\":1}'", "'{\"a\": 1}'")]
#[case::padded_bytes("BINARY(4)", "x'FFFE'", "x'FFFF'")]
#[case::varied_bytes("VARBINARY(8)", "x'41'", "x'61'")]
#[case::uuid("UUID", "'018f3e9a-0000-7000-8000-000000000001'", "'018f3e9a-0000-7000-8000-000000000002'")]
#[case::address("INET6", "'::1'", "'::2'")]
#[case::latin("VARCHAR(20) CHARACTER SET latin1", "'é'", "'è'")]
#[tokio::test]
async fn mysql_alone(#[case] declared: &str, #[case] seen: &str, #[case] now: &str) {
    let Some(db) = with_version(Mysql, declared, seen).await else { return };
    compare(&db, seen, now).await;
}

/// A key may be among the version's columns, and of any type.
#[rstest]
#[case::sqlite(Sqlite, "TEXT")]
#[case::postgres(Postgres, "uuid")]
#[case::mysql(Mysql, "CHAR(36)")]
#[tokio::test]
async fn a_key_among_the_versions_columns_is_compared_once(#[case] on: Engine, #[case] declared: &str) {
    let key = "018f3e9a-0000-7000-8000-000000000001";
    let create = format!(
        "CREATE TABLE t (k {declared} PRIMARY KEY, s {{text}}); INSERT INTO t VALUES ('{key}', 'failed')"
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let source = db.through(&VERSIONED.replace("[\"v\"]", "[\"k\", \"s\"]"));
    let change = change_of(&reading(&*source, key).await);
    let applied = source.apply(Choice::MarkDone, &change).await.unwrap();
    assert!(matches!(applied, Applied::Written { .. }), "{applied:?}");
}
