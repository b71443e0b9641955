//! How to ask about many items of one operation: one by one, or by its list over a window. Pure.
//!
//! How many effects a window holds is not known before it was read. So a listing gets as many pages as make it worth it,
//! and is given up beyond them: at worst it cost a part of what asking one by one costs anyway.

use chrono::{DateTime, TimeDelta, Utc};
use std::time::Duration;

/// Fewer items than these are not worth a listing.
pub const LISTED_ITEMS_MIN: usize = 20;
/// A listing must take so many times fewer requests than asking one by one.
pub const LISTING_SAVES_PARTS: usize = 5;
/// One item in so many may be left out of a window, and be asked about one by one, where that makes the window much shorter.
const LEFT_OUT_PARTS: usize = 10;
/// "Much shorter": so many times.
const SHORTER_TIMES: i32 = 2;

/// Which way was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wish {
    /// The cheaper one.
    #[default]
    Cheapest,
    /// One by one.
    ByItem,
    /// By listing, whatever it takes; what cannot be listed is asked about one by one.
    ByListing,
}

/// What an operation's list is like, as its preset says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListingFacts {
    /// How many items a full page has.
    pub page_items: usize,
    /// The most pages that are read.
    pub pages_max: usize,
    /// The longest that it may take.
    pub listing_max: Duration,
}

/// What asking costs, and how far it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs {
    /// The time between two requests at the allowed pace.
    pub interval: Duration,
    /// What its list is like; `None` where it has none.
    pub listing: Option<ListingFacts>,
    /// How far back a look can see; `None` when the provider forgets nothing.
    pub lookback: Option<TimeDelta>,
    /// What an absence takes beside the question itself.
    pub confirming: Confirming,
}

/// How many requests make sure that an absence is one: of what holds the address, and of the canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Confirming {
    /// For each item that nothing is found of.
    pub of_item: usize,
    /// For a whole list.
    pub of_list: usize,
}

/// A window's beginning; `None` has no bound, and so covers everything.
pub type From = Option<DateTime<Utc>>;

/// How to ask about the items of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The listing, where there is one.
    pub listing: Option<PlannedListing>,
    /// How many items are asked about one by one.
    pub one_by_one: usize,
    /// How many there are in all.
    pub items: usize,
    /// The time between two requests.
    pub interval: Duration,
    /// What an absence takes beside the question itself.
    pub confirming: Confirming,
}

/// A listing that is worth it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedListing {
    /// Where its window begins.
    pub from: From,
    /// For how many items it answers.
    pub covered: usize,
    /// How many pages there are at least, each item having one effect.
    pub pages_expected: usize,
    /// Beyond how many pages it is given up.
    pub pages_max: usize,
    /// Whether what it leaves open stays open: nobody asked for another way.
    pub is_forced: bool,
}

impl Plan {
    /// How many requests there are, at least where a listing is among them.
    pub fn requests(&self) -> usize {
        self.one_by_one + self.listing.map_or(0, |listing| listing.pages_expected)
    }

    /// How many requests there may be beside these, to make sure of absences: none where everything is found.
    pub fn confirming_max(&self) -> usize {
        let of_list = self.listing.map_or(0, |_| self.confirming.of_list);
        self.one_by_one * self.confirming.of_item + of_list
    }

    /// How long so many requests take at the allowed pace.
    pub fn time_of(&self, requests: usize) -> Duration {
        self.interval.saturating_mul(u32::try_from(requests).unwrap_or(u32::MAX))
    }
}

/// From when on a window must be open for an item: from its first attempt on, and from as far back as the provider can
/// see where that is not known. Something may have happened under its reference at any time before.
pub fn needs(first_attempt: Option<DateTime<Utc>>, lookback: Option<TimeDelta>, now: DateTime<Utc>) -> From {
    first_attempt.or_else(|| lookback.and_then(|span| now.checked_sub_signed(span)))
}

/// Whether a window covers what an item needs.
pub fn covers(window: From, needs: From) -> bool {
    // No bound sorts before every moment.
    window <= needs
}

/// Decides how to ask. `needs` is from when on a window must be open, item by item.
pub fn plan(needs: &[From], now: DateTime<Utc>, costs: Costs, wish: Wish) -> Plan {
    let by_item = Plan {
        listing: None,
        one_by_one: needs.len(),
        items: needs.len(),
        interval: costs.interval,
        confirming: costs.confirming,
    };
    let (Some(facts), false) = (costs.listing, needs.is_empty()) else { return by_item };
    let is_forced = match wish {
        Wish::ByItem => return by_item,
        Wish::ByListing => true,
        Wish::Cheapest => false,
    };
    let from = window(needs, now, is_forced);
    let covered = needs.iter().filter(|need| covers(from, **need)).count();
    let pages_expected = covered.div_ceil(facts.page_items.max(1));
    let worth = if is_forced { usize::MAX } else { covered / LISTING_SAVES_PARTS };
    let pages_max = facts.pages_max.min(worth);
    if !is_forced && (covered < LISTED_ITEMS_MIN || pages_expected > pages_max) {
        return by_item;
    }
    let listing = PlannedListing { from, covered, pages_expected, pages_max, is_forced };
    Plan { listing: Some(listing), one_by_one: needs.len() - covered, ..by_item }
}

/// Where the window begins: for all items, or for all but the few that would make it much longer.
fn window(needs: &[From], now: DateTime<Utc>, covers_all: bool) -> From {
    let mut sorted = needs.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let farthest = sorted.last().copied().flatten();
    let kept = sorted.len() - sorted.len() / LEFT_OUT_PARTS;
    let near = sorted.get(kept.saturating_sub(1)).copied().flatten();
    let is_shorter = match (near, farthest) {
        _ if covers_all => false,
        (Some(near), Some(farthest)) => (now - near) * SHORTER_TIMES <= now - farthest,
        (Some(_), None) => true,
        (None, _) => false,
    };
    if is_shorter { near } else { farthest }
}

#[cfg(test)]
mod tests;
