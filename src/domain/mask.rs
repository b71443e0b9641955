//! Hides what must not be seen: secrets, cards, and the fields a policy names.

use serde_json::Value;
use std::borrow::Cow;

/// What stands in place of a hidden value.
pub const MASK: &str = "••••";

/// Parts of field names whose values are hidden, compared without case and separators.
const SECRET_NAME_PARTS: [&str; 20] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "authorization",
    "credential",
    "privatekey",
    "deploykey",
    "accesskey",
    "sessionid",
    "cookie",
    "cardnumber",
    "cardno",
    "cvv",
    "cvc",
    "iban",
    "ssn",
    "pwd",
];
/// Whole field names whose values are hidden.
const SECRET_NAMES: [&str; 7] = ["auth", "pan", "pin", "cpf", "otp", "jwt", "bearer"];
/// Names that only look secret: an idempotency key or a page token must stay readable.
const OPEN_NAMES: [&str; 6] =
    ["idempotencykey", "messagekey", "nexttoken", "nextpagetoken", "pagetoken", "tokentype"];

/// The value with every secret-looking part hidden. `named` are further field names to hide.
pub fn mask_json(value: &Value, named: &[String]) -> Value {
    match value {
        Value::Object(fields) => {
            let shown = fields.iter().map(|(name, inner)| (name.clone(), mask_field(name, inner, named)));
            Value::Object(shown.collect())
        }
        Value::Array(values) => Value::Array(values.iter().map(|inner| mask_json(inner, named)).collect()),
        // JSON within JSON, and a row's text with a piece of it, are no hiding places.
        Value::String(text) => Value::String(mask_document(text, named).into_owned()),
        Value::Number(number) if holds_card_number(&number.to_string()) => MASK.into(),
        Value::Number(_) | Value::Bool(_) | Value::Null => value.clone(),
    }
}

/// The value of a field of that name, hidden whole where the name asks for it.
pub fn mask_field(name: &str, value: &Value, named: &[String]) -> Value {
    if is_hidden_name(name, named) && !value.is_null() { MASK.into() } else { mask_json(value, named) }
}

/// Whether the field of a name is hidden: because it looks secret, or because a policy names it.
pub fn is_hidden_name(name: &str, named: &[String]) -> bool {
    is_secret_name(name) || named.iter().any(|other| folded(other) == folded(name))
}

/// A text that may be JSON: masked field by field where it is, else by what it looks like.
pub fn mask_document<'text>(text: &'text str, named: &[String]) -> Cow<'text, str> {
    // Without a name there is nothing to go by but the looks.
    if !text.contains('"') {
        return mask_text(text);
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            let shown = mask_json(&value, named);
            // Where nothing is hidden a text stays as it was written; of a name that stands twice the parser kept the last.
            if shown == value { mask_members(text, named) } else { shown.to_string().into() }
        }
        _ => match mask_members(text, named) {
            Cow::Borrowed(text) => mask_text(text),
            Cow::Owned(text) => mask_text(&text).into_owned().into(),
        },
    }
}

/// Hides the values of hidden names in a text that only has pieces of JSON: an answer that broke off, a log line.
fn mask_members<'text>(text: &'text str, named: &[String]) -> Cow<'text, str> {
    let mut shown = String::new();
    let (mut done, mut at) = (0, 0);
    while let Some(quote) = text[at..].find('"').map(|found| at + found) {
        let end = string_end(text, quote);
        at = end;
        let rest = text[end..].trim_start();
        let Some(value) = rest.strip_prefix(':').map(str::trim_start) else { continue };
        let name = serde_json::from_str::<String>(&text[quote..end]);
        if value.is_empty() || !name.is_ok_and(|name| is_hidden_name(&name, named)) {
            continue;
        }
        let begin = text.len() - value.len();
        let end = value_end(text, begin);
        // `null` hides nothing, and says that there is nothing.
        if &text[begin..end] != "null" {
            shown.push_str(&text[done..begin]);
            shown.push_str(&format!("\"{MASK}\""));
            done = end;
        }
        at = end;
    }
    if done == 0 { text.into() } else { (shown + &text[done..]).into() }
}

/// The end of the string whose quote stands there: behind its other quote, or where the text ends.
fn string_end(text: &str, quote: usize) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(quote + 1) {
        match byte {
            b'"' if !escaped => return at + 1,
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// The end of the value that begins there, with everything in it; where the text ends if the value does not.
fn value_end(text: &str, begin: usize) -> usize {
    let (mut depth, mut at) = (0_usize, begin);
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'"' => at = string_end(text, at) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
            return at;
        }
    }
    text.len()
}

