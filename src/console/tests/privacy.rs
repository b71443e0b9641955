//! What must not be seen is not seen, and what is odd is told apart.

use super::helpers::*;
use crate::console::message::{Details, ItemMessage, Message};
use crate::console::{Setup, Task, sample, shown};
use crate::domain::cell::Cell;
use crate::domain::item::LastError;
use crate::ports::record::RecordFault;
use crate::ports::source::Payload;

const PAYLOAD: &str =
    r#"{"amount": 1970670598291982290, "password": "hunter2", "pet": "rex", "card": "4242 4242 4242 4242"}"#;

fn console() -> Console {
    let masks = [("invoice".into(), ["pet".to_owned()].into())].into_iter().collect();
    let mut console = Console::from_setup(Setup { masks, ..sample::setup(200, 60) }, 2);
    console.open_item(PAYLOAD);
    console
}

#[test]
fn payload_and_row_are_masked_and_digits_are_kept() {
    let screen = console().screen();
    for hidden in ["hunter2", "rex", "4242", "tok-123456"] {
        assert!(!screen.contains(hidden), "{hidden} in\n{screen}");
    }
    assert!(screen.contains("1970670598291982290"));
}

#[test]
fn hidden_fields_are_shown_only_once_the_look_is_on_record() {
    let mut console = console();
    let tasks = console.press("u");
    let [Task::RecordUnmask { source, key }] = &tasks[..] else { panic!("{tasks:?}") };
    assert!(!console.screen().contains("hunter2"));
    let unmasked =
        |record_fault| ItemMessage::Unmasked { source: source.clone(), key: key.clone(), record_fault };
    console.send(Message::Item(unmasked(None)));
    assert!(console.screen().contains("hunter2"));
    assert!(console.screen().contains("tok-123456"));
    console.press("u");
    assert!(!console.screen().contains("hunter2"));
    console.press("u");
    let fault =
        RecordFault { is_absent: false, what: "disk full".to_owned(), do_next: "Make room.".to_owned() };
    console.send(Message::Item(unmasked(Some(fault))));
    assert!(!console.screen().contains("hunter2"));
    assert!(console.screen().contains("stay hidden"));
}

#[test]
fn another_item_is_hidden_again() {
    let mut console = console();
    let tasks = console.press("u");
    let [Task::RecordUnmask { source, key }] = &tasks[..] else { panic!() };
    let (source, key) = (source.clone(), key.clone());
    console.send(Message::Item(ItemMessage::Unmasked { source, key, record_fault: None }));
    console.press("Esc j k Enter");
    assert!(!console.screen().contains("hunter2"));
}

#[test]
fn a_cut_document_with_fields_to_hide_is_not_shown_in_part() {
    let masks = [("invoice".into(), ["pet".to_owned()].into())].into_iter().collect();
    let mut console = Console::from_setup(Setup { masks, ..sample::setup(200, 60) }, 2);
    let tasks = console.press("Enter");
    let [Task::Open { run, .. }] = tasks[..] else { panic!() };
    let payload =
        Payload { bytes: br#"{"pet": "rex", "more"#.to_vec(), size_bytes: 5_000_000, is_closed: false };
    let details = Details { now: None, payload: Some(payload), history: Ok(Vec::new()) };
    console.send(Message::Item(ItemMessage::Opened { run, details: Box::new(details) }));
    assert!(!console.screen().contains("rex"));
    assert!(console.screen().contains("the beginning of 4.7 MB"));
    assert!(console.screen().contains("The row is gone."));
}

#[test]
fn null_empty_and_bad_text_look_different() {
    let cells = [Cell::Null, Cell::text(""), Cell::bad_text(vec![0xE9])];
    let shown: Vec<String> = cells.iter().map(|cell| shown::cell("last_error", cell, &[], false)).collect();
    assert_eq!(shown, ["NULL", "''", "\\xE9"]);
    let errors = [LastError::NotKept, LastError::Absent, LastError::of("")];
    let lines: Vec<Vec<String>> = errors.iter().map(|error| shown::error_lines(error, &[], false)).collect();
    assert_eq!(lines, [["(this source keeps no errors)"], ["NULL"], ["'' (an empty text)"]]);
}

#[test]
fn control_and_direction_signs_of_outside_text_reach_no_cell() {
    let mut console = Console::with(200, 50, 1);
    let mut found = sample::page("billing", 0..1);
    let item = &mut found.found[0].finding.item;
    item.last_error = LastError::of("\u{1b}[31mred \u{202e}abc\u{200b} password=hunter2\nsecond");
    item.key = crate::domain::item::ItemKey::new(vec![Cell::text("a\u{1b}]0;x\u{7}\nb")]);
    console.press("R");
    let message =
        crate::console::message::ScanMessage::Page { run: 2, source: "billing".into(), page: found };
    console.send(Message::Scan(message));
    console.send(Message::Scan(crate::console::message::ScanMessage::Ended { run: 2, at: sample::now() }));
    let screen = console.screen();
    assert!(
        !screen.chars().any(|c| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{200b}')),
        "{screen}"
    );
    assert!(!screen.contains("hunter2"));
    console.press("d");
    assert!(!console.screen().chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn texts_are_cut_and_wrapped_by_width() {
    assert_eq!(shown::fit("漢字漢字", 5), "漢字~");
    assert_eq!(shown::pad("漢", 4), "漢  ");
    assert_eq!(shown::wrap("one two three", 7), ["one two", "three"]);
    assert_eq!(shown::wrap("abcdefgh", 3), ["abc", "def", "gh"]);
    assert_eq!(shown::wrap("", 3), [""]);
    assert_eq!(shown::fit("abc", 0), "");
}

#[test]
fn a_payload_that_only_its_application_may_open_is_not_shown() {
    let mut console = Console::from_setup(sample::setup(200, 60), 2);
    let tasks = console.press("Enter");
    let [Task::Open { run, .. }] = tasks[..] else { panic!() };
    let payload = Payload { bytes: Vec::new(), size_bytes: 5_000, is_closed: true };
    let details = Details { now: None, payload: Some(payload), history: Ok(Vec::new()) };
    console.send(Message::Item(ItemMessage::Opened { run, details: Box::new(details) }));
    assert!(console.screen().contains("Payload (not read)"));
    assert!(console.screen().contains("4.8 KB, closed: only its own application may open it."));
}
