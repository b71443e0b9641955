//! The findings: every row once, an order over them, and those that the filter lets through.
//!
//! Rows stay where they are; `order` and `shown` are lists of row numbers. Moving the cursor touches none of them, a
//! keystroke in the filter box tests rows without sorting, and a page of a scan is sorted by itself and merged.

use super::counts::Counts;
use super::sort::{self, Sort};
use crate::domain::decision::Choice;
use crate::domain::filter::Filter;
use crate::domain::item::Item;
use crate::domain::verdict::Verdict;
use crate::workflow::{Checked, Found};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// What a finding is known by through scans, sorts and filters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The source's name.
    pub source: Arc<str>,
    /// The key as a person writes it.
    pub key: Arc<str>,
}

impl Identity {
    /// The identity of an item.
    pub fn of(item: &Item) -> Self {
        Self { source: Arc::clone(&item.source), key: item.key.as_str().into() }
    }
}

/// One finding with what is known of it here.
#[derive(Debug, Clone)]
pub struct Row {
    /// The finding; changed by [`Row::renew`] alone.
    pub found: Arc<Found>,
    /// Its latest check; `None` before the first, and once its row changed.
    pub checked: Option<Arc<Checked>>,
    /// The number of the checks it waits for; `None` when it waits for none.
    pub asked: Option<u64>,
    /// Whether it is selected.
    pub selected: bool,
    /// What was decided on it from here and left it in the list.
    pub decided: Option<Choice>,
    seen_in: u64,
    /// Its texts for the filter; `None` where they are long.
    folded: Option<Box<str>>,
}

impl Row {
    fn new(found: Arc<Found>, run: u64) -> Self {
        let folded = found.facts().folded();
        Self { found, checked: None, asked: None, selected: false, decided: None, seen_in: run, folded }
    }

    /// Takes in what was read of it anew.
    pub fn renew(&mut self, found: Arc<Found>) {
        self.folded = found.facts().folded();
        self.found = found;
    }

    /// The verdict; `None` before a check.
    pub fn verdict(&self) -> Option<Verdict> {
        self.checked.as_ref().map(|checked| checked.verdict())
    }

    /// Its identity.
    pub fn identity(&self) -> Identity {
        Identity::of(&self.found.finding.item)
    }
}

/// The findings, their order and the cursor.
#[derive(Debug, Default)]
pub struct Findings {
    rows: Vec<Row>,
    places: HashMap<Identity, u32>,
    weights: Vec<u64>,
    /// Where each row stands by source and key alone; out of date when it has another length than the rows.
    ranks: Vec<u32>,
    passes: Vec<bool>,
    order: Vec<u32>,
    shown: Vec<u32>,
    cursor: usize,
    sort: Sort,
    filter: Filter,
    typed: String,
    counts: Counts,
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

    /// The rows on lines `from` to `from + len` of the list: nothing else is touched.
    pub fn window(&self, from: usize, len: usize) -> impl Iterator<Item = &Row> {
        self.shown.iter().skip(from).take(len).filter_map(|id| self.row(*id))
    }

    /// Every row that is shown, in order.
    pub fn shown(&self) -> impl Iterator<Item = &Row> {
        self.window(0, self.shown.len())
    }

    /// The line of the cursor.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// The row under the cursor.
    pub fn current(&self) -> Option<&Row> {
        self.row(*self.shown.get(self.cursor)?)
    }

