//! What the program uses: everything present, everything checked.

use super::file::ViewEntry;
use super::{ConfigFault, Database};
use crate::config::kind::Kind;
use crate::ports::logs::{LogPlace, MarksPlace};
use crate::preset::catalogue::Catalogue;
use crate::preset::escalation::EscalationSettings;
use crate::preset::provider::{OperationSettings, ProviderPreset, ProviderSettings};
use crate::preset::source::SourcePreset;
use crate::preset::webhook::WebhookSettings;
use chrono::TimeDelta;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The settings of one run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The operator's name; `None` leaves it to the account's.
    pub operator: Option<String>,
    /// Whether a second person may approve from the proposer's own account.
    pub approvals_from_same_login: bool,
    /// Where the audit is: a file, or a database for many operators.
    pub audit: Database,
    /// Files with the public keys of those who sign it, beside this machine's own.
    pub audit_public_keys: Vec<PathBuf>,
    /// The file with the key that signs checkpoints; `None` where nobody says and there is no home folder.
    pub audit_key: Option<PathBuf>,
    /// The file of checkpoints; `None` puts them beside the audit, or beside the key where the audit is a database.
    pub audit_checkpoints: Option<PathBuf>,
    /// Where receipts go; `None` for nowhere.
    pub receipts: Option<PathBuf>,
    /// Logs of receipts that are read.
    pub logs: Vec<LogPlace>,
    /// Lists of marks.
    pub marks: Vec<MarksPlace>,
    /// The sources, in order.
    pub sources: Vec<SourceSettings>,
    /// The kinds with a policy of their own.
    pub kinds: BTreeMap<Arc<str>, Arc<Kind>>,
    /// Who is asked over HTTP, by name.
    pub providers: BTreeMap<Arc<str>, (Arc<ProviderPreset>, ProviderSettings)>,
    /// Which databases are read for effects, by name: no name is among both.
    pub effects_databases: BTreeMap<Arc<str>, (Arc<ProviderPreset>, EffectsDatabaseSettings)>,
    /// Where escalations go; `None` puts them on the record alone.
    pub escalation: Option<EscalationSettings>,
    /// Other places that escalations of single kinds go to, by name.
    pub escalations: BTreeMap<Arc<str>, EscalationSettings>,
    /// Where `watch` tells what is new; `None` tells nobody but its output.
    pub watch: Option<WebhookSettings>,
    /// Databases that were named without a configuration and could not be looked into.
    pub unread: Vec<ConfigFault>,
    /// How the console behaves.
    pub console: ConsoleSettings,
    /// Every preset there is.
    pub catalogue: Catalogue,
    /// The configuration file; `None` without one.
    pub file: Option<PathBuf>,
}

impl Settings {
    /// The preset of a configured provider, however it is asked.
    pub fn provider_preset(&self, name: &str) -> Option<&Arc<ProviderPreset>> {
        let over_http = self.providers.get(name).map(|(preset, _)| preset);
        over_http.or_else(|| self.effects_databases.get(name).map(|(preset, _)| preset))
    }
}

/// One database that is read for effects.
#[derive(Debug, Clone)]
pub struct EffectsDatabaseSettings {
    /// Where it is.
    pub database: Database,
    /// How far behind a replica may be for an absence there to count; `None` where only the primary's counts.
    pub replica_lag_max: Option<TimeDelta>,
    /// Another pace than the preset's, in look-ups a second.
    pub pace_per_second: Option<f64>,
    /// Another bound than the preset's on checks in flight.
    pub in_flight_max: Option<usize>,
    /// Another bound than the preset's on how long one whole check may take.
    pub check_max: Option<Duration>,
    /// What single operations do otherwise, by name.
    pub operations: BTreeMap<String, OperationSettings>,
}

/// How the console behaves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConsoleSettings {
    /// How often it reads the sources again by itself; `None` is only when asked.
    pub refresh: Option<TimeDelta>,
    /// Other keys for actions, by their names. The console knows which actions there are.
    pub keys: BTreeMap<String, Vec<String>>,
    /// Views, by name. The console knows which orders and groups there are.
    pub views: BTreeMap<String, ViewEntry>,
}

/// One source.
#[derive(Debug, Clone)]
pub struct SourceSettings {
    /// Its name.
    pub name: String,
    /// Where its database is.
    pub database: Database,
    /// How it is read.
    pub preset: SourcePreset,
}
