//! Answers as they came, kept as an example that can be played back, with personal details struck out. Pure.

use super::{Trial, is_telling};
use crate::adapters::http::HttpProvider;
use crate::adapters::http::extract::{Reply, document_of, read_nodes};
use crate::adapters::http::record::Watched;
use crate::domain::personal::{STRUCK, is_personal_name, strike_around, strike_text};
use crate::domain::text::escape_json;
use crate::ports::provider::Question;
use crate::preset::provider::{LookUp, Method, PageStep};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// What stands for the provider's own address in an example.
const BASE: &str = "{base}";
/// Headers that make no difference to what is read, or that whoever plays an answer back makes himself.
const LEFT_OUT_HEADERS: [&str; 6] = [
    "content-length",
    "location",
    "ratelimit-reset",
    "x-ratelimit-reset",
    "ratelimit-remaining",
    "content-type",
];

/// What was asked and what came, in the order of the tries.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The path of the provider's base address.
    pub base_path: String,
    /// What was asked, each with its query decoded: `GET /v1/charges?limit=100`.
    pub requests: Vec<String>,
    /// What a configuration filled in.
    pub variables: BTreeMap<String, String>,
    /// The item's fields that were given.
    pub fields: BTreeMap<String, String>,
    /// What came for each.
    pub answers: Vec<ExampleAnswer>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleAnswer {
    /// Its HTTP status; 0 where none came.
    pub status: u16,
    /// Its headers that make a difference.
    pub headers: BTreeMap<String, String>,
    /// Its body as JSON text; `None` where there was none, or where it was no JSON: such a body is left out, because nothing
    /// says what in it is about somebody.
    pub body: Option<String>,
}

/// The example that a trial is. The reference and what the preset reads stay; everything else is struck out where its name or
/// its looks say that it is about somebody, or where it is free text.
pub fn example(provider: &HttpProvider, trial: &Trial, question: &Question) -> Example {
    let keep = &question.reference;
    let endpoint = &provider.endpoint;
    let clean = |text: &str| strike_around(&endpoint.secret.without_secret(text), keep);
    let variables: BTreeMap<String, String> = endpoint
        .vars
        .get("vars")
        .and_then(|vars| serde_json::to_value(vars).ok())
        .and_then(|vars| serde_json::from_value(vars).ok())
        .unwrap_or_default();
    let strike = Strike { provider, keep };
    Example {
        base_path: endpoint.base.path().trim_end_matches('/').to_owned(),
        requests: trial.watched.iter().map(|watched| clean(&line(watched))).collect(),
        variables: variables.into_iter().map(|(name, text)| (name, clean(&text))).collect(),
        fields: question.fields.iter().map(|(name, text)| (name.clone(), clean(text))).collect(),
        answers: trial.watched.iter().map(|watched| strike.answer(watched)).collect(),
    }
}

fn line(watched: &Watched) -> String {
    let url = &watched.planned.url;
    let query: Vec<String> = url.query_pairs().map(|(name, value)| format!("{name}={value}")).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{} {}{mark}{}", watched.planned.method, url.path(), query.join("&"))
}

struct Strike<'trial> {
    provider: &'trial HttpProvider,
    keep: &'trial str,
}

impl Strike<'_> {
    fn answer(&self, watched: &Watched) -> ExampleAnswer {
        let Watched { reply, .. } = watched;
        let look = self.provider.look();
        let is_head = look.is_some_and(|look| look.request.method == Method::Head);
        let body = look.filter(|_| reply.status != 0).and_then(|look| self.document(look, reply));
        ExampleAnswer {
            status: reply.status,
            headers: if is_head { BTreeMap::new() } else { self.headers(look, reply) },
            body: body.and_then(|body| serde_json::to_string_pretty(&body).ok()).map(|text| {
                text.lines().map(|line| escape_json(line.to_owned())).collect::<Vec<_>>().join("\n")
            }),
        }
    }

    fn headers(&self, look: Option<&LookUp>, reply: &Reply) -> BTreeMap<String, String> {
        let next = look.and_then(|look| match &look.paging.step {
            PageStep::HeaderToken { header, .. } => Some(header.to_ascii_lowercase()),
            _ => None,
        });
        reply
            .headers
            .iter()
            .filter(|(name, _)| is_telling(look, name) && !LEFT_OUT_HEADERS.contains(&name.as_str()))
            .map(|(name, value)| {
                let value = match name.as_str() {
                    // Who plays it back does not wait.
                    "retry-after" => "0".to_owned(),
                    "link" => self.based(value),
                    other if Some(other) == next.as_deref() => self.based(value),
                    _ => strike_around(value, self.keep),
                };
                (name.clone(), value)
            })
            .collect()
    }

    /// A text that is read, without the secret; the provider's own address is that of whoever plays it back.
    fn based(&self, text: &str) -> String {
        let origin = self.provider.endpoint.base.origin().ascii_serialization();
        self.provider.endpoint.secret.without_secret(&text.replace(&origin, BASE))
    }

    fn document(&self, look: &LookUp, reply: &Reply) -> Option<Value> {
        let document = document_of(look, reply)?;
        let nodes = read_nodes(look, self.keep, &document);
        let read: HashSet<*const Value> = nodes.into_iter().map(std::ptr::from_ref).collect();
        Some(self.struck(&document, &read, false))
    }

    fn struck(&self, value: &Value, read: &HashSet<*const Value>, is_personal: bool) -> Value {
        let is_read = read.contains(&std::ptr::from_ref(value));
        match value {
            Value::Object(fields) => {
                let struck = fields.iter().map(|(name, inner)| {
                    let is_personal = is_personal || is_personal_name(name);
                    (strike_around(name, self.keep), self.struck(inner, read, is_personal))
                });
                Value::Object(struck.collect::<Map<_, _>>())
            }
            Value::Array(values) => {
                Value::Array(values.iter().map(|inner| self.struck(inner, read, is_personal)).collect())
            }
            Value::String(text) if is_read || text == self.keep => self.based(text).into(),
            Value::String(text) if text.is_empty() => value.clone(),
            Value::String(_) if is_personal => STRUCK.into(),
            // Free text, and JSON within JSON: nothing says what it holds.
            Value::String(text) if text.contains([' ', '{', '[', '\n']) => STRUCK.into(),
            Value::String(text) => strike_around(text, self.keep).into(),
            Value::Number(number) if !is_read => {
                let text = number.to_string();
                if is_personal || strike_text(&text) != text { json!(0) } else { value.clone() }
            }
            Value::Number(_) | Value::Bool(_) | Value::Null => value.clone(),
        }
    }
}
