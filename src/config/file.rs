//! What a configuration file may say. Everything is optional here; `check` says what is missing.

use crate::domain::money::Unit;
use crate::domain::policy::Risk;
use crate::preset::source::file::SourceFile;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A configuration as it is written.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// The operator's name, where neither `--operator` nor `$UNSTUCK_OPERATOR` says it.
    pub operator: Option<String>,
    /// Whether a second person may approve from the proposer's own account; not where it is not said.
    pub approvals_from_same_login: Option<bool>,
    /// The folder with the operator's own presets; `presets` beside the file where it exists.
    pub presets: Option<String>,
    /// Where the audit is.
    pub audit: Option<AuditFile>,
    /// Where receipts go.
    pub receipts: Option<ReceiptsFile>,
    /// Where jobs keep their state.
    #[serde(default)]
    pub sources: Vec<SourceEntry>,
    /// The policies, by kind.
    #[serde(default)]
    pub kinds: BTreeMap<String, KindEntry>,
    /// Who is asked.
    #[serde(default)]
    pub providers: BTreeMap<String, ProviderEntry>,
    /// Where escalations go.
    pub escalation: Option<EscalationEntry>,
}

/// Where the audit is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditFile {
    /// The file.
    pub path: String,
    /// The file with the key that signs checkpoints; made where it is not there.
    pub key: Option<String>,
    /// The file of checkpoints; beside the audit where it is not said.
    pub checkpoints: Option<String>,
}

/// Where receipts go.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptsFile {
    /// The file.
    pub path: String,
}

/// One source.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceEntry {
    /// Its name.
    pub name: Option<String>,
    /// Its database: `sqlite://PATH`, `postgres://USER@HOST/DATABASE`, `mysql://USER@HOST/DATABASE`.
    pub url: Option<String>,
    /// The environment variable with the database's password.
    pub secret_env: Option<String>,
    /// The file with that password.
    pub secret_file: Option<String>,
    /// The preset it is read through.
    pub preset: Option<String>,
    /// A mapping of its own, in the words of a preset file.
    pub mapping: Option<SourceFile>,
    /// Another schema than the preset's.
    pub schema: Option<String>,
    /// Another table than the preset's.
    pub table: Option<String>,
    /// The kind of its items.
    pub kind: Option<String>,
    /// The column that says an item's kind.
    pub kind_column: Option<String>,
    /// A table of ours in the same database that takes each decision's id.
    pub decisions_table: Option<String>,
}

/// One kind's policy.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindEntry {
    /// How much a wrong decision costs.
    pub risk: Option<Risk>,
    /// After how long a running item is stuck, or `never`.
    pub stuck_after: Option<String>,
    /// `provider.operation`.
    pub check: Option<String>,
    /// Template of what the provider knows the item by.
    pub reference: Option<String>,
    /// Template of the idempotency key that the workers send.
    pub idempotency_key: Option<String>,
    /// Template of the amount the job asked for.
    pub amount: Option<String>,
    /// Template of the currency the job asked for.
    pub currency: Option<String>,
    /// In which unit the job writes amounts.
    pub amount_unit: Option<Unit>,
    /// How old evidence may be when a decision uses it.
    pub evidence_age_max: Option<String>,
    /// How many persons a decision that writes takes: 1 or 2.
    pub approvals: Option<i64>,
    /// How long a proposal waits for its second person.
    pub proposal_lasts: Option<String>,
    /// Payload fields to mask.
    #[serde(default)]
    pub mask: Vec<String>,
}

/// One provider.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderEntry {
    /// Its preset; the provider's own name where it is not said.
    pub preset: Option<String>,
    /// Where it is.
    pub base_url: Option<String>,
    /// The environment variable with its secret.
    pub secret_env: Option<String>,
    /// The file with its secret.
    pub secret_file: Option<String>,
    /// The program that writes its secret, and its arguments.
    pub secret_command: Option<Vec<String>>,
    /// What the preset leaves to fill in.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// A proxy to go through.
    pub proxy: Option<String>,
    /// A file of certificates to trust instead of the machine's.
    pub certificates: Option<String>,
    /// A file with a certificate and its key to show the provider.
    pub client_certificate: Option<String>,
    /// Another pace than the preset's, in requests a second.
    pub pace_per_second: Option<f64>,
    /// Another bound on checks in flight.
    pub in_flight_max: Option<usize>,
    /// What single operations do otherwise.
    #[serde(default)]
    pub operations: BTreeMap<String, OperationEntry>,
}

/// What one operation does otherwise than its preset says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationEntry {
    /// How long after the last attempt an absence means something.
    pub settle: Option<String>,
    /// How far back the look-up can see; `unlimited` only when it is.
    pub lookback: Option<String>,
    /// How long the provider remembers an idempotency key.
    pub key_ttl: Option<String>,
    /// A reference whose effect is known to be there.
    pub canary: Option<String>,
    /// A pace of its own, in requests a second.
    pub pace_per_second: Option<f64>,
    /// A bound of its own on checks in flight.
    pub in_flight_max: Option<usize>,
}

/// Where escalations go.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EscalationEntry {
    /// The address that takes a POST.
    pub url: Option<String>,
    /// The environment variable with the secret that templates call `secret`.
    pub secret_env: Option<String>,
    /// The file with that secret.
    pub secret_file: Option<String>,
    /// Headers, as templates: `Authorization = "Bearer {{ secret }}"`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The header that makes a repeat harmless; `Idempotency-Key` where it is not said.
    pub dedup_header: Option<String>,
    /// The body, as templates; all fields of the notice where it is not said.
    pub body: Option<toml::Table>,
}
