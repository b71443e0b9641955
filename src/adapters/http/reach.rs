//! Whether a provider could be reached lately: shared by all checks of one endpoint.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// For how long a provider that no try could reach is tried only once a check.
const TRIED_ONCE_FOR: Duration = Duration::from_secs(15);

/// Remembers that no connection could be made, so that a thousand checks do not each wait through all their tries.
#[derive(Debug, Default)]
pub struct Reach {
    lost_at: Mutex<Option<Instant>>,
}

impl Reach {
    /// Every try of a check failed to connect.
    pub fn lost(&self) {
        *self.lost_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// An answer came.
    pub fn found(&self) {
        *self.lost_at.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether it was out of reach a moment ago.
    pub fn is_lost(&self) -> bool {
        let lost_at = *self.lost_at.lock().unwrap_or_else(PoisonError::into_inner);
        lost_at.is_some_and(|at| at.elapsed() < TRIED_ONCE_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_is_lost_for_a_while_and_found_at_once() {
        let reach = Reach::default();
        assert!(!reach.is_lost());
        reach.lost();
        assert!(reach.is_lost());
        reach.found();
        assert!(!reach.is_lost());
        reach.lost();
        tokio::time::advance(TRIED_ONCE_FOR).await;
        assert!(!reach.is_lost());
    }
}
