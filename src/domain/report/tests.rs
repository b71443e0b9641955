use super::*;
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::json;

fn entry(seq: i64, event: Event, decision: &str, key: &str, body: &Value) -> Entry {
    Entry {
        seq,
        at: format!("2026-11-30T08:{seq:02}:00Z"),
        event: event.as_str().to_owned(),
        decision: decision.to_owned(),
        source: "jobs".to_owned(),
        key: key.to_owned(),
        operator: "ana".to_owned(),
        origin: "ana@host".to_owned(),
        body: body.to_string(),
        prev: String::new(),
        hash: format!("hash-{seq}"),
    }
}

fn check(verdict: &str, amounts: &[&str]) -> Value {
    let money: Vec<Value> = amounts
        .iter()
        .map(|amount| json!({ "amount": amount, "currency": "EUR", "effect": "ch", "state": "happened" }))
        .collect();
    json!({
        "kind": "invoice", "verdict": verdict, "advice": "escalate", "effects": amounts.len(),
        "effect_ids": amounts.iter().map(|amount| format!("ch_{amount}")).collect::<Vec<_>>(),
        "effects_told": money, "evidence": { "hash": "e1" },
    })
}

fn intent(choice: &str, check: &Value) -> Value {
    json!({ "choice": choice, "reason": "because", "insisted": false, "check": check })
}

fn report(from: Option<i64>, until: Option<i64>, entries: &[Entry]) -> Report {
    let at = |minute: i64| format!("2026-11-30T08:{minute:02}:00Z").parse().unwrap();
    Report::of(Scope { incident: None, from: from.map(at), until: until.map(at) }, entries)
}

#[test]
fn a_decision_is_told_with_its_evidence() {
    let entries = [
        entry(1, Event::Intended, "d1", "a", &intent("mark_done", &check("happened", &["12.50"]))),
        entry(2, Event::Applied, "d1", "a", &json!({ "choice": "mark_done" })),
    ];
    let told = report(None, None, &entries);
    let expected = Decided {
        decision: "d1".to_owned(),
        at: "2026-11-30T08:01:00Z".to_owned(),
        ended_at: Some("2026-11-30T08:02:00Z".to_owned()),
        source: "jobs".to_owned(),
        key: "a".to_owned(),
        kind: "invoice".to_owned(),
        choice: "mark_done".to_owned(),
        outcome: Outcome::Applied,
        why: None,
        reason: "because".to_owned(),
        insisted: false,
        operator: "ana".to_owned(),
        origin: "ana@host".to_owned(),
        approved_by: None,
        approval_reason: None,
        verdict: "happened".to_owned(),
        advice: "escalate".to_owned(),
        effects: Some(1),
        effect_ids: vec!["ch_12.50".to_owned()],
        amount: Some(decided::Exact("12.50".parse().unwrap())),
        currency: Some("EUR".to_owned()),
        evidence: Some("e1".to_owned()),
        entries: vec![1, 2],
        hash: "hash-2".to_owned(),
    };
    assert_eq!(told.decisions, [expected]);
    assert_eq!(told.entries.head.as_deref(), Some("hash-2"));
    assert_eq!((told.counts.decisions, told.counts.applied, told.counts.open_items), (1, 1, 0));
}

#[rstest]
#[case::unfinished(&[Event::Intended], Outcome::Unfinished)]
#[case::failed(&[Event::Intended, Event::Failed], Outcome::Failed)]
#[case::refused(&[Event::Refused], Outcome::Refused)]
#[case::waiting(&[Event::Proposed], Outcome::Waiting)]
#[case::withdrawn(&[Event::Proposed, Event::Withdrawn], Outcome::Withdrawn)]
#[case::lapsed(&[Event::Proposed, Event::Lapsed], Outcome::Lapsed)]
#[case::approved(&[Event::Proposed, Event::Intended, Event::Applied], Outcome::Applied)]
fn what_became_of_a_decision_is_its_last_word(#[case] events: &[Event], #[case] outcome: Outcome) {
    let entries: Vec<Entry> = (1..)
        .zip(events)
        .map(|(seq, event)| entry(seq, *event, "d1", "a", &json!({ "choice": "retry", "why": "so" })))
        .collect();
    let told = report(None, None, &entries);
    assert_eq!(told.decisions[0].outcome, outcome);
    let ended = [Outcome::Unfinished, Outcome::Waiting].contains(&outcome);
    assert_eq!(told.decisions[0].ended_at.is_none(), ended);
    assert_eq!(told.decisions[0].why.is_some(), outcome != Outcome::Applied);
}

