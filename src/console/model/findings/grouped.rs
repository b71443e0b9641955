//! The list where findings are put together: groups, their rows, and what is counted of all shown.

use super::{Anchor, Findings, Identity, Line, Row};
use crate::console::model::facets::OutcomeCounts;
use crate::console::model::groups::{Group, Grouping, Groups, label};
use crate::console::model::words::WordSet;
use crate::domain::advice::Advice;
use crate::domain::verdict::Verdict;

impl Findings {
    /// The group under the cursor; `None` where a row is.
    pub fn current_group(&self) -> Option<&Group> {
        match self.line(self.cursor)? {
            Line::Row(_) => None,
            Line::Group(at) => self.groups.list.get(at),
        }
    }

    /// What rows are grouped by.
    pub fn grouping(&self) -> Grouping {
        self.grouping
    }

    /// The groups, in order.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// What the rows of a group have in common, in words. Raw: clean it before showing.
    pub fn label_of(&self, group: &Group) -> String {
        let first = self.shown.get(group.rows.start).and_then(|id| self.row(*id));
        first.map(|row| label(self.grouping, group, row)).unwrap_or_default()
    }

    /// The rows of a group, in order.
    pub fn members(&self, group: &Group) -> impl Iterator<Item = &Row> {
        self.shown.get(group.rows.clone()).unwrap_or_default().iter().filter_map(|id| self.row(*id))
    }

    /// How many sets of words there are.
    pub fn word_sets(&self) -> usize {
        self.words.len()
    }

    /// Each set of words that some finding has, with how many do: few, whatever the total.
    pub fn words_counted(&self) -> impl Iterator<Item = (&WordSet, usize)> {
        self.words.all().zip(self.counts.words.iter().copied()).filter(|(_, number)| *number > 0)
    }

    /// Each set of words with how many findings have it, in all and of those shown.
    pub fn word_counts(&self) -> Vec<(&WordSet, (usize, usize))> {
        let mut shown = vec![0; self.words.len()];
        for id in &self.shown {
            let words = self.gists.get(*id as usize).map_or(usize::MAX, |gist| gist.words as usize);
            if let Some(count) = shown.get_mut(words) {
                *count += 1;
            }
        }
        let total = |at: usize| self.counts.words.get(at).copied().unwrap_or(0);
        self.words.all().zip(shown).enumerate().map(|(at, (set, shown))| (set, (total(at), shown))).collect()
    }

    /// How many there are of each outcome of a check, in all and of those shown.
    pub fn outcome_counts(&self) -> OutcomeCounts {
        let mut counts = OutcomeCounts::default();
        let totals = self.counts.verdicts.into_iter().chain([self.counts.unchecked]);
        counts.verdicts.iter_mut().zip(totals).for_each(|(count, total)| count.0 = total);
        counts.advices.iter_mut().zip(self.counts.advices).for_each(|(count, total)| count.0 = total);
        for gist in self.shown.iter().filter_map(|id| self.gists.get(*id as usize)) {
            let verdict = gist.verdict.map_or(Verdict::ALL.len(), |verdict| verdict as usize);
            if let Some(count) = counts.verdicts.get_mut(verdict) {
                count.1 += 1;
            }
            let advice = gist.advice.and_then(|advice| Advice::ALL.iter().position(|other| *other == advice));
            if let Some(count) = advice.and_then(|at| counts.advices.get_mut(at)) {
                count.1 += 1;
            }
        }
        counts
    }

    /// Changes what rows are grouped by; the cursor stays on its finding, or on the group that has it. All groups are folded.
    pub fn set_grouping(&mut self, grouping: Grouping) {
        let anchor = self.anchor();
        self.grouping = grouping;
        self.open.clear();
        self.show_again(anchor);
    }

    /// Puts the cursor on a finding, or on the group that has it; where it is not shown, the cursor stays.
    pub fn go_to(&mut self, identity: &Identity) {
        let line = self.place_of(identity).and_then(|id| self.line_of(Anchor::Row(id)));
        if let Some(line) = line {
            self.move_to(line);
        }
    }

    /// Unfolds the group under the cursor, or that of the row there; folds it where it was unfolded.
    pub fn toggle_fold(&mut self) {
        let place = match self.line(self.cursor) {
            Some(Line::Group(at)) => Some(at),
            Some(Line::Row(_)) if self.is_grouped() => self.lines.get(..self.cursor).and_then(|above| {
                above.iter().rev().find_map(|line| match line {
                    Line::Group(at) => Some(*at),
                    Line::Row(_) => None,
                })
            }),
            Some(Line::Row(_)) | None => None,
        };
        let Some(key) = place.and_then(|at| self.groups.list.get(at)).map(|group| group.key) else { return };
        if !self.open.remove(&key) {
            self.open.insert(key);
        }
        self.lay_out(Some(Anchor::Group(key)));
    }

    /// Unfolds all groups, or folds all where one is unfolded.
    pub fn toggle_folds(&mut self) {
        let anchor = self.anchor();
        if self.open.is_empty() {
            self.open = self.groups.list.iter().map(|group| group.key).collect();
        } else {
            self.open.clear();
        }
        self.lay_out(anchor);
    }

    /// Puts the rows shown together, where they are to be.
    pub(super) fn group_shown(&mut self) {
        let word: fn(&WordSet) -> &str = match self.grouping {
            Grouping::None => {
                self.groups = Groups::default();
                return;
            }
            Grouping::Source => WordSet::source,
            Grouping::Kind | Grouping::Error | Grouping::Hour | Grouping::Reference => WordSet::kind,
        };
        let ranks = self.words.ranks(word);
        let rank_of = |id: u32| {
            let words = self.gists.get(id as usize).map_or(0, |gist| gist.words);
            ranks.get(words as usize).copied().unwrap_or(u32::MAX)
        };
        self.groups = Groups::arrange(self.grouping, &mut self.shown, &self.common, rank_of);
    }

    /// Says what stands on each line, and puts the cursor where it belongs.
    pub(super) fn lay_out(&mut self, anchor: Option<Anchor>) {
        self.lines.clear();
        if self.is_grouped() {
            for (at, group) in self.groups.list.iter_mut().enumerate() {
                group.is_open = self.open.contains(&group.key);
                self.lines.push(Line::Group(at));
                if group.is_open {
                    let rows = self.shown.get(group.rows.clone()).unwrap_or_default();
                    self.lines.extend(rows.iter().copied().map(Line::Row));
                }
            }
        }
        let line = anchor.and_then(|anchor| self.line_of(anchor));
        self.set_line(line.unwrap_or(if self.is_placed { self.cursor } else { 0 }));
    }

    /// The line of what the cursor was on; where that is folded away, its group's.
    fn line_of(&self, anchor: Anchor) -> Option<usize> {
        let group_line = |at| self.lines.iter().position(|line| *line == Line::Group(at));
        match anchor {
            Anchor::Group(key) => group_line(self.groups.list.iter().position(|group| group.key == key)?),
            Anchor::Row(id) if self.is_grouped() => {
                let line = self.lines.iter().position(|line| *line == Line::Row(id));
                line.or_else(|| {
                    let place = self.shown.iter().position(|other| *other == id)?;
                    group_line(self.groups.holding(place)?)
                })
            }
            Anchor::Row(id) => self.shown.iter().position(|other| *other == id),
        }
    }
}
