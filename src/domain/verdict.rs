//! The verdict: what the evidence says. Pure, and the most careful place of the program.

use crate::domain::attempt::Attempts;
use crate::domain::evidence::{Answer, Clocks, Effect, EffectState, Fault};
use crate::domain::moment::{span, stamp};
use crate::domain::money::Money;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What the evidence says of an item's effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// More than one effect happened.
    Duplicated,
    /// One effect happened, with another amount or currency than was asked for.
    Mismatch,
    /// One effect happened.
    Happened,
    /// The provider has not decided yet.
    Pending,
    /// The provider knows of it, and it did not happen.
    Failed,
    /// A look that could have seen an effect saw none.
    NotFound,
    /// Nothing that counts is known.
    Unknown,
}

impl Verdict {
    /// Every verdict, the worst first.
    pub const ALL: [Self; 7] = [
        Self::Duplicated,
        Self::Mismatch,
        Self::Happened,
        Self::Pending,
        Self::Failed,
        Self::NotFound,
        Self::Unknown,
    ];

    /// The word as files and JSON spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Duplicated => "duplicated",
            Self::Mismatch => "mismatch",
            Self::Happened => "happened",
            Self::Pending => "pending",
            Self::Failed => "failed",
            Self::NotFound => "not_found",
            Self::Unknown => "unknown",
        }
    }

    /// Whether a retry could repeat an effect that is there, on its way, or perhaps there (rule 4).
    pub fn forbids_retry(self) -> bool {
        match self {
            Self::Happened | Self::Duplicated | Self::Pending | Self::Mismatch | Self::Unknown => true,
            Self::NotFound | Self::Failed => false,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A verdict with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Every effect under our reference, each id once.
    pub effects: Vec<Effect>,
    /// Whether an absence has had time to show.
    pub settled: bool,
    /// Why an answer did not count, where the verdict is `unknown` for a fault.
    pub fault: Option<Fault>,
    /// Why this verdict, in plain sentences.
    pub reasons: Vec<String>,
}

impl Judgement {
    /// How many distinct effects really happened.
    pub fn happened_count(&self) -> usize {
        self.count(EffectState::Happened)
    }

    /// How many distinct effects are still undecided.
    pub fn pending_count(&self) -> usize {
        self.count(EffectState::Pending)
    }

    fn count(&self, state: EffectState) -> usize {
        self.effects.iter().filter(|effect| effect.state == state).count()
    }

    /// A judgement of `unknown` for a fault.
    pub fn of_fault(fault: Fault, settled: bool) -> Self {
        let reasons = vec![format!("No answer that counts: {fault}.")];
        Self { verdict: Verdict::Unknown, effects: Vec::new(), settled, fault: Some(fault), reasons }
    }
}

/// Judges an answer.
///
/// `expected` is the amount the job asked for, where it is known. `now` is the moment the question was *asked*: an effect
/// that came about later could not have been seen.
pub fn judge(
    answer: Answer,
    clocks: Clocks,
    attempts: Attempts,
    expected: Option<&Money>,
    now: DateTime<Utc>,
) -> Judgement {
    let settled = attempts.last.is_some_and(|last| last <= now && now - last >= clocks.settle);
    let (effects, seen_from) = match answer {
        Answer::Fault(fault) => return Judgement::of_fault(fault, settled),
        Answer::Complete { effects, seen_from } => (effects, seen_from),
    };
    let (effects, contradictory) = distinct(effects);
    let (verdict, reasons) = if let Some(id) = contradictory {
        (Verdict::Unknown, vec![format!("The answer tells two statuses of effect {}.", shown(&id))])
    } else if effects.is_empty() {
        absence(clocks, attempts, seen_from, settled, now)
    } else {
        presence(&effects, expected)
    };
    Judgement { verdict, effects, settled, fault: None, reasons }
}

/// Each id once; and an id that came with two different statuses.
fn distinct(effects: Vec<Effect>) -> (Vec<Effect>, Option<String>) {
    let mut by_id: BTreeMap<String, EffectState> = BTreeMap::new();
    let mut once = Vec::with_capacity(effects.len());
    let mut contradictory = None;
    for effect in effects {
        match by_id.insert(effect.id.clone(), effect.state) {
            None => once.push(effect),
            Some(earlier) if earlier != effect.state => contradictory = Some(effect.id),
            Some(_) => {}
        }
    }
    (once, contradictory)
}

fn presence(effects: &[Effect], expected: Option<&Money>) -> (Verdict, Vec<String>) {
    let of = |state| effects.iter().filter(|effect| effect.state == state).collect::<Vec<_>>();
    let (happened, pending) = (of(EffectState::Happened), of(EffectState::Pending));
    let (failed, unlisted) = (of(EffectState::Failed), of(EffectState::Unlisted));
    let mut reasons: Vec<String> = Vec::new();
    if happened.len() > 1 {
        reasons.push(format!(
            "The provider has {} effects that happened: {}.",
            happened.len(),
            ids(&happened)
        ));
        if let Some(gap) = gap_between(&happened) {
            reasons.push(format!("They lie {gap} apart."));
        }
        return (Verdict::Duplicated, reasons);
    }
    if let Some(odd) = unlisted.first() {
        reasons.push(format!(
            "Effect {} has the status `{}`, which the preset does not list.",
            shown(&odd.id),
            shown(&odd.status)
        ));
        return (Verdict::Unknown, reasons);
    }
    if let [only] = happened[..] {
        let time = only.at.map(|at| format!(" at {}", stamp(at))).unwrap_or_default();
        reasons.push(format!(
            "The provider has effect {} with status `{}`{time}.",
            shown(&only.id),
            shown(&only.status)
        ));
        reasons.extend((!failed.is_empty()).then(|| format!("{} other tries failed there.", failed.len())));
        reasons
            .extend((!pending.is_empty()).then(|| format!("Another is still pending: {}.", ids(&pending))));
        return match difference(only, expected) {
            Some(sentence) => {
                reasons.push(sentence);
                (Verdict::Mismatch, reasons)
            }
            None => (Verdict::Happened, reasons),
        };
    }
    if !pending.is_empty() {
        reasons.push(format!("The provider has not decided yet: {}.", ids(&pending)));
        return (Verdict::Pending, reasons);
    }
    reasons.push(format!("The provider knows of it, and it did not happen: {}.", ids(&failed)));
    (Verdict::Failed, reasons)
}

fn difference(effect: &Effect, expected: Option<&Money>) -> Option<String> {
    let expected = expected?;
    let Some(money) = &effect.money else {
        return Some(format!("The job asked for {expected}; the answer tells no amount."));
    };
    (!money.agrees_with(expected)).then(|| format!("The job asked for {expected}; the provider did {money}."))
}

fn absence(
    clocks: Clocks,
    attempts: Attempts,
    seen_from: Option<DateTime<Utc>>,
    settled: bool,
    now: DateTime<Utc>,
) -> (Verdict, Vec<String>) {
    let unknown =
        |sentence: String| (Verdict::Unknown, vec!["The provider shows nothing.".to_owned(), sentence]);
    let Some(last) = attempts.last else {
        return unknown("When the last attempt was is not known, so an absence proves nothing.".to_owned());
    };
    if last > now {
        return unknown(format!("The last attempt lies in the future ({}): a clock is wrong.", stamp(last)));
    }
    let earliest = attempts.first.unwrap_or(last).min(last);
    if let Some(lookback) = clocks.lookback
        && now - earliest >= lookback
    {
        return unknown(format!(
            "The attempt is {} old and the look-up sees only {} back.",
            span(now - earliest),
            span(lookback)
        ));
    }
    if let Some(from) = seen_from
        && from > earliest
    {
        return unknown(format!("The look-up saw only what came after {}.", stamp(from)));
    }
    let age = span(now - last);
    let sentence = if settled {
        format!("Every page was read and nothing carries our reference; the last attempt was {age} ago.")
    } else {
        format!(
            "Nothing carries our reference yet, but the last attempt was only {age} ago and an effect may take {} to show.",
            span(clocks.settle)
        )
    };
    let mut reasons = vec![sentence];
    let bounded = clocks.lookback.is_some() || seen_from.is_some();
    if attempts.first.is_none() && bounded {
        reasons.push(
            "When it was first tried is not known: the look-up may not reach back to an earlier attempt."
                .to_owned(),
        );
    }
    (Verdict::NotFound, reasons)
}

fn gap_between(effects: &[&Effect]) -> Option<String> {
    let times: Vec<_> = effects.iter().filter_map(|effect| effect.at).collect();
    let (first, last) = (times.iter().min()?, times.iter().max()?);
    (times.len() == effects.len()).then(|| span(*last - *first))
}

fn ids(effects: &[&Effect]) -> String {
    const IDS_SHOWN_MAX: usize = 5;
    let mut listed: Vec<String> = effects
        .iter()
        .take(IDS_SHOWN_MAX)
        .map(|effect| format!("{} (`{}`)", shown(&effect.id), shown(&effect.status)))
        .collect();
    if effects.len() > IDS_SHOWN_MAX {
        listed.push(format!("and {} more", effects.len() - IDS_SHOWN_MAX));
    }
    listed.join(", ")
}

fn shown(text: &str) -> String {
    crate::domain::text::clean_cut(text, 80)
}

#[cfg(test)]
mod tests;
