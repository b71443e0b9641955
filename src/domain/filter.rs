//! The filter over findings, shared by the console and the commands.
//!
//! Words are joined by "and": `kind:invoice finding:stuck age>2h -timeout`; commas within one are "or": `kind:invoice,refund`.
//! A word without a field is looked for in key, source, kind, status, error and reference.

mod nearest;
mod parse;
mod quick;
#[cfg(test)]
mod tests;

use chrono::{DateTime, TimeDelta, Utc};
use parse::{parse_term, split_words};
pub use quick::{Ends, Folded, Rest, fold};
use rust_decimal::Decimal;

/// The facts of a finding that a filter can see.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// Source name.
    pub source: &'a str,
    /// Key.
    pub key: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// Native status.
    pub status: &'a str,
    /// Risk, in its word.
    pub risk: &'a str,
    /// Finding, in its word.
    pub finding: &'a str,
    /// Error class, in its word; empty for none.
    pub class: &'a str,
    /// Last error; empty for none.
    pub error: &'a str,
    /// Reference; empty for none.
    pub reference: &'a str,
    /// Verdict, in its word; empty before a check.
    pub verdict: &'a str,
    /// Advice, in its word; empty before a check.
    pub advice: &'a str,
    /// Age; `None` where it is not known.
    pub age: Option<TimeDelta>,
    /// Attempts; `None` where they are not known.
    pub attempts: Option<i64>,
    /// Since when it is so; `None` where no readable time says it.
    pub since: Option<DateTime<Utc>>,
    /// How much money it is about; `None` where nobody said yet.
    pub amount: Option<&'a Decimal>,
    /// The currency of that; empty where nobody said yet.
    pub currency: &'a str,
}

impl<'a> Facts<'a> {
    /// The words that a word without a field is looked for in, beside the texts.
    fn words(&self) -> [&'a str; 6] {
        [self.source, self.kind, self.status, self.finding, self.verdict, self.advice]
    }

    /// The texts that a word without a field is looked for in: each finding has its own.
    fn texts(&self) -> [&'a str; 3] {
        [self.key, self.error, self.reference]
    }
}

/// A parsed filter. The empty one lets everything pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    negated: bool,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    /// In lower case.
    Anywhere(String),
    /// One of several values; in lower case where the field is searched.
    Is(Field, Vec<String>),
    Age(Order, TimeDelta),
    Attempts(Order, i64),
    Amount(Order, Decimal),
    /// One of several codes in capitals.
    Currency(Vec<String>),
    /// It began at this moment or later.
    Since(DateTime<Utc>),
    /// It began before this moment.
    Until(DateTime<Utc>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Source,
    Key,
    Kind,
    Status,
    Risk,
    Finding,
    Class,
    Error,
    Reference,
    Verdict,
    Advice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    More,
    AtLeast,
    Less,
    AtMost,
    Same,
}

impl Field {
    const NAMED: [(&'static str, Self); 11] = [
        ("source", Self::Source),
        ("key", Self::Key),
        ("kind", Self::Kind),
        ("status", Self::Status),
        ("risk", Self::Risk),
        ("finding", Self::Finding),
        ("class", Self::Class),
        ("error", Self::Error),
        ("reference", Self::Reference),
        ("verdict", Self::Verdict),
        ("advice", Self::Advice),
    ];

    fn of<'a>(self, facts: &Facts<'a>) -> &'a str {
        match self {
            Self::Source => facts.source,
            Self::Key => facts.key,
            Self::Kind => facts.kind,
            Self::Status => facts.status,
            Self::Risk => facts.risk,
            Self::Finding => facts.finding,
            Self::Class => facts.class,
            Self::Error => facts.error,
            Self::Reference => facts.reference,
            Self::Verdict => facts.verdict,
            Self::Advice => facts.advice,
        }
    }

    /// Whether a value must be met whole: short words from a fixed list are, free texts are searched.
    fn is_word(self) -> bool {
        match self {
            Self::Risk
            | Self::Finding
            | Self::Class
            | Self::Verdict
            | Self::Advice
            | Self::Kind
            | Self::Source
            | Self::Status => true,
            Self::Key | Self::Error | Self::Reference => false,
        }
    }
}

