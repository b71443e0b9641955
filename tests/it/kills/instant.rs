//! When to kill: anywhere in a run, by what the run has shown so far and how long its steps took before.

use std::io::BufRead;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant as Moment};

/// Numbers that look random and are the same for the same seed (splitmix64).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 up to, not including, `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    /// A part of a time, evenly distributed.
    pub fn within(&mut self, whole: Duration) -> Duration {
        Duration::from_nanos(self.below(u64::try_from(whole.as_nanos()).unwrap()))
    }
}

/// An instant of a run: so long after so many lines of output.
#[derive(Debug, Clone, Copy)]
pub struct Instant {
    pub lines: usize,
    pub delay: Duration,
}

/// One kill of so many falls while a run starts, where there is least to break.
const STARTS_ONE_IN: u64 = 8;

/// How long the steps of the runs before took, by which an instant within a step is chosen.
#[derive(Debug)]
pub struct Pace {
    /// From the start to the first line.
    to_the_first: Duration,
    /// From one line to the next.
    between: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { to_the_first: Duration::from_millis(300), between: Duration::from_millis(50) }
    }
}

impl Pace {
    /// An instant of a run that is going to refuse so many items again and then to decide so many, each with a line of
    /// output: mostly within one of its decisions or after the last, at times while it starts.
    pub fn instant(&self, random: &mut Random, refusals: usize, decisions: usize) -> Instant {
        if random.below(STARTS_ONE_IN) == 0 {
            return Instant { lines: 0, delay: random.within(self.to_the_first) };
        }
        let lines = refusals + usize::try_from(random.below(u64::try_from(decisions).unwrap() + 1)).unwrap();
        let begins = if lines == 0 { self.to_the_first.saturating_sub(self.between) } else { Duration::ZERO };
        // The later of two: a decision first reads and asks, and the places of interest come after that.
        let within = random.within(self.between).max(random.within(self.between));
        Instant { lines, delay: begins + within }
    }

    /// Kills the run at an instant, unless it is over before.
    pub fn kill(&mut self, child: &mut Child, instant: Instant) -> ExitStatus {
        let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
        let began = Moment::now();
        let mut first = None;
        for _ in 0..instant.lines {
            if lines.next().is_none() {
                return child.wait().unwrap();
            }
            first.get_or_insert_with(Moment::now);
        }
        if let Some(first) = first {
            self.to_the_first = (self.to_the_first + (first - began)) / 2;
            if instant.lines > 1 {
                let steps = u32::try_from(instant.lines - 1).unwrap();
                self.between = (self.between + first.elapsed() / steps) / 2;
            }
        }
        std::thread::sleep(instant.delay);
        child.kill().unwrap();
        child.wait().unwrap()
    }
}
