//! The audit's entries and the chain that holds them together. Pure: where they are kept is an adapter's business.

use crate::domain::cell::hex;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use uuid::Uuid;

/// What an entry tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A provider was asked.
    Checked,
    /// A provider's list was read, for many checks at once.
    Listed,
    /// A decision waits for a second person.
    Proposed,
    /// A proposal was taken back by who made it, or rejected by somebody else.
    Withdrawn,
    /// A proposal can no longer be approved: its time, its row or its evidence moved on.
    Lapsed,
    /// A decision is about to touch something.
    Intended,
    /// A decision was carried out.
    Applied,
    /// A decision touched nothing, and why.
    Refused,
    /// A decision broke, and how.
    Failed,
    /// Somebody looked at what a decision would write.
    DryRun,
    /// Somebody looked at hidden fields.
    Unmasked,
    /// Somebody gave an incident a name and a beginning.
    Opened,
    /// Somebody wrote something down about an incident.
    Noted,
    /// An incident is over.
    Closed,
}

impl Event {
    /// Every event.
    pub const ALL: [Self; 14] = [
        Self::Checked,
        Self::Listed,
        Self::Proposed,
        Self::Withdrawn,
        Self::Lapsed,
        Self::Intended,
        Self::Applied,
        Self::Refused,
        Self::Failed,
        Self::DryRun,
        Self::Unmasked,
        Self::Opened,
        Self::Noted,
        Self::Closed,
    ];

    /// The word as the record spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Checked => "checked",
            Self::Listed => "listed",
            Self::Proposed => "proposed",
            Self::Withdrawn => "withdrawn",
            Self::Lapsed => "lapsed",
            Self::Intended => "intended",
            Self::Applied => "applied",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::DryRun => "dry_run",
            Self::Unmasked => "unmasked",
            Self::Opened => "opened",
            Self::Noted => "noted",
            Self::Closed => "closed",
        }
    }

    /// The event that a word spells.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == word)
    }

    /// The events of which a decision has one at most: each settles what becomes of a proposal.
    pub const ONCE: [Self; 3] = [Self::Intended, Self::Withdrawn, Self::Lapsed];

    /// Whether it ends a decision.
    pub fn is_outcome(self) -> bool {
        matches!(self, Self::Applied | Self::Refused | Self::Failed)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is to be written down: an entry without its place in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEntry {
    /// When it happened, UTC.
    pub at: DateTime<Utc>,
    /// What it tells.
    pub event: Event,
    /// The decision it belongs to; `None` for a check or a look.
    pub decision: Option<Uuid>,
    /// The source's name.
    pub source: String,
    /// The item's key, raw.
    pub key: String,
    /// Who.
    pub operator: String,
    /// The account and machine it came from, `login@host`.
    pub origin: String,
    /// Everything else, as one JSON object.
    pub body: Value,
    /// Answers' bytes to keep beside the chain, by their hash: already masked.
    pub attachments: Vec<Attachment>,
}

/// The member of an entry's body in which a database server's own word stands: who its writer logged in as, and from where.
/// The record itself adds it, and its entry's hash covers it.
pub const RECORDED_BY: &str = "recorded_by";

/// Who wrote an entry, as the database server knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedBy {
    /// The login that the server let in.
    pub login: Arc<str>,
    /// The address that it came from; `None` for a socket of the same machine.
    pub address: Option<Arc<str>>,
}

impl RecordedBy {
    /// What stands in the body.
    pub fn to_json(&self) -> Value {
        json!({ "login": &*self.login, "address": self.address.as_deref() })
    }

    /// What stands in a body; `None` where nothing does, as in an audit that is a file.
    pub fn of_body(body: &Value) -> Option<Self> {
        let told = body.get(RECORDED_BY)?;
        let text = |name: &str| told.get(name)?.as_str().map(Arc::from);
        Some(Self { login: text("login")?, address: text("address") })
    }
}

/// A provider's answer kept for a person to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// SHA-256 of the bytes as they came, in hexadecimal.
    pub sha256: String,
    /// The text, with secrets and sensitive fields masked, so it need not hash to `sha256`.
    pub text: String,
}

