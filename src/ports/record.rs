//! The audit: durable, append-only.

use crate::domain::audit::{Entry, NewEntry, RecordedBy, Subject};
use crate::domain::proposal::IdEnding;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use uuid::Uuid;

/// Where entries are kept.
#[async_trait]
pub trait Record: Send + Sync {
    /// Writes entries in one transaction and returns them in their places. When it returns, they are durable.
    ///
    /// A decision ends once: the outcome of one that has an outcome is refused, and nothing is written. Two consoles that
    /// settle the same decision at once would otherwise each put an end to it.
    async fn append(&self, entries: Vec<NewEntry>) -> Result<Vec<Entry>, RecordFault>;

    /// Signs what this run has appended, at its end; does nothing where it appended nothing. A fault says why nothing is
    /// signed: the entries are durable all the same.
    async fn seal(&self, at: DateTime<Utc>) -> Result<(), RecordFault>;

    /// Writes an entry of which a decision has one at most ([`Event::ONCE`]), durable like any other. Where the decision
    /// has one of these already, nothing is written: whoever was first has it, also among several processes.
    ///
    /// [`Event::ONCE`]: crate::domain::audit::Event::ONCE
    async fn append_once(&self, entry: NewEntry) -> Result<Once, RecordFault>;

    /// Decisions that were intended and have no outcome, oldest first.
    async fn unfinished(&self) -> Result<Vec<Entry>, RecordFault>;

    /// Every entry of one decision, in order.
    async fn of_decision(&self, decision: Uuid) -> Result<Vec<Entry>, RecordFault>;

    /// The entries of those decisions on an item that came to an intent, the newest first, at most `entries_max`. Checks
    /// and refusals before an intent, of which there may be thousands, crowd none of them out.
    async fn intended_on(&self, subject: &Subject, entries_max: usize) -> Result<Vec<Entry>, RecordFault>;

    /// The outcomes of decisions that were carried out and may be escalations (whoever asks looks at what each tells), the
    /// newest intent first, at most `entries_max`.
    async fn escalated(&self, entries_max: usize) -> Result<Vec<Entry>, RecordFault>;

    /// The entries of one item, the newest first, at most `entries_max`.
    async fn of_item(&self, subject: &Subject, entries_max: usize) -> Result<Vec<Entry>, RecordFault>;

    /// Proposals without an entry of [`Event::ONCE`] of their decision, oldest first: those after a number, at most
    /// `entries_max`.
    ///
    /// [`Event::ONCE`]: crate::domain::audit::Event::ONCE
    async fn waiting(&self, after: i64, entries_max: usize) -> Result<Vec<Entry>, RecordFault>;

    /// The same on one item, all of them.
    async fn waiting_on(&self, subject: &Subject) -> Result<Vec<Entry>, RecordFault>;

    /// Proposals, waiting or not, whose decision's id ends so: the newest first, at most `entries_max`.
    async fn proposals_ending(
        &self,
        ending: &IdEnding,
        entries_max: usize,
    ) -> Result<Vec<Entry>, RecordFault>;

    /// Who a database server knows us as: the strongest word on who writes here. `None` for an audit that is a file.
    async fn recorded_by(&self) -> Result<Option<RecordedBy>, RecordFault> {
        Ok(None)
    }

    /// A page of entries before a number (from the end for `None`), the newest first.
    async fn page(&self, before: Option<i64>, entries_max: usize) -> Result<Vec<Entry>, RecordFault>;
}

/// What came of an entry of which there is one at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Once {
    /// It is on record.
    Placed(Entry),
    /// Nothing was written: this one was there before it.
    Taken(Entry),
}

/// Why the audit could not do what it was asked: one line what, one line what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct RecordFault {
    /// What happened, one line.
    pub what: String,
    /// What to do, one line.
    pub do_next: String,
    /// Whether there is no audit yet: then nothing is on record, which is another thing than a record that cannot be read.
    pub is_absent: bool,
}

impl RecordFault {
    /// What was read; where there is no audit yet, nothing is in it.
    ///
    /// # Errors
    /// Any other fault, as it was.
    pub fn unless_absent<T: Default>(read: Result<T, Self>) -> Result<T, Self> {
        read.or_else(|fault| if fault.is_absent { Ok(T::default()) } else { Err(fault) })
    }
}
