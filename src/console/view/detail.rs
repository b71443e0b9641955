//! The item beside the list: facts, what happened when, evidence, advice and why; opened, also row, payload and history.

use super::lines::{Lines, draw_scrolled, title};
use super::rows::age_now;
use super::{ViewState, evidence};
use crate::console::keymap::{Action, Place};
use crate::console::model::findings::Row;
use crate::console::model::item::Opened;
use crate::console::model::{Focus, Loading, Model, Unmask};
use crate::console::shown;
use crate::console::theme::Theme;
use crate::console::words;
use crate::domain::finding::FindingKind;
use crate::domain::item::Item;
use crate::domain::moment::span;
use crate::domain::stake::Stake;
use crate::domain::text::clean_cut;
use chrono::{DateTime, Utc};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

/// How many lines of an error are shown at its beginning and at its end.
const ERROR_LINES_MAX: usize = 12;

/// Draws the item under the cursor.
pub fn draw(model: &Model, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let [top, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let has_keys = model.focus == Focus::Detail;
    let Some(row) = model.findings.current() else {
        if let Some(group) = model.findings.current_group() {
            frame.render_widget(title(model.theme, "Group", "", has_keys, top.width), top);
            let mut lines = Lines::new(model.theme, body.width);
            super::groups::lines(model, group, &mut lines);
            state.detail = draw_scrolled(model.theme, lines.into_lines(), 0, frame, body);
            return;
        }
        frame.render_widget(title(model.theme, "Item", "", has_keys, top.width), top);
        state.detail = super::Scrolled { area: body, scroll_max: 0 };
        return;
    };
    let key = shown::item_key(&row.found.finding.item.key);
    frame.render_widget(title(model.theme, "Item", &key, has_keys, top.width), top);
    let scroll = if has_keys { model.looked.scroll } else { 0 };
    state.detail = draw_scrolled(model.theme, lines(model, row, body.width), scroll, frame, body);
}

/// Everything that is known of an item, the most telling first.
fn lines(model: &Model, row: &Row, width: u16) -> Vec<Line<'static>> {
    let mut lines = Lines::new(model.theme, width);
    let identity = row.identity();
    let is_open = model.shows_hidden(&identity);
    let masks = model.masks_of(&row.found.finding.item.kind);
    proposal(model, row, &mut lines);
    escalated(model, &row.found.finding.item, &mut lines);
    judgement(model, row, &mut lines);
    facts(model, row, is_open, masks, &mut lines);
    lines.fact("hurts", &format!("{}.", row.plight().reasons().join("; ")));
    evidence::timeline(row, &mut lines);
    if let Some(checked) = &row.checked {
        evidence::lines(model, checked, &mut lines);
    }
    if model.looked.identity.as_ref() == Some(&identity) {
        opened(model, &model.looked.details, (is_open, masks), &mut lines);
    } else {
        lines.blank();
        let told = |action| model.setup.keys.told(Place::Findings, action);
        let more = format!(
            "{} reads its row, payload and history; {} tells its whole timeline.",
            told(Action::Open),
            told(Action::Timeline)
        );
        lines.sentence(&more, model.theme.quiet());
    }
    if matches!(&model.unmask, Unmask::Asked(asked) if *asked == identity) {
        lines.sentence("Hidden fields are shown once the look is on record.", model.theme.quiet());
    }
    lines.into_lines()
}

/// What waits on it for a second person.
fn proposal(model: &Model, row: &Row, lines: &mut Lines) {
    if let Some(proposal) = model.proposals.on(&row.identity()) {
        lines.styled_fact("proposed", &format!("P {}", words::proposal(proposal)), model.theme.caution());
        lines.fact("", &shown::line(proposal.reason.as_str()));
    }
}

