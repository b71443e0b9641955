use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rstest::rstest;

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
fn words_are_joined_by_and(#[case] typed: &str, #[case] passes: bool) {
    assert_eq!(Filter::parse(typed).unwrap().passes(&facts()), passes);
}

#[test]
fn what_cannot_be_meant_is_said() {
    assert!(Filter::parse("age>soon").unwrap_err().starts_with("`soon` is not a duration"));
    assert_eq!(Filter::parse("attempts>x").unwrap_err(), "`x` is not a number of attempts");
    assert_eq!(Filter::parse("kind:").unwrap_err(), "`kind:` needs a value");
    assert!(
        Filter::parse("verdict:hapened").unwrap_err().starts_with("`verdict:hapened`: there are duplicated,")
    );
    assert!(Filter::parse("-knd:invoice").unwrap_err().starts_with("there is no field `knd`"));
    assert!(Filter::parse("-key:invoice:7 invoice:7").is_ok());
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
        words in vec(word(), 0..4),
    ) {
        let Ok(filter) = Filter::parse(&words.join(" ")) else { return Ok(()) };
        let [key, kind, status, error, reference] = &texts;
        let facts = Facts {
            source: "jobs", key, kind, status, risk: "safe", finding, class: "refused", error, reference,
            verdict: outcome.0, advice: outcome.1, age: hours.map(TimeDelta::hours), attempts,
        };
        let words = Facts { key: "", error: "", reference: "", age: None, attempts: None, ..facts };
        let mut folded = String::new();
        let ends = fold(&facts, &mut folded).unwrap();
        let quick = match filter.given_words(&words) {
            Rest::Settled(passes) => passes,
            Rest::Open(open) => open.passes(facts.age, attempts, Folded::new(&folded, ends)),
        };
        prop_assert_eq!(quick, filter.passes(&facts));
    }
}
