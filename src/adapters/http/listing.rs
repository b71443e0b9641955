//! The whole list of an operation over a window, page by page.
//!
//! Every fault of a page is a fault of the list: half a list would be an absence for whoever is on the other half.

use crate::adapters::http::extract::{ListPage, Reply, read_list_page, shape};
use crate::adapters::http::paging::{After, Further, Sequence, Total, nobody_carries};
use crate::adapters::http::provider::{HttpProvider, Span};
use crate::adapters::http::record::Record;
use crate::adapters::http::request::{self, Planned};
use crate::adapters::http::secret::SecretKeeper;
use crate::domain::evidence::{Fault, FaultKind};
use crate::domain::listing::{ListedEffect, Listing};
use crate::ports::provider::{Listed, Window};
use crate::preset::provider::{LISTING_KEPT_BYTES_MAX, ListLookUp, Order, PageEnd, PageStep, Paging};
use crate::preset::template::Fields;
use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::{Instant, sleep};

/// How many times a listing goes on after a fault that passed, beside the tries of each page.
const RESUMES_MAX: usize = 3;
/// How far from their order items may come: servers that keep a list together are not of one mind to the second.
const ORDER_SLACK: TimeDelta = TimeDelta::minutes(1);

impl HttpProvider {
    /// Reads the list, and says how.
    pub(super) async fn list_whole(&self, listing: &ListLookUp, window: &Window) -> Listed {
        let secret = &self.endpoint.secret;
        let mut record = Record::new(secret, &window.mask, LISTING_KEPT_BYTES_MAX);
        let mut outcome = self.read_list(listing, window, &mut record).await;
        if let Ok(read) = &outcome
            && let Err(fault) = self.confirm_list(read, window, &mut record).await
        {
            outcome = Err(fault);
        }
        let outcome = outcome
            .and_then(|found| masked(secret, found))
            .map_err(|fault| Fault { detail: secret.masked(&fault.detail), ..fault });
        Listed { outcome, evidence: Some(record.finish(&self.facts.name, None, self.clock.now())) }
    }

    async fn read_list(
        &self,
        listing: &ListLookUp,
        window: &Window,
        record: &mut Record<'_>,
    ) -> Result<Listing, Fault> {
        let span = Span::of_listing(listing.listing_max);
        let vars = &self.endpoint.vars;
        let look = &listing.look;
        let first = request::first_of_list(look, &self.endpoint.base, window.from, vars, self.clock.now())?;
        let from = first.seen_from.or(window.from.filter(|_| is_cut_by_order(listing)));
        let mut reading = ListReading::new(listing, vars, from, window.pages_max);
        let mut planned = first.planned;
        let mut resumes_left = if is_cursor(&look.paging.step) { RESUMES_MAX } else { 0 };
        loop {
            let reply = self.page(listing, &planned, &reading, &span, &mut resumes_left, record).await?;
            let after = reading.take(&reply).inspect_err(|fault| record.misread(fault))?;
            planned = match after {
                After::Whole => break,
                After::AskWith(value) => request::with(&planned, &look.paging.step, &value),
                After::AskAt(address) => {
                    request::at(&planned, &address).inspect_err(|fault| record.misread(fault))?
                }
            };
        }
        let mut whole = reading.listing;
        let listed = whole.effects();
        if !listed.is_empty()
            && listed.iter().all(|effect| effect.references.is_empty())
            && let Some(fault) = nobody_carries(look, listed.len() as u64)
        {
            record.misread(&fault);
            return Err(fault);
        }
        whole.set_seen_from(from);
        Ok(whole)
    }

    /// One page. After a fault that may pass, the listing goes on from where it was, as long as a cursor says where that is.
    async fn page(
        &self,
        listing: &ListLookUp,
        planned: &Planned,
        reading: &ListReading<'_>,
        span: &Span,
        resumes_left: &mut usize,
        record: &mut Record<'_>,
    ) -> Result<Reply, Fault> {
        loop {
            // In flight only while a page is: others ask between two of them.
            let fetched = {
                let _in_flight = self.in_flight().await;
                self.fetch(&listing.look, planned, false, span, record).await
            };
            let wait = self.limits.patience.wait_max;
            match fetched {
                Err(fault)
                    if fault.kind.may_pass()
                        && reading.pages() > 0
                        && *resumes_left > 0
                        && Instant::now() + wait < span.deadline =>
                {
                    *resumes_left -= 1;
                    sleep(wait).await;
                }
                other => return other,
            }
        }
    }
}

/// Whether a place in the list is kept by the provider, so that going on there misses nothing.
fn is_cursor(step: &PageStep) -> bool {
    match step {
        PageStep::LastId { .. }
        | PageStep::Token { .. }
        | PageStep::HeaderToken { .. }
        | PageStep::NextUrl { .. }
        | PageStep::LinkHeader { .. } => true,
        PageStep::Single | PageStep::PageNumber { .. } | PageStep::Offset { .. } => false,
    }
}

/// Whether a page itself says that another item follows its last one.
fn says_whether_more(paging: &Paging) -> bool {
    matches!((&paging.step, &paging.end), (PageStep::LastId { .. }, PageEnd::More(_)))
}