/// Who handed an item on and when, whoever did it.
pub(super) fn escalated(model: &Model, item: &Item, lines: &mut Lines) {
    if let Some((escalated, is_same)) = model.escalation_of(item) {
        let changed = if is_same { "" } else { "; its row changed since" };
        lines.styled_fact("decided", &format!("{}{changed}", escalated.told()), model.theme.good());
    }
    if let Some(fault) = &model.unread_record {
        let told = "What others decided could not be read: it may have been escalated.";
        lines.styled_fact("record", told, model.theme.alarm());
        lines.styled_fact("", &shown::line(&fault.what), model.theme.alarm());
        lines.fact("", &shown::line(&fault.do_next));
    }
}

fn judgement(model: &Model, row: &Row, lines: &mut Lines) {
    let sign = words::verdict_sign(row.verdict());
    let style = model.theme.verdict(row.verdict());
    let Some(checked) = &row.checked else {
        let told =
            if row.asked.is_some() { "checking.." } else { "not checked: whether it happened is not known" };
        lines.styled_fact("verdict", &format!("{sign} {told}"), style);
        lines.styled_fact(
            "next",
            &format!(
                "check it ({}): the provider knows whether it happened",
                model.setup.keys.told(Place::Findings, Action::Check)
            ),
            model.theme.strong(),
        );
        return;
    };
    let told = format!(
        "{sign} {}, asked {} ago",
        words::verdict(row.verdict()),
        words::short_span(model.now - checked.at)
    );
    lines.styled_fact("verdict", &told, style);
    if row.is_unrecorded {
        super::lines::not_on_record(model, lines);
    }
    if model.is_check_old(row) {
        lines.styled_fact(
            "",
            "That is older than its policy lets evidence count: a decision asks again.",
            model.theme.caution(),
        );
    }
    lines.styled_fact("next", words::advice(checked.advice()), model.theme.strong());
    for (number, reason) in checked.advised.reasons.iter().enumerate() {
        lines.fact(if number == 0 { "why" } else { "" }, &shown::line(reason));
    }
    for told in super::triage::money(&Stake::of(&checked.judgement)) {
        lines.fact("money", &told);
    }
}

fn facts(model: &Model, row: &Row, is_open: bool, masks: &[String], lines: &mut Lines) {
    let finding = &row.found.finding;
    let item = &finding.item;
    lines.blank();
    let age = age_now(row, model.now)
        .map_or_else(|| "no start time".to_owned(), |age| format!("for {}", span(age)));
    let ambiguous = if finding.kind == FindingKind::Ambiguous { " whether it happened" } else { "" };
    let told =
        format!("{} {}{ambiguous}, {age}", words::finding_sign(finding.kind), words::finding(finding.kind));
    lines.styled_fact("finding", &told, model.theme.strong());
    for note in &finding.notes {
        lines.fact("", &shown::line(note));
    }
    if finding.held {
        lines.fact("", "Somebody holds it at this moment.");
    }
    let status = shown::beginning(&item.status, 40);
    let state =
        format!("{} {}  (`{status}` in the table)", words::state_sign(item.state), words::state(item.state));
    lines.fact("state", &state);
    let place =
        model.sources.iter().find(|source| source.name == *item.source).map_or("", |source| &source.place);
    if model.is_from_before(row) {
        let told = "Its source could not be read the last time: this is how it was before.";
        lines.styled_fact("", told, model.theme.caution());
    }
    lines.fact("source", &format!("{}  {}", shown::line(&item.source), shown::line(place)));
    lines.fact("kind", &shown::line(&item.kind));
    lines.fact("risk", words::risk(row.found.risk));
    let attempts = item.attempts.map_or_else(|| "not counted".to_owned(), |count| count.to_string());
    let once = if item.tried_once { "  (never taken twice by itself)" } else { "" };
    lines.fact("attempts", &format!("{attempts}{once}"));
    match &row.found.reference {
        Ok(reference) => lines.fact("reference", &shown::line(reference)),
        Err(why) => lines.styled_fact(
            "reference",
            &format!("cannot be made: {}", shown::line(why)),
            model.theme.alarm(),
        ),
    }
    if let Some(sorted) = &finding.error {
        let told = format!("{}: {}", words::class(sorted.class), shown::line(&sorted.why));
        lines.fact("class", &told);
    }
    let errors = shown::error_lines(&item.last_error, masks, is_open);
    for (number, line) in abridged(&errors).into_iter().enumerate() {
        lines.fact(if number == 0 { "last error" } else { "" }, &line);
    }
}

