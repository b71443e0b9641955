//! Colours and marks, from the terminal's own sixteen.
//!
//! Only red, green, cyan and magenta are used, always over the terminal's own background and always beside a word and a
//! sign: yellow and blue are unreadable on one ground or the other, white, black and the bright ones on many. The cursor
//! is reversed, which works on every ground.

use crate::domain::verdict::Verdict;
use ratatui::style::{Color, Modifier, Style};

/// How the console looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    no_color: bool,
}

impl Theme {
    /// A theme, with or without colours.
    pub fn new(no_color: bool) -> Self {
        Self { no_color }
    }

    fn colored(self, color: Color) -> Style {
        if self.no_color { Style::new() } else { Style::new().fg(color) }
    }

    /// Plain text.
    pub fn plain(self) -> Style {
        Style::new()
    }

    /// Labels and what matters less.
    pub fn quiet(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Titles and what matters more.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Letters that were typed and found. Underlined, so that they stand out on the line under the cursor as well.
    pub fn found(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
    }

    /// The line under the cursor, and the pane or field that has the keys.
    pub fn cursor(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Something that went wrong or could.
    pub fn alarm(self) -> Style {
        self.colored(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Something to know before going on.
    pub fn caution(self) -> Style {
        self.colored(Color::Magenta).add_modifier(Modifier::BOLD)
    }

    /// Something that went well.
    pub fn good(self) -> Style {
        self.colored(Color::Green)
    }

    /// Something under way.
    pub fn busy(self) -> Style {
        self.colored(Color::Cyan)
    }

    /// A verdict's colour; `None` is "not checked". Unknown looks like nothing that went well.
    pub fn verdict(self, verdict: Option<Verdict>) -> Style {
        match verdict {
            None => self.plain(),
            Some(Verdict::Duplicated | Verdict::Mismatch) => self.alarm(),
            Some(Verdict::Happened) => self.good(),
            Some(Verdict::Pending) => self.busy(),
            Some(Verdict::Failed | Verdict::NotFound) => self.plain().add_modifier(Modifier::BOLD),
            Some(Verdict::Unknown) => self.caution(),
        }
    }
}
