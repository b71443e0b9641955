//! Fuzzy find: what is typed, and the findings that fit, the letters that do so marked.

use super::dialog::{Sheet, draw as draw_dialog, scroll_to, text_box, text_width};
use super::{Choices, ViewState};
use crate::console::model::Model;
use crate::console::model::finder::Finder;
use crate::console::shown::{beginning, fit, item_key, line};
use crate::workflow::Found;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// How wide a key gets at most where there is something beside it.
const KEY_WIDTH_MAX: usize = 44;
/// From which width on there is room for source and kind.
const ORIGIN_WIDTH_MIN: usize = 70;
/// How wide those two are.
const ORIGIN_WIDTH: usize = 26;

/// Draws the box.
pub fn draw(model: &Model, finder: &Finder, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let width = usize::from(text_width(area));
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (at, found) in finder.hits.iter().enumerate() {
        lines.push(hit_line(model, finder, found, at == finder.cursor, width));
    }
    if lines.is_empty() {
        let told = if model.findings.is_empty() {
            "There are no findings."
        } else {
            "No key and no reference has these letters in this order."
        };
        lines.extend(crate::console::shown::wrap(told, width).into_iter().map(Line::raw));
    }
    let of_line = (0..finder.hits.len()).map(Some).collect();
    let scroll = scroll_to(finder.cursor, area);
    let title = format!("Find: {} of {}", finder.fitting_len(&model.findings), model.findings.total());
    let foot = vec![text_box(model.theme, "Find", &finder.input, true, text_width(area))];
    draw_dialog(model.theme, &Sheet { title: &title, scroll }, lines, foot, (state, frame, area));
    state.choices = Choices { first: usize::from(scroll.min(state.dialog.scroll_max)), of_line };
}

fn hit_line(model: &Model, finder: &Finder, found: &Found, is_cursor: bool, width: usize) -> Line<'static> {
    let item = &found.finding.item;
    let key = item_key(&item.key);
    let reference = found.reference.as_deref().unwrap_or_default();
    let reference = if reference == item.key.as_str() { String::new() } else { line(reference) };
    let has_origin = width >= ORIGIN_WIDTH_MIN;
    let room = width.saturating_sub(2 + if has_origin { ORIGIN_WIDTH + 2 } else { 0 });
    // A key that leaves its reference no room would hide why it is there.
    let key_width = if reference.is_empty() { room } else { key.width().min((room / 2).min(KEY_WIDTH_MAX)) };
    let mark = if is_cursor { "> " } else { "  " };
    let mut spans = vec![Span::styled(mark, model.theme.strong())];
    let mut used = marked(model, finder, &fit(&key, key_width), &mut spans);
    if !reference.is_empty() {
        spans.push(Span::raw("  "));
        used += 2 + marked(model, finder, &fit(&reference, room.saturating_sub(used + 2)), &mut spans);
    }
    if has_origin {
        let origin = format!("{} {}", beginning(&item.source, 15), beginning(&item.kind, 15));
        let gap = " ".repeat(room.saturating_sub(used) + 2);
        spans.push(Span::raw(gap));
        let style = if is_cursor { Style::new() } else { model.theme.quiet() };
        spans.push(Span::styled(fit(&origin, ORIGIN_WIDTH), style));
    }
    let line = Line::from(spans);
    if is_cursor { line.style(model.theme.cursor()) } else { line }
}

/// A text with the letters that fit marked; how wide it is.
fn marked(model: &Model, finder: &Finder, text: &str, spans: &mut Vec<Span<'static>>) -> usize {
    let marks = finder.sought.marks(text);
    let mut part = (String::new(), false);
    for (at, letter) in text.chars().enumerate() {
        let is_marked = marks.binary_search(&at).is_ok();
        if is_marked != part.1 && !part.0.is_empty() {
            let style = if part.1 { model.theme.found() } else { Style::new() };
            spans.push(Span::styled(std::mem::take(&mut part.0), style));
        }
        part.0.push(letter);
        part.1 = is_marked;
    }
    let style = if part.1 { model.theme.found() } else { Style::new() };
    spans.push(Span::styled(part.0, style));
    text.width()
}
