//! Kills of what only reads, and of the recovery itself.

use super::instant::{Instant, Pace, Random};
use super::round::ITEMS;
use super::{Round, SEED};
use crate::ledger::Ledger;
use crate::witness::{Decision, changes_of, decisions_of, entries_of};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant as Moment};
use unstuck::adapters::record::SqliteRecord;
use unstuck::domain::audit::{Event, NewEntry};
use unstuck::ports::record::Record;

/// Charges and e-mails.
const OPERATIONS: usize = 2;
/// How often recoveries of a fresh round are killed until one was hit half-way.
const ROUNDS_MAX: usize = 8;

/// Runs it to its end, and says how long that took.
fn timed(mut command: Command) -> (std::process::Output, Duration) {
    let began = Moment::now();
    let output = command.output().unwrap();
    (output, began.elapsed())
}

/// Starts it and kills it, evenly over `whole`; whether the kill came in time.
fn kill_within(mut command: Command, random: &mut Random, whole: Duration) -> bool {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // A full pipe that nobody reads would hold the program up.
    let reader = std::thread::spawn({
        let mut out = child.stdout.take().unwrap();
        move || std::io::copy(&mut out, &mut std::io::sink())
    });
    std::thread::sleep(random.within(whole));
    child.kill().unwrap();
    let status = child.wait().unwrap();
    reader.join().unwrap().unwrap();
    status.signal() == Some(9)
}

#[test]
fn a_check_killed_at_any_instant_leaves_a_whole_audit_and_an_untouched_source() {
    let ledger = Ledger::new();
    let round = Round::new(&ledger, "delete");
    let source = std::fs::read(round.database()).unwrap();
    let check = || round.command(&["check", "--all", "--json"]);
    let (whole, took) = timed(check());
    assert_eq!(whole.status.code(), Some(0));
    let (mut random, mut kills) = (Random::new(SEED), 0);
    for _ in 0..8 {
        kills += usize::from(kill_within(check(), &mut random, took));
        assert!(std::fs::read(round.database()).unwrap() == source, "a check wrote to the source");
    }
    let (again, _) = timed(check());
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    let (verified, _) = timed(round.command(&["audit", "verify"]));
    assert_eq!(verified.status.code(), Some(0), "{}", String::from_utf8_lossy(&verified.stdout));
    let entries = entries_of(round.audit());
    let is_of_checks = |event: &str| matches!(event, "checked" | "listed");
    assert!(entries.iter().all(|entry| is_of_checks(&entry.event) && entry.decision.is_empty()));
    println!("kills of a check: {kills}, entries {}, whole runs 2", entries.len());
    // A batch is on record as a whole or not at all, and each whole run has put every item there.
    assert!(kills >= 4 && entries.len() >= 2 * ITEMS, "{kills} kills, {} entries", entries.len());
}

#[test]
fn an_export_killed_at_any_instant_changes_nothing() {
    let ledger = Ledger::new();
    let round = Round::new(&ledger, "delete");
    for _ in 0..3 {
        assert_eq!(timed(round.command(&["check", "--all", "--json"])).0.status.code(), Some(0));
    }
    let audit = std::fs::read(round.audit()).unwrap();
    let export = || round.command(&["audit", "export", "--format", "json"]);
    let (whole, took) = timed(export());
    // Each run has tried the list of each operation first, and signed what it put on record.
    assert_eq!(String::from_utf8_lossy(&whole.stdout).lines().count(), 3 * (OPERATIONS + ITEMS) + 3);
    let (mut random, mut kills) = (Random::new(SEED), 0);
    for _ in 0..8 {
        kills += usize::from(kill_within(export(), &mut random, took));
        assert!(std::fs::read(round.audit()).unwrap() == audit, "an export wrote to the audit");
    }
    let (again, _) = timed(export());
    assert!(again.stdout == whole.stdout, "the next export is another");
    println!("kills of an export: {kills}");
    assert!(kills >= 4, "{kills} kills");
}

