//! The database may leave out only what pure code would leave out: a row too many costs a look, one too few a customer.

use super::*;
use crate::domain::finding::find;
use crate::domain::moment::{TimeFormat, Zone, write_like};
use pretty_assertions::assert_eq;
use rstest::rstest;

/// In how many databases' worth of random rows each way of spelling is tried.
const ROUNDS: u64 = 4;
/// How many rows stand around each edge.
const ROWS: u64 = 60;

/// How a time is spelled in a text; some ways are none.
fn as_text(moment: DateTime<Utc>, style: u64) -> Option<String> {
    let form = |pattern: &str| Some(format!("'{}'", moment.format(pattern)));
    match style {
        0 => form("%Y-%m-%d %H:%M:%S"),
        1 => form("%Y-%m-%dT%H:%M:%S%.6f"),
        2 => form("%Y-%m-%dT%H:%M:%S%.3fZ"),
        3 => form("%Y-%m-%d %H:%M:%S+00:00"),
        4 => form("%Y-%m-%d %H:%M:%S UTC"),
        5 => form("%Y-%m-%d"),
        6 => Some(format!("'{}'", (moment + TimeDelta::hours(2)).format("%Y-%m-%dT%H:%M:%S%.f+02:00"))),
        7 => None,
        _ => Some("'yesterday'".to_owned()),
    }
}

/// How a time is spelled as the database's own.
fn as_moment(on: Engine, declared: &str, moment: DateTime<Utc>, style: u64) -> Option<String> {
    match (style, on) {
        (7, _) => None,
        (8, Postgres) => Some("'infinity'".to_owned()),
        (8, Mysql) if !declared.starts_with("TIMESTAMP") => Some("'0000-00-00 00:00:00'".to_owned()),
        (_, Postgres) if declared == "timestamptz" => {
            Some(format!("'{}'", moment.format("%Y-%m-%d %H:%M:%S%.6f+00")))
        }
        // The application's zone, see the bench.
        (_, Mysql) if declared.starts_with("TIMESTAMP") => {
            let local = moment + TimeDelta::minutes(330);
            Some(format!("'{}'", local.format("%Y-%m-%d %H:%M:%S%.6f")))
        }
        _ => Some(format!("'{}'", moment.format("%Y-%m-%d %H:%M:%S%.6f"))),
    }
}

fn as_number(format: TimeFormat, moment: DateTime<Utc>, style: u64) -> Option<String> {
    let like = if style == 8 { Cell::Real(0.5) } else { Cell::Integer(1) };
    (style != 7).then(|| write_like(&like, format, Zone::Utc, moment).to_plain().unwrap())
}

#[rstest]
#[case::text_on_sqlite(Sqlite, "TEXT", TimeFormat::Iso)]
#[case::text_on_postgres(Postgres, "text", TimeFormat::Iso)]
#[case::text_on_mysql(Mysql, "VARCHAR(40)", TimeFormat::Iso)]
#[case::with_zone(Postgres, "timestamptz", TimeFormat::Iso)]
#[case::naive(Postgres, "timestamp", TimeFormat::Iso)]
#[case::whole_seconds(Postgres, "timestamptz(0)", TimeFormat::Iso)]
#[case::naive(Mysql, "DATETIME(6)", TimeFormat::Iso)]
#[case::whole_seconds(Mysql, "DATETIME", TimeFormat::Iso)]
#[case::stamp(Mysql, "TIMESTAMP(6) NULL", TimeFormat::Iso)]
#[case::whole_stamp(Mysql, "TIMESTAMP NULL", TimeFormat::Iso)]
#[case::seconds_on_sqlite(Sqlite, "INTEGER", TimeFormat::EpochS)]
#[case::seconds_on_postgres(Postgres, "bigint", TimeFormat::EpochS)]
#[case::seconds_on_mysql(Mysql, "BIGINT", TimeFormat::EpochS)]
#[case::unsigned_seconds(Mysql, "INT UNSIGNED", TimeFormat::EpochS)]
#[case::millis_on_sqlite(Sqlite, "INTEGER", TimeFormat::EpochMs)]
#[case::millis_on_postgres(Postgres, "bigint", TimeFormat::EpochMs)]
#[case::millis_on_mysql(Mysql, "BIGINT UNSIGNED", TimeFormat::EpochMs)]
#[case::micros(Postgres, "bigint", TimeFormat::EpochUs)]
#[case::nanos(Mysql, "BIGINT", TimeFormat::EpochNs)]
#[case::real_on_sqlite(Sqlite, "REAL", TimeFormat::EpochS)]
#[case::real_on_postgres(Postgres, "double precision", TimeFormat::EpochS)]
#[case::real_on_mysql(Mysql, "DOUBLE", TimeFormat::EpochS)]
#[case::julian_on_sqlite(Sqlite, "REAL", TimeFormat::Julian)]
#[case::julian_on_postgres(Postgres, "double precision", TimeFormat::Julian)]
#[case::julian_on_mysql(Mysql, "DOUBLE", TimeFormat::Julian)]
#[tokio::test]
async fn a_scan_finds_what_pure_code_finds_among_all_rows(
    #[case] on: Engine,
    #[case] declared: &str,
    #[case] format: TimeFormat,
    #[values("now", "limit")] edge: &str,
) {
    let create = format!("CREATE TABLE t (k {{int}} PRIMARY KEY, s {{text}}, u {declared})");
    let Some(db) = Db::with(on, &create).await else { return };
    let word = serde_json::to_value(format).unwrap();
    let source = db.mapped(&format!("times = {{ format = {word}, updated = \"u\" }}"));
    let is_text = declared == "TEXT" || declared == "text" || declared.starts_with("VARCHAR");
    for seed in 0..ROUNDS {
        let mut random = fastrand::Rng::with_seed(seed);
        let stuck_after = TimeDelta::minutes([30, 26 * 60, 0, 1][usize::try_from(seed).unwrap()]);
        let now = source.scan(&everything(), None).await.unwrap().source_now;
        let base = if edge == "now" { now } else { now - stuck_after };
        let rows: Vec<String> = (0..ROWS)
            .map(|key| {
                let moment = base + TimeDelta::milliseconds(random.i64(-40_000..40_000));
                let style = random.u64(0..12);
                let value = match format {
                    TimeFormat::Iso if is_text => as_text(moment, style),
                    TimeFormat::Iso => as_moment(on, declared, moment, style),
                    _ => as_number(format, moment, style),
                };
                format!("({key}, 'running', {})", value.unwrap_or_else(|| "NULL".to_owned()))
            })
            .collect();
        db.run(&format!("DELETE FROM t; INSERT INTO t VALUES {}", rows.join(", "))).await;
        let filtered = source.scan(&older_than(stuck_after), None).await.unwrap();
        let all = source.scan(&everything(), None).await.unwrap();
        assert_eq!(all.items.len(), rows.len());
        let found = |items: Vec<Item>| -> Vec<String> {
            items
                .into_iter()
                .filter_map(|item| find(item, stuck_after, None, filtered.source_now))
                .map(|finding| finding.item.key.as_str().to_owned())
                .collect()
        };
        assert_eq!(found(filtered.items.clone()), found(all.items), "seed {seed}");
    }
}

