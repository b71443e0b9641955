//! The rules, looked at after every step from what truly happened and what is on record, not from what the code says.

use super::Sim;
use super::truth::{Job, SETTLE};
use super::two_persons::Proposals;
use crate::domain::audit::{Entry, Event, Walk};
use crate::domain::verdict::Verdict;
use crate::workflow::{Checked, Found};
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::collections::BTreeMap;

/// What must never be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// A retry that the console advised repeats no effect.
    NothingRepeated,
    /// A decision replaces exactly the row that its intent recorded, and once.
    WrittenAsSeen,
    /// Nothing is touched before the intent is durable.
    IntentFirst,
    /// Only carrying out a decision writes.
    OnlyDecisionsWrite,
    /// A decision has at most one outcome, and one after the recovery.
    OneOutcome,
    /// An outcome says what truly happened.
    OutcomeIsTrue,
    /// The chain of the audit is whole, and what was written stays.
    ChainWhole,
    /// An error on the way to the provider is never more than `unknown`.
    ErrorIsUnknown,
    /// The advice `retry` rests on an absence or a failure that had time to show.
    AbsenceHasSettled,
    /// What the advice forbids is written only where every operator behind it insisted.
    OnlyInsisting,
    /// What takes two persons is written only where one proposed it and another approved it, on record.
    TwoPersons,
    /// What is approved is the row, the choice and the evidence that were proposed.
    AsProposed,
    /// A decision is intended, withdrawn or lapsed once, and nothing else of these.
    SettledOnce,
    /// A proposal that was withdrawn, has lapsed or is overdue is never carried out.
    OnlyWaiting,
    /// A key is said to protect only while the provider remembers it.
    KeyIsRemembered,
    /// The same item in the same condition is escalated with the same key, any other with another.
    SameKeyAgain,
    /// The program neither panics nor stands still.
    Alive,
}

/// A rule that was broken, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Violation {
    pub rule: Rule,
    pub what: String,
}

pub(super) fn hold(rule: Rule, holds: bool, what: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation { rule, what: what() }) }
}

/// What an intent says.
struct Intent {
    seq: i64,
    choice: String,
    key: String,
    row_seen: String,
    /// The last sign of that row.
    updated: DateTime<Utc>,
    advice: String,
    escalates: bool,
}

/// A process at a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage {
    pub process: u32,
    pub step: u64,
}

/// What is known of every decision.
#[derive(Default)]
pub(super) struct Checker {
    seen: Vec<Entry>,
    walk: Walk,
    intents: BTreeMap<String, Intent>,
    outcomes: BTreeMap<String, (Event, String)>,
    /// The decisions that were written: in which process, and at which step.
    writes: BTreeMap<String, Stage>,
    pub(super) proposals: Proposals,
    arrived: usize,
    dedup_keys: BTreeMap<(String, String), String>,
    removed_by_hand: Vec<(String, DateTime<Utc>)>,
}

impl Checker {
    /// Somebody removed a row by hand.
    pub(super) fn removed_by_hand(&mut self, key: &str, at: DateTime<Utc>) {
        self.removed_by_hand.push((key.to_owned(), at));
    }

    /// The record may have grown, by the hand of whoever sits at a console.
    pub(super) fn look_at_record(
        &mut self,
        sim: &Sim,
        seat: Option<usize>,
    ) -> Result<Vec<(Event, Value)>, Violation> {
        let Some(new) = sim.record.entries_after(&self.seen) else {
            return Err(Violation {
                rule: Rule::ChainWhole,
                what: "what was written is another now".to_owned(),
            });
        };
        let mut told = Vec::new();
        for entry in new {
            let stepped = self.walk.step(&entry);
            hold(Rule::ChainWhole, stepped.is_ok(), || format!("{stepped:?}"))?;
            let body: Value = serde_json::from_str(&entry.body).unwrap();
            let event = Event::from_word(&entry.event).unwrap();
            match event {
                Event::Intended => self.intended(sim, seat, &entry, &body)?,
                Event::Proposed => self.proposals.proposed(sim, seat, &entry, &body)?,
                Event::Withdrawn => self.proposals.settled(seat, event, &entry.decision)?,
                Event::Lapsed => {
                    self.proposals.settled(seat, event, &entry.decision)?;
                    self.proposals.lapsed(sim, &entry.decision, &body)?;
                }
                Event::Applied | Event::Refused | Event::Failed => self.ended(sim, event, &entry, &body)?,
                Event::Checked => check_answer(sim, &body, None)?,
                Event::Listed
                | Event::DryRun
                | Event::Unmasked
                | Event::Opened
                | Event::Noted
                | Event::Closed => {}
            }
            told.push((event, body));
            self.seen.push(entry);
        }
        Ok(told)
    }

