//! The fields at the foot of a dialog in which one thing is confirmed: reason, insisting, button, the word to type.

use super::dialog::{FootLine, text_box, typed_box};
use crate::console::model::answers::{Answers, Field};
use crate::console::shown;
use crate::console::theme::Theme;
use ratatui::text::{Line, Span};

/// What the fields are drawn from.
pub struct Form<'a> {
    /// What is filled in.
    pub answers: &'a Answers,
    /// Whether the operator has to insist.
    pub asks_to_insist: bool,
    /// The word to type.
    pub word: String,
    /// What typing it does.
    pub verb: &'a str,
    /// The button's word.
    pub button: &'a str,
    /// What `y` on it does, such as "confirms".
    pub does: &'a str,
    /// Whether it is known what would be written.
    pub is_known: bool,
}

impl Form<'_> {
    /// The fields, line by line.
    pub fn lines(&self, theme: Theme, width: u16) -> Vec<FootLine> {
        let answers = self.answers;
        let mut foot =
            vec![text_box(theme, "Reason", &answers.reason, answers.field == Field::Reason, width)];
        if self.asks_to_insist {
            let has_keys = answers.field == Field::Insist;
            let mark = if has_keys { ">" } else { " " };
            let switch = if answers.insists { "[x]" } else { "[ ]" };
            let told = format!("{mark} Insist {switch} against the advice; that goes on record (Space)");
            let style = if has_keys { theme.strong() } else { theme.plain() };
            foot.push(FootLine::plain(Line::styled(shown::fit(&told, usize::from(width)), style), has_keys));
        }
        if answers.field == Field::Typed {
            let label = format!("Type  {}  to {}:", self.word, self.verb);
            foot.extend(typed_box(theme, &label, self.word.len(), &answers.typed, (true, width)));
        } else {
            foot.push(self.button_line(theme));
        }
        let hint = answers.hint.as_deref().map(|hint| format!("! {}", shown::line(hint))).unwrap_or_default();
        let is_active = !hint.is_empty();
        foot.push(FootLine::plain(
            Line::styled(shown::fit(&hint, usize::from(width)), theme.alarm()),
            is_active,
        ));
        foot
    }

    fn button_line(&self, theme: Theme) -> FootLine {
        let has_keys = self.answers.field == Field::Button;
        let mark = if has_keys { ">" } else { " " };
        let style = if has_keys { theme.cursor().patch(theme.strong()) } else { theme.plain() };
        let help = match (has_keys, self.is_known) {
            (_, false) => "  not yet: the provider is being asked".to_owned(),
            (true, true) => format!("  y {}; Enter does not", self.does),
            (false, true) => "  Tab goes there".to_owned(),
        };
        let spans = vec![
            Span::raw(format!("{mark} ")),
            Span::styled(format!("[ {} ]", self.button), style),
            Span::raw(help),
        ];
        FootLine::plain(Line::from(spans), has_keys)
    }
}
