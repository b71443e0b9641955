//! The two lines at the bottom: the notice (or the filter box), and the keys that do something here.

use super::lines::joined;
use crate::console::keymap::{Action, Bound, Place};
use crate::console::model::{Dialog, FilterBox, Model, Notice, Screen, Tone};
use crate::console::shown::{fit, line};
use crate::console::words;
use crate::domain::decision::Choice;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// Draws notice and footer.
pub fn draw(model: &Model, frame: &mut Frame<'_>, notice: Rect, footer: Rect) {
    if let Dialog::Filter(filter) = &model.dialog {
        draw_filter(model, filter, frame, notice, footer);
        return;
    }
    frame.render_widget(notice_line(model, notice.width), notice);
    frame.render_widget(footer_line(model, footer.width), footer);
}

fn notice_line(model: &Model, width: u16) -> Line<'static> {
    if let Some(notice) = &model.notice {
        return told(model, notice, width);
    }
    if let Some(fault) = &model.record_fault {
        let notice = Notice::alarm(format!("Not on record: {}", fault.what), fault.do_next.clone());
        return told(model, &notice, width);
    }
    let unread = model.sources.iter().find_map(|source| Some((source, source.fault.as_ref()?)));
    match unread {
        Some((source, (what, do_next))) if model.screen == Screen::Findings => {
            let notice = Notice::alarm(format!("{}: {what}", source.name), do_next.clone());
            told(model, &notice, width)
        }
        _ if model.scan.fresh > 0 => {
            let told = format!(
                "{} came since you last pressed a key; they are marked N.",
                words::count(model.scan.fresh, "new finding")
            );
            Line::styled(fit(&told, usize::from(width)), model.theme.caution())
        }
        _ => Line::default(),
    }
}

fn told(model: &Model, notice: &Notice, width: u16) -> Line<'static> {
    let style = match notice.tone {
        Tone::Info => model.theme.plain(),
        Tone::Good => model.theme.good(),
        Tone::Alarm => model.theme.alarm(),
    };
    let mark = if notice.tone == Tone::Alarm { "! " } else { "" };
    let what = fit(&format!("{mark}{}", line(&notice.what)), usize::from(width));
    let left = usize::from(width).saturating_sub(what.width() + 1);
    let do_next = if left > 8 { fit(&line(&notice.do_next), left) } else { String::new() };
    Line::from(vec![Span::styled(what, style), Span::raw(" "), Span::raw(do_next)])
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
