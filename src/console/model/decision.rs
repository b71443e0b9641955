//! The dialog in which one item is decided.
//!
//! ```text
//! reason --Tab--> [insist] --Tab--> [ button ] --y--> (type the word, where the rules ask twice) --Enter--> order
//! ```
//! `Enter` alone never leads to an order: the button takes `y`, and the word has to be typed out.

use super::findings::Identity;
use crate::console::keymap::Place;
use crate::domain::decision::{Choice, Permission, Reason};
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
            Knowledge::Ready(prepared) => match (&prepared.permission, &prepared.statements) {
                (Permission::OnlyWithApproval(why), _) => Some(why.clone()),
                (Permission::Granted(_) | Permission::OnlyInsisting(_), Err(unsupported)) => {
                    Some(unsupported.clone())
                }
                (Permission::Granted(_) | Permission::OnlyInsisting(_), Ok(_)) => None,
            },
        }
    }

    /// Whether the operator has to insist.
    pub fn asks_to_insist(&self) -> bool {
        self.prepared().is_some_and(|prepared| match &prepared.permission {
            Permission::OnlyInsisting(_) => true,
            Permission::Granted(_) | Permission::OnlyWithApproval(_) => false,
        })
    }

    /// What has to be typed before it is written; `None` where the rules ask once.
    pub fn word(&self) -> Option<String> {
        let prepared = self.prepared()?;
        let asks_twice = match &prepared.permission {
            Permission::Granted(cautions) => !cautions.is_empty(),
            Permission::OnlyInsisting(_) => true,
            Permission::OnlyWithApproval(_) => return None,
        };
        if !asks_twice {
            return None;
        }
        let key = &*self.identity.key;
        let can_be_typed = key.chars().all(|c| c.is_ascii_graphic()) && key.len() <= KEY_TYPED_CHARS_MAX;
        let moves_money = self.choice == Choice::Retry && prepared.found.risk == Risk::Financial;
        Some(if moves_money && can_be_typed { key.to_owned() } else { self.choice.verb().to_owned() })
    }

    /// Where its keys are pressed.
    pub fn place(&self) -> Place {
        if self.blocked().is_some() {
            return Place::Blocked;
        }
        match self.field {
            Field::Reason => Place::Reason,
            Field::Insist => Place::Insist,
            Field::Button => Place::Button,
            Field::Typed => Place::Typed,
        }
    }

    /// To the next field, or the previous one. The second question is reached through the button alone.
    pub fn walk(&mut self, forward: bool) {
        let insist = self.asks_to_insist();
        self.field = match (self.field, forward) {
            (Field::Reason, true) | (Field::Button, false) if insist => Field::Insist,
            (Field::Reason | Field::Insist, true) | (Field::Reason | Field::Typed, false) => Field::Button,
            (Field::Button | Field::Typed, true) | (Field::Insist | Field::Button, false) => Field::Reason,
        };
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
