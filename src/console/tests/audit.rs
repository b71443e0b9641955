//! The audit's view.

use super::helpers::*;
use crate::console::Task;
use crate::console::message::{AuditMessage, Message};
use crate::ports::record::RecordFault;

#[test]
fn the_audit_is_read_page_by_page() {
    let mut console = Console::with(80, 24, 3);
    let tasks = console.press("A");
    let [Task::ReadAudit { run, before: None }] = tasks[..] else { panic!("{tasks:?}") };
    let mut all = entries(100);
    let older = all.split_off(50);
    console.send(Message::Audit(AuditMessage::Page { run, entries: all, more: true }));
    assert_eq!(console.press("j"), []);
    let tasks = console.press("G");
    let [Task::ReadAudit { run, before: Some(51) }] = tasks[..] else { panic!("{tasks:?}") };
    assert_eq!(console.press("k j"), [], "one page at a time");
    console.send(Message::Audit(AuditMessage::Page { run, entries: older, more: false }));
    assert_eq!(console.model.audit.entries.len(), 100);
    assert_eq!(console.press("G"), []);
    assert_eq!(console.model.audit.current().map(|entry| entry.seq), Some(1));
}

#[test]
fn an_entry_is_shown_in_full_with_its_secrets_hidden() {
    let mut console = Console::with(80, 40, 3);
    console.open_audit(3);
    console.press("Enter");
    let screen = console.screen();
    assert!(screen.contains("\"reason\": \"seen in the ledger\""), "{screen}");
    assert!(!screen.contains("tok-123456"));
    console.press("Esc Esc");
    assert!(console.screen().contains("-- Findings"));
}

#[test]
fn an_audit_that_cannot_be_read_says_what_to_do() {
    let mut console = Console::with(80, 24, 3);
    let tasks = console.press("A");
    let [Task::ReadAudit { run, .. }] = tasks[..] else { panic!() };
    let fault = RecordFault {
        is_absent: false,
        what: "the audit is locked".to_owned(),
        do_next: "Close the other console.".to_owned(),
    };
    console.send(Message::Audit(AuditMessage::Fault { run, fault }));
    assert!(console.screen().contains("the audit is locked"));
    assert!(console.screen().contains("Close the other console."));
}
