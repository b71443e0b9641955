//! Scans and checks: merged, counted, and late ones dropped.

use super::helpers::*;
use crate::console::message::{CheckMessage, Message, ScanMessage};
use crate::console::{Task, sample};
use crate::domain::verdict::Verdict;
use crate::ports::source::{SourceFault, SourceFaultKind};
use std::sync::Arc;

fn page(run: u64, source: &str, numbers: impl Iterator<Item = usize>) -> Message {
    Message::Scan(ScanMessage::Page { run, source: source.into(), page: sample::page(source, numbers) })
}

fn ended(run: u64) -> Message {
    Message::Scan(ScanMessage::Ended { run, at: sample::now() })
}

fn fault(run: u64, source: &str) -> Message {
    let fault = SourceFault {
        kind: SourceFaultKind::Unreachable,
        what: "the file is gone".to_owned(),
        do_next: "Look at the path.".to_owned(),
        may_have_written: false,
    };
    Message::Scan(ScanMessage::Fault { run, source: source.into(), fault })
}

#[test]
fn a_scan_keeps_cursor_selection_and_verdicts() {
    let mut console = Console::with(80, 24, 12);
    console.press("j j");
    console.check_as(Verdict::Happened);
    let key = console.current().finding.item.key.as_str().to_owned();
    console.press("Space k");
    let [Task::Scan { run }] = console.press("R")[..] else { panic!() };
    console.send(page(run, "billing", 0..20));
    console.send(page(run, "mailer", 0..20));
    console.send(ended(run));
    assert_eq!(console.current().finding.item.key.as_str(), key);
    let row = console.model.findings.current().unwrap();
    assert!(row.selected);
    assert_eq!(row.verdict(), Some(Verdict::Happened));
    assert_eq!(console.model.findings.total(), 20);
}

#[test]
fn what_a_scan_does_not_see_again_is_gone_but_not_what_could_not_be_read() {
    let mut console = Console::with(80, 24, 12);
    console.press("R");
    console.send(page(2, "billing", 0..1));
    console.send(fault(2, "mailer"));
    assert_eq!(console.model.findings.total(), 12, "nothing goes before the scan has ended");
    console.send(ended(2));
    assert_eq!(console.model.findings.total(), 1 + 4);
    let screen = console.screen();
    assert!(screen.contains("! mailer NOT READ"), "{screen}");
    assert!(screen.contains("mailer: the file is gone. Look at the path."), "{screen}");
}

#[test]
fn news_of_an_older_scan_is_dropped() {
    let mut console = Console::with(80, 24, 3);
    console.press("R R");
    console.send(page(2, "billing", 0..12));
    console.send(ended(2));
    assert_eq!(console.model.findings.total(), 3);
    assert!(console.screen().contains("reading"));
}

#[test]
fn a_row_that_changed_loses_its_verdict() {
    let mut console = Console::with(80, 24, 1);
    console.check_as(Verdict::Happened);
    console.press("R");
    let mut changed = sample::page("billing", 0..1);
    changed.found[0].finding.item.status = "failed".into();
    console.send(Message::Scan(ScanMessage::Page { run: 3, source: "billing".into(), page: changed }));
    assert_eq!(console.model.findings.current().unwrap().verdict(), None);
}

#[test]
fn checks_count_stop_and_drop_late_answers() {
    let mut console = Console::with(80, 24, 12);
    let tasks = console.press("C");
    let [Task::Check { run, found }] = &tasks[..] else { panic!() };
    let answer = |number: usize| CheckMessage::Done {
        run: *run,
        found: Arc::clone(&found[number]),
        checked: Arc::new(sample::checked(&found[number], Verdict::Unknown)),
    };
    console.send(Message::Check(answer(0)));
    assert!(console.screen().contains("checks 1/12 (1 unknown)"));
    assert_eq!(console.press("Esc"), [Task::CancelChecks]);
    console.send(Message::Check(CheckMessage::Ended { run: *run, record_fault: None }));
    assert!(console.screen().contains("Stopped: 1 of 12 checked, 1 unknown."));
    console.send(Message::Check(answer(1)));
    assert_eq!(console.model.findings.counts().unchecked, 11);
}

#[test]
fn a_check_asked_for_while_others_run_comes_next() {
    let mut console = Console::with(80, 24, 12);
    let first = console.press("c");
    assert_eq!(console.press("j c c"), []);
    let [Task::Check { run, .. }] = first[..] else { panic!() };
    let next = console.send(Message::Check(CheckMessage::Ended { run, record_fault: None }));
    let [Task::Check { found, .. }] = &next[..] else { panic!("{next:?}") };
    assert_eq!(found.len(), 1);
}

#[test]
fn a_clock_gap_of_more_than_two_seconds_is_shown() {
    let mut console = Console::with(80, 24, 3);
    console.press("R");
    let mut page = sample::page("billing", 0..3);
    page.clock_gap = chrono::TimeDelta::minutes(-20);
    console.send(Message::Scan(ScanMessage::Page { run: 2, source: "billing".into(), page }));
    assert!(console.screen().contains("billing (clock 20 min behind)"), "{}", console.screen());
}
