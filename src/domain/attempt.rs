//! When an item's attempts can have acted: what the provider's clocks are counted from.

use crate::domain::item::{Item, Lease, State};
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
    /// Reads the span from an item's times. `now` is the source's own clock.
    ///
    /// `last` is the latest of the readable times, because waiting too long for an absence to show costs minutes and
    /// waiting too short costs a second charge. An attempt that ended, and whose end nobody wrote down, may have lasted as
    /// long as one may run (`attempt_max`). `first` is told only where it surely precedes every attempt: an explicit time,
    /// the item's creation, or the start of the only attempt. The last change of a row is no start: of a failed one it is
    /// the end of an attempt that may have taken hours. Nor is the creation of a row that is deleted to be tried again.
    pub fn of(item: &Item, attempt_max: TimeDelta, now: DateTime<Utc>) -> Self {
        let times = &item.times;
        let (created, started, updated) =
            (times.created.known(), times.started.known(), times.updated.known());
        let beat = match &times.lease {
            Lease::Heartbeat { beat, .. } => beat.known(),
            Lease::None | Lease::EndsAt(_) | Lease::Seconds(_) | Lease::Told(_) => None,
        };
        // Its creation stands in only where there was one attempt: it would be an old one where there were more.
        let is_single = item.tried_once || item.attempts.is_some_and(|count| count <= 1);
        let latest = [started, updated, beat].into_iter().flatten().max().or(created.filter(|_| is_single));
        let has_ended = matches!(item.state, State::Failed | State::Done | State::Dead);
        let last = match latest {
            Some(at) if has_ended && updated.is_none() && at <= now => {
                Some(at.checked_add_signed(attempt_max).unwrap_or(now).min(now))
            }
            other => other,
        };
        Self { first: Self::first_of(item), last }
    }

    /// In how long an absence means something; `None` where it does already, or where no time tells.
    pub fn shows_in(&self, settle: TimeDelta, now: DateTime<Utc>) -> Option<TimeDelta> {
        let left = settle - (now - self.last?);
        (left > TimeDelta::zero()).then_some(left)
    }

    /// A moment before which no attempt began; `None` when the source does not surely tell one.
    pub fn first_of(item: &Item) -> Option<DateTime<Utc>> {
        let times = &item.times;
        let is_single = item.attempts.is_some_and(|count| count <= 1);
        let only_life = times.created.known().or(times.started.known().filter(|_| is_single));
        times.first_attempt.known().or(only_life.filter(|_| !item.tried_once))
    }
}

/// What an error tells of the idempotency key that the request carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyTold {
    /// The answer is one that the provider kept from an earlier request with this key.
    ErrorKept,
    /// The key was used before, with another request.
    OfAnother,
}

