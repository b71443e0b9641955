//! How far a command is: one line on the error output where that is a terminal, nothing otherwise.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The line: what, a bar of 24 columns, how many of how many, and a word.
const TEMPLATE: &str = "{prefix} {bar:24} {pos}/{len} {msg}";
/// How often the line is drawn at most, a second.
const DRAWS_PER_SECOND_MAX: u8 = 8;

/// A progress line. It is taken away when this is dropped, so that it never stands between two results.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A line for so many steps of something ("checking").
    pub fn new(what: &str, steps: usize) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND_MAX);
        Self::on(target, what, steps)
    }

    fn on(target: ProgressDrawTarget, what: &str, steps: usize) -> Self {
        let bar = ProgressBar::with_draw_target(u64::try_from(steps).ok(), target);
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style.progress_chars("## "));
        }
        bar.set_prefix(crate::domain::text::clean(what));
        Self { bar }
    }

    /// One more step is done.
    pub fn advance(&self) {
        self.bar.inc(1);
    }

    /// Says beside the bar what is going on.
    pub fn tell(&self, what: &str) {
        self.bar.set_message(crate::domain::text::clean(what));
    }

    /// Writes something with the line out of the way.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_and_nothing_is_shown_without_a_terminal() {
        let progress = Progress::on(ProgressDrawTarget::hidden(), "checking", 3);
        progress.advance();
        progress.tell("inv-\u{1b}[31m41");
        assert_eq!(progress.bar.position(), 1);
        assert!(!progress.bar.message().contains('\u{1b}'));
        assert_eq!(progress.aside(|| 7), 7);
    }

    #[test]
    fn the_template_can_be_read() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
