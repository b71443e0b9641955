//! Settle: carry out one decision. Intent first, then compare-and-set, then the outcome.
//!
//! ```text
//! read the row -> still a finding, still as listed? -> ask the provider again -> permitted?
//!      -> intent on record -> escalate / write where unchanged -> outcome on record
//! ```
//! Where it takes two persons, the first one's way ends in a proposal on record ([`propose`]), and the second one walks the
//! same way again from the row on ([`approve`]).
//!
//! Everything before the intent may be dropped at any moment; from the intent on, the decision is carried to its outcome.

pub mod approve;
pub(crate) mod entries;
mod notice;
pub mod propose;
mod write;

use crate::domain::decision::{Choice, Denied, Draft, Outcome, Permitted, Reason, Ruling};
use crate::domain::evidence::Hindrance;
use crate::domain::finding::{Finding, why_live};
use crate::domain::item::{Item, ItemKey, Row, State};
use crate::domain::permission::{Permission, permission};
use crate::domain::verdict::Verdict;
use crate::ports::escalation::ShownRequest;
use crate::ports::record::RecordFault;
use crate::ports::source::{Change, LateWriter, PlannedStatement, Source, SourceFault};
use crate::workflow::check::{Checked, check};
use crate::workflow::desk::Desk;
use crate::workflow::reconcile::kind_of;
use crate::workflow::scan::{Found, asked_about, complete, sort_out};
use chrono::{DateTime, TimeDelta, Utc};
pub(crate) use entries::outcome_json;
pub use entries::{masked_row, masked_statements};
use std::sync::Arc;
use uuid::Uuid;

/// How much of a payload goes on record with a decision, in bytes: it may delete the row that the payload is in.
const PAYLOAD_KEPT_BYTES_MAX: usize = 64 * 1024;

/// What an operator orders.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The source's name.
    pub source: Arc<str>,
    /// The item's key, as a person writes it.
    pub key: Arc<str>,
    /// The item as it was shown; `None` when the operator names a key without having seen it.
    pub shown: Option<Item>,
    /// The verdict the operator decides on; `None` when none was shown.
    pub shown_verdict: Option<Verdict>,
    /// What was chosen.
    pub choice: Choice,
    /// Why.
    pub reason: Reason,
    /// Whether the operator insists against the advice.
    pub insists: bool,
}

/// What came of an order.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The decision's id.
    pub decision: Uuid,
    /// What was chosen.
    pub choice: Choice,
    /// The outcome.
    pub outcome: Outcome,
    /// What to do next, where the outcome is not `applied`.
    pub do_next: Option<String>,
    /// What stood in the way, where that was no "no": the provider, the source or the target of an escalation.
    pub hindrance: Option<Hindrance>,
    /// The check right before the write, where it came to that.
    pub checked: Option<Checked>,
    /// The audit entry of the outcome; `None` when it could not be recorded, and then `record_fault` says why.
    pub entry: Option<i64>,
    /// Why the outcome is not on record: the next start finds the intent and settles it.
    pub record_fault: Option<RecordFault>,
}

/// Why an order came to nothing, not even to an entry in the audit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderFault {
    /// The console was started to look, not to write.
    #[error("decisions are refused: the console is read-only")]
    ReadOnly,
    /// There is no source of that name.
    #[error("there is no source `{0}`")]
    NoSuchSource(String),
    /// There is no proposal of that id.
    #[error("there is no proposal `{0}`")]
    NoSuchProposal(String),
    /// Without an audit nothing is decided.
    #[error("nothing was changed, because the audit cannot be written: {0}")]
    Record(RecordFault),
    /// The program itself broke on the way; the row may have been written.
    #[error("the decision broke off inside the program")]
    Broken,
    /// What is on record could not be read, and only that could tell.
    #[error("the record could not be read: {}", .0.what)]
    Unread(RecordFault),
    /// The source could not be read; nothing was changed.
    #[error("nothing was changed: {0}")]
    Source(SourceFault),
}

