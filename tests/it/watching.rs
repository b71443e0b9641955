//! `unstuck watch` through the real program: what is new, changed and gone, told once, also by a webhook and a metrics file.

use crate::incident::Incident;
use crate::world::{Ran, World, two_lines};
use pretty_assertions::assert_eq;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use wiremock::matchers::{header_exists, method};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn told(ran: &Ran) -> Vec<String> {
    let lines = ran.json();
    let told =
        |line: &Value| format!("{} {}", line["event"].as_str().unwrap(), line["key"].as_str().unwrap_or("-"));
    lines.iter().map(told).collect()
}

fn change(database: &Path, sql: &str) {
    rusqlite::Connection::open(database).unwrap().execute_batch(sql).unwrap();
}

const ONCE: &str = "watch --once --state watch.json";

#[test]
fn each_look_tells_what_is_new_since_the_last() {
    let incident = Incident::new();
    let first = incident.run(ONCE);
    assert_eq!((first.code, first.err.as_str()), (Some(0), ""));
    assert_eq!(told(&first), ["new inv-1", "new inv-2", "look -"]);
    let line = &first.json()[0];
    for (field, value) in
        [("source", "jobs"), ("finding", "ambiguous"), ("status", "failed"), ("kind", "invoice")]
    {
        assert_eq!(line[field], value, "{line}");
    }
    let second = incident.run(ONCE);
    assert_eq!(
        (second.code, second.out.as_str(), second.err.as_str()),
        (Some(0), "", ""),
        "nothing new, nothing said"
    );
    change(
        &incident.database,
        "DELETE FROM jobs WHERE key = 'inv-1';
         UPDATE jobs SET status = 'running', last_error = NULL WHERE key = 'inv-2';
         INSERT INTO jobs VALUES ('inv-9', 'failed', '2026-05-04 10:00:00', 'Read timed out');",
    );
    let third = incident.run(ONCE);
    assert_eq!(told(&third), ["changed inv-2", "new inv-9", "gone inv-1", "look -"]);
    let changed = &third.json()[0];
    assert_eq!((&changed["finding"], &changed["before"]["finding"]), (&"stuck".into(), &"ambiguous".into()));
    assert_eq!(third.json()[3]["findings"], 2);
    // Findings that are not new are findings all the same.
    assert_eq!(incident.run(&format!("{ONCE} --fail-on-findings")).code, Some(1));
}

/// A source that cannot be read is never "all gone", and never "all is well" either.
#[test]
fn what_cannot_be_read_is_told_and_not_gone() {
    let incident = Incident::new();
    incident.run(ONCE);
    let (there, away) = (incident.world.path("jobs.db"), incident.world.path("away.db"));
    std::fs::rename(&there, &away).unwrap();
    let ran = incident.run(&format!("{ONCE} --fail-on-findings --metrics unstuck.prom"));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let sources: Vec<String> = ran
        .json()
        .iter()
        .filter(|line| line["event"] == "unread")
        .map(|line| line["source"].to_string())
        .collect();
    assert!(
        sources.contains(&"\"jobs\"".to_owned()) && !ran.out.contains("\"event\":\"gone\""),
        "{}",
        ran.out
    );
    let again = incident.run(ONCE);
    assert_eq!((again.code, again.out.as_str()), (Some(3), ""), "told once, and still no good end");
    let metrics = std::fs::read_to_string(incident.world.path("unstuck.prom")).unwrap();
    assert!(metrics.contains("unstuck_source_read{source=\"jobs\"} 0\n"), "{metrics}");
    assert!(
        metrics.contains("unstuck_source_findings{source=\"jobs\"} 2\n"),
        "what was last known stays:\n{metrics}"
    );
    std::fs::rename(&away, &there).unwrap();
    let back = incident.run(ONCE);
    let events: Vec<String> = told(&back);
    assert!(events.iter().all(|event| event == "read_again -" || event == "look -"), "{events:?}");
    assert_eq!(back.code, Some(0));
}

