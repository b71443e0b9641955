//! Triage, groups, the way back, views and the palette, by keys.

use super::helpers::*;
use crate::console::keymap::{Action, Group, KEYMAP, Keymap, Place};
use crate::console::message::{Message, ScanMessage};
use crate::console::model::Dialog;
use crate::console::model::groups::Grouping;
use crate::console::{SavedView, Setup, Task, sample};
use crate::domain::verdict::Verdict;
use rstest::rstest;
use std::collections::{BTreeMap, HashSet};

fn checked(width: u16, height: u16) -> Console {
    let mut console = Console::with(width, height, 12);
    let tasks = console.press("C");
    console.answer_checks(&tasks, |number| Verdict::ALL[number % Verdict::ALL.len()]);
    console
}

fn typed(console: &Console) -> &str {
    console.model.findings.typed()
}

#[test]
fn a_count_is_a_filter_by_one_key_and_again_undoes_it() {
    let mut console = checked(80, 24);
    assert_eq!(console.press("t a"), []);
    assert_eq!(typed(&console), "verdict:duplicated");
    assert_eq!(console.model.findings.shown_len(), 2);
    console.press("c");
    assert_eq!(typed(&console), "verdict:duplicated,happened");
    console.press("a");
    assert_eq!(typed(&console), "verdict:happened");
    console.press("j Enter");
    assert_eq!(
        typed(&console),
        "verdict:happened,mismatch",
        "the cursor follows the letter, and goes on from there"
    );
    console.press("Esc");
    assert!(matches!(console.model.dialog, Dialog::None));
    assert_eq!(typed(&console), "verdict:happened,mismatch", "closing keeps the filter");
}

/// Each count is as many as its filter lets through, alone.
#[test]
fn every_count_is_what_its_filter_shows() {
    let mut console = checked(80, 24);
    console.press("t");
    let Dialog::Triage(triage) = &console.model.dialog else { panic!() };
    let tallies = triage.tallies.clone();
    assert!(tallies.len() > 15);
    console.press("Esc");
    for tally in tallies {
        let filter = crate::console::model::facets::toggled("", tally.facet, tally.value.as_deref());
        console.model.findings.set_filter(&filter).unwrap();
        assert_eq!(console.model.findings.shown_len(), tally.total, "{filter}");
        assert!(tally.total > 0);
    }
}

#[test]
fn what_nobody_checked_is_a_filter_too() {
    let mut console = Console::with(80, 24, 12);
    console.check_as(Verdict::Happened);
    console.press("t");
    let told = console.screen().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("b [ ] . unchecked 11"), "{told}");
    console.press("b");
    assert_eq!(console.model.findings.shown_len(), 11);
    console.press("b");
    assert_eq!(typed(&console), "");
}

/// Money: decimals, by currency, only what providers told.
#[test]
fn money_at_stake_follows_checks_and_decisions() {
    let mut console = Console::with(120, 40, 12);
    console.press("t");
    assert!(!console.screen().contains("BRL"));
    console.press("Esc");
    console.check_as(Verdict::Duplicated);
    assert!(console.screen().contains("10.41 BRL too much  20.82 BRL moved"), "{}", console.screen());
    console.press("t");
    assert!(console.screen().contains("20.82 BRL moved for 1 item, 10.41 BRL of it too much"));
    console.press("Esc R");
    console.send(Message::Scan(ScanMessage::Ended { run: 3, at: sample::now() }));
    assert!(console.model.findings.is_empty());
    assert!(console.model.findings.counts().stake.is_empty(), "what left the list takes its money along");
}

#[test]
fn the_item_says_why_it_stands_where_it_stands() {
    let console = Console::with(200, 60, 12);
    let screen = console.screen();
    assert!(
        screen.contains("hurts      nobody has asked yet whether it happened; a repeat costs somebody"),
        "{screen}"
    );
}

#[rstest]
#[case(1, Grouping::Error, 3)]
#[case(2, Grouping::Hour, 3)]
#[case(3, Grouping::Kind, 2)]
#[case(4, Grouping::Source, 2)]
#[case(5, Grouping::Reference, 1)]
fn groups_are_walked_through_with_one_key(
    #[case] times: usize,
    #[case] grouping: Grouping,
    #[case] groups: usize,
) {
    let mut console = Console::with(80, 24, 12);
    console.press(&"z ".repeat(times));
    assert_eq!(console.model.findings.grouping(), grouping);
    assert_eq!(console.model.findings.groups().list.len(), groups);
    assert_eq!(console.model.findings.lines_len(), groups, "all are folded at first");
    console.press("Z");
    assert_eq!(console.model.findings.lines_len(), groups + 12);
    console.press(&"z ".repeat(6 - times));
    assert_eq!(console.model.findings.grouping(), Grouping::None);
    assert_eq!(console.model.findings.lines_len(), 12);
}

