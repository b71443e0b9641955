//! Checks: many at once, each provider no more than it takes; every answer told as it comes and recorded in batches.

use super::Outlet;
use crate::console::message::{CheckMessage, Message};
use crate::domain::policy::CheckName;
use crate::ports::record::RecordFault;
use crate::workflow::check::{check, record_checks};
use crate::workflow::{Checked, Desk, Found};
use futures_util::stream::{BoxStream, SelectAll};
use futures_util::{StreamExt, stream};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many findings that nobody can be asked about are looked at at once.
const UNASKED_IN_FLIGHT_MAX: usize = 8;
/// How many checks one transaction of the audit holds at most.
const RECORDED_AT_ONCE_MAX: usize = 64;
/// How many answers may wait for the audit before the asking waits.
const UNRECORDED_MAX: usize = 256;

/// One finding with what came of asking.
type Answered = (Arc<Found>, Arc<Checked>);

/// Asks about every finding. `cancel` stops the asking; what was answered until then is told and recorded.
pub(super) async fn ask(outlet: Outlet, run: u64, found: Vec<Arc<Found>>, cancel: CancellationToken) {
    let (to_record, answered) = mpsc::channel(UNRECORDED_MAX);
    let asking = async {
        let mut answers = answers(&outlet.desk, found);
        while let Some(Some((found, checked))) = cancel.run_until_cancelled(answers.next()).await {
            // To the record first: an answer that was shown is one that is recorded. The recorder outlives the asking.
            let _recorder_is_gone = to_record.send((Arc::clone(&found), Arc::clone(&checked))).await;
            outlet.send(Message::Check(CheckMessage::Done { run, found, checked })).await;
        }
        drop(to_record);
    };
    let ((), record_fault) = futures_util::join!(asking, record(&outlet.desk, answered));
    outlet.send(Message::Check(CheckMessage::Ended { run, record_fault })).await;
}

/// The answers as they come. The findings of one provider are asked in their order, as many at once as it takes; one slow
/// provider does not hold up another.
fn answers(desk: &Arc<Desk>, found: Vec<Arc<Found>>) -> SelectAll<BoxStream<'static, Answered>> {
    let mut by_provider: BTreeMap<Option<CheckName>, Vec<Arc<Found>>> = BTreeMap::new();
    for found in found {
        let name = desk.kind(&found.finding.item.kind).policy.check.clone();
        by_provider.entry(name).or_default().push(found);
    }
    stream::select_all(by_provider.into_iter().map(|(name, found)| {
        let in_flight = name
            .and_then(|name| desk.providers.get(&name))
            .map_or(UNASKED_IN_FLIGHT_MAX, |provider| provider.facts().in_flight_max.max(1));
        let desk = Arc::clone(desk);
        stream::iter(found)
            .map(move |found| {
                let desk = Arc::clone(&desk);
                async move {
                    let checked = Arc::new(check(&desk, &found).await);
                    (found, checked)
                }
            })
            .buffer_unordered(in_flight)
            .boxed()
    }))
}

/// Puts answers on record, as many in one transaction as are there. Tells the first fault; later answers are tried anew.
async fn record(desk: &Desk, mut answered: mpsc::Receiver<Answered>) -> Option<RecordFault> {
    let mut first_fault = None;
    let mut batch: Vec<Answered> = Vec::with_capacity(RECORDED_AT_ONCE_MAX);
    while answered.recv_many(&mut batch, RECORDED_AT_ONCE_MAX).await > 0 {
        let checks: Vec<(&Found, &Checked)> =
            batch.iter().map(|(found, checked)| (&**found, &**checked)).collect();
        if let Err(fault) = record_checks(desk, &checks).await {
            first_fault.get_or_insert(fault);
        }
        batch.clear();
    }
    first_fault
}
