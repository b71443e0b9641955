//! Money by currency: decimals, never floats.

use super::decided::{Decided, Exact, Outcome, happened};
use crate::domain::decision::Choice;
use rust_decimal::Decimal;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What the decisions and checks of one currency are about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Money {
    /// The currency; empty where nobody said it.
    pub currency: String,
    /// Of items marked done.
    pub marked_done: Exact,
    /// Of items that are tried again.
    pub retried: Exact,
    /// Of items handed on.
    pub escalated: Exact,
    /// What providers show as moved more often than once, beyond the first time, by the last check of each item.
    pub moved_again: Exact,
}

/// The sums, by currency.
pub(super) fn sums<'a>(decisions: &[Decided], checks: impl Iterator<Item = &'a Value>) -> Vec<Money> {
    let mut sums: BTreeMap<String, Money> = BTreeMap::new();
    for one in decisions.iter().filter(|one| one.outcome == Outcome::Applied) {
        let Some(amount) = one.amount else { continue };
        let sum = sums.entry(one.currency.clone().unwrap_or_default()).or_default();
        let part = match one.choice.as_str() {
            choice if choice == Choice::MarkDone.as_str() => &mut sum.marked_done,
            choice if choice == Choice::Retry.as_str() => &mut sum.retried,
            _ => &mut sum.escalated,
        };
        add(part, amount.0);
    }
    for check in checks {
        for (amount, currency) in happened(check).into_iter().skip(1) {
            add(&mut sums.entry(currency.unwrap_or_default()).or_default().moved_again, amount);
        }
    }
    sums.into_iter().map(|(currency, sum)| Money { currency, ..sum }).collect()
}

fn add(sum: &mut Exact, amount: Decimal) {
    sum.0 = sum.0.saturating_add(amount).normalize();
}
