use super::*;
use crate::domain::cell::Cell;
use crate::domain::item::{ItemKey, Times};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use rstest::rstest;

fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_014_400, 0).unwrap()
}

const HOUR: i64 = 3_600;
const STUCK_AFTER: TimeDelta = TimeDelta::hours(1);

/// A time so many seconds before noon.
fn ago(seconds: i64) -> Reading {
    Reading::Known(noon() - TimeDelta::seconds(seconds))
}

fn without_zone(seconds_ago: i64) -> Reading {
    Reading::ZoneUnclear(noon() - TimeDelta::seconds(seconds_ago))
}

fn unreadable() -> Reading {
    Reading::unreadable("yesterday", "not a time")
}

fn item(state: State, times: Times) -> Item {
    Item {
        source: "billing".into(),
        key: ItemKey::new(vec![Cell::text("inv-1")]),
        kind: "invoice".into(),
        status: "running".into(),
        state,
        attempts: Some(1),
        tried_once: false,
        times,
        last_error: LastError::NotKept,
        fields: Vec::new(),
        oddities: Vec::new(),
    }
}

fn started(reading: Reading) -> Times {
    Times { started: reading, ..Times::default() }
}

fn found(times: Times) -> Option<Finding> {
    find(item(State::Running, times), STUCK_AFTER, None, noon())
}

fn is_stuck(times: Times) -> bool {
    found(times).is_some_and(|finding| finding.kind == FindingKind::Stuck)
}

fn notes(times: Times) -> Vec<String> {
    found(times).map(|finding| finding.notes).unwrap_or_default()
}

/// Case 48: T is one hour, now is 12:00.
#[rstest]
#[case::at_10_30(90 * 60, Some("1 h 30 min"))]
#[case::at_11_45(15 * 60, None)]
#[case::at_the_edge(HOUR, Some("1 h"))]
#[case::a_second_before_it(HOUR - 1, None)]
fn case_48_a_running_item_is_stuck_by_its_age(#[case] seconds_ago: i64, #[case] age: Option<&str>) {
    let finding = found(started(ago(seconds_ago)));
    assert_eq!(finding.and_then(|finding| finding.age).map(span).as_deref(), age);
}

#[test]
fn case_3_an_item_without_a_limit_is_never_stuck() {
    let times = Times { lease: Lease::Seconds(None), ..started(ago(30 * HOUR)) };
    assert!(!is_stuck(times));
}

#[test]
fn case_3_a_kind_without_a_limit_is_never_stuck_by_its_age() {
    let find = |times| find(item(State::Running, times), Policy::NEVER, None, noon());
    let beat = |seconds_ago| Lease::Heartbeat { beat: ago(seconds_ago), limit_seconds: 60 };
    for times in [started(ago(30 * HOUR)), started(ago(91 * 24 * HOUR)), Times::default()] {
        assert_eq!(find(times), None);
    }
    // Whoever is gone is gone.
    assert!(find(Times { lease: Lease::Told(item::Holder::Expired), ..started(ago(30 * HOUR)) }).is_some());
    assert!(find(Times { lease: beat(90), ..started(ago(30 * HOUR)) }).is_some());
}

#[rstest]
#[case::case_3(Lease::Seconds(None), STUCK_AFTER, "runs for 1 d 6 h, and no limit is set for it")]
#[case::case_3_by_policy(Lease::None, Policy::NEVER, "runs for 1 d 6 h, and no limit is set for it")]
#[case::case_7(
    Lease::EndsAt(ago(-3 * HOUR - 1_800)),
    STUCK_AFTER,
    "runs for 1 d 6 h, and its lease ends in 3 h 30 min (2027-01-15T15:30:00Z); whether its holder lives is not known"
)]
#[case::case_50(Lease::Seconds(Some(31 * HOUR)), STUCK_AFTER, "runs for 1 d 6 h, and may for 1 d 7 h")]
#[case::told(
    Lease::Told(item::Holder::Live),
    STUCK_AFTER,
    "runs for 1 d 6 h, and its holder lives, as its source shows"
)]
#[case::beating(
    Lease::Heartbeat { beat: ago(20), limit_seconds: 60 },
    STUCK_AFTER,
    "runs for 1 d 6 h, and its holder gave a sign of life 20 s ago"
)]
#[case::young(Lease::None, TimeDelta::hours(31), "runs for 1 d 6 h, and may for 1 d 7 h")]
fn what_keeps_an_item_from_being_stuck_is_told(
    #[case] lease: Lease,
    #[case] stuck_after: TimeDelta,
    #[case] told: &str,
) {
    let item = item(State::Running, Times { lease, ..started(ago(30 * HOUR)) });
    assert_eq!(why_live(&item, stuck_after, noon()).as_deref(), Some(told));
    assert_eq!(find(item, stuck_after, None, noon()), None);
}

