//! An item: one row of a source, in our words.

mod repeats;

pub use repeats::share_repeats;

use crate::domain::cell::Cell;
use crate::domain::moment::Reading;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;

/// What a native status amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waiting to be taken: nothing is under way.
    Pending,
    /// Somebody took it, and has not said how it ended.
    Running,
    /// An attempt ended badly.
    Failed,
    /// Finished well.
    Done,
    /// Given up for good.
    Dead,
}

impl State {
    /// Every state, in the order of a job's life.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Running, Self::Failed, Self::Done, Self::Dead];

    /// The word as files and JSON spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Failed => "failed",
            Self::Done => "done",
            Self::Dead => "dead",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What identifies one row: the values of its key columns, and how they are written on a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemKey {
    /// The key columns' values, in the order of the preset.
    pub parts: Vec<Cell>,
    text: Arc<str>,
}

impl ItemKey {
    /// A key from its column values. Parts of a composite key are joined by `/` in the text.
    pub fn new(parts: Vec<Cell>) -> Self {
        if let [Cell::Text(text)] = parts.as_slice() {
            return Self { text: Arc::clone(text), parts };
        }
        let spelled: Vec<String> =
            parts.iter().map(|part| part.to_plain().unwrap_or_else(|| "NULL".to_owned())).collect();
        Self { text: spelled.join("/").into(), parts }
    }

    /// The key as a person writes it: raw, so clean it before showing.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same text, shared: whoever keeps it keeps no second one.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }
}

/// The times of an item that its source tells, each as it could be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Times {
    /// When the item came into being.
    pub created: Reading,
    /// When its first attempt began. `Missing` where the source keeps no such time.
    pub first_attempt: Reading,
    /// When its latest attempt began.
    pub started: Reading,
    /// When its row last changed.
    pub updated: Reading,
    /// What the source says of who holds the item.
    pub lease: Lease,
}

/// How long somebody may hold an item, where the source says so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Lease {
    /// The source has no lease: the policy's `stuck_after` counts.
    #[default]
    None,
    /// The lease ends at a time in the row.
    EndsAt(Reading),
    /// The row says how many seconds an attempt may take; `None` is "no limit".
    Seconds(Option<i64>),
    /// The source itself shows whether the holder lives (its process, its claim, its lock).
    Told(Holder),
    /// The holder says from time to time that it lives; silent for longer than `limit_seconds`, it is dead.
    Heartbeat {
        /// The latest sign of life.
        beat: Reading,
        /// How long a silence may last, in seconds.
        limit_seconds: i64,
    },
}

/// Whether whoever holds an item lives, as its source shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// It lives.
    Live,
    /// It is gone.
    Expired,
    /// The source does not tell.
    Unknown,
}

/// The latest error that a row tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LastError {
    /// The source has no place for errors.
    #[default]
    NotKept,
    /// The place is there and empty (NULL).
    Absent,
    /// A text, cut in the middle where it is very long.
    Text(Arc<str>),
}

impl LastError {
    /// An error with a text.
    pub fn of(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// The text, if there is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::NotKept | Self::Absent => None,
        }
    }
}

/// One row of a source. Its payload is not here: it is read only when somebody looks at it.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The source's name.
    pub source: Arc<str>,
    /// What identifies the row.
    pub key: ItemKey,
    /// The family whose policy counts.
    pub kind: Arc<str>,
    /// The status as the job system writes it.
    pub status: Arc<str>,
    /// What that status amounts to.
    pub state: State,
    /// How many times it was tried; `None` where the source does not count or the count is unreadable.
    pub attempts: Option<i64>,
    /// Whether the job system never takes a key a second time by itself: to try again, its row is deleted, so this row may
    /// not be the first of its key.
    pub tried_once: bool,
    /// The times it tells.
    pub times: Times,
    /// The latest error.
    pub last_error: LastError,
    /// The small columns by name, for templates and to notice that a row moved on since it was listed.
    pub fields: Vec<(Arc<str>, Cell)>,
    /// What could not be read as declared ("attempts holds 'abc', not a number"), and what the source itself notes about
    /// the row, in sentences.
    pub oddities: Vec<String>,
}

/// A whole row as it was read for a decision: what "as the operator saw it" means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// Each column's name and value, in the table's order.
    pub columns: Vec<(Arc<str>, Cell)>,
}

impl Row {
    /// The value of a column, if the row has it.
    pub fn get(&self, name: &str) -> Option<&Cell> {
        self.columns.iter().find(|(column, _)| &**column == name).map(|(_, cell)| cell)
    }

    /// The row as a JSON object for the record.
    pub fn to_json(&self) -> serde_json::Value {
        let object = self.columns.iter().map(|(name, cell)| (name.to_string(), cell.to_json())).collect();
        serde_json::Value::Object(object)
    }

    /// SHA-256 over the row as JSON, in hexadecimal: tells whether a row is still the same without keeping its secrets.
    pub fn sha256(&self) -> String {
        crate::domain::cell::hex(&Sha256::digest(self.to_json().to_string().as_bytes()))
    }

    /// The row that [`Row::to_json`] wrote; `None` for JSON that it never writes.
    pub fn from_json(value: &serde_json::Value) -> Option<Self> {
        let columns = value
            .as_object()?
            .iter()
            .map(|(name, cell)| Some((name.as_str().into(), Cell::from_json(cell)?)));
        Some(Self { columns: columns.collect::<Option<_>>()? })
    }
}
