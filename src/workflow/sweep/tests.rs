use super::*;
use crate::domain::advice::Advice;
use crate::domain::evidence::{Clocks, FaultKind};
use crate::domain::listing::Listing;
use crate::domain::verdict::Verdict;
use crate::ports::provider::ProviderFacts;
use crate::workflow::fakes::{Trouble, World, found, now};
use crate::workflow::list::List;
use chrono::TimeDelta;
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::Value;

const KEYS: [&str; 24] = [
    "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "c1",
    "c2", "c3", "c4", "c5", "c6", "c7", "c8",
];

/// Twenty-four jobs that are stuck; the provider has one effect of one of them, and two of another.
fn world() -> World {
    World::with_stuck(&KEYS).happened("a1", 1).happened("a2", 2).that_can_be_listed()
}

async fn all(desk: &Desk) -> Vec<Arc<Found>> {
    let mut all = Vec::new();
    for key in KEYS {
        all.push(found(desk, key).await);
    }
    all
}

/// The verdict of each, in order; recorded as they came.
async fn swept(
    desk: &Desk,
    wish: Wish,
) -> (BTreeMap<String, (Verdict, Advice, Vec<String>)>, Option<String>) {
    let planned = plan_all(desk, all(desk).await, wish);
    let given_up = Arc::clone(&planned[0].given_up);
    let mut batches = recorded(desk, answers(desk, planned));
    let mut told = BTreeMap::new();
    while let Some(Recorded { answered, are_on_record, .. }) = batches.next().await {
        assert!(are_on_record);
        for (found, checked) in answered {
            let key = found.finding.item.key.as_str().to_owned();
            told.insert(key, (checked.verdict(), checked.advice(), checked.advised.reasons.clone()));
        }
    }
    (told, given_up.get().cloned())
}

#[tokio::test]
async fn a_list_tells_what_asking_one_by_one_tells() {
    let world = world();
    let desk = world.desk();
    let (by_list, given_up) = swept(&desk, Wish::Cheapest).await;
    assert_eq!((world.script.count("provider.list"), world.script.count("provider.ask")), (1, 0));
    let (by_item, _) = swept(&desk, Wish::ByItem).await;
    assert_eq!((world.script.count("provider.list"), world.script.count("provider.ask")), (1, 24));
    assert_eq!(by_list, by_item);
    assert_eq!(by_list["a2"].0, Verdict::Duplicated);
    assert_eq!(given_up, None);
}

#[tokio::test]
async fn a_list_is_on_record_once_and_each_check_refers_to_it() {
    let world = world();
    swept(&world.desk(), Wish::Cheapest).await;
    let entries = world.entries();
    assert_eq!((entries[0].event.as_str(), entries[0].key.as_str()), ("listed", "pay.charges"));
    assert_eq!(entries.len(), 1 + KEYS.len());
    for entry in &entries[1..] {
        let body: Value = serde_json::from_str(&entry.body).unwrap();
        assert_eq!(body["evidence"]["hash"], "listing");
        assert_eq!(body["evidence"]["listing"]["effects"], 3);
        assert_eq!(body["evidence"]["reference"], entry.key);
    }
}

/// What goes wrong with a list, and what then becomes of its findings.
#[rstest]
#[case::breaks_off("provider.list", "page 2: 500")]
#[case::not_on_record("record.append", "the list could not be put on record")]
#[tokio::test]
async fn a_list_that_broke_off_counts_as_not_read(#[case] call: &'static str, #[case] why: &str) {
    let world = world();
    let desk = world.desk();
    world.script.trouble_in(call, Trouble::FailBefore);
    let (told, given_up) = swept(&desk, Wish::Cheapest).await;
    assert!(given_up.unwrap().contains(why));
    assert_eq!(world.script.count("provider.ask"), 24);
    assert_eq!((told["a1"].0, told["a3"].0), (Verdict::Happened, Verdict::NotFound));
}

#[tokio::test]
async fn a_list_that_shows_nothing_proves_nothing() {
    let world = World::with_stuck(&KEYS).that_can_be_listed();
    let (told, given_up) = swept(&world.desk(), Wish::Cheapest).await;
    assert!(given_up.unwrap().contains("shows no effect with a reference"));
    assert_eq!((world.script.count("provider.ask"), told["a1"].0), (24, Verdict::NotFound));
}

#[tokio::test]
async fn a_list_that_was_insisted_on_leaves_its_findings_unknown() {
    let world = world();
    let desk = world.desk();
    world.script.trouble_in("provider.list", Trouble::FailBefore);
    let (told, _) = swept(&desk, Wish::ByListing).await;
    assert_eq!(world.script.count("provider.ask"), 0);
    assert!(
        told.values().all(|(verdict, advice, _)| (*verdict, *advice) == (Verdict::Unknown, Advice::Wait))
    );
}

#[rstest]
#[case::settled(0, Verdict::NotFound, Advice::Retry)]
#[case::begun_too_early(1, Verdict::NotFound, Advice::Wait)]
#[tokio::test]
async fn an_absence_settles_by_when_the_list_was_begun(
    #[case] seconds_ago: i64,
    #[case] verdict: Verdict,
    #[case] advice: Advice,
) {
    let world = world();
    let desk = world.desk();
    let found = found(&desk, "a3").await;
    let list = List {
        began: now() - TimeDelta::seconds(seconds_ago),
        outcome: Ok(Listing::new(None)),
        evidence: None,
    };
    // The last attempt was five hours ago.
    let clocks = Clocks { settle: TimeDelta::hours(5), lookback: None, key_ttl: None };
    let checked = check_by(&desk, &found, &list, &with(&desk, clocks)).await;
    assert_eq!((checked.verdict(), checked.advice()), (verdict, advice));
    assert_eq!(checked.at, list.began, "evidence is as old as the list's beginning");
}

/// The provider of every test with other clocks.
fn with(desk: &Desk, clocks: Clocks) -> ProviderFacts {
    let provider = desk.providers.values().next().unwrap();
    ProviderFacts { clocks, ..provider.facts().clone() }
}

#[rstest]
#[case::too_far_back(TimeDelta::hours(5))]
#[case::begins_too_late(TimeDelta::hours(6))]
#[tokio::test]
async fn what_a_list_cannot_have_seen_is_unknown(#[case] lookback: TimeDelta) {
    let world = world();
    let desk = world.desk();
    let found = found(&desk, "a3").await;
    let mut listing = Listing::new(None);
    listing.set_seen_from(Some(now() - TimeDelta::hours(4)));
    let list = List { began: now(), outcome: Ok(listing), evidence: None };
    let clocks = Clocks { settle: TimeDelta::zero(), lookback: Some(lookback), key_ttl: None };
    let checked = check_by(&desk, &found, &list, &with(&desk, clocks)).await;
    assert_eq!((checked.verdict(), checked.advice()), (Verdict::Unknown, Advice::Escalate));
    assert_ne!(checked.judgement.fault.map(|fault| fault.kind), Some(FaultKind::Question));
}
