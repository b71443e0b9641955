//! Cases from the field that concern the whole program. Their numbers are those of the collection they come from; cases of
//! one rule are tested beside that rule.

mod answers;
mod record;
mod stuck;

use crate::incident::Incident;
use crate::world::{TABLES, World};
use rusqlite::Connection;
use serde_json::{Value, json};
use wiremock::matchers::{method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// Adds failed jobs of two hours ago.
fn add_jobs(incident: &Incident, keys: std::ops::Range<u32>) {
    let connection = Connection::open(&incident.database).unwrap();
    for number in keys {
        connection
            .execute(
                "INSERT INTO jobs VALUES (?1, 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'Read timed out')",
                [format!("bulk-{number:03}")],
            )
            .unwrap();
    }
}

fn answer(data: &[Value]) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({ "object": "list", "data": data, "has_more": false }))
}

fn charge(id: &str, created: i64) -> Value {
    json!({
        "id": id, "status": "succeeded", "reference": "inv-9", "amount": 1200, "currency": "eur", "created": created,
    })
}

/// The world of a provider that answers about `inv-9`, each time with the next of these.
fn world_with_answers(answers: &[Vec<Value>]) -> (World, tokio::runtime::Runtime, MockServer) {
    let world = World::new();
    world.database(
        "jobs.db",
        &format!(
            "{TABLES} INSERT INTO jobs SELECT 'inv-9', 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'Read timed out';"
        ),
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(async {
        let server = MockServer::start().await;
        for (at, data) in answers.iter().enumerate() {
            Mock::given(method("GET"))
                .and(path("/v1/charges"))
                .and(query_param("reference", "inv-9"))
                .respond_with(answer(data))
                .up_to_n_times(1)
                .with_priority(u8::try_from(at + 1).unwrap())
                .mount(&server)
                .await;
        }
        server
    });
    let example = include_str!("../../config.example.toml").replace("http://127.0.0.1:8421", &server.uri());
    world.write("config.toml", example);
    (world, runtime, server)
}

#[test]
fn case_14_a_bulk_retry_writes_each_item_once_though_items_come_back_meanwhile() {
    let incident = Incident::new();
    add_jobs(&incident, 0..40);
    // What is retried is deleted here; the trigger lets every fourth fail again at once.
    Connection::open(&incident.database)
        .unwrap()
        .execute_batch(
            "CREATE TRIGGER again AFTER DELETE ON jobs WHEN CAST(substr(old.key, 6) AS INTEGER) % 4 = 0 BEGIN
                 INSERT INTO jobs VALUES (old.key, 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now'), 'Read timed out');
             END;",
        )
        .unwrap();
    let ran = incident.run("decide --all --where key:bulk --retry --reason nothing_there --json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let mut keys = ran.each("key");
    keys.sort();
    keys.dedup();
    assert_eq!((keys.len(), ran.json().len()), (40, 40));
}

#[test]
fn case_15_a_charge_whose_answer_was_lost_is_found_and_marking_it_done_is_advised() {
    let incident = Incident::new();
    let line = incident.run("check inv-1 --json").json().remove(0);
    assert_eq!((&line["verdict"], &line["advice"]), (&json!("happened"), &json!("mark_done")));
    assert_eq!(line["effect_ids"], json!(["ch_1"]));
    assert!(line["reasons"][0].as_str().unwrap().contains("2027-01-15T08:00:00Z"), "{line}");
}

#[test]
fn case_36_one_undecodable_payload_does_not_stop_the_others() {
    let incident = Incident::new();
    add_jobs(&incident, 0..100);
    let connection = Connection::open(&incident.database).unwrap();
    connection
        .execute_batch(
            "ALTER TABLE jobs ADD COLUMN args; UPDATE jobs SET args = json_object('ref', key);
             UPDATE jobs SET args = '{not json' WHERE key = 'bulk-037';",
        )
        .unwrap();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    let own = include_str!("../../assets/presets/jobs.toml")
        .replace("error = \"last_error\"", "error = \"last_error\"\npayload = \"args\"");
    std::fs::create_dir(incident.world.path("presets")).unwrap();
    incident.world.write("presets/jobs.toml", own);
    incident.world.write(
        "config.toml",
        config.replacen("reference = \"{{ key }}\"", "reference = \"{{ payload.ref }}\"", 1),
    );
    let ran = incident.run("decide --all --where key:bulk --retry --reason nothing_there --json");
    assert_eq!((ran.code, ran.json().len()), (Some(1), 99), "{}", ran.err);
    assert!(ran.err.contains("99 applied, 0 refused, 0 failed, 1 left out"), "{}", ran.err);
    assert!(ran.err.contains("unstuck: bulk-037: left out: "), "{}", ran.err);
    assert!(!incident.jobs().iter().any(|row| row.contains("bulk-036")), "the others are released");
    assert_eq!(incident.status_of("bulk-037").as_deref(), Some("failed"));
    let told = incident.run("check bulk-037 --json").json().remove(0);
    assert_eq!((&told["verdict"], &told["reference"]), (&json!("unknown"), &Value::Null));
}

#[test]
fn case_52_the_gap_between_two_effects_is_told() {
    let (world, _runtime, _server) =
        world_with_answers(&[vec![charge("ch_2", 1_800_000_034), charge("ch_1", 1_800_000_000)]]);
    let line = world.run("check inv-9 --config config.toml --json").json().remove(0);
    assert_eq!((&line["verdict"], &line["effects"]), (&json!("duplicated"), &json!(2)));
    assert!(line["reasons"].to_string().contains("34 s apart"), "{line}");
}

#[test]
fn case_53_every_effect_is_counted() {
    let four: Vec<Value> = (0..4).map(|at| charge(&format!("ch_{at}"), 1_800_000_000 + at)).collect();
    let (world, _runtime, _server) = world_with_answers(&[four]);
    let line = world.run("check inv-9 --config config.toml --json").json().remove(0);
    assert_eq!((&line["verdict"], &line["effects"]), (&json!("duplicated"), &json!(4)));
}

#[test]
fn case_55_and_56_one_decision_is_one_record_of_who_when_what_and_why() {
    let incident = Incident::new();
    incident.run("--operator op-a decide inv-2 --source jobs --retry --reason nothing_there");
    let entries = incident.run("audit list --key inv-2 --json").json();
    let told: Vec<(&str, &str)> = entries
        .iter()
        .map(|entry| (entry["event"].as_str().unwrap(), entry["operator"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("applied", "op-a"), ("intended", "op-a")]);
    let intent = &entries[1]["body"];
    assert_eq!((&intent["choice"], &intent["reason"]), (&json!("retry"), &json!("nothing there")));
    assert_eq!(
        (&intent["check"]["verdict"], &intent["check"]["status"]),
        (&json!("not_found"), &json!("failed"))
    );
    assert_eq!(entries[0]["body"]["row_before"]["key"], json!("inv-2"));
    assert_eq!(entries[0]["body"]["row_after"], Value::Null);
    // Without a look-up the record says so: there is no evidence.
    incident.world.write(
        "config.toml",
        include_str!("../../config.example.toml").replace("check = \"ledger.charge\"", ""),
    );
    incident.run("decide inv-1 --source jobs --done --override --reason seen_in_the_bank");
    let entry = incident.run("audit list --key inv-1 --json").json().remove(1);
    assert_eq!(
        (&entry["body"]["check"]["evidence"], &entry["body"]["insisted"]),
        (&Value::Null, &json!(true))
    );
}

#[test]
fn case_58_the_filter_bounds_what_is_changed() {
    let incident = Incident::new();
    add_jobs(&incident, 0..10);
    let ran =
        incident.run("decide --all --where key:bulk-000,bulk-001,bulk-002 --retry --reason nothing_there");
    assert!(ran.err.contains("3 applied, 0 refused, 0 failed, 0 left out"), "{}", ran.err);
    assert_eq!(incident.jobs().len(), 13 - 3);
}

#[test]
fn case_73_a_first_miss_is_not_kept_and_both_looks_are_on_record() {
    let (world, _runtime, _server) = world_with_answers(&[vec![], vec![charge("ch_1", 1_800_000_000)]]);
    let verdict = || world.run("check inv-9 --config config.toml --json").json().remove(0)["verdict"].clone();
    assert_eq!([verdict(), verdict()], [json!("not_found"), json!("happened")]);
    let entries = world.run("audit list --config config.toml --json").json();
    let told: Vec<&Value> = entries.iter().map(|entry| &entry["body"]["verdict"]).collect();
    assert_eq!(told, [&json!("happened"), &json!("not_found")]);
}
