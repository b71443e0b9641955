//! The audit: its entries, the newest first, and one of them in full.

use super::ViewState;
use super::lines::{Lines, draw_scrolled, title};
use super::list::offset_around;
use crate::console::model::{Focus, Loading, Model};
use crate::console::shown::{self, pad};
use crate::domain::audit::Entry;
use crate::domain::mask::mask_json;
use crate::domain::text::{clean_cut, clean_lines};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

/// Draws the list of entries.
pub fn draw_list(model: &Model, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let audit = &model.audit;
    let [top, rows] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let more = if audit.more { " read so far" } else { "" };
    let told = match &audit.page {
        Loading::Loading { .. } => "reading...".to_owned(),
        Loading::Idle | Loading::Failed { .. } | Loading::Ready { .. } => {
            let noun = if audit.entries.len() == 1 { "entry" } else { "entries" };
            format!("{} {noun}{more}, newest first", audit.entries.len())
        }
    };
    frame.render_widget(title(model.theme, "Audit", &told, model.focus == Focus::List, top.width), top);
    let height = usize::from(rows.height);
    state.audit_offset = offset_around(state.audit_offset, audit.cursor, height, audit.entries.len());
    state.list = super::Listed { area: rows, offset: state.audit_offset };
    if audit.entries.is_empty() || matches!(audit.page, Loading::Failed { .. }) && height > 1 {
        frame.render_widget(Paragraph::new(emptiness(model, rows.width)), rows);
        return;
    }
    let lines = audit.entries.iter().enumerate().skip(state.audit_offset).take(height);
    for ((number, entry), y) in lines.zip(rows.y..rows.bottom()) {
        let line = entry_line(model, entry, number == audit.cursor, rows.width);
        frame.render_widget(line, Rect { y, height: 1, ..rows });
    }
}

fn emptiness(model: &Model, width: u16) -> Vec<Line<'static>> {
    let mut lines = Lines::new(model.theme, width);
    match &model.audit.page {
        Loading::Failed { what, do_next } => {
            lines.sentence(&shown::line(what), model.theme.alarm());
            lines.sentence(&shown::line(do_next), Style::new());
        }
        Loading::Loading { .. } => lines.sentence("Reading the audit...", Style::new()),
        Loading::Idle | Loading::Ready { .. } => {
            lines.sentence("Nothing is on record yet: checks and decisions will be.", Style::new());
        }
    }
    lines.into_lines()
}

fn entry_line(model: &Model, entry: &Entry, is_cursor: bool, width: u16) -> Line<'static> {
    // `2026-05-04T01:02:03.123456Z`: a day and a second are enough here.
    let at: String = clean_cut(&entry.at, 30).chars().take(19).collect();
    let choice = choice_of(entry).unwrap_or_default();
    let event = clean_cut(&entry.event, 10);
    let mark = if is_cursor { ">" } else { " " };
    let text = if width < 70 {
        let time: String = at.chars().skip(11).collect();
        format!("{mark} {:>4} {} {} {}", entry.seq, pad(&time, 8), pad(&event, 8), shown::key(&entry.key))
    } else {
        let (operator, key) = (clean_cut(&entry.operator, 12), shown::key(&entry.key));
        format!(
            "{mark} {:>6} {} {} {} {key}",
            entry.seq,
            pad(&at, 19),
            pad(&format!("{event} {choice}"), 18),
            pad(&operator, 12)
        )
    };
    let line = Line::raw(shown::fit(&text, usize::from(width)));
    if is_cursor { line.style(model.theme.cursor()) } else { line }
}

/// What was chosen, where the entry says so.
fn choice_of(entry: &Entry) -> Option<String> {
    let body: serde_json::Value = serde_json::from_str(&entry.body).ok()?;
    let word = body.get("choice").or_else(|| body.get("verdict"))?.as_str()?;
    Some(clean_cut(word, 12))
}

/// Draws the entry under the cursor in full.
pub fn draw_entry(model: &Model, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let [top, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let has_keys = model.focus == Focus::Detail;
    let Some(entry) = model.audit.current() else {
        frame.render_widget(title(model.theme, "Entry", "", has_keys, top.width), top);
        state.detail = super::Scrolled { area: body, scroll_max: 0 };
        return;
    };
    let name = format!("Entry {}", entry.seq);
    frame.render_widget(title(model.theme, &name, "", has_keys, top.width), top);
    let mut lines = Lines::new(model.theme, body.width);
    lines.styled_fact("event", &clean_cut(&entry.event, 20), model.theme.strong());
    lines.fact("at", &clean_cut(&entry.at, 40));
    lines.fact("who", &format!("{}, {}", clean_cut(&entry.operator, 60), clean_cut(&entry.origin, 80)));
    lines.fact("source", &shown::line(&entry.source));
    lines.fact("item", &shown::key(&entry.key));
    if !entry.decision.is_empty() {
        lines.fact("decision", &clean_cut(&entry.decision, 40));
    }
    lines.fact("hash", &clean_cut(&entry.hash, 64));
    lines.fact("before", &clean_cut(&entry.prev, 64));
    lines.heading("Body, secrets hidden");
    for line in body_lines(model, entry) {
        for part in shown::wrap(&line, usize::from(body.width)) {
            lines.verbatim(&part);
        }
    }
    state.detail = draw_scrolled(model.theme, lines.into_lines(), model.audit.scroll, frame, body);
}

fn body_lines(model: &Model, entry: &Entry) -> Vec<String> {
    let Ok(body) = serde_json::from_str::<serde_json::Value>(&entry.body) else {
        return std::iter::once("(not JSON)".to_owned()).chain(clean_lines(&entry.body)).collect();
    };
    let masked = mask_json(&body, &model.all_masks());
    clean_lines(&serde_json::to_string_pretty(&masked).unwrap_or_default())
}
