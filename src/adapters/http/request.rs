//! The requests of a check, made from a preset's templates. Pure.

use crate::domain::evidence::{Fault, FaultKind};
use crate::ports::provider::Question;
use crate::preset::provider::{Confirm, LookUp, PageStep, Parameter, RequestTemplate};
use crate::preset::template::{Fields, Template};
use chrono::{DateTime, SecondsFormat, SubsecRound, TimeDelta, Utc};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use url::Url;

/// How far into the future a window ends: the provider's clock is not ours.
const UNTIL_MARGIN: TimeDelta = TimeDelta::minutes(10);
/// The names of the window's start in templates.
const FROM_NAMES: [&str; 3] = ["from_epoch_s", "from_epoch_ms", "from_iso"];

/// One request as it will be sent, without authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The method as HTTP spells it.
    pub method: &'static str,
    /// The whole address.
    pub url: Url,
    /// The body of a POST that only reads.
    pub body: Option<Value>,
}

/// The first request, and from when on its answer could have seen effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct First {
    /// The request.
    pub planned: Planned,
    /// The window's start that it names; `None` when it names none.
    pub seen_from: Option<DateTime<Utc>>,
}

/// Makes the first request.
///
/// # Errors
/// [`FaultKind::Question`]: a field is missing or empty, or the reference cannot stand in an address.
pub fn first(
    look: &LookUp,
    base: &Url,
    question: &Question,
    vars: &Fields,
    now: DateTime<Utc>,
) -> Result<First, Fault> {
    check_reference(look, &question.reference)?;
    let from = window_from(&look.request, question.from);
    let mut fields = fields_of(question, vars);
    fields.insert("reference".to_owned(), question.reference.as_str().into());
    made(look, base, fields, from, now)
}

/// Makes the request that must be answered before a 404 counts.
///
/// # Errors
/// [`FaultKind::Question`]: a field is missing or empty.
pub fn confirming(
    confirm: &Confirm,
    base: &Url,
    question: &Question,
    vars: &Fields,
) -> Result<Planned, Fault> {
    let fields = fields_of(question, vars);
    let mut url = address(base, &confirm.path, false, &fields)?;
    let query = rendered(&confirm.query, &fields)?;
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(&query);
    }
    Ok(Planned { method: confirm.method.as_str(), url, body: None })
}

fn fields_of(question: &Question, vars: &Fields) -> Fields {
    let own = question.fields.iter().map(|(name, text)| (name.clone(), text.as_str().into()));
    own.chain(vars.clone()).collect()
}

/// Makes the first request for a list from a moment on.
///
/// # Errors
/// [`FaultKind::Question`]: a variable is missing or empty.
pub fn first_of_list(
    look: &LookUp,
    base: &Url,
    from: Option<DateTime<Utc>>,
    vars: &Fields,
    now: DateTime<Utc>,
) -> Result<First, Fault> {
    made(look, base, vars.clone(), window_from(&look.request, from), now)
}

/// Where the window begins, in whole seconds: a margin earlier, because the provider's clock is not ours.
fn window_from(template: &RequestTemplate, from: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
    from.and_then(|from| from.checked_sub_signed(template.window_margin)).map(|from| from.trunc_subsecs(0))
}

