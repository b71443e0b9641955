//! The order of the findings by name: by key, then by source, each row's place in it a number.
//!
//! It is the order of one column and settles what is equal in every other, so it is kept up to date as pages come:
//! a key that changes the order then compares numbers, never texts.

use super::row::Row;
use std::cmp::Ordering;

/// How much of a key stands beside its number. Most keys differ in their first bytes; the others are looked up.
const HEAD_BYTES: usize = 28;

type Head = [u8; HEAD_BYTES];

/// The rows in the order of their names.
#[derive(Debug, Clone, Default)]
pub struct Names {
    ordered: Vec<(Head, u32)>,
    ranks: Vec<u32>,
}

impl Names {
    /// Where a row stands among all.
    pub fn rank(&self, id: u32) -> u32 {
        self.ranks.get(id as usize).copied().unwrap_or(u32::MAX)
    }

    /// The rows in order, each with its rank.
    pub fn ordered(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        (0..).zip(self.ordered.iter().map(|(_, id)| *id))
    }

    /// Takes in the rows that came to the end of the list.
    pub fn grow(&mut self, rows: &[Row]) {
        let compare = |a: &(Head, u32), b: &(Head, u32)| {
            a.0.cmp(&b.0).then_with(|| match (rows.get(a.1 as usize), rows.get(b.1 as usize)) {
                (Some(a), Some(b)) => compare(a, b),
                (None, _) | (_, None) => Ordering::Equal,
            })
        };
        let fresh = (0_u32..).zip(rows).skip(self.ordered.len());
        let mut fresh: Vec<_> =
            fresh.map(|(id, row)| (head(row.found.finding.item.key.as_str()), id)).collect();
        if fresh.is_empty() {
            return;
        }
        fresh.sort_unstable_by(compare);
        self.ordered = merge(&self.ordered, &fresh, |a, b| compare(a, b) == Ordering::Greater);
        self.renumber();
    }

    /// Takes out the rows that have no new number.
    pub fn keep(&mut self, kept_as: impl Fn(u32) -> Option<u32>) {
        self.ordered = self.ordered.iter().filter_map(|(head, id)| Some((*head, kept_as(*id)?))).collect();
        self.renumber();
    }

    fn renumber(&mut self) {
        self.ranks.resize(self.ordered.len(), 0);
        for (rank, (_, id)) in (0..).zip(&self.ordered) {
            if let Some(place) = self.ranks.get_mut(*id as usize) {
                *place = rank;
            }
        }
    }
}

/// Makes one sorted list of two.
pub fn merge<T: Copy>(stays: &[T], comes: &[T], is_after: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let mut merged = Vec::with_capacity(stays.len() + comes.len());
    let mut rest = stays;
    for one in comes {
        let before = rest.iter().take_while(|other| !is_after(other, one)).count();
        let (first, last) = rest.split_at(before);
        merged.extend_from_slice(first);
        merged.push(*one);
        rest = last;
    }
    merged.extend_from_slice(rest);
    merged
}

/// Compares by key, then by source.
fn compare(a: &Row, b: &Row) -> Ordering {
    let (a, b) = (&a.found.finding.item, &b.found.finding.item);
    compare_keys(a.key.as_str(), b.key.as_str()).then_with(|| a.source.cmp(&b.source))
}

/// Compares keys as a person counts: "item-9" comes before "item-10".
pub fn compare_keys(a: &str, b: &str) -> Ordering {
    counted(a).cmp(counted(b))
}

/// A text as bytes that compare as a person counts: before each number its length.
fn counted(text: &str) -> impl Iterator<Item = u8> + '_ {
    const LENGTH_MAX: u8 = 200;
    let bytes = text.as_bytes();
    let mut is_inside = false;
    bytes.iter().enumerate().flat_map(move |(at, byte)| {
        let begins = byte.is_ascii_digit() && !is_inside;
        is_inside = byte.is_ascii_digit();
        let length = begins.then(|| {
            let digits = bytes.iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count();
            b'0' + u8::try_from(digits).unwrap_or(LENGTH_MAX).min(LENGTH_MAX)
        });
        length.into_iter().chain([*byte])
    })
}

fn head(key: &str) -> Head {
    let mut head = [0; HEAD_BYTES];
    head.iter_mut().zip(counted(key)).for_each(|(place, byte)| *place = byte);
    head
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("item-9", "item-10")]
    #[case("email:12", "invoice:3")]
    #[case("inv:2026-05", "inv:2026-06")]
    #[case("a", "a1")]
    #[case("", "0")]
    #[case("é9", "é10")]
    fn keys_are_ordered_as_a_person_counts(#[case] first: &str, #[case] second: &str) {
        assert_eq!(compare_keys(first, second), Ordering::Less);
        assert_eq!(compare_keys(second, first), Ordering::Greater);
    }

    proptest! {
        /// Only one and the same key is equal, and heads never say otherwise than whole keys.
        #[test]
        fn heads_agree_with_whole_keys(a in "[a0-9:é]{0,40}", b in "[a0-9:é]{0,40}") {
            prop_assert_eq!(compare_keys(&a, &b) == Ordering::Equal, a == b);
            let by_head = head(&a).cmp(&head(&b));
            prop_assert!(by_head == Ordering::Equal || by_head == compare_keys(&a, &b));
        }

        #[test]
        fn two_sorted_lists_become_one(mut a in proptest::collection::vec(0_u8..20, 0..30), mut b in proptest::collection::vec(0_u8..20, 0..30)) {
            a.sort_unstable();
            b.sort_unstable();
            let mut plain = [a.clone(), b.clone()].concat();
            plain.sort_unstable();
            prop_assert_eq!(merge(&a, &b, |a, b| a > b), plain);
        }
    }
}
