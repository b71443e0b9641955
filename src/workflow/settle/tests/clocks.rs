//! The console's own clock may be set, and its machine may sleep, while a decision is made.

use super::*;
use crate::ports::clock::Clock;
use crate::workflow::fakes::{PROCESS, now};
use pretty_assertions::assert_eq;
use rstest::rstest;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A clock that is set when it is read for so many times.
struct SetClock {
    set_at: usize,
    by: TimeDelta,
    read: AtomicUsize,
}

impl Clock for SetClock {
    fn now(&self) -> DateTime<Utc> {
        let read = self.read.fetch_add(1, Ordering::Relaxed);
        now() + if read >= self.set_at { self.by } else { TimeDelta::zero() }
    }

    fn new_id(&self) -> Uuid {
        Uuid::now_v7()
    }

    fn process(&self) -> u32 {
        PROCESS
    }

    fn lives(&self, _process: u32) -> Option<bool> {
        None
    }
}

/// An absence that has not settled never settles because somebody set the clock of the console.
#[rstest]
#[case::forward(TimeDelta::hours(3))]
#[case::back(-TimeDelta::hours(3))]
#[tokio::test]
async fn a_clock_that_is_set_at_any_moment_lets_no_retry_through_early(#[case] by: TimeDelta) {
    let mut set_at = 0;
    loop {
        let world = World::with_stuck(&["inv-41"]).that_settles_after(TimeDelta::hours(6));
        let mut desk = world.desk_of_process(PROCESS);
        let clock = Arc::new(SetClock { set_at, by, read: AtomicUsize::new(0) });
        desk.clock = Arc::clone(&clock) as _;
        let decided = decide(&Arc::new(desk), order("inv-41", Retry)).await.unwrap();
        assert_eq!(decided.outcome.as_str(), "refused", "set at reading {set_at}: {:?}", decided.outcome);
        assert_eq!(world.source.row("inv-41"), Some(stuck_row("inv-41")));
        if clock.read.load(Ordering::Relaxed) <= set_at {
            break;
        }
        set_at += 1;
    }
    assert!(set_at > 3, "the clock was read {set_at} times");
}

/// Nothing is decided on an answer that took longer than evidence may be old.
#[rstest]
#[case("source.payload")]
#[case("provider.ask")]
#[tokio::test]
async fn a_machine_that_sleeps_while_the_provider_is_asked_decides_nothing(#[case] held: &'static str) {
    let world = World::with_stuck(&["inv-41"]);
    world.script.hold(held);
    let task = tokio::spawn({
        let desk = world.desk();
        async move { decide(&desk, order("inv-41", Retry)).await }
    });
    world.script.begun(held, 1).await;
    *world.clock_ahead.lock().unwrap() = TimeDelta::hours(8);
    world.script.let_go(held, 1);
    let decided = task.await.unwrap().unwrap();
    assert!(
        matches!(&decided.outcome, Outcome::Refused { why, .. } if why.contains("the look took too long")),
        "{:?}",
        decided.outcome
    );
    assert_eq!(world.events(), ["refused"]);
}

/// A proposal that was in time when somebody began to approve it is not carried out once its time is over.
#[tokio::test]
async fn a_machine_that_sleeps_while_somebody_approves_carries_nothing_out_too_late() {
    for held in ["source.read", "source.payload", "provider.ask"] {
        let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
        let proposal = approvals::proposed(&world, MarkDone, false).await;
        world.script.calm();
        world.script.hold(held);
        let bob = Arc::new(approvals::desk_of(&world, "Bob", 102));
        let order = approvals::approval(&proposal, false);
        let task = tokio::spawn(async move { approve::approve(&bob, order).await });
        world.script.begun(held, 1).await;
        *world.clock_ahead.lock().unwrap() = TimeDelta::hours(5);
        world.script.let_go(held, 1);
        let decided = task.await.unwrap().unwrap();
        assert_eq!(decided.outcome.as_str(), "refused", "{held}: {:?}", decided.outcome);
        assert_eq!(world.source.row("inv-41"), Some(stuck_row("inv-41")), "{held}");
        assert_eq!(world.count(Event::Intended), 0, "{held}");
    }
}
