//! What the operators begin, drawn from the seed.

use super::schedule::Play;
use super::seat::{Errand, SEATS, UnderWay};
use super::workers::KEYS;
use crate::domain::advice::Advice;
use crate::domain::decision::{Choice, Reason};
use crate::domain::proposal::short_id;
use crate::workflow::fakes::SOURCE;
use crate::workflow::settle::Order;
use crate::workflow::settle::approve::ApprovalOrder;
use std::sync::Arc;
use uuid::Uuid;

impl Play {
    /// An operator begins something.
    pub(super) fn begin_errand(&mut self, seat: usize) {
        if self.seats[seat].process.is_none() {
            return;
        }
        if self.rng.u8(0..3) == 0 && self.take_up_proposal(seat) {
            return;
        }
        let sights = &self.seats[seat].sights;
        let key = if sights.is_empty() || self.rng.u8(0..8) == 0 {
            (*self.rng.choice(&KEYS).unwrap()).to_owned()
        } else {
            sights.keys().nth(self.rng.usize(0..sights.len())).unwrap().clone()
        };
        let sight = sights.get(&key);
        let found = sight.map(|sight| Arc::clone(&sight.found));
        let choice = *self.rng.choice(&Choice::ALL).unwrap();
        let errand = match (self.rng.u8(0..10), found) {
            (0, _) => Errand::Look(key),
            (1, _) => Errand::Prepare(key, choice),
            (2, Some(_)) => Errand::Sweep(sights.values().map(|sight| Arc::clone(&sight.found)).collect()),
            (3..=6, Some(_)) | (9, None) => {
                // Sometimes somebody else is at the same item at the same moment.
                if self.rng.u8(0..6) == 0 {
                    let other = self.rng.usize(0..SEATS.len());
                    let order = self.order(other, &key, choice);
                    self.spawn(other, Errand::Decide(Box::new(order)));
                }
                Errand::Decide(Box::new(self.order(seat, &key, choice)))
            }
            (7..=8, Some(found)) => Errand::Check(found),
            (_, _) => Errand::Scan,
        };
        self.spawn(seat, errand);
    }

    /// An operator takes up a proposal: most often one that waits, whoever made it. `false` where there is none.
    fn take_up_proposal(&mut self, seat: usize) -> bool {
        let only_waiting = self.rng.u8(0..8) > 0;
        let listed = self.checker.proposals.listed(only_waiting);
        if listed.is_empty() {
            return false;
        }
        let made = listed[self.rng.usize(0..listed.len())];
        let (decision, insisted) = (made.id, made.insisted);
        let does = self.rng.u8(0..12);
        match does {
            0 => self.spawn(seat, Errand::Withdraw(decision)),
            1 => self.spawn(seat, Errand::Review(short_id(decision))),
            _ => {
                let insists = if self.rng.u8(0..5) == 0 { !insisted } else { insisted };
                let reason = Reason::new("I called the bank").unwrap();
                let order = ApprovalOrder { decision, reason, insists };
                // Sometimes somebody else is at it at the same moment.
                if self.rng.u8(0..4) == 0 {
                    let other = self.rng.usize(0..SEATS.len());
                    self.spawn(other, Errand::Approve(Box::new(order.clone())));
                }
                self.spawn(seat, Errand::Approve(Box::new(order)));
            }
        }
        true
    }

    fn order(&mut self, seat: usize, key: &str, any: Choice) -> Order {
        let sight = self.seats[seat].sights.get(key);
        let checked = sight.and_then(|sight| sight.checked.clone());
        let advised = match checked.as_ref().map(|checked| checked.advice()) {
            Some(Advice::MarkDone) => Choice::MarkDone,
            Some(Advice::Retry) => Choice::Retry,
            Some(Advice::Escalate) => Choice::Escalate,
            Some(Advice::Wait) | None => any,
        };
        let shown = sight.filter(|_| self.rng.u8(0..4) > 0).map(|sight| sight.found.finding.item.clone());
        Order {
            source: SOURCE.into(),
            key: key.into(),
            shown,
            shown_verdict: checked.filter(|_| self.rng.bool()).map(|checked| checked.verdict()),
            choice: if self.rng.u8(0..4) > 0 { advised } else { any },
            reason: Reason::new("looked at it with the team").unwrap(),
            insists: self.rng.u8(0..4) == 0,
        }
    }

    /// Begins an errand, unless the console is at another of its sort.
    pub(super) fn spawn(&mut self, at: usize, errand: Errand) {
        let seat = &mut self.seats[at];
        let Some((number, desk)) = &seat.process else { return };
        let is_deciding = match errand {
            Errand::Decide(_) | Errand::Approve(_) | Errand::Withdraw(_) | Errand::Recover => true,
            Errand::Scan
            | Errand::Check(_)
            | Errand::Sweep(_)
            | Errand::Prepare(..)
            | Errand::Look(_)
            | Errand::Review(_) => false,
        };
        let place = if is_deciding { &mut seat.deciding } else { &mut seat.reading };
        if place.is_some() {
            return;
        }
        if is_deciding {
            let approves = if let Errand::Approve(order) = &errand {
                let made = self.checker.proposals.made(&order.decision.to_string());
                made.map(|made| made.key.clone())
            } else {
                None
            };
            self.sim.of_process(*number, |ran| {
                ran.recovers = matches!(errand, Errand::Recover);
                ran.approves = approves;
                ran.decision = Uuid::nil();
            });
        }
        let name = errand.name();
        let detail = match &errand {
            Errand::Decide(order) => format!("{} {} insists: {}", order.choice, order.key, order.insists),
            Errand::Approve(order) => format!("{} insists: {}", short_id(order.decision), order.insists),
            Errand::Withdraw(decision) => short_id(*decision),
            Errand::Review(short) => short.clone(),
            Errand::Prepare(key, choice) => format!("{choice} {key}"),
            Errand::Look(key) => key.clone(),
            Errand::Check(found) => found.finding.item.key.as_str().to_owned(),
            Errand::Scan | Errand::Sweep(_) | Errand::Recover => String::new(),
        };
        let task = tokio::spawn(errand.run(Arc::clone(desk)));
        *place = Some(UnderWay { name, task, clock_sets: seat.clock_sets, step: self.tally.steps });
        self.tell(|| format!("{} {name} {detail}", SEATS[at].name));
    }
}
