//! The audit's view: opened, read page by page, closed.

use super::ways;
use crate::console::message::AuditMessage;
use crate::console::model::{Loading, Model, Screen};
use crate::console::task::Task;

/// How many lines before the end the next page is asked for.
const LINES_AHEAD: usize = 20;

/// Goes to the audit, or back from it.
pub fn toggle(model: &mut Model) -> Vec<Task> {
    if model.screen == Screen::Audit {
        ways::back(model);
        return Vec::new();
    }
    ways::go(model, Screen::Audit);
    read_again(model)
}

/// Reads the newest entries; those on the screen stay until they come.
pub fn read_again(model: &mut Model) -> Vec<Task> {
    model.audit.more = false;
    read(model, None)
}

fn read(model: &mut Model, before: Option<i64>) -> Vec<Task> {
    let run = model.next_run();
    model.audit.page = Loading::Loading { run, since: model.now };
    if before.is_none() {
        model.audit.from_end = true;
    }
    vec![Task::ReadAudit { run, before }]
}

/// Puts the cursor on a line, and reads on where the end comes near.
pub fn move_to(model: &mut Model, line: usize) -> Vec<Task> {
    model.audit.move_to(line);
    let near_end = model.audit.cursor + LINES_AHEAD >= model.audit.entries.len();
    let is_reading = matches!(model.audit.page, Loading::Loading { .. });
    match model.audit.entries.last().map(|entry| entry.seq) {
        Some(seq) if near_end && model.audit.more && !is_reading => read(model, Some(seq)),
        _ => Vec::new(),
    }
}

/// Takes in a page of the audit; late ones are dropped.
pub fn on_audit(model: &mut Model, message: AuditMessage) -> Vec<Task> {
    let audit = &mut model.audit;
    match message {
        AuditMessage::Page { run, entries, more } if audit.page.awaits(run) => {
            if std::mem::take(&mut audit.from_end) {
                let seq = audit.current().map(|entry| entry.seq);
                audit.entries = entries;
                let line = audit.entries.iter().position(|entry| Some(entry.seq) == seq).unwrap_or(0);
                audit.move_to(line);
            } else {
                audit.entries.extend(entries);
            }
            audit.more = more;
            audit.page = Loading::Ready { at: model.now, value: () };
        }
        AuditMessage::Fault { run, fault } if audit.page.awaits(run) => {
            audit.page = Loading::Failed { what: fault.what, do_next: fault.do_next };
        }
        AuditMessage::Page { .. } | AuditMessage::Fault { .. } => {}
    }
    Vec::new()
}
