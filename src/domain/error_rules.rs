//! The rules behind the sorting of error texts: read from TOML, compiled, asked.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::Deserialize;
use thiserror::Error;

use crate::domain::attempt::KeyTold;
use crate::domain::error_class::{Classified, ErrorClass};

const COMPILED_LIMIT: usize = 64 << 20;
const MATCHES_EMPTY: &str = "matches the empty text, so it would match everything";

/// Why a table of error rules was not accepted.
#[derive(Debug, Error)]
pub enum ErrorTableFault {
    /// Not TOML, a key that is not known, or a value of the wrong kind.
    #[error("the error rules cannot be read: {0}")]
    Unreadable(#[from] toml::de::Error),
    /// Two rules share an id, so a finding could not name the one that decided.
    #[error("rule \"{rule}\" (number {place}): another rule has the same id")]
    RepeatedId {
        /// The id.
        rule: String,
        /// Its place in the file, from 1.
        place: usize,
    },
    /// A rule that lacks something, or has a flag that means nothing for its class.
    #[error("rule \"{rule}\" (number {place}): {what}")]
    Unfit {
        /// The id.
        rule: String,
        /// Its place in the file, from 1.
        place: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A pattern that is no regular expression, is too large, or can never match folded text.
    #[error("{owner}: pattern {place} (`{pattern}`) {what}")]
    Pattern {
        /// The rule or list it stands in.
        owner: String,
        /// Its place there, from 1.
        place: usize,
        /// The pattern as written.
        pattern: String,
        /// What is wrong with it.
        what: String,
    },
    /// The patterns are fine one by one but too large together.
    #[error("the error rules are too large together: {0}")]
    TooLarge(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableText {
    #[serde(default)]
    proves_nothing: Vec<String>,
    #[serde(default)]
    no_status: Vec<String>,
    #[serde(default)]
    words: HashMap<String, String>,
    #[serde(default)]
    rule: Vec<RuleText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    id: String,
    class: ErrorClass,
    why: String,
    any: Vec<String>,
    #[serde(default)]
    covers: bool,
    #[serde(default)]
    weak: bool,
    key: Option<KeyTold>,
}

#[derive(Debug, Clone)]
struct Rule {
    id: String,
    class: ErrorClass,
    why: Arc<str>,
    weak: bool,
    key: Option<KeyTold>,
    /// What it takes away from the ambiguous rules; empty unless it covers.
    covered: Vec<Regex>,
}

/// The number of a rule in its layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleIndex(usize);

/// Rules of one origin, compiled.
#[derive(Debug, Clone, Default)]
pub struct Layer {
    rules: Vec<Rule>,
    doubts: Patterns,
    proofs: Patterns,
    proves_nothing: Vec<Regex>,
    no_status: Vec<Regex>,
}

/// Many patterns asked in one pass, with the rule each belongs to.
#[derive(Debug, Clone, Default)]
struct Patterns {
    set: RegexSet,
    rules: Vec<RuleIndex>,
}

impl Patterns {
    fn matching(&self, text: &str) -> impl Iterator<Item = RuleIndex> {
        self.set.matches(text.as_bytes()).into_iter().filter_map(|at| self.rules.get(at).copied())
    }
}

impl Layer {
    /// Reads and compiles one table.
    pub fn parse(toml_text: &str) -> Result<Self, ErrorTableFault> {
        let table: TableText = toml::from_str(toml_text)?;
        let words = &table.words;
        let proves_nothing = compile_all("proves_nothing", &table.proves_nothing, words)?;
        let no_status = compile_all("no_status", &table.no_status, words)?;
        let mut rules: Vec<Rule> = Vec::with_capacity(table.rule.len());
        let (mut doubts, mut proofs) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for (at, text) in table.rule.iter().enumerate() {
            check(text, at + 1, &rules)?;
            let spelled = spell_all(&owner_of(text), &text.any, words)?;
            let side = if text.class == ErrorClass::Ambiguous { &mut doubts } else { &mut proofs };
            side.1.extend(spelled.iter().map(|_| RuleIndex(at)));
            side.0.extend(spelled);
            let covered =
                if text.covers { compile_all(&owner_of(text), &text.any, words)? } else { Vec::new() };
            let (id, why) = (text.id.clone(), text.why.as_str().into());
            rules.push(Rule { id, class: text.class, why, weak: text.weak, key: text.key, covered });
        }
        let (doubts, proofs) =
            both_patterns(doubts, proofs).map_err(|fault| first_fault(&table).unwrap_or(fault))?;
        Ok(Self { rules, doubts, proofs, proves_nothing, no_status })
    }

    /// The first ambiguous rule that knows the text; weak ones look only from `last` on and give way.
    pub fn first_doubt(&self, text: &str, last: usize) -> Option<RuleIndex> {
        let found: Vec<RuleIndex> = self.doubts.matching(text).collect();
        let strong = found.iter().copied().filter(|rule| !self.is_weak(*rule)).min();
        if strong.is_some() || last == 0 {
            return strong.or_else(|| found.into_iter().min());
        }
        let deciding = text.get(last..).unwrap_or(text);
        self.doubts.matching(deciding).filter(|rule| self.is_weak(*rule)).min()
    }

    /// Whether any rule that proves something knows the text.
    pub fn has_proof(&self, text: &str) -> bool {
        self.proofs.set.is_match(text.as_bytes())
    }

    /// The first rule that proves something and knows the text.
    pub fn first_proof(&self, text: &str) -> Option<RuleIndex> {
        self.proofs.matching(text).min()
    }

    /// Blanks what proves nothing, byte for byte, so that places stay comparable.
    pub fn mask(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for regex in &self.proves_nothing {
            for found in regex.find_iter(text.as_bytes()) {
                blank(&mut bytes, found.range(), |_| b'_');
            }
        }
        for regex in &self.no_status {
            for found in regex.find_iter(text.as_bytes()) {
                blank(&mut bytes, found.range(), |byte| if byte.is_ascii_digit() { b'0' } else { byte });
            }
        }
        restore(bytes, text)
    }

    /// Blanks in `text` what the covering rules find in `masked`, a text of the same length.
    pub fn uncover(&self, masked: &str, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for rule in self.proofs.matching(masked) {
            for regex in self.rules.get(rule.0).iter().flat_map(|rule| &rule.covered) {
                for found in regex.find_iter(masked.as_bytes()) {
                    blank(&mut bytes, found.range(), |_| b' ');
                }
            }
        }
        restore(bytes, text)
    }

    /// What a rule says, ready to show.
    pub fn classified(&self, index: RuleIndex) -> Classified<'_> {
        match self.rules.get(index.0) {
            Some(rule) => {
                Classified { class: rule.class, rule: Some(&rule.id), why: &rule.why, key: rule.key }
            }
            None => Classified::not_known(),
        }
    }

    fn is_weak(&self, index: RuleIndex) -> bool {
        self.rules.get(index.0).is_some_and(|rule| rule.weak)
    }
}

fn check(rule: &RuleText, place: usize, before: &[Rule]) -> Result<(), ErrorTableFault> {
    let unfit = |what| Err(ErrorTableFault::Unfit { rule: rule.id.clone(), place, what });
    let ambiguous = rule.class == ErrorClass::Ambiguous;
    match () {
        () if rule.id.trim().is_empty() => unfit("id is empty"),
        () if rule.why.trim().is_empty() => unfit("why is empty"),
        () if rule.any.is_empty() => unfit("any is empty"),
        () if rule.covers && ambiguous => unfit("`covers` belongs to before_effect and refused rules"),
        () if rule.weak && !ambiguous => unfit("`weak` belongs to ambiguous rules"),
        () if rule.key.is_some() && !ambiguous => unfit("`key` belongs to ambiguous rules"),
        () if before.iter().any(|earlier| earlier.id == rule.id) => {
            Err(ErrorTableFault::RepeatedId { rule: rule.id.clone(), place })
        }
        () => Ok(()),
    }
}

fn owner_of(rule: &RuleText) -> String {
    format!("rule \"{}\"", rule.id)
}

/// The first pattern of a rule that cannot be used. Compiling all of them together is much faster and names none.
fn first_fault(table: &TableText) -> Option<ErrorTableFault> {
    table.rule.iter().find_map(|rule| compile_all(&owner_of(rule), &rule.any, &table.words).err())
}

fn compile_all(
    owner: &str,
    written: &[String],
    words: &HashMap<String, String>,
) -> Result<Vec<Regex>, ErrorTableFault> {
    each_named(owner, written, |pattern| compile(&spell(pattern, words)?))
}

fn spell_all(
    owner: &str,
    written: &[String],
    words: &HashMap<String, String>,
) -> Result<Vec<String>, ErrorTableFault> {
    each_named(owner, written, |pattern| spell(pattern, words))
}

fn each_named<T>(
    owner: &str,
    written: &[String],
    make: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, ErrorTableFault> {
    let each = written.iter().enumerate().map(|(at, pattern)| {
        make(pattern).map_err(|what| ErrorTableFault::Pattern {
            owner: owner.to_owned(),
            place: at + 1,
            pattern: pattern.clone(),
            what,
        })
    });
    each.collect()
}

/// A pattern with its words filled in.
fn spell(pattern: &str, words: &HashMap<String, String>) -> Result<String, String> {
    let mut full = pattern.to_owned();
    for (name, stands_for) in words {
        full = full.replace(&format!("{{{name}}}"), stands_for);
    }
    if pattern.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    if let Some(letter) = upper_case_letter(&full) {
        return Err(format!("has the capital {letter}, but texts are compared in lower case"));
    }
    Ok(full)
}

fn compile(full: &str) -> Result<Regex, String> {
    let regex = RegexBuilder::new(full).unicode(false).size_limit(COMPILED_LIMIT).build();
    let regex =
        regex.map_err(|fault| format!("is not a usable regular expression: {}", last_line(&fault)))?;
    if regex.is_match(b"") { Err(MATCHES_EMPTY.to_owned()) } else { Ok(regex) }
}

/// A capital that would have to match itself: `\S` and `(?P<…>` have capitals that do not.
fn upper_case_letter(pattern: &str) -> Option<char> {
    let mut escaped = false;
    let mut before = ' ';
    pattern.chars().find(|&letter| {
        let meant = letter.is_uppercase() && !escaped && !(letter == 'P' && before == '?');
        escaped = letter == '\\' && !escaped;
        before = letter;
        meant
    })
}

/// Patterns as they are spelled, and the rule of each.
type Spelled = (Vec<String>, Vec<RuleIndex>);

fn both_patterns(doubts: Spelled, proofs: Spelled) -> Result<(Patterns, Patterns), ErrorTableFault> {
    Ok((patterns(doubts)?, patterns(proofs)?))
}

fn patterns((texts, rules): Spelled) -> Result<Patterns, ErrorTableFault> {
    let set = RegexSetBuilder::new(texts)
        .unicode(false)
        .size_limit(COMPILED_LIMIT)
        .dfa_size_limit(COMPILED_LIMIT)
        .build()
        .map_err(|fault| ErrorTableFault::TooLarge(last_line(&fault)))?;
    if set.is_match(b"") {
        Err(ErrorTableFault::TooLarge(MATCHES_EMPTY.to_owned()))
    } else {
        Ok(Patterns { set, rules })
    }
}

fn last_line(fault: &regex::Error) -> String {
    fault.to_string().lines().last().unwrap_or_default().trim().to_owned()
}

fn blank(bytes: &mut [u8], range: Range<usize>, with: impl Fn(u8) -> u8) {
    for byte in bytes.get_mut(range).into_iter().flatten() {
        *byte = with(*byte);
    }
}

/// Back to text. Half a letter that was blanked turns into a mark of another length: then nothing is blanked.
fn restore(bytes: Vec<u8>, text: &str) -> String {
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
