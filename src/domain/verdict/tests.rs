use super::*;
use crate::domain::evidence::FaultKind;
use crate::domain::money::Unit;
use chrono::TimeDelta;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use rstest::rstest;

fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_014_400, 0).unwrap()
}

/// So many seconds before noon, which is when the question is asked.
fn ago(seconds: i64) -> DateTime<Utc> {
    noon() - TimeDelta::seconds(seconds)
}

const SETTLE_SECONDS: i64 = 600;
const LOOKBACK_SECONDS: i64 = 86_400;

fn clocks() -> Clocks {
    Clocks {
        settle: TimeDelta::seconds(SETTLE_SECONDS),
        lookback: Some(TimeDelta::seconds(LOOKBACK_SECONDS)),
        key_ttl: None,
    }
}

fn attempts(first: Option<i64>, last: Option<i64>) -> Attempts {
    Attempts { first: first.map(ago), last: last.map(ago) }
}

fn once(seconds_ago: i64) -> Attempts {
    attempts(Some(seconds_ago), Some(seconds_ago))
}

fn effect(id: &str, state: EffectState) -> Effect {
    let status = match state {
        EffectState::Happened => "succeeded",
        EffectState::Pending => "processing",
        EffectState::Failed => "declined",
        EffectState::Unlisted => "on_hold",
    };
    Effect { id: id.to_owned(), status: status.to_owned(), state, money: None, at: None, link: None }
}

fn complete(effects: Vec<Effect>) -> Answer {
    Answer::Complete { effects, seen_from: None }
}

fn judged(effects: Vec<Effect>) -> Judgement {
    judge(complete(effects), clocks(), once(3_600), None, noon())
}

/// Effects from a word of letters: `h`appened, `p`ending, `f`ailed, `u`nlisted, each with an id of its own.
fn effects_of(word: &str) -> Vec<Effect> {
    let state = |letter| match letter {
        'h' => EffectState::Happened,
        'p' => EffectState::Pending,
        'f' => EffectState::Failed,
        _ => EffectState::Unlisted,
    };
    word.chars().enumerate().map(|(at, letter)| effect(&format!("e-{at}"), state(letter))).collect()
}

#[rstest]
#[case::one("h", Verdict::Happened)]
#[case::two("hh", Verdict::Duplicated)]
#[case::a_decline_and_a_success("fh", Verdict::Happened)]
#[case::many_declines_and_a_success("ffhff", Verdict::Happened)]
#[case::two_and_a_decline("hfh", Verdict::Duplicated)]
#[case::declines("ff", Verdict::Failed)]
#[case::pending("p", Verdict::Pending)]
#[case::pending_after_a_decline("fp", Verdict::Pending)]
#[case::one_and_one_on_its_way("hp", Verdict::Happened)]
#[case::unlisted("u", Verdict::Unknown)]
#[case::unlisted_beside_one("hu", Verdict::Unknown)]
#[case::unlisted_beside_a_decline("fu", Verdict::Unknown)]
#[case::unlisted_beside_a_pending("up", Verdict::Unknown)]
#[case::unlisted_beside_two("huh", Verdict::Duplicated)]
fn effects_are_counted_by_what_they_amount_to(#[case] word: &str, #[case] verdict: Verdict) {
    let judgement = judged(effects_of(word));
    assert_eq!(judgement.verdict, verdict);
    assert_eq!(judgement.happened_count(), word.matches('h').count());
    assert_eq!(judgement.pending_count(), word.matches('p').count());
}

/// Case 53: the provider did it once for each of four tries.
#[test]
fn an_effect_for_each_try_is_told_with_its_number() {
    let judgement = judged(effects_of("hhhh"));
    assert_eq!(judgement.verdict, Verdict::Duplicated);
    assert!(
        judgement.reasons[0].starts_with("The provider has 4 effects that happened: e-0 (`succeeded`), ")
    );
}

#[test]
fn an_id_counts_once() {
    let happened = || effect("ch_1", EffectState::Happened);
    let judgement = judged(vec![happened(), happened(), effect("ch_0", EffectState::Failed), happened()]);
    assert_eq!(
        (judgement.verdict, judgement.happened_count(), judgement.effects.len()),
        (Verdict::Happened, 1, 2)
    );
}

