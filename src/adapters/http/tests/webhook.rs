use super::server::{Act, Scripted, answer};
use super::{SECRET, environment};
use crate::adapters::http::Webhook;
use crate::domain::evidence::Hindrance;
use crate::ports::escalation::{Escalation, NotTaken, Notice, NoticeEffect};
use crate::ports::source::Health;
use crate::preset::provider::SecretPlace;
use crate::preset::webhook::WebhookSettings;
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::net::TcpListener;
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

pub(super) fn notice() -> Notice {
    Notice {
        dedup_key: "unstuck/jobs/inv-1/stuck".to_owned(),
        source: "jobs".to_owned(),
        key: "inv-1".to_owned(),
        kind: "charge".to_owned(),
        status: "running".to_owned(),
        finding: "stuck".to_owned(),
        verdict: "happened".to_owned(),
        provider: "ledger.charge".to_owned(),
        reference: "charge-inv-1".to_owned(),
        reasons: vec!["The provider has 2 effects that happened.".to_owned()],
        effects_count: 2,
        effect_ids: vec!["ch_1".to_owned(), "ch_2".to_owned()],
        effects: ["ch_1", "ch_2"].map(effect).to_vec(),
        operator: "ana".to_owned(),
        reason: "says \"done\"".to_owned(),
        audit: 7,
    }
}

fn effect(id: &str) -> NoticeEffect {
    NoticeEffect {
        id: id.to_owned(),
        status: "succeeded".to_owned(),
        state: "happened".to_owned(),
        amount: Some("10.50".to_owned()),
        currency: Some("EUR".to_owned()),
        at: Some("2026-11-29T14:02:05Z".to_owned()),
        link: Some(format!("https://pay.test/{id}")),
    }
}

fn webhook(url: &str) -> WebhookSettings {
    WebhookSettings { request_max: Duration::from_millis(500), ..WebhookSettings::new(url).unwrap() }
}

async fn send(settings: WebhookSettings) -> Result<String, String> {
    send_and_tell(settings).await.map_err(|fault| fault.why)
}

async fn send_and_tell(settings: WebhookSettings) -> Result<String, NotTaken> {
    Webhook::build(settings, environment()).unwrap().send(&notice()).await
}

#[tokio::test]
async fn a_notice_is_sent_whole_with_its_key() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/hook"))
        .and(header("Idempotency-Key", "unstuck/jobs/inv-1/stuck"))
        .respond_with(ResponseTemplate::new(202))
        .expect(1)
        .mount(&server)
        .await;
    let sent = send(webhook(&format!("{}/hook", server.uri()))).await;
    assert_eq!(sent, Ok("the webhook answered 202".to_owned()));
    let body: Value = server.received_requests().await.unwrap()[0].body_json().unwrap();
    assert_eq!(body["effect_ids"], json!(["ch_1", "ch_2"]));
    assert_eq!(body["reason"], "says \"done\"");
    // Everything that somebody needs who has to undo one of the two.
    let told = json!({
        "id": "ch_2", "status": "succeeded", "state": "happened", "amount": "10.50", "currency": "EUR",
        "at": "2026-11-29T14:02:05Z", "link": "https://pay.test/ch_2",
    });
    assert_eq!((&body["effects"][1], &body["effects_count"]), (&told, &json!(2)));
    assert_eq!((&body["provider"], &body["reference"]), (&json!("ledger.charge"), &json!("charge-inv-1")));
}

#[tokio::test]
async fn what_would_be_sent_is_shown_without_the_secret_and_sends_nothing() {
    let server = MockServer::start().await;
    let mut settings = webhook(&format!("{}/{{{{ secret }}}}", server.uri()))
        .with_headers(&BTreeMap::from([("Authorization".to_owned(), "Bearer {{ secret }}".to_owned())]))
        .unwrap();
    settings.secret = Some(SecretPlace::Env("TEST_SECRET".to_owned()));
    let hook = Webhook::build(settings, environment()).unwrap();
    let shown = hook.shown(&notice()).unwrap();
    assert_eq!(shown.headers[1], ("Idempotency-Key".to_owned(), "unstuck/jobs/inv-1/stuck".to_owned()));
    assert!(!format!("{shown:?}").contains(SECRET));
    assert_eq!(hook.examine().await.health, Health::Doubtful);
    assert_eq!(server.received_requests().await.unwrap().len(), 0);
}

