//! The keymap is the help, the footer and what keys do.

use super::helpers::*;
use crate::console::keymap::{Action, Group, KEYMAP, Keymap, Place};
use crate::console::model::Dialog;
use crate::console::{Message, Task, sample};
use crate::domain::verdict::Verdict;
use crossterm::event::{KeyEvent, KeyEventKind, KeyModifiers};
use rstest::rstest;

#[test]
fn every_binding_stands_in_the_help() {
    let mut console = Console::with(120, 250, 3);
    console.press("?");
    let screen = console.screen();
    for binding in KEYMAP {
        let keys = binding.keys.iter().map(|key| key.spelled()).collect::<Vec<_>>().join(" ");
        let is_told = screen.lines().any(|line| line.contains(binding.help) && line.contains(&keys));
        assert!(is_told, "{:?}: {keys} {}", binding.action, binding.help);
    }
    for group in Group::ALL {
        assert!(screen.contains(group.title()));
    }
}

#[test]
fn footers_come_from_the_table() {
    let mut console = Console::with(400, 50, 3);
    let footer = |console: &Console| console.screen().lines().last().unwrap_or_default().to_owned();
    let shows_all = |footer: &str, place: Place| {
        Keymap::default()
            .footer_of(place)
            .all(|bound| footer.contains(&format!("{} {}", bound.keys[0].spelled(), bound.binding.label)))
    };
    assert!(shows_all(&footer(&console), Place::Findings));
    console.press("Enter");
    assert!(shows_all(&footer(&console), Place::Item));
    console.press("A");
    assert!(shows_all(&footer(&console), Place::Audit));
    console.press("A d");
    assert!(shows_all(&footer(&console), Place::Reason));
}

#[test]
fn no_key_means_two_things_in_one_place() {
    let keymap = Keymap::default();
    for place in Place::ALL {
        for binding in KEYMAP.iter().filter(|binding| binding.places.contains(&place)) {
            for key in binding.keys {
                assert_eq!(
                    keymap.action_of(place, key.event()),
                    Some(binding.action),
                    "{place:?} {}",
                    key.spelled()
                );
            }
        }
        assert!(keymap.action_of(place, key_of("Ctrl-c")) == Some(Action::QuitNow), "{place:?}");
    }
}

/// Case 27: within a text box a key is text.
#[rstest]
#[case::filter("/")]
#[case::reason("d")]
fn every_printable_key_in_a_text_box_is_text(#[case] opens: &str) {
    let mut console = Console::with(80, 24, 12);
    console.press(opens);
    let printable: String = (' '..='~').collect();
    assert_eq!(console.enter(&printable), []);
    let typed = |console: &Console| match &console.model.dialog {
        Dialog::Filter(filter) => filter.input.value().to_owned(),
        Dialog::Decision(dialog) => dialog.answers.reason.value().to_owned(),
        other => panic!("the box is gone: {other:?}"),
    };
    assert_eq!(typed(&console), printable);
    assert_eq!(console.press("Backspace Home Delete"), []);
    assert_eq!(typed(&console), printable[1..printable.len() - 1]);
    assert_eq!(console.model.findings.total(), 12);
    assert_eq!(console.model.findings.counts().selected, 0);
}

/// Case 26: a single key writes nothing, and Enter alone confirms nothing.
#[rstest]
#[case("d", Verdict::Happened)]
#[case("r", Verdict::NotFound)]
#[case("e", Verdict::Unknown)]
fn enter_alone_never_confirms(#[case] key: &str, #[case] verdict: Verdict) {
    let mut console = Console::with(80, 24, 12);
    console.open_decision(key, verdict);
    console.enter("a reason");
    for _ in 0..20 {
        assert_eq!(console.press("Enter"), []);
    }
    console.press("Esc");
    let selected = console.press("a");
    assert_eq!(selected, []);
    console.press(key);
    for _ in 0..20 {
        assert_eq!(console.press("Enter"), []);
    }
}

#[test]
fn a_decision_key_opens_a_dialog_that_names_item_and_verdict() {
    let mut console = Console::with(80, 24, 12);
    console.check_as(Verdict::NotFound);
    let tasks = console.press("r");
    assert!(matches!(&tasks[..], [Task::Prepare { .. }]));
    console.answer_prepare(&tasks, |_| {});
    let screen = console.screen();
    for told in ["Retry (- not found): invoice:7:2026-05", "not found", "no start time", "financial"] {
        assert!(screen.contains(told), "{told} in\n{screen}");
    }
}

