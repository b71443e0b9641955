use super::*;
use pretty_assertions::assert_eq;
use rstest::rstest;

fn at(minute: i64) -> DateTime<Utc> {
    "2026-11-30T08:00:00Z".parse::<DateTime<Utc>>().unwrap() + TimeDelta::minutes(minute)
}

fn stuck() -> Seen {
    Seen { finding: "stuck".to_owned(), status: "running".to_owned(), attempts: Some(1), ..Seen::default() }
}

fn asked(verdict: &str, effects: usize) -> Seen {
    Seen { verdict: Some(verdict.to_owned()), effects: Some(effects), ..stuck() }
}

fn look(minute: i64, items: &[(&str, Seen)]) -> Look {
    let items = items.iter().map(|(key, seen)| ((*key).to_owned(), seen.clone())).collect();
    let sources = BTreeMap::from([("jobs".to_owned(), Ok(items))]);
    Look { at: at(minute), took: TimeDelta::milliseconds(7), sources }
}

fn unread(minute: i64) -> Look {
    let sources = BTreeMap::from([("jobs".to_owned(), Err("no connection".to_owned()))]);
    Look { sources, ..look(minute, &[]) }
}

fn told(changes: &[Change]) -> Vec<String> {
    changes
        .iter()
        .map(|change| format!("{:?} {}", change.event, change.key.as_deref().unwrap_or("-")))
        .collect()
}

#[test]
fn what_is_new_changed_and_gone_is_told_once() {
    let mut state = State::new("");
    assert_eq!(told(&state.take(look(0, &[("a", stuck()), ("b", stuck())]))), ["New a", "New b"]);
    assert_eq!(told(&state.take(look(1, &[("a", stuck()), ("b", stuck())]))), [""; 0]);
    let again = Seen { attempts: Some(2), ..stuck() };
    let changes = state.take(look(2, &[("b", again.clone()), ("c", stuck())]));
    assert_eq!(told(&changes), ["Changed b", "New c", "Gone a"]);
    assert_eq!((changes[0].seen.clone(), changes[0].before.clone()), (Some(again), Some(stuck())));
    assert_eq!(state.findings_count(), 2);
}

/// A source that cannot be read is never one without findings.
#[test]
fn what_cannot_be_read_is_not_gone() {
    let mut state = State::new("");
    state.take(look(0, &[("a", stuck())]));
    assert_eq!(told(&state.take(unread(1))), ["Unread -"]);
    assert_eq!(told(&state.take(unread(2))), [""; 0], "it is told once");
    assert_eq!((state.findings_count(), state.unread()), (1, vec!["jobs"]));
    assert_eq!(state.succeeded_at, Some(at(0)));
    assert_eq!(told(&state.take(look(3, &[("a", stuck())]))), ["ReadAgain -"], "and `a` is not new");
    assert_eq!((state.unread(), state.succeeded_at), (vec![], Some(at(3))));
}

#[test]
fn a_source_that_nobody_watches_any_more_is_not_gone() {
    let mut state = State::new("");
    state.take(look(0, &[("a", stuck())]));
    let without = Look { sources: BTreeMap::new(), ..look(1, &[]) };
    assert_eq!(told(&state.take(without)), [""; 0]);
    assert_eq!(state.findings_count(), 0);
}

#[rstest]
#[case::another_answer(asked("duplicated", 2), true)]
#[case::the_same(asked("happened", 1), false)]
#[case::could_not_be_asked(Seen { is_unasked: true, ..asked("unknown", 0) }, false)]
#[case::nobody_asked(stuck(), false)]
#[case::touched(Seen { since: Some(at(9)), ..asked("happened", 1) }, false)]
fn only_an_answer_changes_an_answer(#[case] now: Seen, #[case] is_told: bool) {
    let mut state = State::new("");
    state.take(look(0, &[("a", asked("happened", 1))]));
    assert_eq!(state.take(look(1, &[("a", now.clone())])).len(), usize::from(is_told));
    let kept = &state.sources["jobs"].items["a"];
    let expected = if is_told { now.verdict } else { Some("happened".to_owned()) };
    assert_eq!(kept.verdict, expected);
}

