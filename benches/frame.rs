//! The console with 100,000 findings, half of them checked: one frame, and each key with the frame that follows it.

mod measure;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use measure::{Bounds, Fault, median, millis, percentile};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use unstuck::console::message::{CheckMessage, Message};
use unstuck::console::task::Task;
use unstuck::console::{Model, ViewState, sample, update, view};
use unstuck::domain::verdict::Verdict;

/// How many findings the console holds.
const FINDINGS: usize = 100_000;
const WIDTH: u16 = 200;
const HEIGHT: u16 = 50;
/// How long a frame may take, and a key with the frame that follows it.
const FRAME_MAX: Duration = Duration::from_millis(8);
/// How long a key may take that looks at every finding: a new order, a letter of a filter.
const ALL_MAX: Duration = Duration::from_millis(50);
/// How often each thing is measured.
const ROUNDS: usize = 300;
/// How often a thing that touches every finding is measured.
const ROUNDS_OF_ALL: usize = 40;

fn main() -> Result<ExitCode, Fault> {
    println!("a console of {FINDINGS} findings, half checked, {WIDTH}x{HEIGHT}");
    let mut console = Console::new()?;
    let mut bounds = Bounds::default();
    let frames = measure(ROUNDS, || console.draw());
    report(&mut bounds, "a frame", &frames?, FRAME_MAX);
    // Each set of keys is pressed over and over; one key and its frame is one measurement.
    let pressed: [(&str, usize, &[KeyCode], Duration); 7] = [
        ("j, one line down", ROUNDS, &[KeyCode::Char('j')], FRAME_MAX),
        ("PgDn, a page down", ROUNDS, &[KeyCode::PageDown], FRAME_MAX),
        ("G and g, end and top", ROUNDS, &[KeyCode::Char('G'), KeyCode::Char('g')], FRAME_MAX),
        ("Space, select", ROUNDS, &[KeyCode::Char(' ')], FRAME_MAX),
        ("Tab, the other pane", ROUNDS, &[KeyCode::Tab], FRAME_MAX),
        ("s, the next order", ROUNDS_OF_ALL, &[KeyCode::Char('s')], ALL_MAX),
        ("S, turned round", ROUNDS_OF_ALL, &[KeyCode::Char('S')], ALL_MAX),
    ];
    for (name, rounds, keys, bound) in pressed {
        let mut codes = keys.iter().cycle();
        let times = measure(rounds, || codes.next().map_or(Ok(()), |code| console.press(*code)));
        report(&mut bounds, name, &times?, bound);
    }
    for typed in ["inv", "timeout", "99:2026", "zzz", "kind:email", "verdict:happened age>2h"] {
        let times = console.type_filter(typed)?;
        report(&mut bounds, &format!("filter `{typed}`, a letter"), &times, ALL_MAX);
    }
    Ok(bounds.exit())
}

fn report(bounds: &mut Bounds, name: &str, times: &[Duration], bound: Duration) {
    let middle = median(times);
    let over = if middle > FRAME_MAX { ", longer than a frame may take" } else { "" };
    let (middle_told, p99) = (millis(middle), millis(percentile(times, 99)));
    bounds.check(middle <= bound, &format!("{name:40} median {middle_told:>9}, p99 {p99:>9}{over}"));
}

fn measure(rounds: usize, mut work: impl FnMut() -> Result<(), Fault>) -> Result<Vec<Duration>, Fault> {
    (0..rounds)
        .map(|_| {
            let begun = Instant::now();
            work()?;
            Ok(begun.elapsed())
        })
        .collect()
}

/// A console on a terminal of memory.
struct Console {
    model: Model,
    state: ViewState,
    terminal: Terminal<TestBackend>,
}

impl Console {
    /// Every other finding is checked, the verdicts in turns.
    fn new() -> Result<Self, Fault> {
        let mut console = Self {
            model: sample::console(sample::setup(WIDTH, HEIGHT), FINDINGS),
            state: ViewState::default(),
            terminal: Terminal::new(TestBackend::new(WIDTH, HEIGHT))?,
        };
        let tasks = console.send(Message::Key(key(KeyCode::Char('C'))));
        let Some(Task::Check { run, found }) = tasks.first() else {
            return Err("`C` began no checks".into());
        };
        for (number, found) in found.iter().enumerate().step_by(2) {
            let verdict =
                Verdict::ALL.get(number / 2 % Verdict::ALL.len()).copied().unwrap_or(Verdict::Unknown);
            let checked = Arc::new(sample::checked(found, verdict));
            console.send(Message::Check(CheckMessage::Done { run: *run, found: Arc::clone(found), checked }));
        }
        console.send(Message::Check(CheckMessage::Ended { run: *run, record_fault: None }));
        console.draw()?;
        Ok(console)
    }

    fn send(&mut self, message: Message) -> Vec<Task> {
        update(&mut self.model, &self.state, message)
    }

    fn draw(&mut self) -> Result<(), Fault> {
        let (model, state) = (&self.model, &mut self.state);
        self.terminal.draw(|frame| view(model, state, frame))?;
        Ok(())
    }

    fn press(&mut self, code: KeyCode) -> Result<(), Fault> {
        self.send(Message::Key(key(code)));
        self.draw()
    }

    /// Types a filter and takes it away letter by letter, several times: each letter with its frame.
    fn type_filter(&mut self, typed: &str) -> Result<Vec<Duration>, Fault> {
        let mut times = Vec::new();
        for _ in 0..3 {
            self.press(KeyCode::Char('/'))?;
            let erased = typed.chars().map(|_| KeyCode::Backspace);
            for code in typed.chars().map(KeyCode::Char).chain(erased) {
                times.extend(measure(1, || self.press(code))?);
            }
            self.press(KeyCode::Esc)?;
        }
        Ok(times)
    }
}

fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}
