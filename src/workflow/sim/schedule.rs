//! The schedule: who goes on next, drawn from the seed.

use super::gates::{Gates, Held, Luck, Phase};
use super::invariants::{Checker, Rule, Stage, Violation};
use super::mutants::Mutant;
use super::ports::Process;
use super::seat::{Errand, SEATS, Seat, desk, kind};
use super::tally::{Tally, count_entry};
use super::truth::{Setting, Truth};
use super::workers;
use super::{Ran, Shared, Sim};
use crate::config::kind::Kind;
use crate::workflow::fakes::World;
use chrono::TimeDelta;
use fastrand::Rng;
use std::sync::{Arc, Mutex};
use uuid::Uuid;

/// How many steps a seed plays before everybody comes to an end.
const STEPS: u32 = 260;
/// More steps than any ending takes.
const END_STEPS_MAX: u32 = 4_000;

/// What a seed came to.
pub(super) struct Played {
    pub tally: Tally,
    pub log: Vec<String>,
    pub broken: Option<Violation>,
}

/// Plays a seed.
pub(super) fn play(seed: u64, mutant: Option<Mutant>, keeps_log: bool) -> Played {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut play = Play::new(seed, mutant, keeps_log);
    let broken = runtime.block_on(play.run()).err();
    play.tally.seeds = 1;
    Played { tally: play.tally, log: play.log, broken }
}

/// A seed that is being played.
pub(super) struct Play {
    pub(super) sim: Shared,
    world: World,
    kind: Arc<Kind>,
    pub(super) rng: Rng,
    pub(super) seats: [Seat; SEATS.len()],
    pub(super) checker: Checker,
    pub(super) tally: Tally,
    keeps_log: bool,
    log: Vec<String>,
}

impl Play {
    fn new(seed: u64, mutant: Option<Mutant>, keeps_log: bool) -> Self {
        let mut rng = Rng::with_seed(seed);
        let is_tried_once = rng.bool();
        let forgets = !is_tried_once && rng.bool();
        let setting = Setting {
            is_tried_once,
            forgets,
            is_guarded: rng.bool(),
            sends_key: rng.bool(),
            is_financial: rng.u8(0..4) == 0,
            escalates: rng.u8(0..3) > 0,
            takes_two: rng.u8(0..5) < 2,
        };
        let world = World::with_stuck(&[]);
        let sim = Sim {
            gates: Gates::default(),
            record: Arc::clone(&world.record),
            mutant,
            clock_gaps: Mutex::new([TimeDelta::zero(); SEATS.len()]),
            processes: Mutex::default(),
            strangers: Mutex::default(),
            ids: Mutex::default(),
            late_intents: Mutex::default(),
            remembered_answers: Mutex::default(),
            truth: Mutex::new(Truth::new(setting.clone())),
        };
        let mut play = Self {
            sim: Arc::new(sim),
            world,
            kind: kind(&setting, mutant),
            rng,
            seats: Default::default(),
            checker: Checker::default(),
            tally: Tally::default(),
            keeps_log,
            log: Vec::new(),
        };
        play.tell(|| format!("{setting:?}"));
        play
    }

    pub(super) fn tell(&mut self, what: impl FnOnce() -> String) {
        if self.keeps_log {
            let at = self.sim.truth.lock().unwrap().now.format("%d %H:%M:%S").to_string();
            self.log.push(format!("{at}  {}", what()));
        }
    }

    async fn run(&mut self) -> Result<(), Violation> {
        // An incident has a past: jobs that were taken and did not all end well.
        for _ in 0..30 {
            self.work();
        }
        let minutes = self.rng.i64(1..90);
        self.pass(TimeDelta::minutes(minutes));
        for seat in 0..SEATS.len() {
            self.begin_process(seat, false);
        }
        for _ in 0..STEPS {
            self.step().await?;
        }
        self.come_to_an_end().await
    }

