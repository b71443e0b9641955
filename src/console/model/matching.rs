//! What the providers did matched with what the jobs say, as it is looked at: all that does not match, or what happened twice.

use super::Loading;
use super::findings::Identity;
use crate::domain::duplicates::Duplicate;
use crate::domain::finding::FindingKind;
use crate::domain::money::Money;
use crate::workflow::reconcile::words::{Step, not_listed};
use crate::workflow::reconcile::{Reconciled, Scope, Unaccounted};
use crate::workflow::story::{Doubles, Member, Story};
use crate::workflow::sweep::{Answered, Unrecorded};
use chrono::TimeDelta;
use std::sync::Arc;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Matching {
    /// What happened more than once.
    Duplicates,
    /// All that does not match.
    Reconcile,
}

impl Matching {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Duplicates, Self::Reconcile];

    /// Its name on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Duplicates => "Duplicates",
            Self::Reconcile => "Reconcile",
        }
    }
}

/// How far back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Two hours.
    Hours,
    /// A day.
    Day,
    /// A week.
    Week,
}

impl Reach {
    /// The next one; after the longest comes the shortest.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Hours => Self::Day,
            Self::Day => Self::Week,
            Self::Week => Self::Hours,
        }
    }

    /// How long it is.
    pub fn since(self) -> TimeDelta {
        match self {
            Self::Hours => TimeDelta::hours(2),
            Self::Day => TimeDelta::hours(24),
            Self::Week => TimeDelta::days(7),
        }
    }

    /// It as a person writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hours => "2h",
            Self::Day => "24h",
            Self::Week => "7d",
        }
    }

    /// What is matched.
    pub fn scope(self) -> Scope {
        Scope { since: self.since(), source: None }
    }
}

/// A heading in a list of what does not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// What could not be looked at.
    NotRead,
    /// Items that are odd in one way.
    Items(FindingKind),
    /// Effects that no item accounts for.
    Unaccounted,
    /// References under which more than one effect happened.
    Twice,
}

/// One line of a list.
#[derive(Debug, Clone)]
pub enum Row {
    /// A heading, and how many stand under it.
    Heading(Heading, usize),
    /// Something that could not be looked at; whether asking about single items helps.
    NotRead {
        /// What, in a sentence.
        what: String,
        /// What to do; `None` where asking about single items is all there is.
        do_next: Option<String>,
    },
    /// An item that does not match.
    Item(Answered),
    /// An effect that no item accounts for.
    Effect(Box<Unaccounted>),
    /// A reference under which more than one effect happened.
    Group(Arc<Story>),
}

impl Row {
    /// The item that a decision, a timeline or a look would be about.
    pub fn identity(&self) -> Option<Identity> {
        match self {
            Self::Item((found, _)) => Some(Identity::of(&found.finding.item)),
            Self::Group(story) => member_of(story).map(|member| Identity::of(&member.found.finding.item)),
            Self::Heading(..) | Self::NotRead { .. } | Self::Effect(_) => None,
        }
    }

    /// Whether every check that it rests on is on record, as far as it rests on any.
    pub fn is_on_record(&self, unrecorded: &Unrecorded) -> bool {
        match self {
            Self::Item((found, _)) => unrecorded.is_on_record(&found.finding.item),
            Self::Group(story) => {
                story.members.iter().all(|member| unrecorded.is_on_record(&member.found.finding.item))
            }
            Self::Heading(..) | Self::NotRead { .. } | Self::Effect(_) => true,
        }
    }

    /// The group, if it is one.
    pub fn duplicate(&self) -> Option<(&Arc<Story>, &Duplicate)> {
        match self {
            Self::Group(story) => Some((story, story.duplicate.as_ref()?)),
            Self::Heading(..) | Self::NotRead { .. } | Self::Item(_) | Self::Effect(_) => None,
        }
    }

    /// What it is known by when the same is read again.
    fn name(&self) -> String {
        match self {
            Self::Heading(heading, _) => format!("{heading:?}"),
            Self::NotRead { what, .. } => what.clone(),
            Self::Item((found, _)) => format!("{:?}", Identity::of(&found.finding.item)),
            Self::Effect(effect) => format!("{} {}", effect.operation, effect.effect.id),
            Self::Group(story) => format!("{} {:?}", story.operation, story.reference),
        }
    }
}

/// The item of a group that is decided on: the first that needs a person by its row, else the first.
pub fn member_of(story: &Story) -> Option<&Member> {
    story.members.iter().find(|member| member.is_finding).or(story.members.first())
}

/// What came of a matching.
#[derive(Debug, Clone, Default)]
pub struct Matched {
    /// The lines.
    pub rows: Vec<Row>,
    /// What it adds up to.
    pub summary: String,
    /// How many lines are about what does not match.
    pub odd: usize,
    /// How many are about what could not be looked at.
    pub not_read: usize,
    /// Whether nothing at all could be looked at, so that no count is a comfort.
    pub is_nothing_read: bool,
    /// What was charged beyond first effects, and how many of those tell no amount; `None` where nobody asked for that.
    pub beyond_first: Option<(Vec<Money>, usize)>,
    /// What of it the record did not take.
    pub unrecorded: Unrecorded,
}

