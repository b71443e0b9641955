//! Approve: the second person's way. The row is read anew, the provider asked anew, and only exactly what was proposed is
//! carried out, by the same steps as any decision.

use super::entries::proposals::{Attempt, refused_approval, writes_sha256};
use super::entries::{Receipted, record_of};
use super::{
    Decided, NotOpen, Opened, OrderFault, PAYLOAD_KEPT_BYTES_MAX, Prepared, carry_out, change_of,
    clock_moved, find_source, may_write, open, prepare, propose, write,
};
use crate::domain::approval::{Approver, Present, WhyNot, may_approve, may_take_up};
use crate::domain::decision::{Denied, Outcome, Reason};
use crate::domain::item::Row;
use crate::domain::proposal::{Closed, Proposal, Sight};
use crate::ports::record::Once;
use crate::ports::source::PlannedStatement;
use crate::workflow::check::{Checked, check};
use crate::workflow::desk::Desk;
use crate::workflow::scan::Found;
use std::sync::Arc;
use uuid::Uuid;

/// What a second person orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalOrder {
    /// The decision that was proposed.
    pub decision: Uuid,
    /// Why: the second person's own words.
    pub reason: Reason,
    /// Whether the second person insists against the advice.
    pub insists: bool,
}

/// A proposal beside what is known now.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// What was proposed.
    pub proposal: Proposal,
    /// Why whoever sits here cannot approve it, insisting or not; `None` where nothing stands against it.
    pub why_not: Option<WhyNot>,
    /// What it would do now, or why there is nothing to decide any more.
    pub now: Result<Prepared, NotOpen>,
}

/// Looks at a proposal beside its item as it is now. Writes nothing.
///
/// # Errors
/// The fault of the record or the source.
pub async fn review(desk: &Desk, decision: Uuid) -> Result<Review, OrderFault> {
    let proposal = proposal_of(desk, decision).await?;
    let recorded_by = login_of(desk).await?;
    let now = prepare(desk, &proposal.source, &proposal.key, proposal.choice, None).await?;
    let why_not = match &now {
        Ok(prepared) => {
            let (row_sha256, sight) = (prepared.row.sha256(), Sight::of(&prepared.checked.judgement));
            let present = present(desk, &row_sha256, &sight, &prepared.checked);
            // Whether somebody insists is asked in the next step.
            let approver = Approver {
                operator: desk.operator.clone(),
                recorded_by: recorded_by.clone(),
                reason: proposal.reason.clone(),
                insists: true,
            };
            let differs = |planned: &Vec<PlannedStatement>| {
                let facts = desk.source(&proposal.source)?.facts();
                (writes_sha256(&facts, planned) != proposal.writes_sha256).then_some(WhyNot::OtherStatements)
            };
            may_approve(&proposal, &approver, &present, desk.approval_rules)
                .err()
                .or_else(|| prepared.statements.as_ref().ok().and_then(differs))
        }
        Err(not_open) => may_begin(desk, &proposal, recorded_by.as_deref())
            .err()
            .or_else(|| Some(WhyNot::RowChanged { what: not_open.why.clone() })),
    };
    Ok(Review { proposal, why_not, now })
}

fn present<'a>(desk: &Desk, row_sha256: &'a str, sight: &'a Sight, checked: &'a Checked) -> Present<'a> {
    Present { now: desk.clock.now(), row_sha256, sight, fault: checked.judgement.fault.as_ref() }
}

/// Who the audit's database knows us as, where the audit is in one.
async fn login_of(desk: &Desk) -> Result<Option<Arc<str>>, OrderFault> {
    let known = record_of(desk)?.recorded_by().await.map_err(OrderFault::Record)?;
    Ok(known.map(|by| by.login))
}

fn may_begin(desk: &Desk, proposal: &Proposal, recorded_by: Option<&str>) -> Result<(), WhyNot> {
    may_take_up(proposal, &desk.operator, recorded_by, desk.clock.now(), desk.approval_rules)
}

async fn proposal_of(desk: &Desk, decision: Uuid) -> Result<Proposal, OrderFault> {
    propose::read(desk, decision)
        .await
        .map_err(OrderFault::Record)?
        .ok_or_else(|| OrderFault::NoSuchProposal(decision.to_string()))
}

