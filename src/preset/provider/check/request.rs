//! Checks of what is sent.

use super::At;
use crate::preset::provider::file::{MethodFile, OperationFile};
use crate::preset::provider::{BodyTemplate, Method, RequestTemplate, WINDOW_MARGIN_SECONDS};
use crate::preset::template::Template;
use chrono::TimeDelta;
use std::collections::BTreeMap;

/// Words in a path that mean a write, whatever the preset says: a look-up by key that *cancels a payment* exists.
const WRITING_WORDS: [&str; 9] =
    ["cancel", "capture", "void", "delete", "send", "create", "confirm", "reverse", "refund"];
/// Headers that are not a preset's to set.
const OWN_HEADERS: [&str; 8] = [
    "authorization",
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "cookie",
    "accept-encoding",
    "user-agent",
];

pub(super) fn request(at: At<'_>, file: &OperationFile) -> Result<RequestTemplate, String> {
    let path = path(at, "path", at.needed("path", file.path.as_deref())?)?;
    let method = method(at, file)?;
    let body = file
        .body
        .as_ref()
        .map(|table| BodyTemplate::parse(table).map_err(|sentence| at.wrong("body", sentence)))
        .transpose()?;
    if body.is_some() && !matches!(method, Method::ReadOnlyPost(_)) {
        return Err(at.wrong("body", "only a POST has one"));
    }
    let window_margin = match &file.window_margin {
        Some(text) => at.duration("window_margin", text)?,
        None => TimeDelta::seconds(WINDOW_MARGIN_SECONDS),
    };
    Ok(RequestTemplate {
        method,
        path,
        path_keeps_slashes: file.path_keeps_slashes,
        query: at.templates("query", &file.query)?,
        window: window(at, &file.window)?,
        window_margin,
        headers: headers(at, &file.headers)?,
        body,
    })
}

fn method(at: At<'_>, file: &OperationFile) -> Result<Method, String> {
    let reason = file.read_only_reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    match file.method.unwrap_or(MethodFile::Get) {
        MethodFile::Get | MethodFile::Head if file.read_only_post || reason.is_some() => {
            Err(at.wrong("read_only_post", "it goes with method = \"POST\""))
        }
        MethodFile::Get => Ok(Method::Get),
        MethodFile::Head => Ok(Method::Head),
        MethodFile::Post => {
            let (true, Some(reason)) = (file.read_only_post, reason) else {
                return Err(at.wrong(
                    "method",
                    "a check only reads: a POST needs read_only_post = true and a read_only_reason",
                ));
            };
            let written = file.path.as_deref().unwrap_or("").to_ascii_lowercase();
            match WRITING_WORDS.iter().find(|word| written.split(['/', ':']).any(|part| part == **word)) {
                Some(word) => Err(at.wrong("path", format!("`{word}` in the path of a POST is a write"))),
                None => Ok(Method::ReadOnlyPost(reason.to_owned())),
            }
        }
    }
}

/// Checks a path, segment by segment.
pub(super) fn path(at: At<'_>, field: &str, text: &str) -> Result<Vec<Template>, String> {
    let Some(rest) = text.strip_prefix('/') else {
        return Err(at.wrong(field, "it must begin with `/`"));
    };
    if text.contains(['?', '#']) {
        return Err(at.wrong(field, "parameters belong into `query`"));
    }
    rest.split('/')
        .map(|segment| {
            if segment.is_empty() || segment == "." || segment == ".." {
                return Err(at.wrong(field, "a segment is empty or made of dots"));
            }
            at.template(field, segment)
        })
        .collect()
}

fn window(at: At<'_>, texts: &BTreeMap<String, String>) -> Result<BTreeMap<String, Template>, String> {
    if !texts.is_empty() && !texts.values().any(|text| text.contains("from_")) {
        return Err(at.wrong("window", "no parameter uses `from_epoch_s`, `from_epoch_ms` or `from_iso`"));
    }
    at.templates("window", texts)
}

/// Checks headers and their names.
pub(super) fn headers(
    at: At<'_>,
    texts: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Template>, String> {
    for name in texts.keys() {
        header_name(at, "headers", name)?;
        if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(at.wrong("headers", format!("`{name}` is not a preset's to set")));
        }
    }
    at.templates("headers", texts)
}

pub(super) fn header_name(at: At<'_>, field: &str, name: &str) -> Result<(), String> {
    let good =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if good { Ok(()) } else { Err(at.wrong(field, format!("`{name}` is no header's name"))) }
}
