//! Checks of logs: where ours go, which are read and how, and where marks are.

use super::{ConfigFault, ConfigFile};
use crate::config::file::{LogEntry, ReceiptsEntry};
use crate::domain::log_line::{Fields, Layout};
use crate::domain::moment::Zone;
use crate::ports::logs::{LogPlace, MarksPlace};
use crate::preset::source::file::OneOrMore;
use chrono::FixedOffset;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SEE_PAGE: &str = "docs/timeline.md explains each field.";

/// Where our own receipts go; `None` for nowhere.
pub(super) fn ours(file: &ConfigFile, folder: &Path) -> Result<Option<PathBuf>, ConfigFault> {
    let path = match &file.receipts {
        None => None,
        Some(ReceiptsEntry::Ours(ours)) => Some(&ours.path),
        Some(ReceiptsEntry::Logs(logs)) => {
            let mut taking = logs.iter().filter(|log| log.write);
            let first = taking.next();
            if let (Some(first), Some(second)) = (first, taking.next()) {
                return Err(ConfigFault::new(
                    format!("receipts go to both `{}` and `{}`", first.path, second.path),
                    "Keep one `write = true`.",
                ));
            }
            if let Some(log) = first.filter(|log| log.path.contains(['*', '?'])) {
                return Err(ConfigFault::new(
                    format!("receipts cannot go to `{}`, which may be several files", log.path),
                    "Name one file in an entry of its own with `write = true`.",
                ));
            }
            first.map(|log| &log.path)
        }
    };
    Ok(path.map(|path| folder.join(path)))
}

/// The logs that are read.
pub(super) fn logs(file: &ConfigFile, folder: &Path) -> Result<Vec<LogPlace>, ConfigFault> {
    let Some(ReceiptsEntry::Logs(logs)) = &file.receipts else { return Ok(Vec::new()) };
    let each = logs.iter().map(|entry| {
        log(file, entry, folder)
            .map_err(|what| ConfigFault::new(format!("receipts `{}`: {what}", entry.path), SEE_PAGE))
    });
    each.collect()
}

fn log(file: &ConfigFile, entry: &LogEntry, folder: &Path) -> Result<LogPlace, String> {
    let is_source = |name: &String| file.sources.iter().any(|source| source.name.as_ref() == Some(name));
    if let Some(unknown) = entry.source.as_ref().filter(|name| !is_source(name)) {
        return Err(format!("there is no source `{unknown}`"));
    }
    let mut fields = Fields::default();
    for (name, told) in &entry.fields {
        let place = field(&mut fields, name)
            .ok_or_else(|| format!("there is no field `{name}`; there are {}", FIELDS.join(", ")))?;
        *place = match told {
            OneOrMore::One(one) => vec![one.clone()],
            OneOrMore::More(several) => several.clone(),
        };
    }
    let zone = zone(entry.time_zone.as_deref())?;
    Ok(LogPlace {
        name: name_of(entry.name.as_ref(), &entry.path),
        path: folder.join(&entry.path),
        source: entry.source.as_deref().map(Arc::from),
        layout: Layout { fields, format: entry.time_format.unwrap_or_default(), zone },
    })
}

const FIELDS: [&str; 12] = [
    "key",
    "ts",
    "event",
    "action",
    "attempt",
    "error",
    "effect",
    "natural_key",
    "idempotency_key",
    "owner",
    "started",
    "finished",
];

fn field<'fields>(fields: &'fields mut Fields, name: &str) -> Option<&'fields mut Vec<String>> {
    Some(match name {
        "key" => &mut fields.key,
        "ts" => &mut fields.ts,
        "event" => &mut fields.event,
        "action" => &mut fields.action,
        "attempt" => &mut fields.attempt,
        "error" => &mut fields.error,
        "effect" => &mut fields.effect,
        "natural_key" => &mut fields.natural_key,
        "idempotency_key" => &mut fields.idempotency_key,
        "owner" => &mut fields.owner,
        "started" => &mut fields.started,
        "finished" => &mut fields.finished,
        _ => return None,
    })
}

fn zone(text: Option<&str>) -> Result<Zone, String> {
    match text {
        None | Some("UTC") => Ok(Zone::Utc),
        Some("unclear") => Ok(Zone::Unclear),
        Some(offset) => offset.parse::<FixedOffset>().map(Zone::Fixed).map_err(|_| {
            format!("`time_zone` is `{offset}`; write \"UTC\", an offset such as \"-03:00\", or \"unclear\"")
        }),
    }
}

/// Where marks are.
pub(super) fn marks(file: &ConfigFile, folder: &Path) -> Vec<MarksPlace> {
    let each = file.marks.iter().map(|entry| MarksPlace {
        name: name_of(entry.name.as_ref(), &entry.path),
        path: folder.join(&entry.path),
    });
    each.collect()
}

fn name_of(name: Option<&String>, path: &str) -> Arc<str> {
    let file = Path::new(path).file_name().map(|file| file.to_string_lossy().into_owned());
    name.cloned().or(file).unwrap_or_else(|| path.to_owned()).into()
}
