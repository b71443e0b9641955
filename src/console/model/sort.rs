//! The order of the list: the worst first, or by a column.

use crate::domain::verdict::Verdict;

/// What the list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Column {
    /// What hurts most first ([`crate::domain::harm`]), then no known age, then the oldest.
    #[default]
    Worst,
    /// The oldest first; no known age before all.
    Age,
    /// By key, then by source.
    Key,
    /// By source.
    Source,
    /// By kind.
    Kind,
    /// By finding.
    Finding,
    /// By verdict.
    Verdict,
    /// By advice.
    Advice,
    /// The most attempts first.
    Attempts,
}

impl Column {
    /// Every column, in the order in which `s` walks through them.
    pub const ALL: [Self; 9] = [
        Self::Worst,
        Self::Age,
        Self::Key,
        Self::Source,
        Self::Kind,
        Self::Finding,
        Self::Verdict,
        Self::Advice,
        Self::Attempts,
    ];

    /// The column after this one.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|column| *column == self).unwrap_or(0);
        Self::ALL.get(at + 1).copied().unwrap_or_default()
    }

    /// Its word in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Worst => "worst",
            Self::Age => "age",
            Self::Key => "key",
            Self::Source => "source",
            Self::Kind => "kind",
            Self::Finding => "finding",
            Self::Verdict => "verdict",
            Self::Advice => "advice",
            Self::Attempts => "attempts",
        }
    }

    /// How the list's title names it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Worst => "what hurts most first",
            Self::Age => "oldest first",
            Self::Key => "by key",
            Self::Source => "by source",
            Self::Kind => "by kind",
            Self::Finding => "by finding",
            Self::Verdict => "by verdict",
            Self::Advice => "by advice",
            Self::Attempts => "most tries first",
        }
    }
}

/// A column and a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sort {
    /// The column.
    pub column: Column,
    /// Whether it is turned round.
    pub reversed: bool,
}

/// Where a verdict stands among the worst: the order in which [`Verdict`] lists them, unchecked after all.
///
/// `unknown` stands next to "not checked", far from what happened: neither is a result.
pub fn verdict_rank(verdict: Option<Verdict>) -> u8 {
    match verdict {
        Some(Verdict::Duplicated) => 0,
        Some(Verdict::Mismatch) => 1,
        Some(Verdict::Happened) => 2,
        Some(Verdict::Pending) => 3,
        Some(Verdict::Failed) => 4,
        Some(Verdict::NotFound) => 5,
        Some(Verdict::Unknown) => 6,
        None => 7,
    }
}
