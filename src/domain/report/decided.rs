//! One decision as its entries tell it.

use super::{decimal, word};
use crate::domain::audit::{Entry, Event};
use crate::domain::mask::mask_text;
use rust_decimal::Decimal;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What became of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was carried out.
    Applied,
    /// It touched nothing.
    Refused,
    /// It broke.
    Failed,
    /// It began and has no outcome.
    Unfinished,
    /// It waits for a second person.
    Waiting,
    /// Its proposal was taken back or rejected.
    Withdrawn,
    /// Its proposal lapsed.
    Lapsed,
}

impl Outcome {
    /// The word as files spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
            Self::Waiting => "waiting",
            Self::Withdrawn => "withdrawn",
            Self::Lapsed => "lapsed",
        }
    }
}

/// A decision with what it rests on and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decided {
    /// Its id.
    pub decision: String,
    /// When it began.
    pub at: String,
    /// When it had its outcome; `None` where it has none.
    pub ended_at: Option<String>,
    /// The source's name.
    pub source: String,
    /// The item's key.
    pub key: String,
    /// The item's kind; empty where it could not be read.
    pub kind: String,
    /// What was chosen.
    pub choice: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it touched nothing, broke, or waits; `None` where it was carried out.
    pub why: Option<String>,
    /// The operator's words.
    pub reason: String,
    /// Whether it was against the advice.
    pub insisted: bool,
    /// Who made it; where two did, who proposed it.
    pub operator: String,
    /// The account and machine it came from.
    pub origin: String,
    /// Who approved it; `None` where one person decided.
    pub approved_by: Option<String>,
    /// The second person's words.
    pub approval_reason: Option<String>,
    /// What the provider said.
    pub verdict: String,
    /// What the advice was.
    pub advice: String,
    /// How many effects really happened; `None` where nobody was asked.
    pub effects: Option<u64>,
    /// The provider's ids.
    pub effect_ids: Vec<String>,
    /// How much it is about: what the job asked for, else what really moved first; `None` where nobody said.
    pub amount: Option<Exact>,
    /// The currency of that; `None` where nobody said.
    pub currency: Option<String>,
    /// The hash of the evidence; `None` where nobody was asked.
    pub evidence: Option<String>,
    /// Its audit entries.
    pub entries: Vec<i64>,
    /// The hash of the last of them.
    pub hash: String,
}

/// A decimal that is written as a text: as a number it would be read as a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Exact(pub Decimal);

impl Serialize for Exact {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl Decided {
    /// Every decision that has an entry in the window, the first begun first.
    pub(super) fn all_of(entries: &[Entry], is_inside: impl Fn(&Entry) -> bool) -> Vec<Self> {
        let mut groups: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| !entry.decision.is_empty()) {
            groups.entry(entry.decision.as_str()).or_default().push(entry);
        }
        let mut all: Vec<Self> = groups
            .into_values()
            .filter(|group| group.iter().any(|entry| is_inside(entry)))
            .filter_map(|group| Self::of(&group))
            .collect();
        all.sort_by_key(|one| one.entries.first().copied());
        all
    }

    /// The number of its last entry.
    pub(super) fn last_entry(&self) -> i64 {
        self.entries.last().copied().unwrap_or_default()
    }

