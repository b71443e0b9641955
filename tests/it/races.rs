//! Two operators, a console and a live worker over the same items, all at once.
//!
//! Nobody's work is overwritten: every decision replaced exactly the row that it had seen, every update of the worker is
//! there until the worker or a decision that had seen it followed, and what each program told is what is on record.

use crate::ledger::Ledger;
use crate::pty::terminal::{Start, Terminal};
use crate::witness::{self, Change, agree, changes_of, decisions_of, entries_of};
use crate::world::{Ran, TABLES, World};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const ITEMS: usize = 1_000;
/// What the console decides: these keys, which are also the first that the others come to.
const CONSOLE_FILTER: &str = "key:order-charged-00";
const CONSOLE_ITEMS: usize = 99;
/// How long anything may take.
const PATIENCE: Duration = Duration::from_mins(4);
/// How long the worker rests between two updates.
const WORKER_RESTS: Duration = Duration::from_millis(15);
/// What each update of the worker writes, with a number of its own after it.
const TOKEN: &str = "Read timed out: worker-";

fn rows() -> String {
    format!(
        "WITH RECURSIVE n(i, at) AS (
           SELECT 1, strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours') UNION ALL SELECT i + 1, at FROM n WHERE i < {ITEMS})
         INSERT INTO processed_items SELECT printf('order-charged-%04d', i), 'failed', 1, at, 'Read timed out' FROM n;"
    )
}

/// The worker: it takes items and loses them again, always by compare and set, with a token of its own in each update.
/// Every second time it goes for the very item that somebody has just intended to decide. Returns how many it wrote.
fn work(source: &Path, audit: &Path, stop: &AtomicBool) -> usize {
    let mut connection = Connection::open(source).unwrap();
    connection.busy_timeout(Duration::from_secs(30)).unwrap();
    let mut written = 0;
    for turn in 0_usize.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        std::thread::sleep(WORKER_RESTS);
        let intended = if turn % 2 == 0 { newest_intent(audit) } else { None };
        let key = intended.unwrap_or_else(|| format!("order-charged-{:04}", turn * 7_919 % ITEMS + 1));
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        let sql = "SELECT status, last_error FROM processed_items WHERE item_key = ?1";
        let (status, error): (String, Option<String>) =
            transaction.query_row(sql, [&key], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        // What is done is taken again now and then, as a job that is asked for anew.
        if status == "done" && turn % 5 != 0 {
            continue;
        }
        let status_next = if status == "failed" { "running" } else { "failed" };
        let sql = "UPDATE processed_items SET status = ?1, attempts = attempts + 1, last_error = ?2,
                     updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours')
                   WHERE item_key = ?3 AND status IS ?4 AND last_error IS ?5";
        let token = format!("{TOKEN}{turn}");
        written += transaction.execute(sql, params![status_next, token, key, status, error]).unwrap();
        transaction.commit().unwrap();
    }
    written
}

/// Stops the worker, also where the test fails.
struct StopAtTheEnd<'a>(&'a AtomicBool);

impl Drop for StopAtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn newest_intent(audit: &Path) -> Option<String> {
    let connection = Connection::open(audit).unwrap();
    connection.busy_timeout(Duration::from_secs(30)).unwrap();
    let sql = "SELECT key FROM entries WHERE event = 'intended' ORDER BY seq DESC LIMIT 1";
    connection.query_row(sql, [], |row| row.get(0)).optional().unwrap()
}

