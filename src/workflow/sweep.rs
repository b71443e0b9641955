//! Sweep: check many findings, several at once, each put on record soon after it was answered.

use crate::domain::policy::CheckName;
use crate::ports::record::RecordFault;
use crate::workflow::check::{Checked, check, record_checks};
use crate::workflow::desk::Desk;
use crate::workflow::scan::Found;
use futures_util::stream::{BoxStream, SelectAll};
use futures_util::{Stream, StreamExt, stream};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many findings that nobody can be asked about are looked at at once.
const UNASKED_UNDER_WAY_MAX: usize = 8;
/// How many checks share one transaction of the audit at most.
pub const CHECKS_RECORDED_AT_ONCE_MAX: usize = 128;

/// One finding with what came of asking.
pub type Answered = (Arc<Found>, Arc<Checked>);

/// Findings with their checks, as they are answered: whatever is ready comes together.
pub fn sweep<'a>(
    desk: &'a Desk,
    found: impl IntoIterator<Item = Arc<Found>> + 'a,
) -> impl Stream<Item = Vec<Answered>> + 'a {
    answers(desk, found).ready_chunks(CHECKS_RECORDED_AT_ONCE_MAX)
}

/// Findings with their checks, one by one as they are answered.
///
/// The findings of one provider are asked about in their order, as many at once as it takes; one slow provider does not
/// hold up another.
pub fn answers(
    desk: &Desk,
    found: impl IntoIterator<Item = Arc<Found>>,
) -> SelectAll<BoxStream<'_, Answered>> {
    let mut by_provider: BTreeMap<Option<CheckName>, Vec<Arc<Found>>> = BTreeMap::new();
    for found in found {
        let name = desk.kind(&found.finding.item.kind).policy.check.clone();
        by_provider.entry(name).or_default().push(found);
    }
    stream::select_all(by_provider.into_iter().map(|(name, found)| {
        let under_way = name
            .and_then(|name| desk.providers.get(&name))
            .map_or(UNASKED_UNDER_WAY_MAX, |provider| provider.facts().in_flight_max.max(1));
        stream::iter(found)
            .map(move |found| async move {
                let checked = Arc::new(check(desk, &found).await);
                (found, checked)
            })
            .buffer_unordered(under_way)
            .boxed()
    }))
}

/// Puts a batch of checks on record, in one transaction.
///
/// # Errors
/// The audit's own fault.
pub async fn record_batch(desk: &Desk, batch: &[Answered]) -> Result<(), RecordFault> {
    let pairs: Vec<(&Found, &Checked)> =
        batch.iter().map(|(found, checked)| (&**found, &**checked)).collect();
    record_checks(desk, &pairs).await.map(drop)
}
