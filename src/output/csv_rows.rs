//! CSV that a sheet shows and does not execute.

use super::FindingLine;
use crate::domain::text::clean_for_sheet as cell;

/// The columns of findings.
const COLUMNS: [&str; 20] = [
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
    "on_record",
];

/// The head line, its line break included.
pub fn head() -> String {
    record(COLUMNS)
}

/// Cells as one line of CSV.
pub(super) fn record<T: AsRef<[u8]>>(cells: impl IntoIterator<Item = T>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Memory takes whatever is written; `from_utf8` only sees what was text before.
    let written = writer.write_record(cells).ok().and_then(|()| writer.into_inner().ok());
    written.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

/// One finding as a line, its line break included.
pub fn row(line: &FindingLine<'_>) -> String {
    let check = line.check.as_ref();
    let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    record([
        cell(line.source),
        cell(line.key),
        cell(line.kind),
        cell(line.status),
        line.state.to_owned(),
        line.finding.unwrap_or("").to_owned(),
        number(line.age_seconds),
        number(line.attempts),
        cell(line.last_error.as_deref().unwrap_or("")),
        line.error_class.unwrap_or("").to_owned(),
        cell(line.reference.unwrap_or("")),
        line.risk.to_owned(),
        check.map_or("", |check| check.verdict).to_owned(),
        check.map(|check| check.effects.to_string()).unwrap_or_default(),
        cell(&check.map(|check| check.effect_ids.join(" ")).unwrap_or_default()),
        check.map(|check| check.settled.to_string()).unwrap_or_default(),
        check.map_or("", |check| check.advice).to_owned(),
        cell(&check.map(|check| check.reasons.join(" ")).unwrap_or_default()),
        check.map(|check| check.checked_at.clone()).unwrap_or_default(),
        check.map(|check| check.on_record.to_string()).unwrap_or_default(),
    ])
}
