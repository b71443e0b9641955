//! Scans: one query that is given out page by page, so that a table is gone through once and not once a page.
//!
//! Between two pages the server waits with the rest. Where nobody goes on soon, or the rest is lost, the scan goes on with
//! another query behind the last key.

use super::Inner;
use super::client::{Error, RowStream};
use super::connect::Lent;
use super::look::look;
use super::query::{ENGINE, clock_of, item_at, rows, stream};
use crate::adapters::sql::{Picked, key};
use crate::domain::cell::Cell;
use crate::domain::item::Item;
use crate::ports::source::{Cursor, Page, SourceFault, Wanted};
use chrono::{DateTime, Utc};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How many rows one query hands out. A table that is full of findings is then read along its key, instead of being sorted
/// whole on the server.
pub(super) const ROWS_MAX: usize = 50_000;
/// How long a server waits with the rest until somebody goes on.
const WAITS_MAX: Duration = Duration::from_secs(5);

/// A query whose rows are not all read yet.
pub(super) struct Going {
    lent: Lent,
    picked: Arc<Picked>,
    rows: RowStream,
    /// How many rows may still come.
    left: usize,
    /// Items that come before the query's own.
    before: Vec<Item>,
    /// The key of the last row that was read.
    last: Vec<Cell>,
    began: Began,
    wanted: Wanted,
}

/// The source's clock when a query began, and when that was.
type Began = (DateTime<Utc>, Instant);

/// A page, and where its query is after it.
struct Step {
    items: Vec<Item>,
    is_over: bool,
}

impl Going {
    /// Begins to read behind a key, or at the very beginning.
    pub(super) async fn begin(
        inner: &Inner,
        wanted: &Wanted,
        after: Option<&[Cell]>,
        rows_max: usize,
    ) -> Result<Self, SourceFault> {
        let lent = inner.place.to_read().await?;
        match Self::ask(inner, &lent, wanted, after, rows_max).await {
            Ok((picked, before, rows, began)) => Ok(Self {
                lent,
                picked,
                rows,
                left: rows_max,
                before,
                last: Vec::new(),
                began,
                wanted: wanted.clone(),
            }),
            Err(fault) => lent.ended(Err(fault)).await,
        }
    }

    async fn ask(
        inner: &Inner,
        lent: &Lent,
        wanted: &Wanted,
        after: Option<&[Cell]>,
        rows_max: usize,
    ) -> Result<(Arc<Picked>, Vec<Item>, RowStream, Began), SourceFault> {
        // A scan that goes on goes on with the shape that it began with.
        let picked = match (after, inner.known.picked()) {
            (Some(_), Some(picked)) => picked,
            _ => look(inner, lent).await?,
        };
        let asked = async {
            let source_now = clock_of(lent.client()).await?;
            let began = (source_now, Instant::now());
            let (sql, values) = (picked.sql(ENGINE), after.map(key::values).unwrap_or_default());
            // What the database sorts to the very place of the last key is neither before nor behind it.
            let mut ties = Vec::new();
            if let Some(after) = after {
                let found = rows(lent.client(), &sql.ties(wanted, source_now), &values).await?;
                ties = items_of(inner, &picked, &found)?;
                ties.retain(|item| item.key.parts != after);
            }
            let query = sql.page(wanted, source_now, values.len(), rows_max);
            Ok((ties, stream(lent.client(), &query, &values).await?, began))
        };
        let (ties, rows, began) = asked.await.map_err(|fault: Error| inner.place.fault(&fault))?;
        Ok((picked, ties, rows, began))
    }

