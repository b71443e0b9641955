//! The chain, page by page, out of the snapshot of one transaction.

use super::read::{BEHIND_COLUMNS, entry_of};
use super::refused::fault_of;
use super::text::text_at;
use crate::adapters::postgres::client::{Client, Error};
use crate::adapters::record::read::COLUMNS;
use crate::adapters::record::verify::walk::{Kept, KeptTexts, Stop, Whole, follow_page};
use crate::domain::audit::{RECORDED_BY, RecordedBy, Walk};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// How many entries are read at once.
const PAGE_ENTRIES: i64 = 500;

/// Entries in a row, with what the server wrote down of who wrote each.
pub(super) struct Page {
    pub(super) entries: Vec<Whole>,
    by: Vec<RecordedBy>,
}

impl Page {
    /// Whether nothing comes after it.
    pub(super) fn is_last(&self) -> bool {
        i64::try_from(self.entries.len()).is_ok_and(|count| count < PAGE_ENTRIES)
    }

    /// The number behind its last entry.
    pub(super) fn next(&self, from: i64) -> i64 {
        self.entries.last().map_or(from, |last| last.seq.saturating_add(1))
    }
}

/// Reads the entries from a number on, and the attachments beside them.
pub(super) async fn page(client: &Client, from: i64) -> Result<Page, Error> {
    let asked =
        format!("SELECT {COLUMNS}, login, address FROM entries WHERE seq >= $1 ORDER BY seq LIMIT $2");
    let rows = client.query_typed(&asked, &[(&from, Type::INT8), (&PAGE_ENTRIES, Type::INT8)]).await?;
    let mut page = Page { entries: Vec::with_capacity(rows.len()), by: Vec::with_capacity(rows.len()) };
    for row in &rows {
        let entry = entry_of(row)?;
        page.entries.push(Whole { seq: entry.seq, entry: Ok(entry), beside: Vec::new() });
        page.by.push(RecordedBy {
            login: Arc::from(row.try_get::<_, &str>(BEHIND_COLUMNS)?),
            address: row.try_get::<_, Option<&str>>(BEHIND_COLUMNS + 1)?.map(Arc::from),
        });
    }
    let Some(last) = page.entries.last().map(|whole| whole.seq) else { return Ok(page) };
    let asked = "SELECT seq, place, sha256, text, text_sha256 FROM attachments
        WHERE seq >= $1 AND seq <= $2 ORDER BY seq, place";
    for row in client.query_typed(asked, &[(&from, Type::INT8), (&last, Type::INT8)]).await? {
        let of: i64 = row.try_get(0)?;
        if let Ok(at) = page.entries.binary_search_by_key(&of, |whole| whole.seq)
            && let Some(whole) = page.entries.get_mut(at)
        {
            whole.beside.push(kept_of(&row)?);
        }
    }
    Ok(page)
}

fn kept_of(row: &Row) -> Result<Kept, Error> {
    let texts = KeptTexts { sha256: text_at(row, 2)?, text: text_at(row, 3)?, text_sha256: text_at(row, 4)? };
    Ok(Kept { place: Some(row.try_get(1)?), texts: Some(texts) })
}

/// Follows the chain from where the walk is to the end, and shows the walk after each entry.
pub(super) async fn follow(
    shown: &Path,
    client: &Client,
    walk: &mut Walk,
    mut seen: impl FnMut(&Walk) + Send,
) -> Result<(), Stop> {
    // A number below the first would be a foreign entry's: begin below it.
    let mut from = if walk.count() == 0 { i64::MIN } else { walk.count() + 1 };
    loop {
        let page = page(client, from).await.map_err(|fault| Stop::Fault(fault_of(shown, &fault)))?;
        follow_page(&page.entries, walk, &mut seen)?;
        look_at_writers(&page)?;
        if page.is_last() {
            return Ok(());
        }
        from = page.next(from);
    }
}

/// Compares what each entry says of who wrote it, which its hash vouches for, with what the server wrote beside it.
fn look_at_writers(page: &Page) -> Result<(), Stop> {
    for (whole, by) in page.entries.iter().zip(&page.by) {
        let Ok(entry) = &whole.entry else { continue };
        let body: Value = serde_json::from_str(&entry.body).unwrap_or_default();
        if body.get(RECORDED_BY) != Some(&by.to_json()) {
            let what = format!("does not say what the server wrote beside it: that `{}` wrote it", by.login);
            return Err(Stop::at(whole.seq, what));
        }
    }
    Ok(())
}
