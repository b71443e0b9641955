//! Check: ask the provider of one finding and judge the answer.

use crate::config::kind::Kind;
use crate::domain::advice::{Advice, Advised, advise};
use crate::domain::attempt::{Attempts, KeyProtection, KeyTold};
use crate::domain::audit::{Attachment, Event, NewEntry, Subject};
use crate::domain::evidence::{Answer, Clocks, Evidence, Fault, FaultKind, Hindrance};
use crate::domain::mask::mask_document;
use crate::domain::moment::{span, stamp};
use crate::domain::money::Money;
use crate::domain::timeline::origins::effect_json;
use crate::domain::verdict::{Judgement, Verdict, judge};
use crate::ports::provider::{Provider, ProviderFacts, Question, Told};
use crate::ports::receipts::Receipt;
use crate::ports::record::RecordFault;
use crate::workflow::desk::{Desk, template_fields};
use crate::workflow::list::List;
use crate::workflow::scan::{Found, payload_json};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use std::sync::Arc;

/// What a check came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The verdict and what it rests on.
    pub judgement: Judgement,
    /// The advice and its reasons.
    pub advised: Advised,
    /// What the provider's memory makes of a retry.
    pub key: KeyProtection,
    /// How the provider was asked; `None` where nobody could be asked.
    pub evidence: Option<Evidence>,
    /// When it was asked, by our clock.
    pub at: DateTime<Utc>,
}

impl Checked {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        self.judgement.verdict
    }

    /// What stood in the way of an answer, where it was not the answer itself.
    pub fn hindrance(&self) -> Option<Hindrance> {
        self.judgement.fault.as_ref()?.kind.hindrance()
    }

    /// The advice.
    pub fn advice(&self) -> Advice {
        self.advised.advice
    }
}

/// Asks the provider of a finding and judges what it says. Never fails: what goes wrong makes the verdict `unknown`.
pub async fn check(desk: &Desk, found: &Found) -> Checked {
    let kind = desk.kind(&found.finding.item.kind);
    let at = desk.clock.now();
    let provider = match find_provider(desk, kind, &found.finding.item.kind) {
        Ok(provider) => provider,
        Err(fault) => return unanswered(kind, found, fault, at),
    };
    let prepared = prepare_question(desk, kind, found).await;
    let (question, expected, key) = match prepared {
        Ok(prepared) => prepared,
        Err(fault) => return unanswered(kind, found, fault, at),
    };
    let told = named(provider.ask(&question).await, &provider.facts().name);
    weigh(found, told, provider.facts().clocks, expected.as_ref(), (key, kind.policy.stuck_after), at)
}

/// Judges a finding by a list that was read whole, or by the fault that it was. The list counts from when it began: what came
/// about while it was read may be on it or not.
pub(super) async fn check_by(desk: &Desk, found: &Found, list: &List, facts: &ProviderFacts) -> Checked {
    let kind = desk.kind(&found.finding.item.kind);
    let (question, expected, key) = match prepare_question(desk, kind, found).await {
        Ok(prepared) => prepared,
        Err(fault) => return unanswered(kind, found, fault, list.began),
    };
    let told = named(list.tell(&question.reference), &facts.name);
    weigh(found, told, facts.clocks, expected.as_ref(), (key, kind.policy.stuck_after), list.began)
}

/// What was told, where it does not count with whose answer that is: whoever reads it has several providers.
fn named(told: Told, name: &str) -> Told {
    let Answer::Fault(fault) = told.answer else { return told };
    Told { answer: Answer::Fault(Fault { detail: format!("{name}: {}", fault.detail), ..fault }), ..told }
}

/// Judges what a provider told, `at` being when the question was asked. Pure, but for its place.
fn weigh(
    found: &Found,
    told: Told,
    clocks: Clocks,
    expected: Option<&Money>,
    (key, attempt_max): (SentKey, TimeDelta),
    at: DateTime<Utc>,
) -> Checked {
    let finding = &found.finding;
    // The item's times are by its source's clock: so is the moment they are compared with.
    let source_now = at + found.clock_gap;
    let attempts = Attempts::of(&finding.item, attempt_max, source_now);
    let judgement = judge(told.answer, clocks, attempts, expected, source_now);
    let key = key.protection(source_now, attempts, clocks);
    let mut advised = advise(found.risk, finding.kind, &judgement, key, finding.held);
    if judgement.verdict == Verdict::NotFound
        && let Some(left) = attempts.shows_in(clocks.settle, source_now)
    {
        // Never a moment too early.
        let left = span(left + TimeDelta::milliseconds(999));
        advised.reasons.push(format!("Look again in {left}."));
    }
    Checked { judgement, advised, key, evidence: Some(told.evidence), at }
}

