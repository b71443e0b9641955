//! The loop between the terminal and the console: takes in what happened, carries out what the console wants, draws.
//!
//! Nothing that can wait runs here. The loop ends in one way only, however it was asked to: it takes no more work, waits
//! for the writes that have begun, and gives the terminal back.

mod session;

use self::session::Session;
use crate::console::message::Message;
use crate::console::{self, Keymap, Model, SavedView, Setup, Task, ViewState};
use crate::runtime::fault::RuntimeFault;
use crate::runtime::keyboard;
use crate::runtime::screen::{Screen, Tty};
use crate::runtime::signals::{self, Signal};
use crate::runtime::tasks::Tasks;
use crate::runtime::terminal::{self, FrameOutput, TerminalGuard};
use crate::workflow::Desk;
use chrono::TimeDelta;
use crossterm::event::Event;
use futures_util::{Stream, StreamExt};
use ratatui::Frame;
use std::io::{self, IsTerminal};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// How many messages may wait for the loop before tasks wait to send.
const MESSAGES_WAITING_MAX: usize = 256;
/// How many messages, and how many terminal events, are taken in before the next frame.
const TAKEN_A_TURN_MAX: usize = 256;
/// How long two ticks lie apart.
const TICK: Duration = Duration::from_secs(1);
/// How long two frames lie apart at least: what happens between goes into one.
const FRAME: Duration = Duration::from_millis(16);
/// How often the loop looks whether the terminal is still there.
const LOOK_FOR_TERMINAL: Duration = Duration::from_secs(2);
/// How the console is to look.
#[derive(Clone, Default)]
pub struct Options {
    /// A line for the header ("demo, seed 7"); `None` for none.
    pub title: Option<String>,
    /// Whether to do without colours.
    pub no_color: bool,
    /// The keys.
    pub keys: Keymap,
    /// Views under a name.
    pub views: Vec<SavedView>,
    /// What keeps a view for the next start; `None` where nothing does.
    pub save_view: Option<SaveView>,
    /// How often the sources are read again without being asked for; `None` is never.
    pub refresh: Option<TimeDelta>,
}

/// Keeps a view for the next start, or says what went wrong and what to do.
pub type SaveView = Arc<dyn Fn(&SavedView) -> Result<(), (String, String)> + Send + Sync>;

/// The terminal, taken over once for whatever is shown on it one after the other.
pub struct Seat {
    pub(super) signals: Pin<Box<dyn Stream<Item = Signal>>>,
    pub(super) events: Pin<Box<dyn Stream<Item = io::Result<Event>>>>,
    pub(super) screen: Tty<FrameOutput>,
    /// Dropped last: it gives the terminal back.
    _guard: TerminalGuard,
}

impl Seat {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// [`RuntimeFault`], with the terminal as it was before.
    pub fn take() -> Result<Self, RuntimeFault> {
        if !is_terminal() {
            return Err(RuntimeFault::NotATerminal);
        }
        let signals = Box::pin(signals::listen().map_err(RuntimeFault::Signals)?);
        let guard = TerminalGuard::enter().map_err(RuntimeFault::Enter)?;
        let screen = Tty::open().map_err(RuntimeFault::Enter)?;
        let events = Box::pin(keyboard::listen().map_err(RuntimeFault::Input)?);
        Ok(Self { signals, events, screen, _guard: guard })
    }
}

/// Whether somebody sits at a terminal.
pub fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Runs the console on the terminal until the operator quits or the program is asked to end.
///
/// # Errors
/// [`RuntimeFault`], with the terminal as it was before.
pub async fn run(mut seat: Seat, desk: Arc<Desk>, options: Options) -> Result<(), RuntimeFault> {
    let save_view = options.save_view.clone();
    let setup = setup_of(&desk, options, seat.screen.size().map_err(RuntimeFault::Enter)?);
    let (model, first) = Model::start(setup);
    let console = Whole { model, view: ViewState::default(), save_view };
    drive(desk, console, first, &mut seat.screen, &mut seat.events, &mut seat.signals).await
}

