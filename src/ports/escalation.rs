//! Handing an item to somebody else.

use async_trait::async_trait;

/// Where escalations go.
#[async_trait]
pub trait Escalation: Send + Sync {
    /// Where they go, without secrets, for dialog and record.
    fn place(&self) -> String;

    /// Sends one, once. The key makes a repeat harmless at the other end.
    ///
    /// # Errors
    /// A sentence saying what went wrong, and whether it may have arrived.
    async fn send(&self, notice: &Notice) -> Result<String, String>;
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
    /// What the provider's effects are.
    pub effect_ids: Vec<String>,
    /// Who escalates.
    pub operator: String,
    /// Why.
    pub reason: String,
    /// The audit entry of the intent.
    pub audit: i64,
}
