//! Gets at what an error text says: out of JSON, lists and tracebacks, folded for comparison.

use crate::domain::error_json;

/// How much of each end of a huge text is looked at.
pub const END_BYTES: usize = 8 << 10;

/// One error of a chain: what led to it comes before it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Link {
    /// The words, without stack frames.
    pub text: String,
    /// It happened while the ones before it were handled, so those prove nothing about the call that failed.
    pub unrelated: bool,
}

/// A folded error text, and where in it the deciding parts begin.
#[derive(Debug, PartialEq, Eq)]
pub struct Story {
    /// The whole chain, folded, a line break between errors.
    pub text: String,
    /// Where the last error of the chain begins.
    pub last: usize,
    /// Where the part begins that can prove something.
    pub proof: usize,
}

/// Unwraps and folds a stored error text; `None` when it says nothing.
pub fn unwrap(stored: &str) -> Option<Story> {
    let mut story = Story { text: String::new(), last: 0, proof: 0 };
    for link in links(stored, 0) {
        if !story.text.is_empty() {
            story.text.push('\n');
        }
        story.last = story.text.len();
        if link.unrelated {
            story.proof = story.last;
        }
        fold(&link.text, &mut story.text);
    }
    (!story.text.trim().is_empty()).then_some(story)
}

/// The errors a text tells of, first cause or first attempt to last.
pub fn links(stored: &str, depth: usize) -> Vec<Link> {
    let text = stored.trim();
    if says_nothing(text) {
        return Vec::new();
    }
    if let Some(links) = error_json::links(text, depth) {
        return links;
    }
    chain(&ends(text))
}

fn says_nothing(text: &str) -> bool {
    let nothing = ["", "null", "none", "nil", "undefined", "{}", "[]", "\"\"", "''", "nan"];
    nothing.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The first and last `END_BYTES` of a text.
pub fn ends(text: &str) -> String {
    if text.len() <= 2 * END_BYTES {
        return text.to_owned();
    }
    let head = text.get(..text.floor_char_boundary(END_BYTES)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - END_BYTES)..).unwrap_or_default();
    format!("{head}\n{tail}")
}

/// Splits a traceback into its errors and drops the frames.
fn chain(text: &str) -> Vec<Link> {
    let mut links = vec![Link::default()];
    let mut in_python_frame = false;
    for raw in text.lines() {
        let line = raw.trim_start_matches([' ', '\t', '|']);
        let indented = raw.len() - raw.trim_start().len() >= 4 || raw.starts_with("  |     ");
        let break_before = starts_error(line);
        if let Some(unrelated) = break_before {
            begin(&mut links, unrelated);
        }
        let python_frame = line.starts_with("File \"") && line.contains(", line ");
        let frame = python_frame || (in_python_frame && indented) || is_frame(raw, line);
        in_python_frame = python_frame || (in_python_frame && indented);
        if frame || is_chain_mark(line) {
            continue;
        }
        if let Some(link) = links.last_mut() {
            link.text.push_str(line);
            link.text.push('\n');
        }
    }
    links.retain(|link| !link.text.trim().is_empty());
    links
}

fn begin(links: &mut Vec<Link>, unrelated: bool) {
    match links.last_mut() {
        Some(link) if link.text.trim().is_empty() => link.unrelated |= unrelated,
        _ => links.push(Link { text: String::new(), unrelated }),
    }
}

/// Whether a line begins the next error of a chain, and if so whether that one is unrelated to those before.
fn starts_error(line: &str) -> Option<bool> {
    if line.contains("During handling of the above exception") {
        return Some(true);
    }
    let cause = line.contains("was the direct cause of the following exception")
        || line.starts_with("Traceback (most recent call last)")
        || line.starts_with("Caused by")
        || line.starts_with("[cause]")
        || (line.starts_with("Next ") && (line.contains("Exception") || line.contains("Error")));
    cause.then_some(false)
}

fn is_chain_mark(line: &str) -> bool {
    line.contains("During handling of the above exception")
        || line.contains("was the direct cause of the following exception")
        || line.starts_with("Traceback (most recent call last)")
        || line.starts_with("--- End of")
}

/// Whether a line is a stack frame: its words are names in a program, not what went wrong.
fn is_frame(raw: &str, line: &str) -> bool {
    let located = |word: &str| line.contains(word);
    let indented = raw.starts_with([' ', '\t']);
    let java_or_node = line.starts_with("at ")
        && (line.ends_with(')') || located(":line ") || line.ends_with(|c: char| c.is_ascii_digit()));
    let ruby = (line.starts_with("from ") || indented || line.starts_with('/'))
        && located(".rb:")
        && located(":in ");
    let php = line.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        && (located("): ") || located("{main}") || located(".php"));
    let elixir =
        indented && line.starts_with('(') && (located(".ex:") || located(".erl:") || located(".exs:"));
    let go = indented && located(".go:");
    let more = line.starts_with("... ") && (line.ends_with(" more") || located("common frames omitted"));
    java_or_node || ruby || php || elixir || go || more
}

/// Lower case, no accents, straight quotes, plain spaces.
fn fold(text: &str, into: &mut String) {
    let mut rest = text.trim_end().chars().peekable();
    let mut before = ' ';
    while let Some(letter) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        match letter {
            '\\' if matches!(next, '"' | '\'' | '/') => {}
            '\\' if matches!(next, 'n' | 'r' | 't') && is_escape(before, &rest) => {
                rest.next();
                into.push('\n');
            }
            '\r' => {}
            '\n' => into.push('\n'),
            _ => fold_letter(letter, into),
        }
        before = letter;
    }
}

/// Whether `\n` stands for a line break; in `App\notify` it does not.
fn is_escape(before: char, rest: &std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let after = rest.clone().nth(1).unwrap_or(' ');
    !before.is_alphanumeric() || !after.is_lowercase()
}

fn fold_letter(letter: char, into: &mut String) {
    if letter.is_ascii() {
        into.push(letter.to_ascii_lowercase());
        return;
    }
    match letter {
        'à'..='å' | 'À'..='Å' => into.push('a'),
        'ç' | 'Ç' => into.push('c'),
        'è'..='ë' | 'È'..='Ë' => into.push('e'),
        'ì'..='ï' | 'Ì'..='Ï' => into.push('i'),
        'ñ' | 'Ñ' => into.push('n'),
        'ò'..='ö' | 'Ò'..='Ö' => into.push('o'),
        'ù'..='ü' | 'Ù'..='Ü' => into.push('u'),
        '\u{2018}' | '\u{2019}' | '\u{00b4}' => into.push('\''),
        '\u{201c}' | '\u{201d}' | '\u{ab}' | '\u{bb}' => into.push('"'),
        '\u{2010}'..='\u{2015}' => into.push('-'),
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{feff}' => {}
        space if space.is_whitespace() => into.push(' '),
        other => into.extend(other.to_lowercase()),
    }
}
