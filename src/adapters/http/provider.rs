//! One operation of one configured provider, behind the port.

use crate::adapters::canary;
use crate::adapters::http::client::{Tried, exchange};
use crate::adapters::http::endpoint::{Endpoint, fixed_headers};
use crate::adapters::http::extract::{Reply, confirms, status_fault};
use crate::adapters::http::pacer::{NoTurn, Pacer};
use crate::adapters::http::paging::{After, Reading};
use crate::adapters::http::record::Record;
use crate::adapters::http::request::{self, Planned};
use crate::domain::evidence::{Answer, Clocks, Effect, Fault, FaultKind};
use crate::domain::listing::Listing;
use crate::domain::pace::{parse_reset, parse_retry_after};
use crate::domain::plan::Confirming;
use crate::ports::clock::Clock;
use crate::ports::provider::{Listed, Provider, ProviderFacts, Question, Told, Window};
use crate::preset::provider::{
    How, Limits, ListLookUp, LookUp, OperationSettings, ProviderPreset, ProviderSettings,
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use reqwest::header::HeaderMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep};

/// Headers that say when a spent allowance comes back.
const RESETS: [&str; 2] = ["ratelimit-reset", "x-ratelimit-reset"];

/// One operation of one configured provider.
pub struct HttpProvider {
    pub(super) facts: ProviderFacts,
    pub(super) how: How,
    listing: Option<Box<ListLookUp>>,
    headers: HeaderMap,
    canary: Option<String>,
    pub(super) limits: Limits,
    own_pacer: Option<Pacer>,
    own_in_flight: Option<Arc<Semaphore>>,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) clock: Arc<dyn Clock>,
}

/// How long something may take, and what that limit is called.
pub(super) struct Span {
    pub(super) deadline: Instant,
    max: Duration,
    what: &'static str,
    limit: &'static str,
}

impl Span {
    fn of_check(max: Duration) -> Self {
        Self { deadline: Instant::now() + max, max, what: "check", limit: "check_seconds_max" }
    }

    /// The time of a whole listing.
    pub(super) fn of_listing(max: Duration) -> Self {
        Self { deadline: Instant::now() + max, max, what: "listing", limit: "listing.seconds_max" }
    }

    fn took_too_long(&self) -> Fault {
        let (what, max, limit) = (self.what, self.max.as_secs_f64(), self.limit);
        Fault::new(FaultKind::TookTooLong, format!("the {what} took longer than {max} s ({limit})"))
    }
}

impl HttpProvider {
    /// Makes ready one operation. `name` is what the configuration calls it (`ledger.charge`), `endpoint` is shared by all
    /// operations of the same configured provider.
    ///
    /// # Errors
    /// A sentence: the preset has no such operation, or one of its templates needs what the configuration leaves out.
    pub fn build(
        name: &str,
        preset: &ProviderPreset,
        operation: &str,
        settings: &ProviderSettings,
        endpoint: Arc<Endpoint>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        let Some(found) = preset.operations.get(operation) else {
            let known: Vec<&str> = preset.operations.keys().map(String::as_str).collect();
            return Err(format!(
                "provider `{}` has no operation `{operation}`; it has {}",
                preset.name,
                known.join(", ")
            ));
        };
        let plain = OperationSettings::default();
        let otherwise = settings.operations.get(operation).unwrap_or(&plain);
        let wrong = |sentence| format!("provider `{}`, operation `{operation}`: {sentence}", preset.name);
        let (how, headers) = match &found.how {
            How::Ask(look) => (
                How::Ask(Box::new(look.filled_in(&endpoint.vars).map_err(wrong)?)),
                fixed_headers(&look.request.headers, &endpoint.vars).map_err(wrong)?,
            ),
            How::Sql(_) => return Err(wrong("it is read by SQL, not asked over HTTP".to_owned())),
            How::Unanswerable(why) => (How::Unanswerable(why.clone()), HeaderMap::new()),
        };
        let listing = match &found.listing {
            Some(listing) => {
                let look = listing.look.filled_in(&endpoint.vars).map_err(wrong)?;
                Some(Box::new(ListLookUp { look, ..(**listing).clone() }))
            }
            None => None,
        };
        let limits = preset.limits.within(settings.check_max);
        let own_pacer = otherwise.pace_per_second.or(found.pace_per_second).map(Pacer::new);
        let own_in_flight_max = otherwise.in_flight_max.or(found.in_flight_max).map(|max| max.max(1));
        Ok(Self {
            facts: ProviderFacts {
                name: name.into(),
                place: endpoint.place(),
                clocks: clocks(found.clocks, otherwise),
                in_flight_max: own_in_flight_max
                    .map_or(endpoint.in_flight_max, |max| max.min(endpoint.in_flight_max)),
                interval: own_pacer.as_ref().map_or(Duration::ZERO, Pacer::usual).max(endpoint.pacer.usual()),
                listing: found.listing.as_ref().map(|listing| listing.facts()),
                confirming: confirming(&how, otherwise.canary.is_some()),
                check_max: limits.check_max,
            },
            how,
            listing,
            headers,
            canary: otherwise.canary.clone(),
            limits,
            own_pacer,
            own_in_flight: own_in_flight_max.map(|max| Arc::new(Semaphore::new(max))),
            endpoint,
            clock,
        })
    }

