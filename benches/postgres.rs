//! `unstuck list` on a large PostgreSQL table beside the `psql` program that prints the same rows: with and without an
//! index on the status.
//!
//! The server is the one of `$UNSTUCK_TEST_POSTGRES`; its database `unstuck_bench` is made once and kept.

mod measure;

use measure::{Bounds, Fault, ReadRun, highest, mebibytes, median, millis, run, run_and_read};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// How often each program runs, in turns.
const PAIRS: usize = 7;
/// How much longer than `psql` the first line and the whole listing may take.
const RATIO_MAX: f64 = 1.5;
/// How much memory a listing may hold.
const MEMORY_MAX: u64 = 150 * 1_000_000;

/// All rows.
const ROWS: u64 = 5_000_000;
/// Rows that are findings, spread evenly: they run for days.
const STUCK: u64 = 10_000;
/// Rows that a worker took a moment ago; the last ones of the table.
const FRESH: u64 = 2_000;
/// How the table is made; another number makes it anew.
const EDITION: &str = "edition 1";

fn main() -> Result<ExitCode, Fault> {
    let Some(server) = std::env::var_os("UNSTUCK_TEST_POSTGRES").and_then(|url| url.into_string().ok())
    else {
        println!("skipped: UNSTUCK_TEST_POSTGRES names no server");
        return Ok(ExitCode::SUCCESS);
    };
    let database = prepare(&server)?;
    println!("listing {ROWS} rows in PostgreSQL with {STUCK} findings");
    let mut bounds = Bounds::default();
    for (name, prepared) in [
        ("no index but the key's", "DROP INDEX IF EXISTS jobs_status"),
        ("an index on the status", "CREATE INDEX IF NOT EXISTS jobs_status ON jobs (status)"),
    ] {
        sql(&database, prepared)?;
        sql(&database, "VACUUM ANALYZE jobs")?;
        compare(name, &database, &mut bounds)?;
    }
    Ok(bounds.exit())
}

fn compare(name: &str, database: &str, bounds: &mut Bounds) -> Result<(), Fault> {
    let printed = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench-data/psql.txt");
    std::fs::create_dir_all(printed.parent().ok_or("no folder")?)?;
    println!("{name}");
    // The warm-up: both read the whole table, and print the same keys.
    let (our_keys, their_keys) = (our_keys(&mut ours(database))?, their_keys(database, &printed)?);
    let is_same = our_keys == their_keys && our_keys.len() as u64 == STUCK;
    bounds.check(is_same, &format!("the same rows: {} and {} keys", our_keys.len(), their_keys.len()));
    let (mut our_runs, mut their_runs) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        our_runs.push(run_and_read(&mut ours(database))?);
        their_runs.push(run(&mut rival(database, &printed))?.wall);
    }
    let theirs = median(&their_runs);
    let peak = highest(our_runs.iter().map(|run| run.whole.peak_bytes));
    let middle = |time: fn(&ReadRun) -> Duration| median(&our_runs.iter().map(time).collect::<Vec<_>>());
    let (first, whole) = (middle(|run| run.first_line), middle(|run| run.whole.wall));
    let ratio = |ours: Duration| ours.as_secs_f64() / theirs.as_secs_f64();
    println!(
        "  unstuck: first line {}, all {} ({}); psql {}",
        millis(first),
        millis(whole),
        mebibytes(peak),
        millis(theirs)
    );
    for (what, time) in [("the first line", first), ("all", whole)] {
        let ratio = ratio(time);
        bounds.check(ratio <= RATIO_MAX, &format!("{what}: unstuck / psql = {ratio:.2}, bound {RATIO_MAX}"));
    }
    bounds.check_memory("unstuck", peak, MEMORY_MAX);
    Ok(())
}

fn ours(database: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unstuck"));
    command.args(["list", "--json", "--db", database]);
    command
}

/// The same rows by SQL: the states that may be findings, and an age for those that run.
fn rival(database: &str, printed: &Path) -> Command {
    let mut command = psql(database);
    command.arg("-o").arg(printed).arg("-c").arg(
        "SELECT key, status, updated_at, last_error FROM jobs \
         WHERE (status = 'running' AND updated_at < now() - interval '30 minutes') OR status = 'failed'",
    );
    command
}

fn psql(database: &str) -> Command {
    let mut command = Command::new("psql");
    command.args(["-XqAt", "-v", "ON_ERROR_STOP=1", database]);
    command
}

fn sql(database: &str, sql: &str) -> Result<String, Fault> {
    let output = psql(database).arg("-c").arg(sql).output();
    let output = output.map_err(|fault| format!("the psql program cannot be run: {fault}"))?;
    if !output.status.success() {
        return Err(format!("{sql}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The database, made where it is not there yet; how the fresh rows look is brought up to date.
fn prepare(server: &str) -> Result<String, Fault> {
    let there = sql(server, "SELECT count(*) FROM pg_database WHERE datname = 'unstuck_bench'")?;
    if there == "0" {
        sql(server, "CREATE DATABASE unstuck_bench")?;
    }
    let mut url = url::Url::parse(server)?;
    url.set_path("unstuck_bench");
    let database = String::from(url);
    if sql(&database, "SELECT obj_description(to_regclass('jobs'), 'pg_class')")? != EDITION {
        println!("making unstuck_bench (once, about a minute)");
        make(&database)?;
    }
    let from = ROWS - FRESH;
    sql(
        &database,
        &format!(
            "UPDATE jobs SET updated_at = now() - (right(split_part(key, ':', 2), 4)::int % 1000) * interval '0.6 s' \
             WHERE key >= 'invoice:{from:08}'"
        ),
    )?;
    Ok(database)
}

fn make(database: &str) -> Result<(), Fault> {
    let (from, every) = (ROWS - FRESH, (ROWS - FRESH) / STUCK);
    // One that broke off in the middle has no edition and is made anew.
    sql(database, "DROP TABLE IF EXISTS jobs")?;
    sql(
        database,
        "CREATE TABLE jobs (key text PRIMARY KEY, status text NOT NULL, updated_at timestamptz NOT NULL, last_error text)",
    )?;
    let rows = format!(
        "INSERT INTO jobs SELECT 'invoice:' || lpad(n::text, 8, '0') || ':2026-05', \
         CASE WHEN n >= {from} OR (n % {every} = {every} / 2 AND n / {every} < {STUCK}) THEN 'running' ELSE 'done' END, \
         now() - interval '26 hours' - ({ROWS} - n) * interval '50 ms', NULL FROM generate_series(0, {ROWS} - 1) AS n"
    );
    sql(database, &rows)?;
    sql(database, &format!("COMMENT ON TABLE jobs IS '{EDITION}'")).map(drop)
}

fn our_keys(command: &mut Command) -> Result<BTreeSet<String>, Fault> {
    let printed = String::from_utf8(command.output()?.stdout)?;
    let key = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line)?;
        Ok(line["key"].as_str().unwrap_or_default().to_owned())
    };
    printed.lines().map(key).collect()
}

fn their_keys(database: &str, printed: &Path) -> Result<BTreeSet<String>, Fault> {
    run(&mut rival(database, printed))?;
    let printed = std::fs::read_to_string(printed)?;
    Ok(printed.lines().filter_map(|line| line.split('|').next()).map(str::to_owned).collect())
}
