//! The whole protocol of a decision, port call by port call.

mod approvals;
mod clocks;
mod every_step;
mod every_step_of_two;
mod recovered;

use super::*;
use crate::domain::audit::Event;
use crate::domain::decision::Choice::{Escalate, MarkDone, Retry};
use crate::domain::finding::FindingKind;
use crate::workflow::fakes::{SOURCE, Trouble, World, order, stuck_row};
use pretty_assertions::assert_eq;
use rstest::rstest;

/// A desk that escalates to somebody.
fn desk_that_escalates(world: &World) -> Arc<Desk> {
    let mut desk = world.desk_of_process(crate::workflow::fakes::PROCESS);
    desk.escalation = Some(world.escalation());
    Arc::new(desk)
}

fn status(world: &World, key: &str) -> Option<String> {
    let row = world.source.row(key)?;
    row.get("status").and_then(|cell| cell.as_text()).map(str::to_owned)
}

#[tokio::test]
async fn the_intent_is_on_record_before_the_row_is_touched() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let decided = decide(&world.desk(), order("inv-41", MarkDone)).await.unwrap();
    assert!(matches!(decided.outcome, Outcome::Applied { .. }), "{:?}", decided.outcome);
    assert_eq!(
        world.script.calls(),
        [
            "source.read inv-41",
            "record.waiting_on",
            "source.payload inv-41",
            "provider.ask inv-41",
            "record.append intended",
            "source.apply inv-41",
            "record.append applied",
        ]
    );
    assert_eq!(status(&world, "inv-41").as_deref(), Some("done"));
    assert_eq!(decided.entry, Some(2));
    assert_eq!((decided.record_fault, decided.do_next), (None, None));
}

#[tokio::test]
async fn an_escalation_is_sent_after_its_intent_and_leaves_the_row() {
    let world = World::with_stuck(&["inv-41"]);
    let decided = decide(&desk_that_escalates(&world), order("inv-41", Escalate)).await.unwrap();
    assert!(matches!(decided.outcome, Outcome::Applied { .. }), "{:?}", decided.outcome);
    assert_eq!(
        world.script.calls(),
        [
            "source.read inv-41",
            "record.of_item",
            "source.payload inv-41",
            "provider.ask inv-41",
            "record.append intended",
            "record.of_item",
            "escalation.send inv-41",
            "source.apply inv-41",
            "record.append applied",
        ]
    );
    assert_eq!(world.source.row("inv-41"), Some(stuck_row("inv-41")));
    assert!(world.entries()[1].body.contains("ticket 7"));
}

