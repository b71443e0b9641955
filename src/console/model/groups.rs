//! Groups: the findings shown, put together by what they have in common, each group a line that folds and unfolds.
//!
//! What a row has in common with others is a number that is worked out once, when the row comes; to group 200,000 rows is
//! to sort numbers into heaps. The group that holds what hurts most stands first; hours stand in their order.

use super::findings::Row;
use crate::domain::shape::shape_of;
use crate::workflow::Found;
use chrono::DateTime;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// What findings are put together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grouping {
    /// Nothing: a plain list.
    #[default]
    None,
    /// The error's text, without numbers and ids.
    Error,
    /// The hour since when it is as it is.
    Hour,
    /// The kind.
    Kind,
    /// The source.
    Source,
    /// The reference: items that the provider cannot tell apart.
    Reference,
}

impl Grouping {
    /// Every one, in the order in which the key walks through them.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Error, Self::Hour, Self::Kind, Self::Source, Self::Reference];

    /// The one after this.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|other| *other == self).unwrap_or(0);
        Self::ALL.get(at + 1).copied().unwrap_or_default()
    }

    /// Its word in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Error => "error",
            Self::Hour => "hour",
            Self::Kind => "kind",
            Self::Source => "source",
            Self::Reference => "reference",
        }
    }
}

/// What a row has in common with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Common {
    /// The minute since when it is as it is, counted from 1970; `None` where no time tells.
    minute: Option<i32>,
    /// A number for its error's shape; 0 where it tells no error.
    shape: u64,
    /// A number for its reference; 0 where it has none.
    reference: u64,
}

impl Common {
    /// What a finding has in common with others.
    pub fn of(found: &Found) -> Self {
        Self { shape: shape_number(found), ..Self::default() }.with_rest(found)
    }

    /// The same, where it was worked out before for an earlier reading: most errors are as they were.
    #[must_use]
    pub fn renewed(self, before: &Found, now: &Found) -> Self {
        let is_same = before.finding.item.last_error == now.finding.item.last_error;
        let shape = if is_same { self.shape } else { shape_number(now) };
        Self { shape, ..Self::default() }.with_rest(now)
    }

    fn with_rest(self, found: &Found) -> Self {
        let minute =
            found.finding.since.and_then(|since| i32::try_from(since.timestamp().div_euclid(60)).ok());
        let reference = found.reference.as_ref().map_or(0, |reference| number_of(reference));
        Self { minute, reference, ..self }
    }
}

fn shape_number(found: &Found) -> u64 {
    found.finding.item.last_error.text().map_or(0, |text| number_of(&shape_of(text)))
}

fn number_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish().max(1)
}

/// In how many parts the time is cut in which the findings began.
pub const PARTS: usize = 16;

/// Those that have something in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The number of what they have in common.
    pub key: u64,
    /// Where they stand among the rows shown.
    pub rows: Range<usize>,
    /// How many of them began in each part of the time.
    pub began: [u32; PARTS],
    /// Whether its rows are on the list.
    pub is_open: bool,
}

/// The key of those that share their reference with no other.
const ALONE: u64 = u64::MAX;

/// All groups, and the time in which their findings began, in minutes since 1970; `None` where no time is known.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    /// The groups, in the order of the screen.
    pub list: Vec<Group>,
    /// From the first to the last minute.
    pub minutes: Option<(i32, i32)>,
}

impl Groups {
    /// Puts rows together: they stand group by group afterwards, in each as they stood before.
    pub fn arrange(
        grouping: Grouping,
        shown: &mut Vec<u32>,
        common: &[Common],
        words_rank: impl Fn(u32) -> u32,
    ) -> Self {
        let common_of = |id: u32| common.get(id as usize).copied().unwrap_or_default();
        let key_of = |id: u32| match grouping {
            Grouping::None => 0,
            Grouping::Error => common_of(id).shape,
            // Before all hours those of no known time.
            Grouping::Hour => common_of(id)
                .minute
                .map_or(0, |minute| u64::from(minute.div_euclid(60).cast_unsigned() ^ (1 << 31)) + 1),
            Grouping::Kind | Grouping::Source => words_rank(id).into(),
            Grouping::Reference => common_of(id).reference,
        };
        let mut keys: Vec<u64> = shown.iter().map(|id| key_of(*id)).collect();
        let mut counts: HashMap<u64, u32, BuildHasherDefault<Numbered>> = HashMap::default();
        for key in &keys {
            *counts.entry(*key).or_insert(0) += 1;
        }
        if grouping == Grouping::Reference {
            for key in &mut keys {
                if *key != 0 && counts.get(key).copied().unwrap_or(0) < 2 {
                    *key = ALONE;
                }
            }
        }
        let mut places: HashMap<u64, usize, BuildHasherDefault<Numbered>> = HashMap::default();
        let mut found: Vec<(u64, usize)> = Vec::new();
        for key in &keys {
            let place = *places.entry(*key).or_insert(found.len());
            match found.get_mut(place) {
                Some((_, count)) => *count += 1,
                None => found.push((*key, 1)),
            }
        }
        match grouping {
            Grouping::Hour => found.sort_unstable(),
            // Those that share nothing come after those that do.
            Grouping::Reference => found.sort_by_key(|(key, _)| *key == ALONE || *key == 0),
            Grouping::None | Grouping::Error | Grouping::Kind | Grouping::Source => {}
        }
        let mut list = Vec::with_capacity(found.len());
        let mut begin = 0;
        for (place, (key, count)) in found.into_iter().enumerate() {
            places.insert(key, place);
            list.push(Group { key, rows: begin..begin + count, began: [0; PARTS], is_open: false });
            begin += count;
        }
        let times = shown.iter().filter_map(|id| common_of(*id).minute);
        let minutes = times.fold(None, |bounds: Option<(i32, i32)>, minute| {
            Some(bounds.map_or((minute, minute), |(from, to)| (from.min(minute), to.max(minute))))
        });
        let mut next: Vec<usize> = list.iter().map(|group| group.rows.start).collect();
        let mut arranged = vec![0; shown.len()];
        for (id, key) in shown.iter().zip(&keys) {
            let Some(place) = places.get(key) else { continue };
            if let (Some(next), Some(group)) = (next.get_mut(*place), list.get_mut(*place)) {
                if let Some(slot) = arranged.get_mut(*next) {
                    *slot = *id;
                }
                *next += 1;
                let part = common_of(*id).minute.zip(minutes).map(|(minute, span)| part_of(minute, span));
                if let Some(count) = part.and_then(|part| group.began.get_mut(part)) {
                    *count += 1;
                }
            }
        }
        *shown = arranged;
        Self { list, minutes }
    }

