//! The dialog in which one item is decided.

use super::answers::{Answers, Missing};
use super::findings::Identity;
use crate::console::keymap::Place;
use crate::domain::decision::Choice;
use crate::domain::policy::Risk;
use crate::workflow::settle::NotOpen;
use crate::workflow::{Found, Order, Prepared};
use std::sync::Arc;
use tui_input::Input;

/// What is known of the item for the decision.
#[derive(Debug)]
pub enum Knowledge {
    /// The row is being read and the provider asked.
    Loading {
        /// The task's number.
        run: u64,
    },
    /// All that is needed.
    Ready(Box<Prepared>),
    /// There is nothing to decide.
    NotOpen(NotOpen),
    /// It could not be found out.
    Failed {
        /// What happened.
        what: String,
        /// What to do.
        do_next: String,
    },
}

/// The dialog.
#[derive(Debug)]
pub struct DecisionDialog {
    /// What is chosen.
    pub choice: Choice,
    /// The item.
    pub identity: Identity,
    /// The finding as the list showed it.
    pub listed: Arc<Found>,
    /// What is known.
    pub knowledge: Knowledge,
    /// What the operator fills in.
    pub answers: Answers,
    /// Whether the reason was written for them, so that they have to see it whole.
    pub is_reason_given: bool,
}

/// The longest key that an operator is asked to type.
const KEY_TYPED_CHARS_MAX: usize = 40;

/// What an operator types to confirm a second time: the verb, or the item's key where money may move.
pub fn word_for(choice: Choice, risk: Risk, key: &str) -> String {
    let can_be_typed = key.chars().all(|c| c.is_ascii_graphic()) && key.len() <= KEY_TYPED_CHARS_MAX;
    let moves_money = choice == Choice::Retry && risk == Risk::Financial;
    if moves_money && can_be_typed { key.to_owned() } else { choice.verb().to_owned() }
}

impl DecisionDialog {
    /// A dialog that waits for what is known, with a reason that may be written already.
    pub fn new(choice: Choice, identity: Identity, listed: Arc<Found>, run: u64, reason: &str) -> Self {
        let answers = Answers { reason: Input::new(reason.to_owned()), ..Answers::default() };
        let knowledge = Knowledge::Loading { run };
        Self { choice, identity, listed, knowledge, answers, is_reason_given: !reason.is_empty() }
    }

    /// What is known, once it is.
    pub fn prepared(&self) -> Option<&Prepared> {
        match &self.knowledge {
            Knowledge::Ready(prepared) => Some(prepared),
            Knowledge::Loading { .. } | Knowledge::NotOpen(_) | Knowledge::Failed { .. } => None,
        }
    }

    /// Why this dialog can never confirm, if so.
    pub fn blocked(&self) -> Option<String> {
        match &self.knowledge {
            Knowledge::Loading { .. } => None,
            Knowledge::NotOpen(not_open) => Some(not_open.why.clone()),
            Knowledge::Failed { what, .. } => Some(what.clone()),
            Knowledge::Ready(prepared) => prepared.statements.as_ref().err().cloned(),
        }
    }

    /// Whether the operator has to insist.
    pub fn asks_to_insist(&self) -> bool {
        self.prepared().is_some_and(|prepared| prepared.permission.against.is_some())
    }

    /// Why it takes a second person, so that it is proposed and not yet written.
    pub fn second_person(&self) -> Option<&str> {
        self.prepared()?.permission.second_person.as_deref()
    }

    /// What has to be typed before it is written; `None` where the rules ask once.
    pub fn word(&self) -> Option<String> {
        let prepared = self.prepared()?;
        let permission = &prepared.permission;
        let asks_twice = permission.against.is_some() || !permission.cautions.is_empty();
        asks_twice.then(|| word_for(self.choice, prepared.found.risk, &self.identity.key))
    }

    /// Where its keys are pressed.
    pub fn place(&self) -> Place {
        if self.blocked().is_some() {
            return Place::Blocked;
        }
        self.answers.field.place()
    }

    /// The order, where nothing is missing.
    ///
    /// # Errors
    /// What is missing.
    pub fn order(&self) -> Result<Order, Missing> {
        let Some(prepared) = self.prepared() else {
            return Err((self.answers.field, "Wait until it is known what would be written.".to_owned()));
        };
        if let Some(why) = self.blocked() {
            return Err((self.answers.field, why));
        }
        let reason = self.answers.reason(self.asks_to_insist(), "A reason is needed: it goes on record.")?;
        Ok(Order {
            source: Arc::clone(&self.identity.source),
            key: Arc::clone(&self.identity.key),
            shown: Some(prepared.found.finding.item.clone()),
            shown_verdict: Some(prepared.checked.verdict()),
            choice: self.choice,
            reason,
            insists: self.answers.insists && self.asks_to_insist(),
        })
    }
}
