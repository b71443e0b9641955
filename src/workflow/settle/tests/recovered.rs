//! Decisions that broke off between intent and outcome are settled by reading the row.

use super::*;
use crate::workflow::fakes::PROCESS;
use crate::workflow::recover::recover;
use pretty_assertions::assert_eq;

/// A decision whose program ended right before or right after the write.
async fn broken_off(choice: Choice, trouble: Trouble, escalates: bool) -> World {
    let effects = usize::from(choice == MarkDone);
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", effects);
    let desk = if escalates { desk_that_escalates(&world) } else { world.desk() };
    world.script.trouble_in("source.apply", trouble);
    tokio::select! {
        told = decide(&desk, order("inv-41", choice)) => panic!("it was to break off: {told:?}"),
        () = world.script.crashed() => {}
    }
    world.script.calm();
    world
}

#[rstest]
#[case::done_and_written(MarkDone, Trouble::CrashAfter, false, "applied", "it was carried out")]
#[case::done_and_not_written(MarkDone, Trouble::CrashBefore, false, "refused", "as it was seen")]
#[case::released_and_gone(Retry, Trouble::CrashAfter, false, "applied", "it was carried out")]
#[case::released_and_there(Retry, Trouble::CrashBefore, false, "refused", "as it was seen")]
#[case::escalated_on_record_alone(Escalate, Trouble::CrashBefore, false, "applied", "it was carried out")]
#[case::escalated_to_somebody(Escalate, Trouble::CrashBefore, true, "failed", "not known")]
#[tokio::test]
async fn a_decision_that_broke_off_is_settled_by_its_row(
    #[case] choice: Choice,
    #[case] trouble: Trouble,
    #[case] escalates: bool,
    #[case] outcome: &str,
    #[case] told: &str,
) {
    let world = broken_off(choice, trouble, escalates).await;
    let row = world.source.row("inv-41");
    let recovered = recover(&world.desk_of_process(201)).await.unwrap();
    let [one] = &recovered[..] else { panic!("{recovered:?}") };
    assert_eq!(
        (one.choice, one.outcome.as_ref().map(Outcome::as_str)),
        (Some(choice), Some(outcome)),
        "{one:?}"
    );
    assert!(one.told.contains(told), "{}", one.told);
    assert_eq!(world.events(), ["intended", outcome]);
    assert_eq!(world.source.row("inv-41"), row);
}

#[rstest]
#[case::changed_by_a_worker(MarkDone, "failed", "somebody else changed it")]
#[case::done_by_a_worker(MarkDone, "done", "somebody else changed it")]
#[case::taken_anew(Retry, "running", "somebody else changed it")]
#[case::removed(MarkDone, "", "somebody else removed it")]
#[tokio::test]
async fn what_somebody_else_did_is_not_called_ours(
    #[case] choice: Choice,
    #[case] became: &str,
    #[case] told: &str,
) {
    let world = broken_off(choice, Trouble::CrashBefore, false).await;
    if became.is_empty() {
        world.source.remove("inv-41");
    } else {
        world.source.overwrite("inv-41", became);
    }
    let recovered = recover(&world.desk_of_process(201)).await.unwrap();
    assert!(
        matches!(&recovered[0].outcome, Some(Outcome::Failed { why }) if why.contains(told)),
        "{recovered:?}"
    );
    assert_eq!(world.events(), ["intended", "failed"]);
}

#[tokio::test]
async fn a_decision_of_a_process_that_lives_is_left_to_it() {
    let world = broken_off(MarkDone, Trouble::CrashAfter, false).await;
    // Process 100 is the one that intended it; to itself, newly started, it is another's.
    let living = world.desk_of_process(PROCESS);
    assert_eq!(recover(&living).await.unwrap().len(), 1);

    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    world.script.trouble_in("source.apply", Trouble::CrashAfter);
    // Odd numbers live.
    let desk = Arc::new(world.desk_of_process(101));
    tokio::select! {
        told = decide(&desk, order("inv-41", MarkDone)) => panic!("it was to break off: {told:?}"),
        () = world.script.crashed() => {}
    }
    world.script.calm();
    assert_eq!(recover(&world.desk_of_process(200)).await.unwrap(), []);
    assert_eq!(world.events(), ["intended"]);
}

#[tokio::test]
async fn a_row_that_cannot_be_read_now_stays_open() {
    let world = broken_off(MarkDone, Trouble::CrashAfter, false).await;
    world.script.trouble_in("source.read", Trouble::FailBefore);
    let recovered = recover(&world.desk_of_process(201)).await.unwrap();
    assert_eq!(recovered[0].outcome, None);
    assert_eq!(world.events(), ["intended"]);
    let recovered = recover(&world.desk_of_process(201)).await.unwrap();
    assert_eq!(recovered[0].outcome.as_ref().map(Outcome::as_str), Some("applied"));
    assert_eq!(world.events(), ["intended", "applied"]);
}

