//! Proposals: shown to everyone, approved by another, withdrawn by anybody, each by its dialog.

use super::helpers::*;
use crate::console::Task;
use crate::console::message::{Message, ProposalsMessage};
use crate::console::model::{Dialog, Screen};
use crate::console::{Setup, sample};
use crate::domain::approval::WhyNot;
use crate::domain::decision::Choice;
use crate::domain::proposal::{Closed, Closing};
use crate::domain::verdict::Verdict;
use crate::ports::record::RecordFault;
use crate::workflow::settle::OrderFault;
use crate::workflow::settle::approve::ApprovalOrder;
use crate::workflow::settle::propose::Withdrawn;
use chrono::TimeDelta;

fn only_approval(tasks: &[Task]) -> &ApprovalOrder {
    let [Task::Approve { order, .. }] = tasks else { panic!("no approval in {tasks:?}") };
    order
}

#[test]
fn a_proposal_that_waits_is_marked_in_list_item_and_header() {
    let mut console = Console::with(80, 24, 12);
    console.check_as(Verdict::Unknown);
    assert!(!console.screen().contains("proposal"));
    console.hear_of_proposal(Choice::Retry, Verdict::Unknown);
    let screen = console.screen();
    assert!(screen.lines().next().unwrap().contains("1 proposal"), "{screen}");
    assert!(
        screen.lines().any(|line| line.starts_with("> P? unknown") && line.contains("proposed")),
        "{screen}"
    );
    assert!(screen.contains("P retry by ben, until 2026-05-04T06:30:00Z (7c1f02ab)"), "{screen}");
    assert!(screen.contains("the bank statement of the 3rd has nothing"), "{screen}");
    assert!(screen.lines().last().unwrap().starts_with(">P proposals<"), "{screen}");
    // Also where there is no room for the column.
    console.resize(40, 10);
    assert!(console.screen().lines().any(|line| line.starts_with("> P?")), "{}", console.screen());
}

#[test]
fn what_is_decided_on_an_item_with_a_proposal_says_so_before() {
    let mut console = Console::with(80, 24, 12);
    console.hear_of_proposal(Choice::Retry, Verdict::Unknown);
    console.open_decision("r", Verdict::Unknown);
    assert!(console.screen().contains("It waits for a second person already: retry by ben"));
}

#[test]
fn an_approval_takes_a_reason_of_its_own_and_y_on_the_button() {
    let mut console = Console::with(80, 24, 12);
    console.open_approval(Choice::MarkDone, Verdict::Happened, |_| {});
    for told in ["Approve 7c1f02ab: Mark done", "ben (ben@ops-2)", "= the same as was proposed on"] {
        assert!(console.screen().contains(told) || scrolled(&mut console).contains(told), "{told}");
    }
    assert_eq!(console.press("Tab y"), []);
    assert!(console.screen().contains("A reason of your own is needed"));
    console.enter("I see it in the ledger too");
    assert_eq!(console.press("Enter Enter Enter"), [], "Enter alone confirms nothing");
    let tasks = console.press("y");
    let order = only_approval(&tasks);
    assert_eq!((order.reason.as_str(), order.insists), ("I see it in the ledger too", false));
    assert!(matches!(console.model.dialog, Dialog::Outcome(_)));
}

fn scrolled(console: &mut Console) -> String {
    let mut seen = String::new();
    for _ in 0..6 {
        console.press("PgDn");
        seen.push_str(&console.screen());
    }
    console.press("PgUp PgUp PgUp PgUp PgUp PgUp");
    seen
}

