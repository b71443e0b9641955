//! What an operator may write ([`mod@file`]) and what the program uses ([`settings`]), checked in one place.

mod check;
pub mod database;
mod effects_database;
pub mod file;
pub mod kind;
pub mod load;
pub mod settings;
pub mod views;
pub mod write;

pub use database::Database;
pub use settings::Settings;

/// Why a configuration cannot be used: one line what, one line what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ConfigFault {
    /// What is wrong, one line.
    pub what: String,
    /// What to do, one line.
    pub do_next: String,
    /// Whether a database could not be read, so that the configuration itself may be right.
    pub is_unreachable: bool,
}

impl ConfigFault {
    /// A fault from its two lines.
    pub fn new(what: impl Into<String>, do_next: impl Into<String>) -> Self {
        Self { what: what.into(), do_next: do_next.into(), is_unreachable: false }
    }
}
