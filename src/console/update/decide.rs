//! Decisions up to the order: the dialogs' keys.

use super::settle;
use crate::console::keymap::{Action, Place};
use crate::console::model::answers::{Answers, Field};
use crate::console::model::bulk::BulkDialog;
use crate::console::model::decision::DecisionDialog;
use crate::console::model::findings::{Identity, Row};
use crate::console::model::{Dialog, Model, Notice};
use crate::console::task::Task;
use crate::domain::decision::Choice;
use crate::workflow::{Checked, Found, Order};
use std::sync::Arc;

/// Why no dialog opens, if so: it is told.
fn is_refused(model: &mut Model) -> bool {
    let writes = || Notice::info("Decisions are being written: wait for their outcome.");
    let refusal = model.refuses_decisions().or_else(|| model.is_settling().then(writes));
    let is_refused = refusal.is_some();
    if is_refused {
        model.notice = refusal;
    }
    is_refused
}

/// Opens the dialog of a choice: for what is selected and shown, else for the finding under the cursor.
pub fn open(model: &mut Model, choice: Choice) -> Vec<Task> {
    if is_refused(model) {
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
        let counts = (hidden, model.findings.shown_len(), model.findings.total());
        let dialog = BulkDialog::new(choice, selected.into_iter(), counts, model.findings.typed(), |row| {
            model.is_escalated(&row.found.finding.item)
        });
        model.dialog = Dialog::Bulk(Box::new(dialog));
        return Vec::new();
    }
    if hidden > 0 {
        let what = format!("All {hidden} selected are hidden by the filter: nothing is decided on them.");
        model.notice = Some(Notice::alarm(what, "Change the filter, or deselect them with Esc."));
        return Vec::new();
    }
    let row = selected.first().copied().or_else(|| model.findings.current());
    let Some(item) = row.map(|row| (Arc::clone(&row.found), row.checked.clone())) else {
        let told = match model.findings.current_group() {
            Some(_) => format!("Select the group first ({}), then decide.", model.key_of(Action::Select)),
            None => "There is no finding to decide on.".to_owned(),
        };
        model.notice = Some(Notice::info(told));
        return Vec::new();
    };
    open_on(model, choice, item, "")
}

/// Opens the dialog of a choice on one item with its latest check, with a reason that is written already.
pub fn open_on(
    model: &mut Model,
    choice: Choice,
    (listed, recent): (Arc<Found>, Option<Arc<Checked>>),
    reason: &str,
) -> Vec<Task> {
    if is_refused(model) {
        return Vec::new();
    }
    let run = model.next_run();
    let identity = Identity::of(&listed.finding.item);
    let (source, key) = (Arc::clone(&identity.source), Arc::clone(&identity.key));
    let dialog = DecisionDialog::new(choice, identity, listed, run, reason);
    model.dialog = Dialog::Decision(Box::new(dialog));
    vec![Task::Prepare { run, source, key, choice, recent }]
}

/// A key that means nothing here: on the button, say what would.
pub fn on_other_key(model: &mut Model, place: Place) {
    const HINT: &str = "Press y to confirm, Esc to leave. Enter alone confirms nothing.";
    if place == Place::Button
        && let Some(answers) = answers_of(&mut model.dialog)
    {
        answers.hint = Some(HINT.to_owned());
    }
}

/// The answers, where a dialog confirms one thing.
pub(super) fn answers_of(dialog: &mut Dialog) -> Option<&mut Answers> {
    match dialog {
        Dialog::Decision(dialog) => Some(&mut dialog.answers),
        Dialog::Approval(dialog) => Some(&mut dialog.answers),
        Dialog::None
        | Dialog::Help(_)
        | Dialog::Find(_)
        | Dialog::Message(..)
        | Dialog::Filter(_)
        | Dialog::Triage(_)
        | Dialog::Palette(_)
        | Dialog::Name(..)
        | Dialog::Bulk(_)
        | Dialog::Outcome(_)
        | Dialog::Recovered(..) => None,
    }
}

/// To the next or previous field.
pub fn walk(model: &mut Model, forward: bool) {
    match &mut model.dialog {
        Dialog::Decision(dialog) => dialog.answers.walk(forward, dialog.asks_to_insist()),
        Dialog::Approval(dialog) => dialog.answers.walk(forward, dialog.asks_to_insist()),
        Dialog::Bulk(dialog) => {
            dialog.hint = None;
            dialog.types_count = !dialog.types_count;
        }
        Dialog::None
        | Dialog::Help(_)
        | Dialog::Find(_)
        | Dialog::Message(..)
        | Dialog::Filter(_)
        | Dialog::Triage(_)
        | Dialog::Palette(_)
        | Dialog::Name(..)
        | Dialog::Outcome(_)
        | Dialog::Recovered(..) => {}
    }
}

/// Turns insisting on or off.
pub fn insist(model: &mut Model) {
    if let Some(answers) = answers_of(&mut model.dialog) {
        answers.turn_insisting();
    }
}

/// `y` on the button: orders, or asks the second question where the rules ask twice.
pub fn confirm(model: &mut Model) -> Vec<Task> {
    let Dialog::Decision(dialog) = &mut model.dialog else { return Vec::new() };
    let (order, asks_twice) = (dialog.order(), dialog.word().is_some());
    let order = dialog.answers.confirm(order, asks_twice);
    begin(model, order.into_iter().collect())
}

/// Enter behind the typed word: orders, if it is the word asked for.
pub fn confirm_typed(model: &mut Model) -> Vec<Task> {
    match &mut model.dialog {
        Dialog::Decision(dialog) => {
            let (order, word) = (dialog.order(), dialog.word());
            let order = dialog.answers.confirm_typed(order, word);
            begin(model, order.into_iter().collect())
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
        | Dialog::Find(_)
        | Dialog::Message(..)
        | Dialog::Filter(_)
        | Dialog::Triage(_)
        | Dialog::Palette(_)
        | Dialog::Name(..)
        | Dialog::Approval(_)
        | Dialog::Outcome(_)
        | Dialog::Recovered(..) => Vec::new(),
    }
}

/// Leaves the dialog, or goes back from its second question to the button.
pub fn cancel(model: &mut Model) {
    if let Some(answers) = answers_of(&mut model.dialog)
        && answers.field == Field::Typed
    {
        (answers.field, answers.hint) = (Field::Button, None);
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
