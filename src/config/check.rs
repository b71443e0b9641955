//! From what was written to what is used: one small function a rule, each with a sentence of its own.

mod escalation;
mod receipts;

use super::database::Server;
use super::effects_database::effects_database;
use super::file::{
    AuditFile, ConfigFile, EscalationEntry, KindEntry, OperationEntry, ProviderEntry, SourceEntry,
};
use super::load::key_of;
use super::settings::{ConsoleSettings, Settings, SourceSettings};
use super::{ConfigFault, Database};
use crate::config::kind::Kind;
use crate::domain::moment::parse_duration;
use crate::domain::money::Unit;
use crate::domain::policy::{Approvals, CheckName, Policy};
use crate::preset::catalogue::Catalogue;
use crate::preset::provider::{Lookback, OperationSettings, ProviderPreset, ProviderSettings, SecretPlace};
use crate::preset::source::{Engine, SourcePreset};
use chrono::TimeDelta;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The presets of the configured providers, by the providers' names.
type Presets = BTreeMap<Arc<str>, Arc<ProviderPreset>>;

const SEE_EXAMPLE: &str = "See config.example.toml for a whole one.";

/// Checks a configuration. Relative paths count from `folder`; `audit` is where the audit is when nobody says.
pub(super) fn check(
    file: &ConfigFile,
    folder: &Path,
    audit: PathBuf,
    catalogue: Catalogue,
) -> Result<Settings, ConfigFault> {
    let named = |place: fn(&AuditFile) -> Option<&String>| {
        file.audit.as_ref().and_then(place).map(|path| folder.join(path))
    };
    let (mut presets, mut providers, mut effects_databases) =
        (Presets::new(), BTreeMap::new(), BTreeMap::new());
    for (written, entry) in &file.providers {
        let (name, preset) = (Arc::<str>::from(written.as_str()), preset_of(written, entry, &catalogue)?);
        if preset.is_sql() {
            let settings = effects_database(written, entry, &preset, folder)?;
            effects_databases.insert(Arc::clone(&name), (Arc::clone(&preset), settings));
        } else {
            let settings = provider(written, entry, &preset, folder)?;
            providers.insert(Arc::clone(&name), (Arc::clone(&preset), settings));
        }
        presets.insert(name, preset);
    }
    let escalations = escalation::all(file, folder, &catalogue)?;
    Ok(Settings {
        operator: operator(file)?,
        approvals_from_same_login: file.approvals_from_same_login.unwrap_or(false),
        audit_key: named(|audit| audit.key.as_ref()).or_else(|| key_of(&audit)),
        audit_checkpoints: named(|audit| audit.checkpoints.as_ref()),
        audit_public_keys: file
            .audit
            .iter()
            .flat_map(|audit| audit.public_keys.iter().map(|path| folder.join(path)))
            .collect(),
        audit: audit_place(file.audit.as_ref(), folder)?.unwrap_or(Database::File(audit)),
        receipts: receipts::ours(file, folder)?,
        logs: receipts::logs(file, folder)?,
        marks: receipts::marks(file, folder),
        sources: sources(&file.sources, folder, &catalogue)?,
        kinds: file
            .kinds
            .iter()
            .map(|(name, entry)| {
                Ok((Arc::from(name.as_str()), Arc::new(kind(name, entry, &presets, &file.escalations)?)))
            })
            .collect::<Result<_, ConfigFault>>()?,
        escalation: file
            .escalation
            .as_ref()
            .map(|entry| escalation::check("escalation", entry, folder, &catalogue))
            .transpose()?,
        escalations,
        watch: file.watch.as_ref().map(|entry| escalation::posted("watch", entry, folder)).transpose()?,
        providers,
        effects_databases,
        console: console(file)?,
        unread: Vec::new(),
        catalogue,
        file: None,
    })
}

/// The least time between two readings that the console begins by itself: no source is to feel it.
const REFRESH_MIN: TimeDelta = TimeDelta::seconds(5);