    async fn step(&mut self) -> Result<(), Violation> {
        self.tally.steps += 1;
        self.pass(TimeDelta::seconds(1));
        let waiting = self.sim.gates.count();
        let seat = self.rng.usize(0..SEATS.len());
        match self.rng.u8(0..100) {
            0..=8 => self.work(),
            // A machine that sleeps while it decides is rarer than one that is left alone.
            9..=11 if self.rng.u8(0..4) == 0 || self.seats.iter().all(|seat| seat.deciding.is_none()) => {
                let minutes = [self.rng.i64(1..12), self.rng.i64(12..90), self.rng.i64(90..1_500)];
                let by = minutes[usize::from(self.rng.u8(0..10) / 4)];
                self.pass(TimeDelta::minutes(by));
                self.tell(|| format!("{by} minutes pass"));
            }
            12 => self.set_clock(seat),
            13..=14 => self.crash(seat),
            15..=19 => self.restart(seat),
            20 => self.drop_errand(seat),
            21..=34 => self.begin_errand(seat),
            _ if waiting == 0 => self.begin_errand(seat),
            _ => {
                let held = self.sim.gates.take(self.rng.usize(0..waiting));
                let bad = Luck::bad(held.call);
                let is_bad = held.phase == Phase::Before && self.rng.u8(0..9) == 0;
                let luck = if is_bad { bad[self.rng.usize(0..bad.len())] } else { Luck::Good };
                self.let_go(held, luck).await?;
            }
        }
        self.settle_down().await;
        self.hear_reports().await
    }

    /// Lets everything that is ready go as far as it can.
    async fn settle_down(&self) {
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
    }

    fn pass(&self, span: TimeDelta) {
        self.sim.truth.lock().unwrap().now += span;
    }

    fn work(&mut self) {
        let acted = workers::act(&mut self.sim.truth.lock().unwrap(), &mut self.rng);
        let Some((did, what)) = acted else { return };
        if did.starts_with("by hand") {
            let now = self.sim.truth.lock().unwrap().now;
            self.checker.removed_by_hand(&what, now);
        }
        self.tally.met("worker", did);
        self.tell(|| format!("a worker {did} {what}"));
    }

    fn set_clock(&mut self, seat: usize) {
        let seconds = *self.rng.choice(&[-10_800, -600, -30, 30, 600, 10_800]).unwrap();
        self.sim.clock_gaps.lock().unwrap()[seat] += TimeDelta::seconds(seconds);
        self.seats[seat].clock_sets += 1;
        self.tally.met("console", "its clock is set");
        self.tell(|| format!("{}'s clock is set by {seconds} s", SEATS[seat].name));
    }

    /// A process begins at a seat, under a new number or that of the one before it.
    fn begin_process(&mut self, seat: usize, again: bool) {
        let number = {
            let mut processes = self.sim.processes.lock().unwrap();
            let number = u32::try_from(processes.len()).unwrap();
            let last = processes.iter().rev().find(|ran| ran.seat == seat).map(|ran| ran.told);
            let told = last.filter(|_| again).unwrap_or(1_000 + number);
            let decision = Uuid::nil();
            processes.push(Ran { seat, told, lives: true, recovers: false, approves: None, decision });
            number
        };
        if again {
            self.tally.met("console", "begins under the number of its last process");
        }
        let process = Process { sim: Arc::clone(&self.sim), number, seat };
        self.seats[seat].process = Some((number, desk(&self.sim, &self.world, &self.kind, &process)));
        self.tell(|| format!("{} sits down", SEATS[seat].name));
        self.spawn(seat, Errand::Recover);
    }

    fn restart(&mut self, seat: usize) {
        if self.seats[seat].process.is_none() {
            let again = self.rng.u8(0..4) == 0;
            self.begin_process(seat, again);
        }
    }

