//! What the providers did matched with what the jobs say: begun, stopped, taken in; and from there to one item.

use super::{decide, look, outlook, record, ways};
use crate::console::keymap::{Action, Place};
use crate::console::message::{MatchMessage, MatchTold};
use crate::console::model::findings::Identity;
use crate::console::model::matching::{Matched, Matching, Row, member_of};
use crate::console::model::{Loading, Model, Notice, Screen};
use crate::console::task::Task;
use crate::domain::decision::{Choice, Reason};
use crate::domain::duplicates::Duplicate;
use crate::domain::mask::mask_text;
use crate::domain::text::clean_cut;
use crate::workflow::sweep::{Answered, Unrecorded};
use std::sync::Arc;

/// Goes to a matching, which begins where none was made yet; or back from it.
pub fn toggle(model: &mut Model, which: Matching) -> Vec<Task> {
    if model.screen == Screen::Matching(which) {
        ways::back(model);
        return Vec::new();
    }
    ways::go(model, Screen::Matching(which));
    match model.matching(which).result {
        Loading::Idle | Loading::Failed { .. } => begin(model, which),
        Loading::Loading { .. } | Loading::Ready { .. } => Vec::new(),
    }
}

/// Matches, or matches anew.
pub fn begin(model: &mut Model, which: Matching) -> Vec<Task> {
    let (run, now) = (model.next_run(), model.now);
    let view = model.matching_mut(which);
    view.begin(Loading::Loading { run, since: now });
    vec![Task::Match { which, run, scope: view.reach.scope() }]
}

/// Matches over the next window.
pub fn next_window(model: &mut Model) -> Vec<Task> {
    let Screen::Matching(which) = model.screen else { return Vec::new() };
    let view = model.matching_mut(which);
    view.reach = view.reach.next();
    begin(model, which)
}

/// Stops a matching that runs on the screen; tells whether one did.
pub fn stop(model: &mut Model) -> Option<Task> {
    let Screen::Matching(which) = model.screen else { return None };
    if !model.matching(which).is_running() {
        return None;
    }
    let refresh = model.key_of(Action::Refresh);
    model.matching_mut(which).end(Loading::Failed {
        what: "Stopped: nothing is said of what was not matched yet.".to_owned(),
        do_next: format!("{refresh} matches again."),
    });
    Some(Task::StopMatching(which))
}

/// Takes in news of a matching; late ones are dropped.
pub fn on_match(model: &mut Model, message: MatchMessage) -> Vec<Task> {
    let MatchMessage { which, run, told } = message;
    if !model.matching(which).result.awaits(run) {
        return Vec::new();
    }
    let scope = model.matching(which).reach.scope();
    let (mut matched, learnt, unrecorded) = match told {
        MatchTold::Step(step) => {
            model.matching_mut(which).step = Some(step);
            return Vec::new();
        }
        MatchTold::Both(reconciled, unrecorded) => {
            let learnt = reconciled.items.clone();
            (Matched::of_both(Arc::unwrap_or_clone(reconciled), &scope), learnt, unrecorded)
        }
        MatchTold::Doubles(doubles, unrecorded) => {
            let learnt = doubles.checks();
            (Matched::of_doubles(Arc::unwrap_or_clone(doubles), &scope), learnt, unrecorded)
        }
    };
    if model.screen != Screen::Matching(which) {
        let action = match which {
            Matching::Duplicates => Action::Duplicates,
            Matching::Reconcile => Action::Reconcile,
        };
        let key = model.setup.keys.told(Place::Findings, action);
        let mut notice = Notice::info(format!("{}: {}", which.name(), matched.summary));
        notice.do_next = format!("{key} shows it.");
        model.notice = Some(notice);
    }
    matched.unrecorded = unrecorded.clone();
    let ready = Loading::Ready { at: model.now, value: matched };
    model.matching_mut(which).end(ready);
    learn(model, &learnt, &unrecorded);
    record::take(model, learnt.len(), &unrecorded);
    Vec::new()
}

/// The list of findings knows what was learnt elsewhere, as far as its rows are still the same.
pub fn learn(model: &mut Model, learnt: &[Answered], unrecorded: &Unrecorded) {
    for (found, checked) in learnt {
        model.findings.change(&Identity::of(&found.finding.item), |row| {
            if super::settle::is_still(row, found) {
                row.learn(Some(Arc::clone(checked)), unrecorded.is_on_record(&found.finding.item));
            }
        });
    }
    if !learnt.is_empty() && model.checks.run.is_none() {
        model.findings.settle_order();
    }
}

/// Goes to the item in the list of findings, where it is one. A filter that hides it goes; `[` brings it back.
pub fn to_item(model: &mut Model) -> Vec<Task> {
    let identity = match model.screen {
        Screen::Timeline => model.timeline.of.clone(),
        Screen::Matching(which) => model.matching(which).current().and_then(Row::identity),
        Screen::Findings | Screen::Audit | Screen::Proposals => None,
    };
    let Some(identity) = identity else {
        model.notice = Some(Notice::info("There is no item under the cursor."));
        return Vec::new();
    };
    if model.findings.find(&identity).is_none() {
        let what = "It is not among the findings: by its row nothing waits for a person there.";
        model.notice = Some(Notice::info(what));
        return Vec::new();
    }
    let before = model.here();
    ways::go_to_finding(model);
    model.findings.go_to(&identity);
    if model.findings.current().map(crate::console::model::findings::Row::identity) != Some(identity.clone())
    {
        outlook::show_all(model);
        outlook::remember(model, before);
        model.findings.go_to(&identity);
    }
    look::leave_other_item(model);
    look::open(model)
}

/// Opens the dialog that escalates an item of the group under the cursor, with the reason that a refund needs.
pub fn escalate(model: &mut Model) -> Vec<Task> {
    let group = model.matching(Matching::Duplicates).current().and_then(Row::duplicate);
    let Some((story, duplicate)) = group else {
        model.notice = Some(Notice::info("There is no duplicate under the cursor to escalate."));
        return Vec::new();
    };
    let Some(member) = member_of(story) else {
        model.notice =
            Some(Notice::info("None of its rows is there any more: nothing can be escalated here."));
        return Vec::new();
    };
    let reason = refund_words(duplicate);
    let found = Arc::new(member.found.clone());
    let recent = story.checked.clone().map(Arc::new);
    decide::open_on(model, Choice::Escalate, (found, recent), &reason)
}

/// All that a refund needs, as a reason: secrets hidden, no longer than one may be.
pub fn refund_words(duplicate: &Duplicate) -> String {
    clean_cut(&mask_text(&duplicate.escalation_reason()), Reason::CHARS_MAX)
}
