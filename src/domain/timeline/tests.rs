use super::origins::of_row;
use super::*;
use crate::domain::cell::Cell;
use crate::domain::item::{Item, ItemKey, LastError, Lease, Row, State, Times};
use pretty_assertions::assert_eq;
use rstest::rstest;

fn moment(text: &str) -> DateTime<Utc> {
    format!("2026-11-30T{text}Z").parse().unwrap()
}

fn known(text: &str) -> Reading {
    Reading::Known(moment(text))
}

fn named(key: &str) -> ItemName {
    ItemName { source: "jobs".into(), key: key.into() }
}

fn log() -> Clock {
    Clock::Log("app.jsonl".into())
}

fn told(attempt: i64, owner: &str) -> Told {
    Told { attempt: Some(attempt), owner: (!owner.is_empty()).then(|| owner.to_owned()), ..Told::default() }
}

fn receipt(at: &str, what: What) -> Happening {
    Happening {
        at: known(at),
        clock: log(),
        origin: Origin::Receipt,
        place: at.to_owned(),
        item: Some(named("k")),
        what,
    }
}

fn effect(at: &str, id: &str) -> Happening {
    let what = What::Effect {
        id: id.to_owned(),
        status: "succeeded".to_owned(),
        state: EffectState::Happened,
        money: None,
    };
    let clock = Clock::Provider("ledger.charge".into());
    Happening {
        at: known(at),
        clock,
        origin: Origin::Effect,
        place: "ledger.charge".to_owned(),
        item: None,
        what,
    }
}

fn row_end(at: &str, ending: Ending) -> Happening {
    Happening {
        at: known(at),
        clock: Clock::Source("jobs".into()),
        origin: Origin::Row,
        place: "jobs: last change".to_owned(),
        item: Some(named("k")),
        what: What::Ended(ending, Told::default()),
    }
}

fn told_by(happenings: Vec<Happening>) -> (Timeline, Vec<Run>) {
    let timeline = merge(happenings, Gaps::default());
    let runs = runs(&timeline);
    (timeline, runs)
}

fn sentences(happenings: Vec<Happening>, limits: &Limits) -> Vec<String> {
    let (timeline, runs) = told_by(happenings);
    hints(&timeline, &runs, limits).iter().map(Hint::sentence).collect()
}

fn words(timeline: &Timeline) -> Vec<String> {
    timeline
        .lines
        .iter()
        .map(|line| format!("{} {}", line.happening.origin.as_str(), line.happening.what.as_str()))
        .collect()
}

/// Field case 9: the oldest start is not the one that counts.
#[test]
fn a_fresh_second_attempt_is_as_old_as_itself() {
    let all = vec![
        receipt("06:00:00.1", What::Started(told(1, ""))),
        receipt("09:00:00.1", What::Requeued(told(1, ""))),
        receipt("11:55:00.1", What::Started(told(2, ""))),
    ];
    let (_, runs) = told_by(all.clone());
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1].start, Some(moment("11:55:00.1")));
    assert_eq!(
        sentences(all, &Limits::default()),
        ["The latest of its runs began at 2026-11-30T11:55:00.100Z: its age counts from there."]
    );
}

/// Field case 10: a late check fails what had ended well.
#[test]
fn a_zombie_found_after_success_is_a_conflict() {
    let all = vec![
        receipt("08:00:00.1", What::Started(told(1, "w1"))),
        receipt("08:08:30.1", What::Ended(Ending::Done, told(1, "w1"))),
        receipt("08:08:41.1", What::DeclaredDead(told(1, ""))),
    ];
    let (timeline, runs) = told_by(all);
    assert_eq!(words(&timeline), ["receipt started", "receipt ended_done", "receipt declared_dead"]);
    let hints = hints(&timeline, &runs, &Limits::default());
    assert_eq!(
        hints[0].sentence(),
        "It was said to have failed 11 s after it had said that all went well: look before a retry."
    );
    assert!(hints[0].warns_against_retry());
    assert_eq!(hints[0].lines(), [2, 3]);
}