#[rstest]
#[case::better(EffectState::Failed, EffectState::Happened)]
#[case::worse(EffectState::Happened, EffectState::Pending)]
#[case::unlisted(EffectState::Happened, EffectState::Unlisted)]
fn an_id_with_two_statuses_tells_nothing(#[case] one: EffectState, #[case] other: EffectState) {
    let judgement = judged(vec![effect("ch_1", one), effect("ch_1", other), effect("ch_1", one)]);
    assert_eq!(judgement.verdict, Verdict::Unknown);
    assert_eq!(judgement.reasons, ["The answer tells two statuses of effect ch_1."]);
}

/// Case 52: the gap between two effects tells which layer tried again.
#[test]
fn the_gap_between_two_effects_is_told() {
    let at = |id: &str, seconds| Effect { at: Some(ago(seconds)), ..effect(id, EffectState::Happened) };
    let judgement = judged(vec![at("a", 100), at("b", 66)]);
    assert_eq!(judgement.reasons[1], "They lie 34 s apart.");
    let judgement = judged(vec![at("a", 100), effect("b", EffectState::Happened)]);
    assert_eq!(judgement.reasons.len(), 1, "no gap is told where a time is missing");
}

#[rstest]
#[case::same("10.41", Some("BRL"), Some(("10.41", Some("BRL"))), None)]
#[case::same_without_currency("10.41", None, Some(("10.41", Some("BRL"))), None)]
#[case::a_cent_more("10.42", Some("BRL"), Some(("10.41", Some("BRL"))), Some("The job asked for 10.41 BRL; the provider did 10.42 BRL."))]
#[case::other_currency("10.41", Some("USD"), Some(("10.41", Some("BRL"))), Some("The job asked for 10.41 BRL; the provider did 10.41 USD."))]
#[case::nothing_to_compare("99", Some("USD"), None, None)]
fn another_amount_is_a_mismatch(
    #[case] did: &str,
    #[case] currency: Option<&str>,
    #[case] asked: Option<(&str, Option<&str>)>,
    #[case] told: Option<&str>,
) {
    let money = |amount: &str, code: Option<&str>| Money::read(amount, code, Unit::Major).unwrap();
    let effects = vec![Effect { money: Some(money(did, currency)), ..effect("ch_1", EffectState::Happened) }];
    let expected = asked.map(|(amount, code)| money(amount, code));
    let judgement = judge(complete(effects), clocks(), once(3_600), expected.as_ref(), noon());
    assert_eq!(judgement.verdict, if told.is_some() { Verdict::Mismatch } else { Verdict::Happened });
    assert_eq!(judgement.reasons.get(1).map(String::as_str), told);
}

#[test]
fn an_amount_that_is_not_told_is_a_mismatch_and_a_declined_one_is_not_compared() {
    let expected = Money::read("10.41", Some("BRL"), Unit::Major).unwrap();
    let of = |word| judge(complete(effects_of(word)), clocks(), once(3_600), Some(&expected), noon()).verdict;
    assert_eq!((of("h"), of("f"), of("hh")), (Verdict::Mismatch, Verdict::Failed, Verdict::Duplicated));
}

const NOTHING: &str = "The provider shows nothing.";

#[rstest]
#[case::before_settle(once(SETTLE_SECONDS - 1), Verdict::NotFound, false)]
#[case::at_settle(once(SETTLE_SECONDS), Verdict::NotFound, true)]
#[case::just_now(once(0), Verdict::NotFound, false)]
#[case::before_lookback(once(LOOKBACK_SECONDS - 1), Verdict::NotFound, true)]
#[case::at_lookback(once(LOOKBACK_SECONDS), Verdict::Unknown, true)]
#[case::first_before_lookback(attempts(Some(LOOKBACK_SECONDS - 1), Some(700)), Verdict::NotFound, true)]
#[case::first_at_lookback(attempts(Some(LOOKBACK_SECONDS), Some(700)), Verdict::Unknown, true)]
#[case::first_after_last(attempts(Some(10), Some(700)), Verdict::NotFound, true)]
#[case::first_in_the_future(attempts(Some(-10), Some(700)), Verdict::NotFound, true)]
#[case::first_not_known(attempts(None, Some(700)), Verdict::NotFound, true)]
#[case::last_not_known(attempts(Some(700), None), Verdict::Unknown, false)]
#[case::nothing_known(attempts(None, None), Verdict::Unknown, false)]
#[case::last_in_the_future(once(-1), Verdict::Unknown, false)]
fn an_absence_counts_only_in_its_time(
    #[case] attempts: Attempts,
    #[case] verdict: Verdict,
    #[case] settled: bool,
) {
    let judgement = judge(complete(Vec::new()), clocks(), attempts, None, noon());
    assert_eq!((judgement.verdict, judgement.settled), (verdict, settled));
}

