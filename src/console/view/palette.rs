//! The palette: what is typed, and the actions and views that fit.

use super::dialog::{FootLine, Sheet, draw as draw_dialog, scroll_to, text_box, text_width};
use super::{Choices, ViewState};
use crate::console::model::Model;
use crate::console::model::palette::Palette;
use crate::console::shown::{fit, pad};
use crate::domain::text::clean_cut;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use tui_input::Input;

/// How wide names and keys are, and from which width of the palette on.
const COLUMNS: [(u16, usize, usize); 2] = [(60, 18, 14), (0, 13, 8)];

/// Draws the palette.
pub fn draw(model: &Model, palette: &Palette, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let width = text_width(area);
    let (_, name_width, keys_width) =
        COLUMNS.into_iter().find(|(from, ..)| width >= *from).unwrap_or((0, 13, 8));
    let line_of = |(line, at): (usize, &usize)| {
        let entry = palette.entries.get(*at)?;
        let is_cursor = line == palette.cursor;
        let mark = if is_cursor { ">" } else { " " };
        let told = format!(
            "{mark} {} {} {}",
            pad(&clean_cut(&entry.name, 60), name_width.max(entry.name.len().min(30))),
            pad(&entry.keys, keys_width),
            clean_cut(&entry.help, 200)
        );
        let style = if is_cursor { model.theme.cursor() } else { model.theme.plain() };
        Some(Line::styled(fit(&told, usize::from(width)), style))
    };
    let mut lines: Vec<Line<'static>> = palette.fitting.iter().enumerate().filter_map(line_of).collect();
    if lines.is_empty() {
        lines.push(Line::raw("Nothing has these letters in this order."));
    }
    let of_line = (0..palette.fitting.len()).map(Some).collect();
    let scroll = scroll_to(palette.cursor, area);
    let foot = vec![text_box(model.theme, ":", &palette.input, true, width)];
    draw_dialog(model.theme, &Sheet { title: "Palette", scroll }, lines, foot, (state, frame, area));
    state.choices = Choices { first: usize::from(scroll.min(state.dialog.scroll_max)), of_line };
}

/// Draws the question for a view's name.
pub fn draw_name(
    model: &Model,
    (input, hint): (&Input, Option<&str>),
    state: &mut ViewState,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let width = text_width(area);
    let mut lines = super::lines::Lines::new(model.theme, width);
    lines.sentence(&crate::console::shown::line(&model.outlook().told()), model.theme.plain());
    let hint = hint.map(|hint| format!("! {hint}")).unwrap_or_default();
    let foot = vec![
        text_box(model.theme, "Name", input, true, width),
        FootLine::plain(Line::styled(fit(&hint, usize::from(width)), model.theme.alarm()), !hint.is_empty()),
    ];
    let sheet = Sheet { title: "Save this view", scroll: 0 };
    draw_dialog(model.theme, &sheet, lines.into_lines(), foot, (state, frame, area));
}
