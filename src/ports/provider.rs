//! Asking a provider whether an effect happened.

use crate::domain::evidence::{Answer, Clocks, Evidence};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One operation of one provider.
#[async_trait]
pub trait Provider: Send + Sync {
    /// What is known of the operation without asking.
    fn facts(&self) -> &ProviderFacts;

    /// Asks for one reference: every page, bounded in bytes, pages, tries and time. Never fails: a fault is an answer.
    ///
    /// Dropping the future stops asking.
    async fn ask(&self, question: &Question) -> Told;
}

/// What is known of an operation without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderFacts {
    /// `provider.operation`, as the configuration names it.
    pub name: Arc<str>,
    /// Where it is, without secrets.
    pub place: String,
    /// Its clocks.
    pub clocks: Clocks,
    /// How many checks may be in flight at once.
    pub in_flight_max: usize,
}

/// What to ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the provider knows the item by.
    pub reference: String,
    /// The earliest moment an effect can have come about, for requests that name a window; `None` when not known.
    pub from: Option<DateTime<Utc>>,
    /// The item's fields by name, for request templates.
    pub fields: BTreeMap<String, String>,
    /// Names of fields to mask in kept answers, beside those that look secret.
    pub mask: Arc<[String]>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The answer in our words.
    pub answer: Answer,
    /// How it was asked and what came, for the record.
    pub evidence: Evidence,
}
