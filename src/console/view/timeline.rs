//! The timeline of one item: what happened when, each line with its origin, and the six questions beside it or below it.
//!
//! ```text
//! wide                                          narrow
//! -- Timeline key -----------|-- Questions ---   -- Timeline key ---
//! row, reference, verdict    | 1. Did it ...?    row, reference, verdict
//! ! what to look at first    |    yes: ...       ! what to look at first
//!   1 02:29:40Z row  started | 2. ...            1 02:29:40Z row started
//!   2 02:29:41Z effect ...   |                   1. Did it ...?
//! ```

use super::lines::{Lines, draw_scrolled, title};
use super::{LIST_PERCENT, ViewState, WIDE_MIN, duplicate};
use crate::console::keymap::{Action, Place};
use crate::console::model::{Focus, Loading, Model};
use crate::console::shown;
use crate::console::theme::Theme;
use crate::console::words;
use crate::domain::evidence::EffectState;
use crate::domain::moment::stamp;
use crate::domain::questions::{Answer, Answered};
use crate::domain::timeline::{Ending, Happening, LOOK_FIRST, Line as Told, Origin, Timeline, What, see};
use crate::workflow::story::Story;
use chrono::{DateTime, SubsecRound, Utc};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

/// From which width on what happened stands behind its moment, and not below it.
const BESIDE_MIN: usize = 60;

/// Draws it.
pub fn draw(model: &Model, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let told = model.timeline.told();
    let (Some(story), true) = (told, area.width >= WIDE_MIN) else {
        let mut lines = Lines::new(model.theme, area.width);
        match told {
            Some(story) => {
                left(model, story, &mut lines);
                right(model.theme, story, &mut lines);
            }
            None => waiting(model, &mut lines),
        }
        state.timeline = pane(model, &heading(model), (true, model.timeline.scroll), lines, (frame, area));
        return;
    };
    let parts = [Constraint::Percentage(LIST_PERCENT), Constraint::Length(2), Constraint::Min(0)];
    let [on_left, rule, on_right] = Layout::horizontal(parts).areas(area);
    let line = Line::styled("|", model.theme.quiet());
    frame.render_widget(Paragraph::new(vec![line; usize::from(rule.height)]), rule);
    let has_keys = model.focus == Focus::List;
    let mut lines = Lines::new(model.theme, on_left.width);
    left(model, story, &mut lines);
    state.timeline = pane(model, &heading(model), (has_keys, model.timeline.scroll), lines, (frame, on_left));
    let mut lines = Lines::new(model.theme, on_right.width);
    right(model.theme, story, &mut lines);
    let name = ("Questions", "");
    state.detail = pane(model, &name, (!has_keys, model.timeline.questions_scroll), lines, (frame, on_right));
}

