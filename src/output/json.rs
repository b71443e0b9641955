//! JSON that is safe to look at: what a terminal would obey is escaped, and means the same to a program.

use crate::domain::text::escape_json;
use serde::Serialize;

/// More than most lines take, so that they need not grow.
const LINE_BYTES: usize = 512;

/// A value as one line of JSON, every control, direction and zero-width character as `\uXXXX`.
pub fn line(value: &impl Serialize) -> String {
    let mut line = Vec::with_capacity(LINE_BYTES);
    let written = serde_json::to_writer(&mut line, value).ok().and_then(|()| String::from_utf8(line).ok());
    escape_json(written.unwrap_or_else(|| "null".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::text::is_plain;
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
