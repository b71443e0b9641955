//! How commands end: the exit code says what stood in the way, whichever command asked, and two lines say what to do.

use crate::incident::Incident;
use crate::world::{Ran, World};
use pretty_assertions::assert_eq;
use rstest::rstest;
#[cfg(unix)]
use rustix::process::Signal;
#[cfg(unix)]
use std::process::Stdio;

/// The incident with a provider that is not there.
fn without_a_provider() -> Incident {
    let incident = Incident::new();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    let line = config.lines().find(|line| line.starts_with("base_url = ")).unwrap();
    let config = config.replace(line, "base_url = \"http://127.0.0.1:9\"");
    incident.world.write("config.toml", config);
    incident
}

const ASKING: [&str; 8] = [
    "check inv-1",
    "check --all",
    "show inv-1 --source jobs --check",
    "decide inv-1 --source jobs --done --reason because",
    "decide --all --where kind:invoice --done --reason because",
    "decide inv-1 --source jobs --done --reason because --dry-run",
    "doctor",
    "doctor --provider ledger --operation charge --reference inv-1",
];

#[test]
fn what_could_not_be_reached_is_3_whoever_asked() {
    let incident = without_a_provider();
    for arguments in ASKING.into_iter().chain(["watch --once --check", "reconcile --since 3h"]) {
        let ran = incident.run(arguments);
        assert_eq!(ran.code, Some(3), "{arguments}: {}{}", ran.out, ran.err);
    }
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("failed"));
}

/// Where no item lies in the window there may still be effects in it.
#[test]
fn a_list_that_nobody_read_is_told_where_there_are_no_items_too() {
    let ran = without_a_provider().run("reconcile --since 1s --json");
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{}", ran.err);
    assert!(ran.err.contains("was not listed, so what no item accounts for was not seen"), "{}", ran.err);
    assert!(ran.err.contains("nothing was matched"), "{}", ran.err);
}

/// No comfort where nothing was read: neither that nothing is odd nor that nothing happened twice.
#[test]
fn where_nothing_could_be_read_that_is_told_with_its_reason() {
    let incident = without_a_provider();
    for command in ["reconcile", "duplicates"] {
        let ran = incident.run(&format!("{command} --since 3h"));
        let told = "Nothing could be read, so ";
        assert!(ran.err.contains(told) && ran.err.contains(": ledger.charge: "), "{}", ran.err);
        assert!(!ran.err.contains("in what could be read"), "{}", ran.err);
    }
    let incident = Incident::new();
    incident.world.write("jobs.db", "no database at all, but a text that is long enough to be looked at");
    for command in ["reconcile", "duplicates"] {
        let ran = incident.run(&format!("{command} --since 3h"));
        assert!(ran.err.contains("Nothing could be read, so "), "{}", ran.err);
        assert!(!ran.err.contains("in what could be read"), "{}", ran.err);
    }
}

#[test]
fn a_secret_that_is_missing_is_2_whoever_asked() {
    let incident = Incident::new();
    for arguments in ASKING.into_iter().chain(["watch --once --check", "reconcile --since 3h"]) {
        let mut command = incident.world.command();
        command.env_remove("UNSTUCK_LEDGER_TOKEN").args(["--config", "config.toml"]);
        let ran = incident.world.ran(command.args(arguments.split(' ')).output().unwrap());
        assert_eq!(ran.code, Some(2), "{arguments}: {}{}", ran.out, ran.err);
    }
}

