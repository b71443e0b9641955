//! Decisions on several items at once.

use super::helpers::*;
use crate::console::Task;
use crate::console::message::{Message, ScanMessage, SettleMessage};
use crate::console::sample;
use crate::domain::decision::Choice;
use crate::domain::policy::Approvals;
use crate::domain::verdict::Verdict;
use crate::workflow::Order;
use rstest::rstest;

fn orders(tasks: &[Task]) -> &[Order] {
    let [Task::Decide { orders, .. }] = tasks else { panic!("no orders in {tasks:?}") };
    orders
}

fn checked_console(verdict: impl Fn(usize) -> Verdict) -> Console {
    let mut console = Console::with(80, 24, 12);
    let tasks = console.press("C");
    console.answer_checks(&tasks, verdict);
    console
}

/// Case 25: the verb of the dialog is the verb that is written.
#[rstest]
#[case("d", Verdict::Happened, Choice::MarkDone, "Mark done")]
#[case("r", Verdict::NotFound, Choice::Retry, "Retry")]
#[case("e", Verdict::Duplicated, Choice::Escalate, "Escalate")]
#[case("e", Verdict::NotFound, Choice::Escalate, "Escalate")]
fn only_the_dialogs_verb_is_written(
    #[case] key: &str,
    #[case] verdict: Verdict,
    #[case] choice: Choice,
    #[case] verb: &str,
) {
    let mut console = checked_console(|_| verdict);
    console.press("a");
    console.press(key);
    assert!(console.screen().contains(&format!("{verb}: 12 items")));
    console.enter("all of them");
    console.press("Tab");
    console.enter("12");
    let tasks = console.press("Enter");
    assert_eq!(orders(&tasks).len(), 12);
    assert!(orders(&tasks).iter().all(|order| order.choice == choice));
}

/// Case 58: what the filter hides is not touched, and the dialog says how many and by which filter.
#[test]
fn a_series_takes_what_is_selected_and_shown() {
    let mut console = checked_console(|_| Verdict::NotFound);
    console.press("a /");
    console.enter("invoice:1");
    console.press("Enter r");
    let screen = console.screen();
    assert!(screen.contains("Retry: 2 items"), "{screen}");
    assert!(screen.contains("invoice:1"));
    assert!(screen.contains("10 selected, but hidden by the filter"));
    console.enter("why not");
    console.press("Tab");
    console.enter("2");
    let tasks = console.press("Enter");
    let keys: Vec<&str> = orders(&tasks).iter().map(|order| &*order.key).collect();
    assert_eq!(keys, ["invoice:10:2026-05", "invoice:1:2026-05"]);
    for order in orders(&tasks) {
        assert_eq!(order.shown.as_ref().map(|item| item.key.as_str()), Some(&*order.key));
        assert_eq!(order.shown_verdict, Some(Verdict::NotFound));
    }
}

#[test]
fn the_count_has_to_be_typed() {
    let mut console = checked_console(|_| Verdict::Happened);
    console.press("a d");
    console.enter("seen");
    console.press("Tab");
    for wrong in ["", "1", "y", "13"] {
        console.press("Ctrl-u");
        console.enter(wrong);
        assert_eq!(console.press("Enter"), []);
    }
    assert!(console.screen().contains("Type 12 to mark done 12 items."));
}

#[test]
fn items_with_another_advice_are_left_out_and_counted() {
    let mut console = checked_console(|number| if number < 3 { Verdict::Happened } else { Verdict::Unknown });
    console.press("a d");
    let screen = console.screen();
    assert!(screen.contains("Mark done: 3 items"), "{screen}");
    assert!(screen.contains("9 unknown, advice wait"), "{screen}");
}

#[test]
fn unchecked_items_are_never_retried_in_a_series() {
    let mut console = Console::with(80, 24, 12);
    console.press("a r");
    assert!(console.screen().contains("None of the selected can be decided so"));
    assert!(console.screen().contains("12 not checked yet"));
    assert_eq!(console.press("Tab y Enter"), []);
}

/// Case 59: how many, how many not, and which.
#[test]
fn the_summary_counts_and_names_the_refused_which_stay_selected() {
    let mut console = checked_console(|_| Verdict::NotFound);
    console.press("Space Space Space Space Space r");
    console.enter("again");
    console.press("Tab");
    console.enter("5");
    let tasks = console.press("Enter");
    let refused_keys: Vec<String> = orders(&tasks)[..2].iter().map(|order| order.key.to_string()).collect();
    console.answer_decide(&tasks, |number| if number < 2 { refused() } else { applied() });
    let told = format!("3 retried, 2 refused ({}).", refused_keys.join(", "));
    assert!(console.screen().contains(&told), "{told} in\n{}", console.screen());
    assert_eq!(console.model.findings.counts().selected, 2);
    let selected: Vec<String> = console
        .model
        .findings
        .shown()
        .filter(|row| row.selected)
        .map(|row| row.found.finding.item.key.as_str().to_owned())
        .collect();
    assert_eq!(selected.len(), 2);
    assert!(selected.iter().all(|key| refused_keys.contains(key)));
}

#[test]
fn a_running_series_is_stopped_before_the_next() {
    let mut console = checked_console(|_| Verdict::Happened);
    console.press("a d");
    console.enter("seen");
    console.press("Tab");
    console.enter("12");
    let tasks = console.press("Enter");
    assert_eq!(console.press("Esc"), [Task::StopDeciding]);
    let [Task::Decide { run, .. }] = tasks[..] else { panic!() };
    console.send(Message::Settle(SettleMessage::Ended { run }));
    assert!(console.screen().contains("0 marked done, 12 left as they were"));
}

#[test]
fn one_selected_item_gets_the_full_dialog() {
    let mut console = Console::with(80, 24, 12);
    console.press("Space j j");
    let tasks = console.press("d");
    let [Task::Prepare { key, .. }] = &tasks[..] else { panic!("{tasks:?}") };
    assert_eq!(&**key, "invoice:7:2026-05", "the selected one, not the one under the cursor");
}

#[test]
fn a_series_says_how_many_of_it_are_only_proposed() {
    let mut console = checked_console(|_| Verdict::Happened);
    console.press("R");
    let mut page = sample::page("billing", 0..12);
    let invoices = page.found.len();
    for found in &mut page.found {
        found.approvals = Approvals::Two;
    }
    let scan = |message| Message::Scan(message);
    let run = 3;
    console.send(scan(ScanMessage::Page { run, source: "billing".into(), page }));
    let page = sample::page("mailer", 0..12);
    console.send(scan(ScanMessage::Page { run, source: "mailer".into(), page }));
    console.send(scan(ScanMessage::Ended { run, at: sample::now() }));
    console.press("a d");
    let screen = console.screen();
    assert!(screen.contains("Mark done: 12 items"), "{screen}");
    assert!(screen.contains(&format!("TWO PERSONS. {invoices} of them are proposed")), "{screen}");
}