#[rstest]
#[case("j j", 2)]
#[case("G", 11)]
#[case("G g", 0)]
#[case("Down Down Up", 1)]
#[case("End", 11)]
#[case("End Home", 0)]
#[case("PgDn", 9)]
#[case("Ctrl-d", 4)]
#[case("Ctrl-d Ctrl-u", 0)]
#[case("k", 0)]
#[case("G j PgDn", 11)]
fn the_cursor_walks_and_stops_at_the_ends(#[case] keys: &str, #[case] line: usize) {
    let mut console = Console::with(80, 24, 12);
    assert_eq!(console.press(keys), []);
    assert_eq!(console.model.findings.cursor(), line);
}

#[rstest]
#[case("q", Task::Quit)]
#[case("Ctrl-c", Task::Quit)]
#[case("/ Ctrl-c", Task::Quit)]
#[case("? Ctrl-c", Task::Quit)]
#[case("Ctrl-z", Task::Suspend)]
#[case("m", Task::CaptureMouse(true))]
#[case("y", Task::Copy("invoice:7:2026-05".to_owned()))]
#[case("R", Task::Scan { run: 2 })]
fn keys_become_tasks(#[case] keys: &str, #[case] task: Task) {
    let mut console = Console::with(80, 24, 12);
    assert_eq!(console.press(keys), [task]);
}

/// Case 43: nothing is half copied.
#[test]
fn a_key_too_long_for_the_clipboard_is_not_copied() {
    let mut console = Console::with(80, 24, 1);
    let mut page = sample::page("billing", 0..1);
    let key = crate::domain::cell::Cell::text("k".repeat(10_000));
    page.found[0].finding.item.key = crate::domain::item::ItemKey::new(vec![key]);
    console.press("R");
    let scan = |message| Message::Scan(message);
    console.send(scan(crate::console::message::ScanMessage::Page { run: 2, source: "billing".into(), page }));
    console.send(scan(crate::console::message::ScanMessage::Ended { run: 2, at: sample::now() }));
    assert_eq!(console.press("y"), []);
    assert!(console.screen().contains("nothing was copied"));
}

#[test]
fn a_released_key_does_nothing() {
    let mut console = Console::with(80, 24, 12);
    let event = KeyEvent { kind: KeyEventKind::Release, ..key_of("q") };
    assert_eq!(console.send(Message::Key(event)), []);
    assert_eq!(console.send(Message::Key(KeyEvent { modifiers: KeyModifiers::ALT, ..key_of("q") })), []);
}

#[test]
fn too_small_a_terminal_takes_only_leaving() {
    let mut console = Console::with(19, 5, 12);
    assert!(console.screen().starts_with("terminal too small"));
    assert_eq!(console.press("d r e c C / A j"), []);
    assert_eq!(console.press("q"), [Task::Quit]);
}

#[test]
fn an_unchecked_finding_is_checked_first() {
    let console = Console::with(80, 24, 12);
    assert!(console.screen().lines().last().unwrap().starts_with(">c check<"));
    assert!(console.screen().contains("check it (c)"));
}

#[test]
fn read_only_says_why_a_decision_key_does_nothing() {
    let setup = crate::console::Setup { read_only: true, ..sample::setup(80, 24) };
    let mut console = Console::from_setup(setup, 3);
    for key in ["d", "r", "e"] {
        assert_eq!(console.press(key), []);
        assert!(console.screen().contains("Read-only: nothing can be decided here."));
    }
}

#[test]
fn the_mouse_selects_and_scrolls_but_decides_nothing() {
    use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
    let mut console = Console::with(80, 24, 12);
    let mouse =
        |kind, row| Message::Mouse(MouseEvent { kind, column: 10, row, modifiers: KeyModifiers::NONE });
    let top = console.state.list.area.y;
    assert_eq!(console.send(mouse(MouseEventKind::Down(MouseButton::Left), top + 2)), []);
    assert_eq!(console.model.findings.cursor(), 2);
    console.send(mouse(MouseEventKind::ScrollDown, top));
    assert_eq!(console.model.findings.cursor(), 5);
    console.press("d");
    assert_eq!(console.send(mouse(MouseEventKind::Down(MouseButton::Left), top)), []);
    assert_eq!(console.model.findings.cursor(), 5);
}

#[test]
fn pasted_text_goes_into_the_box_without_its_breaks() {
    let mut console = Console::with(80, 24, 12);
    console.press("d");
    console.send(Message::Paste("seen\nby \u{202e}ana\r\n".to_owned()));
    let Dialog::Decision(dialog) = &console.model.dialog else { panic!() };
    assert_eq!(dialog.answers.reason.value(), "seen by  ana");
}
