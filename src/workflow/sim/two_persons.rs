//! What takes two persons: the proposals as they were made and settled, and the rules about them.

use super::Sim;
use super::invariants::{Rule, Violation, hold};
use super::seat::are_two;
use super::truth::{Given, Setting};
use crate::domain::audit::{Entry, Event};
use crate::domain::policy::Policy;
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::collections::BTreeMap;
use uuid::Uuid;

/// A proposal as it was made.
pub(super) struct Made {
    pub id: Uuid,
    pub key: String,
    pub insisted: bool,
    /// At which console; `None` where nobody knows.
    seat: Option<usize>,
    choice: String,
    row_seen: String,
    verdict: String,
    /// What the provider had told; `None` where it was not asked.
    given: Option<Given>,
    at: DateTime<Utc>,
}

/// The proposals, and how each was settled first.
#[derive(Default)]
pub(super) struct Proposals {
    made: BTreeMap<String, Made>,
    settled: BTreeMap<String, (Event, Option<usize>)>,
}

/// Whether what is chosen takes two persons.
fn takes_two(setting: &Setting, choice: &str, advice: &Value) -> bool {
    choice != "escalate"
        && (setting.takes_two || (setting.is_financial && choice == "retry" && *advice != "retry"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn time(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap().with_timezone(&Utc)
}

fn given(sim: &Sim, check: &Value) -> Option<Given> {
    let number = text(&check["evidence"]["hash"]).parse::<usize>().ok()?;
    sim.truth.lock().unwrap().given.get(number).cloned()
}

impl Proposals {
    pub(super) fn made(&self, decision: &str) -> Option<&Made> {
        self.made.get(decision)
    }

    /// The proposals that wait, or all there ever were.
    pub(super) fn listed(&self, only_waiting: bool) -> Vec<&Made> {
        let listed = self.made.iter().filter(|(id, _)| !(only_waiting && self.settled.contains_key(*id)));
        listed.map(|(_, made)| made).collect()
    }

    /// A proposal was put on record at a console.
    pub(super) fn proposed(
        &mut self,
        sim: &Sim,
        seat: Option<usize>,
        entry: &Entry,
        body: &Value,
    ) -> Result<(), Violation> {
        let (choice, check) = (text(&body["choice"]), &body["check"]);
        let takes_two = takes_two(&sim.truth.lock().unwrap().setting, choice, &check["advice"]);
        hold(Rule::TwoPersons, takes_two, || format!("{choice} was proposed and takes one person"))?;
        let may = check["advice"] == choice || body["insisted"] == true;
        hold(Rule::OnlyInsisting, may, || format!("{choice} was proposed on {check}"))?;
        let made = Made {
            id: Uuid::parse_str(&entry.decision).unwrap(),
            insisted: body["insisted"] == true,
            seat,
            choice: choice.to_owned(),
            key: entry.key.clone(),
            row_seen: text(&body["row_seen_sha256"]).to_owned(),
            verdict: text(&check["verdict"]).to_owned(),
            given: given(sim, check),
            at: time(&entry.at),
        };
        let earlier = self.made.insert(entry.decision.clone(), made);
        hold(Rule::SettledOnce, earlier.is_none(), || format!("{} was proposed twice", entry.decision))
    }

    /// A decision was intended, withdrawn or lapsed at a console.
    pub(super) fn settled(
        &mut self,
        seat: Option<usize>,
        event: Event,
        decision: &str,
    ) -> Result<(), Violation> {
        let earlier = self.settled.get(decision).map(|(event, _)| *event);
        let rule = match earlier {
            Some(Event::Withdrawn | Event::Lapsed) if event == Event::Intended => Rule::OnlyWaiting,
            _ => Rule::SettledOnce,
        };
        hold(rule, earlier.is_none(), || format!("{decision} was {earlier:?} and then {event}"))?;
        let is_known = event == Event::Intended || self.made.contains_key(decision);
        hold(Rule::SettledOnce, is_known, || format!("{decision} was never proposed, and is {event}"))?;
        self.settled.insert(decision.to_owned(), (event, seat));
        Ok(())
    }

    /// A decision was intended at a console: by two persons where it takes two, and then exactly as it was proposed.
    pub(super) fn intended(
        &self,
        sim: &Sim,
        seat: Option<usize>,
        entry: &Entry,
        body: &Value,
    ) -> Result<(), Violation> {
        let (choice, check) = (text(&body["choice"]), &body["check"]);
        let takes_two = takes_two(&sim.truth.lock().unwrap().setting, choice, &check["advice"]);
        let Some(made) = self.made(&entry.decision) else {
            return hold(Rule::TwoPersons, !takes_two, || format!("{choice} of {} by one person", entry.key));
        };
        let seats = made.seat.zip(seat);
        hold(Rule::TwoPersons, seats.is_some_and(|(one, other)| are_two(one, other)), || {
            format!("{choice} of {} was proposed and approved at {seats:?}", entry.key)
        })?;
        let at = time(&entry.at);
        let is_in_time = made.at <= at && at < made.at + Policy::PROPOSAL_LASTS;
        hold(Rule::OnlyWaiting, is_in_time, || format!("proposed at {}, approved at {at}", made.at))?;
        let is_same = made.choice == choice
            && made.key == entry.key
            && made.row_seen == text(&body["row_seen_sha256"])
            && made.verdict == text(&check["verdict"]);
        hold(Rule::AsProposed, is_same, || {
            format!("{} of {} on {} became {choice} on {check}", made.choice, made.key, made.verdict)
        })?;
        let now = given(sim, check);
        let effects =
            |given: &Option<Given>| given.as_ref().map(|given| given.effects.clone()).unwrap_or_default();
        hold(Rule::AsProposed, effects(&made.given) == effects(&now), || {
            format!("{} was proposed on {:?} and approved on {now:?}", made.key, made.given)
        })
    }

    /// A proposal was put on record as lapsed: what is said to have moved on has, and was looked at later than it was for the
    /// proposal.
    pub(super) fn lapsed(&self, sim: &Sim, decision: &str, body: &Value) -> Result<(), Violation> {
        let (Some(made), why) = (self.made(decision), text(&body["why"])) else { return Ok(()) };
        if why.contains("the row changed") {
            let row = sim.truth.lock().unwrap().row(&made.key);
            let is_another = row.is_none_or(|row| row.sha256() != made.row_seen);
            hold(Rule::OutcomeIsTrue, is_another, || {
                format!("the row of {} is as proposed: {why}", made.key)
            })?;
        }
        if why.contains("the verdict was") || why.contains("the effects were") {
            let asked = |given: &Option<Given>| given.as_ref().map(|given| given.at);
            let (then, now) = (asked(&made.given), asked(&given(sim, &body["check"])));
            let is_later = then.is_none() || now.is_none() || now >= then;
            hold(Rule::OutcomeIsTrue, is_later, || {
                format!("asked at {now:?} and before at {then:?}: {why}")
            })?;
        }
        Ok(())
    }

    /// Whether what an operator is told of a proposal's end is what became of it.
    pub(super) fn is_told_true(&self, decision: &str, why: &str) -> Result<(), Violation> {
        let told = [
            ("was approved", Event::Intended),
            ("approved it", Event::Intended),
            ("was withdrawn", Event::Withdrawn),
            ("withdrew it", Event::Withdrawn),
            ("lapsed", Event::Lapsed),
        ];
        let told = told.into_iter().find(|(words, _)| why.contains(words)).map(|(_, event)| event);
        let truly = self.settled.get(decision).map(|(event, _)| *event);
        hold(Rule::OutcomeIsTrue, told.is_none() || told == truly, || {
            format!("the end of {decision} is told as `{why}`, and is {truly:?}")
        })
    }

    /// Whether somebody at a console withdrew a proposal, as the operator there was told.
    pub(super) fn is_withdrawn_at(&self, seat: usize, decision: &str) -> Result<(), Violation> {
        let truly = self.settled.get(decision);
        hold(Rule::OutcomeIsTrue, truly == Some(&(Event::Withdrawn, Some(seat))), || {
            format!("{decision} is told as withdrawn, and is {truly:?}")
        })
    }
}
