//! Receipts: one JSON line a check or decision, beside the application's own lines.

/// Where receipts go.
pub trait Receipts: Send + Sync {
    /// Appends one line.
    ///
    /// # Errors
    /// A sentence; the check or decision itself stands.
    fn write(&self, receipt: &Receipt) -> Result<(), String>;
}

/// One receipt. The first seven fields have the names that job logs use.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Receipt {
    /// When, RFC 3339 in UTC.
    pub ts: String,
    /// `unstuck_check` or `unstuck_decision`.
    pub event: String,
    /// The item's key.
    pub job_key: String,
    /// How many times the item was tried; `None` where that is not known.
    pub attempt: Option<i64>,
    /// The status before.
    pub previous_status: String,
    /// What was done: `check`, or the choice with its outcome (`retry_applied`).
    pub action: String,
    /// Why: the operator's reason, or the first reason of a verdict.
    pub reason: Option<String>,
    /// Who.
    pub operator: String,
    /// What the evidence said; `None` for a decision without a look-up.
    pub verdict: Option<String>,
    /// The audit entry that has the whole story; `None` where it could not be recorded.
    pub audit: Option<i64>,
}
