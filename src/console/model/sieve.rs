//! The filter at work on many rows: what words settle is worked out once for all rows that share them.

use super::row::{Gist, Row};
use super::sort::verdict_rank;
use super::texts::Texts;
use super::words::Words;
use crate::domain::advice::Advice;
use crate::domain::filter::{Facts, Filter, Folded, Rest};
use crate::domain::verdict::Verdict;
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::{ParallelSlice, ParallelSliceMut};

/// How many outcomes of a check there are: each verdict and none, with each advice and none.
const OUTCOMES: usize = (Verdict::ALL.len() + 1) * ADVICES;
const ADVICES: usize = Advice::ALL.len() + 1;

/// How many rows one thread asks at a time.
const CHUNK_ROWS: usize = 4_096;

/// Works out which rows pass; where `only_fewer`, of those alone that passed before.
pub fn sift(
    (filter, words): (&Filter, &Words),
    (rows, gists, texts): (&[Row], &[Gist], &Texts),
    passes: &mut [bool],
    only_fewer: bool,
) {
    let chunks =
        passes.par_chunks_mut(CHUNK_ROWS).zip(rows.par_chunks(CHUNK_ROWS).zip(gists.par_chunks(CHUNK_ROWS)));
    chunks.enumerate().for_each(|(number, (passes, (rows, gists)))| {
        let mut sieve = Sieve::new(filter, words);
        let places = number * CHUNK_ROWS..;
        for (((passing, row), gist), at) in passes.iter_mut().zip(rows).zip(gists).zip(places) {
            if *passing || !only_fewer {
                *passing = sieve.lets_through(row, gist, texts.get(at));
            }
        }
    });
}

/// A filter, and what it leaves open for each set of words.
pub struct Sieve<'a> {
    filter: &'a Filter,
    words: &'a Words,
    /// By words and outcome; `None` where that was not asked yet.
    rests: Vec<Option<Rest<'a>>>,
}

impl<'a> Sieve<'a> {
    /// A filter over rows that have these words.
    pub fn new(filter: &'a Filter, words: &'a Words) -> Self {
        Self { filter, words, rests: vec![None; words.len() * OUTCOMES] }
    }

    /// Whether a row passes, given its texts where they are kept.
    pub fn lets_through(&mut self, row: &Row, gist: &Gist, folded: Option<Folded<'_>>) -> bool {
        match (self.rest(gist), folded) {
            (Some(Rest::Settled(passes)), _) => *passes,
            (Some(Rest::Open(open)), Some(folded)) => open.passes(gist.age, gist.attempts, folded),
            (Some(Rest::Open(_)), None) | (Some(Rest::Whole) | None, _) => {
                self.filter.passes(&with_outcome(row.found.facts(), gist))
            }
        }
    }

    fn rest(&mut self, gist: &Gist) -> Option<&Rest<'a>> {
        let outcome = usize::from(verdict_rank(gist.verdict)) * ADVICES
            + gist.advice.map_or(Advice::ALL.len(), |advice| advice as usize);
        let rest = self.rests.get_mut(gist.words as usize * OUTCOMES + outcome)?;
        if rest.is_none() {
            let facts = self.words.get(gist.words)?.facts();
            *rest = Some(self.filter.given_words(&with_outcome(facts, gist)));
        }
        rest.as_ref()
    }
}

fn with_outcome<'a>(facts: Facts<'a>, gist: &Gist) -> Facts<'a> {
    Facts {
        verdict: gist.verdict.map_or("", Verdict::as_str),
        advice: gist.advice.map_or("", Advice::as_str),
        ..facts
    }
}

/// Whether a filter only grew by letters of a plain last word, so that it can only let fewer through.
pub fn narrows(before: &str, now: &str) -> bool {
    let Some(added) = now.strip_prefix(before) else { return false };
    let word = now.rsplit(char::is_whitespace).next().unwrap_or(now);
    !added.contains(char::is_whitespace)
        && !word.starts_with(['-', '!'])
        && !now.contains(['"', ':', '>', '<', '=', ','])
}
