//! The filter over findings, shared by the console and the commands.
//!
//! Words are joined by "and": `kind:invoice finding:stuck age>2h -timeout`. A word without a field is looked for in key,
//! source, kind, status, error and reference.

use crate::domain::advice::Advice;
use crate::domain::moment::parse_duration;
use crate::domain::verdict::Verdict;
use chrono::TimeDelta;

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
}

impl Facts<'_> {
    /// The texts that a word without a field is looked for in, beside the words of verdict and advice.
    fn texts(&self) -> [&str; 7] {
        [self.key, self.source, self.kind, self.status, self.error, self.reference, self.finding]
    }

    /// The texts in ASCII lower case, a line break between, for [`Filter::passes_quickly`]; `None` where they are long.
    pub fn folded(&self) -> Option<Box<str>> {
        let texts = self.texts();
        let size: usize = texts.iter().map(|text| text.len() + 1).sum();
        (size <= FOLDED_BYTES_MAX).then(|| texts.join("\n").to_ascii_lowercase().into())
    }
}

/// Longer texts are not kept a second time.
const FOLDED_BYTES_MAX: usize = 1_024;

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
    /// In ASCII lower case, and whether a verdict or an advice has it in its word.
    Anywhere(String, bool),
    Is(Field, String),
    Age(Order, TimeDelta),
    Attempts(Order, i64),
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

    /// Whether the finding may pass once it is checked, from its facts before that.
    pub fn may_pass(&self, facts: &Facts<'_>) -> bool {
        self.needs_check() || self.passes(facts)
    }

    /// The same as [`Filter::passes`], from folded texts alone; `None` where they do not settle it.
    pub fn passes_quickly(&self, folded: &str) -> Option<bool> {
        let mut all = Some(true);
        for term in &self.terms {
            match term.test.holds_quickly(folded) {
                Some(holds) if holds == term.negated => return Some(false),
                Some(_) => {}
                None => all = None,
            }
        }
        all
    }

    /// Whether the finding passes.
    pub fn passes(&self, facts: &Facts<'_>) -> bool {
        self.terms.iter().all(|term| term.test.holds(facts) != term.negated)
    }
}

impl Test {
    fn anywhere(word: &str) -> Self {
        let text = word.to_ascii_lowercase();
        let verdicts = Verdict::ALL.iter().map(|verdict| verdict.as_str());
        let is_in_a_word = verdicts
            .chain(Advice::ALL.iter().map(|advice| advice.as_str()))
            .any(|known| known.contains(&text));
        Self::Anywhere(text, is_in_a_word)
    }

    /// See [`Filter::passes_quickly`].
    fn holds_quickly(&self, folded: &str) -> Option<bool> {
        match self {
            // What is not ASCII is compared in another lower case, and a line break would find where two texts meet.
            Self::Anywhere(text, is_in_a_word) if text.is_ascii() && !text.contains('\n') => {
                let is_there = folded.contains(text.as_str());
                (is_there || !is_in_a_word).then_some(is_there)
            }
            Self::Anywhere(..) | Self::Is(..) | Self::Age(..) | Self::Attempts(..) => None,
        }
    }

    fn holds(&self, facts: &Facts<'_>) -> bool {
        match self {
            Self::Anywhere(text, _) => {
                let words = [facts.verdict, facts.advice];
                facts.texts().iter().chain(&words).any(|field| contains_folded(field, text))
            }
            Self::Is(field, text) => {
                let value = field.of(facts);
                text.split(',').any(|wanted| {
                    if field.is_word() {
                        value.eq_ignore_ascii_case(wanted)
                    } else {
                        contains_folded(value, wanted)
                    }
                })
            }
            Self::Age(order, than) => facts.age.is_some_and(|age| order.holds(&age, than)),
            Self::Attempts(order, than) => facts.attempts.is_some_and(|count| order.holds(&count, than)),
        }
    }
}

fn contains_folded(text: &str, wanted: &str) -> bool {
    if wanted.is_ascii() {
        let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
        return wanted.is_empty()
            || text.windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted));
    }
    text.to_lowercase().contains(&wanted.to_lowercase())
}

