//! What came of the errands: what the operators are told must be true, and is what they decide on next.

use super::invariants::{Rule, Stage, Violation, check_told};
use super::schedule::Play;
use super::seat::{Report, SEATS, Sight};
use crate::domain::approval::WhyNot;
use crate::domain::audit::Event;
use crate::domain::decision::{Choice, Outcome};
use crate::workflow::settle::propose::Withdrawn;
use crate::workflow::settle::{Decided, OrderFault};
use crate::workflow::sweep::Answered;
use std::sync::Arc;
use uuid::Uuid;

impl Play {
    /// Hears what came of the errands that have ended.
    pub(super) async fn hear_reports(&mut self) -> Result<(), Violation> {
        for at in 0..SEATS.len() {
            for is_deciding in [false, true] {
                let seat = &mut self.seats[at];
                let place = if is_deciding { &mut seat.deciding } else { &mut seat.reading };
                let Some(ended) = place.take_if(|under_way| under_way.task.is_finished()) else { continue };
                let report = ended.task.await.map_err(|broke| Violation {
                    rule: Rule::Alive,
                    what: format!("what {} broke: {broke}", ended.name),
                })?;
                self.hear(at, (ended.clock_sets, ended.step), report)?;
            }
        }
        Ok(())
    }

    fn hear(&mut self, at: usize, (clock_sets, step): (u32, u64), report: Report) -> Result<(), Violation> {
        match report {
            Report::Nothing => {}
            Report::Scanned(found) => {
                // What is not listed any more is not shown any more; some screens are older.
                if !found.is_empty() {
                    self.seats[at].sights.clear();
                }
                for found in found {
                    let key = found.finding.item.key.as_str().to_owned();
                    let checked = None;
                    self.seats[at].sights.insert(key, Sight { found, checked, clock_sets });
                }
            }
            Report::Checked(answered) => self.hear_checks(at, answered)?,
            Report::Decided(choice, result) => self.hear_decision(at, step, choice, &result)?,
            Report::Approved(decision, result) => self.hear_approval(at, step, decision, &result)?,
            Report::Withdrawn(decision, result) => self.hear_withdrawal(at, decision, &result)?,
            Report::Recovered(result) => {
                for one in result.unwrap_or_default() {
                    let what = match (&one.outcome, one.choice) {
                        (Some(outcome), Some(choice)) => format!("{} {choice}", outcome.as_str()),
                        (_, _) => "left open".to_owned(),
                    };
                    self.tell(|| format!("{} recovered: {what}: {}", SEATS[at].name, one.told));
                    if self.checker.proposals.made(&one.intent.decision).is_some() {
                        let ended = what.split(' ').next().unwrap_or_default();
                        self.tally.met("recovered approval", ended);
                    }
                    self.tally.met("recovered", what);
                }
            }
        }
        Ok(())
    }

    fn hear_checks(&mut self, at: usize, answered: Vec<Answered>) -> Result<(), Violation> {
        for (found, checked) in answered {
            self.tally.met("verdict", checked.verdict().as_str());
            self.tally.met("advice", checked.advice().as_str());
            let seat = &mut self.seats[at];
            let key = found.finding.item.key.as_str().to_owned();
            let sight = seat.sights.get(&key).filter(|sight| Arc::ptr_eq(&sight.found, &found));
            let is_clock_sure = sight.is_some_and(|sight| sight.clock_sets == seat.clock_sets);
            check_told(&self.sim, &found, &checked, is_clock_sure)?;
            let clock_sets = sight.map_or(u32::MAX, |sight| sight.clock_sets);
            seat.sights.insert(key, Sight { found, checked: Some(checked), clock_sets });
        }
        Ok(())
    }

    fn hear_decision(
        &mut self,
        at: usize,
        step: u64,
        choice: Choice,
        result: &Result<Decided, OrderFault>,
    ) -> Result<(), Violation> {
        let Some((process, _)) = self.seats[at].process else { return Ok(()) };
        let decision = self.sim.of_process(process, |ran| ran.decision).to_string();
        let (event, why) = told(result)?;
        self.tell(|| format!("{} is told: {choice} {event} {why}", SEATS[at].name));
        self.checker.is_true(&self.sim, &decision, event, why, Some(Stage { process, step }))
    }

    fn hear_approval(
        &mut self,
        at: usize,
        step: u64,
        decision: Uuid,
        result: &Result<Decided, OrderFault>,
    ) -> Result<(), Violation> {
        let Some((process, _)) = self.seats[at].process else { return Ok(()) };
        let (event, why) = told(result)?;
        self.tell(|| format!("{} is told: approval {event} {why}", SEATS[at].name));
        if why.contains("a moment ago") {
            self.tally.met("approval refused", "settled a moment ago");
        }
        let decision = decision.to_string();
        self.checker.proposals.is_told_true(&decision, why)?;
        // An earlier approval of the same process, begun and dropped, may have carried it out since.
        if event == Event::Refused && self.seats[at].has_dropped {
            return Ok(());
        }
        self.checker.is_true(&self.sim, &decision, event, why, Some(Stage { process, step }))
    }

    fn hear_withdrawal(
        &mut self,
        at: usize,
        decision: Uuid,
        result: &Result<Result<Withdrawn, WhyNot>, OrderFault>,
    ) -> Result<(), Violation> {
        let decision = decision.to_string();
        match result {
            Ok(Ok(_)) => self.checker.proposals.is_withdrawn_at(at, &decision),
            Ok(Err(why_not)) => self.checker.proposals.is_told_true(&decision, &why_not.to_string()),
            // It may be on record: whoever tries again is told.
            Err(_) => Ok(()),
        }
    }
}

fn told(result: &Result<Decided, OrderFault>) -> Result<(Event, &str), Violation> {
    Ok(match result {
        Ok(decided) => match &decided.outcome {
            Outcome::Applied { .. } => (Event::Applied, ""),
            Outcome::Refused { why, .. } => (Event::Refused, why),
            Outcome::Failed { why } => (Event::Failed, why),
            Outcome::Proposed { .. } => (Event::Proposed, ""),
        },
        Err(fault @ OrderFault::Broken) => {
            return Err(Violation { rule: Rule::Alive, what: fault.to_string() });
        }
        // Whoever is told a fault is told that nothing was touched.
        Err(_) => (Event::Refused, "a fault"),
    })
}