/// The beginning and the end of a long text, and how much is left out between.
fn abridged(all: &[String]) -> Vec<String> {
    if all.len() <= 2 * ERROR_LINES_MAX + 1 {
        return all.to_vec();
    }
    let left_out = all.len() - 2 * ERROR_LINES_MAX;
    let mut lines: Vec<String> = all.iter().take(ERROR_LINES_MAX).cloned().collect();
    lines.push(format!("({left_out} lines left out)"));
    lines.extend(all.iter().skip(all.len() - ERROR_LINES_MAX).cloned());
    lines
}

fn opened(model: &Model, details: &Loading<Opened>, (is_open, masks): (bool, &[String]), lines: &mut Lines) {
    match details {
        Loading::Idle => {}
        Loading::Loading { since, .. } => {
            lines.blank();
            let seconds = (model.now - *since).num_seconds().max(0);
            lines.sentence(&format!("Reading row, payload and history, {seconds} s..."), model.theme.busy());
        }
        Loading::Failed { what, do_next } => {
            lines.blank();
            lines.sentence(&shown::line(what), model.theme.alarm());
            lines.sentence(&shown::line(do_next), Style::new());
        }
        Loading::Ready { at, value } => {
            row_now(*at, value, (is_open, masks), lines);
            payload(value, is_open, lines);
            history(model.theme, value, lines);
        }
    }
}

fn row_now(at: DateTime<Utc>, opened: &Opened, (is_open, masks): (bool, &[String]), lines: &mut Lines) {
    lines.heading(&format!(
        "Row at {}{}",
        super::header::clock(at),
        if is_open { ", hidden fields shown" } else { "" }
    ));
    let Some(now) = &opened.details.now else {
        lines.sentence("The row is gone.", Style::new());
        return;
    };
    if now.found.is_none() {
        lines.sentence("It needs no decision any more.", Style::new());
    }
    for (name, cell) in &now.row.columns {
        lines.fact(&clean_cut(name, 40), &shown::cell(name, cell, masks, is_open));
    }
}

fn payload(opened: &Opened, is_open: bool, lines: &mut Lines) {
    let Some(payload) = &opened.details.payload else { return };
    let size = words::size(payload.size_bytes);
    let cut = if payload.is_closed {
        "not read".to_owned()
    } else if payload.size_bytes > crate::console::model::item::PAYLOAD_SHOWN_BYTES_MAX as u64 {
        format!("the beginning of {size}")
    } else {
        size
    };
    lines.heading(&format!("Payload ({cut})"));
    for line in if is_open { &opened.payload_open } else { &opened.payload_masked } {
        lines.sentence(line, Style::new());
    }
}

fn history(theme: Theme, opened: &Opened, lines: &mut Lines) {
    lines.heading("In the audit");
    let history = match &opened.details.history {
        Ok(history) => history,
        Err(fault) => {
            let told = "Not known: the record could not be read. Checks and decisions may be in it.";
            lines.sentence(told, theme.alarm());
            lines.sentence(&shown::line(&fault.what), theme.alarm());
            lines.sentence(&shown::line(&fault.do_next), Style::new());
            return;
        }
    };
    if history.is_empty() {
        lines.sentence("Nothing yet.", Style::new());
    }
    for entry in history {
        let event = clean_cut(&entry.event, 20);
        lines.point(
            &clean_cut(&entry.at, 40),
            &format!("{event} by {}, entry {}", clean_cut(&entry.operator, 40), entry.seq),
            Style::new(),
        );
    }
}
