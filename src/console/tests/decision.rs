//! Decisions: from the key to the order, and from the order to the outcome.

use super::helpers::*;
use crate::console::Task;
use crate::console::message::{Message, SettleMessage};
use crate::console::model::Dialog;
use crate::domain::decision::Choice;
use crate::domain::verdict::Verdict;
use crate::ports::record::RecordFault;
use crate::workflow::Order;
use crate::workflow::settle::{NotOpen, OrderFault};

fn only_order(tasks: &[Task]) -> &Order {
    let [Task::Decide { orders, .. }] = tasks else { panic!("no order in {tasks:?}") };
    let [order] = &orders[..] else { panic!("not one order: {orders:?}") };
    order
}

#[test]
fn a_granted_decision_takes_a_reason_and_y_on_the_button() {
    let mut console = Console::with(80, 24, 12);
    console.open_decision("d", Verdict::Happened);
    assert_eq!(console.press("Tab y"), [], "no reason yet");
    assert!(console.screen().contains("A reason is needed"));
    console.enter("seen in the ledger");
    let tasks = console.press("Tab y");
    let order = only_order(&tasks);
    assert_eq!((order.choice, order.insists), (Choice::MarkDone, false));
    assert_eq!(order.shown.as_ref(), Some(&console.current().finding.item));
    assert_eq!(order.shown_verdict, Some(Verdict::Happened));
    assert_eq!(order.reason.as_str(), "seen in the ledger");
}

#[test]
fn nothing_is_confirmed_before_it_is_known_what_would_be_written() {
    let mut console = Console::with(80, 24, 12);
    console.press("d");
    console.enter("seen");
    assert_eq!(console.press("Tab y y"), []);
    assert!(console.screen().contains("Wait until it is known"));
}

#[test]
fn cautions_ask_a_second_time_and_money_asks_for_the_key() {
    let mut console = Console::with(80, 24, 12);
    console.open_decision("r", Verdict::NotFound);
    console.enter("not in the ledger");
    assert_eq!(console.press("Tab y"), []);
    assert_eq!(console.press("Enter y Enter"), []);
    assert!(console.screen().contains("Type exactly: invoice:7:2026-05"));
    console.press("Ctrl-u");
    console.enter("invoice:7:2026-05");
    let tasks = console.press("Enter");
    assert_eq!(only_order(&tasks).choice, Choice::Retry);
}

#[test]
fn against_the_advice_the_operator_insists_and_types_the_verb() {
    let mut console = Console::with(80, 24, 12);
    console.open_decision("d", Verdict::NotFound);
    assert!(console.screen().contains("AGAINST THE ADVICE"));
    console.enter("the customer has it");
    assert_eq!(console.press("Tab Tab y"), []);
    assert!(console.screen().contains("turn on \"insist\""));
    assert_eq!(console.press("Space Tab y"), []);
    console.enter("mark done");
    let tasks = console.press("Enter");
    assert!(only_order(&tasks).insists);
}

#[test]
fn what_takes_two_persons_says_so_before_and_is_proposed_by_insisting() {
    let mut console = Console::with(80, 24, 12);
    console.open_decision("r", Verdict::Happened);
    let screen = console.screen();
    for told in ["AGAINST THE ADVICE", "TWO PERSONS", "nothing is written yet", "[ Propose: Retry ]"] {
        assert!(screen.contains(told), "{told} in\n{screen}");
    }
    console.enter("the ledger is wrong, see the bank");
    assert_eq!(console.press("Tab Tab y"), [], "not insisted yet");
    assert_eq!(console.press("Space Tab y"), [], "the key has to be typed");
    console.enter("invoice:7:2026-05");
    let tasks = console.press("Enter");
    let order = only_order(&tasks);
    assert!(order.insists && order.choice == Choice::Retry);
}

#[test]
fn what_the_job_system_cannot_take_is_said_and_cannot_be_confirmed() {
    let mut console = Console::with(80, 24, 12);
    console.check_as(Verdict::Happened);
    let tasks = console.press("d");
    console.answer_prepare(&tasks, |prepared| prepared.statements = Err("its state is in Redis".to_owned()));
    assert!(console.screen().contains("cannot mark done by SQL: its state is in Redis"));
    assert_eq!(console.press("Tab y"), []);
}

