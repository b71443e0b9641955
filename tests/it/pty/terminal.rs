//! A terminal with the real program in it: keys in, bytes and screen out, waiting for what is to be seen.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(20);
/// What a terminal is told before a frame.
pub const BEGIN_FRAME: &str = "\x1b[?2026h";
/// What a terminal is told after a frame.
pub const END_FRAME: &str = "\x1b[?2026l";

/// What clears a whole screen.
pub const CLEAR: &str = "\x1b[2J";

/// A terminal's size: columns, then rows.
pub type Size = (u16, u16);

/// How the shell around the program looks at the terminal before and after, keeps the exit code, and says that it is over.
///
/// It outlives a hang-up: a trap, unlike ignoring, is not handed on to the program.
pub const LOOK: &str = "trap : HUP; stty -a >before; $RUN; echo $? >code; stty -a >after; echo; echo OVER";
/// The same with job control: the program stops on `Ctrl-Z`, a line of input brings it back.
pub const LOOK_WITH_JOBS: &str = "set -m; stty -a >before; $RUN; echo; echo STOPPED; stty -a >stopped; read go; fg; echo $? >code; \
     stty -a >after; echo OVER";

/// How a program is started in a terminal.
#[derive(Debug, Clone)]
pub struct Start<'a> {
    /// Its arguments.
    pub arguments: &'a str,
    /// The shell's script; `$RUN` is the program.
    pub script: &'a str,
    /// Redirections of the program; empty for none.
    pub redirected: String,
    /// What is in its environment beside PATH, HOME and TERM.
    pub environment: &'a [(&'a str, &'a str)],
    /// Whether its temporary files go to the test's folder; else to the platform's.
    pub has_own_temporary: bool,
    /// The terminal's size.
    pub size: Size,
    /// SQLite files in the folder that it is started in: names, and the SQL that makes them.
    pub databases: &'a [(&'a str, &'a str)],
}

impl Default for Start<'_> {
    fn default() -> Self {
        Self {
            arguments: "demo --seed 7 --items 20",
            script: LOOK,
            redirected: String::new(),
            environment: &[],
            has_own_temporary: true,
            size: (80, 24),
            databases: &[],
        }
    }
}

/// What the terminal got.
struct Received {
    bytes: Vec<u8>,
    parser: vt100::Parser,
    /// Whether the program's side is closed.
    is_closed: bool,
    /// Whether our side is to be closed: the reader lets go of it after the next bytes, of which a tick sends some.
    is_closing: bool,
}

impl Received {
    /// Whether a frame has begun and not ended: then what is on the screen is half of one and half of another.
    fn is_within_frame(&self) -> bool {
        last(&self.bytes, BEGIN_FRAME) > last(&self.bytes, END_FRAME)
    }
}

type Shared = Arc<(Mutex<Received>, Condvar)>;

/// A pseudo-terminal with a shell and the program in it.
pub struct Terminal {
    place: TempDir,
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    received: Shared,
    shell: Box<dyn Child + Send + Sync>,
}

impl Terminal {
    /// The program on the demo, and nothing unusual.
    pub fn demo(size: Size) -> Self {
        Self::start(&Start { size, ..Start::default() })
    }

    /// Starts the program.
    pub fn start(start: &Start<'_>) -> Self {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("tmp")).unwrap();
        for (name, sql) in start.databases {
            rusqlite::Connection::open(place.path().join(name)).unwrap().execute_batch(sql).unwrap();
        }
        let pair = native_pty_system().openpty(pty_size(start.size)).unwrap();
        let shell = pair.slave.spawn_command(command(start, place.path())).unwrap();
        drop(pair.slave);
        let received = receive(pair.master.as_ref(), start.size);
        let writer = pair.master.take_writer().unwrap();
        Self { place, master: Some(pair.master), writer: Some(writer), received, shell }
    }

