//! Settings become adapters, handed on as ports: the only place that knows both sides.

use crate::adapters::http::{Endpoint, Environment, HttpProvider, Webhook};
use crate::adapters::mysql::{self, MysqlSource};
use crate::adapters::postgres::{self, PostgresSource};
use crate::adapters::receipts::FileReceipts;
use crate::adapters::record::{PostgresRecord, Seals, SqliteRecord};
use crate::adapters::sql::Address;
use crate::adapters::sqlite::{self, SqliteSource};
use crate::adapters::system::{self, SystemClock};
use crate::config::database::Server;
use crate::config::kind::Kind;
use crate::config::settings::SourceSettings;
use crate::config::{ConfigFault, Database, Settings};
use crate::domain::approval::ApprovalRules;
use crate::domain::decision::Operator;
use crate::domain::policy::{CheckName, Policy};
use crate::ports::clock::Clock;
use crate::ports::escalation::Escalation;
use crate::ports::provider::Provider;
use crate::ports::receipts::Receipts;
use crate::ports::record::{Record, RecordFault};
use crate::ports::source::{Source, SourceFault};
use crate::preset::source::{Engine, Table};
use crate::workflow::Desk;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// What the command line adds to the settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Who decides; before the configuration's word.
    pub operator: Option<String>,
    /// Whether every decision is refused.
    pub read_only: bool,
    /// How the audit is opened.
    pub audit: AuditUse,
}

/// How the audit is opened; a fault is kept for whoever needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuditUse {
    /// To look into it, where it exists.
    #[default]
    Read,
    /// To write; it is made where it does not exist.
    Write,
}

/// Builds a desk.
///
/// # Errors
/// A provider or webhook that the configuration describes wrongly. A missing audit is no error here: looking needs none.
pub fn desk(settings: &Settings, options: &Options) -> Result<Desk, ConfigFault> {
    let environment: Environment = Arc::new(system::environment);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let other_kinds = Kind::new(Policy::unconfigured("other"))
        .map_err(|what| ConfigFault::new(what, "Report this: the built-in policy is wrong."))?;
    Ok(Desk {
        sources: settings.sources.iter().map(|settings| source(settings, &environment)).collect(),
        kinds: settings.kinds.clone(),
        other_kinds: Arc::new(other_kinds),
        providers: providers(settings, &environment, &clock)?,
        record: record(settings, options),
        receipts: settings
            .receipts
            .as_ref()
            .map(|path| Arc::new(FileReceipts::new(path)) as Arc<dyn Receipts>),
        escalation: escalation(settings, &environment)?,
        clock,
        errors: Arc::clone(&settings.catalogue.errors),
        operator: operator(options.operator.as_deref().or(settings.operator.as_deref())),
        read_only: options.read_only,
        approval_rules: ApprovalRules { from_same_login: settings.approvals_from_same_login },
    })
}

fn source(settings: &SourceSettings, environment: &Environment) -> Arc<dyn Source> {
    let (name, preset) = (&settings.name, settings.preset.clone());
    match &settings.database {
        Database::File(path) => Arc::new(SqliteSource::new(name, path.clone(), preset)),
        Database::Server(server) => {
            let address = address(server, environment);
            match server.engine {
                Engine::Mysql => Arc::new(MysqlSource::new(name, address, preset)),
                Engine::Postgres | Engine::Sqlite => Arc::new(PostgresSource::new(name, address, preset)),
            }
        }
    }
}

fn address(server: &Server, environment: &Environment) -> Address {
    Address {
        url: server.url.clone(),
        shown: server.shown.clone(),
        password: server.secret.clone(),
        environment: Arc::clone(environment),
    }
}

/// The tables of a database, for detection.
///
/// # Errors
/// What keeps it from being read.
pub async fn tables_of(database: &Database) -> Result<Vec<Table>, SourceFault> {
    match database {
        Database::File(path) => sqlite::tables_of(path),
        Database::Server(server) => {
            let environment: Environment = Arc::new(system::environment);
            let address = address(server, &environment);
            match server.engine {
                Engine::Mysql => mysql::tables_of(address).await,
                Engine::Postgres | Engine::Sqlite => postgres::tables_of(address).await,
            }
        }
    }
}

