//! What a configuration file may say. Everything is optional here; `check` says what is missing.

use crate::domain::moment::TimeFormat;
use crate::domain::money::Unit;
use crate::domain::policy::Risk;
use crate::preset::source::file::{OneOrMore, SourceFile};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

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
    /// Where receipts go, or are read.
    pub receipts: Option<ReceiptsEntry>,
    /// Lists of what happened around the jobs.
    #[serde(default)]
    pub marks: Vec<MarksEntry>,
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
    /// Other places that escalations of single kinds go to, by name.
    #[serde(default)]
    pub escalations: BTreeMap<String, EscalationEntry>,
    /// Where `watch` tells what is new.
    pub watch: Option<EscalationEntry>,
    /// How often the console reads the sources again by itself (`30s`); not at all where it is not said.
    pub refresh: Option<String>,
    /// Other keys for the console's actions, by their names.
    #[serde(default)]
    pub keys: BTreeMap<String, Vec<String>>,
    /// The console's views, by name.
    #[serde(default)]
    pub views: BTreeMap<String, ViewEntry>,
}

/// One view of the console: what is shown, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewEntry {
    /// The filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// The order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
    /// Whether the order is turned round.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reversed: bool,
    /// What findings are grouped by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// Where the audit is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditFile {
    /// The file.
    pub path: Option<String>,
    /// A PostgreSQL database instead, for many operators: `postgres://USER@HOST/DATABASE`.
    pub database: Option<String>,
    /// The environment variable with the database's password.
    pub secret_env: Option<String>,
    /// The file with that password.
    pub secret_file: Option<String>,
    /// Files with the public keys of the operators who sign, for `audit verify`.
    #[serde(default)]
    pub public_keys: Vec<String>,
    /// The file with the key that signs checkpoints; made where it is not there.
    pub key: Option<String>,
    /// The file of checkpoints; beside the audit where it is not said, or beside the key where that is a database.
    pub checkpoints: Option<String>,
}

/// Receipts: `[receipts]` is where ours go, `[[receipts]]` are logs to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptsEntry {
    /// Where ours go.
    Ours(ReceiptsFile),
    /// Logs to read; one of them may take ours too.
    Logs(Vec<LogEntry>),
}

/// Where receipts go.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptsFile {
    /// The file.
    pub path: String,
}

/// One log of receipts that an application writes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogEntry {
    /// The file; `*` and `?` in its name stand for any characters.
    pub path: String,
    /// What it is called in a timeline; the file's name where it is not said.
    pub name: Option<String>,
    /// The source whose items it tells of; any where it is not said.
    pub source: Option<String>,
    /// Where each part of a line is, where it has another name than the usual ones.
    #[serde(default)]
    pub fields: BTreeMap<String, OneOrMore>,
    /// How it spells times; ISO 8601 where it is not said.
    pub time_format: Option<TimeFormat>,
    /// The zone of times that name none; UTC where it is not said.
    pub time_zone: Option<String>,
    /// Whether our own receipts go there too.
    #[serde(default)]
    pub write: bool,
}

/// One list of marks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarksEntry {
    /// The file.
    pub path: String,
    /// What it is called in a timeline; the file's name where it is not said.
    pub name: Option<String>,
}

impl<'de> Deserialize<'de> for ReceiptsEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableOrList;
        impl<'de> Visitor<'de> for TableOrList {
            type Value = ReceiptsEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("[receipts] with where ours go, or [[receipts]] with logs to read")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ReceiptsEntry, A::Error> {
                ReceiptsFile::deserialize(MapAccessDeserializer::new(map)).map(ReceiptsEntry::Ours)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<ReceiptsEntry, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(ReceiptsEntry::Logs)
            }
        }
        deserializer.deserialize_any(TableOrList)
    }
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
    /// How long the workers wait for the provider's answer.
    pub call_timeout: Option<String>,
    /// After how long the queue gives an item to somebody else.
    pub visibility_limit: Option<String>,
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
    /// Which of the named places its escalations go to; the usual one where it is not said.
    pub escalate_to: Option<String>,
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
    /// Its database, where its preset reads one: an address as a source has it.
    pub database: Option<String>,
    /// How far behind a replica may be for an absence there to count; where it is not said, only the primary's counts.
    pub replica_lag_max: Option<String>,
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
    /// Another bound on how long one whole check may take, in seconds.
    pub check_seconds_max: Option<f64>,
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

/// Where escalations, or what a watch tells, go.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EscalationEntry {
    /// The preset of the system that takes them.
    pub preset: Option<String>,
    /// Where that system is, where its preset does not say it.
    pub base_url: Option<String>,
    /// What the preset leaves to fill in.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// The program that writes the secret, and its arguments.
    pub secret_command: Option<Vec<String>>,
    /// A proxy to go through.
    pub proxy: Option<String>,
    /// A file of certificates to trust instead of the machine's.
    pub certificates: Option<String>,
    /// The address that takes a POST, where no preset is named.
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