    /// The group that holds a row shown at a place.
    pub fn holding(&self, place: usize) -> Option<usize> {
        let at = self.list.partition_point(|group| group.rows.end <= place);
        (at < self.list.len()).then_some(at)
    }
}

/// In which part of a time a minute lies.
fn part_of(minute: i32, (from, to): (i32, i32)) -> usize {
    let (passed, whole) = (i64::from(minute) - i64::from(from), i64::from(to) - i64::from(from) + 1);
    usize::try_from(passed * i64::try_from(PARTS).unwrap_or(1) / whole.max(1)).unwrap_or(0).min(PARTS - 1)
}

/// What the members of a group have in common, in words, from one of them. Raw: clean it before showing.
pub fn label(grouping: Grouping, group: &Group, first: &Row) -> String {
    let item = &first.found.finding.item;
    match grouping {
        Grouping::None => String::new(),
        Grouping::Error => match item.last_error.text() {
            None => "no error text".to_owned(),
            Some("") => "'' (an empty text)".to_owned(),
            Some(text) => shape_of(text),
        },
        Grouping::Hour => first
            .found
            .finding
            .since
            .map_or_else(|| "no start time".to_owned(), |since| since.format("%Y-%m-%d %H:00Z").to_string()),
        Grouping::Kind => item.kind.to_string(),
        Grouping::Source => item.source.to_string(),
        Grouping::Reference if group.key == ALONE => "each with a reference of its own".to_owned(),
        Grouping::Reference => match &first.found.reference {
            Ok(reference) => reference.to_string(),
            Err(_) => "no reference".to_owned(),
        },
    }
}

/// A minute since 1970 as a time of the screen.
pub fn told_minute(minute: i32) -> String {
    DateTime::from_timestamp(i64::from(minute) * 60, 0)
        .map_or_else(String::new, |at| at.format("%m-%d %H:%MZ").to_string())
}

/// Numbers are spread well enough as they are.
#[derive(Debug, Default)]
struct Numbered(u64);

impl Hasher for Numbered {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        // Small numbers (hours, words) differ in their low bits alone; the table wants high ones too.
        self.0 = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::sample;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is grouped by whatever: no row is lost or doubled, groups lie side by side, each row is among its own,
        /// and the order within a group is the order before.
        #[test]
        fn grouping_only_moves_rows(numbers in proptest::collection::vec(0_usize..40, 0..60), which in 0_usize..6) {
            let grouping = Grouping::ALL[which];
            let found: Vec<Found> = numbers.iter().map(|number| sample::found(*number)).collect();
            let common: Vec<Common> = found.iter().map(Common::of).collect();
            let before: Vec<u32> = (0..).take(found.len()).collect();
            let mut shown = before.clone();
            let kind_of = |id: u32| u32::from(&*found[id as usize].finding.item.kind == "email");
            let groups = Groups::arrange(grouping, &mut shown, &common, kind_of);
            let mut sorted = shown.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, before);
            let mut end = 0;
            for (at, group) in groups.list.iter().enumerate() {
                prop_assert_eq!(group.rows.start, end);
                prop_assert!(!group.rows.is_empty());
                end = group.rows.end;
                let members = &shown[group.rows.clone()];
                prop_assert!(members.is_sorted());
                prop_assert!(group.rows.clone().all(|place| groups.holding(place) == Some(at)));
                let known = members.iter().filter(|id| common[**id as usize].minute.is_some()).count();
                prop_assert_eq!(group.began.iter().sum::<u32>() as usize, known);
                if grouping == Grouping::Reference && group.key != ALONE && group.key != 0 {
                    prop_assert!(members.len() > 1);
                }
            }
            prop_assert_eq!(end, shown.len());
        }
    }
}
