//! The timeline of one item: opened, read, asked anew.

use super::{matching, record, ways};
use crate::console::message::StoryMessage;
use crate::console::model::findings::{Identity, Row};
use crate::console::model::{Loading, Model, Notice, Screen};
use crate::console::task::Task;
use std::sync::Arc;

/// Goes to the timeline of the item under the cursor, or back from it.
pub fn toggle(model: &mut Model) -> Vec<Task> {
    let identity = match model.screen {
        Screen::Timeline => {
            ways::back(model);
            return Vec::new();
        }
        Screen::Findings => model.findings.current().map(Row::identity),
        Screen::Matching(which) => {
            model.matching(which).current().and_then(crate::console::model::matching::Row::identity)
        }
        Screen::Audit | Screen::Proposals => None,
    };
    let Some(identity) = identity else {
        model.notice = Some(Notice::info("There is no item under the cursor: nothing has a timeline."));
        return Vec::new();
    };
    ways::go(model, Screen::Timeline);
    open(model, identity)
}

fn open(model: &mut Model, identity: Identity) -> Vec<Task> {
    if model.timeline.of.as_ref() != Some(&identity) {
        (model.timeline.scroll, model.timeline.questions_scroll) = (0, 0);
    }
    read(model, identity, false)
}

/// Reads it again; with `asks_anew` its provider is asked.
pub fn read_again(model: &mut Model, asks_anew: bool) -> Vec<Task> {
    let Some(identity) = model.timeline.of.clone() else { return Vec::new() };
    read(model, identity, asks_anew)
}

fn read(model: &mut Model, identity: Identity, asks_anew: bool) -> Vec<Task> {
    let run = model.next_run();
    let (source, key) = (Arc::clone(&identity.source), Arc::clone(&identity.key));
    let view = &mut model.timeline;
    (view.of, view.asks_anew) = (Some(identity), asks_anew);
    view.story = Loading::Loading { run, since: model.now };
    vec![Task::TellStory { run, source, key, asks_anew }]
}

/// Takes in what is known; late answers are dropped.
pub fn on_story(model: &mut Model, message: StoryMessage) -> Vec<Task> {
    let StoryMessage { run, story, unrecorded } = message;
    if !model.timeline.story.awaits(run) {
        return Vec::new();
    }
    model.timeline.story = match story {
        Ok(story) => Loading::Ready { at: model.now, value: story },
        Err(fault) => Loading::Failed { what: fault.to_string(), do_next: fault.do_next() },
    };
    let asked = model.timeline.told().and_then(|story| {
        let member = story.members.first()?;
        Some((Arc::new(member.found.clone()), Arc::new(story.checked.clone()?)))
    });
    matching::learn(model, asked.as_slice(), &unrecorded);
    model.timeline.is_unrecorded = unrecorded.are_any();
    record::take(model, usize::from(asked.is_some()), &unrecorded);
    Vec::new()
}