    /// Nothing asked yet.
    pub(super) fn new_record<'check>(&'check self, question: &'check Question) -> Record<'check> {
        Record::new(&self.endpoint.secret, &question.mask, self.limits.bodies_kept_bytes_max)
    }

    /// Asks, and tells what came without anything secret.
    pub(super) async fn answer(&self, question: &Question, record: &mut Record<'_>) -> Answer {
        // The bounds in flight come first: waiting for others is not part of this check's time.
        let _in_flight = self.in_flight().await;
        let outcome = match &self.how {
            How::Sql(_) => Err(Fault::new(FaultKind::Unanswerable, "it is read by SQL, not asked over HTTP")),
            How::Unanswerable(why) => Err(Fault::new(FaultKind::Unanswerable, why.clone())),
            How::Ask(look) => self.read_all(look, question, record).await,
        };
        let secret = &self.endpoint.secret;
        match outcome {
            Ok(Answer::Complete { effects, seen_from }) => {
                Answer::Complete { effects: secret.masked_effects(effects), seen_from }
            }
            Ok(Answer::Fault(fault)) | Err(fault) => {
                Answer::Fault(Fault { detail: secret.masked(&fault.detail), ..fault })
            }
        }
    }

    async fn read_all(
        &self,
        look: &LookUp,
        question: &Question,
        record: &mut Record<'_>,
    ) -> Result<Answer, Fault> {
        let span = Span::of_check(self.limits.check_max);
        let (effects, seen_from) = self.read_pages(look, question, &span, record).await?;
        if effects.is_empty() {
            self.confirm_absence(look, question, &span, record).await?;
        }
        Ok(Answer::Complete { effects, seen_from })
    }

    /// Asks for what must be there, before an absence counts.
    async fn confirm_absence(
        &self,
        look: &LookUp,
        question: &Question,
        span: &Span,
        record: &mut Record<'_>,
    ) -> Result<(), Fault> {
        if let Some(confirm) = &look.confirm {
            let planned = request::confirming(confirm, &self.endpoint.base, question, &self.endpoint.vars)?;
            // No 404 is an answer here: that of a page after the first never is one.
            let answered = self.fetch(look, &planned, false, span, record).await;
            let confirmed = answered.and_then(|reply| confirms(confirm, &reply));
            confirmed.inspect_err(|fault| record.misread(fault)).map_err(|fault| {
                let why = "nothing is at our own address, and what holds it cannot be seen";
                Fault { detail: format!("{why}: {}", fault.detail), ..fault }
            })?;
        }
        match canary::due(self.canary.as_deref(), &question.reference) {
            Some(canary) => self.find_canary(canary, look, &question.mask, span, record).await,
            None => Ok(()),
        }
    }

    /// An absence of a list counts as little as one of a look-up where what is known to be there cannot be seen. A list goes
    /// no further back than its window, so the canary need not be on it: then it is asked for as ever, through the same
    /// account and the same fields.
    pub(super) async fn confirm_list(
        &self,
        listing: &Listing,
        window: &Window,
        record: &mut Record<'_>,
    ) -> Result<(), Fault> {
        let canary = self.canary.as_deref().filter(|canary| listing.pages_of(canary).is_empty());
        let (Some(canary), How::Ask(look)) = (canary, &self.how) else { return Ok(()) };
        let _in_flight = self.in_flight().await;
        let span = Span::of_check(self.limits.check_max);
        self.find_canary(canary, look, &window.mask, &span, record).await
    }

