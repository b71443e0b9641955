//! What may leave the program, in the tests' own words: a list that is not the program's.

use pretty_assertions::assert_eq;

/// Whether a character may reach a terminal or a file.
pub fn is_harmless(character: char) -> bool {
    let code = character as u32;
    let is_control = code < 0x20 || (0x7f..=0x9f).contains(&code);
    let is_hidden = matches!(code,
        0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
        | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
        | 0xE0000..=0xE0FFF);
    !(is_control || is_hidden)
}

/// Fails where a text holds something that a terminal obeys; a line feed ends a line.
pub fn assert_harmless(what: &str, text: &str) {
    let is_odd = |character: &char| *character != '\n' && !is_harmless(*character);
    let odd: Vec<char> = text.chars().filter(is_odd).collect();
    assert_eq!(odd, Vec::<char>::new(), "{what}: {text:?}");
}

/// The longest run of characters that take no room of their own: marks upon marks, over the lines around them.
pub fn highest_stack(text: &str) -> usize {
    let takes_no_room = |character: char| unicode_width::UnicodeWidthChar::width(character) == Some(0);
    text.split(|character| !takes_no_room(character)).map(|marks| marks.chars().count()).max().unwrap_or(0)
}

/// Whether a spreadsheet may run a cell, also one that drops leading space, or that takes wide signs for narrow ones.
pub fn is_formula(cell: &str) -> bool {
    let begin = cell.trim_start().chars().next();
    cell.starts_with(['\t', '\r', '\n'])
        || matches!(begin, Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠'))
}

/// Fails where a cell of a sheet is a formula.
pub fn assert_no_formula(what: &str, csv: &str) {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(csv.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert!(records.len() > 1, "{what} has rows: {csv}");
    for cell in records.iter().flatten() {
        assert!(!is_formula(cell), "{what}: {cell:?}");
    }
}
