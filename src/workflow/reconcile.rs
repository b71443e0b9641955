//! Reconcile: match what the providers did over a window with what the jobs say, both ways and whatever a job's state.
//!
//! ```text
//! list each operation -> read every item of every source -> on the list, or done in the window?
//!      -> judge by the list -> duplicate, mismatch -> lost? ask for it alone -> effects that no item accounts for
//! ```
//! What lies outside the window is left out on our side ([`InWindow`]): a provider may not know the filter that it was given.
//! The lists are read before the items, so an effect that is on a list has its item already.

pub mod words;

use crate::domain::attempt::Attempts;
use crate::domain::evidence::{EffectState, Fault, FaultKind};
use crate::domain::finding::FindingKind;
use crate::domain::item::{Item, State};
use crate::domain::listing::window::InWindow;
use crate::domain::listing::{ListedEffect, Listing};
use crate::domain::policy::CheckName;
use crate::domain::verdict::Verdict;
use crate::ports::provider::Provider;
use crate::ports::source::{Source, SourceFault};
use crate::workflow::check::{Checked, WINDOW_MARGIN, check, check_by};
use crate::workflow::desk::Desk;
use crate::workflow::list::{List, list};
use crate::workflow::scan::{Found, Pages, asked_about, complete};
use crate::workflow::sweep::Answered;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::{StreamExt, future, stream};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use words::Step;

/// How many items are judged, or asked about, at once.
const UNDER_WAY_MAX: usize = 4;

/// What is matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// How far back the window goes.
    pub since: TimeDelta,
    /// The source whose items are told of; `None` for all, and then effects that no item accounts for too.
    pub source: Option<Arc<str>>,
}

/// An effect that no item accounts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unaccounted {
    /// Which operation did it.
    pub operation: CheckName,
    /// The effect, with the references it carries.
    pub effect: ListedEffect,
    /// When the list was begun.
    pub at: DateTime<Utc>,
    /// The hash of the listing.
    pub evidence: Option<String>,
}

/// What does not match, and what could not be looked at.
#[derive(Debug, Clone, Default)]
pub struct Reconciled {
    /// Items with more than one effect, another amount, or none although they are done: as their finding's kind says.
    pub items: Vec<Answered>,
    /// Effects that no item accounts for.
    pub unaccounted: Vec<Unaccounted>,
    /// How many items were matched.
    pub items_matched: usize,
    /// How many effects of the window were on the lists.
    pub effects_matched: usize,
    /// How many effects lie outside the window and were left out.
    pub left_out: usize,
    /// How many effects tell no time that can be read, and are matched for that.
    pub undated: usize,
    /// How many operations could be listed.
    pub lists_read: usize,
    /// How many of the sources that are told of could be read to their end.
    pub sources_read: usize,
    /// Operations whose list counts as not read, each with why, and how many items nothing is said of.
    pub not_listed: Vec<(CheckName, Fault, usize)>,
    /// Operations whose provider sees less far back than the window goes, each with how far: what is older is not on the list.
    pub short_sighted: Vec<(CheckName, TimeDelta)>,
    /// How many items have no reference, so that effects may be theirs that no item seems to account for.
    pub unreferenced: usize,
    /// Sources that could not be read to their end.
    pub unread: Vec<SourceFault>,
    /// Items of which nothing is sure: what is on the list for them does not count, or they are done and have no effect on it,
    /// and the question for them alone told nothing.
    pub unconfirmed: Vec<(Arc<Found>, Fault)>,
}

/// One operation with its list.
struct Operation<'a> {
    provider: &'a Arc<dyn Provider>,
    list: List,
    /// What of the list lies in the window; `None` where it counts as not read.
    window: Option<InWindow>,
    /// Every reference that an item has.
    accounted: HashSet<Arc<str>>,
    /// How many items of the window it is asked about.
    items: usize,
    /// How many items have no reference: an effect may be one of theirs.
    unreferenced: usize,
}

/// Who is told how far it is; nobody may wait in there.
pub type Told<'a> = &'a (dyn Fn(Step) + Send + Sync);