/// What is known of the idempotency key that an item's requests carry.
#[derive(Debug, Clone, Copy)]
struct SentKey {
    /// Whether they carry one.
    is_sent: bool,
    /// Whether each attempt has another.
    is_per_attempt: bool,
    /// What the item's error tells of it.
    told: Option<KeyTold>,
}

impl SentKey {
    /// What it is worth for a retry.
    fn protection(self, source_now: DateTime<Utc>, attempts: Attempts, clocks: Clocks) -> KeyProtection {
        if self.is_sent && self.is_per_attempt {
            return KeyProtection::PerAttempt.told(self.told);
        }
        KeyProtection::at(source_now, attempts, self.is_sent, clocks.key_ttl).told(self.told)
    }
}

fn unanswered(kind: &Kind, found: &Found, fault: Fault, at: DateTime<Utc>) -> Checked {
    let key =
        if kind.idempotency_key.is_some() { KeyProtection::MemoryUnknown } else { KeyProtection::NoKey };
    let judgement = Judgement::of_fault(fault, false);
    let advised = advise(found.risk, found.finding.kind, &judgement, key, found.finding.held);
    Checked { judgement, advised, key, evidence: None, at }
}

fn find_provider<'a>(desk: &'a Desk, kind: &Kind, called: &str) -> Result<&'a Arc<dyn Provider>, Fault> {
    let Some(name) = &kind.policy.check else {
        // A kind without a policy of its own is still told by its own name.
        let called = crate::domain::text::clean_cut(called, 40);
        let detail = format!("nobody is configured to ask about kind `{called}`");
        return Err(Fault::new(FaultKind::NobodyToAsk, detail));
    };
    desk.providers
        .get(name)
        .ok_or_else(|| Fault::new(FaultKind::NobodyToAsk, format!("no provider is configured as `{name}`")))
}

async fn prepare_question(
    desk: &Desk,
    kind: &Kind,
    found: &Found,
) -> Result<(Question, Option<Money>, SentKey), Fault> {
    let question_fault = |detail: String| Fault::new(FaultKind::Question, detail);
    let item = &found.finding.item;
    let source = desk
        .source(&item.source)
        .ok_or_else(|| question_fault(format!("the source `{}` is not open", item.source)))?;
    let payload = if kind.uses_payload() {
        payload_json(source, item).await.map_err(|fault| question_fault(fault.what))?
    } else {
        None
    };
    let fields = template_fields(item, None, payload.as_ref());
    let reference = match &found.reference {
        Ok(reference) if reference.trim().is_empty() => {
            return Err(question_fault("the reference is empty".to_owned()));
        }
        Ok(reference) => reference.to_string(),
        Err(why) => return Err(question_fault(why.to_string())),
    };
    let render = |template: &Option<crate::preset::template::Template>| {
        template.as_ref().map(|template| template.render(&fields)).transpose().map_err(question_fault)
    };
    let (amount, currency) = (render(&kind.amount)?, render(&kind.currency)?);
    let expected = amount
        .map(|amount| Money::read(&amount, currency.as_deref(), kind.policy.amount_unit))
        .transpose()
        .map_err(question_fault)?;
    let template = kind.idempotency_key.as_ref();
    let key = SentKey {
        is_sent: template.is_some_and(|template| template.render(&fields).is_ok()),
        is_per_attempt: template
            .is_some_and(|template| template.names().iter().any(|name| name == "attempts")),
        told: desk.errors.classify(item.last_error.text()).key,
    };
    let question = Question {
        reference,
        from: first_attempt_of(found),
        fields: fields.iter().map(|(name, value)| (name.clone(), value.to_string())).collect(),
        mask: Arc::clone(&kind.policy.mask),
    };
    Ok((question, expected, key))
}

