//! Scan: read the candidates of a source page by page and keep those that need a person.

use crate::domain::filter::Facts;
use crate::domain::finding::{Finding, FindingKind, Sorted, find};
use crate::domain::item::{Item, Row, State, share_repeats};
use crate::domain::money::Money;
use crate::domain::policy::{Approvals, Risk, Stakes};
use crate::ports::source::{Cursor, Page, Source, SourceFault, SourceFaultKind, Wanted};
use crate::workflow::desk::{Desk, template_fields};
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::num::NonZero;
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;

/// How many items one page of a scan holds: a page is what an application's writer waits for at most.
pub const PAGE_ITEMS_MAX: usize = 2_000;
/// In how many places of a large source a scan reads at once.
const PARTS_MAX: usize = 3;
/// How much of a payload is read for a template.
const PAYLOAD_BYTES_MAX: usize = 1 << 20;

/// A finding with what policy adds to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The finding.
    pub finding: Finding,
    /// What a wrong decision costs.
    pub risk: Risk,
    /// How many persons a decision takes.
    pub approvals: Approvals,
    /// Names of fields that its policy hides, in its error too.
    pub mask: Arc<[String]>,
    /// What the provider knows the item by, or why that cannot be said.
    pub reference: Result<Arc<str>, Arc<str>>,
    /// What the job asked for; `None` where its policy names no amount, or only a payload that a scan does not read has it.
    pub money: Option<Box<Money>>,
    /// How far the source's clock is ahead of ours.
    pub clock_gap: TimeDelta,
}

impl Found {
    /// What is at stake.
    pub fn stakes(&self) -> Stakes {
        Stakes { risk: self.risk, approvals: self.approvals }
    }

    /// Its facts for a filter, without verdict and advice.
    pub fn facts(&self) -> Facts<'_> {
        let item = &self.finding.item;
        Facts {
            source: &item.source,
            key: item.key.as_str(),
            kind: &item.kind,
            status: &item.status,
            risk: self.risk.as_str(),
            finding: self.finding.kind.as_str(),
            class: self.finding.error.as_ref().map_or("", |sorted| sorted.class.as_str()),
            error: item.last_error.text().unwrap_or(""),
            reference: self.reference.as_deref().unwrap_or(""),
            age: self.finding.age,
            attempts: item.attempts,
            since: self.finding.since,
            amount: self.money.as_ref().map(|money| &money.amount),
            currency: self.money.as_ref().and_then(|money| money.currency.as_deref()).unwrap_or(""),
            ..Facts::default()
        }
    }
}

/// One page of findings.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPage {
    /// The findings, in the source's order.
    pub found: Vec<Found>,
    /// The source's own clock.
    pub source_now: DateTime<Utc>,
    /// How far the source's clock is ahead of ours.
    pub clock_gap: TimeDelta,
}

/// Reads a source's findings page by page. The next page is being read while the caller looks at this one.
///
/// Dropping it stops the reading.
pub struct Pages<'a> {
    desk: &'a Desk,
    source: Arc<dyn Source>,
    wanted: Wanted,
    reading: FuturesUnordered<AbortOnDropHandle<Result<Page, SourceFault>>>,
}

impl<'a> Pages<'a> {
    /// Begins to read, one page after the other in the source's own order.
    pub fn in_order(desk: &'a Desk, source: &Arc<dyn Source>) -> Self {
        Self::from(desk, source, vec![None])
    }

    /// Begins to read a large source in several places at once: its pages come in no order.
    ///
    /// # Errors
    /// The source's own fault.
    pub async fn side_by_side(desk: &'a Desk, source: &Arc<dyn Source>) -> Result<Self, SourceFault> {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let parts = source.parts(processors.min(PARTS_MAX)).await?;
        Ok(Self::from(desk, source, parts))
    }

    /// Begins to read every item, whatever its state, for [`Pages::next_items`].
    pub fn of_every_item(desk: &'a Desk, source: &Arc<dyn Source>) -> Self {
        Self::begin(desk, source, vec![None], true)
    }

    fn from(desk: &'a Desk, source: &Arc<dyn Source>, beginnings: Vec<Option<Cursor>>) -> Self {
        // Beside the first page.
        let errors = Arc::clone(&desk.errors);
        drop(tokio::task::spawn_blocking(move || errors.prepare()));
        Self::begin(desk, source, beginnings, false)
    }

    fn begin(
        desk: &'a Desk,
        source: &Arc<dyn Source>,
        beginnings: Vec<Option<Cursor>>,
        every_item: bool,
    ) -> Self {
        let kinds = desk.kinds.values().chain([&desk.other_kinds]);
        let shortest = kinds.map(|kind| kind.policy.stuck_after).min().unwrap_or_else(TimeDelta::zero);
        let wanted = Wanted { running_older_than: shortest, page_items_max: PAGE_ITEMS_MAX, every_item };
        let pages = Self { desk, source: Arc::clone(source), wanted, reading: FuturesUnordered::new() };
        for beginning in beginnings {
            pages.read(beginning);
        }
        pages
    }

    fn read(&self, after: Option<Cursor>) {
        let (source, wanted) = (Arc::clone(&self.source), self.wanted.clone());
        let reading = tokio::spawn(async move { source.scan(&wanted, after).await });
        self.reading.push(AbortOnDropHandle::new(reading));
    }

    /// The next page of findings; `None` after the last one, and after a fault.
    pub async fn next(&mut self) -> Option<Result<FoundPage, SourceFault>> {
        let page = match self.next_items().await? {
            Ok(page) => page,
            Err(fault) => return Some(Err(fault)),
        };
        let sorted = sort_out_page(self.desk, &self.source, page.items, page.source_now).await;
        Some(sorted.map_err(|fault| self.end(fault)))
    }

