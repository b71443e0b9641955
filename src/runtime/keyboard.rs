//! The terminal's events, read on a thread of their own.
//!
//! Not by crossterm's `EventStream`: that reads on whoever polls it, and its reading never returns once the terminal hung up
//! (the error of a lost terminal is taken for "try again"). Here it would stop the whole loop; on this thread it stops
//! nothing, and the loop, which looks for its terminal by itself, ends the program.

use crate::runtime::terminal;
use crossterm::event::{self, Event};
use futures_util::Stream;
use futures_util::stream::poll_fn;
use std::io;
use std::time::Duration;
use tokio::sync::mpsc;

/// How many events may wait for the loop.
const EVENTS_WAITING_MAX: usize = 256;
/// How often the thread looks whether the terminal is still there, and whether anybody still listens.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Begins to read. The stream ends with an error when the terminal is lost.
///
/// # Errors
/// No thread can be had.
pub fn listen() -> io::Result<impl Stream<Item = io::Result<Event>> + Unpin> {
    let (sender, mut events) = mpsc::channel(EVENTS_WAITING_MAX);
    std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || read(&sender))?;
    Ok(poll_fn(move |context| events.poll_recv(context)))
}

fn read(sender: &mpsc::Sender<io::Result<Event>>) {
    while !sender.is_closed() && !terminal::has_hung_up() {
        let event = match event::poll(LOOK_AGAIN) {
            Ok(false) => continue,
            Ok(true) => event::read(),
            Err(fault) => Err(fault),
        };
        let is_over = event.is_err();
        if sender.blocking_send(event).is_err() || is_over {
            return;
        }
    }
}
