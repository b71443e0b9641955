//! Clock, source and provider as one process of a console sees them: every call waits at its gate, and may go wrong in
//! every way that a real one may.

use super::Shared;
use super::gates::{Luck, Phase};
use super::mutants::Mutant;
use super::truth::{Given, Job, KEY_TTL, LOOKBACK, SETTLE, Truth};
use crate::domain::cell::Cell;
use crate::domain::decision::Choice;
use crate::domain::evidence::{Answer, Clocks, Effect, EffectState, Evidence, Fault, FaultKind};
use crate::domain::item::{ItemKey, State};
use crate::domain::moment::stamp;
use crate::domain::plan::Confirming;
use crate::ports::clock::Clock;
use crate::ports::provider::{Provider, ProviderFacts, Question, Told};
use crate::ports::source::{
    Applied, Change, Cursor, Examined, LateWriter, Leaves, Page, Payload, PlannedStatement, Reading, Rows,
    Source, SourceFacts, SourceFault, SourceFaultKind, Unsupported, Wanted,
};
use crate::workflow::fakes::{cursor_at, place_of};
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use std::sync::Arc;
use uuid::Uuid;

/// One process of a console, as its ports know it.
#[derive(Clone)]
pub(super) struct Process {
    pub sim: Shared,
    pub number: u32,
    pub seat: usize,
}

impl Process {
    pub(super) async fn begins(&self, call: &'static str, detail: &str, decision: &str) -> Luck {
        self.sim.gates.pass(self.number, call, detail, decision, Phase::Before).await
    }

    pub(super) async fn acted(&self, call: &'static str, detail: &str) {
        self.sim.gates.pass(self.number, call, detail, "", Phase::After).await;
    }

    pub(super) fn truth<T>(&self, look: impl FnOnce(&mut Truth) -> T) -> T {
        look(&mut self.sim.truth.lock().unwrap())
    }

    pub(super) fn has(&self, mutant: Mutant) -> bool {
        self.sim.mutant == Some(mutant)
    }
}

impl Clock for Process {
    fn now(&self) -> DateTime<Utc> {
        let gap = self.sim.clock_gaps.lock().unwrap()[self.seat];
        self.truth(|truth| truth.now) + gap
    }

    fn new_id(&self) -> Uuid {
        self.sim.next_id(self.number)
    }

    fn process(&self) -> u32 {
        self.sim.process_as_told(self.number)
    }

    fn lives(&self, process: u32) -> Option<bool> {
        Some(!self.has(Mutant::NobodyLives) && self.sim.lives(self.seat, process))
    }
}

/// The table of jobs.
pub(super) struct SimSource {
    process: Process,
    facts: Arc<SourceFacts>,
}

impl SimSource {
    pub(super) fn new(process: Process) -> Self {
        let setting = process.truth(|truth| truth.setting.clone());
        let retried = if setting.is_tried_once { Leaves::Absent } else { Leaves::State(State::Pending) };
        let facts = Arc::new(SourceFacts {
            name: crate::workflow::fakes::SOURCE.into(),
            place: "simulated".to_owned(),
            whole_place: "memory".to_owned(),
            table: Some("memory/jobs".into()),
            preset: "simulated".into(),
            variant: Arc::default(),
            late_writer: if setting.is_guarded { LateWriter::Guarded } else { LateWriter::Unguarded },
            leaves: [
                (Choice::MarkDone, Leaves::State(State::Done)),
                (Choice::Retry, retried),
                (Choice::Escalate, Leaves::Unchanged),
            ],
            unsupported: Vec::new(),
        });
        Self { process, facts }
    }

    /// Compare and set, as a transaction does it.
    fn write(&self, choice: Choice, change: &Change) -> Applied {
        let is_blind = self.process.has(Mutant::WritesBlindly);
        self.process.truth(|truth| {
            let key = change.key.as_str();
            let current = truth.row(key);
            let (Some(before), Some(job)) = (current.clone(), truth.jobs.get(key).cloned()) else {
                return Applied::Changed(None);
            };
            if before != change.seen && !is_blind {
                return Applied::Changed(current);
            }
            let after = match choice {
                Choice::MarkDone => Some(Job { status: "done", updated: change.now, error: None, ..job }),
                Choice::Retry if truth.setting.is_tried_once => None,
                Choice::Retry => {
                    let error = Some(format!("released for retry by unstuck {}", change.decision));
                    Some(Job { status: "pending", updated: change.now, error, ..job })
                }
                Choice::Escalate => Some(job),
            };
            match after {
                Some(job) => drop(truth.jobs.insert(key.to_owned(), job)),
                None => drop(truth.jobs.remove(key)),
            }
            Applied::Written { before, after: truth.row(key) }
        })
    }
}

