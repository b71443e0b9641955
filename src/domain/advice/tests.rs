use super::*;
use crate::domain::evidence::{Effect, EffectState, Fault, FaultKind};
use chrono::{DateTime, Utc};
use pretty_assertions::assert_eq;
use rstest::rstest;

mod clocks;

const RISKS: [Risk; 3] = [Risk::Safe, Risk::CheckFirst, Risk::Financial];
const FINDINGS: [FindingKind; 5] = [
    FindingKind::Stuck,
    FindingKind::Ambiguous,
    FindingKind::Duplicate,
    FindingKind::Lost,
    FindingKind::Mismatch,
];

fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_014_400, 0).unwrap()
}

fn keys() -> [KeyProtection; 8] {
    [
        KeyProtection::NoKey,
        KeyProtection::PerAttempt,
        KeyProtection::ErrorKept,
        KeyProtection::OfAnother,
        KeyProtection::MemoryUnknown,
        KeyProtection::FirstAttemptUnknown,
        KeyProtection::ForgottenSince(noon()),
        KeyProtection::Until(noon()),
    ]
}

fn judgement(verdict: Verdict, settled: bool) -> Judgement {
    Judgement { verdict, effects: Vec::new(), settled, fault: None, reasons: vec!["Judged.".to_owned()] }
}

fn of_fault(kind: FaultKind) -> Judgement {
    Judgement::of_fault(Fault::new(kind, "it broke"), true)
}

fn every_case(mut each: impl FnMut(Risk, FindingKind, &Judgement, KeyProtection, bool, &Advised)) {
    for risk in RISKS {
        for finding in FINDINGS {
            for verdict in Verdict::ALL {
                for settled in [false, true] {
                    for key in keys() {
                        for live_holder in [false, true] {
                            let judgement = judgement(verdict, settled);
                            let advised = advise(risk, finding, &judgement, key, live_holder);
                            each(risk, finding, &judgement, key, live_holder, &advised);
                        }
                    }
                }
            }
        }
    }
}

/// Rule 4.
#[test]
fn nothing_that_may_be_there_is_ever_advised_to_be_repeated() {
    every_case(|_, _, judgement, _, _, advised| {
        if judgement.verdict.forbids_retry() || !judgement.settled {
            assert_ne!(advised.advice, Advice::Retry, "{judgement:?}");
        }
    });
}

#[test]
fn nothing_is_advised_to_be_marked_done_that_did_not_happen_once() {
    every_case(|_, _, judgement, _, _, advised| {
        assert_eq!(advised.advice == Advice::MarkDone, judgement.verdict == Verdict::Happened);
    });
}

#[test]
fn case_74_and_75_a_key_that_gets_no_further_is_never_a_reason_to_retry() {
    every_case(|_, _, judgement, key, _, advised| {
        assert!(!key.bars_retry() || advised.advice != Advice::Retry, "{judgement:?}");
    });
}

/// Rule 2.
#[test]
fn an_absence_that_had_no_time_to_show_is_waited_for() {
    every_case(|_, _, judgement, _, _, advised| {
        if judgement.verdict == Verdict::NotFound && !judgement.settled {
            assert_eq!(advised.advice, Advice::Wait);
        }
    });
}

#[test]
fn what_somebody_still_holds_is_not_advised_to_be_retried() {
    every_case(|_, _, judgement, _, live_holder, advised| {
        assert!(!live_holder || advised.advice != Advice::Retry, "{judgement:?}");
    });
}

#[test]
fn a_record_that_disagrees_with_the_provider_is_not_advised_to_be_retried() {
    every_case(|_, finding, judgement, _, _, advised| {
        let disagree = !matches!(finding, FindingKind::Stuck | FindingKind::Ambiguous);
        assert!(!disagree || advised.advice != Advice::Retry, "{finding} {judgement:?}");
    });
}

