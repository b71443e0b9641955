//! The proposals that wait for a second person, and one of them in full.

use super::ViewState;
use super::lines::{Lines, draw_scrolled, title};
use super::list::offset_around;
use crate::console::model::{Focus, Model};
use crate::console::shown::{self, pad};
use crate::console::words;
use crate::domain::moment::{span, stamp};
use crate::domain::proposal::Proposal;
use crate::domain::text::clean_cut;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

/// From which width on a line tells who and until when.
const WIDE_MIN: u16 = 70;

/// Draws the list.
pub fn draw_list(model: &Model, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let proposals = &model.proposals;
    let [top, rows] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let read =
        proposals.read_at.map_or_else(String::new, |at| format!(", read {}", super::header::clock(at)));
    let waits = if proposals.waiting().len() == 1 { "waits" } else { "wait" };
    let told = format!("{} {waits} for a second person{read}", proposals.waiting().len());
    frame.render_widget(title(model.theme, "Proposals", &told, model.focus == Focus::List, top.width), top);
    let height = usize::from(rows.height);
    let total = proposals.waiting().len();
    state.proposals_offset = offset_around(state.proposals_offset, proposals.cursor, height, total);
    state.list = super::Listed { area: rows, offset: state.proposals_offset };
    if !proposals.are_any() || proposals.fault.is_some() && height > 1 {
        frame.render_widget(Paragraph::new(emptiness(model, rows.width)), rows);
        return;
    }
    let lines = proposals.waiting().iter().enumerate().skip(state.proposals_offset).take(height);
    for ((number, proposal), y) in lines.zip(rows.y..rows.bottom()) {
        let line = proposal_line(model, proposal, number == proposals.cursor, rows.width);
        frame.render_widget(line, Rect { y, height: 1, ..rows });
    }
}

fn emptiness(model: &Model, width: u16) -> Vec<Line<'static>> {
    let mut lines = Lines::new(model.theme, width);
    match (&model.proposals.fault, model.proposals.read_at) {
        (Some(fault), _) => {
            lines.sentence(&shown::line(&fault.what), model.theme.alarm());
            lines.sentence(&shown::line(&fault.do_next), Style::new());
        }
        (None, None) => lines.sentence("Reading the audit...", Style::new()),
        (None, Some(_)) => {
            lines.sentence("No proposal waits for a second person. P goes back.", Style::new());
        }
    }
    lines.into_lines()
}

fn proposal_line(model: &Model, proposal: &Proposal, is_cursor: bool, width: u16) -> Line<'static> {
    let (short, verb, key) = (proposal.short_id(), proposal.choice.verb(), shown::key(&proposal.key));
    let mark = if is_cursor { ">" } else { " " };
    let text = if width < WIDE_MIN {
        format!("{mark} {short} {} {key}", pad(verb, 9))
    } else {
        let sign = words::verdict_sign(Some(proposal.sight.verdict));
        let verdict = words::verdict(Some(proposal.sight.verdict));
        let by = clean_cut(&proposal.proposer.name, 12);
        let left = words::short_span(proposal.until - model.now);
        format!(
            "{mark} {short} {} {} {} {} {key}",
            pad(verb, 9),
            pad(&format!("{sign} {verdict}"), 12),
            pad(&by, 12),
            pad(&format!("{left} left"), 11),
        )
    };
    let line = Line::raw(shown::fit(&text, usize::from(width)));
    if is_cursor { line.style(model.theme.cursor()) } else { line }
}

/// Draws the proposal under the cursor in full.
pub fn draw_one(model: &Model, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let [top, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let has_keys = model.focus == Focus::Detail;
    let Some(proposal) = model.proposals.current() else {
        frame.render_widget(title(model.theme, "Proposal", "", has_keys, top.width), top);
        state.detail = super::Scrolled { area: body, scroll_max: 0 };
        return;
    };
    frame.render_widget(title(model.theme, "Proposal", &proposal.short_id(), has_keys, top.width), top);
    let mut lines = Lines::new(model.theme, body.width);
    facts(model, proposal, &mut lines);
    lines.heading("The row as the proposer saw it");
    for (name, cell) in &proposal.seen.columns {
        lines.fact(&clean_cut(name, 40), &shown::cell(name, cell, &model.all_masks(), false));
    }
    lines.blank();
    lines.sentence("a approves it, w withdraws it; each opens a dialog first.", model.theme.quiet());
    state.detail = draw_scrolled(model.theme, lines.into_lines(), model.proposals.scroll, frame, body);
}

/// Who proposes what, why, on which evidence, until when.
pub fn facts(model: &Model, proposal: &Proposal, lines: &mut Lines) {
    let theme = model.theme;
    lines.styled_fact("proposed", proposal.choice.verb(), theme.strong());
    lines.fact("item", &format!("{} in {}", shown::key(&proposal.key), shown::line(&proposal.source)));
    let by = format!(
        "{} ({})",
        clean_cut(&proposal.proposer.name, 60),
        clean_cut(&proposal.proposer.origin(), 80)
    );
    lines.fact("by", &by);
    lines.fact("because", &shown::line(proposal.reason.as_str()));
    if proposal.insists {
        lines.styled_fact("", "AGAINST THE ADVICE: the proposer insists", theme.alarm());
    }
    let verdict = Some(proposal.sight.verdict);
    let told = format!("{} {}", words::verdict_sign(verdict), words::verdict(verdict));
    lines.styled_fact("verdict", &told, theme.verdict(verdict));
    lines.fact("effects", &shown::line(&proposal.sight.shown()));
    lines.fact("advice", &shown::line(&proposal.advice));
    lines.fact("at", &stamp(proposal.at));
    let left = if proposal.is_overdue(model.now) {
        "its time is over".to_owned()
    } else {
        format!("{} left", span(proposal.until - model.now))
    };
    lines.fact("until", &format!("{}, {left}", stamp(proposal.until)));
    lines.fact("decision", &format!("{}, audit entry {}", proposal.id, proposal.entry));
}
