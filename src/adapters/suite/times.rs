//! Times: read as the moments that they are whatever zone the server's sessions have, and a decision writes one like the one
//! that was there.

use super::*;
use crate::domain::decision::Choice;
use crate::domain::moment::Reading as Time;
use crate::ports::source::Applied;
use pretty_assertions::assert_eq;
use rstest::rstest;

/// A table with one running row and a time `u`, and a source that writes it.
async fn with_time(on: Engine, declared: &str, value: &str, format: &str) -> Option<(Db, Box<dyn Source>)> {
    let create = format!(
        "CREATE TABLE t (k {{int}} PRIMARY KEY, s {{text}}, u {declared}); INSERT INTO t VALUES (1, 'running', {value})"
    );
    let db = Db::with(on, &create).await?;
    let source = db.mapped(&format!(
        "times = {{ format = \"{format}\", updated = \"u\" }}
        [decisions]
        late_writer = \"unguarded\"
        done = {{ leaves = \"done\", statements = [
            {{ rows = 1, sql = \"UPDATE {{table}} SET s = 'done', u = :now WHERE {{unchanged}}\" }} ] }}"
    ));
    Some((db, source))
}

#[rstest]
#[case::isoformat("iso", "{text}", "'2026-05-04T10:00:01.123456'", "2026-11-30T08:00:00.250000")]
#[case::space("iso", "{text}", "'2026-05-04 10:00:01'", "2026-11-30 08:00:00")]
#[case::zulu("iso", "{text}", "'2026-05-04T10:00:01.123Z'", "2026-11-30T08:00:00.250Z")]
#[case::offset("iso", "{text}", "'2026-05-04 10:00:01+02:00'", "2026-11-30 08:00:00+00:00")]
#[case::null("iso", "{text}", "NULL", "2026-11-30T08:00:00.250000")]
#[case::seconds("epoch_s", "{int}", "1767225600", "1796025600")]
#[case::null_seconds("epoch_s", "{int}", "NULL", "1796025600")]
#[case::real_seconds("epoch_s", "{real}", "1767225600.5", "1796025600.25")]
#[case::text_seconds("epoch_s", "{text}", "'1767225600'", "1796025600")]
#[case::millis("epoch_ms", "{int}", "1767225600000", "1796025600250")]
#[case::micros("epoch_us", "{int}", "1767225600000000", "1796025600250000")]
#[case::nanos("epoch_ns", "{int}", "1767225600000000000", "1796025600250000000")]
#[tokio::test]
async fn a_time_is_written_like_the_one_that_was_there(
    #[case] format: &str,
    #[case] declared: &str,
    #[case] seen: &str,
    #[case] written: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some((db, source)) = with_time(on, declared, seen, format).await else { return };
    let change = change_of(&reading(&*source, "1").await);
    source.apply(Choice::MarkDone, &change).await.unwrap();
    assert_eq!(db.dump("t").await, [format!("1|done|{written}")]);
}

/// The session that writes the row is in another zone than UTC (see the bench), and so are PostgreSQL's defaults.
#[rstest]
#[case::with_zone(
    Postgres,
    "timestamptz",
    "'2026-05-04 15:30:01.123456+05:30'",
    "2026-05-04T10:00:01.123456Z",
    250
)]
#[case::naive(Postgres, "timestamp", "'2026-05-04 10:00:01.123456'", "2026-05-04T10:00:01.123456Z", 250)]
#[case::whole_second(Postgres, "timestamptz", "'2026-05-04 10:00:01+00'", "2026-05-04T10:00:01Z", 0)]
#[case::whole_precision(Postgres, "timestamptz(0)", "'2026-05-04 10:00:01+00'", "2026-05-04T10:00:01Z", 0)]
#[case::null(Postgres, "timestamptz", "NULL", "", 250)]
#[case::null_naive(Postgres, "timestamp", "NULL", "", 250)]
#[case::naive(Mysql, "DATETIME(6)", "'2026-05-04 10:00:01.123456'", "2026-05-04T10:00:01.123456Z", 250)]
#[case::whole_second(Mysql, "DATETIME(6)", "'2026-05-04 10:00:01'", "2026-05-04T10:00:01Z", 0)]
#[case::whole_precision(Mysql, "DATETIME", "'2026-05-04 10:00:01'", "2026-05-04T10:00:01Z", 0)]
#[case::stamp(Mysql, "TIMESTAMP(6) NULL", "'2026-05-04 15:30:01.123456'", "2026-05-04T10:00:01.123456Z", 250)]
#[case::whole_stamp(Mysql, "TIMESTAMP NULL", "'2026-05-04 15:30:01'", "2026-05-04T10:00:01Z", 0)]
#[case::null(Mysql, "DATETIME(6)", "NULL", "", 250)]
#[case::null_stamp(Mysql, "TIMESTAMP(6) NULL", "NULL", "", 250)]
#[case::null_whole(Mysql, "DATETIME", "NULL", "", 0)]
#[tokio::test]
async fn a_servers_own_type_is_read_and_written_as_the_moment_it_is(
    #[case] on: Engine,
    #[case] declared: &str,
    #[case] value: &str,
    #[case] moment: &str,
    #[case] millis: i64,
) {
    let Some((_db, source)) = with_time(on, declared, value, "iso").await else { return };
    let before = reading(&*source, "1").await;
    let expected = if moment.is_empty() { Time::Missing } else { Time::Known(at(moment)) };
    assert_eq!(before.item.times.updated, expected);
    let change = change_of(&before);
    let applied = source.apply(Choice::MarkDone, &change).await.unwrap();
    assert!(matches!(applied, Applied::Written { .. }), "{applied:?}");
    let written = at("2026-11-30T08:00:00Z") + TimeDelta::milliseconds(millis);
    assert_eq!(reading(&*source, "1").await.item.times.updated, Time::Known(written));
}

/// Times that no moment of ours is.
#[rstest]
#[case::endless(Postgres, "timestamptz", "'infinity'")]
#[case::before_christ(Postgres, "timestamptz", "'0044-03-15 12:00:00 BC'")]
#[case::zero(Mysql, "DATETIME", "'0000-00-00 00:00:00'")]
#[case::zero_stamp(Mysql, "TIMESTAMP NULL", "'0000-00-00 00:00:00'")]
#[case::half_a_date(Mysql, "DATETIME", "'2026-00-00 00:00:00'")]
#[tokio::test]
async fn a_time_that_is_none_is_odd_and_listed(
    #[case] on: Engine,
    #[case] declared: &str,
    #[case] value: &str,
) {
    let Some((_db, source)) = with_time(on, declared, value, "iso").await else { return };
    let items = scan_all(&*source, &older_than(TimeDelta::minutes(30))).await;
    assert_eq!(items.len(), 1);
    let read = &items[0].times.updated;
    assert!(read.known().is_none() && !read.is_missing(), "{read}");
}

#[rstest]
#[tokio::test]
async fn a_time_in_the_year_57974_is_odd_and_listed(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some((_db, source)) = with_time(on, "{int}", "1767225600000", "epoch_s").await else { return };
    let items = scan_all(&*source, &older_than(TimeDelta::minutes(30))).await;
    assert_eq!(items[0].times.updated.to_string(), "1767225600000 (year out of range (is the unit right?))");
}

#[rstest]
#[case::seconds(1_800_000_000_i64)]
#[case::millis(1_800_000_000_000_i64)]
#[tokio::test]
async fn a_number_without_a_declared_unit_is_unclear(
    #[case] number: i64,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some((_db, source)) = with_time(on, "{int}", &number.to_string(), "iso").await else { return };
    let items = scan_all(&*source, &everything()).await;
    assert_eq!(items[0].times.updated.to_string(), format!("{number} (unit unclear)"));
}

/// The source's clock is the engine's, and tells the time of day in UTC whatever its sessions' zone.
#[rstest]
#[tokio::test]
async fn the_sources_clock_is_the_machines(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    use crate::ports::clock::Clock;
    let Some((_db, source)) = with_time(on, "{int}", "0", "epoch_s").await else { return };
    let before = crate::adapters::system::SystemClock.now();
    let told =
        [source.scan(&everything(), None).await.unwrap().source_now, reading(&*source, "1").await.source_now];
    let after = crate::adapters::system::SystemClock.now();
    let slack = TimeDelta::milliseconds(5);
    assert!(
        told.iter().all(|told| (before - slack..=after + slack).contains(told)),
        "{before} {told:?} {after}"
    );
}
