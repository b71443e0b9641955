//! What a decision writes into the audit and onto the receipts.

pub(super) mod proposals;

use super::write::Grounds;
use super::{NotOpen, Order, OrderFault};
use crate::domain::attempt::Attempts;
use crate::domain::audit::{Event, NewEntry, Subject};
use crate::domain::decision::{Choice, Draft, Intended, Outcome, Permitted};
use crate::domain::escalated::Earlier;
use crate::domain::item::Row;
use crate::domain::mask::{mask_document, mask_field, mask_json};
use crate::domain::moment::stamp;
use crate::domain::retried::Retried;
use crate::ports::receipts::Receipt;
use crate::ports::record::{Record, RecordFault};
use crate::ports::source::{Payload, PlannedStatement};
use crate::workflow::check::{Checked, attachments_of, checked_json};
use crate::workflow::desk::Desk;
use crate::workflow::scan::Found;
use chrono::TimeDelta;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// How many earlier entries of an item are looked through for an escalation.
const EARLIER_ENTRIES_MAX: usize = 200;

fn entry(desk: &Desk, event: Event, decision: Uuid, source: &str, key: &str, body: Value) -> NewEntry {
    let mut body = body;
    body[Subject::TABLE] = json!(desk.table_of(source));
    NewEntry {
        at: desk.clock.now(),
        event,
        decision: Some(decision),
        source: source.to_owned(),
        key: key.to_owned(),
        operator: desk.operator.name.to_string(),
        origin: desk.origin(),
        body,
        attachments: Vec::new(),
    }
}

/// A refusal that never became an intent.
pub(super) fn refused_before_intent(
    desk: &Desk,
    order: &Order,
    decision: Uuid,
    found: Option<&Found>,
    not_open: &NotOpen,
    checked: Option<&Checked>,
) -> NewEntry {
    let check = found.zip(checked).map(|(found, checked)| checked_json(found, checked));
    let body = json!({
        "choice": order.choice.as_str(),
        "reason": order.reason.as_str(),
        "insisted": order.insists,
        "why": not_open.why,
        "row_now": not_open.now.as_ref().map(|row| masked_row(desk, row)),
        "check": check,
    });
    let mut entry = entry(desk, Event::Refused, decision, &order.source, &order.key, body);
    entry.attachments = checked.map(attachments_of).unwrap_or_default();
    entry
}

/// The intent: everything that is known and everything that will be written, before anything is touched. Where two
/// persons decided, it is also the approval: who proposed and who approved, in one entry, so that neither is without the
/// other.
pub(super) fn intent(desk: &Desk, permitted: &Permitted, grounds: &Grounds) -> NewEntry {
    let draft = permitted.draft();
    let mut body = known_json(desk, draft, permitted.seen(), grounds);
    body["process"] = json!(desk.clock.process());
    if let Some(approval) = permitted.approval() {
        body["approval"] = proposals::approval_json(approval);
    }
    let mut entry = entry(desk, Event::Intended, draft.id, &draft.source, draft.key.as_str(), body);
    entry.attachments = attachments_of(&grounds.checked);
    entry
}

/// What a decision rests on, and what it writes.
fn known_json(desk: &Desk, draft: &Draft, seen: &Row, grounds: &Grounds) -> Value {
    let Grounds { source, found, checked, statements, payload, .. } = grounds;
    let source = source.facts();
    json!({
        "choice": draft.choice.as_str(),
        "reason": draft.reason.as_str(),
        "insisted": draft.insists,
        "risk": found.risk.as_str(),
        "approvals": found.approvals.count(),
        "check": checked_json(found, checked),
        "row_seen": masked_row(desk, seen),
        "row_seen_sha256": seen.sha256(),
        "payload": payload.as_ref().map(|payload| payload_json(desk, payload)),
        "place": source.place,
        "preset": &*source.preset,
        "late_writer": source.late_writer.as_str(),
        "statements": masked_statements(desk, statements),
        "escalates_to": escalation_place(desk, &found.finding.item.kind, draft.choice),
    })
}

fn escalation_place(desk: &Desk, kind: &str, choice: Choice) -> Option<String> {
    match choice {
        Choice::Escalate => desk.escalation_of(kind).map(|escalation| escalation.place()),
        Choice::MarkDone | Choice::Retry => None,
    }
}

/// A statement as JSON, its values included; what looks secret, and what a policy hides, is hidden. Its text has no values.
fn statement_json(statement: &PlannedStatement, masks: &[String]) -> Value {
    let parameters: serde_json::Map<String, Value> = statement
        .parameters
        .iter()
        .map(|(name, cell)| {
            (name.clone(), mask_field(PlannedStatement::column_of(name), &cell.to_json(), masks))
        })
        .collect();
    json!({ "sql": statement.sql, "parameters": parameters, "rows": statement.rows.to_json() })
}

/// The outcome of an intended decision.
pub(super) fn outcome(desk: &Desk, intended: &Intended, outcome: &Outcome, note: Option<&str>) -> NewEntry {
    let draft = intended.draft();
    let (event, mut body) = outcome_json(desk, outcome);
    body["choice"] = json!(draft.choice.as_str());
    body["intent"] = json!(intended.intent());
    if let Some(note) = note {
        body["note"] = json!(note);
    }
    entry(desk, event, draft.id, &draft.source, draft.key.as_str(), body)
}

