//! Sweep: check many findings, each put on record soon after it was answered.
//!
//! The findings of one operation are asked about one by one, several at once, or read from its list: as planned. While some
//! answers are being put on record the asking goes on.

use crate::domain::item::Item;
use crate::domain::plan::{Plan, Wish, covers, needs, plan};
use crate::domain::policy::CheckName;
use crate::ports::provider::Provider;
use crate::ports::record::RecordFault;
use crate::workflow::check::{Checked, check, check_by, first_attempt_of, record_checks};
use crate::workflow::desk::Desk;
use crate::workflow::list::list;
use crate::workflow::scan::Found;
use futures_util::stream::{BoxStream, SelectAll};
use futures_util::{FutureExt, Stream, StreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, OnceLock};

/// How many findings that nobody can be asked about are looked at at once.
const UNASKED_UNDER_WAY_MAX: usize = 8;
/// How many answers wait at most for those before them to be on record; then the asking waits too. So many share one
/// transaction of the audit at most.
const UNRECORDED_MAX: usize = 512;

/// One finding with what came of asking.
pub type Answered = (Arc<Found>, Arc<Checked>);

/// The findings of one operation, and how they are asked about.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The operation; `None` for findings that nobody is configured to be asked about.
    pub name: Option<CheckName>,
    /// The findings.
    pub found: Vec<Arc<Found>>,
    /// How they are asked about; `None` where nobody can be.
    pub plan: Option<Plan>,
    /// Why the list did not count, once that is so.
    pub given_up: Arc<OnceLock<String>>,
}

impl Planned {
    /// The plan alone, to see later what became of it.
    #[must_use]
    pub fn without_findings(&self) -> Self {
        let (name, plan) = (self.name.clone(), self.plan.clone());
        Self { name, found: Vec::new(), plan, given_up: Arc::clone(&self.given_up) }
    }
}

/// Plans how to ask about findings, operation by operation.
pub fn plan_all(desk: &Desk, found: impl IntoIterator<Item = Arc<Found>>, wish: Wish) -> Vec<Planned> {
    let mut by_operation: BTreeMap<Option<CheckName>, Vec<Arc<Found>>> = BTreeMap::new();
    for found in found {
        let name = desk.kind(&found.finding.item.kind).policy.check.clone();
        by_operation.entry(name).or_default().push(found);
    }
    let now = desk.clock.now();
    let planned = |(name, found): (Option<CheckName>, Vec<Arc<Found>>)| {
        let provider = name.as_ref().and_then(|name| desk.providers.get(name));
        let plan = provider.map(|provider| {
            let costs = provider.facts().costs();
            let needs: Vec<_> =
                found.iter().map(|found| needs(first_attempt_of(found), costs.lookback, now)).collect();
            plan(&needs, now, costs, wish)
        });
        Planned { name, found, plan, given_up: Arc::default() }
    };
    by_operation.into_iter().map(planned).collect()
}

/// Answers that were put on record together, or that the record did not take.
#[derive(Debug)]
pub struct Recorded {
    /// The findings with their checks.
    pub answered: Vec<Answered>,
    /// Whether they are on record.
    pub are_on_record: bool,
    /// Why they are not on record; or, where they are, why they are not among the receipts.
    pub fault: Option<RecordFault>,
}

/// Which of many answers the record did not take, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unrecorded {
    /// The items, by source and key.
    items: BTreeSet<(Arc<str>, Arc<str>)>,
    /// The first fault of the record, or of the receipts; `None` where everything is where it belongs.
    pub fault: Option<RecordFault>,
}

impl Unrecorded {
    /// Items whose checks the record did not take, and why.
    pub fn of<'a>(items: impl IntoIterator<Item = &'a Item>, fault: RecordFault) -> Self {
        let items = items.into_iter().map(|item| (Arc::clone(&item.source), item.key.shared())).collect();
        Self { items, fault: Some(fault) }
    }

    /// Whether the check of an item is on record.
    pub fn is_on_record(&self, item: &Item) -> bool {
        self.items.is_empty() || !self.items.contains(&(Arc::clone(&item.source), item.key.shared()))
    }

    /// How many it did not take.
    pub fn count(&self) -> usize {
        self.items.len()
    }

    /// Whether it did not take all of them.
    pub fn are_any(&self) -> bool {
        !self.items.is_empty()
    }

    fn add(&mut self, batch: Recorded) {
        // That something is not on record outweighs that it is not among the receipts.
        let outweighs = !batch.are_on_record && !self.are_any();
        self.fault = if outweighs { batch.fault } else { self.fault.take().or(batch.fault) };
        if !batch.are_on_record {
            let items = batch.answered.iter().map(|(found, _)| &found.finding.item);
            self.items.extend(items.map(|item| (Arc::clone(&item.source), item.key.shared())));
        }
    }
}

/// Puts answers on record, and gives those that it did not take.
pub async fn record_all(desk: &Desk, answered: Vec<Answered>) -> Unrecorded {
    let mut unrecorded = Unrecorded::default();
    let mut batches = recorded(desk, stream::iter(answered));
    while let Some(batch) = batches.next().await {
        unrecorded.add(batch);
    }
    unrecorded
}

