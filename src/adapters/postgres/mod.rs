//! PostgreSQL sources. A few connections are kept for reading, each in a transaction that cannot write; a decision has a
//! connection of its own.

mod apply;
pub(in crate::adapters) mod client;
pub(in crate::adapters) mod connect;
mod effects;
mod examine;
pub(in crate::adapters) mod fault;
mod going;
mod look;
mod passfile;
mod query;
mod tls;
mod value;

pub use effects::PostgresEffects;

use crate::adapters::sql::{self, Address, Known};
use crate::domain::decision::Choice;
use crate::domain::item::ItemKey;
use crate::ports::source::{
    Applied, Change, Cursor, Examined, Page, Payload, PlannedStatement, Reading, Source, SourceFacts,
    SourceFault, Unsupported, Wanted,
};
use crate::preset::source::{Engine, SourcePreset, Table};
use async_trait::async_trait;
use connect::Place;
use going::Waiting;
use std::sync::Arc;
use uuid::Uuid;

/// One job system's tables in a PostgreSQL database, read through its preset.
#[derive(Debug)]
pub struct PostgresSource {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    known: Known,
    place: Place,
    waiting: Waiting,
}

impl PostgresSource {
    /// A source of a name over a database. Nothing is connected yet.
    pub fn new(name: &str, address: Address, preset: SourcePreset) -> Self {
        let (shown, whole) = (address.shown.clone(), address.shown.clone());
        let known = Known::new(Engine::Postgres, preset, name, shown, whole);
        Self { inner: Arc::new(Inner { known, place: Place::new(address), waiting: Waiting::default() }) }
    }
}

/// The tables and views of a database.
///
/// # Errors
/// What keeps it from being read.
pub async fn tables_of(address: Address) -> Result<Vec<Table>, SourceFault> {
    let place = Place::new(address);
    let lent = place.to_read().await?;
    let tables = look::tables(&lent, None).await.map_err(|fault| place.fault(&fault))?;
    lent.done().await;
    Ok(tables)
}

#[async_trait]
impl Source for PostgresSource {
    fn facts(&self) -> Arc<SourceFacts> {
        self.inner.known.facts()
    }

    async fn scan(&self, wanted: &Wanted, after: Option<Cursor>) -> Result<Page, SourceFault> {
        going::scan(&self.inner, wanted, after.as_ref()).await
    }

    async fn read(&self, key: &str) -> Result<Option<Reading>, SourceFault> {
        let lent = self.inner.place.to_read().await?;
        let reading = query::read(&self.inner, &lent, key).await;
        lent.ended(reading).await
    }

    async fn payload(&self, key: &ItemKey, bytes_max: usize) -> Result<Option<Payload>, SourceFault> {
        let lent = self.inner.place.to_read().await?;
        let payload = query::payload(&self.inner, &lent, key, bytes_max).await;
        lent.ended(payload).await
    }

    fn plan(&self, choice: Choice, change: &Change) -> Result<Vec<PlannedStatement>, Unsupported> {
        self.inner.known.plan(choice, change)
    }

    async fn apply(&self, choice: Choice, change: &Change) -> Result<Applied, SourceFault> {
        let (inner, change) = (Arc::clone(&self.inner), change.clone());
        let work = async move { apply::apply(&inner, choice, &change).await };
        sql::to_its_end(&self.inner.known.facts().place, work).await
    }

    async fn has_decision(&self, decision: Uuid) -> Result<Option<bool>, SourceFault> {
        let lent = self.inner.place.to_read().await?;
        let has = query::has_decision(&self.inner, &lent, decision).await;
        lent.ended(has).await
    }

    async fn examine(&self) -> Vec<Examined> {
        examine::examine(&self.inner).await
    }
}
