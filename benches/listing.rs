//! `unstuck list` beside the `sqlite3` program that prints the same rows of the same table.

mod measure;
mod table;

use measure::{Bounds, Fault, Run, highest, mebibytes, median, millis, run};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};
use unstuck::adapters::system::SystemClock;
use unstuck::ports::clock::Clock;

/// How often each program runs, in turns.
const PAIRS: usize = 5;
/// How much longer than `sqlite3` a listing may take.
const RATIO_MAX: f64 = 1.5;
/// How much memory a listing may hold.
const MEMORY_MAX: u64 = 150 * 1_000_000;

/// The spelling that the bounds are for, and the two that are shown beside it.
const SPELLINGS: [(&str, &[&str]); 3] = [("--json", &["--json"]), ("--csv", &["--csv"]), ("text", &[])];

fn main() -> Result<ExitCode, Fault> {
    let now = SystemClock.now();
    let path = table::prepare(now)?;
    println!("listing {} rows with {} findings, no index but the key's", table::ROWS, table::FINDINGS);
    let mut rival = rival(&path, now);
    let ours = |spelling: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unstuck"));
        command.arg("list").arg("--db").arg(format!("sqlite://{}", path.display())).args(spelling);
        command
    };
    let mut bounds = Bounds::default();
    // The warm-up: both read the whole file, and print the same keys.
    let (our_keys, their_keys) = (our_keys(&mut ours(&["--json"]))?, their_keys(&mut rival)?);
    let is_same = our_keys == their_keys && our_keys.len() as u64 == table::FINDINGS;
    bounds.check(is_same, &format!("the same rows: {} and {} keys", our_keys.len(), their_keys.len()));
    for (name, spelling) in SPELLINGS {
        let (mut our_runs, mut their_runs) = (Vec::new(), Vec::new());
        for _ in 0..PAIRS {
            our_runs.push(run(&mut ours(spelling))?);
            their_runs.push(run(&mut rival)?);
        }
        let ratio = report(name, &our_runs, &their_runs);
        if name == "--json" {
            bounds.check(ratio <= RATIO_MAX, &format!("unstuck / sqlite3 = {ratio:.2}, bound {RATIO_MAX}"));
        }
        bounds.check_memory(name, highest(our_runs.iter().map(|run| run.peak_bytes)), MEMORY_MAX);
    }
    Ok(bounds.exit())
}

/// Prints the medians and gives the ratio.
fn report(name: &str, ours: &[Run], theirs: &[Run]) -> f64 {
    let walls = |runs: &[Run]| runs.iter().map(|run| run.wall).collect::<Vec<_>>();
    let peak = |runs: &[Run]| mebibytes(highest(runs.iter().map(|run| run.peak_bytes)));
    let (our_wall, their_wall) = (median(&walls(ours)), median(&walls(theirs)));
    let ratio = our_wall.as_secs_f64() / their_wall.as_secs_f64();
    println!(
        "{name:8} unstuck {} ({}), sqlite3 {} ({}), ratio {ratio:.2}",
        millis(our_wall),
        peak(ours),
        millis(their_wall),
        peak(theirs)
    );
    ratio
}

/// The same rows by SQL, as cheap as can be: `sqlite3` cannot sort errors, so keys say which prove something, and the
/// times of this table can be compared as texts.
fn rival(path: &Path, now: chrono::DateTime<chrono::Utc>) -> Command {
    let old = table::stored(now - chrono::TimeDelta::minutes(30));
    let sql = format!(
        "SELECT key, status, updated_at, last_error FROM jobs \
         WHERE (status = 'running' AND updated_at < '{old}') OR (status = 'failed' AND key < 'refused')"
    );
    let mut command = Command::new("sqlite3");
    command.arg("-readonly").arg(path).arg(sql);
    command
}

fn our_keys(command: &mut Command) -> Result<BTreeSet<String>, Fault> {
    let printed = String::from_utf8(command.output()?.stdout)?;
    let key = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line)?;
        Ok(line["key"].as_str().unwrap_or_default().to_owned())
    };
    printed.lines().map(key).collect()
}

/// Keys begin a line; the other lines are the rest of an error.
fn their_keys(command: &mut Command) -> Result<BTreeSet<String>, Fault> {
    let output = command.output().map_err(|fault| format!("the sqlite3 program cannot be run: {fault}"))?;
    let printed = String::from_utf8(output.stdout)?;
    let keys = printed.lines().filter(|line| line.starts_with("invoice:"));
    Ok(keys.filter_map(|line| line.split('|').next()).map(str::to_owned).collect())
}