    fn intended(
        &mut self,
        sim: &Sim,
        seat: Option<usize>,
        entry: &Entry,
        body: &Value,
    ) -> Result<(), Violation> {
        self.proposals.settled(seat, Event::Intended, &entry.decision)?;
        self.proposals.intended(sim, seat, entry, body)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (choice, check) = (text(&body["choice"]), &body["check"]);
        let (advice, verdict) = (text(&check["advice"]), text(&check["verdict"]));
        let updated = DateTime::parse_from_rfc3339(&text(&body["row_seen"]["updated_at"])).unwrap();
        let updated = updated.with_timezone(&Utc);
        check_answer(sim, check, Some(updated))?;
        let is_advised = choice == "escalate" || advice == choice;
        let proposal = self.proposals.made(&entry.decision);
        let may = is_advised || (body["insisted"] == true && proposal.is_none_or(|made| made.insisted));
        hold(Rule::OnlyInsisting, may, || format!("{choice} on `{verdict}` with the advice `{advice}`"))?;
        let intent = Intent {
            seq: entry.seq,
            choice,
            key: entry.key.clone(),
            row_seen: text(&body["row_seen_sha256"]),
            updated,
            advice,
            escalates: !body["escalates_to"].is_null(),
        };
        self.intents.insert(entry.decision.clone(), intent);
        Ok(())
    }

    fn ended(&mut self, sim: &Sim, event: Event, entry: &Entry, body: &Value) -> Result<(), Violation> {
        let why = body["why"].as_str().unwrap_or_default().to_owned();
        let earlier = self.outcomes.insert(entry.decision.clone(), (event, why.clone()));
        hold(Rule::OneOutcome, earlier.is_none(), || {
            format!("{} ended as {earlier:?} and again as {event}", entry.decision)
        })?;
        if let Some(intent) = self.intents.get(&entry.decision) {
            hold(Rule::OutcomeIsTrue, body["intent"] == intent.seq, || "another's intent".to_owned())?;
        }
        self.is_true(sim, &entry.decision, event, &why, None)
    }

    /// Whether an outcome, on record or told to the operator, says what truly happened. A process that tells it
    /// (`teller`) speaks for what it did since a step: the same proposal may have been carried out by another.
    pub(super) fn is_true(
        &self,
        sim: &Sim,
        decision: &str,
        event: Event,
        why: &str,
        teller: Option<Stage>,
    ) -> Result<(), Violation> {
        let by = self.writes.get(decision);
        let is_own = |by: &Stage| teller.is_none_or(|own| own.process == by.process && own.step <= by.step);
        let is_written = by.is_some_and(is_own);
        let intent = self.intents.get(decision);
        let has_arrived = intent.is_some_and(|intent| {
            sim.truth.lock().unwrap().arrived.iter().any(|arrived| arrived.intent == intent.seq)
        });
        let holds = match (event, intent) {
            (Event::Applied, None) => false,
            (Event::Applied, Some(intent)) if intent.choice == "escalate" => !intent.escalates || has_arrived,
            (Event::Applied, Some(intent)) => is_written || self.was_removed_by_hand(sim, intent),
            (Event::Refused, _) => !is_written && !has_arrived,
            // Either, and it says so.
            (Event::Failed, _) => !(is_written && why.contains("nothing was written")),
            (Event::Proposed, _) => self.proposals.made(decision).is_some() && !is_written,
            (
                Event::Checked
                | Event::Intended
                | Event::Withdrawn
                | Event::Lapsed
                | Event::Listed
                | Event::DryRun
                | Event::Unmasked
                | Event::Opened
                | Event::Noted
                | Event::Closed,
                _,
            ) => true,
        };
        hold(Rule::OutcomeIsTrue, holds, || {
            let touched = format!("written: {is_written}, arrived: {has_arrived}");
            format!("{decision} is told as {event} ({why}), and truly {touched}")
        })
    }

    /// A row that is gone does not tell who removed it: where to retry is to delete it, a hand that did the same since the
    /// row was read passes for the decision.
    fn was_removed_by_hand(&self, sim: &Sim, intent: &Intent) -> bool {
        intent.choice == "retry"
            && sim.truth.lock().unwrap().setting.is_tried_once
            && self.removed_by_hand.iter().any(|(key, at)| *key == intent.key && *at >= intent.updated)
    }

    /// The table may have changed in a step of a console. `by` is the decision whose write was let go, and
    /// where, if one was.
    pub(super) fn look_at_table(
        &mut self,
        sim: &Sim,
        before: &BTreeMap<String, Job>,
        by: Option<(&str, Stage)>,
    ) -> Result<(), Violation> {
        let truth = sim.truth.lock().unwrap();
        if *before == truth.jobs {
            return Ok(());
        }
        let Some((decision, stage)) = by else {
            return hold(Rule::OnlyDecisionsWrite, false, || "a row changed by looking at it".to_owned());
        };
        let is_changed = |key: &&String| before.get(*key) != truth.jobs.get(*key);
        let changed: Vec<&String> = before.keys().filter(is_changed).collect();
        let Some(intent) = self.intents.get(decision) else {
            return hold(Rule::IntentFirst, false, || format!("{decision} wrote {changed:?}"));
        };
        let seen = before.get(&intent.key).map(|job| job.row(&truth.setting, &intent.key).sha256());
        hold(
            Rule::WrittenAsSeen,
            changed == [&intent.key] && seen.as_ref() == Some(&intent.row_seen),
            || format!("{decision} was to write {} as it was seen and wrote {changed:?}", intent.key),
        )?;
        let could_repeat = truth.could_repeat(&intent.key).filter(|_| {
            // What the operator insisted on is the operator's own.
            intent.choice == "retry" && intent.advice == "retry"
        });
        hold(Rule::NothingRepeated, could_repeat.is_none(), || {
            format!("{} is tried again, and {}", intent.key, could_repeat.unwrap_or_default())
        })?;
        drop(truth);
        let earlier = self.writes.insert(decision.to_owned(), stage);
        hold(Rule::WrittenAsSeen, earlier.is_none(), || format!("{decision} wrote twice"))?;
        match self.outcomes.get(decision) {
            Some((event, why)) => self.is_true(sim, decision, *event, why, None),
            None => Ok(()),
        }
    }