/// Matches both ways.
pub async fn reconcile(desk: &Desk, scope: &Scope, told: Told<'_>) -> Reconciled {
    let mut operations = list_all(desk, scope, told).await;
    let mut result = Reconciled::default();
    let mut candidates: Vec<Arc<Found>> = Vec::new();
    let mut items_read = 0;
    for source in &desk.sources {
        let name = &source.facts().name;
        let mut on_page = |items: usize| {
            items_read += items;
            told(Step::Items { source: Arc::clone(name), read: items_read });
        };
        on_page(0);
        let read = read_source(desk, source, scope, (&mut operations, &mut candidates), &mut on_page).await;
        result.sources_read += usize::from(read.is_ok() && is_told(scope, source));
        result.unread.extend(read.err());
    }
    result.items_matched = operations.values().map(|operation| operation.items).sum();
    result.unreferenced = operations.values().map(|operation| operation.unreferenced).sum();
    result.items = judge(desk, candidates, &operations, &mut result.unconfirmed, told).await;
    for (name, operation) in operations {
        match &operation.list.outcome {
            Ok(listing) => {
                result.count(listing, operation.window.as_ref());
                let lookback = operation.provider.facts().clocks.lookback;
                let short = lookback.filter(|lookback| *lookback < scope.since);
                result.short_sighted.extend(short.map(|lookback| (name.clone(), lookback)));
                // An item that was not read may be the one that an effect belongs to.
                if scope.source.is_none() && result.unread.is_empty() {
                    result.unaccounted.extend(unaccounted(&name, &operation));
                }
            }
            // Where nobody had a list to read, only its items are missed.
            Err(fault)
                if operation.items > 0
                    || (scope.source.is_none() && fault.kind != FaultKind::Unanswerable) =>
            {
                result.not_listed.push((name, fault.clone(), operation.items));
            }
            Err(_) => {}
        }
    }
    result
}

impl Reconciled {
    /// Counts what a list has of the window, and beside it.
    fn count(&mut self, listing: &Listing, window: Option<&InWindow>) {
        let counts = |listed: &&ListedEffect| window.is_none_or(|window| window.counts(listed));
        let effects = listing.effects();
        let matched = effects.iter().filter(counts).count();
        self.lists_read += 1;
        self.effects_matched += matched;
        self.left_out += effects.len() - matched;
        self.undated += effects.iter().filter(|listed| listed.at().is_none()).count();
    }
}

/// Whether a source's items are told of.
fn is_told(scope: &Scope, source: &Arc<dyn Source>) -> bool {
    scope.source.as_ref().is_none_or(|name| *name == source.facts().name)
}

async fn list_all<'a>(desk: &'a Desk, scope: &Scope, told: Told<'_>) -> BTreeMap<CheckName, Operation<'a>> {
    let from = desk.clock.now().checked_sub_signed(scope.since + WINDOW_MARGIN);
    let (read, total) = (AtomicUsize::new(0), desk.providers.len());
    told(Step::Lists { read: 0, total });
    let each = desk.providers.iter().map(async |(name, provider)| {
        let pages_max = provider.facts().listing.map_or(0, |facts| facts.pages_max);
        let list = list(desk, provider, from, pages_max).await;
        told(Step::Lists { read: read.fetch_add(1, Ordering::Relaxed) + 1, total });
        let listed = list.outcome.as_ref().ok().zip(list.began.checked_sub_signed(scope.since));
        let window = listed.map(|(listing, from)| InWindow::of(listing, from));
        let accounted = HashSet::new();
        (name.clone(), Operation { provider, list, window, accounted, items: 0, unreferenced: 0 })
    });
    future::join_all(each).await.into_iter().collect()
}