fn console(file: &ConfigFile) -> Result<ConsoleSettings, ConfigFault> {
    let refresh = file.refresh.as_deref().map(parse_duration).transpose().map_err(|fault| {
        ConfigFault::new(format!("`refresh`: {fault}"), "Write a span such as \"30s\", or take the line out.")
    })?;
    if refresh.is_some_and(|refresh| refresh < REFRESH_MIN) {
        return Err(ConfigFault::new(
            format!(
                "`refresh`: less than {} seconds would be felt by the sources",
                REFRESH_MIN.num_seconds()
            ),
            "Write a longer span such as \"30s\", or take the line out.",
        ));
    }
    Ok(ConsoleSettings { refresh, keys: file.keys.clone(), views: file.views.clone() })
}

/// Where the audit is; `None` leaves it to the platform.
fn audit_place(entry: Option<&AuditFile>, folder: &Path) -> Result<Option<Database>, ConfigFault> {
    let Some(entry) = entry else { return Ok(None) };
    let fault = |what: &str, do_next: &str| Err(ConfigFault::new(format!("audit: {what}"), do_next));
    let place = secret(entry.secret_env.as_deref(), entry.secret_file.as_deref(), folder)
        .map_err(|what| ConfigFault::new(format!("audit: {what}"), "Keep one of the two."))?;
    let url = match (&entry.path, &entry.database) {
        (Some(_), Some(_)) => {
            return fault(
                "`path` and `database` exclude each other",
                "Keep one: a file, or a database for many.",
            );
        }
        (_, None) if place.is_some() => {
            return fault("a file takes no password", "Take `secret_env` and `secret_file` out.");
        }
        (path, None) => return Ok(path.as_ref().map(|path| Database::File(folder.join(path)))),
        (None, Some(url)) => url,
    };
    match Database::parse(url)
        .map_err(|told| ConfigFault::new(format!("audit: {}", told.what), told.do_next))?
    {
        Database::Server(server) if server.engine == Engine::Postgres => {
            Ok(Some(Database::Server(Server { secret: place, ..server })))
        }
        Database::File(_) => fault("`database` names a file", "Write path = \"audit.db\" for a file."),
        Database::Server(_) => fault(
            "only PostgreSQL keeps an audit for many operators",
            "Write database = \"postgres://USER@HOST/DATABASE\", or path = \"audit.db\" for a file.",
        ),
    }
}

fn operator(file: &ConfigFile) -> Result<Option<String>, ConfigFault> {
    match file.operator.as_deref().map(str::trim) {
        Some("") => Err(ConfigFault::new("`operator` is empty", "Write a name, or take the line out.")),
        other => Ok(other.map(str::to_owned)),
    }
}

fn sources(
    entries: &[SourceEntry],
    folder: &Path,
    catalogue: &Catalogue,
) -> Result<Vec<SourceSettings>, ConfigFault> {
    if entries.is_empty() {
        return Err(ConfigFault::new("no `[[sources]]` are configured", SEE_EXAMPLE));
    }
    let mut names = BTreeSet::new();
    let mut settings = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let source = source(at + 1, entry, folder, catalogue)?;
        if !names.insert(source.name.clone()) {
            return Err(ConfigFault::new(
                format!("two sources are named `{}`", source.name),
                "Give each source a name of its own.",
            ));
        }
        settings.push(source);
    }
    Ok(settings)
}

