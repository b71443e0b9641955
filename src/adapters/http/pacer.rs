//! The pace of one provider, shared by all its operations and items.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// After how many 429s in a row the pace is not halved any further.
const SLOWEST_PARTS: u32 = 64;
/// How much of its interval a slowed pace gives back after each good answer: one part in twenty.
const RECOVERY_PARTS: u32 = 20;

/// Spaces requests, and stops all of them when the provider says to slow down.
#[derive(Debug)]
pub struct Pacer {
    usual: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    interval: Duration,
    free_at: Option<Instant>,
    paused_until: Option<Instant>,
}

/// Why there was no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoTurn {
    /// The provider asked everybody to wait, longer than there is time.
    Paused,
    /// The queue is longer than there is time.
    Queue,
}

impl Pacer {
    /// A pacer for so many requests a second.
    pub fn new(per_second: f64) -> Self {
        let usual = Duration::try_from_secs_f64(1.0 / per_second).unwrap_or(Duration::from_secs(1));
        Self { usual, state: Mutex::new(State { interval: usual, free_at: None, paused_until: None }) }
    }

    /// The time between two requests, as long as nobody says to slow down.
    pub fn usual(&self) -> Duration {
        self.usual
    }

    /// Waits for the next turn.
    ///
    /// # Errors
    /// When it would come after the deadline: then at once, without waiting for nothing.
    pub async fn turn(&self, deadline: Instant) -> Result<(), NoTurn> {
        loop {
            let at = self.reserve(deadline)?;
            sleep_until(at).await;
            // Somebody may have been told to slow down while we slept.
            if self.with(|state| state.paused_until.is_none_or(|until| until <= Instant::now())) {
                return Ok(());
            }
        }
    }

    fn reserve(&self, deadline: Instant) -> Result<Instant, NoTurn> {
        self.with(|state| {
            let now = Instant::now();
            let free = state.free_at.map_or(now, |free_at| free_at.max(now));
            let at = state.paused_until.map_or(free, |until| until.max(free));
            if at > deadline {
                let paused = state.paused_until.is_some_and(|until| until > deadline);
                return Err(if paused { NoTurn::Paused } else { NoTurn::Queue });
            }
            state.free_at = Some(at + state.interval);
            Ok(at)
        })
    }

    /// Stops everybody for a while and halves the pace, once for a burst of refusals.
    pub fn slow_down(&self, pause: Duration) {
        self.with(|state| {
            let now = Instant::now();
            let already_paused = state.paused_until.is_some_and(|until| until > now);
            if !already_paused {
                state.interval = (state.interval * 2).min(self.usual * SLOWEST_PARTS);
            }
            let until = now + pause;
            state.paused_until = Some(state.paused_until.map_or(until, |earlier| earlier.max(until)));
            // Whoever sleeps now asks for a new place after the pause, behind the places already given out.
            state.free_at = state.free_at.max(state.paused_until);
        });
    }

    /// Gives a little of the pace back after a good answer.
    pub fn went_well(&self) {
        self.with(|state| {
            if state.interval > self.usual {
                let given_back = state.interval / RECOVERY_PARTS;
                state.interval = state.interval.saturating_sub(given_back).max(self.usual);
            }
        });
    }

    /// The distance between two requests at present.
    #[cfg(test)]
    fn interval(&self) -> Duration {
        self.with(|state| state.interval)
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_ms(ms: u64) -> Instant {
        Instant::now() + Duration::from_millis(ms)
    }

    #[tokio::test]
    async fn requests_are_spaced() {
        let pacer = Pacer::new(100.0);
        let start = Instant::now();
        for _ in 0..4 {
            pacer.turn(in_ms(1_000)).await.unwrap();
        }
        assert!(start.elapsed() >= Duration::from_millis(30), "{:?}", start.elapsed());
    }

    #[tokio::test]
    async fn a_refusal_stops_everybody_and_halves_the_pace_once() {
        let pacer = Pacer::new(1_000.0);
        pacer.slow_down(Duration::from_millis(40));
        pacer.slow_down(Duration::from_millis(20));
        assert_eq!(pacer.interval(), Duration::from_millis(2));
        let start = Instant::now();
        pacer.turn(in_ms(1_000)).await.unwrap();
        assert!(start.elapsed() >= Duration::from_millis(35), "{:?}", start.elapsed());
        for _ in 0..30 {
            pacer.went_well();
        }
        assert_eq!(pacer.interval(), Duration::from_millis(1));
    }

    #[tokio::test]
    async fn a_sleeper_sees_a_pause_that_came_while_it_slept() {
        let pacer = std::sync::Arc::new(Pacer::new(50.0));
        pacer.turn(in_ms(1_000)).await.unwrap();
        let start = Instant::now();
        let waiting = {
            let pacer = pacer.clone();
            tokio::spawn(async move { pacer.turn(in_ms(1_000)).await })
        };
        tokio::task::yield_now().await;
        pacer.slow_down(Duration::from_millis(60));
        waiting.await.unwrap().unwrap();
        assert!(start.elapsed() >= Duration::from_millis(55), "{:?}", start.elapsed());
    }

    #[tokio::test]
    async fn nobody_waits_for_a_turn_that_comes_too_late() {
        let pacer = Pacer::new(0.1);
        pacer.turn(in_ms(50)).await.unwrap();
        assert_eq!(pacer.turn(in_ms(50)).await, Err(NoTurn::Queue));
        pacer.slow_down(Duration::from_mins(1));
        assert_eq!(pacer.turn(in_ms(50)).await, Err(NoTurn::Paused));
    }
}