#[test]
fn an_item_that_needs_no_decision_any_more_says_so() {
    let mut console = Console::with(80, 24, 12);
    let tasks = console.press("d");
    let [Task::Prepare { run, .. }] = tasks[..] else { panic!() };
    let not_open =
        NotOpen { why: "the item is `done` (done) and needs no decision".to_owned(), now: Some(row("done")) };
    console.send(Message::Settle(SettleMessage::Prepared { run, prepared: Box::new(Err(not_open)) }));
    assert!(console.screen().contains("There is nothing to decide: the item is `done`"));
    assert_eq!(console.press("y Enter Tab y"), []);
    console.press("Esc");
    assert!(matches!(console.model.dialog, Dialog::None));
}

#[test]
fn an_answer_to_a_dialog_that_was_left_is_dropped() {
    let mut console = Console::with(80, 24, 12);
    let first = console.press("d");
    console.press("Esc r");
    console.answer_prepare(&first, |_| {});
    assert!(console.screen().contains("Reading the row"));
}

#[test]
fn an_applied_decision_leaves_the_list_and_shows_before_and_after() {
    let mut console = Console::with(80, 24, 12);
    console.open_decision("d", Verdict::Happened);
    console.enter("seen");
    let tasks = console.press("Tab y");
    let after = console.answer_decide(&tasks, |_| applied());
    assert!(matches!(after[..], [Task::Scan { .. }]), "the list is read again: {after:?}");
    assert!(console.screen().contains("APPLIED"));
    assert!(console.screen().contains("running -> done"));
    assert_eq!(console.model.findings.total(), 11);
}

#[test]
fn an_outcome_that_is_not_on_record_is_told_loudly() {
    let mut console = Console::with(80, 24, 12);
    console.open_decision("d", Verdict::Happened);
    console.enter("seen");
    let tasks = console.press("Tab y");
    let [Task::Decide { run, orders }] = &tasks[..] else { panic!() };
    let fault =
        RecordFault { is_absent: false, what: "disk full".to_owned(), do_next: "Make room.".to_owned() };
    let result = crate::workflow::Decided {
        record_fault: Some(fault),
        entry: None,
        ..decided(Choice::MarkDone, applied())
    };
    let (source, key) = (orders[0].source.clone(), orders[0].key.clone());
    let result = Box::new(Ok(result));
    console.send(Message::Settle(SettleMessage::Decided {
        run: *run,
        source,
        key,
        choice: Choice::MarkDone,
        result,
    }));
    assert!(console.screen().contains("THE OUTCOME IS NOT ON RECORD: disk full"));
    assert!(console.screen().contains("Make room."));
}

#[test]
fn no_second_decision_is_begun_while_one_is_written() {
    let mut console = Console::with(80, 24, 12);
    console.open_decision("d", Verdict::Happened);
    console.enter("seen");
    console.press("Tab y");
    assert_eq!(console.press("Esc"), [], "a single write is not stopped");
    assert_eq!(console.press("d"), []);
    assert!(console.screen().contains("Decisions are being written"));
}

#[test]
fn an_outcome_that_comes_behind_another_dialog_is_shown_after_it() {
    let mut console = Console::with(80, 24, 12);
    console.open_decision("d", Verdict::Happened);
    console.enter("seen");
    let tasks = console.press("Tab y");
    console.press("Esc ?");
    console.answer_decide(&tasks, |_| refused());
    assert!(matches!(console.model.dialog, Dialog::Help(_)));
    console.press("Esc");
    assert!(console.screen().contains("REFUSED, nothing was touched"));
    console.press("Esc j");
    assert!(matches!(console.model.dialog, Dialog::None), "it is shown once");
}

#[test]
fn an_order_that_came_to_nothing_says_what_to_do() {
    let mut console = Console::with(80, 24, 12);
    let tasks = console.press("d");
    let [Task::Prepare { run, .. }] = tasks[..] else { panic!() };
    let fault = OrderFault::NoSuchSource("billing".to_owned());
    console.send(Message::Settle(SettleMessage::PrepareFault { run, fault }));
    assert!(console.screen().contains("there is no source `billing`"));
    assert!(console.screen().contains("unstuck doctor"));
}

#[test]
fn broken_off_decisions_are_acknowledged_before_anything_else() {
    let mut console = Console::with(80, 24, 12);
    let one = crate::workflow::recover::Recovered {
        intent: entries(1).remove(0),
        choice: Some(Choice::Retry),
        outcome: None,
        told: "its row cannot be read now".to_owned(),
    };
    console.send(Message::Settle(SettleMessage::Recovered(Ok(vec![one]))));
    assert!(console.screen().contains("STILL OPEN"));
    assert_eq!(console.press("d r C"), []);
    console.press("Enter");
    assert!(matches!(console.model.dialog, Dialog::None));
}
