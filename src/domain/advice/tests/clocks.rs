//! The three clocks on both sides of each edge, from an answer to the advice, in the words that an operator reads.

use super::*;
use crate::domain::attempt::Attempts;
use crate::domain::evidence::{Answer, Clocks};
use crate::domain::verdict::judge;
use chrono::TimeDelta;
use pretty_assertions::assert_eq;

const MS: TimeDelta = TimeDelta::milliseconds(1);
const SETTLE: TimeDelta = TimeDelta::minutes(10);
const LOOKBACK: TimeDelta = TimeDelta::days(1);
const KEY_TTL: TimeDelta = TimeDelta::minutes(100);
/// A key is counted on for so long alone: nineteen parts in twenty.
const KEY_COUNTED: TimeDelta = TimeDelta::minutes(95);

const NOTHING: &str = "The provider shows nothing.";
const WAIT: &str = "Ask again once the effect has had time to show.";
const LOOK: &str = "Asking again will not help: somebody must look at the provider.";
const FIRST_NOT_KNOWN: &str =
    "When it was first tried is not known: the look-up may not reach back to an earlier attempt.";
const KEY_TTL_NOT_KNOWN: &str =
    "How long the provider remembers a key is not known: count a retry as a new effect.";
const KEY_FIRST_NOT_KNOWN: &str = "When the key was first sent is not known: count a retry as a new effect.";

fn clocks(key_ttl: Option<TimeDelta>) -> Clocks {
    Clocks { settle: SETTLE, lookback: Some(LOOKBACK), key_ttl }
}

/// What is said of an item without an effect that was first and last tried so long ago, its worker sending a key.
fn said(
    first: Option<TimeDelta>,
    last: TimeDelta,
    effects: Vec<Effect>,
    clocks: Clocks,
    risk: Risk,
) -> (Verdict, Advice, Vec<String>) {
    let attempts = Attempts { first: first.map(|ago| noon() - ago), last: Some(noon() - last) };
    let judgement = judge(Answer::Complete { effects, seen_from: None }, clocks, attempts, None, noon());
    let key = KeyProtection::at(noon(), attempts, true, clocks.key_ttl);
    let advised = advise(risk, FindingKind::Stuck, &judgement, key, false);
    (judgement.verdict, advised.advice, advised.reasons)
}

fn absent(first: Option<TimeDelta>, last: TimeDelta, clocks: Clocks) -> (Verdict, Advice, Vec<String>) {
    said(first, last, Vec::new(), clocks, Risk::CheckFirst)
}

fn settled(ago: &str) -> String {
    format!("Every page was read and nothing carries our reference; the last attempt was {ago} ago.")
}

fn unsettled(ago: &str) -> String {
    format!(
        "Nothing carries our reference yet, but the last attempt was only {ago} ago and an effect may take 10 min to show."
    )
}

fn remembered(until: &str) -> String {
    format!("The provider remembers the idempotency key until {until}: a retry with it repeats nothing.")
}

fn forgotten(since: &str) -> String {
    format!("The provider may have forgotten the idempotency key since {since}: a retry is a new effect.")
}

#[rstest]
#[case::just_now(TimeDelta::zero(), Advice::Wait, unsettled("0 s"), WAIT.to_owned())]
#[case::one_before(SETTLE - MS, Advice::Wait, unsettled("9 min 59 s"), WAIT.to_owned())]
#[case::on_the_edge(SETTLE, Advice::Retry, settled("10 min"), remembered("2027-01-15T13:25:00Z"))]
#[case::one_behind(SETTLE + MS, Advice::Retry, settled("10 min"), remembered("2027-01-15T13:24:59.999Z"))]
fn settle_on_both_sides(
    #[case] ago: TimeDelta,
    #[case] advice: Advice,
    #[case] judged: String,
    #[case] advised: String,
) {
    let told = absent(Some(ago), ago, clocks(Some(KEY_TTL)));
    assert_eq!(told, (Verdict::NotFound, advice, vec![judged, advised]));
}

/// A definite no is no absence, and a later try may still be on its way: it waits for the same clock.
#[rstest]
#[case::one_before(
    SETTLE - MS,
    Advice::Wait,
    "Another try may still be on its way: ask again once it has had time to show."
)]
#[case::on_the_edge(SETTLE, Advice::Retry, KEY_TTL_NOT_KNOWN)]
fn settle_holds_for_a_definite_no_too(#[case] ago: TimeDelta, #[case] advice: Advice, #[case] advised: &str) {
    let declined = Effect {
        id: "ch_1".to_owned(),
        status: "declined".to_owned(),
        state: EffectState::Failed,
        money: None,
        at: None,
        link: None,
    };
    let told = said(Some(ago), ago, vec![declined], clocks(None), Risk::CheckFirst);
    let judged = "The provider knows of it, and it did not happen: ch_1 (`declined`).";
    assert_eq!(told, (Verdict::Failed, advice, vec![judged.to_owned(), advised.to_owned()]));
}

