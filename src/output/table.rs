//! Findings as lines of text for people.

use super::FindingLine;
use crate::domain::moment::span;
use crate::domain::text::clean_cut;
use chrono::TimeDelta;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Column titles and widths; the last column takes what is left of the line.
const LIST: [(&str, usize); 6] =
    [("FINDING", 10), ("AGE", 13), ("SOURCE", 16), (KEY, 36), ("STATUS", 9), ("TRIES", 5)];
const CHECK: [(&str, usize); 6] =
    [("VERDICT", 10), ("ADVICE", 9), ("AGE", 13), ("SOURCE", 16), (KEY, 36), ("EFFECTS", 7)];
/// The column that grows: a key is there to be copied into the next command. It is as wide as a UUID.
const KEY: &str = "KEY";
/// How wide it grows. JSON and CSV have what is longer.
const KEY_WIDTH_MAX: usize = 80;
/// How wide a line is where no terminal says so.
const WIDTH_ELSEWHERE: usize = 160;

/// The head line of `list`.
pub fn list_head() -> String {
    head(&LIST, "LAST ERROR")
}

/// The head line of `check`.
pub fn check_head() -> String {
    head(&CHECK, "WHY")
}

pub(super) fn head(columns: &[(&str, usize)], last: &str) -> String {
    let cells: Vec<String> = columns.iter().map(|(title, width)| fitted(title, *width)).collect();
    format!("{}  {last}", cells.join("  "))
}

/// One finding of `list`.
pub fn list_row(line: &FindingLine<'_>, width: Option<usize>) -> String {
    let cells = [
        line.finding.unwrap_or("-").to_owned(),
        age(line),
        line.source.to_owned(),
        line.key.to_owned(),
        line.status.to_owned(),
        line.attempts.map_or_else(|| "-".to_owned(), |count| count.to_string()),
    ];
    let error = line.last_error.as_deref().unwrap_or("-");
    let last = match line.notes.first() {
        Some(note) => format!("{note} {error}"),
        None => error.to_owned(),
    };
    row(&LIST, &cells, &last, width)
}

/// One finding of `check`.
pub fn check_row(line: &FindingLine<'_>, width: Option<usize>) -> String {
    let Some(check) = &line.check else { return list_row(line, width) };
    let cells = [
        check.verdict.to_owned(),
        check.advice.to_owned(),
        age(line),
        line.source.to_owned(),
        line.key.to_owned(),
        check.effects.to_string(),
    ];
    row(&CHECK, &cells, &format!("{}{}", not_on_record(check.on_record), check.reasons.join(" ")), width)
}

/// What stands before everything else where the record did not take a verdict.
pub(super) fn not_on_record(on_record: bool) -> &'static str {
    if on_record { "" } else { "NOT ON RECORD. " }
}

fn age(line: &FindingLine<'_>) -> String {
    line.age_seconds.and_then(TimeDelta::try_seconds).map_or_else(|| "not known".to_owned(), span)
}

pub(super) fn row(columns: &[(&str, usize)], cells: &[String], last: &str, width: Option<usize>) -> String {
    let fitted: Vec<String> =
        columns.iter().zip(cells).map(|(column, cell)| in_column(*column, cell)).collect();
    let used: usize = fitted.iter().map(|cell| cell.width() + 2).sum();
    let left = width.unwrap_or(WIDTH_ELSEWHERE).saturating_sub(used).max(20);
    format!("{}  {}", fitted.join("  "), cut_to(&clean_cut(last, 4 * left), left)).trim_end().to_owned()
}

fn in_column((title, width): (&str, usize), cell: &str) -> String {
    let width = if title == KEY { cell.width().clamp(width, KEY_WIDTH_MAX) } else { width };
    fitted(cell, width)
}

/// A cell cleaned, cut and padded to a width in terminal columns.
fn fitted(text: &str, width: usize) -> String {
    let shown = cut_to(&clean_cut(text, 4 * width), width);
    let padding = width.saturating_sub(shown.width());
    format!("{shown}{}", " ".repeat(padding))
}

/// A clean text cut to a width, with a tilde where something is missing.
fn cut_to(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    for grapheme in text.graphemes(true) {
        if shown.width() + grapheme.width() + 1 > width {
            break;
        }
        shown.push_str(grapheme);
    }
    shown.push('~');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rstest::rstest]
    #[case::uuid("0199c3a4-8f1e-7c3b-9d55-2f6c1f0b7a11", "0199c3a4-8f1e-7c3b-9d55-2f6c1f0b7a11")]
    #[case::short("inv-7", "inv-7                               ")]
    #[case::longer(
        "tenant-7/0199c3a4-8f1e-7c3b-9d55-2f6c1f0b7a11/2026-11",
        "tenant-7/0199c3a4-8f1e-7c3b-9d55-2f6c1f0b7a11/2026-11"
    )]
    fn a_key_is_shown_whole(#[case] key: &str, #[case] shown: &str) {
        assert_eq!(in_column((KEY, 36), key), shown);
        let text = "k".repeat(300);
        assert_eq!(in_column((KEY, 36), &text).width(), KEY_WIDTH_MAX, "a text is no key");
    }

    #[test]
    fn cells_keep_their_width() {
        assert_eq!(fitted("stuck", 8), "stuck   ");
        assert_eq!(fitted("漢字漢字漢字", 8), "漢字漢~ ");
        assert_eq!(fitted("a\u{1b}[31m", 10), "a␛[31m    ");
    }
}
