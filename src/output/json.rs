//! JSON that is safe to look at: what a terminal would obey is escaped, and means the same to a program.

use crate::domain::text::is_plain;
use serde::Serialize;

/// A value as one line of JSON, every control, direction and zero-width character as `\uXXXX`.
pub fn line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    if text.chars().all(is_plain) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_plain(character) {
            shown.push(character);
        } else {
            let mut units = [0_u16; 2];
            for unit in character.encode_utf16(&mut units) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_means_what_was_written_and_hides_nothing(text in any::<String>()) {
            let written = line(&text);
            prop_assert!(written.chars().all(is_plain));
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }
}