#[rstest]
#[case::saw_everything(None, 700, Verdict::NotFound)]
#[case::from_the_attempt_on(Some(700), 700, Verdict::NotFound)]
#[case::from_before_it(Some(701), 700, Verdict::NotFound)]
#[case::from_after_it(Some(699), 700, Verdict::Unknown)]
fn an_absence_counts_only_where_the_look_covered_the_attempt(
    #[case] seen_from: Option<i64>,
    #[case] attempt: i64,
    #[case] verdict: Verdict,
) {
    let answer = Answer::Complete { effects: Vec::new(), seen_from: seen_from.map(ago) };
    assert_eq!(judge(answer, clocks(), once(attempt), None, noon()).verdict, verdict);
}

#[test]
fn the_look_must_cover_the_first_attempt_not_only_the_last() {
    let answer = || Answer::Complete { effects: Vec::new(), seen_from: Some(ago(5_000)) };
    let of = |attempts| judge(answer(), clocks(), attempts, None, noon());
    assert_eq!(of(attempts(Some(5_001), Some(700))).verdict, Verdict::Unknown);
    assert_eq!(of(attempts(Some(5_000), Some(700))).verdict, Verdict::NotFound);
    let unknown_first = of(attempts(None, Some(700)));
    assert_eq!(
        unknown_first.reasons[1],
        "When it was first tried is not known: the look-up may not reach back to an earlier attempt."
    );
}

#[test]
fn a_look_that_forgets_nothing_sees_every_attempt() {
    let clocks = Clocks { lookback: None, ..clocks() };
    for attempts in [once(10 * 365 * 86_400), attempts(None, Some(700))] {
        let judgement = judge(complete(Vec::new()), clocks, attempts, None, noon());
        assert_eq!((judgement.verdict, judgement.reasons.len()), (Verdict::NotFound, 1));
    }
}

#[rstest]
#[case::settled(once(3_600), &["Every page was read and nothing carries our reference; the last attempt was 1 h ago."])]
#[case::unsettled(once(60), &["Nothing carries our reference yet, but the last attempt was only 1 min ago and an effect may take 10 min to show."])]
#[case::too_old(once(172_800), &[NOTHING, "The attempt is 2 d old and the look-up sees only 1 d back."])]
#[case::no_time(attempts(None, None), &[NOTHING, "When the last attempt was is not known, so an absence proves nothing."])]
#[case::future(once(-60), &[NOTHING, "The last attempt lies in the future (2027-01-15T12:01:00Z): a clock is wrong."])]
fn an_absence_is_told_in_words(#[case] attempts: Attempts, #[case] told: &[&str]) {
    assert_eq!(judge(complete(Vec::new()), clocks(), attempts, None, noon()).reasons, told);
}

/// What is there counts whenever the attempt was: only an absence needs its time.
#[rstest]
#[case::just_now(once(0))]
#[case::old(once(LOOKBACK_SECONDS * 30))]
#[case::no_time(attempts(None, None))]
#[case::future(once(-60))]
fn a_presence_needs_no_time(#[case] attempts: Attempts) {
    assert_eq!(judge(complete(effects_of("h")), clocks(), attempts, None, noon()).verdict, Verdict::Happened);
}

#[test]
fn outside_text_is_cleaned_in_reasons() {
    let judgement = judged(vec![effect("ch\u{1b}[31m\u{202e}", EffectState::Happened)]);
    assert!(judgement.reasons[0].contains("ch␛[31m<U+202E>"), "{:?}", judgement.reasons);
}

#[test]
fn every_verdict_has_a_word_and_says_whether_it_forbids_a_retry() {
    let told: Vec<(String, bool)> =
        Verdict::ALL.iter().map(|verdict| (verdict.to_string(), verdict.forbids_retry())).collect();
    let told: Vec<(&str, bool)> = told.iter().map(|(word, forbids)| (word.as_str(), *forbids)).collect();
    assert_eq!(
        told,
        [
            ("duplicated", true),
            ("mismatch", true),
            ("happened", true),
            ("pending", true),
            ("failed", false),
            ("not_found", false),
            ("unknown", true),
        ]
    );
}

