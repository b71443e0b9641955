//! The help, drawn from the keymap.

use super::ViewState;
use super::dialog::{Sheet, draw as draw_dialog, text_width};
use super::lines::Lines;
use crate::console::keymap::Group;
use crate::console::model::Model;
use crate::console::words;
use crate::domain::verdict::Verdict;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Draws the help.
pub fn draw(model: &Model, scroll: u16, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let mut lines = Lines::new(model.theme, text_width(area));
    for group in Group::ALL {
        lines.heading(group.title());
        for bound in model.setup.keys.bound().iter().filter(|bound| bound.binding.group == group) {
            lines.point(&format!("{:<15}", bound.spelled()), bound.binding.help, Style::new());
        }
    }
    lines.heading("Signs");
    for verdict in Verdict::ALL {
        let mark = format!("{} {:<13}", words::verdict_sign(Some(verdict)), words::verdict(Some(verdict)));
        lines.point(&mark, meaning(verdict), model.theme.verdict(Some(verdict)));
    }
    lines.point(
        &format!("{} {:<13}", words::verdict_sign(None), words::verdict(None)),
        "nobody was asked yet",
        Style::new(),
    );
    lines.point(
        "P proposed     ",
        "waits for a second person: nothing was written yet",
        model.theme.caution(),
    );
    let marks = [
        ("!", "not read", "its source could not be read: this is from the reading before"),
        (
            "u",
            "unrecorded",
            "its verdict is not on record: nothing is decided in bulk on it before it is asked again",
        ),
        ("N", "new", "came with the latest reading that brought something new"),
        ("o", "old check", "asked longer ago than the policy lets evidence count; a decision asks again"),
    ];
    for (sign, word, meaning) in marks {
        lines.point(&format!("{sign} {word:<13}"), meaning, Style::new());
    }
    let title = "Help";
    draw_dialog(model.theme, &Sheet { title, scroll }, lines.into_lines(), Vec::new(), (state, frame, area));
}

fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Duplicated => "more than one effect happened",
        Verdict::Mismatch => "it happened, with another amount or currency",
        Verdict::Happened => "one effect happened",
        Verdict::Pending => "the provider has not decided yet",
        Verdict::Failed => "the provider knows of it, and it did not happen",
        Verdict::NotFound => "a look that could have seen it saw nothing",
        Verdict::Unknown => "nothing that counts is known: never a success, never an absence",
    }
}
