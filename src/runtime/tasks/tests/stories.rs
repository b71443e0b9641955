//! Timelines and matchings: told, recorded, dropped.

use super::*;
use crate::console::message::{MatchMessage, MatchTold, StoryMessage};
use crate::console::model::matching::Matching::{Duplicates, Reconcile};
use crate::workflow::reconcile::Scope;
use chrono::TimeDelta;
use pretty_assertions::assert_eq;

fn tell(run: u64, asks_anew: bool) -> Task {
    Task::TellStory { run, source: SOURCE.into(), key: "a".into(), asks_anew }
}

fn matching(run: u64, which: Matching) -> Task {
    Task::Match { which, run, scope: Scope { since: TimeDelta::days(1), source: None } }
}

/// The news of a story, and everything that is told of a matching but how far it is.
fn spell_story(message: &Message) -> Option<String> {
    match message {
        Message::Story(StoryMessage { run, story, unrecorded }) => {
            let told = match story {
                Ok(Some(story)) => format!("{}, asked {}", story.key, story.checked.is_some()),
                Ok(None) => "nothing".to_owned(),
                Err(fault) => format!("fault: {fault}"),
            };
            let unrecorded = if unrecorded.are_any() { ", unrecorded" } else { "" };
            Some(format!("story {run}: {told}{unrecorded}"))
        }
        Message::Match(MatchMessage { run, told: MatchTold::Both(matched, _), .. }) => {
            Some(format!("match {run}: {} do not match", matched.odd_count()))
        }
        Message::Match(MatchMessage { run, told: MatchTold::Doubles(found, unrecorded), .. }) => {
            let unrecorded = if unrecorded.are_any() { ", unrecorded" } else { "" };
            Some(format!("match {run}: {} twice{unrecorded}", found.groups().count()))
        }
        Message::Match(MatchMessage { told: MatchTold::Step(_), .. }) => None,
        other => Some(spell(other)),
    }
}

async fn told(bench: &mut Bench) -> Vec<String> {
    timeout(Duration::from_secs(10), bench.tasks.ended()).await.unwrap();
    let mut told = Vec::new();
    while let Ok(message) = bench.messages.try_recv() {
        told.extend(spell_story(&message));
    }
    told
}

#[tokio::test]
async fn a_story_is_told_and_a_check_that_it_made_is_on_record() {
    let world = World::with_stuck(&["a"]).happened("a", 2);
    let mut bench = Bench::on(world.desk());
    bench.tasks.start(tell(1, false));
    assert_eq!(told(&mut bench).await, ["story 1: a, asked false"]);
    assert_eq!(world.entries().len(), 0, "a look leaves no trace");
    bench.tasks.start(tell(2, true));
    assert_eq!(told(&mut bench).await, ["story 2: a, asked true"]);
    assert_eq!(world.entries().iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["a"]);
    world.script.trouble_in("record.append", Trouble::FailBefore);
    bench.tasks.start(tell(3, true));
    assert_eq!(told(&mut bench).await, ["story 3: a, asked true, unrecorded"]);
}

#[tokio::test]
async fn an_item_that_nothing_knows_and_a_source_that_is_none_are_told() {
    let world = World::with_stuck(&["a"]);
    let mut bench = Bench::on(world.desk());
    bench.tasks.start(Task::TellStory { run: 1, source: SOURCE.into(), key: "z".into(), asks_anew: false });
    assert_eq!(told(&mut bench).await, ["story 1: nothing"]);
    bench.tasks.start(Task::TellStory { run: 2, source: "none".into(), key: "a".into(), asks_anew: false });
    assert_eq!(told(&mut bench).await, ["story 2: fault: there is no source `none`"]);
}

#[tokio::test]
async fn a_matching_tells_how_far_it_is_and_what_it_found_is_on_record() {
    let world = World::with_stuck(&["a", "b", "c"]).happened("a", 2).happened("b", 1);
    let mut bench = Bench::on(world.desk());
    bench.tasks.start(matching(1, Duplicates));
    let first = bench.next().await;
    let Message::Match(MatchMessage { told: MatchTold::Step(step), .. }) = first else { panic!("{first:?}") };
    assert_eq!(step.sentence(), "0 of 1 lists of the providers read");
    assert_eq!(told(&mut bench).await, ["match 1: 1 twice"]);
    bench.tasks.start(matching(2, Reconcile));
    assert_eq!(told(&mut bench).await, ["match 2: 1 do not match"]);
    let checked: Vec<String> = world
        .entries()
        .into_iter()
        .filter(|entry| entry.event == Event::Checked.as_str())
        .map(|entry| entry.key)
        .collect();
    assert_eq!(checked, ["a", "a"]);
}

/// Where there is no list the findings are asked about one by one, and every answer is on record.
#[tokio::test]
async fn answers_without_a_list_are_on_record_too() {
    let world = World::with_stuck(&["a", "b"]).happened("a", 2).happened("b", 1);
    world.script.trouble_in("provider.list", Trouble::FailBefore);
    let mut bench = Bench::on(world.desk());
    bench.tasks.start(matching(1, Duplicates));
    assert_eq!(told(&mut bench).await, ["match 1: 1 twice"]);
    let entries = world.entries();
    let checked: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.event == Event::Checked.as_str())
        .map(|entry| entry.key.as_str())
        .collect();
    assert_eq!(checked, ["a", "b"]);
}

#[tokio::test]
async fn a_matching_that_is_stopped_tells_nothing_and_the_other_goes_on() {
    let world = World::with_stuck(&["a"]).happened("a", 2);
    let mut bench = Bench::on(world.desk());
    world.script.hold("provider.list");
    bench.tasks.start(matching(1, Duplicates));
    bench.tasks.start(matching(2, Reconcile));
    world.script.begun("provider.list", 2).await;
    bench.tasks.start(Task::StopMatching(Duplicates));
    world.script.let_go("provider.list", 2);
    assert_eq!(told(&mut bench).await, ["match 2: 1 do not match"]);
}

#[tokio::test]
async fn a_newer_story_drops_the_older() {
    let world = World::with_stuck(&["a"]).happened("a", 1);
    let mut bench = Bench::on(world.desk());
    world.script.hold("provider.ask");
    bench.tasks.start(tell(1, true));
    world.script.begun("provider.ask", 1).await;
    bench.tasks.start(tell(2, false));
    assert_eq!(told(&mut bench).await, ["story 2: a, asked false"]);
    assert_eq!(world.entries().len(), 0);
}
