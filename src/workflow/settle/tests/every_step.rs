//! Every port call of everything that the workflow does fails or crashes once, before and after it acted; then every call
//! of the recovery does. After each, the rules hold.

use super::*;
use crate::domain::audit::Entry;
use crate::domain::item::Row;
use crate::workflow::check::record_checks;
use crate::workflow::look::{audit_page, look};
use crate::workflow::recover::recover;
use crate::workflow::scan::Pages;
use crate::workflow::sweep::sweep;
use futures_util::StreamExt;
use pretty_assertions::assert_eq;
use serde_json::Value;
use std::collections::BTreeSet;

/// More port calls than any path makes.
const CALLS_MAX: usize = 40;
const KEYS: [&str; 3] = ["inv-41", "inv-42", "inv-43"];

/// One thing that the workflow does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Path {
    /// One decision, on so many effects, insisting or not.
    Decide(Choice, usize, bool),
    /// One escalation that goes to somebody.
    EscalateToSomebody,
    /// A decision on a row that is not as it was shown any more, or is gone.
    DecideOnChanged,
    DecideOnGone,
    /// One decision after the other.
    DecideAll(Choice),
    Check,
    Sweep,
    Scan,
    Look,
    DryRun,
    /// The recovery of a decision whose program ended right before or right after the write.
    Recover(Choice, Trouble),
}

impl Path {
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Sweep | Self::Scan => &KEYS,
            Self::DecideAll(_) => &KEYS[..2],
            _ => &KEYS[..1],
        }
    }

    /// What the table, the provider and the audit hold before.
    async fn world(self) -> World {
        let effects = match self {
            Self::Decide(_, effects, _) => effects,
            Self::DecideAll(MarkDone) | Self::Recover(MarkDone, _) => 1,
            _ => 0,
        };
        let world = World::with_stuck(self.keys());
        let world = self.keys().iter().fold(world, |world, key| world.happened(key, effects));
        match self {
            Self::DecideOnChanged => world.source.overwrite("inv-41", "running"),
            Self::DecideOnGone => world.source.remove("inv-41"),
            Self::Recover(choice, trouble) => {
                world.script.trouble_in("source.apply", trouble);
                let desk = desk_that_escalates(&world);
                tokio::select! {
                    told = decide(&desk, order("inv-41", choice)) => panic!("it was to break off: {told:?}"),
                    () = world.script.crashed() => {}
                }
                world.script.calm();
            }
            _ => {}
        }
        world
    }

    /// Goes the path; what operators were told of decisions, each with its key.
    async fn walk(self, world: &World) -> Vec<(&'static str, Result<Decided, OrderFault>)> {
        let desk = match self {
            Self::EscalateToSomebody => desk_that_escalates(world),
            // Odd numbers live: what this process finds unfinished is another's.
            Self::Recover(..) => Arc::new(world.desk_of_process(201)),
            _ => world.desk(),
        };
        let key = "inv-41";
        match self {
            Self::Decide(choice, _, insists) => {
                vec![(key, decide(&desk, Order { insists, ..order(key, choice) }).await)]
            }
            Self::EscalateToSomebody => vec![(key, decide(&desk, order(key, Escalate)).await)],
            Self::DecideOnChanged | Self::DecideOnGone => {
                vec![(key, decide(&desk, order(key, Retry)).await)]
            }
            Self::DecideAll(choice) => {
                let mut told = Vec::new();
                for &key in self.keys() {
                    told.push((key, decide(&desk, order(key, choice)).await));
                }
                told
            }
            Self::Check => {
                let Ok(Some(reread)) = reread(&desk, SOURCE, key).await else { return Vec::new() };
                let found = reread.found.unwrap();
                let checked = check(&desk, &found).await;
                let _fault = record_checks(&desk, &[(&found, &checked)]).await;
                Vec::new()
            }
            Self::Sweep => {
                let shown: Vec<_> = scanned(&desk).await;
                let mut batches = sweep(&desk, shown);
                while batches.next().await.is_some() {}
                Vec::new()
            }
            Self::Scan => {
                scanned(&desk).await;
                Vec::new()
            }
            Self::Look => {
                let _fault = look(&desk, SOURCE, key).await;
                let _fault = record_unmask(&desk, SOURCE, key).await;
                let _fault = audit_page(&desk, None).await;
                Vec::new()
            }
            Self::DryRun => {
                if let Ok(Ok(prepared)) = prepare(&desk, SOURCE, key, Retry, None).await {
                    let _fault = record_dry_run(&desk, SOURCE, key, Retry, &prepared).await;
                }
                Vec::new()
            }
            Self::Recover(..) => {
                let _fault = recover(&desk).await;
                Vec::new()
            }
        }
    }

    /// The events on record when nothing goes wrong.
    fn events(self) -> &'static [&'static str] {
        match self {
            Self::Decide(Retry, 1, false) | Self::DecideOnChanged | Self::DecideOnGone => &["refused"],
            Self::Decide(..)
            | Self::EscalateToSomebody
            | Self::Recover(MarkDone | Retry, Trouble::CrashAfter) => &["intended", "applied"],
            Self::DecideAll(_) => &["intended", "applied", "intended", "applied"],
            Self::Check => &["checked"],
            Self::Sweep => &["checked", "checked", "checked"],
            Self::Scan => &[],
            Self::Look => &["unmasked"],
            Self::DryRun => &["dry_run"],
            Self::Recover(Escalate, _) => &["intended", "failed"],
            Self::Recover(..) => &["intended", "refused"],
        }
    }
}

