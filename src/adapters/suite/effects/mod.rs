//! Effects that are rows of a table, read on every engine that is there.

mod listing;
mod places;
mod references;
mod values;

use super::bench::Db;
use crate::adapters::sql::effects::{SharedDatabase, SqlProvider};
use crate::adapters::system::SystemClock;
use crate::domain::attempt::Attempts;
use crate::domain::evidence::{Answer, Effect, FaultKind};
use crate::domain::verdict::{Verdict, judge};
use crate::ports::provider::{Provider, Question, Told};
use crate::preset::provider::{OperationSettings, ProviderPreset};
use crate::preset::source::Engine::{self, Mysql, Postgres, Sqlite};
use chrono::{TimeDelta, Utc};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A ledger table and a row of somebody else's.
const LEDGER: &str = "
CREATE TABLE ledger (id {int} PRIMARY KEY, ref {name}, state {text}, amount DECIMAL(20, 4), cur {text}, at {moment});
CREATE INDEX ledger_ref ON ledger (ref);
INSERT INTO ledger VALUES (1, 'somebody-elses', 'booked', 7, 'EUR', '2026-05-04 10:00:00');";

/// How it is read.
const COLUMNS: &str = r#"
table = "ledger"
id = "id"
reference = "ref"
status = "state"
"#;

const STATUSES: &str = r#"
[operations.entry.statuses]
happened = ["booked"]
pending = ["new"]
failed = ["rejected"]
"#;

/// A preset of ten lines around how its rows are read.
fn preset(columns: &str) -> ProviderPreset {
    let text = format!(
        "type = \"provider\"\nname = \"mine\"\ntitle = \"Mine\"\n[operations.entry]\nsettle = \"5m\"\n\
         lookback = \"90d\"\n[operations.entry.sql]\n{columns}\n{STATUSES}"
    );
    ProviderPreset::parse(&text).unwrap()
}

/// The operation over a database.
fn provider(db: &Db, columns: &str, replica_lag_max: Option<TimeDelta>) -> SqlProvider {
    built(db, columns, replica_lag_max, &OperationSettings::default())
}

/// The same with a reference that is known to be there.
fn with_canary(db: &Db, columns: &str, canary: &str) -> SqlProvider {
    let otherwise = OperationSettings { canary: Some(canary.to_owned()), ..OperationSettings::default() };
    built(db, columns, None, &otherwise)
}

fn built(db: &Db, columns: &str, lag_max: Option<TimeDelta>, otherwise: &OperationSettings) -> SqlProvider {
    let shared = SharedDatabase::new(db.effects(), 100_000.0, 4, lag_max, None);
    SqlProvider::build(
        "mine.entry",
        &preset(columns),
        "entry",
        otherwise,
        Arc::new(shared),
        Arc::new(SystemClock),
    )
    .unwrap()
}

fn question(reference: &str) -> Question {
    Question { reference: reference.to_owned(), from: None, fields: BTreeMap::new(), mask: Arc::default() }
}

async fn told(provider: &dyn Provider, reference: &str) -> Told {
    provider.ask(&question(reference)).await
}

/// The effects of a reference.
async fn effects(provider: &dyn Provider, reference: &str) -> Vec<Effect> {
    match told(provider, reference).await.answer {
        Answer::Complete { effects, .. } => effects,
        Answer::Fault(fault) => panic!("{reference:?}: {fault}"),
    }
}

/// The fault of a reference.
async fn fault(provider: &dyn Provider, reference: &str) -> (FaultKind, String) {
    match told(provider, reference).await.answer {
        Answer::Fault(fault) => (fault.kind, fault.detail),
        Answer::Complete { effects, .. } => panic!("{reference:?}: {effects:?}"),
    }
}

/// The verdict on an item that was tried an hour ago.
async fn verdict(provider: &dyn Provider, reference: &str) -> Verdict {
    let now = now();
    let attempts = Attempts { first: Some(now - TimeDelta::hours(1)), last: Some(now - TimeDelta::hours(1)) };
    judge(told(provider, reference).await.answer, provider.facts().clocks, attempts, None, now).verdict
}

fn now() -> chrono::DateTime<Utc> {
    use crate::ports::clock::Clock;
    SystemClock.now()
}