#[rstest]
#[case::one_before(LOOKBACK - MS, Verdict::NotFound, Advice::Retry, vec![settled("1 h"), forgotten("2027-01-14T13:35:00.001Z")])]
#[case::on_the_edge(LOOKBACK, Verdict::Unknown, Advice::Escalate, too_old("1 d"))]
#[case::one_behind(LOOKBACK + MS, Verdict::Unknown, Advice::Escalate, too_old("1 d"))]
#[case::long_behind(LOOKBACK * 3, Verdict::Unknown, Advice::Escalate, too_old("3 d"))]
fn lookback_on_both_sides_of_the_first_attempt(
    #[case] first: TimeDelta,
    #[case] verdict: Verdict,
    #[case] advice: Advice,
    #[case] reasons: Vec<String>,
) {
    assert_eq!(absent(Some(first), TimeDelta::hours(1), clocks(Some(KEY_TTL))), (verdict, advice, reasons));
}

fn too_old(age: &str) -> Vec<String> {
    let sentence = format!("The attempt is {age} old and the look-up sees only 1 d back.");
    [NOTHING, &sentence, LOOK].map(str::to_owned).to_vec()
}

/// The last attempt counts where it is the only one known, and the advice says what is not known.
#[rstest]
#[case::one_before(LOOKBACK - MS, Verdict::NotFound, Advice::Retry, vec![settled("23 h 59 min"), FIRST_NOT_KNOWN.to_owned(), KEY_FIRST_NOT_KNOWN.to_owned()])]
#[case::on_the_edge(LOOKBACK, Verdict::Unknown, Advice::Escalate, too_old("1 d"))]
fn a_first_attempt_that_is_not_known_is_said(
    #[case] last: TimeDelta,
    #[case] verdict: Verdict,
    #[case] advice: Advice,
    #[case] reasons: Vec<String>,
) {
    assert_eq!(absent(None, last, clocks(Some(KEY_TTL))), (verdict, advice, reasons));
}

#[rstest]
#[case::one_before(KEY_COUNTED - MS, remembered("2027-01-15T12:00:00.001Z"))]
#[case::on_the_edge(KEY_COUNTED, forgotten("2027-01-15T12:00:00Z"))]
#[case::one_behind(KEY_COUNTED + MS, forgotten("2027-01-15T11:59:59.999Z"))]
#[case::one_before_its_end(KEY_TTL - MS, forgotten("2027-01-15T11:55:00.001Z"))]
#[case::at_its_end(KEY_TTL, forgotten("2027-01-15T11:55:00Z"))]
#[case::one_behind_its_end(KEY_TTL + MS, forgotten("2027-01-15T11:54:59.999Z"))]
fn key_ttl_on_both_sides_of_the_first_attempt(#[case] first: TimeDelta, #[case] key: String) {
    let told = absent(Some(first), SETTLE, clocks(Some(KEY_TTL)));
    assert_eq!(told, (Verdict::NotFound, Advice::Retry, vec![settled("10 min"), key]));
}

/// A key that nobody remembers for certain is none, however young the first attempt is.
#[rstest]
#[case::nobody_says(None)]
#[case::zero(Some(TimeDelta::zero()))]
fn an_unknown_key_ttl_counts_as_zero(#[case] key_ttl: Option<TimeDelta>) {
    for first in [SETTLE, TimeDelta::hours(1)] {
        let (_, advice, reasons) = absent(Some(first), SETTLE, clocks(key_ttl));
        assert_eq!((advice, reasons), (Advice::Retry, vec![settled("10 min"), KEY_TTL_NOT_KNOWN.to_owned()]));
    }
}

/// A millisecond is remembered for no longer than that, and a first attempt in the future for no time at all.
#[test]
fn a_key_is_never_counted_on_for_longer_than_it_lasts() {
    let told = absent(Some(SETTLE), SETTLE, clocks(Some(MS)));
    assert_eq!(told.2[1], forgotten("2027-01-15T11:50:00.000950Z"));
    let told = absent(Some(-MS), SETTLE, clocks(Some(KEY_TTL)));
    assert_eq!(told.2[1], KEY_FIRST_NOT_KNOWN);
}

/// Money that a forgotten key no longer protects is worth a second look; the clock decides which.
#[rstest]
#[case::protected(KEY_COUNTED - MS, vec![remembered("2027-01-15T12:00:00.001Z")])]
#[case::not_protected(KEY_COUNTED, vec![forgotten("2027-01-15T12:00:00Z"), SECOND_LOOK.to_owned()])]
fn money_and_a_forgotten_key(#[case] first: TimeDelta, #[case] own: Vec<String>) {
    let told = said(Some(first), SETTLE, Vec::new(), clocks(Some(KEY_TTL)), Risk::Financial);
    assert_eq!((told.1, &told.2[1..]), (Advice::Retry, &own[..]));
}

/// What is there counts on every side of every edge.
#[test]
fn a_presence_needs_no_clock() {
    let happened = || Effect {
        id: "ch_1".to_owned(),
        status: "paid".to_owned(),
        state: EffectState::Happened,
        money: None,
        at: None,
        link: None,
    };
    for ago in [TimeDelta::zero(), SETTLE - MS, SETTLE, LOOKBACK - MS, LOOKBACK, LOOKBACK * 100, -MS] {
        let (verdict, advice, _) = said(Some(ago), ago, vec![happened()], clocks(None), Risk::Financial);
        assert_eq!((verdict, advice), (Verdict::Happened, Advice::MarkDone));
    }
}
