//! The dialog in which a proposal is approved or withdrawn.

use super::answers::{Answers, Missing};
use super::decision::word_for;
use crate::console::keymap::Place;
use crate::domain::decision::Reason;
use crate::domain::proposal::Proposal;
use crate::workflow::settle::approve::{ApprovalOrder, Review};
use std::sync::Arc;

/// What is done with a proposal.
#[derive(Debug)]
pub enum Act {
    /// It is approved, on what is known now.
    Approve(Knowledge),
    /// It is taken back or rejected: for that nothing needs to be known.
    Withdraw,
}

/// What is known of the proposal's item now.
#[derive(Debug)]
pub enum Knowledge {
    /// The row is being read and the provider asked.
    Loading {
        /// The task's number.
        run: u64,
    },
    /// All that is needed.
    Ready(Box<Review>),
    /// It could not be found out.
    Failed {
        /// What happened.
        what: String,
        /// What to do.
        do_next: String,
    },
}

/// What a confirmed dialog orders.
#[derive(Debug, PartialEq, Eq)]
pub enum Ordered {
    /// To approve.
    Approve(ApprovalOrder),
    /// To withdraw, for this reason.
    Withdraw(Reason),
}

/// The dialog.
#[derive(Debug)]
pub struct ApprovalDialog {
    /// What is done.
    pub act: Act,
    /// The proposal.
    pub proposal: Arc<Proposal>,
    /// What the operator fills in.
    pub answers: Answers,
}

impl ApprovalDialog {
    /// A dialog at its beginning.
    pub fn new(act: Act, proposal: Arc<Proposal>) -> Self {
        Self { act, proposal, answers: Answers::default() }
    }

    /// What is known, once it is.
    pub fn review(&self) -> Option<&Review> {
        match &self.act {
            Act::Approve(Knowledge::Ready(review)) => Some(review),
            Act::Approve(Knowledge::Loading { .. } | Knowledge::Failed { .. }) | Act::Withdraw => None,
        }
    }

    /// Whether all is known that has to be.
    pub fn is_known(&self) -> bool {
        matches!(self.act, Act::Withdraw) || self.review().is_some()
    }

    /// Why this dialog can never confirm: what, and what to do.
    pub fn blocked(&self) -> Option<(String, String)> {
        match &self.act {
            Act::Withdraw | Act::Approve(Knowledge::Loading { .. }) => None,
            Act::Approve(Knowledge::Failed { what, do_next }) => Some((what.clone(), do_next.clone())),
            Act::Approve(Knowledge::Ready(review)) => match (&review.why_not, &review.now) {
                (Some(why), _) => Some((why.to_string(), why.do_next().to_owned())),
                (None, Err(not_open)) => Some((not_open.why.clone(), String::new())),
                (None, Ok(prepared)) => prepared
                    .statements
                    .as_ref()
                    .err()
                    .map(|why| (why.clone(), "Withdraw it: Esc, then w.".to_owned())),
            },
        }
    }

    /// Whether the operator has to insist too.
    pub fn asks_to_insist(&self) -> bool {
        let against = self.review().and_then(|review| review.now.as_ref().ok());
        let is_against = against.is_some_and(|prepared| prepared.permission.against.is_some());
        matches!(self.act, Act::Approve(_)) && (self.proposal.insists || is_against)
    }

    /// What has to be typed before it is written; `None` where the rules ask once.
    pub fn word(&self) -> Option<String> {
        let prepared = self.review()?.now.as_ref().ok()?;
        let asks_twice = self.asks_to_insist() || !prepared.permission.cautions.is_empty();
        asks_twice.then(|| word_for(self.proposal.choice, prepared.found.risk, &self.proposal.key))
    }

    /// Where its keys are pressed.
    pub fn place(&self) -> Place {
        if self.blocked().is_some() { Place::Blocked } else { self.answers.field.place() }
    }

    /// The order, where nothing is missing.
    ///
    /// # Errors
    /// What is missing.
    pub fn order(&self) -> Result<Ordered, Missing> {
        if let Some((why, _)) = self.blocked() {
            return Err((self.answers.field, why));
        }
        if !self.is_known() {
            return Err((self.answers.field, "Wait until it is known what would be written.".to_owned()));
        }
        let reason = self
            .answers
            .reason(self.asks_to_insist(), "A reason of your own is needed: it goes on record.")?;
        Ok(match self.act {
            Act::Withdraw => Ordered::Withdraw(reason),
            Act::Approve(_) => Ordered::Approve(ApprovalOrder {
                decision: self.proposal.id,
                reason,
                insists: self.answers.insists && self.asks_to_insist(),
            }),
        })
    }
}
