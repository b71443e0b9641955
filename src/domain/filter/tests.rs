use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rstest::rstest;

/// 99.90
const AMOUNT: Decimal = Decimal::from_parts(9_990, 0, 0, false, 2);

fn facts() -> Facts<'static> {
    Facts {
        source: "jobs",
        key: "invoice:7:2026-05",
        kind: "invoice",
        status: "running",
        risk: "financial",
        finding: "stuck",
        error: "Read timed out",
        verdict: "happened",
        age: Some(TimeDelta::hours(3)),
        attempts: Some(2),
        since: Some("2026-11-30T08:15:00Z".parse().unwrap()),
        amount: Some(&AMOUNT),
        currency: "EUR",
        ..Facts::default()
    }
}

#[rstest]
#[case("", true)]
#[case("kind:invoice verdict:happened age>2h", true)]
#[case("kind:order", false)]
#[case("kind:order,invoice", true)]
#[case("-kind:order", true)]
#[case("invoice:7", true)]
#[case("invoice:8", false)]
#[case("\"read timed\"", true)]
#[case("error:TIMED", true)]
#[case("age<2h", false)]
#[case("age>=3h", true)]
#[case("attempts>1", true)]
#[case("attempts=3", false)]
#[case("stuck", true)]
#[case("amount>=99.90 amount<=99.9 amount:99.900 -amount>100", true)]
#[case("amount>99.9", false)]
#[case("currency:usd,eur", true)]
#[case("-currency:eur", false)]
#[case("since:2026-11-30T08:15:00Z", true)]
#[case("since:2026-11-30 until:2026-12-01", true)]
#[case("since:2026-11-30T08:15:01Z", false)]
#[case("until:2026-11-30T08:15:00Z", false)]
fn words_are_joined_by_and(#[case] typed: &str, #[case] passes: bool) {
    assert_eq!(Filter::parse(typed).unwrap().passes(&facts()), passes);
}

#[test]
fn what_cannot_be_meant_is_said() {
    assert!(Filter::parse("age>soon").unwrap_err().starts_with("`soon` is not a duration"));
    assert_eq!(Filter::parse("attempts>x").unwrap_err(), "`x` is not a number of attempts");
    assert_eq!(Filter::parse("kind:").unwrap_err(), "`kind:` needs a value");
    assert!(Filter::parse("-invoice:7").unwrap_err().starts_with("there is no field `invoice`"));
    assert!(Filter::parse("-key:invoice:7 invoice:7").is_ok());
}

/// A misspelt word would find nothing, which reads as "all is well".
#[rstest]
#[case::word(
    "finding:stukc",
    "`finding:stukc`: did you mean `stuck`? there are stuck, ambiguous, duplicate, lost, mismatch"
)]
#[case::one_of_two(
    "risk:safe,finacial",
    "`risk:finacial`: did you mean `financial`? there are safe, check_first, financial"
)]
#[case::far_off("class:odd", "`class:odd`: there are before_effect, ambiguous, refused")]
#[case::field(
    "knd:invoice",
    "there is no field `knd`: did you mean `kind`? To look for that text, write `key:knd:invoice`"
)]
#[case::left_out(
    "-verdct:happened",
    "there is no field `verdct`: did you mean `verdict`? To look for that text, write `key:verdct:happened`"
)]
#[case::compared(
    "amout>=100",
    "there is no field `amout`: did you mean `amount`? To look for that text, write `key:amout>=100`"
)]
#[case::amount(
    "amount>ten",
    "`ten` is not an amount; write it in the currency itself, such as amount>=99.90"
)]
#[case::time("since:noon", "`noon` is not a time; write for example 2026-11-30 or 2026-11-30T08:15:00Z")]
#[case::empty("currency:", "`currency:` needs a value")]
fn a_misspelt_word_is_told_with_the_nearest_one(#[case] typed: &str, #[case] told: &str) {
    assert_eq!(Filter::parse(typed).unwrap_err(), told);
}

/// In a decision on many, what is not known to be small is not small.
#[rstest]
#[case("amount>=100")]
#[case("-amount>=100")]
#[case("currency:EUR")]
#[case("-currency:EUR")]
#[case("since:2026-11-30")]
#[case("-until:2026-11-30")]
fn what_nobody_said_passes_neither_way(#[case] typed: &str) {
    let unsaid = Facts { amount: None, currency: "", since: None, ..facts() };
    assert!(!Filter::parse(typed).unwrap().passes(&unsaid));
}

