//! The state of a watch, in a file where one is named.

use crate::adapters::whole_file::{self, Lock, Readers};
use crate::commands::failure::{Exit, Failure};
use crate::domain::watch::{STATE_VERSION, State};
use std::path::{Path, PathBuf};

/// What is remembered, and where.
pub(super) struct Memory {
    /// What is remembered.
    pub(super) state: State,
    /// The file; `None` forgets it at the end.
    file: Option<PathBuf>,
    /// Held as long as this watch lives, so that never two look at once.
    _lock: Option<Lock>,
}

impl Memory {
    /// Remembers what the last watch of the same scope knew, and keeps others from looking meanwhile.
    pub(super) fn open(file: Option<&Path>, scope: &str) -> Result<Self, Failure> {
        let Some(file) = file else { return Ok(Self { state: State::new(scope), file: None, _lock: None }) };
        let shown = file.display();
        let unusable = |fault: std::io::Error| {
            Failure::new(
                Exit::Unreachable,
                format!("the state {shown} cannot be used ({fault})"),
                "Check the path and the permissions of the file and its folder.",
            )
        };
        let Some(lock) = whole_file::lock(file).map_err(unusable)? else {
            return Err(Failure::new(
                Exit::Unreachable,
                format!("another watch is at work with the state {shown}, so nothing was looked at"),
                "Let that one end first, or look less often; another watch needs a file of its own.",
            ));
        };
        let state = match whole_file::read(file).map_err(unusable)? {
            None => State::new(scope),
            Some(text) => read(&text, scope, file)?,
        };
        Ok(Self { state, file: Some(file.to_owned()), _lock: Some(lock) })
    }

    /// Writes it down, whole or not at all.
    pub(super) fn keep(&self) -> Result<(), Failure> {
        let Some(file) = &self.file else { return Ok(()) };
        let written = serde_json::to_vec(&self.state)
            .map_err(std::io::Error::from)
            .and_then(|text| whole_file::replace(file, &text, Readers::Own));
        written.map_err(|fault| {
            Failure::new(
                Exit::Unreachable,
                format!("the state cannot be written to {} ({fault})", file.display()),
                "Check the disk and the permissions of its folder; until then the same is told again.",
            )
        })
    }
}

fn read(text: &str, scope: &str, file: &Path) -> Result<State, Failure> {
    let shown = file.display();
    let state: State = serde_json::from_str(text).map_err(|fault| {
        let what = format!("{shown} is no state of a watch ({fault})");
        Failure::usage(what, "Name another file with --state, or move that one away to begin anew.")
    })?;
    if state.version != STATE_VERSION {
        let what = format!("the state {shown} was written by another version of the program");
        return Err(Failure::usage(what, "Move it away to begin anew."));
    }
    if state.scope != scope {
        let words = |scope: &str| if scope.is_empty() { "everything".to_owned() } else { scope.to_owned() };
        return Err(Failure::usage(
            format!("the state {shown} is of a watch of {}, not of {}", words(&state.scope), words(scope)),
            "Give each watch a file of its own with --state: what is new to one is not new to another.",
        ));
    }
    Ok(state)
}
