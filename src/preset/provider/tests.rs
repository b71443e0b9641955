use super::*;
use crate::domain::evidence::EffectState;
use crate::preset::catalogue::built_in_text;
use crate::preset::template::Fields;
use chrono::TimeDelta;
use pretty_assertions::assert_eq;
use rstest::rstest;

mod listing;
mod sql;

fn ledger() -> ProviderPreset {
    ProviderPreset::parse(built_in_text("ledger").unwrap()).unwrap()
}

fn look_up<'preset>(preset: &'preset ProviderPreset, operation: &str) -> &'preset LookUp {
    match &preset.operations[operation].how {
        How::Ask(look) => look,
        How::Sql(_) => panic!("it is read by SQL"),
        How::Unanswerable(why) => panic!("{why}"),
    }
}

#[test]
fn the_example_says_what_it_seems_to_say() {
    let preset = ledger();
    let charge = &preset.operations["charge"];
    assert_eq!(charge.clocks.settle, TimeDelta::seconds(60));
    assert_eq!(charge.clocks.lookback, Some(TimeDelta::days(90)));
    assert_eq!(charge.clocks.key_ttl, Some(TimeDelta::hours(24)));
    assert_eq!(preset.auth, Auth::Bearer);
    assert_eq!(preset.limits, Limits::default(), "the example spells out the defaults");
    let look = look_up(&preset, "charge");
    assert_eq!(look.request.method, Method::Get);
    assert_eq!(look.request.window_margin, TimeDelta::minutes(10));
    assert_eq!(look.absence, Absence::EmptyList);
    assert_eq!(look.state_of("succeeded"), EffectState::Happened);
    assert_eq!(look.state_of("Succeeded"), EffectState::Unlisted);
    assert_eq!(look.paging.end, PageEnd::More(Place::parse("$.has_more").unwrap()));
    assert!(look_up(&preset, "email").effects.amount.is_none());
}