impl OrderFault {
    /// What to do about it, one line.
    pub fn do_next(&self) -> String {
        match self {
            Self::ReadOnly => "Start it without `--read-only` to decide.".to_owned(),
            Self::NoSuchSource(_) => "`unstuck doctor` lists the sources.".to_owned(),
            Self::NoSuchProposal(_) => "`unstuck proposals` lists those that wait.".to_owned(),
            Self::Record(fault) | Self::Unread(fault) => fault.do_next.clone(),
            Self::Broken => "Start it again: it reads the row and settles what was intended.".to_owned(),
            Self::Source(fault) => fault.do_next.clone(),
        }
    }
}

/// What a decision would do, for a dialog or a dry run.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The finding as it is now.
    pub found: Found,
    /// The row as it is now.
    pub row: Row,
    /// The check.
    pub checked: Checked,
    /// Whether the choice is permitted on it.
    pub permission: Permission,
    /// The statements, or why this job system cannot take them.
    pub statements: Result<Vec<PlannedStatement>, String>,
    /// Whether a worker that still lives would overwrite the decision.
    pub late_writer: LateWriter,
    /// Where an escalation goes; `None` puts it on the record alone.
    pub escalates_to: Option<String>,
}

/// Why there is nothing to decide about an item.
#[derive(Debug, Clone, PartialEq)]
pub struct NotOpen {
    /// Why, in a sentence.
    pub why: String,
    /// The row as it is now, where there is one.
    pub now: Option<Row>,
}

/// An item read anew that still needs a person.
struct Opened {
    found: Found,
    row: Row,
    /// The source's own clock when the row was read.
    source_now: DateTime<Utc>,
    /// Whether its row says that it needs a person.
    is_finding: bool,
}

/// Shows what a choice would do. `recent` is a check that is still fresh enough to go by.
///
/// # Errors
/// The source's fault; a reason why there is nothing to decide is the inner error.
pub async fn prepare(
    desk: &Desk,
    source_name: &str,
    key: &str,
    choice: Choice,
    recent: Option<&Checked>,
) -> Result<Result<Prepared, NotOpen>, OrderFault> {
    let source = find_source(desk, source_name)?;
    let mut opened = match open(desk, source, key, choice).await.map_err(OrderFault::Source)? {
        Ok(opened) => opened,
        Err(not_open) => return Ok(Err(not_open)),
    };
    let checked = match recent {
        Some(recent) if is_fresh(desk, &opened.found, recent) => recent.clone(),
        _ => check(desk, &opened.found).await,
    };
    let change = change_of(desk, &opened, Uuid::nil(), "");
    let statements = source.plan(choice, &change).map_err(|unsupported| unsupported.0);
    if let Some(why) = opened.needs_nobody(&checked, statements.as_deref().unwrap_or_default()) {
        return Ok(Err(NotOpen { why, now: Some(opened.row) }));
    }
    let mut permission = permission(choice, opened.found.stakes(), &checked.judgement, &checked.advised);
    // A look goes on without an audit; the decision itself does not.
    if choice == Choice::Retry
        && let Ok(Some(retried)) = entries::retried_before(desk, &opened.found).await
    {
        permission.stand_against_retry(retried.why(desk.clock.now()), opened.found.risk);
    }
    Ok(Ok(Prepared {
        permission,
        statements,
        late_writer: source.facts().late_writer,
        escalates_to: (choice == Choice::Escalate)
            .then(|| desk.escalation_of(&opened.found.finding.item.kind).map(|escalation| escalation.place()))
            .flatten(),
        found: opened.found,
        row: opened.row,
        checked,
    }))
}

/// The request that an escalation would send; `None` where it goes on the record alone.
///
/// The number of its audit entry is not known before.
pub fn shown_escalation(
    desk: &Desk,
    prepared: &Prepared,
    reason: &Reason,
) -> Option<Result<ShownRequest, String>> {
    let escalation = desk.escalation_of(&prepared.found.finding.item.kind)?;
    let entry = NOT_YET_ON_RECORD;
    Some(escalation.shown(&notice::notice(
        desk,
        &prepared.found,
        &prepared.checked,
        &prepared.row,
        reason,
        entry,
    )))
}

