//! What the record did not take: told, and kept in sight until it takes entries again.

use crate::console::model::findings::Identity;
use crate::console::model::{Model, Notice};
use crate::console::words;
use crate::domain::escalated::Escalated;
use crate::ports::record::RecordFault;
use crate::workflow::look::Named;
use crate::workflow::sweep::Unrecorded;

/// So many checks are not on record; or, where all are, something else could not be written about them. Tells that it was told.
pub fn missed(model: &mut Model, missing: usize, fault: RecordFault) -> bool {
    let what = match missing {
        0 => fault.what.clone(),
        1 => format!("1 check is NOT ON RECORD: {}", fault.what),
        many => format!("{} are NOT ON RECORD: {}", words::count(many, "check"), fault.what),
    };
    model.notice = Some(Notice::alarm(what, fault.do_next.clone()));
    if missing > 0 {
        model.record_fault = Some(fault);
    }
    true
}

/// Takes in what became of checks that were made elsewhere than in the list.
pub fn take(model: &mut Model, made: usize, unrecorded: &Unrecorded) {
    if made == 0 {
        return;
    }
    if !unrecorded.are_any() {
        model.record_fault = None;
    }
    if let Some(fault) = unrecorded.fault.clone() {
        missed(model, unrecorded.count(), fault);
    }
}

/// An entry was written, or was not.
pub fn wrote(model: &mut Model, fault: Option<&RecordFault>) {
    model.record_fault = fault.cloned();
}

/// Takes in what was escalated, whoever did it. What could not be read stays as it was known, and the header says so.
pub fn learn_escalations(model: &mut Model, read: Result<Vec<(Named, Escalated)>, RecordFault>) {
    match read {
        Ok(all) => {
            let named = |((source, key), escalated)| (Identity { source, key }, escalated);
            model.escalations = all.into_iter().map(named).collect();
            model.unread_record = None;
        }
        Err(fault) => model.unread_record = Some(fault),
    }
}
