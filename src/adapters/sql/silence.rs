//! Servers that say nothing: how long each thing that is asked of one is waited for, and what is told then.
//!
//! A server's own limits end what takes too long there. These are for one that took the call and never comes back to it: it
//! hangs, it is stopped, or something between swallows its answers.

use crate::ports::source::{SourceFault, SourceFaultKind};
use std::time::Duration;

/// How long a connection may take to come about and to do its first work, where the address does not say it.
pub(in crate::adapters) const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long a kept connection is waited for. One that lay idle may have been forgotten by something between without a word:
/// then a new one is made.
pub(in crate::adapters) const KEPT_ANSWERS_MAX: Duration = Duration::from_secs(3);
/// How long an answer may be on its way after the server's own limit.
pub(in crate::adapters) const GRACE: Duration = Duration::from_secs(5);

/// The fault of a server that took a connection and let it not come about.
pub(in crate::adapters) fn unconnected(place: &str, waited: Duration) -> SourceFault {
    SourceFault::at(
        place,
        SourceFaultKind::Unreachable,
        &format!("cannot be reached (no answer in {})", spelled(waited)),
        "Check host, port and network, and that the server runs and answers.",
    )
}

/// The fault of a server that stopped answering.
pub(in crate::adapters) fn silent(place: &str, waited: Duration) -> SourceFault {
    SourceFault::at(
        place,
        SourceFaultKind::Unreachable,
        &format!("stopped answering (nothing came for {})", spelled(waited)),
        "Check that the server runs and the network to it, then try again.",
    )
}

/// A time as it is told.
pub(in crate::adapters) fn spelled(waited: Duration) -> String {
    format!("{} s", waited.as_secs_f64())
}
