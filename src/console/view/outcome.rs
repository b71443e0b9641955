//! What comes of decisions: under way, then applied, refused or broken off, with the row before and after.

use super::ViewState;
use super::dialog::{Sheet, draw as draw_dialog, text_width};
use super::lines::Lines;
use crate::console::model::Model;
use crate::console::model::settling::{Gait, Settled, Settling};
use crate::console::shown;
use crate::console::words;
use crate::domain::decision::Outcome;
use crate::domain::item::Row;
use crate::domain::moment::stamp;
use crate::domain::text::clean_cut;
use crate::workflow::Decided;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Draws the outcome.
pub fn draw(model: &Model, scroll: u16, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let mut lines = Lines::new(model.theme, text_width(area));
    let title = match &model.settling {
        None => "Outcome".to_owned(),
        Some(settling) => {
            outcome_lines(model, settling, &mut lines);
            let state = if settling.ended { "outcome" } else { "under way" };
            format!("{}: {state}", words::button(settling.choice))
        }
    };
    draw_dialog(
        model.theme,
        &Sheet { title: &title, scroll },
        lines.into_lines(),
        Vec::new(),
        (state, frame, area),
    );
}

fn outcome_lines(model: &Model, settling: &Settling, lines: &mut Lines) {
    if !settling.ended {
        let (done, total) = (settling.results.len(), settling.total);
        let stopping = match settling.gait {
            Gait::Stopping => ", stopping before the next",
            Gait::Paused => ", PAUSED before the next: Space goes on, Esc stops",
            Gait::Going => "",
        };
        lines.sentence(&format!("{done} of {total} done{stopping}."), model.theme.busy());
        lines.sentence("The row is read, the provider asked again, the intention recorded, the row written, the outcome recorded.", Style::new());
    }
    if settling.total > 1 && !settling.results.is_empty() {
        lines.sentence(&format!("{}.", settling.summary()), model.theme.strong());
        if settling.ended && !settling.all_well() {
            lines.sentence("Those that came to nothing are still selected.", Style::new());
        }
    }
    let is_single = settling.total == 1;
    // What did not go well first: that is what somebody has to look at.
    let (well, ill): (Vec<&Settled>, Vec<&Settled>) =
        settling.results.iter().partition(|settled| settled.is_well());
    for settled in ill.into_iter().chain(well) {
        one(model, settling, settled, is_single, lines);
    }
}

fn one(model: &Model, settling: &Settling, settled: &Settled, is_single: bool, lines: &mut Lines) {
    let key = shown::key(&settled.identity.key);
    match &settled.result {
        Err(fault) => {
            lines.heading(&key);
            lines.point("!", &format!("NOT BEGUN. {}", shown::line(&fault.to_string())), model.theme.alarm());
            lines.sentence(&shown::line(&fault.do_next()), Style::new());
        }
        Ok(decided) => {
            decided_lines(model, settling, (&key, decided), is_single, lines);
        }
    }
}

fn decided_lines(
    model: &Model,
    settling: &Settling,
    (key, decided): (&str, &Decided),
    is_single: bool,
    lines: &mut Lines,
) {
    let word = words::outcome(&decided.outcome);
    let masks = model.all_masks();
    match &decided.outcome {
        Outcome::Applied { before, after } => {
            let entry = decided.entry.map(|seq| format!(", audit entry {seq}")).unwrap_or_default();
            let told = format!("{word}: {} {key}{entry}", words::done(settling.choice));
            if is_single {
                lines.point("+", &told, model.theme.good());
                difference(before, after.as_ref(), &masks, lines);
            } else {
                lines.point("+", &told, Style::new());
            }
        }
        Outcome::Proposed { proposal, why } => {
            let entry = decided.entry.map(|seq| format!(", audit entry {seq}")).unwrap_or_default();
            let told = format!(
                "{word}: to {} {key} as {}, until {}{entry}",
                settling.choice.verb(),
                proposal.short_id(),
                stamp(proposal.until)
            );
            lines.point("+", &told, model.theme.good());
            if is_single {
                lines.sentence(&format!("{} Nothing was written yet.", shown::line(why)), Style::new());
                do_next(decided, lines);
            }
        }
        Outcome::Refused { why, now } => {
            lines.heading(key);
            lines.point(
                "!",
                &format!("{word}, nothing was touched: {}.", shown::line(why)),
                model.theme.alarm(),
            );
            do_next(decided, lines);
            if let (Some(now), true) = (now, is_single) {
                lines.heading("The row now");
                columns(now, &masks, lines);
            }
        }
        Outcome::Failed { why } => {
            lines.heading(key);
            lines.point("!", &format!("{word}: {}.", shown::line(why)), model.theme.alarm());
            do_next(decided, lines);
        }
    }
    if let Some(fault) = &decided.record_fault {
        let told = format!("THE OUTCOME IS NOT ON RECORD: {}", shown::line(&fault.what));
        lines.point("!", &told, model.theme.alarm());
        lines.sentence(&shown::line(&fault.do_next), Style::new());
    }
}

fn do_next(decided: &Decided, lines: &mut Lines) {
    if let Some(do_next) = &decided.do_next {
        lines.sentence(&shown::line(do_next), Style::new());
    }
}

/// The row before and after: what changed first, what stayed below.
fn difference(before: &Row, after: Option<&Row>, masks: &[String], lines: &mut Lines) {
    let Some(after) = after else {
        lines.heading("The row was removed; this is what it was (the audit keeps it)");
        columns(before, masks, lines);
        return;
    };
    let told = |name: &str, row: &Row| {
        row.get(name).map_or_else(|| "(no column)".to_owned(), |cell| shown::cell(name, cell, masks, false))
    };
    let is_changed = |name: &str| before.get(name) != after.get(name);
    lines.heading("The row before -> after");
    let changed: Vec<&str> =
        after.columns.iter().map(|(name, _)| &**name).filter(|name| is_changed(name)).collect();
    for name in &changed {
        lines.fact(&clean_cut(name, 40), &format!("{} -> {}", told(name, before), told(name, after)));
    }
    if changed.is_empty() {
        lines.sentence("(nothing in the row changed)", Style::new());
    }
    let same: Vec<&str> =
        after.columns.iter().map(|(name, _)| &**name).filter(|name| !is_changed(name)).collect();
    if !same.is_empty() {
        lines.heading("Unchanged");
        for name in same {
            lines.fact(&clean_cut(name, 40), &told(name, after));
        }
    }
}

fn columns(row: &Row, masks: &[String], lines: &mut Lines) {
    for (name, cell) in &row.columns {
        lines.fact(&clean_cut(name, 40), &shown::cell(name, cell, masks, false));
    }
}
