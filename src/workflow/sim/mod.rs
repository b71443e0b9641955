//! A simulation of everything at once, from one seed: workers, a provider, several consoles, and all that goes wrong.
//!
//! The real workflow runs here over ports in memory. Every port call waits at a gate before it acts and after it acted; a
//! schedule drawn from the seed decides which goes on next and how it goes, what the workers do meanwhile, when a console
//! crashes, begins anew, or has its clock set. No thread, no wall clock: a seed always plays the same. After every step
//! the rules ([`invariants::Rule`]) are looked at from what truly happened.
//!
//! What the rules rest on, so what is not played here:
//! - a worker sends its request at most [`truth::ACT_MAX`] after its row's last sign, and an effect shows at most
//!   [`truth::LAG_MAX`] later: the two fit into `settle`. A worker that sleeps longer before it *acts* repeats an effect
//!   whatever a console does; one that comes back late to *write*, guarded or not, is played;
//! - the provider tells the truth but for its lag and `lookback`; what it forgets it keeps a little longer than it says;
//! - a row tells its true first attempt where the provider forgets effects or a key is said to protect, and the moment
//!   that a worker writes into a row is nobody else's (a column with microseconds);
//! - what sits at two consoles under another name and another account is two persons, for nobody can tell otherwise;
//! - a proposal's time is over by the clocks of those who make it and take it up, as they stood when they did;
//! - the source's clock goes forward. The consoles' clocks are set to anything at any moment.

mod errands;
mod gates;
mod invariants;
mod mutants;
mod ports;
mod record;
mod reports;
mod schedule;
mod seat;
mod tally;
mod tests;
mod truth;
mod two_persons;
mod workers;

use crate::domain::audit::NewEntry;
use crate::domain::evidence::Answer;
use crate::workflow::fakes::FakeRecord;
use chrono::TimeDelta;
use gates::Gates;
use mutants::Mutant;
use seat::SEATS;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use truth::Truth;
use uuid::Uuid;

type Shared = Arc<Sim>;

/// A process that runs or ran at a console.
struct Ran {
    seat: usize,
    /// The number that the operating system gave it: it may be given again.
    told: u32,
    lives: bool,
    recovers: bool,
    /// The key of the item whose proposal it approves, or approved last.
    approves: Option<String>,
    /// The decision that it is at, or was at last.
    decision: Uuid,
}

/// What the ports of all consoles share.
struct Sim {
    gates: Gates,
    truth: Mutex<Truth>,
    record: Arc<FakeRecord>,
    mutant: Option<Mutant>,
    /// How far each console's clock is ahead.
    clock_gaps: Mutex<[TimeDelta; SEATS.len()]>,
    processes: Mutex<Vec<Ran>>,
    /// Numbers of ended processes that other programs have now, by machine.
    strangers: Mutex<Vec<(&'static str, u32)>>,
    ids: Mutex<u128>,
    late_intents: Mutex<Vec<NewEntry>>,
    remembered_answers: Mutex<BTreeMap<String, Answer>>,
}

impl Sim {
    fn next_id(&self, process: u32) -> Uuid {
        let mut ids = self.ids.lock().unwrap();
        *ids += 1;
        let id = Uuid::from_u128(*ids);
        // A decision takes its id first; what is drawn after it is for an attempt that came to nothing.
        self.of_process(process, |ran| {
            if ran.decision.is_nil() {
                ran.decision = id;
            }
        });
        id
    }

    fn of_process<T>(&self, process: u32, look: impl FnOnce(&mut Ran) -> T) -> T {
        look(&mut self.processes.lock().unwrap()[usize::try_from(process).unwrap()])
    }

    fn process_as_told(&self, process: u32) -> u32 {
        self.of_process(process, |ran| ran.told)
    }

    fn is_recovering(&self, process: u32) -> bool {
        self.of_process(process, |ran| ran.recovers)
    }

    /// Whether a machine has a process of a number: a console's, or a stranger's that was given the number of one that ended.
    fn lives(&self, seat: usize, told: u32) -> bool {
        let host = SEATS[seat].host;
        let processes = self.processes.lock().unwrap();
        processes.iter().any(|ran| ran.lives && ran.told == told && SEATS[ran.seat].host == host)
            || self.strangers.lock().unwrap().contains(&(host, told))
    }

    fn keep_late_intents(&self) {
        let late: Vec<NewEntry> = self.late_intents.lock().unwrap().drain(..).collect();
        if !late.is_empty() {
            self.record.keep(late);
        }
    }

    /// The answer, or to an approval what was answered last before it, where the mutant does that.
    fn as_before_approval(&self, process: u32, reference: &str, answer: Answer) -> Answer {
        if self.mutant != Some(Mutant::OldEvidenceApproves) {
            return answer;
        }
        let mut answers = self.remembered_answers.lock().unwrap();
        if self.of_process(process, |ran| ran.approves.as_deref() == Some(reference)) {
            return answers.get(reference).cloned().unwrap_or(answer);
        }
        answers.insert(reference.to_owned(), answer.clone());
        answer
    }

    /// The answer, or what was answered first, where the mutant remembers that.
    fn as_remembered(&self, reference: &str, answer: Answer) -> Answer {
        if self.mutant != Some(Mutant::AnswersFromMemory) {
            return answer;
        }
        let mut first = self.remembered_answers.lock().unwrap();
        first.entry(reference.to_owned()).or_insert(answer).clone()
    }
}
