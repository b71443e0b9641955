//! Looking at an item: its details, its hidden fields, its key.

use super::record;
use crate::console::message::ItemMessage;
use crate::console::model::findings::Row;
use crate::console::model::item::{Looked, Opened};
use crate::console::model::matching;
use crate::console::model::{Focus, Loading, Model, Notice, Screen, Unmask};
use crate::console::task::Task;
use crate::domain::mask::mask_text;
use std::sync::Arc;

/// The longest text that is put on the clipboard, in bytes: terminals drop longer ones half-way.
const COPIED_BYTES_MAX: usize = 8_192;

/// Goes to the detail, and reads row, payload and history.
pub fn open(model: &mut Model) -> Vec<Task> {
    let is_other_screen = match model.screen {
        Screen::Findings => None,
        Screen::Audit => Some(model.audit.current().is_some()),
        Screen::Proposals => Some(model.proposals.current().is_some()),
        Screen::Timeline => Some(model.timeline.told().is_some()),
        Screen::Matching(which) => Some(model.matching(which).current().is_some()),
    };
    if let Some(has_current) = is_other_screen {
        if has_current {
            model.focus = Focus::Detail;
        }
        return Vec::new();
    }
    let Some(identity) = model.findings.current().map(Row::identity) else {
        model.findings.toggle_fold();
        return Vec::new();
    };
    model.focus = Focus::Detail;
    let run = model.next_run();
    let scroll = if model.looked.identity.as_ref() == Some(&identity) { model.looked.scroll } else { 0 };
    let task = Task::Open { run, source: Arc::clone(&identity.source), key: Arc::clone(&identity.key) };
    let details = Loading::Loading { run, since: model.now };
    model.looked = Looked { identity: Some(identity), details, scroll };
    vec![task]
}

/// Lets go of what was read and unmasked of an item that is no longer under the cursor.
pub fn leave_other_item(model: &mut Model) {
    let current = model.findings.current().map(Row::identity);
    if model.looked.identity.is_some() && model.looked.identity != current {
        model.looked = Looked::default();
    }
    let is_others = match &model.unmask {
        Unmask::Hidden => false,
        Unmask::Asked(identity) | Unmask::Shown(identity) => Some(identity) != current.as_ref(),
    };
    if is_others {
        model.unmask = Unmask::Hidden;
    }
    if current.is_none() && model.screen == Screen::Findings {
        model.focus = Focus::List;
    }
}

/// Asks for hidden fields to be shown, which goes on record first; or hides them again.
pub fn unmask(model: &mut Model) -> Vec<Task> {
    let Some(identity) = model.findings.current().map(Row::identity) else { return Vec::new() };
    match &model.unmask {
        Unmask::Shown(shown) if *shown == identity => {
            model.unmask = Unmask::Hidden;
            model.notice = Some(Notice::info("Hidden again."));
            Vec::new()
        }
        Unmask::Asked(asked) if *asked == identity => Vec::new(),
        Unmask::Hidden | Unmask::Asked(_) | Unmask::Shown(_) => {
            let task =
                Task::RecordUnmask { source: Arc::clone(&identity.source), key: Arc::clone(&identity.key) };
            model.unmask = Unmask::Asked(identity);
            vec![task]
        }
    }
}

/// Copies the key under the cursor, without what is hidden; of a duplicate what a refund needs.
pub fn copy_key(model: &mut Model) -> Vec<Task> {
    if let Screen::Matching(which) = model.screen
        && let Some((_, group)) = model.matching(which).current().and_then(matching::Row::duplicate)
    {
        let copied = super::matching::refund_words(group);
        model.notice = Some(Notice::info("All that a refund needs is copied."));
        return vec![Task::Copy(copied)];
    }
    let key = match model.screen {
        Screen::Findings => {
            model.findings.current().map(|row| row.found.finding.item.key.as_str().to_owned())
        }
        Screen::Audit => model.audit.current().map(|entry| entry.key.clone()),
        Screen::Proposals => model.proposals.current().map(|proposal| proposal.key.to_string()),
        Screen::Timeline => model.timeline.of.as_ref().map(|identity| identity.key.to_string()),
        Screen::Matching(which) => model
            .matching(which)
            .current()
            .and_then(matching::Row::identity)
            .map(|identity| identity.key.to_string()),
    };
    let Some(key) = key else { return Vec::new() };
    if key.len() > COPIED_BYTES_MAX {
        model.notice = Some(Notice::alarm("The key is too long for the clipboard: nothing was copied.", ""));
        return Vec::new();
    }
    let copied = mask_text(&key).into_owned();
    let told = if copied == key { "Key copied." } else { "Key copied, without what is hidden in it." };
    model.notice = Some(Notice::info(told));
    vec![Task::Copy(copied)]
}

/// Takes in an item's details, or that a look is on record; late ones are dropped.
pub fn on_item(model: &mut Model, message: ItemMessage) -> Vec<Task> {
    match message {
        ItemMessage::Opened { run, details } if model.looked.details.awaits(run) => {
            let kind =
                details.now.as_ref().and_then(|now| now.found.as_ref()).map(|found| &found.finding.item.kind);
            let listed = model.findings.current().map(|row| &row.found.finding.item.kind);
            let masks = kind.or(listed).map(|kind| model.masks_of(kind).to_vec()).unwrap_or_default();
            model.looked.details = Loading::Ready { at: model.now, value: Opened::new(*details, &masks) };
        }
        ItemMessage::Fault { run, fault } if model.looked.details.awaits(run) => {
            model.looked.details = Loading::Failed { what: fault.what, do_next: fault.do_next };
        }
        ItemMessage::Opened { .. } | ItemMessage::Fault { .. } => {}
        ItemMessage::Unmasked { source, key, record_fault } => {
            record::wrote(model, record_fault.as_ref());
            let Unmask::Asked(asked) = &model.unmask else { return Vec::new() };
            if asked.source != source || asked.key != key {
                return Vec::new();
            }
            model.unmask = match record_fault {
                None => Unmask::Shown(asked.clone()),
                Some(fault) => {
                    let what =
                        format!("Hidden fields stay hidden, the look could not be recorded: {}", fault.what);
                    model.notice = Some(Notice::alarm(what, fault.do_next));
                    Unmask::Hidden
                }
            };
        }
    }
    Vec::new()
}