/// Reads every item of a source, and keeps those that a list or their state says something of.
async fn read_source(
    desk: &Desk,
    source: &Arc<dyn Source>,
    scope: &Scope,
    (operations, candidates): (&mut BTreeMap<CheckName, Operation<'_>>, &mut Vec<Arc<Found>>),
    on_page: &mut (dyn FnMut(usize) + Send),
) -> Result<(), SourceFault> {
    let is_told = is_told(scope, source);
    let mut pages = Pages::of_every_item(desk, source);
    while let Some(page) = pages.next_items().await {
        let page = page?;
        on_page(page.items.len());
        let clock_gap = page.source_now - desk.clock.now();
        for item in page.items {
            let name = desk.kind(&item.kind).policy.check.as_ref();
            let Some(operation) = name.and_then(|name| operations.get_mut(name)) else { continue };
            let is_in_window = is_in_window(desk, &item, page.source_now, scope.since);
            operation.items += usize::from(is_in_window && is_told);
            let Ok(listing) = &operation.list.outcome else { continue };
            let is_done = item.state == State::Done && is_in_window;
            let finding = asked_about(item, page.source_now);
            let found = complete(desk, source, finding, None, clock_gap).await?;
            let Ok(reference) = &found.reference else {
                operation.unreferenced += 1;
                continue;
            };
            if is_in_window && let Some(window) = &mut operation.window {
                window.add(reference);
            }
            let is_of_window = operation.window.as_ref().is_none_or(|window| window.holds(reference));
            let is_listed = is_of_window && !listing.pages_of(reference).is_empty();
            operation.accounted.insert(Arc::clone(reference));
            if is_told && (is_listed || is_done) {
                candidates.push(Arc::new(found));
            }
        }
    }
    Ok(())
}

/// Whether an item was last tried within the window, or may have been.
pub(in crate::workflow) fn is_in_window(
    desk: &Desk,
    item: &Item,
    source_now: DateTime<Utc>,
    since: TimeDelta,
) -> bool {
    let attempt_max = desk.kind(&item.kind).policy.stuck_after;
    let last = Attempts::of(item, attempt_max, source_now).last;
    last.is_none_or(|last| source_now - last <= since)
}

/// Judges items by the lists, and asks for each one alone that seems lost: only that says so.
async fn judge(
    desk: &Desk,
    candidates: Vec<Arc<Found>>,
    operations: &BTreeMap<CheckName, Operation<'_>>,
    unconfirmed: &mut Vec<(Arc<Found>, Fault)>,
    told: Told<'_>,
) -> Vec<Answered> {
    let (mut done, total) = (0, candidates.len());
    let judged: Vec<Option<(Arc<Found>, Checked)>> = stream::iter(candidates)
        .map(|found| async move {
            let name = desk.kind(&found.finding.item.kind).policy.check.as_ref()?;
            let operation = operations.get(name)?;
            let checked = check_by(desk, &found, &operation.list, operation.provider.facts()).await;
            if !is_lost(&found, &checked) {
                return Some((found, checked));
            }
            let alone = check(desk, &found).await;
            Some((found, alone))
        })
        .buffered(UNDER_WAY_MAX)
        .inspect(|_| {
            done += 1;
            told(Step::Judged { done, total });
        })
        .collect()
        .await;
    let mut odd = Vec::new();
    for (found, checked) in judged.into_iter().flatten() {
        match kind_of(&found, &checked) {
            Some(kind) => {
                let mut found = Arc::unwrap_or_clone(found);
                found.finding.kind = kind;
                odd.push((Arc::new(found), Arc::new(checked)));
            }
            // Of a list that was not read, it is told how many items it leaves open.
            None if found.finding.item.state == State::Done || is_listed(desk, &found, operations) => {
                let fault = checked.judgement.fault.clone();
                unconfirmed.extend(fault.map(|fault| (found, fault)));
            }
            None => {}
        }
    }
    odd
}

fn is_listed(desk: &Desk, found: &Found, operations: &BTreeMap<CheckName, Operation<'_>>) -> bool {
    let name = desk.kind(&found.finding.item.kind).policy.check.as_ref();
    name.and_then(|name| operations.get(name)).is_some_and(|operation| operation.list.outcome.is_ok())
}

fn is_lost(found: &Found, checked: &Checked) -> bool {
    let is_done = found.finding.item.state == State::Done;
    is_done && checked.verdict() == Verdict::NotFound && checked.judgement.settled
}

/// What an item is by its verdict, whatever its state; `None` where the two agree or nothing is sure.
pub(in crate::workflow) fn kind_of(found: &Found, checked: &Checked) -> Option<FindingKind> {
    match checked.verdict() {
        Verdict::Duplicated => Some(FindingKind::Duplicate),
        Verdict::Mismatch => Some(FindingKind::Mismatch),
        Verdict::NotFound => is_lost(found, checked).then_some(FindingKind::Lost),
        Verdict::Happened | Verdict::Pending | Verdict::Failed | Verdict::Unknown => None,
    }
}

/// The effects of the window that no item accounts for, failed ones aside: those did nothing.
fn unaccounted(name: &CheckName, operation: &Operation<'_>) -> Vec<Unaccounted> {
    let List { began, outcome, evidence } = &operation.list;
    let Ok(listing) = outcome else { return Vec::new() };
    let is_theirs = |listed: &&ListedEffect| {
        !listed.references.iter().any(|reference| operation.accounted.contains(reference.as_str()))
    };
    let counts = |listed: &&ListedEffect| {
        let is_failed = listed.read.as_ref().is_ok_and(|effect| effect.state == EffectState::Failed);
        !is_failed && operation.window.as_ref().is_none_or(|window| window.counts(listed))
    };
    let told = listing.effects().iter().filter(is_theirs).filter(counts);
    told.map(|listed| Unaccounted {
        operation: name.clone(),
        effect: listed.clone(),
        at: *began,
        evidence: evidence.as_ref().map(|evidence| evidence.hash.clone()),
    })
    .collect()
}
