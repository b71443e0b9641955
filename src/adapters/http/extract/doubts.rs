//! Signs that an answer is no whole good one, wherever a preset does not look itself. Pure.
//!
//! They are looked for only in answers that would count as an absence: an effect of ours is there whatever else the answer
//! says, and a provider of which nobody knows how it tells its errors must not make one of them a reason to retry.

use super::shown;
use crate::domain::evidence::{Fault, FaultKind};
use crate::preset::provider::{LookUp, Must, PageEnd, PageStep, Place};
use serde_json::{Map, Value};

/// Objects that hold what an answer says of itself, beside the answer's own one. Names are compared without case and
/// separators, here and below.
const ENVELOPES: [&str; 13] = [
    "meta",
    "metadata",
    "response",
    "responsemetadata",
    "responsestatus",
    "result",
    "status",
    "state",
    "head",
    "header",
    "info",
    "data",
    "shards",
];
/// They tell an error unless they are empty.
const ERRORS: [&str; 9] =
    ["error", "errors", "failure", "failures", "fault", "faults", "exception", "exceptions", "errormessage"];
/// They tell an error when they are false.
const SUCCESSES: [&str; 4] = ["success", "successful", "succeeded", "ok"];
/// They tell an error by a word, or by a plain false.
const WORDED: [&str; 5] = ["object", "status", "type", "result", "state"];
const ERROR_WORDS: [&str; 17] = [
    "ko",
    "nok",
    "notok",
    "err",
    "exception",
    "fail",
    "failed",
    "failure",
    "fault",
    "incomplete",
    "timeout",
    "timedout",
    "partial",
    "partialsuccess",
    "truncated",
    "aborted",
    "unavailable",
];
/// They tell that something is missing when they are true.
const GAPS: [&str; 12] = [
    "partial",
    "ispartial",
    "partialresults",
    "timedout",
    "timeout",
    "istimeout",
    "incomplete",
    "isincomplete",
    "incompleteresults",
    "truncated",
    "istruncated",
    "terminatedearly",
];
/// They tell an error by a number, as HTTP does.
const CODES: [&str; 7] =
    ["code", "status", "statuscode", "httpstatus", "httpcode", "httpstatuscode", "errorcode"];
const ERROR_CODE_MIN: u64 = 400;

/// The first sign that an answer is no whole good one, as the fault that it is.
pub(super) fn doubt(look: &LookUp, status: u16, document: &Value) -> Option<Fault> {
    let own = document.as_object()?;
    let envelopes = own.iter().filter_map(|(name, value)| {
        let inner = value.as_object().filter(|_| ENVELOPES.contains(&folded(name).as_str()))?;
        Some((format!("$.{name}"), inner))
    });
    [("$".to_owned(), own)].into_iter().chain(envelopes).find_map(|(place, object)| {
        let (name, value) = sign(look, &place, object)?;
        let sentence = format!(
            "the answer is an error inside a {status}, or not whole: `{}` is `{}`",
            shown(&format!("{place}.{name}")),
            shown(&value.to_string())
        );
        Some(Fault::new(FaultKind::ErrorInAnswer, sentence))
    })
}

fn sign<'object>(
    look: &LookUp,
    place: &str,
    object: &'object Map<String, Value>,
) -> Option<(&'object String, &'object Value)> {
    object.iter().find(|(name, value)| {
        is_sign(&folded(name), value) && !is_judged_by_preset(look, &format!("{place}.{name}"))
    })
}

fn is_sign(name: &str, value: &Value) -> bool {
    (ERRORS.contains(&name) && !is_nothing(value))
        || (SUCCESSES.contains(&name) && is_false(value))
        || (WORDED.contains(&name)
            && (value == &Value::Bool(false) || value.as_str().is_some_and(is_error_word)))
        || (GAPS.contains(&name) && is_true(value))
        || (CODES.contains(&name) && is_error_code(value))
}

/// Whether the preset itself says what must stand there, or reads there whether there are further pages.
fn is_judged_by_preset(look: &LookUp, path: &str) -> bool {
    let within = |place: &Place| {
        place.source().strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let by_test = look.success.iter().any(|test| match &test.must {
        Must::Equal(_) => within(&test.place),
        Must::Exist | Must::NotExist => false,
    });
    let by_end = match &look.paging.end {
        PageEnd::More(place) | PageEnd::Total(place) | PageEnd::Pages(place) => within(place),
        PageEnd::TotalHeader(_) | PageEnd::EmptyPage | PageEnd::StepEnds | PageEnd::Below(_) => false,
    };
    let by_step = match &look.paging.step {
        PageStep::Token { next, .. } | PageStep::NextUrl { next, .. } => within(next),
        PageStep::Single
        | PageStep::LastId { .. }
        | PageStep::HeaderToken { .. }
        | PageStep::LinkHeader { .. }
        | PageStep::PageNumber { .. }
        | PageStep::Offset { .. } => false,
    };
    by_test || by_end || by_step
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => is_false(value),
        Value::String(text) => text.trim().is_empty() || is_false(value),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

fn is_false(value: &Value) -> bool {
    match value {
        Value::Bool(truth) => !truth,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => ["false", "0"].contains(&folded(text).as_str()),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(truth) => *truth,
        Value::String(text) => folded(text) == "true",
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn is_error_word(text: &str) -> bool {
    let word = folded(text);
    let is_error = (word.starts_with("error") || word.ends_with("error")) && word != "noerror";
    is_error || ERROR_WORDS.contains(&word.as_str())
}

fn is_error_code(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_u64().is_some_and(|code| code >= ERROR_CODE_MIN),
        Value::String(text) => text.trim().parse::<u64>().is_ok_and(|code| code >= ERROR_CODE_MIN),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn folded(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