/// What stands for the number of an audit entry that is not there yet.
const NOT_YET_ON_RECORD: i64 = 0;

/// Whether a check is no older than the item's policy allows.
pub fn is_fresh(desk: &Desk, found: &Found, checked: &Checked) -> bool {
    let age = desk.clock.now() - checked.at;
    age >= TimeDelta::zero() && age <= desk.kind(&found.finding.item.kind).policy.evidence_age_max
}

/// Carries out an order.
///
/// From the intent on it runs in a task of its own: dropping this future does not stop a write that has begun.
///
/// # Errors
/// [`OrderFault`] when nothing was touched and nothing recorded.
pub async fn decide(desk: &Arc<Desk>, order: Order) -> Result<Decided, OrderFault> {
    may_write(desk)?;
    let source = Arc::clone(find_source(desk, &order.source)?);
    let decision = desk.clock.new_id();
    let began = desk.clock.now();
    let mut opened = match open(desk, &source, &order.key, order.choice).await.map_err(OrderFault::Source)? {
        Ok(opened) => opened,
        Err(not_open) => return refuse(desk, &order, decision, None, not_open, None).await,
    };
    if let Some(not_open) = moved_on(desk, &order, &opened).await? {
        return refuse(desk, &order, decision, Some(&opened.found), not_open, None).await;
    }
    let retried = if order.choice == Choice::Retry {
        entries::retried_before(desk, &opened.found).await.map_err(OrderFault::Record)?
    } else {
        None
    };
    if let Some(retried) = retried.as_ref().filter(|_| !order.insists) {
        let not_open = NotOpen { why: retried.why(desk.clock.now()), now: Some(opened.row) };
        let mut decided = refuse(desk, &order, decision, Some(&opened.found), not_open, None).await?;
        decided.do_next =
            Some("Wait for that attempt to show in the row, or insist with `--override`.".to_owned());
        return Ok(decided);
    }
    let in_the_way = propose::waiting_on(desk, &order, &opened).await?;
    let change = change_of(desk, &opened, decision, order.reason.as_str());
    let statements = match source.plan(order.choice, &change) {
        Ok(statements) => statements,
        Err(unsupported) => {
            let why =
                format!("{} cannot {} by SQL: {}", source.facts().preset, order.choice.verb(), unsupported.0);
            let not_open = NotOpen { why, now: Some(opened.row) };
            return refuse(desk, &order, decision, Some(&opened.found), not_open, None).await;
        }
    };
    // Before the provider is asked: nothing that may take its time comes between its answer and the intent.
    let payload = source.payload(&change.key, PAYLOAD_KEPT_BYTES_MAX).await.map_err(OrderFault::Source)?;
    // What is asked now counts as of when the row was read: our own clock may have been set since.
    opened.found.clock_gap = opened.source_now - desk.clock.now();
    let checked = check(desk, &opened.found).await;
    if let Some(why) = opened.needs_nobody(&checked, &statements) {
        let not_open = NotOpen { why, now: Some(opened.row) };
        return refuse(desk, &order, decision, Some(&opened.found), not_open, Some(checked)).await;
    }
    let moved = clock_moved(desk, &opened.found, began, &checked).or_else(|| verdict_moved(&order, &checked));
    if let Some(why) = moved.filter(|_| order.choice != Choice::Escalate) {
        let not_open = NotOpen { why, now: Some(opened.row) };
        return refuse(desk, &order, decision, Some(&opened.found), not_open, Some(checked)).await;
    }
    let draft = Draft {
        id: decision,
        choice: order.choice,
        source: Arc::clone(&order.source),
        key: opened.found.finding.item.key.clone(),
        operator: desk.operator.clone(),
        reason: order.reason.clone(),
        insists: order.insists,
    };
    let retried = retried.map(|retried| retried.why(desk.clock.now()));
    let ruling = draft.permit(
        opened.found.stakes(),
        &checked.judgement,
        &checked.advised,
        retried,
        opened.row.clone(),
    );
    let ruling = match ruling {
        Ok(ruling) => ruling,
        Err(Denied { why, do_next }) => {
            let not_open = NotOpen { why, now: Some(opened.row) };
            let mut decided =
                refuse(desk, &order, decision, Some(&opened.found), not_open, Some(checked)).await?;
            decided.do_next = Some(do_next);
            return Ok(decided);
        }
    };
    let grounds = write::Grounds { source, found: opened.found, checked, statements, change, payload };
    match (ruling, in_the_way) {
        (Ruling::Permitted(_), Some(proposal)) => {
            propose::refuse_alone(desk, &order, decision, grounds, &proposal).await
        }
        (Ruling::Permitted(permitted), None) => carry_out(desk, permitted, grounds).await,
        (Ruling::NeedsApproval(unapproved), _) => propose::propose(desk, unapproved, grounds).await,
    }
}

