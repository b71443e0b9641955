//! Propose: put a decision that takes two persons on record for the second one. Nothing but the record is touched.

use super::entries::proposals::{Attempt, lapsed, proposed, refused_approval, withdrawn};
use super::entries::{Receipted, record_of};
use super::write::Grounds;
use super::{Decided, NotOpen, Opened, Order, OrderFault, clock_moved, may_write, open};
use crate::domain::approval::{Present, WhyNot, is_same_name};
use crate::domain::decision::{Choice, Outcome, Reason, Unapproved};
use crate::domain::moment::stamp;
use crate::domain::proposal::{Closed, IdEnding, Proposal, Sight};
use crate::domain::text::clean_cut;
use crate::ports::record::{Once, RecordFault};
use crate::ports::source::Source;
use crate::workflow::check::check;
use crate::workflow::desk::Desk;
use std::sync::Arc;
use uuid::Uuid;

/// How many proposals are read at once.
const PAGE_ENTRIES: usize = 200;
/// How many waiting proposals are told at most.
const WAITING_MAX: usize = 1_000;
/// How much of a name is told.
const NAME_CHARS_MAX: usize = 60;
/// How many proposals with the same ending are looked at.
const SAME_ENDING_MAX: usize = 10;

/// Puts a decision on record as a proposal, unless one waits on the item already.
pub(super) async fn propose(
    desk: &Desk,
    unapproved: Unapproved,
    grounds: Grounds,
) -> Result<Decided, OrderFault> {
    let record = record_of(desk)?;
    if let Some(earlier) = still_waiting_on(desk, &unapproved, &grounds).await? {
        return refuse_second(desk, &unapproved, grounds, &earlier).await;
    }
    let now = desk.clock.now();
    let until = now + desk.kind(&grounds.found.finding.item.kind).policy.proposal_lasts;
    let entry = proposed(desk, &unapproved, &grounds, until);
    let placed = record.append(vec![entry]).await.map_err(OrderFault::Record)?;
    let Some(proposal) = placed.last().and_then(Proposal::of_entry) else {
        return Err(OrderFault::Record(unreadable("the proposal that was just written")));
    };
    let why = unapproved.why().to_owned();
    let insists = if proposal.insists { " --override" } else { "" };
    let do_next = format!(
        "A second person approves it: unstuck approve {} --reason TEXT{insists}",
        proposal.short_id()
    );
    let entry = Some(proposal.entry);
    let outcome = Outcome::Proposed { proposal: Box::new(proposal), why };
    Ok(told(desk, &unapproved, grounds, outcome, (do_next, entry)))
}

/// The proposal that waits on an item as it is now, and so stands in the way of whoever would decide alone. To escalate
/// takes nothing from it.
pub(super) async fn waiting_on(
    desk: &Desk,
    order: &Order,
    opened: &Opened,
) -> Result<Option<Proposal>, OrderFault> {
    if order.choice == Choice::Escalate {
        return Ok(None);
    }
    let key = opened.found.finding.item.key.as_str();
    let subject = desk.subject(&order.source, key);
    let waiting = record_of(desk)?.waiting_on(&subject).await.map_err(OrderFault::Record)?;
    let (now, row_sha256) = (desk.clock.now(), opened.row.sha256());
    let stands = |proposal: &Proposal| !proposal.is_overdue(now) && proposal.row_sha256 == row_sha256;
    Ok(waiting.iter().filter_map(Proposal::of_entry).find(stands))
}

/// Nobody decides alone on an item that somebody else's proposal waits on, whatever the policy says by now.
pub(super) async fn refuse_alone(
    desk: &Desk,
    order: &Order,
    decision: Uuid,
    grounds: Grounds,
    proposal: &Proposal,
) -> Result<Decided, OrderFault> {
    let why = format!(
        "{} proposed to {} it as {}, and that waits for a second person",
        clean_cut(&proposal.proposer.name, NAME_CHARS_MAX),
        proposal.choice.verb(),
        proposal.short_id()
    );
    let not_open = NotOpen { why, now: Some(grounds.change.seen) };
    let (found, checked) = (Some(&grounds.found), Some(grounds.checked));
    let mut decided = super::refuse(desk, order, decision, found, not_open, checked).await?;
    decided.do_next = Some("Approve it or withdraw it first: `unstuck proposals` shows it.".to_owned());
    Ok(decided)
}

