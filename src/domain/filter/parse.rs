//! Reads a filter as it was typed.

use super::nearest::nearest;
use super::{Field, Order, Term, Test};
use crate::domain::advice::Advice;
use crate::domain::moment::{parse_duration, parse_moment};
use crate::domain::text::clean_cut;
use crate::domain::verdict::Verdict;
use rust_decimal::Decimal;

/// How much of a written word an error shows.
const SHOWN_CHARS_MAX: usize = 40;
/// The fields that are compared with a number or a span, after a sign such as `>`.
const COMPARED: [&str; 3] = ["age", "attempts", "amount"];
/// The fields that are a name and a value of their own kind.
const OTHERS: [&str; 3] = ["currency", "since", "until"];

/// Words at spaces; double quotes hold a word together.
pub(super) fn split_words(typed: &str) -> Vec<String> {
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

pub(super) fn parse_term(word: &str) -> Result<Term, String> {
    let (negated, word) = match word.strip_prefix(['-', '!']) {
        Some(rest) if !rest.is_empty() => (true, rest),
        _ => (false, word),
    };
    let test = parse_test(word)?;
    // To leave out what no finding has would leave out nothing: in a decision on many, that is too many.
    match (negated, &test, word.split_once(':')) {
        (true, Test::Anywhere(_), Some((name, value))) if !name.is_empty() => Err(format!(
            "there is no field `{}`; to leave out a text with a colon, write `-key:{name}:{value}`",
            clean_cut(name, SHOWN_CHARS_MAX)
        )),
        _ => Ok(Term { negated, test }),
    }
}

fn parse_test(word: &str) -> Result<Test, String> {
    for name in COMPARED {
        let Some(rest) = word.strip_prefix(name).filter(|rest| rest.starts_with(SIGNS)) else { continue };
        return parse_compared(name, rest);
    }
    if let Some((name, _)) = word.split_once(['>', '<', '=']) {
        refuse_misspelt(name, word)?;
    }
    match word.split_once(':') {
        Some((name, value))
            if name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !name.is_empty() =>
        {
            if OTHERS.contains(&name) {
                return parse_other(name, value);
            }
            match Field::NAMED.iter().find(|(known, _)| *known == name) {
                Some((_, field)) if value.is_empty() => {
                    Err(format!("`{}:` needs a value", field_name(*field)))
                }
                Some((_, field)) if field.is_word() => {
                    Ok(Test::Is(*field, values(&known_words(*field, value)?)))
                }
                Some((_, field)) => Ok(Test::Is(*field, values(&value.to_lowercase()))),
                // Keys of the field look like `invoice:7:2026-05`: that is a text to look for, not a field.
                None => refuse_misspelt(name, word).map(|()| Test::anywhere(word)),
            }
        }
        _ => Ok(Test::anywhere(word)),
    }
}

/// The signs after a field that is compared.
const SIGNS: [char; 4] = ['>', '<', '=', ':'];

fn parse_compared(name: &str, rest: &str) -> Result<Test, String> {
    let (order, value) = parse_order(rest);
    let shown = clean_cut(value, SHOWN_CHARS_MAX);
    match name {
        "age" => Ok(Test::Age(order, parse_duration(value)?)),
        "attempts" => {
            let count = value.parse().map_err(|_| format!("`{shown}` is not a number of attempts"))?;
            Ok(Test::Attempts(order, count))
        }
        _ => {
            let amount: Decimal = value.parse().map_err(|_| {
                format!("`{shown}` is not an amount; write it in the currency itself, such as amount>=99.90")
            })?;
            Ok(Test::Amount(order, amount))
        }
    }
}

fn parse_other(name: &str, value: &str) -> Result<Test, String> {
    if value.is_empty() {
        return Err(format!("`{name}:` needs a value"));
    }
    match name {
        "currency" => Ok(Test::Currency(values(&value.to_ascii_uppercase()))),
        "since" => Ok(Test::Since(parse_moment(value)?)),
        _ => Ok(Test::Until(parse_moment(value)?)),
    }
}

/// Refuses a word that begins like a field and is none: it would find nothing, which reads as "all is well".
fn refuse_misspelt(name: &str, word: &str) -> Result<(), String> {
    let known: Vec<&str> =
        Field::NAMED.iter().map(|(known, _)| *known).chain(COMPARED).chain(OTHERS).collect();
    match nearest(name, &known) {
        None => Ok(()),
        Some(meant) => {
            let (name, word) = (clean_cut(name, SHOWN_CHARS_MAX), clean_cut(word, SHOWN_CHARS_MAX));
            Err(format!(
                "there is no field `{name}`: did you mean `{meant}`? To look for that text, write `key:{word}`"
            ))
        }
    }
}

fn values(joined: &str) -> Vec<String> {
    joined.split(',').map(str::to_owned).collect()
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
        Some(word) => {
            let meant =
                nearest(word, &known).map_or_else(String::new, |meant| format!("did you mean `{meant}`? "));
            let (name, word) = (field_name(field), clean_cut(word, SHOWN_CHARS_MAX));
            Err(format!("`{name}:{word}`: {meant}there are {}", known.join(", ")))
        }
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
