//! Outside text on its way to the screen: secrets hidden, control characters made visible, cut to its cell.

use crate::domain::cell::Cell;
use crate::domain::item::{ItemKey, LastError};
use crate::domain::mask::{MASK, is_hidden_name, mask_text};
use crate::domain::text::{clean, clean_cut, clean_lines};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// How much of one outside text is looked at for a line of the screen.
const LINE_CHARS_MAX: usize = 2_000;

/// Outside text as one line, secrets hidden.
pub fn line(raw: &str) -> String {
    clean_cut(&mask_text(raw), LINE_CHARS_MAX)
}

/// Outside text as one line for a narrow cell, secrets hidden: only the beginning is looked at.
pub fn beginning(raw: &str, width: usize) -> String {
    const LOOKED_AT_BYTES_MAX: usize = 4_096;
    let end =
        (0..=LOOKED_AT_BYTES_MAX.min(raw.len())).rev().find(|at| raw.is_char_boundary(*at)).unwrap_or(0);
    let masked = mask_text(raw.get(..end).unwrap_or(""));
    fit(&clean(&masked.chars().take(width.saturating_add(1)).collect::<String>()), width)
}

/// A key as one line; an empty one is told.
pub fn key(key: &str) -> String {
    if key.is_empty() { "''".to_owned() } else { line(key) }
}

/// A key's cells told apart where they are odd: NULL, empty and bad text look different.
pub fn item_key(item: &ItemKey) -> String {
    match item.parts.as_slice() {
        [only @ (Cell::Null | Cell::Text(_) | Cell::BadText(_) | Cell::Blob(_))] => line(&only.shown()),
        _ => key(item.as_str()),
    }
}

/// A value of a column; hidden where the column's name or the value looks secret, unless it is to be seen.
pub fn cell(name: &str, cell: &Cell, named: &[String], is_open: bool) -> String {
    if is_open {
        return clean_cut(&cell.shown(), LINE_CHARS_MAX);
    }
    match cell {
        Cell::Null => cell.shown(),
        Cell::Text(text) if text.is_empty() => cell.shown(),
        _ if is_hidden_name(name, named) => MASK.to_owned(),
        Cell::Text(text) => clean_cut(&crate::domain::mask::mask_document(text, named), LINE_CHARS_MAX),
        Cell::Integer(_) | Cell::Real(_) | Cell::BadText(_) | Cell::Blob(_) => line(&cell.shown()),
    }
}

/// The latest error as lines: none kept, none there, an empty text and a text all look different.
pub fn error_lines(error: &LastError, named: &[String], is_open: bool) -> Vec<String> {
    match error {
        LastError::NotKept => vec!["(this source keeps no errors)".to_owned()],
        LastError::Absent => vec!["NULL".to_owned()],
        LastError::Text(text) if text.is_empty() => vec!["'' (an empty text)".to_owned()],
        LastError::Text(text) if is_open => clean_lines(text),
        LastError::Text(text) => clean_lines(&crate::domain::mask::mask_document(text, named)),
    }
}

/// A text cut to a width in cells, `~` in place of the rest. The text must be clean.
pub fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        let next = used + grapheme.width();
        if next >= width {
            break;
        }
        cut.push_str(grapheme);
        used = next;
    }
    if width > 0 {
        cut.push('~');
    }
    cut
}

/// A text cut or filled to exactly a width in cells.
pub fn pad(text: &str, width: usize) -> String {
    let mut padded = fit(text, width);
    let filled = padded.width();
    padded.extend(std::iter::repeat_n(' ', width.saturating_sub(filled)));
    padded
}

/// A text broken into lines of at most a width, at spaces where it has some.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let (mut lines, mut current, mut used) = (Vec::new(), String::new(), 0);
    for word in text.split_inclusive(' ') {
        let bare = word.trim_end_matches(' ').width();
        if used > 0 && used + bare > width {
            lines.push(std::mem::take(&mut current));
            used = 0;
        }
        if bare <= width {
            current.push_str(word);
            used += word.width();
            continue;
        }
        for grapheme in word.graphemes(true) {
            if used + grapheme.width() > width && used > 0 {
                lines.push(std::mem::take(&mut current));
                used = 0;
            }
            current.push_str(grapheme);
            used += grapheme.width();
        }
    }
    lines.push(current);
    lines.iter().map(|line| line.trim_end_matches(' ').to_owned()).collect()
}
