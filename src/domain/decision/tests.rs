use super::*;
use crate::domain::advice::Advice;
use crate::domain::cell::Cell;
use crate::domain::policy::{Approvals, Risk};
use crate::domain::verdict::Verdict;
use pretty_assertions::assert_eq;
use rstest::rstest;

const RISKS: [Risk; 3] = [Risk::Safe, Risk::CheckFirst, Risk::Financial];
const APPROVALS: [Approvals; 2] = [Approvals::One, Approvals::Two];
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
        key: ItemKey::new(vec![Cell::text("inv-1")]),
        operator: Operator { name: "ana".into(), login: "ana".into(), host: "ops-1".into() },
        reason: Reason::new("seen in the ledger").unwrap(),
        insists,
    }
}

/// Every combination, with every advice: also one that no verdict would lead to.
fn every_case(mut each: impl FnMut(Choice, Stakes, &Judgement, &Advised, bool)) {
    for choice in Choice::ALL {
        for (risk, approvals) in RISKS.into_iter().flat_map(|risk| APPROVALS.map(|count| (risk, count))) {
            for verdict in Verdict::ALL {
                for settled in [false, true] {
                    for advice in ADVICES {
                        for insists in [false, true] {
                            let stakes = Stakes { risk, approvals };
                            each(
                                choice,
                                stakes,
                                &judgement(verdict, settled),
                                &advised(advice, &[]),
                                insists,
                            );
                        }
                    }
                }
            }
        }
    }
}

/// What the rules make of a draft, in a word.
fn ruled(
    choice: Choice,
    stakes: Stakes,
    judgement: &Judgement,
    advised: &Advised,
    insists: bool,
) -> &'static str {
    match draft(choice, insists).permit(stakes, judgement, advised, None, Row::default()) {
        Ok(Ruling::Permitted(permitted)) => {
            assert_eq!(permitted.approval(), None);
            "permitted"
        }
        Ok(Ruling::NeedsApproval(unapproved)) => {
            assert!(unapproved.why().contains("two persons"), "{}", unapproved.why());
            "to be proposed"
        }
        Err(_) => "denied",
    }
}

/// Rule 4.
#[test]
fn a_retry_that_could_repeat_an_effect_is_never_simply_granted() {
    every_case(|choice, stakes, judgement, advised, insists| {
        let could_repeat = judgement.verdict.forbids_retry() || !judgement.settled;
        if choice == Choice::Retry && could_repeat {
            let takes_two = stakes.risk == Risk::Financial || stakes.approvals == Approvals::Two;
            let expected = match (insists, takes_two) {
                (false, _) => "denied",
                (true, false) => "permitted",
                (true, true) => "to be proposed",
            };
            let ruled = ruled(choice, stakes, judgement, advised, insists);
            assert_eq!(ruled, expected, "{stakes:?} {judgement:?} {advised:?} insists: {insists}");
        }
    });
}

/// Whatever `approvals` says: one person alone never retries money against the advice.
#[test]
fn a_financial_retry_against_the_advice_needs_a_second_person() {
    every_case(|choice, stakes, judgement, advised, insists| {
        if choice == Choice::Retry && stakes.risk == Risk::Financial && advised.advice != Advice::Retry {
            let expected = if insists { "to be proposed" } else { "denied" };
            assert_eq!(ruled(choice, stakes, judgement, advised, insists), expected);
            let permission = permission(choice, stakes, judgement, advised);
            assert!(permission.second_person.is_some() && permission.against.is_some(), "{permission:?}");
        }
    });
}

#[test]
fn where_two_persons_are_asked_for_one_alone_writes_nothing() {
    every_case(|choice, stakes, judgement, advised, insists| {
        if stakes.approvals == Approvals::Two && choice != Choice::Escalate {
            assert_ne!(ruled(choice, stakes, judgement, advised, insists), "permitted");
        }
    });
}

#[test]
fn to_escalate_is_always_possible_for_one() {
    every_case(|choice, stakes, judgement, advised, insists| {
        if choice == Choice::Escalate {
            assert_eq!(ruled(choice, stakes, judgement, advised, insists), "permitted");
        }
    });
}

#[test]
fn to_mark_done_is_granted_only_where_it_happened_once_and_the_advice_says_so() {
    every_case(|choice, stakes, judgement, advised, insists| {
        if choice == Choice::MarkDone {
            let clear = judgement.verdict == Verdict::Happened && advised.advice == Advice::MarkDone;
            let expected = match (clear || insists, stakes.approvals) {
                (false, _) => "denied",
                (true, Approvals::One) => "permitted",
                (true, Approvals::Two) => "to be proposed",
            };
            assert_eq!(ruled(choice, stakes, judgement, advised, insists), expected);
        }
    });
}

