//! Logs in files: JSON Lines of receipts, and marks. Files may be big, rotated, compressed and broken in places.

mod files;
mod lines;
mod matcher;
mod scan;
#[cfg(test)]
mod tests;

use crate::domain::mark::{self, Mark};
use crate::domain::questions::Coverage;
use crate::domain::text::clean;
use crate::domain::timeline::{Clock, Happening, Origin, What};
use crate::ports::logs::{LogPlace, Logs, LogsRead, MarksPlace, WantedLines};
use async_trait::async_trait;
use std::path::Path;
use std::sync::Arc;

/// How many marks are kept.
const MARKS_MAX: usize = 10_000;

/// Logs and lists of marks in files, and marks that somebody said on the command line.
#[derive(Debug, Clone, Default)]
pub struct FileLogs {
    logs: Arc<[LogPlace]>,
    marks: Arc<[MarksPlace]>,
    said: Arc<[Mark]>,
}

impl FileLogs {
    /// Logs at these places. Nothing is read until somebody asks.
    pub fn new(logs: Vec<LogPlace>, marks: Vec<MarksPlace>, said: Vec<Mark>) -> Self {
        Self { logs: logs.into(), marks: marks.into(), said: said.into() }
    }
}

#[async_trait]
impl Logs for FileLogs {
    async fn receipts(&self, wanted: &WantedLines) -> LogsRead {
        let (logs, wanted) = (Arc::clone(&self.logs), wanted.clone());
        aside(move || scan::receipts(&logs, &wanted)).await
    }

    async fn marks(&self) -> LogsRead {
        let (marks, said) = (Arc::clone(&self.marks), Arc::clone(&self.said));
        aside(move || read_marks(&marks, &said)).await
    }
}

/// Reads on a thread that may wait for a disk.
async fn aside(read: impl FnOnce() -> LogsRead + Send + 'static) -> LogsRead {
    tokio::task::spawn_blocking(read).await.unwrap_or_else(|_| {
        let troubles = vec!["reading broke off inside the program".to_owned()];
        LogsRead { coverage: Coverage { given: 1, troubles, ..Coverage::default() }, ..LogsRead::default() }
    })
}

fn read_marks(places: &[MarksPlace], said: &[Mark]) -> LogsRead {
    let mut read = LogsRead::default();
    read.coverage.given = places.len() + usize::from(!said.is_empty());
    for mark in said {
        read.happenings.push(happening(mark.clone(), Clock::Console, "said with --mark"));
    }
    // What was said needs no file.
    read.coverage.files = usize::from(!said.is_empty());
    for place in places {
        let (files, trouble) = files::find(&place.path);
        read.coverage.troubles.extend(trouble);
        for file in files {
            read_marks_of(place, &file, &mut read);
        }
    }
    read
}

fn read_marks_of(place: &MarksPlace, file: &Path, read: &mut LogsRead) {
    let clock = Clock::Marks(Arc::clone(&place.name));
    let shown = files::shown_name(file);
    let ended = lines::each(file, |number, line| {
        let line = String::from_utf8_lossy(line);
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            return;
        }
        read.coverage.lines += 1;
        match mark::read_line(&line) {
            Ok(mark) if read.happenings.len() < MARKS_MAX => {
                read.happenings.push(happening(mark, clock.clone(), &format!("{shown}:{number}")));
            }
            Ok(_) => read.coverage.is_cut = true,
            Err(_) => read.coverage.broken += 1,
        }
    });
    match ended {
        Ok(overlong) => {
            read.coverage.files += 1;
            read.coverage.lines += overlong;
            read.coverage.broken += overlong;
        }
        Err(fault) => read.coverage.troubles.push(files::unreadable(file, &fault)),
    }
}

fn happening(mark: Mark, clock: Clock, place: &str) -> Happening {
    Happening {
        at: mark.at,
        clock,
        origin: Origin::Mark,
        place: clean(place),
        item: None,
        what: What::Mark(mark.kind, mark.text),
    }
}
