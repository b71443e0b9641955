//! The console on a table of 200,000 findings beside one of 2,000: from the start to the first screen with findings, until
//! all are there, and how much memory that takes. The real program, in a terminal of its own.

mod measure;

use chrono::TimeDelta;
use measure::{Bounds, Fault, highest, mebibytes, median, millis, peak_of};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use rusqlite::Connection;
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use unstuck::adapters::system::SystemClock;
use unstuck::domain::moment::stamp;
use unstuck::ports::clock::Clock;

/// How many findings the small table has.
const FEW: usize = 2_000;
/// How many findings the large table has.
const MANY: usize = 200_000;
/// How often each is opened, in turns.
const PAIRS: usize = 7;
/// How much longer than with few findings the first screen may take with many.
const RATIO_MAX: f64 = 2.0;
/// How much memory the console may hold once all findings are there.
const MEMORY_MAX: u64 = 300 * 1_000_000;
const SIZE: PtySize = PtySize { rows: 50, cols: 200, pixel_width: 0, pixel_height: 0 };
/// What nobody waits for any longer.
const PATIENCE: Duration = Duration::from_mins(1);

fn main() -> Result<ExitCode, Fault> {
    let folder = tempfile::Builder::new().prefix("unstuck-bench-").tempdir()?;
    println!("the console opened on {FEW} and on {MANY} findings, {}x{}", SIZE.cols, SIZE.rows);
    let (mut few, mut many) = (Vec::new(), Vec::new());
    for count in [FEW, MANY] {
        make_table(&folder.path().join(format!("jobs-{count}.db")), count)?;
        // Once to warm up the file.
        open(folder.path(), count)?;
    }
    for _ in 0..PAIRS {
        few.push(open(folder.path(), FEW)?);
        many.push(open(folder.path(), MANY)?);
    }
    for (count, opened) in [(FEW, &few), (MANY, &many)] {
        let of = |time: fn(&Opened) -> Duration| millis(median(&opened.iter().map(time).collect::<Vec<_>>()));
        let peak = mebibytes(highest(opened.iter().map(|opened| opened.peak_bytes)));
        println!(
            "{count:7}  first screen {:>11}, all there {:>11}, {peak}",
            of(|opened| opened.first),
            of(|opened| opened.all)
        );
    }
    let first = |opened: &[Opened]| {
        median(&opened.iter().map(|opened| opened.first).collect::<Vec<_>>()).as_secs_f64()
    };
    let ratio = first(&many) / first(&few);
    let mut bounds = Bounds::default();
    bounds
        .check(ratio < RATIO_MAX, &format!("first screen of many / of few = {ratio:.2}, bound {RATIO_MAX}"));
    bounds.check_memory("many", highest(many.iter().map(|opened| opened.peak_bytes)), MEMORY_MAX);
    Ok(bounds.exit())
}

/// One console, from its start to its end.
struct Opened {
    /// Until the first screen with a finding.
    first: Duration,
    /// Until the screen that says that all were read.
    all: Duration,
    peak_bytes: Option<u64>,
}

/// Opens the console, waits until all findings are there, and ends it with its key.
fn open(folder: &Path, count: usize) -> Result<Opened, Fault> {
    let pair = native_pty_system().openpty(SIZE)?;
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_unstuck"));
    command.args(["--db", &format!("sqlite://{}", folder.join(format!("jobs-{count}.db")).display())]);
    command.env_clear();
    command.env("TERM", "xterm-256color");
    command.env("HOME", folder);
    command.cwd(folder);
    let (mut output, mut keys) = (pair.master.try_clone_reader()?, pair.master.take_writer()?);
    let begun = Instant::now();
    let mut child = pair.slave.spawn_command(command)?;
    drop(pair.slave);
    let lines = |count: u16| NonZero::new(count).ok_or("no screen");
    let mut screen = vt100::Parser::new(lines(SIZE.rows)?, lines(SIZE.cols)?, 0);
    let mut until = |what: &str, is_so: &dyn Fn(&str) -> bool| -> Result<Duration, Fault> {
        let mut bytes = [0; 16 * 1024];
        loop {
            let read = output.read(&mut bytes)?;
            screen.process(bytes.get(..read).unwrap_or_default());
            let shown = screen.screen().contents();
            if is_so(&shown) {
                return Ok(begun.elapsed());
            }
            if read == 0 || begun.elapsed() > PATIENCE {
                return Err(format!("{what} did not come; the screen is\n{shown}").into());
            }
        }
    };
    let first = until("a finding", &|shown| shown.contains("invoice:"))?;
    let told = format!("{count} findings");
    let all = until("the last finding", &|shown| shown.contains(&told) && !shown.contains("reading "))?;
    let peak_bytes = child.process_id().and_then(peak_of);
    keys.write_all(b"q")?;
    // A terminal that nobody reads holds its program up; one that is closed may end in an error.
    let _closed = std::io::copy(&mut output, &mut std::io::sink());
    child.wait()?;
    Ok(Opened { first, all, peak_bytes })
}

fn make_table(path: &Path, count: usize) -> Result<(), Fault> {
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE jobs (key TEXT PRIMARY KEY, status TEXT, updated_at TEXT, last_error TEXT)",
    )?;
    let now = SystemClock.now();
    for number in 0..count {
        let key = format!("invoice:{number}:2026-05");
        let at = stamp(now - TimeDelta::hours(3) - TimeDelta::seconds(i64::try_from(number)?));
        let (status, error) =
            if number % 2 == 0 { ("failed", Some("Read timed out")) } else { ("running", None) };
        transaction.execute("INSERT INTO jobs VALUES (?1, ?2, ?3, ?4)", (&key, status, &at, error))?;
    }
    transaction.commit()?;
    Ok(())
}