#[test]
fn a_group_unfolds_folds_and_is_selected_whole() {
    let mut console = Console::with(80, 24, 12);
    console.press("z z z j");
    assert!(console.model.findings.current().is_none());
    console.press("Enter");
    assert_eq!(console.model.findings.lines_len(), 2 + 4);
    console.press("Space");
    assert_eq!(console.model.findings.counts().selected, 4);
    let selected: HashSet<_> = console
        .model
        .findings
        .shown()
        .filter(|row| row.selected)
        .map(|row| row.found.finding.item.kind.to_string())
        .collect();
    assert_eq!(selected, HashSet::from(["email".to_owned()]));
    assert!(matches!(console.press("c")[..], [Task::Check { ref found, .. }] if found.len() == 4));
    console.press("k Enter");
    assert_eq!(
        console.model.findings.lines_len(),
        2,
        "on a row of a group, the item opens; on its line it folds"
    );
}

/// Whoever groups does not lose the finding that is looked at.
#[test]
fn the_cursor_goes_to_the_group_of_its_finding_and_back() {
    let mut console = Console::with(80, 24, 12);
    console.press("G");
    let key = console.current().finding.item.key.clone();
    console.press("z z z");
    let group = console.model.findings.current_group().unwrap().clone();
    assert!(console.model.findings.members(&group).any(|row| row.found.finding.item.key == key));
    console.press("R");
    console.send(Message::Scan(ScanMessage::Page {
        run: 2,
        source: "billing".into(),
        page: sample::page("billing", 0..20),
    }));
    assert_eq!(
        console.model.findings.current_group().map(|group| group.key),
        Some(group.key),
        "news move no cursor"
    );
}

#[test]
fn a_decision_on_a_folded_group_asks_to_select_it_first() {
    let mut console = Console::with(80, 24, 12);
    assert_eq!(console.press("z d"), []);
    assert!(console.screen().contains("Select the group first (Space)"), "{}", console.screen());
}

#[test]
fn filters_and_groups_are_undone_and_done_again() {
    let mut console = Console::with(80, 24, 12);
    console.press("j j");
    let key = console.current().finding.item.key.clone();
    console.press("/");
    console.enter("email");
    console.press("Enter z z z");
    console.press("[");
    assert_eq!((typed(&console), console.model.findings.grouping()), ("email", Grouping::Hour));
    console.press("[ [ [");
    assert_eq!((typed(&console), console.model.findings.grouping()), ("", Grouping::None));
    assert_eq!(console.current().finding.item.key, key, "the cursor is where it was");
    console.press("[");
    assert!(console.screen().contains("there is nothing to undo"));
    console.press("]");
    assert_eq!(typed(&console), "email");
    console.press("] ] ]");
    assert_eq!(console.model.findings.grouping(), Grouping::Kind);
    console.press("Ctrl-o Esc");
    assert_eq!(typed(&console), "", "Esc drops the filter, which can be undone as well");
    console.press("[");
    assert_eq!(typed(&console), "email");
}

fn with_views() -> Console {
    let view = |name: &str, filter: &str, group: &str| {
        SavedView::read(name, (Some(filter), Some("age"), Some(group)), true).unwrap()
    };
    let views = vec![view("money", "risk:financial", "none"), view("mails", "kind:email", "error")];
    Console::from_setup(Setup { views, ..sample::setup(80, 24) }, 12)
}

#[test]
fn a_view_is_shown_saved_and_shown_again() {
    let mut console = with_views();
    console.press("v");
    console.enter("mail");
    console.press("Enter");
    assert_eq!((typed(&console), console.model.findings.grouping()), ("kind:email", Grouping::Error));
    assert!(console.model.findings.sort().reversed);
    console.press("t");
    console.press("Esc V");
    assert_eq!(console.press("Enter"), [], "no name, no view");
    console.enter("night");
    let tasks = console.press("Enter");
    let [Task::SaveView(view)] = &tasks[..] else { panic!("{tasks:?}") };
    assert_eq!(
        (&*view.name, &*view.outlook.filter, view.outlook.grouping),
        ("night", "kind:email", Grouping::Error)
    );
    console.press("[");
    assert_eq!(typed(&console), "");
    console.press(":");
    console.enter("night");
    console.press("Enter");
    assert_eq!(typed(&console), "kind:email");
}