#[test]
fn what_a_configuration_names_goes_into_the_path_of_the_reference() {
    let text = include_str!("../../../assets/presets/gocardless.toml");
    let preset = ProviderPreset::parse(text).unwrap();
    let look = look_up(&preset, "payment");
    let vars = |key: &str| {
        let names = BTreeMap::from([("metadata_key".to_owned(), minijinja::Value::from(key))]);
        Fields::from([("vars".to_owned(), names.into())])
    };
    let place = |look: &LookUp| match &look.effects.reference {
        ReferencePlace::InEffect { place, .. } => place.source().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(place(&look.filled_in(&vars("order-id")).unwrap()), "$.metadata['order-id']");
    assert!(look.filled_in(&vars("it's")).unwrap_err().contains("is no JSONPath"));
    assert!(look.filled_in(&Fields::new()).is_err());
}

/// A preset by own id, with everything said that the checks ask for.
const BY_ID: &str = r#"
type = "provider"
name = "pix"
title = "Pix"
[auth]
kind = "none"
[operations.cob]
settle = "2m"
lookback = "unlimited"
path = "/cob/{{ reference }}"
absence = "status_404"
absence_when = [{ path = "$.type", equals = "NotFound" }]
[operations.cob.effects]
one = "$"
id = "$.txid"
reference_in_address = true
status = "$.status"
[operations.cob.statuses]
happened = ["CONCLUIDA"]
pending = ["ATIVA"]
[operations.cob.paging]
kind = "none"
"#;

#[test]
fn a_look_up_by_own_id_may_take_a_404_for_absence() {
    let preset = ProviderPreset::parse(BY_ID).unwrap();
    let look = look_up(&preset, "cob");
    assert!(matches!(&look.absence, Absence::Status404(tests) if tests.len() == 1));
    assert_eq!(look.effects.reference, ReferencePlace::InAddress);
    assert_eq!(preset.operations["cob"].clocks.lookback, None);
    assert_eq!(preset.operations["cob"].clocks.key_ttl, None);
}

#[rstest]
#[case::unknown_key("[auth]", "colour = \"red\"\n[auth]", "unknown field `colour`")]
#[case::other_type("\"provider\"", "\"source\"", "unknown variant `source`")]
#[case::bad_name("\"pix\"", "\"Pix!\"", "preset `Pix!`, `name`: a name has small letters")]
#[case::no_auth("[auth]\nkind = \"none\"", "", "`auth`: it is missing")]
#[case::auth_header("kind = \"none\"\n[op", "kind = \"header\"\n[op", "`auth.header`: it is missing")]
#[case::auth_idle(
    "kind = \"none\"\n[op",
    "kind = \"none\"\nuser = \"x\"\n[op",
    "`auth.user`: it does not go with"
)]
#[case::no_settle("settle = \"2m\"", "", "preset `pix`, operation `cob`, `settle`: it is missing")]
#[case::bad_settle("\"2m\"", "\"soon\"", "`settle`: `soon` is not a duration")]
#[case::no_lookback("lookback = \"unlimited\"", "", "`lookback`: it is missing")]
#[case::bad_lookback("\"unlimited\"", "\"forever\"", "or \"unlimited\"")]
#[case::no_path("path = \"/cob/{{ reference }}\"", "", "`path`: it is missing")]
#[case::relative("\"/cob/{{ reference }}\"", "\"cob\"", "`path`: it must begin with `/`")]
#[case::dots("\"/cob/{{ reference }}\"", "\"/cob/../{{ reference }}\"", "a segment is empty or made of dots")]
#[case::query_in_path(
    "\"/cob/{{ reference }}\"",
    "\"/cob?id={{ reference }}\"",
    "parameters belong into `query`"
)]
#[case::bad_template("\"/cob/{{ reference }}\"", "\"/cob/{{ reference\"", "`path`: the template")]
#[case::foreign_404(
    "\"/cob/{{ reference }}\"",
    "\"/cob/all\"",
    "a 404 is an absence only where `path` is made from our"
)]
#[case::any_404(
    "absence_when = [{ path = \"$.type\", equals = \"NotFound\" }]",
    "",
    "`absence_when`: say what the body"
)]
#[case::no_absence(
    "absence = \"status_404\"\nabsence_when = [{ path = \"$.type\", equals = \"NotFound\" }]",
    "",
    "cannot be empty: write absence = \"status_404\""
)]
#[case::bad_path_expression("\"$.txid\"", "\"$.[\"", "`effects.id`: `$.[` is no JSONPath")]
#[case::no_reference(
    "reference_in_address = true",
    "",
    "`effects.reference`: it is missing: an effect that cannot be matched"
)]
#[case::no_status("status = \"$.status\"", "", "`effects.status`: say where it is")]
#[case::amount_alone(
    "status = \"$.status\"",
    "status = \"$.status\"\nunit = \"minor\"",
    "`effects.amount`: it is missing"
)]
#[case::no_currency(
    "status = \"$.status\"",
    "status = \"$.status\"\nunit = \"minor\"\namount = \"$.a\"",
    "`effects.currency`: say either where it is"
)]
#[case::time_format(
    "status = \"$.status\"",
    "status = \"$.status\"\ntime = \"$.t\"",
    "`effects.time_format`: it is missing"
)]
#[case::status_twice("[\"ATIVA\"]", "[\"CONCLUIDA\"]", "`statuses`: `CONCLUIDA` is listed twice")]
#[case::nothing_happens("[\"CONCLUIDA\"]", "[]", "`statuses.happened`: no status says that it happened")]
#[case::no_paging("[operations.cob.paging]\nkind = \"none\"", "", "`paging`: it is missing")]
#[case::pages_of_one(
    "kind = \"none\"\n#end",
    "kind = \"offset\"\nparameter = \"o\"\nuntil_empty = true",
    "has no pages"
)]
#[case::no_end(
    "kind = \"none\"\n#end",
    "kind = \"offset\"\nparameter = \"o\"",
    "`paging.more`: say how the last page is known"
)]
#[case::no_parameter(
    "kind = \"none\"\n#end",
    "kind = \"token\"\nnext = \"$.n\"",
    "`paging.parameter`: it is missing"
)]
#[case::idle_paging(
    "kind = \"none\"\n#end",
    "kind = \"none\"\nnext = \"$.n\"",
    "`paging.next`: it does not go with"
)]
#[case::left_out("one = \"$\"", "one = \"$\"\nlist_left_out_when_empty = true", "it goes with `list`")]
#[case::items_max(
    "kind = \"none\"\n#end",
    "kind = \"offset\"\nparameter = \"o\"\nitems_max = 9",
    "`paging.items_max`: it goes with kind"
)]
#[case::items_max_zero("kind = \"none\"\n#end", "kind = \"none\"\nitems_max = 0", "it must be at least 1")]
#[case::two_ends(
    "kind = \"none\"\n#end",
    "kind = \"none\"\nitems_max = 9\nmore = \"$.m\"",
    "say only one of `more`, `total`"
)]
#[case::link_without_a_size(
    "kind = \"none\"\n#end",
    "kind = \"link_header\"",
    "`paging.page_items`: say how many items a full page has"
)]
#[case::idle_size(
    "kind = \"none\"\n#end",
    "kind = \"none\"\npage_items = 9",
    "`paging.page_items`: it does not go with this kind of paging"
)]
#[case::bad_total_header(
    "kind = \"none\"\n#end",
    "kind = \"none\"\ntotal_header = \"X Total\"",
    "`paging.total_header`: `x total` is no header's name"
)]
#[case::confirmed_by_itself(
    "settle = \"2m\"",
    "settle = \"2m\"\nabsence_confirm = { path = \"/cob/{{ reference }}\" }",
    "`absence_confirm.path`: it asks for what must be there"
)]
#[case::confirmed_by_a_post(
    "settle = \"2m\"",
    "settle = \"2m\"\nabsence_confirm = { method = \"POST\", path = \"/cob\" }",
    "`absence_confirm.method`: write \"GET\" or \"HEAD\""
)]
#[case::confirmed_nowhere(
    "settle = \"2m\"",
    "settle = \"2m\"\nabsence_confirm = { path = \"cob\" }",
    "`absence_confirm.path`: it must begin with `/`"
)]
#[case::no_token_url(
    "kind = \"none\"\n[op",
    "kind = \"client_credentials\"\n[op",
    "`auth.token_url`: it is missing"
)]
#[case::idle_token_url(
    "kind = \"none\"\n[op",
    "kind = \"none\"\ntoken_url = \"/t\"\n[op",
    "`auth.token_url`: it does not go with"
)]
#[case::idle_scope(
    "kind = \"none\"\n[op",
    "kind = \"none\"\nscope = \"s\"\n[op",
    "`auth.scope`: it does not go with"
)]
#[case::reference_of_no_variable(
    "reference_in_address = true",
    "reference = \"$.m.{{ vars.key }}\"",
    "`effects.reference`: `$.m.{{ vars.key }}` cannot be filled in"
)]
#[case::reference_of_the_item(
    "reference_in_address = true",
    "reference = \"$.m.{{ key }}\"",
    "`effects.reference`: `$.m.{{ key }}` cannot be filled in"
)]
#[case::write("path = \"/cob", "method = \"POST\"\npath = \"/cob", "a POST needs read_only_post = true")]
#[case::reason(
    "path = \"/cob",
    "method = \"POST\"\nread_only_post = true\npath = \"/cob",
    "and a read_only_reason"
)]
#[case::cancel(
    "path = \"/cob",
    "method = \"POST\"\nread_only_post = true\nread_only_reason = \"no\"\npath = \"/cancel",
    "`cancel` in the path of a POST is a write"
)]
#[case::delete("path = \"/cob", "method = \"DELETE\"\npath = \"/cob", "unknown variant `DELETE`")]
#[case::body_of_get(
    "[operations.cob.effects]",
    "[operations.cob.body]\na = \"b\"\n[operations.cob.effects]",
    "only a POST has one"
)]
#[case::own_header(
    "[operations.cob.effects]",
    "[operations.cob.headers]\nAuthorization = \"b\"\n[operations.cob.effects]",
    "`Authorization` is not a preset's to set"
)]
#[case::window(
    "[operations.cob.effects]",
    "[operations.cob.window]\nsince = \"1\"\n[operations.cob.effects]",
    "`window`: no parameter uses `from_epoch_s`"
)]
#[case::tries("[auth]", "[limits]\ntries_max = 0\n[auth]", "`limits.tries_max`: it must be from 1 to 10")]
#[case::pages_zero("[auth]", "[limits]\npages_max = 0\n[auth]", "`limits.pages_max`: it must be at least 1")]
#[case::pace("[auth]", "pace_per_second = 0\n[auth]", "`pace_per_second`: it must be greater than zero")]
#[case::base(
    "[auth]",
    "base_url = \"https://u:p@x.test\"\n[auth]",
    "`base_url`: the base address holds a user or password"
)]
#[case::both_ways("settle = \"2m\"", "settle = \"2m\"\nunanswerable = \"no\"", "`unanswerable`: it says why")]
fn what_is_wrong_is_said_in_one_sentence(#[case] good: &str, #[case] bad: &str, #[case] sentence: &str) {
    let text = format!("{BY_ID}#end");
    assert!(text.contains(good), "{good} is not in the preset");
    let message = ProviderPreset::parse(&text.replacen(good, bad, 1)).unwrap_err();
    assert!(message.contains(sentence), "{message}");
}

