//! What a provider preset's file may say. Everything optional that can be; unknown keys are refused.

use crate::domain::moment::TimeFormat;
use crate::domain::money::Unit;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Reads the file's text.
pub(super) fn parse(text: &str) -> Result<PresetFile, String> {
    toml::from_str(text).map_err(|fault| crate::preset::catalogue::one_line(&fault, text))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetFile {
    #[serde(rename = "type")]
    pub kind: FileType,
    pub name: String,
    pub title: String,
    #[serde(default)]
    pub verified_with: Vec<String>,
    pub verified_on: Option<String>,
    pub source: Option<String>,
    pub base_url: Option<String>,
    pub auth: Option<AuthFile>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    #[serde(default)]
    pub optional_variables: BTreeMap<String, String>,
    #[serde(default)]
    pub limits: LimitsFile,
    pub pace_per_second: Option<f64>,
    pub in_flight_max: Option<usize>,
    #[serde(default)]
    pub operations: BTreeMap<String, OperationFile>,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileType {
    Provider,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuthFile {
    pub kind: AuthKind,
    pub user: Option<String>,
    pub secret_is: Option<BasicSecret>,
    pub header: Option<String>,
    pub prefix: Option<String>,
    pub token_url: Option<String>,
    pub scope: Option<String>,
    pub service: Option<String>,
    pub region: Option<String>,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum AuthKind {
    None,
    Bearer,
    Basic,
    Header,
    ClientCredentials,
    AwsSigv4,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum BasicSecret {
    User,
    Password,
    UserAndPassword,
}

#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "a limit's name ends in what it is, as everywhere")]
pub(super) struct LimitsFile {
    pub body_bytes_max: Option<usize>,
    pub bodies_kept_bytes_max: Option<usize>,
    pub pages_max: Option<usize>,
    pub tries_max: Option<u32>,
    pub request_seconds_max: Option<f64>,
    pub check_seconds_max: Option<f64>,
}

#[derive(Debug, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct OperationFile {
    pub title: Option<String>,
    pub unanswerable: Option<String>,
    pub settle: Option<String>,
    pub lookback: Option<String>,
    pub key_ttl: Option<String>,
    pub pace_per_second: Option<f64>,
    pub in_flight_max: Option<usize>,
    pub method: Option<MethodFile>,
    #[serde(default)]
    pub read_only_post: bool,
    pub read_only_reason: Option<String>,
    pub path: Option<String>,
    #[serde(default)]
    pub path_keeps_slashes: bool,
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    #[serde(default)]
    pub window: BTreeMap<String, String>,
    pub window_margin: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    pub body: Option<toml::Table>,
    #[serde(default)]
    pub success: Vec<TestFile>,
    #[serde(default)]
    pub absence: AbsenceFile,
    pub absence_when: Option<Vec<TestFile>>,
    pub absence_confirm: Option<ConfirmFile>,
    pub effects: Option<EffectsFile>,
    pub statuses: Option<StatusesFile>,
    pub paging: Option<PagingFile>,
    pub listing: Option<ListingFile>,
    pub sql: Option<SqlFile>,
}

/// Where effects are read by SQL.
#[derive(Debug, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct SqlFile {
    pub schema: Option<String>,
    pub table: Option<String>,
    pub select: Option<String>,
    pub id: String,
    pub reference: String,
    pub reference_chars_max: Option<usize>,
    pub status: Option<String>,
    pub status_fixed: Option<String>,
    pub amount: Option<String>,
    pub unit: Option<Unit>,
    pub currency: Option<String>,
    pub currency_fixed: Option<String>,
    pub time: Option<String>,
    pub time_format: Option<TimeFormat>,
    pub time_zone: Option<String>,
    pub link: Option<String>,
}

/// What must answer before a 404 is an absence.
#[derive(Debug, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfirmFile {
    pub method: Option<MethodFile>,
    pub path: String,
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    #[serde(default)]
    pub success: Vec<TestFile>,
}

/// What a listing says otherwise than its operation.
#[derive(Debug, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct ListingFile {
    pub method: Option<MethodFile>,
    #[serde(default)]
    pub read_only_post: bool,
    pub read_only_reason: Option<String>,
    pub path: Option<String>,
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    #[serde(default)]
    pub window: BTreeMap<String, String>,
    pub window_margin: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    pub body: Option<toml::Table>,
    pub success: Option<Vec<TestFile>>,
    pub effects: Option<EffectsFile>,
    pub statuses: Option<StatusesFile>,
    pub paging: Option<PagingFile>,
    pub page_items: Option<usize>,
    pub order: Option<OrderFile>,
    pub pages_max: Option<usize>,
    pub seconds_max: Option<f64>,
    pub bytes_max: Option<usize>,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum OrderFile {
    NewestFirst,
    OldestFirst,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum MethodFile {
    Get,
    Head,
    Post,
}

#[derive(Debug, Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum AbsenceFile {
    #[default]
    EmptyList,
    #[serde(rename = "status_404")]
    Status404,
    Never,
}

#[derive(Debug, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct TestFile {
    pub path: String,
    pub exists: Option<bool>,
    pub equals: Option<toml::Value>,
}

#[derive(Debug, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of the file")]
pub(super) struct EffectsFile {
    pub list: Option<String>,
    #[serde(default)]
    pub list_left_out_when_empty: bool,
    pub one: Option<String>,
    pub each: Option<String>,
    pub id: String,
    pub reference: Option<String>,
    #[serde(default)]
    pub reference_in_item: bool,
    #[serde(default)]
    pub reference_in_address: bool,
    #[serde(default)]
    pub reference_may_be_missing: bool,
    pub reference_chars_max: Option<usize>,
    pub status: Option<String>,
    pub status_fixed: Option<String>,
    pub amount: Option<String>,
    pub currency: Option<String>,
    pub currency_fixed: Option<String>,
    pub unit: Option<Unit>,
    pub time: Option<String>,
    pub time_format: Option<TimeFormatFile>,
    pub time_zone: Option<String>,
    pub link: Option<String>,
    pub link_path: Option<String>,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum TimeFormatFile {
    Iso,
    EpochS,
    EpochMs,
    EpochUs,
    EpochNs,
    Rfc2822,
}

#[derive(Debug, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusesFile {
    #[serde(default)]
    pub happened: Vec<String>,
    #[serde(default)]
    pub pending: Vec<String>,
    #[serde(default)]
    pub failed: Vec<String>,
}

#[derive(Debug, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct PagingFile {
    pub kind: PagingKind,
    pub parameter: Option<String>,
    #[serde(default)]
    pub parameter_in_body: bool,
    pub id: Option<String>,
    pub next: Option<String>,
    #[serde(default)]
    pub next_may_be_missing: bool,
    pub header: Option<String>,
    pub first: Option<u64>,
    pub more: Option<String>,
    pub total: Option<String>,
    pub total_header: Option<String>,
    pub pages: Option<String>,
    #[serde(default)]
    pub until_empty: bool,
    pub items_max: Option<usize>,
    pub page_items: Option<usize>,
}

#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum PagingKind {
    None,
    LastId,
    Token,
    HeaderToken,
    Page,
    Offset,
    NextUrl,
    LinkHeader,
}
