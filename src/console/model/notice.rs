//! The line that tells the operator what happened and what to do.

/// How weighty a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Worth knowing.
    Info,
    /// It went well.
    Good,
    /// It did not work.
    Alarm,
}

/// A line for the operator: what, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// How weighty.
    pub tone: Tone,
    /// What happened.
    pub what: String,
    /// What to do; empty where nothing is to be done.
    pub do_next: String,
}

impl Notice {
    /// Something worth knowing.
    pub fn info(what: impl Into<String>) -> Self {
        Self { tone: Tone::Info, what: what.into(), do_next: String::new() }
    }

    /// Something that went wrong, and what to do.
    pub fn alarm(what: impl Into<String>, do_next: impl Into<String>) -> Self {
        Self { tone: Tone::Alarm, what: what.into(), do_next: do_next.into() }
    }
}
