//! MySQL and MariaDB sources. A few connections are kept for reading, each in a session that cannot write; a decision has a
//! connection of its own.

mod apply;
mod conn;
mod connect;
mod effects;
mod examine;
mod fault;
mod look;
mod query;
mod value;

pub use effects::MysqlEffects;

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
use std::sync::Arc;
use uuid::Uuid;

/// One job system's tables in a MySQL or MariaDB database, read through its preset.
#[derive(Debug)]
pub struct MysqlSource {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    known: Known,
    place: Place,
}

impl MysqlSource {
    /// A source of a name over a database. Nothing is connected yet.
    pub fn new(name: &str, address: Address, preset: SourcePreset) -> Self {
        let known = Known::new(Engine::Mysql, preset, name, address.shown.clone(), address.shown.clone());
        Self { inner: Arc::new(Inner { known, place: Place::new(address) }) }
    }
}

/// The tables and views of a database.
///
/// # Errors
/// What keeps it from being read.
pub async fn tables_of(address: Address) -> Result<Vec<Table>, SourceFault> {
    let place = Place::new(address);
    let mut lent = place.to_read().await?;
    let tables = look::tables(&mut lent, None).await.map_err(|fault| place.fault(&fault));
    lent.ended(tables)
}

#[async_trait]
impl Source for MysqlSource {
    fn facts(&self) -> Arc<SourceFacts> {
        self.inner.known.facts()
    }

    async fn scan(&self, wanted: &Wanted, after: Option<Cursor>) -> Result<Page, SourceFault> {
        let mut lent = self.inner.place.to_read().await?;
        let page = query::scan(&self.inner, &mut lent, wanted, after.as_ref()).await;
        lent.ended(page)
    }

    async fn read(&self, key: &str) -> Result<Option<Reading>, SourceFault> {
        let mut lent = self.inner.place.to_read().await?;
        let reading = query::read(&self.inner, &mut lent, key).await;
        lent.ended(reading)
    }

    async fn payload(&self, key: &ItemKey, bytes_max: usize) -> Result<Option<Payload>, SourceFault> {
        let mut lent = self.inner.place.to_read().await?;
        let payload = query::payload(&self.inner, &mut lent, key, bytes_max).await;
        lent.ended(payload)
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
        let mut lent = self.inner.place.to_read().await?;
        let has = query::has_decision(&self.inner, &mut lent, decision).await;
        lent.ended(has)
    }

    async fn examine(&self) -> Vec<Examined> {
        examine::examine(&self.inner).await
    }
}
