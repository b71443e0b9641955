//! What was met, counted: a simulation that meets nothing proves nothing.

use super::gates::{Luck, Phase};
use crate::domain::audit::Event;
use std::collections::BTreeMap;

/// What must have been met over many seeds, beside every fault and every place of a crash.
const MET: [(&str, &str); 70] = [
    ("applied", "mark_done"),
    ("applied", "retry"),
    ("applied", "escalate"),
    ("refused", "mark_done"),
    ("refused", "retry"),
    ("refused", "escalate"),
    ("failed", "mark_done"),
    ("failed", "retry"),
    ("failed", "escalate"),
    ("recovered", "applied mark_done"),
    ("recovered", "applied retry"),
    ("recovered", "applied escalate"),
    ("recovered", "refused mark_done"),
    ("recovered", "refused retry"),
    ("recovered", "failed mark_done"),
    ("recovered", "failed retry"),
    ("recovered", "failed escalate"),
    ("recovered", "left open"),
    ("intended", "advised mark_done"),
    ("intended", "advised retry"),
    ("intended", "insisted mark_done"),
    ("intended", "insisted retry"),
    ("proposed", "mark_done"),
    ("proposed", "retry"),
    ("proposed", "insisting"),
    ("approved", "mark_done"),
    ("approved", "retry"),
    ("approved", "insisting"),
    ("approved", "financial retry against the advice"),
    ("withdrawn", "by the proposer"),
    ("withdrawn", "by another"),
    ("lapsed", "time"),
    ("lapsed", "row"),
    ("lapsed", "evidence"),
    ("lapsed", "when another was proposed"),
    ("refused", "a second proposal"),
    ("approval refused", "own proposal"),
    ("approval refused", "same account"),
    ("approval refused", "not insisting"),
    ("approval refused", "no answer"),
    ("approval refused", "clock behind"),
    ("approval refused", "settled before"),
    ("approval refused", "settled a moment ago"),
    ("recovered approval", "applied"),
    ("recovered approval", "refused"),
    ("verdict", "happened"),
    ("verdict", "duplicated"),
    ("verdict", "not_found"),
    ("verdict", "pending"),
    ("verdict", "failed"),
    ("verdict", "unknown"),
    ("advice", "mark_done"),
    ("advice", "retry"),
    ("advice", "wait"),
    ("advice", "escalate"),
    ("worker", "takes"),
    ("worker", "acts"),
    ("worker", "gives up"),
    ("worker", "dies"),
    ("worker", "falls asleep"),
    ("worker", "ends"),
    ("worker", "ends late and overwrites"),
    ("worker", "ends, and leaves what is another's"),
    ("worker", "ends without a row"),
    ("worker", "by hand: deletes"),
    ("worker", "by hand: makes anew"),
    ("console", "its clock is set"),
    ("console", "an errand is dropped"),
    ("console", "begins under the number of its last process"),
    ("console", "its number is another program's"),
];

