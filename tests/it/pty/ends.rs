//! The terminal comes back, however the program ends.

use super::terminal::{LOOK_WITH_JOBS, Start, Terminal, modes};
use portable_pty::{MasterPty, PtySize, native_pty_system};
use rstest::rstest;
use rustix::process::Signal;

/// A few items are enough to end.
const FEW: &str = "demo --seed 7 --items 2";

fn started(start: Start<'_>) -> Terminal {
    let terminal = Terminal::start(&Start { arguments: FEW, ..start });
    terminal.shows("findings  read");
    assert!(terminal.screen().alternate_screen() && terminal.screen().bracketed_paste());
    terminal
}

fn with_mouse(terminal: &mut Terminal) {
    terminal.press("m");
    terminal.until("mouse reports", |screen| screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None);
}

#[rstest]
#[case::quit("q")]
#[case::interrupted("\x03")]
fn by_a_key(#[case] key: &str) {
    let mut terminal = started(Start::default());
    with_mouse(&mut terminal);
    terminal.press(key);
    terminal.is_over(0);
}

#[rstest]
#[case::terminated(Signal::TERM)]
#[case::hung_up(Signal::HUP)]
#[case::interrupted(Signal::INT)]
fn by_a_signal(#[case] signal: Signal) {
    let mut terminal = started(Start::default());
    with_mouse(&mut terminal);
    terminal.signal(signal);
    terminal.is_over(0);
}

/// Only builds with debug assertions can be made to break.
#[cfg(debug_assertions)]
#[rstest]
#[case::the_console("console")]
#[case::a_worker("worker")]
fn by_a_panic(#[case] part: &str) {
    let mut terminal = started(Start { environment: &[("UNSTUCK_PANIC_ON_KEY", part)], ..Start::default() });
    with_mouse(&mut terminal);
    terminal.press("!");
    terminal.is_over(101);
    let told = terminal.contents();
    assert!(told.contains("panicked at") && told.contains("broken on purpose"), "{told}");
    assert!(told.contains("unstuck: a part of the program broke"), "{told}");
    assert!(told.contains("Start it again"), "{told}");
}

/// Another terminal, for the program's input or output.
fn another() -> (Box<dyn MasterPty + Send>, String) {
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let name = pair.master.tty_name().unwrap().display().to_string();
    (pair.master, name)
}

/// The input goes away; the terminal that was drawn on is there and must be as before.
#[test]
fn by_an_error_of_its_input() {
    let (input, name) = another();
    let mut terminal = started(Start { redirected: format!("<{name}"), ..Start::default() });
    drop(input);
    terminal.is_over(3);
    let told = terminal.contents();
    assert!(told.contains("unstuck: the terminal") && told.contains("Start it again"), "{told}");
}

/// The output goes away; the terminal that keys come from is there and must be as before.
#[test]
fn by_a_closed_output() {
    let (output, name) = another();
    let mut terminal = Terminal::start(&Start {
        arguments: FEW,
        redirected: format!(">{name}"),
        script: "stty -a >before; echo READY; $RUN; echo $? >code; stty -a >after; echo; echo OVER",
        ..Start::default()
    });
    terminal.shows("READY");
    let mut reader = output.try_clone_reader().unwrap();
    let mut parser = vt100::Parser::default();
    let mut buffer = [0; 4096];
    while !parser.screen().contents().contains("findings  read") {
        let count = std::io::Read::read(&mut reader, &mut buffer).unwrap();
        parser.process(&buffer[..count]);
    }
    drop((reader, output));
    terminal.is_over(3);
    let told = terminal.contents();
    assert!(told.contains("the terminal takes no more output"), "{told}");
}

/// Nobody sees how it ends, but it ends, and leaves nothing behind.
#[test]
fn by_a_closed_window() {
    let script = "trap : HUP; $RUN; echo $? >code";
    let mut terminal = started(Start { script, ..Start::default() });
    terminal.close();
    terminal.ended();
    assert!(["0", "3"].contains(&terminal.file("code").trim()), "{}", terminal.file("code"));
    assert_eq!(terminal.demo_folders(), Vec::<std::path::PathBuf>::new());
}

#[rstest]
#[case::input("</dev/null")]
#[case::output("| cat")]
fn without_a_terminal_it_does_not_begin(#[case] redirected: &str) {
    let script = if redirected.starts_with('|') {
        "stty -a >before; { $RUN; echo $? >code; } | cat; stty -a >after; echo; echo OVER"
    } else {
        "stty -a >before; $RUN </dev/null; echo $? >code; stty -a >after; echo; echo OVER"
    };
    let mut terminal = Terminal::start(&Start { arguments: FEW, script, ..Start::default() });
    terminal.is_over(2);
    assert!(!terminal.written().contains("\x1b["), "{}", terminal.written());
    terminal.shows("unstuck: the console needs a terminal");
}

#[test]
fn a_stop_hands_the_terminal_to_the_shell_and_fg_takes_it_again() {
    let mut terminal = started(Start { script: LOOK_WITH_JOBS, ..Start::default() });
    with_mouse(&mut terminal);
    terminal.press("\x1a");
    terminal.shows("STOPPED");
    terminal.is_given_back();
    terminal.press("go\n");
    terminal.until("the console again", vt100::Screen::alternate_screen);
    terminal.shows("findings  read");
    terminal
        .until("the mouse again", |screen| screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None);
    assert_eq!(modes(&terminal.file("before")), modes(&terminal.file("stopped")));
    terminal.press("q");
    terminal.is_over(0);
}

/// What was put on record is signed before the program is gone, by a key as by a signal.
#[rstest]
#[case::quit(None)]
#[case::terminated(Some(Signal::TERM))]
fn with_the_record_signed(#[case] signal: Option<Signal>) {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs.db");
    let rows = "CREATE TABLE jobs (key, status, updated_at, last_error);
        INSERT INTO jobs VALUES ('inv-1', 'failed', '2026-01-05T08:00:00', 'Read timed out')";
    rusqlite::Connection::open(&jobs).unwrap().execute_batch(rows).unwrap();
    let mut terminal = Terminal::start(&Start {
        arguments: &format!("--db sqlite://{} --audit-file audit.db", jobs.display()),
        ..Start::default()
    });
    terminal.shows("1 finding");
    terminal.press("c");
    terminal.shows("unknown");
    match signal {
        Some(signal) => terminal.signal(signal),
        None => terminal.press("q"),
    }
    terminal.is_over(0);
    assert_eq!(terminal.file("audit.db.checkpoints").matches("\"entries\":1,").count(), 1);
}
