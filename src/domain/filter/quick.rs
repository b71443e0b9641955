//! The quick way through a filter, for a list of 100,000 findings that is filtered anew with each letter typed.
//!
//! Many findings share their words (source, kind, status…), so what those settle is worked out once for all that share
//! them. What is left is asked of each finding: two numbers, and its own texts, kept folded in one piece.

use super::{Facts, Field, Filter, Term, Test};
use chrono::TimeDelta;

/// Longer texts are not kept a second time.
const FOLDED_BYTES_MAX: usize = 1_024;

/// Key, error and reference of one finding in lower case, side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folded<'a> {
    /// A line break behind each.
    text: &'a str,
    ends: Ends,
}

/// Where the texts end in a folded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ends {
    key: u16,
    error: u16,
}

/// Writes the texts of a finding, folded, to the end of a longer one; `None`, and nothing written, where they are long.
pub fn fold(facts: &Facts<'_>, to: &mut String) -> Option<Ends> {
    let texts = facts.texts();
    if texts.iter().map(|text| text.len() + 1).sum::<usize>() > FOLDED_BYTES_MAX {
        return None;
    }
    let begin = to.len();
    let mut ends = [0; 3];
    for (part, end) in texts.into_iter().zip(&mut ends) {
        if part.is_ascii() {
            to.push_str(part);
        } else {
            to.push_str(&part.to_lowercase());
        }
        *end = to.len() - begin;
        to.push('\n');
    }
    if let Some(folded) = to.get_mut(begin..) {
        folded.make_ascii_lowercase();
    }
    let [key, error, _] = ends.map(|end| u16::try_from(end).unwrap_or(u16::MAX));
    Some(Ends { key, error })
}

impl<'a> Folded<'a> {
    /// What [`fold`] wrote.
    pub fn new(text: &'a str, ends: Ends) -> Self {
        Self { text, ends }
    }

    /// The texts by which a finding is found: its key and its reference.
    pub fn key_and_reference(self) -> [&'a str; 2] {
        let [key, _, reference] = self.texts();
        [key, reference]
    }

    fn texts(self) -> [&'a str; 3] {
        let (key_end, error_end) = (usize::from(self.ends.key), usize::from(self.ends.error));
        let part = |from: usize, to: usize| self.text.get(from..to).unwrap_or("");
        [
            part(0, key_end),
            part(key_end + 1, error_end),
            part(error_end + 1, self.text.len().saturating_sub(1)),
        ]
    }

    /// Whether one of the texts has a word in it. One search over all is enough, unless it could find the break between two.
    fn has(self, word: &str) -> bool {
        if word.contains('\n') {
            self.texts().iter().any(|text| text.contains(word))
        } else {
            self.text.contains(word)
        }
    }

    /// The text of a field that is searched; `None` for those that are words.
    fn text_of(self, field: Field) -> Option<&'a str> {
        let [key, error, reference] = self.texts();
        match field {
            Field::Key => Some(key),
            Field::Error => Some(error),
            Field::Reference => Some(reference),
            Field::Source
            | Field::Kind
            | Field::Status
            | Field::Risk
            | Field::Finding
            | Field::Class
            | Field::Verdict
            | Field::Advice => None,
        }
    }
}

/// What of a filter is left to be asked of findings once their words are known.
#[derive(Debug, Clone)]
pub enum Rest<'a> {
    /// The words said it all.
    Settled(bool),
    /// These have to hold as well.
    Open(Open<'a>),
    /// Money and times are asked for, which are kept in no quick form: the whole finding has to be looked at.
    Whole,
}

/// What the words left open.
#[derive(Debug, Clone)]
pub struct Open<'a>(Vec<&'a Term>);

impl Open<'_> {
    /// Whether a finding passes that has these numbers and texts.
    pub fn passes(&self, age: Option<TimeDelta>, attempts: Option<i64>, folded: Folded<'_>) -> bool {
        let facts = Facts { age, attempts, ..Facts::default() };
        self.0.iter().all(|term| term.test.holds_in(&facts, folded) != term.negated)
    }
}

impl Filter {
    /// What is left to be asked of every finding that has the words of these facts, verdict and advice among them.
    pub fn given_words(&self, words: &Facts<'_>) -> Rest<'_> {
        let mut open = Vec::new();
        for term in &self.terms {
            match term.test.holds_by_words(words) {
                Some(holds) if holds == term.negated => return Rest::Settled(false),
                Some(_) => {}
                None => open.push(term),
            }
        }
        if open.is_empty() {
            Rest::Settled(true)
        } else if open.iter().any(|term| term.test.needs_whole()) {
            Rest::Whole
        } else {
            Rest::Open(Open(open))
        }
    }
}

impl Test {
    /// Whether it asks for what is kept in no quick form.
    fn needs_whole(&self) -> bool {
        match self {
            Self::Amount(..) | Self::Currency(_) | Self::Since(_) | Self::Until(_) => true,
            Self::Anywhere(_) | Self::Is(..) | Self::Age(..) | Self::Attempts(..) => false,
        }
    }

    /// Whether it holds; `None` where words alone do not settle it.
    fn holds_by_words(&self, facts: &Facts<'_>) -> Option<bool> {
        match self {
            Self::Anywhere(text) => {
                facts.words().iter().any(|word| super::contains(word, text)).then_some(true)
            }
            Self::Is(field, _) => field.is_word().then(|| self.holds(facts)),
            Self::Age(..)
            | Self::Attempts(..)
            | Self::Amount(..)
            | Self::Currency(_)
            | Self::Since(_)
            | Self::Until(_) => None,
        }
    }

    /// Whether what the words left open holds.
    fn holds_in(&self, numbers: &Facts<'_>, folded: Folded<'_>) -> bool {
        match self {
            Self::Anywhere(text) => folded.has(text),
            Self::Is(field, values) => folded
                .text_of(*field)
                .is_some_and(|text| values.iter().any(|wanted| text.contains(wanted.as_str()))),
            Self::Age(..)
            | Self::Attempts(..)
            | Self::Amount(..)
            | Self::Currency(_)
            | Self::Since(_)
            | Self::Until(_) => self.holds(numbers),
        }
    }
}