/// Field case 11: running past the window starts a second copy.
#[test]
fn runs_that_overlap_are_said_to() {
    let all = vec![
        receipt("10:00:00.1", What::Started(told(1, "a"))),
        receipt("10:30:00.1", What::Started(told(2, "b"))),
        receipt("10:42:00.1", What::Ended(Ending::Done, told(1, "a"))),
        receipt("11:00:00.1", What::Ended(Ending::Done, told(2, "b"))),
    ];
    let (_, runs) = told_by(all.clone());
    let spans: Vec<_> = runs.iter().map(|run| (run.attempt, run.start, run.end)).collect();
    assert_eq!(
        spans,
        [
            (Some(1), Some(moment("10:00:00.1")), Some(moment("10:42:00.1"))),
            (Some(2), Some(moment("10:30:00.1")), Some(moment("11:00:00.1"))),
        ]
    );
    assert_eq!(sentences(all, &Limits::default()), ["Two runs overlap 12 min."]);
}

/// Field case 12: the first worker frees the lock of the second.
#[test]
fn an_unlock_by_somebody_else_is_named_and_the_order_kept() {
    let all = vec![
        receipt("10:00:00.1", What::Started(told(1, "A"))),
        receipt("10:05:00.1", What::Started(told(2, "B"))),
        receipt("10:06:00.1", What::Unlocked(told(1, "A"))),
        receipt("10:07:00.1", What::Started(told(3, "C"))),
    ];
    let (timeline, _) = told_by(all.clone());
    let owners: Vec<_> =
        timeline.lines.iter().filter_map(|line| line.happening.what.told()?.owner.clone()).collect();
    assert_eq!(owners, ["A", "B", "A", "C"]);
    assert!(
        sentences(all, &Limits::default())
            .contains(&"A gave back a lock that B held: whoever came next found it free.".to_owned())
    );
    let own = vec![
        receipt("10:00:00.1", What::Started(told(1, "A"))),
        receipt("10:06:00.1", What::Unlocked(told(1, "A"))),
    ];
    assert_eq!(sentences(own, &Limits::default()), Vec::<String>::new());
}

/// Field case 13: two runs exactly one limit apart.
#[rstest]
#[case::equal("01:30:03", true)]
#[case::near("01:30:04", true)]
#[case::other("01:47:00", false)]
fn a_spacing_that_equals_the_visibility_limit_is_said(#[case] second: &str, #[case] is_said: bool) {
    let limits =
        Limits { visibility: vec![("its lease".to_owned(), TimeDelta::minutes(30))], ..Limits::default() };
    let all = vec![
        receipt("01:00:03", What::Started(told(1, ""))),
        receipt("01:10:00", What::Ended(Ending::Done, told(1, ""))),
        receipt(second, What::Started(told(2, ""))),
        receipt("02:00:00", What::Ended(Ending::Done, told(2, ""))),
    ];
    let said = sentences(all, &limits);
    assert_eq!(
        said.iter().any(|said| said.contains("equals the visibility limit of 30 min (its lease)")),
        is_said,
        "{said:?}"
    );
}

/// Field case 16: a fresh key is made per call.
#[test]
fn a_key_that_changes_per_attempt_is_said() {
    let with = |attempt, key: &str| Told { idempotency_key: Some(key.to_owned()), ..told(attempt, "") };
    let all = vec![
        receipt("10:00:00.1", What::Ended(Ending::Failed, with(1, "u-1"))),
        receipt("10:05:00.1", What::Ended(Ending::Done, with(2, "u-2"))),
    ];
    assert_eq!(
        sentences(all, &Limits::default()),
        [
            "The idempotency key changes per attempt (u-1, u-2): it protects nothing, so ask the provider before a retry."
        ]
    );
    let stable = vec![
        receipt("10:00:00.1", What::Ended(Ending::Failed, with(1, "k"))),
        receipt("10:05:00.1", What::Ended(Ending::Done, with(2, "k"))),
    ];
    assert_eq!(sentences(stable, &Limits::default()), Vec::<String>::new());
}

/// Field case 52: the spacing just over the caller's deadline tells which layer called again.
#[rstest]
#[case::just_over(
    "10:00:34",
    Some(30),
    "Two effects lie 34 s apart, just over the time-out of 30 s (as its kind says)."
)]
#[case::far_over("10:05:00", Some(30), "Two effects lie 5 min apart.")]
#[case::under("10:00:20", Some(30), "Two effects lie 20 s apart.")]
#[case::no_timeout("10:00:34", None, "Two effects lie 34 s apart.")]
fn the_gap_of_effects_stands_beside_the_timeout(
    #[case] second: &str,
    #[case] timeout: Option<i64>,
    #[case] said: &str,
) {
    let timeouts = timeout.map(|seconds| ("as its kind says".to_owned(), TimeDelta::seconds(seconds)));
    let limits = Limits { timeouts: timeouts.into_iter().collect(), ..Limits::default() };
    assert_eq!(sentences(vec![effect("10:00:00", "ch_1"), effect(second, "ch_2")], &limits), [said]);
}

