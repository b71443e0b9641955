//! Presets that read a database.

use super::*;
use pretty_assertions::assert_eq;

const TEN_LINES: &str = r#"
type = "provider"
name = "bookings"
title = "Our bookings"
[operations.booking]
settle = "5m"
lookback = "90d"
sql = { table = "bookings", id = "id", reference = "order_no", status = "state", amount = "total", unit = "major", currency = "cur", time = "at" }
statuses = { happened = ["booked"], pending = ["reserved"] }
"#;

fn parsed(text: &str) -> Result<ProviderPreset, String> {
    ProviderPreset::parse(text)
}

#[test]
fn ten_lines_read_a_table() {
    let preset = parsed(TEN_LINES).unwrap();
    assert!(preset.is_sql());
    assert_eq!((&preset.auth, preset.pace_per_second), (&Auth::None, SQL_PACE_PER_SECOND));
    let How::Sql(look) = &preset.operations["booking"].how else { panic!("it is read by SQL") };
    assert_eq!(look.columns(), ["at", "cur", "id", "order_no", "state", "total"]);
    assert_eq!(look.state_of("booked"), EffectState::Happened);
    assert_eq!(look.state_of("Booked"), EffectState::Unlisted);
    assert!(look.listing_facts().is_some());
    assert!(!ledger().is_sql());
}

#[rstest]
#[case::no_settle("settle = \"5m\"\n", "", "`settle`: it is missing")]
#[case::no_lookback("lookback = \"90d\"\n", "", "`lookback`: it is missing")]
#[case::two_places(
    "table = \"bookings\"",
    "table = \"bookings\", select = \"SELECT 1\"",
    "`sql.table`: say either `table` or `select`"
)]
#[case::no_place("table = \"bookings\", ", "", "`sql.table`: say either `table` or `select`")]
#[case::no_query(
    "table = \"bookings\"",
    "select = \"DELETE FROM bookings\"",
    "`sql.select`: it must be one query that begins with SELECT or WITH"
)]
#[case::own_parameter(
    "table = \"bookings\"",
    "select = \"SELECT * FROM bookings WHERE a = :a\"",
    "`sql.select`: it has a parameter"
)]
#[case::schema_of_query(
    "table = \"bookings\"",
    "schema = \"x\", select = \"SELECT 1\"",
    "`sql.schema`: it goes with `table`"
)]
#[case::two_statuses(
    "status = \"state\"",
    "status = \"state\", status_fixed = \"booked\"",
    "`sql.status`: say its column, or `status_fixed`"
)]
#[case::no_unit("unit = \"major\", ", "", "`sql.unit`: it is missing")]
#[case::no_currency("currency = \"cur\", ", "", "`sql.currency`: say either its column or `currency_fixed`")]
#[case::zone_alone(", time = \"at\"", ", time_zone = \"UTC\"", "`sql.time`: it is missing")]
#[case::nothing_happened(
    "happened = [\"booked\"], ",
    "",
    "`statuses.happened`: no status says that it happened"
)]
#[case::also_http(
    "lookback = \"90d\"\n",
    "lookback = \"90d\"\npath = \"/x\"\n",
    "`sql`: what is read by SQL is not asked over HTTP"
)]
#[case::auth(
    "[operations.booking]",
    "auth = { kind = \"bearer\" }\n[operations.booking]",
    "`auth`: it does not go with what is read by SQL"
)]
#[case::both_kinds(
    "[operations.booking]",
    "[operations.other]\npath = \"/x\"\n[operations.booking]",
    "`operations`: some are read by SQL and some asked over HTTP"
)]
fn what_does_not_fit_is_told(#[case] from: &str, #[case] to: &str, #[case] told: &str) {
    let text = TEN_LINES.replacen(from, to, 1);
    assert_ne!(text, TEN_LINES);
    let sentence = parsed(&text).unwrap_err();
    assert!(sentence.contains(told), "{sentence}");
}
