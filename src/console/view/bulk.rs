//! The dialog of a series: how many of what, which are left out and why, and the count that has to be typed.

use super::ViewState;
use super::dialog::{FootLine, Sheet, draw as draw_dialog, text_box, text_width};
use super::lines::Lines;
use crate::console::model::Model;
use crate::console::model::bulk::BulkDialog;
use crate::console::shown;
use crate::console::theme::Theme;
use crate::console::words;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use std::sync::Arc;

/// How many keys are listed.
const KEYS_LISTED_MAX: usize = 200;
/// How many newcomers are named.
const NEWCOMERS_NAMED_MAX: usize = 5;

/// Draws the dialog.
pub fn draw(model: &Model, dialog: &BulkDialog, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let width = text_width(area);
    let mut lines = Lines::new(model.theme, width);
    let (verb, count) = (dialog.choice.verb(), dialog.targets.len());
    let items = words::count(count, "item");
    if count == 0 {
        lines.sentence(
            &format!("None of the selected can be decided so: nothing to {verb}."),
            model.theme.alarm(),
        );
    } else {
        lines.sentence(&format!("{verb} {items}:"), model.theme.strong());
        for (group, number) in &dialog.groups {
            lines.point(&format!("{number:>6}"), group, Style::new());
        }
        if dialog.proposed > 0 {
            let told = format!(
                "TWO PERSONS. {} of them are proposed to a second person: for those nothing is written yet.",
                dialog.proposed
            );
            lines.point("!", &told, model.theme.caution());
        }
    }
    if !dialog.left_out.is_empty() || dialog.hidden > 0 {
        lines.heading("Left out");
        for (why, number) in &dialog.left_out {
            lines.point(&format!("{number:>6}"), why, Style::new());
        }
        if dialog.hidden > 0 {
            lines.point(&format!("{:>6}", dialog.hidden), "selected, but hidden by the filter", Style::new());
        }
    }
    let filter = if dialog.filter.is_empty() { "none".to_owned() } else { shown::line(&dialog.filter) };
    lines.blank();
    lines.fact("filter", &filter);
    let asked = count + dialog.left_out.iter().map(|(_, number)| number).sum::<usize>();
    let told = format!(
        "{asked} selected of {} that the filter lets through, {} in all. These are written, no others: the list may go on changing.",
        dialog.passing, dialog.total
    );
    lines.fact("of", &told);
    newcomers(&dialog.newcomers, &mut lines, model.theme);
    if count > 0 {
        lines.heading("What could go wrong");
        for (caution, number) in &dialog.cautions {
            lines.point("!", &format!("{number} of them: {}", shown::line(caution)), model.theme.caution());
        }
        let told = "Each is read and asked about again right before it is written; one whose row or verdict moved is refused and stays selected.";
        lines.point("-", told, Style::new());
        lines.heading("Items");
    }
    for target in dialog.targets.iter().take(KEYS_LISTED_MAX) {
        let verdict = target.checked.as_ref().map(|checked| checked.verdict());
        let item = &target.found.finding.item;
        let told = format!(
            "{} {}  {}",
            words::verdict_sign(verdict),
            shown::item_key(&item.key),
            words::verdict(verdict)
        );
        lines.verbatim(&told);
    }
    if count > KEYS_LISTED_MAX {
        lines.sentence(&format!("and {} more", count - KEYS_LISTED_MAX), model.theme.quiet());
    }
    let title = format!("{}: {items}", words::button(dialog.choice));
    let sheet = Sheet { title: &title, scroll: dialog.scroll };
    draw_dialog(model.theme, &sheet, lines.into_lines(), foot(model, dialog, width), (state, frame, area));
}

/// What came while the plan is being confirmed, and is no part of it.
fn newcomers(keys: &[Arc<str>], lines: &mut Lines, theme: Theme) {
    if keys.is_empty() {
        return;
    }
    let named: Vec<String> = keys.iter().take(NEWCOMERS_NAMED_MAX).map(|key| shown::key(key)).collect();
    let more = keys.len().saturating_sub(NEWCOMERS_NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let told = format!("came since, NOT included: {}{more}", named.join(", "));
    lines.point(&format!("{:>6}", keys.len()), &told, theme.caution());
}

fn foot(model: &Model, dialog: &BulkDialog, width: u16) -> Vec<FootLine> {
    if dialog.targets.is_empty() {
        return vec![FootLine::plain(Line::raw("Nothing to confirm here. Esc leaves."), true)];
    }
    let label = format!("Type  {}  to {}:", dialog.targets.len(), dialog.choice.verb());
    let hint = dialog.hint.as_deref().map(|hint| format!("! {hint}")).unwrap_or_default();
    let has_hint = !hint.is_empty();
    vec![
        text_box(model.theme, "Reason", &dialog.reason, !dialog.types_count, width),
        text_box(model.theme, &label, &dialog.typed, dialog.types_count, width),
        FootLine::plain(Line::styled(shown::fit(&hint, usize::from(width)), model.theme.alarm()), has_hint),
    ]
}
