//! The terminal comes back: this test binary runs itself in a pseudo-terminal, under a shell that looks at the modes before
//! and after.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use crate::console::{Message, Task};
use crate::runtime::event_loop::{Console, drive};
use crate::runtime::screen::Tty;
use crate::runtime::signals;
use crate::workflow::fakes::World;
use crossterm::event::{KeyCode, KeyEvent};
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use pretty_assertions::assert_eq;
use ratatui::Frame;
use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Set for the process in the pseudo-terminal: where it writes how it ended.
const CHILD: &str = "UNSTUCK_TERMINAL_TEST";
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A console that ends, stops or breaks in many ways.
struct Probe {
    taken: usize,
}

impl Console for Probe {
    fn update(&mut self, message: Message) -> Vec<Task> {
        let Message::Key(KeyEvent { code: KeyCode::Char(key), .. }) = message else { return Vec::new() };
        self.taken += 1;
        match key {
            'q' => return vec![Task::Quit],
            'z' => return vec![Task::Suspend],
            'm' => return vec![Task::CaptureMouse(true)],
            'p' => panic!("the console breaks"),
            't' => drop(std::thread::spawn(|| panic!("a thread breaks"))),
            'w' => drop(tokio::spawn(async { panic!("a worker breaks") })),
            _ => {}
        }
        Vec::new()
    }

    fn view(&mut self, frame: &mut Frame<'_>) {
        let line = format!("READY {} after {} keys.", std::process::id(), self.taken);
        frame.render_widget(line, frame.area());
    }

    fn wants_ticks(&self) -> bool {
        true
    }
}

/// The process in the pseudo-terminal; in the ordinary run of the tests it does nothing.
#[test]
fn child() {
    let Some(place) = std::env::var_os(CHILD) else { return };
    let ended = tokio::runtime::Runtime::new().unwrap().block_on(async {
        let signals = signals::listen().unwrap();
        let guard = TerminalGuard::enter().unwrap();
        let mut screen = Tty::open().unwrap();
        let desk = World::with_stuck(&["a"]).desk();
        let ended = drive(
            desk,
            Probe { taken: 0 },
            Vec::new(),
            &mut screen,
            crate::runtime::keyboard::listen().unwrap(),
            signals,
        )
        .await;
        drop(guard);
        ended
    });
    std::fs::write(Path::new(&place).join("ended"), format!("{ended:?}")).unwrap();
}

/// A pseudo-terminal with a shell in it.
struct Pty {
    place: tempfile::TempDir,
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Makes the reader let go of the pseudo-terminal after the next frame.
    is_closing: Arc<AtomicBool>,
    shell: Box<dyn portable_pty::Child + Send + Sync>,
}

