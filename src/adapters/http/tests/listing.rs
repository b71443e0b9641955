use super::server::{Act, Scripted, answer, answer_of_length};
use super::*;
use crate::domain::evidence::{Fault, FaultKind as F};
use crate::ports::provider::{Listed, Window};
use crate::preset::provider::OperationSettings;
use chrono::TimeDelta;
use pretty_assertions::assert_eq;
use rstest::rstest;
use wiremock::matchers::{method, path, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// A list with a cursor, one whose pages are counted, and one that only its order ends.
const LISTS: &str = r#"
type = "provider"
name = "test"
title = "Test"
pace_per_second = 1000
auth = { kind = "bearer" }
[limits]
body_bytes_max = 20000
tries_max = 3
request_seconds_max = 0.6

[operations.charge]
settle = "1m"
lookback = "30d"
path = "/v1/charges"
query = { reference = "{{ reference }}", limit = "100" }
success = [{ path = "$.error", exists = false }]
effects = { list = "$.data", id = "$.id", reference = "$.reference", status = "$.status", time = "$.created", time_format = "epoch_s" }
statuses = { happened = ["succeeded"], failed = ["failed"] }
paging = { kind = "last_id", parameter = "after", more = "$.more" }
[operations.charge.listing]
query = { limit = "100" }
window = { since = "{{ from_epoch_s }}" }
page_items = 100
pages_max = 3
bytes_max = 30000

[operations.counted]
settle = "1m"
lookback = "30d"
path = "/v1/charges"
query = { reference = "{{ reference }}" }
effects = { list = "$.data", id = "$.id", reference = "$.reference", status = "$.status", time = "$.created", time_format = "epoch_s" }
statuses = { happened = ["succeeded"] }
paging = { kind = "page", parameter = "page", first = 1, pages = "$.pages" }
[operations.counted.listing]
page_items = 2
order = "oldest_first"

[operations.ordered]
settle = "1m"
lookback = "30d"
path = "/v1/charges"
query = { reference = "{{ reference }}" }
effects = { list = "$.data", id = "$.id", reference = "$.reference", status = "$.status", time = "$.created", time_format = "epoch_s" }
statuses = { happened = ["succeeded"] }
paging = { kind = "last_id", parameter = "after", more = "$.more" }
[operations.ordered.listing]
page_items = 2
order = "newest_first"
"#;

fn from() -> DateTime<Utc> {
    FixedClock.now() - TimeDelta::hours(2)
}

async fn list(base: &str, operation: &str, pages_max: usize) -> Listed {
    let window = Window { from: Some(from()), pages_max, mask: Arc::default() };
    provider_of(LISTS, &settings(base), operation).list(&window).await
}

/// What a list came to: each effect with its references, or the fault's kind.
fn shown(listed: &Listed) -> Result<Vec<String>, F> {
    let spelled =
        |one: &crate::domain::listing::ListedEffect| format!("{}:{}", one.id, one.references.join(","));
    match &listed.outcome {
        Ok(listing) => Ok(listing.effects().iter().map(spelled).collect()),
        Err(fault) => Err(fault.kind),
    }
}

/// An effect so many minutes old.
fn aged(id: &str, reference: &str, minutes: i64) -> String {
    let created = (FixedClock.now() - TimeDelta::minutes(minutes)).timestamp();
    format!(r#"{{"id":"{id}","reference":"{reference}","status":"succeeded","created":{created}}}"#)
}

/// A server whose page after an id is as the test says; `None` is the first page.
async fn serve(pages: &[(Option<&str>, u16, String)]) -> MockServer {
    let server = MockServer::start().await;
    for (after, status, body) in pages {
        let mock =
            Mock::given(method("GET")).and(path("/v1/charges")).and(query_param_is_missing("reference"));
        let mock = match after {
            Some(id) => mock.and(query_param("after", *id)),
            None => mock.and(query_param_is_missing("after")),
        };
        mock.respond_with(ResponseTemplate::new(*status).set_body_string(body.clone())).mount(&server).await;
    }
    server
}

fn page_of(ids: &str, more: bool) -> String {
    let charges: Vec<String> = ids.split_whitespace().map(|id| charge(id, &format!("r-{id}"))).collect();
    page(&charges, more)
}

#[rstest]
#[case::three_pages(&[(None, 200, page_of("1 2", true)), (Some("2"), 200, page_of("3", true)), (Some("3"), 200, page_of("4", false))],
    Ok("1:r-1 2:r-2 3:r-3 4:r-4"), 3)]