#[test]
fn every_advice_to_retry_says_what_the_key_is_worth() {
    every_case(|_, _, _, key, _, advised| {
        if advised.advice == Advice::Retry {
            assert!(advised.reasons.contains(&key.sentence()));
        }
    });
}

#[test]
fn every_advice_has_its_reasons_in_sentences() {
    every_case(|_, _, judgement, _, _, advised| {
        assert_eq!(advised.reasons[0], judgement.reasons[0]);
        assert!(advised.reasons.len() > judgement.reasons.len());
        assert!(advised.reasons.iter().all(|reason| reason.len() > 1 && reason.ends_with('.')));
    });
}

const DECLINED: &str = "The provider turned it down: a retry with the same key gets the same answer, one with a new key is a new charge.";
const NO_KEY: &str = "No idempotency key is known for this item: a retry is a new effect.";
const FORGOTTEN: &str = "The provider may have forgotten the idempotency key since 2027-01-15T12:00:00Z: a retry is a new effect.";
const REMEMBERED: &str =
    "The provider remembers the idempotency key until 2027-01-15T12:00:00Z: a retry with it repeats nothing.";
const SECOND_LOOK: &str = "A second look by a person is worth it before money moves anew.";

const PER_ATTEMPT: &str = "The idempotency key changes with each attempt: a retry is a new effect.";
const ERROR_KEPT: &str = "The provider keeps an error under the idempotency key and answers with it again: the outcome of the first request is unknown, and a retry with the same key gets no further.";
const OF_ANOTHER: &str = "The idempotency key belongs to another request: somebody must look what that one did before anything is sent.";

struct Case {
    risk: Risk,
    finding: FindingKind,
    verdict: Verdict,
    settled: bool,
    key: KeyProtection,
    live_holder: bool,
}

const STUCK: Case = Case {
    risk: Risk::CheckFirst,
    finding: FindingKind::Stuck,
    verdict: Verdict::NotFound,
    settled: true,
    key: KeyProtection::NoKey,
    live_holder: false,
};

