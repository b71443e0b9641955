//! Checks: many at once, each provider no more than it takes; every answer told as it comes and recorded in batches.

use super::Outlet;
use crate::console::message::{CheckMessage, Message};
use crate::domain::plan::Wish;
use crate::ports::record::RecordFault;
use crate::workflow::sweep::{Answered, CHECKS_RECORDED_AT_ONCE_MAX, answers, plan_all, record_batch};
use crate::workflow::{Desk, Found};
use futures_util::StreamExt;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many answers may wait for the audit before the asking waits.
const UNRECORDED_MAX: usize = 256;

/// Asks about every finding. `cancel` stops the asking; what was answered until then is told and recorded.
pub(super) async fn ask(outlet: Outlet, run: u64, found: Vec<Arc<Found>>, cancel: CancellationToken) {
    let (to_record, answered) = mpsc::channel(UNRECORDED_MAX);
    let asking = async {
        let mut answers = answers(&outlet.desk, plan_all(&outlet.desk, found, Wish::Cheapest));
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

/// Puts answers on record, as many in one transaction as are there. Tells the first fault; later answers are tried anew.
async fn record(desk: &Desk, mut answered: mpsc::Receiver<Answered>) -> Option<RecordFault> {
    let mut first_fault = None;
    let mut batch: Vec<Answered> = Vec::new();
    while answered.recv_many(&mut batch, CHECKS_RECORDED_AT_ONCE_MAX).await > 0 {
        if let Err(fault) = record_batch(desk, &batch).await {
            first_fault.get_or_insert(fault);
        }
        batch.clear();
    }
    first_fault
}
