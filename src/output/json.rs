//! JSON that is safe to look at: what a terminal would obey is escaped, and means the same to a program.

use crate::domain::text::escape_json;
use serde::Serialize;

/// A value as one line of JSON, every control, direction and zero-width character as `\uXXXX`.
pub fn line(value: &impl Serialize) -> String {
    escape_json(serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
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