#[tokio::test]
async fn a_second_escalation_of_the_same_row_is_refused_and_one_of_a_changed_row_is_not() {
    let world = World::with_stuck(&["inv-41"]);
    let desk = desk_that_escalates(&world);
    decide(&desk, order("inv-41", Escalate)).await.unwrap();
    let second = decide(&desk, order("inv-41", Escalate)).await.unwrap();
    let Outcome::Refused { why, .. } = &second.outcome else { panic!("{:?}", second.outcome) };
    assert!(why.contains("audit entry 2"), "{why}");
    assert_eq!(world.escalations.lock().unwrap().len(), 1);

    world.source.overwrite("inv-41", "running");
    let third = decide(&desk, Order { shown: None, ..order("inv-41", Escalate) }).await.unwrap();
    assert!(matches!(third.outcome, Outcome::Applied { .. }), "{:?}", third.outcome);
    assert_eq!(world.escalations.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn of_two_escalations_at_the_same_instant_one_is_sent() {
    let world = World::with_stuck(&["inv-41"]);
    let desk = desk_that_escalates(&world);
    let gate = world.script.hold("record.append");
    let both = [0, 1].map(|_| {
        let desk = Arc::clone(&desk);
        tokio::spawn(async move { decide(&desk, order("inv-41", Escalate)).await.unwrap() })
    });
    world.script.begun("record.append intended", 2).await;
    world.script.let_go("record.append", 4);
    gate.add_permits(4);
    let mut told = Vec::new();
    for one in both {
        told.push(one.await.unwrap().outcome);
    }
    told.sort_by_key(|outcome| matches!(outcome, Outcome::Refused { .. }));
    assert!(matches!(told[0], Outcome::Applied { .. }), "{told:?}");
    let Outcome::Refused { why, .. } = &told[1] else { panic!("{told:?}") };
    assert!(why.contains("already") && why.contains("audit entry"), "{why}");
    assert_eq!(world.escalations.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_audit_that_cannot_be_read_after_the_intent_lets_no_escalation_go() {
    let world = World::with_stuck(&["inv-41"]);
    world.script.trouble_at(5, Trouble::FailBefore);
    let decided = decide(&desk_that_escalates(&world), order("inv-41", Escalate)).await.unwrap();
    assert_eq!(world.script.calls()[5], "record.of_item");
    let Outcome::Failed { why } = &decided.outcome else { panic!("{:?}", decided.outcome) };
    assert!(why.contains("nothing was sent"), "{why}");
    assert_eq!(world.escalations.lock().unwrap().len(), 0);
    assert_eq!(world.events(), ["intended", "failed"]);
}

#[tokio::test]
async fn a_row_that_changed_since_it_was_shown_is_refused_and_that_is_on_record() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    world.source.overwrite("inv-41", "running");
    let changed = world.source.row("inv-41");
    let decided = decide(&world.desk(), order("inv-41", MarkDone)).await.unwrap();
    let Outcome::Refused { why, now } = &decided.outcome else { panic!("{:?}", decided.outcome) };
    assert!(why.contains("updated_at"), "{why}");
    assert_eq!(now, &changed);
    assert_eq!(world.events(), ["refused"]);
    assert_eq!(world.script.count("source.apply"), 0);
    assert_eq!(world.source.row("inv-41"), changed);
}

#[rstest]
#[case::done("done", "needs no decision")]
#[case::gone("", "no such item")]
#[tokio::test]
async fn an_item_that_needs_nobody_any_more_is_refused(#[case] became: &str, #[case] told: &str) {
    let world = World::with_stuck(&["inv-41"]);
    if became.is_empty() {
        world.source.remove("inv-41");
    } else {
        world.source.overwrite("inv-41", became);
    }
    let decided = decide(&world.desk(), order("inv-41", Retry)).await.unwrap();
    let Outcome::Refused { why, .. } = &decided.outcome else { panic!("{:?}", decided.outcome) };
    assert!(why.contains(told), "{why}");
    assert_eq!(world.events(), ["refused"]);
}

/// A job that is done and charged twice waits for nobody by its row, and for a refund all the same.
#[tokio::test]
async fn an_item_that_says_done_is_escalated_for_what_its_provider_shows() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 2);
    world.source.overwrite("inv-41", "done");
    let row = world.source.row("inv-41");
    let order = |choice| Order { shown: None, ..order("inv-41", choice) };
    for choice in [MarkDone, Retry] {
        let decided = decide(&world.desk(), order(choice)).await.unwrap();
        let Outcome::Refused { why, .. } = &decided.outcome else { panic!("{:?}", decided.outcome) };
        assert!(why.contains("needs no decision"), "{why}");
    }
    let prepared = prepare(&world.desk(), SOURCE, "inv-41", Escalate, None).await.unwrap().unwrap();
    assert_eq!(prepared.found.finding.kind, FindingKind::Duplicate);
    let decided = decide(&world.desk(), order(Escalate)).await.unwrap();
    assert!(matches!(decided.outcome, Outcome::Applied { .. }), "{:?}", decided.outcome);
    assert_eq!(world.source.row("inv-41"), row, "nothing is written into it");
    assert_eq!(world.events(), ["refused", "refused", "intended", "applied"]);
    // Once is enough.
    let again = decide(&world.desk(), order(Escalate)).await.unwrap();
    assert!(matches!(again.outcome, Outcome::Refused { .. }), "{:?}", again.outcome);
}

#[rstest]
#[case::as_it_should_be(1, "the item is `done` (done) and needs no decision: the provider shows `happened`")]
#[case::not_known(0, "needs no decision: the provider shows `unknown`")]
#[tokio::test]
async fn an_item_that_says_done_and_is_not_odd_is_not_escalated(#[case] effects: usize, #[case] told: &str) {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", effects);
    world.source.overwrite("inv-41", "done");
    let breaks = || {
        if effects == 0 {
            world.script.trouble_in("provider.ask", Trouble::FailBefore);
        }
    };
    breaks();
    let not_open = prepare(&world.desk(), SOURCE, "inv-41", Escalate, None).await.unwrap().unwrap_err();
    assert!(not_open.why.contains(told), "{}", not_open.why);
    let order = Order { shown: None, ..order("inv-41", Escalate) };
    breaks();
    let decided = decide(&world.desk(), order).await.unwrap();
    assert!(matches!(decided.outcome, Outcome::Refused { .. }), "{:?}", decided.outcome);
    assert_eq!(world.events(), ["refused"]);
    assert!(world.escalations.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_row_that_changes_while_the_provider_is_asked_is_not_overwritten() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    world.script.hold("provider.ask");
    let task = tokio::spawn({
        let desk = world.desk();
        async move { decide(&desk, order("inv-41", MarkDone)).await }
    });
    world.script.begun("provider.ask", 1).await;
    world.source.overwrite("inv-41", "failed");
    let theirs = world.source.row("inv-41");
    world.script.let_go("provider.ask", 1);
    let decided = task.await.unwrap().unwrap();
    assert!(
        matches!(&decided.outcome, Outcome::Refused { now, .. } if *now == theirs),
        "{:?}",
        decided.outcome
    );
    assert_eq!(world.source.row("inv-41"), theirs);
    assert_eq!(world.events(), ["intended", "refused"]);
}

#[tokio::test]
async fn a_verdict_that_moved_is_refused() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let order = Order { shown_verdict: Some(Verdict::NotFound), insists: true, ..order("inv-41", Retry) };
    let decided = decide(&world.desk(), order).await.unwrap();
    let Outcome::Refused { why, .. } = &decided.outcome else { panic!("{:?}", decided.outcome) };
    assert!(why.contains("`not_found`") && why.contains("`happened`"), "{why}");
    assert_eq!(world.events(), ["refused"]);
    assert_eq!(world.source.row("inv-41"), Some(stuck_row("inv-41")));
}

#[rstest]
#[case::unknown_marked_done(0, true, MarkDone, false, "refused")]
#[case::unknown_insisted(0, true, MarkDone, true, "applied")]
#[case::unknown_retried(0, true, Retry, false, "refused")]
#[case::happened_marked_done(1, false, MarkDone, false, "applied")]
#[case::happened_retried(1, false, Retry, false, "refused")]
#[case::twice_marked_done(2, false, MarkDone, false, "refused")]
#[case::twice_retried(2, false, Retry, false, "refused")]
#[case::absent_retried(0, false, Retry, false, "applied")]
#[case::absent_marked_done(0, false, MarkDone, false, "refused")]
#[tokio::test]
async fn what_the_provider_says_decides_what_is_permitted(
    #[case] effects: usize,
    #[case] provider_fails: bool,
    #[case] choice: Choice,
    #[case] insists: bool,
    #[case] outcome: &str,
) {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", effects);
    if provider_fails {
        world.script.trouble_in("provider.ask", Trouble::FailBefore);
    }
    let decided = decide(&world.desk(), Order { insists, ..order("inv-41", choice) }).await.unwrap();
    assert_eq!(decided.outcome.as_str(), outcome, "{:?}", decided.outcome);
    let is_written = outcome == "applied";
    assert_eq!(world.source.row("inv-41") != Some(stuck_row("inv-41")), is_written);
    assert_eq!(world.count(Event::Intended), usize::from(is_written));
    assert!(is_written || decided.do_next.is_some());
}

#[tokio::test]
async fn a_financial_retry_against_the_verdict_writes_nothing_even_when_insisted_on() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let mut desk = world.desk_of_process(crate::workflow::fakes::PROCESS);
    let mut kind = (*desk.other_kinds).clone();
    kind.policy.risk = crate::domain::policy::Risk::Financial;
    desk.other_kinds = Arc::new(kind);
    let order = Order { insists: true, ..order("inv-41", Retry) };
    let decided = decide(&Arc::new(desk), order).await.unwrap();
    assert_eq!(decided.outcome.as_str(), "proposed");
    assert_eq!(world.source.row("inv-41"), Some(stuck_row("inv-41")));
    assert_eq!(world.events(), ["proposed"]);
}

