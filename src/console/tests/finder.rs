//! Fuzzy find: by some letters to a finding.

use super::helpers::*;
use crate::console::message::{Message, ScanMessage};
use crate::console::model::finder::{Finder, HITS_MAX};
use crate::console::model::groups::Grouping;
use crate::console::model::{Dialog, Focus};
use crate::console::sample;
use crate::workflow::Found;

fn finder(console: &Console) -> &Finder {
    let Dialog::Find(finder) = &console.model.dialog else { panic!("{:?}", console.model.dialog) };
    finder
}

fn keys(finder: &Finder) -> Vec<String> {
    finder.hits.iter().map(|found| found.finding.item.key.as_str().to_owned()).collect()
}

fn current(console: &Console) -> String {
    console.current().finding.item.key.as_str().to_owned()
}

/// A page with one finding more, changed.
fn bring(console: &mut Console, number: usize, change: impl FnOnce(&mut Found)) {
    let after = number + 1;
    let mut page = sample::page("billing", number..after);
    change(&mut page.found[0]);
    console.send(Message::Scan(ScanMessage::Page { run: 2, source: "billing".into(), page }));
}

#[test]
fn some_letters_lead_to_a_finding() {
    let mut console = Console::with(80, 24, 40);
    console.press("f");
    assert_eq!(finder(&console).hits.len(), HITS_MAX, "with nothing typed, the first of the list");
    console.enter("inv9");
    assert_eq!(keys(finder(&console))[0], "invoice:9:2026-05");
    console.press("Enter");
    assert_eq!(current(&console), "invoice:9:2026-05");
    assert!(matches!(console.model.dialog, Dialog::None));
}

#[test]
fn down_and_up_choose_and_escape_goes_back_to_where_one_was() {
    let mut console = Console::with(80, 24, 40);
    console.press("j j j");
    let before = current(&console);
    console.press("f");
    console.enter("invoice");
    let found = keys(finder(&console));
    console.press("Down Down Up");
    assert_eq!(finder(&console).cursor, 1);
    console.press("Esc");
    assert_eq!(current(&console), before);
    console.press("f");
    console.enter("invoice");
    console.press("Down Enter");
    assert_eq!(current(&console), found[1]);
}

#[test]
fn it_is_in_the_palette_and_in_the_help_and_works_from_the_item() {
    let mut console = Console::with(80, 24, 12);
    console.press(":");
    console.enter("find");
    console.press("Enter");
    console.enter("email5");
    console.press("Enter");
    assert_eq!(current(&console), "email:5:2026-05");
    console.press("Enter f");
    console.enter("inv3");
    console.press("Enter");
    assert_eq!((current(&console), console.model.focus), ("invoice:3:2026-05".to_owned(), Focus::List));
    console.resize(120, 60);
    console.press("?");
    assert!(console.screen().contains("find a finding by some letters"), "{}", console.screen());
}

#[test]
fn a_click_puts_the_cursor_on_a_hit() {
    use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
    let mut console = Console::with(80, 24, 12);
    console.press("f");
    let row = console.state.dialog.area.y + 3;
    let kind = MouseEventKind::Down(MouseButton::Left);
    console.send(Message::Mouse(MouseEvent { kind, column: 5, row, modifiers: KeyModifiers::NONE }));
    assert_eq!(finder(&console).cursor, 3);
}

#[test]
fn a_folded_group_opens_and_others_stay_folded() {
    let mut console = Console::with(80, 24, 12);
    console.press("z z z f");
    assert_eq!(console.model.findings.grouping(), Grouping::Kind);
    console.enter("email:8");
    console.press("Enter");
    assert_eq!(current(&console), "email:8:2026-05");
    assert_eq!(console.model.findings.lines_len(), 2 + 4);
    console.press("f");
    console.enter("email:5");
    console.press("Enter");
    assert_eq!(current(&console), "email:5:2026-05", "a group that is open stays so");
}

#[test]
fn a_filter_goes_only_where_it_hides_what_was_found_and_comes_back() {
    let mut console = Console::with(80, 24, 12);
    console.press("/");
    console.enter("email");
    console.press("Enter f");
    console.enter("email:8");
    console.press("Enter");
    assert_eq!((current(&console), console.model.findings.typed()), ("email:8:2026-05".to_owned(), "email"));
    console.press("f");
    console.enter("invoice:9");
    console.press("Enter");
    assert_eq!((current(&console), console.model.findings.typed()), ("invoice:9:2026-05".to_owned(), ""));
    assert!(console.screen().contains("[ brings the filter back"), "{}", console.screen());
    console.press("[");
    assert_eq!((current(&console), console.model.findings.typed()), ("email:8:2026-05".to_owned(), "email"));
}

#[test]
fn references_are_found_and_hostile_names_are_cleaned() {
    let mut console = Console::with(120, 40, 12);
    console.press("R");
    bring(&mut console, 30, |found| found.reference = Ok("ch_\u{1b}[31mzebra\u{202e}x".into()));
    console.press("f");
    console.enter("ZEBra");
    assert_eq!(keys(finder(&console)), ["invoice:30:2026-05"]);
    let screen = console.screen();
    assert!(screen.contains("zebra") && !screen.contains(['\u{1b}', '\u{202e}']), "{screen}");
}

/// What is typed on looks only at what fitted before, and finds what a look at all would.
#[test]
fn typing_letter_by_letter_finds_what_pasting_finds() {
    for typed in ["inv 20", "e7", "26-0", "o:1:2", "x", "IN OI"] {
        let (mut by_letter, mut pasted) = (Console::with(80, 24, 60), Console::with(80, 24, 60));
        by_letter.press("f");
        by_letter.enter(typed);
        pasted.press("f");
        pasted.send(Message::Paste(typed.to_owned()));
        assert_eq!(keys(finder(&by_letter)), keys(finder(&pasted)), "{typed}");
        by_letter.press("Backspace Backspace");
        pasted.press("Backspace Backspace");
        assert_eq!(keys(finder(&by_letter)), keys(finder(&pasted)), "{typed} less two letters");
    }
}

/// What comes, changes or goes while the box is open: row numbers are others then.
#[test]
fn news_are_found_and_the_cursor_stays_on_its_finding() {
    let mut console = Console::with(80, 24, 12);
    console.press("R f");
    console.enter("invoice:1");
    console.press("Down");
    let at = finder(&console).current();
    bring(&mut console, 100, |_| {});
    assert!(keys(finder(&console)).contains(&"invoice:100:2026-05".to_owned()));
    assert_eq!(finder(&console).current(), at);
    console.send(Message::Scan(ScanMessage::Ended { run: 2, at: sample::now() }));
    assert_eq!(keys(finder(&console)), ["invoice:100:2026-05"], "the others are gone");
    console.press("Enter");
    assert_eq!(current(&console), "invoice:100:2026-05");
}

#[test]
fn with_no_findings_it_says_so() {
    let mut console = Console::with(80, 24, 0);
    console.press("f");
    assert!(console.screen().contains("There are no findings."));
    console.press("Enter");
    assert!(matches!(console.model.dialog, Dialog::Find(_)));
}
