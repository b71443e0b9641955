//! What one kind of item may take: its risk and its thresholds.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// How much a wrong decision costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// A repeat does no harm.
    Safe,
    /// A repeat is a nuisance: look before deciding.
    CheckFirst,
    /// A repeat costs somebody money.
    Financial,
}

impl Risk {
    /// Every one, the costliest first.
    pub const ALL: [Self; 3] = [Self::Financial, Self::CheckFirst, Self::Safe];

    /// The word as files and JSON spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::CheckFirst => "check_first",
            Self::Financial => "financial",
        }
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How many persons it takes to mark done or to retry. To escalate always takes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Approvals {
    /// Whoever decides.
    #[default]
    One,
    /// Whoever proposes, and another who approves exactly that.
    Two,
}

impl Approvals {
    /// How many persons that is.
    pub fn count(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// What is at stake with a kind: what a wrong decision costs, and how many persons one takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stakes {
    /// How much a wrong decision costs.
    pub risk: Risk,
    /// How many persons it takes.
    pub approvals: Approvals,
}

/// Which operation of which provider answers for a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckName {
    /// The provider's name in the configuration.
    pub provider: Arc<str>,
    /// The operation's name in the provider's preset.
    pub operation: Arc<str>,
}

impl fmt::Display for CheckName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.provider, self.operation)
    }
}

/// The policy of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The kind it is for.
    pub kind: Arc<str>,
    /// How much a wrong decision costs.
    pub risk: Risk,
    /// After how long a running item without a lease is stuck; [`Policy::NEVER`] where it may run as long as it likes.
    pub stuck_after: TimeDelta,
    /// Who knows whether the effect happened; `None` where nobody can be asked.
    pub check: Option<CheckName>,
    /// Template of what the provider knows the item by.
    pub reference: Arc<str>,
    /// Template of the idempotency key that the workers send; `None` where they send none.
    pub idempotency_key: Option<Arc<str>>,
    /// Template of the amount the job asked for, in `amount_unit`; `None` where it is not compared.
    pub amount: Option<Arc<str>>,
    /// Template of the currency the job asked for.
    pub currency: Option<Arc<str>>,
    /// In which unit the job writes amounts.
    pub amount_unit: crate::domain::money::Unit,
    /// How long the workers wait for the provider's answer; `None` where nobody says it.
    pub call_timeout: Option<TimeDelta>,
    /// After how long the queue gives an item to somebody else; `None` where nobody says it.
    pub visibility_limit: Option<TimeDelta>,
    /// How old evidence may be when a decision uses it.
    pub evidence_age_max: TimeDelta,
    /// How many persons a decision that writes takes.
    pub approvals: Approvals,
    /// How long a proposal waits for its second person.
    pub proposal_lasts: TimeDelta,
    /// The place among the configured ones where escalations go; `None` is the usual one.
    pub escalate_to: Option<Arc<str>>,
    /// Names of payload fields to mask, beside those that look secret by themselves.
    pub mask: Arc<[String]>,
}

impl Policy {
    /// After how long a running item is stuck where nobody says otherwise.
    pub const STUCK_AFTER: TimeDelta = TimeDelta::minutes(30);
    /// The `stuck_after` of a kind whose items may run as long as they like. Longer than any clock is wrong, and short enough
    /// to count back from now.
    pub const NEVER: TimeDelta = TimeDelta::days(36_500);
    /// How old evidence may be where nobody says otherwise.
    pub const EVIDENCE_AGE_MAX: TimeDelta = TimeDelta::minutes(5);
    /// How long a proposal waits where nobody says otherwise.
    pub const PROPOSAL_LASTS: TimeDelta = TimeDelta::hours(4);
    /// How long a proposal may wait at most: what nobody approved in a week, nobody remembers the reasons of.
    pub const PROPOSAL_LASTS_MAX: TimeDelta = TimeDelta::days(7);

    /// What is at stake.
    pub fn stakes(&self) -> Stakes {
        Stakes { risk: self.risk, approvals: self.approvals }
    }

    /// The policy of a kind that no configuration names: careful, and with nobody to ask.
    pub fn unconfigured(kind: &str) -> Self {
        Self {
            kind: kind.into(),
            risk: Risk::CheckFirst,
            stuck_after: Self::STUCK_AFTER,
            check: None,
            reference: "{{ key }}".into(),
            idempotency_key: None,
            amount: None,
            currency: None,
            amount_unit: crate::domain::money::Unit::Major,
            call_timeout: None,
            visibility_limit: None,
            evidence_age_max: Self::EVIDENCE_AGE_MAX,
            approvals: Approvals::One,
            proposal_lasts: Self::PROPOSAL_LASTS,
            escalate_to: None,
            mask: Arc::default(),
        }
    }
}
