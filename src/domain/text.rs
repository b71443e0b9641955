//! The gate that all outside text passes before a screen, a log or a file.
//!
//! Drawing libraries drop some control characters and keep others; this gate does not rely on them.

use unicode_width::UnicodeWidthChar;

/// The most marks on one letter: more are no writing, and would paint over the lines around it.
const MARKS_MAX: usize = 8;

/// The text with every control, escape, direction and zero-width character made visible, and marks beyond a few on one
/// letter spelled out.
///
/// Line breaks and tabs become signs too: a key with a line break must not look like two keys.
pub fn clean(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    let mut marks = 0;
    for character in text.chars() {
        let is_mark = !character.is_ascii() && character.width() == Some(0);
        marks = if is_mark { marks + 1 } else { 0 };
        if marks > MARKS_MAX {
            push_spelled(&mut shown, character);
        } else {
            push_visible(&mut shown, character);
        }
    }
    shown
}

/// The text cleaned line by line, so that a traceback keeps its shape.
pub fn clean_lines(text: &str) -> Vec<String> {
    text.lines().map(|line| clean(&line.replace('\t', "    "))).collect()
}

/// The text cleaned and cut to at most `chars_max` characters, an ellipsis in place of the rest.
pub fn clean_cut(text: &str, chars_max: usize) -> String {
    // Cutting first keeps a 50 MB text from being walked for a 40-character cell.
    let mut head: String = text.chars().take(chars_max + 1).collect();
    let was_cut = head.chars().count() > chars_max;
    if was_cut {
        head.pop();
    }
    let mut shown = clean(&head);
    if was_cut {
        shown.pop();
        shown.push('…');
    }
    shown
}

/// The text cleaned, as a cell of a spreadsheet: one that would be run as a formula begins with an apostrophe.
///
/// Some programs drop leading space, and some take the wide signs for the narrow ones.
pub fn clean_for_sheet(text: &str) -> String {
    const BEGIN_FORMULA: [char; 11] = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '⇥', '␍', '⏎'];
    let shown = clean(text);
    if shown.trim_start().starts_with(BEGIN_FORMULA) { format!("'{shown}") } else { shown }
}

/// The same JSON with every character that may not be shown as a `\u` escape: nothing hidden, and nothing lost.
///
/// For JSON on one line, as it is written by default: there such characters stand only inside strings, so replacing them
/// is safe.
pub fn escape_json(json: String) -> String {
    if json.bytes().all(|byte| matches!(byte, b' '..=b'~')) || json.chars().all(is_plain) {
        return json;
    }
    json.chars().fold(String::with_capacity(json.len() + 8), |mut shown, character| {
        if is_plain(character) {
            shown.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        }
        shown
    })
}

/// Whether a character may be shown as it is.
pub fn is_plain(character: char) -> bool {
    // Nearly all there is.
    if matches!(character, ' '..='~') {
        return true;
    }
    !(character.is_control() || is_invisible(character))
}

/// Whether a text can be an environment variable's name.
pub fn is_variable_name(text: &str) -> bool {
    let begins_well = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    begins_well && text.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
}

/// Bytes that are not valid UTF-8, with each bad byte as `\xE9`.
pub fn escape_bytes(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        shown.push_str(chunk.valid());
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02X}"));
        }
    }
    shown
}

fn push_visible(shown: &mut String, character: char) {
    match character {
        '\n' => shown.push('⏎'),
        '\t' => shown.push('⇥'),
        '\r' => shown.push('␍'),
        '\u{0}'..='\u{1f}' => shown.push(char::from_u32(0x2400 + character as u32).unwrap_or('?')),
        '\u{7f}' => shown.push('␡'),
        hidden if !is_plain(hidden) => push_spelled(shown, hidden),
        plain => shown.push(plain),
    }
}

fn push_spelled(shown: &mut String, character: char) {
    shown.push_str(&format!("<U+{:04X}>", character as u32));
}

/// Direction marks, zero-width characters, separators and tags: nothing a person can see, much a terminal obeys.
fn is_invisible(character: char) -> bool {
    matches!(character as u32,
        0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF
        | 0xFFA0 | 0xFFF0..=0xFFFB | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
}

/// So many of something, in words: `1 item`, `2 items`.
pub fn count_of(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The same with its verb: `1 item was`, `2 items were`.
pub fn were(count: usize, what: &str) -> String {
    format!("{} {}", count_of(count, what), if count == 1 { "was" } else { "were" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain("inv-41 é 漢", "inv-41 é 漢")]
    #[case::escape("\u{1b}[31mred", "␛[31mred")]
    #[case::c1("a\u{9b}31m", "a<U+009B>31m")]
    #[case::direction("a\u{202e}b", "a<U+202E>b")]
    #[case::zero_width("a\u{200b}b", "a<U+200B>b")]
    #[case::line_break("a\r\nb\tc", "a␍⏎b⇥c")]
    #[case::nul("a\0b", "a␀b")]
    #[case::marks("e\u{301}\u{323} क्षि", "e\u{301}\u{323} क्षि")]
    #[case::a_stack_of_marks(
        "z\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}x",
        "z\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}<U+0301>x"
    )]
    fn hidden_characters_become_signs(#[case] raw: &str, #[case] shown: &str) {
        assert_eq!(clean(raw), shown);
    }

    #[rstest]
    #[case::equals("=1+1", "'=1+1")]
    #[case::minus("-2", "'-2")]
    #[case::at("@x", "'@x")]
    #[case::tab("\t=1", "'⇥=1")]
    #[case::line_break("\n=1", "'⏎=1")]
    #[case::space("  =1", "'  =1")]
    #[case::wide("＝1", "'＝1")]
    #[case::plain("inv-1", "inv-1")]
    fn formulas_are_texts(#[case] raw: &str, #[case] shown: &str) {
        assert_eq!(clean_for_sheet(raw), shown);
    }

    proptest! {
        #[test]
        fn nothing_hidden_passes_the_gate(raw in any::<String>()) {
            prop_assert!(clean(&raw).chars().all(is_plain));
        }

        #[test]
        fn a_cut_text_is_never_longer_than_asked(raw in "[a-z]{0,80}", chars_max in 1usize..40) {
            prop_assert!(clean_cut(&raw, chars_max).chars().count() <= chars_max);
        }
    }

    proptest! {
        #[test]
        fn escaped_json_is_the_same_json(raw in any::<String>()) {
            let json = serde_json::json!({ "a": raw }).to_string();
            let escaped = escape_json(json);
            prop_assert!(escaped.chars().all(is_plain));
            let back: serde_json::Value = serde_json::from_str(&escaped).unwrap();
            prop_assert_eq!(back["a"].as_str(), Some(&*raw));
        }
    }

    #[test]
    fn bad_bytes_are_spelled() {
        assert_eq!(escape_bytes(b"caf\xe9!"), "caf\\xE9!");
    }

    #[test]
    fn one_is_told_as_one() {
        assert_eq!([0, 1, 2].map(|count| count_of(count, "item")), ["0 items", "1 item", "2 items"]);
        assert_eq!([1, 2].map(|count| were(count, "item")), ["1 item was", "2 items were"]);
    }
}