#[test]
fn case_7_a_lease_that_still_runs_is_not_stuck() {
    let lease = |end| Times { lease: Lease::EndsAt(end), ..started(ago(2 * HOUR)) };
    assert!(!is_stuck(lease(ago(-3 * HOUR - 1_800))));
    assert!(!is_stuck(lease(ago(-1))));
    assert!(is_stuck(lease(ago(0))));
    assert_eq!(notes(lease(ago(60))), ["Its lease ended 1 min ago."]);
}

#[test]
fn case_9_the_latest_start_counts() {
    let times = Times { created: ago(6 * HOUR), first_attempt: ago(6 * HOUR), ..started(ago(300)) };
    assert!(!is_stuck(times.clone()));
    let finding = find(item(State::Failed, times), STUCK_AFTER, None, noon()).unwrap();
    assert_eq!(finding.age.map(span).as_deref(), Some("5 min"));
}

#[rstest]
#[case::the_start_counts_as_a_sign(60, false)]
#[case::until_it_is_silent_too(121, true)]
fn case_29_a_start_after_the_last_beat_is_a_clock_not_a_death(#[case] started_ago: i64, #[case] stuck: bool) {
    let beat = Lease::Heartbeat { beat: ago(started_ago + HOUR), limit_seconds: 120 };
    let times = Times { lease: beat, ..started(ago(started_ago)) };
    let finding = found(times);
    assert_eq!(finding.is_some(), stuck);
    if let Some(finding) = finding {
        assert_eq!(finding.notes[0], "It started 1 h after its last sign of life: the clocks differ.");
        assert_eq!(finding.age.map(span).as_deref(), Some("2 min 1 s"));
    }
}

/// Case 30: no zone is further from UTC than 14 hours.
#[rstest]
#[case::old_in_some_zones(15 * HOUR - 1, false)]
#[case::old_in_every_zone(15 * HOUR, true)]
#[case::ahead_in_some_zones(-14 * HOUR, false)]
#[case::ahead_in_every_zone(-14 * HOUR - 6, true)]
fn case_30_without_a_zone_only_what_is_old_everywhere_is_stuck(
    #[case] seconds_ago: i64,
    #[case] stuck: bool,
) {
    let leases = [
        Lease::None,
        Lease::Seconds(Some(HOUR)),
        Lease::Heartbeat { beat: Reading::Missing, limit_seconds: HOUR },
        Lease::EndsAt(Reading::Missing),
    ];
    for lease in leases {
        let finding = found(Times { lease: lease.clone(), ..started(without_zone(seconds_ago)) });
        assert_eq!(finding.is_some(), stuck, "{lease:?}");
        if let Some(finding) = finding {
            assert!(finding.age.is_none() && finding.notes[0].contains("(zone?)"), "{:?}", finding.notes);
        }
    }
}

#[rstest]
#[case::beat_in_some_zones(Lease::Heartbeat { beat: without_zone(14 * HOUR), limit_seconds: 60 }, false)]
#[case::beat_in_no_zone(Lease::Heartbeat { beat: without_zone(14 * HOUR + 61), limit_seconds: 60 }, true)]
#[case::end_in_some_zones(Lease::EndsAt(without_zone(14 * HOUR - 1)), false)]
#[case::end_in_every_zone(Lease::EndsAt(without_zone(14 * HOUR)), true)]
fn case_30_a_lease_without_a_zone_ends_when_it_has_ended_everywhere(
    #[case] lease: Lease,
    #[case] stuck: bool,
) {
    assert_eq!(is_stuck(Times { lease, ..started(ago(20 * HOUR)) }), stuck);
}

#[test]
fn case_32_ages_and_spans_have_no_minus_sign() {
    let finding = find(item(State::Failed, started(ago(-3))), STUCK_AFTER, None, noon()).unwrap();
    assert_eq!(finding.age, Some(TimeDelta::zero()));
    let finding = find(item(State::Failed, started(ago(-HOUR))), STUCK_AFTER, None, noon()).unwrap();
    assert_eq!(finding.age, None);
    assert_eq!(finding.notes[1], "Its start lies 1 h in the future (2027-01-15T13:00:00Z).");
}