/// The earliest moment, by our clock and with a margin, at which an effect of an item can have come about; `None` where its
/// source does not surely tell one.
pub(super) fn first_attempt_of(found: &Found) -> Option<DateTime<Utc>> {
    Attempts::first_of(&found.finding.item).map(|first| first - found.clock_gap - WINDOW_MARGIN)
}

/// How much earlier than the first attempt a window begins: clocks differ.
pub(crate) const WINDOW_MARGIN: TimeDelta = TimeDelta::minutes(10);

/// Puts checks on record, in one transaction, then among the receipts. Gives why they are not among the receipts, if so: on
/// record they are all the same.
///
/// # Errors
/// The audit's own fault: they are not on record.
pub async fn record_checks(
    desk: &Desk,
    checks: &[(&Found, &Checked)],
) -> Result<Option<RecordFault>, RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let entries =
        record.append(checks.iter().map(|(found, checked)| entry_of(desk, found, checked)).collect()).await?;
    if let Some(receipts) = &desk.receipts {
        for ((found, checked), entry) in checks.iter().zip(&entries) {
            // A receipt is a copy for log search; the record has the original.
            if let Err(why) = receipts.write(&receipt_of(desk, found, checked, entry.seq)) {
                return Ok(Some(RecordFault {
                    is_absent: false,
                    what: format!("the checks are in the audit and not among the receipts: {why}"),
                    do_next: "Mend the receipts file or take it out of the configuration.".to_owned(),
                }));
            }
        }
    }
    Ok(None)
}

fn entry_of(desk: &Desk, found: &Found, checked: &Checked) -> NewEntry {
    let item = &found.finding.item;
    let mut body = checked_json(found, checked);
    body[Subject::TABLE] = json!(desk.table_of(&item.source));
    NewEntry {
        at: checked.at,
        event: Event::Checked,
        decision: None,
        source: item.source.to_string(),
        key: item.key.as_str().to_owned(),
        operator: desk.operator.name.to_string(),
        origin: desk.origin(),
        body,
        attachments: attachments_of(checked),
    }
}

/// What a check says, as JSON for the record.
pub(super) fn checked_json(found: &Found, checked: &Checked) -> serde_json::Value {
    let item = &found.finding.item;
    json!({
        "kind": &*item.kind,
        "status": &*item.status,
        "finding": found.finding.kind.as_str(),
        "last_error": item.last_error.text().map(|text| mask_document(text, &found.mask)),
        "reference": found.reference.as_deref().ok(),
        "verdict": checked.verdict().as_str(),
        "effects": checked.judgement.happened_count(),
        "effect_ids": checked.judgement.effects.iter().map(|effect| effect.id.as_str()).collect::<Vec<_>>(),
        "effects_told": checked.judgement.effects.iter().map(effect_json).collect::<Vec<_>>(),
        "asked_for": found.money.as_deref().map(amount_json),
        "settled": checked.judgement.settled,
        "advice": checked.advice().as_str(),
        "reasons": checked.advised.reasons,
        "evidence": checked.evidence,
    })
}

/// How much an effect was, where the provider tells it.
/// An amount in the currency itself: a text, because a number would be read as a float.
fn amount_json(money: &Money) -> serde_json::Value {
    json!({ "amount": money.amount.to_string(), "currency": money.currency })
}

/// The answers to keep beside the chain.
pub(super) fn attachments_of(checked: &Checked) -> Vec<Attachment> {
    checked.evidence.as_ref().map(crate::workflow::list::attachments_of).unwrap_or_default()
}

fn receipt_of(desk: &Desk, found: &Found, checked: &Checked, entry: i64) -> Receipt {
    let item = &found.finding.item;
    Receipt {
        ts: stamp(checked.at),
        event: "unstuck_check".to_owned(),
        job_key: item.key.as_str().to_owned(),
        attempt: item.attempts,
        previous_status: item.status.to_string(),
        action: "check".to_owned(),
        reason: checked.advised.reasons.first().cloned(),
        operator: desk.operator.name.to_string(),
        verdict: Some(checked.verdict().as_str().to_owned()),
        audit: Some(entry),
    }
}

#[cfg(test)]
mod tests;
