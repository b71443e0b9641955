//! Where escalations go: one declared POST, or a system that a preset describes.

use super::{provider_settings, secret};
use crate::config::ConfigFault;
use crate::config::file::{ConfigFile, EscalationEntry, ProviderEntry};
use crate::preset::catalogue::Catalogue;
use crate::preset::escalation::EscalationSettings;
use crate::preset::webhook::WebhookSettings;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Every place that has a name.
pub(super) fn all(
    file: &ConfigFile,
    folder: &Path,
    catalogue: &Catalogue,
) -> Result<BTreeMap<Arc<str>, EscalationSettings>, ConfigFault> {
    let one = |(name, entry): (&String, &EscalationEntry)| {
        let settings = check(&format!("escalations.{name}"), entry, folder, catalogue)?;
        Ok((Arc::from(name.as_str()), settings))
    };
    file.escalations.iter().map(one).collect()
}

/// The place that a kind names.
pub(super) fn named(
    kind: &str,
    name: Option<&str>,
    escalations: &BTreeMap<String, EscalationEntry>,
) -> Result<Option<Arc<str>>, ConfigFault> {
    match name {
        Some(name) if !escalations.contains_key(name) => Err(ConfigFault::new(
            format!("kind `{kind}`: `escalate_to` names `{name}`, which is not configured"),
            format!("Add a section [escalations.{name}]."),
        )),
        other => Ok(other.map(Arc::from)),
    }
}

/// One place.
pub(super) fn check(
    place: &str,
    entry: &EscalationEntry,
    folder: &Path,
    catalogue: &Catalogue,
) -> Result<EscalationSettings, ConfigFault> {
    let fault = |what: String, do_next: &str| ConfigFault::new(format!("{place}: {what}"), do_next);
    match (&entry.preset, &entry.url) {
        (Some(_), Some(_)) => {
            Err(fault("`preset` and `url` exclude each other".to_owned(), "Keep one of the two."))
        }
        (Some(preset), None) => target(place, preset, entry, folder, catalogue),
        (None, Some(url)) => Ok(EscalationSettings::Webhook(Box::new(webhook(place, url, entry, folder)?))),
        (None, None) => Err(fault(
            "`url` is missing".to_owned(),
            "Write the address that takes a POST, name a preset, or take the section out.",
        )),
    }
}

fn target(
    place: &str,
    name: &str,
    entry: &EscalationEntry,
    folder: &Path,
    catalogue: &Catalogue,
) -> Result<EscalationSettings, ConfigFault> {
    let fault = |what: String, do_next: &str| ConfigFault::new(format!("{place}: {what}"), do_next);
    let Some(preset) = catalogue.escalations.get(name) else {
        let known: Vec<&str> = catalogue.escalations.keys().map(String::as_str).collect();
        return Err(fault(
            format!("there is no escalation preset `{name}`"),
            &format!("There are {}.", known.join(", ")),
        ));
    };
    if !entry.headers.is_empty() || entry.body.is_some() || entry.dedup_header.is_some() {
        return Err(fault(
            "`headers`, `body` and `dedup_header` go with `url`: a preset has its own".to_owned(),
            "Take them out, or put a changed copy of the preset into the `presets` folder.",
        ));
    }
    let given = ProviderEntry {
        preset: None,
        base_url: entry.base_url.clone(),
        secret_env: entry.secret_env.clone(),
        secret_file: entry.secret_file.clone(),
        secret_command: entry.secret_command.clone(),
        variables: entry.variables.clone(),
        proxy: entry.proxy.clone(),
        certificates: entry.certificates.clone(),
        client_certificate: None,
        database: None,
        replica_lag_max: None,
        pace_per_second: None,
        in_flight_max: None,
        check_seconds_max: None,
        operations: BTreeMap::new(),
    };
    let settings = provider_settings(place, &given, preset.target.base_url.as_ref(), folder)?;
    Ok(EscalationSettings::Target(Arc::clone(preset), Box::new(settings)))
}

/// A place that is one declared POST and nothing else, for `[watch]`.
pub(super) fn posted(
    place: &str,
    entry: &EscalationEntry,
    folder: &Path,
) -> Result<WebhookSettings, ConfigFault> {
    let fault = |what: &str, do_next: &str| ConfigFault::new(format!("{place}: {what}"), do_next);
    if entry.preset.is_some() {
        return Err(fault(
            "`preset` is for escalations",
            "Write the address that takes a POST: url = \"https://…\".",
        ));
    }
    let Some(url) = &entry.url else {
        return Err(fault(
            "`url` is missing",
            "Write the address that takes a POST, or take the section out.",
        ));
    };
    webhook(place, url, entry, folder)
}

fn webhook(
    place: &str,
    url: &str,
    entry: &EscalationEntry,
    folder: &Path,
) -> Result<WebhookSettings, ConfigFault> {
    let fault = |what: String, do_next: &str| ConfigFault::new(format!("{place}: {what}"), do_next);
    let with_form = |what: String| fault(what, "Write url = \"https://HOST/PATH\" and headers as templates.");
    let of_preset = [
        ("base_url", entry.base_url.is_some()),
        ("secret_command", entry.secret_command.is_some()),
        ("variables", !entry.variables.is_empty()),
        ("proxy", entry.proxy.is_some()),
        ("certificates", entry.certificates.is_some()),
    ];
    if let Some((field, _)) = of_preset.iter().find(|(_, is_there)| *is_there) {
        return Err(fault(format!("`{field}` goes with `preset`"), "Take it out, or name a preset."));
    }
    let mut settings = WebhookSettings::new(url)
        .and_then(|settings| settings.with_headers(&entry.headers))
        .map_err(with_form)?;
    settings.secret = secret(entry.secret_env.as_deref(), entry.secret_file.as_deref(), folder)
        .map_err(|what| fault(what.to_owned(), "Keep one of the two."))?;
    if let Some(body) = &entry.body {
        settings = settings.with_body(body).map_err(with_form)?;
    }
    if let Some(header) = &entry.dedup_header {
        settings.dedup_header.clone_from(header);
    }
    Ok(settings)
}
