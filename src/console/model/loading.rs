//! A thing that is being loaded: a view must say something for each of its states.

use chrono::{DateTime, Utc};

/// Something that is being loaded, or was.
#[derive(Debug, Clone, Default)]
pub enum Loading<T> {
    /// Nobody asked for it.
    #[default]
    Idle,
    /// It is under way.
    Loading {
        /// The task's number.
        run: u64,
        /// Since when.
        since: DateTime<Utc>,
    },
    /// It is there.
    Ready {
        /// Since when.
        at: DateTime<Utc>,
        /// What came.
        value: T,
    },
    /// It could not be had.
    Failed {
        /// What happened, one line.
        what: String,
        /// What to do, one line.
        do_next: String,
    },
}

impl<T> Loading<T> {
    /// Whether a task of that number is waited for.
    pub fn awaits(&self, number: u64) -> bool {
        matches!(self, Self::Loading { run, .. } if *run == number)
    }

    /// What came, if it did.
    pub fn ready(&self) -> Option<&T> {
        match self {
            Self::Ready { value, .. } => Some(value),
            Self::Idle | Self::Loading { .. } | Self::Failed { .. } => None,
        }
    }
}
