//! Duplicates and reconcile: begun, stopped, read, and from there to one item.

use super::helpers::*;
use super::samples::{doubles, reconciled};
use crate::console::message::MatchTold;
use crate::console::model::matching::{Matching, Reach};
use crate::console::model::{Dialog, Screen};
use crate::console::{Message, Setup, Task, sample};
use crate::domain::decision::Choice;
use crate::domain::verdict::Verdict;
use crate::ports::record::RecordFault;
use crate::workflow::reconcile::Scope;
use crate::workflow::reconcile::words::Step;
use crate::workflow::story::Doubles;
use chrono::TimeDelta;
use rstest::rstest;
use std::sync::Arc;

fn flat(console: &Console) -> String {
    console.screen().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn only_match(tasks: &[Task]) -> (Matching, u64, Scope) {
    let [Task::Match { which, run, scope }] = tasks else { panic!("no matching in {tasks:?}") };
    (*which, *run, scope.clone())
}

#[rstest]
#[case("D", Matching::Duplicates, TimeDelta::days(7))]
#[case("M", Matching::Reconcile, TimeDelta::hours(24))]
fn a_matching_begins_at_once_tells_how_far_it_is_and_is_there_when_one_comes_back(
    #[case] key: &str,
    #[case] which: Matching,
    #[case] since: TimeDelta,
) {
    let mut console = Console::with(80, 24, 12);
    let (begun, run, scope) = only_match(&console.press(key));
    assert_eq!((begun, scope), (which, Scope { since, source: None }));
    console.tell_matching(which, run, MatchTold::Step(Step::Lists { read: 1, total: 4 }));
    assert!(
        flat(&console).contains("[##........] 1 of 4 lists of the providers read"),
        "{}",
        console.screen()
    );
    console.answer_matching(which, run, None);
    assert_eq!(console.press(&format!("{key} {key}")), [], "what is there is not read again by itself");
    assert_eq!(console.model.screen, Screen::Matching(which));
    assert_eq!(only_match(&console.press("R")).0, which);
}

#[test]
fn esc_stops_it_then_leaves_and_a_late_answer_is_dropped() {
    let mut console = Console::with(80, 24, 12);
    let (_, run, _) = only_match(&console.press("M"));
    assert_eq!(console.press("Esc"), [Task::StopMatching(Matching::Reconcile)]);
    console.answer_matching(Matching::Reconcile, run, None);
    let screen = console.screen();
    assert!(screen.contains("Stopped: nothing is said of what was not matched yet."), "{screen}");
    assert!(screen.contains("R matches again."), "{screen}");
    console.press("Esc");
    assert_eq!(console.model.screen, Screen::Findings);
    assert!(matches!(console.press("M")[..], [Task::Match { .. }]), "what was stopped begins anew");
}

#[test]
fn one_that_runs_on_while_somebody_looks_elsewhere_stands_in_the_header_and_tells_its_end() {
    let mut console = Console::with(120, 24, 12);
    let (which, run, _) = only_match(&console.press("M"));
    console.press("M");
    assert_eq!(console.model.screen, Screen::Findings);
    assert!(console.screen().starts_with("unstuck  reconcile 0s  12 findings"), "{}", console.screen());
    console.answer_matching(which, run, None);
    let screen = console.screen();
    assert!(screen.starts_with("unstuck  12 findings"), "{screen}");
    let told = "Reconcile: 12 items and 9 effects of the last 1 d were matched: 4 do not match. M shows it.";
    assert!(screen.contains(told), "{screen}");
}

#[test]
fn the_window_is_chosen_by_a_key_and_begins_anew() {
    let mut console = Console::with(80, 24, 12);
    console.open_matching(Matching::Reconcile);
    let mut chosen = Vec::new();
    for _ in 0..3 {
        let (which, run, scope) = only_match(&console.press("w"));
        chosen.push(scope.since);
        assert!(console.screen().contains(console.model.reconcile.reach.as_str()));
        console.answer_matching(which, run, None);
    }
    assert_eq!(chosen, [TimeDelta::days(7), TimeDelta::hours(2), TimeDelta::hours(24)]);
    assert_eq!(console.model.duplicates.reach, Reach::Week, "each has its own");
}

#[test]
fn the_four_groups_and_what_was_not_read_are_told_in_the_words_of_the_command() {
    let mut console = Console::with(119, 50, 12);
    console.open_matching(Matching::Reconcile);
    let screen = console.screen();
    for told in ["not read: 1", "duplicate: 1", "lost: 1", "mismatch: 1", "unaccounted: 1", "1 NOT READ"] {
        assert!(screen.contains(told), "{told} in\n{screen}");
    }
    let text = flat(&console);
    assert!(
        text.contains("mailhouse.messages was not listed, so 4 items were not matched: HTTP 503"),
        "{screen}"
    );
    assert!(text.contains("12 items and 9 effects of the last 1 d"), "{screen}");
    // Empty groups are told as well, and only for what could be read.
    let (_, run, _) = only_match(&console.press("R"));
    let none = crate::workflow::reconcile::Reconciled {
        items_matched: 3,
        effects_matched: 3,
        lists_read: 1,
        sources_read: 1,
        ..Default::default()
    };
    console.tell_matching(Matching::Reconcile, run, MatchTold::Both(Arc::new(none), None));
    assert!(console.screen().contains("lost: 0, in what could be read"), "{}", console.screen());
    assert!(!console.screen().contains("NOT READ"));
}

#[test]
fn an_entry_is_opened_in_the_list_of_findings_and_esc_comes_back() {
    let mut console = Console::with(120, 40, 12);
    console.press("/");
    console.enter("kind:email");
    console.press("Enter");
    console.open_matching(Matching::Reconcile);
    let tasks = console.press("o");
    assert!(matches!(&tasks[..], [Task::Open { key, .. }] if &**key == "invoice:0:2026-05"), "{tasks:?}");
    assert_eq!(console.model.findings.typed(), "", "a filter that hides it goes");
    assert_eq!(console.current().finding.item.key.as_str(), "invoice:0:2026-05");
    console.press("Esc");
    assert_eq!(console.model.screen, Screen::Matching(Matching::Reconcile));
    console.press("Esc");
    assert_eq!(console.model.screen, Screen::Findings);
    console.press("[");
    assert_eq!(console.model.findings.typed(), "kind:email");
    // One that is done waits for nobody.
    console.press("M j j o");
    assert_eq!(console.model.screen, Screen::Matching(Matching::Reconcile));
    assert!(console.screen().contains("It is not among the findings"), "{}", console.screen());
}

#[test]
fn the_list_of_findings_learns_what_a_matching_saw() {
    let mut console = Console::with(120, 40, 12);
    console.open_matching(Matching::Reconcile);
    let row =
        console.model.findings.shown().find(|row| row.found.finding.item.key.as_str() == "invoice:0:2026-05");
    assert_eq!(row.unwrap().verdict(), Some(Verdict::Duplicated));
}

#[test]
fn a_group_shows_items_attempts_and_effects_side_by_side_and_the_sum() {
    let mut console = Console::with(200, 60, 12);
    console.open_matching(Matching::Duplicates);
    let screen = console.screen();
    let heads = screen.lines().find(|line| line.contains("Attempts")).unwrap_or_default();
    assert!(heads.contains("Items") && heads.contains("Effects (+ happened)"), "{screen}");
    let text = flat(&console);
    for told in [
        "2 twice or more, 20.82 BRL too much",
        "34 s after the first",
        "It ran again after a time-out that did not prove that nothing had happened.",
        "escalate: a refund is made elsewhere, never by unstuck",
        "+ ch_2a7f succeeded, 10.41 BRL",
    ] {
        assert!(text.contains(told), "{told} in\n{screen}");
    }
}

#[test]
fn a_group_is_escalated_by_the_usual_dialog_with_the_reason_that_a_refund_needs() {
    let mut console = Console::with(200, 60, 12);
    console.open_matching(Matching::Duplicates);
    let tasks = console.press("e");
    let [Task::Prepare { key, choice: Choice::Escalate, recent: Some(recent), .. }] = &tasks[..] else {
        panic!("{tasks:?}")
    };
    assert_eq!((&**key, recent.verdict()), ("invoice:0:2026-05", Verdict::Duplicated));
    console.press("Esc e");
    let Dialog::Decision(dialog) = &console.model.dialog else { panic!() };
    let reason = dialog.answers.reason.value().to_owned();
    for told in
        ["invoice:0:2026-05", "ch_1a7f", "ch_2a7f", "Beyond the first: 10.41 BRL", "2026-05-04T02:20:34Z"]
    {
        assert!(reason.contains(told), "{told} in {reason}");
    }
    // It can be read whole before it is confirmed.
    assert!(flat(&console).contains("Beyond the first: 10.41 BRL"), "{}", console.screen());
    console.press("Esc");
    assert_eq!(console.model.screen, Screen::Matching(Matching::Duplicates));
}

/// A job that is done and charged twice is what a refund is about most often.
#[test]
fn an_item_that_says_done_is_escalated_like_any_other_and_the_words_can_be_copied() {
    let mut console = Console::with(120, 40, 12);
    let (which, run, _) = only_match(&console.press("D"));
    let mut found = doubles();
    let member = &mut found.stories[0].members[0];
    (member.is_finding, member.found.finding.item.status) = (false, "done".into());
    console.tell_matching(which, run, MatchTold::Doubles(Arc::new(found), None));
    let tasks = console.press("e");
    console.answer_prepare(&tasks, |_| {});
    let tasks = console.press("Tab y");
    assert!(matches!(&tasks[..], [Task::Decide { .. }]), "{tasks:?}");
    console.answer_decide(&tasks, |_| applied());
    console.press("Esc");
    assert!(console.screen().lines().any(|line| line.starts_with("> ") && line.contains("escalated")));
    let tasks = console.press("y");
    let [Task::Copy(copied)] = &tasks[..] else { panic!("{tasks:?}") };
    assert!(copied.contains("ch_2a7f succeeded 10.41 BRL at 2026-05-04T02:21:08Z"), "{copied}");
}

#[test]
fn a_heading_has_nothing_to_escalate_and_no_timeline() {
    let mut console = Console::with(120, 40, 12);
    console.open_matching(Matching::Duplicates);
    for key in ["e", "T", "o"] {
        assert_eq!(console.press("g"), []);
        assert_eq!(console.press(key), []);
        assert!(console.screen().contains("under the cursor"), "{}", console.screen());
    }
}

#[test]
fn read_only_escalates_nothing_and_still_shows_all() {
    let mut console = Console::from_setup(Setup { read_only: true, ..sample::setup(120, 40) }, 12);
    console.open_matching(Matching::Duplicates);
    assert_eq!(console.press("e"), []);
    assert!(console.screen().contains("Read-only: nothing can be decided here."));
}

#[test]
fn nothing_twice_says_how_much_was_looked_at() {
    let mut console = Console::with(80, 24, 12);
    let (which, run, _) = only_match(&console.press("D"));
    let mut none = Doubles { stories: Vec::new(), ..doubles() };
    none.reconciled.not_listed.clear();
    console.tell_matching(which, run, MatchTold::Doubles(Arc::new(none), None));
    let told = "12 items and 9 effects of the last 7 d were matched, 2 findings asked about one by one: \
                nothing happened twice in what could be read.";
    assert!(flat(&console).contains(told), "{}", console.screen());
}

/// Not one count is a comfort there: neither in the title nor as a group of none.
#[test]
fn where_nothing_could_be_read_nothing_comforts() {
    use crate::workflow::reconcile::Reconciled;
    let not_listed = reconciled().not_listed;
    let unread = Reconciled { sources_read: 1, items_matched: 4, not_listed, ..Default::default() };
    let doubles = Doubles { reconciled: unread.clone(), ..Default::default() };
    let told =
        [("D", MatchTold::Doubles(Arc::new(doubles), None)), ("M", MatchTold::Both(Arc::new(unread), None))];
    for (key, answer) in told {
        let mut console = Console::with(100, 24, 12);
        let (which, run, _) = only_match(&console.press(key));
        console.tell_matching(which, run, answer);
        let screen = console.screen();
        assert!(screen.contains("1 NOT READ, nothing could be read"), "{screen}");
        assert!(screen.contains("mailhouse.messages was not listed"), "{screen}");
        for comfort in ["nothing twice", "0 do not match", "in what could be read", ": 0"] {
            assert!(!screen.contains(comfort), "{comfort} in\n{screen}");
        }
    }
}

#[test]
fn checks_that_are_not_on_record_are_told() {
    let mut console = Console::with(80, 24, 12);
    let (which, run, _) = only_match(&console.press("M"));
    let fault = RecordFault { what: "disk full".to_owned(), do_next: "Make room.".to_owned() };
    console.answer_matching(which, run, Some(fault));
    assert!(console.screen().contains("The checks are not on record: disk full. Make room."));
}

#[test]
fn the_cursor_stays_on_its_line_when_it_is_matched_again() {
    let mut console = Console::with(120, 40, 12);
    console.open_matching(Matching::Reconcile);
    console.press("G");
    let (which, run, _) = only_match(&console.press("R"));
    let mut again = reconciled();
    again.items.remove(0);
    console.tell_matching(which, run, MatchTold::Both(Arc::new(again), None));
    let view = &console.model.reconcile;
    assert_eq!(view.cursor, view.rows().len() - 1);
}

#[test]
fn the_mouse_puts_the_cursor_and_the_wheel_scrolls() {
    use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
    let mut console = Console::with(120, 40, 12);
    console.open_matching(Matching::Reconcile);
    let top = console.state.list.area.y;
    let mouse =
        |kind, column, row| Message::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE });
    console.send(mouse(MouseEventKind::Down(MouseButton::Left), 10, top + 5));
    assert_eq!(console.model.reconcile.cursor, 5);
    console.send(mouse(MouseEventKind::ScrollUp, 10, top));
    assert_eq!(console.model.reconcile.cursor, 2);
    console.press("Esc");
    console.open_timeline(|_| {});
    console.resize(80, 24);
    console.send(mouse(MouseEventKind::ScrollDown, 10, 10));
    assert_eq!(console.model.timeline.scroll, 3);
}
