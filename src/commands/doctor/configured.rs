//! What the configuration says and only some command would stumble over later: keys, views, bodies of notices, receipts.

use super::{good, settings_line};
use crate::adapters::receipts::FileReceipts;
use crate::adapters::record::key;
use crate::commands::console;
use crate::config::Settings;
use crate::domain::watch::NOTICE_FIELDS;
use crate::ports::escalation::{Escalation, Notice, NoticeEffect};
use crate::ports::source::{Examined, Health};
use crate::wiring;
use std::path::Path;

fn misfit(what: &str, finding: impl Into<String>) -> Examined {
    Examined { what: what.to_owned(), health: Health::Misfit, finding: finding.into() }
}

/// Keys and views: every fault, not the first alone.
pub(super) fn of_console(settings: &Settings) -> Vec<Examined> {
    let faults = console::faults(settings);
    if faults.is_empty() {
        let (keys, views) = (settings.console.keys.len(), settings.console.views.len());
        return vec![good("console", settings_line(keys, views))];
    }
    faults.into_iter().map(|what| misfit("console", format!("{what}. The console would not open."))).collect()
}

/// Whether a notice can be made: a template with a field that no notice has is found when somebody escalates at night.
pub(super) fn notice_of(escalation: &dyn Escalation) -> Option<Examined> {
    let why = escalation.shown(&sample()).err()?;
    Some(misfit("notice", format!("{why}. Nothing could be sent.")))
}

/// Where a watch tells what is new.
pub(super) async fn watch(settings: &Settings) -> Vec<Examined> {
    let Some(webhook) = &settings.watch else { return Vec::new() };
    let mut lines = match wiring::watch_target(webhook.clone()) {
        Ok(target) => vec![target.examine().await],
        Err(fault) => vec![misfit("target", format!("{}. {}", fault.what, fault.do_next))],
    };
    let mut known = NOTICE_FIELDS.to_vec();
    known.extend(webhook.secret.is_some().then_some("secret"));
    lines.extend(webhook.names().into_iter().filter(|name| !known.contains(&&**name)).map(|name| {
        misfit(
            "notice",
            format!("no notice has a field `{name}`; there are {}. Nothing could be sent.", known.join(", ")),
        )
    }));
    lines
}

/// Receipts that could not be written are told after the decision; here before it.
pub(super) fn receipts(file: Option<&Path>) -> Vec<Examined> {
    let Some(file) = file else { return Vec::new() };
    let shown = file.display();
    vec![match FileReceipts::new(file).look() {
        Ok(()) => good("file", format!("{shown} can be written")),
        Err(why) => misfit("file", format!("{shown} {why}. Decisions are made all the same.")),
    }]
}

/// The public keys that `audit verify` is to know.
pub(super) fn public_keys(settings: &Settings) -> Vec<Examined> {
    let of = |file: &std::path::PathBuf| {
        let why = key::read_public(file).err()?;
        Some(misfit(
            "public key",
            format!("{} {why}. `unstuck audit verify` would refuse it.", file.display()),
        ))
    };
    settings.audit_public_keys.iter().filter_map(of).collect()
}

/// A notice that has everything.
fn sample() -> Notice {
    let word = || "sample".to_owned();
    let effect = NoticeEffect {
        id: word(),
        status: word(),
        state: "happened".to_owned(),
        amount: Some("1.00".to_owned()),
        currency: Some("EUR".to_owned()),
        at: Some("2026-11-30T12:00:00Z".to_owned()),
        link: Some("https://example.com/".to_owned()),
    };
    Notice {
        dedup_key: "unstuck-doctor-probe".to_owned(),
        source: word(),
        key: word(),
        kind: word(),
        status: word(),
        finding: word(),
        verdict: word(),
        provider: word(),
        reference: word(),
        reasons: vec![word()],
        effects_count: 1,
        effect_ids: vec![word()],
        effects: vec![effect],
        operator: word(),
        reason: word(),
        audit: 1,
    }
}
