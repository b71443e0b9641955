//! The first run at work: keys in, screens out, and what takes time carried out beside them.

use crate::console::lead::{Ended, Lead, LeadMessage, LeadSetup, LeadTask, LeadView, update, view};
use crate::runtime::event_loop::Seat;
use crate::runtime::fault::RuntimeFault;
use crate::runtime::screen::Screen;
use crate::runtime::signals::Signal;
use crate::runtime::terminal;
use crossterm::event::Event;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How many messages may wait for the loop before a task waits to send.
const MESSAGES_WAITING_MAX: usize = 64;

/// Carries out what the first run wants.
pub trait Guide {
    /// One task, to its message.
    fn carry_out(&self, task: LeadTask) -> BoxFuture<'static, LeadMessage>;
}

/// Leads through the first run, on a terminal that stays taken over.
///
/// # Errors
/// [`RuntimeFault`]: the terminal is to be given back then.
pub async fn run(seat: &mut Seat, setup: LeadSetup, guide: &impl Guide) -> Result<Ended, RuntimeFault> {
    let size = seat.screen.size().map_err(RuntimeFault::Enter)?;
    let (mut lead, mut state) = (Lead::new(LeadSetup { size, ..setup }), LeadView::default());
    let (sender, mut messages) = mpsc::channel(MESSAGES_WAITING_MAX);
    // Dropped at the end, with whatever is still being looked into.
    let mut at_work = JoinSet::new();
    loop {
        seat.screen.draw(&mut |frame| view(&lead, &mut state, frame)).map_err(RuntimeFault::Output)?;
        let message = tokio::select! {
            biased;
            () = terminal::panicked() => return Err(RuntimeFault::Panicked),
            Some(signal) = seat.signals.next() => match signal {
                Signal::Interrupt | Signal::Terminate | Signal::HangUp => return Ok(Ended::Left),
                Signal::Continue => {
                    seat.screen.leave();
                    seat.screen.enter().map_err(RuntimeFault::Output)?;
                    continue;
                }
            },
            Some(message) = messages.recv() => message,
            event = seat.events.next() => match event {
                Some(Ok(Event::Key(key))) => LeadMessage::Key(key),
                Some(Ok(Event::Paste(text))) => LeadMessage::Paste(text),
                Some(Ok(Event::Resize(width, height))) => LeadMessage::Resize { width, height },
                Some(Ok(Event::Mouse(_) | Event::FocusGained | Event::FocusLost)) => continue,
                Some(Err(fault)) => return Err(RuntimeFault::Input(fault)),
                None => return Err(RuntimeFault::Gone),
            },
        };
        for task in update(&mut lead, &state, message) {
            if let LeadTask::End(ended) = task {
                return Ok(ended);
            }
            let (work, sender) = (guide.carry_out(task), sender.clone());
            at_work.spawn(async move {
                // Nobody hears it where the first run has ended meanwhile.
                let _ended = sender.send(work.await).await;
            });
        }
    }
}
