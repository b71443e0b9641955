//! Decisions from the order on: what is known, what came of it, what had broken off.

use super::{look, record, scan};
use crate::console::message::SettleMessage;
use crate::console::model::decision::Knowledge;
use crate::console::model::findings::{Identity, Row, is_same_row};
use crate::console::model::settling::{Gait, Settled, Settling};
use crate::console::model::{Dialog, Model, Notice, Tone};
use crate::console::task::Task;
use crate::domain::decision::{Choice, Outcome};
use crate::domain::escalated::Escalated;
use crate::workflow::settle::{NotOpen, OrderFault};
use crate::workflow::{Decided, Found, Prepared};
use std::sync::Arc;

/// Takes in news of decisions; late ones are dropped.
pub fn on_settle(model: &mut Model, message: SettleMessage) -> Vec<Task> {
    match message {
        SettleMessage::Prepared { run, prepared } => on_prepared(model, run, *prepared),
        SettleMessage::PrepareFault { run, fault } => {
            let do_next = fault.do_next();
            on_knowledge(model, run, Knowledge::Failed { what: fault.to_string(), do_next });
        }
        SettleMessage::Decided { run, source, key, choice, result } => {
            on_decided(model, run, Identity { source, key }, choice, *result);
        }
        SettleMessage::Ended { run } => return on_ended(model, run),
        SettleMessage::Recovered(Ok(recovered)) => {
            model.recovered.extend(recovered);
            show_waiting(model);
        }
        SettleMessage::Recovered(Err(fault)) => {
            // That there is no audit stands in the header already.
            if model.setup.audit_fault.is_none() {
                let what = format!("Whether decisions had broken off is not known: {}", fault.what);
                model.notice = Some(Notice::alarm(what, fault.do_next));
            }
        }
    }
    Vec::new()
}

/// A series of orders begins: its number. What comes of it is shown from now on.
pub fn begin_series(model: &mut Model, choice: Choice, total: usize) -> u64 {
    let run = model.next_run();
    model.settling = Some(Settling {
        run,
        choice,
        total,
        results: Vec::new(),
        gait: Gait::Going,
        ended: false,
        seen: false,
    });
    model.dialog = Dialog::Outcome(0);
    run
}

/// Whether a row is still as it was when something was learned of it.
pub fn is_still(row: &Row, found: &Arc<Found>) -> bool {
    Arc::ptr_eq(&row.found, found) || is_same_row(&row.found.finding.item, &found.finding.item)
}

fn on_prepared(model: &mut Model, run: u64, prepared: Result<Prepared, NotOpen>) {
    match prepared {
        Ok(prepared) => {
            let (found, checked) = (Arc::new(prepared.found.clone()), Arc::new(prepared.checked.clone()));
            if on_knowledge(model, run, Knowledge::Ready(Box::new(prepared))) {
                let identity = Identity::of(&found.finding.item);
                model.findings.change(&identity, |row| {
                    row.found = found;
                    // What is asked for a dialog goes on record with its decision, and not before.
                    let is_known = row.checked.as_ref() == Some(&checked);
                    let on_record = is_known && !row.is_unrecorded;
                    row.learn(Some(checked), on_record);
                });
            }
        }
        Err(not_open) => {
            on_knowledge(model, run, Knowledge::NotOpen(not_open));
        }
    }
}

fn on_knowledge(model: &mut Model, number: u64, knowledge: Knowledge) -> bool {
    if let Dialog::Decision(dialog) = &mut model.dialog
        && matches!(dialog.knowledge, Knowledge::Loading { run } if run == number)
    {
        dialog.knowledge = knowledge;
        return true;
    }
    false
}

