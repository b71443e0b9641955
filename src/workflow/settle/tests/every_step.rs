//! Every port call of a decision fails or crashes once, before and after it acted; after each, the rules hold.

use super::*;
use crate::domain::audit::Entry;
use crate::workflow::recover::recover;
use pretty_assertions::assert_eq;
use serde_json::Value;

/// More port calls than any decision makes.
const CALLS_MAX: usize = 20;

#[rstest]
#[case::mark_done(MarkDone, 1)]
#[case::retry(Retry, 0)]
#[case::escalate(Escalate, 0)]
#[tokio::test]
async fn the_rules_hold_after_a_trouble_at_any_step(#[case] choice: Choice, #[case] effects: usize) {
    for trouble in Trouble::ALL {
        let mut steps = 0;
        for step in 0..CALLS_MAX {
            let world = World::with_stuck(&["inv-41"]).happened("inv-41", effects);
            world.script.trouble_at(step, trouble);
            let told = decide_or_crash(&world, choice).await;
            let is_reached = world.script.calls().len() > step;
            let context = format!("{choice} with {trouble:?} at step {step}: {:?}", world.script.calls());
            no_write_without_an_intent(&world, &context);
            what_was_told_is_true(&world, told.as_ref(), &context);
            everything_is_settled_by_the_next_start(&world, choice, &context).await;
            if !is_reached {
                assert_eq!(told.unwrap().unwrap().outcome.as_str(), "applied", "{context}");
                break;
            }
            steps += 1;
        }
        assert!((5..CALLS_MAX).contains(&steps), "{steps} steps of {choice} were tried");
    }
}

/// What the operator was told; `None` when the program ended before it could tell anything.
async fn decide_or_crash(world: &World, choice: Choice) -> Option<Result<Decided, OrderFault>> {
    let desk = desk_that_escalates(world);
    tokio::select! {
        told = decide(&desk, order("inv-41", choice)) => Some(told),
        () = world.script.crashed() => None,
    }
}

fn is_touched(world: &World) -> bool {
    world.source.row("inv-41") != Some(stuck_row("inv-41")) || !world.escalations.lock().unwrap().is_empty()
}

/// Rule 8: the intent is durable before anything is touched.
fn no_write_without_an_intent(world: &World, context: &str) {
    if is_touched(world) {
        assert_eq!(world.count(Event::Intended), 1, "{context}");
    }
    let calls = world.script.calls();
    let first_of = |name: &str| calls.iter().position(|call| call.starts_with(name));
    for touching in ["source.apply", "escalation.send"] {
        if let Some(touched) = first_of(touching) {
            assert!(
                first_of("record.append intended").is_some_and(|intended| intended < touched),
                "{context}"
            );
        }
        assert!(calls.iter().filter(|call| call.starts_with(touching)).count() <= 1, "once: {context}");
    }
}

/// Whoever is told that it is done, or that nothing was touched, is told the truth.
fn what_was_told_is_true(world: &World, told: Option<&Result<Decided, OrderFault>>, context: &str) {
    match told {
        None => {}
        Some(Err(fault)) => {
            assert!(!fault.do_next().is_empty(), "{context}");
            assert!(!is_touched(world), "{fault}: {context}");
        }
        Some(Ok(decided)) => match &decided.outcome {
            Outcome::Applied { after, .. } => assert_eq!(&world.source.row("inv-41"), after, "{context}"),
            Outcome::Refused { .. } | Outcome::Proposed { .. } => {
                assert!(!is_touched(world), "{context}");
            }
            Outcome::Failed { .. } => assert!(decided.do_next.is_some(), "{context}"),
        },
    }
}

/// What broke off is found, settled by reading, once; and the row is not touched by that.
async fn everything_is_settled_by_the_next_start(world: &World, choice: Choice, context: &str) {
    world.script.calm();
    let row = world.source.row("inv-41");
    // The process that broke off had an even number and is gone.
    let desk = world.desk_of_process(201);
    let recovered = recover(&desk).await.unwrap();
    assert!(recovered.len() <= 1, "{context}");
    assert_eq!(world.script.count("source.apply") + world.script.count("escalation.send"), 0, "{context}");
    assert_eq!(world.source.row("inv-41"), row, "{context}");
    assert_eq!(recover(&desk).await.unwrap(), [], "once: {context}");

    let entries = world.entries();
    for intent in entries.iter().filter(|entry| entry.event == Event::Intended.as_str()) {
        let outcomes: Vec<&Entry> = entries
            .iter()
            .filter(|entry| entry.decision == intent.decision && entry.seq > intent.seq)
            .collect();
        assert_eq!(outcomes.len(), 1, "one outcome an intent: {context}");
        let is_written = row != Some(stuck_row("inv-41"));
        if choice != Escalate {
            assert_eq!(
                outcomes[0].event == Event::Applied.as_str(),
                is_written,
                "{context}: {:?}",
                outcomes[0]
            );
        }
        let body: Value = serde_json::from_str(&outcomes[0].body).unwrap();
        assert_eq!(body["intent"], intent.seq, "{context}");
    }
}
