//! What proposals write into the audit: made, taken up in vain, taken back, lapsed; and both persons of an approval.

use super::{entry, known_json, masked_row};
use crate::domain::approval::Approval;
use crate::domain::audit::{Event, NewEntry};
use crate::domain::cell::hex;
use crate::domain::decision::{Reason, Unapproved};
use crate::domain::item::Row;
use crate::domain::moment::stamp;
use crate::domain::proposal::{Proposal, Sight};
use crate::ports::source::{PlannedStatement, SourceFacts};
use crate::workflow::check::{Checked, attachments_of, checked_json};
use crate::workflow::desk::Desk;
use crate::workflow::scan::Found;
use crate::workflow::settle::write::Grounds;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A proposal: everything that the proposer knows and everything that would be written.
pub(in crate::workflow::settle) fn proposed(
    desk: &Desk,
    unapproved: &Unapproved,
    grounds: &Grounds,
    until: DateTime<Utc>,
) -> NewEntry {
    let draft = unapproved.draft();
    let mut body = known_json(desk, draft, unapproved.seen(), grounds);
    for (name, value) in Proposal::told(&draft.operator, &Sight::of(&grounds.checked.judgement), until) {
        body[name] = value;
    }
    body["why"] = json!(unapproved.why());
    body["writes_sha256"] = json!(writes_sha256(&grounds.source.facts(), &grounds.statements));
    let mut entry = entry(desk, Event::Proposed, draft.id, &draft.source, draft.key.as_str(), body);
    entry.attachments = attachments_of(&grounds.checked);
    entry
}

/// SHA-256 of statements and of where they run, without the values that differ from one person and moment to another.
pub(in crate::workflow::settle) fn writes_sha256(
    source: &SourceFacts,
    statements: &[PlannedStatement],
) -> String {
    let written: Vec<Value> =
        statements.iter().map(|statement| json!([statement.sql, statement.rows.to_json()])).collect();
    let all = json!([source.whole_place, written]).to_string();
    hex(&Sha256::digest(all.as_bytes()))
}

/// Both persons, each with their words and where they came from.
pub(super) fn approval_json(approval: &Approval) -> Value {
    let (proposal, approver) = (approval.proposal(), approval.approver());
    let mut both = json!({
        "proposed": {
            "entry": proposal.entry,
            "at": stamp(proposal.at),
            "operator": &*proposal.proposer.name,
            "origin": proposal.proposer.origin(),
            "reason": proposal.reason.as_str(),
            "insisted": proposal.insists,
        },
        "approved": {
            "operator": &*approver.operator.name,
            "origin": approver.operator.origin(),
            "reason": approver.reason.as_str(),
            "insisted": approver.insists,
        },
        "from_same_login": approval.same_login(),
    });
    // The approver's own stands in the entry itself.
    if let Some(login) = &proposal.recorded_by {
        both["proposed"]["recorded_by"] = json!(&**login);
    }
    both
}

/// An attempt to approve that came to nothing. It is no entry of the proposal's own decision: that one still waits, or had
/// its end before.
pub(in crate::workflow::settle) fn refused_approval(desk: &Desk, attempt: &Attempt<'_>) -> NewEntry {
    let mut entry = entry(
        desk,
        Event::Refused,
        desk.clock.new_id(),
        &attempt.proposal.source,
        &attempt.proposal.key,
        attempt.json(desk),
    );
    entry.attachments = attempt.checked.map(attachments_of).unwrap_or_default();
    entry
}

/// The end of a proposal that can no longer be approved.
pub(in crate::workflow::settle) fn lapsed(desk: &Desk, attempt: &Attempt<'_>) -> NewEntry {
    let proposal = attempt.proposal;
    let mut entry =
        entry(desk, Event::Lapsed, proposal.id, &proposal.source, &proposal.key, attempt.json(desk));
    entry.attachments = attempt.checked.map(attachments_of).unwrap_or_default();
    entry
}

/// The end of a proposal that its proposer took back, or that somebody else rejected.
pub(in crate::workflow::settle) fn withdrawn(
    desk: &Desk,
    proposal: &Proposal,
    reason: &Reason,
    by_proposer: bool,
) -> NewEntry {
    let body = json!({
        "choice": proposal.choice.as_str(),
        "reason": reason.as_str(),
        "by_proposer": by_proposer,
        "proposal": proposal_json(proposal),
    });
    entry(desk, Event::Withdrawn, proposal.id, &proposal.source, &proposal.key, body)
}

/// Somebody's attempt on a proposal that comes to nothing.
pub(in crate::workflow::settle) struct Attempt<'a> {
    /// The proposal.
    pub proposal: &'a Proposal,
    /// What was attempted: `approve`, or `propose` where another proposal was in the way.
    pub attempted: &'static str,
    /// The reason that was given with it.
    pub reason: &'a Reason,
    /// Why it comes to nothing.
    pub why: &'a str,
    /// The row as it is, where it was read.
    pub row_now: Option<&'a Row>,
    /// The finding, where it was read.
    pub found: Option<&'a Found>,
    /// The check, where it came to that.
    pub checked: Option<&'a Checked>,
}

impl Attempt<'_> {
    fn json(&self, desk: &Desk) -> Value {
        let check = self.found.zip(self.checked).map(|(found, checked)| checked_json(found, checked));
        json!({
            "choice": self.proposal.choice.as_str(),
            "attempted": self.attempted,
            "reason": self.reason.as_str(),
            "why": self.why,
            "proposal": proposal_json(self.proposal),
            "row_now": self.row_now.map(|row| masked_row(desk, row)),
            "check": check,
        })
    }
}

/// Which proposal an entry is about.
fn proposal_json(proposal: &Proposal) -> Value {
    json!({
        "decision": proposal.id.to_string(),
        "entry": proposal.entry,
        "operator": &*proposal.proposer.name,
        "origin": proposal.proposer.origin(),
    })
}