impl Pty {
    /// Runs a script in which `$run` is the program.
    fn start(script: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let size = PtySize { rows: 24, cols: 100, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let itself = std::env::current_exe().unwrap();
        let run = format!("'{}' runtime::terminal::tests::child --exact --nocapture", itself.display());
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", &script.replace("$run", &run)]);
        command.cwd(place.path());
        command.env(CHILD, place.path());
        command.env("TERM", "xterm-256color");
        command.env("RUST_BACKTRACE", "0");
        let shell = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let is_closing = Arc::new(AtomicBool::new(false));
        let (mut reader, into) = (pair.master.try_clone_reader().unwrap(), Arc::clone(&bytes));
        let closes = Arc::clone(&is_closing);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                into.lock().unwrap().extend_from_slice(&buffer[..count]);
                if closes.load(Ordering::SeqCst) {
                    return;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        Self { place, master: Some(pair.master), writer: Some(writer), bytes, is_closing, shell }
    }

    /// The terminal as somebody would see it now.
    fn screen(&self) -> vt100::Parser {
        let mut parser =
            vt100::Parser::new(const { NonZero::new(24).unwrap() }, const { NonZero::new(100).unwrap() }, 0);
        parser.process(&self.bytes.lock().unwrap());
        parser
    }

    /// Waits until the screen shows a text.
    fn shows(&self, text: &str) {
        self.until(text, || self.screen().screen().contents().contains(text));
    }

    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let from = Instant::now();
        while !is_so() {
            let shown = String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned();
            assert!(from.elapsed() < PATIENCE, "{what} was awaited in {shown:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn press(&mut self, keys: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    fn signal(&self, signal: Signal) {
        let contents = self.screen().screen().contents();
        let pid = contents.split("READY ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    fn file(&self, name: &str) -> String {
        let path = self.place.path().join(name);
        let text = || std::fs::read_to_string(&path).unwrap_or_default();
        self.until(name, || !text().is_empty());
        text()
    }

    /// Nothing of the console is left on the terminal.
    fn is_as_before(&self) {
        let parser = self.screen();
        let screen = parser.screen();
        assert!(!screen.alternate_screen() && !screen.hide_cursor() && !screen.bracketed_paste());
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        let bytes = self.bytes.lock().unwrap();
        let last = |code: &[u8]| bytes.windows(code.len()).rposition(|window| window == code);
        assert!(last(b"\x1b[?2026l") > last(b"\x1b[?2026h"), "a frame is held back");
    }
}

const LOOK_BEFORE_AND_AFTER: &str = "stty -a >before; $run; stty -a >after; echo; echo OVER";

#[rstest]
#[case::key("q", None, "Ok", "")]
#[case::key_with_mouse("mq", None, "Ok", "")]
#[case::terminated("", Some(Signal::TERM), "Ok", "")]
#[case::hung_up("m", Some(Signal::HUP), "Ok", "")]
#[case::interrupted_from_outside("", Some(Signal::INT), "Ok", "")]
#[case::console_panics("mp", None, "Panicked", "the console breaks")]
#[case::thread_panics("t", None, "Panicked", "a thread breaks")]
#[case::worker_panics("w", None, "Panicked", "a worker breaks")]
fn the_terminal_comes_back(
    #[case] keys: &str,
    #[case] signal: Option<Signal>,
    #[case] ended: &str,
    #[case] told: &str,
) {
    let mut pty = Pty::start(LOOK_BEFORE_AND_AFTER);
    pty.shows("READY");
    assert!(pty.screen().screen().alternate_screen());
    pty.press(keys);
    if let Some(signal) = signal {
        pty.shows(&format!("after {} keys", keys.len()));
        pty.signal(signal);
    }
    pty.shows("OVER");
    pty.is_as_before();
    pty.shows(told);
    assert_eq!(pty.file("before"), pty.file("after"));
    assert!(pty.file("ended").contains(ended));
    assert!(pty.shell.wait().unwrap().success());
}

/// With a hang-up signal, and where somebody made the program deaf to it.
#[rstest]
#[case::told_by_a_signal("$run")]
#[case::without_a_signal("setsid -w sh -c \"$run\"")]
fn a_terminal_that_is_closed_ends_the_program(#[case] script: &str) {
    let mut pty = Pty::start(script);
    pty.shows("READY");
    pty.is_closing.store(true, Ordering::SeqCst);
    pty.writer = None;
    pty.master = None;
    let ended = pty.file("ended");
    assert!(["Ok", "Gone", "Output", "Input"].iter().any(|word| ended.contains(word)), "{ended}");
}

#[test]
fn a_stop_hands_the_terminal_to_the_shell_and_takes_it_again() {
    let script = "set -m; stty -a >before; $run; stty -a >stopped; echo; echo STOPPED; read go; fg; stty -a >after; echo OVER";
    let mut pty = Pty::start(script);
    pty.shows("READY");
    pty.press("mz");
    pty.shows("STOPPED");
    pty.is_as_before();
    assert_eq!(pty.file("before"), pty.file("stopped"));
    pty.press("go\n");
    pty.until("the console again", || pty.screen().screen().alternate_screen());
    pty.shows("after 2 keys");
    pty.until("the mouse again", || {
        pty.screen().screen().mouse_protocol_mode() != vt100::MouseProtocolMode::None
    });
    pty.press("jq");
    pty.shows("OVER");
    pty.is_as_before();
    assert_eq!(pty.file("before"), pty.file("after"));
}

#[test]
fn a_stop_without_a_shell_that_could_continue_changes_nothing() {
    let mut pty = Pty::start(LOOK_BEFORE_AND_AFTER);
    pty.shows("READY");
    pty.press("z");
    pty.shows("after 1 keys");
    pty.press("j");
    pty.shows("after 2 keys");
    pty.press("q");
    pty.shows("OVER");
    pty.is_as_before();
    assert_eq!(pty.file("before"), pty.file("after"));
}

#[test]
fn without_a_terminal_there_is_no_console() {
    // Under the test runner the output is not a terminal, so the console says so and touches nothing.
    if io::IsTerminal::is_terminal(&io::stdout()) {
        return;
    }
    let seat = crate::runtime::Seat::take();
    assert!(matches!(seat, Err(crate::runtime::RuntimeFault::NotATerminal)));
}