    /// The row of an identity.
    pub fn find(&self, identity: &Identity) -> Option<&Row> {
        self.row(*self.places.get(identity)?)
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

    fn row(&self, id: u32) -> Option<&Row> {
        self.rows.get(id as usize)
    }

    /// Puts the cursor on a line, or the last one there is.
    pub fn move_to(&mut self, line: usize) {
        self.cursor = line.min(self.shown.len().saturating_sub(1));
    }

    /// Changes one row in place; its line stays until [`Findings::settle_order`].
    pub fn change(&mut self, identity: &Identity, change: impl FnOnce(&mut Row)) -> bool {
        let Some(row) = self.places.get(identity).and_then(|id| self.rows.get_mut(*id as usize)) else {
            return false;
        };
        self.counts.take(row);
        change(row);
        self.counts.add(row);
        true
    }

    /// Takes in a page of a scan: known findings are renewed, new ones added, cursor and selection stay.
    pub fn merge(&mut self, run: u64, page: Vec<Found>) {
        let mut fresh = Vec::with_capacity(page.len());
        let mut renewed = Vec::with_capacity(page.len());
        for found in page {
            let identity = Identity::of(&found.finding.item);
            let found = Arc::new(found);
            if let Some(id) = self.places.get(&identity).copied() {
                if let Some(row) = self.rows.get_mut(id as usize) {
                    if !is_same_row(&row.found.finding.item, &found.finding.item) {
                        (row.checked, row.decided) = (None, None);
                    }
                    row.renew(found);
                    row.seen_in = run;
                    renewed.push(id);
                }
            } else {
                let id = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
                self.places.insert(identity, id);
                self.rows.push(Row::new(found, run));
                fresh.push(id);
            }
        }
        fresh.extend(renewed);
        self.place(fresh);
        self.recount();
    }

    /// Ends a scan: what it did not see again is gone, unless its source could not be read.
    pub fn retire(&mut self, run: u64, is_unread: impl Fn(&str) -> bool) {
        self.keep_where(|row| row.seen_in == run || is_unread(&row.found.finding.item.source));
        // Done here once, so that no key has to wait for it.
        self.rank();
    }

    /// Takes a finding out of the list.
    pub fn remove(&mut self, identity: &Identity) {
        if let Some(gone) = self.places.get(identity).copied() {
            let seen = self.rows.get(gone as usize).map(|row| Arc::as_ptr(&row.found));
            self.keep_where(|row| Some(Arc::as_ptr(&row.found)) != seen);
        }
    }

    /// Ranks the rows by source and key, where that was not done since rows came or went.
    fn rank(&mut self) {
        if self.ranks.len() == self.rows.len() {
            return;
        }
        let mut rows: Vec<(usize, &Row)> = self.rows.iter().enumerate().collect();
        rows.sort_unstable_by(|(_, a), (_, b)| sort::compare_names(a, b));
        let mut ranks = vec![0; rows.len()];
        for (rank, (id, _)) in (0..).zip(rows) {
            if let Some(place) = ranks.get_mut(id) {
                *place = rank;
            }
        }
        self.ranks = ranks;
    }

    /// Puts every row where verdict and age want it.
    pub fn settle_order(&mut self) {
        self.passes = self.rows.iter().map(|row| passes(&self.filter, row)).collect();
        self.reorder();
    }

    fn reorder(&mut self) {
        self.weights = self.rows.iter().map(|row| self.sort.weight(row)).collect();
        self.rank();
        // Numbers side by side settle the comparisons; the rows, far apart in memory, only those of texts.
        let numbers = |(id, ((row, weight), rank)): (usize, ((&Row, &u64), &u32))| {
            Some((*weight, sort::worst(row), *rank, u32::try_from(id).ok()?))
        };
        let rows = self.rows.iter().zip(&self.weights).zip(&self.ranks);
        let mut numbered: Vec<(u64, u64, u32, u32)> = rows.enumerate().filter_map(numbers).collect();
        let sort = self.sort;
        numbered.sort_unstable_by(|a, b| {
            let by_numbers = sort.compare_numbers((a.0, a.1), (b.0, b.1));
            by_numbers
                .unwrap_or_else(|| if sort.is_by_text() { self.compare(a.3, b.3) } else { a.2.cmp(&b.2) })
        });
        self.order = numbered.into_iter().map(|(.., id)| id).collect();
        self.show();
    }

    /// Changes the order; the cursor stays on its finding.
    pub fn set_sort(&mut self, sort: Sort) {
        self.sort = sort;
        self.reorder();
    }

    /// Changes the filter; the cursor stays on its finding where that is still shown.
    ///
    /// # Errors
    /// A sentence when the text is no filter; the earlier filter stays.
    pub fn set_filter(&mut self, typed: &str) -> Result<(), String> {
        let filter = Filter::parse(typed)?;
        // One more letter at the end of a plain word can only take rows away.
        let narrows = is_plain_word_extended(&self.typed, typed);
        for (row, passing) in self.rows.iter().zip(&mut self.passes) {
            if *passing || !narrows {
                *passing = passes(&filter, row);
            }
        }
        (self.filter, self.typed) = (filter, typed.to_owned());
        self.show();
        Ok(())
    }

    /// Selects the row under the cursor, or not.
    pub fn toggle_current(&mut self) {
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
        self.recount();
    }

    /// Deselects everything, shown or not.
    pub fn deselect_all(&mut self) {
        self.rows.iter_mut().for_each(|row| row.selected = false);
        self.recount();
    }

    /// Marks rows as waiting for checks of a number.
    pub fn ask(&mut self, run: u64, identities: &[Identity]) {
        for identity in identities {
            self.change(identity, |row| row.asked = Some(run));
        }
    }

    /// Nothing waits for checks any more.
    pub fn asked_no_more(&mut self) {
        self.rows.iter_mut().for_each(|row| row.asked = None);
    }

    fn compare(&self, a: u32, b: u32) -> Ordering {
        let weigh = |id: u32| Some((*self.weights.get(id as usize)?, self.row(id)?));
        match (weigh(a), weigh(b)) {
            (Some(a), Some(b)) => self.sort.compare(a, b),
            _ => Ordering::Equal,
        }
    }

    /// Sorts the given rows by themselves and merges them into the order.
    fn place(&mut self, mut moved: Vec<u32>) {
        self.weights.resize(self.rows.len(), 0);
        self.passes.resize(self.rows.len(), false);
        let mut is_moved = vec![false; self.rows.len()];
        for id in &moved {
            let at = *id as usize;
            if let Some(row) = self.rows.get(at) {
                if let Some(weight) = self.weights.get_mut(at) {
                    *weight = self.sort.weight(row);
                }
                if let Some(passing) = self.passes.get_mut(at) {
                    *passing = passes(&self.filter, row);
                }
                if let Some(flag) = is_moved.get_mut(at) {
                    *flag = true;
                }
            }
        }
        moved.sort_unstable_by(|a, b| self.compare(*a, *b));
        moved.dedup();
        let stays =
            self.order.iter().copied().filter(|id| !is_moved.get(*id as usize).copied().unwrap_or(false));
        let (mut stays, mut moved) = (stays.peekable(), moved.into_iter().peekable());
        let mut order = Vec::with_capacity(self.rows.len());
        while let (Some(a), Some(b)) = (stays.peek(), moved.peek()) {
            let takes_stayed = self.compare(*a, *b) != Ordering::Greater;
            order.extend(if takes_stayed { stays.next() } else { moved.next() });
        }
        order.extend(stays);
        order.extend(moved);
        self.order = order;
        self.show();
    }

    /// Works out what is shown, and keeps the cursor on its row.
    fn show(&mut self) {
        let current = self.shown.get(self.cursor).copied();
        let passes = &self.passes;
        self.shown.clear();
        self.shown.extend(
            self.order.iter().copied().filter(|id| passes.get(*id as usize).copied().unwrap_or(false)),
        );
        let line = current.and_then(|id| self.shown.iter().position(|other| *other == id));
        self.move_to(line.unwrap_or(self.cursor));
    }

    fn keep_where(&mut self, keep: impl Fn(&Row) -> bool) {
        let mut kept_as = Vec::with_capacity(self.rows.len());
        let mut next = 0;
        for row in &self.rows {
            let id = keep(row).then_some(next);
            next += u32::from(id.is_some());
            kept_as.push(id);
        }
        if next as usize == self.rows.len() {
            return;
        }
        let kept = |id: u32| kept_as.get(id as usize).copied().flatten();
        // Where the cursor's row goes, its line stays, counted over the rows above it that stay too.
        let line = self.shown.iter().take(self.cursor).filter(|id| kept(**id).is_some()).count();
        self.rows.retain(&keep);
        self.ranks.clear();
        self.order = self.order.iter().copied().filter_map(kept).collect();
        self.shown = self.shown.iter().copied().filter_map(kept).collect();
        self.places.retain(|_, id| kept(*id).map(|new| *id = new).is_some());
        self.weights = self.rows.iter().map(|row| self.sort.weight(row)).collect();
        self.passes = self.rows.iter().map(|row| passes(&self.filter, row)).collect();
        self.move_to(line);
        self.recount();
    }

    fn recount(&mut self) {
        let mut counts = Counts::default();
        self.rows.iter().for_each(|row| counts.add(row));
        self.counts = counts;
    }
}

fn passes(filter: &Filter, row: &Row) -> bool {
    if filter.is_empty() {
        return true;
    }
    // The texts side by side settle most filters; the finding itself is spread over memory.
    if let Some(passes) = row.folded.as_deref().and_then(|folded| filter.passes_quickly(folded)) {
        return passes;
    }
    let mut facts = row.found.facts();
    if let Some(checked) = &row.checked {
        (facts.verdict, facts.advice) = (checked.verdict().as_str(), checked.advice().as_str());
    }
    filter.passes(&facts)
}

/// Whether an item was read twice from an unchanged row: what was learned of it still holds.
pub fn is_same_row(before: &Item, now: &Item) -> bool {
    before.status == now.status && before.fields == now.fields && before.last_error == now.last_error
}

/// Whether a filter only grew by letters of a plain last word.
fn is_plain_word_extended(before: &str, now: &str) -> bool {
    let Some(added) = now.strip_prefix(before) else { return false };
    let word = now.rsplit(char::is_whitespace).next().unwrap_or(now);
    !added.contains(char::is_whitespace)
        && !word.starts_with(['-', '!'])
        && !now.contains(['"', ':', '>', '<', '=', ','])
}
