//! `unstuck audit verify` of a million entries beside the `sqlite3` program that only reads the same rows.

mod measure;

use chrono::{DateTime, TimeDelta, Utc};
use measure::{Bounds, Fault, Run, highest, mebibytes, median, millis, run};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use unstuck::adapters::record::{Seals, SqliteRecord};
use unstuck::domain::audit::{Attachment, Event, NewEntry, Subject};
use unstuck::ports::record::Record;
use uuid::Uuid;

/// How many entries the audit has: a check with its answer, an intent and an outcome for each of a third of them.
const ENTRIES: u128 = 999_999;
/// How many entries one transaction writes while the audit is made.
const BATCH_ITEMS: u128 = 1_000;
/// How often each program runs, in turns.
const PAIRS: usize = 3;
/// How much longer than `sqlite3` printing the rows a verification may take: it also hashes them, follows the links, and
/// lets SQLite compare every index with its table.
const RATIO_MAX: f64 = 6.0;
/// How much memory a verification may hold.
const MEMORY_MAX: u64 = 150 * 1_000_000;
/// How long the question at each start may take: which decisions have no outcome.
const UNFINISHED_MAX: Duration = Duration::from_secs(2);
/// How long the question for an item that is opened may take.
const OF_ITEM_MAX: Duration = Duration::from_millis(16);

#[tokio::main]
async fn main() -> Result<ExitCode, Fault> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench-verifying");
    let path = folder.join("audit.db");
    prepare(&folder, &path).await?;
    let mut bounds = Bounds::default();
    let bytes = std::fs::metadata(&path)?.len();
    println!("verifying {ENTRIES} entries, {}", mebibytes(Some(bytes)));
    let (mut ours, mut theirs) = (ours(&folder), rival(&path));
    let told = String::from_utf8(ours.output()?.stdout)?;
    bounds.check(told.contains(&format!("{ENTRIES} entries, the chain is whole")), told.trim());
    let (mut our_runs, mut their_runs) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        our_runs.push(run(&mut ours)?);
        their_runs.push(run(&mut theirs)?);
    }
    let wall = |runs: &[Run]| median(&runs.iter().map(|run| run.wall).collect::<Vec<_>>());
    let (our_wall, their_wall) = (wall(&our_runs), wall(&their_runs));
    let ratio = our_wall.as_secs_f64() / their_wall.as_secs_f64();
    println!("unstuck {}, sqlite3 {}", millis(our_wall), millis(their_wall));
    bounds.check(ratio <= RATIO_MAX, &format!("unstuck / sqlite3 = {ratio:.2}, bound {RATIO_MAX}"));
    bounds.check_memory("audit verify", highest(our_runs.iter().map(|run| run.peak_bytes)), MEMORY_MAX);
    ask(&path, &mut bounds).await?;
    Ok(bounds.exit())
}

/// What is asked at each start, and for each item that is opened.
async fn ask(path: &Path, bounds: &mut Bounds) -> Result<(), Fault> {
    let record = SqliteRecord::open_to_read(path).map_err(|fault| fault.what)?;
    let begun = Instant::now();
    let open = record.unfinished().await.map_err(|fault| fault.what)?;
    let took = begun.elapsed();
    let told =
        format!("{} unfinished decisions in {}, bound {}", open.len(), millis(took), millis(UNFINISHED_MAX));
    bounds.check(open.is_empty() && took <= UNFINISHED_MAX, &told);
    let subject = Subject { source: "billing".to_owned(), key: key(ENTRIES / 6), table: None };
    let begun = Instant::now();
    let of_item = record.of_item(&subject, 50).await.map_err(|fault| fault.what)?;
    let took = begun.elapsed();
    let told =
        format!("{} entries of an item in {}, bound {}", of_item.len(), millis(took), millis(OF_ITEM_MAX));
    bounds.check(of_item.len() == 3 && took <= OF_ITEM_MAX, &told);
    Ok(())
}

fn ours(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unstuck"));
    command.args(["audit", "verify", "--config"]).arg(folder.join("config.toml"));
    command
}

fn rival(path: &Path) -> Command {
    let mut command = Command::new("sqlite3");
    command.arg("-readonly").arg(path).arg("SELECT * FROM entries; SELECT * FROM attachments");
    command
}

/// Makes the audit once; it is kept for the next time.
async fn prepare(folder: &Path, path: &Path) -> Result<(), Fault> {
    let config = folder.join("config.toml");
    if config.exists() {
        return Ok(());
    }
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder)?;
    let seals = Seals::of(path, Some(folder.join("keys/audit.key")), None);
    let record = SqliteRecord::open(path).map_err(|fault| fault.what)?.signed(seals);
    let begun = Instant::now();
    let mut item = 0;
    while item < ENTRIES / 3 {
        let entries = (item..(item + BATCH_ITEMS).min(ENTRIES / 3)).flat_map(entries_of).collect();
        record.append(entries).await.map_err(|fault| fault.what)?;
        item += BATCH_ITEMS;
    }
    record.seal(moment(ENTRIES)).await.map_err(|fault| fault.what)?;
    println!("{ENTRIES} entries were put on record and signed in {}", millis(begun.elapsed()));
    let text = "[audit]\npath = \"audit.db\"\nkey = \"keys/audit.key\"\n\
        [[sources]]\nname = \"jobs\"\nurl = \"sqlite://jobs.db\"\npreset = \"jobs\"\n";
    // Last: an audit that was broken off is made anew.
    Ok(std::fs::write(config, text)?)
}

fn key(item: u128) -> String {
    format!("invoice:{item}:2027-01")
}

fn moment(item: u128) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(1_800_000_000 + i64::try_from(item).unwrap_or_default())
}

fn entries_of(item: u128) -> Vec<NewEntry> {
    let new = |event, decision, body| NewEntry {
        at: moment(item),
        event,
        decision,
        source: "billing".to_owned(),
        key: key(item),
        operator: "ana".to_owned(),
        origin: "ana@ops-1".to_owned(),
        body,
        attachments: Vec::new(),
    };
    let answer = format!(
        "{{\"object\":\"list\",\"data\":[{{\"id\":\"ch_{item}\",\"status\":\"succeeded\",\"amount\":1041,\
         \"currency\":\"eur\"}}],\"has_more\":false}}"
    );
    let checked = json!({ "verdict": "happened", "advice": "mark_done", "effects": [format!("ch_{item}")] });
    let decided = json!({ "choice": "mark_done", "reason": "charged, seen in the ledger", "row": { "status": "failed" } });
    let attachment = Attachment { sha256: format!("{item:064x}"), text: answer };
    let id = Some(Uuid::from_u128(item + 1));
    vec![
        NewEntry { attachments: vec![attachment], ..new(Event::Checked, None, checked) },
        new(Event::Intended, id, decided),
        new(Event::Applied, id, json!({ "changed": 1 })),
    ]
}