#[tokio::test]
async fn an_outcome_that_could_not_be_recorded_is_told_and_found_later() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    world.script.hold("source.apply");
    let task = tokio::spawn({
        let desk = world.desk();
        async move { decide(&desk, order("inv-41", MarkDone)).await }
    });
    world.script.begun("source.apply", 1).await;
    world.script.trouble_in("record.append", Trouble::FailBefore);
    world.script.let_go("source.apply", 1);
    let decided = task.await.unwrap().unwrap();
    assert_eq!(decided.outcome.as_str(), "applied");
    assert_eq!(decided.entry, None);
    assert!(decided.record_fault.is_some());
    assert_eq!(world.events(), ["intended"]);

    world.script.calm();
    let recovered = recover(&world.desk_of_process(201)).await.unwrap();
    assert_eq!(recovered[0].outcome.as_ref().map(Outcome::as_str), Some("applied"));
    assert_eq!(world.events(), ["intended", "applied"]);
}

/// The later one released the row: its absence says nothing of the earlier one.
#[tokio::test]
async fn what_a_later_decision_did_is_not_called_the_earlier_ones() {
    let world = broken_off(Retry, Trouble::CrashBefore, false).await;
    let later = decide(&Arc::new(world.desk_of_process(201)), order("inv-41", Retry)).await.unwrap();
    assert_eq!((later.outcome.as_str(), world.source.row("inv-41")), ("applied", None));
    let recovered = recover(&world.desk_of_process(201)).await.unwrap();
    let [one] = &recovered[..] else { panic!("{recovered:?}") };
    assert!(one.told.contains("another decision touched the same item since"), "{}", one.told);
    assert_eq!(world.events(), ["intended", "intended", "applied", "failed"]);
}

/// It had seen the row before the other one removed it, and its intent came after: the row's absence says nothing of it.
#[rstest]
#[case::crashed(Trouble::CrashBefore)]
#[case::not_confirmed(Trouble::FailBefore)]
#[tokio::test]
async fn what_an_earlier_decision_did_is_not_called_the_later_ones(
    #[case] trouble: Trouble,
    // To mark it done, both write the very same values: the clock stands still.
    #[values((Retry, 0), (MarkDone, 1))] (choice, effects): (Choice, usize),
) {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", effects);
    let gate = world.script.hold("source.payload");
    let slow = tokio::spawn({
        let desk = world.desk();
        async move { decide(&desk, order("inv-41", choice)).await }
    });
    world.script.begun("source.payload", 1).await;
    world.script.calm();
    let quick = decide(&Arc::new(world.desk_of_process(201)), order("inv-41", choice)).await.unwrap();
    assert_eq!(quick.outcome.as_str(), "applied");
    world.script.trouble_in("source.apply", trouble);
    world.source.lose_commits();
    gate.add_permits(1);
    tokio::select! {
        told = slow => assert_eq!(told.unwrap().unwrap().outcome.as_str(), "failed"),
        () = world.script.crashed() => {}
    }
    world.script.calm();
    recover(&world.desk_of_process(203)).await.unwrap();
    assert_eq!(world.events(), ["intended", "applied", "intended", "failed"]);
}

/// Two consoles begin at once and find the same decision broken off.
#[tokio::test]
async fn a_decision_that_two_consoles_recover_at_once_ends_once() {
    let world = broken_off(MarkDone, Trouble::CrashAfter, false).await;
    world.script.hold("record.append");
    let recovering = |process| {
        let desk = world.desk_of_process(process);
        tokio::spawn(async move { recover(&desk).await })
    };
    let (one, other) = (recovering(201), recovering(203));
    world.script.begun("record.append", 2).await;
    world.script.let_go("record.append", 2);
    let (one, other) = (one.await.unwrap().unwrap(), other.await.unwrap().unwrap());
    assert_eq!((one.len(), &one), (1, &other), "both saw the same");
    assert_eq!(world.events(), ["intended", "applied"]);
}

/// A process that lives and has not been heard of for long may go on: that it did nothing so far is no refusal.
#[tokio::test]
async fn a_decision_that_is_held_up_is_not_called_refused_and_may_still_be_carried_out() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    world.script.hold("source.apply");
    // Odd numbers live.
    let held_up = tokio::spawn({
        let desk = Arc::new(world.desk_of_process(101));
        async move { decide(&desk, order("inv-41", MarkDone)).await }
    });
    world.script.begun("source.apply", 1).await;
    assert_eq!(recover(&world.desk_of_process(200)).await.unwrap(), [], "it may be at it");
    *world.clock_ahead.lock().unwrap() = TimeDelta::minutes(6);
    let recovered = recover(&world.desk_of_process(200)).await.unwrap();
    assert!(
        matches!(&recovered[0].outcome, Some(Outcome::Failed { why }) if why.contains("may yet be carried out")),
        "{recovered:?}"
    );
    world.script.let_go("source.apply", 1);
    let decided = held_up.await.unwrap().unwrap();
    assert_eq!(decided.outcome.as_str(), "applied");
    assert_eq!((decided.entry, decided.record_fault.is_some()), (None, true));
    assert_eq!(world.events(), ["intended", "failed"], "a decision ends once");
}
