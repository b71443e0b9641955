//! When an item's attempts can have acted: what the provider's clocks are counted from.

use crate::domain::item::{Item, Lease};
use chrono::{DateTime, TimeDelta, Utc};

/// The span in which an item's attempts can have had an effect, as far as its source tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attempts {
    /// No attempt began before this; `None` when the source does not tell.
    pub first: Option<DateTime<Utc>>,
    /// The latest sign of an attempt; `None` when the source tells no readable time.
    pub last: Option<DateTime<Utc>>,
}

impl Attempts {
    /// Reads the span from an item's times.
    ///
    /// `last` is the latest of the readable times, because waiting too long for an absence to show costs minutes and
    /// waiting too short costs a second charge. `first` is told only where it surely precedes every attempt: an explicit
    /// time, the item's creation, or the start of the only attempt. The last change of a row is no start: of a failed one
    /// it is the end of an attempt that may have taken hours.
    pub fn of(item: &Item) -> Self {
        let times = &item.times;
        let (created, started, updated) =
            (times.created.known(), times.started.known(), times.updated.known());
        let beat = match &times.lease {
            Lease::Heartbeat { beat, .. } => beat.known(),
            Lease::None | Lease::EndsAt(_) | Lease::Seconds(_) => None,
        };
        let last = [started, updated, beat].into_iter().flatten().max().or(created);
        let is_single = item.tried_once || item.attempts.is_some_and(|count| count <= 1);
        let first = times.first_attempt.known().or(created).or(started.filter(|_| is_single));
        Self { first, last }
    }
}

/// What a provider's memory for idempotency keys makes of a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyProtection {
    /// The workers send no key, or nobody said that they do.
    NoKey,
    /// How long the provider remembers a key is not known, which counts as not at all.
    MemoryUnknown,
    /// When the key was first sent is not known.
    FirstAttemptUnknown,
    /// The provider may have forgotten the key since then.
    ForgottenSince(DateTime<Utc>),
    /// The provider still knows the key until then: the same request would be answered, not repeated.
    Until(DateTime<Utc>),
}

impl KeyProtection {
    /// How much of a key's remembered time is left unused, so that a retry does not arrive on its last second.
    const MARGIN_PARTS: i32 = 20;

    /// Works out the protection at a moment. `key_ttl` counts from the first attempt that carried the key.
    pub fn at(now: DateTime<Utc>, attempts: Attempts, has_key: bool, key_ttl: Option<TimeDelta>) -> Self {
        let (Some(key_ttl), true) = (key_ttl.filter(|ttl| *ttl > TimeDelta::zero()), has_key) else {
            return if has_key { Self::MemoryUnknown } else { Self::NoKey };
        };
        let Some(first) = attempts.first else { return Self::FirstAttemptUnknown };
        match first.checked_add_signed(key_ttl - key_ttl / Self::MARGIN_PARTS) {
            Some(until) if now < until && first <= now => Self::Until(until),
            Some(until) if first <= now => Self::ForgottenSince(until),
            // A first attempt in the future is a clock nobody can count from.
            _ => Self::FirstAttemptUnknown,
        }
    }

    /// Whether a retry with the same key would be answered from the provider's memory.
    pub fn protects(self) -> bool {
        matches!(self, Self::Until(_))
    }

    /// The protection as a sentence for advice and dialog.
    pub fn sentence(self) -> String {
        use crate::domain::moment::stamp;
        match self {
            Self::NoKey => "No idempotency key is known for this item: a retry is a new effect.".to_owned(),
            Self::MemoryUnknown => {
                "How long the provider remembers a key is not known: count a retry as a new effect."
                    .to_owned()
            }
            Self::FirstAttemptUnknown => {
                "When the key was first sent is not known: count a retry as a new effect.".to_owned()
            }
            Self::ForgottenSince(at) => format!(
                "The provider may have forgotten the idempotency key since {}: a retry is a new effect.",
                stamp(at)
            ),
            Self::Until(at) => {
                format!(
                    "The provider remembers the idempotency key until {}: a retry with it repeats nothing.",
                    stamp(at)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).unwrap() + TimeDelta::minutes(minutes)
    }

    #[rstest]
    #[case::no_key(Some(0), false, Some(100), KeyProtection::NoKey)]
    #[case::no_ttl(Some(0), true, None, KeyProtection::MemoryUnknown)]
    #[case::zero_ttl(Some(0), true, Some(0), KeyProtection::MemoryUnknown)]
    #[case::no_first(None, true, Some(100), KeyProtection::FirstAttemptUnknown)]
    #[case::future(Some(20), true, Some(100), KeyProtection::FirstAttemptUnknown)]
    #[case::inside(Some(-94), true, Some(100), KeyProtection::Until(at(1)))]
    #[case::edge(Some(-95), true, Some(100), KeyProtection::ForgottenSince(at(0)))]
    #[case::past(Some(-96), true, Some(100), KeyProtection::ForgottenSince(at(-1)))]
    fn a_key_protects_only_while_it_is_remembered(
        #[case] first: Option<i64>,
        #[case] has_key: bool,
        #[case] ttl_minutes: Option<i64>,
        #[case] expected: KeyProtection,
    ) {
        let attempts = Attempts { first: first.map(at), last: None };
        let protection = KeyProtection::at(at(0), attempts, has_key, ttl_minutes.map(TimeDelta::minutes));
        assert_eq!(protection, expected);
        assert_eq!(protection.protects(), matches!(expected, KeyProtection::Until(_)));
    }
}