const FAULTS: [FaultKind; 18] = [
    FaultKind::Connect,
    FaultKind::Tls,
    FaultKind::Timeout,
    FaultKind::CutOff,
    FaultKind::RateLimited,
    FaultKind::ServerError,
    FaultKind::Refused,
    FaultKind::Redirect,
    FaultKind::BodyTooLarge,
    FaultKind::TooManyPages,
    FaultKind::TookTooLong,
    FaultKind::Shape,
    FaultKind::ErrorInAnswer,
    FaultKind::Question,
    FaultKind::Secret,
    FaultKind::NobodyToAsk,
    FaultKind::Unanswerable,
    FaultKind::Cancelled,
];

fn any_attempts() -> impl Strategy<Value = Attempts> {
    let any_time = || proptest::option::of(-100_000_i64..10_000_000);
    (any_time(), any_time()).prop_map(|(first, last)| attempts(first, last))
}

fn any_clocks() -> impl Strategy<Value = Clocks> {
    (0_i64..100_000, proptest::option::of(0_i64..10_000_000)).prop_map(|(settle, lookback)| Clocks {
        settle: TimeDelta::seconds(settle),
        lookback: lookback.map(TimeDelta::seconds),
        key_ttl: None,
    })
}

proptest! {
    /// Rule 1.
    #[test]
    fn a_fault_is_always_unknown(
        kind in proptest::sample::select(FAULTS.to_vec()), attempts in any_attempts(), clocks in any_clocks(),
        detail in any::<String>(),
    ) {
        let fault = Fault::new(kind, detail);
        let judgement = judge(Answer::Fault(fault.clone()), clocks, attempts, None, noon());
        prop_assert_eq!(judgement.verdict, Verdict::Unknown);
        prop_assert_eq!(judgement.fault, Some(fault));
        prop_assert!(judgement.effects.is_empty());
    }

    /// Rule 5.
    #[test]
    fn an_unlisted_status_is_never_more_than_unknown_unless_two_others_happened(
        word in "[hpfu]{0,6}u[hpfu]{0,6}", attempts in any_attempts(), clocks in any_clocks(),
    ) {
        let verdict = judge(complete(effects_of(&word)), clocks, attempts, None, noon()).verdict;
        let twice = word.matches('h').count() > 1;
        prop_assert_eq!(verdict, if twice { Verdict::Duplicated } else { Verdict::Unknown });
    }

    /// Rule 2: whatever the clocks say, an absence that counts as settled is of an attempt that the look covered.
    #[test]
    fn a_settled_absence_rests_on_a_look_that_could_have_seen_it(
        attempts in any_attempts(), clocks in any_clocks(), seen_from in proptest::option::of(0_i64..10_000_000),
    ) {
        let answer = Answer::Complete { effects: Vec::new(), seen_from: seen_from.map(ago) };
        let judgement = judge(answer, clocks, attempts, None, noon());
        prop_assert!(matches!(judgement.verdict, Verdict::NotFound | Verdict::Unknown));
        if judgement.verdict == Verdict::NotFound {
            let last = attempts.last.unwrap();
            prop_assert!(last <= noon());
            prop_assert_eq!(judgement.settled, noon() - last >= clocks.settle);
            for at in [attempts.first, Some(last)].into_iter().flatten() {
                prop_assert!(clocks.lookback.is_none_or(|lookback| noon() - at < lookback));
                prop_assert!(seen_from.is_none_or(|from| ago(from) <= at));
            }
        }
    }

    #[test]
    fn the_order_of_an_answer_changes_no_verdict(word in "[hpfu]{0,8}") {
        let mut turned = effects_of(&word);
        turned.reverse();
        prop_assert_eq!(judged(effects_of(&word)).verdict, judged(turned).verdict);
    }

    #[test]
    fn every_judgement_has_its_reasons_in_sentences(word in "[hpfu]{0,8}", attempts in any_attempts()) {
        let judgement = judge(complete(effects_of(&word)), clocks(), attempts, None, noon());
        prop_assert!(!judgement.reasons.is_empty());
        prop_assert!(judgement.reasons.iter().all(|reason| reason.ends_with('.')));
    }
}