/// Whether anything may be decided here at all.
fn may_write(desk: &Desk) -> Result<(), OrderFault> {
    if desk.read_only {
        return Err(OrderFault::ReadOnly);
    }
    desk.record.as_ref().map(drop).map_err(|fault| OrderFault::Record(fault.clone()))
}

/// Carries a decision out in a task of its own: dropping this future does not stop a write that has begun.
async fn carry_out(
    desk: &Arc<Desk>,
    permitted: Permitted,
    grounds: write::Grounds,
) -> Result<Decided, OrderFault> {
    let desk = Arc::clone(desk);
    let task = tokio::spawn(async move { write::carry_out(&desk, permitted, grounds).await });
    match task.await {
        Ok(decided) => decided,
        Err(_) => Err(OrderFault::Broken),
    }
}

fn find_source<'a>(desk: &'a Desk, name: &str) -> Result<&'a Arc<dyn Source>, OrderFault> {
    desk.source(name).ok_or_else(|| OrderFault::NoSuchSource(name.to_owned()))
}

impl Opened {
    /// Why an item that says done needs no person, if so: it needs one only where the provider shows that it is odd, and then
    /// that is what it is found to be. Nothing is written into such a row.
    fn needs_nobody(&mut self, checked: &Checked, statements: &[PlannedStatement]) -> Option<String> {
        if self.is_finding {
            return None;
        }
        let item = &self.found.finding.item;
        let said =
            format!("the item is `{}` ({})", crate::domain::text::clean_cut(&item.status, 40), item.state);
        let Some(kind) = kind_of(&self.found, checked) else {
            return Some(format!("{said} and needs no decision: the provider shows `{}`", checked.verdict()));
        };
        if !statements.is_empty() {
            return Some(format!("{said}, and its preset would write into that row to escalate it"));
        }
        self.found.finding.kind = kind;
        None
    }
}

/// Reads an item anew and makes sure that it still needs a person. One that says done may be escalated for what its provider
/// shows, where that writes nothing into its row.
async fn open(
    desk: &Desk,
    source: &Arc<dyn Source>,
    key: &str,
    choice: Choice,
) -> Result<Result<Opened, NotOpen>, SourceFault> {
    let Some(reading) = source.read(key).await? else {
        return Ok(Err(NotOpen { why: "the source has no such item".to_owned(), now: None }));
    };
    let (status, state) = (reading.item.status.clone(), reading.item.state);
    let stuck_after = desk.kind(&reading.item.kind).policy.stuck_after;
    let live = why_live(&reading.item, stuck_after, reading.source_now);
    let clock_gap = reading.source_now - desk.clock.now();
    let of_its_row = sort_out(desk, reading.item.clone(), reading.source_now);
    let is_finding = of_its_row.is_some();
    let may_be_odd = choice == Choice::Escalate && state == State::Done;
    match of_its_row.or_else(|| may_be_odd.then(|| asked_about(reading.item, reading.source_now))) {
        Some(finding) => {
            let found = complete(desk, source, finding, Some(&reading.row), clock_gap).await?;
            Ok(Ok(Opened { found, row: reading.row, source_now: reading.source_now, is_finding }))
        }
        None => Ok(Err(NotOpen {
            why: format!(
                "the item is `{}` ({state}) and needs no decision{}",
                crate::domain::text::clean_cut(&status, 40),
                live.map(|why| format!(": it {why}")).unwrap_or_default()
            ),
            now: Some(reading.row),
        })),
    }
}

