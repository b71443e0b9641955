//! The loop with a scripted console, a test's screen, and injected events.

use super::session::{CLIPBOARD_BYTES_MAX, PASTE_BYTES_MAX};
use super::*;
use crate::console::message::{ScanMessage, SettleMessage};
use crate::domain::decision::Choice::MarkDone;
use crate::workflow::fakes::{World, order};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures_util::stream;
use pretty_assertions::assert_eq;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;
use rstest::rstest;
use std::collections::HashMap;
use std::sync::Mutex;

/// What happened, in order, in words.
type Log = Arc<Mutex<Vec<String>>>;

/// A console that does for each key what a test says.
struct Scripted {
    log: Log,
    keys: HashMap<char, Vec<Task>>,
    wants_ticks: bool,
    breaks_in_view: bool,
}

impl Console for Scripted {
    fn update(&mut self, message: Message) -> Vec<Task> {
        let spelled = match &message {
            Message::Key(key) => format!("key {}", key.code),
            Message::Paste(text) => format!("paste of {}", text.len()),
            Message::Resize { width, height } => format!("resize {width}x{height}"),
            Message::Tick(_) => "tick".to_owned(),
            Message::Terminate => "terminate".to_owned(),
            Message::Notice { what, .. } => format!("notice: {what}"),
            Message::Scan(ScanMessage::Ended { .. }) => "scanned".to_owned(),
            Message::Settle(SettleMessage::Decided { .. }) => "decided".to_owned(),
            _ => "another".to_owned(),
        };
        self.log.lock().unwrap().push(spelled);
        let Message::Key(KeyEvent { code: KeyCode::Char(key), .. }) = message else { return Vec::new() };
        assert!(key != 'p', "the console breaks");
        self.breaks_in_view |= key == 'v';
        self.keys.get(&key).cloned().unwrap_or_default()
    }

    fn view(&mut self, frame: &mut Frame<'_>) {
        assert!(!self.breaks_in_view, "the view breaks");
        frame.render_widget("unstuck", frame.area());
    }

    fn wants_ticks(&self) -> bool {
        self.wants_ticks
    }
}

/// A screen that remembers what was done with it.
struct TestScreen {
    log: Log,
    terminal: Terminal<TestBackend>,
    is_closed: Arc<Mutex<bool>>,
    is_gone: Arc<Mutex<bool>>,
}

impl TestScreen {
    #[expect(clippy::unnecessary_wraps, reason = "it ends the methods of a screen")]
    fn say(&self, what: impl Into<String>) -> io::Result<()> {
        self.log.lock().unwrap().push(what.into());
        Ok(())
    }
}

impl Screen for TestScreen {
    fn size(&self) -> io::Result<Size> {
        Ok(self.terminal.size().unwrap())
    }

    fn draw(&mut self, render: &mut dyn FnMut(&mut Frame<'_>)) -> io::Result<()> {
        if *self.is_closed.lock().unwrap() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.terminal.draw(render).unwrap();
        self.say("draw")
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        self.say(format!("copy {text}"))
    }

    fn capture_mouse(&mut self, on: bool) -> io::Result<()> {
        self.say(format!("mouse {on}"))
    }

    fn redraw(&mut self) -> io::Result<()> {
        self.say("redraw")
    }

    fn leave(&mut self) {
        self.say("leave").unwrap();
    }

    fn stop(&mut self) -> io::Result<()> {
        self.say("stop")
    }

    fn enter(&mut self) -> io::Result<()> {
        self.say("enter")
    }

    fn is_gone(&self) -> bool {
        *self.is_gone.lock().unwrap()
    }
}

/// A loop at work, and what it can be given.
struct Bench {
    log: Log,
    events: Option<mpsc::UnboundedSender<Event>>,
    signals: mpsc::UnboundedSender<Signal>,
    is_closed: Arc<Mutex<bool>>,
    is_gone: Arc<Mutex<bool>>,
    ended: tokio::task::JoinHandle<Result<(), RuntimeFault>>,
}

impl Bench {
    fn start(world: &World, wants_ticks: bool) -> Self {
        let log = Log::default();
        let (is_closed, is_gone) = (Arc::default(), Arc::default());
        let keys = HashMap::from([
            ('q', vec![Task::Quit]),
            ('s', vec![Task::Scan { run: 1 }]),
            ('d', vec![Task::Decide { run: 1, orders: vec![order("a", MarkDone)] }]),
            ('y', vec![Task::Copy("inv-41".to_owned())]),
            ('Y', vec![Task::Copy("x".repeat(CLIPBOARD_BYTES_MAX + 1))]),
            ('m', vec![Task::CaptureMouse(true)]),
            ('z', vec![Task::Suspend]),
        ]);
        let console = Scripted { log: Arc::clone(&log), keys, wants_ticks, breaks_in_view: false };
        let mut screen = TestScreen {
            log: Arc::clone(&log),
            terminal: Terminal::new(TestBackend::new(40, 3)).unwrap(),
            is_closed: Arc::clone(&is_closed),
            is_gone: Arc::clone(&is_gone),
        };
        let (events, mut events_in) = mpsc::unbounded_channel();
        let (signals, mut signals_in) = mpsc::unbounded_channel();
        let events_in =
            stream::poll_fn(move |context| events_in.poll_recv(context).map(|event| event.map(Ok)));
        let signals_in = stream::poll_fn(move |context| signals_in.poll_recv(context));
        let desk = world.desk();
        let ended = tokio::spawn(async move {
            drive(desk, console, Vec::new(), &mut screen, events_in, signals_in).await
        });
        Self { log, events: Some(events), signals, is_closed, is_gone, ended }
    }