#[rstest]
#[case::happened(Case { verdict: Verdict::Happened, ..STUCK }, Advice::MarkDone, &["The effect is there: a retry would repeat it."])]
#[case::twice(Case { verdict: Verdict::Duplicated, ..STUCK }, Advice::Escalate, &["It happened more than once: somebody must undo what is too much."])]
#[case::other_amount(Case { verdict: Verdict::Mismatch, ..STUCK }, Advice::Escalate, &["What happened is not what was asked for."])]
#[case::pending(Case { verdict: Verdict::Pending, ..STUCK }, Advice::Wait, &["The provider is still at it: ask again later."])]
#[case::unknown(Case { verdict: Verdict::Unknown, ..STUCK }, Advice::Escalate, &["Asking again will not help: somebody must look at the provider."])]
#[case::settled(STUCK, Advice::Retry, &[NO_KEY])]
#[case::unsettled(Case { settled: false, ..STUCK }, Advice::Wait, &["Ask again once the effect has had time to show."])]
#[case::held(Case { live_holder: true, ..STUCK }, Advice::Wait, &["Somebody still holds the item: its effect may be on the way."])]
#[case::key_remembered(Case { key: KeyProtection::Until(noon()), ..STUCK }, Advice::Retry, &[REMEMBERED])]
#[case::key_forgotten(Case { key: KeyProtection::ForgottenSince(noon()), ..STUCK }, Advice::Retry, &[FORGOTTEN])]
#[case::money(Case { risk: Risk::Financial, ..STUCK }, Advice::Retry, &[NO_KEY, SECOND_LOOK])]
#[case::money_with_key(Case { risk: Risk::Financial, key: KeyProtection::Until(noon()), ..STUCK }, Advice::Retry, &[REMEMBERED])]
#[case::case_16_key_of_each_attempt(Case { key: KeyProtection::PerAttempt, ..STUCK }, Advice::Retry, &[PER_ATTEMPT])]
#[case::case_16_with_money(Case { risk: Risk::Financial, key: KeyProtection::PerAttempt, ..STUCK }, Advice::Retry, &[PER_ATTEMPT, SECOND_LOOK])]
#[case::case_74_error_kept(Case { key: KeyProtection::ErrorKept, ..STUCK }, Advice::Escalate, &[ERROR_KEPT])]
#[case::case_74_and_declined(Case { verdict: Verdict::Failed, key: KeyProtection::ErrorKept, ..STUCK }, Advice::Escalate, &[ERROR_KEPT])]
#[case::case_75_key_of_another(Case { key: KeyProtection::OfAnother, ..STUCK }, Advice::Escalate, &[OF_ANOTHER])]
#[case::lost(Case { finding: FindingKind::Lost, ..STUCK }, Advice::Escalate, &[DISAGREE, NO_KEY])]
#[case::declined(Case { verdict: Verdict::Failed, ..STUCK }, Advice::Retry, &[NO_KEY])]
#[case::declined_just_now(Case { verdict: Verdict::Failed, settled: false, ..STUCK }, Advice::Wait, &["Another try may still be on its way: ask again once it has had time to show."])]
#[case::declined_and_held(Case { verdict: Verdict::Failed, live_holder: true, ..STUCK }, Advice::Wait, &[HELD])]
#[case::declined_but_done(Case { verdict: Verdict::Failed, finding: FindingKind::Lost, ..STUCK }, Advice::Escalate, &[DISAGREE])]
#[case::declined_money(Case { verdict: Verdict::Failed, risk: Risk::Financial, ..STUCK }, Advice::Escalate, &[DECLINED])]
fn advice_follows_from_what_is_known(#[case] case: Case, #[case] advice: Advice, #[case] own: &[&str]) {
    let judgement = judgement(case.verdict, case.settled);
    let advised = advise(case.risk, case.finding, &judgement, case.key, case.live_holder);
    assert_eq!(
        (advised.advice, &advised.reasons[1..]),
        (advice, &own.iter().map(ToString::to_string).collect::<Vec<_>>()[..])
    );
}

#[rstest]
#[case::timeout(FaultKind::Timeout, Advice::Wait, "The question may be answered later: ask again.")]
#[case::rate(FaultKind::RateLimited, Advice::Wait, "The question may be answered later: ask again.")]
#[case::stopped(FaultKind::Cancelled, Advice::Wait, "The question may be answered later: ask again.")]
#[case::shape(
    FaultKind::Shape,
    Advice::Escalate,
    "Asking again will not help: somebody must look at the provider."
)]
#[case::nobody(
    FaultKind::NobodyToAsk,
    Advice::Escalate,
    "Asking again will not help: somebody must look at the provider."
)]
fn a_fault_is_waited_for_only_where_it_may_pass(
    #[case] kind: FaultKind,
    #[case] advice: Advice,
    #[case] told: &str,
) {
    let advised = advise(Risk::Safe, FindingKind::Stuck, &of_fault(kind), KeyProtection::NoKey, false);
    assert_eq!(
        (advised.advice, advised.reasons),
        (advice, vec!["No answer that counts: it broke.".to_owned(), told.to_owned()])
    );
}

#[test]
fn one_that_happened_with_another_pending_is_waited_for() {
    let effect = |id: &str, state| Effect {
        id: id.to_owned(),
        status: "s".to_owned(),
        state,
        money: None,
        at: None,
        link: None,
    };
    let effects = vec![effect("a", EffectState::Happened), effect("b", EffectState::Pending)];
    let judgement = Judgement { effects, ..judgement(Verdict::Happened, true) };
    let advised = advise(Risk::Safe, FindingKind::Stuck, &judgement, KeyProtection::NoKey, false);
    assert_eq!(advised.advice, Advice::Wait);
    assert_eq!(
        advised.reasons[1],
        "It happened once already and a second one is under way: ask again before deciding."
    );
}
