//! Report: read what the audit tells of a window, and what is open now. Nothing is asked and nothing is written.

use crate::domain::audit::Entry;
use crate::domain::report::{Report, Scope};
use crate::ports::record::{Record, RecordFault};
use crate::workflow::desk::Desk;
use chrono::{DateTime, TimeDelta, Utc};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use uuid::Uuid;

/// How many entries are read at once.
const PAGE_ENTRIES: usize = 500;
/// Entries are in the order of their writing; their times, by several machines' clocks, nearly are. Reading backwards goes on
/// for so long before the window.
const CLOCKS_DIFFER_MAX: TimeDelta = TimeDelta::days(1);

/// Draws a report of a window.
///
/// # Errors
/// The audit's own.
pub async fn report(desk: &Desk, scope: Scope) -> Result<Report, RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let mut entries = of_window(record, scope.from).await?;
    complete(record, &scope, &mut entries).await?;
    let entries: Vec<Entry> = entries.into_values().collect();
    Ok(Report::of(scope, &entries))
}

/// Every entry from the window's beginning on, by its number: what came after the window tells how its decisions ended.
async fn of_window(
    record: &Arc<dyn Record>,
    from: Option<DateTime<Utc>>,
) -> Result<BTreeMap<i64, Entry>, RecordFault> {
    let (mut entries, mut before) = (BTreeMap::new(), None);
    let far = from.and_then(|from| from.checked_sub_signed(CLOCKS_DIFFER_MAX));
    loop {
        let page = record.page(before, PAGE_ENTRIES).await?;
        let Some(last) = page.last() else { return Ok(entries) };
        before = Some(last.seq);
        let is_before =
            |entry: &Entry| far.is_some_and(|far| entry.at.parse::<DateTime<Utc>>().is_ok_and(|at| at < far));
        let is_over = page.iter().all(is_before);
        entries.extend(page.into_iter().map(|entry| (entry.seq, entry)));
        if is_over {
            return Ok(entries);
        }
    }
}

/// Adds the beginnings of decisions that reach into the window from before it.
async fn complete(
    record: &Arc<dyn Record>,
    scope: &Scope,
    entries: &mut BTreeMap<i64, Entry>,
) -> Result<(), RecordFault> {
    let has_beginning = |entry: &&Entry| ["intended", "proposed", "refused"].contains(&entry.event.as_str());
    let begun: BTreeSet<&str> =
        entries.values().filter(has_beginning).map(|entry| entry.decision.as_str()).collect();
    let torn: BTreeSet<Uuid> = entries
        .values()
        .filter(|entry| scope.has(entry) && !entry.decision.is_empty())
        .filter(|entry| !begun.contains(entry.decision.as_str()))
        .filter_map(|entry| entry.decision.parse().ok())
        .collect();
    for decision in torn {
        let whole = record.of_decision(decision).await?;
        entries.extend(whole.into_iter().map(|entry| (entry.seq, entry)));
    }
    Ok(())
}