    async fn find_canary(
        &self,
        canary: &str,
        look: &LookUp,
        mask: &Arc<[String]>,
        span: &Span,
        record: &mut Record<'_>,
    ) -> Result<(), Fault> {
        let fields = BTreeMap::new();
        let known = Question { reference: canary.to_owned(), from: None, fields, mask: Arc::clone(mask) };
        let found = self.read_pages(look, &known, span, record).await;
        let is_absent = found.as_ref().is_ok_and(|(effects, _)| effects.is_empty());
        let is_found = found.map(|(effects, _)| !effects.is_empty());
        let confirmed = canary::confirmed(canary, is_found, "is what the look-up asks by spelled right?");
        confirmed.inspect_err(|fault| {
            if is_absent {
                record.misread(fault);
            }
        })
    }

    /// Every page: the effects that carry the reference, and from when on they could be seen.
    async fn read_pages(
        &self,
        look: &LookUp,
        question: &Question,
        span: &Span,
        record: &mut Record<'_>,
    ) -> Result<(Vec<Effect>, Option<DateTime<Utc>>), Fault> {
        let first =
            request::first(look, &self.endpoint.base, question, &self.endpoint.vars, self.clock.now())?;
        let mut planned = first.planned;
        let mut reading = Reading::new(look, &question.reference, &self.endpoint.vars, self.limits.pages_max);
        loop {
            let reply = self.fetch(look, &planned, reading.is_first_page(), span, record).await?;
            let after = reading.take(&reply).inspect_err(|fault| record.misread(fault))?;
            planned = match after {
                After::Whole => break,
                After::AskWith(value) => request::with(&planned, &look.paging.step, &value),
                After::AskAt(address) => {
                    request::at(&planned, &address).inspect_err(|fault| record.misread(fault))?
                }
            };
        }
        let effects = reading.into_effects().inspect_err(|fault| record.misread(fault))?;
        Ok((effects, first.seen_from))
    }

    /// One page, tried as often as its faults and the time allow.
    pub(super) async fn fetch(
        &self,
        look: &LookUp,
        planned: &Planned,
        is_first_page: bool,
        span: &Span,
        record: &mut Record<'_>,
    ) -> Result<Reply, Fault> {
        record.ask(planned);
        let mut tries_made = 0;
        let mut latest: Option<Fault> = None;
        loop {
            // A try that finds no time any more says what the tries before it met.
            if let Err(no_time) = self.turn(span).await {
                return Err(latest.unwrap_or(no_time));
            }
            let tried = self
                .try_once(planned, span, record, |reply| status_fault(look, reply, is_first_page))
                .await?;
            tries_made += 1;
            let Some(fault) = tried.fault else {
                self.went_well();
                return Ok(tried.reply);
            };
            let retry_after = told_wait(&tried.reply, fault.kind, self.clock.now());
            let wait = self.limits.patience.next_try(tries_made, fault.kind, retry_after);
            if fault.kind == FaultKind::RateLimited {
                let pause = retry_after.or(wait).unwrap_or(self.limits.patience.wait_first);
                self.slow_down(pause.min(self.limits.patience.retry_after_max));
            }
            let is_connect = fault.kind == FaultKind::Connect;
            match wait {
                Some(_) if is_connect && self.endpoint.reach.is_lost() => return Err(fault),
                Some(wait) if Instant::now() + wait < span.deadline => sleep(wait).await,
                Some(_) | None => {
                    if is_connect {
                        self.endpoint.reach.lost();
                    }
                    return Err(fault);
                }
            }
            latest = Some(fault);
        }
    }