fn source(
    number: usize,
    entry: &SourceEntry,
    folder: &Path,
    catalogue: &Catalogue,
) -> Result<SourceSettings, ConfigFault> {
    let Some(name) = entry.name.clone().filter(|name| !name.trim().is_empty()) else {
        return Err(ConfigFault::new(format!("source {number} has no `name`"), SEE_EXAMPLE));
    };
    let Some(url) = &entry.url else {
        return Err(ConfigFault::new(
            format!("source `{name}` has no `url`"),
            "Write where its database is, such as url = \"sqlite://jobs.db\".",
        ));
    };
    let mut database = Database::parse(url).map_err(|fault| in_source(&name, &fault))?.in_folder(folder);
    let place = secret(entry.secret_env.as_deref(), entry.secret_file.as_deref(), folder)
        .map_err(|what| in_source(&name, &ConfigFault::new(what, "Keep one of the two.")))?;
    match &mut database {
        Database::Server(server) => server.secret = place,
        Database::File(_) if place.is_some() => {
            return Err(ConfigFault::new(
                format!("source `{name}`: a SQLite file takes no password"),
                "Take `secret_env` and `secret_file` out.",
            ));
        }
        Database::File(_) => {}
    }
    let preset = source_preset(&name, entry, catalogue)?;
    Ok(SourceSettings { name, database, preset })
}

fn in_source(name: &str, fault: &ConfigFault) -> ConfigFault {
    ConfigFault::new(format!("source `{name}`: {}", fault.what), fault.do_next.clone())
}

fn source_preset(
    name: &str,
    entry: &SourceEntry,
    catalogue: &Catalogue,
) -> Result<SourcePreset, ConfigFault> {
    let mut file = match (&entry.preset, &entry.mapping) {
        (Some(preset), None) => {
            if let Some((file, _)) = catalogue.sources.get(preset) {
                file.clone()
            } else {
                let known: Vec<&str> = catalogue.sources.keys().map(String::as_str).collect();
                return Err(ConfigFault::new(
                    format!("source `{name}`: there is no source preset `{preset}`"),
                    format!("There are {}; your own go into the `presets` folder.", known.join(", ")),
                ));
            }
        }
        (None, Some(mapping)) => mapping.clone(),
        _ => {
            return Err(ConfigFault::new(
                format!("source `{name}` needs either `preset` or `[sources.mapping]`"),
                SEE_EXAMPLE,
            ));
        }
    };
    if file.name.is_empty() {
        name.clone_into(&mut file.name);
    }
    if entry.schema.is_some() {
        file.schema.clone_from(&entry.schema);
    }
    if entry.table.is_some() {
        file.table.clone_from(&entry.table);
    }
    if entry.kind.is_some() || entry.kind_column.is_some() {
        file.kind.clone_from(&entry.kind);
        file.kind_column.clone_from(&entry.kind_column);
    }
    if entry.decisions_table.is_some() {
        file.decisions_table.clone_from(&entry.decisions_table);
    }
    file.check().map_err(|fault| {
        ConfigFault::new(
            format!("source `{name}`: {}", fault.what),
            "Mend the mapping; docs/presets.md explains each field.",
        )
    })
}

fn kind(
    name: &str,
    entry: &KindEntry,
    presets: &Presets,
    escalations: &BTreeMap<String, EscalationEntry>,
) -> Result<Kind, ConfigFault> {
    let Some(risk) = entry.risk else {
        return Err(ConfigFault::new(
            format!("kind `{name}` has no `risk`"),
            "Write risk = \"safe\", \"check_first\" or \"financial\".",
        ));
    };
    let span = |text: &Option<String>, field: &str, default: TimeDelta| match text {
        Some(text) => positive(text).map_err(|what| in_field(&format!("kind `{name}`"), field, &what)),
        None => Ok(default),
    };
    let text = |text: &Option<String>| text.as_deref().map(Arc::from);
    if entry.currency.is_some() && entry.amount.is_none() {
        return Err(ConfigFault::new(
            format!("kind `{name}` has a `currency` and no `amount`"),
            "Write the template of the amount too, or take the currency out.",
        ));
    }
    let policy = Policy {
        kind: name.into(),
        risk,
        stuck_after: match entry.stuck_after.as_deref() {
            Some("never") => Policy::NEVER,
            _ => span(&entry.stuck_after, "stuck_after", Policy::STUCK_AFTER)?,
        },
        check: entry.check.as_deref().map(|check| check_name(name, check, presets)).transpose()?,
        reference: text(&entry.reference).unwrap_or_else(|| "{{ key }}".into()),
        idempotency_key: text(&entry.idempotency_key),
        amount: text(&entry.amount),
        currency: text(&entry.currency),
        amount_unit: entry.amount_unit.unwrap_or(Unit::Major),
        evidence_age_max: span(&entry.evidence_age_max, "evidence_age_max", Policy::EVIDENCE_AGE_MAX)?,
        call_timeout: limit(name, "call_timeout", entry.call_timeout.as_deref())?,
        visibility_limit: limit(name, "visibility_limit", entry.visibility_limit.as_deref())?,
        approvals: approvals(name, entry.approvals)?,
        proposal_lasts: proposal_lasts(name, entry.proposal_lasts.as_deref())?,
        escalate_to: escalation::named(name, entry.escalate_to.as_deref(), escalations)?,
        mask: entry.mask.as_slice().into(),
    };
    Kind::new(policy).map_err(|what| {
        ConfigFault::new(format!("kind `{name}`: {what}"), "A template looks like \"{{ key }}\".")
    })
}