fn pane(
    model: &Model,
    (name, rest): &(&str, impl AsRef<str>),
    (has_keys, scroll): (bool, u16),
    lines: Lines,
    (frame, area): (&mut Frame<'_>, Rect),
) -> super::Scrolled {
    let [top, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    frame.render_widget(title(model.theme, name, rest.as_ref(), has_keys, top.width), top);
    draw_scrolled(model.theme, lines.into_lines(), scroll, frame, body)
}

fn heading(model: &Model) -> (&'static str, String) {
    let of = model.timeline.of.as_ref();
    let told =
        of.map(|of| format!("{} of {}", shown::key(&of.key), shown::line(&of.source))).unwrap_or_default();
    ("Timeline", told)
}

/// What is said while there is no story.
fn waiting(model: &Model, lines: &mut Lines) {
    match &model.timeline.story {
        Loading::Idle => {}
        Loading::Loading { since, .. } => {
            let seconds = (model.now - *since).num_seconds().max(0);
            let does = if model.timeline.asks_anew {
                "Asking the provider, and reading row, logs, marks and audit"
            } else {
                "Reading row, logs, marks and audit"
            };
            lines.sentence(&format!("{does}, {seconds} s..."), model.theme.busy());
        }
        Loading::Failed { what, do_next } => {
            lines.sentence(&shown::line(what), model.theme.alarm());
            lines.sentence(&shown::line(do_next), Style::new());
        }
        Loading::Ready { .. } => {
            lines.sentence("No source, no log and no record has such an item any more.", Style::new());
        }
    }
}

/// What is known at a glance, what to look at first, and everything in order.
fn left(model: &Model, story: &Story, lines: &mut Lines) {
    let ask = model.setup.keys.told(Place::Timeline, Action::Check);
    if model.timeline.is_unrecorded {
        super::lines::not_on_record(model, lines);
    }
    // The verdict first: on a small screen it is what there is room for; before it only that it may be another on record.
    let mut head = story.head(&ask);
    let is_first = |label: &str| label == "verdict" || label == "record";
    let at = head.iter().position(|(label, _)| is_first(label)).unwrap_or(0);
    head.rotate_left(at);
    for (label, text) in head {
        let style = match label {
            "record" => model.theme.alarm(),
            "verdict" => verdict_style(model.theme, story),
            _ => Style::new(),
        };
        lines.styled_fact(label, &shown::line(&text), style);
    }
    if !story.hints.is_empty() {
        lines.blank();
        for hint in &story.hints {
            let style = if hint.warns_against_retry() { model.theme.caution() } else { Style::new() };
            lines.point("!", &format!("{}{}", shown::line(&hint.sentence()), see(hint.lines())), style);
        }
        if story.warns_against_retry() {
            lines.point("!", LOOK_FIRST, model.theme.alarm());
        }
    }
    lines.heading("What happened when (UTC)");
    in_order(model.theme, &story.timeline, story.members.len() > 1, lines);
}

fn verdict_style(theme: Theme, story: &Story) -> Style {
    let asked = story.checked.as_ref().map(crate::workflow::Checked::verdict);
    let recorded = || {
        let word = story.recorded.as_ref()?.verdict.as_str();
        crate::domain::verdict::Verdict::ALL.into_iter().find(|verdict| verdict.as_str() == word)
    };
    theme.verdict(asked.or_else(recorded))
}

/// Every line; where there are several items, each names its own.
fn in_order(theme: Theme, timeline: &Timeline, names_items: bool, lines: &mut Lines) {
    let words = |happening: &Happening| {
        shown::line(&if names_items { happening.words() } else { happening.what.sentence() })
    };
    if timeline.lines.is_empty() && timeline.untimed.is_empty() {
        lines.sentence("Nothing tells of it.", Style::new());
    }
    let times: Vec<(String, String)> = timeline.lines.iter().map(|line| day_and_time(line.at)).collect();
    let time_width = times.iter().map(|(_, time)| time.len()).max().unwrap_or(0);
    let mut before: Option<(&Told, &str)> = None;
    for (line, (day, time)) in timeline.lines.iter().zip(&times) {
        if before.is_none_or(|(_, other)| other != day) {
            lines.sentence(day, theme.quiet());
        }
        let gap = before.map(|(before, _)| line.at - before.at).filter(|gap| gap.num_seconds() > 0);
        let gap = gap.map(|gap| format!("  (+{})", words::short_span(gap))).unwrap_or_default();
        let happening = &line.happening;
        let mark = format!("{:>3} {time:<time_width$} {:<8}", line.number, happening.origin.as_str());
        let text = format!("{} ({}){gap}", words(happening), shown::line(&happening.place));
        entry(&mark, &text, style_of(theme, happening.origin, &happening.what), lines);
        if let Some(told) = line.uncertainty() {
            lines.point("   ~", &shown::line(&told), theme.quiet());
        }
        before = Some((line, day));
    }
    for untimed in &timeline.untimed {
        let happening = &untimed.happening;
        let mark = format!("  - {:<time_width$} {:<8}", "no time", happening.origin.as_str());
        let text = format!(
            "{} ({}): {}",
            words(happening),
            shown::line(&happening.place),
            shown::line(&untimed.why)
        );
        entry(&mark, &text, Style::new(), lines);
    }
}

/// One line: what happened behind its moment, or below it where there is no room.
fn entry(mark: &str, text: &str, style: Style, lines: &mut Lines) {
    if lines.width() >= BESIDE_MIN {
        lines.point(mark, text, style);
    } else {
        lines.point(mark.trim_end(), "", style);
        lines.point("   ", text, style);
    }
}

/// Effects and what stands against them are seen first.
fn style_of(theme: Theme, origin: Origin, what: &What) -> Style {
    match what {
        What::Effect { state: EffectState::Happened, .. } => theme.strong(),
        What::Ended(Ending::Failed, _) | What::DeclaredDead(_) | What::Mark(..) => theme.caution(),
        _ if origin == Origin::Audit => theme.quiet(),
        _ => Style::new(),
    }
}

/// `2026-05-04T02:29:40.120456Z` as day and time, no finer than people read.
fn day_and_time(at: DateTime<Utc>) -> (String, String) {
    let stamped = stamp(at.trunc_subsecs(3));
    let (day, time) = stamped.split_once('T').unwrap_or(("", &stamped));
    (day.to_owned(), time.to_owned())
}

/// The six questions, the group where more than one effect happened, and what else to know.
fn right(theme: Theme, story: &Story, lines: &mut Lines) {
    questions(theme, &story.answers, lines);
    if let Some(group) = &story.duplicate {
        lines.heading("It happened more than once");
        duplicate::facts(theme, group, lines);
    }
    notes(&story.notes, lines);
}

/// The six questions with their answers. What is not known looks like nothing that is.
pub fn questions(theme: Theme, answers: &[Answered], lines: &mut Lines) {
    lines.heading("The six questions");
    for (number, answered) in answers.iter().enumerate() {
        lines.point(&format!("{}.", number + 1), answered.question.sentence(), theme.strong());
        let style = match answered.answer {
            Answer::Yes | Answer::No => Style::new(),
            Answer::NotKnown => theme.caution(),
        };
        let told = format!("{}{}", shown::line(&answered.sentence()), see(&answered.lines));
        lines.point("  ", &told, style);
    }
}

/// What else a person should know.
pub fn notes(notes: &[String], lines: &mut Lines) {
    if notes.is_empty() {
        return;
    }
    lines.heading("Also");
    for note in notes {
        lines.point("-", &shown::line(note), Style::new());
    }
}