async fn scanned(desk: &Desk) -> Vec<Arc<Found>> {
    let mut pages = Pages::in_order(desk, &desk.sources[0]);
    let mut shown = Vec::new();
    while let Some(Ok(page)) = pages.next().await {
        shown.extend(page.found.into_iter().map(Arc::new));
    }
    shown
}

#[rstest]
#[case::mark_done(Path::Decide(MarkDone, 1, false))]
#[case::mark_done_insisting(Path::Decide(MarkDone, 0, true))]
#[case::retry(Path::Decide(Retry, 0, false))]
#[case::retry_insisting(Path::Decide(Retry, 1, true))]
#[case::retry_forbidden(Path::Decide(Retry, 1, false))]
#[case::escalate_on_record(Path::Decide(Escalate, 0, false))]
#[case::escalate_to_somebody(Path::EscalateToSomebody)]
#[case::changed(Path::DecideOnChanged)]
#[case::gone(Path::DecideOnGone)]
#[case::mark_all_done(Path::DecideAll(MarkDone))]
#[case::retry_all(Path::DecideAll(Retry))]
#[case::check(Path::Check)]
#[case::sweep(Path::Sweep)]
#[case::scan(Path::Scan)]
#[case::look(Path::Look)]
#[case::dry_run(Path::DryRun)]
#[case::recover_done_written(Path::Recover(MarkDone, Trouble::CrashAfter))]
#[case::recover_done_unwritten(Path::Recover(MarkDone, Trouble::CrashBefore))]
#[case::recover_released(Path::Recover(Retry, Trouble::CrashAfter))]
#[case::recover_unreleased(Path::Recover(Retry, Trouble::CrashBefore))]
#[case::recover_escalated(Path::Recover(Escalate, Trouble::CrashBefore))]
#[tokio::test]
async fn the_rules_hold_after_a_trouble_at_any_step(#[case] path: Path) {
    for trouble in Trouble::ALL {
        let mut step = 0;
        while trouble_at(path, step, trouble, None).await.0 {
            step += 1;
            // The recovery goes wrong too, at each of its own calls.
            for second in Trouble::ALL {
                let mut second_step = 0;
                while trouble_at(path, step - 1, trouble, Some((second_step, second))).await.1 {
                    second_step += 1;
                    assert!(second_step < CALLS_MAX, "the recovery never ends");
                }
            }
            assert!(step < CALLS_MAX, "{path:?} never ends");
        }
        assert!(step > 0, "{path:?} calls no port");
    }
}

/// Goes a path with one trouble, then the recovery with another, then the recovery once more. Tells which troubles were met.
async fn trouble_at(
    path: Path,
    step: usize,
    trouble: Trouble,
    second: Option<(usize, Trouble)>,
) -> (bool, bool) {
    let world = path.world().await;
    let before = table(&world, path);
    let arrived = world.escalations.lock().unwrap().len();
    world.script.trouble_at(step, trouble);
    let told = tokio::select! {
        told = path.walk(&world) => told,
        () = world.script.crashed() => Vec::new(),
    };
    let calls = world.script.calls();
    let is_met = calls.len() > step;
    let context = format!("{path:?} with {trouble:?} at step {step}, then {second:?}: {calls:?}");
    nothing_is_touched_without_an_intent(&world, path, &before, &context);
    what_was_told_is_true(&world, &told, &context);
    what_failed_is_unknown(&world, path, &calls, (step, trouble), &context);
    if !is_met {
        assert_eq!(world.events(), path.events(), "{context}");
    }
    let after = table(&world, path);
    let is_second_met = match second {
        Some((second_step, second)) => {
            world.script.trouble_at(second_step, second);
            tokio::select! {
                _ = async { recover(&world.desk_of_process(203)).await } => {}
                () = world.script.crashed() => {}
            }
            nothing_is_touched(&world, &context);
            world.script.calls().len() > second_step
        }
        None => false,
    };
    world.script.calm();
    recover(&world.desk_of_process(205)).await.unwrap();
    assert_eq!(recover(&world.desk_of_process(205)).await.unwrap(), [], "once: {context}");
    nothing_is_touched(&world, &context);
    assert_eq!(table(&world, path), after, "{context}");
    every_decision_has_ended_as_it_truly_did(&world, &context);
    let keys: Vec<String> = world.escalations.lock().unwrap()[arrived..].to_vec();
    assert!(keys.len() <= 1, "{keys:?}: {context}");
    (is_met, is_second_met)
}

fn table(world: &World, path: Path) -> Vec<Option<Row>> {
    path.keys().iter().map(|key| world.source.row(key)).collect()
}

