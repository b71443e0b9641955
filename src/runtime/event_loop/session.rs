//! The console at work: what it wants is carried out, what goes wrong ends it.

use super::{Console, TAKEN_A_TURN_MAX};
use crate::console::Task;
use crate::console::message::Message;
use crate::runtime::fault::RuntimeFault;
use crate::runtime::screen::Screen;
use crate::runtime::signals::Signal;
use crate::runtime::tasks::Tasks;
use crossterm::event::{Event, KeyEventKind};
use futures_util::{Stream, StreamExt};
use std::future::poll_fn;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;
use std::time::Duration;
use tokio::time::timeout;

/// How soon a stop that was asked for takes hold; past it nobody stopped us (a job without a shell).
const STOP_WITHIN: Duration = Duration::from_millis(200);
/// How much text the clipboard takes: terminals cut an OSC 52 of more than 100,000 bytes, and this is what fits encoded.
pub(super) const CLIPBOARD_BYTES_MAX: usize = 74_994;
/// How much of a pasted text is taken.
pub(super) const PASTE_BYTES_MAX: usize = 64 * 1024;

/// Who has the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// The console.
    Console,
    /// The console, until nothing holds a source any more: then it stops as the shell's job.
    ConsoleUntilRest,
    /// The shell.
    Shell,
}

/// The console at work.
pub(super) struct Session<'a, C, S> {
    pub(super) tasks: Tasks,
    pub(super) console: C,
    screen: &'a mut S,
    /// Whether something changed since the last frame.
    pub(super) is_dirty: bool,
    /// Whether no more work is taken.
    pub(super) is_ending: bool,
    /// Who has the terminal.
    holder: Holder,
    /// Why the console cannot go on; from then on nothing is shown to it and nothing drawn.
    pub(super) fault: Option<RuntimeFault>,
}

impl<'a, C: Console, S: Screen> Session<'a, C, S> {
    /// A console about to be drawn for the first time.
    pub(super) fn new(tasks: Tasks, console: C, screen: &'a mut S) -> Self {
        Self {
            tasks,
            console,
            screen,
            is_dirty: true,
            is_ending: false,
            holder: Holder::Console,
            fault: None,
        }
    }

    /// Shows the console what happened and carries out what it wants.
    pub(super) fn take(&mut self, message: Message) {
        if self.fault.is_some() {
            return;
        }
        // A console that breaks must not take down a write that has begun.
        let updated = catch_unwind(AssertUnwindSafe(|| self.console.update(message)));
        self.is_dirty = true;
        match updated {
            Ok(tasks) => self.carry_out(tasks),
            Err(_) => self.end_with(RuntimeFault::Panicked),
        }
    }

    /// Carries out what the console wants.
    pub(super) fn carry_out(&mut self, tasks: Vec<Task>) {
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
                Task::Redraw => self.screen.redraw(),
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
        self.holder = Holder::ConsoleUntilRest;
        if !self.tasks.are_at_rest() {
            self.take(Message::Notice {
                what: "the console stops as soon as what is being read or written has ended".to_owned(),
                do_next: None,
            });
        }
    }

    /// Takes in the terminal's events that are there, without waiting for more.
    ///
    /// The stream is asked as this task, not as nobody (`now_or_never`): it keeps the first waker it is given, and the next
    /// key would wake nobody, to be seen only with the next tick.
    pub(super) async fn take_ready_events(
        &mut self,
        events: &mut (impl Stream<Item = io::Result<Event>> + Unpin),
    ) {
        for _ in 0..TAKEN_A_TURN_MAX {
            if self.is_ending {
                return;
            }
            let event = poll_fn(|context| Poll::Ready(events.poll_next_unpin(context))).await;
            let Poll::Ready(event) = event else { return };
            self.take_event(event);
        }
    }

    /// Takes in one event of the terminal; `None` when it gives no more.
    pub(super) fn take_event(&mut self, event: Option<io::Result<Event>>) {
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

    /// Whether to stop as soon as nothing holds a source.
    pub(super) fn waits_to_stop(&self) -> bool {
        self.holder == Holder::ConsoleUntilRest && !self.is_ending
    }

    /// Takes in a signal.
    pub(super) fn take_signal(&mut self, signal: Signal) {
        match signal {
            Signal::Interrupt | Signal::Terminate | Signal::HangUp => {
                self.take(Message::Terminate);
                self.end();
            }
            Signal::Continue => self.enter_again(),
        }
    }

    /// Draws a frame.
    pub(super) fn draw(&mut self) {
        self.is_dirty = false;
        if self.fault.is_some() || self.holder == Holder::Shell {
            return;
        }
        let Self { screen, console, .. } = self;
        let drawn = catch_unwind(AssertUnwindSafe(|| screen.draw(&mut |frame| console.view(frame))));
        match drawn {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => self.end_with(RuntimeFault::Output(fault)),
            Err(_) => self.end_with(RuntimeFault::Panicked),
        }
    }

    /// Gives the terminal to the shell until the job is continued.
    pub(super) async fn stop(&mut self, signals: &mut (impl Stream<Item = Signal> + Unpin)) {
        self.holder = Holder::Shell;
        self.screen.leave();
        let refused = self.screen.stop().err();
        // The stop takes hold at some moment from now on; the terminal must not be taken over again before.
        if refused.is_none()
            && let Ok(Some(signal @ (Signal::Interrupt | Signal::Terminate | Signal::HangUp))) =
                timeout(STOP_WITHIN, signals.next()).await
        {
            return self.take_signal(signal);
        }
        self.enter_again();
        if let Some(fault) = refused {
            self.take(Message::Notice {
                what: format!("the console cannot stop here: {fault}"),
                do_next: None,
            });
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
                self.holder = Holder::Console;
                self.is_dirty = true;
            }
            Err(fault) => self.end_with(RuntimeFault::Output(fault)),
        }
    }

    /// Ends when the terminal is not there any more.
    pub(super) fn look_for_terminal(&mut self) {
        if self.screen.is_gone() {
            self.end_with(RuntimeFault::Gone);
        }
    }

    /// Ends because of a fault; the first one counts.
    pub(super) fn end_with(&mut self, fault: RuntimeFault) {
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
