//! A notice: what happened and what to do, both whole wherever there is room for them.

use super::lines::Lines;
use crate::console::model::{Notice, Tone};
use crate::console::shown::{fit, line, wrap};
use crate::console::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// A notice in words: what with its mark and an end, the style it has, and what to do.
fn worded(theme: Theme, notice: &Notice) -> (String, Style, String) {
    let (mark, style) = match notice.tone {
        Tone::Alarm => ("! ", theme.alarm()),
        Tone::Good => ("", theme.good()),
        Tone::Info => ("", theme.plain()),
    };
    let end = if notice.do_next.is_empty() || notice.what.ends_with(['.', '?', '!']) { "" } else { "." };
    (format!("{mark}{}{end}", line(&notice.what)), style, line(&notice.do_next))
}

/// A notice whole: on one line where it fits, else what and what to do on lines of their own.
pub fn whole(theme: Theme, notice: &Notice, width: u16) -> Vec<Line<'static>> {
    let (what, style, do_next) = worded(theme, notice);
    if what.width() + 1 + do_next.width() <= usize::from(width) {
        return vec![Line::from(vec![Span::styled(what, style), Span::raw(" "), Span::raw(do_next)])];
    }
    let mut lines = Lines::new(theme, width);
    lines.sentence(&what, style);
    if !do_next.is_empty() {
        lines.sentence(&do_next, theme.plain());
    }
    lines.into_lines()
}

/// A notice in so many lines at most: whole where it fits, else what to do is the last to be cut, and a key tells the rest.
pub fn within(theme: Theme, notice: &Notice, width: u16, lines_max: usize, key: &str) -> Vec<Line<'static>> {
    let lines = whole(theme, notice, width);
    if lines.len() <= lines_max {
        return lines;
    }
    let (what, style, do_next) = worded(theme, notice);
    let flowed = flowed(&what, style, &do_next, width);
    if flowed.len() <= lines_max {
        return flowed;
    }
    let width = usize::from(width);
    let rest = format!(" ({key} tells all)");
    if lines_max <= 1 {
        let all = fit(&format!("{what} {do_next}"), width.saturating_sub(rest.width()));
        return vec![Line::from(vec![Span::styled(all, style), Span::styled(rest, theme.plain())])];
    }
    let after = if do_next.is_empty() { Vec::new() } else { wrap(&do_next, width) };
    let after_cut = cut(&after, lines_max.saturating_sub(1), &rest, width);
    // Where both are cut, the last says where the rest is.
    let rest = if after_cut.len() == after.len() || after_cut.is_empty() { &rest } else { "" };
    let before_cut = cut(&wrap(&what, width), lines_max.saturating_sub(after_cut.len()), rest, width);
    let before_cut = before_cut.into_iter().map(|line| Line::styled(line, style));
    before_cut.chain(after_cut.into_iter().map(|line| Line::styled(line, theme.plain()))).collect()
}

/// The first lines of several; where that leaves some out, the last ends with what to say then.
fn cut(lines: &[String], lines_max: usize, rest: &str, width: usize) -> Vec<String> {
    let mut kept: Vec<String> = lines.iter().take(lines_max).cloned().collect();
    if let (Some(last), Some(next)) = (kept.last_mut(), lines.get(lines_max)) {
        let room = width.saturating_sub(rest.width());
        // Shorter than the whole even where the next line is a letter: what is cut shows its `~`.
        let longer = format!("{last} {next}");
        *last = format!("{}{rest}", fit(&longer, room.min(longer.width().saturating_sub(1))));
    }
    kept
}

/// What and what to do in one piece, each in its style.
fn flowed(what: &str, style: Style, do_next: &str, width: u16) -> Vec<Line<'static>> {
    let mut styled = what.chars().filter(|letter| *letter != ' ').count();
    let split = |line: String| {
        // Spaces at a line's end are gone, so only the other letters are counted.
        let mut passed = 0;
        let end = line
            .char_indices()
            .find(|(_, letter)| {
                let is_over = passed >= styled;
                passed += usize::from(*letter != ' ');
                is_over
            })
            .map_or(line.len(), |(at, _)| at);
        let (first, rest) = line.split_at(end);
        styled = styled.saturating_sub(first.chars().filter(|letter| *letter != ' ').count());
        Line::from(vec![Span::styled(first.to_owned(), style), Span::raw(rest.to_owned())])
    };
    wrap(&format!("{what} {do_next}"), usize::from(width)).into_iter().map(split).collect()
}