#[test]
fn two_persons_are_both_told() {
    let approval = json!({
        "proposed": { "operator": "ana", "origin": "ana@one", "reason": "I see ch_1" },
        "approved": { "operator": "ben", "origin": "ben@two", "reason": "so do I" },
    });
    let mut body = intent("mark_done", &check("happened", &["1"]));
    body["approval"] = approval;
    let mut approved = entry(2, Event::Intended, "d1", "a", &body);
    approved.operator = "ben".to_owned();
    let entries = [entry(1, Event::Proposed, "d1", "a", &intent("mark_done", &Value::Null)), approved];
    let told = report(None, None, &entries);
    let one = &told.decisions[0];
    assert_eq!(
        (one.operator.as_str(), one.origin.as_str(), one.reason.as_str()),
        ("ana", "ana@one", "I see ch_1")
    );
    assert_eq!((one.approved_by.as_deref(), one.approval_reason.as_deref()), (Some("ben"), Some("so do I")));
    let persons: Vec<&str> = told.operators.iter().map(|one| one.operator.as_str()).collect();
    assert_eq!((persons, told.counts.by_two, told.counts.unfinished), (vec!["ana", "ben"], 1, 1));
}

#[test]
fn money_is_summed_by_currency_and_what_moved_again_apart() {
    let entries = [
        entry(1, Event::Intended, "d1", "a", &intent("mark_done", &check("happened", &["0.10"]))),
        entry(2, Event::Applied, "d1", "a", &json!({})),
        entry(3, Event::Intended, "d2", "b", &intent("mark_done", &check("happened", &["0.20"]))),
        entry(4, Event::Applied, "d2", "b", &json!({})),
        // Refused: nothing became of it.
        entry(5, Event::Refused, "d3", "c", &intent("mark_done", &check("happened", &["99"]))),
        // Twice charged; the earlier look at it does not count a second time.
        entry(6, Event::Checked, "", "d", &check("duplicated", &["7", "7"])),
        entry(7, Event::Checked, "", "d", &check("duplicated", &["7", "7", "7"])),
    ];
    let told = report(None, None, &entries);
    assert_eq!(told.money.len(), 1);
    let sums = &told.money[0];
    let shown =
        [sums.marked_done, sums.retried, sums.escalated, sums.moved_again].map(|sum| sum.0.to_string());
    assert_eq!(
        (sums.currency.as_str(), shown.map(String::from)),
        ("EUR", ["0.3", "0", "0", "14"].map(String::from))
    );
}

#[test]
fn the_window_takes_whole_decisions_and_nothing_else() {
    let entries = [
        entry(1, Event::Checked, "", "z", &check("unknown", &[])),
        entry(2, Event::Intended, "d1", "a", &intent("retry", &check("not_found", &[]))),
        entry(3, Event::Applied, "d1", "a", &json!({ "choice": "retry" })),
        entry(4, Event::Checked, "", "b", &check("pending", &[])),
        entry(5, Event::Intended, "d2", "c", &intent("retry", &check("not_found", &[]))),
        entry(6, Event::Applied, "d2", "c", &json!({ "choice": "retry" })),
    ];
    let told = report(Some(3), Some(6), &entries);
    let keys: Vec<(&str, Outcome)> =
        told.decisions.iter().map(|one| (one.key.as_str(), one.outcome)).collect();
    assert_eq!(
        keys,
        [("a", Outcome::Applied), ("c", Outcome::Applied)],
        "each with its beginning and its end"
    );
    assert_eq!((told.entries.count, told.entries.first, told.entries.last), (3, Some(3), Some(5)));
    assert_eq!(told.counts.checks, 1);
    let open: Vec<&str> = told.open_items.iter().map(|item| item.key.as_str()).collect();
    assert_eq!(open, ["b"]);
}

#[test]
fn what_was_asked_about_again_after_its_decision_is_open_again() {
    let decided = [
        entry(1, Event::Intended, "d1", "a", &intent("retry", &check("not_found", &[]))),
        entry(2, Event::Applied, "d1", "a", &json!({ "choice": "retry" })),
    ];
    assert_eq!(report(None, None, &decided).counts.open_items, 0);
    let mut again = decided.to_vec();
    again.push(entry(3, Event::Checked, "", "a", &check("duplicated", &["1", "1"])));
    let told = report(None, None, &again);
    assert_eq!((told.counts.open_items, told.open_items[0].verdict.as_str()), (1, "duplicated"));
}

#[test]
fn a_secret_in_a_reason_is_hidden_once_more() {
    let body = json!({ "choice": "retry", "reason": "token: sk_live_51Habcdefghijklmnop", "why": "no" });
    let told = report(None, None, &[entry(1, Event::Refused, "d1", "a", &body)]);
    assert!(!told.decisions[0].reason.contains("sk_live"), "{}", told.decisions[0].reason);
}