#[test]
fn an_override_is_insisted_on_again_and_typed_again() {
    let mut console = Console::with(80, 24, 12);
    console.open_approval(Choice::Retry, Verdict::Happened, |_| {});
    assert!(console.screen().contains("AGAINST THE ADVICE. The proposer insists, and so would you."));
    console.enter("I asked the bank");
    assert_eq!(console.press("Tab Tab y"), []);
    assert!(console.screen().contains("turn on \"insist\""));
    assert_eq!(console.press("Space Tab y"), []);
    assert_eq!(console.press("Enter y Enter"), []);
    assert!(console.screen().contains("Type exactly: invoice:7:2026-05"));
    console.press("Ctrl-u");
    console.enter("invoice:7:2026-05");
    let tasks = console.press("Enter");
    assert!(only_approval(&tasks).insists);
}

#[test]
fn what_differs_is_shown_and_cannot_be_approved() {
    let mut console = Console::with(80, 24, 12);
    console.open_approval(Choice::MarkDone, Verdict::Happened, |review| {
        review.now.as_mut().unwrap().row = row("failed");
        let what = "the row changed since it was proposed".to_owned();
        review.why_not = Some(WhyNot::RowChanged { what });
    });
    let screen = console.screen();
    let flat = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("NOT TO BE APPROVED HERE: the row changed since it was proposed, so it has lapsed."),
        "{screen}"
    );
    assert!(scrolled(&mut console).contains("status: running -> failed"), "{}", console.screen());
    assert_eq!(console.press("y Enter Tab y Space y"), []);
    console.press("Esc");
    assert!(matches!(console.model.dialog, Dialog::None));
}

#[test]
fn nothing_is_approved_before_it_is_known_what_would_be_written() {
    let mut console = Console::with(80, 24, 12);
    console.hear_of_proposal(Choice::MarkDone, Verdict::Happened);
    let tasks = console.press("P a");
    let [Task::ReadProposals, Task::Review { run, .. }] = tasks[..] else { panic!("{tasks:?}") };
    console.enter("me too");
    assert_eq!(console.press("Tab y"), []);
    assert!(console.screen().contains("Wait until it is known"));
    // An answer to a dialog that was left is dropped.
    console.press("Esc a");
    let late = Box::new(Err(OrderFault::NoSuchProposal("x".to_owned())));
    console.send(Message::Proposals(ProposalsMessage::Reviewed { run, review: late }));
    assert!(console.screen().contains("Reading the row and asking the provider"));
}

#[test]
fn a_review_that_fails_says_why() {
    let mut console = Console::with(80, 24, 12);
    console.hear_of_proposal(Choice::MarkDone, Verdict::Happened);
    let tasks = console.press("P a");
    let [_, Task::Review { run, .. }] = tasks[..] else { panic!("{tasks:?}") };
    let failed = Box::new(Err(OrderFault::NoSuchSource("billing".to_owned())));
    console.send(Message::Proposals(ProposalsMessage::Reviewed { run, review: failed }));
    assert!(console.screen().contains("there is no source `billing`"));
    assert_eq!(console.press("y Enter Tab y"), []);
}

#[test]
fn a_proposal_is_withdrawn_with_a_reason_and_that_is_told() {
    let mut console = Console::with(80, 24, 12);
    let proposal = console.hear_of_proposal(Choice::Retry, Verdict::Unknown);
    console.press("P w");
    assert_eq!(console.press("Tab y"), [], "no reason yet");
    console.enter("paid in cash");
    let tasks = console.press("Tab y");
    let [Task::Withdraw { proposal: withdrawn, reason }] = &tasks[..] else { panic!("{tasks:?}") };
    assert_eq!((withdrawn.id, reason.as_str()), (proposal.id, "paid in cash"));
    let key = std::sync::Arc::clone(&proposal.key);
    let result = Box::new(Ok(Ok(Withdrawn { proposal: proposal.clone(), by_proposer: false, entry: 43 })));
    let message = ProposalsMessage::Withdrawn { key: key.clone(), result };
    assert_eq!(console.send(Message::Proposals(message)), [Task::ReadProposals]);
    assert!(console.screen().contains("invoice:7:2026-05: retry rejected, audit entry 43."));
    let closed =
        Closed { closing: Closing::Approved, by: "Cleo".to_owned(), at: "03:00".to_owned(), entry: 41 };
    let result = Box::new(Ok(Err(WhyNot::Closed(closed))));
    console.send(Message::Proposals(ProposalsMessage::Withdrawn { key, result }));
    assert!(console.screen().contains("not withdrawn: it was approved by Cleo"));
}