fn source_fault(luck: Luck) -> Result<(), SourceFault> {
    let (kind, what, may_have_written) = match luck {
        Luck::Good | Luck::WrongCount => return Ok(()),
        Luck::Locked => (SourceFaultKind::Busy, "somebody holds the file", false),
        Luck::LostBefore | Luck::LostAfter => {
            (SourceFaultKind::Broken, "the answer to the commit was lost", true)
        }
        Luck::FailsBefore | Luck::TimesOut | Luck::ServerError | Luck::MissingPage => {
            (SourceFaultKind::Broken, "the file cannot be read", false)
        }
    };
    let (what, do_next) = (what.to_owned(), "Try again.".to_owned());
    Err(SourceFault { kind, what, do_next, may_have_written })
}

#[async_trait]
impl Source for SimSource {
    fn facts(&self) -> Arc<SourceFacts> {
        Arc::clone(&self.facts)
    }

    async fn scan(&self, _wanted: &Wanted, after: Option<Cursor>) -> Result<Page, SourceFault> {
        source_fault(self.process.begins("source.scan", "", "").await)?;
        let from = place_of(after.as_ref());
        let page = self.process.truth(|truth| {
            let jobs = truth.jobs.iter().skip(from).take(3);
            let items: Vec<_> = jobs.map(|(key, job)| job.item(&truth.setting, key)).collect();
            let next = from + items.len();
            let next = (next < truth.jobs.len()).then(|| cursor_at(next));
            Page { items, next, source_now: truth.now }
        });
        Ok(page)
    }

    async fn read(&self, key: &str) -> Result<Option<Reading>, SourceFault> {
        source_fault(self.process.begins("source.read", key, "").await)?;
        if self.process.has(Mutant::RecoveryWrites) && self.process.sim.is_recovering(self.process.number) {
            self.process.truth(|truth| drop(truth.jobs.remove(key)));
        }
        let reading = self.process.truth(|truth| {
            let job = truth.jobs.get(key)?;
            let (item, row) = (job.item(&truth.setting, key), job.row(&truth.setting, key));
            Some(Reading { item, row, source_now: truth.now })
        });
        self.process.acted("source.read", key).await;
        Ok(reading)
    }

    async fn payload(&self, key: &ItemKey, _bytes_max: usize) -> Result<Option<Payload>, SourceFault> {
        source_fault(self.process.begins("source.payload", key.as_str(), "").await)?;
        Ok(None)
    }

    fn plan(&self, choice: Choice, change: &Change) -> Result<Vec<PlannedStatement>, Unsupported> {
        let seen = change.seen.columns.iter().map(|(name, cell)| (format!(":seen_{name}"), cell.clone()));
        let now = (":now".to_owned(), Cell::text(stamp(change.now)));
        let sql = match (choice, self.facts.leaves(choice)) {
            (Choice::Escalate, _) => return Ok(Vec::new()),
            (Choice::MarkDone, _) => "UPDATE jobs SET status = 'done', updated_at = :now WHERE …",
            (Choice::Retry, Leaves::Absent) => "DELETE FROM jobs WHERE …",
            (Choice::Retry, Leaves::Unchanged | Leaves::State(_)) => {
                "UPDATE jobs SET status = 'pending', updated_at = :now WHERE …"
            }
        };
        let parameters = if sql.starts_with("DELETE") { seen.collect() } else { seen.chain([now]).collect() };
        Ok(vec![PlannedStatement { sql: sql.to_owned(), parameters, rows: Rows::exactly(1), why: None }])
    }

