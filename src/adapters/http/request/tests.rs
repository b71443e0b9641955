use super::*;
use crate::preset::provider::{How, ProviderPreset};
use rstest::rstest;

fn look(operation: &str, rest: &str) -> LookUp {
    let text = format!(
        r#"
        type = "provider"
        name = "test"
        title = "Test"
        auth = {{ kind = "none" }}
        [operations.op]
        settle = "1m"
        lookback = "unlimited"
        {operation}
        [operations.op.effects]
        list = "$.l"
        id = "$.id"
        reference = "$.r"
        reference_chars_max = 20
        status = "$.s"
        [operations.op.statuses]
        happened = ["done"]
        {rest}
        "#
    );
    match ProviderPreset::parse(&text).unwrap().operations.remove("op").unwrap().how {
        How::Ask(look) => *look,
        How::Sql(_) => panic!("it is read by SQL"),
        How::Unanswerable(why) => panic!("{why}"),
    }
}

const NO_PAGES: &str = "[operations.op.paging]\nkind = \"none\"";

fn question(reference: &str, from: Option<&str>) -> Question {
    Question {
        reference: reference.to_owned(),
        from: from.map(|at| at.parse().unwrap()),
        fields: BTreeMap::from([("customer".to_owned(), "c&1".to_owned())]),
        mask: std::sync::Arc::default(),
    }
}

fn ask(look: &LookUp, question: &Question) -> Result<First, Fault> {
    let base = Url::parse("https://api.test/base/").unwrap();
    first(look, &base, question, &Fields::new(), "2026-11-30T08:00:00Z".parse().unwrap())
}

#[rstest]
#[case::plain("inv-1", "https://api.test/base/cob/inv-1/x")]
#[case::slash("a/b", "https://api.test/base/cob/a%2Fb/x")]
#[case::query("a?b=1#c", "https://api.test/base/cob/a%3Fb=1%23c/x")]
#[case::percent("a%2e", "https://api.test/base/cob/a%252e/x")]
#[case::unicode("é", "https://api.test/base/cob/%C3%A9/x")]
fn a_reference_stays_one_segment(#[case] reference: &str, #[case] url: &str) {
    let look = look("path = \"/cob/{{ reference }}/x\"", NO_PAGES);
    assert_eq!(ask(&look, &question(reference, None)).unwrap().planned.url.as_str(), url);
}

#[rstest]
#[case::empty("")]
#[case::blank("  ")]
#[case::dot(".")]
#[case::dots("..")]
#[case::line_break("a\nb")]
#[case::too_long("123456789012345678901")]
fn a_reference_that_would_ask_for_something_else_is_no_question(#[case] reference: &str) {
    let look = look("path = \"/cob/{{ reference }}\"", NO_PAGES);
    assert_eq!(ask(&look, &question(reference, None)).unwrap_err().kind, FaultKind::Question);
}

#[test]
fn the_window_is_asked_for_only_when_it_is_known() {
    let look = look(
        "path = \"/l\"\nquery = { q = \"{{ customer }} {{ reference }}\" }\nwindow = { \"created[gte]\" = \"{{ from_epoch_s }}\" }",
        NO_PAGES,
    );
    let unknown = ask(&look, &question("r", None)).unwrap();
    assert_eq!(unknown.planned.url.query(), Some("q=c%261+r"));
    assert_eq!(unknown.seen_from, None);
    let known = ask(&look, &question("r", Some("2026-11-29T10:00:00.9Z"))).unwrap();
    assert_eq!(known.planned.url.query(), Some("created%5Bgte%5D=1795945800&q=c%261+r"));
    assert_eq!(known.seen_from, Some("2026-11-29T09:50:00Z".parse().unwrap()));
}

#[rstest]
#[case::window_needed("path = \"/l\"\nquery = { start = \"{{ from_iso }}\", end = \"{{ until_iso }}\" }")]
#[case::field_needed("path = \"/l\"\nquery = { q = \"{{ order }}\" }")]
#[case::becomes_empty("path = \"/l\"\nquery = { q = \"{{ customer | replace('c&1', '') }}\" }")]
fn a_question_that_lacks_something_is_not_asked(#[case] operation: &str) {
    let fault = ask(&look(operation, NO_PAGES), &question("r", None)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Question, "{fault}");
}

#[test]
fn a_needed_window_is_also_what_was_seen() {
    let look =
        look("path = \"/l\"\nquery = { start = \"{{ from_iso }}\", end = \"{{ until_iso }}\" }", NO_PAGES);
    let first = ask(&look, &question("r", Some("2026-11-29T10:00:00Z"))).unwrap();
    assert_eq!(
        first.planned.url.query(),
        Some("end=2026-11-30T08%3A10%3A00Z&start=2026-11-29T09%3A50%3A00Z")
    );
    assert!(first.seen_from.is_some());
}

#[test]
fn a_body_cannot_be_broken_out_of_and_carries_the_cursor() {
    let look = look(
        "method = \"POST\"\nread_only_post = true\nread_only_reason = \"a search\"\npath = \"/search\"\nbody = { limit = 5, filter = [{ ref = \"{{ reference }}\" }] }",
        "[operations.op.paging]\nkind = \"token\"\nparameter = \"cursor\"\nparameter_in_body = true\nnext = \"$.n\"",
    );
    let first = ask(&look, &question("a\",\"x\":\"", None)).unwrap().planned;
    assert_eq!(first.method, "POST");
    assert_eq!(first.body.as_ref().unwrap().to_string(), r#"{"filter":[{"ref":"a\",\"x\":\""}],"limit":5}"#);
    let next = with(&first, &look.paging.step, "c2");
    assert_eq!(next.body.unwrap()["cursor"], "c2");
    assert_eq!(next.url, first.url);
}

#[test]
fn the_next_page_changes_only_its_parameter() {
    let look = look(
        "path = \"/l\"\nquery = { q = \"{{ reference }}\" }",
        "[operations.op.paging]\nkind = \"page\"\nparameter = \"page\"\nfirst = 0\nuntil_empty = true",
    );
    let first = ask(&look, &question("r", None)).unwrap().planned;
    assert_eq!(first.url.query(), Some("page=0&q=r"));
    assert_eq!(with(&first, &look.paging.step, "1").url.query(), Some("q=r&page=1"));
}

#[rstest]
#[case::relative("/l?page=2", Some("https://api.test/l?page=2"))]
#[case::absolute("https://api.test/l?page=2", Some("https://api.test/l?page=2"))]
#[case::other_host("https://evil.test/l", None)]
#[case::other_scheme("http://api.test/l", None)]
#[case::other_port("https://api.test:444/l", None)]
#[case::no_scheme("//evil.test/l", None)]
#[case::user("https://u:p@api.test/l", None)]
#[case::script("javascript:alert(1)", None)]
fn a_next_address_stays_on_the_host(#[case] address: &str, #[case] expected: Option<&str>) {
    let planned = Planned { method: "GET", url: Url::parse("https://api.test/l").unwrap(), body: None };
    match (at(&planned, address), expected) {
        (Ok(next), Some(url)) => assert_eq!(next.url.as_str(), url),
        (Err(fault), None) => assert_eq!(fault.kind, FaultKind::Redirect),
        (got, _) => panic!("{got:?}"),
    }
}
