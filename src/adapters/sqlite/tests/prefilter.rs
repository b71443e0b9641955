//! The database may leave out only what pure code would leave out: a row too many costs a look, one too few a customer.

use super::*;
use crate::adapters::sql::{Sql, young_sql};
use crate::adapters::sqlite::cells::bindable;
use crate::domain::finding::find;
use crate::domain::moment::{self, TimeFormat, Zone, write_like};
use crate::preset::source::TimeColumn;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use rstest::rstest;

fn column(format: TimeFormat) -> TimeColumn {
    TimeColumn { column: "v".to_owned(), format, zone: Zone::Utc }
}

/// Whether SQLite calls a value young.
fn is_young(value: &Cell, format: TimeFormat, cutoff: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    let connection = Connection::open_in_memory().unwrap();
    let mapping = mapping(MAPPING);
    let sql = Sql { engine: Engine::Sqlite, mapping: &mapping.variants[0], columns: &[] };
    let young = young_sql(&sql, &column(format), cutoff, now).unwrap();
    let sql = format!("SELECT {young} FROM (SELECT ?1 AS v)");
    connection.query_row(&sql, [bindable(value)], |row| row.get(0)).unwrap()
}

#[rstest]
#[case::t("2026-05-04T10:00:00", true)]
#[case::space("2026-05-04 10:00:00.5", true)]
#[case::minutes("2026-05-04 10:00", true)]
#[case::offset("2026-05-04T10:00:00+02:00", true)]
#[case::date_alone("2026-05-04", false)]
#[case::no_such_day("2026-02-31 10:00:00", false)]
#[case::no_such_hour("2026-05-04 24:00:00", false)]
#[case::nul("2026-05-04 10:00:00\0", false)]
#[case::after_nul("2026-05-04 10:00:00\0garbage", false)]
#[case::garbage("2026-05-04 10:00:00 soon", false)]
#[case::julian_day("2461164.5", false)]
#[case::now("now", false)]
fn only_what_both_read_alike_is_young(#[case] value: &str, #[case] young: bool) {
    let (from, to) = (at("2000-01-01T00:00:00Z"), at("2100-01-01T00:00:00Z"));
    assert_eq!(is_young(&text(value), TimeFormat::Iso, from, to), young);
}

#[rstest]
#[case::bytes(Cell::blob(b"2026-05-04 10:00:00".to_vec()), TimeFormat::Iso)]
#[case::bad_text(Cell::bad_text(b"2026-05-04 10:00:00\xe9".to_vec()), TimeFormat::Iso)]
#[case::number(Cell::Integer(1_800_000_000), TimeFormat::Iso)]
#[case::null(Cell::Null, TimeFormat::EpochS)]
#[case::text_number(text("1800000000"), TimeFormat::EpochS)]
#[case::null_julian(Cell::Null, TimeFormat::Julian)]
fn other_types_are_never_young(#[case] value: Cell, #[case] format: TimeFormat) {
    assert!(!is_young(&value, format, at("2000-01-01T00:00:00Z"), at("2100-01-01T00:00:00Z")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_sqlite_calls_young_is_a_time_that_pure_code_reads_as_young(
        value in "2026-0[1-9]-[0-3][0-9][T ][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\\.[0-9]{0,7})?)?( ?(Z|z|UTC|[+-][01][0-9]:?[0-6][0-9]))? ?"
    ) {
        let (from, to) = (at("2026-02-01T00:00:00Z"), at("2026-08-01T00:00:00Z"));
        if is_young(&text(&value), TimeFormat::Iso, from, to) {
            let read = moment::read(&text(&value), TimeFormat::Iso, Zone::Utc);
            let tolerance = TimeDelta::milliseconds(2);
            let agrees = read.known().is_some_and(|at| at >= from - tolerance && at <= to + tolerance);
            prop_assert!(agrees, "{value} is read as {read}");
        }
    }
}

/// How far from the edge in milliseconds, and in which spelling.
fn values() -> impl Strategy<Value = Vec<(i64, u8)>> {
    proptest::collection::vec((-40_000i64..40_000, 0u8..12), 1..60)
}

fn spelled(format: TimeFormat, moment: DateTime<Utc>, style: u8) -> Cell {
    if format != TimeFormat::Iso {
        return match style {
            0 => Cell::Null,
            1 => text("soon"),
            2 => Cell::Real(moment.timestamp().to_string().parse().unwrap()),
            3 => text(&moment.timestamp().to_string()),
            _ => write_like(&Cell::Integer(1), format, Zone::Utc, moment),
        };
    }
    let form = |pattern: &str| text(&moment.format(pattern).to_string());
    match style {
        0 => form("%Y-%m-%d %H:%M:%S"),
        1 => form("%Y-%m-%dT%H:%M:%S%.6f"),
        2 => form("%Y-%m-%dT%H:%M:%S%.3fZ"),
        3 => form("%Y-%m-%d %H:%M:%S+00:00"),
        4 => form("%Y-%m-%d %H:%M:%S UTC"),
        5 => form("%Y-%m-%d %H:%M:%S,%3f"),
        6 => form("%Y-%m-%d"),
        7 => Cell::Integer(moment.timestamp()),
        8 => Cell::blob(moment.format("%Y-%m-%d %H:%M:%S").to_string().into_bytes()),
        9 => text(&(moment + TimeDelta::hours(2)).format("%Y-%m-%dT%H:%M:%S%.f+02:00").to_string()),
        10 => Cell::Null,
        _ => text("yesterday"),
    }
}

/// Where around the present or the limit a value lies.
const PLACES: [&str; 2] = ["limit", "now"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_scan_finds_what_pure_code_finds_among_all_rows(
        rows in values(),
        place in 0usize..PLACES.len(),
        minutes in prop_oneof![Just(30i64), Just(26 * 60), Just(0)],
        format in prop_oneof![
            Just(TimeFormat::Iso), Just(TimeFormat::EpochS), Just(TimeFormat::EpochMs), Just(TimeFormat::EpochUs),
            Just(TimeFormat::EpochNs), Just(TimeFormat::Julian),
        ],
    ) {
        let file = File::with("CREATE TABLE t (k INTEGER PRIMARY KEY, s TEXT, u)");
        let stuck_after = TimeDelta::minutes(minutes);
        let base = if PLACES[place] == "now" { now() } else { now() - stuck_after };
        let connection = file.connect();
        for (key, (millis, style)) in rows.iter().enumerate() {
            let value = spelled(format, base + TimeDelta::milliseconds(*millis), *style);
            let value = bindable(&value);
            connection.execute("INSERT INTO t VALUES (?1, 'running', ?2)", rusqlite::params![i64::try_from(key).unwrap(), value]).unwrap();
        }
        let word = serde_json::to_value(format).unwrap();
        let source = file.mapped(&format!("times = {{ format = {word}, updated = \"u\" }}"));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (filtered, all) = runtime.block_on(async {
            let filtered = source.scan(&older_than(stuck_after), None).await.unwrap();
            (filtered, source.scan(&everything(), None).await.unwrap())
        });
        prop_assert_eq!(all.items.len(), rows.len());
        let now = filtered.source_now;
        let found = |items: Vec<Item>| -> Vec<String> {
            items
                .into_iter()
                .filter_map(|item| find(item, stuck_after, None, now))
                .map(|finding| finding.item.key.as_str().to_owned())
                .collect()
        };
        prop_assert_eq!(found(filtered.items), found(all.items));
    }
}
