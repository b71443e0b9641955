//! A console that is left open: read again by itself, nothing lost, news told, old facts marked, plans fixed.

use super::helpers::*;
use crate::console::message::{Message, ScanMessage};
use crate::console::{Setup, Task, sample};
use crate::domain::verdict::Verdict;
use crate::ports::source::{SourceFault, SourceFaultKind};
use chrono::TimeDelta;

fn live() -> Console {
    let setup = Setup { refresh: Some(TimeDelta::seconds(30)), ..sample::setup(80, 24) };
    Console::from_setup(setup, 12)
}

fn tick(console: &mut Console, seconds: i64) -> Vec<Task> {
    console.send(Message::Tick(sample::now() + TimeDelta::seconds(seconds)))
}

/// A scan that finds so many.
fn scanned(console: &mut Console, run: u64, findings: usize, seconds: i64) {
    for source in ["billing", "mailer"] {
        let page = sample::page(source, 0..findings);
        console.send(Message::Scan(ScanMessage::Page { run, source: source.into(), page }));
    }
    let at = sample::now() + TimeDelta::seconds(seconds);
    console.send(Message::Scan(ScanMessage::Ended { run, at }));
}

#[test]
fn it_reads_again_when_due_and_never_twice_at_once() {
    let mut console = live();
    assert_eq!(tick(&mut console, 29), []);
    assert_eq!(tick(&mut console, 30), [Task::Scan { run: 2 }]);
    assert_eq!(tick(&mut console, 100), [], "one is under way");
    scanned(&mut console, 2, 12, 101);
    assert_eq!(tick(&mut console, 130), []);
    assert_eq!(tick(&mut console, 131), [Task::Scan { run: 3 }]);
    let mut quiet = Console::with(80, 24, 12);
    assert_eq!(tick(&mut quiet, 100_000), [], "only where the configuration says so");
}

#[test]
fn nothing_is_read_again_while_decisions_are_written() {
    let mut console = live();
    console.open_decision("d", Verdict::Happened);
    console.enter("seen");
    console.press("Tab y");
    assert_eq!(tick(&mut console, 1_000), []);
}

#[test]
fn place_and_selection_stay_and_news_are_told_until_a_key_is_pressed() {
    let mut console = live();
    console.press("j j Space");
    let key = console.current().finding.item.key.clone();
    tick(&mut console, 30);
    scanned(&mut console, 2, 15, 31);
    assert_eq!(console.current().finding.item.key, key);
    assert_eq!(console.model.findings.counts().selected, 1);
    let screen = console.screen();
    assert!(screen.contains("15 findings  3 new"), "{screen}");
    assert!(
        screen.contains("3 new findings came since you last pressed a key; they are marked N."),
        "{screen}"
    );
    console.press("/");
    console.enter("12:2026");
    console.press("Enter");
    let screen = console.screen();
    assert!(screen.contains("> N. unchecked") && !screen.contains("3 new"), "{screen}");
}

#[test]
fn the_first_reading_is_no_news() {
    let console = live();
    assert!(!console.screen().contains("new"));
    assert!(console.model.findings.shown().all(|row| !console.model.is_new(row)));
}

#[test]
fn old_checks_and_earlier_readings_are_marked() {
    let mut console = Console::with(80, 24, 12);
    console.check_as(Verdict::Happened);
    tick(&mut console, 200);
    assert!(!console.screen().contains("  o+ happened"));
    tick(&mut console, 400);
    let screen = console.screen();
    assert!(screen.contains("> o+ happened"), "{screen}");
    assert!(screen.contains("read 6m ago"), "{screen}");
    console.press("R");
    let fault = SourceFault {
        kind: SourceFaultKind::Unreachable,
        what: "the file is gone".to_owned(),
        do_next: "Look at the path.".to_owned(),
        may_have_written: false,
    };
    let source = console.current().finding.item.source.clone();
    console.send(Message::Scan(ScanMessage::Fault { run: 3, source, fault }));
    let screen = console.screen();
    assert!(screen.contains("> !+ happened"), "{screen}");
}

/// A plan is fixed when its dialog opens: what comes later is named, and not written.
#[test]
fn newcomers_are_named_and_not_included() {
    let mut console = live();
    console.press("/");
    console.enter("kind:invoice");
    console.press("Enter a e");
    console.enter("somebody has to look");
    tick(&mut console, 30);
    scanned(&mut console, 2, 15, 31);
    console.press("PgDn PgUp");
    let screen = console.screen();
    assert!(screen.contains("8 selected of 8 that the filter lets through, 12 in all"), "{screen}");
    assert!(
        screen.contains("2 came since, NOT included: invoice:12:2026-05, invoice:13:2026-05"),
        "{screen}"
    );
    console.press("Tab");
    console.enter("8");
    let tasks = console.press("Enter");
    let [Task::Decide { orders, .. }] = &tasks[..] else { panic!("{tasks:?}") };
    assert_eq!(orders.len(), 8);
    assert!(orders.iter().all(|order| !order.key.contains(":12:") && !order.key.contains(":13:")));
}

#[test]
fn a_series_pauses_goes_on_and_stops() {
    let mut console = Console::with(80, 24, 12);
    console.press("a e");
    console.enter("somebody has to look");
    console.press("Tab");
    console.enter("12");
    console.press("Enter");
    assert_eq!(console.press("Space"), [Task::PauseDeciding(true)]);
    assert!(console.screen().contains("PAUSED before the next"), "{}", console.screen());
    assert_eq!(console.press("Space"), [Task::PauseDeciding(false)]);
    assert!(!console.screen().contains("PAUSED"));
    assert_eq!(console.press("Space Esc"), [Task::PauseDeciding(true), Task::StopDeciding]);
    assert_eq!(console.press("Space"), [], "what stops does not pause");
}
