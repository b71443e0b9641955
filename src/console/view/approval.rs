//! The dialog of a proposal: what its proposer saw, what it is now, what differs, and the fields that confirm.

use super::ViewState;
use super::decision::statement_lines;
use super::dialog::{FootLine, Sheet, draw as draw_dialog, text_width};
use super::form::Form;
use super::lines::Lines;
use super::proposals::facts;
use crate::console::model::Model;
use crate::console::model::approval::{Act, ApprovalDialog, Knowledge};
use crate::console::shown;
use crate::console::words;
use crate::domain::proposal::{Proposal, Sight};
use crate::domain::text::clean_cut;
use crate::ports::source::LateWriter;
use crate::workflow::Prepared;
use crate::workflow::settle::approve::Review;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

/// Draws the dialog.
pub fn draw(
    model: &Model,
    dialog: &ApprovalDialog,
    state: &mut ViewState,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let width = text_width(area);
    let mut lines = Lines::new(model.theme, width);
    let (did, proposal) = (act_word(dialog), &dialog.proposal);
    match &dialog.act {
        Act::Withdraw => {
            lines.sentence(
                "Nothing was written for it, and nothing will be. The record keeps it, and your reason.",
                Style::new(),
            );
            lines.heading("What was proposed");
            facts(model, proposal, &mut lines);
        }
        Act::Approve(Knowledge::Loading { .. }) => {
            lines.sentence(
                "Reading the row and asking the provider. Write your reason meanwhile.",
                model.theme.busy(),
            );
            lines.heading("What was proposed");
            facts(model, proposal, &mut lines);
        }
        Act::Approve(Knowledge::Failed { what, do_next }) => {
            lines.sentence(&shown::line(what), model.theme.alarm());
            lines.sentence(&shown::line(do_next), Style::new());
        }
        Act::Approve(Knowledge::Ready(review)) => reviewed(model, dialog, review, &mut lines),
    }
    let verb = words::button(proposal.choice);
    let title = format!("{did} {}: {verb} {}", proposal.short_id(), shown::key(&proposal.key));
    let sheet = Sheet { title: &title, scroll: dialog.answers.scroll };
    draw_dialog(model.theme, &sheet, lines.into_lines(), foot(model, dialog, width), (state, frame, area));
}

fn act_word(dialog: &ApprovalDialog) -> &'static str {
    match dialog.act {
        Act::Approve(_) => "Approve",
        Act::Withdraw => "Withdraw",
    }
}

fn reviewed(model: &Model, dialog: &ApprovalDialog, review: &Review, lines: &mut Lines) {
    let theme = model.theme;
    if let Some((why, do_next)) = dialog.blocked() {
        lines.point("!", &format!("NOT TO BE APPROVED HERE: {}.", shown::line(&why)), theme.alarm());
        lines.sentence(&shown::line(&do_next), Style::new());
    }
    if dialog.asks_to_insist() {
        let told = "AGAINST THE ADVICE. The proposer insists, and so would you.";
        lines.point("!", told, theme.alarm());
    }
    lines.heading("What was proposed");
    facts(model, &review.proposal, lines);
    lines.heading("What it is now");
    match &review.now {
        Err(not_open) => lines.sentence(&format!("{}.", shown::line(&not_open.why)), theme.alarm()),
        Ok(prepared) => {
            now(model, &review.proposal, prepared, lines);
            // What cannot be approved will not be written either.
            if dialog.blocked().is_none() {
                will_be_written(model, prepared, lines);
            }
        }
    }
}

/// The evidence and the row of now beside those of then: what is the same in a word, what differs in full.
fn now(model: &Model, proposal: &Proposal, prepared: &Prepared, lines: &mut Lines) {
    let theme = model.theme;
    let sight = Sight::of(&prepared.checked.judgement);
    let verdict = Some(sight.verdict);
    let told = format!(
        "{} {}, asked {} ago",
        words::verdict_sign(verdict),
        words::verdict(verdict),
        words::short_span(model.now - prepared.checked.at)
    );
    lines.styled_fact("verdict", &told, theme.verdict(verdict));
    lines.fact("effects", &shown::line(&sight.shown()));
    match proposal.sight.difference(&sight) {
        None => lines.fact("evidence", "= the same as was proposed on"),
        Some(what) => lines.styled_fact("evidence", &format!("! {}", shown::line(&what)), theme.alarm()),
    }
    if prepared.row.sha256() == proposal.row_sha256 {
        lines.fact("row", "= the same as was proposed on");
    } else {
        lines.styled_fact("row", "! another than was proposed on", theme.alarm());
        for line in differences(proposal, prepared, &model.all_masks()) {
            lines.fact("", &line);
        }
    }
    lines.fact("advice", words::advice(prepared.checked.advice()));
    for reason in &prepared.checked.advised.reasons {
        lines.fact("", &shown::line(reason));
    }
    for caution in &prepared.permission.cautions {
        lines.point("!", &shown::line(caution), theme.caution());
    }
}

/// The columns that differ, as far as they may be seen.
fn differences(proposal: &Proposal, prepared: &Prepared, masks: &[String]) -> Vec<String> {
    let told: Vec<String> = prepared
        .row
        .columns
        .iter()
        .filter_map(|(name, cell)| {
            let was = proposal.seen.get(name).map(|cell| shown::cell(name, cell, masks, false));
            let is = shown::cell(name, cell, masks, false);
            let was = was.unwrap_or_else(|| "(no column)".to_owned());
            (was != is).then(|| format!("{}: {was} -> {is}", clean_cut(name, 40)))
        })
        .collect();
    if told.is_empty() { vec!["in what is hidden".to_owned()] } else { told }
}

fn will_be_written(model: &Model, prepared: &Prepared, lines: &mut Lines) {
    let Ok(statements) = &prepared.statements else { return };
    lines.heading("What will be written");
    let masks = model.all_masks();
    for (number, statement) in statements.iter().enumerate() {
        statement_lines(model.theme, (false, &masks), number + 1, statement, lines);
    }
    if prepared.late_writer == LateWriter::Unguarded && !statements.is_empty() {
        let told = "If the worker still lives, it will overwrite this later: it writes by key alone, without looking.";
        lines.point("!", told, model.theme.caution());
    }
    lines.point(
        "-",
        "your approval and the intention into the audit before, the outcome after",
        Style::new(),
    );
}

fn foot(model: &Model, dialog: &ApprovalDialog, width: u16) -> Vec<FootLine> {
    if dialog.blocked().is_some() {
        return vec![FootLine::plain(Line::raw("Nothing to confirm here. Esc leaves."), true)];
    }
    let (button, does) = match dialog.act {
        Act::Approve(_) => (format!("Approve: {}", words::button(dialog.proposal.choice)), "approves"),
        Act::Withdraw => ("Withdraw".to_owned(), "withdraws"),
    };
    let form = Form {
        answers: &dialog.answers,
        asks_to_insist: dialog.asks_to_insist(),
        word: dialog.word().unwrap_or_default(),
        verb: dialog.proposal.choice.verb(),
        button: &button,
        does,
        is_known: dialog.is_known(),
    };
    form.lines(model.theme, width)
}
