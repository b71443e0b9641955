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

impl Counts {
    /// Kills that fell elsewhere prove little: of so many wanted, one in five has to fall between intent and outcome, and one
    /// in twenty after the write (too much to ask of a few).
    fn fell_well(&self, wanted: usize) -> bool {
        self.between() * 5 >= wanted
            && self.after_the_intent > 0
            && (wanted < 200 || self.after_the_write * 20 >= wanted)
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
    let (mut counts, mut seed) = (Counts::default(), SEED);
    // Where few kills fell in the places of interest, some more are given: how fast a machine is decides on that.
    while counts.kills() < kills_wanted()
        || (!counts.fell_well(kills_wanted()) && counts.kills() < 4 * kills_wanted())
    {
        let kills_left = AtomicUsize::new(kills_wanted().saturating_sub(counts.kills()).max(10));
        std::thread::scope(|scope| {
            let kills_left = &kills_left;
            let rounds = (seed..seed + ROUNDS_SIDE_BY_SIDE)
                .map(|seed| scope.spawn(move || kill_all(kills_left, seed)));
            for round in rounds.collect::<Vec<_>>() {
                counts += round.join().unwrap();
            }
        });
        seed += ROUNDS_SIDE_BY_SIDE;
    }
    println!("seed {SEED}: {}", counts.line());
    assert!(
        counts.fell_well(kills_wanted()),
        "too few fell between intent and outcome, or after the row was written"
    );
}

/// Kills whole rounds until none are left to give.
fn kill_all(kills_left: &AtomicUsize, seed: u64) -> Counts {
    let (mut random, mut pace) = (Random::new(seed), Pace::default());
    let mut counts = Counts::default();
    while kills_left.load(Ordering::Relaxed) > 0 {
        let ledger = Ledger::new();
        let journal = ["delete", "wal"][counts.rounds % 2];
        let mut round = Round::new(&ledger, journal);
        round.play(kills_left, &mut random, &mut pace);
        counts += round.account(&ledger);
    }
    counts
}
