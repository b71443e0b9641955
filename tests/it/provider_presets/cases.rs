//! What a `cases.toml` holds.

use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The cases of one preset.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    /// What a configuration fills in.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// A case for each operation that can be asked.
    #[serde(default)]
    pub operations: BTreeMap<String, Case>,
}

/// One operation: what must be asked, and what must be read from which answer (a file beside it).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Our reference.
    pub reference: String,
    /// The item's fields that the request uses.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// The requests in order, their queries decoded: one, or those for three pages.
    pub requests: Vec<String>,
    /// The preset's own headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The bodies of the requests, for a POST.
    #[serde(default)]
    pub bodies: Vec<String>,
    /// An answer with one effect of ours.
    pub one: String,
    /// That effect: `id | status | money | time`.
    pub effect: String,
    /// Where its status is; empty where existing is the status.
    #[serde(default)]
    pub status_at: Vec<String>,
    #[serde(default)]
    pub happened: BTreeSet<String>,
    #[serde(default)]
    pub pending: BTreeSet<String>,
    #[serde(default)]
    pub failed: BTreeSet<String>,
    /// An answer without an effect of ours.
    pub absent: String,
    /// Its HTTP status, where it is not 200.
    pub absent_status: Option<u16>,
    #[serde(default = "not_found")]
    pub absent_verdict: String,
    /// What is asked before that counts, where the preset says so.
    pub confirm: Option<String>,
    /// An error inside a 200, where the provider has such.
    pub error: Option<String>,
    /// Where it has not: what it sends beside a 4xx or 5xx, for the gateway between that makes a 200 of it.
    pub refused: Option<String>,
    /// Changes that make the effect one in a currency without decimals.
    pub zero_decimal: Option<ZeroDecimal>,
    /// Why there is no such currency.
    pub no_zero_decimal: Option<String>,
    /// The first request that reads the whole list, where the preset says how; its pages are those below.
    pub listing: Option<String>,
    pub listing_body: Option<String>,
    /// Three pages, and the ids of our effects on them.
    #[serde(default)]
    pub pages: Vec<String>,
    #[serde(default)]
    pub page_headers: Vec<BTreeMap<String, String>>,
    #[serde(default)]
    pub pages_ids: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZeroDecimal {
    pub set: BTreeMap<String, Value>,
    pub money: String,
}

fn not_found() -> String {
    "not_found".to_owned()
}

fn folder(preset: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/providers").join(preset)
}

impl Cases {
    /// The cases of a preset; none where it has no file, because nothing of it can be asked.
    pub fn read(preset: &str) -> Self {
        match std::fs::read_to_string(folder(preset).join("cases.toml")) {
            Ok(text) => toml::from_str(&text).unwrap_or_else(|fault| panic!("{preset}: {fault}")),
            Err(_) => Self { variables: BTreeMap::new(), operations: BTreeMap::new() },
        }
    }
}

/// An answer of a preset's folder.
pub fn json(preset: &str, name: &str) -> Value {
    let path = folder(preset).join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

/// Puts another value where there is one.
pub fn set(document: &mut Value, pointer: &str, value: Value) {
    *document.pointer_mut(pointer).unwrap_or_else(|| panic!("nothing at {pointer}")) = value;
}
