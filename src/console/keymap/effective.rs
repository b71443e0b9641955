//! The keymap as it is in effect: the table, with the keys that a configuration gives.

use super::{Action, Binding, Group, KEYMAP, Key, Place, key};
use crossterm::event::{KeyCode, KeyEvent};
use std::collections::BTreeMap;

/// One line of the keymap with the keys that it has now.
#[derive(Debug, Clone)]
pub struct Bound {
    /// The line of the table.
    pub binding: &'static Binding,
    /// Its keys; the first one stands in the footer.
    pub keys: Vec<Key>,
}

impl Bound {
    /// Its keys as the help spells them.
    pub fn spelled(&self) -> String {
        self.keys.iter().map(|key| key.spelled()).collect::<Vec<_>>().join(" ")
    }
}

/// The keymap in effect.
#[derive(Debug, Clone)]
pub struct Keymap {
    bound: Vec<Bound>,
}

impl Default for Keymap {
    fn default() -> Self {
        let bound = KEYMAP.iter().map(|binding| Bound { binding, keys: binding.keys.to_vec() });
        Self { bound: bound.collect() }
    }
}

impl Keymap {
    /// The table with other keys for some actions, by the actions' names.
    ///
    /// # Errors
    /// A sentence: an action that does not exist or whose keys are fixed, a key that cannot be read, or two actions on one key.
    pub fn with(keys: &BTreeMap<String, Vec<String>>) -> Result<Self, String> {
        let mut keymap = Self::default();
        for (name, spelled) in keys {
            let keys =
                spelled.iter().map(|spelled| parse_key(name, spelled)).collect::<Result<Vec<_>, _>>()?;
            let named = || KEYMAP.iter().filter(|binding| binding.action.name() == *name);
            if named().next().is_none() {
                return Err(format!(
                    "`keys.{}`: there is no such action; there are {}",
                    crate::domain::text::clean_cut(name, 40),
                    names().join(", ")
                ));
            }
            if !named().any(is_rebindable) {
                return Err(format!("`keys.{name}`: this key is fixed, so that nobody confirms by habit"));
            }
            for bound in &mut keymap.bound {
                if bound.binding.action.name() == *name && is_rebindable(bound.binding) {
                    bound.keys.clone_from(&keys);
                }
            }
        }
        keymap.clash().map_or(Ok(keymap.clone()), Err)
    }

    /// Every line.
    pub fn bound(&self) -> &[Bound] {
        &self.bound
    }

    /// What a key means in a place; `None` where it means nothing.
    pub fn action_of(&self, place: Place, event: KeyEvent) -> Option<Action> {
        let means = |bound: &&Bound| bound.keys.iter().any(|key| key.is_pressed(event));
        self.of(place).find(means).map(|bound| bound.binding.action)
    }

    /// The lines that have a word in a place's footer.
    pub fn footer_of(&self, place: Place) -> impl Iterator<Item = &Bound> {
        self.of(place).filter(|bound| !bound.binding.label.is_empty())
    }

    /// The lines of a place.
    pub fn of(&self, place: Place) -> impl Iterator<Item = &Bound> {
        self.bound.iter().filter(move |bound| bound.binding.places.contains(&place))
    }

    /// The first key of an action in a place, as a sentence spells it; the palette's way where it has none.
    pub fn told(&self, place: Place, action: Action) -> String {
        let bound = self.of(place).find(|bound| bound.binding.action == action);
        let key = bound.and_then(|bound| bound.keys.first()).map(|key| key.spelled());
        key.unwrap_or_else(|| format!(":{}", action.name()))
    }

    /// Two actions on one key, where there are.
    fn clash(&self) -> Option<String> {
        for place in Place::ALL {
            let mut seen: Vec<(Key, Action)> = Vec::new();
            for bound in self.of(place) {
                for key in &bound.keys {
                    let action = bound.binding.action;
                    if let Some((_, other)) =
                        seen.iter().find(|(known, other)| known == key && *other != action)
                    {
                        return Some(format!(
                            "`keys`: {} means both `{}` and `{}` in {}",
                            key.spelled(),
                            other.name(),
                            action.name(),
                            place.title()
                        ));
                    }
                    seen.push((*key, action));
                }
            }
        }
        None
    }
}

/// The keys of dialogs are the same everywhere: whoever learned what confirms and what leaves must not find it turned round.
fn is_rebindable(binding: &Binding) -> bool {
    binding.group != Group::Dialog && !matches!(binding.action, Action::QuitNow | Action::Suspend)
}

/// The names of all actions that may have other keys.
pub(super) fn names() -> Vec<String> {
    let mut names: Vec<String> =
        KEYMAP.iter().filter(|binding| is_rebindable(binding)).map(|binding| binding.action.name()).collect();
    names.sort();
    names.dedup();
    names
}

impl Action {
    /// Its name in a configuration and in the palette: `check-all`.
    pub fn name(self) -> String {
        let mut name = String::new();
        for letter in format!("{self:?}").chars() {
            if letter.is_ascii_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }
}

impl Place {
    /// Every place.
    pub const ALL: [Self; 24] = [
        Self::Findings,
        Self::Item,
        Self::Audit,
        Self::Entry,
        Self::Proposals,
        Self::Proposal,
        Self::Timeline,
        Self::Questions,
        Self::Duplicates,
        Self::Duplicate,
        Self::Reconcile,
        Self::Mismatch,
        Self::Triage,
        Self::Palette,
        Self::Name,
        Self::Filter,
        Self::Find,
        Self::Reason,
        Self::Insist,
        Self::Button,
        Self::Typed,
        Self::Blocked,
        Self::Writing,
        Self::Reading,
    ];

