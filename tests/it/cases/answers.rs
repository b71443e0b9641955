//! What an error or an answer leaves open, and what is then advised.

use super::add_jobs;
use crate::incident::Incident;
use pretty_assertions::assert_eq;
use rusqlite::Connection;
use serde_json::{Value, json};

/// A job that failed so many seconds ago with this error.
fn add(incident: &Incident, key: &str, seconds_ago: u32, error: &str) {
    Connection::open(&incident.database)
        .unwrap()
        .execute(
            "INSERT INTO jobs VALUES (?1, 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-' || ?2 || ' seconds'), ?3)",
            rusqlite::params![key, seconds_ago, error],
        )
        .unwrap();
}

fn checked(incident: &Incident, key: &str) -> Value {
    incident.run(&format!("check {key} --json")).json().remove(0)
}

/// A retry is refused, and the row stays as it is.
fn is_not_retried(incident: &Incident, key: &str) {
    let ran = incident.run(&format!("decide {key} --source jobs --retry --reason again"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(incident.status_of(key).as_deref(), Some("failed"));
}

/// With a key that changes with each attempt nothing is protected, and the provider is asked before a retry.
#[test]
fn case_16_a_key_that_changes_with_each_attempt_is_told_and_counts_as_none() {
    let incident = Incident::new();
    Connection::open(&incident.database)
        .unwrap()
        .execute_batch(
            "INSERT INTO processed_items VALUES ('order-1', 'failed', 2, strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'Read timed out')",
        )
        .unwrap();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    let kind = "[kinds.order]\nrisk = \"check_first\"\n";
    assert!(config.contains(kind));
    let with_key = |template: &str| {
        let own = format!("{kind}idempotency_key = \"{template}\"\n");
        incident.world.write("config.toml", config.replacen(kind, &own, 1));
        checked(&incident, "order-1")
    };
    let changing = with_key("{{ key }}-{{ attempts }}");
    let sentence = "The idempotency key changes with each attempt: a retry is a new effect.";
    assert_eq!((&changing["verdict"], &changing["advice"]), (&json!("not_found"), &json!("retry")));
    assert!(changing["reasons"].to_string().contains(sentence), "{changing}");
    assert!(!with_key("{{ key }}")["reasons"].to_string().contains(sentence));
}

#[test]
fn case_20_a_key_that_is_still_worked_on_is_waited_for_and_when_to_look_again_is_told() {
    let incident = Incident::new();
    let error = "Error 409: There is currently another in-progress request using this Idempotent Key";
    add(&incident, "inv-20", 15, error);
    let line = checked(&incident, "inv-20");
    assert_eq!((&line["finding"], &line["error_class"]), (&json!("ambiguous"), &json!("ambiguous")));
    assert_eq!(
        (&line["verdict"], &line["settled"], &line["advice"]),
        (&json!("not_found"), &json!(false), &json!("wait"))
    );
    assert!(line["reasons"].to_string().contains("Look again in 1 min"), "{line}");
    is_not_retried(&incident, "inv-20");
}

/// The provider's own id was never written down: the item is asked about by what it always had.
#[test]
fn case_54_without_the_providers_id_the_business_key_is_asked_for() {
    let incident = Incident::new();
    Connection::open(&incident.database)
        .unwrap()
        .execute_batch(
            "ALTER TABLE jobs ADD COLUMN external_id;
             INSERT INTO jobs SELECT 'inv-54', 'running', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), NULL, NULL;",
        )
        .unwrap();
    let line = checked(&incident, "inv-54");
    assert_eq!(
        (&line["reference"], &line["verdict"], &line["settled"]),
        (&json!("inv-54"), &json!("not_found"), &json!(true))
    );
    let how_sure = "Every page was read and nothing carries our reference; the last attempt was 2 h ago.";
    assert_eq!(line["reasons"][0], how_sure);
    // By an id that is NULL nobody asks, and nothing is known.
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    let own = include_str!("../../../assets/presets/jobs.toml")
        .replace("[detect]", "[fields]\nexternal = \"external_id\"\n\n[detect]");
    std::fs::create_dir(incident.world.path("presets")).unwrap();
    incident.world.write("presets/jobs.toml", own);
    let by_id = config.replacen("reference = \"{{ key }}\"", "reference = \"{{ external }}\"", 1);
    incident.world.write("config.toml", by_id);
    let line = checked(&incident, "inv-54");
    assert_eq!((&line["verdict"], &line["evidence"]), (&json!("unknown"), &Value::Null));
    assert_ne!(line["advice"], "retry");
}

#[test]
fn case_33_a_long_number_is_the_reference_digit_for_digit() {
    let incident = Incident::new();
    add_jobs(&incident, 0..1);
    Connection::open(&incident.database)
        .unwrap()
        .execute_batch(
            r#"ALTER TABLE jobs ADD COLUMN args;
               UPDATE jobs SET args = '{"id":1970670598291982290,"amount":0.1}' WHERE key = 'bulk-000'"#,
        )
        .unwrap();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    let own = include_str!("../../../assets/presets/jobs.toml")
        .replace("error = \"last_error\"", "error = \"last_error\"\npayload = \"args\"");
    std::fs::create_dir(incident.world.path("presets")).unwrap();
    incident.world.write("presets/jobs.toml", own);
    let template = "reference = \"{{ payload.id }}/{{ payload.amount }}\"";
    incident.world.write("config.toml", config.replacen("reference = \"{{ key }}\"", template, 1));
    let reference = "1970670598291982290/0.1";
    assert_eq!(incident.run("list --json --where key:bulk").each("reference"), [reference]);
    assert!(incident.run("list --csv --where key:bulk").out.contains(reference));
    assert_eq!(checked(&incident, "bulk-000")["reference"], reference);
    assert!(incident.run("audit export").out.contains(reference));
    // Whatever the decision removes is kept as it was.
    incident.run("decide bulk-000 --source jobs --retry --reason nothing_there --override");
    assert!(incident.run("audit list --key bulk-000 --json").out.contains("1970670598291982290"));
}

#[test]
fn case_74_an_error_that_the_provider_replays_is_no_way_on_with_the_same_key() {
    let incident = Incident::new();
    let error =
        "HTTP 500 from POST /v1/charges: internal error (idempotent-replayed: true, idempotency-key: k-1)";
    add(&incident, "inv-74", 7_200, error);
    let line = checked(&incident, "inv-74");
    assert_eq!((&line["verdict"], &line["advice"]), (&json!("not_found"), &json!("escalate")));
    let reasons = line["reasons"].to_string();
    assert!(reasons.contains("keeps an error under the idempotency key and answers with it again"), "{line}");
    assert!(reasons.contains("the outcome of the first request is unknown"), "{line}");
    assert!(!reasons.contains("repeats nothing"), "{line}");
    is_not_retried(&incident, "inv-74");
}

#[test]
fn case_75_a_key_of_another_request_is_told_as_that_and_looked_at_by_a_person() {
    let incident = Incident::new();
    let error = "Error 400: Keys for idempotent requests can only be used with the same parameters they were first used with.";
    add(&incident, "inv-75", 7_200, error);
    let line = checked(&incident, "inv-75");
    assert_eq!((&line["finding"], &line["error_class"]), (&json!("ambiguous"), &json!("ambiguous")));
    assert_eq!((&line["verdict"], &line["advice"]), (&json!("not_found"), &json!("escalate")));
    assert!(line["reasons"].to_string().contains("The idempotency key belongs to another request"), "{line}");
    is_not_retried(&incident, "inv-75");
}
