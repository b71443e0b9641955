//! Settings become adapters, handed on as ports: the only place that knows both sides.

use crate::adapters::http::{Endpoint, Environment, HttpProvider, Target, Webhook};
use crate::adapters::logs::FileLogs;
use crate::adapters::mysql::{self, MysqlEffects, MysqlSource};
use crate::adapters::postgres::{self, PostgresEffects, PostgresSource};
use crate::adapters::receipts::FileReceipts;
use crate::adapters::record::{PostgresRecord, Seals, SqliteRecord};
use crate::adapters::sql::Address;
use crate::adapters::sql::effects::{EffectsDatabase, SharedDatabase, SqlProvider};
use crate::adapters::sqlite::{self, SqliteEffects, SqliteSource};
use crate::adapters::system::{self, SystemClock};
use crate::config::database::Server;
use crate::config::kind::Kind;
use crate::config::settings::SourceSettings;
use crate::config::{ConfigFault, Database, Settings};
use crate::domain::approval::ApprovalRules;
use crate::domain::decision::Operator;
use crate::domain::mark::Mark;
use crate::domain::policy::{CheckName, Policy};
use crate::ports::alerts::Alerts;
use crate::ports::clock::Clock;
use crate::ports::escalation::Escalation;
use crate::ports::provider::Provider;
use crate::ports::receipts::Receipts;
use crate::ports::record::{Record, RecordFault};
use crate::ports::source::{Source, SourceFault};
use crate::preset::escalation::EscalationSettings;
use crate::preset::provider::OperationSettings;
use crate::preset::source::{Engine, Table};
use crate::preset::webhook::WebhookSettings;
use crate::workflow::Desk;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Marks that somebody said.
    pub marks: Vec<Mark>,
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
    let clock = clock();
    let other_kinds = Kind::new(Policy::unconfigured("other"))
        .map_err(|what| ConfigFault::new(what, "Report this: the built-in policy is wrong."))?;
    Ok(Desk {
        sources: settings.sources.iter().map(|settings| source(settings, &environment)).collect(),
        kinds: settings.kinds.clone(),
        other_kinds: Arc::new(other_kinds),
        providers: {
            let mut all = providers(settings, &environment, &clock)?;
            all.extend(effects_databases(settings, &environment, &clock)?);
            all
        },
        record: record(settings, options),
        receipts: settings
            .receipts
            .as_ref()
            .map(|path| Arc::new(FileReceipts::new(path)) as Arc<dyn Receipts>),
        logs: Arc::new(FileLogs::new(settings.logs.clone(), settings.marks.clone(), options.marks.clone())),
        escalation: settings
            .escalation
            .as_ref()
            .map(|place| escalation("escalation", place, &environment, &clock))
            .transpose()?,
        escalations: settings
            .escalations
            .iter()
            .map(|(name, place)| {
                let section = format!("escalations.{name}");
                Ok((Arc::clone(name), escalation(&section, place, &environment, &clock)?))
            })
            .collect::<Result<_, ConfigFault>>()?,
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

/// One connected database a provider, shared by those of its operations that some kind asks.
fn effects_databases(
    settings: &Settings,
    environment: &Environment,
    clock: &Arc<dyn Clock>,
) -> Result<BTreeMap<CheckName, Arc<dyn Provider>>, ConfigFault> {
    let asked: BTreeSet<&CheckName> =
        settings.kinds.values().filter_map(|kind| kind.policy.check.as_ref()).collect();
    let mut shared: BTreeMap<&str, Arc<SharedDatabase>> = BTreeMap::new();
    let mut providers: BTreeMap<CheckName, Arc<dyn Provider>> = BTreeMap::new();
    for name in asked {
        let Some((preset, given)) = settings.effects_databases.get(&name.provider) else { continue };
        let database = shared.entry(&name.provider).or_insert_with(|| {
            Arc::new(SharedDatabase::new(
                effects_database(&given.database, environment),
                given.pace_per_second.unwrap_or(preset.pace_per_second),
                given.in_flight_max.unwrap_or(preset.in_flight_max),
                given.replica_lag_max,
                given.check_max,
            ))
        });
        let plain = OperationSettings::default();
        let otherwise = given.operations.get(&*name.operation).unwrap_or(&plain);
        let provider = SqlProvider::build(
            &name.to_string(),
            preset,
            &name.operation,
            otherwise,
            Arc::clone(database),
            Arc::clone(clock),
        )
        .map_err(|what| ConfigFault::new(what, "Mend the provider's section in the configuration."))?;
        providers.insert(name.clone(), Arc::new(provider));
    }
    Ok(providers)
}

fn effects_database(database: &Database, environment: &Environment) -> Box<dyn EffectsDatabase> {
    match database {
        Database::File(path) => Box::new(SqliteEffects::new(path.clone())),
        Database::Server(server) => {
            let address = address(server, environment);
            match server.engine {
                Engine::Mysql => Box::new(MysqlEffects::new(address)),
                Engine::Postgres | Engine::Sqlite => Box::new(PostgresEffects::new(address)),
            }
        }
    }
}

/// One operation of a configured provider alone, to be tried; whether or not some kind asks it.
///
/// # Errors
/// A provider that the configuration describes wrongly.
pub fn trial(settings: &Settings, name: &CheckName) -> Result<HttpProvider, ConfigFault> {
    let fault = |what: String| ConfigFault::new(what, "Mend the provider's section in the configuration.");
    let Some((preset, given)) = settings.providers.get(&name.provider) else {
        if settings.effects_databases.contains_key(&name.provider) {
            return Err(ConfigFault::new(
                format!(
                    "provider `{}` is a database, which is read and not asked step by step",
                    name.provider
                ),
                "`unstuck doctor` without `--provider` looks at its table, columns, statuses and clock.",
            ));
        }
        return Err(fault(format!("no provider `{}` is configured", name.provider)));
    };
    let endpoint = Endpoint::build(preset, given, Arc::new(system::environment)).map_err(fault)?;
    HttpProvider::build(&name.to_string(), preset, &name.operation, given, Arc::new(endpoint), clock())
        .map_err(fault)
}

/// The machine's clock.
pub fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
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
    let (key, checkpoints) = (settings.audit_key.clone(), settings.audit_checkpoints.clone());
    match &settings.audit {
        Database::File(path) => Seals::of(path, key, checkpoints),
        Database::Server(server) => Seals::of_server(&server.shown, key, checkpoints),
    }
}

/// One place that escalations go to; `section` is where the configuration says it.
fn escalation(
    section: &str,
    settings: &EscalationSettings,
    environment: &Environment,
    clock: &Arc<dyn Clock>,
) -> Result<Arc<dyn Escalation>, ConfigFault> {
    let environment = Arc::clone(environment);
    let built: Result<Arc<dyn Escalation>, String> = match settings {
        EscalationSettings::Webhook(webhook) => {
            Webhook::build((**webhook).clone(), environment).map(|webhook| Arc::new(webhook) as _)
        }
        EscalationSettings::Target(preset, given) => {
            Target::build(Arc::clone(preset), given, environment, Arc::clone(clock))
                .map(|target| Arc::new(target) as _)
        }
    };
    built.map_err(|what| {
        ConfigFault::new(format!("{section}: {what}"), format!("Mend `[{section}]` in the configuration."))
    })
}

/// Where a watch tells what is new.
///
/// # Errors
/// A header that is none.
pub fn alerts(webhook: WebhookSettings) -> Result<Arc<dyn Alerts>, ConfigFault> {
    let webhook = Webhook::build(webhook, Arc::new(system::environment)).map_err(|what| {
        ConfigFault::new(format!("watch: {what}"), "Mend `[watch]` in the configuration, or `--webhook`.")
    })?;
    Ok(Arc::new(webhook))
}

/// Where a watch tells what is new, to be examined like a place that escalations go to.
///
/// # Errors
/// A header that is none.
pub fn watch_target(webhook: WebhookSettings) -> Result<Arc<dyn Escalation>, ConfigFault> {
    let place = EscalationSettings::Webhook(Box::new(webhook));
    escalation("watch", &place, &(Arc::new(system::environment) as Environment), &clock())
}

/// Who sits here: the name that was given, else the account's; always with the account and the machine.
fn operator(given: Option<&str>) -> Operator {
    let (login, host) = (system::login(), system::host());
    let name = given.map(str::trim).filter(|name| !name.is_empty()).unwrap_or(&login);
    Operator { name: name.into(), login: login.as_str().into(), host: host.as_str().into() }
}