fn approvals(kind: &str, count: Option<i64>) -> Result<Approvals, ConfigFault> {
    match count {
        None | Some(1) => Ok(Approvals::One),
        Some(2) => Ok(Approvals::Two),
        Some(other) => Err(ConfigFault::new(
            format!("kind `{kind}`: `approvals` is {other}"),
            "Write approvals = 1 (whoever decides) or approvals = 2 (one proposes, another approves).",
        )),
    }
}

fn proposal_lasts(kind: &str, text: Option<&str>) -> Result<TimeDelta, ConfigFault> {
    let Some(text) = text else { return Ok(Policy::PROPOSAL_LASTS) };
    let fault = |what: &str| in_field(&format!("kind `{kind}`"), "proposal_lasts", what);
    let lasts = positive(text).map_err(|what| fault(&what))?;
    if lasts > Policy::PROPOSAL_LASTS_MAX {
        let days = Policy::PROPOSAL_LASTS_MAX.num_days();
        return Err(fault(&format!("`{text}` is longer than the {days} days that a proposal may wait")));
    }
    Ok(lasts)
}

fn limit(kind: &str, field: &str, text: Option<&str>) -> Result<Option<TimeDelta>, ConfigFault> {
    let told = text.map(positive).transpose();
    told.map_err(|what| in_field(&format!("kind `{kind}`"), field, &what))
}

fn in_field(place: &str, field: &str, what: &str) -> ConfigFault {
    ConfigFault::new(format!("{place}: `{field}`: {what}"), SEE_EXAMPLE)
}

pub(super) fn positive(text: &str) -> Result<TimeDelta, String> {
    match parse_duration(text)? {
        // Nobody counts back further than that.
        span if span > TimeDelta::zero() => Ok(span.min(Policy::NEVER)),
        _ => Err(format!("`{text}` must be longer than nothing")),
    }
}

fn check_name(kind: &str, text: &str, presets: &Presets) -> Result<CheckName, ConfigFault> {
    let fault =
        |what: String, do_next: String| Err(ConfigFault::new(format!("kind `{kind}`: {what}"), do_next));
    let Some((provider, operation)) = text.split_once('.') else {
        return fault(
            format!("`check` is `{text}`"),
            "Write it as \"provider.operation\", such as \"ledger.charge\".".to_owned(),
        );
    };
    let Some(preset) = presets.get(provider) else {
        return fault(
            format!("`check` names the provider `{provider}`, which is not configured"),
            format!("Add a section [providers.{provider}]."),
        );
    };
    if !preset.operations.contains_key(operation) {
        let known: Vec<&str> = preset.operations.keys().map(String::as_str).collect();
        return fault(
            format!("provider `{provider}` has no operation `{operation}`"),
            format!("It has {}.", known.join(", ")),
        );
    }
    Ok(CheckName { provider: provider.into(), operation: operation.into() })
}

