//! The lines at the bottom: the notice (or the filter box), and the keys that do something here.

use super::lines::joined;
use super::notice::within;
use crate::console::keymap::{Action, Bound, Place};
use crate::console::model::{Dialog, FilterBox, Model, Notice};
use crate::console::shown::{fit, line};
use crate::console::words;
use crate::domain::decision::Choice;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// How many lines a notice takes at most.
const NOTICE_LINES_MAX: u16 = 3;
/// How many lines are left to the list and what is beside it, whatever the notice.
const BODY_LINES_MIN: u16 = 3;

/// What there is to say, in as many lines as it needs where `room` lines are shared with the list.
pub fn notice_lines(model: &Model, width: u16, room: u16) -> Vec<Line<'static>> {
    if matches!(model.dialog, Dialog::Filter(_) | Dialog::Message(..)) {
        return vec![Line::default()];
    }
    let lines_max = usize::from(room.saturating_sub(BODY_LINES_MIN).clamp(1, NOTICE_LINES_MAX));
    let key = model.setup.keys.told(Place::Findings, Action::Message);
    if let Some(notice) = model.told_now() {
        return within(model.theme, &notice, width, lines_max, &key);
    }
    if model.scan.fresh > 0 {
        let fresh = words::count(model.scan.fresh, "new finding");
        let told = Notice::info(format!("{fresh} came since you last pressed a key; they are marked N."));
        let lines = within(model.theme, &told, width, lines_max, &key);
        return lines.into_iter().map(|line| line.style(model.theme.caution())).collect();
    }
    vec![Line::default()]
}

/// Draws notice and footer.
pub fn draw(model: &Model, told: Vec<Line<'static>>, frame: &mut Frame<'_>, (notice, footer): (Rect, Rect)) {
    if let Dialog::Filter(filter) = &model.dialog {
        draw_filter(model, filter, frame, notice, footer);
        return;
    }
    frame.render_widget(Paragraph::new(told), notice);
    frame.render_widget(footer_line(model, footer.width), footer);
}

fn footer_line(model: &Model, width: u16) -> Line<'static> {
    let suggested = suggested(model);
    let mut bindings: Vec<&Bound> =
        model.setup.keys.footer_of(model.place()).filter(|bound| !bound.keys.is_empty()).collect();
    // What is advised stands first and is marked.
    bindings.sort_by_key(|bound| Some(bound.binding.action) != suggested);
    let mut parts: Vec<Span<'static>> = bindings
        .iter()
        .filter_map(|bound| {
            let told = format!("{} {}", bound.keys.first()?.spelled(), bound.binding.label);
            Some(if Some(bound.binding.action) == suggested {
                Span::styled(format!(">{told}<"), model.theme.strong())
            } else {
                Span::raw(told)
            })
        })
        .collect();
    // The way to all other keys must not fall off a narrow line.
    if let Some(at) = bindings.iter().position(|bound| bound.binding.action == Action::Help) {
        let help = parts.remove(at);
        parts.insert(1.min(parts.len()), help);
    }
    joined(parts, width)
}

/// The key that speaks for itself: to the proposal where one waits, else what the advice says, *check* before there is any.
fn suggested(model: &Model) -> Option<Action> {
    if !matches!(model.place(), Place::Findings | Place::Item) {
        return None;
    }
    let row = model.findings.current()?;
    if model.proposals.on(&row.identity()).is_some() {
        return Some(Action::Proposals);
    }
    if model.is_escalated(&row.found.finding.item) {
        return None;
    }
    let Some(checked) = &row.checked else { return Some(Action::Check) };
    Some(match words::choice_of(checked.advice()) {
        None => Action::Check,
        Some(Choice::MarkDone) => Action::MarkDone,
        Some(Choice::Retry) => Action::Retry,
        Some(Choice::Escalate) => Action::Escalate,
    })
}

fn draw_filter(model: &Model, filter: &FilterBox, frame: &mut Frame<'_>, notice: Rect, footer: Rect) {
    const LABEL: &str = "Filter: ";
    let room = usize::from(notice.width).saturating_sub(LABEL.len() + 1);
    let skipped = filter.input.visual_scroll(room);
    let typed: String = crate::console::view::dialog::skip_cells(filter.input.value(), skipped);
    let spans = vec![Span::styled(LABEL, model.theme.strong()), Span::raw(fit(&typed, room))];
    frame.render_widget(Line::from(spans), notice);
    let column = LABEL.len() + filter.input.visual_cursor().saturating_sub(skipped);
    let column = u16::try_from(column).unwrap_or(0).min(notice.width.saturating_sub(1));
    frame.set_cursor_position(Position { x: notice.x + column, y: notice.y });
    let shown = Span::raw(format!("{} shown", model.findings.shown_len()));
    let mut parts = match &filter.fault {
        Some(fault) => vec![Span::styled(format!("! {}", line(fault)), model.theme.alarm())],
        None => vec![shown],
    };
    parts.extend(model.setup.keys.footer_of(Place::Filter).filter_map(|bound| {
        Some(Span::raw(format!("{} {}", bound.keys.first()?.spelled(), bound.binding.label)))
    }));
    parts.push(Span::styled(
        "kind:invoice finding:stuck verdict:unknown advice:retry age>2h -word",
        model.theme.quiet(),
    ));
    frame.render_widget(joined(parts, footer.width), footer);
}
