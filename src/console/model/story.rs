//! The timeline of one item, as it is looked at.

use super::Loading;
use super::findings::Identity;
use crate::workflow::story::Story;
use std::sync::Arc;

/// The timeline's view.
#[derive(Debug, Default)]
pub struct TimelineView {
    /// Of which item; `None` before the first was opened.
    pub of: Option<Identity>,
    /// What is known of it; nothing where no row, no log and no record knows the key.
    pub story: Loading<Option<Arc<Story>>>,
    /// Whether the record did not take the check that was made for it.
    pub is_unrecorded: bool,
    /// Whether its provider is being asked.
    pub asks_anew: bool,
    /// How far the timeline is scrolled.
    pub scroll: u16,
    /// How far the questions beside it are scrolled.
    pub questions_scroll: u16,
}

impl TimelineView {
    /// What is known, once it is there.
    pub fn told(&self) -> Option<&Arc<Story>> {
        self.story.ready()?.as_ref()
    }
}
