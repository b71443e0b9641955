//! Where the operator has been: filters and groupings, to go back to and forward again; and views kept under a name.

use super::findings::Identity;
use super::groups::Grouping;
use super::sort::{Column, Sort};

/// What of the findings is shown, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outlook {
    /// The filter as it was typed.
    pub filter: String,
    /// The order.
    pub sort: Sort,
    /// What rows are grouped by.
    pub grouping: Grouping,
}

impl Outlook {
    /// It in words, for a list of views.
    pub fn told(&self) -> String {
        let filter = if self.filter.is_empty() {
            "all findings".to_owned()
        } else {
            super::facets::told(&self.filter)
        };
        let turned = if self.sort.reversed { ", turned round" } else { "" };
        let grouped = match self.grouping {
            Grouping::None => String::new(),
            other => format!(", grouped by {}", other.as_str()),
        };
        format!("{filter}, {}{turned}{grouped}", self.sort.column.title())
    }
}

/// An outlook under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedView {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub outlook: Outlook,
}

impl SavedView {
    /// A view from its words in a configuration.
    ///
    /// # Errors
    /// A sentence: a filter that is none, or a word for order or group that does not exist.
    pub fn read(
        name: &str,
        (filter, sort, group): (Option<&str>, Option<&str>, Option<&str>),
        reversed: bool,
    ) -> Result<Self, String> {
        let told = crate::domain::text::clean_cut(name, 40);
        let filter = filter.unwrap_or_default();
        crate::domain::filter::Filter::parse(filter)
            .map_err(|fault| format!("`views.{told}.filter`: {fault}"))?;
        let column = named(sort, &Column::ALL, Column::as_str)
            .map_err(|known| format!("`views.{told}.sort`: there are {known}"))?;
        let grouping = named(group, &Grouping::ALL, Grouping::as_str)
            .map_err(|known| format!("`views.{told}.group`: there are {known}"))?;
        let outlook = Outlook { filter: filter.to_owned(), sort: Sort { column, reversed }, grouping };
        Ok(Self { name: name.to_owned(), outlook })
    }
}

/// The value of a word; the default where none is written.
fn named<T: Copy + Default>(
    word: Option<&str>,
    all: &[T],
    spell: fn(T) -> &'static str,
) -> Result<T, String> {
    let Some(word) = word else { return Ok(T::default()) };
    let found = all.iter().copied().find(|value| spell(*value) == word);
    found.ok_or_else(|| all.iter().map(|value| spell(*value)).collect::<Vec<_>>().join(", "))
}

/// One place where the operator has been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jump {
    /// What was shown.
    pub outlook: Outlook,
    /// The finding under the cursor; `None` where a group was, or nothing.
    pub at: Option<Identity>,
}

/// How many places are remembered.
const JUMPS_MAX: usize = 100;

/// Where the operator has been.
#[derive(Debug, Default)]
pub struct Trail {
    back: Vec<Jump>,
    forward: Vec<Jump>,
}

impl Trail {
    /// Remembers a place that is about to be left for a new one.
    pub fn leave(&mut self, jump: Jump) {
        if self.back.last().is_some_and(|last| last.outlook == jump.outlook) {
            self.back.pop();
        }
        if self.back.len() >= JUMPS_MAX {
            self.back.remove(0);
        }
        self.back.push(jump);
        self.forward.clear();
    }

    /// Goes back from a place: where to; `None` at the beginning.
    pub fn back_from(&mut self, here: Jump) -> Option<Jump> {
        step(&mut self.back, &mut self.forward, here)
    }

    /// Goes forward from a place: where to; `None` at the end.
    pub fn forward_from(&mut self, here: Jump) -> Option<Jump> {
        step(&mut self.forward, &mut self.back, here)
    }
}

fn step(from: &mut Vec<Jump>, to: &mut Vec<Jump>, here: Jump) -> Option<Jump> {
    let there = from.pop()?;
    to.push(here);
    Some(there)
}
