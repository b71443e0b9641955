//! The dialog in which one item is decided.
//!
//! ```text
//! reason --Tab--> [insist] --Tab--> [ button ] --y--> (type the word, where the rules ask twice) --Enter--> order
//! ```
//! `Enter` alone never leads to an order: the button takes `y`, and the word has to be typed out.

use super::findings::Identity;
use crate::console::keymap::Place;
use crate::domain::decision::{Choice, Reason};
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

/// The field that has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The reason.
    Reason,
    /// The switch that insists.
    Insist,
    /// The button.
    Button,
    /// The word to type: the second question.
    Typed,
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
    /// Why.
    pub reason: Input,
    /// Whether the operator insists against the advice.
    pub insists: bool,
    /// The field that has the keys.
    pub field: Field,
    /// The word typed.
    pub typed: Input,
    /// What is still missing.
    pub hint: Option<String>,
    /// How far the text is scrolled.
    pub scroll: u16,
}

/// The longest key that an operator is asked to type.
const KEY_TYPED_CHARS_MAX: usize = 40;

/// What an operator types to confirm a second time: the verb, or the item's key where money may move.
pub fn word_for(choice: Choice, risk: Risk, key: &str) -> String {
    let can_be_typed = key.chars().all(|c| c.is_ascii_graphic()) && key.len() <= KEY_TYPED_CHARS_MAX;
    let moves_money = choice == Choice::Retry && risk == Risk::Financial;
    if moves_money && can_be_typed { key.to_owned() } else { choice.verb().to_owned() }
}

impl Field {
    /// The next field, or the previous one. The second question is reached through the button alone.
    #[must_use]
    pub fn walked(self, forward: bool, insist: bool) -> Self {
        match (self, forward) {
            (Self::Reason, true) | (Self::Button, false) if insist => Self::Insist,
            (Self::Reason | Self::Insist, true) | (Self::Reason | Self::Typed, false) => Self::Button,
            (Self::Button | Self::Typed, true) | (Self::Insist | Self::Button, false) => Self::Reason,
        }
    }

    /// Where its keys are pressed.
    pub fn place(self) -> Place {
        match self {
            Self::Reason => Place::Reason,
            Self::Insist => Place::Insist,
            Self::Button => Place::Button,
            Self::Typed => Place::Typed,
        }
    }
}

impl DecisionDialog {
    /// A dialog that waits for what is known.
    pub fn new(choice: Choice, identity: Identity, listed: Arc<Found>, run: u64) -> Self {
        Self {
            choice,
            identity,
            listed,
            knowledge: Knowledge::Loading { run },
            reason: Input::default(),
            insists: false,
            field: Field::Reason,
            typed: Input::default(),
            hint: None,
            scroll: 0,
        }
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
        self.field.place()
    }

    /// To the next field, or the previous one.
    pub fn walk(&mut self, forward: bool) {
        self.field = self.field.walked(forward, self.asks_to_insist());
    }

    /// The order, where nothing is missing.
    ///
    /// # Errors
    /// The field that is missing, and what to do there.
    pub fn order(&self) -> Result<Order, (Field, String)> {
        let Some(prepared) = self.prepared() else {
            return Err((self.field, "Wait until it is known what would be written.".to_owned()));
        };
        if let Some(why) = self.blocked() {
            return Err((self.field, why));
        }
        let Some(reason) = Reason::new(self.reason.value()) else {
            return Err((Field::Reason, "A reason is needed: it goes on record.".to_owned()));
        };
        if self.asks_to_insist() && !self.insists {
            return Err((
                Field::Insist,
                "This is against the advice: turn on \"insist\" with Space.".to_owned(),
            ));
        }
        Ok(Order {
            source: Arc::clone(&self.identity.source),
            key: Arc::clone(&self.identity.key),
            shown: Some(prepared.found.finding.item.clone()),
            shown_verdict: Some(prepared.checked.verdict()),
            choice: self.choice,
            reason,
            insists: self.insists && self.asks_to_insist(),
        })
    }
}