#[rstest]
#[case::requests("Read timed out. (read timeout=30)", Some(30_000))]
#[case::axios("timeout of 30000ms exceeded", Some(30_000))]
#[case::seconds("request timed out after 2.5 seconds", Some(2_500))]
#[case::no_unit("timeout of 30 exceeded", None)]
#[case::no_number("timed out", None)]
fn an_error_may_tell_its_timeout(#[case] error: &str, #[case] millis: Option<i64>) {
    let mut limits = Limits::default();
    limits.add_timeout_of(error);
    let told: Vec<_> = limits.timeouts.iter().map(|(_, timeout)| timeout.num_milliseconds()).collect();
    assert_eq!(told, millis.into_iter().collect::<Vec<_>>());
}

#[test]
fn effects_further_apart_than_a_key_is_remembered_say_so() {
    let limits = Limits { key_ttl: Some(TimeDelta::hours(1)), ..Limits::default() };
    let said = sentences(vec![effect("10:00:00", "ch_1"), effect("12:00:00", "ch_2")], &limits);
    assert_eq!(
        said[0],
        "Two effects lie 2 h apart, and the provider remembers a key for 1 h: it had forgotten it."
    );
}

/// What shares a moment stands in the order of cause and effect, and otherwise as it was told.
#[test]
fn equal_times_stand_in_causal_order_whatever_the_order_they_came_in() {
    let mut all = vec![
        receipt("10:00:00.1", What::Ended(Ending::Done, told(1, ""))),
        effect("10:00:00.1", "ch_1"),
        receipt("10:00:00.1", What::Started(told(1, ""))),
    ];
    let expected = ["receipt started", "effect effect", "receipt ended_done"];
    for _ in 0..all.len() {
        all.rotate_left(1);
        assert_eq!(words(&merge(all.clone(), Gaps::default())), expected);
    }
}

#[test]
fn what_has_no_time_stands_at_the_end_with_the_reason() {
    let bad = |at: Reading| Happening { at, ..receipt("10:00:00", What::Requeued(told(1, ""))) };
    let all = vec![
        bad(Reading::Missing),
        bad(Reading::unit_unclear("1796040000")),
        receipt("10:00:00", What::Ended(Ending::Done, told(1, ""))),
    ];
    let timeline = merge(all, Gaps::default());
    let whys: Vec<&str> = timeline.untimed.iter().map(|untimed| &*untimed.why).collect();
    assert_eq!(timeline.lines.len(), 1);
    assert_eq!(whys, ["it tells no time", "its time cannot be read for certain: 1796040000 (unit unclear)"]);
}

#[rstest]
#[case::unmeasured(
    "10:00:00.5",
    "10:00:01.2",
    None,
    Some("nobody compared the clocks of ledger.charge and app.jsonl")
)]
#[case::far("10:00:00.5", "10:00:01.6", None, None)]
#[case::whole_second(
    "10:00:00",
    "10:00:01.9",
    None,
    Some("ledger.charge tells whole seconds, and nobody compared its clock with that of app.jsonl")
)]
#[case::measured(
    "10:00:00.5",
    "10:04:00.5",
    Some(300),
    Some("the clocks of ledger.charge and app.jsonl are 5 min apart")
)]
#[case::beyond_the_gap("10:00:00.5", "10:05:00.5", Some(300), None)]
fn an_order_within_the_clocks_gap_is_not_certain(
    #[case] of_effect: &str,
    #[case] of_log: &str,
    #[case] gap: Option<i64>,
    #[case] why: Option<&str>,
) {
    let gaps = Gaps(gap.map(|seconds| (log(), TimeDelta::seconds(seconds))).into_iter().collect());
    let all = vec![effect(of_effect, "ch_1"), receipt(of_log, What::Ended(Ending::Done, told(1, "")))];
    let timeline = merge(all, gaps);
    assert_eq!(timeline.lines[1].uncertain.as_deref(), why);
    let order = timeline.order(&timeline.lines[0], &timeline.lines[1]);
    assert_eq!(order, if why.is_some() { Order::Uncertain } else { Order::Before });
}

