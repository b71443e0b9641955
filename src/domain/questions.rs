//! The six questions of an incident with duplicates, each answered "yes", "no" or "not known, because …".
//!
//! "No" is an answer only where something shows it. What nobody wrote down, what no log covers and what nobody was asked is
//! never a "no".

mod answers;
#[cfg(test)]
mod tests;

use crate::domain::error_class::ErrorTable;
use crate::domain::item::State;
use crate::domain::moment::stamp;
use crate::domain::timeline::{ItemName, Run, Timeline};
use chrono::{DateTime, Utc};
use std::sync::Arc;

/// One of the six.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// Which item?
    Item,
    /// What is its natural key?
    NaturalKey,
    /// How many runs in the period?
    Runs,
    /// Was there a time-out, deploy, restart or network error?
    Trouble,
    /// Did the effect come before or after the state was recorded?
    EffectFirst,
    /// Is there a record that ties attempt, item and result together?
    Record,
}

impl Question {
    /// All six, in the order in which they are asked.
    pub const ALL: [Self; 6] =
        [Self::Item, Self::NaturalKey, Self::Runs, Self::Trouble, Self::EffectFirst, Self::Record];

    /// The word as JSON spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Item => "item",
            Self::NaturalKey => "natural_key",
            Self::Runs => "ran_more_than_once",
            Self::Trouble => "trouble",
            Self::EffectFirst => "effect_before_state",
            Self::Record => "record",
        }
    }

    /// The question, so that it has a "yes" and a "no".
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Item => "Is it known which item it is?",
            Self::NaturalKey => "Does it have one natural key?",
            Self::Runs => "Did it run more than once in the period?",
            Self::Trouble => "Was there a time-out, deploy, restart or network error?",
            Self::EffectFirst => "Did every effect come before its state was recorded?",
            Self::Record => "Does a record tie attempt, item and result together?",
        }
    }
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// Something shows it.
    Yes,
    /// Something shows the contrary.
    No,
    /// Nothing that counts shows either.
    NotKnown,
}

impl Answer {
    /// The word as JSON spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::NotKnown => "not_known",
        }
    }
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// Which question.
    pub question: Question,
    /// Its answer.
    pub answer: Answer,
    /// What, how many, or why nobody knows: the words that follow "yes:", "no:" and "not known, because".
    pub told: String,
    /// The numbers of the lines that show it.
    pub lines: Vec<usize>,
}

impl Answered {
    /// The whole answer as a person reads it.
    pub fn sentence(&self) -> String {
        match self.answer {
            Answer::Yes => format!("yes: {}", self.told),
            Answer::No => format!("no: {}", self.told),
            Answer::NotKnown => format!("not known, because {}", self.told),
        }
    }
}

/// One item as its source tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemFacts {
    /// Its name.
    pub name: ItemName,
    /// Its kind.
    pub kind: Arc<str>,
    /// Its native status.
    pub status: Arc<str>,
    /// What that amounts to.
    pub state: State,
    /// How many attempts its row counts; `None` where it counts none.
    pub attempts: Option<i64>,
    /// Whether its row may have been deleted to be tried again, so that it counts only its latest life.
    pub tried_once: bool,
}

/// What is known of the provider's effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectsKnown {
    /// A good answer with every effect.
    Told,
    /// The same as of then: what came about since nobody asked for.
    OnRecord(String),
    /// Nobody asked, or only ids are on record.
    NotAsked,
    /// Somebody asked, and no answer counts: why.
    Fault(String),
    /// Nobody asked now, and what was told before is in a record that could not be read: why.
    RecordUnread(String),
}

/// What logs were given, and how far they were read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    /// How many logs a configuration names.
    pub given: usize,
    /// How many files were read.
    pub files: usize,
    /// How many lines they have.
    pub lines: u64,
    /// How many of those could not be read.
    pub broken: u64,
    /// The time of the earliest line that tells one.
    pub first: Option<DateTime<Utc>>,
    /// The time of the latest line that tells one.
    pub last: Option<DateTime<Utc>>,
    /// What could not be read, a sentence each.
    pub troubles: Vec<String>,
    /// Whether lines of ours were left out, because there were too many.
    pub is_cut: bool,
}

impl Coverage {
    /// Whether a line of this moment would surely be among those read.
    pub fn covers(&self, at: DateTime<Utc>) -> bool {
        let spans = self.first.is_some_and(|first| first <= at) && self.last.is_some_and(|last| at <= last);
        self.is_whole() && spans
    }

    /// Whether everything that was given was read.
    pub fn is_whole(&self) -> bool {
        self.given > 0 && self.files > 0 && self.broken == 0 && self.troubles.is_empty() && !self.is_cut
    }

    /// How far the logs reach, in words.
    pub fn reach(&self) -> String {
        match (self.first, self.last) {
            (Some(first), Some(last)) => format!("from {} to {}", stamp(first), stamp(last)),
            _ => "without a time".to_owned(),
        }
    }

    /// Why an absence in the logs shows nothing of a moment.
    pub fn why_not(&self, at: Option<DateTime<Utc>>) -> String {
        if self.given == 0 {
            return "no log of receipts was given (`[[receipts]]`)".to_owned();
        }
        if let Some(trouble) = self.troubles.first() {
            return format!("a log could not be read: {trouble}");
        }
        if self.files == 0 {
            return "the logs that were given have no file".to_owned();
        }
        if self.broken > 0 {
            return format!("{} of {} lines of the logs cannot be read", self.broken, self.lines);
        }
        if self.is_cut {
            return "the logs have more lines of it than are kept".to_owned();
        }
        match at {
            None => "it has no time that could be looked for in the logs".to_owned(),
            Some(_) => format!("the logs reach only {}", self.reach()),
        }
    }
}

/// Everything the answers rest on.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The items that share the reference, the one that was asked for first. Empty where its row is gone.
    pub items: &'a [ItemFacts],
    /// What the provider knows the item by, or why that cannot be said.
    pub reference: Result<&'a str, &'a str>,
    /// Everything in order.
    pub timeline: &'a Timeline,
    /// The runs that it tells of.
    pub runs: &'a [Run],
    /// What is known of the effects.
    pub effects: &'a EffectsKnown,
    /// What logs were given.
    pub logs: &'a Coverage,
    /// What lists of marks were given.
    pub marks: &'a Coverage,
    /// What error texts prove.
    pub errors: &'a ErrorTable,
}

/// Answers all six.
pub fn answer(known: &Known<'_>) -> Vec<Answered> {
    Question::ALL.into_iter().map(|question| answers::answer(question, known)).collect()
}