/// What came of it, told also to whoever wants receipts.
fn told(
    desk: &Desk,
    unapproved: &Unapproved,
    grounds: Grounds,
    outcome: Outcome,
    (do_next, entry): (String, Option<i64>),
) -> Decided {
    let draft = unapproved.draft();
    let receipt = Receipted {
        key: draft.key.as_str(),
        choice: draft.choice,
        reason: draft.reason.as_str(),
        found: Some(&grounds.found),
    };
    let record_fault = receipt.write(desk, &outcome, Some(&grounds.checked), entry);
    Decided {
        decision: draft.id,
        choice: draft.choice,
        outcome,
        do_next: Some(do_next),
        hindrance: grounds.checked.hindrance(),
        checked: Some(grounds.checked),
        entry,
        record_fault,
    }
}

/// The proposal that waits on an item and still stands. Those that do not are put on record as lapsed.
async fn still_waiting_on(
    desk: &Desk,
    unapproved: &Unapproved,
    grounds: &Grounds,
) -> Result<Option<Proposal>, OrderFault> {
    let draft = unapproved.draft();
    let subject = desk.subject(&draft.source, draft.key.as_str());
    let waiting = record_of(desk)?.waiting_on(&subject).await.map_err(OrderFault::Record)?;
    let (row_sha256, sight) = (unapproved.seen().sha256(), Sight::of(&grounds.checked.judgement));
    let present = Present {
        now: desk.clock.now(),
        row_sha256: &row_sha256,
        sight: &sight,
        fault: grounds.checked.judgement.fault.as_ref(),
    };
    for earlier in waiting.iter().filter_map(Proposal::of_entry) {
        let seems_lapsed = earlier.stands(&present).is_err_and(|why| why.lapses());
        if !seems_lapsed || !lapses_on_another_look(desk, &earlier, &draft.reason, &grounds.source).await? {
            return Ok(Some(earlier));
        }
    }
    Ok(None)
}

/// Looks at an item once more for a proposal that seems to have lapsed, and puts on record that it has. What was seen before
/// may be older than the proposal, so that it is not the item that has moved on.
async fn lapses_on_another_look(
    desk: &Desk,
    earlier: &Proposal,
    reason: &Reason,
    source: &Arc<dyn Source>,
) -> Result<bool, OrderFault> {
    let began = desk.clock.now();
    let (why, row, looked) =
        match open(desk, source, &earlier.key, earlier.choice).await.map_err(OrderFault::Source)? {
            Err(NotOpen { why, now }) => (Some(WhyNot::RowChanged { what: why }), now, None),
            Ok(Opened { mut found, row, source_now, .. }) => {
                found.clock_gap = source_now - desk.clock.now();
                let checked = check(desk, &found).await;
                if clock_moved(desk, &found, began, &checked).is_some() {
                    return Ok(false);
                }
                let (row_sha256, sight) = (row.sha256(), Sight::of(&checked.judgement));
                let present = Present {
                    now: desk.clock.now(),
                    row_sha256: &row_sha256,
                    sight: &sight,
                    fault: checked.judgement.fault.as_ref(),
                };
                (earlier.stands(&present).err(), Some(row), Some((found, checked)))
            }
        };
    let Some(why) = why.filter(WhyNot::lapses) else { return Ok(false) };
    let attempt = Attempt {
        proposal: earlier,
        attempted: "propose",
        reason,
        why: &why.to_string(),
        row_now: row.as_ref(),
        found: looked.as_ref().map(|(found, _)| found),
        checked: looked.as_ref().map(|(_, checked)| checked),
    };
    lapse(desk, &attempt).await?;
    Ok(true)
}

async fn refuse_second(
    desk: &Desk,
    unapproved: &Unapproved,
    grounds: Grounds,
    earlier: &Proposal,
) -> Result<Decided, OrderFault> {
    let (short, by) = (earlier.short_id(), clean_cut(&earlier.proposer.name, NAME_CHARS_MAX));
    let why = format!(
        "already proposed by {by} as {short}: {}, until {}",
        earlier.choice.verb(),
        stamp(earlier.until)
    );
    let attempt = Attempt {
        proposal: earlier,
        attempted: "propose",
        reason: &unapproved.draft().reason,
        why: &why,
        row_now: Some(unapproved.seen()),
        found: Some(&grounds.found),
        checked: Some(&grounds.checked),
    };
    let refused = refused_approval(desk, &attempt);
    let placed = record_of(desk)?.append(vec![refused]).await.map_err(OrderFault::Record)?;
    let outcome = Outcome::Refused { why, now: Some(unapproved.seen().clone()) };
    let do_next = format!(
        "A second person approves it (unstuck approve {short}), or withdraws it: unstuck withdraw {short}"
    );
    Ok(told(desk, unapproved, grounds, outcome, (do_next, placed.last().map(|entry| entry.seq))))
}

