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
        on_record: true,
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

/// A verdict that nobody will find later says so, on its line and in full, until it is asked again and on record.
#[test]
fn a_verdict_that_is_not_on_record_keeps_its_mark() {
    let mut console = Console::with(80, 24, 12);
    let tasks = console.press("c");
    let [Task::Check { run, found }] = &tasks[..] else { panic!() };
    let checked = Arc::new(sample::checked(&found[0], Verdict::Happened));
    let done = CheckMessage::Done { run: *run, found: Arc::clone(&found[0]), checked, on_record: false };
    console.send(Message::Check(done));
    let what = "audit a.db: the disk is full, nothing was written".to_owned();
    let fault =
        crate::ports::record::RecordFault { is_absent: false, what, do_next: "Make room.".to_owned() };
    console.send(Message::Check(CheckMessage::Ended { run: *run, record_fault: Some(fault) }));
    assert!(console.screen().contains("1 check is NOT ON RECORD: audit a.db: the disk is full"));
    console.press("G g");
    let screen = console.screen();
    assert!(
        screen.contains("RECORD NOT WRITTEN") && screen.contains("! Not on record: audit a.db"),
        "{screen}"
    );
    assert!(screen.lines().any(|line| line.starts_with("> u+ happened")), "{screen}");
    assert!(screen.contains("u NOT ON RECORD"), "{screen}");
    // Nothing is decided on it in bulk before it is asked again.
    console.press("a d");
    assert!(console.screen().contains("verdict not on record: check it again"), "{}", console.screen());
    console.press("Esc a");
    let tasks = console.press("c");
    console.answer_checks(&tasks, |_| Verdict::Happened);
    let screen = console.screen();
    assert!(!screen.contains("NOT ON RECORD") && !screen.contains("RECORD NOT WRITTEN"), "{screen}");
    assert!(screen.lines().any(|line| line.starts_with(">  + happened")), "{screen}");
}

/// A dialog asks the provider too; what it learnt goes on record with the decision, and not when it is left.
#[test]
fn what_a_dialog_learnt_and_nobody_decided_is_not_on_record() {
    let mut console = Console::with(80, 24, 12);
    let tasks = console.press("d");
    console.answer_prepare(&tasks, |_| {});
    console.press("Esc Esc");
    assert!(console.model.findings.current().unwrap().is_unrecorded);
    let mut console = Console::with(80, 24, 12);
    console.open_decision("d", Verdict::Happened);
    console.press("Esc");
    assert!(
        !console.model.findings.current().unwrap().is_unrecorded,
        "the check of the list was fresh enough"
    );
}

/// What another operator escalated is shown as what one escalated here: on the line, in full, in the dialog and in `D`.
#[test]
fn what_somebody_else_escalated_is_shown_by_whom_and_when() {
    use crate::console::model::matching::Matching;
    use crate::domain::escalated::Escalated;
    let mut console = Console::with(80, 24, 12);
    let tasks = console.press("C");
    console.answer_checks(&tasks, |_| Verdict::Duplicated);
    let item = sample::found(0).finding.item;
    let row = crate::domain::item::Row { columns: item.fields.clone() };
    let escalated = Escalated::made(Some(14), "ben", sample::now(), [&row]);
    let named = (Arc::clone(&item.source), item.key.shared());
    console.send(Message::Escalations(Ok(vec![(named, escalated)])));
    let line = |console: &Console| {
        let screen = console.screen();
        screen.lines().find(|line| line.contains("invoice:0:2026-05 ")).map(str::to_owned).unwrap()
    };
    assert!(line(&console).contains("escalated"), "{}", console.screen());
    console.model.findings.go_to(&crate::console::model::findings::Identity::of(&item));
    console.draw();
    let told = "escalated by ben at 2026-05-04T03:00:00Z";
    let flat = |console: &Console| console.screen().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(&console).contains(told), "{}", console.screen());
    assert!(!console.screen().contains(">e escalate<"), "{}", console.screen());
    let tasks = console.press("e");
    console.answer_prepare(&tasks, |_| {});
    assert!(flat(&console).contains("It was escalated by ben"), "{}", console.screen());
    console.press("Esc");
    console.open_matching(Matching::Duplicates);
    assert!(line(&console).contains("escalated"), "on 80 columns too: {}", console.screen());
    // What cannot be read stays as it was known, and that it could not be read is told.
    let what = "audit a.db: stayed locked by another program for 10 s".to_owned();
    let fault =
        crate::ports::record::RecordFault { is_absent: false, what, do_next: "Try again.".to_owned() };
    console.send(Message::Escalations(Err(fault)));
    assert!(console.screen().contains("RECORD NOT READ"), "{}", console.screen());
    assert!(line(&console).contains("escalated"), "{}", console.screen());
}
