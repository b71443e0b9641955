//! SQLite sources. Every call opens the file anew, so that a file that was replaced is noticed and no lock outlives a call.

mod apply;
mod cells;
mod detect;
mod effects;
mod examine;
mod fault;
mod open;
mod query;

pub use detect::tables_of;
pub use effects::SqliteEffects;

use crate::adapters::sql::Known;
use crate::domain::decision::Choice;
use crate::domain::item::ItemKey;
use crate::ports::source::{
    Applied, Change, Cursor, Examined, Page, Payload, PlannedStatement, Reading, Source, SourceFacts,
    SourceFault, SourceFaultKind, Unsupported, Wanted,
};
use crate::preset::source::{Engine, SourcePreset};
use async_trait::async_trait;
use open::Place;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use uuid::Uuid;

/// One job system's tables in a SQLite file, read through its preset.
#[derive(Debug)]
pub struct SqliteSource {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    known: Known,
    place: Place,
}

impl SqliteSource {
    /// A source of a name over a file. Nothing is opened yet.
    pub fn new(name: &str, path: PathBuf, preset: SourcePreset) -> Self {
        let whole_place = std::path::absolute(&path).as_ref().unwrap_or(&path).display().to_string();
        let known = Known::new(Engine::Sqlite, preset, name, path.display().to_string(), whole_place);
        Self { inner: Arc::new(Inner { known, place: Place::new(path) }) }
    }

    /// The same with one bound for every wait, for a test that waits in vain.
    #[cfg(test)]
    fn waiting_at_most(self, waits_max: std::time::Duration) -> Self {
        let Inner { known, place } = Arc::into_inner(self.inner).expect("nobody else has it yet");
        Self { inner: Arc::new(Inner { known, place: place.waiting_at_most(waits_max) }) }
    }

    /// Runs blocking work on a read-only connection; dropping the future interrupts the query.
    async fn read_on_thread<T, F>(&self, work: F) -> Result<T, SourceFault>
    where
        T: Send + 'static,
        F: FnOnce(&Inner, &Connection) -> Result<T, SourceFault> + Send + 'static,
    {
        let inner = Arc::clone(&self.inner);
        let stop = StopOnDrop(Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop.0);
        let result = tokio::task::spawn_blocking(move || {
            let connection = inner.place.open_to_read(stopped)?;
            work(&inner, &connection)
        })
        .await;
        drop(stop);
        result.unwrap_or_else(|_| Err(broke_off(&self.inner.known.facts().place)))
    }
}

fn broke_off(place: &str) -> SourceFault {
    SourceFault::at(
        place,
        SourceFaultKind::Broken,
        "reading broke off inside the program",
        "Try again; if it happens again, report it with the output of `unstuck doctor`.",
    )
}

/// Tells a running query to stop when nobody waits for it any more.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[async_trait]
impl Source for SqliteSource {
    fn facts(&self) -> Arc<SourceFacts> {
        self.inner.known.facts()
    }

    async fn parts(&self, parts_max: usize) -> Result<Vec<Option<Cursor>>, SourceFault> {
        self.read_on_thread(move |inner, connection| query::parts(inner, connection, parts_max)).await
    }

    async fn scan(&self, wanted: &Wanted, after: Option<Cursor>) -> Result<Page, SourceFault> {
        let wanted = wanted.clone();
        self.read_on_thread(move |inner, connection| query::scan(inner, connection, &wanted, after.as_ref()))
            .await
    }

    async fn read(&self, key: &str) -> Result<Option<Reading>, SourceFault> {
        let key = key.to_owned();
        self.read_on_thread(move |inner, connection| query::read(inner, connection, &key)).await
    }

    async fn payload(&self, key: &ItemKey, bytes_max: usize) -> Result<Option<Payload>, SourceFault> {
        let key = key.clone();
        self.read_on_thread(move |inner, connection| query::payload(inner, connection, &key, bytes_max)).await
    }

    fn plan(&self, choice: Choice, change: &Change) -> Result<Vec<PlannedStatement>, Unsupported> {
        self.inner.known.plan(choice, change)
    }

    async fn apply(&self, choice: Choice, change: &Change) -> Result<Applied, SourceFault> {
        let (inner, change) = (Arc::clone(&self.inner), change.clone());
        // Not tied to this future: a write that has begun is carried to its end.
        tokio::task::spawn_blocking(move || apply::apply(&inner, choice, &change)).await.unwrap_or_else(
            |_| Err(SourceFault { may_have_written: true, ..broke_off(&self.inner.known.facts().place) }),
        )
    }

    async fn has_decision(&self, decision: Uuid) -> Result<Option<bool>, SourceFault> {
        self.read_on_thread(move |inner, connection| query::has_decision(inner, connection, decision)).await
    }

    async fn take_back(&self) -> Result<(), SourceFault> {
        let inner = Arc::clone(&self.inner);
        // To open the file to write, and look at it, is what makes SQLite roll back.
        tokio::task::spawn_blocking(move || inner.place.open_to_write().map(drop))
            .await
            .unwrap_or_else(|_| Err(broke_off(&self.inner.known.facts().place)))
    }

    async fn examine(&self) -> Vec<Examined> {
        let inner = Arc::clone(&self.inner);
        tokio::task::spawn_blocking(move || examine::examine(&inner)).await.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