/// Why an item is no longer what the operator saw, if so.
async fn moved_on(desk: &Desk, order: &Order, opened: &Opened) -> Result<Option<NotOpen>, OrderFault> {
    let not_open = |why: String| Some(NotOpen { why, now: Some(opened.row.clone()) });
    if let Some(shown) = &order.shown
        && let Some(column) = first_difference(shown, &opened.found.finding.item)
    {
        return Ok(not_open(format!("the row changed since it was shown: {column}")));
    }
    if order.choice == Choice::Escalate
        && let Some(earlier) = entries::escalated_before(desk, &opened.found, &opened.row, None)
            .await
            .map_err(OrderFault::Record)?
    {
        return Ok(not_open(earlier.why()));
    }
    Ok(None)
}

fn first_difference(shown: &Item, now: &Item) -> Option<String> {
    if shown.status != now.status {
        return Some(format!("status was `{}` and is `{}`", shown.status, now.status));
    }
    let differing = shown.fields.iter().find_map(|(name, was)| {
        let is = now.fields.iter().find(|(other, _)| other == name).map(|(_, cell)| cell);
        (is != Some(was)).then(|| {
            let is = is.map_or_else(|| "gone".to_owned(), crate::domain::cell::Cell::shown);
            format!("{name} was {} and is {is}", was.shown())
        })
    });
    let error_differs = shown.last_error != now.last_error;
    differing.or_else(|| error_differs.then(|| "its last error is another".to_owned()))
}

/// How long reading a row may take until its provider is asked: a few locks are waited for at most.
const READ_TO_ASKED_MAX: TimeDelta = TimeDelta::minutes(1);

/// Why the moment of the look cannot be relied on, if so. After a machine that slept or a clock that was set, what the
/// provider no longer shows may be what it has forgotten since the row was read.
fn clock_moved(desk: &Desk, found: &Found, began: DateTime<Utc>, checked: &Checked) -> Option<String> {
    let until_asked = checked.at - began;
    let is_steady = until_asked >= TimeDelta::zero() && until_asked <= READ_TO_ASKED_MAX;
    (!is_steady || !is_fresh(desk, found, checked)).then(|| {
        "the look took too long, or the clock of this machine was set meanwhile: it proves nothing".to_owned()
    })
}

fn verdict_moved(order: &Order, checked: &Checked) -> Option<String> {
    let shown = order.shown_verdict?;
    (shown != checked.verdict())
        .then(|| format!("the verdict was `{shown}` and is `{}` now", checked.verdict()))
}

fn change_of(desk: &Desk, opened: &Opened, decision: Uuid, reason: &str) -> Change {
    Change {
        key: opened.found.finding.item.key.clone(),
        seen: opened.row.clone(),
        decision,
        operator: Arc::clone(&desk.operator.name),
        reason: reason.into(),
        now: desk.clock.now() + opened.found.clock_gap,
    }
}

