//! The audit and the second line as one process of a console sees them.

use super::Sim;
use super::gates::Luck;
use super::mutants::Mutant;
use super::ports::Process;
use super::truth::Arrived;
use crate::domain::audit::{Entry, Event, NewEntry, Subject};
use crate::domain::evidence::FaultKind;
use crate::domain::moment::stamp;
use crate::domain::proposal::IdEnding;
use crate::ports::escalation::{Escalation, NotTaken, Notice, ShownRequest};
use crate::ports::record::{Once, Record, RecordFault};
use crate::ports::source::Examined;
use crate::workflow::fakes::{as_shown, it_answers, now};
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

/// The audit.
pub(super) struct SimRecord(pub Process);

fn record_fault(luck: Luck) -> Result<(), RecordFault> {
    let what = match luck {
        Luck::Good => return Ok(()),
        Luck::Locked => "the audit is locked",
        Luck::LostAfter => "the audit's answer was lost",
        Luck::FailsBefore
        | Luck::LostBefore
        | Luck::WrongCount
        | Luck::TimesOut
        | Luck::ServerError
        | Luck::MissingPage => "the audit's disk is full",
    };
    Err(RecordFault { is_absent: false, what: what.to_owned(), do_next: "Make room.".to_owned() })
}

impl SimRecord {
    async fn read<T>(
        &self,
        call: &'static str,
        read: impl Future<Output = Result<T, RecordFault>> + Send,
    ) -> Result<T, RecordFault> {
        record_fault(self.0.begins(call, "", "").await)?;
        read.await
    }

    fn forgets_withdrawal(&self, entry: &Entry) -> bool {
        self.0.has(Mutant::WithdrawalForgotten) && entry.event == Event::Withdrawn.as_str()
    }

    /// An entry as it is read, or as a mutant reads it; `None` where a mutant does not see it.
    fn as_read(&self, mut entry: Entry) -> Option<Entry> {
        if self.forgets_withdrawal(&entry) {
            return None;
        }
        if entry.event == Event::Proposed.as_str() {
            let mut body: Value = serde_json::from_str(&entry.body).unwrap();
            if self.0.has(Mutant::RowOfToday)
                && let Some(row) = self.0.truth(|truth| truth.row(&entry.key))
            {
                body["row_seen_sha256"] = json!(row.sha256());
            }
            if self.0.has(Mutant::NeverTooLate) {
                body["until"] = json!(stamp(now() + TimeDelta::days(100)));
            }
            entry.body = body.to_string();
        }
        Some(entry)
    }
}

#[async_trait]
impl Record for SimRecord {
    async fn append(&self, entries: Vec<NewEntry>) -> Result<Vec<Entry>, RecordFault> {
        let event = entries.first().map_or("", |entry| entry.event.as_str());
        let luck = self.0.begins("record.append", event, "").await;
        if luck != Luck::LostAfter {
            record_fault(luck)?;
        }
        let kept = self.0.sim.keep(&self.0, entries).await;
        self.0.acted("record.append", event).await;
        record_fault(luck)?;
        kept
    }

    async fn append_once(&self, entry: NewEntry) -> Result<Once, RecordFault> {
        let event = entry.event.as_str();
        let luck = self.0.begins("record.append", event, "").await;
        if luck != Luck::LostAfter {
            record_fault(luck)?;
        }
        let decision = entry.decision.unwrap();
        let earlier = self.0.sim.record.of_decision(decision).await?;
        let has_settled = |earlier: &Entry| {
            let forgets = entry.event == Event::Intended && self.forgets_withdrawal(earlier);
            Event::from_word(&earlier.event).is_some_and(|event| Event::ONCE.contains(&event))
                && !forgets
                && !self.0.has(Mutant::TwoSettleOne)
        };
        let once = match earlier.into_iter().find(has_settled) {
            Some(earlier) => Ok(Once::Taken(earlier)),
            None => {
                self.0.sim.keep(&self.0, vec![entry]).await.map(|mut placed| Once::Placed(placed.remove(0)))
            }
        };
        self.0.acted("record.append", event).await;
        record_fault(luck)?;
        once
    }

    async fn seal(&self, at: DateTime<Utc>) -> Result<(), RecordFault> {
        self.0.sim.record.seal(at).await
    }

    async fn unfinished(&self) -> Result<Vec<Entry>, RecordFault> {
        self.read("record.unfinished", self.0.sim.record.unfinished()).await
    }

