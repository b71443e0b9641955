//! `unstuck presets`: what it knows how to read and ask.

use super::arguments::{Common, Presets};
use super::failure::{Exit, Failure};
use crate::domain::text::clean;
use crate::output::{json, say};
use crate::preset::catalogue::{Catalogue, SOURCE_SCHEMA, built_in_text};
use serde::Serialize;

#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    preset_type: &'static str,
    title: &'a str,
    verified_with: &'a [String],
}

/// Lists the presets, or prints one whole.
pub(super) async fn run(common: &Common, arguments: &Presets) -> Result<Exit, Failure> {
    if arguments.schema {
        say::text(SOURCE_SCHEMA)?;
        return Ok(Exit::Fine);
    }
    if let Some(name) = &arguments.name {
        return match built_in_text(name) {
            Some(text) => {
                say::text(text)?;
                Ok(Exit::Fine)
            }
            None => Err(Failure::usage(
                format!("there is no built-in preset `{name}`"),
                "`unstuck presets` lists those there are.",
            )),
        };
    }
    let catalogue = match &common.config {
        Some(_) => super::session::settings(common).await?.catalogue,
        None => Catalogue::new(&[])
            .map_err(|fault| Failure::usage(fault.to_string(), "Report this: a built-in preset is wrong."))?,
    };
    let sources = catalogue.sources.values().map(|(_, preset)| Line {
        name: &preset.name,
        preset_type: "source",
        title: &preset.title,
        verified_with: &preset.verified_with,
    });
    let providers = catalogue.providers.values().map(|preset| Line {
        name: &preset.name,
        preset_type: "provider",
        title: &preset.title,
        verified_with: &preset.verified_with,
    });
    let escalations = catalogue.escalations.values().map(|preset| Line {
        name: &preset.target.name,
        preset_type: "escalation",
        title: &preset.target.title,
        verified_with: &preset.target.verified_with,
    });
    for line in sources.chain(providers).chain(escalations) {
        if arguments.json {
            say::line(json::line(&line))?;
        } else {
            let verified = if line.verified_with.is_empty() {
                "not yet".to_owned()
            } else {
                clean(&line.verified_with.join(", "))
            };
            say::line(format_args!(
                "{:<10} {:<18} {}\n{:29} verified with: {verified}",
                line.preset_type,
                clean(line.name),
                clean(line.title),
                ""
            ))?;
        }
    }
    Ok(Exit::Fine)
}