/// Puts on record that a proposal has lapsed, unless somebody settled it otherwise meanwhile.
pub(super) async fn lapse(desk: &Desk, attempt: &Attempt<'_>) -> Result<Once, OrderFault> {
    record_of(desk)?.append_once(lapsed(desk, attempt)).await.map_err(OrderFault::Record)
}

/// The proposals that wait for a second person and whose time is not over, the oldest first.
///
/// # Errors
/// The audit's own fault.
pub async fn waiting(desk: &Desk) -> Result<Vec<Proposal>, RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let now = desk.clock.now();
    let mut waiting: Vec<Proposal> = Vec::new();
    let mut after = 0;
    loop {
        let page = record.waiting(after, PAGE_ENTRIES).await?;
        waiting.extend(page.iter().filter_map(Proposal::of_entry).filter(|one| !one.is_overdue(now)));
        match page.last() {
            Some(last) if page.len() == PAGE_ENTRIES && waiting.len() < WAITING_MAX => after = last.seq,
            _ => break,
        }
    }
    waiting.truncate(WAITING_MAX);
    Ok(waiting)
}

/// A proposal as somebody calls it: by its whole id, or by an ending that no other has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Called {
    /// This one.
    One(Box<Proposal>),
    /// None has such an id.
    Unknown,
    /// What was typed can be no id's end.
    NoId,
    /// Several end so: their ids.
    Several(Vec<Uuid>),
}

/// Finds a proposal by what was typed, whatever became of it.
///
/// # Errors
/// The audit's own fault.
pub async fn find(desk: &Desk, typed: &str) -> Result<Called, RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let Some(ending) = IdEnding::read(typed) else { return Ok(Called::NoId) };
    let entries = record.proposals_ending(&ending, SAME_ENDING_MAX).await?;
    let mut ids: Vec<Uuid> =
        entries.iter().filter_map(|entry| Uuid::parse_str(&entry.decision).ok()).collect();
    ids.dedup();
    match ids[..] {
        [] => Ok(Called::Unknown),
        [id] => Ok(Called::One(Box::new(read(desk, id).await?.ok_or_else(|| unreadable(typed))?))),
        [..] => Ok(Called::Several(ids)),
    }
}

/// The proposal of a decision with what became of it; `None` where there is none.
pub(super) async fn read(desk: &Desk, id: Uuid) -> Result<Option<Proposal>, RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    Ok(Proposal::of_decision(&record.of_decision(id).await?))
}

fn unreadable(what: &str) -> RecordFault {
    RecordFault {
        is_absent: false,
        what: format!("the audit has a proposal that cannot be read ({})", clean_cut(what, 60)),
        do_next: "Run `unstuck audit verify`.".to_owned(),
    }
}

/// A proposal that was taken back or rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawn {
    /// The proposal.
    pub proposal: Proposal,
    /// Whether its proposer did it.
    pub by_proposer: bool,
    /// The audit entry that tells it.
    pub entry: i64,
}

/// Takes a proposal back, or rejects somebody else's. The record shows who did it and why.
///
/// # Errors
/// [`OrderFault`] when nothing was recorded; the inner error says that it had its end before.
pub async fn withdraw(
    desk: &Desk,
    id: Uuid,
    reason: &Reason,
) -> Result<Result<Withdrawn, WhyNot>, OrderFault> {
    may_write(desk)?;
    let Some(proposal) = read(desk, id).await.map_err(OrderFault::Record)? else {
        return Err(OrderFault::NoSuchProposal(id.to_string()));
    };
    if let Some(closed) = &proposal.closed {
        return Ok(Err(WhyNot::Closed(closed.clone())));
    }
    let by_proposer = is_same_name(&proposal.proposer, &desk.operator);
    let entry = withdrawn(desk, &proposal, reason, by_proposer);
    match record_of(desk)?.append_once(entry).await.map_err(OrderFault::Record)? {
        Once::Placed(entry) => Ok(Ok(Withdrawn { proposal, by_proposer, entry: entry.seq })),
        Once::Taken(earlier) => match Closed::of(&earlier) {
            Some(closed) => Ok(Err(WhyNot::Closed(closed))),
            None => Err(OrderFault::Record(unreadable(&earlier.event))),
        },
    }
}