#[test]
fn read_only_says_why_nothing_is_approved_or_withdrawn() {
    let setup = Setup { read_only: true, ..sample::setup(80, 24) };
    let mut console = Console::from_setup(setup, 12);
    console.hear_of_proposal(Choice::Retry, Verdict::Unknown);
    console.press("P");
    for key in ["a", "w"] {
        assert_eq!(console.press(key), []);
        assert!(console.screen().contains("Read-only: nothing can be decided here."));
        assert!(matches!(console.model.dialog, Dialog::None));
    }
}

#[test]
fn without_a_proposal_there_is_nothing_to_approve() {
    let mut console = Console::with(80, 24, 12);
    assert_eq!(console.press("P"), [Task::ReadProposals]);
    console.hear_of_proposals(Vec::new());
    for key in ["a", "w", "Enter", "j", "y"] {
        assert_eq!(console.press(key), [], "{key}");
    }
    assert!(console.screen().contains("No proposal waits for a second person"));
    console.press("P");
    assert_eq!(console.model.screen, Screen::Findings);
}

#[test]
fn the_cursor_stays_on_its_proposal_and_older_readings_are_dropped() {
    let mut console = Console::with(80, 24, 12);
    let first = console.hear_of_proposal(Choice::Retry, Verdict::Unknown);
    let second = crate::domain::proposal::Proposal {
        id: uuid::Uuid::from_u128(9),
        key: "other".into(),
        ..first.clone()
    };
    console.hear_of_proposals(vec![first.clone(), second.clone()]);
    console.press("P j");
    assert_eq!(console.model.proposals.current().unwrap().id, second.id);
    console.hear_of_proposals(vec![second.clone()]);
    assert_eq!(console.model.proposals.current().unwrap().id, second.id);
    let at = sample::now() - TimeDelta::seconds(1);
    let older = ProposalsMessage::Read { at, waiting: Ok(vec![first.clone(), second]) };
    console.send(Message::Proposals(older));
    assert_eq!(console.model.proposals.waiting().len(), 1);
    let fault = RecordFault {
        is_absent: false,
        what: "audit a.db: is damaged".to_owned(),
        do_next: "Copy it away.".to_owned(),
    };
    console.send(Message::Proposals(ProposalsMessage::Read { at: sample::now(), waiting: Err(fault) }));
    assert!(console.screen().contains("audit a.db: is damaged"));
}

#[test]
fn what_is_hidden_stays_hidden_in_proposals() {
    let mut console = Console::with(200, 60, 12);
    console.open_approval(Choice::MarkDone, Verdict::Happened, |_| {});
    assert!(!console.screen().contains("tok-123456"));
    console.press("Esc Enter");
    assert!(
        console.screen().contains("api_token") && !console.screen().contains("tok-123456"),
        "{}",
        console.screen()
    );
}

#[test]
fn a_proposed_decision_keeps_its_finding_and_is_told_as_well_done() {
    let mut console = Console::with(80, 24, 12);
    console.open_decision("r", Verdict::Unknown);
    console.enter("the bank has nothing");
    console.press("Tab Space Tab y");
    console.enter("invoice:7:2026-05");
    let tasks = console.press("Enter");
    let found = console.current();
    console.answer_decide(&tasks, |_| proposed(&found, Choice::Retry, Verdict::Unknown));
    let screen = console.screen();
    assert!(screen.contains("PROPOSED: to retry invoice:7:2026-05 as 7c1f02ab"), "{screen}");
    assert!(screen.contains("0 retried, 1 proposed to a second person."), "{screen}");
    assert!(screen.contains("unstuck approve 7c1f02ab"), "{screen}");
    assert_eq!(console.model.findings.total(), 12);
}
