//! Triage: the money at stake and every count, each with the letter that filters by it.

use super::dialog::{Sheet, draw as draw_dialog, scroll_to, text_width};
use super::lines::Lines;
use super::{Choices, ViewState};
use crate::console::model::Model;
use crate::console::model::facets::Facet;
use crate::console::model::triage::Triage;
use crate::console::shown::{fit, pad};
use crate::domain::stake::Stake;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// Draws the dialog.
pub fn draw(model: &Model, triage: &Triage, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let width = text_width(area);
    let mut lines = Lines::new(model.theme, width);
    let mut of_line = Vec::new();
    for told in money(&model.findings.counts().stake) {
        lines.sentence(&told, model.theme.strong());
    }
    if model.findings.counts().unchecked > 0 {
        let told = "What nobody asked about has no amount here.";
        lines.sentence(told, model.theme.quiet());
    }
    let mut facet = None;
    for (at, tally) in triage.tallies.iter().enumerate() {
        if facet != Some(tally.facet) {
            lines.heading(title(tally.facet));
            facet = Some(tally.facet);
        }
        of_line.resize(lines.len(), None);
        of_line.push(Some(at));
        let letter = triage.letter(at).map_or(' ', |letter| letter);
        let mark = if tally.is_on { "[x]" } else { "[ ]" };
        let count = if tally.shown == tally.total {
            format!("{:>7}", tally.total)
        } else {
            format!("{:>7} of {}", tally.shown, tally.total)
        };
        let is_cursor = at == triage.cursor;
        let told = format!(
            "{} {letter} {mark} {} {count}",
            if is_cursor { ">" } else { " " },
            pad(&tally.label, 18)
        );
        let told = fit(&told, usize::from(width));
        let style = match (is_cursor, tally.is_on) {
            (true, _) => model.theme.cursor(),
            (false, true) => model.theme.strong(),
            (false, false) => model.theme.plain(),
        };
        lines.push(Line::styled(told, style));
    }
    let cursor_line = of_line.iter().position(|choice| *choice == Some(triage.cursor)).unwrap_or(0);
    let filter = model.findings.typed();
    let title = if filter.is_empty() {
        format!("Triage: {} findings", model.findings.total())
    } else {
        format!(
            "Triage: {} of {}, {}",
            model.findings.shown_len(),
            model.findings.total(),
            crate::console::shown::line(&crate::console::model::facets::told(filter))
        )
    };
    // Where the first count is looked at, so is the money above it.
    let scroll = if triage.cursor == 0 { 0 } else { scroll_to(cursor_line, area) };
    draw_dialog(
        model.theme,
        &Sheet { title: &title, scroll },
        lines.into_lines(),
        Vec::new(),
        (state, frame, area),
    );
    state.choices = Choices { first: usize::from(scroll.min(state.dialog.scroll_max)), of_line };
}

fn title(facet: Facet) -> &'static str {
    match facet {
        Facet::Verdict => "What the providers say",
        Facet::Finding => "Why they need a person",
        Facet::Advice => "What to do",
        Facet::Risk => "What a mistake costs",
        Facet::Kind => "Kind",
        Facet::Source => "Source",
        Facet::Class => "What the errors prove",
    }
}

/// A line a currency: what moved, and how much of it twice.
pub fn money(stake: &Stake) -> Vec<String> {
    stake
        .sums()
        .map(|(moved, twice, items)| {
            let items = crate::console::words::count(items, "item");
            if twice.amount.is_zero() {
                format!("{moved} moved for {items}")
            } else {
                format!("{moved} moved for {items}, {twice} of it too much")
            }
        })
        .collect()
}