/// The preset that a provider is asked through, with every operation that its section names.
fn preset_of(
    name: &str,
    entry: &ProviderEntry,
    catalogue: &Catalogue,
) -> Result<Arc<ProviderPreset>, ConfigFault> {
    let fault = |what: String, do_next: &str| ConfigFault::new(format!("provider `{name}`: {what}"), do_next);
    let preset_name = entry.preset.as_deref().unwrap_or(name);
    let Some(preset) = catalogue.providers.get(preset_name) else {
        return Err(fault(
            format!("there is no provider preset `{preset_name}`"),
            "`unstuck presets` lists those there are; your own go into the `presets` folder.",
        ));
    };
    if let Some(unknown) =
        entry.operations.keys().find(|operation| !preset.operations.contains_key(*operation))
    {
        let known: Vec<&str> = preset.operations.keys().map(String::as_str).collect();
        return Err(fault(
            format!("it has no operation `{unknown}`"),
            &format!("It has {}.", known.join(", ")),
        ));
    }
    Ok(Arc::clone(preset))
}

fn provider(
    name: &str,
    entry: &ProviderEntry,
    preset: &ProviderPreset,
    folder: &Path,
) -> Result<ProviderSettings, ConfigFault> {
    let fault = |what: String, do_next: &str| ConfigFault::new(format!("provider `{name}`: {what}"), do_next);
    if entry.database.is_some() || entry.replica_lag_max.is_some() {
        return Err(fault(
            format!(
                "its preset `{}` asks over HTTP, and `database` and `replica_lag_max` say otherwise",
                preset.name
            ),
            "Take them out, or name a preset that reads a database, such as sql_ledger.",
        ));
    }
    provider_settings(&format!("provider `{name}`"), entry, preset.base_url.as_ref(), folder)
}

/// What a section says of where somebody is and how to get in; `usual` is where the preset says that it is.
fn provider_settings(
    place: &str,
    entry: &ProviderEntry,
    usual: Option<&Url>,
    folder: &Path,
) -> Result<ProviderSettings, ConfigFault> {
    let fault = |what: String, do_next: &str| ConfigFault::new(format!("{place}: {what}"), do_next);
    let base_url = match (&entry.base_url, usual) {
        (Some(text), _) => ProviderSettings::parse_base_url(text)
            .map_err(|what| fault(what, "Write base_url = \"https://HOST\"."))?,
        (None, Some(url)) => url.clone(),
        (None, None) => {
            return Err(fault(
                "`base_url` is missing".to_owned(),
                "Write where it is: base_url = \"https://HOST\".",
            ));
        }
    };
    let proxy = entry
        .proxy
        .as_deref()
        .map(|text| {
            Url::parse(text).map_err(|_| {
                fault(format!("`proxy` `{text}` is no URL"), "Write proxy = \"http://HOST:PORT\".")
            })
        })
        .transpose()?;
    Ok(ProviderSettings {
        base_url,
        secret: provider_secret(entry, folder).map_err(|(what, do_next)| fault(what.to_owned(), do_next))?,
        variables: entry.variables.clone(),
        proxy,
        certificates: entry.certificates.as_ref().map(|path| folder.join(path)),
        client_certificate: entry.client_certificate.as_ref().map(|path| folder.join(path)),
        pace_per_second: entry.pace_per_second.map(|pace| positive_pace(pace, &fault)).transpose()?,
        in_flight_max: entry.in_flight_max.map(|count| positive_count(count, &fault)).transpose()?,
        check_max: entry.check_seconds_max.map(|seconds| positive_seconds(seconds, &fault)).transpose()?,
        operations: entry
            .operations
            .iter()
            .map(|(operation, entry)| Ok((operation.clone(), operation_settings(place, operation, entry)?)))
            .collect::<Result<_, ConfigFault>>()?,
    })
}