fn on_decided(
    model: &mut Model,
    run: u64,
    identity: Identity,
    choice: Choice,
    result: Result<Decided, OrderFault>,
) {
    if model.settling.as_ref().is_none_or(|settling| settling.run != run) {
        return;
    }
    if let Ok(decided) = &result {
        record::wrote(model, decided.record_fault.as_ref());
    }
    let Some(settling) = model.settling.as_mut() else { return };
    debug_assert_eq!(settling.choice, choice, "the verb of the dialog is the verb that is written");
    match &result {
        Ok(Decided { outcome: Outcome::Applied { before, after }, checked, entry, record_fault, .. }) => {
            match choice {
                Choice::MarkDone | Choice::Retry => model.findings.remove(&identity),
                Choice::Escalate => {
                    let escalated = Escalated::made(
                        *entry,
                        &model.setup.operator,
                        model.now,
                        [Some(before), after.as_ref()].into_iter().flatten(),
                    );
                    model.escalations.insert(identity.clone(), escalated);
                    let checked = checked.clone().map(Arc::new);
                    model.findings.change(&identity, |row| {
                        (row.decided, row.selected) = (Some(choice), false);
                        if checked.is_some() {
                            row.learn(checked, record_fault.is_none());
                        }
                    });
                }
            }
        }
        Ok(Decided { outcome: Outcome::Proposed { .. }, checked, record_fault, .. }) => {
            let checked = checked.clone().map(Arc::new);
            model.findings.change(&identity, |row| {
                row.learn(checked, record_fault.is_none());
                row.selected = false;
            });
        }
        Ok(Decided {
            outcome: Outcome::Refused { .. } | Outcome::Failed { .. },
            checked,
            record_fault,
            ..
        }) => {
            // What was known of it led to nothing: only the newest answer still counts.
            let checked = checked.clone().map(Arc::new);
            model.findings.change(&identity, |row| row.learn(checked, record_fault.is_none()));
        }
        Err(_) => {}
    }
    settling.results.push(Settled { identity, result });
    look::leave_other_item(model);
}

/// All orders came to their end: told, and the sources read again, so that the list is true.
fn on_ended(model: &mut Model, run: u64) -> Vec<Task> {
    let Some(settling) = model.settling.as_mut().filter(|settling| settling.run == run) else {
        return Vec::new();
    };
    settling.ended = true;
    let tone = if settling.all_well() { Tone::Good } else { Tone::Alarm };
    model.notice = Some(Notice { tone, what: format!("{}.", settling.summary()), do_next: String::new() });
    model.findings.settle_order();
    settling_seen(model);
    show_waiting(model);
    scan::read_again(model)
}

/// Stops before the next order; where that is asked for already or none follows, only hides the dialog.
pub fn stop(model: &mut Model) -> Vec<Task> {
    let Some(settling) = model.settling.as_mut() else { return Vec::new() };
    let others_follow = settling.gait == Gait::Paused || settling.results.len() + 1 < settling.total;
    if others_follow && settling.gait != Gait::Stopping {
        settling.gait = Gait::Stopping;
        return vec![Task::StopDeciding];
    }
    model.dialog = Dialog::None;
    model.notice = Some(Notice::info("The decision goes on; its outcome will be shown."));
    Vec::new()
}

/// Pauses before the next order, or goes on.
pub fn pause(model: &mut Model) -> Vec<Task> {
    let Some(settling) = model.settling.as_mut() else { return Vec::new() };
    let others_follow = settling.results.len() + 1 < settling.total;
    settling.gait = match settling.gait {
        Gait::Going if others_follow => Gait::Paused,
        Gait::Paused => Gait::Going,
        Gait::Going | Gait::Stopping => return Vec::new(),
    };
    vec![Task::PauseDeciding(settling.gait == Gait::Paused)]
}

fn settling_seen(model: &mut Model) {
    if let (Dialog::Outcome(_), Some(settling)) = (&model.dialog, &mut model.settling) {
        settling.seen = true;
    }
}

/// Shows what waited for another dialog to close: what had broken off, then an outcome that nobody saw yet.
pub fn show_waiting(model: &mut Model) {
    if !matches!(model.dialog, Dialog::None) {
        return;
    }
    if !model.recovered.is_empty() {
        model.dialog = Dialog::Recovered(std::mem::take(&mut model.recovered), 0);
    } else if model.settling.as_ref().is_some_and(|settling| settling.ended && !settling.seen) {
        model.dialog = Dialog::Outcome(0);
        settling_seen(model);
    }
}
