//! Checks: started, counted, cancelled. Rows keep their places while checks run and are sorted anew when they end.

use crate::console::message::CheckMessage;
use crate::console::model::findings::{Identity, Row};
use crate::console::model::{Model, Notice, Tone};
use crate::console::task::Task;
use crate::console::words;
use crate::domain::verdict::Verdict;
use std::sync::Arc;

/// Checks what is selected and shown, or the finding under the cursor.
pub fn check_chosen(model: &mut Model) -> Vec<Task> {
    let selected: Vec<Identity> = selected_shown(model).map(Row::identity).collect();
    let chosen = if selected.is_empty() {
        model.findings.current().map(Row::identity).into_iter().collect()
    } else {
        selected
    };
    begin(model, chosen)
}

/// Checks every finding shown.
pub fn check_shown(model: &mut Model) -> Vec<Task> {
    let shown = model.findings.shown().map(Row::identity).collect();
    begin(model, shown)
}

fn selected_shown(model: &Model) -> impl Iterator<Item = &Row> {
    let any = model.findings.counts().selected > 0;
    model.findings.shown().take(if any { usize::MAX } else { 0 }).filter(|row| row.selected)
}

/// Starts checks; while others run these wait for them, so that no answer is lost.
fn begin(model: &mut Model, identities: Vec<Identity>) -> Vec<Task> {
    if identities.is_empty() {
        model.notice = Some(Notice::info("There is nothing to check."));
        return Vec::new();
    }
    if model.checks.run.is_some() {
        let known: std::collections::HashSet<Identity> = model.checks.waiting.iter().cloned().collect();
        let is_asked =
            |identity: &Identity| model.findings.find(identity).is_some_and(|row| row.asked.is_some());
        let more: Vec<Identity> = identities
            .into_iter()
            .filter(|identity| !known.contains(identity) && !is_asked(identity))
            .collect();
        model.checks.waiting.extend(more);
        let count = words::count(model.checks.waiting.len(), "finding");
        model.notice = Some(Notice::info(format!("{count} will be checked next.")));
        return Vec::new();
    }
    let found: Vec<_> = identities
        .iter()
        .filter_map(|identity| Some(Arc::clone(&model.findings.find(identity)?.found)))
        .collect();
    if found.is_empty() {
        return Vec::new();
    }
    let run = model.next_run();
    model.findings.ask(run, &identities);
    let checks = &mut model.checks;
    (checks.run, checks.total, checks.done, checks.unknown, checks.cancelled) =
        (Some(run), found.len(), 0, 0, false);
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
        CheckMessage::Done { run, found, checked } if model.checks.run == Some(run) => {
            model.checks.done = (model.checks.done + 1).min(model.checks.total);
            model.checks.unknown += usize::from(checked.verdict() == Verdict::Unknown);
            let identity = Identity::of(&found.finding.item);
            model.findings.change(&identity, |row| {
                row.asked = None;
                // A check of a row that changed meanwhile says nothing of the row as it is.
                if super::settle::is_still(row, &found) {
                    row.checked = Some(checked);
                }
            });
            Vec::new()
        }
        CheckMessage::Ended { run, record_fault } if model.checks.run == Some(run) => {
            model.checks.run = None;
            model.findings.asked_no_more();
            model.findings.settle_order();
            super::look::leave_other_item(model);
            model.notice = Some(match record_fault {
                Some(fault) => {
                    Notice::alarm(format!("The checks are not on record: {}", fault.what), fault.do_next)
                }
                None => ended_notice(model),
            });
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
