//! Sweep: check many findings, each put on record soon after it was answered.
//!
//! The findings of one operation are asked about one by one, several at once, or read from its list: as planned.

use crate::domain::plan::{Plan, Wish, covers, needs, plan};
use crate::domain::policy::CheckName;
use crate::ports::provider::Provider;
use crate::ports::record::RecordFault;
use crate::workflow::check::{Checked, check, check_by, first_attempt_of, record_checks};
use crate::workflow::desk::Desk;
use crate::workflow::list::list;
use crate::workflow::scan::Found;
use futures_util::stream::{BoxStream, SelectAll};
use futures_util::{Stream, StreamExt, stream};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// How many findings that nobody can be asked about are looked at at once.
const UNASKED_UNDER_WAY_MAX: usize = 8;
/// How many checks share one transaction of the audit at most.
pub const CHECKS_RECORDED_AT_ONCE_MAX: usize = 128;

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

/// Findings with their checks, as they are answered: whatever is ready comes together.
pub fn sweep<'a>(
    desk: &'a Desk,
    found: impl IntoIterator<Item = Arc<Found>> + 'a,
) -> impl Stream<Item = Vec<Answered>> + 'a {
    sweep_planned(desk, plan_all(desk, found, Wish::Cheapest))
}

/// The same as planned.
pub fn sweep_planned(desk: &Desk, planned: Vec<Planned>) -> impl Stream<Item = Vec<Answered>> {
    answers(desk, planned).ready_chunks(CHECKS_RECORDED_AT_ONCE_MAX)
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
    let (list, clocks) = (&list, facts.clocks);
    let answered = stream::iter(covered)
        .map(|found| async move {
            let checked = Arc::new(check_by(desk, &found, list, clocks).await);
            (found, checked)
        })
        .buffer_unordered(UNASKED_UNDER_WAY_MAX)
        .collect()
        .await;
    (answered, left)
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

#[cfg(test)]
mod tests;
