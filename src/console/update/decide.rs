//! Decisions up to the order: the dialogs' keys.

use super::settle;
use crate::console::keymap::Place;
use crate::console::model::bulk::BulkDialog;
use crate::console::model::decision::{DecisionDialog, Field};
use crate::console::model::findings::Row;
use crate::console::model::{Dialog, Model, Notice};
use crate::console::task::Task;
use crate::domain::decision::Choice;
use crate::workflow::Order;
use std::sync::Arc;

/// Opens the dialog of a choice: for what is selected and shown, else for the finding under the cursor.
pub fn open(model: &mut Model, choice: Choice) -> Vec<Task> {
    if let Some(refusal) = model.refuses_decisions() {
        model.notice = Some(refusal);
        return Vec::new();
    }
    if model.is_settling() {
        model.notice = Some(Notice::info("Decisions are being written: wait for their outcome."));
        return Vec::new();
    }
    let selected_total = model.findings.counts().selected;
    let selected: Vec<&Row> = if selected_total == 0 {
        Vec::new()
    } else {
        model.findings.shown().filter(|row| row.selected).collect()
    };
    let hidden = selected_total - selected.len();
    if selected.len() > 1 || (hidden > 0 && !selected.is_empty()) {
        let dialog = BulkDialog::new(choice, selected.into_iter(), hidden, model.findings.typed());
        model.dialog = Dialog::Bulk(Box::new(dialog));
        return Vec::new();
    }
    if hidden > 0 {
        let what = format!("All {hidden} selected are hidden by the filter: nothing is decided on them.");
        model.notice = Some(Notice::alarm(what, "Change the filter, or deselect them with Esc."));
        return Vec::new();
    }
    let row = selected.first().copied().or_else(|| model.findings.current());
    let Some((identity, listed, recent)) =
        row.map(|row| (row.identity(), Arc::clone(&row.found), row.checked.clone()))
    else {
        model.notice = Some(Notice::info("There is no finding to decide on."));
        return Vec::new();
    };
    let run = model.next_run();
    let (source, key) = (Arc::clone(&identity.source), Arc::clone(&identity.key));
    model.dialog = Dialog::Decision(Box::new(DecisionDialog::new(choice, identity, listed, run)));
    vec![Task::Prepare { run, source, key, choice, recent }]
}

/// A key that means nothing here: on the button, say what would.
pub fn on_other_key(model: &mut Model, place: Place) {
    const HINT: &str = "Press y to confirm, Esc to leave. Enter alone confirms nothing.";
    if place == Place::Button
        && let Some((_, hint)) = fields_of(&mut model.dialog)
    {
        *hint = Some(HINT.to_owned());
    }
}

/// The field that has the keys, and what is missing, where a dialog confirms one thing.
fn fields_of(dialog: &mut Dialog) -> Option<(&mut Field, &mut Option<String>)> {
    match dialog {
        Dialog::Decision(dialog) => Some((&mut dialog.field, &mut dialog.hint)),
        Dialog::Approval(dialog) => Some((&mut dialog.field, &mut dialog.hint)),
        Dialog::None
        | Dialog::Help(_)
        | Dialog::Filter(_)
        | Dialog::Bulk(_)
        | Dialog::Outcome(_)
        | Dialog::Recovered(..) => None,
    }
}

/// To the next or previous field.
pub fn walk(model: &mut Model, forward: bool) {
    match &mut model.dialog {
        Dialog::Decision(dialog) => {
            dialog.hint = None;
            dialog.walk(forward);
            // Behind the button stands what will be written: whoever is about to confirm has it before their eyes.
            dialog.scroll = if dialog.field == Field::Button { u16::MAX } else { 0 };
        }
        Dialog::Bulk(dialog) => {
            dialog.hint = None;
            dialog.types_count = !dialog.types_count;
        }
        Dialog::Approval(dialog) => {
            dialog.hint = None;
            dialog.walk(forward);
            dialog.scroll = if dialog.field == Field::Button { u16::MAX } else { 0 };
        }
        Dialog::None | Dialog::Help(_) | Dialog::Filter(_) | Dialog::Outcome(_) | Dialog::Recovered(..) => {}
    }
}

/// Turns insisting on or off.
pub fn insist(model: &mut Model) {
    match &mut model.dialog {
        Dialog::Decision(dialog) => {
            dialog.hint = None;
            dialog.insists = !dialog.insists;
        }
        Dialog::Approval(dialog) => {
            dialog.hint = None;
            dialog.insists = !dialog.insists;
        }
        Dialog::None
        | Dialog::Help(_)
        | Dialog::Filter(_)
        | Dialog::Bulk(_)
        | Dialog::Outcome(_)
        | Dialog::Recovered(..) => {}
    }
}

/// `y` on the button: orders, or asks the second question where the rules ask twice.
pub fn confirm(model: &mut Model) -> Vec<Task> {
    let Dialog::Decision(dialog) = &mut model.dialog else { return Vec::new() };
    match dialog.order() {
        Err((field, why)) => {
            (dialog.field, dialog.hint) = (field, Some(why));
            Vec::new()
        }
        Ok(_) if dialog.word().is_some() => {
            (dialog.field, dialog.hint) = (Field::Typed, None);
            dialog.typed.reset();
            Vec::new()
        }
        Ok(order) => begin(model, vec![order]),
    }
}

/// Enter behind the typed word: orders, if it is the word asked for.
pub fn confirm_typed(model: &mut Model) -> Vec<Task> {
    match &mut model.dialog {
        Dialog::Decision(dialog) => {
            let word = dialog.word();
            if word.as_deref() != Some(dialog.typed.value().trim()) {
                dialog.hint = word.map(|word| format!("Type exactly: {word}"));
                return Vec::new();
            }
            match dialog.order() {
                Ok(order) => begin(model, vec![order]),
                Err((field, why)) => {
                    (dialog.field, dialog.hint) = (field, Some(why));
                    Vec::new()
                }
            }
        }
        Dialog::Bulk(dialog) => match dialog.orders() {
            Ok(orders) => begin(model, orders),
            Err((types_count, why)) => {
                (dialog.types_count, dialog.hint) = (types_count, Some(why));
                Vec::new()
            }
        },
        Dialog::None
        | Dialog::Help(_)
        | Dialog::Filter(_)
        | Dialog::Approval(_)
        | Dialog::Outcome(_)
        | Dialog::Recovered(..) => Vec::new(),
    }
}

/// Leaves the dialog, or goes back from its second question to the button.
pub fn cancel(model: &mut Model) {
    if let Some((field, hint)) = fields_of(&mut model.dialog)
        && *field == Field::Typed
    {
        (*field, *hint) = (Field::Button, None);
        return;
    }
    model.dialog = Dialog::None;
    model.notice = Some(Notice::info("Left without a decision: nothing was written."));
}

fn begin(model: &mut Model, orders: Vec<Order>) -> Vec<Task> {
    let Some(choice) = orders.first().map(|order| order.choice) else { return Vec::new() };
    debug_assert!(orders.iter().all(|order| order.choice == choice), "one verb for all of a series");
    let run = settle::begin_series(model, choice, orders.len());
    vec![Task::Decide { run, orders }]
}
