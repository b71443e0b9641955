//! An item's times are by its source's clock, and so is the moment that they are compared with.

use super::*;
use crate::workflow::fakes::{World, found};
use pretty_assertions::assert_eq;
use rstest::rstest;

/// The stuck job was last touched five hours ago, by its source's clock, whatever the console's says.
const AGE: TimeDelta = TimeDelta::hours(5);

#[rstest]
#[case::one_before(AGE + TimeDelta::milliseconds(1), Advice::Wait, "Nothing carries our reference yet, but the last attempt was only 5 h ago and an effect may take 5 h to show.")]
#[case::on_the_edge(
    AGE,
    Advice::Retry,
    "Every page was read and nothing carries our reference; the last attempt was 5 h ago."
)]
#[case::one_behind(AGE - TimeDelta::milliseconds(1), Advice::Retry, "Every page was read and nothing carries our reference; the last attempt was 5 h ago.")]
#[tokio::test]
async fn settle_is_counted_by_the_sources_clock(
    #[values(-3, 0, 3)] console_ahead_hours: i64,
    #[case] settle: TimeDelta,
    #[case] advice: Advice,
    #[case] judged: &str,
) {
    let world = World::with_stuck(&["inv-41"]).that_settles_after(settle);
    *world.clock_ahead.lock().unwrap() = TimeDelta::hours(console_ahead_hours);
    let desk = world.desk();
    let found = found(&desk, "inv-41").await;
    assert_eq!(found.clock_gap, TimeDelta::hours(-console_ahead_hours), "the gap is the source's to ours");
    let checked = check(&desk, &found).await;
    assert_eq!((checked.verdict(), checked.advice()), (Verdict::NotFound, advice));
    assert_eq!(checked.advised.reasons[0], judged);
    assert_eq!(checked.judgement.settled, advice == Advice::Retry);
}