/// Each change reaches the webhook once, whatever it answers first, and with the same key each time.
#[test]
fn a_webhook_hears_of_each_change_once() {
    let incident = Incident::new();
    let server = incident.wait(MockServer::start());
    let answers = |status: u16, times: u64| {
        Mock::given(method("POST"))
            .and(header_exists("Idempotency-Key"))
            .respond_with(ResponseTemplate::new(status))
            .up_to_n_times(times)
            .mount(&server)
    };
    incident.wait(answers(503, 1));
    let watch = format!("{ONCE} --webhook {}/hook", server.uri());
    let first = incident.run(&watch);
    assert_eq!(first.code, Some(3), "{first:?}");
    assert!(
        first.err.contains("was not told: the webhook answered 503")
            && first.err.contains("1 notice waits and is sent again"),
        "{}",
        first.err
    );
    incident.wait(answers(200, 100));
    // Too early for a second try: nobody is stormed, and what still waits is no success.
    let early = incident.run(&watch);
    assert_eq!(early.code, Some(3), "{early:?}");
    assert!(early.err.contains("1 notice waits for the webhook at"), "{}", early.err);
    let state = incident.world.path("watch.json");
    let kept = std::fs::read_to_string(&state).unwrap();
    let mut earlier: Value = serde_json::from_str(&kept).unwrap();
    earlier["outbox"][0]["next_try_at"] = "2026-01-01T00:00:00Z".into();
    std::fs::write(&state, earlier.to_string()).unwrap();
    for _ in 0..2 {
        assert_eq!(incident.run(&watch).code, Some(0));
    }
    let sent = incident.wait(server.received_requests()).unwrap();
    let keys: Vec<&str> =
        sent.iter().map(|request| request.headers["Idempotency-Key"].to_str().unwrap()).collect();
    assert_eq!((keys.len(), keys[0]), (2, keys[1]), "one in vain, one that was taken");
    let body: Value = serde_json::from_slice(&sent[1].body).unwrap();
    assert_eq!(
        (&body["text"], &body["dedup_key"]),
        (&"unstuck: 2 new, 0 changed, 0 gone; 2 findings now".into(), &keys[0].into())
    );
    assert_eq!(body["changes"].as_array().unwrap().len(), 2);
    let without = incident.run(&format!("watch --once --webhook {}", server.uri()));
    assert_eq!(without.code, Some(2), "each look would tell everything anew");
}

/// The address and its secret may come from the configuration; the secret is in nothing that is written.
#[test]
fn a_webhook_of_the_configuration_has_its_secret() {
    let incident = Incident::new();
    let server = incident.wait(MockServer::start());
    incident.wait(Mock::given(method("POST")).respond_with(ResponseTemplate::new(204)).mount(&server));
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    let section = format!(
        "{config}\n[watch]\nurl = \"{}\"\nsecret_env = \"UNSTUCK_LEDGER_TOKEN\"\n\
         headers = {{ Authorization = \"Bearer {{{{ secret }}}}\" }}\nbody = {{ text = \"{{{{ text }}}} ({{{{ new }}}})\" }}\n",
        server.uri()
    );
    incident.world.write("config.toml", section);
    let ran = incident.run(ONCE);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let sent = incident.wait(server.received_requests()).unwrap();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].headers["Authorization"], "Bearer sk_test_7");
    let body: Value = serde_json::from_slice(&sent[0].body).unwrap();
    assert_eq!(body["text"], "unstuck: 2 new, 0 changed, 0 gone; 2 findings now (2)");
    let state = std::fs::read_to_string(incident.world.path("watch.json")).unwrap();
    assert!(!format!("{state}{}{}", ran.out, ran.err).contains("sk_test_7"));
}

#[test]
fn with_check_the_answers_are_watched_too() {
    let incident = Incident::new();
    let watch = format!("{ONCE} --check --metrics unstuck.prom");
    let first = incident.run(&watch);
    assert_eq!(first.code, Some(0), "{first:?}");
    let verdicts: Vec<(String, String)> = first
        .json()
        .iter()
        .filter(|line| line["event"] == "new")
        .map(|line| (line["key"].as_str().unwrap().to_owned(), line["verdict"].as_str().unwrap().to_owned()))
        .collect();
    let pair = |key: &str, verdict: &str| (key.to_owned(), verdict.to_owned());
    assert_eq!(verdicts, [pair("inv-1", "happened"), pair("inv-2", "not_found")]);
    let metrics = std::fs::read_to_string(incident.world.path("unstuck.prom")).unwrap();
    let line =
        "unstuck_findings{source=\"jobs\",kind=\"invoice\",finding=\"ambiguous\",verdict=\"happened\"} 1\n";
    assert!(metrics.contains(line), "{metrics}");
    assert!(metrics.contains("unstuck_money_at_stake{currency=\"EUR\"} 12\n"), "{metrics}");
    assert_eq!(incident.events(), ["checked inv-1", "checked inv-2"], "each is on record");
    incident.charges_again();
    let second = incident.run(&watch);
    assert_eq!(told(&second), ["changed inv-1", "look -"]);
    let changed = &second.json()[0];
    assert_eq!(
        (&changed["verdict"], &changed["before"]["verdict"]),
        (&"duplicated".into(), &"happened".into())
    );
    let filtered = incident.run("watch --once --where verdict:happened");
    assert_eq!(filtered.code, Some(2), "without --check there is no verdict");
}

