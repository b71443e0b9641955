//! A round: 200 items in files of their own, decided by runs that are killed.

use super::{Counts, Pace, Random};
use crate::ledger::Ledger;
use crate::witness::{self, Decision, agree, changes_of, decisions_of, entries_of};
use crate::world::{TABLES, World};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is decided in one go: items of one source, by the beginning of their keys.
struct Batch {
    source: &'static str,
    /// In the record's word; the argument is its last part.
    choice: &'static str,
    keys: &'static str,
    items: usize,
}

const fn batch(source: &'static str, choice: &'static str, keys: &'static str, items: usize) -> Batch {
    Batch { source, choice, keys, items }
}

/// All that is to be decided in a round.
const BATCHES: [Batch; 7] = [
    batch("jobs", "mark_done", "invoice-charged-", 40),
    batch("processed_items", "escalate", "handed-on-", 20),
    batch("jobs", "retry", "invoice-absent-", 40),
    batch("processed_items", "mark_done", "order-charged-", 30),
    batch("processed_items", "retry", "order-absent-", 30),
    batch("sent_emails", "mark_done", "receipt-charged-", 20),
    batch("sent_emails", "retry", "receipt-absent-", 20),
];

/// How many that are.
pub const ITEMS: usize = 200;

const ESCALATED: &str = "handed-on-";

/// The items, all of two hours ago.
fn rows() -> String {
    let mut sql = String::from("BEGIN;");
    for Batch { source, keys, items, .. } in BATCHES {
        let values = match source {
            "jobs" => "'failed', at, 'Read timed out'",
            "processed_items" => "'failed', 1, at, 'Read timed out'",
            "sent_emails" => "'running', at",
            other => panic!("{other}"),
        };
        sql.push_str(&format!(
            "WITH RECURSIVE n(i, at) AS (
               SELECT 1, strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours')
               UNION ALL SELECT i + 1, at FROM n WHERE i < {items})
             INSERT INTO {source} SELECT printf('{keys}%03d', i), {values} FROM n;"
        ));
    }
    sql + "COMMIT;"
}

/// A round.
pub struct Round {
    world: World,
    database: PathBuf,
    audit: PathBuf,
    counts: Counts,
    /// Every decision that some kill left without an outcome.
    broken_off: BTreeSet<String>,
    /// How many items of each batch the last kill left decided.
    settled: BTreeMap<&'static str, usize>,
}

impl Round {
    pub fn new(ledger: &Ledger, journal: &str) -> Self {
        let world = World::new();
        let tables = format!("PRAGMA journal_mode = {journal}; {TABLES}{}{}", rows(), witness::triggers());
        let database = world.database("jobs.db", &tables);
        world.write("config.toml", ledger.configuration());
        let audit = world.path("audit.db");
        Self {
            world,
            database,
            audit,
            counts: Counts::default(),
            broken_off: BTreeSet::new(),
            settled: BTreeMap::new(),
        }
    }

    /// Decides everything, killed as long as there are kills left.
    pub fn play(&mut self, kills_left: &AtomicUsize, random: &mut Random, pace: &mut Pace) {
        for batch in &BATCHES {
            // Every run is killed or gets to the end of the batch, so this ends.
            while self.run(batch, kills_left, random, pace).is_none() {}
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.world.path(name)
    }

    pub fn database(&self) -> &Path {
        &self.database
    }

    pub fn audit(&self) -> &Path {
        &self.audit
    }

    /// Takes away what was signed, for an audit that a test makes by itself.
    pub fn unsign(&self) {
        self.world.unsign();
    }

    /// The program on the configuration.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.world.program(env!("CARGO_BIN_EXE_unstuck"));
        command.args(["--config", "config.toml"]).args(arguments);
        command
    }

    /// The program on all items of a source whose keys begin so.
    pub fn decide(&self, choice: &str, source: &str, keys: &str) -> Command {
        let choice = choice.trim_start_matches("mark_");
        let mut command = self.command(&["decide", "--all", "--source", source, "--json"]);
        command.args(["--where", &format!("key:{keys}"), &format!("--{choice}")]);
        command.args(["--reason", "seen at the provider"]);
        command
    }

    /// One run over a batch; `None` where it was killed.
    fn run(
        &mut self,
        batch: &Batch,
        kills_left: &AtomicUsize,
        random: &mut Random,
        pace: &mut Pace,
    ) -> Option<()> {
        let mut command = self.decide(batch.choice, batch.source, batch.keys);
        if kills_left.load(Ordering::Relaxed) == 0 {
            let ran = self.world.ran(command.output().unwrap());
            has_ended_well(batch, ran.code, &ran.err);
            return Some(());
        }
        let errors = std::fs::File::create(self.world.path("errors")).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
        let settled = self.settled.get(batch.keys).copied().unwrap_or(0);
        let refusals = if batch.keys == ESCALATED { settled } else { 0 };
        let instant = pace.instant(random, refusals, batch.items - settled);
        let status = pace.kill(&mut child, instant);
        if status.signal() == Some(9) {
            // Two rounds may both take the last one: a kill more does no harm.
            let _none_left =
                kills_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            self.look_at_the_kill(child.id());
            return None;
        }
        let told = std::fs::read_to_string(self.world.path("errors")).unwrap();
        has_ended_well(batch, status.code(), &told);
        Some(())
    }

