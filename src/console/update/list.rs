//! The list: moving, selecting, sorting, filtering; and scrolling whatever is on top of it.

use super::{audit, look};
use crate::console::keymap::Action;
use crate::console::model::sort::Sort;
use crate::console::model::{Dialog, FilterBox, Focus, Model, Notice, Screen};
use crate::console::task::Task;
use crate::console::view::ViewState;
use tui_input::Input;

/// Moves the cursor, or scrolls what has the keys.
pub fn walk(model: &mut Model, view: &ViewState, action: Action) -> Vec<Task> {
    match &mut model.dialog {
        Dialog::Help(scroll)
        | Dialog::Message(_, scroll)
        | Dialog::Outcome(scroll)
        | Dialog::Recovered(_, scroll) => {
            *scroll = scrolled(*scroll, view.dialog, action);
            return Vec::new();
        }
        Dialog::Decision(dialog) => {
            dialog.answers.scroll = scrolled(dialog.answers.scroll, view.dialog, action);
            return Vec::new();
        }
        Dialog::Bulk(dialog) => {
            dialog.scroll = scrolled(dialog.scroll, view.dialog, action);
            return Vec::new();
        }
        Dialog::Approval(dialog) => {
            dialog.answers.scroll = scrolled(dialog.answers.scroll, view.dialog, action);
            return Vec::new();
        }
        Dialog::Triage(triage) => {
            let last = triage.tallies.len().saturating_sub(1);
            triage.cursor = walked(triage.cursor, last, usize::from(view.dialog.area.height), action);
            return Vec::new();
        }
        Dialog::Palette(palette) => {
            let last = palette.fitting.len().saturating_sub(1);
            palette.cursor = walked(palette.cursor, last, usize::from(view.dialog.area.height), action);
            return Vec::new();
        }
        Dialog::Find(finder) => {
            let last = finder.hits.len().saturating_sub(1);
            finder.cursor = walked(finder.cursor, last, usize::from(view.dialog.area.height), action);
            return Vec::new();
        }
        Dialog::None | Dialog::Filter(_) | Dialog::Name(..) => {}
    }
    match (model.screen, model.focus) {
        (Screen::Findings, Focus::List) => {
            let last = model.findings.lines_len().saturating_sub(1);
            let line = walked(model.findings.cursor(), last, usize::from(view.list.area.height), action);
            move_to(model, line);
            Vec::new()
        }
        (Screen::Findings, Focus::Detail) => {
            model.looked.scroll = scrolled(model.looked.scroll, view.detail, action);
            Vec::new()
        }
        (Screen::Audit, Focus::List) => {
            let last = model.audit.entries.len().saturating_sub(1);
            let line = walked(model.audit.cursor, last, usize::from(view.list.area.height), action);
            audit::move_to(model, line)
        }
        (Screen::Audit, Focus::Detail) => {
            model.audit.scroll = scrolled(model.audit.scroll, view.detail, action);
            Vec::new()
        }
        (Screen::Proposals, Focus::List) => {
            let last = model.proposals.waiting().len().saturating_sub(1);
            let line = walked(model.proposals.cursor, last, usize::from(view.list.area.height), action);
            model.proposals.move_to(line);
            Vec::new()
        }
        (Screen::Proposals, Focus::Detail) => {
            model.proposals.scroll = scrolled(model.proposals.scroll, view.detail, action);
            Vec::new()
        }
        // On a narrow screen the questions stand below the timeline.
        (Screen::Timeline, Focus::Detail) if !view.detail.area.is_empty() => {
            model.timeline.questions_scroll = scrolled(model.timeline.questions_scroll, view.detail, action);
            Vec::new()
        }
        (Screen::Timeline, Focus::List | Focus::Detail) => {
            model.timeline.scroll = scrolled(model.timeline.scroll, view.timeline, action);
            Vec::new()
        }
        (Screen::Matching(which), Focus::List) => {
            let matching = model.matching_mut(which);
            let last = matching.rows().len().saturating_sub(1);
            let line = walked(matching.cursor, last, usize::from(view.list.area.height), action);
            matching.move_to(line);
            Vec::new()
        }
        (Screen::Matching(which), Focus::Detail) => {
            let scroll = model.matching(which).scroll;
            model.matching_mut(which).scroll = scrolled(scroll, view.detail, action);
            Vec::new()
        }
    }
}

/// Puts the cursor on a line; what was read or unmasked of another item is let go.
pub fn move_to(model: &mut Model, line: usize) {
    model.findings.move_to(line);
    look::leave_other_item(model);
}

/// Where a walk from a line leads.
fn walked(line: usize, last: usize, height: usize, action: Action) -> usize {
    let page = height.max(1);
    let half = (page / 2).max(1);
    match action {
        Action::Down => (line + 1).min(last),
        Action::Up => line.saturating_sub(1),
        Action::HalfDown => (line + half).min(last),
        Action::HalfUp => line.saturating_sub(half),
        Action::PageDown => (line + page).min(last),
        Action::PageUp => line.saturating_sub(page),
        Action::Top => 0,
        Action::Bottom => last,
        _ => line,
    }
}

/// Where a scroll leads, within what the last drawing knows of the text.
pub fn scrolled(scroll: u16, text: crate::console::view::Scrolled, action: Action) -> u16 {
    let last = usize::from(text.scroll_max);
    let line = walked(usize::from(scroll).min(last), last, usize::from(text.area.height), action);
    u16::try_from(line).unwrap_or(u16::MAX)
}

/// Selects the finding under the cursor, and goes on to the next.
pub fn select(model: &mut Model) {
    model.findings.toggle_current();
    let next = model.findings.cursor() + 1;
    move_to(model, next);
}

/// Opens the filter box with the filter that is on.
pub fn open_filter(model: &mut Model) {
    let before = model.findings.typed().to_owned();
    model.focus = Focus::List;
    model.dialog = Dialog::Filter(FilterBox {
        input: Input::new(before.clone()),
        before,
        from: model.here(),
        fault: None,
    });
}

/// Filters by what is typed; while it is no filter, the earlier one stays and the box says why.
pub fn set_filter(model: &mut Model, typed: &str) {
    let fault = model.findings.set_filter(typed).err();
    if let Dialog::Filter(filter) = &mut model.dialog {
        filter.fault = fault;
    }
    look::leave_other_item(model);
}

/// Sorts by the next column.
pub fn sort_next(model: &mut Model) {
    let column = model.findings.sort().column.next();
    model.findings.set_sort(Sort { column, reversed: false });
    model.notice = Some(Notice::info(format!("Sorted {}.", column.title())));
}

/// Turns the order round.
pub fn sort_reverse(model: &mut Model) {
    let sort = model.findings.sort();
    model.findings.set_sort(Sort { reversed: !sort.reversed, ..sort });
}