#[test]
fn case_37_an_item_without_any_time_is_listed() {
    let finding = found(Times::default()).unwrap();
    assert_eq!((finding.since, finding.age), (None, None));
    assert_eq!(finding.notes, ["It tells no start time."]);
}

#[test]
fn case_49_an_owner_that_is_there_and_silent_is_dead() {
    let beat = |seconds| Times {
        lease: Lease::Heartbeat { beat: ago(seconds), limit_seconds: 60 },
        ..started(ago(4 * 24 * HOUR))
    };
    assert_eq!(notes(beat(3 * 24 * HOUR)), ["Its holder has been silent for 3 d."]);
    assert!(!is_stuck(beat(60)));
    assert!(is_stuck(beat(61)));
}

#[rstest]
#[case::half_an_hour_left(90, false)]
#[case::a_minute_left(119, false)]
#[case::at_the_edge(120, true)]
#[case::past_it(121, true)]
fn case_50_the_rows_own_limit_wins(#[case] minutes_ago: i64, #[case] stuck: bool) {
    let times = Times { lease: Lease::Seconds(Some(2 * HOUR)), ..started(ago(minutes_ago * 60)) };
    assert_eq!(notes(times), if stuck { vec!["It was allowed 2 h."] } else { vec![] });
}

/// Case 61: `now` is the source's own clock; the console's, 20 minutes ahead, is not asked.
#[test]
fn case_61_the_sources_clock_counts() {
    let running = || item(State::Running, started(ago(45 * 60)));
    assert!(find(running(), STUCK_AFTER, None, noon()).is_none());
    assert!(find(running(), STUCK_AFTER, None, noon() + TimeDelta::minutes(20)).is_some());
}

#[rstest]
#[case::missing(Reading::Missing)]
#[case::unreadable(unreadable())]
#[case::no_unit(Reading::unit_unclear("1800000000000"))]
#[case::future(ago(-HOUR))]
#[case::far_future(Reading::Known(DateTime::<Utc>::MAX_UTC))]
fn what_is_no_time_is_never_fresh(#[case] odd: Reading) {
    let leases = [
        Lease::None,
        Lease::EndsAt(Reading::Missing),
        Lease::EndsAt(unreadable()),
        Lease::Seconds(Some(i64::MAX)),
        Lease::Heartbeat { beat: odd.clone(), limit_seconds: 60 },
        Lease::Heartbeat { beat: Reading::Missing, limit_seconds: i64::MAX },
    ];
    for lease in leases {
        let finding = found(Times { lease: lease.clone(), ..started(odd.clone()) });
        assert!(finding.is_some_and(|finding| !finding.notes.is_empty()), "{odd:?} {lease:?}");
    }
}

#[test]
fn a_wrong_start_does_not_become_an_old_creation() {
    let times = Times { created: ago(20 * HOUR), ..started(unreadable()) };
    assert_eq!(found(times).unwrap().since, None);
    let times = Times { created: ago(20 * HOUR), ..started(Reading::Missing) };
    assert_eq!(found(times).unwrap().age.map(span).as_deref(), Some("20 h"));
}

#[test]
fn a_beat_in_the_future_keeps_nobody_alive() {
    let beat = |seconds| Times {
        lease: Lease::Heartbeat { beat: ago(seconds), limit_seconds: 60 },
        ..started(ago(2 * HOUR))
    };
    assert!(!is_stuck(beat(-5)), "clocks are read at different instants");
    let told = [
        "Its last sign of life lies 1 h in the future (2027-01-15T13:00:00Z).",
        "Its holder has been silent for 2 h.",
    ];
    assert_eq!(notes(beat(-HOUR)), told);
}

#[test]
fn a_limit_beyond_all_time_is_no_panic() {
    for limit_seconds in [i64::MAX, i64::MAX / 1_000, -1, i64::MIN] {
        let beat = Lease::Heartbeat { beat: ago(60), limit_seconds };
        found(Times { lease: beat, ..started(ago(10)) });
        found(Times { lease: Lease::Seconds(Some(limit_seconds)), ..started(ago(10)) });
    }
}

fn sorted(class: ErrorClass) -> Sorted {
    Sorted { class, why: "by a rule".into() }
}