pub(super) fn positive_pace(
    pace: f64,
    fault: &impl Fn(String, &str) -> ConfigFault,
) -> Result<f64, ConfigFault> {
    if pace.is_finite() && pace > 0.0 {
        Ok(pace)
    } else {
        Err(fault(
            format!("`pace_per_second` is {pace}"),
            "Write how many requests a second it may get, such as 10.",
        ))
    }
}

pub(super) fn positive_count(
    count: usize,
    fault: &impl Fn(String, &str) -> ConfigFault,
) -> Result<usize, ConfigFault> {
    if count > 0 {
        Ok(count)
    } else {
        Err(fault("`in_flight_max` is 0".to_owned(), "Write how many checks may run at once, such as 4."))
    }
}

/// The longest that a configuration may let one check take: what it asks about may have changed since.
const CHECK_SECONDS_MOST: f64 = 3_600.0;

pub(super) fn positive_seconds(
    seconds: f64,
    fault: &impl Fn(String, &str) -> ConfigFault,
) -> Result<Duration, ConfigFault> {
    let is_good = seconds > 0.0 && seconds <= CHECK_SECONDS_MOST;
    is_good.then(|| Duration::from_secs_f64(seconds)).ok_or_else(|| {
        fault(
            format!("`check_seconds_max` is {seconds}"),
            "Write how long one whole check may take, in seconds, such as 30.",
        )
    })
}

pub(super) fn provider_secret(
    entry: &ProviderEntry,
    folder: &Path,
) -> Result<Option<SecretPlace>, (&'static str, &'static str)> {
    let place = secret(entry.secret_env.as_deref(), entry.secret_file.as_deref(), folder)
        .map_err(|what| (what, "Keep one of the two."))?;
    match (place, &entry.secret_command) {
        (place, None) => Ok(place),
        (Some(_), Some(_)) => {
            Err(("`secret_command` excludes `secret_env` and `secret_file`", "Keep one of the three."))
        }
        (None, Some(words)) if words.first().is_none_or(|program| program.trim().is_empty()) => Err((
            "`secret_command` names no program",
            "Write a program and its arguments, such as [\"pass\", \"show\", \"NAME\"].",
        )),
        (None, Some(words)) => Ok(Some(SecretPlace::Command(words.clone()))),
    }
}

fn secret(env: Option<&str>, file: Option<&str>, folder: &Path) -> Result<Option<SecretPlace>, &'static str> {
    match (env, file) {
        (Some(_), Some(_)) => Err("`secret_env` and `secret_file` exclude each other"),
        (Some(name), None) => Ok(Some(SecretPlace::Env(name.to_owned()))),
        (None, Some(path)) => Ok(Some(SecretPlace::File(folder.join(path)))),
        (None, None) => Ok(None),
    }
}

pub(super) fn operation_settings(
    place: &str,
    name: &str,
    entry: &OperationEntry,
) -> Result<OperationSettings, ConfigFault> {
    let place = format!("{place}, operation `{name}`");
    let span = |text: &Option<String>, field: &str| {
        text.as_deref()
            .map(|text| parse_duration(text).map_err(|what| in_field(&place, field, &what)))
            .transpose()
    };
    let fault = |what: String, do_next: &str| ConfigFault::new(format!("{place}: {what}"), do_next);
    Ok(OperationSettings {
        settle: span(&entry.settle, "settle")?,
        lookback: entry
            .lookback
            .as_deref()
            .map(|text| Lookback::parse(text).map_err(|what| in_field(&place, "lookback", &what)))
            .transpose()?,
        key_ttl: span(&entry.key_ttl, "key_ttl")?,
        canary: entry
            .canary
            .clone()
            .map(|canary| match canary.trim() {
                "" => Err(fault(
                    "`canary` is empty".to_owned(),
                    "Write a reference whose effect is known to be there, or take the line out.",
                )),
                _ => Ok(canary),
            })
            .transpose()?,
        pace_per_second: entry.pace_per_second.map(|pace| positive_pace(pace, &fault)).transpose()?,
        in_flight_max: entry.in_flight_max.map(|count| positive_count(count, &fault)).transpose()?,
    })
}