/// Starts one operator on everything.
fn decide_all(world: &World, operator: &str) -> Child {
    let mut command = world.program(env!("CARGO_BIN_EXE_unstuck"));
    command.args([
        "--config",
        "config.toml",
        "--operator",
        operator,
        "decide",
        "--all",
        "--where",
        "kind:order",
    ]);
    command.args(["--source", "processed_items", "--done", "--reason", "seen at the provider", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The console with its first hundred checked, selected and ready to be confirmed.
fn console(world: &World) -> Terminal {
    let arguments = format!("--config {} --operator cleo", world.path("config.toml").display());
    let environment = [("UNSTUCK_LEDGER_TOKEN", "sk_test_7")];
    let mut terminal =
        Terminal::start(&Start { arguments: &arguments, environment: &environment, ..Start::default() });
    terminal.shows("findings  read");
    terminal.press("/");
    terminal.shows("Filter: ");
    terminal.press(CONSOLE_FILTER);
    terminal.shows(&format!("{CONSOLE_ITEMS} shown"));
    terminal.press("\r");
    terminal.hides("Filter: ");
    terminal.press("C");
    terminal.shows(&format!("{CONSOLE_ITEMS} of {CONSOLE_ITEMS} checked, 0 unknown."));
    terminal.press("a");
    terminal.press("d");
    terminal.shows("Reason [");
    terminal.press("seen on the screen");
    terminal.press("\t");
    terminal.press(&CONSOLE_ITEMS.to_string());
    terminal.shows(&format!("done: [{CONSOLE_ITEMS}"));
    terminal
}

/// Waits until something is so.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} was awaited in vain");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What an operator's program said of itself.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    applied: usize,
    refused: usize,
    failed: usize,
}

/// The summary on the error output: `mark done: 12 applied, 3 refused (…), 0 failed, …`.
fn told_by(ran: &Ran) -> Told {
    let lines = || ran.err.lines();
    let summary = lines().find(|line| line.starts_with("mark done: ")).expect("it came to its end");
    let number = |word: &str| {
        let (before, _) = summary.split_once(word).unwrap();
        before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    Told { applied: number(" applied"), refused: number(" refused"), failed: number(" failed") }
}

fn is_the_workers(change: &Change) -> bool {
    change
        .new
        .as_ref()
        .is_some_and(|row| row["last_error"].as_str().is_some_and(|error| error.starts_with(TOKEN)))
}

#[test]
fn two_operators_a_console_and_a_worker_overwrite_nothing_of_each_other() {
    let (ledger, world) = (Ledger::new(), World::in_memory());
    let database = world.database("jobs.db", &format!("{TABLES}{}{}", rows(), witness::triggers()));
    world.write("config.toml", ledger.configuration());
    let audit = world.path("audit.db");

    let mut terminal = console(&world);
    let stop = AtomicBool::new(false);
    let (ran, written) = std::thread::scope(|scope| {
        let stopping = StopAtTheEnd(&stop);
        let worker = scope.spawn(|| work(&database, &audit, &stop));
        let operators = ["ana", "ben"].map(|name| {
            let child = decide_all(&world, name);
            scope.spawn(move || child.wait_with_output().unwrap())
        });
        wait_until("the first intent", || {
            assert!(
                !operators.iter().any(std::thread::ScopedJoinHandle::is_finished),
                "an operator's program ended at once"
            );
            newest_intent(&audit).is_some()
        });
        terminal.press("\r");
        let ran = operators.map(|operator| world.ran(operator.join().unwrap()));
        wait_until("the console's summary", || terminal.contents().contains(" marked done, "));
        drop(stopping);
        (ran, worker.join().unwrap())
    });
    let summary = terminal.contents();
    terminal.press("\x03");
    terminal.is_over(0);
    assert!(!summary.contains("locked"), "{summary}");

    let verified = world.run("--config config.toml audit verify");
    assert_eq!(verified.code, Some(0), "{}{}", verified.out, verified.err);
    let decisions = decisions_of(&entries_of(&audit));
    assert!(decisions.values().all(|decision| decision.outcome.is_some()), "one is left without an outcome");
    assert!(!decisions.values().any(witness::Decision::was_recovered), "one was taken for broken off");

    // intended = applied + refused + failed, and what each operator was told is what is on record of them.
    let count = |operator: Option<&str>, is_intended: Option<bool>, event: &str| {
        let is_counted = |decision: &&witness::Decision| {
            operator.is_none_or(|name| decision.last().operator == name)
                && is_intended.is_none_or(|is| decision.intent.is_some() == is)
                && decision.came_to(event)
        };
        decisions.values().filter(is_counted).count()
    };
    let intended = decisions.values().filter(|decision| decision.intent.is_some()).count();
    let [applied, refused, failed] =
        ["applied", "refused", "failed"].map(|event| count(None, Some(true), event));
    let refused_before = count(None, Some(false), "refused");
    assert_eq!(intended, applied + refused + failed);
    assert_eq!(decisions.len(), intended + refused_before);
    let mut locked = 0;
    for (operator, ran) in ["ana", "ben"].into_iter().zip(&ran) {
        let told = told_by(ran);
        // Where the source could not be read, nothing was begun: that is told, and counted as failed.
        let unread = ran.err.lines().filter(|line| line.starts_with("unstuck: nothing was changed")).count();
        locked += ran.err.matches("locked").count();
        let [applied, refused, failed] =
            ["applied", "refused", "failed"].map(|event| count(Some(operator), None, event));
        assert_eq!(told, Told { applied, refused, failed: failed + unread }, "{operator}: {}", ran.err);
        assert!(matches!(ran.code, Some(0 | 1)), "{operator}: {}", ran.err);
    }

    let changes = changes_of(&database);
    let (workers, ours): (Vec<_>, Vec<_>) = changes.iter().partition(|change| is_the_workers(change));
    let writes = agree(decisions.values(), ours.iter().copied());
    let mut latest: BTreeMap<&str, &Change> = BTreeMap::new();
    let mut lost = 0;
    for change in &changes {
        if let Some(before) = latest.insert(&change.key, change) {
            lost += usize::from(before.new != change.old);
            assert!(is_the_workers(before) || is_the_workers(change), "decided twice in a row: {change:?}");
        }
    }
    let seen_by = |name| decisions.values().filter(|decision| decision.last().operator == name).count();
    println!(
        "decisions applied + refused = decisions intended: {intended} = applied {applied} + refused {refused} + failed \
         {failed}; refused before an intent {refused_before}; of ana {}, ben {}, cleo {}; worker updates {written}, \
         lost: {lost}; changes by decisions {writes}, each with its own; told of locks {locked}",
        seen_by("ana"),
        seen_by("ben"),
        seen_by("cleo"),
    );
    assert_eq!((workers.len(), lost), (written, 0));
    assert_eq!((writes, failed, locked), (applied, 0, 0));
    // They did meet: two hold the same list, the worker goes for what is being decided, and the console is in it too.
    assert!(refused_before > ITEMS / 2 && written > 50 && seen_by("cleo") > 0);
}