    async fn apply(&self, choice: Choice, change: &Change) -> Result<Applied, SourceFault> {
        let decision = change.decision.to_string();
        let luck = self.process.begins("source.apply", change.key.as_str(), &decision).await;
        let writes = matches!(luck, Luck::Good | Luck::LostAfter);
        if luck == Luck::WrongCount {
            self.process.acted("source.apply", change.key.as_str()).await;
            return Ok(Applied::WrongCount { statement: 1, expected: Rows::exactly(1), found: 2 });
        }
        let applied = writes.then(|| self.write(choice, change));
        if writes {
            self.process.sim.keep_late_intents();
            self.process.acted("source.apply", change.key.as_str()).await;
        }
        match source_fault(luck) {
            Err(fault) if self.process.has(Mutant::LostCommitIsNoWrite) => {
                Err(SourceFault { may_have_written: false, ..fault })
            }
            Err(fault) => Err(fault),
            Ok(()) => Ok(applied.unwrap()),
        }
    }

    async fn examine(&self) -> Vec<Examined> {
        Vec::new()
    }
}

/// The provider.
pub(super) struct SimProvider {
    process: Process,
    facts: ProviderFacts,
}

impl SimProvider {
    pub(super) fn new(process: Process) -> Self {
        let setting = process.truth(|truth| truth.setting.clone());
        let settle = if process.has(Mutant::SettleIgnored) { TimeDelta::zero() } else { SETTLE };
        let key_ttl = if process.has(Mutant::KeyNeverForgotten) { KEY_TTL * 100 } else { KEY_TTL };
        let facts = ProviderFacts {
            name: "pay.charges".into(),
            place: "simulated".to_owned(),
            clocks: Clocks {
                settle,
                lookback: (setting.forgets && !process.has(Mutant::LookbackIgnored)).then_some(LOOKBACK),
                key_ttl: Some(key_ttl),
            },
            in_flight_max: 2,
            interval: std::time::Duration::ZERO,
            listing: None,
            confirming: Confirming::default(),
            check_max: std::time::Duration::from_secs(30),
        };
        Self { process, facts }
    }
}

#[async_trait]
impl Provider for SimProvider {
    fn facts(&self) -> &ProviderFacts {
        &self.facts
    }

    async fn ask(&self, question: &Question) -> Told {
        let reference = &question.reference;
        let luck = self.process.begins("provider.ask", reference, "").await;
        let fault = |kind, what: &str| Answer::Fault(Fault::new(kind, what));
        let truth = self.process.truth(|truth| truth.answer(reference, question.from));
        let truth = self.process.sim.as_remembered(reference, truth);
        let answer = match luck {
            Luck::TimesOut => fault(FaultKind::Timeout, "no answer in 10 s"),
            Luck::ServerError => fault(FaultKind::ServerError, "500"),
            Luck::MissingPage => fault(FaultKind::Shape, "the answer says 3 effects and shows 2"),
            Luck::Good
            | Luck::FailsBefore
            | Luck::LostBefore
            | Luck::LostAfter
            | Luck::Locked
            | Luck::WrongCount => truth,
        };
        let (number, at) = self.process.truth(|truth| {
            let (is_fault, effects) = match &answer {
                Answer::Fault(_) => (true, Vec::new()),
                Answer::Complete { effects, .. } => (false, in_order(effects)),
            };
            truth.given.push(Given { at: truth.now, is_fault, effects });
            (truth.given.len() - 1, truth.now)
        });
        self.process.acted("provider.ask", reference).await;
        let answer = match answer {
            Answer::Fault(_) if self.process.has(Mutant::ErrorIsAbsence) => {
                Answer::Complete { effects: Vec::new(), seen_from: None }
            }
            answer @ Answer::Fault(_) => answer,
            answer @ Answer::Complete { .. } => {
                self.process.sim.as_before_approval(self.process.number, reference, answer)
            }
        };
        let evidence = Evidence {
            check: "pay.charges".to_owned(),
            reference: Some(reference.clone()),
            at,
            took_ms: 1,
            asked: Vec::new(),
            hash: number.to_string(),
            listing: None,
            bodies: Vec::new(),
        };
        Told { answer, evidence }
    }
}

fn in_order(effects: &[Effect]) -> Vec<(String, EffectState)> {
    let mut shown: Vec<_> = effects.iter().map(|effect| (effect.id.clone(), effect.state)).collect();
    shown.sort();
    shown
}
