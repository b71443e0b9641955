use super::server::Scripted;
use super::*;
use crate::domain::evidence::FaultKind as F;
use pretty_assertions::assert_eq;
use rstest::rstest;
use wiremock::matchers::{method, path, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// A server whose page after an id is as the test says; `None` is the first page.
async fn serve(pages: &[(Option<&str>, u16, String)]) -> MockServer {
    let server = MockServer::start().await;
    for (after, status, body) in pages {
        let mock = Mock::given(method("GET")).and(path("/v1/charges"));
        let mock = match after {
            Some(id) => mock.and(query_param("after", *id)),
            None => mock.and(query_param_is_missing("after")),
        };
        mock.respond_with(ResponseTemplate::new(*status).set_body_string(body.clone())).mount(&server).await;
    }
    server
}

fn pages(
    raw: &[(Option<&'static str>, u16, &'static str, bool)],
) -> Vec<(Option<&'static str>, u16, String)> {
    let charges = |ids: &str| -> Vec<String> {
        ids.split_whitespace()
            .map(|id| if id.starts_with('x') { charge(id, "other") } else { charge(id, "r-1") })
            .collect()
    };
    raw.iter().map(|(after, status, ids, more)| (*after, *status, page(&charges(ids), *more))).collect()
}

#[rstest]
#[case::three_pages(&[(None, 200, "1 x2", true), (Some("x2"), 200, "x3", true), (Some("x3"), 200, "4", false)], Ok("1 4"), 3)]
#[case::shifted(&[(None, 200, "1 2", true), (Some("2"), 200, "2 3", false)], Ok("1 2 3"), 2)]
#[case::missing_page(&[(None, 200, "1", true), (Some("1"), 500, "", false)], Err(F::ServerError), 2)]
#[case::unknown_page(&[(None, 200, "1", true)], Err(F::Refused), 2)]
#[case::empty_with_more(&[(None, 200, "1", true), (Some("1"), 200, "", true)], Err(F::Shape), 2)]
#[case::circle(&[(None, 200, "1 2", true), (Some("2"), 200, "3 2", true)], Err(F::Shape), 2)]
#[case::same_page(&[(None, 200, "1", true), (Some("1"), 200, "1", true)], Err(F::Shape), 2)]
#[case::too_many(&[(None, 200, "1", true), (Some("1"), 200, "2", true), (Some("2"), 200, "3", true)], Err(F::TooManyPages), 3)]
#[tokio::test]
async fn every_page_is_read_or_nothing_counts(
    #[case] raw: &[(Option<&'static str>, u16, &'static str, bool)],
    #[case] expected: Result<&str, F>,
    #[case] asked: usize,
) {
    let server = serve(&pages(raw)).await;
    let answered = provider(&server.uri(), "list").ask(&question()).await;
    let expected = expected.map(|ids| ids.split(' ').map(|id| format!("{id}:succeeded")).collect::<Vec<_>>());
    assert_eq!(told(&answered.answer), expected);
    assert_eq!(answered.evidence.asked.len(), asked);
    // A fault that the pages make together stands at the page where it was found.
    if let Err(kind) = told(&answered.answer) {
        assert_eq!(answered.evidence.asked.last().unwrap().tries.last().unwrap().fault, Some(kind));
    }
}

#[tokio::test]
async fn an_address_of_the_next_page_is_followed_on_the_same_host_only() {
    let trap = Scripted::start(vec![server::answer("200 OK", "", r#"{"data":[],"next":null}"#)]).await;
    for (next, expected, asked) in [
        ("/v1/charges?page=2".to_owned(), Ok(vec!["1:succeeded".to_owned(), "2:succeeded".to_owned()]), 2),
        (format!("{}/v1/charges", trap.base), Err(F::Redirect), 1),
        ("//elsewhere.invalid/".to_owned(), Err(F::Redirect), 1),
    ] {
        let server = MockServer::start().await;
        let body = |id: &str, next: &str| format!(r#"{{"data":[{}],"next":{next}}}"#, charge(id, "r-1"));
        let respond = |text: String| ResponseTemplate::new(200).set_body_string(text);
        let first = Mock::given(query_param_is_missing("page"));
        first.respond_with(respond(body("1", &format!("\"{next}\"")))).mount(&server).await;
        Mock::given(query_param("page", "2")).respond_with(respond(body("2", "null"))).mount(&server).await;
        let answered = provider(&server.uri(), "urls").ask(&question()).await;
        assert_eq!(told(&answered.answer), expected, "{next}");
        assert_eq!(answered.evidence.asked.len(), asked);
    }
    assert_eq!(trap.requests(), Vec::<String>::new(), "the secret never went there");
}
