//! Duplicates: what happened more than once under one reference, side by side, and how the second came about.
//!
//! Nothing here undoes anything. The decision is to escalate; the group has everything that a refund needs.

#[cfg(test)]
mod tests;

use crate::domain::error_class::ErrorTable;
use crate::domain::evidence::{Effect, EffectState};
use crate::domain::moment::{span, stamp};
use crate::domain::money::Money;
use crate::domain::questions::ItemFacts;
use crate::domain::timeline::{Ending, Hint, Run};
use crate::domain::trouble::Trouble;
use chrono::{DateTime, TimeDelta, Utc};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// How a second effect came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Several items share one reference.
    SeveralItems(usize),
    /// Each run sent another idempotency key.
    KeyChanged,
    /// The provider had forgotten the key.
    KeyForgotten {
        /// How far the effects lie apart.
        gap: TimeDelta,
        /// How long a key is remembered.
        key_ttl: TimeDelta,
    },
    /// The item was given to somebody else while it ran.
    Redelivered(String),
    /// It ran again after an error that does not prove whether the effect happened.
    RanAgainAfter(Trouble),
    /// It ran again, and the earlier run told of no error.
    RanAgain,
    /// One run called again by itself: the gap lies just over its time-out.
    CalledAgain {
        /// How far the effects lie apart.
        gap: TimeDelta,
        /// The time-out.
        timeout: TimeDelta,
    },
    /// Nothing tells: why.
    NotKnown(String),
}

impl Cause {
    /// The word as JSON spells it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::SeveralItems(_) => "several_items",
            Self::KeyChanged => "key_changed",
            Self::KeyForgotten { .. } => "key_forgotten",
            Self::Redelivered(_) => "redelivered",
            Self::RanAgainAfter(Trouble::Timeout) => "ran_again_after_timeout",
            Self::RanAgainAfter(Trouble::Network) => "ran_again_after_network_error",
            Self::RanAgainAfter(Trouble::Restart) => "ran_again_after_restart",
            Self::RanAgainAfter(Trouble::Refusal | Trouble::NotKnown) => "ran_again_after_error",
            Self::RanAgain => "ran_again",
            Self::CalledAgain { .. } => "called_again",
            Self::NotKnown(_) => "not_known",
        }
    }

    /// The cause as a sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::SeveralItems(count) => format!("{count} items were made for one natural key."),
            Self::KeyChanged => {
                "Each run sent another idempotency key, so the provider saw new requests.".to_owned()
            }
            Self::KeyForgotten { gap, key_ttl } => format!(
                "The effects lie {} apart, and the provider remembers a key for {}.",
                span(*gap),
                span(*key_ttl)
            ),
            Self::Redelivered(how) => {
                format!("It was given to a second worker while the first had it. {how}")
            }
            Self::RanAgainAfter(trouble) => {
                format!(
                    "It ran again after a {} that did not prove that nothing had happened.",
                    trouble.as_str()
                )
            }
            Self::RanAgain => "It ran again, and the run before told of no error.".to_owned(),
            Self::CalledAgain { gap, timeout } => format!(
                "One run called again by itself: the effects lie {} apart, the time-out is {}.",
                span(*gap),
                span(*timeout)
            ),
            Self::NotKnown(why) => format!("How the second came about is not known, because {why}."),
        }
    }
}

/// One reference with more than one effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// What the provider knows them by.
    pub reference: String,
    /// Which operation of which provider.
    pub operation: String,
    /// The items that share the reference.
    pub items: Vec<ItemFacts>,
    /// The runs that are told of.
    pub runs: Vec<Run>,
    /// Every effect under the reference, the earliest first.
    pub effects: Vec<Effect>,
    /// When the second effect came about; `None` where the provider tells no times.
    pub second_at: Option<DateTime<Utc>>,
    /// How the second came about; several causes may fit.
    pub causes: Vec<Cause>,
    /// What was charged beyond the first effect, by currency.
    pub beyond_first: Vec<Money>,
    /// How many effects beyond the first tell no amount.
    pub unpriced: usize,
}

