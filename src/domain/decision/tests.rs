use super::*;
use crate::domain::cell::Cell;
use pretty_assertions::assert_eq;
use rstest::rstest;

const RISKS: [Risk; 3] = [Risk::Safe, Risk::CheckFirst, Risk::Financial];
const ADVICES: [Advice; 4] = [Advice::Escalate, Advice::MarkDone, Advice::Retry, Advice::Wait];

fn judgement(verdict: Verdict, settled: bool) -> Judgement {
    Judgement { verdict, effects: Vec::new(), settled, fault: None, reasons: Vec::new() }
}

fn advised(advice: Advice, reasons: &[&str]) -> Advised {
    Advised { advice, reasons: reasons.iter().map(|reason| (*reason).to_owned()).collect() }
}

fn draft(choice: Choice, insists: bool) -> Draft {
    Draft {
        id: Uuid::from_u128(1),
        choice,
        source: "billing".into(),
        key: ItemKey::new(vec![Cell::Text("inv-1".to_owned())]),
        operator: Operator { name: "ana".into(), login: "ana".into(), host: "ops-1".into() },
        reason: Reason::new("seen in the ledger").unwrap(),
        insists,
    }
}

/// Every combination, with every advice: also one that no verdict would lead to.
fn every_case(mut each: impl FnMut(Choice, Risk, &Judgement, &Advised, bool)) {
    for choice in Choice::ALL {
        for risk in RISKS {
            for verdict in Verdict::ALL {
                for settled in [false, true] {
                    for advice in ADVICES {
                        for insists in [false, true] {
                            each(choice, risk, &judgement(verdict, settled), &advised(advice, &[]), insists);
                        }
                    }
                }
            }
        }
    }
}

fn is_permitted(choice: Choice, risk: Risk, judgement: &Judgement, advised: &Advised, insists: bool) -> bool {
    draft(choice, insists).permit(risk, judgement, advised, Row::default()).is_ok()
}

/// Rule 4.
#[test]
fn a_retry_that_could_repeat_an_effect_is_never_simply_granted() {
    every_case(|choice, risk, judgement, advised, insists| {
        let could_repeat = judgement.verdict.forbids_retry() || !judgement.settled;
        if choice == Choice::Retry && could_repeat {
            let permitted = is_permitted(choice, risk, judgement, advised, insists);
            let may = insists && risk != Risk::Financial;
            assert_eq!(permitted, may, "{risk} {judgement:?} {advised:?} insists: {insists}");
        }
    });
}

#[test]
fn a_financial_retry_against_the_advice_needs_a_second_person() {
    every_case(|choice, risk, judgement, advised, insists| {
        if choice == Choice::Retry && risk == Risk::Financial && advised.advice != Advice::Retry {
            assert!(!is_permitted(choice, risk, judgement, advised, insists));
            let permission = permission(choice, risk, judgement, advised);
            assert!(matches!(permission, Permission::OnlyWithApproval(_)), "{permission:?}");
        }
    });
}

#[test]
fn to_escalate_is_always_possible() {
    every_case(|choice, risk, judgement, advised, insists| {
        if choice == Choice::Escalate {
            assert!(is_permitted(choice, risk, judgement, advised, insists));
        }
    });
}

#[test]
fn to_mark_done_is_granted_only_where_it_happened_once_and_the_advice_says_so() {
    every_case(|choice, risk, judgement, advised, insists| {
        if choice == Choice::MarkDone {
            let clear = judgement.verdict == Verdict::Happened && advised.advice == Advice::MarkDone;
            assert_eq!(is_permitted(choice, risk, judgement, advised, insists), clear || insists);
        }
    });
}

#[test]
fn insisting_never_takes_a_permission_away() {
    every_case(|choice, risk, judgement, advised, insists| {
        if !insists && is_permitted(choice, risk, judgement, advised, false) {
            assert!(is_permitted(choice, risk, judgement, advised, true));
        }
    });
}

#[test]
fn what_is_denied_says_why_and_what_to_do() {
    every_case(|choice, risk, judgement, advised, insists| {
        let asked = draft(choice, insists);
        if let Err(denied) = asked.permit(risk, judgement, advised, Row::default()) {
            assert!(
                denied.why.contains(judgement.verdict.as_str())
                    && denied.why.contains(advised.advice.as_str())
            );
            assert!(denied.why.ends_with('.') && denied.do_next.ends_with('.'));
        }
    });
}

