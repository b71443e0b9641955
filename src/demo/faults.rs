//! What went wrong for each item, drawn from the seed.

use sha2::{Digest, Sha256};

/// What happened between a worker and the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// The effect happened and the worker noted it.
    Fine,
    /// The effect happened; the answer came after the worker gave up.
    Slow,
    /// The effect happened only after the worker gave up.
    Late,
    /// The effect happened; the connection was closed without an answer.
    Dropped,
    /// The effect happened; a proxy answered 502.
    BadGateway,
    /// Nothing happened; the provider answered 503.
    Unavailable,
    /// Nothing happened; the request never got through.
    NeverSent,
    /// The provider declined it.
    Declined,
    /// The provider has not decided yet; the worker gave up waiting.
    Pending,
    /// The provider has it under a status that nobody listed.
    OddStatus,
    /// The worker was killed after the effect.
    KilledAfter,
    /// The worker was killed before the effect.
    KilledBefore,
    /// Two attempts without a key, and both happened.
    Twice,
    /// A decline, then a second attempt that happened.
    DeclinedThenHappened,
    /// It happened a moment ago, and the provider's list does not show it yet.
    NotVisibleYet,
    /// A worker is at it right now.
    Fresh,
}

/// Each fault and how often it comes.
const WEIGHTS: [(Fault, u64); 16] = [
    (Fault::Fine, 40),
    (Fault::Slow, 12),
    (Fault::Late, 5),
    (Fault::Dropped, 7),
    (Fault::BadGateway, 6),
    (Fault::Unavailable, 8),
    (Fault::NeverSent, 5),
    (Fault::Declined, 4),
    (Fault::Pending, 4),
    (Fault::OddStatus, 2),
    (Fault::KilledAfter, 5),
    (Fault::KilledBefore, 4),
    (Fault::Twice, 4),
    (Fault::DeclinedThenHappened, 2),
    (Fault::NotVisibleYet, 2),
    (Fault::Fresh, 3),
];

/// The fault of an item.
pub fn of(seed: u64, key: &str) -> Fault {
    let total = WEIGHTS.iter().map(|(_, weight)| weight).sum();
    let mut drawn = draw(seed, "fault", key, total);
    for (fault, weight) in WEIGHTS {
        if drawn < weight {
            return fault;
        }
        drawn -= weight;
    }
    Fault::Fine
}

/// A number below `below`, the same for the same seed, purpose and key.
pub fn draw(seed: u64, purpose: &str, key: &str, below: u64) -> u64 {
    let digest = Sha256::digest(format!("{seed}:{purpose}:{key}").as_bytes());
    let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    number % below.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_same_seed_draws_the_same_and_every_fault_comes() {
        let drawn: Vec<Fault> = (0..2_000).map(|n| of(7, &format!("invoice:{n}"))).collect();
        assert_eq!(drawn, (0..2_000).map(|n| of(7, &format!("invoice:{n}"))).collect::<Vec<_>>());
        assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), WEIGHTS.len());
    }
}
