//! Why the console ended otherwise than by its operator.

use std::io;

/// Why the console could not go on. Writes that had begun were waited for nonetheless.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeFault {
    /// There is nobody to show anything to.
    #[error("the console needs a terminal for its input and its output")]
    NotATerminal,
    /// The terminal could not be set up.
    #[error("the terminal could not be set up: {0}")]
    Enter(#[source] io::Error),
    /// The signals of the operating system could not be listened to.
    #[error("signals could not be listened to: {0}")]
    Signals(#[source] io::Error),
    /// The terminal takes no more output.
    #[error("the terminal takes no more output: {0}")]
    Output(#[source] io::Error),
    /// The terminal gives no more input.
    #[error("the terminal gives no more input: {0}")]
    Input(#[source] io::Error),
    /// The terminal is gone.
    #[error("the terminal is gone")]
    Gone,
    /// A part of the program broke.
    #[error("a part of the program broke; what it said stands above")]
    Panicked,
}

impl RuntimeFault {
    /// What to do about it, one line.
    pub fn do_next(&self) -> &'static str {
        match self {
            Self::NotATerminal => "Use `unstuck list`, `check` or `decide` where there is no terminal.",
            Self::Enter(_) | Self::Signals(_) => {
                "Try another terminal, or use `unstuck list`, `check` and `decide`."
            }
            Self::Output(_) | Self::Input(_) | Self::Gone => {
                "Start it again: decisions that had begun were carried to their outcome."
            }
            Self::Panicked => {
                "Start it again (what was intended is settled first), and please report what it said."
            }
        }
    }
}
