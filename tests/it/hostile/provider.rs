//! A provider that means harm: every answer that is not one is `unknown`, soon, and in little memory.

use super::server::{Act, Server, answer, tells};
use super::table::{Case, Ends, cases};
use crate::world::{TABLES, World};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The most memory that the whole program may have held at any moment.
const MEMORY_KIB_MAX: u64 = 200 * 1024;
/// How long a check of four jobs may take: two tries of one second each, their pauses, and a slow machine.
const TIME_MAX: Duration = Duration::from_secs(15);
/// The most bytes on record: four checks with 64 KiB of kept answers each, twice for the file's own pages and the words.
const RECORD_BYTES_MAX: u64 = 2 * 4 * 64 * 1024;
/// How many cases run at once: most of their time is waiting.
const AT_ONCE: usize = 3;

const CONFIG: &str = r#"
[audit]
path = "audit.db"
[[sources]]
name = "jobs"
url = "sqlite://jobs.db"
preset = "jobs"
kind = "invoice"
[kinds.invoice]
risk = "financial"
check = "hostile.OPERATION"
reference = "{{ key }}"
[providers.hostile]
base_url = "BASE"
secret_env = "UNSTUCK_LEDGER_TOKEN"
PACE
"#;

/// The shipped preset's bounds, but for the waits. Three ways to look up.
const PRESET: &str = r#"
type = "provider"
name = "hostile"
title = "Hostile"
auth = { kind = "bearer" }
[limits]
tries_max = 2
request_seconds_max = 1
check_seconds_max = 6

[operations.list]
settle = "1s"
lookback = "90d"
path = "/v1/charges"
query = { reference = "{{ reference }}" }
success = [{ path = "$.error", exists = false }]
effects = { list = "$.data", id = "$.id", reference = "$.reference", status = "$.status", amount = "$.amount", currency = "$.currency", unit = "minor", time = "$.created", time_format = "epoch_s" }
statuses = { happened = ["succeeded"] }
paging = { kind = "last_id", parameter = "starting_after", more = "$.has_more" }

[operations.one]
settle = "1s"
lookback = "90d"
path = "/v1/charges/{{ reference }}"
absence = "status_404"
absence_when = [{ path = "$.error", equals = "no_such_charge" }]
effects = { one = "$", id = "$.id", reference = "$.reference", status = "$.status" }
statuses = { happened = ["succeeded"] }
paging = { kind = "none" }

[operations.urls]
settle = "1s"
lookback = "90d"
path = "/v1/charges"
effects = { list = "$.data", id = "$.id", reference = "$.reference", status = "$.status" }
statuses = { happened = ["succeeded"] }
paging = { kind = "next_url", next = "$.next" }
"#;

const ROWS: &str = "
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4)
INSERT INTO jobs SELECT 'inv-' || i, 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'Read timed out' FROM n;
";

/// What a check of the four jobs came to.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) code: Option<i32>,
    lines: Vec<Value>,
    pub(super) err: String,
    pub(super) took: Duration,
    memory_kib: u64,
    record_bytes: u64,
    requests: usize,
}

fn check(operation: &str, act: Act) -> Checked {
    check_in(&World::new(), operation, act)
}

fn check_in(world: &World, operation: &str, act: Act) -> Checked {
    check_paced(world, operation, "pace_per_second = 1000", act)
}

/// The same at a pace of the test's own, as the configuration has it.
pub(super) fn check_paced(world: &World, operation: &str, pace: &str, act: Act) -> Checked {
    let server = Server::start(act);
    world.database("jobs.db", &format!("{TABLES}{ROWS}"));
    std::fs::create_dir(world.path("presets")).unwrap();
    world.write("presets/hostile.toml", PRESET);
    world.write(
        "config.toml",
        CONFIG.replace("OPERATION", operation).replace("BASE", &server.base).replace("PACE", pace),
    );
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_unstuck"));
    command.args(["--config", "config.toml", "check", "--all", "--json"]).current_dir(world.path(""));
    command.env_clear().env("HOME", world.path("")).env("UNSTUCK_LEDGER_TOKEN", "sk_test_7");
    let began = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (out, err, memory_kib) = std::thread::scope(|scope| {
        let out = scope.spawn(move || text_of(&mut out));
        let err = scope.spawn(move || text_of(&mut err));
        let memory_kib = peak_memory_kib(&mut child, began + 2 * TIME_MAX);
        (out.join().unwrap(), err.join().unwrap(), memory_kib)
    });
    let took = began.elapsed();
    let size = |name: &str| std::fs::metadata(world.path(name)).map_or(0, |data| data.len());
    Checked {
        code: child.wait().unwrap().code(),
        lines: out.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        err,
        took,
        memory_kib,
        record_bytes: size("audit.db") + size("audit.db-wal"),
        requests: server.requests(),
    }
}

fn text_of(output: &mut impl Read) -> String {
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    text
}

