//! Times: a decision writes one like the one that was there.

use super::*;
use crate::domain::decision::Choice;
use pretty_assertions::assert_eq;
use rstest::rstest;

#[rstest]
#[case::isoformat("iso", "'2026-05-04T10:00:01.123456'", "'2026-11-30T08:00:00.250000'")]
#[case::space("iso", "'2026-05-04 10:00:01'", "'2026-11-30 08:00:00'")]
#[case::zulu("iso", "'2026-05-04T10:00:01.123Z'", "'2026-11-30T08:00:00.250Z'")]
#[case::offset("iso", "'2026-05-04 10:00:01+02:00'", "'2026-11-30 08:00:00+00:00'")]
#[case::null("iso", "NULL", "'2026-11-30T08:00:00.250000'")]
#[case::seconds("epoch_s", "1767225600", "1796025600")]
#[case::real_seconds("epoch_s", "1767225600.5", "1796025600.25")]
#[case::text_seconds("epoch_s", "'1767225600'", "'1796025600'")]
#[case::millis("epoch_ms", "1767225600000", "1796025600250")]
#[case::micros("epoch_us", "1767225600000000", "1796025600250000")]
#[case::nanos("epoch_ns", "1767225600000000000", "1796025600250000000")]
#[tokio::test]
async fn a_time_is_written_like_the_one_that_was_there(
    #[case] format: &str,
    #[case] seen: &str,
    #[case] written: &str,
) {
    let file = File::with(&format!("CREATE TABLE t (k, s, u); INSERT INTO t VALUES (1, 'running', {seen})"));
    let source = file.mapped(&format!(
        "times = {{ format = \"{format}\", updated = \"u\" }}
        [decisions]
        late_writer = \"unguarded\"
        done = {{ leaves = \"done\", statements = [
            {{ rows = 1, sql = \"UPDATE {{table}} SET s = 'done', u = :now WHERE {{unchanged}}\" }} ] }}"
    ));
    let change = change_of(&reading(&source, "1").await);
    source.apply(Choice::MarkDone, &change).await.unwrap();
    assert_eq!(dump(&file.path(), "t"), [format!("1,'done',{written}")]);
}

#[tokio::test]
async fn a_time_in_the_year_57974_is_odd_and_listed() {
    let file = File::with("CREATE TABLE t (k, s, u); INSERT INTO t VALUES (1, 'running', 1767225600000)");
    let source = file.mapped("times = { format = \"epoch_s\", updated = \"u\" }");
    let items = scan_all(&source, &older_than(TimeDelta::minutes(30))).await;
    assert_eq!(items[0].times.updated.to_string(), "1767225600000 (year out of range (is the unit right?))");
}

#[rstest]
#[case::seconds(1_800_000_000_i64)]
#[case::millis(1_800_000_000_000_i64)]
#[tokio::test]
async fn a_number_without_a_declared_unit_is_unclear(#[case] number: i64) {
    let file = File::with(&format!("{TABLES} INSERT INTO sent_emails VALUES ('a', 'running', {number})"));
    let items = scan_all(&file.preset("sent_emails"), &everything()).await;
    assert_eq!(items[0].times.created.to_string(), format!("{number} (unit unclear)"));
}