/// What is decided on a group, and what is not.
pub const DECISION: &str = "escalate: a refund is made elsewhere, never by unstuck";

/// What a group is made from.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// What the provider knows them by.
    pub reference: &'a str,
    /// Which operation of which provider.
    pub operation: &'a str,
    /// The items that share the reference.
    pub items: &'a [ItemFacts],
    /// The runs that are told of.
    pub runs: &'a [Run],
    /// Every effect under the reference.
    pub effects: &'a [Effect],
    /// What the timeline shows to an experienced eye.
    pub hints: &'a [Hint],
    /// What error texts prove.
    pub errors: &'a ErrorTable,
}

/// Makes a group; `None` where at most one effect happened.
pub fn group(parts: &Parts<'_>) -> Option<Duplicate> {
    let mut effects = parts.effects.to_vec();
    // Those without a time last; the provider's own order otherwise.
    effects.sort_by_key(|effect| (effect.at.is_none(), effect.at));
    let happened: Vec<&Effect> =
        effects.iter().filter(|effect| effect.state == EffectState::Happened).collect();
    let second = happened.get(1)?;
    let second_at = if happened.iter().all(|effect| effect.at.is_some()) { second.at } else { None };
    let (beyond_first, unpriced) = sums(&happened[1..]);
    Some(Duplicate {
        reference: parts.reference.to_owned(),
        operation: parts.operation.to_owned(),
        items: parts.items.to_vec(),
        runs: parts.runs.to_vec(),
        second_at,
        causes: causes(parts),
        beyond_first,
        unpriced,
        effects,
    })
}

/// Adds amounts up by currency, exactly. An amount without a currency is a sum of its own.
pub fn sums(effects: &[&Effect]) -> (Vec<Money>, usize) {
    let mut by_currency: BTreeMap<Option<String>, Decimal> = BTreeMap::new();
    let mut unpriced = 0;
    for effect in effects {
        let added = effect.money.as_ref().and_then(|money| {
            let sum = by_currency.entry(money.currency.clone()).or_default();
            sum.checked_add(money.amount).map(|total| *sum = total)
        });
        unpriced += usize::from(added.is_none());
    }
    let sums = by_currency.into_iter().filter(|(_, amount)| !amount.is_zero());
    (sums.map(|(currency, amount)| Money { amount, currency }).collect(), unpriced)
}

fn causes(parts: &Parts<'_>) -> Vec<Cause> {
    let mut causes = Vec::new();
    if parts.items.len() > 1 {
        causes.push(Cause::SeveralItems(parts.items.len()));
    }
    for hint in parts.hints {
        match hint {
            Hint::KeyChanges { .. } => causes.push(Cause::KeyChanged),
            Hint::KeyForgotten { gap, key_ttl, .. } => {
                causes.push(Cause::KeyForgotten { gap: *gap, key_ttl: *key_ttl });
            }
            Hint::Overlap { .. } | Hint::EqualsVisibility { .. } | Hint::OddUnlock { .. } => {
                causes.push(Cause::Redelivered(hint.sentence()));
            }
            Hint::EffectsApart { gap, timeout: Some((_, timeout)), .. } if parts.runs.len() < 2 => {
                causes.push(Cause::CalledAgain { gap: *gap, timeout: *timeout });
            }
            Hint::EffectsApart { .. }
            | Hint::FailedAfterDone { .. }
            | Hint::LatestRun { .. }
            | Hint::EndsDisagree { .. } => {}
        }
    }
    causes.extend(ran_again(parts));
    causes.dedup();
    if causes.is_empty() {
        causes.push(Cause::NotKnown(match parts.runs.len() {
            0 => "nothing tells of its runs".to_owned(),
            _ => "only one run is told of, and it may have called twice or another run left no trace"
                .to_owned(),
        }));
    }
    causes
}

