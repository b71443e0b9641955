//! Slowness: how long the providers took when they were asked before, as the record tells.

use crate::domain::audit::{Entry, Event};
use crate::domain::evidence::Evidence;
use crate::domain::slowness::{Measured, Slowness};
use crate::workflow::desk::Desk;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many of the latest entries are looked through.
const ENTRIES_MAX: usize = 2_000;

/// How slow each of the providers is, by `provider.operation`. Where the record cannot be read nothing is known: whoever
/// writes to it says so.
pub async fn slowness(desk: &Desk) -> BTreeMap<String, Slowness> {
    let entries = match &desk.record {
        Ok(record) => record.page(None, ENTRIES_MAX).await.unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let (mut questions, mut pages) = (Times::new(), Times::new());
    for entry in &entries {
        let Some(evidence) = evidence_of(entry) else { continue };
        let took = Duration::from_millis(evidence.took_ms);
        let count = u32::try_from(evidence.asked.len()).unwrap_or(u32::MAX);
        if count == 0 {
            continue;
        }
        if entry.event == Event::Listed.as_str() {
            pages.entry(evidence.check).or_default().push(took / count);
        } else if evidence.listing.is_none() {
            questions.entry(evidence.check).or_default().push(took);
        }
    }
    let known = desk.providers.values().map(|provider| {
        let facts = provider.facts();
        let taken = |times: &mut Times| times.remove(&*facts.name).and_then(Measured::of);
        let (question, page) = (taken(&mut questions), taken(&mut pages));
        (facts.name.to_string(), Slowness { question, page, in_flight_max: facts.in_flight_max })
    });
    known.collect()
}

/// What each operation took, each time.
type Times = BTreeMap<String, Vec<Duration>>;

/// How a check or a list was read, where an entry tells of one.
fn evidence_of(entry: &Entry) -> Option<Evidence> {
    if entry.event != Event::Checked.as_str() && entry.event != Event::Listed.as_str() {
        return None;
    }
    let mut body: Value = serde_json::from_str(&entry.body).ok()?;
    serde_json::from_value(body.get_mut("evidence")?.take()).ok()
}
