//! The fields at the foot of a dialog in which one thing is confirmed: reason, insisting, button, the word to type.

use super::dialog::{FootLine, text_box, typed_box};
use crate::console::model::decision::Field;
use crate::console::shown;
use crate::console::theme::Theme;
use ratatui::text::{Line, Span};
use tui_input::Input;

/// What the fields are drawn from.
pub struct Form<'a> {
    /// Why.
    pub reason: &'a Input,
    /// Whether the operator insists; `None` where nobody has to.
    pub insists: Option<bool>,
    /// The field that has the keys.
    pub field: Field,
    /// The word typed.
    pub typed: &'a Input,
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
    /// What is still missing.
    pub hint: Option<&'a str>,
}

impl Form<'_> {
    /// The fields, line by line.
    pub fn lines(&self, theme: Theme, width: u16) -> Vec<FootLine> {
        let mut foot = vec![text_box(theme, "Reason", self.reason, self.field == Field::Reason, width)];
        if let Some(insists) = self.insists {
            let has_keys = self.field == Field::Insist;
            let mark = if has_keys { ">" } else { " " };
            let switch = if insists { "[x]" } else { "[ ]" };
            let told = format!("{mark} Insist {switch} against the advice; that goes on record (Space)");
            let style = if has_keys { theme.strong() } else { theme.plain() };
            foot.push(FootLine::plain(Line::styled(shown::fit(&told, usize::from(width)), style), has_keys));
        }
        if self.field == Field::Typed {
            let label = format!("Type  {}  to {}:", self.word, self.verb);
            foot.extend(typed_box(theme, &label, self.word.len(), self.typed, (true, width)));
        } else {
            foot.push(self.button_line(theme));
        }
        let hint = self.hint.map(|hint| format!("! {}", shown::line(hint))).unwrap_or_default();
        let is_active = !hint.is_empty();
        foot.push(FootLine::plain(
            Line::styled(shown::fit(&hint, usize::from(width)), theme.alarm()),
            is_active,
        ));
        foot
    }

    fn button_line(&self, theme: Theme) -> FootLine {
        let has_keys = self.field == Field::Button;
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