/// A text with card numbers, bearer tokens, well-known key shapes and `name=value` secrets hidden.
pub fn mask_text(text: &str) -> Cow<'_, str> {
    let shown = mask_assignments(text);
    if shown.bytes().filter(u8::is_ascii_digit).count() >= CARD_DIGITS_MIN {
        return mask_cards(&shown).into();
    }
    shown
}

/// Each occurrence of a known secret hidden: for answers that echo what they were sent.
pub fn mask_secret<'text>(text: &'text str, secret: &str) -> Cow<'text, str> {
    if secret.len() < 4 || !text.contains(secret) { text.into() } else { text.replace(secret, MASK).into() }
}

/// Whether a field of that name is hidden.
pub fn is_secret_name(name: &str) -> bool {
    let name = folded(name);
    if OPEN_NAMES.contains(&name.as_str()) {
        return false;
    }
    SECRET_NAMES.contains(&name.as_str()) || SECRET_NAME_PARTS.iter().any(|part| name.contains(part))
}

fn folded(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Hides the value after `password=`, `token: `, `"secret": "`, `Bearer ` and whole words such as `sk_live_…`.
fn mask_assignments(text: &str) -> Cow<'_, str> {
    use regex::{Captures, Regex};
    use std::sync::LazyLock;
    static SECRETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r#"(?i)(?P<name>\b[\w.-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|authorization|credential|"#,
            r#"private[_-]?key|access[_-]?key|cookie|cvv|cvc)[\w-]*["']?\s*(?:=>|[:=])\s*["']?(?:(?:bearer|basic)\s+)?)"#,
            r#"(?P<value>[^\s"',;&)}\]]+)"#,
            r"|(?P<scheme>\b(?:bearer|basic)\s+)(?P<given>[A-Za-z0-9._~+/=-]{8,})",
            r"|(?P<word>\b(?:sk|rk|pk|whsec)_(?:live|test)_?[A-Za-z0-9_]{4,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[0-9A-Z]{16}\b|\bxox[abprs]-[A-Za-z0-9-]{10,})",
            r"|(?P<user>://[^\s:/@]+:)(?P<pass>[^\s@/]+)(?P<at>@)",
        ))
        .ok()
    });
    let Some(secrets) = SECRETS.as_ref() else { return MASK.into() };
    secrets.replace_all(text, |found: &Captures<'_>| {
        let part = |name| found.name(name).map_or("", |m| m.as_str());
        format!("{}{}{}{MASK}{}", part("name"), part("scheme"), part("user"), part("at"))
    })
}

const CARD_DIGITS_MIN: usize = 13;
const CARD_DIGITS_MAX: usize = 19;

/// Hides runs of 13 to 19 digits (with single spaces or dashes between) that pass the Luhn check.
fn mask_cards(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    while at < characters.len() {
        if !characters[at].is_ascii_digit() || (at > 0 && characters[at - 1].is_ascii_alphanumeric()) {
            shown.push(characters[at]);
            at += 1;
            continue;
        }
        let end = digit_run_end(&characters, at);
        let run: String = characters[at..end].iter().collect();
        let ends_word = characters.get(end).is_none_or(|next| !next.is_ascii_alphanumeric());
        if ends_word && holds_card_number(&run) {
            shown.push_str(MASK);
        } else {
            shown.push_str(&run);
        }
        at = end;
    }
    shown
}

fn digit_run_end(characters: &[char], start: usize) -> usize {
    let mut end = start;
    while end < characters.len() {
        let separator = matches!(characters[end], ' ' | '-');
        let digit_follows = characters.get(end + 1).is_some_and(char::is_ascii_digit);
        if characters[end].is_ascii_digit() || (separator && digit_follows) {
            end += 1;
        } else {
            break;
        }
    }
    end
}

fn holds_card_number(text: &str) -> bool {
    if text.contains(['.', 'e', 'E']) {
        return false;
    }
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(10)).collect();
    let known_issuer = matches!(digits.first(), Some(2..=6));
    (CARD_DIGITS_MIN..=CARD_DIGITS_MAX).contains(&digits.len()) && known_issuer && passes_luhn(&digits)
}