#[rstest]
#[case(
    Some("verdict:hapened"),
    None,
    None,
    "`views.x.filter`: `verdict:hapened`: did you mean `happened`? there are"
)]
#[case(None, Some("size"), None, "`views.x.sort`: there are worst, age,")]
#[case(None, None, Some("day"), "`views.x.group`: there are none, error, hour,")]
fn a_view_that_cannot_be_is_said(
    #[case] filter: Option<&str>,
    #[case] sort: Option<&str>,
    #[case] group: Option<&str>,
    #[case] told: &str,
) {
    let fault = SavedView::read("x", (filter, sort, group), false).unwrap_err();
    assert!(fault.starts_with(told), "{fault}");
}

/// Every action of the keymap that is no answer inside a dialog stands in the palette of a place where it means something,
/// and does there what its key does.
#[test]
fn every_action_is_in_the_palette() {
    let mut offered = HashSet::new();
    for way in ["", "Enter", "A", "A Enter", "P", "P Enter", "T", "D", "M"] {
        let mut console = Console::with(80, 24, 12);
        console.hear_of_proposal(crate::domain::decision::Choice::Retry, Verdict::Unknown);
        for key in way.split(' ') {
            if key == "A" {
                console.open_audit(3);
            } else {
                console.press(key);
            }
        }
        let place = console.model.place();
        console.press(":");
        let Dialog::Palette(palette) = &console.model.dialog else { panic!("{place:?}") };
        let names: HashSet<String> = palette.entries.iter().map(|entry| entry.name.clone()).collect();
        for binding in
            KEYMAP.iter().filter(|binding| binding.places.contains(&place) && binding.group != Group::Dialog)
        {
            let is_it = binding.action == Action::Palette;
            assert_eq!(names.contains(&binding.action.name()), !is_it, "{:?} in {place:?}", binding.action);
        }
        offered.extend(names);
    }
    for binding in
        KEYMAP.iter().filter(|binding| binding.group != Group::Dialog && binding.action != Action::Palette)
    {
        assert!(offered.contains(&binding.action.name()), "{:?}", binding.action);
    }
}

#[test]
fn the_palette_does_what_it_finds() {
    let mut console = Console::with(80, 24, 12);
    console.press(":");
    console.enter("check-all");
    assert!(matches!(console.press("Enter")[..], [Task::Check { .. }]));
    console.press(":");
    console.enter("zzzz");
    assert_eq!(console.press("Enter"), [], "nothing found, nothing done");
    console.press("Esc : Down Up Esc");
    assert!(matches!(console.model.dialog, Dialog::None));
}

/// Help, footer and palette are drawn from the keys in effect.
#[test]
fn other_keys_are_told_everywhere() {
    let written = BTreeMap::from([("check".to_owned(), vec!["x".to_owned()])]);
    let keys = Keymap::with(&written).unwrap();
    let mut console = Console::from_setup(Setup { keys, ..sample::setup(120, 250) }, 12);
    assert!(console.screen().contains(">x check<"));
    assert!(console.screen().contains("check it (x)"));
    assert_eq!(console.press("c"), []);
    console.press("?");
    assert!(
        console
            .screen()
            .lines()
            .any(|line| line.contains("x               ask the provider of this finding"))
    );
    console.press("Esc :");
    assert!(console.screen().contains("> check              x"));
    console.press("Esc");
    assert!(matches!(console.press("x")[..], [Task::Check { .. }]));
}

/// The page of the console names every action that may have other keys, and no other.
#[test]
fn the_documentation_has_every_name() {
    let page = include_str!("../../../docs/console.md");
    let (_, list) = page.split_once("The names:").unwrap();
    let told: HashSet<&str> = list.split('`').skip(1).step_by(2).collect();
    let fixed = [Action::QuitNow, Action::Suspend];
    let names: HashSet<String> = KEYMAP
        .iter()
        .filter(|binding| binding.group != Group::Dialog && !fixed.contains(&binding.action))
        .map(|binding| binding.action.name())
        .collect();
    assert_eq!(told, names.iter().map(String::as_str).collect());
}

/// A click on a count filters by it; one on the list of the palette only puts the cursor there.
#[test]
fn the_mouse_picks_a_count() {
    use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
    let mut console = checked(80, 24);
    console.press("t");
    let line = console.screen().lines().position(|line| line.contains("+ happened")).unwrap();
    let click = |row| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        Message::Mouse(MouseEvent { kind, column: 10, row, modifiers: KeyModifiers::NONE })
    };
    assert_eq!(console.send(click(u16::try_from(line).unwrap())), []);
    assert_eq!(typed(&console), "verdict:happened");
    console.press("Esc :");
    assert_eq!(console.send(click(3)), []);
    let Dialog::Palette(palette) = &console.model.dialog else { panic!() };
    assert_eq!(palette.cursor, 2);
    assert_eq!(Place::Palette, console.model.place());
}