impl Order {
    fn holds<T: PartialOrd>(self, value: &T, than: &T) -> bool {
        match self {
            Self::More => value > than,
            Self::AtLeast => value >= than,
            Self::Less => value < than,
            Self::AtMost => value <= than,
            Self::Same => value == than,
        }
    }
}

impl Filter {
    /// Parses what was typed.
    ///
    /// # Errors
    /// A sentence: an unknown field, or a value that does not fit it.
    pub fn parse(typed: &str) -> Result<Self, String> {
        let terms = split_words(typed).iter().map(|word| parse_term(word)).collect::<Result<_, _>>()?;
        Ok(Self { terms })
    }

    /// Whether it lets everything pass.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether it needs a verdict or an advice, which are there only after a check.
    pub fn needs_check(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.test, Test::Is(Field::Verdict | Field::Advice, _)))
    }

    /// Whether it asks for money, which for some kinds nobody knows before a check.
    pub fn asks_for_money(&self) -> bool {
        self.terms.iter().any(|term| term.test.is_of_money())
    }

    /// Whether the finding may pass once it is checked, from its facts before that.
    pub fn may_pass(&self, facts: &Facts<'_>) -> bool {
        self.terms.iter().all(|term| term.test.waits_for_check(facts) || term.passes(facts))
    }

    /// Whether the finding passes.
    pub fn passes(&self, facts: &Facts<'_>) -> bool {
        self.terms.iter().all(|term| term.passes(facts))
    }
}

impl Term {
    /// What is not known passes neither a word of money or time nor its contrary: "not above 100" must not take in, for a
    /// decision on many, what may well be above it.
    fn passes(&self, facts: &Facts<'_>) -> bool {
        self.test.settles(facts).is_some_and(|holds| holds != self.negated)
    }
}

impl Test {
    fn anywhere(word: &str) -> Self {
        Self::Anywhere(word.to_lowercase())
    }

    fn is_of_money(&self) -> bool {
        matches!(self, Self::Amount(..) | Self::Currency(_))
    }

    /// Whether only a check can say what it asks for.
    fn waits_for_check(&self, facts: &Facts<'_>) -> bool {
        match self {
            Self::Is(Field::Verdict, _) => facts.verdict.is_empty(),
            Self::Is(Field::Advice, _) => facts.advice.is_empty(),
            Self::Amount(..) => facts.amount.is_none(),
            Self::Currency(_) => facts.currency.is_empty(),
            Self::Anywhere(_)
            | Self::Is(..)
            | Self::Age(..)
            | Self::Attempts(..)
            | Self::Since(_)
            | Self::Until(_) => false,
        }
    }

    /// Whether it holds; `None` where that is not known.
    fn settles(&self, facts: &Facts<'_>) -> Option<bool> {
        match self {
            Self::Anywhere(_) | Self::Is(..) | Self::Age(..) | Self::Attempts(..) => Some(self.holds(facts)),
            Self::Amount(order, than) => facts.amount.map(|amount| order.holds(amount, than)),
            Self::Currency(codes) => {
                let is_known = !facts.currency.is_empty();
                is_known.then(|| codes.iter().any(|code| code.eq_ignore_ascii_case(facts.currency)))
            }
            Self::Since(from) => facts.since.map(|since| since >= *from),
            Self::Until(end) => facts.since.map(|since| since < *end),
        }
    }

    fn holds(&self, facts: &Facts<'_>) -> bool {
        match self {
            Self::Anywhere(text) => {
                facts.words().into_iter().chain(facts.texts()).any(|field| contains(field, text))
            }
            Self::Is(field, values) => {
                let value = field.of(facts);
                values.iter().any(|wanted| {
                    if field.is_word() { value.eq_ignore_ascii_case(wanted) } else { contains(value, wanted) }
                })
            }
            Self::Age(order, than) => facts.age.is_some_and(|age| order.holds(&age, than)),
            Self::Attempts(order, than) => facts.attempts.is_some_and(|count| order.holds(&count, than)),
            Self::Amount(..) | Self::Currency(_) | Self::Since(_) | Self::Until(_) => {
                self.settles(facts).unwrap_or(false)
            }
        }
    }
}

/// Whether a text has another, given in lower case, in it.
fn contains(text: &str, lower: &str) -> bool {
    text.to_lowercase().contains(lower)
}