#[case::shifted(&[(None, 200, page_of("1 2", true)), (Some("2"), 200, page_of("2 3", false))], Ok("1:r-1 2:r-2 3:r-3"), 2)]
#[case::nothing(&[(None, 200, page_of("", false))], Ok(""), 1)]
#[case::unknown_page(&[(None, 200, page_of("1", true))], Err(F::Refused), 2)]
#[case::no_such_list(&[], Err(F::Refused), 1)]
#[case::not_allowed(&[(None, 403, page_of("1", false))], Err(F::Refused), 1)]
#[case::moved(&[(None, 302, page_of("1", false))], Err(F::Redirect), 1)]
#[case::empty_where_more_was_said(&[(None, 200, page_of("1", true)), (Some("1"), 200, page_of("", false))], Err(F::Shape), 2)]
#[case::empty_with_more(&[(None, 200, page_of("1", true)), (Some("1"), 200, page_of("", true))], Err(F::Shape), 2)]
#[case::circle(&[(None, 200, page_of("1 2", true)), (Some("2"), 200, page_of("3 2", true))], Err(F::Shape), 2)]
#[case::same_page(&[(None, 200, page_of("1", true)), (Some("1"), 200, page_of("1", true))], Err(F::Shape), 2)]
#[case::too_many(&[(None, 200, page_of("1", true)), (Some("1"), 200, page_of("2", true)), (Some("2"), 200, page_of("3", true))],
    Err(F::TooManyPages), 3)]
#[case::error_in_the_second(&[(None, 200, page_of("1", true)), (Some("1"), 200, r#"{"error":"x","data":[],"more":false}"#.to_owned())],
    Err(F::ErrorInAnswer), 2)]
#[case::half_an_answer(&[(None, 200, r#"{"partial":true,"data":[],"more":false}"#.to_owned())], Err(F::ErrorInAnswer), 1)]
#[case::half_an_answer_with_effects(
    &[(None, 200, format!(r#"{{"partial":true,"data":[{}],"more":false}}"#, charge("1", "r-1")))], Err(F::ErrorInAnswer), 1)]
#[case::not_json(&[(None, 200, "<html>".to_owned())], Err(F::Shape), 1)]
#[case::no_list(&[(None, 200, r#"{"more":false}"#.to_owned())], Err(F::Shape), 1)]
#[case::no_end(&[(None, 200, r#"{"data":[]}"#.to_owned())], Err(F::Shape), 1)]
#[case::no_reference(&[(None, 200, r#"{"data":[{"id":"1","status":"succeeded"}],"more":false}"#.to_owned())], Err(F::Shape), 1)]
#[case::two_references_of_one(
    &[(None, 200, page(&[charge("1", "r-1"), charge("1", "r-2")], false))], Err(F::Shape), 1)]
#[case::too_many_bytes(&[(None, 200, page_of("1", true) + &" ".repeat(16_000)), (Some("1"), 200, page_of("2", false) + &" ".repeat(16_000))],
    Err(F::BodyTooLarge), 2)]