/// Whoever is asked about costs a request: what words rule out already is not asked about.
#[rstest]
#[case("verdict:unknown", true)]
#[case("verdict:unknown kind:order", false)]
#[case("advice:retry -kind:invoice", false)]
#[case("amount>=100 kind:invoice", true)]
#[case("currency:USD finding:lost", false)]
fn only_what_may_pass_is_asked_about(#[case] typed: &str, #[case] may_pass: bool) {
    let unasked = Facts { verdict: "", amount: None, currency: "", ..facts() };
    assert_eq!(Filter::parse(typed).unwrap().may_pass(&unasked), may_pass);
}

#[rstest]
#[case("CAFÉ", true)]
#[case("error:ünter", true)]
#[case("reference:\u{212a}", true)]
#[case("k", true)]
#[case("kind:caf", false)]
fn case_is_no_matter_in_any_script(#[case] typed: &str, #[case] passes: bool) {
    let facts = Facts { key: "café", error: "ÜNTERBROCHEN", reference: "\u{212a}1", ..Facts::default() };
    assert_eq!(Filter::parse(typed).unwrap().passes(&facts), passes);
}

#[test]
fn long_texts_are_not_kept_twice() {
    let error = "x".repeat(2_000);
    let mut folded = "before".to_owned();
    assert_eq!(fold(&Facts { error: &error, ..facts() }, &mut folded), None);
    assert_eq!(folded, "before");
}

fn text() -> impl Strategy<Value = String> {
    "[abKIiéÉΣσ:\u{212a}\u{130} \n]{0,8}"
}

/// A word of a filter; what is no filter is tried as well, and left out then.
fn word() -> impl Strategy<Value = String> {
    let fields = ["", "", "-", "key:", "-error:", "reference:", "kind:", "-status:"];
    let typed = (select(fields.to_vec()), "[abkIiéσ:,\u{130}]{1,3}")
        .prop_map(|(field, text)| field.to_owned() + &text);
    let fixed = [
        "verdict:happened",
        "-verdict:unknown",
        "advice:retry,wait",
        "finding:stuck",
        "risk:safe",
        "class:refused",
        "age>2h",
        "-age<=2h",
        "attempts=1",
        "attempts>1",
        "amount>=2",
        "-amount<3",
        "currency:EUR,USD",
        "-currency:USD",
        "since:2026-05-05",
        "-until:2026-05-05",
        "pp",
        "-ret",
        "\"a\nb\"",
        "\"a b\"",
        "stuck",
    ];
    prop_oneof![typed, select(fixed.to_vec()).prop_map(str::to_owned)]
}

proptest! {
    #[test]
    fn the_quick_way_says_what_the_plain_one_says(
        texts in [text(), text(), text(), text(), text()],
        outcome in select(vec![("", ""), ("happened", "mark_done"), ("unknown", "wait"), ("not_found", "retry")]),
        finding in select(vec!["stuck", "ambiguous"]),
        hours in proptest::option::of(0_i64..5),
        attempts in proptest::option::of(0_i64..3),
        amount in proptest::option::of(0_i64..5),
        currency in select(vec!["", "EUR", "USD"]),
        day in proptest::option::of(1_i64..9),
        words in vec(word(), 0..4),
    ) {
        let Ok(filter) = Filter::parse(&words.join(" ")) else { return Ok(()) };
        let amount = amount.map(Decimal::from);
        let [key, kind, status, error, reference] = &texts;
        let facts = Facts {
            source: "jobs", key, kind, status, risk: "safe", finding, class: "refused", error, reference,
            verdict: outcome.0, advice: outcome.1, age: hours.map(TimeDelta::hours), attempts,
            since: day.map(|day| DateTime::from_timestamp(1_777_593_600 + 86_400 * day, 0).unwrap()),
            amount: amount.as_ref(), currency,
        };
        let words = Facts {
            key: "", error: "", reference: "", age: None, attempts: None, since: None, amount: None, currency: "", ..facts
        };
        let mut folded = String::new();
        let ends = fold(&facts, &mut folded).unwrap();
        let quick = match filter.given_words(&words) {
            Rest::Settled(passes) => passes,
            Rest::Open(open) => open.passes(facts.age, attempts, Folded::new(&folded, ends)),
            Rest::Whole => filter.passes(&facts),
        };
        prop_assert_eq!(quick, filter.passes(&facts));
    }
}