    /// A notice may have arrived.
    pub(super) fn look_at_escalations(&mut self, sim: &Sim) -> Result<(), Violation> {
        let arrived = sim.truth.lock().unwrap().arrived.clone();
        for notice in &arrived[self.arrived..] {
            let intent = self.intents.values().find(|intent| intent.seq == notice.intent);
            let Some(intent) = intent.filter(|one| one.choice == "escalate" && one.key == notice.key) else {
                return hold(Rule::IntentFirst, false, || format!("an escalation of {} left", notice.key));
            };
            let condition = (intent.key.clone(), intent.row_seen.clone());
            let is_another =
                self.dedup_keys.iter().any(|(other, key)| *other != condition && *key == notice.dedup_key);
            let known = self.dedup_keys.entry(condition).or_insert_with(|| notice.dedup_key.clone());
            hold(Rule::SameKeyAgain, *known == notice.dedup_key && !is_another, || {
                format!("{} was escalated as {known} and as {}", notice.key, notice.dedup_key)
            })?;
        }
        self.arrived = arrived.len();
        Ok(())
    }

    /// After the last recovery: every decision has ended, and all of it is true of the world as it is.
    pub(super) fn look_at_the_end(&mut self, sim: &Sim) -> Result<(), Violation> {
        self.look_at_record(sim, None)?;
        for (decision, intent) in &self.intents {
            hold(Rule::OneOutcome, self.outcomes.contains_key(decision), || {
                format!("{} of {} was intended and has no outcome", intent.choice, intent.key)
            })?;
        }
        for (decision, (event, why)) in &self.outcomes {
            self.is_true(sim, decision, *event, why, None)?;
        }
        let mut walk = Walk::default();
        let broken = sim.record.entries().iter().find_map(|entry| walk.step(entry).err());
        hold(Rule::ChainWhole, broken.is_none(), || format!("{broken:?}"))
    }
}

/// Rules 1 and 2, from the answer as it was given. `updated` is the last sign of the row that was asked about; `None` where
/// the console's clock may have been set between reading the row and asking, so that its advice may be early.
fn check_answer(sim: &Sim, check: &Value, updated: Option<DateTime<Utc>>) -> Result<(), Violation> {
    let number = check["evidence"]["hash"].as_str().and_then(|hash| hash.parse::<usize>().ok());
    let (verdict, advice) = (&check["verdict"], &check["advice"]);
    let Some(given) = number.map(|number| sim.truth.lock().unwrap().given[number].clone()) else {
        return hold(Rule::ErrorIsUnknown, *verdict == "unknown", || format!("{verdict} without an answer"));
    };
    hold(Rule::ErrorIsUnknown, !given.is_fault || *verdict == "unknown", || {
        format!("an error was told as {verdict}")
    })?;
    let told = verdict.as_str().and_then(|word| Verdict::ALL.into_iter().find(|one| one.as_str() == word));
    let may_retry = told.is_some_and(|verdict| !verdict.forbids_retry()) && !given.tells_effect();
    let has_settled = updated.is_none_or(|updated| given.at - updated >= SETTLE);
    hold(Rule::AbsenceHasSettled, *advice != "retry" || (may_retry && has_settled), || {
        format!(
            "retry was advised on {verdict}, {:?} after the row's last sign",
            updated.map(|at| given.at - at)
        )
    })
}

/// A check as the operator was told it. `is_clock_sure` says that the console's clock was not set since the row was read.
pub(super) fn check_told(
    sim: &Sim,
    found: &Found,
    checked: &Checked,
    is_clock_sure: bool,
) -> Result<(), Violation> {
    let body = crate::workflow::check::checked_json(found, checked);
    let updated = found.finding.item.times.updated.known().filter(|_| is_clock_sure);
    check_answer(sim, &body, updated)?;
    let crate::domain::attempt::KeyProtection::Until(until) = checked.key else { return Ok(()) };
    let remembered = sim.truth.lock().unwrap().remembers_until(found.finding.item.key.as_str());
    hold(Rule::KeyIsRemembered, remembered.is_none_or(|truly| until <= truly), || {
        format!("a key is said to protect until {until}, and is forgotten at {remembered:?}")
    })
}
