//! The order of the list, made of two that are kept up to date: by age and by name. No key waits for a comparison sort
//! of all rows: what a check tells is sorted into few heaps, and what is turned round is only dealt out from the end.

use super::names::{Names, merge};
use super::row::Gist;
use super::sort::{Column, Sort, verdict_rank};
use super::words::Words;
use chrono::TimeDelta;

/// The rows by age, the oldest first and no known age before all; those of one age by name.
#[derive(Debug, Clone, Default)]
pub struct Ages {
    ordered: Vec<Valued>,
}

impl Ages {
    /// Takes in rows that came, and puts those in their places that have another age now: the flagged ones.
    ///
    /// The names have to know them already.
    pub fn take_in(&mut self, out_of_place: &[bool], gists: &[Gist], names: &Names) {
        let place = |(age, id): &Valued| (*age, names.rank(*id));
        let flagged = (0..).zip(gists.iter().zip(out_of_place)).filter(|(_, (_, flag))| **flag);
        let mut comes: Vec<Valued> = flagged.map(|(id, (gist, _))| (by_age(gist.age), id)).collect();
        if comes.is_empty() {
            return;
        }
        comes.sort_unstable_by_key(place);
        self.ordered.retain(|(_, id)| !out_of_place.get(*id as usize).copied().unwrap_or(false));
        self.ordered = merge(&self.ordered, &comes, |a, b| a.0 > b.0 || (a.0 == b.0 && place(a) > place(b)));
    }

    /// Takes out the rows that have no new number.
    pub fn keep(&mut self, kept_as: impl Fn(u32) -> Option<u32>) {
        self.ordered = self.ordered.iter().filter_map(|(age, id)| Some((*age, kept_as(*id)?))).collect();
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.ordered.len()
    }
}

/// The rows in an order. What is equal in a column stands with the worst first, then by name.
///
/// Turned round, a column is turned, and what is equal in it still shows the worst first.
pub fn arranged(sort: Sort, gists: &[Gist], ages: &Ages, names: &Names, words: &Words) -> Vec<u32> {
    let valued = match sort.column {
        Column::Worst => worst_first(gists, ages),
        Column::Age => oldest_first(gists, ages),
        Column::Key => names.ordered().collect(),
        Column::Source => by_words(&words.ranks(|set| &set.source), gists, ages),
        Column::Kind => by_words(&words.ranks(|set| &set.kind), gists, ages),
        Column::Finding => by_value(gists, ages, |gist| gist.finding as u64),
        Column::Verdict => by_value(gists, ages, |gist| verdict_rank(gist.verdict).into()),
        Column::Advice => by_value(gists, ages, |gist| gist.advice.map_or(u64::MAX, |advice| advice as u64)),
        Column::Attempts => by_value(gists, ages, |gist| most_first(gist.attempts)),
    };
    if sort.reversed {
        valued.chunk_by(|a, b| a.0 == b.0).rev().flatten().map(|(_, id)| *id).collect()
    } else {
        valued.into_iter().map(|(_, id)| id).collect()
    }
}

/// A row with what it stands by: the lesser stands first.
type Valued = (u64, u32);

fn worst_first(gists: &[Gist], ages: &Ages) -> Vec<Valued> {
    let with_weight = |(age, id): &Valued| (lightness(gists, *id) << AGE_BITS | age, *id);
    let mut worst: Vec<Valued> = ages.ordered.iter().map(with_weight).collect();
    worst.sort_by_key(|(badness, _)| badness >> AGE_BITS);
    worst
}

fn oldest_first(gists: &[Gist], ages: &Ages) -> Vec<Valued> {
    let mut oldest = ages.ordered.clone();
    for of_one_age in oldest.chunk_by_mut(|a, b| a.0 == b.0) {
        of_one_age.sort_by_key(|(_, id)| lightness(gists, *id));
    }
    oldest
}

fn by_words(ranks: &[u32], gists: &[Gist], ages: &Ages) -> Vec<Valued> {
    by_value(gists, ages, |gist| ranks.get(gist.words as usize).copied().unwrap_or(u32::MAX).into())
}

fn by_value(gists: &[Gist], ages: &Ages, value: impl Fn(&Gist) -> u64) -> Vec<Valued> {
    let with_value = |(_, id)| (gists.get(id as usize).map_or(u64::MAX, &value), id);
    let mut valued: Vec<Valued> = worst_first(gists, ages).into_iter().map(with_value).collect();
    valued.sort_by_key(|(value, _)| *value);
    valued
}

/// Smaller hurts more.
fn lightness(gists: &[Gist], id: u32) -> u64 {
    gists.get(id as usize).map_or(u64::from(u8::MAX), |gist| u64::from(u8::MAX - gist.weight))
}

/// Smaller is more; none known is the largest.
fn most_first(attempts: Option<i64>) -> u64 {
    attempts.and_then(|count| u64::try_from(count).ok()).map_or(u64::MAX, |count| u64::MAX - 1 - count)
}

/// How much of a badness tells the age; the weight stands above it.
const AGE_BITS: u32 = 56;

/// Smaller is older; no known age is the smallest.
fn by_age(age: Option<TimeDelta>) -> u64 {
    const AGE_MAX: u64 = (1 << AGE_BITS) - 1;
    age.map_or(0, |age| AGE_MAX - u64::try_from(age.num_milliseconds()).unwrap_or(0).min(AGE_MAX - 1))
}

#[cfg(test)]
mod tests;
