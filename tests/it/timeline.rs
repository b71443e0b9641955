//! A recorded incident, told by `show` and `duplicates`: what was done to each item is known, and the answers agree with it.

mod unread;

use crate::world::World;
use rstest::rstest;
use serde_json::{Value, json};
use std::path::Path;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/timeline").join(name)).unwrap()
}

fn recorded_text(name: &str) -> String {
    String::from_utf8(recorded(name)).unwrap()
}

/// The incident with its provider, as long as this lives.
struct Recorded {
    world: World,
    _provider: MockServer,
    _runtime: tokio::runtime::Runtime,
}

impl Recorded {
    fn new() -> Self {
        let world = World::new();
        world.database("jobs.db", &recorded_text("jobs.sql"));
        for name in ["receipts.jsonl", "receipts.jsonl.1.gz", "marks.log"] {
            world.write(name, recorded(name));
        }
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let provider = runtime.block_on(provider());
        let config = recorded_text("config.toml").replace("http://127.0.0.1:8421", &provider.uri());
        world.write("config.toml", config);
        Self { world, _provider: provider, _runtime: runtime }
    }

    /// What is known of an item, its provider asked.
    fn shown(&self, key: &str, more: &str) -> Value {
        let ran = self.world.run(&format!("--config config.toml show {key} --check --json {more}"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
        ran.json().remove(0)
    }

    fn duplicates(&self, format: &str) -> crate::world::Ran {
        self.world.run(&format!("--config config.toml duplicates --since 36500d {format}"))
    }
}

/// The ledger as it was: filtered by reference where that is asked for, whole where the list is.
async fn provider() -> MockServer {
    let charges: Vec<Value> = serde_json::from_slice(&recorded("charges.json")).unwrap();
    let server = MockServer::start().await;
    let answer = move |request: &Request| {
        let wanted = request
            .url
            .query_pairs()
            .find(|(name, _)| name == "reference")
            .map(|(_, value)| value.into_owned());
        let is_wanted =
            |charge: &&Value| wanted.as_ref().is_none_or(|wanted| charge["reference"] == wanted.as_str());
        let data: Vec<&Value> = charges.iter().filter(is_wanted).collect();
        ResponseTemplate::new(200).set_body_json(json!({ "object": "list", "data": data, "has_more": false }))
    };
    Mock::given(method("GET")).and(path("/v1/charges")).respond_with(answer).mount(&server).await;
    server
}

fn answers(story: &Value) -> Vec<&str> {
    story["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|answered| answered["answer"].as_str().unwrap())
        .collect()
}

fn told<'a>(story: &'a Value, question: &str) -> &'a str {
    let all = story["questions"].as_array().unwrap();
    all.iter().find(|answered| answered["question"] == question).unwrap()["told"].as_str().unwrap()
}

/// Item, natural key, ran more than once, trouble, effect before state, record: as the scripts did it.
#[rstest]
// Charged, and the answer came too late; the second run charged again.
#[case::slow("order:1001", ["yes", "yes", "yes", "yes", "yes", "yes"], "time-out")]
#[case::gateway("order:1002", ["yes", "yes", "yes", "yes", "yes", "yes"], "network error")]
// Charged only after the worker had given up and written that it failed.
#[case::late("order:1004", ["yes", "yes", "yes", "yes", "no", "yes"], "time-out")]
// Refused whole; only the second run charged.
#[case::refused("order:1003", ["yes", "yes", "yes", "yes", "yes", "yes"], "network error")]
// It went well, and the second run skipped it: skipping is no run. Nobody gave marks for this one.
#[case::once("order:1000", ["yes", "yes", "no", "not_known", "not_known", "yes"], "nobody gave deploys")]
// Declined twice: no time-out and no network error, and no effect to place.
#[case::declined("order:1005", ["yes", "yes", "yes", "not_known", "not_known", "yes"], "nobody gave deploys")]
// Killed after the answer: nothing was written, neither state nor line.
#[case::killed("order:2000", ["yes", "yes", "not_known", "not_known", "no", "no"], "nobody wrote down how")]
fn the_six_answers_agree_with_what_was_done(
    #[case] key: &str,
    #[case] expected: [&str; 6],
    #[case] trouble: &str,
) {
    let story = Recorded::new().shown(key, "");
    assert_eq!(answers(&story), expected, "{:#}", story["questions"]);
    assert!(told(&story, "trouble").contains(trouble), "{}", told(&story, "trouble"));
}

#[test]
fn for_every_duplicate_both_attempts_are_named() {
    let recorded = Recorded::new();
    let ran = recorded.duplicates("--json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err.contains("3 references happened more than once; beyond the first: 90.07 BRL."),
        "{}",
        ran.err
    );
    let groups = ran.json();
    let told: Vec<(&str, Vec<i64>, &str)> = groups
        .iter()
        .map(|group| {
            let attempts =
                group["runs"].as_array().unwrap().iter().map(|run| run["attempt"].as_i64().unwrap());
            (
                group["reference"].as_str().unwrap(),
                attempts.collect(),
                group["causes"][0]["cause"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("order:1001", vec![1, 2], "ran_again_after_timeout"),
            ("order:1002", vec![1, 2], "ran_again_after_network_error"),
            ("order:1004", vec![1, 2], "ran_again_after_timeout"),
        ]
    );
    for group in &groups {
        assert_eq!((group["effects"].as_u64(), group["decision"].as_str()), (Some(2), Some("escalate")));
        let ended = group["timeline"].as_array().unwrap().iter().filter(|line| line["origin"] == "receipt");
        let attempts: Vec<i64> = ended.map(|line| line["attempt"].as_i64().unwrap()).collect();
        assert_eq!(attempts, [1, 2], "{group:#}");
    }
    assert_eq!(groups[0]["beyond_first"], json!([{ "amount": "30.01", "currency": "BRL" }]));
    assert_eq!(groups[0]["second_at"], "2026-05-04T09:30:02Z");
}

/// The sheet has a line for each effect, with what a refund needs; it is not one that a sheet would run.
#[test]
fn a_refund_needs_nothing_that_the_sheet_does_not_have() {
    let ran = Recorded::new().duplicates("--csv");
    let mut lines = ran.out.lines();
    assert!(lines.next().unwrap().starts_with("reference,operation,source,key,kind,status,effect_id,"));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), 6);
    let expected = "order:1001,ledger.charge,orders,order:1001,order,done,ch_07,succeeded,30.01,BRL,2026-05-04T09:30:02Z,,true,ran_again_after_timeout,escalate,";
    assert!(lines[1].starts_with(expected), "{}", lines[1]);
}

#[test]
fn a_story_names_the_origin_of_every_line_and_puts_it_in_order() {
    let recorded = Recorded::new();
    let config = std::fs::read_to_string(recorded.world.path("config.toml")).unwrap();
    recorded.world.write("config.toml", format!("{config}\n[[marks]]\npath = \"marks.log\"\n"));
    let story = recorded.shown("order:1001", "");
    let lines: Vec<String> = story["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            format!(
                "{} {} {}",
                line["place"].as_str().unwrap(),
                line["what"].as_str().unwrap(),
                line["at"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "ledger.charge effect 2026-05-04T09:00:15Z",
            "receipts.jsonl.1.gz:2 ended_failed 2026-05-04T09:00:40.310Z",
            "marks.log:1 mark 2026-05-04T09:29:30Z",
            "ledger.charge effect 2026-05-04T09:30:02Z",
            "receipts.jsonl:2 ended_done 2026-05-04T09:30:05.310Z",
            "orders: last change ended_done 2026-05-04T09:30:05.311Z",
        ]
    );
    assert!(told(&story, "trouble").ends_with("deploy: deploy v1.42"), "{}", told(&story, "trouble"));
    // The check is on record, so that the next look needs not ask: it says as of when it knows.
    let ran = recorded.world.run("--config config.toml show order:1001 --json");
    let later = ran.json().remove(0);
    assert_eq!(
        (&later["check"]["verdict"], &later["check"]["from"]),
        (&json!("duplicated"), &json!("audit entry 1"))
    );
    assert_eq!(later["duplicate"]["effects"], 2);
    assert_eq!(later["timeline"].as_array().unwrap().len(), lines.len() + 1);
    assert!(told(&later, "effect_before_state").contains("as the provider told at "));
}

/// Without the log nothing becomes a "no" that was none.
#[test]
fn without_receipts_what_only_they_tell_is_not_known() {
    let recorded = Recorded::new();
    for name in ["receipts.jsonl", "receipts.jsonl.1.gz"] {
        std::fs::remove_file(recorded.world.path(name)).unwrap();
    }
    let story = recorded.shown("order:1000", "");
    assert_eq!(answers(&story), ["yes", "yes", "not_known", "not_known", "not_known", "not_known"]);
    assert!(story["notes"][0].as_str().unwrap().contains("there is no such file"), "{}", story["notes"]);
}

#[test]
fn a_mark_may_be_said_on_the_command_line() {
    let recorded = Recorded::new();
    let said = [
        "--config",
        "config.toml",
        "--mark",
        "2026-05-04T09:00:30Z worker-3 restarted",
        "show",
        "order:1000",
        "--json",
    ];
    let story = recorded.world.run_all(&said).json().remove(0);
    assert_eq!(told(&story, "trouble"), "restart: worker-3 restarted");
    let wrong = recorded.world.run_all(&["--mark", "restarted", "show", "order:1000"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("it does not begin with a time; write it as \"TIME TEXT\""), "{}", wrong.err);
}

#[test]
fn what_nobody_knows_is_said_in_two_lines() {
    let ran = Recorded::new().world.run("--config config.toml show order:7");
    let expected = crate::world::two_lines(
        "no source, no log and no record has an item `order:7`",
        "`unstuck list` shows the keys of the findings.",
    );
    assert_eq!((ran.code, ran.out.as_str(), ran.err), (Some(1), "", expected));
}

/// A row that is gone still has its story: in the log.
#[test]
fn an_item_whose_row_is_gone_is_told_by_the_log() {
    let recorded = Recorded::new();
    let ran = recorded.world.run("--config config.toml show order:9999");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for part in ["row        gone", "receipts.jsonl:7", "its row is gone", "reference  none: its row is gone"]
    {
        assert!(ran.out.contains(part), "{part} is not in\n{}", ran.out);
    }
}
