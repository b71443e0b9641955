//! Handing an item to somebody else.

use crate::domain::evidence::{FaultKind, Hindrance};
use crate::ports::source::Examined;
use async_trait::async_trait;

/// Where escalations go.
#[async_trait]
pub trait Escalation: Send + Sync {
    /// Where they go, without secrets, for dialog and record.
    fn place(&self) -> String;

    /// Whether it can be reached and lets us in, without handing anything on; in honest words where nobody can know.
    async fn examine(&self) -> Examined;

    /// What would be sent for a notice, secrets hidden.
    ///
    /// # Errors
    /// A sentence saying why nothing could be sent.
    fn shown(&self, notice: &Notice) -> Result<ShownRequest, String>;

    /// Sends one, once. The key makes a repeat harmless at the other end.
    ///
    /// # Errors
    /// What went wrong, and whether it may have arrived.
    async fn send(&self, notice: &Notice) -> Result<String, NotTaken>;
}

/// Why a notice was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NotTaken {
    /// In a sentence, which says whether it may have arrived.
    pub why: String,
    /// What stood in the way; `None` where the other side said no.
    pub hindrance: Option<Hindrance>,
}

impl NotTaken {
    /// A sentence with the kind of fault that it tells of.
    pub fn new(why: String, kind: FaultKind) -> Self {
        Self { why, hindrance: kind.hindrance() }
    }
}

/// How many effects a notice tells whole; their ids it has all.
pub const EFFECTS_TOLD_MAX: usize = 50;

/// A request as it would be sent, secrets hidden.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ShownRequest {
    /// The method.
    pub method: String,
    /// The address.
    pub url: String,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
    /// What is asked before; `None` where it is sent at once.
    pub asks_before: Option<String>,
    /// What a repeat comes to.
    pub repeat: String,
}

/// One effect, as somebody needs it who has to undo it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct NoticeEffect {
    /// The provider's id.
    pub id: String,
    /// The provider's status.
    pub status: String,
    /// What that amounts to: `happened`, `pending`, `failed`, `unlisted`.
    pub state: String,
    /// The amount in the currency's own unit.
    pub amount: Option<String>,
    /// The currency's code.
    pub currency: Option<String>,
    /// When it came about.
    pub at: Option<String>,
    /// Where a person can look at it.
    pub link: Option<String>,
}

/// What is handed on.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Notice {
    /// The same for the same item in the same condition.
    pub dedup_key: String,
    /// The source's name.
    pub source: String,
    /// The item's key.
    pub key: String,
    /// Its kind.
    pub kind: String,
    /// Its native status.
    pub status: String,
    /// Why it needs a person.
    pub finding: String,
    /// What the evidence said.
    pub verdict: String,
    /// Who was asked, as `provider.operation`; empty where nobody was.
    pub provider: String,
    /// What the provider was asked for; empty where there is no reference.
    pub reference: String,
    /// Why the verdict is what it is.
    pub reasons: Vec<String>,
    /// How many effects really happened.
    pub effects_count: usize,
    /// What the provider's effects are.
    pub effect_ids: Vec<String>,
    /// Everything about them that somebody needs who has to undo one: [`EFFECTS_TOLD_MAX`] of them at most.
    pub effects: Vec<NoticeEffect>,
    /// Who escalates.
    pub operator: String,
    /// Why.
    pub reason: String,
    /// The audit entry of the intent.
    pub audit: i64,
}
