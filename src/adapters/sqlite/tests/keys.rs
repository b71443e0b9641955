//! Every key that is listed can be typed, whatever the type of its value, and means that row alone.

use super::*;
use crate::ports::source::SourceFaultKind;
use pretty_assertions::assert_eq;
use rstest::rstest;

#[rstest]
#[case::text("'inv-1'", "inv-1")]
#[case::digits_as_text("'007'", "007")]
#[case::integer("41", "41")]
#[case::negative("-41", "-41")]
#[case::largest("9223372036854775807", "9223372036854775807")]
#[case::real("1.5", "1.5")]
#[case::whole_real("2.0", "2")]
#[case::blob("x'CAFE00'", "x'CAFE00'")]
#[case::null("NULL", "NULL")]
#[case::empty("''", "")]
#[case::bad_utf8("CAST(x'636166E9' AS TEXT)", "caf\\xE9")]
#[case::backslash("'caf\\xE9'", "caf\\xE9")]
#[case::escape("char(27) || '[31m'", "\u{1b}[31m")]
#[case::line_break("'a' || char(10) || 'b'", "a\nb")]
#[case::nul("'a' || char(0) || 'b'", "a\0b")]
#[case::quote("'it''s'", "it's")]
#[case::direction("'a' || char(8238) || 'b'", "a\u{202e}b")]
#[tokio::test]
async fn a_listed_key_reads_its_row_back(
    #[case] value: &str,
    #[case] printed: &str,
    #[values("", "TEXT", "NUMERIC", "BLOB")] declared: &str,
) {
    let file = File::with(&format!(
        "CREATE TABLE t (k {declared}, s); INSERT INTO t VALUES ('another', 'failed'), ({value}, 'failed')"
    ));
    let source = file.mapped("");
    let items = scan_all(&source, &everything()).await;
    let listed = &items[1];
    if declared.is_empty() {
        assert_eq!(listed.key.as_str(), printed);
    }
    assert_eq!(reading(&source, listed.key.as_str()).await.item, *listed);
}

#[rstest]
#[case::plain("'eu', 7")]
#[case::slash_in_first("'eu/west', 7")]
#[case::slash_in_last("7, 'a/b/c'")]
#[case::null_part("'eu', NULL")]
#[case::blob_part("x'00FF', 'seven'")]
#[case::mixed("CAST(x'E9' AS TEXT), 1.5")]
#[case::empty_parts("'', ''")]
#[tokio::test]
async fn a_composite_key_reads_its_row_back(#[case] values: &str) {
    let file = File::with(&format!(
        "CREATE TABLE t (a, b, s); INSERT INTO t VALUES ('x', 'y', 'failed'), ({values}, 'failed')"
    ));
    let preset = mapping(&MAPPING.replace("key = \"k\"", "key = [\"a\", \"b\"]"));
    let source = SqliteSource::new("mapped", file.path(), preset);
    let items = scan_all(&source, &everything()).await;
    assert_eq!(reading(&source, items[1].key.as_str()).await.item, items[1]);
}

#[rstest]
#[case::text_and_number("(k, s)", "('7', 'failed'), (7, 'failed')", "7")]
#[case::null_and_word("(k, s)", "(NULL, 'failed'), ('NULL', 'failed')", "NULL")]
#[case::blob_and_word("(k, s)", "(x'00', 'failed'), ('x''00''', 'failed')", "x'00'")]
#[case::bad_text_and_word("(k, s)", "(CAST(x'E9' AS TEXT), 'failed'), ('\\xE9', 'failed')", "\\xE9")]
#[tokio::test]
async fn two_rows_that_are_written_alike_are_never_taken_for_each_other(
    #[case] columns: &str,
    #[case] rows: &str,
    #[case] key: &str,
) {
    let file = File::with(&format!("CREATE TABLE t {columns}; INSERT INTO t VALUES {rows}"));
    let fault = file.mapped("").read(key).await.unwrap_err();
    assert_eq!(fault.kind, SourceFaultKind::Mismatch);
    let lines = [
        format!("jobs.db: has 2 items that are written `{key}`"),
        "Give the preset a key whose values differ in writing, such as the row's number.".to_owned(),
    ];
    assert_eq!(told(&file, &fault), lines);
}

#[tokio::test]
async fn a_column_that_does_not_mind_case_still_has_two_keys() {
    let file = File::with(
        "CREATE TABLE t (k TEXT COLLATE NOCASE, s); INSERT INTO t VALUES ('a-1', 'failed'), ('A-1', 'failed')",
    );
    let source = file.mapped("");
    for key in ["a-1", "A-1"] {
        assert_eq!(reading(&source, key).await.item.key.as_str(), key);
    }
    assert_eq!(source.read("A-1 ").await.unwrap(), None);
}

#[tokio::test]
async fn another_spelling_of_a_number_finds_it_and_a_missing_key_nothing() {
    let file = File::with("CREATE TABLE t (k, s); INSERT INTO t VALUES (7, 'failed')");
    let source = file.mapped("");
    assert_eq!(reading(&source, "007").await.item.key.as_str(), "7");
    for key in ["8", "", "x'", "x'0'", "NULL", "7; DROP TABLE t", "\\x", "' OR 1=1 --"] {
        assert_eq!(source.read(key).await.unwrap(), None, "{key}");
    }
}
