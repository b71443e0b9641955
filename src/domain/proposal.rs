//! A proposal: a decision that waits for a second person, with all that its proposer saw.

use crate::domain::audit::{Entry, Event, RecordedBy};
use crate::domain::decision::{Choice, Operator, Reason};
use crate::domain::evidence::EffectState;
use crate::domain::item::Row;
use crate::domain::moment::stamp;
use crate::domain::verdict::{Judgement, Verdict};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// What the provider showed, as far as an approval depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sight {
    /// The verdict.
    pub verdict: Verdict,
    /// Every effect, ordered by its id.
    pub effects: Vec<SeenEffect>,
}

/// One effect as it was seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeenEffect {
    /// The provider's id.
    pub id: String,
    /// What its status amounts to.
    pub state: EffectState,
    /// Amount and currency in words; `None` where the answer tells none.
    pub amount: Option<String>,
}

impl Sight {
    /// What a judgement saw.
    pub fn of(judgement: &Judgement) -> Self {
        let mut effects: Vec<SeenEffect> = judgement
            .effects
            .iter()
            .map(|effect| SeenEffect {
                id: effect.id.clone(),
                state: effect.state,
                amount: effect.money.as_ref().map(ToString::to_string),
            })
            .collect();
        effects.sort();
        Self { verdict: judgement.verdict, effects }
    }

    /// What is another now, in words; `None` where nothing is.
    pub fn difference(&self, now: &Self) -> Option<String> {
        if self.verdict != now.verdict {
            return Some(format!("the verdict was `{}` and is `{}` now", self.verdict, now.verdict));
        }
        (self.effects != now.effects)
            .then(|| format!("the effects were {} and are {} now", self.shown(), now.shown()))
    }

    /// The effects in words.
    pub fn shown(&self) -> String {
        let shown: Vec<String> = self
            .effects
            .iter()
            .map(|effect| match &effect.amount {
                Some(amount) => format!("{} ({amount})", effect.id),
                None => effect.id.clone(),
            })
            .collect();
        if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
    }
}

/// How a proposal ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// Somebody approved it: from then on it is a decision like any other.
    Approved,
    /// Somebody took it back or rejected it.
    Withdrawn,
    /// Its time, its row or its evidence moved on.
    Lapsed,
}

impl Closing {
    /// What an event makes of the proposal of its decision; `None` where it leaves it waiting.
    fn of(event: Event) -> Option<Self> {
        match event {
            Event::Intended => Some(Self::Approved),
            Event::Withdrawn => Some(Self::Withdrawn),
            Event::Lapsed => Some(Self::Lapsed),
            Event::Checked
            | Event::Proposed
            | Event::Applied
            | Event::Refused
            | Event::Failed
            | Event::Listed
            | Event::DryRun
            | Event::Unmasked
            | Event::Opened
            | Event::Noted
            | Event::Closed => None,
        }
    }
}

/// What became of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// How it ended.
    pub closing: Closing,
    /// Who.
    pub by: String,
    /// When, as it is on record.
    pub at: String,
    /// The audit entry that tells it.
    pub entry: i64,
}

impl Closed {
    /// What an entry makes of the proposal of its decision; `None` where it leaves it waiting.
    pub fn of(entry: &Entry) -> Option<Self> {
        let closing = Closing::of(Event::from_word(&entry.event)?)?;
        Some(Self { closing, by: entry.operator.clone(), at: entry.at.clone(), entry: entry.seq })
    }
}

/// A decision that waits for a second person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The decision's id.
    pub id: Uuid,
    /// The audit entry that holds it.
    pub entry: i64,
    /// What was chosen.
    pub choice: Choice,
    /// The source's name.
    pub source: Arc<str>,
    /// The item's key, as a person writes it.
    pub key: Arc<str>,
    /// Who proposes.
    pub proposer: Operator,
    /// The login that the audit's database let the proposer in by; `None` where the audit is a file.
    pub recorded_by: Option<Arc<str>>,
    /// Why.
    pub reason: Reason,
    /// Whether the proposer insists against the advice.
    pub insists: bool,
    /// The row as the proposer saw it, its secrets hidden.
    pub seen: Row,
    /// SHA-256 of the row as it really was.
    pub row_sha256: String,
    /// SHA-256 of the statements that were proposed, and of where they were to be written.
    pub writes_sha256: String,
    /// What the provider showed.
    pub sight: Sight,
    /// The advice of that moment, in its word.
    pub advice: String,
    /// When it was proposed.
    pub at: DateTime<Utc>,
    /// Until when it can be approved.
    pub until: DateTime<Utc>,
    /// What became of it; `None` while it waits.
    pub closed: Option<Closed>,
}