/// The audit of a machine that stopped with every decision of a batch between intent and outcome: each intent of a real
/// run, without what followed. Half of the rows are put back, as if their write had not come to pass.
fn stopped_everywhere(round: &Round) -> usize {
    let whole = entries_of(round.audit());
    let intents: Vec<_> = whole.into_iter().filter(|entry| entry.event == "intended").collect();
    let [from, to] = ["audit.db", "whole.db"].map(|name| round.path(name));
    std::fs::rename(from, to).unwrap();
    round.unsign();
    let entries = intents.iter().map(|intent| NewEntry {
        at: intent.at.parse().unwrap(),
        event: Event::Intended,
        decision: Some(intent.decision.parse().unwrap()),
        source: intent.source.clone(),
        key: intent.key.clone(),
        operator: intent.operator.clone(),
        origin: intent.origin.clone(),
        // What the record adds by itself is not handed to it.
        body: {
            let mut body = intent.body.clone();
            body.as_object_mut().unwrap().remove("attachments");
            body
        },
        attachments: Vec::new(),
    });
    let record = SqliteRecord::open(round.audit()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(record.append(entries.collect())).unwrap();
    let source = rusqlite::Connection::open(round.database()).unwrap();
    for intent in intents.iter().step_by(2) {
        let row = &intent.body["row_seen"];
        let values =
            ["status", "updated_at", "last_error", "key"].map(|name| row[name].as_str().unwrap().to_owned());
        let sql = "UPDATE jobs SET status = ?1, updated_at = ?2, last_error = ?3 WHERE key = ?4";
        assert_eq!(source.execute(sql, values).unwrap(), 1);
    }
    intents.len()
}

#[test]
fn a_recovery_killed_at_any_instant_is_finished_by_the_next_and_writes_no_row() {
    let (ledger, mut random) = (Ledger::new(), Random::new(SEED));
    // Recovery is soon through: now and then every kill of a round falls before or after it.
    let hit = (0..ROUNDS_MAX).any(|_| killed_within_a_recovery(&ledger, &mut random) >= 1);
    assert!(hit, "no kill fell within a recovery");
}

/// Kills recoveries until one is through; says how many were hit half-way.
fn killed_within_a_recovery(ledger: &Ledger, random: &mut Random) -> usize {
    let round = Round::new(ledger, "delete");
    let (decided, _) = timed(round.decide("mark_done", "jobs", "invoice-charged-"));
    assert_eq!(decided.status.code(), Some(0), "{}", String::from_utf8_lossy(&decided.stderr));
    let open = stopped_everywhere(&round);
    let changes = changes_of(round.database());
    let outcomes = || {
        // Of a copy: what a kill left under way is for the program to find.
        let decisions = decisions_of(&entries_of(&round.copy().audit));
        decisions.into_values().filter(|decision| decision.outcome.is_some()).count()
    };
    // Nothing passes this filter: the run recovers, and that is all.
    let recover = || round.decide("mark_done", "jobs", "nothing-");
    let (mut pace, mut during) = (Pace::default(), 0);
    while outcomes() < open {
        // Killed until the recovery is through: the more is done, the later the next one is killed.
        let before = outcomes();
        let mut child = recover().stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        pace.kill(&mut child, Instant { lines: 0, delay: random.within(Duration::from_millis(400)) });
        let after = outcomes();
        during += usize::from(after > before && after < open);
    }
    let (last, _) = timed(recover());
    let told = String::from_utf8_lossy(&last.stderr).into_owned();
    assert!(last.status.code() == Some(0) && !told.contains("Broken off earlier"), "settled once: {told}");
    let decisions = decisions_of(&entries_of(round.audit()));
    let came_to = |event| decisions.values().filter(|decision| decision.came_to(event)).count();
    assert!(decisions.values().all(Decision::was_recovered));
    println!("recoveries killed half-way: {during}, recovered {open}");
    assert_eq!((came_to("applied"), came_to("refused")), (open / 2, open / 2), "{told}");
    assert_eq!(changes_of(round.database()), changes, "the recovery wrote to the source");
    assert_eq!(timed(round.command(&["audit", "verify"])).0.status.code(), Some(0));
    during
}
