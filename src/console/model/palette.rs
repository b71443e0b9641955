//! The palette: every action of a place and every saved view, found by a few letters of its name.

use crate::console::keymap::{Action, Group, Keymap, Place};
use tui_input::Input;

/// What an entry of the palette does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// An action of the keymap.
    Act(Action),
    /// Shows the saved view of a number.
    View(usize),
}

/// One entry.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What it does.
    pub doing: Doing,
    /// Its name.
    pub name: String,
    /// Its keys.
    pub keys: String,
    /// One line about it.
    pub help: String,
}

/// The palette.
#[derive(Debug, Default)]
pub struct Palette {
    /// What is typed.
    pub input: Input,
    /// Everything there is.
    pub entries: Vec<Entry>,
    /// The entries that fit what is typed, the best first.
    pub fitting: Vec<usize>,
    /// The line of the cursor.
    pub cursor: usize,
}

impl Palette {
    /// The palette of a place.
    pub fn new(keys: &Keymap, place: Place, views: impl Iterator<Item = (String, String)>) -> Self {
        let is_offered = |action: Action| action != Action::Palette;
        let of_place = keys.of(place).filter(|bound| bound.binding.group != Group::Dialog);
        let actions = of_place.filter(|bound| is_offered(bound.binding.action)).map(|bound| Entry {
            doing: Doing::Act(bound.binding.action),
            name: bound.binding.action.name(),
            keys: bound.spelled(),
            help: bound.binding.help.to_owned(),
        });
        let mut entries: Vec<Entry> = actions.collect();
        entries.extend(Self::views(views));
        Self::of(entries)
    }

    /// The saved views alone.
    pub fn of_views(views: impl Iterator<Item = (String, String)>) -> Self {
        Self::of(Self::views(views).collect())
    }

    fn of(entries: Vec<Entry>) -> Self {
        Self { fitting: (0..entries.len()).collect(), entries, ..Self::default() }
    }

    fn views(views: impl Iterator<Item = (String, String)>) -> impl Iterator<Item = Entry> {
        views.enumerate().map(|(at, (name, help))| Entry {
            doing: Doing::View(at),
            name: format!("view {name}"),
            keys: String::new(),
            help,
        })
    }

    /// What the cursor is on.
    pub fn current(&self) -> Option<&Entry> {
        self.entries.get(*self.fitting.get(self.cursor)?)
    }

    /// Looks for what is typed.
    pub fn find(&mut self) {
        let typed = self.input.value();
        let mut scored: Vec<(u32, usize)> = self
            .entries
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| {
                // A hit in the name weighs more than one in the sentence about it.
                let in_name = fit_of(typed, &entry.name).map(|fit| fit + 1_000);
                Some((in_name.or_else(|| fit_of_word(typed, &entry.help))?, at))
            })
            .collect();
        scored.sort_by_key(|(fit, at)| (std::cmp::Reverse(*fit), *at));
        (self.fitting, self.cursor) = (scored.into_iter().map(|(_, at)| at).collect(), 0);
    }
}

/// How well letters fit a name in which they have to stand in this order; `None` where they do not. Letters that begin a
/// word or follow each other weigh more; of equals the shorter name wins.
pub fn fit_of(typed: &str, name: &str) -> Option<u32> {
    let (mut fit, mut last, mut at) = (0, None, 0);
    let letters: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    for wanted in typed.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_lowercase) {
        let found = at + letters.get(at..)?.iter().position(|letter| *letter == wanted)?;
        let begins = found
            .checked_sub(1)
            .and_then(|before| letters.get(before))
            .is_none_or(|before| !before.is_alphanumeric());
        let follows = last.is_some_and(|last| found == last + 1);
        fit += 1 + if begins { 8 } else { 0 } + if follows { 4 } else { 0 };
        (last, at) = (Some(found), found + 1);
    }
    Some(fit * 4 + 100_u32.saturating_sub(u32::try_from(letters.len()).unwrap_or(100)))
}

/// The same for a sentence, in which letters here and there mean nothing: it has to have the text as it is.
fn fit_of_word(typed: &str, sentence: &str) -> Option<u32> {
    let typed = typed.trim().to_lowercase();
    sentence.to_lowercase().contains(&typed).then_some(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("ca", "check-all", "back")]
    #[case("ref", "refresh", "jump-back")]
    #[case("sel", "select", "select-all")]
    #[case("jb", "jump-back", "sort-by-job")]
    fn the_better_fit_stands_first(#[case] typed: &str, #[case] better: &str, #[case] worse: &str) {
        assert!(
            fit_of(typed, better) > fit_of(typed, worse),
            "{:?} {:?}",
            fit_of(typed, better),
            fit_of(typed, worse)
        );
    }

    #[test]
    fn letters_in_another_order_do_not_fit() {
        assert_eq!(fit_of("kc", "check"), None);
        assert!(fit_of("", "check").is_some());
    }
}
