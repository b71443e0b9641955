//! Texts as the server takes them: PostgreSQL has no NUL in a text, and a key or an answer may hold one.

use crate::adapters::postgres::client::Error;
use std::borrow::Cow;
use tokio_postgres::Row;

/// What stands for a NUL, with a `0` after it; itself it is written twice. Nobody's text has it: it is of private use.
const MARK: char = '\u{e000}';

/// A text as it is kept.
pub(super) fn kept(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', MARK]) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len() + 4);
    for letter in text.chars() {
        match letter {
            '\0' => kept.extend([MARK, '0']),
            MARK => kept.extend([MARK, MARK]),
            other => kept.push(other),
        }
    }
    Cow::Owned(kept)
}

/// The text that is kept so; `None` where no text is.
pub(super) fn text_of(kept: String) -> Option<String> {
    if !kept.contains(MARK) {
        return Some(kept);
    }
    let (mut text, mut letters) = (String::with_capacity(kept.len()), kept.chars());
    while let Some(letter) = letters.next() {
        match letter {
            MARK => match letters.next()? {
                '0' => text.push('\0'),
                MARK => text.push(MARK),
                _ => return None,
            },
            other => text.push(other),
        }
    }
    Some(text)
}

/// A column's text. What is kept as nobody keeps a text is given as it is: its hash does not fit.
pub(super) fn text_at(row: &Row, at: usize) -> Result<String, Error> {
    let kept: String = row.try_get(at)?;
    Ok(text_of(kept.clone()).unwrap_or(kept))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_text_is_kept_and_given_back(text in "[\\x00a0\u{e000}\u{1F600}]{0,12}|\\PC*") {
            let kept = kept(&text).into_owned();
            prop_assert!(!kept.contains('\0'));
            prop_assert_eq!(text_of(kept), Some(text));
        }

        #[test]
        fn no_two_kept_texts_are_one_text(stored in "[a0\u{e000}]{0,8}") {
            if let Some(text) = text_of(stored.clone()) {
                prop_assert_eq!(kept(&text).into_owned(), stored);
            }
        }
    }
}