    /// How a sentence names it.
    fn title(self) -> &'static str {
        match self {
            Self::Findings => "the list of findings",
            Self::Item => "the item",
            Self::Audit => "the audit",
            Self::Entry => "an entry of the audit",
            Self::Proposals => "the list of proposals",
            Self::Proposal => "a proposal",
            Self::Timeline => "a timeline",
            Self::Questions => "the questions beside a timeline",
            Self::Duplicates => "the duplicates",
            Self::Duplicate => "a duplicate",
            Self::Reconcile => "reconcile",
            Self::Mismatch => "a line of reconcile",
            Self::Triage => "triage",
            Self::Palette => "the palette",
            Self::Name => "the name of a view",
            Self::Filter => "the filter box",
            Self::Find => "the box that finds",
            Self::Reason | Self::Insist | Self::Button | Self::Typed | Self::Blocked => "a dialog",
            Self::Writing => "decisions under way",
            Self::Reading => "a text",
        }
    }
}

/// Reads a key as the help spells it: `x`, `Ctrl-d`, `Enter`, `Space`, `PgDn`, `F5`.
fn parse_key(name: &str, spelled: &str) -> Result<Key, String> {
    let (rest, control) = match spelled.strip_prefix("Ctrl-") {
        Some(rest) if !rest.is_empty() => (rest, true),
        _ => (spelled, false),
    };
    let named = [
        ("Space", KeyCode::Char(' ')),
        ("Enter", KeyCode::Enter),
        ("Esc", KeyCode::Esc),
        ("Tab", KeyCode::Tab),
        ("Shift-Tab", KeyCode::BackTab),
        ("Up", KeyCode::Up),
        ("Down", KeyCode::Down),
        ("Left", KeyCode::Left),
        ("Right", KeyCode::Right),
        ("Home", KeyCode::Home),
        ("End", KeyCode::End),
        ("PgUp", KeyCode::PageUp),
        ("PgDn", KeyCode::PageDown),
        ("Insert", KeyCode::Insert),
        ("Delete", KeyCode::Delete),
        ("Backspace", KeyCode::Backspace),
    ];
    let mut letters = rest.chars();
    let code = match (letters.next(), letters.next()) {
        (Some(letter), None) if crate::domain::text::is_plain(letter) => Some(KeyCode::Char(letter)),
        _ => named.iter().find(|(known, _)| *known == rest).map(|(_, code)| *code),
    };
    let number = rest.strip_prefix('F').and_then(|number| number.parse().ok());
    let function = number.filter(|number| (1..=12).contains(number)).map(KeyCode::F);
    let Some(code) = code.or(function) else {
        return Err(format!(
            "`keys.{name}`: `{}` is no key; keys look like x, Ctrl-d, Enter, Space, PgDn, F5",
            crate::domain::text::clean_cut(spelled, 40)
        ));
    };
    Ok(Key { control, ..key(code) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// `check x F5; audit`: an action and its keys.
    fn keys(written: &str) -> BTreeMap<String, Vec<String>> {
        let line = |line: &str| {
            let mut words = line.split_whitespace().map(str::to_owned);
            (words.next().unwrap(), words.collect())
        };
        written.split(';').map(line).collect()
    }

    #[test]
    fn an_action_gets_the_keys_it_is_given_and_loses_those_it_had() {
        let keymap = Keymap::with(&keys("check x F5; audit")).unwrap();
        let means = |code| keymap.action_of(Place::Findings, KeyEvent::from(code));
        assert_eq!(means(KeyCode::Char('x')), Some(Action::Check));
        assert_eq!(means(KeyCode::F(5)), Some(Action::Check));
        assert_eq!(means(KeyCode::Char('c')), None);
        assert_eq!(means(KeyCode::Char('A')), None);
        assert_eq!(keymap.told(Place::Findings, Action::Check), "x");
        assert_eq!(keymap.told(Place::Findings, Action::Audit), ":audit");
    }

    #[rstest]
    #[case::unknown("chekc x", "`keys.chekc`: there is no such action; there are approve, audit,")]
    #[case::no_key("check Hyper-x", "`keys.check`: `Hyper-x` is no key;")]
    #[case::clash("check d", "`keys`: d means both `check` and `mark-done` in the list of findings")]
    #[case::with_a_dialog("page-down y", "`keys`: y means both")]
    #[case::fixed("confirm Enter", "`keys.confirm`: this key is fixed")]
    #[case::always("quit-now Q", "`keys.quit-now`: this key is fixed")]
    fn what_cannot_be_meant_is_said(#[case] written: &str, #[case] told: &str) {
        let fault = Keymap::with(&keys(written)).unwrap_err();
        assert!(fault.starts_with(told), "{fault}");
    }

    /// Whatever the help spells can be written into a configuration.
    #[test]
    fn every_key_of_the_table_can_be_spelled() {
        for key in KEYMAP.iter().flat_map(|binding| binding.keys) {
            assert_eq!(parse_key("check", &key.spelled()).as_ref(), Ok(key));
        }
    }
}
