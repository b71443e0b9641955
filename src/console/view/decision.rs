//! The dialog of one decision: what is known, what could go wrong, what will be written, and the fields that confirm.

use super::ViewState;
use super::dialog::{FootLine, Sheet, draw as draw_dialog, text_width};
use super::form::Form;
use super::lines::Lines;
use crate::console::keymap::{Action, Place};
use crate::console::model::Model;
use crate::console::model::decision::{DecisionDialog, Knowledge};
use crate::console::model::findings::is_same_row;
use crate::console::shown;
use crate::console::theme::Theme;
use crate::console::words;
use crate::domain::decision::Choice;
use crate::domain::item::Row;
use crate::domain::moment::span;
use crate::domain::text::clean_cut;
use crate::ports::source::{LateWriter, PlannedStatement, Rows};
use crate::workflow::Prepared;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

/// Draws the dialog.
pub fn draw(
    model: &Model,
    dialog: &DecisionDialog,
    state: &mut ViewState,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let width = text_width(area);
    let mut lines = Lines::new(model.theme, width);
    match &dialog.knowledge {
        Knowledge::Loading { .. } => {
            lines.sentence(
                "Reading the row and asking the provider. Write your reason meanwhile.",
                model.theme.busy(),
            );
            given_reason(model.theme, dialog, &mut lines);
            listed(dialog, &mut lines);
        }
        Knowledge::Ready(prepared) => ready(model, dialog, prepared, &mut lines),
        Knowledge::NotOpen(not_open) => {
            lines.sentence(
                &format!("There is nothing to decide: {}.", shown::line(&not_open.why)),
                model.theme.alarm(),
            );
            let refresh = model.setup.keys.told(Place::Findings, Action::Refresh);
            lines.sentence(&format!("Esc, then {refresh} reads the list again."), Style::new());
            if let Some(now) = &not_open.now {
                lines.heading("The row now");
                row_lines(model, dialog, now, &mut lines);
            }
        }
        Knowledge::Failed { what, do_next } => {
            lines.sentence(&shown::line(what), model.theme.alarm());
            lines.sentence(&shown::line(do_next), Style::new());
        }
    }
    // The verdict stands in the title, so that no scrolling hides it.
    let verdict = dialog.prepared().map(|prepared| Some(prepared.checked.verdict()));
    let told = verdict
        .map(|verdict| format!(" ({} {})", words::verdict_sign(verdict), words::verdict(verdict)))
        .unwrap_or_default();
    let title = format!("{}{told}: {}", words::button(dialog.choice), shown::key(&dialog.identity.key));
    let sheet = Sheet { title: &title, scroll: dialog.answers.scroll };
    draw_dialog(model.theme, &sheet, lines.into_lines(), foot(model, dialog, width), (state, frame, area));
}

fn listed(dialog: &DecisionDialog, lines: &mut Lines) {
    let finding = &dialog.listed.finding;
    lines.heading("Known");
    lines.fact(
        "item",
        &format!("{} in {}", shown::line(&finding.item.kind), shown::line(&finding.item.source)),
    );
    lines.fact("finding", &format!("{} {}", words::finding_sign(finding.kind), words::finding(finding.kind)));
}

fn ready(model: &Model, dialog: &DecisionDialog, prepared: &Prepared, lines: &mut Lines) {
    against(model, dialog, prepared, lines);
    given_reason(model.theme, dialog, lines);
    known(model, dialog, prepared, lines);
    could_go_wrong(model, dialog, prepared, lines);
    will_be_written(model, dialog, prepared, lines);
}

/// A reason that was written for the operator, whole: its box has room for the end of it only.
fn given_reason(theme: Theme, dialog: &DecisionDialog, lines: &mut Lines) {
    if dialog.is_reason_given {
        lines.heading("The reason that goes on record, as it stands in the box below");
        lines.sentence(&shown::line(dialog.answers.reason.value()), theme.plain());
    }
}