/// How many characters of an id's end are shown. Ids of one day share their beginnings, so the end tells them apart.
const SHORT_CHARS: usize = 8;

/// The short form of a decision's id: its end.
pub fn short_id(id: Uuid) -> String {
    let whole = id.simple().to_string();
    whole.chars().skip(whole.len().saturating_sub(SHORT_CHARS)).collect()
}

/// A decision's id as somebody typed it: whole, or at least its last eight characters; in hexadecimal, without hyphens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdEnding(String);

impl IdEnding {
    /// Reads what was typed; `None` where it can be no id's end.
    pub fn read(typed: &str) -> Option<Self> {
        let digits: String = typed
            .trim()
            .chars()
            .filter(|letter| *letter != '-')
            .map(|letter| letter.to_ascii_lowercase())
            .collect();
        let is_ending = (SHORT_CHARS..=32).contains(&digits.len())
            && digits.chars().all(|digit| digit.is_ascii_hexdigit());
        is_ending.then_some(Self(digits))
    }

    /// The hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Proposal {
    /// What an entry `proposed` tells beside what an intent tells.
    pub fn told(proposer: &Operator, sight: &Sight, until: DateTime<Utc>) -> [(&'static str, Value); 4] {
        [
            // Apart, because an account may have an `@` in its name.
            ("login", json!(&*proposer.login)),
            ("host", json!(&*proposer.host)),
            ("sight", json!(sight)),
            ("until", json!(stamp(until))),
        ]
    }

    /// The proposal among the entries of one decision; `None` where there is none, or none that can be read.
    pub fn of_decision(entries: &[Entry]) -> Option<Self> {
        let mut proposal = entries.iter().find_map(Self::of_entry)?;
        proposal.closed = entries.iter().find_map(Closed::of);
        Some(proposal)
    }

    /// The proposal of an entry, taken as waiting; `None` where the entry is none, or cannot be read.
    pub fn of_entry(entry: &Entry) -> Option<Self> {
        if entry.event != Event::Proposed.as_str() {
            return None;
        }
        let body: Value = serde_json::from_str(&entry.body).ok()?;
        let text = |name: &str| body[name].as_str();
        let time = |text: &str| Some(DateTime::parse_from_rfc3339(text).ok()?.with_timezone(&Utc));
        let proposer = Operator {
            name: entry.operator.as_str().into(),
            login: text("login")?.into(),
            host: text("host")?.into(),
        };
        if proposer.origin() != entry.origin {
            return None;
        }
        Some(Self {
            id: Uuid::parse_str(&entry.decision).ok()?,
            entry: entry.seq,
            choice: Choice::ALL.into_iter().find(|choice| text("choice") == Some(choice.as_str()))?,
            source: entry.source.as_str().into(),
            key: entry.key.as_str().into(),
            proposer,
            recorded_by: RecordedBy::of_body(&body).map(|by| by.login),
            reason: Reason::new(text("reason")?)?,
            insists: body["insisted"].as_bool()?,
            seen: Row::from_json(&body["row_seen"])?,
            row_sha256: text("row_seen_sha256")?.to_owned(),
            writes_sha256: text("writes_sha256")?.to_owned(),
            sight: serde_json::from_value(body["sight"].clone()).ok()?,
            advice: body["check"]["advice"].as_str()?.to_owned(),
            at: time(&entry.at)?,
            until: time(text("until")?)?,
            closed: None,
        })
    }

    /// The end of its id, by which people call it.
    pub fn short_id(&self) -> String {
        short_id(self.id)
    }

    /// Whether its time is over.
    pub fn is_overdue(&self, now: DateTime<Utc>) -> bool {
        now >= self.until
    }
}

#[cfg(test)]
mod tests;