#[tokio::test]
async fn address_headers_and_body_are_templates_and_the_secret_is_not_shown() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(400).set_body_string(format!("bad {SECRET}")))
        .mount(&server)
        .await;
    let mut settings = webhook(&format!("{}/{{{{ kind }}}}?key={{{{ secret | urlencode }}}}", server.uri()))
        .with_headers(&BTreeMap::from([("X-Key".to_owned(), "Token {{ secret }}".to_owned())]))
        .unwrap()
        .with_body(
            &toml::from_str("routing_key = '{{ secret }}'\nevent = { text = '{{ summary }}: {{ reason }}' }")
                .unwrap(),
        )
        .unwrap();
    settings.secret = Some(SecretPlace::Env("TEST_SECRET".to_owned()));
    let hook = Webhook::build(settings, environment()).unwrap();
    let sentence = hook.send(&notice()).await.unwrap_err().why;
    assert_eq!(sentence, "the webhook answered 400 (bad ••••); it was not taken");
    assert_eq!(hook.place(), server.uri());
    let request = server.received_requests().await.unwrap().remove(0);
    assert_eq!(request.url.path(), "/charge");
    assert_eq!(request.headers["x-key"], format!("Token {SECRET}").as_str());
    let body: Value = request.body_json().unwrap();
    assert_eq!(body["routing_key"], SECRET);
    assert_eq!(body["event"]["text"], "jobs inv-1 is stuck: happened: says \"done\"");
}

#[rstest]
#[case::redirect(answer("302 Found", "Location: /other\r\n", ""), "pointing elsewhere; it was not taken")]
#[case::turned_away(
    answer("422 No", "", "{\"error\":\"text\"}"),
    "answered 422 ({\"error\":\"text\"}); it was not taken"
)]
#[case::limited(answer("429 Slow", "", ""), "answered 429; it was not taken")]
#[case::failed(answer("500 Oops", "", ""), "answered 500; it may have arrived")]
#[case::closed(Act::Close, "it may have arrived")]
#[case::silent(Act::SayAndHang(Vec::new()), "no whole answer within 0.5 s; it may have arrived")]
#[tokio::test]
async fn what_went_wrong_says_whether_it_may_have_arrived_and_is_sent_once(
    #[case] act: Act,
    #[case] ending: &str,
) {
    let server = Scripted::start(vec![act]).await;
    let sentence = send(webhook(&server.base)).await.unwrap_err();
    assert!(sentence.ends_with(ending), "{sentence}");
    assert_eq!(server.requests().len(), 1);
}

/// What decides the exit code: 3 where nobody answered as somebody who works, 2 where a secret is missing.
#[rstest]
#[case::turned_away(answer("422 No", "", ""), None)]
#[case::limited(answer("429 Slow", "", ""), Some(Hindrance::Unreachable))]
#[case::failed(answer("500 Oops", "", ""), Some(Hindrance::Unreachable))]
#[case::closed(Act::Close, Some(Hindrance::Unreachable))]
#[case::silent(Act::SayAndHang(Vec::new()), Some(Hindrance::Unreachable))]
#[tokio::test]
async fn what_stood_in_the_way_is_told_apart_from_a_no(
    #[case] act: Act,
    #[case] expected: Option<Hindrance>,
) {
    let server = Scripted::start(vec![act]).await;
    assert_eq!(send_and_tell(webhook(&server.base)).await.unwrap_err().hindrance, expected);
    let mut without_secret = webhook(&format!("{}/{{{{ secret }}}}", server.base));
    without_secret.secret = Some(SecretPlace::Env("NOT_SET".to_owned()));
    assert_eq!(send_and_tell(without_secret).await.unwrap_err().hindrance, Some(Hindrance::Misconfigured));
}

#[tokio::test]
async fn a_taken_notice_is_taken_even_if_the_answer_breaks_off() {
    let server = Scripted::start(vec![super::server::answer_of_length(500, "ok")]).await;
    assert_eq!(send(webhook(&server.base)).await, Ok("the webhook answered 200".to_owned()));
}

#[tokio::test]
async fn what_never_left_surely_did_not_arrive() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let sentence = send(webhook(&base)).await.unwrap_err();
    assert!(sentence.ends_with("it surely did not arrive"), "{sentence}");
    let mut settings = webhook(&format!("{base}/{{{{ secret }}}}"));
    settings.secret = Some(SecretPlace::Env("NOT_SET".to_owned()));
    let sentence = send(settings).await.unwrap_err();
    assert!(sentence.contains("$NOT_SET") && sentence.ends_with("nothing was sent"), "{sentence}");
}

#[rstest]
#[case::template_host("https://{{ key }}.test/")]
#[case::user("https://u:p@hook.test/")]
#[case::scheme("ftp://hook.test/")]
fn an_items_field_never_decides_where_a_notice_goes(#[case] url: &str) {
    assert!(WebhookSettings::new(url).is_err());
}
