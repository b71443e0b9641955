//! Decisions that had broken off, as the start found and settled them.

use super::ViewState;
use super::dialog::{FootLine, Sheet, draw as draw_dialog, text_width};
use super::lines::Lines;
use crate::console::model::Model;
use crate::console::shown;
use crate::console::words;
use crate::domain::text::clean_cut;
use crate::workflow::recover::Recovered;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

/// Draws them.
pub fn draw(
    model: &Model,
    recovered: &[Recovered],
    scroll: u16,
    state: &mut ViewState,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let theme = model.theme;
    let mut lines = Lines::new(theme, text_width(area));
    lines.sentence(
        "The program stopped in the middle of these. Their rows were read; nothing was written.",
        Style::new(),
    );
    for one in recovered {
        let verb = one.choice.map_or("unreadable decision", crate::domain::decision::Choice::verb);
        lines.heading(&format!("{verb}  {}", shown::key(&one.intent.key)));
        let intent = format!(
            "entry {}, {} by {}, source {}",
            one.intent.seq,
            clean_cut(&one.intent.at, 40),
            clean_cut(&one.intent.operator, 40),
            clean_cut(&one.intent.source, 40)
        );
        lines.fact("intended", &intent);
        match &one.outcome {
            Some(outcome) => lines.styled_fact("found", words::outcome(outcome), theme.strong()),
            None => lines.styled_fact("found", "STILL OPEN", theme.alarm()),
        }
        lines.fact("", &shown::line(&one.told));
    }
    let title = format!("{} broke off", words::count(recovered.len(), "decision"));
    let foot = vec![FootLine::plain(Line::raw("Enter: I have read this"), true)];
    draw_dialog(theme, &Sheet { title: &title, scroll }, lines.into_lines(), foot, (state, frame, area));
}
