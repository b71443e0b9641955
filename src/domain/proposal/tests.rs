use super::*;
use crate::domain::cell::Cell;
use crate::domain::evidence::{Effect, Fault, FaultKind};
use crate::domain::money::{Money, Unit};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use rstest::rstest;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap()
}

fn proposer() -> Operator {
    Operator { name: "Ana".into(), login: "ana@corp".into(), host: "desk-1".into() }
}

fn effect(id: &str, cents: &str) -> Effect {
    Effect {
        id: id.to_owned(),
        status: "succeeded".to_owned(),
        state: EffectState::Happened,
        money: Money::read(cents, Some("eur"), Unit::Minor).ok(),
        at: None,
        link: None,
    }
}

fn judgement(verdict: Verdict, effects: Vec<Effect>) -> Judgement {
    Judgement { verdict, effects, settled: true, fault: None, reasons: Vec::new() }
}

/// An entry as the workflow writes it.
fn entry(event: Event) -> Entry {
    let seen = Row { columns: vec![("status".into(), Cell::text("failed"))] };
    let sight = Sight::of(&judgement(Verdict::Happened, vec![effect("ch_1", "1200")]));
    let mut body = json!({
        "choice": "retry", "reason": "the bank has nothing", "insisted": true,
        "row_seen": seen.to_json(), "row_seen_sha256": seen.sha256(), "writes_sha256": "ab", "check": { "advice": "mark_done" },
    });
    for (name, value) in Proposal::told(&proposer(), &sight, now()) {
        body[name] = value;
    }
    Entry {
        seq: 7,
        at: "2027-01-15T04:00:00Z".to_owned(),
        event: event.as_str().to_owned(),
        decision: "01930000-0000-7000-8000-0123456789ab".to_owned(),
        source: "jobs".to_owned(),
        key: "inv-1".to_owned(),
        operator: "Ana".to_owned(),
        origin: "ana@corp@desk-1".to_owned(),
        body: body.to_string(),
        prev: String::new(),
        hash: String::new(),
    }
}

#[test]
fn a_proposal_is_read_back_as_it_was_written() {
    let proposal = Proposal::of_entry(&entry(Event::Proposed)).unwrap();
    assert_eq!(proposal.proposer, proposer());
    assert_eq!((proposal.choice, proposal.insists, proposal.entry), (Choice::Retry, true, 7));
    assert_eq!((proposal.reason.as_str(), &*proposal.key), ("the bank has nothing", "inv-1"));
    assert_eq!(proposal.sight.shown(), "ch_1 (12.00 EUR)");
    assert_eq!((proposal.until, &*proposal.advice, proposal.row_sha256.len()), (now(), "mark_done", 64));
    assert_eq!(proposal.short_id(), "456789ab");
    assert_eq!(proposal.closed, None);
}

/// An account with an `@` in its name must not become another account on another machine.
#[test]
fn an_origin_that_is_not_the_proposers_makes_it_unreadable() {
    let told = |from: &str, to: &str| {
        let body = entry(Event::Proposed).body.replace(from, to);
        Proposal::of_entry(&Entry { body, ..entry(Event::Proposed) })
    };
    assert!(told("\"login\":\"ana@corp\"", "\"login\":\"bob\"").is_none());
    assert!(told("\"host\":\"desk-1\"", "\"host\":\"desk-2\"").is_none());
    assert!(told("\"choice\":\"retry\"", "\"choice\":\"repeat\"").is_none());
    assert!(told("nothing that is in it", "").is_some());
}

#[rstest]
#[case::waiting(&[], None)]
#[case::approved(&[Event::Intended], Some(Closing::Approved))]
#[case::approved_and_applied(&[Event::Intended, Event::Applied], Some(Closing::Approved))]
#[case::withdrawn(&[Event::Withdrawn], Some(Closing::Withdrawn))]
#[case::lapsed(&[Event::Lapsed], Some(Closing::Lapsed))]
fn what_follows_it_says_what_became_of_it(#[case] events: &[Event], #[case] closing: Option<Closing>) {
    let mut entries = vec![entry(Event::Proposed)];
    entries.extend(events.iter().map(|event| entry(*event)));
    let proposal = Proposal::of_decision(&entries).unwrap();
    assert_eq!(proposal.closed.map(|closed| closed.closing), closing);
    assert_eq!(Proposal::of_decision(&entries[1..]), None, "there is none without its own entry");
}

