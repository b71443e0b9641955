use super::*;
use proptest::prelude::*;
use rstest::rstest;

fn text(raw: &str) -> Cell {
    Cell::text(raw)
}

#[rstest]
#[case::t("2026-05-04T10:00:01", "2026-05-04T10:00:01Z")]
#[case::space("2026-05-04 10:00:01", "2026-05-04T10:00:01Z")]
#[case::micros("2026-05-04T10:00:01.123456", "2026-05-04T10:00:01.123456Z")]
#[case::zulu("2026-05-04T10:00:01Z", "2026-05-04T10:00:01Z")]
#[case::offset("2026-05-04T10:00:01+02:00", "2026-05-04T08:00:01Z")]
#[case::short_offset("2026-05-04 10:00:01.5-03", "2026-05-04T13:00:01.500Z")]
#[case::ruby("2026-05-04 10:00:01 UTC", "2026-05-04T10:00:01Z")]
#[case::ruby_offset("2026-05-04 10:00:01 -0300", "2026-05-04T13:00:01Z")]
#[case::minutes("2026-05-04 10:00", "2026-05-04T10:00:00Z")]
#[case::comma("2026-05-04 10:00:01,250", "2026-05-04T10:00:01.250Z")]
fn iso_texts_are_read(#[case] raw: &str, #[case] expected: &str) {
    assert_eq!(read(&text(raw), TimeFormat::Iso, Zone::Utc).to_string(), expected);
}

#[rstest]
#[case::seconds(Cell::Integer(1_800_000_000), TimeFormat::EpochS, "2027-01-15T08:00:00Z")]
#[case::millis(Cell::Integer(1_800_000_000_000), TimeFormat::EpochMs, "2027-01-15T08:00:00Z")]
#[case::micros(Cell::Integer(1_800_000_000_000_000), TimeFormat::EpochUs, "2027-01-15T08:00:00Z")]
#[case::nanos(Cell::Integer(1_800_000_000_000_000_000), TimeFormat::EpochNs, "2027-01-15T08:00:00Z")]
#[case::float(Cell::Real(1_800_000_000.25), TimeFormat::EpochS, "2027-01-15T08:00:00.250Z")]
#[case::text_number(Cell::text("1800000000"), TimeFormat::EpochS, "2027-01-15T08:00:00Z")]
#[case::julian(Cell::Real(2_461_055.833_333_333_5), TimeFormat::Julian, "2026-01-15T08:00:00Z")]
fn numbers_are_read_in_the_declared_unit(
    #[case] cell: Cell,
    #[case] format: TimeFormat,
    #[case] expected: &str,
) {
    assert_eq!(read(&cell, format, Zone::Utc).to_string(), expected);
}

#[rstest]
#[case::unit_seconds(Cell::Integer(1_800_000_000), TimeFormat::Iso, "1800000000 (unit unclear)")]
#[case::unit_millis(Cell::Integer(1_800_000_000_000), TimeFormat::Iso, "1800000000000 (unit unclear)")]
#[case::unit_text(Cell::text("1800000000"), TimeFormat::Iso, "1800000000 (unit unclear)")]
#[case::far(
    Cell::Integer(1_767_225_600_000),
    TimeFormat::EpochS,
    "1767225600000 (year out of range (is the unit right?))"
)]
#[case::word(Cell::text("yesterday"), TimeFormat::Iso, "yesterday (not a time)")]
#[case::date(Cell::text("2026-05-04"), TimeFormat::Iso, "2026-05-04 (a date without a time)")]
#[case::empty(Cell::text(""), TimeFormat::Iso, "'' (empty text)")]
#[case::blob(Cell::blob(vec![1]), TimeFormat::Iso, "x'01' (bytes, not a time)")]
#[case::nan(Cell::Real(f64::NAN), TimeFormat::EpochS, "NaN (not a finite number)")]
#[case::null(Cell::Null, TimeFormat::Iso, "none")]
fn what_is_no_time_says_why(#[case] cell: Cell, #[case] format: TimeFormat, #[case] expected: &str) {
    assert_eq!(read(&cell, format, Zone::Utc).to_string(), expected);
}

#[test]
fn a_naive_time_in_an_unclear_zone_is_not_known() {
    let reading = read(&text("2026-05-04 10:00:01"), TimeFormat::Iso, Zone::Unclear);
    assert_eq!(reading.known(), None);
    assert_eq!(reading.to_string(), "2026-05-04T10:00:01 (zone?)");
}

#[test]
fn an_isoformat_time_of_the_same_day_is_compared_as_a_time() {
    // As text, `2026-05-04T01…` sorts after `2026-05-04 23…`.
    let early = read(&text("2026-05-04T01:00:00"), TimeFormat::Iso, Zone::Utc).known();
    let late = read(&text("2026-05-04 23:00:00"), TimeFormat::Iso, Zone::Utc).known();
    assert!(early < late);
}

#[rstest]
#[case("2026-05-04T10:00:01.123456", "2027-01-15T08:00:00.250000")]
#[case("2026-05-04 10:00:01", "2027-01-15 08:00:00")]
#[case("2026-05-04T10:00:01.123Z", "2027-01-15T08:00:00.250Z")]
#[case("2026-05-04 10:00:01+02:00", "2027-01-15 08:00:00+00:00")]
#[case("2026-05-04 10:00:01 UTC", "2027-01-15 08:00:00 UTC")]
fn a_time_is_written_like_the_one_it_replaces(#[case] seen: &str, #[case] written: &str) {
    let at = DateTime::from_timestamp(1_800_000_000, 250_000_000).unwrap();
    assert_eq!(write_like(&text(seen), TimeFormat::Iso, Zone::Utc, at), text(written));
}

#[rstest]
#[case(0, "0 s")]
#[case(59, "59 s")]
#[case(5_400, "1 h 30 min")]
#[case(1_738_800, "20 d 3 h")]
#[case(7_200, "2 h")]
fn spans_have_two_units_at_most(#[case] seconds: i64, #[case] shown: &str) {
    assert_eq!(span(TimeDelta::seconds(seconds)), shown);
}

proptest! {
    #[test]
    fn any_cell_is_read_without_panic(number in any::<i64>(), real in any::<f64>(), raw in any::<String>()) {
        for format in [TimeFormat::Iso, TimeFormat::EpochS, TimeFormat::EpochMs, TimeFormat::EpochUs,
            TimeFormat::EpochNs, TimeFormat::Julian] {
            for cell in [Cell::Integer(number), Cell::Real(real), Cell::text(raw.as_str())] {
                let _reading = read(&cell, format, Zone::Utc).to_string();
            }
        }
    }

    #[test]
    fn written_times_are_read_back(seconds in 700_000_000i64..4_000_000_000, micros in 0u32..1_000_000) {
        let at = DateTime::from_timestamp(seconds, micros * 1_000).unwrap();
        for (seen, format) in [
            (text("2026-05-04T10:00:01.123456"), TimeFormat::Iso),
            (Cell::Integer(1), TimeFormat::EpochUs),
            (Cell::Integer(1), TimeFormat::EpochNs),
        ] {
            let written = write_like(&seen, format, Zone::Utc, at);
            prop_assert_eq!(read(&written, format, Zone::Utc).known(), Some(at));
        }
    }
}