    fn received(&self) -> MutexGuard<'_, Received> {
        self.received.0.lock().unwrap()
    }

    /// Waits until the screen is so, never in the middle of a frame.
    pub fn until(&self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
        self.until_received(what, |received| is_so(received.parser.screen()));
    }

    /// Waits until what was written is so, never in the middle of a frame.
    pub fn until_written(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        self.until_received(what, |received| is_so(&String::from_utf8_lossy(&received.bytes)));
    }

    fn until_received(&self, what: &str, is_so: impl Fn(&Received) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        let mut received = self.received();
        while received.is_within_frame() || !is_so(&received) {
            let left = deadline.saturating_duration_since(Instant::now());
            let contents = received.parser.screen().contents();
            assert!(!left.is_zero() && !received.is_closed, "{what:?} was awaited in vain on\n{contents}");
            received = self.received.1.wait_timeout(received, left).unwrap().0;
        }
    }

    /// Waits until the screen shows a text.
    pub fn shows(&self, text: &str) {
        self.until(text, |screen| screen.contents().contains(text));
    }

    /// Waits until the screen shows a text no more.
    pub fn hides(&self, text: &str) {
        self.until(&format!("no {text}"), |screen| !screen.contents().contains(text));
    }

    /// Types keys.
    pub fn press(&mut self, keys: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    /// Presses Escape; what follows must not look like the rest of a sequence, so the effect is awaited.
    pub fn escape(&mut self, until_hidden: &str) {
        self.press("\x1b");
        self.hides(until_hidden);
    }

    /// Changes the size, also to one that no terminal has, and waits until the program has drawn for it.
    pub fn resize(&mut self, size: Size) {
        let cleared = self.written().matches(CLEAR).count();
        self.resize_unseen(size);
        self.until_written("a frame of the new size", |written| written.matches(CLEAR).count() > cleared);
    }

    /// Changes the size and waits for nothing.
    pub fn resize_unseen(&mut self, (columns, rows): Size) {
        self.received().parser.screen_mut().set_size(cells(rows.max(1)), cells(columns.max(1)));
        self.master.as_ref().unwrap().resize(pty_size((columns, rows))).unwrap();
    }

    /// Somebody else writes on the terminal.
    pub fn scribble(&mut self, text: &str) {
        self.received().parser.process(text.as_bytes());
    }

    /// What the screen shows.
    pub fn contents(&self) -> String {
        self.screen().contents()
    }

    /// The screen as it is.
    pub fn screen(&self) -> vt100::Screen {
        self.received().parser.screen().clone()
    }

    /// Everything written so far.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.received().bytes).into_owned()
    }

    /// How many bytes were written so far.
    pub fn written_len(&self) -> usize {
        self.received().bytes.len()
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.file("pid").trim().parse().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Closes the terminal, as a window is closed.
    pub fn close(&mut self) {
        // A test that failed may have poisoned the lock.
        self.received.0.lock().unwrap_or_else(PoisonError::into_inner).is_closing = true;
        self.writer = None;
        self.master = None;
    }

    /// A file that the shell wrote.
    pub fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.place.path().join(name)).unwrap()
    }

    /// Whether there is such a file in the folder.
    pub fn has_file(&self, name: &str) -> bool {
        self.place.path().join(name).exists()
    }

    /// Waits until the shell has ended, also without a terminal.
    pub fn ended(&mut self) {
        let (told, ended) = std::sync::mpsc::channel();
        let shell = Pid::from_raw(self.shell.process_id().unwrap().cast_signed()).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| told.send(self.shell.wait().unwrap().success()).unwrap());
            let in_time = ended.recv_timeout(PATIENCE);
            if in_time.is_err() {
                kill_process(shell, Signal::KILL).unwrap();
            }
            assert_eq!(in_time, Ok(true), "the shell ends by itself, without a fault");
        });
    }

    /// The demo's folders that are there.
    pub fn demo_folders(&self) -> Vec<PathBuf> {
        let temporary = std::fs::read_dir(self.place.path().join("tmp")).unwrap();
        temporary.map(|entry| entry.unwrap().path()).collect()
    }

    /// Waits until the program has ended, and asserts that it left nothing behind: not on the terminal, not on the disk.
    pub fn is_over(&mut self, code: u8) {
        self.shows("OVER");
        self.is_given_back();
        self.ended();
        assert_eq!(self.file("code").trim(), code.to_string(), "exit code after\n{}", self.contents());
        assert_eq!(modes(&self.file("before")), modes(&self.file("after")));
        assert_eq!(self.demo_folders(), Vec::<PathBuf>::new());
    }

    /// Nothing of the console is left on the terminal: by what a terminal makes of the bytes, and by the bytes.
    pub fn is_given_back(&self) {
        let received = self.received();
        let screen = received.parser.screen();
        assert!(!screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste());
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        for mode in [1000, 1002, 1003, 1006, 1015, 1049, 2004, 2026] {
            let (on, off) = (format!("\x1b[?{mode}h"), format!("\x1b[?{mode}l"));
            let (on, off) = (last(&received.bytes, &on), last(&received.bytes, &off));
            assert!(on.is_none() || off > on, "mode {mode} is left on");
        }
        let (shown, hidden) = (last(&received.bytes, "\x1b[?25h"), last(&received.bytes, "\x1b[?25l"));
        assert!(hidden.is_none() || shown > hidden, "the cursor is left hidden");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A test that failed leaves its program running: closing the terminal ends it.
        self.close();
    }
}

fn command(start: &Start<'_>, place: &Path) -> CommandBuilder {
    // The inner shell writes down its process id and becomes the program.
    let run = format!(
        "sh -c 'echo $$ >pid; exec \"$@\"' sh '{}' {} {}",
        env!("CARGO_BIN_EXE_unstuck"),
        start.arguments,
        start.redirected
    );
    let mut command = CommandBuilder::new("sh");
    command.args(["-c", &start.script.replace("$RUN", &run)]);
    command.cwd(place);
    command.env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", place);
    command.env("TERM", "xterm-256color");
    if start.has_own_temporary {
        command.env("TMPDIR", place.join("tmp"));
    }
    for (name, value) in start.environment {
        command.env(name, value);
    }
    command
}

fn receive(master: &(dyn MasterPty + Send), (columns, rows): Size) -> Shared {
    let parser = vt100::Parser::new(cells(rows), cells(columns), 0);
    let received = Received { bytes: Vec::new(), parser, is_closed: false, is_closing: false };
    let shared: Shared = Arc::new((Mutex::new(received), Condvar::new()));
    let (mut reader, into) = (master.try_clone_reader().unwrap(), Arc::clone(&shared));
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            // The other end's close is an error on some platforms and an end on others.
            let count = reader.read(&mut buffer).unwrap_or(0);
            let mut received = into.0.lock().unwrap();
            received.bytes.extend_from_slice(&buffer[..count]);
            received.parser.process(&buffer[..count]);
            received.is_closed = count == 0;
            into.1.notify_all();
            if count == 0 || received.is_closing {
                return;
            }
        }
    });
    shared
}

fn pty_size((cols, rows): Size) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn cells(number: u16) -> NonZero<u16> {
    NonZero::new(number).unwrap()
}

fn last(bytes: &[u8], code: &str) -> Option<usize> {
    bytes.windows(code.len()).rposition(|window| window == code.as_bytes())
}

/// What `stty -a` says, without the size: a test may have changed that.
pub fn modes(told: &str) -> Vec<String> {
    let parts = told.split([';', '\n']).map(|part| part.trim().to_owned());
    parts.filter(|part| !part.starts_with("rows ") && !part.starts_with("columns ")).collect()
}
