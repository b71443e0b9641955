//! Reading what others wrote down: the receipts that an application writes, and marks of what happened around it.
//!
//! The receipts that *we* write are another port ([`crate::ports::receipts`]).

use crate::domain::log_line::Layout;
use crate::domain::questions::Coverage;
use crate::domain::timeline::Happening;
use async_trait::async_trait;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Where what others wrote down is read.
#[async_trait]
pub trait Logs: Send + Sync {
    /// The lines of receipts that name one of these items. Never fails: what cannot be read is said in the coverage.
    async fn receipts(&self, wanted: &WantedLines) -> LogsRead;

    /// Every mark. Never fails, as above.
    async fn marks(&self) -> LogsRead;
}

/// Which lines are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WantedLines {
    /// Keys of items.
    pub keys: BTreeSet<String>,
    /// Natural keys, where lines name them.
    pub natural_keys: BTreeSet<String>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogsRead {
    /// What the lines tell, in the order of the files.
    pub happenings: Vec<Happening>,
    /// How far was read, and what could not be.
    pub coverage: Coverage,
}

/// One log of receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPlace {
    /// What it is called, in a timeline.
    pub name: Arc<str>,
    /// The file; `*` and `?` in its name stand for any characters. Rotated files beside it are read too.
    pub path: PathBuf,
    /// The source whose items it tells of; `None` for any.
    pub source: Option<Arc<str>>,
    /// How its lines are read.
    pub layout: Layout,
}

/// One list of marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarksPlace {
    /// What it is called, in a timeline.
    pub name: Arc<str>,
    /// The file.
    pub path: PathBuf,
}

/// Where nothing is read: there is no log.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLogs;

#[async_trait]
impl Logs for NoLogs {
    async fn receipts(&self, _wanted: &WantedLines) -> LogsRead {
        LogsRead::default()
    }

    async fn marks(&self) -> LogsRead {
        LogsRead::default()
    }
}
