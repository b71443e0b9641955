//! The findings: every row once, an order over them, and those that the filter lets through.
//!
//! Rows stay where they are; `order` and `shown` are lists of row numbers. Moving the cursor touches none of them, a
//! keystroke in the filter box tests rows without sorting, a new order sorts numbers without looking at a row, and a
//! page of a scan is sorted by itself and merged.

mod fuzzy;
mod grouped;

use super::counts::Counts;
use super::groups::{Common, Group, Grouping, Groups};
use super::names::Names;
use super::order::{Ages, arranged};
use super::places::Places;
use super::row::Gist;
pub use super::row::{Identity, Row, is_same_row};
use super::sieve::{Sieve, narrows, sift};
use super::sort::Sort;
use super::texts::Texts;
use super::words::Words;
use crate::domain::filter::Filter;
use crate::workflow::Found;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use std::collections::HashSet;
use std::sync::Arc;

/// What stands on a line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// The row of a number.
    Row(u32),
    /// The group of a place.
    Group(usize),
}

/// What a line of the list shows.
#[derive(Debug, Clone)]
pub enum Listed<'a> {
    /// A finding.
    Row(&'a Row),
    /// A group of findings.
    Group(&'a Group),
}

/// Where the cursor was before the list moved.
#[derive(Debug, Clone, Copy)]
enum Anchor {
    Row(u32),
    Group(u64),
}

/// The findings, their order and the cursor.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    rows: Vec<Row>,
    places: Places,
    words: Words,
    names: Names,
    /// One a row, as it is.
    gists: Vec<Gist>,
    texts: Texts,
    /// One a row.
    common: Vec<Common>,
    /// One a row, as it was when it got its place in the order.
    placed: Vec<Gist>,
    ages: Ages,
    /// One a row: whether the filter lets it through.
    passes: Vec<bool>,
    /// The rows that changed since filter and order looked at them.
    unplaced: Vec<u32>,
    order: Vec<u32>,
    /// Every row that the filter lets through, in the order of the screen, folded away or not.
    shown: Vec<u32>,
    grouping: Grouping,
    groups: Groups,
    /// The groups whose rows are on the list, by key.
    open: HashSet<u64>,
    /// What stands on each line where rows are grouped.
    lines: Vec<Line>,
    cursor: usize,
    /// Whether an operator put the cursor where it is. Until then it stays at the top, on the worst, whatever comes in.
    is_placed: bool,
    sort: Sort,
    filter: Filter,
    typed: String,
    counts: Counts,
    /// Another number whenever the rows have other numbers or other texts.
    edition: u64,
}

impl Findings {
    /// Whether there are none at all.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many there are.
    pub fn total(&self) -> usize {
        self.rows.len()
    }

    /// How many the filter lets through.
    pub fn shown_len(&self) -> usize {
        self.shown.len()
    }

    /// How many lines the list has: as many as rows, or fewer and more where they are grouped.
    pub fn lines_len(&self) -> usize {
        if self.is_grouped() { self.lines.len() } else { self.shown.len() }
    }