    /// What a kill left, as it lies there, to be looked at without touching it.
    pub fn copy(&self) -> Copied {
        let folder = tempfile::tempdir().unwrap();
        for file in ["jobs.db", "audit.db"] {
            for name in [file.to_owned(), format!("{file}-journal"), format!("{file}-wal")] {
                let from = self.world.path(&name);
                if from.exists() {
                    std::fs::copy(from, folder.path().join(name)).unwrap();
                }
            }
        }
        Copied {
            database: folder.path().join("jobs.db"),
            audit: folder.path().join("audit.db"),
            _folder: folder,
        }
    }

    /// Where a kill fell; and nothing is written that is not intended.
    fn look_at_the_kill(&mut self, process: u32) {
        let copy = self.copy();
        let (changes, decisions) = (changes_of(&copy.database), decisions_of(&entries_of(&copy.audit)));
        let intents = || decisions.values().filter_map(|decision| decision.intent.as_ref());
        for change in &changes {
            let is_intended =
                intents().any(|intent| intent.key == change.key && intent.row("row_seen") == change.old);
            assert!(is_intended, "written without an intent on record: {change:?}");
        }
        let open: Vec<_> = decisions.iter().filter(|(_, decision)| decision.outcome.is_none()).collect();
        assert!(open.len() <= 1, "one process, one decision at a time: {open:?}");
        self.broken_off.extend(open.iter().map(|(id, _)| (*id).clone()));
        let is_of_the_killed = |decision: &Decision| {
            decision.intent.as_ref().is_some_and(|intent| intent.body["process"] == process)
        };
        for Batch { keys, .. } in BATCHES {
            let is_settled = |decision: &&Decision| {
                decision.last().key.starts_with(keys)
                    && (decision.came_to("applied")
                        || changes.iter().any(|change| change.key == decision.last().key))
            };
            let settled: BTreeSet<_> =
                decisions.values().filter(is_settled).map(|decision| &decision.last().key).collect();
            self.settled.insert(keys, settled.len());
        }
        let place = match open.first() {
            Some((_, decision)) if is_of_the_killed(decision) => {
                if changes.iter().any(|change| change.key == decision.last().key) {
                    &mut self.counts.after_the_write
                } else {
                    &mut self.counts.after_the_intent
                }
            }
            Some(_) => {
                self.counts.while_recovering += 1;
                &mut self.counts.before_the_intent
            }
            None if decisions.values().any(is_of_the_killed) => &mut self.counts.after_an_outcome,
            None => &mut self.counts.before_the_intent,
        };
        *place += 1;
    }

    /// Every item has one outcome, which agrees with its row and with what the triggers saw.
    pub fn account(mut self, ledger: &Ledger) -> Counts {
        let verified = self.world.run("--config config.toml audit verify");
        assert_eq!(verified.code, Some(0), "{}{}", verified.out, verified.err);
        let entries = entries_of(&self.audit);
        let decisions = decisions_of(&entries);
        let open = decisions.values().find(|decision| decision.outcome.is_none());
        assert!(open.is_none(), "left without an outcome: {open:?}");

        let changes = changes_of(&self.database);
        self.counts.writes = agree(decisions.values(), &changes);
        let mut writes: BTreeMap<&str, usize> = BTreeMap::new();
        for change in &changes {
            *writes.entry(&change.key).or_default() += 1;
        }
        for Batch { keys, items, choice, .. } in BATCHES {
            for number in 1..=items {
                let key = format!("{keys}{number:03}");
                let of_item = || decisions.values().filter(|decision| decision.last().key == key);
                let applied: Vec<_> = of_item().filter(|decision| decision.came_to("applied")).collect();
                assert_eq!(applied.len(), 1, "{key}: {applied:?}");
                assert_eq!(applied[0].last().body["choice"], choice, "{key}");
                let expected = usize::from(keys != ESCALATED);
                assert_eq!(writes.get(&*key).copied().unwrap_or(0), expected, "{key} was written so often");
            }
        }
        let recovered = decisions.iter().filter(|(_, decision)| decision.was_recovered());
        let recovered: BTreeSet<String> = recovered.map(|(id, _)| id.clone()).collect();
        assert_eq!(recovered, self.broken_off, "what was recovered is what kills had broken off");

        let notices = ledger.notices();
        let different: BTreeSet<&String> = notices.iter().collect();
        let escalated = BATCHES.iter().find(|batch| batch.keys == ESCALATED).unwrap().items;
        assert_eq!(
            different.len(),
            escalated,
            "each item is escalated under one key, however often it is sent"
        );

        let intended = || decisions.values().filter(|decision| decision.intent.is_some());
        let came_to = |event| intended().filter(|decision| decision.came_to(event)).count();
        Counts {
            rounds: 1,
            items: ITEMS,
            intents: intended().count(),
            applied: came_to("applied"),
            refused: came_to("refused"),
            failed: came_to("failed"),
            refused_before_an_intent: decisions.len() - intended().count(),
            recovered: recovered.len(),
            notices: notices.len(),
            ..self.counts
        }
    }
}

/// A run that nobody killed: it refuses nothing but what was escalated before, and says so.
fn has_ended_well(batch: &Batch, code: Option<i32>, told: &str) {
    let mut lines = told.lines().filter(|line| line.starts_with("unstuck: "));
    if batch.keys == ESCALATED {
        assert!(matches!(code, Some(0 | 1)), "{told}");
        assert!(lines.all(|line| line.contains("it was escalated already, exactly as it is")), "{told}");
    } else {
        assert_eq!((code, lines.next()), (Some(0), None), "{told}");
    }
    assert!(told.contains(", 0 failed, 0 left out"), "{told}");
}

/// A copy of the files.
pub struct Copied {
    database: PathBuf,
    pub audit: PathBuf,
    _folder: tempfile::TempDir,
}
