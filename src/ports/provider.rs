//! Asking a provider whether an effect happened.

use crate::domain::evidence::{Answer, Clocks, Evidence, Fault, FaultKind};
use crate::domain::listing::Listing;
use crate::domain::plan::{Confirming, Costs, ListingFacts};
use crate::ports::source::Examined;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// One operation of one provider.
#[async_trait]
pub trait Provider: Send + Sync {
    /// What is known of the operation without asking.
    fn facts(&self) -> &ProviderFacts;

    /// Asks for one reference: every page, bounded in bytes, pages, tries and time. Never fails: a fault is an answer.
    ///
    /// Dropping the future stops asking.
    async fn ask(&self, question: &Question) -> Told;

    /// Looks at what is asked, line by line, where asking alone does not tell everything; nothing where it does.
    async fn examine(&self) -> Vec<Examined> {
        Vec::new()
    }

    /// Reads the operation's list over a window: every page, bounded in bytes, pages, tries and time. Never fails: a listing
    /// that broke off is a fault, and was not read.
    ///
    /// Dropping the future stops asking.
    async fn list(&self, window: &Window) -> Listed {
        let _cannot_be_listed = window;
        Listed::not_listed(&self.facts().name)
    }
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
    /// The time between two requests at the allowed pace.
    pub interval: Duration,
    /// What its list is like; `None` where it cannot be listed.
    pub listing: Option<ListingFacts>,
    /// How many requests make sure of an absence.
    pub confirming: Confirming,
    /// The longest that one whole check may take.
    pub check_max: Duration,
}

impl ProviderFacts {
    /// What asking costs, for a plan.
    pub fn costs(&self) -> Costs {
        Costs {
            interval: self.interval,
            listing: self.listing,
            lookback: self.clocks.lookback,
            confirming: self.confirming,
        }
    }
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

/// Which part of a list to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The earliest moment an effect can have come about; `None` for everything there is.
    pub from: Option<DateTime<Utc>>,
    /// Beyond how many pages it is given up.
    pub pages_max: usize,
    /// Names of fields to mask in kept answers, beside those that look secret.
    pub mask: Arc<[String]>,
}

/// What a list showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Every effect of the window, or why the list counts as not read.
    pub outcome: Result<Listing, Fault>,
    /// How it was read and what came, for the record; `None` where nothing was asked.
    pub evidence: Option<Evidence>,
}

impl Listed {
    /// What an operation says that has no list.
    pub fn not_listed(name: &str) -> Self {
        let sentence = format!("the preset of {name} says no way to list it");
        Self { outcome: Err(Fault::new(FaultKind::Unanswerable, sentence)), evidence: None }
    }
}
