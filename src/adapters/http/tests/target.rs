//! Every built-in escalation preset against a server on this machine, whose answers follow the published schemas.

use super::server::{Act, Scripted, answer};
use super::webhook::notice;
use super::{FixedClock, SECRET, environment};
use crate::adapters::http::Target;
use crate::ports::escalation::Escalation;
use crate::ports::source::Health;
use crate::preset::catalogue::Catalogue;
use crate::preset::provider::{ProviderSettings, SecretPlace};
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const KEY: &str = "unstuck/jobs/inv-1/stuck";

/// One target: how it is configured, and what it answers.
struct Case {
    preset: &'static str,
    variables: &'static [(&'static str, &'static str)],
    /// What a look-up answers that has nothing; `None` where none is asked before.
    nothing: Option<Value>,
    /// What one answers that has the key.
    there: Value,
    /// How it says that it took one.
    taken: (&'static str, Value),
    told: &'static str,
    told_there: &'static str,
    line: &'static str,
    /// What must stand where in the body.
    body: Vec<(&'static str, Value)>,
    header: (&'static str, String),
}

fn case(preset: &str) -> Case {
    let basic = |user: &str| {
        use base64::Engine;
        format!("Basic {}", base64::prelude::BASE64_STANDARD.encode(format!("{user}:{SECRET}")))
    };
    match preset {
        "pagerduty_events" => Case {
            preset: "pagerduty_events",
            variables: &[],
            nothing: None,
            there: Value::Null,
            taken: (
                "202 Accepted",
                json!({"status": "success", "message": "Event processed", "dedup_key": KEY}),
            ),
            told: "PagerDuty (Events API v2) answered 202 unstuck/jobs/inv-1/stuck",
            told_there: "",
            line: "POST /v2/enqueue HTTP/1.1",
            body: vec![
                ("/routing_key", json!(SECRET)),
                ("/event_action", json!("trigger")),
                ("/dedup_key", json!(KEY)),
                ("/payload/summary", json!("jobs inv-1 is stuck: happened")),
                ("/payload/source", json!("jobs")),
                ("/payload/severity", json!("error")),
                ("/payload/custom_details/reason", json!("says \"done\"")),
                (
                    "/payload/custom_details/effects",
                    json!(
                        "ch_1 succeeded (happened), 10.50 EUR, 2026-11-29T14:02:05Z, https://pay.test/ch_1\n\
                         ch_2 succeeded (happened), 10.50 EUR, 2026-11-29T14:02:05Z, https://pay.test/ch_2"
                    ),
                ),
            ],
            header: ("content-type", "application/json".to_owned()),
        },
        "opsgenie_alert" => Case {
            preset: "opsgenie_alert",
            variables: &[],
            nothing: None,
            there: Value::Null,
            taken: (
                "202 Accepted",
                json!({"result": "Request will be processed", "took": 0.302, "requestId": "43a29c5c"}),
            ),
            told: "Opsgenie (alerts) answered 202 43a29c5c",
            told_there: "",
            line: "POST /v2/alerts HTTP/1.1",
            body: vec![
                ("/alias", json!(KEY)),
                ("/message", json!("jobs inv-1 is stuck: happened")),
                ("/priority", json!("P2")),
                ("/tags", json!(["unstuck", "stuck"])),
                ("/details/reference", json!("charge-inv-1")),
            ],
            header: ("authorization", format!("GenieKey {SECRET}")),
        },
        "slack_message" => Case {
            preset: "slack_message",
            variables: &[("channel", "C0123ABCD")],
            nothing: Some(json!({"ok": true, "has_more": false, "messages": [
                {"type": "message", "text": "hello", "ts": "1795960865.000200"},
            ]})),
            there: json!({"ok": true, "has_more": false, "messages": [
                {"type": "message", "text": "hello", "ts": "1795960865.000200"},
                {"type": "message", "ts": "1795960925.000200", "metadata": {
                    "event_type": "unstuck_escalation", "event_payload": {"dedup_key": KEY, "audit": "7"},
                }},
            ]}),
            taken: ("200 OK", json!({"ok": true, "channel": "C0123ABCD", "ts": "1795960999.000100"})),
            told: "Slack (a message in a channel) answered 200 1795960999.000100",
            told_there: "Slack (a message in a channel) has it already: 1795960925.000200; nothing was sent again",
            line: "POST /chat.postMessage HTTP/1.1",
            body: vec![
                ("/channel", json!("C0123ABCD")),
                ("/text", json!("jobs inv-1 is stuck: happened")),
                ("/metadata/event_type", json!("unstuck_escalation")),
                ("/metadata/event_payload/dedup_key", json!(KEY)),
                ("/blocks/1/text/type", json!("plain_text")),
            ],
            header: ("authorization", format!("Bearer {SECRET}")),
        },
        "jira_issue" => Case {
            preset: "jira_issue",
            variables: &[("email", "ana@example.com"), ("project", "OPS"), ("issue_type", "Task")],
            nothing: Some(json!({"issues": [], "isLast": true})),
            there: json!({"isLast": true, "issues": [
                {"id": "10000", "key": "OPS-24", "fields": {"labels": ["unstuck", KEY]}},
            ]}),
            taken: ("201 Created", json!({"id": "10001", "key": "OPS-25", "self": "https://x.test/10001"})),
            told: "Jira Cloud (an issue) answered 201 OPS-25 BASE/browse/OPS-25",
            told_there: "Jira Cloud (an issue) has it already: OPS-24; nothing was sent again",
            line: "POST /rest/api/3/issue HTTP/1.1",
            body: vec![
                ("/fields/project", json!({"key": "OPS"})),
                ("/fields/issuetype", json!({"name": "Task"})),
                ("/fields/labels", json!([KEY, "unstuck"])),
                ("/fields/summary", json!("jobs inv-1 is stuck: happened")),
                ("/fields/description/type", json!("doc")),
                ("/fields/description/version", json!(1)),
                ("/fields/description/content/0/type", json!("codeBlock")),
            ],
            header: ("authorization", basic("ana@example.com")),
        },
        _ => Case {
            preset: "zendesk_ticket",
            variables: &[("email", "ana@example.com")],
            nothing: Some(json!({"tickets": [], "next_page": null, "count": 0})),
            there: json!({"next_page": null, "count": 1, "tickets": [{"id": 35436, "external_id": KEY}]}),
            taken: ("201 Created", json!({"ticket": {"id": 35437, "external_id": KEY, "status": "new"}})),
            told: "Zendesk (a ticket) answered 201 35437 BASE/agent/tickets/35437",
            told_there: "Zendesk (a ticket) has it already: 35436; nothing was sent again",
            line: "POST /api/v2/tickets HTTP/1.1",
            body: vec![
                ("/ticket/external_id", json!(KEY)),
                ("/ticket/subject", json!("jobs inv-1 is stuck: happened")),
                ("/ticket/comment/public", json!(false)),
            ],
            header: ("idempotency-key", KEY.to_owned()),
        },
    }
}

fn target(case: &Case, base: &str) -> Target {
    let catalogue = Catalogue::new(&[]).unwrap();
    let mut preset = (*catalogue.escalations[case.preset]).clone();
    preset.target.limits.request_max = Duration::from_millis(500);
    preset.target.limits.patience.tries_max = 1;
    preset.target.pace_per_second = 1_000.0;
    let mut settings = ProviderSettings::new(base.parse().unwrap());
    settings.secret = Some(SecretPlace::Env("TEST_SECRET".to_owned()));
    settings.variables =
        case.variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    Target::build(Arc::new(preset), &settings, environment(), Arc::new(FixedClock)).unwrap()
}

fn say(status: &str, body: &Value) -> Act {
    answer(status, "Content-Type: application/json\r\n", &body.to_string())
}

/// What was sent, as line, headers and body.
fn parts(request: &str) -> (String, BTreeMap<String, String>, Value) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let line = lines.next().unwrap().to_owned();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    (line, headers, serde_json::from_str(body).unwrap_or_default())
}

#[rstest]
#[tokio::test]
async fn each_target_gets_what_its_api_wants_and_a_repeat_carries_the_same_key(
    #[values("pagerduty_events", "opsgenie_alert", "slack_message", "jira_issue", "zendesk_ticket")]
    preset: &str,
) {
    let case = case(preset);
    let mut once: Vec<Act> = case.nothing.iter().map(|nothing| say("200 OK", nothing)).collect();
    once.push(say(case.taken.0, &case.taken.1));
    let mut acts = Vec::new();
    for _ in 0..2 {
        acts.extend(case.nothing.iter().map(|nothing| say("200 OK", nothing)));
        acts.push(say(case.taken.0, &case.taken.1));
    }
    assert_eq!(acts.len(), once.len() * 2);
    let server = Scripted::start(acts).await;
    // Whoever escalates again after a crash is another process with the same row.
    for _ in 0..2 {
        let sent = target(&case, &server.base).send(&notice()).await;
        assert_eq!(sent, Ok(case.told.replace("BASE", server.base.trim_end_matches('/'))));
    }
    let requests = server.requests();
    assert_eq!(requests.len(), once.len() * 2);
    let posts: Vec<_> = requests.iter().filter(|request| request.starts_with("POST ")).collect();
    assert_eq!(posts.len(), 2);
    for post in posts {
        let (line, headers, body) = parts(post);
        assert_eq!(line, case.line);
        assert_eq!(headers[case.header.0], case.header.1);
        for (pointer, expected) in &case.body {
            assert_eq!(body.pointer(pointer), Some(expected), "{pointer} in {body}");
        }
        // Whoever has to refund one of the two finds both, with what they are worth.
        let text = body.to_string();
        for fact in ["ch_1", "ch_2", "10.50 EUR", "2026-11-29T14:02:05Z", "https://pay.test/ch_2"] {
            assert!(text.contains(fact), "{fact} in {text}");
        }
    }
}

#[rstest]
#[tokio::test]
async fn what_is_there_already_is_not_sent_again(
    #[values("slack_message", "jira_issue", "zendesk_ticket")] preset: &str,
) {
    let case = case(preset);
    let server = Scripted::start(vec![say("200 OK", &case.there)]).await;
    let sent = target(&case, &server.base).send(&notice()).await;
    assert_eq!(sent, Ok(case.told_there.to_owned()));
    assert!(server.requests().iter().all(|request| request.starts_with("GET ")));
}

#[rstest]
#[case::refused(say("401 No", &json!({"error": "no"})))]
#[case::failed(answer("500 Oops", "", ""))]
#[case::limited(answer("429 Slow", "", ""))]
#[case::redirect(answer("302 Found", "Location: /other\r\n", ""))]
#[case::web_page(answer("200 OK", "", "<html>sign in</html>"))]
#[case::closed(Act::Close)]
#[tokio::test]
async fn a_look_up_that_says_nothing_sends_nothing(
    #[case] act: Act,
    #[values("slack_message", "jira_issue", "zendesk_ticket")] preset: &str,
) {
    let server = Scripted::start(vec![act]).await;
    let sentence = target(&case(preset), &server.base).send(&notice()).await.unwrap_err().why;
    assert!(sentence.starts_with("whether it is there already could not be asked"), "{sentence}");
    assert!(sentence.ends_with("nothing was sent"), "{sentence}");
    assert_eq!(server.requests().iter().filter(|request| request.starts_with("POST")).count(), 0);
}

#[rstest]
#[case::redirect(answer("302 Found", "Location: /other\r\n", ""), "pointing elsewhere; it was not taken")]
#[case::turned_away(answer("400 No", "", &format!("bad {SECRET}")), "answered 400 (bad ••••); it was not taken")]
#[case::limited(answer("429 Slow", "", ""), "answered 429; it was not taken")]
#[case::conflict(answer("409 No", "", ""), "answered 409; it may have arrived")]
#[case::failed(answer("503 Oops", "", ""), "answered 503; it may have arrived")]
#[case::another_success(answer("204 No Content", "", ""), "answered 204; it may have arrived")]
#[case::closed(Act::Close, "it may have arrived")]
#[case::silent(Act::SayAndHang(Vec::new()), "no whole answer within 0.5 s; it may have arrived")]
#[tokio::test]
async fn what_went_wrong_says_whether_it_may_have_arrived_and_is_sent_once(
    #[case] act: Act,
    #[case] ending: &str,
    #[values("pagerduty_events", "opsgenie_alert", "slack_message", "jira_issue", "zendesk_ticket")]
    preset: &str,
) {
    let case = case(preset);
    let mut acts: Vec<Act> = case.nothing.iter().map(|nothing| say("200 OK", nothing)).collect();
    acts.push(act);
    let server = Scripted::start(acts).await;
    let sentence = target(&case, &server.base).send(&notice()).await.unwrap_err().why;
    assert!(sentence.ends_with(ending), "{sentence}");
    assert!(!sentence.contains(SECRET), "{sentence}");
    assert_eq!(server.requests().iter().filter(|request| request.starts_with("POST")).count(), 1);
}

#[rstest]
#[case::says_no("slack_message", "200 OK", r#"{"ok":false,"error":"channel_not_found"}"#)]
#[case::says_nothing("slack_message", "200 OK", "<html>")]
#[case::other_status("pagerduty_events", "202 Accepted", r#"{"status":"invalid event"}"#)]
#[case::twice("pagerduty_events", "202 Accepted", "[]")]
#[tokio::test]
async fn a_success_that_says_that_it_is_none_is_none(
    #[case] preset: &str,
    #[case] status: &str,
    #[case] body: &str,
) {
    let case = case(preset);
    let mut acts: Vec<Act> = case.nothing.iter().map(|nothing| say("200 OK", nothing)).collect();
    acts.push(answer(status, "", body));
    let server = Scripted::start(acts).await;
    let sentence = target(&case, &server.base).send(&notice()).await.unwrap_err().why;
    assert!(
        sentence.contains("is not as it must be") && sentence.ends_with("it may have arrived"),
        "{sentence}"
    );
}

#[tokio::test]
async fn hostile_data_stays_data() {
    let mut hostile = notice();
    hostile.key = "x\",\"routing_key\":\"mine\u{1b}[2J <!channel> & {{ secret }}".to_owned();
    hostile.reason = "<https://evil.test|click>\u{202e}".to_owned();
    let case = case("slack_message");
    let taken = json!({"ok": true, "ts": format!("1\u{1b}[2J{SECRET}")});
    let server =
        Scripted::start(vec![say("200 OK", case.nothing.as_ref().unwrap()), say("200 OK", &taken)]).await;
    let told = target(&case, &server.base).send(&hostile).await.unwrap();
    assert!(!told.contains('\u{1b}') && !told.contains(SECRET), "{told}");
    let (_, _, body) = parts(&server.requests()[1]);
    assert!(body.get("routing_key").is_none());
    let text = body["text"].as_str().unwrap();
    assert!(text.contains("&lt;!channel&gt; &amp; {{ secret }}") && !text.contains('\u{1b}'), "{text}");
    let details = body["blocks"][1]["text"]["text"].as_str().unwrap();
    assert!(!details.contains(['\u{1b}', '\u{202e}']), "{details}");
    assert!(!server.requests()[1].split_once("\r\n\r\n").unwrap().1.contains(SECRET));
}

#[rstest]
#[tokio::test]
async fn what_would_be_sent_is_shown_without_the_secret_and_nothing_is_sent(
    #[values("pagerduty_events", "opsgenie_alert", "slack_message", "jira_issue", "zendesk_ticket")]
    preset: &str,
) {
    let case = case(preset);
    let server = Scripted::start(Vec::new()).await;
    let shown = target(&case, &server.base).shown(&notice()).unwrap();
    assert!(!format!("{shown:?}").contains(SECRET));
    assert_eq!(
        case.line,
        format!("POST {} HTTP/1.1", shown.url.trim_start_matches(server.base.trim_end_matches('/')))
    );
    assert!(shown.body.contains(KEY) && shown.repeat.len() > 20);
    assert_eq!(shown.asks_before.is_some(), case.nothing.is_some());
    let who = shown.headers.iter().find(|(name, _)| name == "authorization").map(|(_, value)| value.as_str());
    assert_eq!(who, (preset != "pagerduty_events").then_some("••••"));
    assert_eq!(server.requests().len(), 0);
}

#[rstest]
#[case::asked("jira_issue", "200 OK", r#"{"issues":[]}"#, Health::Good)]
#[case::turned_away("jira_issue", "401 No", "", Health::Bad)]
#[case::nothing_to_ask("pagerduty_events", "200 OK", "", Health::Doubtful)]
#[case::sends_all_the_same("opsgenie_alert", "403 No", "", Health::Doubtful)]
#[tokio::test]
async fn looking_at_a_target_makes_nothing(
    #[case] preset: &str,
    #[case] status: &str,
    #[case] body: &str,
    #[case] expected: Health,
) {
    let server = Scripted::start(vec![answer(status, "", body)]).await;
    let examined = target(&case(preset), &server.base).examine().await;
    assert_eq!(examined.health, expected, "{}", examined.finding);
    assert!(server.requests().iter().all(|request| request.starts_with("GET ")));
}

/// Whoever is woken reads why: the verdict's reasons and the operator's, however much else there is to tell.
#[rstest]
#[case("jira_issue")]
#[case("opsgenie_alert")]
#[case("pagerduty_events")]
#[case("slack_message")]
#[case("zendesk_ticket")]
fn every_notice_holds_both_reasons(#[case] preset: &'static str) {
    let long = |word: &str, times: usize| format!("{word} ").repeat(times);
    let mut whole = notice();
    whole.reasons = vec!["The provider has two effects.".to_owned(), "Neither was refunded.".to_owned()];
    whole.reason = format!("{}the end of it", long("seen twice,", 60));
    whole.effects = vec![whole.effects[0].clone(); 50];
    for name in [&mut whole.key, &mut whole.status, &mut whole.reference] {
        *name = long("long", 200);
    }
    let shown = target(&case(preset), "http://127.0.0.1:9").shown(&whole).unwrap();
    let body: Value = serde_json::from_str(&shown.body).unwrap();
    let body = body.to_string();
    for told in ["The provider has two effects. Neither was refunded.", "the end of it"] {
        assert!(body.contains(told), "{preset} does not tell {told}: {body}");
    }
    let longest = |value: &Value| -> usize {
        fn walk(value: &Value) -> usize {
            match value {
                Value::String(text) => text.chars().count(),
                Value::Array(all) => all.iter().map(walk).max().unwrap_or(0),
                Value::Object(all) => all.values().map(walk).max().unwrap_or(0),
                Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            }
        }
        walk(value)
    };
    assert!(longest(&serde_json::from_str(&shown.body).unwrap()) <= 3_000, "{preset}");
}
