//! The console with 200,000 findings, half of them checked: one frame; each key, and each piece of news from scans and
//! checks, with the frame that follows it.

mod measure;

use chrono::TimeDelta;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use measure::{Bounds, Fault, mebibytes, median, millis, own_peak_bytes, percentile};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use unstuck::console::message::{CheckMessage, Message, ScanMessage};
use unstuck::console::model::groups::Grouping;
use unstuck::console::model::sort::Column;
use unstuck::console::task::Task;
use unstuck::console::{Model, ViewState, sample, update, view};
use unstuck::domain::verdict::Verdict;
use unstuck::workflow::Found;
use unstuck::workflow::scan::PAGE_ITEMS_MAX;

/// How many findings the console holds.
const FINDINGS: usize = 200_000;
const WIDTH: u16 = 200;
const HEIGHT: u16 = 50;
/// How long a frame may take, and a key or a piece of news with the frame that follows it.
const FRAME_MAX: Duration = Duration::from_millis(16);
/// How often each thing is measured.
const ROUNDS: usize = 300;
/// How often a thing that touches every finding is measured: as often for each order.
const ROUNDS_OF_ALL: usize = 7 * Column::ALL.len();
/// How often a filter is typed and taken away.
const ROUNDS_OF_LETTERS: usize = 15;
/// How often all findings are scanned, and checked.
const ROUNDS_OF_NEWS: usize = 10;
const FILTERS: [&str; 9] = [
    "inv",
    "timeout",
    "99:2026",
    "zzz",
    "é",
    "kind:email",
    "verdict:happened age>2h",
    "error:reset -key:7",
    "attempts>2 reference:2026",
];
const FINDS: [&str; 5] = ["inv", "i26", "e99 05", "zzz", "é"];

fn main() -> Result<ExitCode, Fault> {
    println!("a console of {FINDINGS} findings, half checked, {WIDTH}x{HEIGHT}");
    let mut console = Console::new()?;
    let mut bounds = Bounds::default();
    report(&mut bounds, "a frame", &measure(ROUNDS, || console.draw())?);
    keys(&mut console, &mut bounds)?;
    filters(&mut console, &mut bounds)?;
    finds(&mut console, &mut bounds)?;
    news(&mut console, &mut bounds)?;
    println!("  the whole bench held {} at most", mebibytes(own_peak_bytes()));
    Ok(bounds.exit())
}

/// Each set of keys is pressed over and over; one key and its frame is one measurement.
fn keys(console: &mut Console, bounds: &mut Bounds) -> Result<(), Fault> {
    let pressed: [(&str, usize, &[KeyCode]); 11] = [
        ("j, one line down", ROUNDS, &[KeyCode::Char('j')]),
        ("PgDn, a page down", ROUNDS, &[KeyCode::PageDown]),
        ("G and g, end and top", ROUNDS, &[KeyCode::Char('G'), KeyCode::Char('g')]),
        ("Space, select", ROUNDS, &[KeyCode::Char(' ')]),
        ("Tab, the other pane", ROUNDS, &[KeyCode::Tab]),
        ("a, select all and none", ROUNDS_OF_ALL, &[KeyCode::Char('a')]),
        ("a and Esc, deselect", 2 * ROUNDS_OF_ALL, &[KeyCode::Char('a'), KeyCode::Esc]),
        ("s, the next order", ROUNDS_OF_ALL, &[KeyCode::Char('s')]),
        ("S, turned round", ROUNDS_OF_ALL, &[KeyCode::Char('S')]),
        ("t and Esc, triage", 2 * ROUNDS_OF_ALL, &[KeyCode::Char('t'), KeyCode::Esc]),
        // By each thing and by nothing, so that it ends as it began.
        ("z, the next grouping", 10 * Grouping::ALL.len(), &[KeyCode::Char('z')]),
    ];
    for (name, rounds, keys) in pressed {
        let mut codes = keys.iter().cycle();
        let times = measure(rounds, || codes.next().map_or(Ok(()), |code| console.press(*code)))?;
        report(bounds, name, &times);
    }
    for grouping in Grouping::ALL.map(Grouping::next) {
        console.press(KeyCode::Char('z'))?;
        if grouping == Grouping::None {
            continue;
        }
        let times = measure(ROUNDS_OF_ALL, || console.press(KeyCode::Char('S')))?;
        report(bounds, &format!("S, grouped by {}", grouping.as_str()), &times);
        let times = measure(ROUNDS_OF_ALL, || console.press(KeyCode::Char('Z')))?;
        report(bounds, &format!("Z, all {} groups unfolded and folded", grouping.as_str()), &times);
        console.press(KeyCode::Char('Z'))?;
    }
    // Each order by itself: a slow one must not hide behind eight quick ones.
    for column in Column::ALL.map(Column::next) {
        console.press(KeyCode::Char('s'))?;
        let times = measure(ROUNDS_OF_ALL, || console.press(KeyCode::Char('S')))?;
        report(bounds, &format!("S, {}", column.title()), &times);
    }
    Ok(())
}

