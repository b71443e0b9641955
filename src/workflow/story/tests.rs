use super::*;
use crate::domain::questions::{Answer, Question};
use crate::workflow::check::record_checks;
use crate::workflow::fakes::{SOURCE, Trouble, World};
use crate::workflow::reconcile::Scope;
use chrono::TimeDelta;
use pretty_assertions::assert_eq;

fn answer_to(story: &Story, question: Question) -> (Answer, &str) {
    let found = story.answers.iter().find(|answered| answered.question == question).unwrap();
    (found.answer, &found.told)
}

#[tokio::test]
async fn a_provider_is_asked_only_where_somebody_wants_it_and_nothing_is_written() {
    let world = World::with_stuck(&["a"]).happened("a", 2);
    let desk = world.desk();
    let quiet = story(&desk, SOURCE, "a", false).await.unwrap().unwrap();
    assert!(quiet.checked.is_none() && quiet.duplicate.is_none());
    assert_eq!(answer_to(&quiet, Question::EffectFirst), (Answer::NotKnown, "the provider was not asked"));
    let asked = story(&desk, SOURCE, "a", true).await.unwrap().unwrap();
    assert_eq!(asked.duplicate.as_ref().map(Duplicate::happened_count), Some(2));
    let told = "no end was ever recorded: the row still says `running`";
    assert_eq!(answer_to(&asked, Question::EffectFirst), (Answer::No, told));
    assert_eq!(answer_to(&asked, Question::Runs).0, Answer::NotKnown);
    assert_eq!(world.events(), Vec::<String>::new());
}

/// What an earlier check saw is told as of then.
#[tokio::test]
async fn what_is_on_record_is_told_with_its_moment() {
    let world = World::with_stuck(&["a"]).happened("a", 2);
    let desk = world.desk();
    let asked = story(&desk, SOURCE, "a", true).await.unwrap().unwrap();
    let member = (&asked.members[0].found, asked.checked.as_ref().unwrap());
    record_checks(&desk, &[member]).await.unwrap();
    let later = story(&desk, SOURCE, "a", false).await.unwrap().unwrap();
    let recorded = later.recorded.as_ref().unwrap();
    assert_eq!((recorded.entry, recorded.verdict.as_str()), (1, "duplicated"));
    assert_eq!(recorded.effects.as_ref(), Some(&asked.checked.unwrap().judgement.effects));
    assert_eq!(later.duplicate.map(|duplicate| duplicate.happened_count()), Some(2));
    let places: Vec<&str> = later.timeline.lines.iter().map(|line| &*line.happening.place).collect();
    assert!(places.contains(&"audit entry 1"), "{places:?}");
}

#[tokio::test]
async fn an_item_that_is_gone_is_told_by_the_record_and_one_that_never_was_by_nothing() {
    let world = World::with_stuck(&["a"]).happened("a", 1);
    let desk = world.desk();
    let asked = story(&desk, SOURCE, "a", true).await.unwrap().unwrap();
    record_checks(&desk, &[(&asked.members[0].found, asked.checked.as_ref().unwrap())]).await.unwrap();
    world.source.remove("a");
    let gone = story(&desk, SOURCE, "a", false).await.unwrap().unwrap();
    assert!(gone.members.is_empty());
    assert_eq!(answer_to(&gone, Question::Item), (Answer::Yes, "`jobs a`; its row is gone"));
    assert!(story(&desk, SOURCE, "b", false).await.unwrap().is_none());
    assert!(matches!(story(&desk, "nowhere", "a", false).await, Err(OrderFault::NoSuchSource(_))));
}

#[tokio::test]
async fn duplicates_are_found_by_the_list_and_alone_where_there_is_none() {
    let scope = Scope { since: TimeDelta::days(1), source: None };
    for is_listed in [true, false] {
        let world = World::with_stuck(&["a", "b", "c"]).happened("a", 2).happened("b", 1).happened("c", 3);
        if !is_listed {
            world.script.trouble_in("provider.list", Trouble::FailBefore);
        }
        let found = duplicates(&world.desk(), &scope, &|_| {}).await;
        let told: Vec<(&str, usize)> = found
            .stories
            .iter()
            .map(|story| (&*story.key, story.duplicate.as_ref().map_or(0, Duplicate::happened_count)))
            .collect();
        assert_eq!(told, [("a", 2), ("c", 3)], "listed: {is_listed}");
        assert_eq!(found.alone.len(), if is_listed { 0 } else { 3 });
    }
}

/// A record that cannot be read may hold checks and decisions: "nobody asked" and "no" are not said of them.
#[tokio::test]
async fn a_record_that_cannot_be_read_is_told_and_no_answer_leans_on_it() {
    let world = World::with_stuck(&["a"]).happened("a", 2);
    let desk = world.desk();
    let asked = story(&desk, SOURCE, "a", true).await.unwrap().unwrap();
    record_checks(&desk, &[(&asked.members[0].found, asked.checked.as_ref().unwrap())]).await.unwrap();
    world.script.trouble_in("record.of_item", Trouble::FailBefore);
    let unread = story(&desk, SOURCE, "a", false).await.unwrap().unwrap();
    assert_eq!(unread.unread.as_ref().unwrap().what, "the audit cannot be read");
    let head: Vec<String> =
        unread.head("--check").into_iter().map(|(label, text)| format!("{label}: {text}")).collect();
    assert!(head.contains(&"record: COULD NOT BE READ: the audit cannot be read".to_owned()), "{head:?}");
    assert!(!head.iter().any(|line| line.contains("nobody asked")), "{head:?}");
    let why = "the record could not be read: the audit cannot be read";
    assert_eq!(answer_to(&unread, Question::EffectFirst), (Answer::NotKnown, why));
    world.script.trouble_in("record.of_item", Trouble::FailBefore);
    let nowhere = story(&desk, SOURCE, "b", false).await;
    assert!(matches!(&nowhere, Err(OrderFault::Unread(fault)) if fault.what == "the audit cannot be read"));
    // Where there is no audit yet, nothing is on record: that is known.
    let mut without = world.desk_of_process(crate::workflow::fakes::PROCESS);
    let fault = RecordFault { is_absent: true, what: "there is none".to_owned(), do_next: String::new() };
    without.record = Err(fault);
    let told = story(&without, SOURCE, "a", false).await.unwrap().unwrap();
    assert!(told.unread.is_none());
    assert_eq!(answer_to(&told, Question::EffectFirst), (Answer::NotKnown, "the provider was not asked"));
}