/// To insist is to decide without an answer: that is a decision like any other.
#[test]
fn who_insists_needs_no_answer() {
    let incident = without_a_provider();
    let ran = incident.run("decide inv-1 --source jobs --done --override --reason paid_in_cash");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[rstest]
#[case::unreachable("url = \"http://127.0.0.1:9/\"", 3)]
#[case::without_its_secret("url = \"http://127.0.0.1:9/{{ secret }}\"\nsecret_env = \"NOT_SET\"", 2)]
fn an_escalation_that_could_not_be_sent(#[case] place: &str, #[case] code: i32) {
    let incident = Incident::new();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    incident.world.write("config.toml", format!("{config}\n[escalation]\n{place}\n"));
    let ran = incident.run("decide inv-1 --source jobs --escalate --reason help");
    assert_eq!(ran.code, Some(code), "{}", ran.err);
    assert!(ran.err.contains("the escalation was not taken"), "{}", ran.err);
}

#[rstest]
#[case::option("list --jsn", "A similar argument exists: '--json'.")]
#[case::command("chek", "A similar subcommand exists: 'check'.")]
#[case::missing("decide inv-1 --done", "`unstuck decide --help` shows what there is.")]
fn a_wrong_call_is_told_in_two_lines(#[case] call: &str, #[case] do_next: &str) {
    let Ran { code, out, err } = World::new().run(call);
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!((code, out.as_str(), lines.len()), (Some(2), "", 2), "{err}");
    assert!(lines[0].starts_with("unstuck: ") && lines[1].contains(do_next), "{err}");
}

#[test]
fn a_help_that_was_asked_for_is_no_trouble() {
    let ran = World::new().run("list --help");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains("Usage: unstuck list"), "{}", ran.out);
}