/// Approves a proposal and carries it out.
///
/// # Errors
/// [`OrderFault`] when nothing was touched and nothing recorded.
pub async fn approve(desk: &Arc<Desk>, order: ApprovalOrder) -> Result<Decided, OrderFault> {
    may_write(desk)?;
    let proposal = proposal_of(desk, order.decision).await?;
    let attempt = Attempted { desk, order: &order, proposal: &proposal };
    let recorded_by = login_of(desk).await?;
    if let Err(why) = may_begin(desk, &proposal, recorded_by.as_deref()) {
        return attempt.in_vain(&why, Known::default()).await;
    }
    let source = Arc::clone(find_source(desk, &proposal.source)?);
    let began = desk.clock.now();
    let mut opened =
        match open(desk, &source, &proposal.key, proposal.choice).await.map_err(OrderFault::Source)? {
            Ok(opened) => opened,
            Err(NotOpen { why, now }) => {
                let known = Known { row: now.as_ref(), ..Known::default() };
                return attempt.in_vain(&WhyNot::RowChanged { what: why }, known).await;
            }
        };
    let change = change_of(desk, &opened, proposal.id, order.reason.as_str());
    // What is asked now counts as of when the row was read: our own clock may have been set since.
    opened.found.clock_gap = opened.source_now - desk.clock.now();
    let Opened { found, row, .. } = &opened;
    let row_sha256 = row.sha256();
    // Before the provider is asked: for another row its answer would not count.
    if row_sha256 != proposal.row_sha256 {
        let what = "the row changed since it was proposed".to_owned();
        let known = Known { row: Some(row), found: Some(found), checked: None };
        return attempt.in_vain(&WhyNot::RowChanged { what }, known).await;
    }
    let planned = source.plan(proposal.choice, &change);
    // Before the last look at the clock: from there on nothing is waited for, or the proposal could be overdue meanwhile.
    let payload = source.payload(&change.key, PAYLOAD_KEPT_BYTES_MAX).await.map_err(OrderFault::Source)?;
    let checked = check(desk, found).await;
    let known = Known { row: Some(row), found: Some(found), checked: Some(&checked) };
    let statements = match planned {
        Ok(statements) => statements,
        Err(unsupported) => return attempt.refused(unsupported.0, NEXT.to_owned(), known).await,
    };
    if let Some(why) = clock_moved(desk, found, began, &checked) {
        return attempt.refused(why, NEXT.to_owned(), known).await;
    }
    if writes_sha256(&source.facts(), &statements) != proposal.writes_sha256 {
        return attempt.in_vain(&WhyNot::OtherStatements, known).await;
    }
    let sight = Sight::of(&checked.judgement);
    let approver = Approver {
        operator: desk.operator.clone(),
        recorded_by,
        reason: order.reason.clone(),
        insists: order.insists,
    };
    let present = present(desk, &row_sha256, &sight, &checked);
    let approval = match may_approve(&proposal, &approver, &present, desk.approval_rules) {
        Ok(approval) => approval,
        Err(why) => return attempt.in_vain(&why, known).await,
    };
    let (key, seen) = (found.finding.item.key.clone(), row.clone());
    let permitted = approval.permit(key, found.stakes(), &checked.judgement, &checked.advised, seen);
    let permitted = match permitted {
        Ok(permitted) => permitted,
        Err(Denied { why, do_next }) => return attempt.refused(why, do_next, known).await,
    };
    let grounds = write::Grounds { source, found: opened.found, checked, statements, change, payload };
    carry_out(desk, permitted, grounds).await
}

const NEXT: &str = "Look at the item as it is now.";

/// What was known when an attempt came to nothing.
#[derive(Clone, Copy, Default)]
struct Known<'a> {
    row: Option<&'a Row>,
    found: Option<&'a Found>,
    checked: Option<&'a Checked>,
}

/// Somebody's attempt to approve.
struct Attempted<'a> {
    desk: &'a Desk,
    order: &'a ApprovalOrder,
    proposal: &'a Proposal,
}

impl Attempted<'_> {
    /// The proposal cannot be approved; where it has lapsed thereby, that goes on record.
    async fn in_vain(&self, why_not: &WhyNot, known: Known<'_>) -> Result<Decided, OrderFault> {
        let (why, do_next) = (why_not.to_string(), why_not.do_next().to_owned());
        if !why_not.lapses() {
            return self.refused(why, do_next, known).await;
        }
        Ok(match propose::lapse(self.desk, &self.entry(&why, &known)).await? {
            Once::Placed(entry) => self.told(why, do_next, known, entry.seq),
            // It moved on because somebody else carried it out: that is what there is to tell.
            Once::Taken(earlier) => {
                let settled = Closed::of(&earlier).map(WhyNot::Closed);
                let why = settled.as_ref().map_or(why, ToString::to_string);
                let do_next = settled.map_or(do_next, |settled| settled.do_next().to_owned());
                self.told(why, do_next, known, earlier.seq)
            }
        })
    }

    /// Nothing comes of the attempt, and the proposal stays as it is.
    async fn refused(&self, why: String, do_next: String, known: Known<'_>) -> Result<Decided, OrderFault> {
        let refused = refused_approval(self.desk, &self.entry(&why, &known));
        let placed = record_of(self.desk)?.append(vec![refused]).await.map_err(OrderFault::Record)?;
        let entry = placed.last().map_or(self.proposal.entry, |entry| entry.seq);
        Ok(self.told(why, do_next, known, entry))
    }

    fn entry<'a>(&'a self, why: &'a str, known: &Known<'a>) -> Attempt<'a> {
        Attempt {
            proposal: self.proposal,
            attempted: "approve",
            reason: &self.order.reason,
            why,
            row_now: known.row,
            found: known.found,
            checked: known.checked,
        }
    }

    fn told(&self, why: String, do_next: String, known: Known<'_>, entry: i64) -> Decided {
        let outcome = Outcome::Refused { why, now: known.row.cloned() };
        let receipt = Receipted {
            key: &self.proposal.key,
            choice: self.proposal.choice,
            reason: self.order.reason.as_str(),
            found: known.found,
        };
        let record_fault = receipt.write(self.desk, &outcome, known.checked, Some(entry));
        Decided {
            decision: self.proposal.id,
            choice: self.proposal.choice,
            outcome,
            do_next: Some(do_next),
            hindrance: known.checked.and_then(Checked::hindrance),
            checked: known.checked.cloned(),
            entry: Some(entry),
            record_fault,
        }
    }
}
