//! Sweep: check many findings, several at once, each put on record soon after it was answered.

use crate::ports::record::RecordFault;
use crate::workflow::check::{Checked, check, record_checks};
use crate::workflow::desk::Desk;
use crate::workflow::scan::Found;
use futures_util::{Stream, StreamExt, stream};
use std::sync::Arc;

/// How many checks are under way at once over all providers; each provider has its own, narrower bound.
pub const CHECKS_UNDER_WAY_MAX: usize = 256;
/// How many checks share one transaction of the audit at most.
pub const CHECKS_RECORDED_AT_ONCE_MAX: usize = 128;

/// Findings with their checks, as they are answered: whatever is ready comes together.
pub fn sweep<'a>(
    desk: &'a Desk,
    found: impl IntoIterator<Item = Arc<Found>> + 'a,
) -> impl Stream<Item = Vec<(Arc<Found>, Arc<Checked>)>> + 'a {
    stream::iter(found)
        .map(move |found| async move {
            let checked = check(desk, &found).await;
            (found, Arc::new(checked))
        })
        .buffer_unordered(CHECKS_UNDER_WAY_MAX)
        .ready_chunks(CHECKS_RECORDED_AT_ONCE_MAX)
}

/// Puts a batch of checks on record, in one transaction.
///
/// # Errors
/// The audit's own fault.
pub async fn record_batch(desk: &Desk, batch: &[(Arc<Found>, Arc<Checked>)]) -> Result<(), RecordFault> {
    let pairs: Vec<(&Found, &Checked)> = batch.iter().map(|(found, checked)| (&**found, &**checked)).collect();
    record_checks(desk, &pairs).await.map(drop)
}