#[rstest]
#[case::ambiguous(State::Failed, Some(sorted(ErrorClass::Ambiguous)), true)]
#[case::no_error(State::Failed, None, true)]
#[case::before_effect(State::Failed, Some(sorted(ErrorClass::BeforeEffect)), false)]
#[case::refused(State::Failed, Some(sorted(ErrorClass::Refused)), false)]
#[case::dead(State::Dead, Some(sorted(ErrorClass::Ambiguous)), true)]
#[case::dead_refused(State::Dead, Some(sorted(ErrorClass::Refused)), false)]
#[case::done(State::Done, Some(sorted(ErrorClass::Ambiguous)), false)]
#[case::pending(State::Pending, Some(sorted(ErrorClass::Ambiguous)), false)]
fn a_failed_item_is_ambiguous_unless_its_error_proves_something(
    #[case] state: State,
    #[case] error: Option<Sorted>,
    #[case] is_finding: bool,
) {
    let finding = find(item(state, started(ago(10))), STUCK_AFTER, error, noon());
    assert_eq!(finding.map(|finding| finding.kind), is_finding.then_some(FindingKind::Ambiguous));
}

#[test]
fn what_is_odd_about_a_row_is_told_first() {
    let mut odd = item(State::Failed, started(ago(10)));
    odd.oddities = vec!["attempts holds 'abc', not a number".to_owned()];
    let finding = find(odd, STUCK_AFTER, None, noon()).unwrap();
    assert_eq!(
        finding.notes,
        ["attempts holds 'abc', not a number", "This source keeps no errors: why it failed is not known."]
    );
}

fn any_reading() -> impl Strategy<Value = Reading> {
    let any_at = || {
        prop_oneof![
            (-400_000_i64..400_000).prop_map(|seconds| noon() - TimeDelta::seconds(seconds)),
            Just(DateTime::<Utc>::MIN_UTC),
            Just(DateTime::<Utc>::MAX_UTC),
        ]
    };
    prop_oneof![
        Just(Reading::Missing),
        any_at().prop_map(Reading::Known),
        any_at().prop_map(Reading::ZoneUnclear),
        Just(Reading::unit_unclear("7")),
        Just(unreadable()),
    ]
}

fn any_lease() -> impl Strategy<Value = Lease> {
    prop_oneof![
        Just(Lease::None),
        any_reading().prop_map(Lease::EndsAt),
        proptest::option::of(any::<i64>()).prop_map(Lease::Seconds),
        (any_reading(), any::<i64>())
            .prop_map(|(beat, limit_seconds)| Lease::Heartbeat { beat, limit_seconds }),
        (any_reading(), 0_i64..10_000)
            .prop_map(|(beat, limit_seconds)| Lease::Heartbeat { beat, limit_seconds }),
    ]
}

fn any_times() -> impl Strategy<Value = Times> {
    (any_reading(), any_reading(), any_reading(), any_reading(), any_lease()).prop_map(
        |(created, first_attempt, started, updated, lease)| Times {
            created,
            first_attempt,
            started,
            updated,
            lease,
        },
    )
}

proptest! {
    #[test]
    fn no_times_are_a_panic_or_a_negative_age(
        times in any_times(), state in proptest::sample::select(State::ALL.to_vec()), minutes in 0_i64..100_000,
    ) {
        if let Some(finding) = find(item(state, times), TimeDelta::minutes(minutes), None, noon()) {
            prop_assert!(finding.age.is_none_or(|age| age >= TimeDelta::zero()));
            prop_assert_eq!(finding.age.is_some(), finding.since.is_some());
            prop_assert!(finding.since.is_none_or(|since| since <= noon() + FUTURE_TOLERANCE));
        }
    }

    #[test]
    fn by_age_an_item_is_live_only_on_a_time_that_says_so(times in any_times()) {
        let times = Times { lease: Lease::None, ..times };
        if !is_stuck(times.clone()) {
            let fresh = |reading: &Reading| match reading {
                Reading::Known(at) => noon() - *at < STUCK_AFTER && *at - noon() <= FUTURE_TOLERANCE,
                Reading::ZoneUnclear(at) => may_be_younger(*at, STUCK_AFTER, noon()),
                Reading::Missing | Reading::UnitUnclear(_) | Reading::Unreadable(_) => false,
            };
            prop_assert!([times.created, times.started, times.updated].iter().any(fresh));
        }
    }
}
