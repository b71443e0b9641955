//! Which lines are worth reading: those in which a wanted key stands as it is written.

use crate::ports::logs::WantedLines;
use regex::bytes::Regex;

/// Finds the lines that may be of a wanted item, without reading them as JSON.
#[derive(Debug)]
pub(super) struct Matcher(Option<Regex>);

impl Matcher {
    /// How many keys are looked for in a line; with more of them every line is read.
    const KEYS_MAX: usize = 2_000;

    /// A matcher for these items. Where a key may be spelled in several ways in JSON, every line is worth reading.
    pub(super) fn new(wanted: &WantedLines) -> Self {
        let keys: Vec<&String> = wanted.keys.iter().chain(&wanted.natural_keys).collect();
        if keys.len() > Self::KEYS_MAX || !keys.iter().all(|key| is_spelled_in_one_way(key)) {
            return Self(None);
        }
        let escaped: Vec<String> = keys.into_iter().map(|key| regex::escape(key)).collect();
        Self(Regex::new(&escaped.join("|")).ok())
    }

    /// Whether a line may be of a wanted item.
    pub(super) fn may_fit(&self, line: &[u8]) -> bool {
        self.0.as_ref().is_none_or(|keys| keys.is_match(line))
    }
}

/// Whether JSON writers all write a text in the same way: none of the characters that some of them escape.
fn is_spelled_in_one_way(key: &str) -> bool {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | ' ' | '@' | '#');
    !key.is_empty() && key.chars().all(is_plain)
}