#[test]
fn a_notice_has_the_same_key_until_it_is_remembered() {
    let first = |minute| {
        let mut state = State::new("");
        let changes = state.take(look(minute, &[("a", stuck())]));
        state.post(&changes, at(minute));
        state
    };
    // The program ended before it remembered, and looks once more a minute later.
    let (mut state, again) = (first(0), first(1));
    assert_eq!(state.outbox[0].dedup_key, again.outbox[0].dedup_key);
    assert_eq!(state.outbox[0].body["text"], "unstuck: 1 new, 0 changed, 0 gone; 1 finding now");
    // Gone and back again is another change.
    for (minute, items) in [(1, vec![]), (2, vec![("a", stuck())])] {
        let changes = state.take(look(minute, &items));
        state.post(&changes, at(minute));
    }
    let keys: std::collections::BTreeSet<_> =
        state.outbox.iter().map(|waiting| waiting.dedup_key.clone()).collect();
    assert_eq!((keys.len(), state.outbox.len()), (3, 3));
    let nothing = state.take(look(3, &[("a", stuck())]));
    state.post(&nothing, at(3));
    assert_eq!(state.outbox.len(), 3, "no change, no notice");
}

#[test]
fn notices_go_in_order_and_wait_longer_each_time() {
    let mut state = State::new("");
    for (minute, items) in [(0, vec![("a", stuck())]), (1, vec![])] {
        let changes = state.take(look(minute, &items));
        state.post(&changes, at(minute));
    }
    assert_eq!(state.due(at(1)).map(|waiting| waiting.body["new"].clone()), Some(1.into()));
    state.not_sent(at(1));
    assert_eq!(state.due(at(1)), None, "the second does not overtake the first");
    assert_eq!(state.next_try_at(), Some(at(1) + RESEND_WAIT_FIRST));
    let waits: Vec<i64> = [1, 2, 3, 9, 99].map(|tries| resend_wait(tries).num_seconds()).to_vec();
    assert_eq!(waits, [15, 30, 60, 3_600, 3_600]);
    state.sent();
    assert_eq!(state.due(at(1)).map(|waiting| waiting.body["gone"].clone()), Some(1.into()));
    // A clock that was set back by a day holds nothing up.
    state.not_sent(at(1));
    assert!(state.due(at(1) - TimeDelta::days(1)).is_some());
}

#[test]
fn too_many_notices_are_counted_and_many_changes_cut() {
    let mut state = State::new("");
    let many: Vec<(String, Seen)> = (0..250).map(|number| (format!("k{number:03}"), stuck())).collect();
    let items: Vec<(&str, Seen)> = many.iter().map(|(key, seen)| (key.as_str(), seen.clone())).collect();
    let changes = state.take(look(0, &items));
    for minute in 0..105 {
        state.post(&changes, at(minute));
    }
    assert_eq!((state.outbox.len(), state.given_up), (OUTBOX_NOTICES_MAX, 5));
    let body = &state.outbox[0].body;
    assert_eq!((&body["new"], &body["changes_left_out"]), (&250.into(), &150.into()));
    assert_eq!(body["changes"].as_array().unwrap().len(), NOTICE_CHANGES_MAX);
}

#[test]
fn a_state_is_what_it_was_after_a_file() {
    let mut state = State::new("finding:stuck");
    let changes = state.take(look(0, &[("a", asked("happened", 1))]));
    state.post(&changes, at(0));
    state.take(unread(1));
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
}

#[test]
fn the_fields_that_a_template_may_use_are_the_plain_ones_of_a_notice() {
    let notice = serde_json::to_value(Notice::of(&State::new(""), &[], DateTime::UNIX_EPOCH)).unwrap();
    let plain =
        notice.as_object().unwrap().iter().filter(|(_, value)| value.is_string() || value.is_number());
    assert_eq!(plain.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), NOTICE_FIELDS);
}