/// Words at spaces; double quotes hold a word together.
fn split_words(typed: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for character in typed.chars() {
        match character {
            '"' => quoted = !quoted,
            space if space.is_whitespace() && !quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            other => word.push(other),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn parse_term(word: &str) -> Result<Term, String> {
    let (negated, word) = match word.strip_prefix(['-', '!']) {
        Some(rest) if !rest.is_empty() => (true, rest),
        _ => (false, word),
    };
    let test = parse_test(word)?;
    // To leave out what no finding has would leave out nothing: in a decision on many, that is too many.
    match (negated, &test, word.split_once(':')) {
        (true, Test::Anywhere(..), Some((name, value))) if !name.is_empty() => Err(format!(
            "there is no field `{}`; to leave out a text with a colon, write `-key:{name}:{value}`",
            crate::domain::text::clean_cut(name, 40)
        )),
        _ => Ok(Term { negated, test }),
    }
}

fn parse_test(word: &str) -> Result<Test, String> {
    for name in ["age", "attempts"] {
        let Some(rest) = word.strip_prefix(name).filter(|rest| rest.starts_with(['>', '<', '=', ':'])) else {
            continue;
        };
        let (order, value) = parse_order(rest);
        return if name == "age" {
            Ok(Test::Age(order, parse_duration(value)?))
        } else {
            let count = value.parse().map_err(|_| format!("`{value}` is not a number of attempts"))?;
            Ok(Test::Attempts(order, count))
        };
    }
    match word.split_once(':') {
        Some((name, value)) if name.chars().all(|c| c.is_ascii_lowercase()) && !name.is_empty() => {
            match Field::NAMED.iter().find(|(known, _)| *known == name) {
                Some((_, field)) if value.is_empty() => {
                    Err(format!("`{}:` needs a value", field_name(*field)))
                }
                Some((_, field)) => Ok(Test::Is(*field, known_words(*field, value)?)),
                // Keys of the field look like `invoice:7:2026-05`: that is a text to look for, not a field.
                None => Ok(Test::anywhere(word)),
            }
        }
        _ => Ok(Test::anywhere(word)),
    }
}

/// The value, where it is one of a field's words: a misspelled word would find nothing, which reads as "all is well".
fn known_words(field: Field, value: &str) -> Result<String, String> {
    let known: Vec<&str> = match field {
        Field::Verdict => Verdict::ALL.iter().map(|verdict| verdict.as_str()).collect(),
        Field::Advice => Advice::ALL.iter().map(|advice| advice.as_str()).collect(),
        Field::Risk => vec!["safe", "check_first", "financial"],
        Field::Finding => vec!["stuck", "ambiguous", "duplicate", "lost", "mismatch"],
        Field::Class => vec!["before_effect", "ambiguous", "refused"],
        Field::Source | Field::Key | Field::Kind | Field::Status | Field::Error | Field::Reference => {
            return Ok(value.to_owned());
        }
    };
    let unknown = value.split(',').find(|word| !known.iter().any(|other| other.eq_ignore_ascii_case(word)));
    match unknown {
        None => Ok(value.to_owned()),
        Some(word) => Err(format!("`{}:{word}`: there are {}", field_name(field), known.join(", "))),
    }
}

fn field_name(field: Field) -> &'static str {
    Field::NAMED.iter().find(|(_, known)| *known == field).map_or("", |(name, _)| name)
}

fn parse_order(text: &str) -> (Order, &str) {
    let orders = [
        (">=", Order::AtLeast),
        ("<=", Order::AtMost),
        (">", Order::More),
        ("<", Order::Less),
        ("=", Order::Same),
        (":", Order::Same),
    ];
    orders
        .iter()
        .find_map(|(sign, order)| Some((*order, text.strip_prefix(sign)?)))
        .unwrap_or((Order::Same, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn facts() -> Facts<'static> {
        Facts {
            source: "jobs",
            key: "invoice:7:2026-05",
            kind: "invoice",
            status: "running",
            risk: "financial",
            finding: "stuck",
            error: "Read timed out",
            verdict: "happened",
            age: Some(TimeDelta::hours(3)),
            attempts: Some(2),
            ..Facts::default()
        }
    }

    #[rstest]
    #[case("", true)]
    #[case("kind:invoice verdict:happened age>2h", true)]
    #[case("kind:order", false)]
    #[case("kind:order,invoice", true)]
    #[case("-kind:order", true)]
    #[case("invoice:7", true)]
    #[case("invoice:8", false)]
    #[case("\"read timed\"", true)]
    #[case("error:TIMED", true)]
    #[case("age<2h", false)]
    #[case("age>=3h", true)]
    #[case("attempts>1", true)]
    #[case("attempts=3", false)]
    #[case("stuck", true)]
    fn words_are_joined_by_and(#[case] typed: &str, #[case] passes: bool) {
        assert_eq!(Filter::parse(typed).unwrap().passes(&facts()), passes);
    }

    #[test]
    fn what_cannot_be_meant_is_said() {
        assert!(Filter::parse("age>soon").unwrap_err().starts_with("`soon` is not a duration"));
        assert_eq!(Filter::parse("attempts>x").unwrap_err(), "`x` is not a number of attempts");
        assert_eq!(Filter::parse("kind:").unwrap_err(), "`kind:` needs a value");
        assert!(
            Filter::parse("verdict:hapened")
                .unwrap_err()
                .starts_with("`verdict:hapened`: there are duplicated,")
        );
        assert!(Filter::parse("-knd:invoice").unwrap_err().starts_with("there is no field `knd`"));
        assert!(Filter::parse("-key:invoice:7 invoice:7").is_ok());
    }

    #[rstest]
    #[case("invoice:7")]
    #[case("TIMED")]
    #[case("\"out\ninvoice\"")]
    #[case("happen")]
    #[case("in -stuck")]
    #[case("retry")]
    #[case("-zzz age>2h")]
    #[case("zzz age>2h")]
    #[case("K")]
    fn the_quick_answer_is_the_slow_one(#[case] typed: &str) {
        let (filter, facts) = (Filter::parse(typed).unwrap(), facts());
        let quick = filter.passes_quickly(&facts.folded().unwrap());
        assert!(quick.is_none_or(|quick| quick == filter.passes(&facts)), "{typed}: {quick:?}");
    }
}
