//! The machine's own clock, ids, processes, names and variables: the only place that asks the operating system for them.

use crate::domain::decision::Operator;
use crate::ports::clock::Clock;
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;
use uuid::Uuid;

/// The machine's own clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else asks")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn new_id(&self) -> Uuid {
        Uuid::now_v7()
    }

    fn process(&self) -> u32 {
        std::process::id()
    }

    /// Asks by a signal that is never sent, not by `/proc`: that may hide other people's processes, and one that is
    /// taken for dead would have its decision settled by us while it still writes.
    #[cfg(unix)]
    fn lives(&self, process: u32) -> Option<bool> {
        use rustix::io::Errno;
        use rustix::process::{Pid, test_kill_process};
        let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return Some(false) };
        match test_kill_process(process) {
            Ok(()) | Err(Errno::PERM) => Some(true),
            Err(Errno::SRCH) => Some(false),
            Err(_) => None,
        }
    }

    #[cfg(not(unix))]
    fn lives(&self, process: u32) -> Option<bool> {
        (process == self.process()).then_some(true)
    }
}

/// A variable of the environment; an empty one counts as not set.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The names of the environment's variables that are set, and nothing of what they hold.
pub fn variables() -> BTreeSet<String> {
    let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    set.filter_map(|(name, _)| name.into_string().ok()).collect()
}

/// The account of the operating system.
pub fn login() -> String {
    whoami::username().unwrap_or_else(|_| Operator::UNKNOWN.to_owned())
}

/// The machine's name.
pub fn host() -> String {
    whoami::hostname().unwrap_or_else(|_| Operator::UNKNOWN.to_owned())
}

/// Whether the operator wants no colours (the convention of no-color.org).
pub fn wants_no_color() -> bool {
    environment("NO_COLOR").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_new_and_ordered_by_time() {
        let ids: Vec<_> = (0..1_000).map(|_| SystemClock.new_id()).collect();
        assert!(ids.is_sorted());
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[cfg(unix)]
    #[test]
    fn a_process_lives_until_it_is_waited_for() {
        assert_eq!(SystemClock.lives(SystemClock.process()), Some(true));
        assert_eq!(SystemClock.lives(0), Some(false));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(SystemClock.lives(child.id()), Some(false));
    }
}
