//! Keys: text boxes first, then the keymap; every action in one match.

use super::{
    audit, check, decide, edit, finder, list, look, matching, outlook, proposals, scan, settle, story, ways,
};
use crate::console::keymap::{Action, Place};
use crate::console::model::matching::Matching;
use crate::console::model::palette::Doing;
use crate::console::model::{Dialog, Focus, Model, Notice, Screen};
use crate::console::task::Task;
use crate::console::view::ViewState;
use crate::domain::decision::Choice;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a key does.
pub fn on_key(model: &mut Model, view: &ViewState, event: KeyEvent) -> Vec<Task> {
    if event.kind == KeyEventKind::Release {
        return Vec::new();
    }
    if model.is_too_small() {
        return on_unseen_key(model, event);
    }
    let place = model.place();
    // In a text box a key is text before it is anything else.
    if place.is_text()
        && let Some(request) = edit::request_of(event)
    {
        edit::apply(model, request);
        return Vec::new();
    }
    let Some(action) = model.setup.keys.action_of(place, event) else {
        on_letter(model, place, event);
        decide::on_other_key(model, place);
        return Vec::new();
    };
    if action == Action::Message {
        tell_all(model);
        return Vec::new();
    }
    model.notice = None;
    model.scan.fresh = 0;
    let tasks = act(model, view, action);
    settle::show_waiting(model);
    tasks
}

/// Shows the whole of what the line at the bottom says.
fn tell_all(model: &mut Model) {
    if let Some(notice) = model.told_now() {
        model.dialog = Dialog::Message(notice, 0);
    }
}

/// Nobody decides on a screen that cannot be read: only leaving works.
fn on_unseen_key(model: &Model, event: KeyEvent) -> Vec<Task> {
    match model.setup.keys.action_of(Place::Findings, event) {
        Some(Action::Quit | Action::QuitNow) => vec![Task::Quit],
        Some(Action::Redraw) => vec![Task::Redraw],
        Some(Action::Suspend) => vec![Task::Suspend],
        _ => Vec::new(),
    }
}

/// In triage each count has a letter.
fn on_letter(model: &mut Model, place: Place, event: KeyEvent) {
    let is_bare = (event.modifiers - KeyModifiers::SHIFT).is_empty();
    if let (Place::Triage, KeyCode::Char(letter), true) = (place, event.code, is_bare) {
        outlook::pick_letter(model, letter);
    }
}

/// Does what the cursor of the palette is on.
fn run(model: &mut Model, view: &ViewState) -> Vec<Task> {
    let Dialog::Palette(palette) = &model.dialog else { return Vec::new() };
    let Some(doing) = palette.current().map(|entry| entry.doing) else { return Vec::new() };
    model.dialog = Dialog::None;
    match doing {
        Doing::Act(action) => act(model, view, action),
        Doing::View(number) => {
            outlook::show_view(model, number);
            Vec::new()
        }
    }
}

