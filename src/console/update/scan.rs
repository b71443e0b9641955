//! Scans: pages are merged as they come, what is gone goes when the scan has ended.

use super::look;
use crate::console::message::ScanMessage;
use crate::console::model::{Model, Notice};
use crate::console::task::Task;

/// Reads every source again.
pub fn read_again(model: &mut Model) -> Vec<Task> {
    let run = model.next_run();
    (model.scan.run, model.scan.since) = (run, Some(model.now));
    vec![Task::Scan { run }]
}

/// Takes in news of a scan; those of an older one are dropped.
pub fn on_scan(model: &mut Model, message: ScanMessage) -> Vec<Task> {
    match message {
        ScanMessage::Page { run, source, page } if is_current(model, run) => {
            if let Some(state) = model.sources.iter_mut().find(|state| state.name == *source) {
                (state.fault, state.clock_gap) = (None, Some(page.clock_gap));
            }
            model.findings.merge(run, page.found);
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

fn is_current(model: &Model, run: u64) -> bool {
    run == model.scan.run && model.scan.since.is_some()
}
