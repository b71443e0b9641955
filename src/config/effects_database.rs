//! The section of a provider whose effects are read from a database.

use super::check::{
    operation_settings, positive, positive_count, positive_pace, positive_seconds, provider_secret,
};
use super::file::ProviderEntry;
use super::settings::EffectsDatabaseSettings;
use super::{ConfigFault, Database};
use crate::preset::provider::ProviderPreset;
use std::path::Path;

/// Checks the section. Relative files count from `folder`.
pub(super) fn effects_database(
    name: &str,
    entry: &ProviderEntry,
    preset: &ProviderPreset,
    folder: &Path,
) -> Result<EffectsDatabaseSettings, ConfigFault> {
    let fault = |what: String, do_next: &str| ConfigFault::new(format!("provider `{name}`: {what}"), do_next);
    let over_http = [
        ("base_url", entry.base_url.is_some()),
        ("variables", !entry.variables.is_empty()),
        ("proxy", entry.proxy.is_some()),
        ("certificates", entry.certificates.is_some()),
        ("client_certificate", entry.client_certificate.is_some()),
    ];
    if let Some((field, _)) = over_http.into_iter().find(|(_, is_told)| *is_told) {
        return Err(fault(
            format!(
                "its preset `{}` reads a database, and `{field}` is for what is asked over HTTP",
                preset.name
            ),
            "Take it out: TLS and the like are said in the database's address, see docs/sources.md.",
        ));
    }
    let Some(address) = &entry.database else {
        return Err(fault(
            "`database` is missing".to_owned(),
            "Write where its table is, such as database = \"postgres://USER@HOST/DATABASE\".",
        ));
    };
    let in_provider = |told: ConfigFault| fault(told.what, &told.do_next);
    let mut database = Database::parse(address).map_err(in_provider)?.in_folder(folder);
    let secret = provider_secret(entry, folder).map_err(|(what, do_next)| fault(what.to_owned(), do_next))?;
    let lag = entry.replica_lag_max.as_deref().map(|text| {
        positive(text).map_err(|what| {
            fault(
                format!("`replica_lag_max`: {what}"),
                "Write how far behind a replica may be, such as \"1m\".",
            )
        })
    });
    let replica_lag_max = lag.transpose()?;
    match &mut database {
        Database::Server(server) => server.secret = secret,
        Database::File(_) if secret.is_some() || replica_lag_max.is_some() => {
            return Err(fault(
                "a SQLite file takes no password, and has no replicas".to_owned(),
                "Take `secret_env`, `secret_file`, `secret_command` and `replica_lag_max` out.",
            ));
        }
        Database::File(_) => {}
    }
    Ok(EffectsDatabaseSettings {
        database,
        replica_lag_max,
        pace_per_second: entry.pace_per_second.map(|pace| positive_pace(pace, &fault)).transpose()?,
        in_flight_max: entry.in_flight_max.map(|count| positive_count(count, &fault)).transpose()?,
        check_max: entry.check_seconds_max.map(|seconds| positive_seconds(seconds, &fault)).transpose()?,
        operations: entry
            .operations
            .iter()
            .map(|(operation, entry)| {
                Ok((operation.clone(), operation_settings(&format!("provider `{name}`"), operation, entry)?))
            })
            .collect::<Result<_, ConfigFault>>()?,
    })
}
