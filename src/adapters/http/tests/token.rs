//! Tokens given for a client's secret.

use super::server::{Act, Scripted, answer};
use super::*;
use crate::adapters::http::token::token_url;
use pretty_assertions::assert_eq;
use rstest::rstest;

const PAIR: &str = "client-7:pass/word";

fn preset() -> String {
    let auth = "auth = { kind = \"client_credentials\", token_url = \"/oauth/token\", scope = \"cob.read pix.read\" }";
    PRESET.replace("auth = { kind = \"bearer\" }", auth)
}

fn asker(server: &Scripted, operation: &str) -> HttpProvider {
    let mut preset = ProviderPreset::parse(&preset()).unwrap();
    preset.limits.patience.wait_first = Duration::from_millis(5);
    let environment: Environment = Arc::new(|_| Some(PAIR.to_owned()));
    let settings = settings(&server.base);
    let endpoint = Arc::new(Endpoint::build(&preset, &settings, environment).unwrap());
    HttpProvider::build("test", &preset, operation, &settings, endpoint, Arc::new(FixedClock)).unwrap()
}

fn token(text: &str, seconds: &str) -> Act {
    let body = format!(r#"{{"access_token":"{text}","token_type":"bearer","expires_in":{seconds}}}"#);
    answer("200 OK", "", &body)
}

fn nothing() -> Act {
    answer("200 OK", "", r#"{"data":[],"more":false}"#)
}

/// The first line and the authorization of each request.
fn asked(server: &Scripted) -> Vec<(String, String)> {
    let line = |head: &String| {
        let line = head.lines().next().unwrap().replace(" HTTP/1.1", "");
        let own = head.lines().find(|line| line.to_lowercase().starts_with("authorization:")).unwrap();
        (line, own.split_once(": ").unwrap().1.to_owned())
    };
    server.requests().iter().map(line).collect()
}

#[tokio::test]
async fn one_token_is_used_for_all_questions_until_it_ends() {
    let server = Scripted::start(vec![token("tok-1", "3600"), nothing()]).await;
    let asker = asker(&server, "list");
    for _ in 0..3 {
        assert_eq!(told(&asker.ask(&question()).await.answer), Ok(vec![]));
    }
    let question = ("GET /v1/charges?reference=r-1".to_owned(), "Bearer tok-1".to_owned());
    let basic = "Basic Y2xpZW50LTc6cGFzcy93b3Jk".to_owned();
    assert_eq!(
        asked(&server),
        [("POST /oauth/token".to_owned(), basic), question.clone(), question.clone(), question]
    );
    let form = server.requests()[0].clone();
    let is_form = form.to_lowercase().contains("content-type: application/x-www-form-urlencoded\r\n");
    assert!(is_form && form.ends_with("grant_type=client_credentials&scope=cob.read+pix.read"), "{form}");
}

#[tokio::test]
async fn a_token_that_ends_or_is_refused_is_not_used_again() {
    let acts = vec![
        token("tok-1", "0"),
        nothing(),
        token("tok-2", "3600"),
        answer("401 No", "", "{}"),
        token("tok-3", "\"3600\""),
        nothing(),
    ];
    let server = Scripted::start(acts).await;
    let asker = asker(&server, "list");
    let expected = [Ok(vec![]), Err(FaultKind::Refused), Ok(vec![])];
    for expected in expected {
        assert_eq!(told(&asker.ask(&question()).await.answer), expected);
    }
    let tokens: Vec<String> =
        asked(&server).into_iter().map(|(_, who)| who).filter(|who| who.starts_with("Bearer")).collect();
    assert_eq!(tokens, ["Bearer tok-1", "Bearer tok-2", "Bearer tok-3"]);
}

#[rstest]
#[case::refused(answer("401 No", "", r#"{"error":"invalid_client"}"#), FaultKind::Refused)]
#[case::slow_down(answer("429 Slow", "", ""), FaultKind::RateLimited)]
#[case::fails(answer("503 Oops", "", ""), FaultKind::ServerError)]
#[case::elsewhere(answer("302 Found", "Location: /login\r\n", ""), FaultKind::Redirect)]
#[case::no_json(answer("200 OK", "", "<html>"), FaultKind::Shape)]
#[case::no_token(answer("200 OK", "", r#"{"token_type":"bearer"}"#), FaultKind::Shape)]
#[case::other_kind(answer("200 OK", "", r#"{"access_token":"x","token_type":"mac"}"#), FaultKind::Shape)]
#[case::closes(Act::Close, FaultKind::CutOff)]
#[tokio::test]
async fn without_a_token_nothing_is_asked_and_nothing_is_known(#[case] act: Act, #[case] kind: FaultKind) {
    let server = Scripted::start(vec![act, nothing()]).await;
    let answered = asker(&server, "list").ask(&question()).await;
    assert_eq!(told(&answered.answer), Err(kind));
    assert_eq!(server.requests().len(), 1);
    assert_eq!(answered.evidence.asked.len(), 0, "the question itself never left");
}

#[tokio::test]
async fn an_echoed_token_is_in_no_record() {
    let echo = answer("200 OK", "", r#"{"error":"bad token tok-secret-1"}"#);
    let server = Scripted::start(vec![token("tok-secret-1", "3600"), echo]).await;
    let answered = asker(&server, "list").ask(&question()).await;
    let record = format!("{:?} {:?}", answered.evidence, answered.answer);
    assert!(!record.contains("tok-secret-1"), "{record}");
    assert_eq!(told(&answered.answer), Err(FaultKind::ErrorInAnswer));
}

#[rstest]
#[case::path("/oauth/token", Ok("https://psp.test/oauth/token"))]
#[case::elsewhere("https://login.psp.test/token", Ok("https://login.psp.test/token"))]
#[case::in_the_clear("http://login.psp.test/token", Err("must begin with https://"))]
#[case::password("https://u:p@psp.test/token", Err("hold no user or password"))]
#[case::nothing("oauth", Err("is no URL"))]
#[case::other_host("//evil.test/token", Ok("https://evil.test/token"))]
fn the_secret_goes_nowhere_in_the_clear(#[case] text: &str, #[case] expected: Result<&str, &str>) {
    let base = Url::parse("https://psp.test/pix/v2").unwrap();
    match (token_url(&base, text), expected) {
        (Ok(url), Ok(expected)) => assert_eq!(url.as_str(), expected),
        (Err(sentence), Err(expected)) => assert!(sentence.contains(expected), "{sentence}"),
        (found, _) => panic!("{found:?}"),
    }
}
