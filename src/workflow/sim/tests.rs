//! Many seeds hold the rules; every mutant is caught.

use super::invariants::Violation;
use super::mutants::Mutant;
use super::schedule::play;
use super::tally::Tally;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many seeds a plain `cargo test` plays.
const SEEDS: u64 = 1_000;
/// How many of the last steps a failure shows.
const STEPS_SHOWN: usize = 120;

#[expect(clippy::disallowed_methods, reason = "which seeds are played is for whoever starts the test to say")]
fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, and is `{text}`")))
}

/// Plays a failing seed again, now with its steps told.
fn told(seed: u64, broken: &Violation) -> String {
    let played = play(seed, None, true);
    let mut told = format!("seed {seed} breaks {:?}: {}\n", broken.rule, broken.what);
    let _written = writeln!(told, "replay it: UNSTUCK_SIM_SEED={seed} cargo test --lib workflow::sim");
    let from = played.log.len().saturating_sub(STEPS_SHOWN);
    for step in &played.log[from..] {
        let _written = writeln!(told, "  {step}");
    }
    assert_eq!(played.broken.as_ref(), Some(broken), "a seed always plays the same");
    told
}

#[test]
fn the_rules_hold_over_every_seed() {
    if let Some(seed) = number_from("UNSTUCK_SIM_SEED") {
        let played = play(seed, None, true);
        println!("{}", played.log.join("\n"));
        assert!(played.broken.is_none(), "{:?}", played.broken);
        return;
    }
    let seeds = number_from("UNSTUCK_SIM_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(0);
    let (all, failed) = (Mutex::new(Tally::default()), Mutex::new(None::<(u64, Violation)>));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut tally = Tally::default();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds || failed.lock().unwrap().is_some() {
                        break;
                    }
                    let played = play(seed, None, false);
                    tally.add(&played.tally);
                    if let Some(broken) = played.broken {
                        failed.lock().unwrap().get_or_insert((seed, broken));
                    }
                }
                all.lock().unwrap().add(&tally);
            });
        }
    });
    if let Some((seed, broken)) = failed.into_inner().unwrap() {
        panic!("{}", told(seed, &broken));
    }
    let all = all.into_inner().unwrap();
    println!("simulated: {}", sentence(&all));
    assert_eq!(all.seeds, seeds);
    if seeds >= SEEDS {
        assert_eq!(all.missing(), Vec::<String>::new(), "the simulation never met these");
    }
}

fn sentence(tally: &Tally) -> String {
    let of = |what: &'static str| {
        let counts = tally.others.iter().filter(|((group, _), _)| *group == what);
        counts.map(|(_, count)| count).sum::<u64>()
    };
    format!(
        "{} seeds, {} steps, {} calls broken off by crashes, {} faults met; {} decisions applied, {} refused, {} failed, {} recovered; {} proposed, {} approved, {} withdrawn, {} lapsed, {} approvals refused",
        tally.seeds,
        tally.steps,
        tally.crashes.values().sum::<u64>(),
        tally.faults(),
        of("applied"),
        of("refused"),
        of("failed"),
        of("recovered"),
        tally.count("proposed", "mark_done") + tally.count("proposed", "retry"),
        tally.count("approved", "mark_done") + tally.count("approved", "retry"),
        of("withdrawn"),
        of("lapsed"),
        of("approval refused"),
    )
}

#[test]
fn a_seed_always_plays_the_same() {
    for seed in 0..5 {
        let (one, other) = (play(seed, None, true), play(seed, None, true));
        assert!(one.log.len() > 100, "{} steps", one.log.len());
        assert_eq!(one.log, other.log, "seed {seed}");
    }
}

#[test]
fn every_mutant_is_caught_by_its_rule() {
    for (mutant, rules) in Mutant::ALL {
        let seeds_max = mutant.seeds_max();
        let caught = (0..seeds_max)
            .find_map(|seed| play(seed, Some(mutant), false).broken.map(|broken| (seed, broken)));
        let Some((seed, broken)) = caught else {
            panic!("{mutant:?} was not caught within {seeds_max} seeds");
        };
        println!("mutant {mutant:?} is caught at seed {seed} by {:?}", broken.rule);
        assert!(rules.contains(&broken.rule), "{mutant:?} was caught by {broken:?} and not by {rules:?}");
    }
}
