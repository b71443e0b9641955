//! Made-up stories, duplicates and matchings.

use super::helpers::*;
use crate::console::message::{MatchMessage, MatchTold, Message, StoryMessage};
use crate::console::model::matching::Matching;
use crate::console::{Task, sample};
use crate::domain::duplicates::{Parts, group};
use crate::domain::error_class::ErrorTable;
use crate::domain::evidence::{Effect, EffectState, Fault, FaultKind};
use crate::domain::finding::FindingKind;
use crate::domain::item::State;
use crate::domain::listing::ListedEffect;
use crate::domain::mark::MarkKind;
use crate::domain::moment::Reading;
use crate::domain::money::{Money, Unit};
use crate::domain::policy::CheckName;
use crate::domain::questions::{Coverage, EffectsKnown, ItemFacts, Known, answer};
use crate::domain::timeline::origins::{name_of, of_effects};
use crate::domain::timeline::{
    Clock, Ending, Gaps, Happening, Limits, Origin, Told, What, hints, merge, runs,
};
use crate::domain::verdict::Verdict;
use crate::ports::record::RecordFault;
use crate::workflow::Found;
use crate::workflow::reconcile::{Reconciled, Unaccounted};
use crate::workflow::story::{Doubles, Member, Story};
use crate::workflow::sweep::Unrecorded;
use chrono::{DateTime, TimeDelta, Utc};
use std::sync::{Arc, LazyLock};

fn table() -> &'static ErrorTable {
    static TABLE: LazyLock<ErrorTable> =
        LazyLock::new(|| ErrorTable::parse(include_str!("../../../assets/errors.toml")).unwrap());
    &TABLE
}

/// So many seconds after the first attempt began, and a little.
fn at(seconds: i64) -> DateTime<Utc> {
    sample::now() - TimeDelta::minutes(40) - TimeDelta::seconds(10)
        + TimeDelta::seconds(seconds)
        + TimeDelta::milliseconds(120)
}

fn happening(found: &Found, origin: Origin, place: &str, seconds: i64, what: What) -> Happening {
    let (clock, item) = match origin {
        Origin::Mark => (Clock::Marks("deploys.log".into()), None),
        Origin::Audit => (Clock::Console, Some(name_of(&found.finding.item))),
        _ => (Clock::Log("worker.jsonl".into()), Some(name_of(&found.finding.item))),
    };
    Happening { at: Reading::Known(at(seconds)), clock, origin, place: place.to_owned(), item, what }
}

fn happenings(found: &Found, effects: &[Effect]) -> Vec<Happening> {
    let run = |attempt: i64, owner: &str| Told {
        attempt: Some(attempt),
        owner: Some(owner.to_owned()),
        idempotency_key: Some(format!("key-{attempt}")),
        ..Told::default()
    };
    let error = Some("Read timed out. (read timeout=10)".to_owned());
    let receipt = |line: u32, seconds, what| {
        happening(found, Origin::Receipt, &format!("worker.jsonl:{line}"), seconds, what)
    };
    let deploy = What::Mark(MarkKind::Deploy, "v1.42 of billing".to_owned());
    let mut all = vec![
        receipt(11, 0, What::Started(run(1, "w1"))),
        receipt(12, 20, What::Ended(Ending::Failed, Told { error, ..run(1, "w1") })),
        receipt(19, 41, What::Started(run(2, "w2"))),
        happening(found, Origin::Mark, "deploys.log:3", 24, deploy),
        happening(found, Origin::Audit, "audit entry 7", 90, What::Checked("duplicated".to_owned())),
    ];
    let untimed = Happening {
        at: Reading::unreadable("soon", "no time that is known"),
        ..receipt(20, 0, What::Noted(Told { word: "sent".to_owned(), ..run(2, "w2") }))
    };
    all.push(untimed);
    all.extend(of_effects("ledger.charges", effects));
    all
}

/// What is known of a finding whose provider was asked.
pub fn story(found: &Found, verdict: Verdict) -> Story {
    let item = &found.finding.item;
    let checked = sample::checked(found, verdict);
    let effects = checked.judgement.effects.clone();
    let timeline = merge(happenings(found, &effects), Gaps::default());
    let runs = runs(&timeline);
    let hints = hints(&timeline, &runs, &Limits::default());
    let facts = vec![ItemFacts {
        name: name_of(item),
        kind: Arc::clone(&item.kind),
        status: Arc::clone(&item.status),
        state: item.state,
        attempts: item.attempts,
        tried_once: item.tried_once,
    }];
    let logs = Coverage {
        given: 1,
        files: 1,
        lines: 20,
        first: Some(at(0)),
        last: Some(at(41)),
        ..Coverage::default()
    };
    let reference = found.reference.clone();
    let known = match &checked.judgement.fault {
        Some(fault) => EffectsKnown::Fault(fault.to_string()),
        None => EffectsKnown::Told,
    };
    let answers = answer(&Known {
        items: &facts,
        reference: reference.as_deref().map_err(|why| &**why),
        timeline: &timeline,
        runs: &runs,
        effects: &known,
        logs: &logs,
        marks: &Coverage::default(),
        errors: table(),
    });
    let duplicate = group(&Parts {
        reference: reference.as_deref().unwrap_or(""),
        operation: "ledger.charges",
        items: &facts,
        runs: &runs,
        effects: &effects,
        hints: &hints,
        errors: table(),
    });
    Story {
        source: Arc::clone(&item.source),
        key: item.key.shared(),
        members: vec![Member { found: found.clone(), is_finding: true, row: row("running") }],
        reference,
        operation: "ledger.charges".to_owned(),
        timeline,
        runs,
        hints,
        answers,
        checked: Some(checked),
        recorded: None,
        unread: None,
        duplicate,
        logs,
        marks: Coverage::default(),
        notes: vec!["1 of 20 lines of a log cannot be read.".to_owned()],
    }
}