/// Whether the order alone says where the window ends.
fn is_cut_by_order(listing: &ListLookUp) -> bool {
    listing.order == Some(Order::NewestFirst)
}

/// The listing with the secret hidden wherever it may show.
fn masked(secret: &SecretKeeper, mut listing: Listing) -> Result<Listing, Fault> {
    let is_shown = |reference: &String| secret.masked(reference) != *reference;
    if listing.effects().iter().flat_map(|listed| &listed.references).any(is_shown) {
        return Err(shape("a reference shows our secret"));
    }
    listing.map_effects(|effects| {
        let readable = effects.iter().filter_map(|listed| listed.read.as_ref().ok()).cloned().collect();
        let mut shown = secret.masked_effects(readable).into_iter();
        let hide = |listed: ListedEffect| match listed.read {
            Ok(read) => {
                let read = shown.next().unwrap_or(read);
                ListedEffect { id: read.id.clone(), read: Ok(read), ..listed }
            }
            Err(fault) => ListedEffect {
                id: secret.masked(&listed.id),
                read: Err(Fault { detail: secret.masked(&fault.detail), ..fault }),
                ..listed
            },
        };
        effects.into_iter().map(hide).collect()
    });
    Ok(listing)
}

/// The pages of a list as they come in.
struct ListReading<'look> {
    list: &'look ListLookUp,
    vars: &'look Fields,
    from: Option<DateTime<Utc>>,
    pages_max: usize,
    sequence: Sequence<'look>,
    bytes: usize,
    /// The oldest time so far, or the newest where those come last.
    edge: Option<DateTime<Utc>>,
    listing: Listing,
}

impl<'look> ListReading<'look> {
    fn new(
        list: &'look ListLookUp,
        vars: &'look Fields,
        from: Option<DateTime<Utc>>,
        pages_max: usize,
    ) -> Self {
        let pages_max = pages_max.min(list.pages_max);
        Self {
            list,
            vars,
            from,
            pages_max,
            sequence: Sequence::new(&list.look.paging, pages_max),
            bytes: 0,
            edge: None,
            listing: Listing::new(list.look.effects.reference_chars_max),
        }
    }

    fn pages(&self) -> usize {
        self.sequence.pages
    }

    /// Takes the next page in.
    fn take(&mut self, reply: &Reply) -> Result<After, Fault> {
        self.bytes += reply.body.len();
        if self.bytes > self.list.bytes_max {
            let sentence =
                format!("the list has more than {} bytes (listing.bytes_max)", self.list.bytes_max);
            return Err(Fault::new(FaultKind::BodyTooLarge, sentence));
        }
        let page = read_list_page(&self.list.look, self.vars, reply)?;
        if page.items == 0 && self.pages() > 0 && says_whether_more(&self.list.look.paging) {
            // Servers that no longer know the item after which to go on say so by an empty page.
            return Err(shape("a page that the one before said to be there is empty"));
        }
        let ids = page.effects.iter().map(|effect| effect.id.clone()).collect();
        let is_past = self.follow_order(&page)?;
        let number = self.pages();
        for effect in page.effects {
            self.listing.keep(ListedEffect { page: number, ..effect })?;
        }
        self.give_up_early(page.items, &page.further)?;
        match self.sequence.take(page.items, ids, &page.further) {
            // What follows is older still: nobody needs it, not even its being whole.
            Ok(_) | Err(Fault { kind: FaultKind::TooManyPages, .. }) if is_past => Ok(After::Whole),
            other => other,
        }
    }

    /// Whether the page goes beyond the window's beginning.
    ///
    /// # Errors
    /// The items do not come as the preset says, so that what is left out could be anything.
    fn follow_order(&mut self, page: &ListPage) -> Result<bool, Fault> {
        let Some(order) = self.list.order else { return Ok(false) };
        let times = page.effects.iter().filter_map(|effect| effect.read.as_ref().ok()?.at);
        for at in times {
            let edge = *self.edge.get_or_insert(at);
            let is_in_order = match order {
                Order::NewestFirst => at <= edge + ORDER_SLACK,
                Order::OldestFirst => at >= edge - ORDER_SLACK,
            };
            if !is_in_order {
                return Err(shape("the list's items do not come in the order that the preset says"));
            }
            self.edge = Some(match order {
                Order::NewestFirst => edge.min(at),
                Order::OldestFirst => edge.max(at),
            });
        }
        let is_past = |edge| self.from.is_some_and(|from| edge < from - ORDER_SLACK);
        Ok(order == Order::NewestFirst && self.edge.is_some_and(is_past))
    }

    /// A first page that tells how many there are tells whether to begin at all.
    fn give_up_early(&self, items: usize, further: &Further) -> Result<(), Fault> {
        let is_first = self.pages() == 0;
        let pages = match further.total {
            Some(Total::Items(total)) if items > 0 => total.div_ceil(items as u64),
            Some(Total::Pages(pages)) => pages,
            Some(Total::Items(_)) | None => return Ok(()),
        };
        let is_cut = is_cut_by_order(self.list) && self.from.is_some();
        if is_first && !is_cut && pages > self.pages_max as u64 {
            return Err(self.sequence.too_many());
        }
        Ok(())
    }
}