/// An entry in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1 without a gap.
    pub seq: i64,
    /// When it happened, RFC 3339 in UTC, as it is stored.
    pub at: String,
    /// What it tells, as it is stored.
    pub event: String,
    /// The decision it belongs to, as it is stored; empty for none.
    pub decision: String,
    /// The source's name.
    pub source: String,
    /// The item's key.
    pub key: String,
    /// Who.
    pub operator: String,
    /// The account and machine.
    pub origin: String,
    /// The JSON object, as it is stored.
    pub body: String,
    /// The hash of the entry before it; of the first, [`GENESIS`].
    pub prev: String,
    /// The hash over all of the above.
    pub hash: String,
}

/// An item, as the record finds what is told of it. A source may be called otherwise in another configuration; its table
/// and key are the same all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The source's name.
    pub source: String,
    /// The item's key, raw.
    pub key: String,
    /// The source's table, as it is called whatever the source is; `None` before it was read.
    pub table: Option<String>,
}

impl Subject {
    /// The member of an entry's body that has the table. Entries of earlier programs lack it.
    pub const TABLE: &str = "table";

    /// Whether an entry tells of this item: under the name of its source, or under another name for the same table.
    pub fn is_of(&self, entry: &Entry) -> bool {
        self.key == entry.key && (self.source == entry.source || self.is_in_table_of(entry))
    }

    fn is_in_table_of(&self, entry: &Entry) -> bool {
        let Some(table) = &self.table else { return false };
        let body: Value = serde_json::from_str(&entry.body).unwrap_or_default();
        body[Self::TABLE] == table.as_str()
    }
}

/// What stands before the first entry.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

impl Entry {
    /// The hash that belongs to what the entry says: SHA-256 over each field with its length before it.
    pub fn expected_hash(&self) -> String {
        let mut hasher = Sha256::new();
        let seq = self.seq.to_string();
        let fields: [&str; 10] = [
            &self.prev,
            &seq,
            &self.at,
            &self.event,
            &self.decision,
            &self.source,
            &self.key,
            &self.operator,
            &self.origin,
            &self.body,
        ];
        for field in fields {
            hasher.update(u64::try_from(field.len()).unwrap_or(u64::MAX).to_be_bytes());
            hasher.update(field.as_bytes());
        }
        hex(&hasher.finalize())
    }
}

/// Where a chain is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// The number of the first entry that is wrong.
    pub seq: i64,
    /// What is wrong with it, in a sentence.
    pub what: String,
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry {}: {}", self.seq, self.what)
    }
}

/// Walks a chain from its beginning, one entry at a time.
#[derive(Debug, Clone)]
pub struct Walk {
    next_seq: i64,
    prev: String,
}

impl Default for Walk {
    fn default() -> Self {
        Self { next_seq: 1, prev: GENESIS.to_owned() }
    }
}

impl Walk {
    /// A walk that goes on after so many entries, the last of them with this hash.
    pub fn after(count: i64, head: &str) -> Self {
        Self { next_seq: count.saturating_add(1), prev: head.to_owned() }
    }

    /// Checks the next entry.
    ///
    /// # Errors
    /// [`Break`] naming the entry: a gap, an order, a link or a content that is not as it was written.
    pub fn step(&mut self, entry: &Entry) -> Result<(), Break> {
        self.step_hashed(entry, &entry.expected_hash())
    }

    /// Checks the next entry whose [`Entry::expected_hash`] somebody has computed already: many can be computed at once,
    /// while the links are followed one by one.
    ///
    /// # Errors
    /// [`Break`], as of [`Walk::step`].
    pub fn step_hashed(&mut self, entry: &Entry, expected_hash: &str) -> Result<(), Break> {
        let broken = |seq, what: String| Err(Break { seq, what });
        if entry.seq != self.next_seq {
            return broken(self.next_seq, format!("is missing (the next one there is {})", entry.seq));
        }
        if entry.prev != self.prev {
            return broken(entry.seq, "does not follow the entry before it".to_owned());
        }
        if entry.hash != expected_hash {
            return broken(entry.seq, "is not what was written".to_owned());
        }
        self.next_seq += 1;
        self.prev.clone_from(&entry.hash);
        Ok(())
    }

    /// How many entries were walked.
    pub fn count(&self) -> i64 {
        self.next_seq - 1
    }

    /// The hash of the last entry walked.
    pub fn head(&self) -> &str {
        &self.prev
    }
}

#[cfg(test)]
mod tests;
