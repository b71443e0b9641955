//! Which effects of a list belong to the window that was asked for. Pure.
//!
//! Servers ignore filters that they do not know, so a list may hold effects of any time. Whether one counts is decided here,
//! by its own time, and for a whole reference at once: a charge of today whose twin is of last week is a double charge.
//! An effect is left out only where everything under its references surely lies before the window, and no item of the window
//! has one of them.

use super::{ListedEffect, Listing, folded};
use crate::domain::evidence::Effect;
use chrono::{DateTime, Utc};
use std::collections::HashSet;

/// The references that the window is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InWindow {
    from: DateTime<Utc>,
    /// Folded: what carries almost a reference of the window is not left out either, so that it is told.
    references: HashSet<String>,
}

impl InWindow {
    /// The references under which something lies in the window, or may do.
    pub fn of(listing: &Listing, from: DateTime<Utc>) -> Self {
        let within = listing.effects().iter().filter(|listed| may_lie_within(listed, from));
        let references = within.flat_map(|listed| &listed.references).map(|theirs| folded(theirs)).collect();
        Self { from, references }
    }

    /// Adds the reference of an item that was last tried in the window: all of its effects count, whenever they came about.
    pub fn add(&mut self, reference: &str) {
        self.references.insert(folded(reference));
    }

    /// Whether a reference is one of the window's.
    pub fn holds(&self, reference: &str) -> bool {
        self.references.contains(&folded(reference))
    }

    /// Whether an effect counts.
    pub fn counts(&self, listed: &ListedEffect) -> bool {
        may_lie_within(listed, self.from) || listed.references.iter().any(|theirs| self.holds(theirs))
    }
}

/// Whether an effect is not surely older than the window.
fn may_lie_within(listed: &ListedEffect, from: DateTime<Utc>) -> bool {
    is_not_before(listed.at(), from)
}

/// Whether one of an item's effects is not surely older than the window.
pub fn touches(effects: &[Effect], from: DateTime<Utc>) -> bool {
    effects.iter().any(|effect| is_not_before(effect.at, from))
}

/// Whether a time is not surely before another: none that can be read may be any.
fn is_not_before(at: Option<DateTime<Utc>>, from: DateTime<Utc>) -> bool {
    at.is_none_or(|at| at >= from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::evidence::{EffectState, Fault, FaultKind};
    use pretty_assertions::assert_eq;
    use rstest::rstest;

    const FROM: i64 = 1_000;

    fn moment(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    fn effect(id: &str, at: Option<i64>) -> Effect {
        Effect {
            id: id.to_owned(),
            status: "succeeded".to_owned(),
            state: EffectState::Happened,
            money: None,
            at: at.map(moment),
            link: None,
        }
    }

    fn listed(id: &str, references: &str, at: Option<i64>) -> ListedEffect {
        let references = references.split_whitespace().map(str::to_owned).collect();
        ListedEffect { id: id.to_owned(), references, page: 0, read: Ok(effect(id, at)) }
    }

    #[rstest]
    #[case::after_its_beginning(&[("1", "a", Some(1_001))], "", "1")]
    #[case::at_its_beginning(&[("1", "a", Some(1_000))], "", "1")]
    #[case::before(&[("1", "a", Some(999))], "", "")]
    #[case::without_a_time(&[("1", "a", None)], "", "1")]
    #[case::twice_before(&[("1", "a", Some(1)), ("2", "a", Some(2))], "", "")]
    #[case::its_twin_before(&[("1", "a", Some(1)), ("2", "a", Some(2_000))], "", "1 2")]
    #[case::almost_its_twin(&[("1", "A", Some(1)), ("2", "a", Some(2_000))], "", "1 2")]
    #[case::a_twin_without_a_time(&[("1", "a", Some(1)), ("2", "a", None)], "", "1 2")]
    #[case::by_one_of_its_references(&[("1", "a b", Some(1)), ("2", "b", Some(2_000))], "", "1 2")]
    #[case::of_an_item_of_the_window(&[("1", "a", Some(1)), ("2", "b", Some(1))], "a", "1")]
    #[case::of_nobody_before(&[("1", "", Some(1))], "", "")]
    #[case::of_nobody_without_a_time(&[("1", "", None)], "", "1")]
    fn only_what_surely_lies_before_as_a_whole_is_left_out(
        #[case] effects: &[(&str, &str, Option<i64>)],
        #[case] item: &str,
        #[case] counted: &str,
    ) {
        let mut listing = Listing::new(None);
        for (id, references, at) in effects {
            listing.keep(listed(id, references, *at)).unwrap();
        }
        let mut window = InWindow::of(&listing, moment(FROM));
        if !item.is_empty() {
            window.add(item);
        }
        let of_window = listing.effects().iter().filter(|listed| window.counts(listed));
        let ids: Vec<&str> = of_window.map(|listed| listed.id.as_str()).collect();
        assert_eq!(ids.join(" "), counted);
    }

    #[test]
    fn an_effect_that_cannot_be_read_is_not_left_out() {
        let mut listing = Listing::new(None);
        let read = Err(Fault::new(FaultKind::Shape, "no status"));
        listing.keep(ListedEffect { read, ..listed("1", "a", None) }).unwrap();
        assert!(InWindow::of(&listing, moment(FROM)).holds("a"));
    }

    #[rstest]
    #[case(&[Some(1), Some(999)], false)]
    #[case(&[Some(1), Some(1_000)], true)]
    #[case(&[Some(1), None], true)]
    #[case(&[], false)]
    fn an_item_touches_the_window_by_any_of_its_effects(
        #[case] times: &[Option<i64>],
        #[case] touched: bool,
    ) {
        let effects: Vec<Effect> = times.iter().map(|at| effect("1", *at)).collect();
        assert_eq!(touches(&effects, moment(FROM)), touched);
    }
}
