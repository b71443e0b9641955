//! Finding by some letters of key or reference, among all findings, shown or not.

use super::{Findings, Identity, Row};
use crate::console::model::fuzzy::Sought;
use crate::workflow::Found;
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;
use std::cmp::Reverse;
use std::sync::Arc;

/// How many rows one thread looks at in one go.
const CHUNK_ROWS: usize = 4_096;

/// What makes one better than another: how well it fits, then its name.
type Worth = (Reverse<i32>, u32);

impl Findings {
    /// A number that is another one whenever the rows have other numbers or other texts.
    pub fn edition(&self) -> u64 {
        self.edition
    }

    /// The first of the list's order, whatever the filter.
    pub fn first(&self, count: usize) -> Vec<Arc<Found>> {
        let rows = self.order.iter().take(count).filter_map(|id| self.row(*id));
        rows.map(|row| Arc::clone(&row.found)).collect()
    }

    /// Of some rows, or of all, those whose key or reference fits, and so many of the best.
    pub fn fitting(&self, sought: &Sought, of: Option<&[u32]>, count: usize) -> (Vec<u32>, Vec<Arc<Found>>) {
        let all: Vec<u32>;
        let of: &[u32] = if let Some(of) = of {
            of
        } else {
            // In the order of memory, in which their texts lie side by side.
            all = (0..).take(self.rows.len()).collect();
            &all
        };
        let chunks = of.par_chunks(CHUNK_ROWS).map(|ids| {
            let worth = |id: u32| Some(((Reverse(self.fit(id, sought)?), self.names.rank(id)), id));
            let mut best: Vec<(Worth, u32)> = ids.iter().filter_map(|id| worth(*id)).collect();
            let ids: Vec<u32> = best.iter().map(|(_, id)| *id).collect();
            keep_best(&mut best, count);
            (ids, best)
        });
        let chunks: Vec<_> = chunks.collect();
        let mut ids = Vec::with_capacity(chunks.iter().map(|(ids, _)| ids.len()).sum());
        let mut best = Vec::with_capacity(chunks.len() * count);
        for (some, best_of_some) in chunks {
            ids.extend_from_slice(&some);
            best.extend(best_of_some);
        }
        keep_best(&mut best, count);
        let rows = best.iter().filter_map(|(_, id)| self.row(*id));
        (ids, rows.map(|row| Arc::clone(&row.found)).collect())
    }

    fn fit(&self, id: u32, sought: &Sought) -> Option<i32> {
        if let Some(folded) = self.texts.get(id as usize) {
            return sought.fit(folded.key_and_reference());
        }
        // Too long to be kept folded: looked at as it is.
        let found = &self.row(id)?.found;
        let key = found.finding.item.key.as_str().to_lowercase();
        let reference = found.reference.as_deref().unwrap_or_default().to_lowercase();
        sought.fit([&key, &reference])
    }

    /// Puts the cursor on a finding, out of its group where that is folded. `false` where it is not shown.
    pub fn uncover(&mut self, identity: &Identity) -> bool {
        let Some(id) = self.place_of(identity) else { return false };
        let Some(place) = self.shown.iter().position(|other| *other == id) else { return false };
        if self.is_grouped() {
            let group = self.groups.holding(place).and_then(|at| self.groups.list.get(at));
            if let Some(key) = group.map(|group| group.key) {
                self.open.insert(key);
                self.lay_out(None);
            }
        }
        self.go_to(identity);
        self.current().is_some_and(|row: &Row| row.has(identity))
    }
}

/// Keeps so many of the best, in order.
fn keep_best(best: &mut Vec<(Worth, u32)>, count: usize) {
    if best.len() > count {
        best.select_nth_unstable(count);
        best.truncate(count);
    }
    best.sort_unstable();
}
