//! The order of the list: the worst first, or by a column.

use super::findings::Row;
use crate::domain::verdict::Verdict;
use std::cmp::Ordering;

/// What the list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Column {
    /// The worst verdict first, then no known age, then the oldest.
    #[default]
    Worst,
    /// The oldest first; no known age before all.
    Age,
    /// By key.
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

    /// How the list's title names it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Worst => "worst first",
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

impl Sort {
    /// The weight that settles most comparisons without looking at the rows again.
    pub fn weight(self, row: &Row) -> u64 {
        let item = &row.found.finding.item;
        match self.column {
            Column::Worst => worst(row),
            Column::Age => by_age(row),
            Column::Key => head(item.key.as_str()),
            Column::Source => head(&item.source),
            Column::Kind => head(&item.kind),
            Column::Finding => row.found.finding.kind as u64,
            Column::Verdict => u64::from(verdict_rank(row.verdict())),
            Column::Advice => row.checked.as_ref().map_or(u64::MAX, |checked| checked.advice() as u64),
            Column::Attempts => {
                u64::MAX
                    - item.attempts.and_then(|count| u64::try_from(count).ok()).map_or(0, |count| count + 1)
            }
        }
    }

    /// Compares weights, then how bad they are; `None` where only the rows themselves can tell.
    pub fn compare_numbers(self, (a, a_worst): (u64, u64), (b, b_worst): (u64, u64)) -> Option<Ordering> {
        let by_weight = a.cmp(&b);
        if by_weight != Ordering::Equal {
            return Some(if self.reversed { by_weight.reverse() } else { by_weight });
        }
        let by_badness = a_worst.cmp(&b_worst);
        (!self.is_by_text() && by_badness != Ordering::Equal).then_some(by_badness)
    }

    /// Compares two rows with their weights.
    pub fn compare(self, (a_weight, a): (u64, &Row), (b_weight, b): (u64, &Row)) -> Ordering {
        let forward = a_weight.cmp(&b_weight).then_with(|| self.compare_texts(a, b));
        let turned = if self.reversed { forward.reverse() } else { forward };
        turned.then_with(|| worst(a).cmp(&worst(b))).then_with(|| compare_names(a, b))
    }

    /// Whether weights are beginnings of texts, and equal ones say nothing yet.
    pub fn is_by_text(self) -> bool {
        matches!(self.column, Column::Key | Column::Source | Column::Kind)
    }

    fn compare_texts(self, a: &Row, b: &Row) -> Ordering {
        let (a, b) = (&a.found.finding.item, &b.found.finding.item);
        match self.column {
            Column::Key => a.key.as_str().cmp(b.key.as_str()),
            Column::Source => a.source.cmp(&b.source),
            Column::Kind => a.kind.cmp(&b.kind),
            Column::Worst
            | Column::Age
            | Column::Finding
            | Column::Verdict
            | Column::Advice
            | Column::Attempts => Ordering::Equal,
        }
    }
}

/// Compares by source and key. Keys that count up ("item-9", "item-10") read best in the order of their length.
pub fn compare_names(a: &Row, b: &Row) -> Ordering {
    let (a, b) = (&a.found.finding.item, &b.found.finding.item);
    let (a_key, b_key) = (a.key.as_str(), b.key.as_str());
    a.source.cmp(&b.source).then_with(|| a_key.len().cmp(&b_key.len())).then_with(|| a_key.cmp(b_key))
}

const AGE_BITS: u32 = 56;

/// The weight of [`Column::Worst`].
pub fn worst(row: &Row) -> u64 {
    (u64::from(verdict_rank(row.verdict())) << AGE_BITS) | by_age(row)
}

/// Smaller is older; no known age is the smallest.
fn by_age(row: &Row) -> u64 {
    const AGE_MAX: u64 = (1 << AGE_BITS) - 1;
    row.found.finding.age.map_or(0, |age| {
        let seconds = u64::try_from(age.num_milliseconds()).unwrap_or(0).min(AGE_MAX - 1);
        AGE_MAX - seconds
    })
}

/// The first eight bytes, in an order that compares like the text.
fn head(text: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(text.bytes()).for_each(|(place, byte)| *place = byte);
    u64::from_be_bytes(bytes)
}