fn billing() -> CheckName {
    CheckName { provider: "ledger".into(), operation: "charges".into() }
}

fn odd(number: usize, kind: FindingKind, verdict: Verdict) -> (Arc<Found>, Arc<crate::workflow::Checked>) {
    let mut found = sample::found(number);
    found.finding.kind = kind;
    if kind == FindingKind::Lost {
        (found.finding.item.state, found.finding.item.status) = (State::Done, "done".into());
    }
    let checked = sample::checked(&found, verdict);
    (Arc::new(found), Arc::new(checked))
}

/// What does not match: one of each, and a list that could not be read.
pub fn reconciled() -> Reconciled {
    let effect = Effect {
        id: "ch_9f00".to_owned(),
        status: "succeeded".to_owned(),
        state: EffectState::Happened,
        money: Money::read("2500", Some("EUR"), Unit::Minor).ok(),
        at: Some(at(300)),
        link: None,
    };
    let unaccounted = Unaccounted {
        operation: billing(),
        effect: ListedEffect {
            id: effect.id.clone(),
            references: vec!["invoice:77:2026-05".to_owned()],
            page: 0,
            read: Ok(effect),
        },
        at: sample::now(),
        evidence: Some("9f2c11d0a5b34e".to_owned()),
    };
    let mail = CheckName { provider: "mailhouse".into(), operation: "messages".into() };
    Reconciled {
        items: vec![
            odd(0, FindingKind::Duplicate, Verdict::Duplicated),
            odd(30, FindingKind::Lost, Verdict::NotFound),
            odd(3, FindingKind::Mismatch, Verdict::Mismatch),
        ],
        unaccounted: vec![unaccounted],
        items_matched: 12,
        effects_matched: 9,
        lists_read: 1,
        sources_read: 3,
        not_listed: vec![(mail, Fault::new(FaultKind::ServerError, "HTTP 503 three times"), 4)],
        ..Reconciled::default()
    }
}

fn alone(number: usize) -> (Arc<Found>, Arc<crate::workflow::Checked>) {
    let found = sample::found(number);
    let checked = sample::checked(&found, Verdict::Happened);
    (Arc::new(found), Arc::new(checked))
}

/// What happened twice: a reference, and a list that could not be read.
pub fn doubles() -> Doubles {
    let stories = [0, 3].map(|number| story(&sample::found(number), Verdict::Duplicated));
    let alone = vec![alone(2), alone(5)];
    Doubles { stories: stories.to_vec(), reconciled: reconciled(), doubled_without_item: 0, alone }
}

impl Console {
    /// Opens the timeline of the item under the cursor, answered with everything that is known.
    pub fn open_timeline(&mut self, change: impl FnOnce(&mut Story)) {
        let found = self.current();
        let tasks = self.press("T");
        let [Task::TellStory { run, asks_anew: false, .. }] = tasks[..] else { panic!("{tasks:?}") };
        let mut told = story(&found, Verdict::Duplicated);
        change(&mut told);
        self.tell_story(run, told);
    }

    pub fn tell_story(&mut self, run: u64, told: Story) {
        let story = Ok(Some(Arc::new(told)));
        self.send(Message::Story(StoryMessage { run, story, unrecorded: Unrecorded::default() }));
    }

    /// Opens a matching, answered with what came of it.
    pub fn open_matching(&mut self, which: Matching) {
        let key = if which == Matching::Duplicates { "D" } else { "M" };
        let tasks = self.press(key);
        let [Task::Match { run, .. }] = tasks[..] else { panic!("{tasks:?}") };
        self.answer_matching(which, run, None);
    }

    pub fn answer_matching(&mut self, which: Matching, run: u64, fault: Option<RecordFault>) {
        let (doubles, reconciled) = (doubles(), reconciled());
        let checks = if which == Matching::Duplicates { doubles.checks() } else { reconciled.items.clone() };
        let items = checks.iter().map(|(found, _)| &found.finding.item);
        let unrecorded = fault.map(|fault| Unrecorded::of(items, fault)).unwrap_or_default();
        let told = match which {
            Matching::Duplicates => MatchTold::Doubles(Arc::new(doubles), unrecorded),
            Matching::Reconcile => MatchTold::Both(Arc::new(reconciled), unrecorded),
        };
        self.tell_matching(which, run, told);
    }

    pub fn tell_matching(&mut self, which: Matching, run: u64, told: MatchTold) {
        assert_eq!(self.send(Message::Match(MatchMessage { which, run, told })), []);
    }
}
