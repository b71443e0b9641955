//! Telling somebody who is not at a screen.

use crate::ports::escalation::NotTaken;
use async_trait::async_trait;
use serde_json::Value;

/// Where a watch tells what is new.
#[async_trait]
pub trait Alerts: Send + Sync {
    /// Where it goes, without secrets.
    fn place(&self) -> String;

    /// Sends one notice, a JSON object, once. The key makes a repeat harmless at the other end.
    ///
    /// # Errors
    /// What went wrong, and whether it may have arrived.
    async fn send(&self, dedup_key: &str, notice: &Value) -> Result<String, NotTaken>;
}
