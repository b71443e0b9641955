//! Checks: started, counted, cancelled. Rows keep their places while checks run and are sorted anew when they end.

use super::record;
use crate::console::message::CheckMessage;
use crate::console::model::findings::{Identity, Row};
use crate::console::model::{Model, Notice, Tone};
use crate::console::task::Task;
use crate::console::words;
use crate::domain::verdict::Verdict;
use crate::workflow::Found;
use std::collections::HashSet;
use std::sync::Arc;

/// Checks what is selected and shown, or the finding under the cursor.
pub fn check_chosen(model: &mut Model) -> Vec<Task> {
    let findings = &model.findings;
    if findings.counts().selected > 0 && findings.shown().any(|row| row.selected) {
        return begin_shown(model, |row| row.selected);
    }
    let current = findings.current().map(Row::identity).into_iter().collect();
    begin(model, current)
}

/// Checks every finding shown.
pub fn check_shown(model: &mut Model) -> Vec<Task> {
    begin_shown(model, |_| true)
}

/// Starts checks of those shown that are wanted; while others run these wait for them, so that no answer is lost.
fn begin_shown(model: &mut Model, is_wanted: fn(&Row) -> bool) -> Vec<Task> {
    if model.checks.run.is_some() {
        let wanted = model.findings.shown().filter(|row| is_wanted(row) && row.asked.is_none());
        let more = wanted.map(Row::identity).collect();
        return wait(model, more);
    }
    let run = model.next_run();
    let found = model.findings.ask_shown(run, is_wanted);
    start(model, run, found)
}

/// The same, of those named.
fn begin(model: &mut Model, mut identities: Vec<Identity>) -> Vec<Task> {
    if model.checks.run.is_some() {
        identities.retain(|identity| model.findings.find(identity).is_some_and(|row| row.asked.is_none()));
        return wait(model, identities);
    }
    let run = model.next_run();
    let found = model.findings.ask(run, &identities);
    start(model, run, found)
}

fn wait(model: &mut Model, mut more: Vec<Identity>) -> Vec<Task> {
    let waiting = &mut model.checks.waiting;
    if !waiting.is_empty() {
        let known: HashSet<&Identity> = waiting.iter().collect();
        more.retain(|identity| !known.contains(identity));
    }
    waiting.extend(more);
    let count = words::count(waiting.len(), "finding");
    model.notice = Some(Notice::info(format!("{count} will be checked next.")));
    Vec::new()
}

fn start(model: &mut Model, run: u64, found: Vec<Arc<Found>>) -> Vec<Task> {
    if found.is_empty() {
        model.notice = Some(Notice::info("There is nothing to check."));
        return Vec::new();
    }
    let checks = &mut model.checks;
    (checks.run, checks.total, checks.done) = (Some(run), found.len(), 0);
    (checks.unknown, checks.unrecorded, checks.cancelled) = (0, 0, false);
    vec![Task::Check { run, found }]
}

/// Stops the checks; what was answered stays.
pub fn cancel(model: &mut Model) -> Vec<Task> {
    model.checks.cancelled = true;
    model.checks.waiting.clear();
    model.notice = Some(Notice::info("Checks stop; what was answered stays."));
    vec![Task::CancelChecks]
}

/// Takes in news of checks; those of older ones are dropped.
pub fn on_check(model: &mut Model, message: CheckMessage) -> Vec<Task> {
    match message {
        CheckMessage::Done { run, found, checked, on_record } if model.checks.run == Some(run) => {
            model.checks.done = (model.checks.done + 1).min(model.checks.total);
            model.checks.unknown += usize::from(checked.verdict() == Verdict::Unknown);
            model.checks.unrecorded += usize::from(!on_record);
            if on_record {
                model.record_fault = None;
            }
            let identity = Identity::of(&found.finding.item);
            model.findings.change(&identity, |row| {
                row.asked = None;
                // A check of a row that changed meanwhile says nothing of the row as it is.
                if super::settle::is_still(row, &found) {
                    row.learn(Some(checked), on_record);
                }
            });
            Vec::new()
        }
        CheckMessage::Ended { run, record_fault } if model.checks.run == Some(run) => {
            model.checks.run = None;
            model.findings.asked_no_more();
            model.findings.settle_order();
            super::look::leave_other_item(model);
            let missing = model.checks.unrecorded;
            let is_told = record_fault.is_some_and(|fault| record::missed(model, missing, fault));
            if !is_told {
                model.notice = Some(ended_notice(model));
            }
            let waiting = std::mem::take(&mut model.checks.waiting);
            if waiting.is_empty() { Vec::new() } else { begin(model, waiting) }
        }
        CheckMessage::Done { .. } | CheckMessage::Ended { .. } => Vec::new(),
    }
}

fn ended_notice(model: &Model) -> Notice {
    let checks = &model.checks;
    let verb = if checks.done < checks.total { "Stopped: " } else { "" };
    let what = format!("{verb}{} of {} checked, {} unknown.", checks.done, checks.total, checks.unknown);
    let tone = if checks.unknown > 0 || checks.done < checks.total { Tone::Info } else { Tone::Good };
    let do_next = if checks.unknown > 0 { "An unknown is no answer: open it to see why." } else { "" };
    Notice { tone, what, do_next: do_next.to_owned() }
}
