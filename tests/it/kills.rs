//! The program killed (SIGKILL) at random instants, over and over, and started again until nothing is left to do.
//!
//! Afterwards three stories have to agree: the audit, the rows, and a log that triggers in the source wrote. The seed is
//! printed; the number of kills comes from `UNSTUCK_TEST_KILLS`.

mod instant;
mod others;
mod round;

use crate::ledger::Ledger;
use instant::{Pace, Random};
use round::Round;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many kills there are where nobody asks for more.
const KILLS: usize = 25;
/// What the instants come from.
const SEED: u64 = 7;
/// How many rounds run side by side: they mostly wait for the disk.
const ROUNDS_SIDE_BY_SIDE: u64 = 2;

/// What was counted, over all rounds.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    /// Rounds, each with files of its own.
    rounds: usize,
    /// Items decided.
    items: usize,
    /// Kills by where they fell.
    before_the_intent: usize,
    /// The row not written yet.
    after_the_intent: usize,
    /// The row written, the outcome not on record.
    after_the_write: usize,
    after_an_outcome: usize,
    /// Of all kills, those of a start that had found a decision broken off and not settled it yet.
    while_recovering: usize,
    intents: usize,
    applied: usize,
    refused: usize,
    failed: usize,
    refused_before_an_intent: usize,
    recovered: usize,
    /// Changes of the source, each one paired with the one decision that made it.
    writes: usize,
    /// Escalations that arrived, repeats under the same key counted.
    notices: usize,
}

impl Counts {
    fn kills(&self) -> usize {
        self.before_the_intent + self.after_the_intent + self.after_the_write + self.after_an_outcome
    }

    fn between(&self) -> usize {
        self.after_the_intent + self.after_the_write
    }

    fn line(&self) -> String {
        format!(
            "kills {}: {} before the intent, {} between intent and outcome ({} with the row written), {} after an \
             outcome; {} of them while something was to be recovered. rounds {}, items {}, intents {} = applied {} + \
             refused {} + failed {}, refused before an intent {}, recovered {}, writes {}, twice: 0, escalations \
             arrived {}",
            self.kills(),
            self.before_the_intent,
            self.between(),
            self.after_the_write,
            self.after_an_outcome,
            self.while_recovering,
            self.rounds,
            self.items,
            self.intents,
            self.applied,
            self.refused,
            self.failed,
            self.refused_before_an_intent,
            self.recovered,
            self.writes,
            self.notices,
        )
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.items += other.items;
        self.before_the_intent += other.before_the_intent;
        self.after_the_intent += other.after_the_intent;
        self.after_the_write += other.after_the_write;
        self.after_an_outcome += other.after_an_outcome;
        self.while_recovering += other.while_recovering;
        self.intents += other.intents;
        self.applied += other.applied;
        self.refused += other.refused;
        self.failed += other.failed;
        self.refused_before_an_intent += other.refused_before_an_intent;
        self.recovered += other.recovered;
        self.writes += other.writes;
        self.notices += other.notices;
    }
}

fn kills_wanted() -> usize {
    let wanted = std::env::var_os("UNSTUCK_TEST_KILLS").and_then(|text| text.into_string().ok());
    wanted.map_or(KILLS, |text| text.parse().expect("UNSTUCK_TEST_KILLS is a number"))
}

#[test]
fn killed_at_any_instant_each_item_is_decided_once_and_on_record() {
    let kills_left = AtomicUsize::new(kills_wanted());
    let mut counts = Counts::default();
    std::thread::scope(|scope| {
        let kills_left = &kills_left;
        let rounds: Vec<_> = (0..ROUNDS_SIDE_BY_SIDE)
            .map(|number| {
                scope.spawn(move || {
                    let (mut random, mut pace) = (Random::new(SEED + number), Pace::default());
                    let mut counts = Counts::default();
                    while kills_left.load(Ordering::Relaxed) > 0 {
                        let ledger = Ledger::new();
                        let journal = ["delete", "wal"][counts.rounds % 2];
                        let mut round = Round::new(&ledger, journal);
                        round.play(kills_left, &mut random, &mut pace);
                        counts += round.account(&ledger);
                    }
                    counts
                })
            })
            .collect();
        for round in rounds {
            counts += round.join().unwrap();
        }
    });
    println!("seed {SEED}: {}", counts.line());
    assert!(counts.kills() >= kills_wanted());
    // Kills that fell elsewhere prove little. One in twenty after the write is too much to ask of 25.
    assert!(counts.between() * 5 >= counts.kills(), "too few fell between intent and outcome");
    assert!(counts.after_the_intent > 0, "none fell before the row was written");
    assert!(counts.kills() < 200 || counts.after_the_write * 20 >= counts.kills(), "too few fell after that");
}
