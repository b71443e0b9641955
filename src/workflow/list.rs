//! List: read what a provider did over a window, once, for many checks.

use crate::domain::audit::{Attachment, Event, NewEntry};
use crate::domain::evidence::{Answer, Asked, Evidence, Fault, FaultKind, ListingPart};
use crate::domain::listing::Listing;
use crate::ports::provider::{Provider, Told, Window};
use crate::workflow::desk::Desk;
use chrono::{DateTime, Utc};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A list as it was read, or the fault that it was.
#[derive(Debug)]
pub struct List {
    /// When it was begun, by our clock.
    pub began: DateTime<Utc>,
    /// What it shows, or why it counts as not read.
    pub outcome: Result<Listing, Fault>,
    /// How it was read; `None` where nothing was asked.
    pub evidence: Option<Evidence>,
}

impl List {
    /// The same, read as a fault where no effect has a reference: it shows not even that it would show one.
    pub(super) fn that_shows_something(mut self) -> Self {
        let shows_nothing =
            |listing: &Listing| listing.effects().iter().all(|effect| effect.references.is_empty());
        if self.outcome.as_ref().is_ok_and(shows_nothing) {
            let sentence = "the list shows no effect with a reference, which proves nothing of any";
            self.outcome = Err(Fault::new(FaultKind::Shape, sentence));
        }
        self
    }

    /// What it says of one reference, as an answer to a question for that reference would.
    pub(super) fn tell(&self, reference: &str) -> Told {
        let answer = match &self.outcome {
            Ok(listing) => listing.answer(reference),
            Err(fault) => Answer::Fault(fault.clone()),
        };
        Told { answer, evidence: self.evidence_of(reference) }
    }

    /// The part of the evidence that a check keeps: which listing, and the pages that show its reference.
    fn evidence_of(&self, reference: &str) -> Evidence {
        let mut part = Evidence { asked: Vec::new(), ..self.bare() };
        part.reference = Some(reference.to_owned());
        if let (Ok(listing), Some(whole)) = (&self.outcome, &self.evidence) {
            let pages: BTreeSet<usize> = listing.pages_of(reference).into_iter().collect();
            let shown = pages_of(whole).enumerate().filter(|(number, _)| pages.contains(number));
            part.asked = shown.map(|(_, asked)| asked.clone()).collect();
        }
        part
    }

    /// The evidence without requests and answers: those are on record with the listing.
    fn bare(&self) -> Evidence {
        let (pages, effects) = match (&self.evidence, &self.outcome) {
            (Some(whole), Ok(listing)) => (pages_of(whole).count(), listing.effects().len()),
            (Some(whole), Err(_)) => (pages_of(whole).count(), 0),
            (None, _) => (0, 0),
        };
        let from = self.outcome.as_ref().ok().and_then(Listing::seen_from);
        let whole = self.evidence.as_ref();
        Evidence {
            check: whole.map(|whole| whole.check.clone()).unwrap_or_default(),
            reference: None,
            at: whole.map_or(self.began, |whole| whole.at),
            took_ms: whole.map_or(0, |whole| whole.took_ms),
            asked: Vec::new(),
            hash: whole.map(|whole| whole.hash.clone()).unwrap_or_default(),
            listing: Some(ListingPart { began: self.began, from, pages, effects }),
            bodies: Vec::new(),
        }
    }
}

/// The requests that brought a page, in order: a page that was given up, and asked for anew later, is another request.
fn pages_of(evidence: &Evidence) -> impl Iterator<Item = &Asked> {
    evidence.asked.iter().filter(|asked| asked.tries.last().is_some_and(|one| one.fault.is_none()))
}

/// Reads a list and puts it on record: the checks made from it refer to it.
pub(super) async fn list(
    desk: &Desk,
    provider: &Arc<dyn Provider>,
    from: Option<DateTime<Utc>>,
    pages_max: usize,
) -> List {
    let began = desk.clock.now();
    let window = Window { from, pages_max, mask: desk.masks().into() };
    let listed = provider.list(&window).await;
    let mut list = List { began, outcome: listed.outcome, evidence: listed.evidence };
    if let Err(why) = record(desk, &list).await {
        list.outcome = Err(Fault::new(FaultKind::Question, why));
    }
    list
}

/// Puts a listing on record, with every answer.
async fn record(desk: &Desk, list: &List) -> Result<(), String> {
    // Without an audit the checks themselves tell that they are not on record.
    let (Ok(record), Some(evidence)) = (&desk.record, &list.evidence) else { return Ok(()) };
    let fault = list.outcome.as_ref().err();
    let entry = NewEntry {
        at: list.began,
        event: Event::Listed,
        decision: None,
        source: String::new(),
        key: evidence.check.clone(),
        operator: desk.operator.name.to_string(),
        origin: desk.origin(),
        body: json!({
            "operation": evidence.check,
            "from": list.outcome.as_ref().ok().and_then(Listing::seen_from),
            "effects": list.outcome.as_ref().ok().map(|listing| listing.effects().len()),
            "fault": fault.map(|fault| json!({ "kind": fault.kind, "detail": fault.detail })),
            "evidence": evidence,
        }),
        attachments: attachments_of(evidence),
    };
    match record.append(vec![entry]).await {
        Ok(_) => Ok(()),
        Err(fault) => Err(format!("the list could not be put on record: {}", fault.what)),
    }
}

/// The answers to keep beside the chain, each under its own hash.
pub(super) fn attachments_of(evidence: &Evidence) -> Vec<Attachment> {
    // Every answer with a body is kept, also that of a try that was made again: in the same order, so each has its own hash.
    let answers = evidence.asked.iter().flat_map(|asked| &asked.tries).filter(|one| one.body_bytes > 0);
    let hashes = answers.filter_map(|one| one.body_sha256.clone());
    hashes.zip(&evidence.bodies).map(|(sha256, text)| Attachment { sha256, text: text.to_string() }).collect()
}