    /// What stands on lines `from` to `from + len` of the list: nothing else is touched.
    pub fn window(&self, from: usize, len: usize) -> impl Iterator<Item = Listed<'_>> {
        let lines = from..self.lines_len().min(from.saturating_add(len));
        lines.filter_map(|at| match self.line(at)? {
            Line::Row(id) => self.row(id).map(Listed::Row),
            Line::Group(at) => self.groups.list.get(at).map(Listed::Group),
        })
    }

    /// Every row that the filter lets through, in order, folded away or not.
    pub fn shown(&self) -> impl Iterator<Item = &Row> {
        self.shown.iter().filter_map(|id| self.row(*id))
    }

    fn line(&self, at: usize) -> Option<Line> {
        if self.is_grouped() {
            self.lines.get(at).copied()
        } else {
            self.shown.get(at).copied().map(Line::Row)
        }
    }

    fn is_grouped(&self) -> bool {
        self.grouping != Grouping::None
    }

    /// Every row, shown or not.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter()
    }

    /// The line of the cursor.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// The row under the cursor; `None` where a group is.
    pub fn current(&self) -> Option<&Row> {
        match self.line(self.cursor)? {
            Line::Row(id) => self.row(id),
            Line::Group(_) => None,
        }
    }

    /// The row of an identity.
    pub fn find(&self, identity: &Identity) -> Option<&Row> {
        self.row(self.place_of(identity)?)
    }

    /// How many there are of each sort.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The order.
    pub fn sort(&self) -> Sort {
        self.sort
    }

    /// The filter as it was typed.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    fn place_of(&self, identity: &Identity) -> Option<u32> {
        self.places.get(identity, &self.rows)
    }

    fn row(&self, id: u32) -> Option<&Row> {
        self.rows.get(id as usize)
    }

    /// Puts the cursor on a line, or the last one there is.
    pub fn move_to(&mut self, line: usize) {
        self.is_placed = true;
        self.set_line(line);
    }

    /// The operator is about to do something with the finding under the cursor: from now on the cursor stays on it.
    pub fn hold_cursor(&mut self) {
        self.is_placed = true;
    }

    fn set_line(&mut self, line: usize) {
        self.cursor = line.min(self.lines_len().saturating_sub(1));
    }

    /// Changes one row in place; its line stays until [`Findings::settle_order`].
    pub fn change(&mut self, identity: &Identity, change: impl FnOnce(&mut Row)) -> bool {
        let Some(id) = self.place_of(identity) else { return false };
        if self.change_at(id, change) {
            self.unplaced.push(id);
        }
        true
    }

    /// Tells whether filter or order may see it otherwise now.
    fn change_at(&mut self, id: u32, change: impl FnOnce(&mut Row)) -> bool {
        let at = id as usize;
        let (Some(row), Some(gist)) = (self.rows.get_mut(at), self.gists.get_mut(at)) else { return false };
        let (found, checked) = (Arc::clone(&row.found), row.checked.clone());
        let before = *gist;
        self.counts.take(gist, row.selected);
        change(row);
        let is_same = Arc::ptr_eq(&found, &row.found);
        if !is_same {
            self.texts.set(at, &row.found.facts());
            self.edition += 1;
            if let Some(common) = self.common.get_mut(at) {
                *common = common.renewed(&found, &row.found);
            }
        }
        *gist = Gist::of(row, self.words.number_of(&row.found));
        self.counts.add(gist, row.selected);
        self.counts.replace_stake(checked.as_ref(), row.checked.as_ref());
        before != *gist || !is_same
    }

    /// Takes in a page of a scan: known findings are renewed, new ones added, cursor and selection stay. Gives the numbers of
    /// the new ones, which count until a row leaves the list.
    pub fn merge(&mut self, run: u64, page: Vec<Found>) -> Vec<u32> {
        // To look up a page is to wait for memory, row by row: several threads wait for less.
        let look_up = |found: Found| {
            let identity = Identity::of(&found.finding.item);
            let known = self.place_of(&identity);
            let is_same = known.and_then(|id| self.row(id)).is_some_and(|row| row.is_of(&found));
            (identity, known, is_same, Arc::new(found))
        };
        let page: Vec<_> = page.into_par_iter().map(look_up).collect();
        let (mut seen, mut replaced) = (Vec::with_capacity(page.len()), Vec::with_capacity(page.len()));
        let mut fresh = Vec::new();
        for (identity, known, is_same, found) in page {
            // A page may bring one key twice: the second is not known from before.
            if let Some(id) = known.or_else(|| self.place_of(&identity)) {
                self.change_at(id, |row| {
                    if !is_same {
                        row.learn(None, true);
                        row.decided = None;
                    }
                    row.seen_in = run;
                    replaced.push(std::mem::replace(&mut row.found, found));
                });
                seen.push(id);
            } else {
                let id = self.add(Row::new(found, run));
                fresh.push(id);
                seen.push(id);
            }
        }
        replaced.into_par_iter().for_each(drop);
        self.names.grow(&self.rows);
        self.place(seen);
        fresh
    }

    /// Of rows by their numbers those that the filter lets through.
    pub fn passing(&self, ids: &[u32]) -> impl Iterator<Item = &Row> {
        ids.iter()
            .filter(|id| self.passes.get(**id as usize).copied().unwrap_or(false))
            .filter_map(|id| self.row(*id))
    }

    fn add(&mut self, row: Row) -> u32 {
        let id = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let gist = Gist::of(&row, self.words.number_of(&row.found));
        self.counts.add(&gist, row.selected);
        self.texts.push(&row.found.facts());
        self.common.push(Common::of(&row.found));
        self.rows.push(row);
        self.places.insert(id, &self.rows);
        self.gists.push(gist);
        self.placed.push(gist);
        self.passes.push(false);
        self.edition += 1;
        id
    }

    /// Ends a scan: what it did not see again is gone, unless its source could not be read.
    pub fn retire(&mut self, run: u64, is_unread: impl Fn(&str) -> bool) {
        self.keep_where(|_, row| row.seen_in == run || is_unread(&row.found.finding.item.source));
    }

    /// Takes a finding out of the list.
    pub fn remove(&mut self, identity: &Identity) {
        if let Some(gone) = self.place_of(identity) {
            self.keep_where(|id, _| id != gone);
        }
    }

    /// Puts every row where verdict and age want it.
    pub fn settle_order(&mut self) {
        let changed = std::mem::take(&mut self.unplaced);
        self.place(changed);
    }

    /// Changes the order; the cursor stays on its finding.
    pub fn set_sort(&mut self, sort: Sort) {
        self.sort = sort;
        self.settle_order();
    }

    /// Changes the filter; the cursor stays on its finding where that is still shown.
    ///
    /// # Errors
    /// A sentence when the text is no filter; the earlier filter stays.
    pub fn set_filter(&mut self, typed: &str) -> Result<(), String> {
        let filter = Filter::parse(typed)?;
        // What can only take rows away need not be asked of those that are gone already.
        let only_fewer = self.unplaced.is_empty() && narrows(&self.typed, typed);
        let rows = (&*self.rows, &*self.gists, &self.texts);
        sift((&filter, &self.words), rows, &mut self.passes, only_fewer);
        (self.filter, self.typed) = (filter, typed.to_owned());
        self.show();
        Ok(())
    }

    /// Selects the row under the cursor, or not; on a group all its rows, or none where all were.
    pub fn toggle_current(&mut self) {
        if let Some(range) = self.current_group().map(|group| group.rows.clone()) {
            let ids = self.shown.get(range).unwrap_or_default();
            let all = ids.iter().filter_map(|id| self.row(*id)).all(|row| row.selected);
            for id in ids {
                if let Some(row) = self.rows.get_mut(*id as usize) {
                    row.selected = !all;
                }
            }
            self.counts.selected = self.rows.iter().filter(|row| row.selected).count();
            return;
        }
        if let Some(identity) = self.current().map(Row::identity) {
            self.change(&identity, |row| row.selected = !row.selected);
        }
    }

    /// Selects all rows shown; none of them where all were.
    pub fn toggle_shown(&mut self) {
        let all = self.shown().all(|row| row.selected);
        for id in &self.shown {
            if let Some(row) = self.rows.get_mut(*id as usize) {
                row.selected = !all;
            }
        }
        self.counts.selected = self.rows.iter().filter(|row| row.selected).count();
    }

    /// Deselects everything, shown or not.
    pub fn deselect_all(&mut self) {
        self.rows.iter_mut().for_each(|row| row.selected = false);
        self.counts.selected = 0;
    }

    /// Marks rows as waiting for checks of a number; gives what is to be checked.
    pub fn ask(&mut self, run: u64, identities: &[Identity]) -> Vec<Arc<Found>> {
        let asked = |identity| {
            let at = self.places.get(identity, &self.rows)? as usize;
            let row = self.rows.get_mut(at)?;
            row.asked = Some(run);
            Some(Arc::clone(&row.found))
        };
        identities.iter().filter_map(asked).collect()
    }

    /// The same, of those rows shown that are wanted.
    pub fn ask_shown(&mut self, run: u64, is_wanted: fn(&Row) -> bool) -> Vec<Arc<Found>> {
        for (row, passes) in self.rows.iter_mut().zip(&self.passes) {
            if *passes && is_wanted(row) {
                row.asked = Some(run);
            }
        }
        let asked = |id: &u32| self.row(*id).filter(|row| is_wanted(row)).map(|row| Arc::clone(&row.found));
        self.shown.par_iter().filter_map(asked).collect()
    }

    /// Nothing waits for checks any more.
    pub fn asked_no_more(&mut self) {
        self.rows.iter_mut().for_each(|row| row.asked = None);
    }

    /// Puts the given rows where they belong, if the filter lets them through; all others keep their order.
    fn place(&mut self, mut moved: Vec<u32>) {
        moved.sort_unstable();
        moved.dedup();
        let mut sieve = Sieve::new(&self.filter, &self.words);
        let mut out_of_place = vec![false; self.rows.len()];
        for id in moved {
            let at = id as usize;
            let (Some(row), Some(gist)) = (self.rows.get(at), self.gists.get(at)) else { continue };
            if let Some(passing) = self.passes.get_mut(at) {
                *passing = sieve.lets_through(row, gist, self.texts.get(at));
            }
            if let (Some(placed), Some(flag)) = (self.placed.get_mut(at), out_of_place.get_mut(at)) {
                *flag = gist.age != placed.age || at >= self.ages.len();
                *placed = *gist;
            }
        }
        self.ages.take_in(&out_of_place, &self.placed, &self.names);
        self.order = arranged(self.sort, &self.placed, &self.ages, &self.names, &self.words);
        self.show();
    }

    /// Works out what is shown, and keeps the cursor on its row.
    fn show(&mut self) {
        let anchor = self.anchor();
        self.show_again(anchor);
    }

    fn anchor(&self) -> Option<Anchor> {
        Some(match self.line(self.cursor)? {
            Line::Row(id) => Anchor::Row(id),
            Line::Group(at) => Anchor::Group(self.groups.list.get(at)?.key),
        })
    }

    fn show_again(&mut self, anchor: Option<Anchor>) {
        let passes = &self.passes;
        self.shown.clear();
        self.shown.extend(
            self.order.iter().copied().filter(|id| passes.get(*id as usize).copied().unwrap_or(false)),
        );
        self.group_shown();
        self.lay_out(anchor.filter(|_| self.is_placed));
    }

    fn keep_where(&mut self, keep: impl Fn(u32, &Row) -> bool) {
        let mut next = 0;
        let new_number = |(id, row): (u32, &Row)| {
            let new = keep(id, row).then_some(next);
            next += u32::from(new.is_some());
            new
        };
        let kept_as: Vec<Option<u32>> = (0..).zip(&self.rows).map(new_number).collect();
        if next as usize == self.rows.len() {
            return;
        }
        let kept = |id: u32| kept_as.get(id as usize).copied().flatten();
        let anchor = self.anchor().and_then(|anchor| match anchor {
            Anchor::Row(id) => kept(id).map(Anchor::Row),
            Anchor::Group(_) => Some(anchor),
        });
        // Where the cursor's row goes, its line stays, counted over the rows above it that stay too.
        let line = self.shown.iter().take(self.cursor).filter(|id| kept(**id).is_some()).count();
        for (gone, gist) in self
            .rows
            .iter()
            .zip(&self.gists)
            .zip(&kept_as)
            .filter(|(_, new)| new.is_none())
            .map(|(row, _)| row)
        {
            self.counts.leave(gist, gone);
        }
        retain(&mut self.rows, &kept_as);
        retain(&mut self.gists, &kept_as);
        self.texts.keep(&kept_as);
        self.edition += 1;
        retain(&mut self.common, &kept_as);
        retain(&mut self.placed, &kept_as);
        retain(&mut self.passes, &kept_as);
        self.unplaced = self.unplaced.iter().copied().filter_map(kept).collect();
        self.names.keep(kept);
        self.ages.keep(kept);
        self.order = self.order.iter().copied().filter_map(kept).collect();
        self.shown = self.shown.iter().copied().filter_map(kept).collect();
        self.places.keep(kept);
        if self.is_grouped() {
            // Which group stands first may be another one now.
            self.show_again(anchor);
        } else {
            self.set_line(line);
        }
    }
}

/// Keeps the elements of a list that have a new number.
pub fn retain<T>(list: &mut Vec<T>, kept_as: &[Option<u32>]) {
    let mut kept_as = kept_as.iter();
    list.retain(|_| kept_as.next().is_some_and(Option::is_some));
}