    /// The next page as it was read; `None` after the last one, and after a fault.
    pub async fn next_items(&mut self) -> Option<Result<Page, SourceFault>> {
        let mut page = match self.reading.next().await? {
            Ok(Ok(page)) => page,
            Ok(Err(fault)) => return Some(Err(self.end(fault))),
            Err(_) => return Some(Err(self.end(broke_off(&self.source)))),
        };
        if page.next.is_some() {
            self.read(page.next.clone());
        }
        share_repeats(&mut page.items);
        Some(Ok(page))
    }

    /// Nothing more is read after a fault.
    fn end(&mut self, fault: SourceFault) -> SourceFault {
        self.reading.clear();
        fault
    }
}

fn broke_off(source: &Arc<dyn Source>) -> SourceFault {
    SourceFault {
        kind: SourceFaultKind::Broken,
        what: format!("{}: reading broke off inside the program", source.facts().place),
        do_next: "Try again; if it happens again, report it with the output of `unstuck doctor`.".to_owned(),
        may_have_written: false,
    }
}

async fn sort_out_page(
    desk: &Desk,
    source: &Arc<dyn Source>,
    items: Vec<Item>,
    source_now: DateTime<Utc>,
) -> Result<FoundPage, SourceFault> {
    let clock_gap = source_now - desk.clock.now();
    // What an error text proves takes some microseconds: all processors sort out a page together.
    let sorted: Vec<Result<Found, Finding>> = items
        .into_par_iter()
        .filter_map(|item| {
            let finding = sort_out(desk, item, source_now)?;
            let needs_payload = desk.kind(&finding.item.kind).reference.uses_payload();
            Some(if needs_payload { Err(finding) } else { Ok(refer(desk, finding, None, None, clock_gap)) })
        })
        .collect();
    let mut found = Vec::with_capacity(sorted.len());
    for one in sorted {
        found.push(match one {
            Ok(found) => found,
            Err(finding) => complete(desk, source, finding, None, clock_gap).await?,
        });
    }
    Ok(FoundPage { found, source_now, clock_gap })
}

/// Decides whether an item needs a person, by its kind's policy and what its error proves.
pub fn sort_out(desk: &Desk, item: Item, source_now: DateTime<Utc>) -> Option<Finding> {
    use crate::domain::item::LastError;
    let stuck_after = desk.kind(&item.kind).policy.stuck_after;
    let told = match (&item.last_error, item.state) {
        (LastError::Text(_), _) | (_, State::Failed | State::Dead) => true,
        (LastError::NotKept | LastError::Absent, State::Pending | State::Running | State::Done) => false,
    };
    let error = told.then(|| {
        let classified = desk.errors.classify(item.last_error.text());
        Sorted { class: classified.class, why: Arc::clone(classified.why) }
    });
    find(item, stuck_after, error, source_now)
}

/// An item that is no finding by its row: the question is whether its effect was lost.
pub(super) fn asked_about(item: Item, now: DateTime<Utc>) -> Finding {
    let since = item.times.updated.known().or(item.times.created.known());
    Finding {
        kind: FindingKind::Lost,
        error: None,
        since,
        age: since.map(|since| (now - since).max(TimeDelta::zero())),
        held: item.state == State::Running,
        notes: Vec::new(),
        item,
    }
}

/// Adds what policy says of a finding.
pub(super) async fn complete(
    desk: &Desk,
    source: &Arc<dyn Source>,
    finding: Finding,
    row: Option<&Row>,
    clock_gap: TimeDelta,
) -> Result<Found, SourceFault> {
    let kind = desk.kind(&finding.item.kind);
    let payload =
        if kind.reference.uses_payload() { payload_json(source, &finding.item).await? } else { None };
    Ok(refer(desk, finding, row, payload.as_ref(), clock_gap))
}

/// A finding with what the provider knows it by.
fn refer(
    desk: &Desk,
    finding: Finding,
    row: Option<&Row>,
    payload: Option<&serde_json::Value>,
    clock_gap: TimeDelta,
) -> Found {
    let kind = desk.kind(&finding.item.kind);
    let reference = if kind.reference.is_key() {
        Ok(finding.item.key.shared())
    } else {
        let fields = template_fields(&finding.item, row, payload);
        kind.reference.render(&fields).map(Arc::from).map_err(Arc::from)
    };
    let policy = &kind.policy;
    let money = kind.amount.as_ref().and_then(|amount| {
        let fields = template_fields(&finding.item, row, payload);
        // What cannot be read is told by the check; here it is only not known.
        let currency = kind.currency.as_ref().map(|currency| currency.render(&fields)).transpose().ok()?;
        Money::read(&amount.render(&fields).ok()?, currency.as_deref(), policy.amount_unit).ok().map(Box::new)
    });
    Found {
        finding,
        money,
        risk: policy.risk,
        approvals: policy.approvals,
        mask: Arc::clone(&policy.mask),
        reference,
        clock_gap,
    }
}

/// The payload as JSON, where it is JSON.
pub(super) async fn payload_json(
    source: &Arc<dyn Source>,
    item: &Item,
) -> Result<Option<serde_json::Value>, SourceFault> {
    let payload = source.payload(&item.key, PAYLOAD_BYTES_MAX).await?;
    Ok(payload.and_then(|payload| serde_json::from_slice(&payload.bytes).ok()))
}