fn passes_luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => *digit,
            (_, doubled) if doubled > 9 => doubled - 9,
            (_, doubled) => doubled,
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[test]
    fn secrets_are_hidden_at_every_depth() {
        let payload = json!({
            "user": "ana", "password": "hunter2", "list": [{"api_token": "abc", "id": 7}],
            "card": "4242 4242 4242 4242", "note": "paid with 4242424242424242 today",
            "idempotency_key": "k-1", "amount": 1041, "extra": "x",
        });
        let shown = mask_json(&payload, &["Extra".to_owned()]);
        assert_eq!(
            shown,
            json!({
                "user": "ana", "password": MASK, "list": [{"api_token": MASK, "id": 7}],
                "card": MASK, "note": format!("paid with {MASK} today"),
                "idempotency_key": "k-1", "amount": 1041, "extra": MASK,
            })
        );
    }

    #[rstest]
    #[case::assignment("failed: password=hunter2 for ana", "failed: password=•••• for ana")]
    #[case::json_piece(r#"{"api_key": "abc", "#, r#"{"api_key": "••••", "#)]
    #[case::header("Authorization: Bearer abcdefghij", "Authorization: Bearer ••••")]
    #[case::key_word("no such key sk_live_a1b2c3d4", "no such key ••••")]
    #[case::url("postgres://app:pw@db/jobs", "postgres://app:••••@db/jobs")]
    #[case::card("card 4242-4242-4242-4242 declined", "card •••• declined")]
    #[case::not_a_card("order 1970670598291982290", "order 1970670598291982290")]
    #[case::plain("Read timed out. (read timeout=10)", "Read timed out. (read timeout=10)")]
    #[case::key("invoice:7:2026-05", "invoice:7:2026-05")]
    fn texts_keep_their_meaning_without_their_secrets(#[case] raw: &str, #[case] shown: &str) {
        assert_eq!(mask_text(raw), shown);
    }

    #[rstest]
    #[case::broken_off(r#"{"holder":"Ana Lop"#, r#"{"holder":"••••""#)]
    #[case::broken_off_later(r#"{"holder":"Ana","n":[1,"#, r#"{"holder":"••••","n":[1,"#)]
    #[case::object(r#"{"holder":{"name":"Ana","a":[1,"]"]},"n":1"#, r#"{"holder":"••••","n":1"#)]
    #[case::object_broken_off(r#"{"n":1,"Holder":{"name":"Ana""#, r#"{"n":1,"Holder":"••••""#)]
    #[case::number(r#"{"pin":1234, "n":1"#, r#"{"pin":"••••", "n":1"#)]
    #[case::quotes(r#"{"holder" : "Ana \"L\" \\", "n":1"#, r#"{"holder" : "••••", "n":1"#)]
    #[case::escaped_name(r#"{"h\u006flder":"Ana","n":"#, r#"{"h\u006flder":"••••","n":"#)]
    #[case::null(r#"{"holder":null,"n":"#, r#"{"holder":null,"n":"#)]
    #[case::log_line(r#"400 Bad: {"holder":"Ana"} said"#, r#"400 Bad: {"holder":"••••"} said"#)]
    #[case::name_alone(r#"{"holder""#, r#"{"holder""#)]
    #[case::bracket_alone(r#"{"holder":]"#, r#"{"holder":"••••"]"#)]
    fn a_named_field_is_hidden_in_pieces_of_json_too(#[case] raw: &str, #[case] shown: &str) {
        assert_eq!(mask_document(raw, &["holder".to_owned()]), shown);
    }

    #[rstest]
    #[case::within_a_text(r#"{"a":"{\"holder\":\"Ana\"}"}"#, r#"{"a":"{\"holder\":\"••••\"}"}"#)]
    #[case::within_a_sentence(
        r#"{"a":"got {\"holder\":\"Ana\"}."}"#,
        r#"{"a":"got {\"holder\":\"••••\"}."}"#
    )]
    #[case::as_it_was(r#"{ "next_token": "abc", "a" : "{ }" }"#, r#"{ "next_token": "abc", "a" : "{ }" }"#)]
    #[case::a_name_twice(r#"{"a":{"holder":"Ana"},"a":1}"#, r#"{"a":{"holder":"••••"},"a":1}"#)]
    fn json_is_masked_at_every_depth_and_else_left_alone(#[case] raw: &str, #[case] shown: &str) {
        assert_eq!(mask_document(raw, &["holder".to_owned()]), shown);
    }

    #[test]
    fn a_text_that_is_json_is_masked_by_field() {
        assert_eq!(
            mask_document(r#"{"token":"a","n":1.10}"#, &[]),
            format!(r#"{{"token":"{MASK}","n":1.10}}"#)
        );
    }
}
