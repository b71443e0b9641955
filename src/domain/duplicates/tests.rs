use super::*;
use crate::domain::item::State;
use crate::domain::timeline::ItemName;
use pretty_assertions::assert_eq;
use rstest::rstest;
use std::sync::LazyLock;

fn table() -> &'static ErrorTable {
    static TABLE: LazyLock<ErrorTable> =
        LazyLock::new(|| ErrorTable::parse(include_str!("../../../assets/errors.toml")).unwrap());
    &TABLE
}

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_796_040_000 + seconds, 0).unwrap()
}

fn effect(id: &str, seconds: Option<i64>, money: Option<(&str, &str)>, state: EffectState) -> Effect {
    Effect {
        id: id.to_owned(),
        status: "succeeded".to_owned(),
        state,
        money: money
            .map(|(amount, code)| Money { amount: amount.parse().unwrap(), currency: Some(code.to_owned()) }),
        at: seconds.map(at),
        link: None,
    }
}

fn happened(id: &str, seconds: i64) -> Effect {
    effect(id, Some(seconds), Some(("10.10", "BRL")), EffectState::Happened)
}

fn item(key: &str) -> ItemFacts {
    ItemFacts {
        name: ItemName { source: "jobs".into(), key: key.into() },
        kind: "order".into(),
        status: "done".into(),
        state: State::Done,
        attempts: Some(2),
        tried_once: false,
    }
}

fn run(attempt: i64, error: Option<&str>) -> Run {
    Run {
        attempt: Some(attempt),
        ending: Some(if error.is_some() { Ending::Failed } else { Ending::Done }),
        error: error.map(str::to_owned),
        ..Run::default()
    }
}

fn made(items: &[ItemFacts], runs: &[Run], effects: &[Effect], hints: &[Hint]) -> Option<Duplicate> {
    group(&Parts {
        reference: "order:7",
        operation: "ledger.charge",
        items,
        runs,
        effects,
        hints,
        errors: table(),
    })
}

#[rstest]
#[case::timeout(&[run(1, Some("timed out")), run(2, None)], &["ran_again_after_timeout"])]
#[case::closed(&[run(1, Some("Remote end closed connection without response")), run(2, None)], &["ran_again_after_network_error"])]
#[case::gateway(&[run(1, Some("HTTP Error 502: Bad Gateway")), run(2, None)], &["ran_again_after_network_error"])]
#[case::killed(&[run(1, Some("signal 9 (SIGKILL)")), run(2, None)], &["ran_again_after_restart"])]
#[case::other(&[run(1, Some("E4711")), run(2, None)], &["ran_again_after_error"])]
#[case::no_error(&[run(1, None), run(2, None)], &["ran_again"])]
#[case::one_run(&[run(1, None)], &["not_known"])]
#[case::no_run(&[], &["not_known"])]
fn how_the_second_came_about_follows_from_the_runs(#[case] runs: &[Run], #[case] causes: &[&str]) {
    let duplicate = made(&[item("k")], runs, &[happened("a", 0), happened("b", 9)], &[]).unwrap();
    assert_eq!(duplicate.causes.iter().map(Cause::as_str).collect::<Vec<_>>(), causes);
}

#[test]
fn what_the_timeline_shows_is_a_cause_too() {
    let span = TimeDelta::minutes;
    let hints = [
        Hint::KeyChanges { keys: vec!["u-1".to_owned(), "u-2".to_owned()], lines: Vec::new() },
        Hint::KeyForgotten { gap: span(90), key_ttl: span(60), lines: Vec::new() },
        Hint::Overlap { lasted: span(12), lines: Vec::new() },
    ];
    let effects = [happened("a", 0), happened("b", 5_400)];
    let duplicate = made(&[item("k"), item("l")], &[run(1, None), run(2, None)], &effects, &hints).unwrap();
    let words: Vec<&str> = duplicate.causes.iter().map(Cause::as_str).collect();
    assert_eq!(words, ["several_items", "key_changed", "key_forgotten", "redelivered", "ran_again"]);
}

#[test]
fn one_run_that_called_twice_is_told_by_the_timeout() {
    let timeout = Some(("as its kind says".to_owned(), TimeDelta::seconds(30)));
    let apart = Hint::EffectsApart { gap: TimeDelta::seconds(34), timeout, lines: Vec::new() };
    let effects = [happened("a", 0), happened("b", 34)];
    let duplicate = made(&[item("k")], &[run(1, None)], &effects, std::slice::from_ref(&apart)).unwrap();
    assert_eq!(
        duplicate.causes[0].sentence(),
        "One run called again by itself: the effects lie 34 s apart, the time-out is 30 s."
    );
    // With two runs on record it is the second run that called again.
    let duplicate = made(&[item("k")], &[run(1, None), run(2, None)], &effects, &[apart]).unwrap();
    assert_eq!(duplicate.causes, [Cause::RanAgain]);
}

#[test]
fn money_beyond_the_first_is_added_up_exactly_and_by_currency() {
    let priced =
        |id, seconds, amount, code| effect(id, Some(seconds), Some((amount, code)), EffectState::Happened);
    let effects = [
        priced("c", 20, "0.20", "EUR"),
        priced("a", 0, "999.99", "BRL"),
        priced("b", 10, "0.10", "EUR"),
        effect("d", Some(30), None, EffectState::Happened),
        effect("x", Some(5), Some(("7.00", "BRL")), EffectState::Failed),
    ];
    let duplicate = made(&[item("k")], &[], &effects, &[]).unwrap();
    assert_eq!(duplicate.charged_twice(), "0.30 EUR and 1 effect that tells no amount");
    assert_eq!(duplicate.happened_count(), 4);
    assert_eq!(duplicate.second_at, Some(at(10)));
    let ids: Vec<&str> = duplicate.happened().map(|effect| effect.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    let reason = duplicate.escalation_reason();
    for needed in ["a succeeded 999.99 BRL at 2026-11-30T12:00:00Z", "`order:7` (ledger.charge)", "0.30 EUR"]
    {
        assert!(reason.contains(needed), "{reason}");
    }
}

#[rstest]
#[case::one(&[happened("a", 0)])]
#[case::declined(&[happened("a", 0), effect("b", Some(9), None, EffectState::Failed)])]
#[case::pending(&[happened("a", 0), effect("b", Some(9), None, EffectState::Pending)])]
#[case::none(&[])]
fn one_effect_is_no_duplicate(#[case] effects: &[Effect]) {
    assert_eq!(made(&[item("k")], &[], effects, &[]), None);
}

#[test]
fn without_times_nobody_says_which_was_second() {
    let effects = [happened("a", 0), effect("b", None, None, EffectState::Happened)];
    assert_eq!(made(&[item("k")], &[], &effects, &[]).unwrap().second_at, None);
}