#[tokio::test]
async fn a_list_is_read_whole_or_not_at_all(
    #[case] pages: &[(Option<&str>, u16, String)],
    #[case] expected: Result<&str, F>,
    #[case] asked: usize,
) {
    let server = serve(pages).await;
    let listed = list(&server.uri(), "charge", 100).await;
    let expected = expected.map(|ids| ids.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(shown(&listed), expected);
    let evidence = listed.evidence.unwrap();
    assert_eq!((evidence.asked.len(), evidence.reference), (asked, None));
    let last = evidence.asked.last().unwrap().tries.last().unwrap();
    assert_eq!(last.fault, expected.err(), "a fault stands at the page where it was found");
}

#[tokio::test]
async fn the_window_is_asked_for_and_said() {
    let server = serve(&[(None, 200, page_of("1", false))]).await;
    let listed = list(&server.uri(), "charge", 100).await;
    // Ten minutes earlier: the provider's clock is not ours.
    let begin = from() - TimeDelta::minutes(10);
    assert_eq!(listed.outcome.unwrap().seen_from(), Some(begin));
    let url = &listed.evidence.unwrap().asked[0].url;
    assert!(url.ends_with(&format!("?limit=100&since={}", begin.timestamp())), "{url}");
}

#[tokio::test]
async fn what_is_wrong_with_one_effect_is_the_fault_of_its_reference_alone() {
    let charges = [
        charge("1", "r-1"),
        r#"{"id":"2","reference":"r-2"}"#.to_owned(),
        charge("3", "R-3 "),
        r#"{"id":"4","reference":"r-4","status":"odd"}"#.to_owned(),
    ];
    let server = serve(&[(None, 200, page(&charges, false))]).await;
    let listing = list(&server.uri(), "charge", 100).await.outcome.unwrap();
    for (reference, expected) in [
        ("r-1", Ok(vec!["1:succeeded".to_owned()])),
        ("r-2", Err(F::Shape)),
        ("r-3", Err(F::Shape)),
        ("r-4", Ok(vec!["4:odd".to_owned()])),
        ("r-5", Ok(vec![])),
    ] {
        assert_eq!(told(&listing.answer(reference)), expected, "{reference}");
    }
}

fn good(text: &str) -> Act {
    answer("200 OK", "", text)
}

fn oops() -> Act {
    answer("500 Oops", "", "")
}

/// One row: what the server does, request by request; what the list comes to; how often it was asked.
#[rstest]
#[case::goes_on_after_a_fault_that_passed(
    vec![good(&page_of("1", true)), oops(), oops(), oops(), good(&page_of("2", false))], Ok("1:r-1 2:r-2"), 5)]