/// The event and body of an outcome.
pub(crate) fn outcome_json(desk: &Desk, outcome: &Outcome) -> (Event, Value) {
    match outcome {
        Outcome::Applied { before, after } => (
            Event::Applied,
            json!({
                "row_before": masked_row(desk, before),
                "row_after": after.as_ref().map(|row| masked_row(desk, row)),
                "row_after_sha256": after.as_ref().map(Row::sha256),
            }),
        ),
        Outcome::Refused { why, now } => {
            (Event::Refused, json!({ "why": why, "row_now": now.as_ref().map(|row| masked_row(desk, row)) }))
        }
        Outcome::Proposed { why, .. } => (Event::Proposed, json!({ "why": why })),
        Outcome::Failed { why } => (Event::Failed, json!({ "why": why })),
    }
}

/// A row for the record: what looks secret is hidden. Whether a row is the same is told by its hash.
pub fn masked_row(desk: &Desk, row: &Row) -> Value {
    mask_json(&row.to_json(), &desk.masks())
}

/// Statements for the record and for whoever looks at what they would write.
pub fn masked_statements(desk: &Desk, statements: &[PlannedStatement]) -> Vec<Value> {
    let masks = desk.masks();
    statements.iter().map(|statement| statement_json(statement, &masks)).collect()
}

/// The payload's beginning for the record: a decision may delete the row that it was in.
fn payload_json(desk: &Desk, payload: &Payload) -> Value {
    let text = crate::domain::text::escape_bytes(&payload.bytes);
    json!({ "text": mask_document(&text, &desk.masks()), "size_bytes": payload.size_bytes })
}

/// The audit, without which nothing is decided.
pub(super) fn record_of(desk: &Desk) -> Result<&Arc<dyn Record>, OrderFault> {
    desk.record.as_ref().map_err(|fault| OrderFault::Record(fault.clone()))
}

/// The escalation of an item exactly as it is that stands in the way of another. `own` is the intent of the one whose turn
/// it is, where that is on record.
pub(super) async fn escalated_before(
    desk: &Desk,
    found: &Found,
    row: &Row,
    own: Option<i64>,
) -> Result<Option<Earlier>, RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let item = &found.finding.item;
    let subject = desk.subject(&item.source, item.key.as_str());
    let newest = record.intended_on(&subject, EARLIER_ENTRIES_MAX).await?;
    Ok(Earlier::of(&newest, &row.sha256(), own, desk.clock.now()))
}

/// The retry of an item that its row shows nothing of yet.
pub(super) async fn retried_before(desk: &Desk, found: &Found) -> Result<Option<Retried>, RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let (item, now) = (&found.finding.item, desk.clock.now());
    let policy = &desk.kind(&item.kind).policy;
    let provider = policy.check.as_ref().and_then(|name| desk.providers.get(name));
    let settle = provider.map_or(TimeDelta::zero(), |provider| provider.facts().clocks.settle);
    let acts_max = policy.stuck_after.checked_add(&settle).unwrap_or(TimeDelta::MAX);
    let last = Attempts::of(item, policy.stuck_after, now + found.clock_gap).last;
    let subject = desk.subject(&item.source, item.key.as_str());
    let newest = record.intended_on(&subject, EARLIER_ENTRIES_MAX).await?;
    Ok(Retried::of(&newest, last.map(|last| last - found.clock_gap), acts_max, now))
}

/// What a receipt tells of a decision.
pub(super) struct Receipted<'a> {
    /// The item's key.
    pub key: &'a str,
    /// What was chosen.
    pub choice: Choice,
    /// The operator's reason.
    pub reason: &'a str,
    /// The item, where it could be read.
    pub found: Option<&'a Found>,
}

impl Receipted<'_> {
    /// Writes the receipt, where somebody wants receipts.
    pub(super) fn write(
        &self,
        desk: &Desk,
        outcome: &Outcome,
        checked: Option<&Checked>,
        entry: Option<i64>,
    ) -> Option<RecordFault> {
        let receipts = desk.receipts.as_ref()?;
        let item = self.found.map(|found| &found.finding.item);
        let receipt = Receipt {
            ts: stamp(desk.clock.now()),
            event: "unstuck_decision".to_owned(),
            job_key: self.key.to_owned(),
            attempt: item.and_then(|item| item.attempts),
            previous_status: item.map(|item| item.status.to_string()).unwrap_or_default(),
            action: format!("{}_{}", self.choice, outcome.as_str()),
            reason: Some(self.reason.to_owned()),
            operator: desk.operator.name.to_string(),
            verdict: checked.map(|checked| checked.verdict().as_str().to_owned()),
            audit: entry,
        };
        receipts.write(&receipt).err().map(|what| RecordFault {
            is_absent: false,
            what,
            do_next:
                "The audit has the decision; mend the receipts file or take it out of the configuration."
                    .to_owned(),
        })
    }
}

/// Puts on record that somebody looks at hidden fields.
pub(super) async fn unmasked(desk: &Desk, source: &str, key: &str) -> Result<(), RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let mut looked = entry(desk, Event::Unmasked, Uuid::nil(), source, key, json!({}));
    looked.decision = None;
    record.append(vec![looked]).await.map(drop)
}

/// Puts on record that somebody looked at what a decision would write.
pub(super) async fn dry_run(
    desk: &Desk,
    source: &str,
    key: &str,
    choice: Choice,
    prepared: &super::Prepared,
) -> Result<(), RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let statements = prepared.statements.as_ref().map(|all| masked_statements(desk, all));
    let body = json!({
        "choice": choice.as_str(),
        "check": checked_json(&prepared.found, &prepared.checked),
        "row": masked_row(desk, &prepared.row),
        "statements": statements.ok(),
    });
    let mut looked = entry(desk, Event::DryRun, Uuid::nil(), source, key, body);
    looked.decision = None;
    looked.attachments = attachments_of(&prepared.checked);
    record.append(vec![looked]).await.map(drop)
}