/// Two at once would tell everything twice, and the slower would forget what the quicker saw.
#[test]
fn never_two_looks_at_once_and_a_signal_ends_it_well() {
    let incident = Incident::new();
    let mut running = incident
        .world
        .program(env!("CARGO_BIN_EXE_unstuck"))
        .args(["--config", "config.toml", "watch", "--every", "1s", "--state", "watch.json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(running.stdout.take().unwrap()).lines();
    let mut until = |wanted: &str| {
        let found = out.by_ref().map(Result::unwrap).find(|line| line.contains(wanted));
        found.unwrap_or_else(|| panic!("no {wanted}"))
    };
    until("\"look\"");
    let other = incident.run(ONCE);
    let what = "another watch is at work with the state watch.json, so nothing was looked at";
    let do_next = "Let that one end first, or look less often; another watch needs a file of its own.";
    assert_eq!((other.code, other.err), (Some(3), two_lines(what, do_next)));
    change(
        &incident.database,
        "INSERT INTO jobs VALUES ('inv-9', 'failed', '2026-05-04 10:00:00', 'Read timed out');",
    );
    until("inv-9");
    let pid = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(0));
    // What it knew is known to the next.
    let after = incident.run(ONCE);
    assert_eq!((after.code, after.out.as_str()), (Some(0), ""));
}

/// A clock that went on while a look took longer than the time between two is no reason to look twice.
#[test]
fn a_source_that_is_slow_holds_up_its_own_look_alone() {
    let incident = Incident::new();
    let connection = rusqlite::Connection::open(&incident.database).unwrap();
    let mut running = incident
        .world
        .program(env!("CARGO_BIN_EXE_unstuck"))
        .args(["--config", "config.toml", "watch", "--every", "1s", "--state", "watch.json"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let looks = || {
        let text = std::fs::read_to_string(incident.world.path("watch.json")).ok()?;
        serde_json::from_str::<Value>(&text).ok()?["looks"].as_u64()
    };
    while looks().is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    std::thread::sleep(Duration::from_millis(3_200));
    let before = looks().unwrap();
    connection.execute_batch("ROLLBACK").unwrap();
    std::thread::sleep(Duration::from_millis(400));
    let after = looks().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&running), rustix::process::Signal::TERM)
        .unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(0));
    assert!(
        after <= before + 2,
        "{before} looks, then {after} at once: those that were missed were made up for"
    );
}

#[test]
fn a_state_is_of_one_watch() {
    let incident = Incident::new();
    incident.run(ONCE);
    let other = incident.run(&format!("{ONCE} --where kind:invoice"));
    let what = "the state watch.json is of a watch of everything, not of where kind:invoice";
    let do_next = "Give each watch a file of its own with --state: what is new to one is not new to another.";
    assert_eq!((other.code, other.err), (Some(2), two_lines(what, do_next)));
    incident.world.write("watch.json", "{\"half");
    let broken = incident.run(ONCE);
    assert_eq!(broken.code, Some(2));
    assert!(broken.err.contains("watch.json is no state of a watch"), "{}", broken.err);
    assert_eq!(
        std::fs::read_to_string(incident.world.path("watch.json")).unwrap(),
        "{\"half",
        "it is left as it was"
    );
}

/// Without a configuration, two databases of which one is away.
#[test]
fn a_database_that_is_away_makes_nothing_gone() {
    let world = World::new();
    for name in ["shop.db", "mail.db"] {
        let row = "INSERT INTO jobs VALUES ('a', 'failed', '2026-05-04 10:00:00', 'timed out')";
        world.database(name, &format!("{} {row}", crate::world::TABLES));
    }
    let watch = format!("{ONCE} --db sqlite://shop.db --db sqlite://mail.db");
    let first = world.run(&watch);
    assert_eq!((first.code, first.json().len()), (Some(0), 3), "{first:?}");
    std::fs::remove_file(world.path("mail.db")).unwrap();
    let second = world.run(&watch);
    assert_eq!(second.code, Some(3), "{second:?}");
    assert!(!second.out.contains("\"event\":\"gone\""), "{}", second.out);
}