#[test]
fn insisting_never_takes_a_permission_away() {
    every_case(|choice, stakes, judgement, advised, insists| {
        if !insists && ruled(choice, stakes, judgement, advised, false) != "denied" {
            let insisted = ruled(choice, stakes, judgement, advised, true);
            assert_eq!(insisted, ruled(choice, stakes, judgement, advised, false));
        }
    });
}

#[test]
fn what_is_denied_says_why_and_what_to_do() {
    every_case(|choice, stakes, judgement, advised, insists| {
        let asked = draft(choice, insists);
        if let Err(denied) = asked.permit(stakes, judgement, advised, None, Row::default()) {
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
    for approvals in APPROVALS {
        let stakes = Stakes { risk, approvals };
        let granted = permission(Choice::Retry, stakes, &judgement(Verdict::NotFound, true), &advised);
        assert_eq!(
            (granted.against, granted.cautions),
            (None, cautions.iter().map(ToString::to_string).collect())
        );
        assert_eq!(granted.second_person.is_some(), approvals == Approvals::Two);
    }
}

#[rstest]
#[case::done_of_nothing(
    Choice::MarkDone,
    Risk::Safe,
    Verdict::NotFound,
    Advice::Retry,
    None,
    "The verdict is `not_found` and the advice is `retry`: marked done, an effect that is not there would be lost."
)]
#[case::done_of_two(
    Choice::MarkDone,
    Risk::Safe,
    Verdict::Duplicated,
    Advice::Escalate,
    None,
    "The verdict is `duplicated` and the advice is `escalate`: marked done, nobody will look at it again."
)]
#[case::retry(
    Choice::Retry,
    Risk::CheckFirst,
    Verdict::Unknown,
    Advice::Wait,
    None,
    "The verdict is `unknown` and the advice is `wait`: a retry could repeat an effect."
)]
#[case::financial_retry(
    Choice::Retry,
    Risk::Financial,
    Verdict::Happened,
    Advice::MarkDone,
    Some("A financial retry against the advice takes two persons: one proposes, another approves."),
    "The verdict is `happened` and the advice is `mark_done`: a retry could repeat an effect, and this kind is financial."
)]
fn a_permission_is_told_in_words(
    #[case] choice: Choice,
    #[case] risk: Risk,
    #[case] verdict: Verdict,
    #[case] advice: Advice,
    #[case] second_person: Option<&str>,
    #[case] against: &str,
) {
    let stakes = Stakes { risk, approvals: Approvals::One };
    let told = permission(choice, stakes, &judgement(verdict, true), &advised(advice, &[]));
    assert_eq!(told.against.as_deref(), Some(against));
    assert_eq!(told.second_person.as_deref(), second_person);
    assert_eq!((told.cautions, told.against.is_none()), (Vec::new(), false));
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
    let seen = Row { columns: vec![("status".into(), Cell::text("running"))] };
    let asked = draft(Choice::MarkDone, false);
    let stakes = Stakes { risk: Risk::Safe, approvals: Approvals::One };
    let judgement = judgement(Verdict::Happened, true);
    let ruling =
        asked.clone().permit(stakes, &judgement, &advised(Advice::MarkDone, &[]), None, seen.clone());
    let Ok(Ruling::Permitted(permitted)) = ruling else { panic!("{ruling:?}") };
    assert_eq!((permitted.draft(), permitted.seen()), (&asked, &seen));
    let intended = permitted.intended(7);
    assert_eq!((intended.draft(), intended.seen(), intended.intent()), (&asked, &seen, 7));
}

/// Whoever is told that a verdict is unknown is told what made it so.
#[rstest]
#[case::done(Choice::MarkDone, Risk::Safe)]
#[case::retry(Choice::Retry, Risk::CheckFirst)]
#[case::retry_of_money(Choice::Retry, Risk::Financial)]
fn what_made_a_verdict_unknown_is_said_where_it_is_in_the_way(#[case] choice: Choice, #[case] risk: Risk) {
    let told = "No answer that counts: ledger.charge: no connection.".to_owned();
    let judgement = Judgement { reasons: vec![told.clone()], ..judgement(Verdict::Unknown, true) };
    let stakes = Stakes { risk, approvals: Approvals::One };
    let seen = Row { columns: Vec::new() };
    let ruling = draft(choice, false).permit(stakes, &judgement, &advised(Advice::Escalate, &[]), None, seen);
    let Err(denied) = ruling else { panic!("{choice:?} is permitted") };
    assert!(denied.why.ends_with(&told), "{}", denied.why);
}