#[case::does_not_go_on_for_ever(vec![good(&page_of("1", true)), oops()], Err(F::ServerError), 13)]
#[case::does_not_go_on_before_the_first_page(vec![oops()], Err(F::ServerError), 3)]
#[case::cut_off(vec![good(&page_of("1", true)), answer_of_length(500, &page_of("2", false))], Err(F::CutOff), 13)]
#[case::closed_once(vec![good(&page_of("1", true)), Act::Close, good(&page_of("2", false))], Ok("1:r-1 2:r-2"), 3)]
#[tokio::test]
async fn a_list_goes_on_from_its_last_good_page_or_counts_as_not_read(
    #[case] acts: Vec<Act>,
    #[case] expected: Result<&str, F>,
    #[case] asked: usize,
) {
    let server = Scripted::start(acts).await;
    let listed = list(&server.base, "charge", 100).await;
    let expected = expected.map(|ids| ids.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(shown(&listed), expected);
    assert_eq!(server.requests().len(), asked);
}

#[tokio::test]
async fn a_list_waits_as_long_as_it_is_told_to() {
    let slow = answer("429 Slow", "Retry-After: 0.4\r\n", "");
    let server = Scripted::start(vec![good(&page_of("1", true)), slow, good(&page_of("2", false))]).await;
    let began = Instant::now();
    let listed = list(&server.base, "charge", 100).await;
    assert_eq!(shown(&listed).unwrap().len(), 2);
    assert!(began.elapsed() >= Duration::from_millis(400), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_list_that_tells_of_too_many_pages_is_given_up_at_once() {
    let first = format!(r#"{{"data":[{}],"pages":40}}"#, aged("1", "r-1", 60));
    let server = Scripted::start(vec![good(&first)]).await;
    let listed = list(&server.base, "counted", 39).await;
    assert_eq!(shown(&listed), Err(F::TooManyPages));
    assert_eq!(server.requests().len(), 1);
}

#[rstest]
#[case::in_order(aged("2", "r-2", 60), Ok(2))]
#[case::out_of_order(aged("2", "r-2", 80), Err(F::Shape))]
#[tokio::test]
async fn an_order_that_is_not_kept_is_a_fault(#[case] second: String, #[case] expected: Result<usize, F>) {
    let of = |charge: &str| good(&format!(r#"{{"data":[{charge}],"pages":2}}"#));
    let server = Scripted::start(vec![of(&aged("1", "r-1", 70)), of(&second)]).await;
    let listed = list(&server.base, "counted", 39).await;
    assert_eq!(shown(&listed).map(|shown| shown.len()), expected);
}

#[tokio::test]
async fn the_newest_first_are_read_as_far_as_the_window_goes() {
    let pages = [
        page(&[aged("1", "r-1", 10), aged("2", "r-2", 60)], true),
        page(&[aged("3", "r-3", 119), aged("4", "r-4", 200)], true),
        page(&[aged("5", "r-5", 300)], true),
    ];
    let server = Scripted::start(pages.iter().map(|page| good(page)).collect()).await;
    // It may have no more pages than it needs.
    let listed = list(&server.base, "ordered", 2).await;
    assert_eq!(shown(&listed).unwrap().len(), 4);
    assert_eq!(server.requests().len(), 2);
    assert_eq!(listed.outcome.unwrap().seen_from(), Some(from()));
}

#[tokio::test]
async fn a_secret_that_a_list_shows_is_hidden_or_the_list_does_not_count() {
    let in_id = page(&[charge(&format!("ch_{SECRET}"), "r-1"), charge("2", "r-2")], false);
    let server = serve(&[(None, 200, in_id)]).await;
    let listed = list(&server.uri(), "charge", 100).await;
    assert_eq!(shown(&listed).unwrap().len(), 2);
    assert!(!format!("{:?} {:?}", listed.outcome, listed.evidence).contains(SECRET));
    let server = serve(&[(None, 200, page(&[charge("1", SECRET)], false))]).await;
    let listed = list(&server.uri(), "charge", 100).await;
    assert_eq!(shown(&listed), Err(F::Shape));
    assert!(!format!("{:?} {:?}", listed.outcome, listed.evidence).contains(SECRET));
}

#[tokio::test]
async fn what_cannot_be_listed_says_so() {
    let window = Window { from: None, pages_max: 1, mask: Arc::default() };
    let provider = provider("http://127.0.0.1:1", "list");
    assert_eq!(provider.facts().listing, None);
    let listed = provider.list(&window).await;
    assert!(matches!(listed.outcome, Err(Fault { kind: F::Unanswerable, .. })), "{:?}", listed.outcome);
    assert_eq!(listed.evidence, None);
}

/// The account is another, or the field is misspelt: the list of it shows what is there, and nothing of ours.
#[rstest]
#[case::none(None, 0, true)]
#[case::on_the_list(Some("r-1"), 0, true)]
#[case::found_by_its_look_up(Some("known"), 1, true)]
#[case::not_found(Some("misspelt"), 1, false)]
#[tokio::test]
async fn a_list_counts_only_while_the_canary_is_found(
    #[case] canary: Option<&str>,
    #[case] look_ups: usize,
    #[case] counts: bool,
) {
    let server = serve(&[(None, 200, page_of("1 2", false))]).await;
    let known = page(&[charge("9", "known")], false);
    let of_known = Mock::given(method("GET")).and(query_param("reference", "known"));
    of_known.respond_with(ResponseTemplate::new(200).set_body_string(known)).mount(&server).await;
    let nothing = ResponseTemplate::new(200).set_body_string(page(&[], false));
    Mock::given(method("GET")).respond_with(nothing).with_priority(9).mount(&server).await;
    let mut settings = settings(&server.uri());
    let canary = canary.map(str::to_owned);
    settings.operations.insert("charge".to_owned(), OperationSettings { canary, ..Default::default() });
    let window = Window { from: Some(from()), pages_max: 3, mask: Arc::default() };
    let listed = provider_of(LISTS, &settings, "charge").list(&window).await;
    assert_eq!(shown(&listed).is_ok(), counts, "{:?}", listed.outcome);
    let asked = server.received_requests().await.unwrap();
    let by_reference = asked.iter().filter(|request| request.url.query().unwrap().contains("reference="));
    assert_eq!(by_reference.count(), look_ups);
}
