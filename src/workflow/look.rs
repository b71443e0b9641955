//! Look: what is read when somebody looks at one item, or at the audit. Nothing is asked and nothing is written.

use crate::domain::audit::Entry;
use crate::domain::escalated::Escalated;
use crate::ports::record::RecordFault;
use crate::ports::source::Payload;
use crate::workflow::desk::Desk;
use crate::workflow::settle::{OrderFault, Reread, reread_with_key};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How much of a payload is shown, in bytes.
pub const PAYLOAD_BYTES_MAX: usize = 4 * 1024;
/// How many of an item's entries are shown.
pub const HISTORY_ENTRIES_MAX: usize = 50;
/// How many entries a page of the audit has.
pub const PAGE_ENTRIES_MAX: usize = 200;

/// What is known of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Looked {
    /// The item as it is now; `None` when it is gone.
    pub now: Option<Reread>,
    /// The payload's beginning; `None` where the source keeps none or the item is gone.
    pub payload: Option<Payload>,
    /// Its earlier entries in the audit, the newest first, or why they cannot be read.
    pub history: Result<Vec<Entry>, RecordFault>,
}

/// Reads an item's row, its payload's beginning, and its history.
///
/// # Errors
/// The source's own fault. An audit that cannot be read is no reason to show nothing.
pub async fn look(desk: &Desk, source_name: &str, key: &str) -> Result<Looked, OrderFault> {
    // The item first: by what table it is in, its history is found under every name of its source.
    let (now, payload) = look_at_source(desk, source_name, key).await?;
    Ok(Looked { now, payload, history: history(desk, source_name, key).await })
}

async fn look_at_source(
    desk: &Desk,
    source_name: &str,
    key: &str,
) -> Result<(Option<Reread>, Option<Payload>), OrderFault> {
    let Some((key, now)) = reread_with_key(desk, source_name, key).await? else { return Ok((None, None)) };
    let source = desk.source(source_name).ok_or_else(|| OrderFault::NoSuchSource(source_name.to_owned()))?;
    let payload = source.payload(&key, PAYLOAD_BYTES_MAX).await.map_err(OrderFault::Source)?;
    Ok((Some(now), payload))
}

async fn history(desk: &Desk, source_name: &str, key: &str) -> Result<Vec<Entry>, RecordFault> {
    let read = match &desk.record {
        Ok(record) => record.of_item(&desk.subject(source_name, key), HISTORY_ENTRIES_MAX).await,
        Err(fault) => Err(fault.clone()),
    };
    RecordFault::unless_absent(read)
}

/// A page of the audit before an entry (from the end for `None`), the newest first, and whether older ones follow.
///
/// # Errors
/// The audit's own fault.
pub async fn audit_page(desk: &Desk, before: Option<i64>) -> Result<(Vec<Entry>, bool), RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    // One more than is shown tells whether more follow.
    let mut entries = record.page(before, PAGE_ENTRIES_MAX + 1).await?;
    let more = entries.len() > PAGE_ENTRIES_MAX;
    entries.truncate(PAGE_ENTRIES_MAX);
    Ok((entries, more))
}

/// How many escalations are looked through, the newest: an older one is still found when its item is decided on.
pub const ESCALATIONS_MAX: usize = 2_000;

/// An item by its source's name and its key, as the sources of a desk are called.
pub type Named = (Arc<str>, Arc<str>);

/// What was escalated, whoever did it, the latest of each item: by the names that its sources have here.
///
/// # Errors
/// The audit's own fault. Where there is no audit yet, nothing was escalated.
pub async fn escalations(desk: &Desk) -> Result<Vec<(Named, Escalated)>, RecordFault> {
    let read = match &desk.record {
        Ok(record) => record.escalated(ESCALATIONS_MAX).await,
        Err(fault) => Err(fault.clone()),
    };
    let entries = RecordFault::unless_absent(read)?;
    let mut found: BTreeMap<Named, Escalated> = BTreeMap::new();
    for entry in &entries {
        let Some(escalated) = Escalated::of_entry(entry) else { continue };
        for source in &desk.sources {
            let name = &source.facts().name;
            if desk.subject(name, &entry.key).is_of(entry) {
                // The newest comes first.
                let item = (Arc::clone(name), entry.key.as_str().into());
                found.entry(item).or_insert_with(|| escalated.clone());
            }
        }
    }
    Ok(found.into_iter().collect())
}
