//! What is asked for beside our own reference, before an absence counts.

use super::*;
use crate::domain::evidence::FaultKind as F;
use pretty_assertions::assert_eq;
use rstest::rstest;
use wiremock::matchers::{method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

const STORE: &str = r#"
type = "provider"
name = "test"
title = "Test"
pace_per_second = 1000
auth = { kind = "bearer" }
limits = { tries_max = 1 }
variables = { bucket = "the bucket" }

[operations.object]
settle = "1m"
lookback = "unlimited"
method = "HEAD"
path = "/{{ vars.bucket }}/{{ reference }}"
absence = "status_404"
absence_confirm = { path = "/{{ vars.bucket }}", query = { location = "yes" }, success = [{ path = "$.here", equals = true }] }
effects = { one = "$", id = "$.headers.etag", reference_in_address = true, status_fixed = "stored" }
statuses = { happened = ["stored"] }
paging = { kind = "none" }

[operations.bare]
settle = "1m"
lookback = "unlimited"
method = "HEAD"
path = "/{{ vars.bucket }}/{{ reference }}"
absence = "status_404"
effects = { one = "$", id = "$.headers.etag", reference_in_address = true, status_fixed = "stored" }
statuses = { happened = ["stored"] }
paging = { kind = "none" }

[operations.list]
settle = "1m"
lookback = "30d"
path = "/list"
query = { by = "{{ reference }}" }
window = { since = "{{ from_epoch_s }}" }
effects = { list = "$", id = "$.id", reference = "$.reference", status = "$.status" }
statuses = { happened = ["succeeded"] }
paging = { kind = "none" }
"#;

fn asker(server: &MockServer, operation: &str, canary: Option<&str>) -> HttpProvider {
    let mut settings = settings(&server.uri());
    settings.variables.insert("bucket".to_owned(), "b".to_owned());
    let own = crate::preset::provider::OperationSettings {
        canary: canary.map(str::to_owned),
        ..Default::default()
    };
    settings.operations.insert(operation.to_owned(), own);
    provider_of(STORE, &settings, operation)
}

/// A store that has `there`, and whose bucket answers as the test says.
async fn store(bucket: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    let there = ResponseTemplate::new(200).insert_header("etag", "e-1");
    for name in ["there", "known"] {
        let at = Mock::given(method("HEAD")).and(path(format!("/b/{name}")));
        at.respond_with(there.clone()).mount(&server).await;
    }
    let of_bucket = Mock::given(method("GET")).and(path("/b")).and(query_param("location", "yes"));
    of_bucket.respond_with(bucket).mount(&server).await;
    server
}

fn asked_for(reference: &str) -> Question {
    Question { reference: reference.to_owned(), ..question() }
}

fn said(status: u16, body: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_string(body)
}

#[rstest]
#[case::there(said(200, r#"{"here":true}"#), Ok(()))]
#[case::not_there(said(404, r#"{"here":true}"#), Err(F::Refused))]
#[case::not_ours_to_see(said(403, ""), Err(F::Refused))]
#[case::broken(said(500, ""), Err(F::ServerError))]
#[case::elsewhere(said(301, ""), Err(F::Redirect))]
#[case::another_answer(said(200, r#"{"here":false}"#), Err(F::Refused))]
#[case::no_json(said(200, "<html>"), Err(F::Shape))]
#[tokio::test]
async fn a_404_counts_only_where_what_holds_it_is_there(
    #[case] bucket: ResponseTemplate,
    #[case] expected: Result<(), F>,
) {
    let server = store(bucket).await;
    let object = asker(&server, "object", None);
    let absent = object.ask(&asked_for("gone")).await;
    assert_eq!(told(&absent.answer), expected.map(|()| Vec::new()));
    let asked: Vec<_> = absent.evidence.asked.iter().map(|asked| &asked.method[..]).collect();
    assert_eq!(asked, ["HEAD", "GET"], "both are evidence");
    if let (Err(kind), Answer::Fault(fault)) = (expected, &absent.answer) {
        assert!(
            fault.detail.starts_with("nothing is at our own address, and what holds it cannot be seen: "),
            "{fault}"
        );
        assert_eq!(absent.evidence.asked[1].tries[0].fault, Some(kind));
    }
    // What is there needs nothing else.
    let there = object.ask(&asked_for("there")).await;
    assert_eq!((told(&there.answer), there.evidence.asked.len()), (Ok(vec!["e-1:stored".to_owned()]), 1));
}

#[rstest]
#[case::none(None, Ok(()), 1)]
#[case::found(Some("known"), Ok(()), 2)]
#[case::not_found(Some("misspelt"), Err(F::Shape), 2)]
#[tokio::test]
async fn an_absence_counts_only_while_the_canary_is_found(
    #[case] canary: Option<&str>,
    #[case] expected: Result<(), F>,
    #[case] requests: usize,
) {
    let server = store(said(200, "")).await;
    let absent = asker(&server, "bare", canary).ask(&asked_for("gone")).await;
    assert_eq!(told(&absent.answer), expected.map(|()| Vec::new()));
    assert_eq!(absent.evidence.asked.len(), requests);
}

/// A filter that is misspelt finds nothing for anybody.
#[tokio::test]
async fn a_canary_shows_a_filter_that_finds_nothing() {
    let server = MockServer::start().await;
    let known = format!("[{}]", charge("1", "known"));
    let from_ever = wiremock::matchers::query_param_is_missing("since");
    let finds = Mock::given(query_param("by", "known")).and(from_ever);
    finds.respond_with(said(200, &known)).mount(&server).await;
    Mock::given(path("/list")).respond_with(said(200, "[]")).with_priority(9).mount(&server).await;
    // However long ago the canary was made: it is asked for without a window.
    let question = Question { from: Some(FixedClock.now()), ..question() };
    let good = asker(&server, "list", Some("known")).ask(&question).await;
    assert_eq!(told(&good.answer), Ok(Vec::new()));
    let bad = asker(&server, "list", Some("knwon")).ask(&question).await;
    let Answer::Fault(fault) = &bad.answer else { panic!("{bad:?}") };
    let sentence =
        "nothing was found, and neither is the canary `knwon`: is what the look-up asks by spelled right?";
    assert_eq!((fault.kind, &fault.detail[..]), (F::Shape, sentence));
    let own = asker(&server, "list", Some("r-1")).ask(&question).await;
    assert_eq!(
        (told(&own.answer), own.evidence.asked.len()),
        (Ok(Vec::new()), 1),
        "nobody vouches for itself"
    );
}