/// Waits for the program's end, or ends it at the deadline, and tells the most memory that it was seen to hold.
///
/// The system keeps the peak while the program lives (`VmHWM`), so a look now and then misses nothing but the last moment.
fn peak_memory_kib(child: &mut Child, deadline: Instant) -> u64 {
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let told = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let now = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = now.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(now.unwrap_or(0));
        if Instant::now() > deadline {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    peak
}

pub(super) fn each<'checked>(checked: &'checked Checked, field: &str) -> Vec<&'checked Value> {
    checked.lines.iter().map(|line| &line[field]).collect()
}

/// Everything that is wrong with how a case came out, in words.
fn faults(case: &Case, checked: &Checked) -> Vec<String> {
    let mut faults = Vec::new();
    let mut must = |holds: bool, sentence: &str| {
        if !holds {
            faults.push(format!("{}: {sentence}: {checked:?}", case.name));
        }
    };
    must(each(checked, "verdict") == vec!["unknown"; 4], "four verdicts are unknown");
    must(!each(checked, "advice").contains(&&json!("retry")), "nothing is to be retried");
    let codes: &[i32] = match case.ends {
        Ends::Misread => &[0],
        Ends::Unreachable => &[3],
        Ends::Either => &[0, 3],
    };
    must(
        checked.code.is_some_and(|code| codes.contains(&code)),
        &format!("the exit code is one of {codes:?}"),
    );
    must(!checked.err.contains("panicked"), "nothing panics");
    must(checked.took < TIME_MAX, "it takes little time");
    must(checked.requests > 0, "the provider was asked");
    must(checked.record_bytes < RECORD_BYTES_MAX, "little is kept on record");
    must(
        checked.lines.iter().map(|line| line.to_string().len()).sum::<usize>() < 40_000,
        "little is printed",
    );
    if cfg!(target_os = "linux") {
        must((1..MEMORY_KIB_MAX).contains(&checked.memory_kib), "it takes little memory");
    }
    faults
}

#[test]
fn every_hostile_answer_is_unknown_soon_and_in_little_memory() {
    let (cases, next) = (cases(), AtomicUsize::new(0));
    let (faulty, told) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let checked = check(case.operation, case.act.clone());
                    let line = format!(
                        "{:<40} {:>5.1} s {:>4} MB {:>8} bytes on record {:>4} requests",
                        case.name,
                        checked.took.as_secs_f64(),
                        checked.memory_kib / 1024,
                        checked.record_bytes,
                        checked.requests
                    );
                    told.lock().unwrap().push(line);
                    faulty.lock().unwrap().extend(faults(case, &checked));
                }
            });
        }
    });
    let mut told = told.into_inner().unwrap();
    told.sort();
    println!("{}", told.join("\n"));
    let faulty = faulty.into_inner().unwrap();
    assert_eq!(told.len(), cases.len());
    assert!(faulty.is_empty(), "{}", faulty.join("\n"));
}

/// The same check of the same jobs tells presence and absence where the provider means well: the table above could fail.
#[test]
fn a_provider_that_means_well_is_understood() {
    for (body, verdict) in [
        (r#"{"data":[],"has_more":false}"#, "not_found"),
        (
            r#"{"data":[{"id":"ch_1","reference":"REFERENCE","status":"succeeded","amount":1200,"currency":"eur","created":1800000000}],"has_more":false}"#,
            "happened",
        ),
    ] {
        let checked = check(
            "list",
            tells(move |asked| answer("200 OK", "", body.replace("REFERENCE", &asked.query("reference")))),
        );
        assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""));
        assert_eq!(each(&checked, "verdict"), vec![verdict; 4]);
    }
}

/// A question that is asked again has two answers: each is kept, beside its own hash.
#[test]
fn each_kept_answer_stands_beside_its_own_hash() {
    let bodies = [r#"{"error":"busy"}"#, r#"{"data":[],"has_more":false}"#];
    let world = World::new();
    let seen: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let answers = tells(move |asked| {
        let reference = asked.query("reference");
        let mut seen = seen.lock().unwrap();
        let is_first = !seen.contains(&reference);
        seen.push(reference);
        if is_first { answer("500 Oops", "", bodies[0]) } else { answer("200 OK", "", bodies[1]) }
    });
    let checked = check_in(&world, "list", answers);
    assert_eq!((checked.code, each(&checked, "verdict")), (Some(0), vec![&json!("not_found"); 4]));
    let exported = world.run("audit export --format json --audit-file audit.db").json();
    let hash = |body: &str| unstuck::domain::cell::hex(&Sha256::digest(body));
    let kept = json!(bodies.map(|body| json!({ "sha256": hash(body), "text": body })));
    // What follows the entries is what was signed.
    let entries = exported.iter().filter(|line| line["seq"].is_number());
    assert_eq!(entries.map(|line| &line["attachments"]).collect::<Vec<_>>(), vec![&kept; 4]);
}
