//! A large `jobs` table as workers leave it: made once, kept beside the other build results.

use super::measure::Fault;
use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{Connection, Statement, params};
use std::path::{Path, PathBuf};

/// All rows.
pub const ROWS: u64 = 5_000_000;
/// Rows that are findings: half run for days, half failed with an error that proves nothing.
pub const FINDINGS: u64 = 61_000;
/// Rows that failed with an error that proves that nothing happened, and are no findings.
pub const PROVEN: u64 = 20_000;
/// Rows that a worker took a moment ago; the last ones of the table.
pub const FRESH: u64 = 2_000;

/// How the file is made; another number makes it anew.
const EDITION: i64 = 1;

/// What a row is.
enum Fate {
    Done,
    Stuck,
    Ambiguous,
    Proven,
    Fresh,
}

impl Fate {
    fn of(number: u64) -> Self {
        // Spread evenly: the count of those before a row grows by one wherever it is one.
        let hits = |number: u64, count: u64| number * count / (ROWS - FRESH);
        let is_hit = |count: u64| hits(number, count) != hits(number + 1, count);
        match () {
            () if number >= ROWS - FRESH => Self::Fresh,
            () if is_hit(FINDINGS) && hits(number, FINDINGS) % 2 == 0 => Self::Stuck,
            () if is_hit(FINDINGS) => Self::Ambiguous,
            () if is_hit_beside(number) => Self::Proven,
            () => Self::Done,
        }
    }
}

/// Proven rows come half a step after findings, so that no row is both.
fn is_hit_beside(number: u64) -> bool {
    let every = (ROWS - FRESH) / PROVEN;
    number % every == every / 2 && number / every < PROVEN
}

/// The file, made where it is not there yet; how the fresh rows look is brought up to date.
pub fn prepare(now: DateTime<Utc>) -> Result<PathBuf, Fault> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join("bench-data");
    let path = folder.join("jobs-5000000.db");
    if edition_of(&path).ok() != Some(EDITION) {
        std::fs::create_dir_all(&folder)?;
        println!("making {} (once, about a minute)", path.display());
        if path.exists() {
            std::fs::remove_file(&path)?;
        }
        make(&path, now)?;
    }
    refresh(&path, now)?;
    Ok(path)
}

fn edition_of(path: &Path) -> rusqlite::Result<i64> {
    let connection = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn make(path: &Path, now: DateTime<Utc>) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    // A file that broke off in the middle has no edition and is made anew.
    connection
        .execute_batch("PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA cache_size = -400000")?;
    connection.execute_batch(
        "CREATE TABLE jobs (key TEXT PRIMARY KEY, status TEXT NOT NULL, updated_at TEXT NOT NULL, last_error TEXT)",
    )?;
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare("INSERT INTO jobs VALUES (?1, ?2, ?3, ?4)")?;
        for number in 0..ROWS {
            insert_row(&mut insert, number, now)?;
        }
    }
    transaction.commit()?;
    connection.pragma_update(None, "user_version", EDITION)
}

fn insert_row(insert: &mut Statement<'_>, number: u64, now: DateTime<Utc>) -> rusqlite::Result<()> {
    let fate = Fate::of(number);
    let key = match fate {
        Fate::Proven => format!("refused:{number:08}:2026-05"),
        Fate::Done | Fate::Stuck | Fate::Ambiguous | Fate::Fresh => format!("invoice:{number:08}:2026-05"),
    };
    let (status, error) = match fate {
        Fate::Done => ("done", None),
        Fate::Stuck | Fate::Fresh => ("running", None),
        Fate::Ambiguous => ("failed", Some(ambiguous_text(number))),
        Fate::Proven => ("failed", Some(proven_text(number))),
    };
    let ago =
        TimeDelta::hours(26) + TimeDelta::milliseconds(i64::try_from((ROWS - number) * 50).unwrap_or(0));
    insert.execute(params![key, status, stored(now - ago), error]).map(drop)
}

/// As Python's `isoformat` writes it.
pub fn stored(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%dT%H:%M:%S%.6f").to_string()
}

/// The last rows were taken within the last ten minutes, whenever the bench runs.
fn refresh(path: &Path, now: DateTime<Utc>) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction()?;
    for step in 0..FRESH {
        let at = now - TimeDelta::milliseconds(i64::try_from(step * 300).unwrap_or(0));
        transaction.execute(
            "UPDATE jobs SET updated_at = ?1 WHERE rowid = ?2",
            params![stored(at), (ROWS - step).cast_signed()],
        )?;
    }
    transaction.commit()
}

/// Errors that prove nothing, in the words of several clients; most carry an id, so that hardly two are the same.
fn ambiguous_text(number: u64) -> String {
    let id = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    match number % 10 {
        0 => "HTTPSConnectionPool(host='api.example.com', port=443): Read timed out. (read timeout=10)"
            .to_owned(),
        1 => format!(
            "Post \"https://api.example.com/v1/charges/{id:016x}\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        ),
        2 => format!(
            "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response')) request_id=req_{id:016x}"
        ),
        3 => format!("HTTP Error 502: Bad Gateway (trace {id:016x})"),
        4 => format!(
            "{{\"error\":{{\"type\":\"api_error\",\"code\":500,\"message\":\"Internal server error\",\"request_id\":\"req_{id:016x}\"}}}}"
        ),
        5 => format!("Net::ReadTimeout with #<TCPSocket:(closed)> for job {number}"),
        6 => format!(
            "java.net.SocketTimeoutException: Read timed out\n\tat com.example.billing.Charge.run(Charge.java:{})\n\tat java.base/java.lang.Thread.run(Thread.java:840)",
            number % 300
        ),
        7 => format!("worker {} was killed (signal 9) while it ran invoice:{number:08}:2026-05", number % 64),
        8 => format!("AxiosError: socket hang up (ECONNRESET) id={id:016x}"),
        _ => traceback(number, id),
    }
}

fn traceback(number: u64, id: u64) -> String {
    let frame = |file: &str, line: u64, call: &str| {
        format!("  File \"/srv/app/{file}\", line {line}, in {call}\n    return {call}(item)\n")
    };
    format!(
        "Traceback (most recent call last):\n{}{}{}{}requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='api.example.com', \
         port=443): Read timed out. (read timeout=10) request_id=req_{id:016x}\n",
        frame("worker/run.py", 88, "run_item"),
        frame("billing/invoice.py", number % 400, "charge"),
        frame("billing/client.py", 132, "post"),
        frame("vendor/requests/adapters.py", 713, "send"),
    )
}

/// Errors that prove that nothing happened.
fn proven_text(number: u64) -> String {
    match number % 3 {
        0 => "<urlopen error [Errno 111] Connection refused>".to_owned(),
        1 => format!("getaddrinfo ENOTFOUND api-{}.example.com", number % 7),
        _ => format!("Your card was declined. (card_declined: insufficient_funds, request req_{number:012})"),
    }
}
