//! The texts of all findings for the filter, folded, in one piece: a letter typed goes through them from end to end.

use crate::domain::filter::{Ends, Facts, Folded, fold};

/// The folded texts, one span a row.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    all: String,
    spans: Vec<Option<Span>>,
    /// How many bytes belong to no row any more.
    left_bytes: usize,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    from: u32,
    to: u32,
    ends: Ends,
}

impl Texts {
    /// The texts of a row; `None` where they are too long to be kept.
    pub fn get(&self, at: usize) -> Option<Folded<'_>> {
        let span = (*self.spans.get(at)?)?;
        Some(Folded::new(self.text(span)?, span.ends))
    }

    fn text(&self, span: Span) -> Option<&str> {
        self.all.get(span.from as usize..span.to as usize)
    }

    /// Takes in the texts of one more row.
    pub fn push(&mut self, facts: &Facts<'_>) {
        let span = self.write(facts);
        self.spans.push(span);
    }

    fn write(&mut self, facts: &Facts<'_>) -> Option<Span> {
        let from = u32::try_from(self.all.len()).ok()?;
        let ends = fold(facts, &mut self.all)?;
        let to = u32::try_from(self.all.len()).ok()?;
        Some(Span { from, to, ends })
    }

    /// Takes in the texts of a row anew. Most are as they were: then nothing moves.
    pub fn set(&mut self, at: usize, facts: &Facts<'_>) {
        let before = self.spans.get(at).copied().flatten();
        let now = self.write(facts);
        if let (Some(before), Some(now)) = (before, now)
            && before.ends == now.ends
            && self.text(before) == self.text(now)
        {
            self.all.truncate(now.from as usize);
            return;
        }
        self.left_bytes += before.map_or(0, |span| (span.to - span.from) as usize);
        if let Some(span) = self.spans.get_mut(at) {
            *span = now;
        }
        self.tidy();
    }

    /// Keeps the texts of the rows that have a new number.
    pub fn keep(&mut self, kept_as: &[Option<u32>]) {
        let mut new = kept_as.iter();
        let left = &mut self.left_bytes;
        self.spans.retain(|span| {
            let is_kept = new.next().is_some_and(Option::is_some);
            *left += span.filter(|_| !is_kept).map_or(0, |span| (span.to - span.from) as usize);
            is_kept
        });
        self.tidy();
    }

    /// Closes the gaps once they make up half of it all.
    fn tidy(&mut self) {
        if self.left_bytes * 2 <= self.all.len() {
            return;
        }
        let mut all = String::with_capacity(self.all.len().saturating_sub(self.left_bytes));
        for span in self.spans.iter_mut().flatten() {
            let begin = u32::try_from(all.len()).unwrap_or(u32::MAX);
            all.push_str(self.all.get(span.from as usize..span.to as usize).unwrap_or(""));
            (span.from, span.to) = (begin, begin + (span.to - span.from));
        }
        (self.all, self.left_bytes) = (all, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::filter::Filter;
    use crate::domain::filter::Rest;
    use proptest::prelude::*;

    fn facts(key: &str) -> Facts<'_> {
        Facts { key, error: "Read timed out", ..Facts::default() }
    }

    /// Whether the texts of a row are those of a key.
    fn is_kept(texts: &Texts, at: usize, key: &str) -> bool {
        let filter = Filter::parse(&format!("key:{key} -key:{key}x error:\"d out\"")).unwrap();
        let Rest::Open(open) = filter.given_words(&Facts::default()) else { panic!("nothing is open") };
        texts.get(at).is_some_and(|folded| open.passes(None, None, folded))
    }

    proptest! {
        /// Whatever is added, changed and taken out, each row has its own texts, and not much else is kept.
        #[test]
        fn each_row_has_its_own_texts(steps in proptest::collection::vec((0_u8..3, 0_usize..20, "[ab]{1,9}"), 1..60)) {
            let (mut texts, mut plain) = (Texts::default(), Vec::new());
            for (step, at, key) in steps {
                match (step, plain.get_mut(at)) {
                    (0, Some(known)) => {
                        texts.set(at, &facts(&key));
                        *known = key;
                    }
                    (1, Some(_)) => {
                        let kept: Vec<_> = (0..plain.len()).map(|other| (other != at).then_some(0)).collect();
                        texts.keep(&kept);
                        plain.remove(at);
                    }
                    _ => {
                        texts.push(&facts(&key));
                        plain.push(key);
                    }
                }
                for (at, key) in plain.iter().enumerate() {
                    prop_assert!(is_kept(&texts, at, key));
                }
                let needed: usize = plain.iter().map(|key| key.len() + "\n\n\nread timed out".len()).sum();
                prop_assert!(texts.all.len() <= 2 * needed);
            }
        }
    }
}
