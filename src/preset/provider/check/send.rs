//! Checks of what an escalation sends.

use super::{At, preset, request, tests};
use crate::preset::escalation::{NOTICE_NAMES, SendTemplate};
use crate::preset::provider::file::{PresetFile, TestFile};
use crate::preset::provider::{BodyTemplate, ProviderPreset};
use crate::preset::template::Template;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a file may say of the request that is sent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SendFile {
    path: String,
    #[serde(default)]
    query: BTreeMap<String, String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: toml::Table,
    success: Vec<u16>,
    #[serde(default)]
    success_when: Vec<TestFile>,
    id: Option<String>,
    link: Option<String>,
}

/// Checks a preset that asks, and what it sends.
pub(in crate::preset::provider) fn preset_with_send(
    table: toml::Table,
    send: toml::Value,
) -> Result<(ProviderPreset, SendTemplate), String> {
    let plain = |fault: toml::de::Error| fault.message().replace('\n', "; ");
    let file: PresetFile = table.try_into().map_err(plain)?;
    let target = preset(&file)?;
    let at = At { preset: &file.name, operation: None, variables: &file.variables, part: "send." };
    let written: SendFile = send.try_into().map_err(|fault| at.wrong("", plain(fault)))?;
    Ok((target, sent(at, &written)?))
}

fn sent(at: At<'_>, file: &SendFile) -> Result<SendTemplate, String> {
    let is_good = |status: &u16| (200..=299).contains(status);
    if file.success.is_empty() || !file.success.iter().all(is_good) {
        return Err(at.wrong("success", "it lists the statuses from 200 to 299 that say that it was taken"));
    }
    let mut send = SendTemplate {
        path: request::path(at, "path", &file.path)?,
        query: at.templates("query", &file.query)?,
        headers: request::headers(at, &file.headers)?,
        body: BodyTemplate::parse(&file.body).map_err(|sentence| at.wrong("body", sentence))?,
        success: file.success.clone(),
        tests: tests(at, "success_when", &file.success_when)?,
        id: at.place_if("id", file.id.as_ref())?,
        link: file.link.as_deref().map(|text| at.template("link", text)).transpose()?,
        uses_secret: false,
    };
    let templates = send.path.iter().chain(send.query.values()).chain(send.headers.values());
    let mut names: Vec<String> = templates.flat_map(Template::names).collect();
    names.extend(send.body.names());
    if !names.iter().any(|name| name == "dedup_key") {
        return Err(at.wrong("body", "nothing carries `dedup_key`: without it every repeat is a new one"));
    }
    let is_known = |name: &String| {
        NOTICE_NAMES.contains(&name.as_str()) || ["vars", "base", "secret"].contains(&name.as_str())
    };
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        return Err(
            at.wrong("body", format!("a notice has no `{unknown}`; it has {}", NOTICE_NAMES.join(", ")))
        );
    }
    let in_address = send.path.iter().chain(send.query.values()).flat_map(Template::names);
    if in_address.into_iter().any(|name| name == "secret") {
        return Err(
            at.wrong("path", "a secret belongs into `auth`, a header or the body: addresses are shown")
        );
    }
    send.uses_secret = names.iter().any(|name| name == "secret");
    Ok(send)
}
