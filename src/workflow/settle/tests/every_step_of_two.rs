//! Every port call of a proposal and of its approval fails or crashes once, before and after it acted; the rules hold.

use super::approvals::{approval, desk_of, proposed};
use super::*;
use crate::workflow::recover::recover;
use crate::workflow::settle::approve::approve;
use crate::workflow::settle::propose::waiting;
use pretty_assertions::assert_eq;

/// More port calls than either of them makes.
const CALLS_MAX: usize = 20;

#[tokio::test]
async fn a_proposal_is_on_record_or_not_and_touches_nothing_after_a_trouble_at_any_step() {
    for trouble in Trouble::ALL {
        let mut steps = 0;
        for step in 0..CALLS_MAX {
            let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
            world.script.trouble_at(step, trouble);
            let desk = Arc::new(desk_of(&world, "Ada", 100));
            let told = tokio::select! {
                told = decide(&desk, order("inv-41", MarkDone)) => Some(told),
                () = world.script.crashed() => None,
            };
            let is_reached = world.script.calls().len() > step;
            let context = format!("{trouble:?} at step {step}: {:?}", world.script.calls());
            assert_eq!(world.source.row("inv-41"), Some(stuck_row("inv-41")), "{context}");
            assert_eq!(world.script.count("source.apply"), 0, "{context}");
            let on_record = world.count(Event::Proposed);
            assert!(on_record <= 1 && world.count(Event::Intended) == 0, "{context}");
            if let Some(Ok(decided)) = &told
                && let Outcome::Proposed { proposal, .. } = &decided.outcome
            {
                world.script.calm();
                assert_eq!(waiting(&desk).await.unwrap(), [(**proposal).clone()], "{context}");
            }
            world.script.calm();
            assert_eq!(recover(&world.desk_of_process(201)).await.unwrap(), [], "{context}");
            // Whoever tries again comes to one proposal, not to two.
            let again = decide(&desk, order("inv-41", MarkDone)).await.unwrap();
            let expected = if on_record == 1 { "refused" } else { "proposed" };
            assert_eq!(again.outcome.as_str(), expected, "{context}");
            assert_eq!(world.count(Event::Proposed), 1, "{context}");
            if !is_reached {
                assert_eq!(told.unwrap().unwrap().outcome.as_str(), "proposed", "{context}");
                break;
            }
            steps += 1;
        }
        assert_eq!(steps, 6, "steps of a proposal with {trouble:?}");
    }
}

#[rstest]
#[case::mark_done(MarkDone, 1, false)]
#[case::retry(Retry, 0, false)]
#[case::retry_against_the_advice(Retry, 1, true)]
#[tokio::test]
async fn an_approval_is_carried_out_once_or_not_at_all_after_a_trouble_at_any_step(
    #[case] choice: Choice,
    #[case] effects: usize,
    #[case] insists: bool,
) {
    for trouble in Trouble::ALL {
        let mut steps = 0;
        for step in 0..CALLS_MAX {
            let world = World::with_stuck(&["inv-41"]).happened("inv-41", effects);
            let proposal = proposed(&world, choice, insists).await;
            world.script.trouble_at(step, trouble);
            let desk = Arc::new(desk_of(&world, "Bob", 102));
            let told = tokio::select! {
                told = approve(&desk, approval(&proposal, insists)) => Some(told),
                () = world.script.crashed() => None,
            };
            let is_reached = world.script.calls().len() > step;
            let context = format!("{choice} with {trouble:?} at step {step}: {:?}", world.script.calls());
            let is_written = world.source.row("inv-41") != Some(stuck_row("inv-41"));
            // Rule 8, and one intent a decision with both persons in it.
            let intents: Vec<_> =
                world.entries().into_iter().filter(|entry| entry.event == Event::Intended.as_str()).collect();
            assert!(intents.len() <= 1 && (!is_written || intents.len() == 1), "{context}");
            for intent in &intents {
                let body: serde_json::Value = serde_json::from_str(&intent.body).unwrap();
                assert_eq!(body["approval"]["proposed"]["operator"], "Ada", "{context}");
                assert_eq!(body["approval"]["approved"]["operator"], "Bob", "{context}");
                assert_eq!(intent.decision, proposal.id.to_string(), "{context}");
            }
            assert!(world.script.count("source.apply") <= 1, "{context}");
            if let Some(Ok(decided)) = &told {
                assert_eq!(decided.outcome.as_str() == "applied", is_written, "{context}");
            }
            world.script.calm();
            settled_by_the_next_start(&world, intents.len(), is_written, &context).await;
            // Where it came to no intent, the proposal still waits and can be approved; else it is used up.
            assert_eq!(waiting(&desk).await.unwrap().len(), 1 - intents.len(), "{context}");
            let again = approve(&desk, approval(&proposal, insists)).await.unwrap();
            let expected = if intents.is_empty() { "applied" } else { "refused" };
            assert_eq!(again.outcome.as_str(), expected, "{context}: {again:?}");
            assert_eq!(world.count(Event::Intended), 1, "{context}");
            if !is_reached {
                assert_eq!(told.unwrap().unwrap().outcome.as_str(), "applied", "{context}");
                break;
            }
            steps += 1;
        }
        assert_eq!(steps, 7, "steps of an approval with {trouble:?}");
    }
}

/// An approved intent that broke off is found and settled by its row, as any other.
async fn settled_by_the_next_start(world: &World, intents: usize, is_written: bool, context: &str) {
    let row = world.source.row("inv-41");
    let desk = world.desk_of_process(201);
    let open = usize::from(world.entries().last().unwrap().event == Event::Intended.as_str());
    let recovered = recover(&desk).await.unwrap();
    assert_eq!(recovered.len(), open, "{context}");
    assert_eq!(recover(&desk).await.unwrap(), [], "once: {context}");
    assert_eq!((world.source.row("inv-41"), world.script.count("source.apply")), (row, 0), "{context}");
    let outcomes = [Event::Applied, Event::Refused, Event::Failed];
    let outcomes = outcomes.map(|event| world.count(event));
    if intents == 1 {
        assert_eq!(outcomes[0] == 1, is_written, "{context}: {:?}", world.events());
        assert_eq!(outcomes.iter().sum::<usize>(), 1, "one outcome an intent: {context}");
    }
}
