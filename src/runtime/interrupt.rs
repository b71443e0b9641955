//! Stopping a command: the first `Ctrl-C` asks it to stop, the next ones change nothing.

use crate::runtime::signals::{self, Signal};
use futures_util::StreamExt;
use std::io::{self, Write};
use std::sync::OnceLock;
use tokio_util::sync::CancellationToken;

/// What a command says to the second `Ctrl-C`.
const PATIENCE: &str = "A write that has begun is carried to its end; please wait.";

/// The signal that asked this process to stop: a process is stopped once.
static ASKED_BY: OnceLock<Signal> = OnceLock::new();

/// The signal that asked a command to stop; `None` where none did.
pub fn asked_by() -> Option<Signal> {
    ASKED_BY.get().copied()
}

/// A token that is cancelled by `Ctrl-C`, SIGTERM or SIGHUP.
///
/// From the first one on no signal ends the process: a command stops where it can, and a write that has begun is carried
/// to its outcome.
///
/// # Errors
/// The operating system's own, where signals cannot be listened to.
pub fn token() -> io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let signals = signals::listen()?;
    tokio::spawn(watch(signals, token.clone(), io::stderr(), &ASKED_BY));
    Ok(token)
}

async fn watch(
    mut signals: impl futures_util::Stream<Item = Signal> + Unpin,
    token: CancellationToken,
    mut told: impl Write,
    asked_by: &OnceLock<Signal>,
) {
    while let Some(signal) = signals.next().await {
        match signal {
            Signal::Continue => {}
            _ if token.is_cancelled() => {
                // Whoever closed the error output does not want to know.
                let _closed_output = writeln!(told, "{PATIENCE}");
            }
            Signal::Interrupt | Signal::Terminate | Signal::HangUp => {
                let _is_first = asked_by.set(signal);
                token.cancel();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    #[tokio::test]
    async fn the_first_signal_cancels_and_the_second_asks_for_patience() {
        for (signals, stopped_by, told) in [
            (vec![Signal::Continue], None, String::new()),
            (vec![Signal::Terminate], Some(Signal::Terminate), String::new()),
            (vec![Signal::HangUp], Some(Signal::HangUp), String::new()),
            (
                vec![Signal::Interrupt, Signal::Continue, Signal::Terminate],
                Some(Signal::Interrupt),
                format!("{PATIENCE}\n"),
            ),
        ] {
            let (token, mut said) = (CancellationToken::new(), Vec::new());
            let asked_by = OnceLock::new();
            watch(stream::iter(signals), token.clone(), &mut said, &asked_by).await;
            assert_eq!(asked_by.get().copied(), stopped_by);
            assert_eq!(token.is_cancelled(), stopped_by.is_some());
            assert_eq!(String::from_utf8(said).unwrap(), told);
        }
    }
}
