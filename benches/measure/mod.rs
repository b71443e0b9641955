//! What the benches share: wall time and peak memory of a program, medians, and bounds that are kept or not.

#![allow(dead_code, reason = "each bench uses a part of it")]

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What ends a bench before it has measured anything.
pub type Fault = Box<dyn Error>;

/// How often a running program's memory is looked at: the highest mark it ever had is what is read.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);
const MIB: f64 = 1_048_576.0;

/// What one run of a program took.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// From start to end.
    pub wall: Duration,
    /// The most memory it held; `None` where the system does not tell.
    pub peak_bytes: Option<u64>,
}

/// Runs a program to its end, its output thrown away.
pub fn run(command: &mut Command) -> Result<Run, Fault> {
    let begun = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let watch = watch_memory(&child);
    let status = child.wait()?;
    let wall = begun.elapsed();
    let peak_bytes = watch.join().map_err(|_| "watching the memory broke off")?;
    if status.success() {
        Ok(Run { wall, peak_bytes })
    } else {
        Err(format!("{command:?} ended with {status}").into())
    }
}

/// A run of which also the first line of output was timed.
#[derive(Debug, Clone, Copy)]
pub struct ReadRun {
    /// From start to the end of the first line.
    pub first_line: Duration,
    /// The whole run.
    pub whole: Run,
}

/// Runs a program to its end, its output read through a pipe.
pub fn run_and_read(command: &mut Command) -> Result<ReadRun, Fault> {
    let begun = Instant::now();
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let watch = watch_memory(&child);
    let mut output = BufReader::new(child.stdout.take().ok_or("no pipe")?);
    output.read_until(b'\n', &mut Vec::new())?;
    let first_line = begun.elapsed();
    std::io::copy(&mut output, &mut std::io::sink())?;
    let status = child.wait()?;
    let wall = begun.elapsed();
    let peak_bytes = watch.join().map_err(|_| "watching the memory broke off")?;
    if status.success() {
        Ok(ReadRun { first_line, whole: Run { wall, peak_bytes } })
    } else {
        Err(format!("{command:?} ended with {status}").into())
    }
}

fn watch_memory(child: &Child) -> thread::JoinHandle<Option<u64>> {
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    thread::spawn(move || {
        let mut peak = None;
        // The mark only grows, and is gone as soon as the program has ended.
        while let Some(seen) = peak_in(&status) {
            peak = Some(seen);
            thread::sleep(BETWEEN_LOOKS);
        }
        peak
    })
}

/// The most memory that this process held; `None` where the system does not tell.
pub fn own_peak_bytes() -> Option<u64> {
    peak_in(&PathBuf::from("/proc/self/status"))
}

/// The most memory that a process held; `None` where the system does not tell.
pub fn peak_of(process: u32) -> Option<u64> {
    peak_in(&PathBuf::from(format!("/proc/{process}/status")))
}

fn peak_in(status: &PathBuf) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}

/// The value below which so many hundredths of the others lie.
pub fn percentile(times: &[Duration], hundredths: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * hundredths / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}

/// The one in the middle.
pub fn median(times: &[Duration]) -> Duration {
    percentile(times, 50)
}

/// The highest of what was measured.
pub fn highest(peaks: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    peaks.into_iter().flatten().max()
}

/// Memory as a person reads it.
pub fn mebibytes(bytes: Option<u64>) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let shown = bytes.map(|bytes| format!("{:.1} MiB", bytes as f64 / MIB));
    shown.unwrap_or_else(|| "not told".to_owned())
}

/// Milliseconds as a person reads them.
pub fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// The bounds of a bench, and whether all were kept.
#[derive(Debug, Default)]
pub struct Bounds {
    broken: bool,
}

impl Bounds {
    /// Prints one bound with what was measured.
    pub fn check(&mut self, is_kept: bool, what: &str) {
        self.broken |= !is_kept;
        println!("  {}  {what}", if is_kept { "kept  " } else { "BROKEN" });
    }

    /// Memory under a bound; not judged where the system does not tell it.
    pub fn check_memory(&mut self, who: &str, peak: Option<u64>, bytes_max: u64) {
        let is_kept = peak.is_none_or(|peak| peak < bytes_max);
        self.check(
            is_kept,
            &format!("{who}: {} at most, bound {}", mebibytes(peak), mebibytes(Some(bytes_max))),
        );
    }

    /// The exit code of the bench.
    pub fn exit(self) -> ExitCode {
        ExitCode::from(u8::from(self.broken))
    }
}