fn decisions_of(entries: &[Entry], event: Event) -> impl Iterator<Item = &Entry> {
    entries.iter().filter(move |entry| entry.event == event.as_str())
}

/// Rule 8: the intent is durable before anything is touched, and each decision touches once.
fn nothing_is_touched_without_an_intent(world: &World, path: Path, before: &[Option<Row>], context: &str) {
    let entries = world.entries();
    let intended: BTreeSet<&str> =
        decisions_of(&entries, Event::Intended).map(|entry| entry.key.as_str()).collect();
    for (key, was) in path.keys().iter().zip(before) {
        assert!(intended.contains(key) || world.source.row(key) == *was, "{key}: {context}");
    }
    let calls = world.script.calls();
    for touching in ["source.apply", "escalation.send"] {
        let mut of_touching = calls.iter().filter(|call| call.starts_with(touching));
        let touched: BTreeSet<&String> = of_touching.clone().collect();
        assert_eq!(touched.len(), of_touching.clone().count(), "once: {context}");
        assert!(of_touching.all(|call| intended.iter().any(|key| call.ends_with(key))), "{context}");
    }
    for (at, call) in calls.iter().enumerate() {
        let is_touching = call.starts_with("source.apply") || call.starts_with("escalation.send");
        let intents = calls[..at].iter().filter(|call| *call == "record.append intended").count();
        let touched = calls[..at].iter().filter(|earlier| **earlier == *call).count();
        assert!(!is_touching || intents > touched, "{context}");
    }
}

/// Whoever is told that it is done, or that nothing was touched, is told the truth.
fn what_was_told_is_true(world: &World, told: &[(&str, Result<Decided, OrderFault>)], context: &str) {
    let entries = world.entries();
    for (key, told) in told {
        let writes = |decision: &str| {
            decisions_of(&entries, Event::Intended).any(|entry| entry.decision == decision)
                && world.source.row(key) != Some(stuck_row(key))
        };
        match told {
            Err(fault) => {
                assert!(!fault.do_next().is_empty(), "{context}");
                assert_eq!(world.script.count(&format!("source.apply {key}")), 0, "{fault}: {context}");
            }
            Ok(decided) => match &decided.outcome {
                Outcome::Applied { after, .. } => assert_eq!(&world.source.row(key), after, "{context}"),
                Outcome::Refused { .. } | Outcome::Proposed { .. } => {
                    assert!(!writes(&decided.decision.to_string()), "{context}");
                }
                Outcome::Failed { .. } => assert!(decided.do_next.is_some(), "{context}"),
            },
        }
    }
}

/// Rules 1 and 4: where the provider did not answer, nothing is known, and nothing is retried that nobody insisted on.
fn what_failed_is_unknown(
    world: &World,
    path: Path,
    calls: &[String],
    (step, trouble): (usize, Trouble),
    context: &str,
) {
    let Some(key) = calls.get(step).and_then(|call| call.strip_prefix("provider.ask ")) else { return };
    if matches!(trouble, Trouble::CrashBefore | Trouble::CrashAfter) {
        return;
    }
    let entries = world.entries();
    for entry in entries.iter().filter(|entry| entry.key == key) {
        let body: Value = serde_json::from_str(&entry.body).unwrap();
        let check = if entry.event == Event::Checked.as_str() { &body } else { &body["check"] };
        assert!(check.is_null() || check["verdict"] == "unknown", "{entry:?}: {context}");
    }
    let is_retry = matches!(path, Path::Decide(Retry, _, false) | Path::DecideAll(Retry));
    assert!(!is_retry || world.source.row(key) == Some(stuck_row(key)), "{context}");
}

fn nothing_is_touched(world: &World, context: &str) {
    let touched = world.script.count("source.apply") + world.script.count("escalation.send");
    assert_eq!(touched, 0, "the recovery only reads: {context}");
}

fn every_decision_has_ended_as_it_truly_did(world: &World, context: &str) {
    let entries = world.entries();
    for intent in decisions_of(&entries, Event::Intended) {
        let outcomes: Vec<&Entry> = entries
            .iter()
            .filter(|entry| entry.decision == intent.decision && entry.seq > intent.seq)
            .collect();
        let [outcome] = &outcomes[..] else { panic!("one outcome an intent: {outcomes:?}: {context}") };
        let (body, intended): (Value, Value) =
            (serde_json::from_str(&outcome.body).unwrap(), serde_json::from_str(&intent.body).unwrap());
        assert_eq!(body["intent"], intent.seq, "{context}");
        let is_written = world.source.row(&intent.key) != Some(stuck_row(&intent.key));
        if intended["choice"] != "escalate" {
            assert_eq!(outcome.event == Event::Applied.as_str(), is_written, "{context}: {outcome:?}");
        } else if !intended["escalates_to"].is_null() {
            let has_arrived = !world.escalations.lock().unwrap().is_empty();
            assert!(outcome.event != Event::Applied.as_str() || has_arrived, "{context}");
            assert!(outcome.event != Event::Refused.as_str() || !has_arrived, "{context}");
        }
    }
}
