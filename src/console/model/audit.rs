//! The audit as it is looked at: entries, the newest first, read page by page.

use super::Loading;
use crate::domain::audit::Entry;

/// The audit's view.
#[derive(Debug, Default)]
pub struct AuditView {
    /// The entries read so far, the newest first.
    pub entries: Vec<Entry>,
    /// The line of the cursor.
    pub cursor: usize,
    /// Whether older ones follow.
    pub more: bool,
    /// Whether the page under way begins at the newest entry, and replaces what is there.
    pub from_end: bool,
    /// The page under way, or how the last one ended.
    pub page: Loading<()>,
    /// How far the entry's detail is scrolled.
    pub scroll: u16,
}

impl AuditView {
    /// The entry under the cursor.
    pub fn current(&self) -> Option<&Entry> {
        self.entries.get(self.cursor)
    }

    /// Puts the cursor on a line, or the last one there is.
    pub fn move_to(&mut self, line: usize) {
        self.cursor = line.min(self.entries.len().saturating_sub(1));
        self.scroll = 0;
    }
}
