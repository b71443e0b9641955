//! What a provider said: its answer in our words, and the record of how it was asked.

use crate::domain::cell::hex;
use crate::domain::money::Money;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;

/// What one effect's status amounts to, by the preset's map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectState {
    /// It really happened.
    Happened,
    /// The provider has not decided yet.
    Pending,
    /// The provider knows of it and it did not happen.
    Failed,
    /// A status that the preset does not list.
    Unlisted,
}

/// One thing that the provider knows of under our reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// The provider's id.
    pub id: String,
    /// The provider's status, as it writes it.
    pub status: String,
    /// What that status amounts to.
    pub state: EffectState,
    /// The amount, where the preset says where it is.
    pub money: Option<Money>,
    /// When it came about, where the preset says where that is.
    pub at: Option<DateTime<Utc>>,
    /// Where a person can look at it.
    pub link: Option<String>,
}

/// Why a question got no answer that counts. None of these is ever an absence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// No connection: name not resolved, refused, no route.
    Connect,
    /// No secure connection.
    Tls,
    /// No answer in time.
    Timeout,
    /// The answer broke off, or its length was wrong.
    CutOff,
    /// The provider said to slow down.
    RateLimited,
    /// The provider failed (5xx).
    ServerError,
    /// The provider refused the question (4xx that is no absence).
    Refused,
    /// The provider pointed elsewhere, and we do not follow.
    Redirect,
    /// The answer is larger than `body_bytes_max`.
    BodyTooLarge,
    /// More pages than `pages_max`.
    TooManyPages,
    /// The whole check took longer than `check_seconds_max`.
    TookTooLong,
    /// The answer is not what the preset describes.
    Shape,
    /// The answer says itself that something went wrong.
    ErrorInAnswer,
    /// The question could not be made (a template's field is missing).
    Question,
    /// A secret is missing.
    Secret,
    /// Nobody is configured to ask.
    NobodyToAsk,
    /// The provider cannot answer this, says its preset.
    Unanswerable,
    /// The operator stopped it.
    Cancelled,
}

/// What keeps an answer or a notice from going through, apart from a "no" of the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hindrance {
    /// Something that somebody has to set or write first, such as a secret.
    Misconfigured,
    /// The other side could not be reached, or did not answer as somebody who works.
    Unreachable,
}

impl FaultKind {
    /// What stood in the way of an answer, where it was not the answer itself.
    pub fn hindrance(self) -> Option<Hindrance> {
        match self {
            Self::Connect
            | Self::Tls
            | Self::Timeout
            | Self::CutOff
            | Self::RateLimited
            | Self::ServerError
            | Self::TookTooLong => Some(Hindrance::Unreachable),
            Self::Secret => Some(Hindrance::Misconfigured),
            Self::Refused
            | Self::Redirect
            | Self::BodyTooLarge
            | Self::TooManyPages
            | Self::Shape
            | Self::ErrorInAnswer
            | Self::Question
            | Self::NobodyToAsk
            | Self::Unanswerable
            | Self::Cancelled => None,
        }
    }

    /// Whether the provider could not be reached.
    pub fn is_unreachable(self) -> bool {
        self.hindrance() == Some(Hindrance::Unreachable)
    }

    /// Whether asking the same again in a while may help.
    pub fn may_pass(self) -> bool {
        self.is_unreachable() || self == Self::Cancelled
    }
}

/// A fault and what it was, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which kind of fault.
    pub kind: FaultKind,
    /// What happened, without secrets.
    pub detail: String,
}

impl Fault {
    /// A fault of a kind, told in words.
    pub fn new(kind: FaultKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

/// What the provider answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Every page was read and understood; these effects carry exactly our reference (perhaps none).
    Complete {
        /// The effects that carry our reference.
        effects: Vec<Effect>,
        /// From when on the question could have seen effects; `None` when it set no bound.
        seen_from: Option<DateTime<Utc>>,
    },
    /// No answer that counts.
    Fault(Fault),
}

/// The clocks of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clocks {
    /// How long after the last attempt an absence means something.
    pub settle: TimeDelta,
    /// How far back the look-up can see; `None` when it forgets nothing.
    pub lookback: Option<TimeDelta>,
    /// How long the provider remembers an idempotency key; `None` when nobody knows, which counts as zero.
    pub key_ttl: Option<TimeDelta>,
}

/// One try of one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Try {
    /// When it began.
    pub at: DateTime<Utc>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// The HTTP status, if one came.
    pub status: Option<u16>,
    /// What went wrong, if something did.
    pub fault: Option<FaultKind>,
    /// What went wrong, in words.
    pub detail: Option<String>,
    /// SHA-256 of the answer's bytes as they came, in hexadecimal.
    pub body_sha256: Option<String>,
    /// How many bytes came.
    pub body_bytes: u64,
}

/// One request (one page of the answer) with all its tries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// `GET` or `HEAD`, or the POST of an operation that is a read.
    pub method: String,
    /// The address, without secrets.
    pub url: String,
    /// Every try.
    pub tries: Vec<Try>,
}

/// The listing that a check was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListingPart {
    /// When it began: what came about later could not be seen.
    pub began: DateTime<Utc>,
    /// Where its window began; `None` where it had no bound.
    pub from: Option<DateTime<Utc>>,
    /// How many pages it has.
    pub pages: usize,
    /// How many effects it shows, ours or not.
    pub effects: usize,
}

/// The record of one check: what was asked, what came, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Which operation of which provider.
    pub check: String,
    /// What the provider was asked for.
    pub reference: Option<String>,
    /// When the check ended.
    pub at: DateTime<Utc>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// The requests in order.
    pub asked: Vec<Asked>,
    /// SHA-256 over the hashes of all answers in order, in hexadecimal.
    pub hash: String,
    /// The listing that this is a part of; `None` where the item was asked about alone. Then `hash` is the listing's, which
    /// is on record with all its answers, and `asked` has the pages that show the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listing: Option<ListingPart>,
    /// The answers as text, secrets and sensitive fields masked, cut: for a person to look at.
    #[serde(skip)]
    pub bodies: Vec<Arc<str>>,
}

impl Evidence {
    /// The hash of what was asked: over the hashes of all answers in their order.
    pub fn hash_of(asked: &[Asked]) -> String {
        let answers =
            asked.iter().flat_map(|asked| &asked.tries).filter_map(|one| one.body_sha256.as_deref());
        let mut hash = Sha256::new();
        answers.for_each(|answer| hash.update(answer));
        hex(&hash.finalize())
    }
}
