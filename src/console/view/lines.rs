//! Lines of text for panes and dialogs: labels in a gutter, sentences wrapped beside it.

use crate::console::shown::{fit, pad, wrap};
use crate::console::theme::Theme;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr;

/// How wide the labels' gutter is.
const GUTTER: usize = 11;
/// Below this width labels stand on lines of their own words alone.
const GUTTER_WIDTH_MIN: usize = 34;

/// Lines being put together for a width.
pub struct Lines {
    theme: Theme,
    width: usize,
    built: Vec<Line<'static>>,
}

impl Lines {
    /// No lines yet, for a width.
    pub fn new(theme: Theme, width: u16) -> Self {
        Self { theme, width: usize::from(width), built: Vec::new() }
    }

    /// The lines.
    pub fn into_lines(self) -> Vec<Line<'static>> {
        self.built
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.built.len()
    }

    /// One more line, as it is.
    pub fn push(&mut self, line: Line<'static>) {
        self.built.push(line);
    }

    /// A heading with an empty line before it.
    pub fn heading(&mut self, text: &str) {
        if !self.built.is_empty() {
            self.blank();
        }
        self.built.push(Line::styled(fit(text, self.width), self.theme.strong()));
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.built.push(Line::default());
    }

    /// A label and its text, wrapped beside it. The text must be clean.
    pub fn fact(&mut self, label: &str, text: &str) {
        self.styled_fact(label, text, Style::new());
    }

    /// A label and its text in a style.
    pub fn styled_fact(&mut self, label: &str, text: &str, style: Style) {
        let gutter =
            if self.width < GUTTER_WIDTH_MIN { (label.width() + 1).min(self.width / 2) } else { GUTTER };
        for (number, line) in wrap(text, self.width.saturating_sub(gutter)).into_iter().enumerate() {
            let shown = if number == 0 { label } else { "" };
            let label = Span::styled(pad(shown, gutter.saturating_sub(1)), self.theme.quiet());
            self.built.push(Line::from(vec![label, Span::raw(" "), Span::styled(line, style)]));
        }
    }

    /// A sentence across the whole width.
    pub fn sentence(&mut self, text: &str, style: Style) {
        self.built.extend(wrap(text, self.width).into_iter().map(|line| Line::styled(line, style)));
    }

    /// A sentence with a mark before it and its further lines indented.
    pub fn point(&mut self, mark: &str, text: &str, style: Style) {
        let indent = mark.width() + 1;
        for (number, line) in wrap(text, self.width.saturating_sub(indent)).into_iter().enumerate() {
            let before = if number == 0 { format!("{mark} ") } else { " ".repeat(indent) };
            self.built.push(Line::from(vec![Span::styled(before, style), Span::styled(line, style)]));
        }
    }

    /// How wide they are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// A line as it is, cut to the width.
    pub fn verbatim(&mut self, text: &str) {
        self.built.push(Line::raw(fit(text, self.width)));
    }
}

/// A pane's title as a rule: `-- Findings 3 of 60 ------`. The pane with the keys has its name reversed.
pub fn title(theme: Theme, name: &str, rest: &str, has_keys: bool, width: u16) -> Line<'static> {
    let width = usize::from(width);
    let name_style = if has_keys { theme.cursor().patch(theme.strong()) } else { theme.strong() };
    let name = fit(&format!(" {name} "), width.saturating_sub(2));
    let mut left = width.saturating_sub(2 + name.width());
    let mut spans = vec![Span::styled("--", theme.quiet()), Span::styled(name, name_style)];
    if !rest.is_empty() && left > 3 {
        let rest = fit(&format!(" {rest} "), left);
        left = left.saturating_sub(rest.width());
        spans.push(Span::raw(rest));
    }
    spans.push(Span::styled("-".repeat(left), theme.quiet()));
    Line::from(spans)
}

/// Draws lines scrolled, and tells how far they can be. The last line says what is below, where something is.
pub fn draw_scrolled(
    theme: Theme,
    lines: Vec<Line<'static>>,
    scroll: u16,
    frame: &mut Frame<'_>,
    area: Rect,
) -> super::Scrolled {
    let total = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    if total <= area.height {
        frame.render_widget(Paragraph::new(lines), area);
        return super::Scrolled { area, scroll_max: 0 };
    }
    let has_mark = area.height >= 3;
    let [text, mark] =
        Layout::vertical([Constraint::Min(0), Constraint::Length(u16::from(has_mark))]).areas(area);
    let scroll_max = total.saturating_sub(text.height);
    let scroll = scroll.min(scroll_max);
    let shown: Vec<Line<'_>> =
        lines.into_iter().skip(usize::from(scroll)).take(usize::from(text.height)).collect();
    frame.render_widget(Paragraph::new(shown), text);
    let below = scroll_max - scroll;
    let told =
        if below > 0 { format!("({below} more below, PgDn)") } else { "(end; PgUp goes back)".to_owned() };
    frame.render_widget(Line::styled(told, theme.quiet()), mark);
    super::Scrolled { area: text, scroll_max }
}

/// How much is done of how much: `[####......]`.
pub fn bar(done: usize, total: usize) -> String {
    const WIDTH: usize = 10;
    let filled = done.saturating_mul(WIDTH).checked_div(total).unwrap_or(0).min(WIDTH);
    format!("[{}{}]", "#".repeat(filled), ".".repeat(WIDTH - filled))
}

/// Parts joined by two spaces, as many as fit; the first is cut rather than left out.
pub fn joined(parts: Vec<Span<'static>>, width: u16) -> Line<'static> {
    let width = usize::from(width);
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut used = 0;
    for part in parts.into_iter().filter(|part| !part.content.is_empty()) {
        if spans.is_empty() {
            let first = fit(&part.content, width);
            used = first.width();
            spans.push(Span::styled(first, part.style));
            continue;
        }
        let wide = part.content.width();
        if used + 2 + wide > width {
            continue;
        }
        spans.push(Span::raw("  "));
        spans.push(part);
        used += 2 + wide;
    }
    Line::from(spans)
}

/// That a verdict is not on record, and why, as far as that is known.
pub fn not_on_record(model: &crate::console::model::Model, lines: &mut Lines) {
    let alarm = model.theme.alarm();
    lines.styled_fact(
        "record",
        "u NOT ON RECORD: nobody will find this verdict later. Check it again.",
        alarm,
    );
    if let Some(fault) = &model.record_fault {
        lines.styled_fact("", &crate::console::shown::line(&fault.what), alarm);
        lines.fact("", &crate::console::shown::line(&fault.do_next));
    }
}