#[tokio::test]
async fn an_audit_that_takes_no_intent_leaves_everything_untouched() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    world.script.trouble_in("record.append", Trouble::FailBefore);
    let fault = decide(&world.desk(), order("inv-41", MarkDone)).await.unwrap_err();
    assert!(matches!(&fault, OrderFault::Record(_)), "{fault:?}");
    assert_eq!(world.script.count("source.apply"), 0);
    assert_eq!(world.source.row("inv-41"), Some(stuck_row("inv-41")));
    assert_eq!(world.events(), Vec::<String>::new());
}

#[rstest]
#[case::written(Trouble::FailAfter, "applied", "done")]
#[case::not_written(Trouble::FailBefore, "failed", "running")]
#[tokio::test]
async fn a_write_that_was_not_confirmed_is_settled_by_reading_the_row(
    #[case] trouble: Trouble,
    #[case] outcome: &str,
    #[case] now: &str,
) {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    world.script.trouble_in("source.apply", trouble);
    let decided = decide(&world.desk(), order("inv-41", MarkDone)).await.unwrap();
    assert_eq!(decided.outcome.as_str(), outcome, "{:?}", decided.outcome);
    assert_eq!(status(&world, "inv-41").as_deref(), Some(now));
    assert_eq!(world.events(), ["intended", outcome]);
    assert_eq!(world.script.count("source.apply"), 1, "a write is attempted once");
}