/// Asks about findings in the cheapest way, and gives what is on record.
pub fn sweep(desk: &Desk, found: impl IntoIterator<Item = Arc<Found>>) -> BoxStream<'_, Recorded> {
    recorded(desk, answers(desk, plan_all(desk, found, Wish::Cheapest)))
}

/// Puts answers on record as they come and gives them after that. While some are being recorded others are waited for, and
/// those then share the next transaction: the slower the disk, the more.
///
/// An answer that the record did not take is given all the same, with the fault.
pub fn recorded<'a>(
    desk: &'a Desk,
    answers: impl Stream<Item = Answered> + Send + 'a,
) -> BoxStream<'a, Recorded> {
    let answers = answers.boxed().fuse();
    stream::unfold((answers, Vec::new()), move |(mut answers, mut waiting)| async move {
        if waiting.is_empty() {
            waiting.push(answers.next().await?);
            // What is there as well goes with it.
            while waiting.len() < UNRECORDED_MAX
                && let Some(Some(answered)) = answers.next().now_or_never()
            {
                waiting.push(answered);
            }
        }
        let mut recording = pin!(record(desk, std::mem::take(&mut waiting)));
        let batch = loop {
            tokio::select! {
                biased;
                batch = &mut recording => break batch,
                Some(answered) = answers.next(), if waiting.len() < UNRECORDED_MAX => waiting.push(answered),
            }
        };
        Some((batch, (answers, waiting)))
    })
    .boxed()
}

/// Findings with their checks, one by one as they are answered. One slow provider does not hold up another.
pub fn answers(desk: &Desk, planned: Vec<Planned>) -> SelectAll<BoxStream<'_, Answered>> {
    stream::select_all(planned.into_iter().map(|planned| answers_of(desk, planned)))
}

fn answers_of(desk: &Desk, planned: Planned) -> BoxStream<'_, Answered> {
    let provider = planned.name.as_ref().and_then(|name| desk.providers.get(name));
    let is_listed = planned.plan.as_ref().is_some_and(|plan| plan.listing.is_some());
    match provider {
        Some(provider) if is_listed => stream::once(by_list(desk, provider, planned))
            .flat_map(move |(answered, left)| {
                stream::iter(answered).chain(one_by_one(desk, Some(provider), left))
            })
            .boxed(),
        provider => one_by_one(desk, provider, planned.found),
    }
}

/// The findings in their order, as many at once as the provider takes.
fn one_by_one<'a>(
    desk: &'a Desk,
    provider: Option<&Arc<dyn Provider>>,
    found: Vec<Arc<Found>>,
) -> BoxStream<'a, Answered> {
    let under_way = provider.map_or(UNASKED_UNDER_WAY_MAX, |provider| provider.facts().in_flight_max.max(1));
    stream::iter(found)
        .map(move |found| async move {
            let checked = Arc::new(check(desk, &found).await);
            (found, checked)
        })
        .buffer_unordered(under_way)
        .boxed()
}

/// Reads the list. Gives what it answered, and the findings that are left to be asked about one by one: those that it does
/// not cover, and all where it counts as not read.
async fn by_list(
    desk: &Desk,
    provider: &Arc<dyn Provider>,
    planned: Planned,
) -> (Vec<Answered>, Vec<Arc<Found>>) {
    let Planned { found, plan, given_up, .. } = planned;
    let Some(listing) = plan.and_then(|plan| plan.listing) else { return (Vec::new(), found) };
    let facts = provider.facts();
    let list = list(desk, provider, listing.from, listing.pages_max).await.that_shows_something();
    if let Err(fault) = &list.outcome {
        // Whoever looks there first says why; nobody else writes it.
        let _told = given_up.set(fault.detail.clone());
        if !listing.is_forced {
            return (Vec::new(), found);
        }
    }
    let lookback = facts.clocks.lookback;
    let is_covered =
        |found: &Arc<Found>| covers(listing.from, needs(first_attempt_of(found), lookback, list.began));
    let (covered, left): (Vec<_>, Vec<_>) = found.into_iter().partition(is_covered);
    let list = &list;
    let answered = stream::iter(covered)
        .map(|found| async move {
            let checked = Arc::new(check_by(desk, &found, list, facts).await);
            (found, checked)
        })
        .buffer_unordered(UNASKED_UNDER_WAY_MAX)
        .collect()
        .await;
    (answered, left)
}

/// Puts answers on record, in one transaction.
async fn record(desk: &Desk, answered: Vec<Answered>) -> Recorded {
    let pairs: Vec<(&Found, &Checked)> =
        answered.iter().map(|(found, checked)| (&**found, &**checked)).collect();
    let (are_on_record, fault) = match record_checks(desk, &pairs).await {
        Ok(receipts_fault) => (true, receipts_fault),
        Err(fault) => (false, Some(fault)),
    };
    Recorded { answered, are_on_record, fault }
}

#[cfg(test)]
mod tests;