/// One endpoint a provider, shared by those of its operations that some kind asks.
fn providers(
    settings: &Settings,
    environment: &Environment,
    clock: &Arc<dyn Clock>,
) -> Result<BTreeMap<CheckName, Arc<dyn Provider>>, ConfigFault> {
    let fault = |what: String| ConfigFault::new(what, "Mend the provider's section in the configuration.");
    let asked: BTreeSet<&CheckName> =
        settings.kinds.values().filter_map(|kind| kind.policy.check.as_ref()).collect();
    let mut endpoints: BTreeMap<&str, Arc<Endpoint>> = BTreeMap::new();
    let mut providers: BTreeMap<CheckName, Arc<dyn Provider>> = BTreeMap::new();
    for name in asked {
        let Some((preset, given)) = settings.providers.get(&name.provider) else { continue };
        let endpoint = if let Some(endpoint) = endpoints.get(&*name.provider) {
            Arc::clone(endpoint)
        } else {
            let endpoint = Arc::new(Endpoint::build(preset, given, Arc::clone(environment)).map_err(fault)?);
            endpoints.insert(&name.provider, Arc::clone(&endpoint));
            endpoint
        };
        let provider = HttpProvider::build(
            &name.to_string(),
            preset,
            &name.operation,
            given,
            endpoint,
            Arc::clone(clock),
        )
        .map_err(fault)?;
        providers.insert(name.clone(), Arc::new(provider));
    }
    Ok(providers)
}

fn record(settings: &Settings, options: &Options) -> Result<Arc<dyn Record>, RecordFault> {
    let server = match &settings.audit {
        Database::Server(server) => server,
        Database::File(path) => {
            return match options.audit {
                AuditUse::Read => Ok(Arc::new(SqliteRecord::open_to_read(path)?)),
                AuditUse::Write => Ok(Arc::new(SqliteRecord::open(path)?.signed(seals(settings)))),
            };
        }
    };
    let address = address(server, &(Arc::new(system::environment) as Environment));
    Ok(Arc::new(match options.audit {
        AuditUse::Read => PostgresRecord::to_read(address),
        AuditUse::Write => PostgresRecord::signed(address, seals(settings)),
    }))
}

/// The audit in a database, to be made, verified or exported.
pub fn record_on(server: &Server) -> PostgresRecord {
    PostgresRecord::new(address(server, &(Arc::new(system::environment) as Environment)))
}

/// Where the audit's checkpoints and their key are.
pub fn seals(settings: &Settings) -> Seals {
    seals_of(&settings.audit, settings.audit_key.clone(), settings.audit_checkpoints.clone())
}

/// The same for an audit that no configuration names.
pub fn seals_of(audit: &Database, key: Option<PathBuf>, checkpoints: Option<PathBuf>) -> Seals {
    match audit {
        Database::File(path) => Seals::of(path, key, checkpoints),
        Database::Server(server) => Seals::of_server(&server.shown, key, checkpoints),
    }
}

fn escalation(
    settings: &Settings,
    environment: &Environment,
) -> Result<Option<Arc<dyn Escalation>>, ConfigFault> {
    let Some(webhook) = &settings.escalation else { return Ok(None) };
    let webhook = Webhook::build(webhook.clone(), Arc::clone(environment)).map_err(|what| {
        ConfigFault::new(format!("escalation: {what}"), "Mend `[escalation]` in the configuration.")
    })?;
    Ok(Some(Arc::new(webhook)))
}

/// Who sits here: the name that was given, else the account's; always with the account and the machine.
fn operator(given: Option<&str>) -> Operator {
    let (login, host) = (system::login(), system::host());
    let name = given.map(str::trim).filter(|name| !name.is_empty()).unwrap_or(&login);
    Operator { name: name.into(), login: login.as_str().into(), host: host.as_str().into() }
}