async fn refuse(
    desk: &Desk,
    order: &Order,
    decision: Uuid,
    found: Option<&Found>,
    not_open: NotOpen,
    checked: Option<Checked>,
) -> Result<Decided, OrderFault> {
    let entry = entries::refused_before_intent(desk, order, decision, found, &not_open, checked.as_ref());
    let record = desk.record.as_ref().map_err(|fault| OrderFault::Record(fault.clone()))?;
    let placed = record.append(vec![entry]).await.map_err(OrderFault::Record)?;
    let seq = placed.last().map(|entry| entry.seq);
    let outcome = Outcome::Refused { why: not_open.why, now: not_open.now };
    let receipt =
        entries::Receipted { key: &order.key, choice: order.choice, reason: order.reason.as_str(), found };
    let receipt_fault = receipt.write(desk, &outcome, checked.as_ref(), seq);
    Ok(Decided {
        decision,
        choice: order.choice,
        outcome,
        do_next: Some("Look at it as it is now, then decide again.".to_owned()),
        hindrance: checked.as_ref().and_then(Checked::hindrance),
        checked,
        entry: seq,
        record_fault: receipt_fault,
    })
}

/// An item read anew for somebody to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Reread {
    /// The finding, if it still is one.
    pub found: Option<Found>,
    /// The item's native status and row as they are now.
    pub status: Arc<str>,
    /// The row.
    pub row: Row,
}

/// Reads an item anew; `None` when it is gone.
///
/// # Errors
/// The source's own fault.
pub async fn reread(desk: &Desk, source_name: &str, key: &str) -> Result<Option<Reread>, OrderFault> {
    Ok(reread_with_key(desk, source_name, key).await?.map(|(_, reread)| reread))
}

/// The same with the item's whole key, which a person may have typed in another spelling.
pub(super) async fn reread_with_key(
    desk: &Desk,
    source_name: &str,
    key: &str,
) -> Result<Option<(ItemKey, Reread)>, OrderFault> {
    let source = find_source(desk, source_name)?;
    let Some(reading) = source.read(key).await.map_err(OrderFault::Source)? else { return Ok(None) };
    let clock_gap = reading.source_now - desk.clock.now();
    let (key, status) = (reading.item.key.clone(), Arc::clone(&reading.item.status));
    let found = match sort_out(desk, reading.item, reading.source_now) {
        Some(finding) => Some(
            complete(desk, source, finding, Some(&reading.row), clock_gap)
                .await
                .map_err(OrderFault::Source)?,
        ),
        None => None,
    };
    Ok(Some((key, Reread { found, status, row: reading.row })))
}

/// Reads one item to be asked about, finding or not; `None` when there is none. The flag says whether it is a finding.
///
/// # Errors
/// The source's own fault.
pub async fn look_up(desk: &Desk, source_name: &str, key: &str) -> Result<Option<(Found, bool)>, OrderFault> {
    let source = find_source(desk, source_name)?;
    let Some(reading) = source.read(key).await.map_err(OrderFault::Source)? else { return Ok(None) };
    let clock_gap = reading.source_now - desk.clock.now();
    let sorted = sort_out(desk, reading.item.clone(), reading.source_now);
    let is_finding = sorted.is_some();
    let finding = sorted.unwrap_or_else(|| {
        let live =
            why_live(&reading.item, desk.kind(&reading.item.kind).policy.stuck_after, reading.source_now);
        let told = reading.item.oddities.iter().cloned().chain(live.map(|why| format!("It {why}.")));
        let notes = told.collect();
        Finding { notes, ..asked_about(reading.item, reading.source_now) }
    });
    let found =
        complete(desk, source, finding, Some(&reading.row), clock_gap).await.map_err(OrderFault::Source)?;
    Ok(Some((found, is_finding)))
}

/// Puts on record that an operator looked at hidden fields.
///
/// # Errors
/// The audit's own fault: then they stay hidden.
pub async fn record_unmask(desk: &Desk, source: &str, key: &str) -> Result<(), RecordFault> {
    entries::unmasked(desk, source, key).await
}

/// Puts on record that somebody looked at what a decision would write.
///
/// # Errors
/// The audit's own fault.
pub async fn record_dry_run(
    desk: &Desk,
    source: &str,
    key: &str,
    choice: Choice,
    prepared: &Prepared,
) -> Result<(), RecordFault> {
    entries::dry_run(desk, source, key, choice, prepared).await
}

#[cfg(test)]
mod tests;
