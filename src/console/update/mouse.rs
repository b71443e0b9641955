//! The mouse: a click puts the cursor, the wheel scrolls. It never decides anything.

use super::{audit, list, outlook};
use crate::console::keymap::Action;
use crate::console::model::{Dialog, Focus, Model, Screen};
use crate::console::task::Task;
use crate::console::view::ViewState;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

/// How many lines one notch of the wheel moves.
const WHEEL_LINES: usize = 3;

/// What the mouse does.
pub fn on_mouse(model: &mut Model, view: &ViewState, event: MouseEvent) -> Vec<Task> {
    if model.is_too_small() {
        return Vec::new();
    }
    let at = Position { x: event.column, y: event.row };
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => click(model, view, at),
        MouseEventKind::ScrollDown => wheel(model, view, at, Action::Down),
        MouseEventKind::ScrollUp => wheel(model, view, at, Action::Up),
        _ => Vec::new(),
    }
}

fn click(model: &mut Model, view: &ViewState, at: Position) -> Vec<Task> {
    if let Some(choice) = view.choice_at(at) {
        return choose(model, choice);
    }
    if !matches!(model.dialog, Dialog::None) || !view.list.area.contains(at) {
        return Vec::new();
    }
    let line = view.list.offset + usize::from(at.y.saturating_sub(view.list.area.y));
    model.focus = Focus::List;
    match model.screen {
        Screen::Findings if line < model.findings.lines_len() => {
            list::move_to(model, line);
            Vec::new()
        }
        Screen::Audit if line < model.audit.entries.len() => audit::move_to(model, line),
        Screen::Proposals if line < model.proposals.waiting().len() => {
            model.proposals.move_to(line);
            Vec::new()
        }
        Screen::Matching(which) if line < model.matching(which).rows().len() => {
            model.matching_mut(which).move_to(line);
            Vec::new()
        }
        Screen::Findings | Screen::Audit | Screen::Proposals | Screen::Timeline | Screen::Matching(_) => {
            Vec::new()
        }
    }
}

/// A click on a count filters by it; one on an entry of the palette or on what was found puts the cursor there.
fn choose(model: &mut Model, choice: usize) -> Vec<Task> {
    match &mut model.dialog {
        Dialog::Triage(triage) => {
            triage.cursor = choice;
            outlook::pick(model);
        }
        Dialog::Palette(palette) => palette.cursor = choice,
        Dialog::Find(finder) => finder.cursor = choice,
        Dialog::None
        | Dialog::Help(_)
        | Dialog::Message(..)
        | Dialog::Filter(_)
        | Dialog::Name(..)
        | Dialog::Decision(_)
        | Dialog::Bulk(_)
        | Dialog::Approval(_)
        | Dialog::Outcome(_)
        | Dialog::Recovered(..) => {}
    }
    Vec::new()
}

fn wheel(model: &mut Model, view: &ViewState, at: Position, action: Action) -> Vec<Task> {
    let over_detail = matches!(model.dialog, Dialog::None) && view.detail.area.contains(at);
    let over_timeline = matches!(model.dialog, Dialog::None) && model.screen == Screen::Timeline;
    let mut tasks = Vec::new();
    for _ in 0..WHEEL_LINES {
        if over_detail {
            let scroll = match model.screen {
                Screen::Findings => &mut model.looked.scroll,
                Screen::Audit => &mut model.audit.scroll,
                Screen::Proposals => &mut model.proposals.scroll,
                Screen::Timeline => &mut model.timeline.questions_scroll,
                Screen::Matching(which) => &mut model.matching_mut(which).scroll,
            };
            *scroll = list::scrolled(*scroll, view.detail, action);
        } else {
            if over_timeline {
                model.timeline.scroll = list::scrolled(model.timeline.scroll, view.timeline, action);
                continue;
            }
            tasks.extend(list::walk(model, view, action));
        }
    }
    tasks
}
