//! How long to wait before a read is tried again. Pure.
//!
//! Only reads are ever repeated by themselves; a write is attempted once, then the row is read.

use crate::domain::evidence::FaultKind;
use chrono::{DateTime, Utc};
use std::time::Duration;

/// A reset of more than this is a moment (in 2001 or later), not a wait.
const RESET_IS_MOMENT_FROM: u32 = 1_000_000_000;

/// How long to wait before the second try, where the provider names no time.
pub const WAIT_FIRST: Duration = Duration::from_millis(500);
/// The longest wait before a try, where the provider names no time.
pub const WAIT_MAX: Duration = Duration::from_secs(10);
/// The longest wait that a `Retry-After` can ask for: a longer one is cut to this.
pub const RETRY_AFTER_MAX: Duration = Duration::from_mins(1);
/// How many times one request is sent at most.
pub const TRIES_MAX: u32 = 3;

/// How patient a check is: its tries and the waits between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How many times one request is sent at most.
    pub tries_max: u32,
    /// The wait before the second try; each further one is twice as long.
    pub wait_first: Duration,
    /// The longest of these waits.
    pub wait_max: Duration,
    /// The longest wait that a provider's `Retry-After` can ask for.
    pub retry_after_max: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            tries_max: TRIES_MAX,
            wait_first: WAIT_FIRST,
            wait_max: WAIT_MAX,
            retry_after_max: RETRY_AFTER_MAX,
        }
    }
}

impl Patience {
    /// How long to wait before the next try; `None` when there should be none.
    ///
    /// `tries_made` counts the tries so far, the first being 1. There is no randomness: the pacer spaces the requests
    /// of one provider anyway, and a test must be able to say what happens.
    pub fn next_try(
        &self,
        tries_made: u32,
        fault: FaultKind,
        retry_after: Option<Duration>,
    ) -> Option<Duration> {
        if tries_made >= self.tries_max || !is_retried(fault) {
            return None;
        }
        if let Some(asked_for) = retry_after {
            return Some(asked_for.min(self.retry_after_max));
        }
        let doublings = tries_made.saturating_sub(1).min(16);
        Some(self.wait_first.saturating_mul(1 << doublings).min(self.wait_max))
    }
}

/// Whether a read that met this fault is sent again.
///
/// Only what passes by itself: a bad certificate, a refusal or a strange answer is the same in ten seconds.
pub fn is_retried(fault: FaultKind) -> bool {
    match fault {
        FaultKind::Connect
        | FaultKind::Timeout
        | FaultKind::CutOff
        | FaultKind::RateLimited
        | FaultKind::ServerError => true,
        FaultKind::Tls
        | FaultKind::Refused
        | FaultKind::Redirect
        | FaultKind::BodyTooLarge
        | FaultKind::TooManyPages
        | FaultKind::TookTooLong
        | FaultKind::Shape
        | FaultKind::ErrorInAnswer
        | FaultKind::Question
        | FaultKind::Secret
        | FaultKind::NobodyToAsk
        | FaultKind::Unanswerable
        | FaultKind::Cancelled => false,
    }
}

/// Reads a `Retry-After` header: seconds (a fraction is met in the field) or an HTTP date.
///
/// A date may be in any of the three spellings that RFC 9110, section 5.6.7, asks for. One in the past is "now", and more
/// seconds than can be counted are the longest wait there is. `None` when it is neither.
pub fn parse_retry_after(text: &str, now: DateTime<Utc>) -> Option<Duration> {
    let text = text.trim();
    if text.starts_with(|first: char| first.is_ascii_digit()) && !text.contains(['e', 'E']) {
        let seconds: f64 = text.parse().ok()?;
        return Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let at: DateTime<Utc> = httpdate::parse_http_date(text).ok()?.into();
    Some((at - now).to_std().unwrap_or(Duration::ZERO))
}

/// Reads a header that says when a spent allowance comes back: seconds from now on, or a moment in seconds since 1970.
///
/// A moment in the past is "now". `None` when it is neither.
pub fn parse_reset(text: &str, now: DateTime<Utc>) -> Option<Duration> {
    let told: u32 = text.trim().parse().ok()?;
    if told < RESET_IS_MOMENT_FROM {
        return Some(Duration::from_secs(told.into()));
    }
    let at = DateTime::from_timestamp(told.into(), 0)?;
    Some((at - now).to_std().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::first(1, FaultKind::Timeout, None, Some(500))]
    #[case::doubled(2, FaultKind::ServerError, None, Some(1_000))]
    #[case::bounded(8, FaultKind::ServerError, None, Some(10_000))]
    #[case::far(40, FaultKind::ServerError, None, Some(10_000))]
    #[case::spent(50, FaultKind::ServerError, None, None)]
    #[case::told(1, FaultKind::RateLimited, Some(7_000), Some(7_000))]
    #[case::told_zero(3, FaultKind::RateLimited, Some(0), Some(0))]
    #[case::told_too_much(1, FaultKind::RateLimited, Some(3_600_000), Some(60_000))]
    #[case::told_and_spent(50, FaultKind::RateLimited, Some(1), None)]
    #[case::tls(1, FaultKind::Tls, None, None)]
    #[case::refused(1, FaultKind::Refused, Some(1), None)]
    #[case::shape(1, FaultKind::Shape, None, None)]
    fn the_wait_grows_is_bounded_and_ends(
        #[case] tries_made: u32,
        #[case] fault: FaultKind,
        #[case] retry_after_ms: Option<u64>,
        #[case] expected_ms: Option<u64>,
    ) {
        let patience = Patience { tries_max: 50, ..Patience::default() };
        let wait = patience.next_try(tries_made, fault, retry_after_ms.map(Duration::from_millis));
        assert_eq!(wait, expected_ms.map(Duration::from_millis));
    }

    #[rstest]
    #[case::seconds("42", Some(42))]
    #[case::moment("1796025630", Some(30))]
    #[case::past("1796025000", Some(0))]
    #[case::huge("99999999999", None)]
    #[case::negative("-5", None)]
    #[case::words("soon", None)]
    fn a_reset_is_seconds_left_or_a_moment(#[case] text: &str, #[case] expected: Option<u64>) {
        let now = "2026-11-30T08:00:00Z".parse().unwrap();
        assert_eq!(parse_reset(text, now), expected.map(Duration::from_secs));
    }

    #[rstest]
    #[case::seconds("120", Some(120_000))]
    #[case::spaces(" 1 ", Some(1_000))]
    #[case::fraction("0.25", Some(250))]
    #[case::date("Mon, 30 Nov 2026 08:00:30 GMT", Some(30_000))]
    #[case::date_of_old("Monday, 30-Nov-26 08:00:30 GMT", Some(30_000))]
    #[case::date_of_c("Mon Nov 30 08:00:30 2026", Some(30_000))]
    #[case::no_date("2026-11-30T08:00:30Z", None)]
    #[case::past("Mon, 30 Nov 2026 07:00:00 GMT", Some(0))]
    #[case::negative("-5", None)]
    #[case::huge("1e300", None)]
    #[case::empty("", None)]
    #[case::words("soon", None)]
    fn retry_after_is_seconds_or_a_date(#[case] text: &str, #[case] expected_ms: Option<u64>) {
        let now = "2026-11-30T08:00:00Z".parse().unwrap();
        assert_eq!(parse_retry_after(text, now), expected_ms.map(Duration::from_millis));
        assert_eq!(parse_retry_after("999999999999999999999999999", now), Some(Duration::MAX));
    }
}