const NEW: &str = "No idempotency key is known for this item: a retry is a new effect.";
const PAYS: &str = "This kind is financial: if the look-up missed the effect, somebody pays twice.";

#[rstest]
#[case::safe(Risk::Safe, &["Nothing there."], &[])]
#[case::safe_new(Risk::Safe, &["Nothing there.", NEW], &[NEW])]
#[case::financial(Risk::Financial, &["Nothing there."], &[PAYS])]
#[case::financial_new(Risk::Financial, &[NEW], &[NEW, PAYS])]
fn a_granted_retry_says_what_could_go_wrong(
    #[case] risk: Risk,
    #[case] reasons: &[&str],
    #[case] cautions: &[&str],
) {
    let advised = advised(Advice::Retry, reasons);
    let granted = permission(Choice::Retry, risk, &judgement(Verdict::NotFound, true), &advised);
    assert_eq!(granted, Permission::Granted(cautions.iter().map(|caution| (*caution).to_owned()).collect()));
}

#[rstest]
#[case::done_of_nothing(
    Choice::MarkDone, Risk::Safe, Verdict::NotFound, Advice::Retry,
    Permission::OnlyInsisting("The verdict is `not_found` and the advice is `retry`: marked done, an effect that is not there would be lost.".to_owned())
)]
#[case::done_of_two(
    Choice::MarkDone, Risk::Safe, Verdict::Duplicated, Advice::Escalate,
    Permission::OnlyInsisting("The verdict is `duplicated` and the advice is `escalate`: marked done, nobody will look at it again.".to_owned())
)]
#[case::retry(
    Choice::Retry, Risk::CheckFirst, Verdict::Unknown, Advice::Wait,
    Permission::OnlyInsisting("The verdict is `unknown` and the advice is `wait`: a retry could repeat an effect.".to_owned())
)]
#[case::financial_retry(
    Choice::Retry, Risk::Financial, Verdict::Happened, Advice::MarkDone,
    Permission::OnlyWithApproval("The verdict is `happened` and the advice is `mark_done`: a retry could repeat an effect, and this kind is financial.".to_owned())
)]
fn a_permission_is_told_in_words(
    #[case] choice: Choice,
    #[case] risk: Risk,
    #[case] verdict: Verdict,
    #[case] advice: Advice,
    #[case] expected: Permission,
) {
    assert_eq!(permission(choice, risk, &judgement(verdict, true), &advised(advice, &[])), expected);
}

#[rstest]
#[case::empty("", None)]
#[case::blank(" \t\n ", None)]
#[case::signs("... -- !?", None)]
#[case::hidden("\u{200b}\u{202e}", None)]
#[case::short("x", Some("x"))]
#[case::trimmed("  seen in the ledger \n", Some("seen in the ledger"))]
#[case::other_script("確認済み", Some("確認済み"))]
fn a_blank_reason_is_no_reason(#[case] typed: &str, #[case] kept: Option<&str>) {
    assert_eq!(Reason::new(typed).as_ref().map(Reason::as_str), kept);
}

#[rstest]
#[case::at_the_edge(Reason::CHARS_MAX, Reason::CHARS_MAX)]
#[case::past_it(Reason::CHARS_MAX + 1, Reason::CHARS_MAX)]
fn a_long_reason_is_cut(#[case] typed: usize, #[case] kept: usize) {
    assert_eq!(Reason::new(&"é".repeat(typed)).unwrap().as_str().chars().count(), kept);
}

#[test]
fn an_intended_decision_keeps_what_was_permitted() {
    let seen = Row { columns: vec![("status".into(), Cell::Text("running".to_owned()))] };
    let asked = draft(Choice::MarkDone, false);
    let permitted = asked
        .clone()
        .permit(
            Risk::Safe,
            &judgement(Verdict::Happened, true),
            &advised(Advice::MarkDone, &[]),
            seen.clone(),
        )
        .unwrap();
    assert_eq!((permitted.draft(), permitted.seen()), (&asked, &seen));
    let intended = permitted.intended(7);
    assert_eq!((intended.draft(), intended.seen(), intended.intent()), (&asked, &seen, 7));
}
