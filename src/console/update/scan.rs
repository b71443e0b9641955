//! Scans: pages are merged as they come, what is gone goes when the scan has ended.

use super::look;
use crate::console::message::ScanMessage;
use crate::console::model::{Dialog, Model, Notice};
use crate::console::task::Task;

/// Reads every source again.
pub fn read_again(model: &mut Model) -> Vec<Task> {
    let run = model.next_run();
    (model.scan.run, model.scan.since) = (run, Some(model.now));
    vec![Task::Scan { run }]
}

/// Reads the sources again where that is to happen by itself and is due: never while a scan runs or decisions are written.
pub fn refresh_if_due(model: &mut Model) -> Vec<Task> {
    let (Some(every), None, Some(ended)) = (model.setup.refresh, model.scan.since, model.scan.ended) else {
        return Vec::new();
    };
    if model.now - ended < every || model.is_settling() {
        return Vec::new();
    }
    read_again(model)
}

/// Takes in news of a scan; those of an older one are dropped.
pub fn on_scan(model: &mut Model, message: ScanMessage) -> Vec<Task> {
    match message {
        ScanMessage::Page { run, source, page } if is_current(model, run) => {
            if let Some(state) = model.sources.iter_mut().find(|state| state.name == *source) {
                (state.fault, state.clock_gap) = (None, Some(page.clock_gap));
            }
            let fresh = model.findings.merge(run, page.found);
            announce(model, run, &fresh);
            look::leave_other_item(model);
        }
        ScanMessage::Fault { run, source, fault } if is_current(model, run) => {
            if let Some(state) = model.sources.iter_mut().find(|state| state.name == *source) {
                state.fault = Some((fault.what, fault.do_next));
            } else {
                model.notice = Some(Notice::alarm(fault.what, fault.do_next));
            }
        }
        ScanMessage::Ended { run, at } if is_current(model, run) => {
            let unread: Vec<&str> = model
                .sources
                .iter()
                .filter(|state| state.fault.is_some())
                .map(|state| state.name.as_str())
                .collect();
            model.findings.retire(run, |source| unread.contains(&source));
            (model.scan.since, model.scan.ended) = (None, Some(at));
            look::leave_other_item(model);
        }
        ScanMessage::Page { .. } | ScanMessage::Fault { .. } | ScanMessage::Ended { .. } => {}
    }
    Vec::new()
}

/// New findings are told, but for those of the first scan: there everything is new. A plan that is being confirmed does not
/// take them in; it says that they came.
fn announce(model: &mut Model, run: u64, fresh: &[u32]) {
    if fresh.is_empty() || model.scan.ended.is_none() {
        return;
    }
    model.scan.brought = run;
    model.scan.fresh += fresh.len();
    if let Dialog::Bulk(dialog) = &mut model.dialog {
        dialog.newcomers.extend(model.findings.passing(fresh).map(|row| row.identity().key));
    }
}

fn is_current(model: &Model, run: u64) -> bool {
    run == model.scan.run && model.scan.since.is_some()
}
