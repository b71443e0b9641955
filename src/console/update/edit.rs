//! Text boxes: the filter, the reason, the word to type.

use super::{finder, list, outlook};
use crate::console::model::answers::{Answers, Field};
use crate::console::model::{Dialog, Model};
use crate::domain::decision::Reason;
use crate::domain::text::is_plain;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::{Input, InputRequest};

/// How long a filter or a typed word may be, in characters.
const TYPED_CHARS_MAX: usize = 400;

/// What a key does to a text; `None` where it is no editing key.
pub fn request_of(event: KeyEvent) -> Option<InputRequest> {
    use InputRequest as R;
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    let alt = event.modifiers.contains(KeyModifiers::ALT);
    match event.code {
        // AltGr comes as both on some terminals, and makes a letter.
        KeyCode::Char(letter) if control == alt => Some(R::InsertChar(letter)),
        KeyCode::Char('a') if control => Some(R::GoToStart),
        KeyCode::Char('e') if control => Some(R::GoToEnd),
        KeyCode::Char('w') if control => Some(R::DeletePrevWord),
        KeyCode::Char('u') if control => Some(R::DeleteFromStart),
        KeyCode::Char('k') if control => Some(R::DeleteTillEnd),
        KeyCode::Char('h') if control => Some(R::DeletePrevChar),
        KeyCode::Char('d') if control => Some(R::DeleteNextChar),
        KeyCode::Backspace if control || alt => Some(R::DeletePrevWord),
        KeyCode::Backspace => Some(R::DeletePrevChar),
        KeyCode::Delete => Some(R::DeleteNextChar),
        KeyCode::Left if control => Some(R::GoToPrevWord),
        KeyCode::Right if control => Some(R::GoToNextWord),
        KeyCode::Left => Some(R::GoToPrevChar),
        KeyCode::Right => Some(R::GoToNextChar),
        KeyCode::Home => Some(R::GoToStart),
        KeyCode::End => Some(R::GoToEnd),
        _ => None,
    }
}

/// Edits the text box that has the keys.
pub fn apply(model: &mut Model, request: InputRequest) {
    let Some((input, chars_max)) = input_of(&mut model.dialog) else { return };
    let is_refused = match request {
        InputRequest::InsertChar(letter) => !is_plain(letter) || input.value().chars().count() >= chars_max,
        _ => false,
    };
    if !is_refused {
        input.handle(request);
    }
    after_edit(model);
}

/// Puts pasted text into the text box that has the keys; line breaks become spaces.
pub fn paste(model: &mut Model, text: &str) {
    if model.is_too_small() {
        return;
    }
    let Some((input, chars_max)) = input_of(&mut model.dialog) else { return };
    let room = chars_max.saturating_sub(input.value().chars().count());
    for letter in text.trim_end_matches(['\r', '\n']).chars().take(room) {
        let letter = if is_plain(letter) { letter } else { ' ' };
        input.handle(InputRequest::InsertChar(letter));
    }
    after_edit(model);
}

fn input_of(dialog: &mut Dialog) -> Option<(&mut Input, usize)> {
    match dialog {
        Dialog::Filter(filter) => Some((&mut filter.input, TYPED_CHARS_MAX)),
        Dialog::Palette(palette) => Some((&mut palette.input, TYPED_CHARS_MAX)),
        Dialog::Find(finder) => Some((&mut finder.input, TYPED_CHARS_MAX)),
        Dialog::Name(input, _) => Some((input, outlook::NAME_CHARS_MAX)),
        Dialog::Decision(decision) if decision.blocked().is_some() => None,
        Dialog::Decision(decision) => box_of(&mut decision.answers),
        Dialog::Approval(approval) if approval.blocked().is_some() => None,
        Dialog::Approval(approval) => box_of(&mut approval.answers),
        Dialog::Bulk(bulk) if bulk.targets.is_empty() => None,
        Dialog::Bulk(bulk) => {
            let bulk = &mut **bulk;
            Some(if bulk.types_count {
                (&mut bulk.typed, TYPED_CHARS_MAX)
            } else {
                (&mut bulk.reason, Reason::CHARS_MAX)
            })
        }
        Dialog::None
        | Dialog::Help(_)
        | Dialog::Message(..)
        | Dialog::Triage(_)
        | Dialog::Outcome(_)
        | Dialog::Recovered(..) => None,
    }
}

fn box_of(answers: &mut Answers) -> Option<(&mut Input, usize)> {
    match answers.field {
        Field::Reason => Some((&mut answers.reason, Reason::CHARS_MAX)),
        Field::Typed => Some((&mut answers.typed, TYPED_CHARS_MAX)),
        Field::Insist | Field::Button => None,
    }
}

fn after_edit(model: &mut Model) {
    match &mut model.dialog {
        Dialog::Filter(filter) => {
            let typed = filter.input.value().to_owned();
            list::set_filter(model, &typed);
        }
        Dialog::Decision(decision) => decision.answers.hint = None,
        Dialog::Bulk(bulk) => bulk.hint = None,
        Dialog::Approval(approval) => approval.answers.hint = None,
        Dialog::Palette(palette) => palette.find(),
        Dialog::Find(_) => finder::find(model),
        Dialog::Name(_, hint) => *hint = None,
        Dialog::None
        | Dialog::Help(_)
        | Dialog::Message(..)
        | Dialog::Triage(_)
        | Dialog::Outcome(_)
        | Dialog::Recovered(..) => {}
    }
}