/// Of each filter the letter that took longest, there or back.
fn filters(console: &mut Console, bounds: &mut Bounds) -> Result<(), Fault> {
    for typed in FILTERS {
        let letters = console.type_text(KeyCode::Char('/'), typed)?;
        if let Some((shown, times)) = letters.iter().max_by_key(|(_, times)| median(times)) {
            report(bounds, &format!("filter `{typed}`, slowest at {shown}"), times);
        }
    }
    Ok(())
}

/// Of each text that is looked for the letter that took longest, there or back.
fn finds(console: &mut Console, bounds: &mut Bounds) -> Result<(), Fault> {
    for typed in FINDS {
        let letters = console.type_text(KeyCode::Char('f'), typed)?;
        if let Some((shown, times)) = letters.iter().max_by_key(|(_, times)| median(times)) {
            report(bounds, &format!("find `{typed}`, slowest at {shown}"), times);
        }
    }
    Ok(())
}

/// What scans, checks and decisions tell while somebody works in the list.
fn news(console: &mut Console, bounds: &mut Bounds) -> Result<(), Fault> {
    let (mut known, mut fresh, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS_OF_NEWS {
        let run = console.read_again()?;
        for (source, numbers) in pages(0, FINDINGS) {
            known.extend(console.receive(page(run, &source, &numbers))?);
        }
        // What is new in one scan is gone in the next, so that the list does not grow.
        for (source, numbers) in pages(FINDINGS, FINDINGS + PAGE_ITEMS_MAX * 3 / 2).into_iter().take(1) {
            let numbers = if run.is_multiple_of(2) { numbers } else { Vec::new() };
            fresh.extend(console.receive(page(run, &source, &numbers))?.filter(|_| !numbers.is_empty()));
        }
        ended.extend(console.receive(Message::Scan(ScanMessage::Ended { run, at: sample::now() }))?);
    }
    report(bounds, "a page of known findings arrives", &known);
    report(bounds, "a page of new findings arrives", &fresh);
    report(bounds, "a scan ends", &ended);
    let (mut begun, mut done, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS_OF_NEWS {
        let before = Instant::now();
        let (run, found) = console.check_all()?;
        console.draw()?;
        begun.push(before.elapsed());
        for (number, found) in found.iter().enumerate().step_by(FINDINGS / ROUNDS) {
            done.extend(console.receive(answer(run, number / 7, found))?);
        }
        ended.extend(console.receive(checks_ended(run))?);
    }
    report(bounds, "C, check all", &begun);
    report(bounds, "a check finishes", &done);
    report(bounds, "all checks have ended", &ended);
    Ok(())
}

/// The numbers of the sample's findings, page by page, as each source brings them.
fn pages(from: usize, to: usize) -> Vec<(Arc<str>, Vec<usize>)> {
    let (mails, invoices): (Vec<usize>, Vec<usize>) = (from..to).partition(|number| number % 3 == 2);
    let cut = |source: &str, numbers: &[usize]| -> Vec<(Arc<str>, Vec<usize>)> {
        numbers.chunks(PAGE_ITEMS_MAX).map(|page| (source.into(), page.to_vec())).collect()
    };
    [cut("billing", &invoices), cut("mailer", &mails)].concat()
}

/// Between two scans all findings have grown older.
fn page(run: u64, source: &Arc<str>, numbers: &[usize]) -> Message {
    let mut page = sample::page(source, numbers.iter().copied());
    let passed = i64::try_from(run).map_or_else(|_| TimeDelta::zero(), TimeDelta::seconds);
    for found in &mut page.found {
        found.finding.age = found.finding.age.map(|age| age + passed);
    }
    Message::Scan(ScanMessage::Page { run, source: Arc::clone(source), page })
}

/// The answer to a check, the verdicts in turns.
fn answer(run: u64, number: usize, found: &Arc<Found>) -> Message {
    let verdict = Verdict::ALL.get(number % Verdict::ALL.len()).copied().unwrap_or(Verdict::Unknown);
    let checked = Arc::new(sample::checked(found, verdict));
    Message::Check(CheckMessage::Done { run, found: Arc::clone(found), checked, on_record: true })
}

fn checks_ended(run: u64) -> Message {
    Message::Check(CheckMessage::Ended { run, record_fault: None })
}

fn report(bounds: &mut Bounds, name: &str, times: &[Duration]) {
    let middle = median(times);
    let (middle_told, p99) = (millis(middle), millis(percentile(times, 99)));
    bounds.check(middle <= FRAME_MAX, &format!("{name:48} median {middle_told:>9}, p99 {p99:>9}"));
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
        let (run, found) = console.check_all()?;
        for (number, found) in found.iter().enumerate().step_by(2) {
            console.send(answer(run, number / 2, found));
        }
        console.send(checks_ended(run));
        console.draw()?;
        Ok(console)
    }

    fn check_all(&mut self) -> Result<(u64, Vec<Arc<Found>>), Fault> {
        match self.send(Message::Key(key(KeyCode::Char('C')))).pop() {
            Some(Task::Check { run, found }) => Ok((run, found)),
            _ => Err("`C` began no checks".into()),
        }
    }

    fn read_again(&mut self) -> Result<u64, Fault> {
        match self.send(Message::Key(key(KeyCode::Char('R')))).pop() {
            Some(Task::Scan { run }) => Ok(run),
            _ => Err("`R` began no scan".into()),
        }
    }

    /// Takes in a piece of news and draws: what that took.
    fn receive(&mut self, news: Message) -> Result<impl Iterator<Item = Duration> + use<>, Fault> {
        let begun = Instant::now();
        self.send(news);
        self.draw()?;
        Ok(std::iter::once(begun.elapsed()))
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

    /// Types into the box of a key and takes it away letter by letter, several times: each letter, there and back, with its frame.
    fn type_text(&mut self, opens: KeyCode, typed: &str) -> Result<Vec<(String, Vec<Duration>)>, Fault> {
        let there = typed.char_indices().map(|(at, letter)| (KeyCode::Char(letter), typed.get(..=at)));
        let back = typed.char_indices().rev().map(|(at, _)| (KeyCode::Backspace, typed.get(..at)));
        let steps: Vec<_> = there.chain(back).collect();
        let mut letters: Vec<(String, Vec<Duration>)> =
            steps.iter().map(|(_, shown)| (format!("`{}`", shown.unwrap_or("")), Vec::new())).collect();
        for _ in 0..ROUNDS_OF_LETTERS {
            self.press(opens)?;
            for ((code, _), (_, times)) in steps.iter().zip(&mut letters) {
                times.extend(measure(1, || self.press(*code))?);
            }
            self.press(KeyCode::Esc)?;
        }
        Ok(letters)
    }
}

fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}