fn act(model: &mut Model, view: &ViewState, action: Action) -> Vec<Task> {
    if matches!(
        action,
        Action::Open
            | Action::OtherPane
            | Action::Check
            | Action::MarkDone
            | Action::Retry
            | Action::Escalate
            | Action::Unmask
            | Action::Timeline
            | Action::CopyKey
    ) {
        model.findings.hold_cursor();
    }
    match action {
        Action::Down
        | Action::Up
        | Action::HalfDown
        | Action::HalfUp
        | Action::PageDown
        | Action::PageUp
        | Action::Top
        | Action::Bottom => return list::walk(model, view, action),
        Action::Open => return look::open(model),
        Action::OtherPane => return other_pane(model),
        Action::Back => return back(model),
        Action::Select => list::select(model),
        Action::SelectAll => model.findings.toggle_shown(),
        Action::Filter => list::open_filter(model),
        Action::Find => finder::open(model),
        Action::GoTo => finder::go_to(model),
        Action::Message => tell_all(model),
        Action::SortNext => list::sort_next(model),
        Action::SortReverse => list::sort_reverse(model),
        Action::Refresh => {
            return match model.screen {
                Screen::Findings => scan::read_again(model),
                Screen::Audit => audit::read_again(model),
                Screen::Proposals => vec![Task::ReadProposals],
                Screen::Timeline => story::read_again(model, false),
                Screen::Matching(which) => matching::begin(model, which),
            };
        }
        Action::Check if model.screen == Screen::Timeline => return story::read_again(model, true),
        Action::Check => return check::check_chosen(model),
        Action::CheckAll => return check::check_shown(model),
        Action::MarkDone => return decide::open(model, Choice::MarkDone),
        Action::Retry => return decide::open(model, Choice::Retry),
        Action::Escalate if model.screen == Screen::Matching(Matching::Duplicates) => {
            return matching::escalate(model);
        }
        Action::Escalate => return decide::open(model, Choice::Escalate),
        Action::Unmask => return look::unmask(model),
        Action::CopyKey => return look::copy_key(model),
        Action::Audit => return audit::toggle(model),
        Action::Proposals => return proposals::toggle(model),
        Action::Timeline => return story::toggle(model),
        Action::Duplicates => return matching::toggle(model, Matching::Duplicates),
        Action::Reconcile => return matching::toggle(model, Matching::Reconcile),
        Action::Window => return matching::next_window(model),
        Action::ToItem => return matching::to_item(model),
        Action::Approve => return proposals::open_approval(model),
        Action::Withdraw => proposals::open_withdrawal(model),
        Action::Mouse => {
            model.mouse = !model.mouse;
            let told = if model.mouse { "Mouse on: click selects, wheel scrolls." } else { "Mouse off." };
            model.notice = Some(Notice::info(told));
            return vec![Task::CaptureMouse(model.mouse)];
        }
        Action::Triage => outlook::open_triage(model),
        Action::Pick => outlook::pick(model),
        Action::Group => outlook::group_next(model),
        Action::FoldAll => model.findings.toggle_folds(),
        Action::JumpBack => outlook::jump(model, false),
        Action::JumpForward => outlook::jump(model, true),
        Action::Views => outlook::open_views(model),
        Action::SaveView => outlook::open_name(model),
        Action::Palette => outlook::open_palette(model),
        Action::Run => return run(model, view),
        Action::KeepName => return outlook::keep_name(model),
        Action::Help => model.dialog = Dialog::Help(0),
        Action::Redraw => return vec![Task::Redraw],
        Action::Suspend => return vec![Task::Suspend],
        Action::Quit | Action::QuitNow => return vec![Task::Quit],
        Action::KeepFilter => {
            if let Dialog::Filter(filter) = std::mem::take(&mut model.dialog) {
                outlook::remember(model, filter.from);
            }
        }
        Action::Close => model.dialog = Dialog::None,
        Action::NextField => decide::walk(model, true),
        Action::PreviousField => decide::walk(model, false),
        Action::Insist => decide::insist(model),
        Action::Confirm if is_approval(model) => return proposals::confirm(model),
        Action::Confirm => return decide::confirm(model),
        Action::ConfirmTyped if is_approval(model) => return proposals::confirm_typed(model),
        Action::ConfirmTyped => return decide::confirm_typed(model),
        Action::Cancel => return cancel(model),
        Action::StopDeciding => return settle::stop(model),
        Action::PauseDeciding => return settle::pause(model),
    }
    Vec::new()
}

fn is_approval(model: &Model) -> bool {
    matches!(model.dialog, Dialog::Approval(_))
}

fn other_pane(model: &mut Model) -> Vec<Task> {
    match model.focus {
        Focus::List if model.screen == Screen::Findings && model.findings.current().is_none() => Vec::new(),
        Focus::List => look::open(model),
        Focus::Detail => {
            model.focus = Focus::List;
            Vec::new()
        }
    }
}

/// Cancels what runs, else leaves, one thing a time: detail, screen, selection, filter.
fn back(model: &mut Model) -> Vec<Task> {
    if model.screen == Screen::Findings && model.checks.run.is_some() && !model.checks.cancelled {
        return check::cancel(model);
    }
    if let Some(stop) = matching::stop(model) {
        return vec![stop];
    }
    // Both panes of a timeline are one thing to leave.
    if model.focus == Focus::Detail && !ways::came_to_finding(model) && model.screen != Screen::Timeline {
        model.focus = Focus::List;
        return Vec::new();
    }
    if ways::back(model) {
        return Vec::new();
    }
    if model.findings.counts().selected > 0 {
        model.findings.deselect_all();
    } else if !model.findings.typed().is_empty() {
        outlook::filter(model, "");
    }
    Vec::new()
}

/// Leaves a dialog, or goes back from its second question.
fn cancel(model: &mut Model) -> Vec<Task> {
    match &mut model.dialog {
        Dialog::Filter(filter) => {
            let before = std::mem::take(&mut filter.before);
            model.dialog = Dialog::None;
            list::set_filter(model, &before);
        }
        Dialog::Decision(_) | Dialog::Bulk(_) | Dialog::Approval(_) => decide::cancel(model),
        Dialog::Palette(_) | Dialog::Find(_) | Dialog::Name(..) => model.dialog = Dialog::None,
        Dialog::None
        | Dialog::Help(_)
        | Dialog::Message(..)
        | Dialog::Triage(_)
        | Dialog::Outcome(_)
        | Dialog::Recovered(..) => {}
    }
    Vec::new()
}