/// How often what was met, over any number of seeds.
#[derive(Debug, Default, Clone)]
pub(super) struct Tally {
    pub seeds: u64,
    pub steps: u64,
    pub crashes: BTreeMap<(&'static str, Phase), u64>,
    pub lucks: BTreeMap<(&'static str, Luck), u64>,
    pub others: BTreeMap<(&'static str, String), u64>,
}

impl Tally {
    /// Something was met once more.
    pub(super) fn met(&mut self, what: &'static str, which: impl Into<String>) {
        *self.others.entry((what, which.into())).or_default() += 1;
    }

    /// How often.
    pub(super) fn count(&self, what: &'static str, which: &str) -> u64 {
        self.others.get(&(what, which.to_owned())).copied().unwrap_or_default()
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.seeds += other.seeds;
        self.steps += other.steps;
        merge(&mut self.crashes, &other.crashes);
        merge(&mut self.lucks, &other.lucks);
        merge(&mut self.others, &other.others);
    }

    /// How many calls went wrong.
    pub(super) fn faults(&self) -> u64 {
        self.lucks.iter().filter(|((_, luck), _)| *luck != Luck::Good).map(|(_, count)| count).sum()
    }

    /// What should have been met and was not.
    pub(super) fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for call in Luck::CALLS {
            for phase in [Phase::Before, Phase::After] {
                let is_held = phase == Phase::Before || Luck::HELD_AFTER.contains(&call);
                if is_held && !self.crashes.contains_key(&(call, phase)) {
                    missing.push(format!("a crash {} {call} acted", phase.as_str()));
                }
            }
            for luck in Luck::bad(call) {
                if !self.lucks.contains_key(&(call, *luck)) {
                    missing.push(format!("{call} that {}", luck.as_str()));
                }
            }
        }
        let expected = MET.iter();
        let absent = expected.filter(|(what, which)| self.count(what, which) == 0);
        missing.extend(absent.map(|(what, which)| format!("{what}: {which}")));
        missing
    }
}

/// An entry of the audit was met.
pub(super) fn count_entry(tally: &mut Tally, event: Event, body: &serde_json::Value) {
    let choice = body["choice"].as_str().unwrap_or_default().to_owned();
    if event == Event::Intended && !body["approval"].is_null() {
        count_approval(tally, body, &choice);
    }
    match event {
        Event::Intended if body["check"]["advice"] == body["choice"] => {
            tally.met("intended", format!("advised {choice}"));
        }
        Event::Intended => tally.met("intended", format!("insisted {choice}")),
        Event::Applied => tally.met("applied", choice),
        Event::Refused if body["attempted"] == "propose" => tally.met("refused", "a second proposal"),
        Event::Refused if body["attempted"] == "approve" => {
            tally.met("approval refused", kind_of(body, &REFUSED));
        }
        Event::Refused => tally.met("refused", choice),
        Event::Failed => tally.met("failed", choice),
        Event::Proposed => {
            if body["insisted"] == true {
                tally.met("proposed", "insisting");
            }
            tally.met("proposed", choice);
        }
        Event::Withdrawn if body["by_proposer"] == true => tally.met("withdrawn", "by the proposer"),
        Event::Withdrawn => tally.met("withdrawn", "by another"),
        Event::Lapsed => {
            if body["attempted"] == "propose" {
                tally.met("lapsed", "when another was proposed");
            }
            tally.met("lapsed", kind_of(body, &LAPSED));
        }
        Event::Checked
        | Event::Listed
        | Event::DryRun
        | Event::Unmasked
        | Event::Opened
        | Event::Noted
        | Event::Closed => {}
    }
}

fn count_approval(tally: &mut Tally, body: &serde_json::Value, choice: &str) {
    let is_against = body["check"]["advice"] != choice;
    if is_against {
        tally.met("approved", "insisting");
    }
    if is_against && choice == "retry" && body["risk"] == "financial" {
        tally.met("approved", "financial retry against the advice");
    }
    tally.met("approved", choice);
}

/// What the words of a refused approval amount to.
const REFUSED: [(&str, &str); 6] = [
    ("of their own", "own proposal"),
    ("same account", "same account"),
    ("has to insist", "not insisting"),
    ("no answer that counts", "no answer"),
    ("clock stands before", "clock behind"),
    ("(audit entry", "settled before"),
];

/// What the words of a lapse amount to.
const LAPSED: [(&str, &str); 6] = [
    ("could be approved until", "time"),
    ("row changed", "row"),
    ("needs no decision", "row"),
    ("no such item", "row"),
    ("the verdict was", "evidence"),
    ("the effects were", "evidence"),
];

fn kind_of(body: &serde_json::Value, kinds: &[(&'static str, &'static str)]) -> &'static str {
    let why = body["why"].as_str().unwrap_or_default();
    kinds.iter().find(|(words, _)| why.contains(words)).map_or("otherwise", |(_, kind)| kind)
}

fn merge<K: Ord + Clone>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        *into.entry(key.clone()).or_default() += count;
    }
}