#[test]
fn only_the_three_events_of_which_there_is_one_close_it() {
    for event in Event::ALL {
        assert_eq!(Closing::of(event).is_some(), Event::ONCE.contains(&event), "{event}");
    }
}

#[rstest]
#[case::short("456789ab", Some("456789ab"))]
#[case::capitals(" 456789AB ", Some("456789ab"))]
#[case::whole("01930000-0000-7000-8000-0123456789ab", Some("019300000000700080000123456789ab"))]
#[case::too_short("56789ab", None)]
#[case::too_long("001930000-0000-7000-8000-0123456789ab", None)]
#[case::no_number("456789ag", None)]
#[case::wildcards("%%%%%%%%", None)]
#[case::nothing("", None)]
fn an_id_is_called_by_its_end(#[case] typed: &str, #[case] read: Option<&str>) {
    assert_eq!(IdEnding::read(typed).as_ref().map(IdEnding::as_str), read);
}

#[rstest]
#[case::same(Verdict::Happened, vec![effect("ch_1", "1200"), effect("ch_2", "5")], None)]
#[case::other_order(Verdict::Happened, vec![effect("ch_2", "5"), effect("ch_1", "1200")], None)]
#[case::verdict(Verdict::NotFound, vec![effect("ch_1", "1200"), effect("ch_2", "5")], Some("the verdict was `happened` and is `not_found` now"))]
#[case::one_more(Verdict::Happened, vec![effect("ch_1", "1200"), effect("ch_2", "5"), effect("ch_3", "5")], Some("the effects were ch_1 (12.00 EUR), ch_2 (0.05 EUR) and are ch_1 (12.00 EUR), ch_2 (0.05 EUR), ch_3 (0.05 EUR) now"))]
#[case::amount(Verdict::Happened, vec![effect("ch_1", "1201"), effect("ch_2", "5")], Some("the effects were ch_1 (12.00 EUR), ch_2 (0.05 EUR) and are ch_1 (12.01 EUR), ch_2 (0.05 EUR) now"))]
#[case::gone(Verdict::Happened, vec![], Some("the effects were ch_1 (12.00 EUR), ch_2 (0.05 EUR) and are none now"))]
fn what_is_seen_differs_by_verdict_ids_and_amounts(
    #[case] verdict: Verdict,
    #[case] effects: Vec<Effect>,
    #[case] difference: Option<&str>,
) {
    let before = Sight::of(&judgement(Verdict::Happened, vec![effect("ch_1", "1200"), effect("ch_2", "5")]));
    assert_eq!(before.difference(&Sight::of(&judgement(verdict, effects))).as_deref(), difference);
}

#[test]
fn an_effect_in_another_state_is_another_sight() {
    let before = Sight::of(&judgement(Verdict::Unknown, vec![effect("ch_1", "5")]));
    let pending = Effect { state: EffectState::Pending, ..effect("ch_1", "5") };
    assert!(before.difference(&Sight::of(&judgement(Verdict::Unknown, vec![pending]))).is_some());
    // Why nothing was seen is told elsewhere: silence is silence.
    let silent = Judgement::of_fault(Fault::new(FaultKind::Timeout, "no answer"), true);
    assert_eq!(Sight::of(&silent), Sight { verdict: Verdict::Unknown, effects: Vec::new() });
}

proptest! {
    #[test]
    fn every_ending_of_an_id_from_eight_on_calls_it(id in any::<u128>(), length in 8_usize..=32) {
        let id = Uuid::from_u128(id);
        let whole = id.simple().to_string();
        let ending = IdEnding::read(&whole[32 - length..]).unwrap();
        prop_assert!(whole.ends_with(ending.as_str()));
        let hyphenated = IdEnding::read(&id.to_string()).unwrap();
        prop_assert_eq!(hyphenated.as_str(), &*whole);
        prop_assert_eq!(short_id(id), &whole[24..]);
    }

    #[test]
    fn whatever_a_body_holds_reading_it_never_panics(body in any::<String>(), cut in any::<usize>()) {
        let whole = entry(Event::Proposed);
        let _garbage = Proposal::of_entry(&Entry { body, ..whole.clone() });
        let text: String = whole.body.chars().take(cut % whole.body.len()).collect();
        prop_assert_eq!(Proposal::of_entry(&Entry { body: text, ..whole }), None);
    }
}
