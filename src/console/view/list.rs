//! The list of findings. Rows are built for the lines on the screen and for no other.

use super::ViewState;
use super::groups::group_line;
use super::lines::title;
use super::rows::{Columns, NameWidths, row_line};
use crate::console::keymap::Action;
use crate::console::model::findings::Listed;
use crate::console::model::{Focus, Model};
use crate::console::shown;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

/// Draws the list.
pub fn draw(model: &Model, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let has_heads = area.height >= 5;
    let [top, heads, rows] = Layout::vertical([
        Constraint::Length(u16::from(area.height >= 3)),
        Constraint::Length(u16::from(has_heads)),
        Constraint::Min(0),
    ])
    .areas(area);
    let has_keys = model.focus == Focus::List;
    frame.render_widget(title(model.theme, "Findings", &subtitle(model), has_keys, top.width), top);
    let columns = Columns::for_width(rows.width, NameWidths::of(model));
    frame.render_widget(columns.heads(model.theme, model.findings.sort()), heads);
    let height = usize::from(rows.height);
    state.findings_offset =
        offset_around(state.findings_offset, model.findings.cursor(), height, model.findings.lines_len());
    state.list = super::Listed { area: rows, offset: state.findings_offset };
    if model.findings.shown_len() == 0 {
        let lines: Vec<Line<'_>> = emptiness(model)
            .iter()
            .flat_map(|sentence| shown::wrap(sentence, usize::from(rows.width)))
            .map(Line::raw)
            .collect();
        frame.render_widget(Paragraph::new(lines), rows);
        return;
    }
    let lines = model.findings.window(state.findings_offset, height).enumerate();
    for ((line, listed), y) in lines.zip(rows.y..rows.bottom()) {
        let is_cursor = state.findings_offset + line == model.findings.cursor();
        // Drawn one by one, so that the cursor's line is reversed to its end.
        let drawn = match listed {
            Listed::Row(row) => row_line(model, row, &columns, is_cursor),
            Listed::Group(group) => group_line(model, group, usize::from(rows.width), is_cursor),
        };
        frame.render_widget(drawn, Rect { y, height: 1, ..rows });
    }
}

/// The first line to draw so that the cursor is on the screen, moved as little as can be.
pub fn offset_around(offset: usize, cursor: usize, height: usize, total: usize) -> usize {
    let last_offset = total.saturating_sub(height);
    let lowest = (cursor + 1).saturating_sub(height);
    offset.clamp(lowest, cursor.max(lowest)).min(last_offset.max(lowest))
}

fn subtitle(model: &Model) -> String {
    let (shown, total) = (model.findings.shown_len(), model.findings.total());
    let sort = model.findings.sort();
    let count = if shown == total { format!("{total}") } else { format!("{shown} of {total}") };
    let turned = if sort.reversed { ", turned round" } else { "" };
    // The filter before the order: where there is no room for both, what is left out matters more.
    let filter = match model.findings.typed() {
        "" => String::new(),
        typed => format!(", filter: {}", shown::line(typed)),
    };
    format!("{count}{filter}, {}{turned}", sort.column.title())
}

/// What an empty list means.
fn emptiness(model: &Model) -> Vec<String> {
    if model.scan.since.is_some() && model.findings.is_empty() {
        return vec!["Reading the sources...".to_owned()];
    }
    if !model.findings.is_empty() {
        return vec![
            format!("None of {} findings passes the filter.", model.findings.total()),
            format!("{} clears it, {} changes it.", model.key_of(Action::Back), model.key_of(Action::Filter)),
        ];
    }
    let faults = model.sources.iter().filter(|source| source.fault.is_some()).count();
    let read = model.sources.len() - faults;
    let at = model.scan.ended.map(super::header::clock).unwrap_or_default();
    let mut told =
        vec![format!("No findings. {} read at {at}.", crate::console::words::count(read, "source"))];
    if model.sources.is_empty() {
        told.push("No source is configured: `unstuck init` writes a configuration.".to_owned());
    } else if faults > 0 {
        let noun = crate::console::words::count(faults, "source");
        told.push(format!("{noun} could not be read: what is stuck there is not known."));
    } else {
        told.push(format!("Nothing waits for a person. {} reads again.", model.key_of(Action::Refresh)));
    }
    told
}
