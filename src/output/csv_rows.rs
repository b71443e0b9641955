//! CSV that a sheet shows and does not execute.

use super::FindingLine;
use crate::domain::text::clean;
use std::io::Write;

/// A text as a cell: hidden characters visible, and no formula at its beginning.
pub fn cell(text: &str) -> String {
    let shown = clean(text);
    if shown.starts_with(['=', '+', '-', '@', '⇥', '␍']) { format!("'{shown}") } else { shown }
}

/// The columns of findings.
const COLUMNS: [&str; 19] = [
    "source",
    "key",
    "kind",
    "status",
    "state",
    "finding",
    "age_seconds",
    "attempts",
    "last_error",
    "error_class",
    "reference",
    "risk",
    "verdict",
    "effects",
    "effect_ids",
    "settled",
    "advice",
    "reasons",
    "checked_at",
];

/// Writes the head line.
///
/// # Errors
/// The output's own.
pub fn write_head<W: Write>(writer: &mut csv::Writer<W>) -> csv::Result<()> {
    writer.write_record(COLUMNS)
}

/// Writes one finding.
///
/// # Errors
/// The output's own.
pub fn write_row<W: Write>(writer: &mut csv::Writer<W>, line: &FindingLine) -> csv::Result<()> {
    let check = line.check.as_ref();
    let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    writer.write_record([
        cell(&line.source),
        cell(&line.key),
        cell(&line.kind),
        cell(&line.status),
        line.state.to_owned(),
        line.finding.unwrap_or("").to_owned(),
        number(line.age_seconds),
        number(line.attempts),
        cell(line.last_error.as_deref().unwrap_or("")),
        line.error_class.unwrap_or("").to_owned(),
        cell(line.reference.as_deref().unwrap_or("")),
        line.risk.to_owned(),
        check.map_or("", |check| check.verdict).to_owned(),
        check.map(|check| check.effects.to_string()).unwrap_or_default(),
        cell(&check.map(|check| check.effect_ids.join(" ")).unwrap_or_default()),
        check.map(|check| check.settled.to_string()).unwrap_or_default(),
        check.map_or("", |check| check.advice).to_owned(),
        cell(&check.map(|check| check.reasons.join(" ")).unwrap_or_default()),
        check.map(|check| check.checked_at.clone()).unwrap_or_default(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("=1+1", "'=1+1")]
    #[case("-2", "'-2")]
    #[case("@x", "'@x")]
    #[case("\t=1", "'⇥=1")]
    #[case("inv-1", "inv-1")]
    fn formulas_are_texts(#[case] raw: &str, #[case] shown: &str) {
        assert_eq!(cell(raw), shown);
    }
}