/// What a provider's memory for idempotency keys makes of a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyProtection {
    /// The workers send no key, or nobody said that they do.
    NoKey,
    /// Each attempt has a key of its own: the provider cannot know the next one.
    PerAttempt,
    /// The provider keeps an error under the key: the same request is answered with it, and nothing is carried out.
    ErrorKept,
    /// The provider knows the key from another request.
    OfAnother,
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

    /// The same, by what the item's error tells of the key, where it tells something.
    #[must_use]
    pub fn told(self, told: Option<KeyTold>) -> Self {
        match (told, self) {
            (Some(KeyTold::OfAnother), _) => Self::OfAnother,
            // What was kept is forgotten too.
            (Some(KeyTold::ErrorKept), Self::ForgottenSince(_)) | (None, _) => self,
            (Some(KeyTold::ErrorKept), _) => Self::ErrorKept,
        }
    }

    /// Whether a retry gets no further whatever happened: somebody has to look first.
    pub fn bars_retry(self) -> bool {
        match self {
            Self::ErrorKept | Self::OfAnother => true,
            Self::NoKey
            | Self::PerAttempt
            | Self::MemoryUnknown
            | Self::FirstAttemptUnknown
            | Self::ForgottenSince(_)
            | Self::Until(_) => false,
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
            Self::PerAttempt => {
                "The idempotency key changes with each attempt: a retry is a new effect.".to_owned()
            }
            Self::ErrorKept => {
                "The provider keeps an error under the idempotency key and answers with it again: the outcome of the first request is unknown, and a retry with the same key gets no further."
                    .to_owned()
            }
            Self::OfAnother => {
                "The idempotency key belongs to another request: somebody must look what that one did before anything is sent."
                    .to_owned()
            }
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

    #[rstest]
    #[case::nothing_told(KeyProtection::Until(at(1)), None, KeyProtection::Until(at(1)), false)]
    #[case::error_kept(KeyProtection::Until(at(1)), Some(KeyTold::ErrorKept), KeyProtection::ErrorKept, true)]
    #[case::for_how_long_is_unknown(
        KeyProtection::MemoryUnknown,
        Some(KeyTold::ErrorKept),
        KeyProtection::ErrorKept,
        true
    )]
    #[case::forgotten_since(
        KeyProtection::ForgottenSince(at(-1)),
        Some(KeyTold::ErrorKept),
        KeyProtection::ForgottenSince(at(-1)),
        false
    )]
    #[case::of_another(
        KeyProtection::ForgottenSince(at(-1)),
        Some(KeyTold::OfAnother),
        KeyProtection::OfAnother,
        true
    )]
    fn what_an_error_tells_of_the_key_counts(
        #[case] by_times: KeyProtection,
        #[case] told: Option<KeyTold>,
        #[case] expected: KeyProtection,
        #[case] bars: bool,
    ) {
        let key = by_times.told(told);
        assert_eq!((key, key.bars_retry()), (expected, bars));
        assert!(!(key.bars_retry() && key.protects()));
    }

    fn item(state: State, tried_once: bool, attempts: Option<i64>) -> Item {
        use crate::domain::cell::Cell;
        use crate::domain::item::{ItemKey, LastError, Times};
        Item {
            source: "jobs".into(),
            key: ItemKey::new(vec![Cell::text("k")]),
            kind: "job".into(),
            status: "x".into(),
            state,
            attempts,
            tried_once,
            times: Times::default(),
            last_error: LastError::NotKept,
            fields: Vec::new(),
            oddities: Vec::new(),
        }
    }

    #[rstest]
    #[case::creation(false, Some(0), None, None, Some(0))]
    #[case::only_attempt(false, None, Some(5), Some(1), Some(5))]
    #[case::second_attempt(false, None, Some(5), Some(2), None)]
    #[case::uncounted(false, None, Some(5), None, None)]
    // The row may have been deleted to be tried again: it is not surely the first of its key.
    #[case::released(true, Some(0), Some(5), Some(1), None)]
    fn the_first_attempt_is_told_only_where_it_is_sure(
        #[case] tried_once: bool,
        #[case] created: Option<i64>,
        #[case] started: Option<i64>,
        #[case] attempts: Option<i64>,
        #[case] first: Option<i64>,
    ) {
        use crate::domain::moment::Reading;
        let reading =
            |minutes: Option<i64>| minutes.map_or(Reading::Missing, |minutes| Reading::Known(at(minutes)));
        let mut item = item(State::Failed, tried_once, attempts);
        (item.times.created, item.times.started) = (reading(created), reading(started));
        assert_eq!(Attempts::first_of(&item), first.map(at));
    }

    #[rstest]
    #[case::tried_once(true, None, true)]
    #[case::first_try(false, Some(1), true)]
    #[case::second_try(false, Some(2), false)]
    #[case::uncounted(false, None, false)]
    fn a_creation_tells_the_last_attempt_only_where_there_was_one(
        #[case] tried_once: bool,
        #[case] attempts: Option<i64>,
        #[case] is_told: bool,
    ) {
        use crate::domain::moment::Reading;
        let mut item = item(State::Running, tried_once, attempts);
        item.times.created = Reading::Known(at(0));
        assert_eq!(Attempts::of(&item, TimeDelta::minutes(30), at(90)).last, is_told.then(|| at(0)));
    }

    #[rstest]
    #[case::running(State::Running, None, 0)]
    #[case::end_told(State::Failed, Some(7), 7)]
    #[case::end_not_told(State::Failed, None, 30)]
    fn an_attempt_whose_end_nobody_wrote_down_may_have_lasted(
        #[case] state: State,
        #[case] updated: Option<i64>,
        #[case] last: i64,
    ) {
        use crate::domain::moment::Reading;
        let mut item = item(state, false, Some(1));
        item.times.started = Reading::Known(at(0));
        item.times.updated = updated.map_or(Reading::Missing, |minutes| Reading::Known(at(minutes)));
        assert_eq!(Attempts::of(&item, TimeDelta::minutes(30), at(90)).last, Some(at(last)));
        // Never later than now: that would be a wrong clock.
        let soon = Attempts::of(&item, TimeDelta::minutes(30), at(10)).last;
        assert!(soon <= Some(at(10)));
    }
}
