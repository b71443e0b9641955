//! Hostile surroundings: disks that are full, folders that are read-only, files that are locked, moved, replaced or cut
//! short under the program, and a clock that runs backwards.
//!
//! In each: two lines, the exit code, no change of a row without a durable intent, and a good start afterwards settles it.

mod clock;
mod disk;
mod files;
mod locks;

use crate::incident::Incident;
use crate::witness::{self, Change, changes_of, decisions_of, entries_of};
use crate::world::Ran;
use rusqlite::Connection;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The incident with a log of every change of its rows.
fn witnessed() -> Incident {
    let incident = Incident::new();
    Connection::open(&incident.database).unwrap().execute_batch(&witness::triggers()).unwrap();
    incident
}

/// What every change of a row in the incident was.
fn changes(incident: &Incident) -> Vec<Change> {
    changes_of(&incident.database)
}

/// The decision that every test here is about.
const DECIDE: [&str; 8] =
    ["--config", "config.toml", "decide", "inv-1", "--source", "jobs", "--done", "--reason=charged"];

fn decide(incident: &Incident) -> Ran {
    incident.world.run_all(&DECIDE)
}

/// Waits until something is so.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} was awaited in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A decision that is on record as intended and waits for the source, which somebody else holds.
struct Intended<'a> {
    incident: &'a Incident,
    holder: Connection,
    child: Child,
}

impl<'a> Intended<'a> {
    fn begin(incident: &'a Incident) -> Self {
        let holder = Connection::open(&incident.database).unwrap();
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut command = incident.world.program(env!("CARGO_BIN_EXE_unstuck"));
        command.args(DECIDE).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let audit = incident.world.path("audit.db");
        wait_until("the intent", || {
            audit.exists() && entries_of(&audit).iter().any(|entry| entry.event == "intended")
        });
        // From here on it stands before the very file that is held, whatever takes that file's name.
        let opened = format!("/proc/{}/fd", child.id());
        wait_until("the source opened to be written", || {
            let links = std::fs::read_dir(&opened).into_iter().flatten().flatten();
            links
                .filter_map(|link| std::fs::read_link(link.path()).ok())
                .any(|file| file == incident.database)
        });
        Self { incident, holder, child }
    }

    /// Lets the source go.
    fn let_go(&self) {
        self.holder.execute_batch("ROLLBACK").unwrap();
    }

    /// Kills the program, between intent and write.
    fn killed(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.let_go();
    }

    fn ended(self) -> Ran {
        self.incident.world.ran(self.child.wait_with_output().unwrap())
    }
}

/// The error output is one line what and one line what to do.
fn assert_two_lines(ran: &Ran, code: i32, what: &str) {
    assert_eq!(ran.code, Some(code), "{ran:?}");
    assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
    assert!(ran.err.starts_with("unstuck: ") && ran.err.contains(what), "{}", ran.err);
    assert!(ran.err.lines().nth(1).unwrap().starts_with("         "), "{}", ran.err);
}

/// The audit is whole, its last decisions have these outcomes, and each has one.
fn assert_on_record(incident: &Incident, outcomes: &[&str]) {
    let verified = incident.run("audit verify");
    assert_eq!(verified.code, Some(0), "{}{}", verified.out, verified.err);
    let entries = entries_of(&incident.world.path("audit.db"));
    let decisions = decisions_of(&entries);
    assert!(decisions.values().all(|decision| decision.outcome.is_some()), "{decisions:?}");
    let decided = entries.iter().filter(|entry| !entry.decision.is_empty() && entry.event != "intended");
    assert_eq!(decided.map(|entry| &*entry.event).collect::<Vec<_>>(), outcomes);
}

/// Nothing was changed, and with the surroundings mended the same decision is carried out.
fn nothing_was_written_and_a_good_start_decides(incident: &Incident, outcomes: &[&str]) {
    assert_eq!(changes(incident), []);
    assert_eq!(incident.status_of("inv-1").as_deref(), Some("failed"));
    let good = decide(incident);
    assert_eq!(good.code, Some(0), "{}", good.err);
    assert_eq!((changes(incident).len(), incident.status_of("inv-1").as_deref()), (1, Some("done")));
    assert_on_record(incident, outcomes);
}

/// The row was written once, its outcome is not on record, and a good start finds that out by reading.
fn it_was_written_once_and_a_good_start_says_so(incident: &Incident) {
    assert_eq!((changes(incident).len(), incident.status_of("inv-1").as_deref()), (1, Some("done")));
    let good = incident.run("decide inv-2 --source jobs --escalate --reason because");
    assert_eq!(good.code, Some(0), "{}", good.err);
    assert!(good.err.contains("Broken off earlier: mark done inv-1"), "{}", good.err);
    assert!(good.err.contains("it was carried out"), "{}", good.err);
    assert_eq!(changes(incident).len(), 1, "the recovery wrote");
    assert_on_record(incident, &["applied", "applied"]);
}