/// What stands against it comes first: nobody should have to scroll for it.
fn against(model: &Model, dialog: &DecisionDialog, prepared: &Prepared, lines: &mut Lines) {
    if let Some(why) = &prepared.permission.against {
        lines.point("!", &format!("AGAINST THE ADVICE. {}", shown::line(why)), model.theme.alarm());
    }
    if let Some(why) = &prepared.permission.second_person {
        let told = format!("TWO PERSONS. {} You propose it: nothing is written yet.", shown::line(why));
        lines.point("!", &told, model.theme.caution());
    }
    if let Some(proposal) = model.proposals.on(&dialog.identity) {
        let told = format!(
            "It waits for a second person already: {}. {} shows it.",
            words::proposal(proposal),
            model.setup.keys.told(Place::Findings, Action::Proposals)
        );
        lines.point("!", &told, model.theme.caution());
    }
    if let Some((escalated, is_same)) = model.escalation_of(&prepared.found.finding.item) {
        let told = match (is_same, dialog.choice) {
            (true, Choice::Escalate) => "exactly as it is: it is not escalated again",
            (true, Choice::MarkDone | Choice::Retry) => "exactly as it is: somebody may be at it",
            (false, _) => "before its row changed",
        };
        let told = format!("It was {}, {told}.", escalated.told());
        lines.point("!", &told, model.theme.caution());
    }
    if let Some(fault) = &model.unread_record {
        let told = format!("What others decided on it could not be read: {}", shown::line(&fault.what));
        lines.point("!", &told, model.theme.alarm());
    }
    if let Err(unsupported) = &prepared.statements {
        let told =
            format!("This job system cannot {} by SQL: {}", dialog.choice.verb(), shown::line(unsupported));
        lines.point("!", &told, model.theme.alarm());
    }
    if !is_same_row(&dialog.listed.finding.item, &prepared.found.finding.item) {
        lines.point(
            "!",
            "The row changed since the list was read; this is how it is now.",
            model.theme.caution(),
        );
    }
}

fn known(model: &Model, dialog: &DecisionDialog, prepared: &Prepared, lines: &mut Lines) {
    let (finding, checked) = (&prepared.found.finding, &prepared.checked);
    let item = &finding.item;
    lines.heading("Known");
    let about = format!(
        "{} in {}, {}",
        shown::line(&item.kind),
        shown::line(&item.source),
        words::risk(prepared.found.risk)
    );
    lines.fact("item", &about);
    let age = finding.since.map(|since| model.now + prepared.found.clock_gap - since);
    let age = age.map_or_else(|| "no start time".to_owned(), |age| format!("for {}", span(age)));
    let status = shown::beginning(&item.status, 40);
    lines.fact(
        "finding",
        &format!(
            "{} {}, {age} (`{status}` in the table)",
            words::finding_sign(finding.kind),
            words::finding(finding.kind)
        ),
    );
    let verdict = Some(checked.verdict());
    let told = format!(
        "{} {}, asked {} ago",
        words::verdict_sign(verdict),
        words::verdict(verdict),
        words::short_span(model.now - checked.at)
    );
    lines.styled_fact("verdict", &told, model.theme.verdict(verdict));
    lines.fact("advice", words::advice(checked.advice()));
    // What is told as a caution below is not told twice.
    let is_caution = |reason: &&String| prepared.permission.cautions.contains(reason);
    for (number, reason) in checked.advised.reasons.iter().filter(|reason| !is_caution(reason)).enumerate() {
        lines.fact(if number == 0 { "why" } else { "" }, &shown::line(reason));
    }
    let sentence = checked.key.sentence();
    if dialog.choice == Choice::Retry && !checked.advised.reasons.contains(&sentence) {
        lines.fact("key", &shown::line(&sentence));
    }
}