#[rstest]
#[case::refused(Trouble::FailBefore, "did not arrive", 0)]
#[case::answer_lost(Trouble::FailAfter, "may have arrived", 1)]
#[tokio::test]
async fn an_escalation_that_nobody_confirmed_has_failed(
    #[case] trouble: Trouble,
    #[case] told: &str,
    #[case] arrived: usize,
) {
    let world = World::with_stuck(&["inv-41"]);
    let desk = desk_that_escalates(&world);
    world.script.trouble_in("escalation.send", trouble);
    let decided = decide(&desk, order("inv-41", Escalate)).await.unwrap();
    assert!(
        matches!(&decided.outcome, Outcome::Failed { why } if why.contains(told)),
        "{:?}",
        decided.outcome
    );
    assert_eq!(world.script.count("source.apply"), 0);
    assert_eq!(world.events(), ["intended", "failed"]);

    // Repeating it is harmless: the other end knows it by the same key.
    decide(&desk, order("inv-41", Escalate)).await.unwrap();
    let mut keys = world.escalations.lock().unwrap().clone();
    assert_eq!(keys.len(), arrived + 1);
    keys.dedup();
    assert_eq!(keys.len(), 1);
}

#[tokio::test]
async fn read_only_lets_nothing_leave() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let mut desk = world.desk_of_process(crate::workflow::fakes::PROCESS);
    desk.read_only = true;
    let desk = Arc::new(desk);
    for choice in Choice::ALL {
        let order = Order { insists: true, ..order("inv-41", choice) };
        assert_eq!(decide(&desk, order).await.unwrap_err(), OrderFault::ReadOnly);
    }
    assert_eq!(world.script.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn dropping_an_order_does_not_stop_a_write_that_has_begun() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    world.script.hold("source.apply");
    let desk = world.desk();
    let deciding = decide(&desk, order("inv-41", MarkDone));
    tokio::select! {
        _ = deciding => panic!("it cannot end while the write is held"),
        () = world.script.begun("source.apply", 1) => {}
    }
    world.script.let_go("source.apply", 1);
    world.script.begun("record.append applied", 1).await;
    tokio::task::yield_now().await;
    assert_eq!(world.events(), ["intended", "applied"]);
}

#[tokio::test]
async fn a_fresh_check_is_not_asked_again_for_a_dialog_and_always_before_the_write() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let desk = world.desk();
    let first = prepare(&desk, SOURCE, "inv-41", MarkDone, None).await.unwrap().unwrap();
    assert_eq!(first.permission, Permission::default());
    prepare(&desk, SOURCE, "inv-41", MarkDone, Some(&first.checked)).await.unwrap().unwrap();
    assert_eq!(world.script.count("provider.ask"), 1);
    decide(&desk, order("inv-41", MarkDone)).await.unwrap();
    assert_eq!(world.script.count("provider.ask"), 2);
}

/// The second line has it, so something was touched: that is no refusal.
#[tokio::test]
async fn an_escalation_that_arrived_is_not_called_refused_when_the_row_changes_meanwhile() {
    let world = World::with_stuck(&["inv-41"]);
    world.script.hold("escalation.send");
    let task = tokio::spawn({
        let desk = desk_that_escalates(&world);
        async move { decide(&desk, order("inv-41", Escalate)).await }
    });
    world.script.begun("escalation.send", 1).await;
    world.source.overwrite("inv-41", "failed");
    world.script.let_go("escalation.send", 1);
    let decided = task.await.unwrap().unwrap();
    assert!(
        matches!(&decided.outcome, Outcome::Failed { why } if why.contains("the escalation arrived, and the row changed")),
        "{:?}",
        decided.outcome
    );
    assert_eq!(world.events(), ["intended", "failed"]);
    assert!(world.entries()[1].body.contains("ticket 7"));
}