#[test]
fn money_that_only_the_provider_knows_is_told_as_left_out() {
    let incident = Incident::new();
    for filter in ["amount>=5", "currency:EUR"] {
        let ran = incident.run(&format!("list --where {filter} --json"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
        assert!(ran.err.contains("2 findings have no known amount or currency"), "{}", ran.err);
        assert!(ran.err.contains("unstuck check --all --where"), "{}", ran.err);
    }
    // What passes by something else is not told of, and neither is what another word leaves out.
    for filter in ["kind:invoice", "amount>=5 kind:order"] {
        let words = ["list", "--json", "--where", filter];
        let mut command = incident.world.command();
        let ran = incident.world.ran(command.args(["--config", "config.toml"]).args(words).output().unwrap());
        assert!(!ran.err.contains("no known amount"), "{filter}: {}", ran.err);
    }
}

#[test]
fn a_report_over_what_cannot_be_read_does_not_say_that_there_is_nothing() {
    let incident = Incident::new();
    incident.run("check --all");
    let whole = incident.run("report --since 1h");
    assert!(whole.out.contains("Findings now: 2."), "{}", whole.out);
    incident.world.write("jobs.db", "no database at all, but a text that is long enough to be looked at");
    for (format, told) in [("md", "Findings now: not known"), ("html", "Findings now: not known")] {
        let ran = incident.run(&format!("report --since 1h --format {format}"));
        assert!(ran.code != Some(0) && ran.out.contains(told), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("jobs could not be read"), "{}", ran.out);
    }
    let line = incident.run("report --since 1h --format json").json().remove(0);
    assert_eq!(line["now"]["findings"], serde_json::Value::Null);
}

/// What a command would stumble over later, the doctor tells now, and all of it.
#[test]
fn the_doctor_tells_every_fault_that_a_command_would_stumble_over_later() {
    let incident = Incident::new();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    let more = "
        [keys]
        fly = ['x']
        check = ['Hyper-x']
        [views.odd]
        filter = 'verdct:x'
        [escalation]
        url = 'http://127.0.0.1:9/'
        body = { text = '{{ sumary }}' }
        [watch]
        url = 'http://127.0.0.1:9/'
        body = { text = '{{ text }} {{ key }}' }
    ";
    incident
        .world
        .write("config.toml", format!("receipts = {{ path = 'jobs.db/receipts.jsonl' }}\n{config}\n{more}"));
    let ran = incident.run("doctor --json");
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let bad: Vec<String> = ran
        .json()
        .iter()
        .filter(|line| line["health"] == "bad")
        .map(|line| format!("{}: {}", line["subject"].as_str().unwrap(), line["finding"].as_str().unwrap()))
        .collect();
    let told =
        ["`keys.check`", "`keys.fly`", "odd", "sumary", "no notice has a field `key`", "receipts.jsonl"];
    assert_eq!(bad.len(), told.len(), "{bad:#?}");
    for (line, told) in bad.iter().zip(told) {
        assert!(line.contains(told), "{told}: {line}");
    }
    assert_eq!(Incident::new().run("doctor").code, Some(0));
}

/// Every line that says that nothing is known says of whom, and why.
#[test]
fn whoever_did_not_answer_is_named_with_the_reason() {
    let incident = without_a_provider();
    let why = "ledger.charge: no connection: ";
    for asking in ["check inv-1", "check --all", "watch --once --check", "show inv-1 --source jobs --check"] {
        let ran = incident.run(asking);
        assert!(ran.err.contains(why) || ran.out.contains(why), "{asking}: {}{}", ran.out, ran.err);
    }
    let reasons = |ran: &Ran| ran.json()[0]["reasons"].to_string();
    assert!(reasons(&incident.run("check inv-1 --json")).contains(why));
    let decide = "decide inv-1 --source jobs --reason because";
    let refused = incident.run(&format!("{decide} --done"));
    assert!(refused.err.contains(why), "{}", refused.err);
    let refused = incident.run(&format!("{decide} --done --json"));
    assert!(reasons(&refused).contains(why) && refused.json()[0]["why"].to_string().contains(why));
    // Also where somebody insists on it, or hands it on.
    for choice in ["--escalate", "--done --override"] {
        let ran = incident.run(&format!("{decide} {choice}"));
        assert!(ran.err.contains("inv-1: the verdict is `unknown`: No answer that counts: "), "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
    }
    let mut command = incident.world.command();
    command.env_remove("UNSTUCK_LEDGER_TOKEN").args(["--config", "config.toml"]);
    let words = "decide inv-2 --source jobs --done --reason because".split(' ');
    let ran = incident.world.ran(command.args(words).output().unwrap());
    assert!(ran.err.contains("ledger.charge: ") && ran.err.contains("UNSTUCK_LEDGER_TOKEN"), "{}", ran.err);
}

/// Stopped before anybody answered: nothing is known, and the code says which signal it was.
#[cfg(unix)]
#[rstest]
#[case::interrupted(Signal::INT, 130)]
#[case::asked_to_end(Signal::TERM, 143)]
#[case::hung_up(Signal::HUP, 129)]
fn a_check_that_is_stopped_says_that_nothing_is_known(#[case] signal: Signal, #[case] code: i32) {
    let provider = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let incident = Incident::new();
    let config = std::fs::read_to_string(incident.world.path("config.toml")).unwrap();
    let line = config.lines().find(|line| line.starts_with("base_url = ")).unwrap();
    let config = config.replace(line, &format!("base_url = \"http://{}\"", provider.local_addr().unwrap()));
    incident.world.write("config.toml", config);
    let mut running = incident.world.program(env!("CARGO_BIN_EXE_unstuck"));
    let running = running
        .args(["--config", "config.toml", "check", "--all"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It asks, and hears nothing.
    let asked = provider.accept().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&running), signal).unwrap();
    let ran = incident.world.ran(running.wait_with_output().unwrap());
    drop(asked);
    assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{}", ran.err);
    assert!(ran.err.contains("Stopped before the first answer: nothing is known."), "{}", ran.err);
    assert!(!ran.err.contains("No findings"), "{}", ran.err);
}

/// Nothing was intended yet: that the audit cannot be had is told with the same code whoever needs it.
#[test]
fn an_audit_that_cannot_be_had_is_3_whoever_needs_it() {
    let incident = Incident::new();
    incident.world.write("audit.db", "no database at all, but a text that is long enough to be looked at");
    for arguments in [
        "check inv-1",
        "audit list",
        "proposals",
        "report",
        "decide inv-1 --source jobs --done --reason because",
        "decide --all --where kind:invoice --done --reason because",
        "decide inv-1 --source jobs --escalate --reason because",
        "approve 7c1f02ab --reason because",
        "withdraw 7c1f02ab --reason because",
    ] {
        let ran = incident.run(arguments);
        assert_eq!(ran.code, Some(3), "{arguments}: {}{}", ran.out, ran.err);
    }
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("failed"));
}

/// A report that nobody gave a window is of the last day, and says so.
#[test]
fn a_report_needs_neither_an_incident_nor_a_beginning() {
    let incident = Incident::new();
    incident.run("decide inv-1 --source jobs --done --reason charged");
    let (alone, day) = (incident.run("report --format csv"), incident.run("report --since 24h --format csv"));
    assert_eq!((alone.code, &alone.out), (Some(0), &day.out), "{}", alone.err);
    assert!(alone.out.contains("inv-1"), "{}", alone.out);
    assert_eq!(incident.run("report --until 1h").code, Some(2));
}
