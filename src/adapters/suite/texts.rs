//! Texts that a database does not take, or that are none.

use super::*;
use crate::domain::decision::Choice;
use crate::domain::item::LastError;
use crate::ports::source::{Applied, SourceFaultKind};
use pretty_assertions::assert_eq;
use rstest::rstest;

const REASONED: &str = r#"
table = "t"
key = "k"
status = "s"
version = ["s"]
state = [
    { is = "running", when = { s = "running" } },
    { is = "failed", when = { s = "failed" } },
    { is = "done", when = { s = "done" } },
]
[decisions]
late_writer = "guarded"
done = { leaves = "done", statements = [
    { rows = 1, sql = "UPDATE {table} SET s = 'done', e = :reason WHERE {unchanged}" },
] }
"#;

/// PostgreSQL has no place for a NUL in a text; the others keep it. Nothing is cut at it in silence.
#[rstest]
#[tokio::test]
async fn a_nul_is_kept_whole_or_refused(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create =
        "CREATE TABLE t (k {int} PRIMARY KEY, s {text}, e {text}); INSERT INTO t VALUES (1, 'failed', NULL)";
    let Some(db) = Db::with(on, create).await else { return };
    let source = db.through(REASONED);
    let mut change = change_of(&reading(&*source, "1").await);
    change.reason = "a\0b".into();
    let applied = source.apply(Choice::MarkDone, &change).await;
    let row = reading(&*source, "1").await.row;
    if on == Postgres {
        let fault = applied.unwrap_err();
        assert_eq!((fault.kind, fault.may_have_written), (SourceFaultKind::Mismatch, false));
        assert!(fault.what.contains("0x00"), "{}", fault.what);
        assert_eq!(row, change.seen);
    } else {
        assert!(matches!(applied, Ok(Applied::Written { .. })), "{applied:?}");
        assert_eq!(row.get("e").and_then(Cell::as_text), Some("a\0b"));
    }
}

#[rstest]
#[tokio::test]
async fn a_key_with_a_nul_is_not_there(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE t (k {name} PRIMARY KEY, s {text}); INSERT INTO t VALUES ('a', 'failed')";
    let Some(db) = Db::with(on, create).await else { return };
    assert_eq!(db.mapped("").read("a\0").await, Ok(None));
}

/// A database that takes any bytes for text.
#[tokio::test]
async fn bytes_that_are_no_text_are_listed_read_and_decided_on() {
    let create = "CREATE TABLE t (k text PRIMARY KEY, s text, e text, p text);
        INSERT INTO t VALUES (E'caf\\xE9', 'failed', E'caf\\xE9', E'\\xE9'), (E'caf\\xEA', 'failed', '', '')";
    let options = "ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'";
    let Some(db) = Db::postgres_with(options, create).await else { return };
    let source = db.through(&format!("error = \"e\"\npayload = \"p\"{REASONED}"));
    let items = scan_all(&*source, &page_of(1)).await;
    assert_eq!(keys(&items), ["caf\\xE9", "caf\\xEA"]);
    assert_eq!(items[0].last_error, LastError::of("caf\\xE9"));
    let read = reading(&*source, "caf\\xE9").await;
    assert_eq!(read.item, items[0]);
    assert_eq!(source.payload(&read.item.key, 10).await.unwrap().unwrap().bytes, [0xE9]);
    let applied = source.apply(Choice::MarkDone, &change_of(&read)).await.unwrap();
    assert!(matches!(applied, Applied::Written { .. }), "{applied:?}");
    assert_eq!(&*reading(&*source, "caf\\xEA").await.item.status, "failed");
}

/// A letter that the column's character set does not have.
#[tokio::test]
async fn a_text_that_the_column_cannot_hold_is_refused_and_nothing_written() {
    let create = "CREATE TABLE t (k BIGINT PRIMARY KEY, s VARCHAR(9), e VARCHAR(30) CHARACTER SET latin1);
        INSERT INTO t VALUES (1, 'failed', NULL)";
    let Some(db) = Db::with(Mysql, create).await else { return };
    let source = db.through(REASONED);
    let mut change = change_of(&reading(&*source, "1").await);
    for reason in ["状態", "much more than the thirty letters of it"] {
        change.reason = reason.into();
        let fault = source.apply(Choice::MarkDone, &change).await.unwrap_err();
        assert_eq!((fault.kind, fault.may_have_written), (SourceFaultKind::Mismatch, false), "{fault:?}");
        assert_eq!(db.dump("t").await, ["1|failed|∅"]);
    }
}

/// The characters of another encoding are the same letters.
#[rstest]
#[case::latin("CHARACTER SET latin1")]
#[case::wide("CHARACTER SET utf16")]
#[case::three_bytes("CHARACTER SET utf8mb3")]
#[tokio::test]
async fn a_text_of_another_character_set_is_read_as_it_is(#[case] set: &str) {
    let create = format!(
        "CREATE TABLE t (k BIGINT PRIMARY KEY, s VARCHAR(9) {set}, e VARCHAR(30) {set});
         INSERT INTO t VALUES (1, 'failed', 'café')"
    );
    let Some(db) = Db::with(Mysql, &create).await else { return };
    let source = db.through(&format!("error = \"e\"{REASONED}"));
    let read = reading(&*source, "1").await;
    assert_eq!(read.item.last_error, LastError::of("café"));
    assert_eq!(read.row.get("e"), Some(&text("café")));
    assert!(matches!(source.apply(Choice::MarkDone, &change_of(&read)).await, Ok(Applied::Written { .. })));
}
