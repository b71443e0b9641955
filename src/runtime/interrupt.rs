//! Stopping a command: the first `Ctrl-C` asks it to stop, the next ones change nothing.

use crate::runtime::signals::{self, Signal};
use futures_util::StreamExt;
use std::io::{self, Write};
use tokio_util::sync::CancellationToken;

/// What a command says to the second `Ctrl-C`.
const PATIENCE: &str = "A write that has begun is carried to its end; please wait.";

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
    tokio::spawn(watch(signals, token.clone(), io::stderr()));
    Ok(token)
}

async fn watch(
    mut signals: impl futures_util::Stream<Item = Signal> + Unpin,
    token: CancellationToken,
    mut told: impl Write,
) {
    while let Some(signal) = signals.next().await {
        match signal {
            Signal::Continue => {}
            Signal::Terminate if token.is_cancelled() => {
                // Whoever closed the error output does not want to know.
                let _closed_output = writeln!(told, "{PATIENCE}");
            }
            Signal::Terminate => token.cancel(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    #[tokio::test]
    async fn the_first_signal_cancels_and_the_second_asks_for_patience() {
        for (signals, is_cancelled, told) in [
            (vec![Signal::Continue], false, String::new()),
            (vec![Signal::Terminate], true, String::new()),
            (vec![Signal::Terminate, Signal::Continue, Signal::Terminate], true, format!("{PATIENCE}\n")),
        ] {
            let (token, mut said) = (CancellationToken::new(), Vec::new());
            watch(stream::iter(signals), token.clone(), &mut said).await;
            assert_eq!(token.is_cancelled(), is_cancelled);
            assert_eq!(String::from_utf8(said).unwrap(), told);
        }
    }
}
