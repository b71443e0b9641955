//! An escalation through the whole program: shown, sent, in doubt, sent again with the same key, and refused after that.

use crate::world::{Ran, TABLES, World};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::runtime::Runtime;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

const SECRET: &str = "jira-token-0123456789";

/// A Jira that keeps the first issue and loses its own answer to it.
#[derive(Clone, Default)]
struct Desk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    asked: Vec<String>,
    labels: Vec<Value>,
}

impl Respond for Desk {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut state = self.0.lock().unwrap();
        state.asked.push(format!("{} {}", request.method, request.url.path()));
        if request.method == "GET" {
            let issues = state.labels.iter().enumerate();
            let issues: Vec<Value> = issues
                .map(|(nth, labels)| json!({"key": format!("OPS-{}", nth + 1), "fields": {"labels": labels}}))
                .collect();
            return ResponseTemplate::new(200).set_body_json(json!({"issues": issues}));
        }
        let body: Value = request.body_json().unwrap();
        state.labels.push(body["fields"]["labels"].clone());
        ResponseTemplate::new(503)
    }
}

struct Stage {
    world: World,
    desk: Desk,
    _server: MockServer,
    _runtime: Runtime,
}

impl Stage {
    fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let desk = Desk::default();
        let server = runtime.block_on(async {
            let server = MockServer::start().await;
            Mock::given(any()).respond_with(desk.clone()).mount(&server).await;
            server
        });
        let world = World::new();
        world.database(
            "jobs.db",
            &format!(
                "{TABLES} INSERT INTO jobs VALUES ('inv-1', 'failed', '2026-05-04 10:00:00', 'timed out');"
            ),
        );
        world.write("token", SECRET);
        world.write(
            "config.toml",
            format!(
                "[[sources]]\nurl = 'sqlite://jobs.db'\npreset = 'jobs'\nname = 'jobs'\nkind = 'invoice'\n\
                 [audit]\npath = 'audit.db'\n\
                 [kinds.invoice]\nrisk = 'financial'\nescalate_to = 'desk'\n\
                 [escalation]\npreset = 'pagerduty_events'\nbase_url = 'http://127.0.0.1:9'\nsecret_env = 'NOT_SET'\n\
                 [escalations.desk]\npreset = 'jira_issue'\nbase_url = '{}'\nsecret_file = 'token'\n\
                 variables = {{ email = 'bot@example.com', project = 'OPS', issue_type = 'Task' }}\n",
                server.uri()
            ),
        );
        Self { world, desk, _server: server, _runtime: runtime }
    }

    fn escalate(&self, more: &str) -> Ran {
        self.world.run(&format!(
            "--config config.toml decide inv-1 --source jobs --escalate --reason help {more} --json"
        ))
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.desk.0.lock().unwrap().asked)
    }
}

#[test]
fn a_dry_run_shows_the_exact_request_and_sends_nothing() {
    let stage = Stage::new();
    let ran = stage.escalate("--dry-run");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let line = &ran.json()[0];
    assert!(line["escalates_to"].as_str().unwrap().ends_with("(jira_issue)"), "{line}");
    let request = &line["request"];
    assert_eq!(request["method"], "POST");
    assert!(request["url"].as_str().unwrap().ends_with("/rest/api/3/issue"));
    let body: Value = serde_json::from_str(request["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["fields"]["project"]["key"], "OPS");
    assert!(body["fields"]["labels"][0].as_str().unwrap().starts_with("unstuck-"));
    assert!(request["headers"].as_array().unwrap().contains(&json!(["authorization", "••••"])), "{request}");
    assert!(!ran.out.contains(SECRET));
    let text =
        stage.world.run("--config config.toml decide inv-1 --source jobs --escalate --reason help --dry-run");
    assert!(
        text.out.contains("\nrequest    POST http://") && text.out.contains("\nrepeat     The label"),
        "{}",
        text.out
    );
    assert_eq!(stage.asked(), Vec::<String>::new());
}

#[test]
fn what_may_have_arrived_is_found_by_its_key_and_not_doubled() {
    let stage = Stage::new();
    let lost = stage.escalate("");
    assert_eq!((lost.code, lost.each("outcome")), (Some(3), vec!["failed".to_owned()]));
    assert!(lost.out.contains("503; it may have arrived"), "{}", lost.out);
    assert_eq!(stage.asked(), ["GET /rest/api/3/search/jql", "POST /rest/api/3/issue"]);
    // Another process, the same row, the same key: it is there, and nothing is sent.
    let again = stage.escalate("");
    assert_eq!((again.code, again.each("outcome")), (Some(0), vec!["applied".to_owned()]), "{}", again.err);
    assert_eq!(stage.asked(), ["GET /rest/api/3/search/jql"]);
    assert_eq!(stage.desk.0.lock().unwrap().labels.len(), 1);
    let third = stage.escalate("");
    assert_eq!((third.code, third.each("outcome")), (Some(1), vec!["refused".to_owned()]));
    assert_eq!(stage.asked(), Vec::<String>::new());
    let record = stage.world.run("--config config.toml audit list --json");
    assert!(
        record.out.contains("OPS-1; nothing was sent again") && !record.out.contains(SECRET),
        "{}",
        record.out
    );
}

#[test]
fn doctor_looks_at_every_place_and_makes_nothing() {
    let stage = Stage::new();
    let ran = stage.world.run("--config config.toml doctor --json");
    let of = |subject: &str| ran.json().into_iter().find(|line| line["subject"] == subject).unwrap();
    assert_eq!(of("escalation desk")["health"], "good", "{}", of("escalation desk"));
    let usual = of("escalation");
    assert_eq!(usual["health"], "bad", "{usual}");
    assert!(usual["finding"].as_str().unwrap().contains("$NOT_SET"), "{usual}");
    assert!(stage.asked().iter().all(|asked| asked.starts_with("GET ")));
}