/// What the database can read it filters: a scan of a large table is not to hand out every running row.
#[rstest]
#[case::sqlite(Sqlite, "TEXT", "iso")]
#[case::with_zone(Postgres, "timestamptz", "iso")]
#[case::naive(Postgres, "timestamp", "iso")]
#[case::millis(Postgres, "bigint", "epoch_ms")]
#[case::naive(Mysql, "DATETIME(6)", "iso")]
#[case::stamp(Mysql, "TIMESTAMP(6) NULL", "iso")]
#[case::millis(Mysql, "BIGINT", "epoch_ms")]
#[tokio::test]
async fn what_is_surely_young_is_left_out(#[case] on: Engine, #[case] declared: &str, #[case] format: &str) {
    let create = format!("CREATE TABLE t (k {{int}} PRIMARY KEY, s {{text}}, u {declared})");
    let Some(db) = Db::with(on, &create).await else { return };
    let source = db.mapped(&format!("times = {{ format = \"{format}\", updated = \"u\" }}"));
    let now = source.scan(&everything(), None).await.unwrap().source_now;
    for (key, minutes) in [(1, 10), (2, 40)] {
        let moment = now - TimeDelta::minutes(minutes);
        let value = match format {
            "iso" => as_moment(on, declared, moment, 0).unwrap(),
            _ => moment.timestamp_millis().to_string(),
        };
        db.run(&format!("INSERT INTO t VALUES ({key}, 'running', {value})")).await;
    }
    assert_eq!(keys(&scan_all(&*source, &older_than(TimeDelta::minutes(30))).await), ["2"]);
}

#[rstest]
#[tokio::test]
async fn a_row_of_the_same_day_is_found_whatever_stands_between_date_and_time(
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, TABLES).await else { return };
    let source = db.preset("jobs");
    let old = source.scan(&everything(), None).await.unwrap().source_now - TimeDelta::minutes(40);
    for (key, pattern) in [("t", "%Y-%m-%dT%H:%M:%S"), ("space", "%Y-%m-%d %H:%M:%S")] {
        db.run(&format!("INSERT INTO jobs VALUES ('{key}', 'running', '{}', NULL)", old.format(pattern)))
            .await;
    }
    assert_eq!(keys(&scan_all(&*source, &older_than(TimeDelta::minutes(30))).await), ["space", "t"]);
}

#[rstest]
#[tokio::test]
async fn a_row_without_any_time_is_never_fresh(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let row = "INSERT INTO jobs VALUES ('a', 'running', NULL, NULL)";
    let Some(db) = Db::with(on, &format!("{TABLES}{row}")).await else { return };
    let items = scan_all(&*db.preset("jobs"), &older_than(TimeDelta::days(365))).await;
    assert_eq!(keys(&items), ["a"]);
}
