//! The signals that the console takes itself.

use futures_util::Stream;
use std::io;

/// A signal that the console takes itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// End: a SIGINT that no key of the console sent.
    Interrupt,
    /// End (SIGTERM).
    Terminate,
    /// End: the terminal was closed (SIGHUP).
    HangUp,
    /// The shell put the job in the foreground again (SIGCONT).
    Continue,
}

/// Listens to signals. They keep to be taken after the stream is dropped: nothing gets its default action back.
///
/// # Errors
/// The operating system's own.
#[cfg(unix)]
pub fn listen() -> io::Result<impl Stream<Item = Signal> + Unpin> {
    use futures_util::stream::poll_fn;
    use std::task::Poll;
    use tokio::signal::unix::{SignalKind, signal};
    // tokio has no name for it.
    let continued = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
    let mut listened = [
        (signal(SignalKind::terminate())?, Signal::Terminate),
        (signal(SignalKind::hangup())?, Signal::HangUp),
        (signal(SignalKind::interrupt())?, Signal::Interrupt),
        (signal(continued)?, Signal::Continue),
    ];
    Ok(poll_fn(move |context| {
        for (signal, meaning) in &mut listened {
            if let Poll::Ready(Some(())) = signal.poll_recv(context) {
                return Poll::Ready(Some(*meaning));
            }
        }
        Poll::Pending
    }))
}

/// Listens to signals.
///
/// # Errors
/// The operating system's own.
#[cfg(not(unix))]
pub fn listen() -> io::Result<impl Stream<Item = Signal> + Unpin> {
    use futures_util::stream::poll_fn;
    use std::task::Poll;
    let mut pressed = tokio::signal::windows::ctrl_c()?;
    Ok(poll_fn(move |context| match pressed.poll_recv(context) {
        Poll::Ready(Some(())) => Poll::Ready(Some(Signal::Interrupt)),
        Poll::Ready(None) | Poll::Pending => Poll::Pending,
    }))
}
