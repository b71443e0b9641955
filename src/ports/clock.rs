//! Time, ids and processes: they come in from outside, so that every rule can be tested at any moment.

use chrono::{DateTime, Utc};
use uuid::Uuid;

/// The console's own clock, and new ids.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> DateTime<Utc>;
    /// An id that nobody has used, ordered by time.
    fn new_id(&self) -> Uuid;
    /// This process.
    fn process(&self) -> u32;
    /// Whether a process of this machine lives; `None` where that cannot be told.
    fn lives(&self, process: u32) -> Option<bool>;
}