    fn give(&self, event: Event) {
        self.events.as_ref().unwrap().send(event).unwrap();
    }

    fn press(&self, keys: &str) {
        for key in keys.chars() {
            self.give(Event::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE)));
        }
    }

    /// Lets the loop do what it has to do for a while.
    async fn pass(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    /// What happened since the last look.
    fn log(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }

    async fn end(self) -> (Result<(), RuntimeFault>, Vec<String>) {
        let ended = tokio::time::timeout(Duration::from_mins(1), self.ended).await.unwrap().unwrap();
        (ended, std::mem::take(&mut *self.log.lock().unwrap()))
    }
}

fn world() -> World {
    World::with_stuck(&["a"]).happened("a", 1)
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_taken_in_and_drawn_once() {
    let bench = Bench::start(&world(), false);
    bench.pass(1).await;
    assert_eq!(bench.log(), ["draw"]);
    bench.press(&"j".repeat(200));
    bench.pass(1).await;
    let log = bench.log();
    assert_eq!(log.iter().filter(|what| *what == "key j").count(), 200);
    assert_eq!(log.iter().filter(|what| *what == "draw").count(), 1);
    bench.press("q");
    assert!(bench.end().await.0.is_ok());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_drawn_where_nothing_changes_and_ticks_come_only_where_wanted() {
    let bench = Bench::start(&world(), false);
    bench.pass(10).await;
    assert_eq!(bench.log(), ["draw"]);
    let bench = Bench::start(&world(), true);
    bench.pass(10).await;
    let ticks = bench.log().iter().filter(|what| *what == "tick").count();
    assert!((9..=10).contains(&ticks), "{ticks}");
}

#[tokio::test(start_paused = true)]
async fn events_become_messages_and_what_is_none_is_left_out() {
    let bench = Bench::start(&world(), false);
    let released = KeyEvent::new_with_kind(KeyCode::Char('j'), KeyModifiers::NONE, KeyEventKind::Release);
    bench.give(Event::Key(released));
    bench.give(Event::FocusGained);
    bench.give(Event::Resize(0, 0));
    bench.give(Event::Paste("€".repeat(PASTE_BYTES_MAX)));
    bench.give(Event::Key(KeyEvent::new_with_kind(
        KeyCode::Char('j'),
        KeyModifiers::NONE,
        KeyEventKind::Repeat,
    )));
    bench.pass(1).await;
    let whole_characters = PASTE_BYTES_MAX / 3 * 3;
    assert_eq!(bench.log(), ["resize 0x0", &format!("paste of {whole_characters}"), "key j", "draw"]);
}

#[tokio::test(start_paused = true)]
async fn answers_of_tasks_are_shown() {
    let bench = Bench::start(&world(), false);
    bench.press("s");
    bench.pass(1).await;
    let log = bench.log();
    assert_eq!((&*log[0], &**log.last().unwrap()), ("key s", "draw"));
    assert!(log.contains(&"scanned".to_owned()), "{log:?}");
}

#[rstest]
#[case::by_a_key("q", None)]
#[case::by_a_signal("", Some(Signal::Terminate))]
#[tokio::test(start_paused = true)]
async fn the_end_takes_no_more_work_and_waits_for_a_write(
    #[case] keys: &str,
    #[case] signal: Option<Signal>,
) {
    let world = world();
    world.script.hold("source.apply");
    let bench = Bench::start(&world, false);
    bench.press("d");
    world.script.begun("source.apply", 1).await;
    bench.press(keys);
    signal.map(|signal| bench.signals.send(signal));
    bench.pass(30).await;
    bench.press("s");
    bench.pass(30).await;
    assert!(!bench.ended.is_finished(), "the write is under way");
    world.script.let_go("source.apply", 1);
    let (ended, log) = bench.end().await;
    assert!(ended.is_ok(), "{ended:?}");
    assert!(!log.contains(&"key s".to_owned()) && log.contains(&"decided".to_owned()), "{log:?}");
    assert_eq!(log.contains(&"terminate".to_owned()), signal.is_some());
    assert_eq!(world.events(), ["intended", "applied"]);
}

/// What takes the terminal or the console away.
#[derive(Debug, Clone, Copy)]
enum Loss {
    Output,
    Input,
    Terminal,
    Console,
    View,
}

#[rstest]
#[case(Loss::Output)]
#[case(Loss::Input)]
#[case(Loss::Terminal)]
#[case(Loss::Console)]
#[case(Loss::View)]
#[tokio::test(start_paused = true)]
async fn whatever_breaks_a_write_that_has_begun_is_waited_for(#[case] loss: Loss) {
    let world = world();
    world.script.hold("source.apply");
    let mut bench = Bench::start(&world, false);
    bench.press("d");
    world.script.begun("source.apply", 1).await;
    match loss {
        Loss::Output => {
            *bench.is_closed.lock().unwrap() = true;
            bench.press("j");
        }
        Loss::Input => bench.events = None,
        Loss::Terminal => *bench.is_gone.lock().unwrap() = true,
        Loss::Console => bench.press("p"),
        Loss::View => bench.press("v"),
    }
    bench.pass(10).await;
    assert!(!bench.ended.is_finished(), "the write is under way");
    world.script.let_go("source.apply", 1);
    let (ended, _) = bench.end().await;
    let fault = ended.unwrap_err();
    let is_told = match loss {
        Loss::Output => matches!(fault, RuntimeFault::Output(_)),
        Loss::Input | Loss::Terminal => matches!(fault, RuntimeFault::Gone),
        Loss::Console | Loss::View => matches!(fault, RuntimeFault::Panicked),
    };
    assert!(is_told, "{fault:?}");
    assert_eq!(world.events(), ["intended", "applied"]);
}

#[tokio::test(start_paused = true)]
async fn a_text_is_copied_whole_or_not_at_all() {
    let bench = Bench::start(&world(), false);
    bench.press("yYm");
    bench.pass(1).await;
    let log = bench.log();
    assert_eq!(log[..3], ["key y", "copy inv-41", "key Y"]);
    assert!(log[3].starts_with("notice: nothing was copied"), "{log:?}");
    assert_eq!(log[4..], ["key m", "mouse true", "draw"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_gives_the_terminal_back_and_takes_it_again() {
    let bench = Bench::start(&world(), false);
    bench.pass(1).await;
    bench.log();
    bench.press("z");
    bench.pass(1).await;
    assert_eq!(bench.log(), ["key z", "draw", "leave", "stop", "leave", "enter", "draw"]);
    // Stopped from outside, the shell has changed the terminal behind our back.
    bench.signals.send(Signal::Continue).unwrap();
    bench.pass(1).await;
    assert_eq!(bench.log(), ["leave", "enter", "draw"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_until_nothing_holds_a_source() {
    let world = world();
    world.script.hold("source.scan");
    let bench = Bench::start(&world, false);
    bench.press("s");
    world.script.begun("source.scan", 1).await;
    bench.press("z");
    bench.pass(5).await;
    let log = bench.log();
    assert!(log.iter().any(|what| what.starts_with("notice: the console stops as soon as")), "{log:?}");
    assert!(!log.contains(&"stop".to_owned()), "{log:?}");
    world.script.let_go("source.scan", 1);
    bench.pass(1).await;
    let log = bench.log();
    let scanned = log.iter().position(|what| what == "scanned").unwrap();
    let stopped = log.iter().position(|what| what == "stop").unwrap();
    assert!(scanned < stopped, "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn an_end_while_stopped_does_not_draw_on_the_shells_screen() {
    let bench = Bench::start(&world(), false);
    bench.pass(1).await;
    bench.press("z");
    tokio::time::sleep(Duration::from_millis(100)).await;
    bench.signals.send(Signal::Terminate).unwrap();
    let (ended, log) = bench.end().await;
    assert!(ended.is_ok());
    assert_eq!(log, ["draw", "key z", "draw", "leave", "stop", "terminate"]);
}

#[rstest]
#[case(0, 0)]
#[case(1, 1)]
#[case(5, 3)]
#[case(19, 5)]
#[tokio::test(start_paused = true)]
async fn the_programs_own_console_runs_at_any_size(#[case] width: u16, #[case] height: u16) {
    let log = Log::default();
    let mut screen = TestScreen {
        log: Arc::clone(&log),
        terminal: Terminal::new(TestBackend::new(width, height)).unwrap(),
        is_closed: Arc::default(),
        is_gone: Arc::default(),
    };
    let desk = world().desk();
    let setup = setup_of(&desk, Options::default(), screen.size().unwrap());
    let (model, first) = Model::start(setup);
    let console = Whole { model, view: ViewState::default(), save_view: None };
    let (_events, mut events_in) = mpsc::unbounded_channel();
    let events_in = stream::poll_fn(move |context| events_in.poll_recv(context));
    let signals = Box::pin(stream::once(async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        Signal::Terminate
    }));
    let ended = drive(desk, console, first, &mut screen, events_in, signals).await;
    assert!(ended.is_ok(), "{ended:?}");
    assert!(log.lock().unwrap().contains(&"draw".to_owned()));
}
