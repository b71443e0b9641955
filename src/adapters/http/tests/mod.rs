//! The whole adapter against servers on this machine.

mod confirm;
mod faults;
mod format;
mod listing;
mod paging;
mod server;
mod settings;
mod target;
mod tls;
mod token;
mod webhook;

use super::{Endpoint, Environment, HttpProvider};
use crate::domain::evidence::{Answer, Clocks, Effect, FaultKind};
use crate::ports::clock::Clock;
use crate::ports::provider::{Provider, Question, Told};
use crate::preset::provider::{ProviderPreset, ProviderSettings, SecretPlace};
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use url::Url;
use uuid::Uuid;

/// The secret of all tests.
const SECRET: &str = "sk_test_0123/abc+def";

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> DateTime<Utc> {
        "2026-11-30T08:00:00Z".parse().unwrap()
    }

    fn new_id(&self) -> Uuid {
        Uuid::nil()
    }

    fn process(&self) -> u32 {
        1
    }

    fn lives(&self, _process: u32) -> Option<bool> {
        None
    }
}

/// The preset of most tests: a list and an address by own id, with small limits.
const PRESET: &str = r#"
type = "provider"
name = "test"
title = "Test"
pace_per_second = 1000
auth = { kind = "bearer" }
[limits]
body_bytes_max = 2000
pages_max = 3
tries_max = 3
request_seconds_max = 0.6
check_seconds_max = 5

[operations.list]
settle = "1m"
lookback = "30d"
path = "/v1/charges"
query = { reference = "{{ reference }}" }
window = { since = "{{ from_epoch_s }}" }
success = [{ path = "$.error", exists = false }]
effects = { list = "$.data", id = "$.id", reference = "$.reference", status = "$.status" }
statuses = { happened = ["succeeded"], failed = ["failed"] }
paging = { kind = "last_id", parameter = "after", more = "$.more" }

[operations.one]
settle = "1m"
lookback = "unlimited"
key_ttl = "1h"
path = "/v1/charges/{{ reference }}"
absence = "status_404"
absence_when = [{ path = "$.error", equals = "no_such_charge" }]
effects = { one = "$", id = "$.id", reference = "$.reference", status = "$.status" }
statuses = { happened = ["succeeded"] }
paging = { kind = "none" }

[operations.urls]
settle = "1m"
lookback = "30d"
path = "/v1/charges"
effects = { list = "$.data", id = "$.id", reference = "$.reference", status = "$.status" }
statuses = { happened = ["succeeded"] }
paging = { kind = "next_url", next = "$.next" }

[operations.silent]
unanswerable = "an incoming webhook keeps nothing"
"#;

fn environment() -> Environment {
    Arc::new(|name| (name == "TEST_SECRET").then(|| SECRET.to_owned()))
}

fn settings(base: &str) -> ProviderSettings {
    let mut settings = ProviderSettings::new(Url::parse(base).unwrap());
    settings.secret = Some(SecretPlace::Env("TEST_SECRET".to_owned()));
    settings
}

/// A provider with waits of a few milliseconds.
fn provider_of(preset: &str, settings: &ProviderSettings, operation: &str) -> HttpProvider {
    let mut preset = ProviderPreset::parse(preset).unwrap();
    preset.limits.patience.wait_first = Duration::from_millis(5);
    preset.limits.patience.wait_max = Duration::from_millis(20);
    let endpoint = Arc::new(Endpoint::build(&preset, settings, environment()).unwrap());
    let name = format!("test.{operation}");
    HttpProvider::build(&name, &preset, operation, settings, endpoint, Arc::new(FixedClock)).unwrap()
}

fn provider(base: &str, operation: &str) -> HttpProvider {
    provider_of(PRESET, &settings(base), operation)
}

fn question() -> Question {
    Question { reference: "r-1".to_owned(), from: None, fields: BTreeMap::new(), mask: Arc::default() }
}

/// What an answer came to, short: the ids and statuses of its effects, or the kind of its fault.
fn told(answer: &Answer) -> Result<Vec<String>, FaultKind> {
    match answer {
        Answer::Complete { effects, .. } => {
            Ok(effects.iter().map(|e: &Effect| format!("{}:{}", e.id, e.status)).collect())
        }
        Answer::Fault(fault) => Err(fault.kind),
    }
}

/// What each try of each request came to: its status and fault.
fn tries(told: &Told) -> Vec<Vec<(Option<u16>, Option<FaultKind>)>> {
    let of = |asked: &crate::domain::evidence::Asked| {
        asked.tries.iter().map(|one| (one.status, one.fault)).collect()
    };
    told.evidence.asked.iter().map(of).collect()
}

fn charge(id: &str, reference: &str) -> String {
    format!(r#"{{"id":"{id}","reference":"{reference}","status":"succeeded"}}"#)
}

fn page(charges: &[String], more: bool) -> String {
    format!(r#"{{"data":[{}],"more":{more}}}"#, charges.join(","))
}
