//! What an operator fills in where one thing is confirmed: the reason, whether to insist, and the word to type.
//!
//! ```text
//! reason --Tab--> [insist] --Tab--> [ button ] --y--> (type the word, where the rules ask twice) --Enter--> order
//! ```
//! `Enter` alone never leads to an order: the button takes `y`, and the word has to be typed out.

use crate::console::keymap::Place;
use crate::domain::decision::Reason;
use tui_input::Input;

/// The field that has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Field {
    /// The reason.
    #[default]
    Reason,
    /// The switch that insists.
    Insist,
    /// The button.
    Button,
    /// The word to type: the second question.
    Typed,
}

impl Field {
    /// The next field, or the previous one. The second question is reached through the button alone.
    fn walked(self, forward: bool, insist: bool) -> Self {
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

/// The field that is missing, and what to do there.
pub type Missing = (Field, String);

/// The answers of a dialog.
#[derive(Debug, Default)]
pub struct Answers {
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
    /// How far the text above is scrolled.
    pub scroll: u16,
}

impl Answers {
    /// To the next field, or the previous one; `insist` where there is something to insist on.
    pub fn walk(&mut self, forward: bool, insist: bool) {
        self.hint = None;
        self.field = self.field.walked(forward, insist);
        // Behind the button stands what will be written: whoever is about to confirm has it before their eyes.
        self.scroll = if self.field == Field::Button { u16::MAX } else { 0 };
    }

    /// Turns insisting on or off.
    pub fn turn_insisting(&mut self) {
        self.hint = None;
        self.insists = !self.insists;
    }

    /// The reason, where nothing is missing. `unsaid` tells that a reason is needed.
    ///
    /// # Errors
    /// What is missing.
    pub fn reason(&self, asks_to_insist: bool, unsaid: &str) -> Result<Reason, Missing> {
        let Some(reason) = Reason::new(self.reason.value()) else {
            return Err((Field::Reason, unsaid.to_owned()));
        };
        if asks_to_insist && !self.insists {
            let told = "This is against the advice: turn on \"insist\" with Space.";
            return Err((Field::Insist, told.to_owned()));
        }
        Ok(reason)
    }

    /// `y` on the button: the order, or the second question where the rules ask twice.
    pub fn confirm<T>(&mut self, order: Result<T, Missing>, asks_twice: bool) -> Option<T> {
        let order = self.complete(order)?;
        if !asks_twice {
            return Some(order);
        }
        (self.field, self.hint) = (Field::Typed, None);
        self.typed.reset();
        None
    }

    /// Enter behind the typed word: the order, if it is the word asked for.
    pub fn confirm_typed<T>(&mut self, order: Result<T, Missing>, word: Option<String>) -> Option<T> {
        if word.as_deref() != Some(self.typed.value().trim()) {
            self.hint = word.map(|word| format!("Type exactly: {word}"));
            return None;
        }
        self.complete(order)
    }

    fn complete<T>(&mut self, order: Result<T, Missing>) -> Option<T> {
        match order {
            Ok(order) => Some(order),
            Err((field, why)) => {
                (self.field, self.hint) = (field, Some(why));
                None
            }
        }
    }
}