    /// A process ends at once, wherever its calls are.
    fn crash(&mut self, seat: usize) {
        let Some((number, _desk)) = self.seats[seat].process.take() else { return };
        let clock_sets = self.seats[seat].clock_sets;
        self.seats[seat] = Seat { clock_sets, ..Seat::default() };
        let told = self.sim.of_process(number, |ran| {
            ran.lives = false;
            ran.told
        });
        let places = self.sim.gates.crash(number);
        for place in &places {
            *self.tally.crashes.entry(*place).or_default() += 1;
        }
        if self.rng.u8(0..8) == 0 {
            self.sim.strangers.lock().unwrap().push((SEATS[seat].host, told));
            self.tally.met("console", "its number is another program's");
        }
        self.tell(|| format!("{} crashes in {places:?}", SEATS[seat].name));
    }

    /// The operator moves on: what was begun is dropped, but for what runs in a task of its own.
    fn drop_errand(&mut self, seat: usize) {
        let seat = &mut self.seats[seat];
        let dropped = if self.rng.bool() { seat.reading.take() } else { seat.deciding.take() };
        let Some(under_way) = dropped else { return };
        seat.has_dropped = true;
        under_way.task.abort();
        self.tally.met("console", "an errand is dropped");
        self.tell(|| format!("what {} was dropped", under_way.name));
    }

    /// Lets one call go, and looks at the rules.
    async fn let_go(&mut self, held: Held, luck: Luck) -> Result<(), Violation> {
        let (call, phase, process, decision) = (held.call, held.phase, held.process, held.decision.clone());
        if phase == Phase::Before {
            *self.tally.lucks.entry((call, luck)).or_default() += 1;
        }
        let seat = self.sim.of_process(process, |ran| ran.seat);
        let detail = held.detail.clone();
        self.tell(|| {
            format!("{}: {call} {detail} {} it acts: {}", SEATS[seat].name, phase.as_str(), luck.as_str())
        });
        let before = self.sim.truth.lock().unwrap().jobs.clone();
        held.go(luck);
        self.settle_down().await;
        let by = (call == "source.apply" && phase == Phase::Before)
            .then_some((&*decision, Stage { process, step: self.tally.steps }));
        self.checker.look_at_table(&self.sim, &before, by)?;
        if call == "escalation.send" {
            self.checker.look_at_escalations(&self.sim)?;
        }
        if call == "record.append" || self.sim.mutant.is_some() {
            for (event, body) in self.checker.look_at_record(&self.sim, Some(seat))? {
                count_entry(&mut self.tally, event, &body);
            }
        }
        Ok(())
    }

    /// Everybody comes to an end: some crash first, the rest ends well; later all begin anew and recover.
    async fn come_to_an_end(&mut self) -> Result<(), Violation> {
        for seat in 0..SEATS.len() {
            if self.rng.bool() {
                self.crash(seat);
            }
        }
        self.let_all_go().await?;
        for seat in 0..SEATS.len() {
            self.crash(seat);
        }
        // No clock is further ahead than that: what somebody else may be at is given up by then.
        self.pass(TimeDelta::days(30));
        for round in 0..2 {
            let before = self.sim.truth.lock().unwrap().jobs.clone();
            for seat in 0..SEATS.len() {
                self.begin_process(seat, false);
                if round == 1 {
                    self.let_all_go().await?;
                }
            }
            self.let_all_go().await?;
            self.checker.look_at_table(&self.sim, &before, None)?;
        }
        self.checker.look_at_the_end(&self.sim)
    }

    async fn let_all_go(&mut self) -> Result<(), Violation> {
        self.settle_down().await;
        for _ in 0..END_STEPS_MAX {
            let waiting = self.sim.gates.count();
            if waiting == 0 {
                self.settle_down().await;
                let is_idle = self.seats.iter().all(|seat| seat.deciding.is_none() && seat.reading.is_none());
                if is_idle {
                    return Ok(());
                }
            } else {
                let held = self.sim.gates.take(self.rng.usize(0..waiting));
                self.let_go(held, Luck::Good).await?;
            }
            self.hear_reports().await?;
            self.pass(TimeDelta::seconds(1));
        }
        Err(Violation { rule: Rule::Alive, what: "somebody never comes to an end".to_owned() })
    }
}