fn could_go_wrong(model: &Model, dialog: &DecisionDialog, prepared: &Prepared, lines: &mut Lines) {
    let cautions = &prepared.permission.cautions;
    let writes = prepared.statements.as_ref().is_ok_and(|statements| !statements.is_empty());
    let is_unguarded = writes && prepared.late_writer == LateWriter::Unguarded;
    if cautions.is_empty() && !writes {
        return;
    }
    lines.heading("What could go wrong");
    for caution in cautions {
        lines.point("!", &shown::line(caution), model.theme.caution());
    }
    if is_unguarded {
        let told = "If the worker still lives, it will overwrite this later: it writes by key alone, without looking.";
        lines.point("!", told, model.theme.caution());
    } else {
        lines.point("-", "If the worker still lives, it finds the row changed and leaves it.", Style::new());
    }
    let before = match (dialog.second_person(), dialog.choice) {
        (Some(_), _) => "when the second person approves",
        (None, Choice::Escalate) => "right before the escalation",
        (None, Choice::MarkDone | Choice::Retry) => "right before the write",
    };
    let told = format!("The provider is asked again {before}, and the row must be exactly as shown.");
    lines.point("-", &told, Style::new());
}

fn will_be_written(model: &Model, dialog: &DecisionDialog, prepared: &Prepared, lines: &mut Lines) {
    let Ok(statements) = &prepared.statements else { return };
    let proposes = dialog.second_person().is_some();
    lines.heading(if proposes { "What would be written, once approved" } else { "What will be written" });
    if dialog.choice == Choice::Escalate {
        match &prepared.escalates_to {
            Some(place) => lines.point("-", &format!("sent once to {}", shown::line(place)), Style::new()),
            None => {
                lines.point("-", "on the record alone: no place for escalations is configured", Style::new());
            }
        }
    }
    let openness = openness(model, dialog);
    for (number, statement) in statements.iter().enumerate() {
        statement_lines(model.theme, openness, number + 1, statement, lines);
    }
    if statements.is_empty() && dialog.choice != Choice::Escalate {
        lines.point("-", "no statement", Style::new());
    }
    let recorded = if proposes {
        "now: the proposal into the audit, and nothing else"
    } else {
        "the intention into the audit before, the outcome after"
    };
    lines.point("-", recorded, Style::new());
}

/// One statement with its values.
pub(super) fn statement_lines(
    theme: Theme,
    (is_open, masks): (bool, &[String]),
    number: usize,
    statement: &PlannedStatement,
    lines: &mut Lines,
) {
    let rows = match statement.rows {
        Rows { at_least, at_most } if at_least == at_most => {
            format!("exactly {}", words::count(usize::try_from(at_least).unwrap_or(usize::MAX), "row"))
        }
        range => format!("{range} rows"),
    };
    let mark = format!("{number}.");
    lines.point(&mark, &format!("must change {rows}:"), Style::new());
    for line in crate::domain::text::clean_lines(&statement.sql) {
        lines.point("  ", &line, Style::new());
    }
    for (name, cell) in &statement.parameters {
        let column = PlannedStatement::column_of(name);
        let told = format!("{} = {}", clean_cut(name, 40), shown::cell(column, cell, masks, is_open));
        lines.point("    ", &told, theme.quiet());
    }
}

fn row_lines(model: &Model, dialog: &DecisionDialog, row: &Row, lines: &mut Lines) {
    let (is_open, masks) = openness(model, dialog);
    for (name, cell) in &row.columns {
        lines.fact(&clean_cut(name, 40), &shown::cell(name, cell, masks, is_open));
    }
}

fn openness<'a>(model: &'a Model, dialog: &DecisionDialog) -> (bool, &'a [String]) {
    (model.shows_hidden(&dialog.identity), model.masks_of(&dialog.listed.finding.item.kind))
}

fn foot(model: &Model, dialog: &DecisionDialog, width: u16) -> Vec<FootLine> {
    if dialog.blocked().is_some() {
        return vec![FootLine::plain(Line::raw("Nothing to confirm here. Esc leaves."), true)];
    }
    let proposes = dialog.second_person().is_some();
    let button = words::button(dialog.choice);
    let (button, does) =
        if proposes { (format!("Propose: {button}"), "proposes") } else { (button.to_owned(), "confirms") };
    let form = Form {
        answers: &dialog.answers,
        asks_to_insist: dialog.asks_to_insist(),
        word: dialog.word().unwrap_or_default(),
        verb: dialog.choice.verb(),
        button: &button,
        does,
        is_known: dialog.prepared().is_some(),
    };
    form.lines(model.theme, width)
}