#[test]
fn one_log_keeps_its_own_order_whatever_its_fractions() {
    let all = vec![
        receipt("10:00:00", What::Started(told(1, ""))),
        receipt("10:00:00", What::Ended(Ending::Done, told(1, ""))),
    ];
    assert_eq!(merge(all, Gaps::default()).lines[1].uncertain, None);
}

/// A row tells of its latest run only: it makes no second one of what the log tells.
#[test]
fn a_row_and_a_log_that_tell_one_end_tell_one_run() {
    let all = vec![
        receipt("12:00:00.1", What::Ended(Ending::Failed, told(1, ""))),
        receipt("12:05:00.1", What::Ended(Ending::Done, told(2, ""))),
        row_end("12:05:00.2", Ending::Done),
    ];
    let (timeline, runs) = told_by(all);
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1].lines, [2, 3]);
    assert_eq!(hints(&timeline, &runs, &Limits::default()), []);
}

/// The row was set back: its end is no earlier event of its own, and no failure "after" it.
#[test]
fn a_row_that_was_set_back_is_doubted_and_shows_no_order() {
    let all = vec![
        row_end("10:05:00.2", Ending::Done),
        receipt("12:00:00.1", What::Ended(Ending::Failed, told(1, ""))),
        receipt("12:05:00.1", What::Ended(Ending::Done, told(2, ""))),
    ];
    let (_, runs) = told_by(all.clone());
    assert_eq!(runs.len(), 2);
    assert_eq!(
        sentences(all, &Limits::default()),
        [
            "The row tells its last end 1 h 59 min before the log does: one of them was changed or has another clock."
        ]
    );
}

fn item(state: State, times: Times) -> Item {
    Item {
        source: "jobs".into(),
        key: ItemKey::new(vec![Cell::text("k")]),
        kind: "job".into(),
        status: state.as_str().into(),
        state,
        attempts: Some(2),
        tried_once: false,
        times,
        last_error: LastError::of("timed out"),
        fields: Vec::new(),
        oddities: Vec::new(),
    }
}

#[test]
fn a_row_tells_its_times_its_columns_and_its_list_of_errors() {
    let times = Times {
        created: known("09:00:00"),
        started: known("10:00:00"),
        updated: known("10:00:30"),
        lease: Lease::EndsAt(known("10:30:00")),
        ..Times::default()
    };
    let text = |text: &str| Cell::text(text);
    let errors = r#"[{"at":"2026-11-30T09:30:00.5Z","attempt":1,"error":"connection reset"},{"attempt":1}]"#;
    let row = Row {
        columns: vec![
            ("inserted_at".into(), text("2026-11-30 09:00:00")),
            ("scheduled_at".into(), text("2026-11-30 09:29:00")),
            ("run_at".into(), Cell::Integer(1_796_040_000)),
            ("errors".into(), text(errors)),
        ],
    };
    let timeline = merge(of_row(&item(State::Failed, times), Some(&row), &[]), Gaps::default());
    assert_eq!(
        words(&timeline),
        [
            "row created",
            "row scheduled",
            "attempts ended_failed",
            "row started",
            "row ended_failed",
            "row lease_ends"
        ]
    );
    assert_eq!(timeline.untimed[0].why, "its time cannot be read for certain: 1796040000 (unit unclear)");
    assert_eq!(timeline.untimed.len(), 1);
}

/// Without a time that shows it, nobody knows the zone of a column that no preset reads.
#[test]
fn a_column_of_no_known_zone_is_not_placed() {
    let row = Row { columns: vec![("scheduled_at".into(), Cell::text("2026-11-30 09:29:00"))] };
    let timeline = merge(of_row(&item(State::Pending, Times::default()), Some(&row), &[]), Gaps::default());
    assert_eq!(timeline.lines, []);
    assert_eq!(timeline.untimed[0].why, "its time cannot be read for certain: 2026-11-30T09:29:00 (zone?)");
}

#[test]
fn a_running_row_is_a_run_without_an_end() {
    let times = Times { updated: known("10:00:00"), ..Times::default() };
    let (_, runs) = told_by(of_row(&item(State::Running, times), None, &[]));
    let told: Vec<_> = runs.iter().map(|run| (run.start, run.end, run.is_on_record)).collect();
    assert_eq!(told, [(Some(moment("10:00:00")), None, false)]);
}
