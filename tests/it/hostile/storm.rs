//! A provider that says "too many": whatever way it says how long to wait, nobody asks before that, nor above the pace.

use super::provider::{Checked, check_paced, each};
use super::server::{Act, answer, tells};
use crate::world::World;
use chrono::TimeDelta;
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use unstuck::adapters::system::SystemClock;
use unstuck::ports::clock::Clock;

/// One request at a time, so that none is under way while the provider says to wait.
const ONE_BY_ONE: &str = "pace_per_second = 50\nin_flight_max = 1";
/// How much sooner than told a request may seem to come: clocks of whole seconds and the way there.
const SOONER_MAX: Duration = Duration::from_millis(20);
/// How much closer together than the pace requests may come in: the ways of two differ on a busy machine.
const CLOSER_MAX: Duration = Duration::from_millis(250);
/// The preset's `check_seconds_max`, for each of four jobs, and a slow machine.
const TIME_MAX: Duration = Duration::from_secs(4 * 6 + 6);

type Arrivals = Arc<Mutex<Vec<Instant>>>;

/// Answers 429 so often, then that everything happened; notes when each request came.
fn storm(refusals: usize, header: impl Fn() -> String + Send + Sync + 'static) -> (Act, Arrivals) {
    let arrivals = Arrivals::default();
    let noted = Arc::clone(&arrivals);
    let act = tells(move |asked| {
        noted.lock().unwrap().push(Instant::now());
        if asked.nth < refusals {
            return answer("429 Too Many Requests", &header(), "{}");
        }
        let reference = asked.query("reference");
        let charge = format!(
            r#"{{"id":"ch_1","reference":"{reference}","status":"succeeded","amount":1200,"currency":"eur","created":1800000000}}"#
        );
        answer("200 OK", "", format!(r#"{{"data":[{charge}],"has_more":false}}"#))
    });
    (act, arrivals)
}

fn at(seconds: i64, spelling: &str) -> String {
    (SystemClock.now() + TimeDelta::seconds(seconds)).format(spelling).to_string()
}

/// The header line for a wait, and how long nobody may ask in milliseconds. A date has whole seconds: the last may be short.
fn told(form: &str) -> (Box<dyn Fn() -> String + Send + Sync>, u64) {
    match form {
        "seconds" => (Box::new(|| "Retry-After: 1\r\n".to_owned()), 1_000),
        "a fraction" => (Box::new(|| "Retry-After: 0.7\r\n".to_owned()), 700),
        "a date" => (Box::new(|| format!("Retry-After: {}\r\n", at(3, "%a, %d %b %Y %H:%M:%S GMT"))), 2_000),
        "a date of RFC 850" => {
            (Box::new(|| format!("Retry-After: {}\r\n", at(3, "%A, %d-%b-%y %H:%M:%S GMT"))), 2_000)
        }
        "a date of C" => (Box::new(|| format!("Retry-After: {}\r\n", at(3, "%a %b %e %H:%M:%S %Y"))), 2_000),
        "a reset in seconds" => (Box::new(|| "RateLimit-Reset: 1\r\n".to_owned()), 1_000),
        "a reset at a moment" => (Box::new(|| format!("X-RateLimit-Reset: {}\r\n", at(3, "%s"))), 2_000),
        "nothing" => (Box::new(String::new), 500),
        "words" => (Box::new(|| "Retry-After: soon\r\n".to_owned()), 500),
        "less than nothing" => (Box::new(|| "Retry-After: -5\r\n".to_owned()), 500),
        other => panic!("{other}"),
    }
}

fn check(pace: &str, act: Act) -> Checked {
    check_paced(&World::new(), "list", pace, act)
}

/// No two requests, however far apart, are more than the pace allows between them.
#[track_caller]
fn assert_paced(arrivals: &[Instant], per_second: f64) {
    for (first, begun) in arrivals.iter().enumerate() {
        for (more, came) in arrivals[first..].iter().enumerate() {
            let least = Duration::from_secs_f64(f64::from(u32::try_from(more).unwrap()) / per_second);
            let took = came.duration_since(*begun) + CLOSER_MAX;
            assert!(took >= least, "{more} requests after the {first}th within {took:?}");
        }
    }
}

#[rstest]
fn nobody_asks_before_the_time_that_was_told(
    #[values(
        "seconds",
        "a fraction",
        "a date",
        "a date of RFC 850",
        "a date of C",
        "a reset in seconds",
        "a reset at a moment",
        "nothing",
        "words",
        "less than nothing"
    )]
    form: &str,
) {
    let (header, wait_ms) = told(form);
    let (act, arrivals) = storm(1, header);
    let checked = check(ONE_BY_ONE, act);
    assert_eq!(
        (checked.code, each(&checked, "verdict")),
        (Some(0), vec![&json!("happened"); 4]),
        "{checked:?}"
    );
    let arrivals = arrivals.lock().unwrap();
    assert_eq!(arrivals.len(), 5);
    let waited = arrivals[1] - arrivals[0] + SOONER_MAX;
    assert!(waited >= Duration::from_millis(wait_ms), "asked again after {waited:?}");
    assert_paced(&arrivals, 50.0);
}

#[rstest]
#[case::one_by_one(ONE_BY_ONE, 50.0)]
#[case::several_at_once("pace_per_second = 5\nin_flight_max = 8", 5.0)]
fn a_storm_without_end_is_unknown_within_the_time_and_the_pace(
    #[case] pace: &str,
    #[case] per_second: f64,
    #[values("seconds", "a fraction", "a reset in seconds", "nothing", "words")] form: &str,
) {
    let (header, _) = told(form);
    let (act, arrivals) = storm(usize::MAX, header);
    let checked = check(pace, act);
    assert_eq!(
        (checked.code, each(&checked, "verdict")),
        (Some(3), vec![&json!("unknown"); 4]),
        "{checked:?}"
    );
    assert!(!each(&checked, "advice").contains(&&json!("retry")), "{checked:?}");
    assert!(checked.took < TIME_MAX, "{:?}", checked.took);
    assert!(checked.err.contains("429"), "{}", checked.err);
    let arrivals = arrivals.lock().unwrap();
    assert!((4..=8).contains(&arrivals.len()), "two tries a check: {}", arrivals.len());
    assert_paced(&arrivals, per_second);
}

/// A wait that is longer than a check may take is not waited for, and nobody asks meanwhile.
#[rstest]
#[case::an_hour("Retry-After: 3600\r\n")]
#[case::the_end_of_time("Retry-After: 99999999999999999999999999\r\n")]
#[case::a_far_date("Retry-After: Tue, 31 Dec 2199 23:59:59 GMT\r\n")]
fn a_wait_longer_than_the_check_is_not_waited_for(#[case] header: &'static str) {
    let (act, arrivals) = storm(usize::MAX, move || header.to_owned());
    let checked = check(ONE_BY_ONE, act);
    assert_eq!(
        (checked.code, each(&checked, "verdict")),
        (Some(3), vec![&json!("unknown"); 4]),
        "{checked:?}"
    );
    assert_eq!(arrivals.lock().unwrap().len(), 1, "the others are not asked into the pause");
    assert!(checked.took < Duration::from_secs(12), "{:?}", checked.took);
}
