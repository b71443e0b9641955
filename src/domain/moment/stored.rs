//! Whether a time that a column holds is the one that was written into it.

use super::{TimeFormat, Zone, read};
use crate::domain::cell::Cell;
use chrono::TimeDelta;

/// How many digits the smallest part of a second has that a database keeps.
const FRACTION_DIGITS_MAX: u32 = 9;

/// Whether a column holds what was written into it: the same value, or the same time in the spelling and at the precision
/// of the column's own type (`…:05.120000+00:00` is `…:05.12+00` where it comes back).
pub fn is_stored_as(written: &Cell, stored: &Cell) -> bool {
    if written == stored {
        return true;
    }
    let (Cell::Text(_), Cell::Text(text)) = (written, stored) else { return false };
    let time = |cell| read(cell, TimeFormat::Iso, Zone::Utc).known();
    let (Some(before), Some(after)) = (time(written), time(stored)) else { return false };
    (before - after).abs() < unit_of(text)
}

/// What the last digit of a time's fraction counts: a second where it has none, as databases leave zeros out.
fn unit_of(text: &str) -> TimeDelta {
    let fraction = text.split_once('.').map_or("", |(_, tail)| tail);
    let digits: String = fraction.chars().take_while(char::is_ascii_digit).collect();
    let kept = u32::try_from(digits.trim_end_matches('0').len()).unwrap_or(FRACTION_DIGITS_MAX);
    TimeDelta::nanoseconds(10_i64.pow(FRACTION_DIGITS_MAX.saturating_sub(kept)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::postgres_zone("2026-03-01 10:00:05.123456+00:00", "2026-03-01 10:00:05.123456+00", true)]
    #[case::postgres_zeros("2026-03-01 10:00:05.120000+00:00", "2026-03-01 10:00:05.12+00", true)]
    #[case::naive("2026-03-01T10:00:05.120000", "2026-03-01 10:00:05.12", true)]
    #[case::milliseconds("2026-03-01 10:00:05.123656", "2026-03-01 10:00:05.124000", true)]
    #[case::seconds_rounded("2026-03-01 10:00:05.723656", "2026-03-01 10:00:06", true)]
    #[case::another_microsecond("2026-03-01 10:00:05.123456", "2026-03-01 10:00:05.123457", false)]
    #[case::another_millisecond("2026-03-01 10:00:05.123456", "2026-03-01 10:00:05.125", false)]
    #[case::another_second("2026-03-01 10:00:05.123456", "2026-03-01 10:00:07", false)]
    #[case::the_same_text("because", "because", true)]
    #[case::another_text("because", "why", false)]
    #[case::a_text_and_a_time("because", "2026-03-01 10:00:05", false)]
    fn a_time_comes_back_as_its_column_spells_it(
        #[case] written: &str,
        #[case] stored: &str,
        #[case] is_it: bool,
    ) {
        let text = |text: &str| Cell::text(text);
        assert_eq!(is_stored_as(&text(written), &text(stored)), is_it);
    }

    #[test]
    fn numbers_are_what_they_are() {
        assert!(is_stored_as(&Cell::Integer(7), &Cell::Integer(7)));
        assert!(!is_stored_as(&Cell::Integer(7), &Cell::Integer(8)));
        assert!(!is_stored_as(&Cell::Integer(7), &Cell::text("7")));
    }
}
