//! The proposals that wait for a second person, as they are looked at.

use super::findings::Identity;
use crate::domain::proposal::Proposal;
use crate::ports::record::RecordFault;
use chrono::{DateTime, Utc};
use std::collections::HashMap;
use std::sync::Arc;

/// The proposals' view.
#[derive(Debug, Default)]
pub struct ProposalsView {
    waiting: Vec<Arc<Proposal>>,
    by_item: HashMap<Identity, Arc<Proposal>>,
    /// When the latest reading began; `None` before the first.
    pub read_at: Option<DateTime<Utc>>,
    /// Why they could not be read the last time.
    pub fault: Option<RecordFault>,
    /// The line of the cursor.
    pub cursor: usize,
    /// How far the proposal's detail is scrolled.
    pub scroll: u16,
}

impl ProposalsView {
    /// Those that wait, the oldest first.
    pub fn waiting(&self) -> &[Arc<Proposal>] {
        &self.waiting
    }

    /// The proposal under the cursor.
    pub fn current(&self) -> Option<&Arc<Proposal>> {
        self.waiting.get(self.cursor)
    }

    /// The proposal that waits on an item.
    pub fn on(&self, identity: &Identity) -> Option<&Proposal> {
        self.by_item.get(identity).map(|proposal| &**proposal)
    }

    /// Whether any waits on any item: drawing a row asks for its own only then.
    pub fn are_any(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes in what was read; the cursor stays on its proposal. A reading that began before the latest is dropped.
    pub fn renew(&mut self, at: DateTime<Utc>, waiting: Result<Vec<Proposal>, RecordFault>) {
        if self.read_at.is_some_and(|latest| at < latest) {
            return;
        }
        self.read_at = Some(at);
        match waiting {
            Ok(waiting) => {
                let current = self.current().map(|proposal| proposal.id);
                self.fault = None;
                self.waiting = waiting.into_iter().map(Arc::new).collect();
                let of_item = |proposal: &Arc<Proposal>| {
                    let (source, key) = (Arc::clone(&proposal.source), Arc::clone(&proposal.key));
                    (Identity { source, key }, Arc::clone(proposal))
                };
                self.by_item = self.waiting.iter().map(of_item).collect();
                let line = self.waiting.iter().position(|proposal| Some(proposal.id) == current);
                self.move_to(line.unwrap_or(self.cursor));
            }
            Err(fault) => self.fault = Some(fault),
        }
    }

    /// Puts the cursor on a line, or the last one there is.
    pub fn move_to(&mut self, line: usize) {
        self.cursor = line.min(self.waiting.len().saturating_sub(1));
        self.scroll = 0;
    }
}
