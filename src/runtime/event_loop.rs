//! The loop between the terminal and the console: takes in what happened, carries out what the console wants, draws.
//!
//! Nothing that can wait runs here. The loop ends in one way only, however it was asked to: it takes no more work, waits
//! for the writes that have begun, and gives the terminal back.

use crate::console::message::Message;
use crate::console::{self, Model, Setup, Task, ViewState};
use crate::runtime::fault::RuntimeFault;
use crate::runtime::screen::{Screen, Tty};
use crate::runtime::signals::{self, Signal};
use crate::runtime::tasks::Tasks;
use crate::runtime::terminal::{self, TerminalGuard};
use crate::workflow::Desk;
use crossterm::event::{Event, EventStream, KeyEventKind};
use futures_util::{FutureExt, Stream, StreamExt};
use std::io::{self, IsTerminal};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

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
/// How soon a stop that was asked for takes hold; past it nobody stopped us (a job without a shell).
const STOP_WITHIN: Duration = Duration::from_millis(200);
/// How much text the clipboard takes: terminals cut an OSC 52 of more than 100,000 bytes, and this is what fits encoded.
const CLIPBOARD_BYTES_MAX: usize = 74_994;
/// How much of a pasted text is taken.
const PASTE_BYTES_MAX: usize = 64 * 1024;

/// How the console is to look.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A line for the header ("demo, seed 7"); `None` for none.
    pub title: Option<String>,
    /// Whether to do without colours.
    pub no_color: bool,
}

/// Runs the console on the terminal until the operator quits or the program is asked to end.
///
/// # Errors
/// [`RuntimeFault`], with the terminal as it was before.
pub async fn run(desk: Arc<Desk>, options: Options) -> Result<(), RuntimeFault> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(RuntimeFault::NotATerminal);
    }
    let signals = signals::listen().map_err(RuntimeFault::Signals)?;
    let guard = TerminalGuard::enter().map_err(RuntimeFault::Enter)?;
    let mut screen = Tty::open().map_err(RuntimeFault::Enter)?;
    let ended = drive(desk, options, &mut screen, EventStream::new(), signals).await;
    drop(guard);
    ended
}

/// The same on any screen, with events and signals from anywhere.
pub(super) async fn drive<S: Screen>(
    desk: Arc<Desk>,
    options: Options,
    screen: &mut S,
    mut events: impl Stream<Item = io::Result<Event>> + Unpin,
    mut signals: impl Stream<Item = Signal> + Unpin,
) -> Result<(), RuntimeFault> {
    let (sender, mut messages) = mpsc::channel(MESSAGES_WAITING_MAX);
    let setup = setup_of(&desk, options, screen.size().map_err(RuntimeFault::Enter)?);
    let (model, first) = Model::start(setup);
    let mut session = Session {
        tasks: Tasks::new(Arc::clone(&desk), sender),
        screen,
        model,
        view: ViewState::default(),
        is_dirty: true,
        is_ending: false,
        wants_stop: false,
        is_away: false,
        fault: None,
    };
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
                session.take_ready_events(&mut events);
            }
            event = events.next(), if !session.is_ending => {
                session.take_event(event);
                session.take_ready_events(&mut events);
            }
            () = sleep_until(next_frame), if session.is_dirty => {
                session.draw();
                next_frame = Instant::now() + FRAME;
            }
            () = session.tasks.at_rest(), if session.wants_stop && !session.is_ending => {
                session.stop(&mut signals).await;
            }
            () = sleep_until(next_tick), if session.model.wants_ticks() => {
                next_tick = Instant::now() + TICK;
                session.take(Message::Tick(desk.clock.now()));
            }
            () = sleep_until(next_look), if !session.is_ending => {
                next_look = Instant::now() + LOOK_FOR_TERMINAL;
                if session.screen.is_gone() {
                    session.end_with(RuntimeFault::Gone);
                }
            }
            () = session.tasks.ended(), if session.is_ending => break,
        }
    }
    session.fault.map_or(Ok(()), Err)
}

fn setup_of(desk: &Desk, options: Options, size: ratatui::layout::Size) -> Setup {
    let sources = desk.sources.iter().map(|source| (source.facts().name.to_string(), source.facts().place.clone()));
    Setup {
        sources: sources.collect(),
        operator: desk.operator.name.to_string(),
        read_only: desk.read_only,
        audit_fault: desk.record.as_ref().err().map(ToString::to_string),
        no_color: options.no_color,
        size,
        now: desk.clock.now(),
        title: options.title,
    }
}

/// The console at work.
struct Session<'a, S> {
    tasks: Tasks,
    screen: &'a mut S,
    model: Model,
    view: ViewState,
    /// Whether something changed since the last frame.
    is_dirty: bool,
    /// Whether no more work is taken.
    is_ending: bool,
    /// Whether to stop as the shell's job as soon as nothing holds a source.
    wants_stop: bool,
    /// Whether the shell has the terminal at this moment.
    is_away: bool,
    /// Why the console cannot go on; from then on nothing is shown to it and nothing drawn.
    fault: Option<RuntimeFault>,
}

