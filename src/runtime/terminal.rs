//! Taking the terminal over and giving it back, however the program ends.
//!
//! Whoever leaves first does it, once: the guard's drop, the panic hook, or a stop as the shell's job. Leaving twice would
//! move the cursor over the panic's own message.

use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste};
use crossterm::terminal::{
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, queue, style};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};
use tokio::sync::Notify;

/// Whether the terminal is ours at this moment.
static IS_ENTERED: AtomicBool = AtomicBool::new(false);
/// Whether some thread panicked since the hook was installed.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);
/// Wakes the event loop when that happens.
static PANIC: Notify = Notify::const_new();
/// The output without the standard library's lock: a panic while another thread draws must not wait for it.
static OUTPUT: OnceLock<Output> = OnceLock::new();

/// Held while bytes are written and while the terminal changes hands.
static WRITING: Mutex<()> = Mutex::new(());

/// Where the terminal's bytes go.
#[cfg(unix)]
type Output = std::fs::File;
/// Where the terminal's bytes go.
#[cfg(not(unix))]
type Output = io::Stdout;

/// The terminal is ours as long as this lives.
#[derive(Debug)]
pub struct TerminalGuard(());

impl TerminalGuard {
    /// Takes the terminal over: raw mode, alternate screen, bracketed paste. Installs the panic hook first.
    ///
    /// # Errors
    /// Whatever the terminal says; then it is as it was.
    pub fn enter() -> io::Result<Self> {
        install_panic_hook();
        let guard = Self(());
        enter()?;
        Ok(guard)
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        leave();
    }
}

/// What a terminal is told before a frame ([`crossterm::terminal::BeginSynchronizedUpdate`]).
const BEGIN_FRAME: &[u8] = b"\x1b[?2026h";
/// What a terminal is told after a frame ([`crossterm::terminal::EndSynchronizedUpdate`]).
const END_FRAME: &[u8] = b"\x1b[?2026l";

/// What frames are written to. Once the terminal was given back nothing more gets there: a thread that panics gives it back
/// while another one draws, and the rest of that frame would hide the cursor and lie over what the panic says.
#[derive(Debug)]
pub struct FrameOutput {
    output: Output,
    /// What is written at the next flush: a frame arrives in few pieces.
    bytes: Vec<u8>,
    /// What was written last.
    latest: Vec<u8>,
}

impl FrameOutput {
    /// On the standard output.
    ///
    /// # Errors
    /// The standard output is closed.
    pub fn open() -> io::Result<Self> {
        Ok(Self { output: open_output()?, bytes: Vec::new(), latest: Vec::new() })
    }
}

impl Write for FrameOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Writes what there is, a frame in one piece.
    ///
    /// A frame is what differs from the one before, so two that are equal differ in nothing: the second is not written, and
    /// a console on which nothing moves is silent.
    fn flush(&mut self) -> io::Result<()> {
        let is_frame = self.bytes.starts_with(BEGIN_FRAME);
        if is_frame && !self.bytes.ends_with(END_FRAME) {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.bytes);
        let _writing = lock_writing();
        if !IS_ENTERED.load(Ordering::SeqCst) {
            self.latest.clear();
            return Ok(());
        }
        if is_frame && bytes == self.latest {
            return Ok(());
        }
        self.output.write_all(&bytes)?;
        self.output.flush()?;
        self.latest = bytes;
        Ok(())
    }
}

/// Another handle of the standard output, for drawing.
///
/// # Errors
/// The standard output is closed.
#[cfg(unix)]
fn open_output() -> io::Result<Output> {
    use std::os::fd::AsFd;
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

/// Another handle of the standard output, for drawing.
///
/// # Errors
/// Never; the other platforms' version may fail.
#[cfg(not(unix))]
fn open_output() -> io::Result<Output> {
    Ok(io::stdout())
}

/// Takes the terminal over, also again after a stop.
pub(super) fn enter() -> io::Result<()> {
    if OUTPUT.get().is_none() {
        let _set_by_another_thread = OUTPUT.set(open_output()?);
    }
    enable_raw_mode()?;
    IS_ENTERED.store(true, Ordering::SeqCst);
    let mut bytes = Vec::new();
    queue!(bytes, EnterAlternateScreen, EnableBracketedPaste)?;
    let _writing = lock_writing();
    write_out(&bytes)
}

/// Gives the terminal back as it was: once, from any thread, without a way to panic.
pub(super) fn leave() {
    let _writing = lock_writing();
    if !IS_ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut bytes = Vec::new();
    // A half-drawn frame is shown first, or the terminal would hold back all that follows.
    let queued = queue!(
        bytes,
        EndSynchronizedUpdate,
        DisableMouseCapture,
        DisableBracketedPaste,
        style::ResetColor,
        style::SetAttribute(style::Attribute::Reset),
        LeaveAlternateScreen,
        cursor::Show
    );
    // Nobody is left to tell when the terminal takes no more: its modes are given back all the same.
    let _closed_output = queued.and_then(|()| write_out(&bytes));
    let _closed_input = disable_raw_mode();
}

/// Nobody panics while holding it, so a panic's hook never waits for its own thread; who waits for a write to a terminal that
/// takes nothing would wait in its own write as well.
fn lock_writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write_out(bytes: &[u8]) -> io::Result<()> {
    #[cfg(unix)]
    let output = OUTPUT.get();
    #[cfg(not(unix))]
    let output = OUTPUT.get().map(|_| io::stdout());
    let Some(mut output) = output else { return Ok(()) };
    output.write_all(bytes)?;
    output.flush()
}

/// Makes every panic, in whichever thread, give the terminal back before it says anything.
fn install_panic_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            leave();
            HAS_PANICKED.store(true, Ordering::SeqCst);
            PANIC.notify_one();
            previous(info);
        }));
    });
}

/// Returns once a thread has panicked; until then the terminal is ours.
pub(super) async fn panicked() {
    loop {
        if HAS_PANICKED.load(Ordering::SeqCst) {
            return;
        }
        PANIC.notified().await;
    }
}

/// Whether the terminal behind the standard input hung up. The event stream does not tell: it would wait for ever.
#[cfg(unix)]
pub(super) fn has_hung_up() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut watched, Some(&at_once)).is_ok()
        && watched[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

/// Whether the terminal behind the standard input hung up: not known here.
#[cfg(not(unix))]
pub(super) fn has_hung_up() -> bool {
    false
}

/// Asks for a stop as `Ctrl-Z` does where no program takes the key: the whole job, the shell's wrapper included.
///
/// The signal's default action is kept on purpose: in a job without a shell, which nobody could continue, it does nothing.
#[cfg(unix)]
pub(super) fn stop_job() -> io::Result<()> {
    Ok(rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?)
}

/// Asks for a stop: there are no jobs here.
#[cfg(not(unix))]
pub(super) fn stop_job() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests;
