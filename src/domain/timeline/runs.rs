//! Runs: the attempts that the lines of a timeline add up to.

use super::{Ending, ItemName, Line, Origin, Timeline, Told, What};
use chrono::{DateTime, Utc};

/// One run of one item, as far as its lines tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Run {
    /// Of which item.
    pub item: Option<ItemName>,
    /// Which attempt it says it is.
    pub attempt: Option<i64>,
    /// Who ran it.
    pub owner: Option<String>,
    /// When it began; `None` where nobody wrote it down.
    pub start: Option<DateTime<Utc>>,
    /// When it ended; `None` where nobody wrote it down.
    pub end: Option<DateTime<Utc>>,
    /// How it ended; `None` where nobody wrote it down.
    pub ending: Option<Ending>,
    /// The error it told.
    pub error: Option<String>,
    /// The idempotency key it sent.
    pub idempotency_key: Option<String>,
    /// The effect that it names itself.
    pub effect: Option<String>,
    /// The lines that tell of it, by number.
    pub lines: Vec<usize>,
    /// Whether something else than the row tells of it.
    pub is_on_record: bool,
}

impl Run {
    /// The moment by which it is sorted: its start, or else its end.
    pub fn moment(&self) -> Option<DateTime<Utc>> {
        self.start.or(self.end)
    }

    /// How a person calls it.
    pub fn name(&self) -> String {
        let item = self.item.as_ref().map(|item| format!(" of {item}")).unwrap_or_default();
        match self.attempt {
            Some(attempt) => format!("attempt {attempt}{item}"),
            None => format!("a run{item}"),
        }
    }

    fn take(&mut self, line: &Line, told: &Told) {
        self.lines.push(line.number);
        self.attempt = self.attempt.or(told.attempt);
        self.owner = self.owner.take().or_else(|| told.owner.clone());
        self.error = told.error.clone().or_else(|| self.error.take());
        self.idempotency_key = self.idempotency_key.take().or_else(|| told.idempotency_key.clone());
        self.effect = self.effect.take().or_else(|| told.effect.clone());
        self.is_on_record |= line.happening.origin != Origin::Row;
    }
}

/// The runs that a timeline tells of, in the order of their moments.
///
/// What logs and lists of attempts tell comes first; the row adds a run only where they tell of none that it can mean.
pub fn runs(timeline: &Timeline) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let of_record = |line: &&Line| line.happening.origin != Origin::Row;
    for line in timeline.lines.iter().filter(of_record) {
        match &line.happening.what {
            What::Started(told) => begin(&mut runs, line, told),
            What::Ended(ending, told) => end(&mut runs, line, *ending, told),
            _ => {}
        }
    }
    for line in timeline.lines.iter().filter(|line| line.happening.origin == Origin::Row) {
        add_row(&mut runs, line);
    }
    runs.sort_by_key(Run::moment);
    runs
}

/// Two names mean one item where one of them only lacks the source.
fn same_item(one: Option<&ItemName>, other: Option<&ItemName>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            one.key == other.key
                && (one.source == other.source || one.source.is_empty() || other.source.is_empty())
        }
        _ => true,
    }
}

fn begin(runs: &mut Vec<Run>, line: &Line, told: &Told) {
    let mut run = Run { item: line.happening.item.clone(), start: Some(line.at), ..Run::default() };
    run.take(line, told);
    runs.push(run);
}

fn end(runs: &mut Vec<Run>, line: &Line, ending: Ending, told: &Told) {
    let item = line.happening.item.as_ref();
    let fits = |run: &&mut Run| {
        let is_open = run.end.is_none() && same_item(run.item.as_ref(), item);
        let same_attempt = match (run.attempt, told.attempt) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        let same_owner = match (&run.owner, &told.owner) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        is_open && same_attempt && same_owner
    };
    let place = runs.iter_mut().rev().find(fits);
    let run = if let Some(run) = place {
        run
    } else {
        runs.push(Run { item: item.cloned(), ..Run::default() });
        let last = runs.len() - 1;
        &mut runs[last]
    };
    run.end = Some(line.at);
    run.ending = Some(ending);
    run.take(line, told);
}

/// The row tells of its latest run only: that is one of the runs on record, unless it began after all of them had ended.
fn add_row(runs: &mut Vec<Run>, line: &Line) {
    let item = line.happening.item.as_ref();
    match &line.happening.what {
        What::Started(told) => {
            let covers = |run: &&mut Run| {
                let after_start = run.start.is_none_or(|start| start <= line.latest());
                same_item(run.item.as_ref(), item) && after_start && run.end.is_none_or(|end| line.at <= end)
            };
            if let Some(run) = runs.iter_mut().find(covers) {
                run.start = run.start.or(Some(line.at));
                run.lines.push(line.number);
            } else {
                begin(runs, line, told);
            }
        }
        What::Ended(ending, told) => {
            let last = runs.iter_mut().rev().find(|run| same_item(run.item.as_ref(), item));
            match last {
                Some(run) if run.is_on_record && (run.end.is_some() || run.start <= Some(line.at)) => {
                    run.lines.push(line.number);
                    run.end = run.end.or(Some(line.at));
                    run.ending = run.ending.or(Some(*ending));
                    run.error = run.error.take().or_else(|| told.error.clone());
                }
                _ => end(runs, line, *ending, told),
            }
        }
        _ => {}
    }
}
