//! Stories and matchings: dropped when nobody waits for them any more; what was asked until the end of one is put on record.

use super::Outlet;
use crate::console::message::{MatchMessage, MatchTold, Message, StoryMessage};
use crate::console::model::matching::Matching;
use crate::workflow::Desk;
use crate::workflow::reconcile::words::Step;
use crate::workflow::reconcile::{Scope, reconcile};
use crate::workflow::story::{Story, duplicates, story};
use crate::workflow::sweep::{Unrecorded, record_all};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Tells everything that is known of an item.
pub(super) async fn tell(
    outlet: Outlet,
    run: u64,
    (source, key): (Arc<str>, Arc<str>),
    asks_anew: bool,
    cancel: CancellationToken,
) {
    let telling = story(&outlet.desk, &source, &key, asks_anew);
    let Some(told) = cancel.run_until_cancelled(telling).await else { return };
    let unrecorded = match &told {
        Ok(Some(told)) => record(&outlet.desk, told).await,
        Ok(None) | Err(_) => Unrecorded::default(),
    };
    let story = told.map(|told| told.map(Arc::new));
    outlet.send(Message::Story(StoryMessage { run, story, unrecorded })).await;
}

/// A check is on record, wherever it was made; else it is told that it is not.
async fn record(desk: &Desk, told: &Story) -> Unrecorded {
    let (Some(member), Some(checked)) = (told.members.first(), &told.checked) else {
        return Unrecorded::default();
    };
    record_all(desk, vec![(Arc::new(member.found.clone()), Arc::new(checked.clone()))]).await
}

/// Matches what the providers did with what the jobs say.
pub(super) async fn match_both(
    outlet: Outlet,
    which: Matching,
    run: u64,
    scope: Scope,
    cancel: CancellationToken,
) {
    let message = |told| Message::Match(MatchMessage { which, run, told });
    // A step that finds no room is one that the next one makes old.
    let step = |step: Step| drop(outlet.messages.try_send(message(MatchTold::Step(step))));
    let told = match which {
        Matching::Duplicates => {
            let finding = duplicates(&outlet.desk, &scope, &step);
            let Some(found) = cancel.run_until_cancelled(finding).await else { return };
            let unrecorded = record_all(&outlet.desk, found.checks()).await;
            MatchTold::Doubles(Arc::new(found), unrecorded)
        }
        Matching::Reconcile => {
            let matching = reconcile(&outlet.desk, &scope, &step);
            let Some(matched) = cancel.run_until_cancelled(matching).await else { return };
            let unrecorded = record_all(&outlet.desk, matched.items.clone()).await;
            MatchTold::Both(Arc::new(matched), unrecorded)
        }
    };
    outlet.send(message(told)).await;
}
