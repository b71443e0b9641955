//! Errors at the edge: a kind that decides the exit code, one line what, one line what to do.

use crate::config::ConfigFault;
use crate::domain::evidence::{Fault, Hindrance};
use crate::ports::record::RecordFault;
use crate::ports::source::SourceFault;
use crate::runtime::RuntimeFault;
use crate::runtime::signals::Signal;
use crate::workflow::settle::OrderFault;
use std::fmt;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Fine.
    Fine,
    /// The answer is "no".
    No,
    /// Usage or configuration.
    Usage,
    /// A source or provider could not be reached.
    Unreachable,
    /// Stopped by the operator (SIGINT).
    Interrupted,
    /// Asked to end (SIGTERM).
    Terminated,
    /// Its terminal was closed (SIGHUP).
    HungUp,
    /// The program itself broke.
    Broken,
}

impl Exit {
    /// How a command ends that something stood in the way of: a provider, a source, or the target of a notice.
    pub fn of(hindrance: Hindrance) -> Self {
        match hindrance {
            Hindrance::Misconfigured => Self::Usage,
            Hindrance::Unreachable => Self::Unreachable,
        }
    }

    /// How a command ends whose provider was asked: fine, unless something stood in the way of an answer. That the answer
    /// says nothing is no trouble of the command.
    pub fn of_answer(fault: Option<&Fault>) -> Self {
        fault.and_then(|fault| fault.kind.hindrance()).map_or(Self::Fine, Self::of)
    }

    /// How a command ends that comes to "no", unless something stood in the way of a "yes".
    pub fn of_no(hindrance: Option<Hindrance>) -> Self {
        hindrance.map_or(Self::No, Self::of)
    }

    /// The same, where it is a stop told by the signal that asked for it.
    #[must_use]
    pub fn asked_by(self, signal: Option<Signal>) -> Self {
        match (self, signal) {
            (Self::Interrupted, Some(Signal::Terminate)) => Self::Terminated,
            (Self::Interrupted, Some(Signal::HangUp)) => Self::HungUp,
            (other, Some(_) | None) => other,
        }
    }

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Unreachable => 3,
            // What shells say of a program that Ctrl-C ended.
            Self::Interrupted => 130,
            // And of one that another signal ended: 128 and its number.
            Self::Terminated => 143,
            Self::HungUp => 129,
            // What every Rust program that panics says.
            Self::Broken => 101,
        }
    }
}

/// Why a command came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Decides the exit code.
    pub exit: Exit,
    /// What happened, one line.
    pub what: String,
    /// What to do, one line.
    pub do_next: String,
}

impl Failure {
    /// A failure from its parts.
    pub fn new(exit: Exit, what: impl Into<String>, do_next: impl Into<String>) -> Self {
        Self { exit, what: what.into(), do_next: do_next.into() }
    }

    /// Checks that were made and are not on record.
    pub fn unrecorded(fault: RecordFault) -> Self {
        Self::new(Exit::Unreachable, format!("recording the checks: {}", fault.what), fault.do_next)
    }

    /// A wrong call.
    pub fn usage(what: impl Into<String>, do_next: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what, do_next)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |text: &str| crate::domain::text::clean(&crate::domain::mask::mask_text(text));
        write!(f, "unstuck: {}\n         {}", line(&self.what), line(&self.do_next))
    }
}

impl From<ConfigFault> for Failure {
    fn from(fault: ConfigFault) -> Self {
        let exit = if fault.is_unreachable { Exit::Unreachable } else { Exit::Usage };
        Self::new(exit, fault.what, fault.do_next)
    }
}

impl From<SourceFault> for Failure {
    fn from(fault: SourceFault) -> Self {
        let exit = fault.kind.hindrance().map_or(Exit::Interrupted, Exit::of);
        Self::new(exit, fault.what, fault.do_next)
    }
}

impl From<RecordFault> for Failure {
    fn from(fault: RecordFault) -> Self {
        Self::new(Exit::Unreachable, fault.what, fault.do_next)
    }
}

impl From<OrderFault> for Failure {
    fn from(fault: OrderFault) -> Self {
        let (what, do_next) = (fault.to_string(), fault.do_next());
        let exit = match fault {
            OrderFault::ReadOnly | OrderFault::NoSuchProposal(_) => Exit::No,
            // Nothing was intended yet: an audit that cannot be had is told as every other command tells it.
            OrderFault::Record(fault) => Self::from(fault).exit,
            OrderFault::Broken => Exit::Broken,
            OrderFault::NoSuchSource(_) => Exit::Usage,
            OrderFault::Unread(_) => Exit::Unreachable,
            OrderFault::Source(fault) => Self::from(fault).exit,
        };
        Self::new(exit, what, do_next)
    }
}

impl From<RuntimeFault> for Failure {
    fn from(fault: RuntimeFault) -> Self {
        let exit = match fault {
            RuntimeFault::NotATerminal => Exit::Usage,
            RuntimeFault::Enter(_)
            | RuntimeFault::Signals(_)
            | RuntimeFault::Output(_)
            | RuntimeFault::Input(_)
            | RuntimeFault::Gone => Exit::Unreachable,
            RuntimeFault::Panicked => Exit::Broken,
        };
        Self::new(exit, fault.to_string(), fault.do_next())
    }
}

impl From<std::io::Error> for Failure {
    fn from(fault: std::io::Error) -> Self {
        // A closed pipe (`| head`) is the reader's way to say "enough".
        let exit =
            if fault.kind() == std::io::ErrorKind::BrokenPipe { Exit::Fine } else { Exit::Unreachable };
        Self::new(
            exit,
            format!("the output cannot be written ({fault})"),
            "Check where it goes, and the disk.",
        )
    }
}

impl From<csv::Error> for Failure {
    fn from(fault: csv::Error) -> Self {
        match fault.into_kind() {
            csv::ErrorKind::Io(fault) => fault.into(),
            other => {
                Self::new(Exit::Unreachable, format!("the CSV cannot be written ({other:?})"), "Report this.")
            }
        }
    }
}
