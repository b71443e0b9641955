//! What a matching tells of itself, in sentences: how far it is, what could not be looked at, and what it adds up to.

use super::{Reconciled, Scope, Unaccounted};
use crate::domain::evidence::{Fault, FaultKind};
use crate::domain::moment::span;
use crate::domain::policy::CheckName;
use crate::domain::text::{clean, count_of, were};
use std::sync::Arc;

/// How far a matching is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The providers' lists are read.
    Lists {
        /// How many came to their end.
        read: usize,
        /// How many there are.
        total: usize,
    },
    /// The items of the sources are read.
    Items {
        /// The source.
        source: Arc<str>,
        /// How many items were read, of all sources.
        read: usize,
    },
    /// Items are judged by the lists, and those that seem lost are asked about.
    Judged {
        /// How many are judged.
        done: usize,
        /// How many there are.
        total: usize,
    },
    /// Findings whose operation has no list are asked about one by one: so many are answered.
    Alone(usize),
    /// The stories of so many groups are read.
    Stories(usize),
}

impl Step {
    /// It as a person reads it.
    pub fn sentence(&self) -> String {
        match self {
            Self::Lists { read, total } => format!("{read} of {total} lists of the providers read"),
            Self::Items { source, read } => {
                format!("{} read, now those of {}", count_of(*read, "item"), clean(source))
            }
            Self::Judged { done, total } => format!("{done} of {total} items judged by the lists"),
            Self::Alone(answered) => format!("{} asked about one by one", count_of(*answered, "finding")),
            Self::Stories(groups) => format!("reading what is known of {}", count_of(*groups, "reference")),
        }
    }
}

/// What a list that counts as not read leaves open.
pub fn not_listed(name: &CheckName, fault: &Fault, items: usize) -> String {
    if items == 0 {
        return format!("{name} was not listed, so what no item accounts for was not seen: {}", fault.detail);
    }
    format!("{name} was not listed, so {} not matched: {}", were(items, "item"), fault.detail)
}

impl Unaccounted {
    /// Why no item accounts for it, in a sentence.
    pub fn why(&self) -> String {
        match &self.effect.read {
            Ok(_) if self.effect.references.is_empty() => "It carries no reference.".to_owned(),
            Ok(_) => "No item of any source has its reference.".to_owned(),
            Err(fault) => format!("No item of any source has its reference, and it cannot be read: {fault}."),
        }
    }
}

impl Reconciled {
    /// The items of which nothing is sure, one of them named with what kept it so; `None` where there are none.
    pub fn unconfirmed_told(&self) -> Option<(String, FaultKind)> {
        let (found, fault) = self.unconfirmed.first()?;
        let (count, key) = (self.unconfirmed.len(), clean(found.finding.item.key.as_str()));
        let told = format!("{} not matched, `{key}` among them: {}", were(count, "item"), fault.detail);
        Some((told, fault.kind))
    }

    /// The providers that see less far back than the window goes.
    pub fn short_sighted_told(&self) -> impl Iterator<Item = String> {
        self.short_sighted.iter().map(|(name, lookback)| {
            format!(
                "{name} is listed for the last {} alone (its `lookback`): of what is older nothing is said.",
                span(*lookback)
            )
        })
    }

    /// That effects may belong to items without a reference; `None` where every item has one.
    pub fn unreferenced_told(&self) -> Option<String> {
        match self.unreferenced {
            0 => None,
            1 => Some("1 item has no reference: effects of its are told as unaccounted.".to_owned()),
            many => {
                Some(format!("{many} items have no reference: effects of theirs are told as unaccounted."))
            }
        }
    }

    /// How many items and effects do not match.
    pub fn odd_count(&self) -> usize {
        self.items.len() + self.unaccounted.len()
    }

    /// Why nothing could be matched at all; `None` where something was.
    pub fn nothing_read(&self) -> Option<String> {
        let of_source = || self.unread.first().map(|fault| fault.what.clone());
        let of_list = || self.not_listed.first().map(|(name, fault, _)| format!("{name}: {fault}"));
        let why = match (self.sources_read, self.lists_read) {
            (0, _) => of_source().or_else(of_list),
            (_, 0) => of_list().or_else(of_source),
            (_, _) => return None,
        };
        Some(why.unwrap_or_else(|| "no provider is configured that has a list".to_owned()))
    }

    /// What it adds up to.
    pub fn summary(&self, scope: &Scope) -> String {
        if let Some(why) = self.nothing_read().filter(|_| self.odd_count() == 0) {
            return format!("Nothing could be read, so nothing was matched: {}.", clean(&why));
        }
        let what = self.looked_at(scope);
        match self.odd_count() {
            0 => format!("{what}: nothing is odd in what could be read."),
            1 => format!("{what}: 1 does not match."),
            many => format!("{what}: {many} do not match."),
        }
    }

    /// How much was looked at, and what was not because it lies outside the window.
    pub(in crate::workflow) fn looked_at(&self, scope: &Scope) -> String {
        let left_out = match self.left_out {
            0 => None,
            1 => Some("1 effect lies outside the window, left out".to_owned()),
            many => Some(format!("{many} effects lie outside the window, left out")),
        };
        let undated = match self.undated {
            0 => None,
            1 => Some("1 effect tells no time that can be read, kept".to_owned()),
            many => Some(format!("{many} effects tell no time that can be read, kept")),
        };
        let beside: Vec<String> = left_out.into_iter().chain(undated).collect();
        let beside = if beside.is_empty() { String::new() } else { format!(" ({})", beside.join("; ")) };
        format!(
            "{} and {} of the last {} were matched{beside}",
            count_of(self.items_matched, "item"),
            count_of(self.effects_matched, "effect"),
            span(scope.since)
        )
    }
}
