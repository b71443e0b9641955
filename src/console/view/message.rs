//! A notice by itself, for where the screen has no room to tell all of it.

use super::ViewState;
use super::dialog::{Sheet, draw as draw_dialog, text_width};
use super::notice::whole;
use crate::console::model::{Model, Notice};
use ratatui::Frame;
use ratatui::layout::Rect;

/// Draws it.
pub fn draw(
    model: &Model,
    notice: &Notice,
    scroll: u16,
    state: &mut ViewState,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let lines = whole(model.theme, notice, text_width(area));
    draw_dialog(model.theme, &Sheet { title: "Message", scroll }, lines, Vec::new(), (state, frame, area));
}
