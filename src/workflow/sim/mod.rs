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
//! - a row tells its true first attempt where the provider forgets effects or a key is said to protect, and no two writers
//!   write the same row at the same second with the same values;
//! - the source's clock goes forward. The consoles' clocks are set to anything at any moment.

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
    /// The decision that it began last.
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
    first_answers: Mutex<BTreeMap<String, Answer>>,
}

impl Sim {
    fn next_id(&self, process: u32) -> Uuid {
        let mut ids = self.ids.lock().unwrap();
        *ids += 1;
        let id = Uuid::from_u128(*ids);
        self.of_process(process, |ran| ran.decision = id);
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
        let host = SEATS[seat].1;
        let processes = self.processes.lock().unwrap();
        processes.iter().any(|ran| ran.lives && ran.told == told && SEATS[ran.seat].1 == host)
            || self.strangers.lock().unwrap().contains(&(host, told))
    }

    fn keep_late_intents(&self) {
        let late: Vec<NewEntry> = self.late_intents.lock().unwrap().drain(..).collect();
        if !late.is_empty() {
            self.record.keep(late);
        }
    }

    /// The answer, or what was answered first, where the mutant remembers that.
    fn as_remembered(&self, reference: &str, answer: Answer) -> Answer {
        if self.mutant != Some(Mutant::AnswersFromMemory) {
            return answer;
        }
        let mut first = self.first_answers.lock().unwrap();
        first.entry(reference.to_owned()).or_insert(answer).clone()
    }
}