    /// The next page, and the query again where there may be more.
    pub(super) async fn page(
        mut self,
        inner: &Inner,
        items_max: usize,
    ) -> Result<(Page, Option<Self>), SourceFault> {
        let Step { items, is_over } = match self.step(inner, items_max).await {
            Ok(step) => step,
            // It has ended: there is nothing to be stopped.
            Err(fault) => return self.lent.ended(Err(inner.place.fault(&fault))).await,
        };
        if let Some(item) = items.last() {
            self.last.clone_from(&item.key.parts);
        }
        let (clock, at) = self.began;
        let mut page = Page { items, next: None, source_now: clock + at.elapsed() };
        if !is_over || self.left == 0 {
            page.next = Some(Cursor::After(self.last.clone()));
        }
        if !is_over {
            return Ok((page, Some(self)));
        }
        if self.left > 0 {
            match self.keyless(inner, clock).await {
                Ok(keyless) => page.items.extend(keyless),
                Err(fault) => return self.lent.ended(Err(inner.place.fault(&fault))).await,
            }
        }
        self.lent.done().await;
        Ok((page, None))
    }

    /// The items with a NULL in their key: nothing lies before or behind them, so they come at the end.
    async fn keyless(&self, inner: &Inner, now: DateTime<Utc>) -> Result<Vec<Item>, Error> {
        match self.picked.sql(ENGINE).keyless(&self.wanted, now) {
            Some(query) => items_of(inner, &self.picked, &rows(self.lent.client(), &query, &[]).await?),
            None => Ok(Vec::new()),
        }
    }

    async fn step(&mut self, inner: &Inner, items_max: usize) -> Result<Step, Error> {
        let picked = Arc::clone(&self.picked);
        let (names, _) = picked.sql(ENGINE).selection();
        let mut items = std::mem::take(&mut self.before);
        while items.len() < items_max {
            let Some(row) = self.rows.next().await? else { return Ok(Step { items, is_over: true }) };
            items.push(item_at(inner, &picked, &names, &row)?);
            self.left = self.left.saturating_sub(1);
        }
        Ok(Step { items, is_over: false })
    }
}

/// The items of whole rows.
fn items_of(inner: &Inner, picked: &Picked, found: &[tokio_postgres::Row]) -> Result<Vec<Item>, Error> {
    let (names, _) = picked.sql(ENGINE).selection();
    found.iter().map(|row| item_at(inner, picked, &names, row)).collect()
}

/// Queries that wait for somebody to go on.
#[derive(Default)]
pub(super) struct Waiting {
    kept: Arc<Mutex<Vec<Going>>>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

impl Waiting {
    /// The one that goes on behind a key.
    fn take(&self, after: &[Cell]) -> Option<Going> {
        take(&self.kept, |going| going.last == after)
    }

    /// Keeps one for a while.
    fn keep(&self, going: Going) {
        let (kept, at) = (Arc::clone(&self.kept), Instant::now());
        let began = going.began;
        let last = going.last.clone();
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(going);
        drop(tokio::spawn(async move {
            tokio::time::sleep_until(at + WAITS_MAX).await;
            // Dropped, it tells the server to stop.
            drop(take(&kept, |going| going.began == began && going.last == last));
        }));
    }
}

fn take(kept: &Mutex<Vec<Going>>, is_it: impl Fn(&Going) -> bool) -> Option<Going> {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let at = kept.iter().position(is_it)?;
    Some(kept.swap_remove(at))
}

/// One page of candidates, after the last one's key.
pub(super) async fn scan(
    inner: &Inner,
    wanted: &Wanted,
    after: Option<&Cursor>,
) -> Result<Page, SourceFault> {
    let after = match after {
        Some(Cursor::After(parts)) => Some(parts.as_slice()),
        Some(Cursor::Rows { .. }) | None => None,
    };
    let waiting = after.and_then(|after| inner.waiting.take(after));
    let page = match waiting {
        Some(going) => going.page(inner, wanted.page_items_max).await.ok(),
        None => None,
    };
    let (page, rest) = match page {
        Some(page) => page,
        // Nothing waited, or its rest is lost (it took too long, or the connection did not last): it is read anew.
        None => {
            Going::begin(inner, wanted, after, ROWS_MAX).await?.page(inner, wanted.page_items_max).await?
        }
    };
    if let Some(going) = rest {
        inner.waiting.keep(going);
    }
    Ok(page)
}
