//! How slow a provider is, told by how long its former answers took. Pure.

use crate::domain::plan::Plan;
use std::time::Duration;

/// What a provider took for one thing, in the middle of many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Half of the times were no longer than this.
    pub median: Duration,
    /// How many times there are.
    pub times: usize,
}

impl Measured {
    /// The middle of some times; `None` where there are none.
    pub fn of(mut times: Vec<Duration>) -> Option<Self> {
        times.sort_unstable();
        let median = *times.get(times.len().checked_sub(1)? / 2)?;
        Some(Self { median, times: times.len() })
    }
}

/// What is known of one operation's slowness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slowness {
    /// What a question for one reference took; `None` where none is on record.
    pub question: Option<Measured>,
    /// What a page of its list took; `None` where none is on record.
    pub page: Option<Measured>,
    /// How many questions it takes at once.
    pub in_flight_max: usize,
}

impl Slowness {
    /// How long a plan takes where the provider is as slow as it was, and its pace is kept; `None` where a part of that is not
    /// known.
    pub fn time_of(&self, plan: &Plan) -> Option<Duration> {
        let times = |requests: usize, each: Duration| {
            each.saturating_mul(u32::try_from(requests).unwrap_or(u32::MAX)).max(plan.time_of(requests))
        };
        let questions = match plan.one_by_one {
            0 => Duration::ZERO,
            many => {
                let median = self.question?.median;
                let in_turn = many.div_ceil(self.in_flight_max.max(1));
                times(in_turn, median).max(plan.time_of(many))
            }
        };
        let pages = match plan.listing.map_or(0, |listing| listing.pages_expected) {
            0 => Duration::ZERO,
            many => times(many, self.page?.median),
        };
        Some(questions + pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::plan::{Confirming, PlannedListing};
    use pretty_assertions::assert_eq;
    use rstest::rstest;

    fn millis(each: &[u64]) -> Vec<Duration> {
        each.iter().map(|millis| Duration::from_millis(*millis)).collect()
    }

    #[rstest]
    #[case::none(&[], None)]
    #[case::one(&[400], Some((400, 1)))]
    #[case::of_two_the_shorter(&[900, 400], Some((400, 2)))]
    #[case::one_that_hung_counts_once(&[400, 30_000, 300], Some((400, 3)))]
    fn the_middle_of_former_times_is_what_counts(#[case] times: &[u64], #[case] told: Option<(u64, usize)>) {
        let measured = Measured::of(millis(times));
        let expected = told.map(|(median, times)| Measured { median: Duration::from_millis(median), times });
        assert_eq!(measured, expected);
    }

    fn plan(one_by_one: usize, pages: usize, interval: u64) -> Plan {
        let listing = (pages > 0).then_some(PlannedListing {
            from: None,
            covered: pages * 100,
            pages_expected: pages,
            pages_max: 99,
            is_forced: false,
        });
        let interval = Duration::from_millis(interval);
        Plan { listing, one_by_one, items: one_by_one, interval, confirming: Confirming::default() }
    }

    #[rstest]
    #[case::slower_than_its_pace(plan(40, 0, 20), Some(10_000))]
    #[case::its_pace_is_slower(plan(40, 0, 500), Some(20_000))]
    #[case::a_rest_counts_as_a_whole_turn(plan(41, 0, 20), Some(11_000))]
    #[case::pages_come_one_after_the_other(plan(0, 3, 20), Some(6_000))]
    #[case::both(plan(4, 3, 20), Some(7_000))]
    #[case::nothing(plan(0, 0, 20), Some(0))]
    fn a_plan_takes_as_long_as_the_provider_or_its_pace(#[case] plan: Plan, #[case] millis: Option<u64>) {
        let measured = |millis| Measured { median: Duration::from_millis(millis), times: 7 };
        let slowness =
            Slowness { question: Some(measured(1_000)), page: Some(measured(2_000)), in_flight_max: 4 };
        assert_eq!(slowness.time_of(&plan), millis.map(Duration::from_millis));
    }

    #[test]
    fn what_was_never_measured_is_not_known() {
        let question = Some(Measured { median: Duration::from_secs(1), times: 1 });
        let slowness = Slowness { question, page: None, in_flight_max: 4 };
        assert_eq!(slowness.time_of(&plan(4, 1, 20)), None);
        assert_eq!(Slowness { question: None, ..slowness }.time_of(&plan(1, 0, 20)), None);
    }
}