impl<S: Screen> Session<'_, S> {
    fn take(&mut self, message: Message) {
        if self.fault.is_some() {
            return;
        }
        // A console that breaks must not take down a write that has begun.
        let updated = catch_unwind(AssertUnwindSafe(|| console::update(&mut self.model, &self.view, message)));
        self.is_dirty = true;
        match updated {
            Ok(tasks) => self.carry_out(tasks),
            Err(_) => self.end_with(RuntimeFault::Panicked),
        }
    }

    fn carry_out(&mut self, tasks: Vec<Task>) {
        for task in tasks {
            if self.is_ending {
                return;
            }
            let done = match task {
                Task::Quit => {
                    self.end();
                    Ok(())
                }
                Task::Copy(text) => self.copy(&text),
                Task::CaptureMouse(on) => self.screen.capture_mouse(on),
                Task::Suspend => {
                    self.ask_for_stop();
                    Ok(())
                }
                other => {
                    self.tasks.start(other);
                    Ok(())
                }
            };
            if let Err(fault) = done {
                self.end_with(RuntimeFault::Output(fault));
            }
        }
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        if text.len() > CLIPBOARD_BYTES_MAX {
            self.take(Message::Notice {
                what: format!(
                    "nothing was copied: {} bytes are more than the {CLIPBOARD_BYTES_MAX} a terminal takes",
                    text.len()
                ),
                do_next: Some("Copy a part of it, or export it to a file.".to_owned()),
            });
            return Ok(());
        }
        self.screen.copy(text)
    }

    /// A stopped process keeps the locks it holds: an application would wait for it. So nothing may be under way.
    fn ask_for_stop(&mut self) {
        self.wants_stop = true;
        if !self.tasks.are_at_rest() {
            self.take(Message::Notice {
                what: "the console stops as soon as what is being read or written has ended".to_owned(),
                do_next: None,
            });
        }
    }

    fn take_ready_events(&mut self, events: &mut (impl Stream<Item = io::Result<Event>> + Unpin)) {
        for _ in 0..TAKEN_A_TURN_MAX {
            if self.is_ending {
                return;
            }
            let Some(event) = events.next().now_or_never() else { return };
            self.take_event(event);
        }
    }

    fn take_event(&mut self, event: Option<io::Result<Event>>) {
        let message = match event {
            Some(Ok(Event::Key(key))) if key.kind != KeyEventKind::Release => Message::Key(key),
            Some(Ok(Event::Mouse(mouse))) => Message::Mouse(mouse),
            Some(Ok(Event::Paste(text))) => Message::Paste(cut(text, PASTE_BYTES_MAX)),
            Some(Ok(Event::Resize(width, height))) => Message::Resize { width, height },
            Some(Ok(Event::Key(_) | Event::FocusGained | Event::FocusLost)) => return,
            Some(Err(fault)) => return self.end_with(RuntimeFault::Input(fault)),
            None => return self.end_with(RuntimeFault::Gone),
        };
        self.take(message);
    }

    fn take_signal(&mut self, signal: Signal) {
        match signal {
            Signal::Terminate => {
                self.take(Message::Terminate);
                self.end();
            }
            Signal::Continue => self.enter_again(),
        }
    }

    fn draw(&mut self) {
        self.is_dirty = false;
        if self.fault.is_some() || self.is_away {
            return;
        }
        let Self { screen, model, view, .. } = self;
        let drawn = catch_unwind(AssertUnwindSafe(|| screen.draw(&mut |frame| console::view(model, view, frame))));
        match drawn {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => self.end_with(RuntimeFault::Output(fault)),
            Err(_) => self.end_with(RuntimeFault::Panicked),
        }
    }

    /// Gives the terminal to the shell until the job is continued.
    async fn stop(&mut self, signals: &mut (impl Stream<Item = Signal> + Unpin)) {
        self.wants_stop = false;
        self.is_away = true;
        self.screen.leave();
        let refused = terminal::stop_job().err();
        // The stop takes hold at some moment from now on; the terminal must not be taken over again before.
        if refused.is_none()
            && let Ok(Some(Signal::Terminate)) = timeout(STOP_WITHIN, signals.next()).await
        {
            return self.take_signal(Signal::Terminate);
        }
        self.enter_again();
        if let Some(fault) = refused {
            self.take(Message::Notice { what: format!("the console cannot stop here: {fault}"), do_next: None });
        }
    }

    /// After a stop the shell has set the terminal as it likes it.
    fn enter_again(&mut self) {
        if self.fault.is_some() || self.is_ending {
            return;
        }
        self.screen.leave();
        match self.screen.enter() {
            Ok(()) => {
                self.is_away = false;
                self.is_dirty = true;
            }
            Err(fault) => self.end_with(RuntimeFault::Output(fault)),
        }
    }

    fn end_with(&mut self, fault: RuntimeFault) {
        self.fault.get_or_insert(fault);
        self.end();
    }

    fn end(&mut self) {
        self.is_ending = true;
        self.tasks.end();
    }
}

/// A text cut to so many bytes, never within a character.
fn cut(mut text: String, bytes_max: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}

#[cfg(test)]
mod tests;