impl Matched {
    /// All that does not match, in the order of how much it hurts.
    pub fn of_both(reconciled: Reconciled, scope: &Scope) -> Self {
        let summary = reconciled.summary(scope);
        let is_nothing_read = reconciled.nothing_read().is_some();
        let (mut rows, not_read) = not_read(&reconciled);
        let Reconciled { items, unaccounted, .. } = reconciled;
        let odd = items.len() + unaccounted.len();
        let mut items = items;
        for kind in [FindingKind::Duplicate, FindingKind::Lost, FindingKind::Mismatch] {
            let (of_kind, others): (Vec<_>, Vec<_>) =
                items.into_iter().partition(|(found, _)| found.finding.kind == kind);
            items = others;
            if !is_nothing_read || !of_kind.is_empty() {
                rows.push(Row::Heading(Heading::Items(kind), of_kind.len()));
            }
            rows.extend(of_kind.into_iter().map(Row::Item));
        }
        if !is_nothing_read || !unaccounted.is_empty() {
            rows.push(Row::Heading(Heading::Unaccounted, unaccounted.len()));
        }
        rows.extend(unaccounted.into_iter().map(|effect| Row::Effect(Box::new(effect))));
        let unrecorded = Unrecorded::default();
        Self { rows, summary, odd, not_read, is_nothing_read, beyond_first: None, unrecorded }
    }

    /// What happened more than once, the earliest second effect first.
    pub fn of_doubles(doubles: Doubles, scope: &Scope) -> Self {
        let (summary, beyond_first) = (doubles.summary(scope), doubles.beyond_first());
        let is_nothing_read = doubles.nothing_read().is_some();
        let (mut rows, not_read) = not_read(&doubles.reconciled);
        let is_group = |story: &Story| story.duplicate.is_some();
        let groups: Vec<Row> =
            doubles.stories.into_iter().filter(is_group).map(|story| Row::Group(Arc::new(story))).collect();
        let odd = groups.len();
        if (not_read > 0 && !is_nothing_read) || odd > 0 {
            rows.push(Row::Heading(Heading::Twice, odd));
        }
        rows.extend(groups);
        let unrecorded = Unrecorded::default();
        Self { rows, summary, odd, not_read, is_nothing_read, beyond_first: Some(beyond_first), unrecorded }
    }
}

/// What could not be looked at: first of all, because what is not there below may be in it.
fn not_read(reconciled: &Reconciled) -> (Vec<Row>, usize) {
    let row = |what: String, do_next: Option<String>| Row::NotRead { what, do_next };
    let lists =
        reconciled.not_listed.iter().map(|(name, fault, items)| row(not_listed(name, fault, *items), None));
    let sources = reconciled.unread.iter().map(|fault| row(fault.what.clone(), Some(fault.do_next.clone())));
    let items = reconciled.unconfirmed_told().map(|(told, _)| row(told, None));
    let unreferenced = reconciled.unreferenced_told().map(|told| row(told, Some(String::new())));
    let short_sighted = reconciled.short_sighted_told().map(|told| row(told, Some(String::new())));
    let rows: Vec<Row> = lists.chain(sources).chain(items).chain(short_sighted).chain(unreferenced).collect();
    let count = rows.len();
    let heading = (count > 0).then_some(Row::Heading(Heading::NotRead, count));
    (heading.into_iter().chain(rows).collect(), count)
}

/// The view of a matching.
#[derive(Debug)]
pub struct MatchView {
    /// How far back.
    pub reach: Reach,
    /// What came of it.
    pub result: Loading<Matched>,
    /// How far it is; `None` before it told anything.
    pub step: Option<Step>,
    /// The line of the cursor.
    pub cursor: usize,
    /// How far the detail is scrolled.
    pub scroll: u16,
    /// What the cursor was on when it was begun anew.
    stood_on: Option<String>,
}

impl MatchView {
    /// Nothing matched yet.
    pub fn new(reach: Reach) -> Self {
        Self { reach, result: Loading::Idle, step: None, cursor: 0, scroll: 0, stood_on: None }
    }

    /// The lines that are there.
    pub fn rows(&self) -> &[Row] {
        self.result.ready().map(|matched| &*matched.rows).unwrap_or_default()
    }

    /// The line under the cursor.
    pub fn current(&self) -> Option<&Row> {
        self.rows().get(self.cursor)
    }

    /// Whether it is under way.
    pub fn is_running(&self) -> bool {
        matches!(self.result, Loading::Loading { .. })
    }

    /// Puts the cursor on a line, or the last one there is.
    pub fn move_to(&mut self, line: usize) {
        self.cursor = line.min(self.rows().len().saturating_sub(1));
        self.scroll = 0;
    }

    /// It begins, as the task of a number.
    pub fn begin(&mut self, result: Loading<Matched>) {
        self.stood_on = self.current().map(Row::name).or(self.stood_on.take());
        (self.result, self.step) = (result, None);
    }

    /// Takes in what came; the cursor stays on its line, else it is on the first that does not match.
    pub fn end(&mut self, result: Loading<Matched>) {
        (self.result, self.step) = (result, None);
        let stood_on = self.stood_on.take();
        let rows = self.rows();
        let same = stood_on.and_then(|name| rows.iter().position(|row| row.name() == name));
        let is_odd = |row: &Row| matches!(row, Row::Item(_) | Row::Effect(_) | Row::Group(_));
        let line = same.or_else(|| rows.iter().position(is_odd));
        self.move_to(line.unwrap_or(0));
    }
}
