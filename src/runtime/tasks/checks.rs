//! Checks: many at once, each provider no more than it takes; every answer is told once it is on record.

use super::Outlet;
use crate::console::message::{CheckMessage, Message};
use crate::domain::plan::Wish;
use crate::workflow::Found;
use crate::workflow::sweep::{Recorded, answers, plan_all, recorded};
use futures_util::StreamExt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Asks about every finding. `cancel` stops the asking; what was answered until then is recorded and told. Of what the
/// record does not take the first fault is told; later answers are tried anew.
pub(super) async fn ask(outlet: Outlet, run: u64, found: Vec<Arc<Found>>, cancel: CancellationToken) {
    let asked = answers(&outlet.desk, plan_all(&outlet.desk, found, Wish::Cheapest));
    let mut batches = recorded(&outlet.desk, asked.take_until(cancel.cancelled()));
    let mut record_fault = None;
    while let Some(Recorded { answered, are_on_record: on_record, fault }) = batches.next().await {
        record_fault = record_fault.or(fault);
        for (found, checked) in answered {
            outlet.send(Message::Check(CheckMessage::Done { run, found, checked, on_record })).await;
        }
    }
    outlet.send(Message::Check(CheckMessage::Ended { run, record_fault })).await;
}
