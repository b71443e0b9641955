//! What the program uses: everything present, everything checked.

use super::{ConfigFault, Database};
use crate::config::kind::Kind;
use crate::preset::catalogue::Catalogue;
use crate::preset::provider::{ProviderPreset, ProviderSettings};
use crate::preset::source::SourcePreset;
use crate::preset::webhook::WebhookSettings;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

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
    /// The sources, in order.
    pub sources: Vec<SourceSettings>,
    /// The kinds with a policy of their own.
    pub kinds: BTreeMap<Arc<str>, Arc<Kind>>,
    /// Who is asked, by name.
    pub providers: BTreeMap<Arc<str>, (Arc<ProviderPreset>, ProviderSettings)>,
    /// Where escalations go; `None` puts them on the record alone.
    pub escalation: Option<WebhookSettings>,
    /// Databases that were named without a configuration and could not be looked into.
    pub unread: Vec<ConfigFault>,
    /// Every preset there is.
    pub catalogue: Catalogue,
    /// The configuration file; `None` without one.
    pub file: Option<PathBuf>,
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