    fn of(group: &[&Entry]) -> Option<Self> {
        let (first, last) = (group.first()?, group.last()?);
        let bodies: Vec<(Event, Value)> = group
            .iter()
            .filter_map(|entry| {
                Some((Event::from_word(&entry.event)?, serde_json::from_str(&entry.body).ok()?))
            })
            .collect();
        let of = |wanted: Event| bodies.iter().find(|(event, _)| *event == wanted).map(|(_, body)| body);
        let outcome = outcome(&bodies)?;
        let opening = &bodies.first()?.1;
        // The check right before the write, where it came to that; else the last one there was.
        let mut checks =
            bodies.iter().map(|(_, body)| &body["check"]).filter(|check| check["verdict"].is_string());
        let none = Value::Null;
        let check = of(Event::Intended)
            .map(|body| &body["check"])
            .filter(|check| check["verdict"].is_string())
            .or_else(|| checks.next_back())
            .unwrap_or(&none);
        let approval = of(Event::Intended).map(|body| &body["approval"]).filter(|told| told.is_object());
        let proposal = approval.map(|told| &told["proposed"]);
        let has_ended = !matches!(outcome, Outcome::Unfinished | Outcome::Waiting);
        let (amount, currency) = amount(check);
        let told = |body: Option<&Value>, name: &str| {
            body.map(|body| word(body, name)).filter(|text| !text.is_empty())
        };
        Some(Self {
            decision: first.decision.clone(),
            at: first.at.clone(),
            ended_at: has_ended.then(|| last.at.clone()),
            source: first.source.clone(),
            key: first.key.clone(),
            kind: word(check, "kind"),
            choice: word(opening, "choice"),
            outcome,
            why: bodies
                .iter()
                .rev()
                .filter(|_| outcome != Outcome::Applied)
                .find_map(|(_, body)| body["why"].as_str())
                .map(|why| mask_text(why).into_owned()),
            reason: told(proposal, "reason").unwrap_or_else(|| word(opening, "reason")),
            insisted: bodies.iter().any(|(_, body)| body["insisted"] == true),
            operator: told(proposal, "operator").unwrap_or_else(|| first.operator.clone()),
            origin: told(proposal, "origin").unwrap_or_else(|| first.origin.clone()),
            approved_by: told(approval.map(|told| &told["approved"]), "operator"),
            approval_reason: told(approval.map(|told| &told["approved"]), "reason"),
            verdict: word(check, "verdict"),
            advice: word(check, "advice"),
            effects: check["effects"].as_u64(),
            effect_ids: texts(&check["effect_ids"]),
            amount: amount.map(Exact),
            currency,
            evidence: check["evidence"]["hash"].as_str().filter(|hash| !hash.is_empty()).map(str::to_owned),
            entries: group.iter().map(|entry| entry.seq).collect(),
            hash: last.hash.clone(),
        })
    }
}

/// What became of a decision; `None` where none of its entries is of one.
fn outcome(bodies: &[(Event, Value)]) -> Option<Outcome> {
    let mut outcome = None;
    for (event, _) in bodies {
        outcome = match event {
            Event::Applied => Some(Outcome::Applied),
            Event::Refused => Some(Outcome::Refused),
            Event::Failed => Some(Outcome::Failed),
            Event::Withdrawn => Some(Outcome::Withdrawn),
            Event::Lapsed => Some(Outcome::Lapsed),
            Event::Intended => Some(Outcome::Unfinished),
            Event::Proposed => Some(Outcome::Waiting),
            Event::Checked
            | Event::Listed
            | Event::DryRun
            | Event::Unmasked
            | Event::Opened
            | Event::Noted
            | Event::Closed => outcome,
        };
    }
    outcome
}

/// How much an item is about, by its check.
pub(super) fn amount(check: &Value) -> (Option<Decimal>, Option<String>) {
    let moved = happened(check).into_iter().next();
    let asked = &check["asked_for"];
    match (decimal(&asked["amount"]), moved) {
        (Some(amount), moved) => {
            let currency = asked["currency"].as_str().map(str::to_owned);
            (Some(amount), currency.or_else(|| moved.and_then(|(_, currency)| currency)))
        }
        (None, Some((amount, currency))) => (Some(amount), currency),
        (None, None) => (None, None),
    }
}

/// The amounts of the effects that really happened, each with its currency.
pub(super) fn happened(check: &Value) -> Vec<(Decimal, Option<String>)> {
    let told = check["effects_told"].as_array().into_iter().flatten();
    let happened = told.filter(|effect| effect["state"] == "happened");
    happened
        .filter_map(|effect| {
            Some((decimal(&effect["amount"])?, effect["currency"].as_str().map(str::to_owned)))
        })
        .collect()
}

fn texts(list: &Value) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(|text| mask_text(text).into_owned()).collect()
}