fn made(
    look: &LookUp,
    base: &Url,
    mut fields: Fields,
    from: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Result<First, Fault> {
    let template = &look.request;
    tell_window(&mut fields, from, now);
    let mut query = rendered(&template.query, &fields)?;
    if from.is_some() {
        query.extend(rendered(&template.window, &fields)?);
    }
    let mut url = address(base, &template.path, template.path_keeps_slashes, &fields)?;
    if let PageStep::PageNumber { parameter, first } = &look.paging.step
        && !parameter.in_body
    {
        query.insert(parameter.name.clone(), first.to_string());
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(&query);
    }
    let mut body = match &template.body {
        None => None,
        Some(body) => Some(body.render(&fields).map_err(no_question)?),
    };
    if let PageStep::PageNumber { parameter, first } = &look.paging.step
        && parameter.in_body
    {
        set_in_body(&mut body, &parameter.name, (*first).into());
    }
    let planned = Planned { method: template.method.as_str(), url, body };
    Ok(First { planned, seen_from: from.filter(|_| names_window(template)) })
}

/// The request for the next page, with a new value of the paging parameter.
pub fn with(planned: &Planned, step: &PageStep, value: &str) -> Planned {
    let parameter: &Parameter = match step {
        PageStep::LastId { parameter, .. }
        | PageStep::Token { parameter, .. }
        | PageStep::HeaderToken { parameter, .. }
        | PageStep::PageNumber { parameter, .. }
        | PageStep::Offset { parameter } => parameter,
        PageStep::LinkHeader { second: Some(second) } => &second.parameter,
        PageStep::Single | PageStep::NextUrl { .. } | PageStep::LinkHeader { second: None } => {
            return planned.clone();
        }
    };
    let mut next = planned.clone();
    if parameter.in_body {
        let counts = matches!(step, PageStep::PageNumber { .. } | PageStep::Offset { .. });
        let value = if counts {
            value.parse::<u64>().map_or_else(|_| value.into(), Value::from)
        } else {
            value.into()
        };
        set_in_body(&mut next.body, &parameter.name, value);
        return next;
    }
    let others: Vec<(String, String)> = next
        .url
        .query_pairs()
        .filter(|(name, _)| *name != parameter.name)
        .map(|(n, v)| (n.into(), v.into()))
        .collect();
    next.url.query_pairs_mut().clear().extend_pairs(others).append_pair(&parameter.name, value);
    next
}

/// The request for the next page at an address that the provider named.
///
/// # Errors
/// [`FaultKind::Redirect`] when that is on another host, port or scheme: the secret would go with it.
pub fn at(planned: &Planned, address: &str) -> Result<Planned, Fault> {
    let url = planned.url.join(address).map_err(|fault| {
        Fault::new(FaultKind::Shape, format!("the next page's address is no address: {fault}"))
    })?;
    if url.origin() != planned.url.origin() || !url.username().is_empty() || url.password().is_some() {
        let sentence = "the next page's address points to another host; it is not followed";
        return Err(Fault::new(FaultKind::Redirect, sentence));
    }
    Ok(Planned { url, ..planned.clone() })
}

fn check_reference(look: &LookUp, reference: &str) -> Result<(), Fault> {
    if reference.trim().is_empty() {
        return Err(no_question("the reference is empty".to_owned()));
    }
    match look.effects.reference_chars_max {
        Some(chars_max) if reference.chars().count() > chars_max => Err(no_question(format!(
            "the reference is longer than the {chars_max} characters that the provider keeps"
        ))),
        _ => Ok(()),
    }
}

fn names_window(template: &RequestTemplate) -> bool {
    let names = |text: &str| FROM_NAMES.iter().any(|name| text.contains(name));
    !template.window.is_empty()
        || template.query.values().chain(&template.path).any(|part| names(part.source()))
        || template.body.as_ref().is_some_and(|body| FROM_NAMES.iter().any(|name| body.mentions(name)))
}

fn tell_window(fields: &mut Fields, from: Option<DateTime<Utc>>, now: DateTime<Utc>) {
    let mut tell = |prefix: &str, at: DateTime<Utc>| {
        fields.insert(format!("{prefix}_epoch_s"), at.timestamp().into());
        fields.insert(format!("{prefix}_epoch_ms"), at.timestamp_millis().into());
        fields.insert(format!("{prefix}_iso"), at.to_rfc3339_opts(SecondsFormat::Secs, true).into());
    };
    if let Some(from) = from {
        tell("from", from);
    }
    tell("until", now + UNTIL_MARGIN);
}

/// Templates filled in; none may become empty.
pub(super) fn rendered(
    templates: &BTreeMap<String, Template>,
    fields: &Fields,
) -> Result<BTreeMap<String, String>, Fault> {
    templates.iter().map(|(name, template)| Ok((name.clone(), filled(template, fields)?))).collect()
}

/// A template filled in. Nothing may become empty: a server that gets an empty filter answers something else.
fn filled(template: &Template, fields: &Fields) -> Result<String, Fault> {
    let text = template.render(fields).map_err(no_question)?;
    if text.is_empty() {
        return Err(no_question(format!("`{}` becomes empty", template.source())));
    }
    Ok(text)
}

/// The address below a base, made of segments.
pub(super) fn address(
    base: &Url,
    path: &[Template],
    keeps_slashes: bool,
    fields: &Fields,
) -> Result<Url, Fault> {
    let mut url = base.clone();
    {
        let mut segments =
            url.path_segments_mut().map_err(|()| no_question("the base address has no path".to_owned()))?;
        segments.pop_if_empty();
        for template in path {
            let filled = filled(template, fields)?;
            let parts: Vec<&str> = if keeps_slashes { filled.split('/').collect() } else { vec![&filled] };
            for segment in parts {
                // An address library drops dots, and the address would be that of the list.
                if matches!(segment, "." | "..") || segment.contains(['\t', '\n', '\r']) {
                    return Err(no_question("the reference cannot stand in an address".to_owned()));
                }
                segments.push(segment);
            }
        }
    }
    Ok(url)
}

/// Sets a field of a body; a dot in its name leads into an object (`variables.after`).
fn set_in_body(body: &mut Option<Value>, name: &str, value: Value) {
    let Some(Value::Object(fields)) = body else { return };
    match name.split_once('.') {
        None => {
            fields.insert(name.to_owned(), value);
        }
        Some((outer, inner)) => {
            let mut object = fields.remove(outer).or_else(|| Some(Value::Object(Map::new())));
            set_in_body(&mut object, inner, value);
            fields.extend(object.map(|object| (outer.to_owned(), object)));
        }
    }
}

fn no_question(sentence: String) -> Fault {
    Fault::new(FaultKind::Question, sentence)
}

#[cfg(test)]
mod tests;
