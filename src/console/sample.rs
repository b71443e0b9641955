//! Made-up findings, checks and consoles, for tests and benches: the same at each call.

use super::message::{Message, ScanMessage};
use super::{Model, Setup, ViewState, update};
use crate::domain::advice::advise;
use crate::domain::attempt::{Attempts, KeyProtection};
use crate::domain::cell::Cell;
use crate::domain::error_class::ErrorClass;
use crate::domain::evidence::{Asked, Effect, EffectState, Evidence, Fault, FaultKind, Try};
use crate::domain::finding::{Finding, FindingKind, Sorted};
use crate::domain::item::{Item, ItemKey, LastError, State, Times};
use crate::domain::moment::Reading;
use crate::domain::money::{Money, Unit};
use crate::domain::policy::{Approvals, Risk};
use crate::domain::verdict::{Judgement, Verdict};
use crate::workflow::scan::FoundPage;
use crate::workflow::{Checked, Found};
use chrono::{DateTime, TimeDelta, Utc};
use ratatui::layout::Size;
use std::sync::Arc;

/// The moment of every sample: 2026-05-04, three at night.
pub fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_777_863_600, 0).unwrap_or_default()
}

/// A console's setup with two sources.
pub fn setup(width: u16, height: u16) -> Setup {
    let source = |name: &str| (name.to_owned(), format!("/srv/{name}.db"));
    Setup {
        sources: vec![source("billing"), source("mailer")],
        operator: "ana".to_owned(),
        size: Size { width, height },
        now: now(),
        title: Some("demo, seed 7".to_owned()),
        ..Setup::default()
    }
}

/// A finding: every third is an unconfirmed mail, the others are stuck invoices; number 7 has no time at all.
pub fn found(number: usize) -> Found {
    let is_mail = number % 3 == 2;
    let (source, kind) = if is_mail { ("mailer", "email") } else { ("billing", "invoice") };
    let minutes = i64::try_from(31 + number * 7 % 4_000).unwrap_or(31);
    let since = (number != 7).then(|| now() - TimeDelta::minutes(minutes));
    let text = if number.is_multiple_of(2) {
        "Read timed out. (read timeout=10)"
    } else {
        "Connection reset by peer"
    };
    let status = if is_mail { "failed" } else { "running" };
    let key = format!("{kind}:{number}:2026-05");
    let item = Item {
        source: source.into(),
        key: ItemKey::new(vec![Cell::text(key.as_str())]),
        kind: kind.into(),
        status: status.into(),
        state: if is_mail { State::Failed } else { State::Running },
        attempts: i64::try_from(number % 5 + 1).ok(),
        tried_once: is_mail,
        times: Times { updated: since.map_or(Reading::Missing, Reading::Known), ..Times::default() },
        last_error: if is_mail { LastError::of(text) } else { LastError::Absent },
        fields: vec![("status".into(), Cell::text(status))],
        oddities: Vec::new(),
    };
    let sorted =
        Sorted { class: ErrorClass::Ambiguous, why: "the request was sent and no answer came".into() };
    let finding = Finding {
        kind: if is_mail { FindingKind::Ambiguous } else { FindingKind::Stuck },
        error: is_mail.then_some(sorted),
        since,
        age: since.map(|since| now() - since),
        held: false,
        notes: if number == 7 { vec!["It tells no start time.".to_owned()] } else { Vec::new() },
        item,
    };
    Found {
        risk: if is_mail { Risk::CheckFirst } else { Risk::Financial },
        approvals: Approvals::One,
        mask: Arc::default(),
        reference: Ok(key.into()),
        money: None,
        clock_gap: TimeDelta::zero(),
        finding,
    }
}

/// A check of a finding that came to a verdict, with the advice that the rules draw from it.
pub fn checked(found: &Found, verdict: Verdict) -> Checked {
    let effect = |number: usize, state: EffectState, status: &str| Effect {
        id: format!("ch_{number}a7f"),
        status: status.to_owned(),
        state,
        money: Money::read("1041", Some("BRL"), Unit::Minor).ok(),
        at: Some(
            now() - TimeDelta::minutes(40) + TimeDelta::seconds(34 * i64::try_from(number).unwrap_or(0)),
        ),
        link: None,
    };
    let happened = |number| effect(number, EffectState::Happened, "succeeded");
    let (effects, reason) = match verdict {
        Verdict::Duplicated => (vec![happened(1), happened(2)], "The provider has 2 effects that happened."),
        Verdict::Mismatch => (vec![happened(1)], "The provider has 10.41 BRL, the job asked for 10.40 BRL."),
        Verdict::Happened => (vec![happened(1)], "The provider has effect ch_1a7f with status `succeeded`."),
        Verdict::Pending => {
            (vec![effect(1, EffectState::Pending, "processing")], "Effect ch_1a7f is `processing`.")
        }
        Verdict::Failed => {
            (vec![effect(1, EffectState::Failed, "declined")], "Effect ch_1a7f is `declined`.")
        }
        Verdict::NotFound => (Vec::new(), "Every page was read and nothing carries our reference."),
        Verdict::Unknown => (Vec::new(), "No answer that counts: HTTP 503 three times."),
    };
    let judgement = Judgement {
        verdict,
        effects,
        settled: true,
        fault: (verdict == Verdict::Unknown)
            .then(|| Fault::new(FaultKind::ServerError, "HTTP 503 three times")),
        reasons: vec![reason.to_owned()],
    };
    let key =
        KeyProtection::at(now(), Attempts::of(&found.finding.item, TimeDelta::zero(), now()), false, None);
    let advised = advise(found.risk, found.finding.kind, &judgement, key, false);
    let status = if verdict == Verdict::Unknown { 503 } else { 200 };
    let tried = Try {
        at: now() - TimeDelta::seconds(9),
        took_ms: 84,
        status: Some(status),
        fault: None,
        detail: None,
        body_sha256: None,
        body_bytes: 212,
    };
    let reference = found.reference.as_deref().ok().map(str::to_owned);
    let evidence = Evidence {
        check: "ledger.charges".to_owned(),
        asked: vec![Asked {
            method: "GET".to_owned(),
            url: format!("http://127.0.0.1:8421/charges?reference={}", reference.as_deref().unwrap_or("")),
            tries: vec![tried],
        }],
        reference,
        at: now() - TimeDelta::seconds(9),
        took_ms: 84,
        hash: "9f2c11d0a5b34e".to_owned(),
        listing: None,
        bodies: Vec::new(),
    };
    Checked { judgement, advised, key, evidence: Some(evidence), at: now() - TimeDelta::seconds(9) }
}

/// A page of so many findings of one source, as a scan brings them.
pub fn page(source: &str, numbers: impl Iterator<Item = usize>) -> FoundPage {
    FoundPage {
        found: numbers.map(found).filter(|found| &*found.finding.item.source == source).collect(),
        source_now: now(),
        clock_gap: TimeDelta::zero(),
    }
}

/// A console that has read so many findings.
pub fn console(setup: Setup, findings: usize) -> Model {
    let (mut model, _) = Model::start(setup);
    let view = ViewState::default();
    for source in ["billing", "mailer"] {
        let page = page(source, 0..findings);
        let message = ScanMessage::Page { run: 1, source: Arc::from(source), page };
        update(&mut model, &view, Message::Scan(message));
    }
    update(&mut model, &view, Message::Scan(ScanMessage::Ended { run: 1, at: now() }));
    model
}