/// The run before the last says why there was another.
fn ran_again(parts: &Parts<'_>) -> Option<Cause> {
    let earlier = parts.runs.len().checked_sub(2).map(|place| &parts.runs[..=place])?;
    let ambiguous =
        earlier.iter().rev().find(|run| run.error.is_some() || run.ending == Some(Ending::Failed));
    Some(match ambiguous {
        Some(run) => Cause::RanAgainAfter(Trouble::of(parts.errors, run.error.as_deref())),
        None => Cause::RanAgain,
    })
}

impl Duplicate {
    /// How many effects really happened.
    pub fn happened_count(&self) -> usize {
        self.happened().count()
    }

    /// The effects that really happened, the earliest first.
    pub fn happened(&self) -> impl Iterator<Item = &Effect> {
        self.effects.iter().filter(|effect| effect.state == EffectState::Happened)
    }

    /// What was charged twice, in words.
    pub fn charged_twice(&self) -> String {
        let mut parts: Vec<String> = self.beyond_first.iter().map(ToString::to_string).collect();
        match self.unpriced {
            0 => {}
            1 => parts.push("1 effect that tells no amount".to_owned()),
            many => parts.push(format!("{many} effects that tell no amount")),
        }
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(" and ") }
    }

    /// The group in one line.
    pub fn headline(&self) -> String {
        format!(
            "{} effects under {} ({}); beyond the first: {}",
            self.happened_count(),
            self.reference,
            self.operation,
            self.charged_twice()
        )
    }

    /// Its items, a line each.
    pub fn items_told(&self) -> Vec<String> {
        let told = |item: &ItemFacts| {
            let attempts = item.attempts.map_or_else(|| "not counted".to_owned(), |count| count.to_string());
            format!("{} of {} ({}), attempts {attempts}", item.name.key, item.name.source, item.status)
        };
        self.items.iter().map(told).collect()
    }

    /// The runs that are told of, a line each.
    pub fn runs_told(&self) -> Vec<String> {
        let told = |run: &Run| {
            let end = run.end.or(run.start).map_or_else(|| "no time".to_owned(), stamp);
            let error = run.error.as_ref().map(|error| format!(", error: {error}")).unwrap_or_default();
            format!("{} at {end}{error}", run.name())
        };
        self.runs.iter().map(told).collect()
    }

    /// Every effect, a line each, with whether it really happened.
    pub fn effects_told(&self) -> Vec<(EffectState, String)> {
        let told = |effect: &Effect| {
            let money = effect.money.as_ref().map_or_else(|| "no amount".to_owned(), ToString::to_string);
            let at = effect.at.map_or_else(|| "no time".to_owned(), stamp);
            let link = effect.link.as_ref().map(|link| format!(", {link}")).unwrap_or_default();
            (effect.state, format!("{} {}, {money}, {at}{link}", effect.id, effect.status))
        };
        self.effects.iter().map(told).collect()
    }

    /// When the second effect came about, and how long after the first.
    pub fn second_told(&self) -> String {
        let Some(second) = self.second_at else { return "not known: the provider tells no times".to_owned() };
        let first = self.happened().next().and_then(|effect| effect.at);
        let after = first.map(|first| format!(", {} after the first", span(second - first)));
        format!("{}{}", stamp(second), after.unwrap_or_default())
    }

    /// Why a person should look, with everything that a refund needs: the reason of an escalation.
    pub fn escalation_reason(&self) -> String {
        let effects: Vec<String> = self.happened().map(effect_words).collect();
        let causes: Vec<String> = self.causes.iter().map(Cause::sentence).collect();
        format!(
            "{} effects under `{}` ({}): {}. Beyond the first: {}. {}",
            effects.len(),
            self.reference,
            self.operation,
            effects.join("; "),
            self.charged_twice(),
            causes.join(" ")
        )
    }
}

fn effect_words(effect: &Effect) -> String {
    let mut words = vec![format!("{} {}", effect.id, effect.status)];
    words.extend(effect.money.as_ref().map(ToString::to_string));
    words.extend(effect.at.map(|at| format!("at {}", stamp(at))));
    words.extend(effect.link.clone());
    words.join(" ")
}