/// What the loop knows of a console.
pub(super) trait Console {
    /// Takes in what happened, and says what to do.
    fn update(&mut self, message: Message) -> Vec<Task>;
    /// Draws itself.
    fn view(&mut self, frame: &mut Frame<'_>);
    /// Whether something on the screen changes with time alone.
    fn wants_ticks(&self) -> bool;
    /// What keeps its views for the next start.
    fn save_view(&self) -> Option<SaveView> {
        None
    }
}

/// The program's own console.
struct Whole {
    model: Model,
    view: ViewState,
    save_view: Option<SaveView>,
}

impl Console for Whole {
    fn update(&mut self, message: Message) -> Vec<Task> {
        #[cfg(debug_assertions)]
        if let Message::Key(key) = &message {
            crate::runtime::breakage::on_key(*key);
        }
        console::update(&mut self.model, &self.view, message)
    }

    fn view(&mut self, frame: &mut Frame<'_>) {
        console::view(&self.model, &mut self.view, frame);
    }

    fn wants_ticks(&self) -> bool {
        self.model.wants_ticks()
    }

    fn save_view(&self) -> Option<SaveView> {
        self.save_view.clone()
    }
}

/// Runs any console on any screen, with events and signals from anywhere.
pub(super) async fn drive(
    desk: Arc<Desk>,
    console: impl Console,
    first: Vec<Task>,
    screen: &mut impl Screen,
    mut events: impl Stream<Item = io::Result<Event>> + Unpin,
    mut signals: impl Stream<Item = Signal> + Unpin,
) -> Result<(), RuntimeFault> {
    let (sender, mut messages) = mpsc::channel(MESSAGES_WAITING_MAX);
    let tasks = Tasks::new(Arc::clone(&desk), sender, console.save_view());
    let mut session = Session::new(tasks, console, screen);
    session.carry_out(first);
    let (mut next_tick, mut next_frame) = (Instant::now() + TICK, Instant::now());
    let mut next_look = Instant::now() + LOOK_FOR_TERMINAL;
    loop {
        // In this order: a flood of keys must not keep answers from being shown, or a person decides on what is no longer
        // so. A flood of answers keeps no key waiting either: each turn takes a bounded number, then looks for keys.
        tokio::select! {
            biased;
            () = terminal::panicked(), if session.fault.is_none() => session.end_with(RuntimeFault::Panicked),
            Some(signal) = signals.next() => session.take_signal(signal),
            Some(message) = messages.recv() => {
                session.take(message);
                for _ in 1..TAKEN_A_TURN_MAX {
                    let Ok(message) = messages.try_recv() else { break };
                    session.take(message);
                }
                session.take_ready_events(&mut events).await;
            }
            event = events.next(), if !session.is_ending => {
                session.take_event(event);
                session.take_ready_events(&mut events).await;
            }
            () = sleep_until(next_frame), if session.is_dirty => {
                session.draw();
                next_frame = Instant::now() + FRAME;
            }
            () = session.tasks.at_rest(), if session.waits_to_stop() => {
                session.stop(&mut signals).await;
            }
            () = sleep_until(next_tick), if session.console.wants_ticks() => {
                next_tick = Instant::now() + TICK;
                session.take(Message::Tick(desk.clock.now()));
            }
            () = sleep_until(next_look), if !session.is_ending => {
                next_look = Instant::now() + LOOK_FOR_TERMINAL;
                session.look_for_terminal();
            }
            () = session.tasks.ended(), if session.is_ending => break,
        }
    }
    session.fault.map_or(Ok(()), Err)
}

fn setup_of(desk: &Desk, options: Options, size: ratatui::layout::Size) -> Setup {
    let sources =
        desk.sources.iter().map(|source| (source.facts().name.to_string(), source.facts().place.clone()));
    Setup {
        sources: sources.collect(),
        operator: desk.operator.name.to_string(),
        read_only: desk.read_only,
        audit_fault: desk.record.as_ref().err().map(ToString::to_string),
        no_color: options.no_color,
        size,
        now: desk.clock.now(),
        title: options.title,
        keys: options.keys,
        views: options.views,
        refresh: options.refresh,
        evidence_age_max: desk
            .kinds
            .iter()
            .map(|(kind, known)| (Arc::clone(kind), known.policy.evidence_age_max))
            .collect(),
        masks: desk
            .kinds
            .iter()
            .map(|(kind, known)| (Arc::clone(kind), Arc::clone(&known.policy.mask)))
            .collect(),
    }
}

#[cfg(test)]
mod tests;