#[test]
fn an_operation_that_nobody_can_answer_says_why_and_keeps_its_key_ttl() {
    let text = r#"
        type = "provider"
        name = "hook"
        title = "A hook"
        auth = { kind = "none" }
        [operations.post]
        unanswerable = "an incoming webhook keeps nothing that can be asked for"
        key_ttl = "1h"
    "#;
    let operation = &ProviderPreset::parse(text).unwrap().operations["post"];
    assert!(matches!(&operation.how, How::Unanswerable(why) if why.starts_with("an incoming webhook")));
    assert_eq!(operation.clocks.key_ttl, Some(TimeDelta::hours(1)));
}

#[rstest]
#[case("https://api.test/base", true)]
#[case("http://127.0.0.1:8421", true)]
#[case("ftp://api.test", false)]
#[case("https://user@api.test", false)]
#[case("https://api.test/?key=1", false)]
#[case("api.test", false)]
fn a_base_address_is_http_without_secrets(#[case] text: &str, #[case] good: bool) {
    assert_eq!(ProviderSettings::parse_base_url(text).is_ok(), good);
}

#[test]
fn an_absence_that_nothing_shows_is_for_one_effect_only() {
    let never = BY_ID
        .replace("absence = \"status_404\"", "absence = \"never\"")
        .replace("absence_when = [{ path = \"$.type\", equals = \"NotFound\" }]", "");
    let preset = ProviderPreset::parse(&never).unwrap();
    assert_eq!(look_up(&preset, "cob").absence, Absence::Never);
    let of_a_list = never.replace("one = \"$\"", "list = \"$\"");
    let message = ProviderPreset::parse(&of_a_list).unwrap_err();
    assert!(message.contains("`absence`: a list may be empty: \"never\" goes with `one`"), "{message}");
}
