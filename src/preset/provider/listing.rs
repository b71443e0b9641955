//! How the whole list of an operation is read, over a window instead of for one reference.

use super::LookUp;
use crate::domain::plan::ListingFacts;
use std::time::Duration;

/// The most pages of one listing that are read.
pub const LISTING_PAGES_MAX: usize = 1_000;
/// The longest that one listing may take, waits included, in seconds.
pub const LISTING_SECONDS_MAX: u64 = 900;
/// The most bytes of all answers of one listing that are read.
pub const LISTING_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The most bytes of all answers of one listing that are kept for a person to look at.
pub const LISTING_KEPT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A request for a list and how to read its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ListLookUp {
    /// The request, without a reference, and how to read a page.
    pub look: LookUp,
    /// How many items a full page has.
    pub page_items: usize,
    /// In which order the items come, by their effects' times; `None` where nobody knows.
    pub order: Option<Order>,
    /// The most pages that are read.
    pub pages_max: usize,
    /// The longest that it may take.
    pub listing_max: Duration,
    /// The most bytes that are read.
    pub bytes_max: usize,
}

impl ListLookUp {
    /// What a plan needs to know of it.
    pub fn facts(&self) -> ListingFacts {
        ListingFacts { page_items: self.page_items, pages_max: self.pages_max, listing_max: self.listing_max }
    }
}

/// In which order a list's items come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The newest first: what is older than the window ends the reading.
    NewestFirst,
    /// The oldest first.
    OldestFirst,
}
