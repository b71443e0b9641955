//! A dialog's frame: title, text that scrolls, and fields that stay.

use super::lines::draw_scrolled;
use super::{Scrolled, ViewState};
use crate::console::shown::fit;
use crate::console::theme::Theme;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::symbols::border;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Padding, Paragraph};
use tui_input::Input;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The widest a dialog gets: longer lines are hard to read.
const WIDTH_MAX: u16 = 110;
/// Below this size a dialog takes everything and has no frame.
const FRAMED_MIN: (u16, u16) = (100, 27);

const ASCII_FRAME: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

/// One line that stays at the foot of a dialog.
pub struct FootLine {
    /// The line.
    pub line: Line<'static>,
    /// The column of the text cursor; `None` where it has none.
    pub cursor: Option<u16>,
    /// Whether it is the one that counts when there is room for no other.
    pub is_active: bool,
}

impl FootLine {
    /// A line without a cursor.
    pub fn plain(line: Line<'static>, is_active: bool) -> Self {
        Self { line, cursor: None, is_active }
    }
}

/// What a dialog is drawn from.
pub struct Sheet<'a> {
    /// Its title.
    pub title: &'a str,
    /// How far its text is scrolled.
    pub scroll: u16,
}

/// How wide a dialog's text is in an area.
pub fn text_width(area: Rect) -> u16 {
    if is_framed(area) { area.width.saturating_sub(4).min(WIDTH_MAX).saturating_sub(4) } else { area.width }
}

fn is_framed(area: Rect) -> bool {
    area.width >= FRAMED_MIN.0 && area.height >= FRAMED_MIN.1
}

/// How far a text is scrolled so that a line of it is in the middle of a dialog.
pub fn scroll_to(line: usize, area: Rect) -> u16 {
    let height = usize::from(area.height.saturating_sub(4));
    u16::try_from(line.saturating_sub(height / 2)).unwrap_or(u16::MAX)
}

/// Draws a dialog over everything in an area.
pub fn draw(
    theme: Theme,
    sheet: &Sheet<'_>,
    text: Vec<Line<'static>>,
    foot: Vec<FootLine>,
    (state, frame, area): (&mut ViewState, &mut Frame<'_>, Rect),
) {
    let inner = draw_frame(theme, sheet.title, (text.len(), foot.len()), frame, area);
    // An empty line for hints is a luxury of large terminals.
    let foot: Vec<FootLine> =
        foot.into_iter().filter(|line| is_framed(area) || line.line.width() > 0).collect();
    let foot = if foot.len() + 2 > usize::from(inner.height) {
        foot.into_iter().filter(|line| line.is_active).collect()
    } else {
        foot
    };
    let foot_height = u16::try_from(foot.len()).unwrap_or(0).min(inner.height);
    let has_rule = foot_height > 0 && inner.height > foot_height + 3;
    let [body, rule, feet] = Layout::vertical([
        Constraint::Min(0),
        Constraint::Length(u16::from(has_rule)),
        Constraint::Length(foot_height),
    ])
    .areas(inner);
    state.dialog = if body.height == 0 {
        Scrolled { area: body, scroll_max: 0 }
    } else {
        draw_scrolled(theme, text, sheet.scroll, frame, body)
    };
    frame.render_widget(Line::styled("-".repeat(usize::from(rule.width)), theme.quiet()), rule);
    for (row, line) in (feet.y..feet.bottom()).zip(&foot) {
        if let Some(cursor) = line.cursor {
            let x = feet.x + cursor.min(feet.width.saturating_sub(1));
            frame.set_cursor_position(Position { x, y: row });
        }
    }
    frame.render_widget(Paragraph::new(foot.into_iter().map(|line| line.line).collect::<Vec<_>>()), feet);
}

/// Draws title and frame of a dialog, and gives what is inside.
fn draw_frame(
    theme: Theme,
    title: &str,
    (text, foot): (usize, usize),
    frame: &mut Frame<'_>,
    area: Rect,
) -> Rect {
    let title_style = theme.cursor().patch(theme.strong());
    if !is_framed(area) {
        let [top, inner] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
        frame.render_widget(
            Line::styled(fit(&format!(" {title} "), usize::from(top.width)), title_style),
            top,
        );
        return inner;
    }
    let width = area.width.saturating_sub(4).min(WIDTH_MAX);
    let wanted = u16::try_from(text + foot + 3).unwrap_or(u16::MAX);
    let height = wanted.clamp(8, area.height.saturating_sub(1));
    let placed = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height.saturating_sub(height)) / 3,
        width,
        height,
    };
    let block = Block::bordered()
        .border_set(ASCII_FRAME)
        .padding(Padding::horizontal(1))
        .title(Span::styled(fit(&format!(" {title} "), usize::from(width.saturating_sub(4))), title_style));
    let inner = block.inner(placed);
    frame.render_widget(block, placed);
    inner
}

/// A text box: label, text between brackets, cursor.
pub fn text_box(theme: Theme, label: &str, input: &Input, has_keys: bool, width: u16) -> FootLine {
    let mark = if has_keys { ">" } else { " " };
    let before = if label.is_empty() { format!("{mark} [") } else { format!("{mark} {label} [") };
    let room = usize::from(width).saturating_sub(before.width() + 1);
    let skipped = input.visual_scroll(room.saturating_sub(1));
    let text = crate::console::shown::pad(&skip_cells(input.value(), skipped), room);
    let style = if has_keys { theme.strong() } else { theme.plain() };
    let column = before.width() + input.visual_cursor().saturating_sub(skipped);
    FootLine {
        line: Line::from(vec![Span::styled(before, style), Span::raw(text), Span::styled("]", style)]),
        cursor: if has_keys { u16::try_from(column).ok() } else { None },
        is_active: has_keys,
    }
}

/// A text box for a word of a length; its label goes on a line of its own where the word would not fit behind it.
pub fn typed_box(
    theme: Theme,
    label: &str,
    word_len: usize,
    input: &Input,
    (has_keys, width): (bool, u16),
) -> Vec<FootLine> {
    if label.width() + word_len + 6 <= usize::from(width) {
        return vec![text_box(theme, label, input, has_keys, width)];
    }
    let label = Line::styled(fit(&format!("  {label}"), usize::from(width)), theme.strong());
    vec![FootLine::plain(label, has_keys), text_box(theme, "", input, has_keys, width)]
}

/// A text without its first cells.
pub fn skip_cells(text: &str, cells: usize) -> String {
    let mut skipped = 0;
    let rest = text.graphemes(true).skip_while(|grapheme| {
        let skips = skipped < cells;
        skipped += grapheme.width();
        skips
    });
    rest.collect()
}