    async fn try_once(
        &self,
        planned: &Planned,
        span: &Span,
        record: &mut Record<'_>,
        status_fault: impl Fn(&Reply) -> Option<Fault>,
    ) -> Result<Tried, Fault> {
        let time_max =
            || self.limits.request_max.min(span.deadline.saturating_duration_since(Instant::now()));
        self.endpoint.get_token(time_max()).await?;
        let (at, began) = (self.clock.now(), Instant::now());
        let request = self.endpoint.request(planned, &self.headers, at)?;
        let sent = if record.is_watched() { shown_headers(&request) } else { Vec::new() };
        let left = span.deadline.saturating_duration_since(began);
        let time_max = time_max();
        let mut tried =
            exchange(self.endpoint.client()?, request, time_max, self.limits.body_bytes_max).await;
        match &mut tried.fault {
            // What a status says counts more than how its body ended.
            fault if tried.reply.status != 0 && tried.reply.status != 200 => {
                *fault = status_fault(&tried.reply).or(fault.take());
            }
            Some(fault) if fault.kind == FaultKind::Timeout && left <= self.limits.request_max => {
                *fault = span.took_too_long();
            }
            _ => {}
        }
        if tried.reply.status == 401 {
            self.endpoint.forget_token();
        }
        record.tried(at, began, &tried);
        record.watch(planned, sent, began, &tried);
        Ok(tried)
    }

    async fn turn(&self, span: &Span) -> Result<(), Fault> {
        for pacer in self.pacers() {
            pacer.turn(span.deadline).await.map_err(|no_turn| match no_turn {
                NoTurn::Queue => span.took_too_long(),
                NoTurn::Paused => Fault::new(
                    FaultKind::RateLimited,
                    format!(
                        "the provider said to slow down, and the pause is longer than this {} may take",
                        span.what
                    ),
                ),
            })?;
        }
        Ok(())
    }

    /// A place among those that may be in flight at once. A closed semaphore would be an error; nobody closes these.
    pub(super) async fn in_flight(&self) -> [Option<SemaphorePermit<'_>>; 2] {
        let own = match &self.own_in_flight {
            Some(bound) => bound.acquire().await.ok(),
            None => None,
        };
        [own, self.endpoint.in_flight.acquire().await.ok()]
    }

    fn pacers(&self) -> impl Iterator<Item = &Pacer> {
        self.own_pacer.iter().chain([&self.endpoint.pacer])
    }

    fn slow_down(&self, pause: Duration) {
        self.pacers().for_each(|pacer| pacer.slow_down(pause));
    }

    fn went_well(&self) {
        self.endpoint.reach.found();
        self.pacers().for_each(Pacer::went_well);
    }
}

#[async_trait]
impl Provider for HttpProvider {
    fn facts(&self) -> &ProviderFacts {
        &self.facts
    }

    async fn ask(&self, question: &Question) -> Told {
        let mut record = self.new_record(question);
        let answer = self.answer(question, &mut record).await;
        Told {
            answer,
            evidence: record.finish(&self.facts.name, Some(&question.reference), self.clock.now()),
        }
    }

    async fn list(&self, window: &Window) -> Listed {
        let Some(listing) = &self.listing else { return Listed::not_listed(&self.facts.name) };
        self.list_whole(listing, window).await
    }
}

/// How many requests make sure of an absence; a canary that takes several pages is counted as one.
fn confirming(how: &How, has_canary: bool) -> Confirming {
    let of_canary = usize::from(has_canary);
    let of_address = matches!(how, How::Ask(look) if look.confirm.is_some());
    Confirming { of_item: of_canary + usize::from(of_address), of_list: of_canary }
}

/// The headers of a request, those hidden that prove who asks.
fn shown_headers(request: &reqwest::Request) -> Vec<(String, String)> {
    let shown = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
        let is_hidden = value.is_sensitive() || crate::domain::mask::is_secret_name(name.as_str());
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.to_string(), if is_hidden { crate::domain::mask::MASK.to_owned() } else { value })
    };
    request.headers().iter().map(shown).collect()
}

fn clocks(preset: Clocks, otherwise: &OperationSettings) -> Clocks {
    Clocks {
        settle: otherwise.settle.unwrap_or(preset.settle),
        lookback: otherwise.lookback.map_or(preset.lookback, crate::preset::provider::Lookback::span),
        key_ttl: otherwise.key_ttl.or(preset.key_ttl),
    }
}

/// How long an answer says to wait; the allowance's reset counts only where the allowance was what was missing.
fn told_wait(reply: &Reply, kind: FaultKind, now: DateTime<Utc>) -> Option<Duration> {
    let reset = || RESETS.iter().find_map(|name| parse_reset(reply.header(name)?, now));
    reply
        .header("retry-after")
        .and_then(|text| parse_retry_after(text, now))
        .or_else(|| if kind == FaultKind::RateLimited { reset() } else { None })
}