    async fn of_decision(&self, decision: Uuid) -> Result<Vec<Entry>, RecordFault> {
        let entries = self.read("record.of_decision", self.0.sim.record.of_decision(decision)).await?;
        Ok(entries.into_iter().filter_map(|entry| self.as_read(entry)).collect())
    }

    async fn intended_on(&self, subject: &Subject, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        let entries_max = if self.0.has(Mutant::HistoryHidden) { 0 } else { entries_max };
        self.read("record.of_item", self.0.sim.record.intended_on(subject, entries_max)).await
    }

    async fn of_item(&self, subject: &Subject, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        let entries_max = if self.0.has(Mutant::HistoryHidden) { 0 } else { entries_max };
        self.read("record.of_item", self.0.sim.record.of_item(subject, entries_max)).await
    }

    async fn escalated(&self, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.read("record.escalated", self.0.sim.record.escalated(entries_max)).await
    }

    async fn waiting(&self, after: i64, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.read("record.waiting", self.0.sim.record.waiting(after, entries_max)).await
    }

    async fn waiting_on(&self, subject: &Subject) -> Result<Vec<Entry>, RecordFault> {
        self.read("record.waiting_on", self.0.sim.record.waiting_on(subject)).await
    }

    async fn proposals_ending(
        &self,
        ending: &IdEnding,
        entries_max: usize,
    ) -> Result<Vec<Entry>, RecordFault> {
        self.read("record.proposals_ending", self.0.sim.record.proposals_ending(ending, entries_max)).await
    }

    async fn page(&self, before: Option<i64>, entries_max: usize) -> Result<Vec<Entry>, RecordFault> {
        self.read("record.of_item", self.0.sim.record.page(before, entries_max)).await
    }
}

impl Sim {
    /// Keeps entries as the record does, or as a mutant does.
    async fn keep(&self, process: &Process, entries: Vec<NewEntry>) -> Result<Vec<Entry>, RecordFault> {
        let event = entries.first().map(|entry| entry.event);
        let is_intent = event == Some(Event::Intended);
        match self.mutant {
            Some(Mutant::IntentKeptLate) if is_intent => {
                self.late_intents.lock().unwrap().extend(entries.iter().cloned());
                Ok(self.record.as_if_kept(entries))
            }
            Some(Mutant::IntentNeverKept) if is_intent => Ok(self.record.as_if_kept(entries)),
            Some(Mutant::OutcomeTwice) if event.is_some_and(Event::is_outcome) => {
                self.record.keep(entries.clone());
                Ok(self.record.keep(entries))
            }
            Some(Mutant::SecondOutcomeTaken) => Ok(self.record.keep(entries)),
            Some(Mutant::AsSeenIsApplied)
                if event == Some(Event::Refused) && self.is_recovering(process.number) =>
            {
                let applied = entries.into_iter().map(|entry| NewEntry { event: Event::Applied, ..entry });
                self.record.append(applied.collect()).await
            }
            Some(Mutant::ProposalWrites) if event == Some(Event::Proposed) => {
                process.truth(|truth| drop(truth.jobs.remove(&entries[0].key)));
                self.record.append(entries).await
            }
            Some(Mutant::OldEntryRewritten) => {
                self.record.rewrite_first();
                self.record.append(entries).await
            }
            _ => self.record.append(entries).await,
        }
    }
}

/// The second line.
pub(super) struct SimEscalation(pub Process);

#[async_trait]
impl Escalation for SimEscalation {
    fn place(&self) -> String {
        "the second line".to_owned()
    }

    async fn examine(&self) -> Examined {
        it_answers()
    }

    fn shown(&self, notice: &Notice) -> Result<ShownRequest, String> {
        Ok(as_shown(notice))
    }

    async fn send(&self, notice: &Notice) -> Result<String, NotTaken> {
        let luck = self.0.begins("escalation.send", &notice.key, "").await;
        if luck == Luck::FailsBefore {
            return Err(NotTaken::new(
                "connection refused: it did not arrive".to_owned(),
                FaultKind::Connect,
            ));
        }
        self.0.truth(|truth| {
            let again = if self.0.sim.mutant == Some(Mutant::EscalationKeyChanges) {
                format!("-{}", truth.arrived.len())
            } else {
                String::new()
            };
            let dedup_key = format!("{}{again}", notice.dedup_key);
            truth.arrived.push(Arrived { dedup_key, key: notice.key.clone(), intent: notice.audit });
        });
        self.0.acted("escalation.send", &notice.key).await;
        if luck == Luck::LostAfter {
            return Err(NotTaken::new("no answer: it may have arrived".to_owned(), FaultKind::Timeout));
        }
        Ok("ticket 7".to_owned())
    }
}
