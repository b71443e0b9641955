//! Whether pages are one whole, whatever is on them.

use super::{After, Further, Next, Total, more_than_one_page};
use crate::adapters::http::extract::shape;
use crate::domain::evidence::{Fault, FaultKind};
use crate::preset::provider::{PageStep, Paging};
use std::collections::HashSet;

/// Pages in their order: each once, none missing, none too many.
#[derive(Debug)]
pub struct Sequence<'look> {
    paging: &'look Paging,
    pages_max: usize,
    /// How many pages were read.
    pub pages: usize,
    /// How many items they have.
    pub items: u64,
    seen_pages: HashSet<Vec<String>>,
    seen_steps: HashSet<String>,
    /// Whether the page that comes next must be empty, because the one before was full and said nothing of it.
    must_be_empty: bool,
}

impl<'look> Sequence<'look> {
    /// Nothing read yet.
    pub fn new(paging: &'look Paging, pages_max: usize) -> Self {
        let (seen_pages, seen_steps) = (HashSet::new(), HashSet::new());
        Self { paging, pages_max, pages: 0, items: 0, seen_pages, seen_steps, must_be_empty: false }
    }

    /// Takes the next page in: how many items it has, the ids of its effects, and what it says of further ones.
    ///
    /// # Errors
    /// The fault that the pages are together: a repeated page, a cursor that was there before, an empty page that says
    /// there is more, more pages than `pages_max`.
    pub fn take(&mut self, items: usize, ids: Vec<String>, further: &Further) -> Result<After, Fault> {
        self.pages += 1;
        self.items += items as u64;
        let after = self.after(items, further)?;
        self.must_be_empty = further.next == Next::Unsaid;
        if items > 0 && !ids.is_empty() && !self.seen_pages.insert(ids) {
            return Err(shape("the same page came twice"));
        }
        let step = match &after {
            After::Whole => return Ok(after),
            After::AskWith(step) | After::AskAt(step) => step.clone(),
        };
        if items == 0 {
            return Err(shape("an empty page that says there is more"));
        }
        if self.pages >= self.pages_max {
            return Err(self.too_many());
        }
        if !self.seen_steps.insert(step) {
            return Err(shape("the pages go round in a circle: a cursor came twice"));
        }
        Ok(after)
    }

    /// The fault of an answer that goes on too long.
    pub fn too_many(&self) -> Fault {
        let sentence = format!("the answer has more than {} pages (pages_max)", self.pages_max);
        Fault::new(FaultKind::TooManyPages, sentence)
    }

    fn after(&self, items: usize, further: &Further) -> Result<After, Fault> {
        if self.must_be_empty && items > 0 {
            return Err(shape(
                "the first page has no Link header, and there is a second one: this server does not page as the preset says",
            ));
        }
        let complete = match further.total {
            // Pages after the first were told of: silence there is the end.
            None => further.next == Next::End || (further.next == Next::Unsaid && self.pages > 1),
            // A count that is too small would end the reading too early.
            Some(Total::Items(total)) if self.items > total => {
                return Err(shape("the answer has more items than it says"));
            }
            Some(Total::Pages(total)) if items > 0 && self.pages as u64 > total => {
                return Err(shape("the answer has more pages than it says"));
            }
            Some(Total::Items(total)) => self.items == total,
            Some(Total::Pages(total)) => self.pages as u64 >= total,
        };
        if complete {
            return Ok(After::Whole);
        }
        match (&further.next, &self.paging.step) {
            (Next::With(value), _) => Ok(After::AskWith(value.clone())),
            (Next::Url(url), _) => Ok(After::AskAt(url.clone())),
            (Next::Counted, PageStep::PageNumber { first, .. }) => {
                Ok(After::AskWith(first.saturating_add(self.pages as u64).to_string()))
            }
            (Next::Counted, _) => Ok(After::AskWith(self.items.to_string())),
            (Next::Unsaid, PageStep::LinkHeader { second: Some(second) }) => {
                Ok(After::AskWith(second.number.to_string()))
            }
            (Next::Unsaid, _) => Err(shape(
                "the first page is full and says nothing of another one: whether it is the last cannot be known",
            )),
            (Next::End, PageStep::Single) => Err(more_than_one_page()),
            (Next::End, _) => Err(shape("the answer says that there is more, and not where")),
        }
    }
}
