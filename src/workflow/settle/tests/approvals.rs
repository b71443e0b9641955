//! Two persons: what is proposed, who may approve it, and when it has lapsed.

use super::*;
use crate::domain::decision::Operator;
use crate::domain::policy::{Approvals, Risk};
use crate::domain::proposal::{Closing, Proposal};
use crate::ports::clock::Clock;
use crate::workflow::fakes::now;
use crate::workflow::settle::approve::{ApprovalOrder, approve, review};
use crate::workflow::settle::propose::{Called, find, waiting, withdraw};
use chrono::{DateTime, Utc};
use pretty_assertions::assert_eq;
use serde_json::Value;

/// A desk where decisions take two persons.
pub(super) fn desk_of(world: &World, name: &str, process: u32) -> Desk {
    let mut desk = world.desk_of_process(process);
    let mut kind = (*desk.other_kinds).clone();
    kind.policy.approvals = Approvals::Two;
    desk.other_kinds = Arc::new(kind);
    let login = name.to_lowercase();
    desk.operator = Operator { name: name.into(), login: login.as_str().into(), host: "desk-1".into() };
    desk
}

fn ada(world: &World) -> Arc<Desk> {
    Arc::new(desk_of(world, "Ada", 100))
}

fn bob(world: &World) -> Arc<Desk> {
    Arc::new(desk_of(world, "Bob", 102))
}

/// What Ada proposed.
pub(super) async fn proposed(world: &World, choice: Choice, insists: bool) -> Proposal {
    let decided = decide(&ada(world), Order { insists, ..order("inv-41", choice) }).await.unwrap();
    let Outcome::Proposed { proposal, .. } = decided.outcome else { panic!("{:?}", decided.outcome) };
    *proposal
}

pub(super) fn approval(proposal: &Proposal, insists: bool) -> ApprovalOrder {
    let reason = Reason::new("I called the bank").unwrap();
    ApprovalOrder { decision: proposal.id, reason, insists }
}

fn why(decided: &Decided) -> &str {
    match &decided.outcome {
        Outcome::Refused { why, .. } => why,
        other => panic!("{other:?}"),
    }
}

fn body(world: &World, event: &str) -> Value {
    let entries = world.entries();
    let entry = entries.iter().find(|entry| entry.event == event).unwrap();
    serde_json::from_str(&entry.body).unwrap()
}

/// A clock at another time than everybody else's.
struct OtherClock(TimeDelta);

impl Clock for OtherClock {
    fn now(&self) -> DateTime<Utc> {
        now() + self.0
    }

    fn new_id(&self) -> Uuid {
        Uuid::now_v7()
    }

    fn process(&self) -> u32 {
        102
    }

    fn lives(&self, process: u32) -> Option<bool> {
        Some(process == 102)
    }
}

#[tokio::test]
async fn a_proposal_is_put_on_record_and_touches_nothing_else() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let decided = decide(&ada(&world), order("inv-41", MarkDone)).await.unwrap();
    let Outcome::Proposed { proposal, why } = &decided.outcome else { panic!("{:?}", decided.outcome) };
    assert_eq!(
        world.script.calls(),
        [
            "source.read inv-41",
            "record.waiting_on",
            "source.payload inv-41",
            "provider.ask inv-41",
            "record.waiting_on",
            "record.append proposed",
        ]
    );
    assert_eq!(world.source.row("inv-41"), Some(stuck_row("inv-41")));
    assert_eq!((decided.entry, proposal.entry, proposal.id), (Some(1), 1, decided.decision));
    assert_eq!(why, "Decisions on this kind take two persons: one proposes, another approves.");
    let short = proposal.short_id();
    let told = format!("A second person approves it: unstuck approve {short} --reason TEXT");
    assert_eq!(decided.do_next.as_deref(), Some(&*told));
    // What the proposer saw is kept as an intent keeps it.
    let body = body(&world, "proposed");
    assert_eq!(body["row_seen_sha256"], stuck_row("inv-41").sha256());
    assert_eq!(
        (&body["check"]["verdict"], &body["check"]["advice"]),
        (&"happened".into(), &"mark_done".into())
    );
    assert_eq!(body["sight"]["effects"][0]["id"], "ch_inv-41_0");
    assert!(body["statements"][0]["sql"].as_str().unwrap().starts_with("UPDATE jobs"));
    assert_eq!(waiting(&ada(&world)).await.unwrap(), [(**proposal).clone()]);
}

#[tokio::test]
async fn the_second_person_carries_it_out_intent_first() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    world.script.calm();
    let decided = approve(&bob(&world), approval(&proposal, false)).await.unwrap();
    assert!(matches!(decided.outcome, Outcome::Applied { .. }), "{:?}", decided.outcome);
    assert_eq!(
        world.script.calls(),
        [
            "record.of_decision",
            "source.read inv-41",
            "source.payload inv-41",
            "provider.ask inv-41",
            "record.append intended",
            "source.apply inv-41",
            "record.append applied",
        ]
    );
    assert_eq!(status(&world, "inv-41").as_deref(), Some("done"));
    assert_eq!(world.events(), ["proposed", "intended", "applied"]);
    let entries = world.entries();
    assert!(entries.iter().all(|entry| entry.decision == proposal.id.to_string()));
    // Both persons stand in the one entry before which nothing was touched.
    assert_eq!((&*entries[1].operator, &*entries[1].origin), ("Bob", "bob@desk-1"));
    let both = body(&world, "intended")["approval"].clone();
    let expected = serde_json::json!({
        "proposed": {
            "entry": 1, "at": "2027-01-15T08:00:00Z", "operator": "Ada", "origin": "ada@desk-1",
            "reason": "looked at it with the team", "insisted": false,
        },
        "approved": {
            "operator": "Bob", "origin": "bob@desk-1", "reason": "I called the bank", "insisted": false,
        },
        "from_same_login": false,
    });
    assert_eq!(both, expected);
    assert_eq!(waiting(&ada(&world)).await.unwrap(), []);
}

#[tokio::test]
async fn to_escalate_takes_one_person() {
    let world = World::with_stuck(&["inv-41"]);
    let decided = decide(&ada(&world), order("inv-41", Escalate)).await.unwrap();
    assert_eq!(decided.outcome.as_str(), "applied");
    assert_eq!(world.events(), ["intended", "applied"]);
}

/// Rule 4: whatever `approvals` says.
#[tokio::test]
async fn a_financial_retry_against_the_advice_is_insisted_on_by_both() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let financial = |mut desk: Desk| {
        let mut kind = (*desk.other_kinds).clone();
        (kind.policy.risk, kind.policy.approvals) = (Risk::Financial, Approvals::One);
        desk.other_kinds = Arc::new(kind);
        Arc::new(desk)
    };
    let (ada, bob) = (financial(desk_of(&world, "Ada", 100)), financial(desk_of(&world, "Bob", 102)));
    let not_insisted = decide(&ada, order("inv-41", Retry)).await.unwrap();
    assert!(not_insisted.do_next.as_ref().unwrap().contains("`--override`"), "{not_insisted:?}");
    let insisted = decide(&ada, Order { insists: true, ..order("inv-41", Retry) }).await.unwrap();
    let Outcome::Proposed { proposal, .. } = &insisted.outcome else { panic!("{insisted:?}") };
    assert!(insisted.do_next.as_ref().unwrap().ends_with("--reason TEXT --override"));
    let without = approve(&bob, approval(proposal, false)).await.unwrap();
    assert_eq!(
        why(&without),
        "it is against the advice: the proposer insists, and the second person has to insist too"
    );
    assert_eq!(world.source.row("inv-41"), Some(stuck_row("inv-41")));
    // That lapsed nothing: with the word it is carried out.
    let with = approve(&bob, approval(proposal, true)).await.unwrap();
    assert_eq!((with.outcome.as_str(), world.source.row("inv-41")), ("applied", None));
    assert_eq!(world.events(), ["refused", "proposed", "refused", "intended", "applied"]);
    let both = body(&world, "intended")["approval"].clone();
    assert_eq!((&both["proposed"]["insisted"], &both["approved"]["insisted"]), (&true.into(), &true.into()));
}

#[rstest]
#[case::own("Ada", "bob", "Ada proposed it, and nobody approves a proposal of their own")]
#[case::other_spelling(" ADA ", "bob", "Ada proposed it, and nobody approves a proposal of their own")]
#[case::same_account(
    "Bob",
    "ada",
    "it was proposed from the same account (ada@desk-1): another name is not another person"
)]
#[case::no_account(
    "Bob",
    "",
    "the account of the proposer or of the approver is not told, so they may be the same person"
)]
#[tokio::test]
async fn nobody_approves_alone(#[case] name: &str, #[case] login: &str, #[case] told: &str) {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    world.script.calm();
    let mut desk = desk_of(&world, "Bob", 102);
    desk.operator = Operator { name: name.into(), login: login.into(), host: "desk-1".into() };
    let decided = approve(&Arc::new(desk), approval(&proposal, true)).await.unwrap();
    assert_eq!(why(&decided), told);
    // Neither the source nor the provider was as much as asked, and the attempt is on record.
    assert_eq!(world.script.calls(), ["record.of_decision", "record.append refused"]);
    assert_eq!(body(&world, "refused")["proposal"]["entry"], 1);
    // The proposal is none the worse for it.
    let decided = approve(&bob(&world), approval(&proposal, false)).await.unwrap();
    assert_eq!(decided.outcome.as_str(), "applied");
}

#[tokio::test]
async fn one_account_for_both_is_allowed_by_the_configuration_alone_and_shown() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    let mut desk = desk_of(&world, "Bob", 102);
    desk.operator.login = "ada".into();
    desk.approval_rules.from_same_login = true;
    let decided = approve(&Arc::new(desk), approval(&proposal, false)).await.unwrap();
    assert_eq!(decided.outcome.as_str(), "applied");
    let both = body(&world, "intended")["approval"].clone();
    assert_eq!(both["from_same_login"], true);
    assert_eq!(
        (&both["proposed"]["origin"], &both["approved"]["origin"]),
        (&"ada@desk-1".into(), &"ada@desk-1".into())
    );
}

#[rstest]
#[case::row(|world: &World| world.source.overwrite("inv-41", "running"), "the row changed since it was proposed, so it has lapsed")]
#[case::row_settled(|world: &World| world.source.overwrite("inv-41", "done"), "the item is `done` (done) and needs no decision, so it has lapsed")]
#[case::row_gone(|world: &World| world.source.remove("inv-41"), "the source has no such item, so it has lapsed")]
#[case::evidence(|world: &World| drop(world.clone().happened("inv-41", 2)), "the verdict was `happened` and is `duplicated` now, so it has lapsed")]
#[tokio::test]
async fn what_moved_on_lapses_the_proposal_for_good(#[case] moves: fn(&World), #[case] told: &str) {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    moves(&world);
    let row = world.source.row("inv-41");
    let decided = approve(&bob(&world), approval(&proposal, false)).await.unwrap();
    assert_eq!(why(&decided), told);
    assert_eq!(world.events(), ["proposed", "lapsed"]);
    assert_eq!(body(&world, "lapsed")["why"], told);
    assert_eq!((decided.entry, world.source.row("inv-41")), (Some(2), row));
    // Also where everything is again as it was.
    let again = approve(&bob(&world), approval(&proposal, false)).await.unwrap();
    assert!(
        why(&again).starts_with("it had lapsed at 2027-01-15T08:00:00Z (audit entry 2)"),
        "{}",
        why(&again)
    );
    assert_eq!(world.script.count("source.apply"), 0);
}

#[rstest]
#[case::in_time(TimeDelta::hours(4) - TimeDelta::seconds(1), "applied", "")]
#[case::at_the_end(
    TimeDelta::hours(4),
    "refused",
    "it could be approved until 2027-01-15T12:00:00Z and has lapsed"
)]
#[case::clock_jumped_back(-TimeDelta::seconds(1), "refused",
    "this machine's clock stands before the moment of the proposal (2027-01-15T08:00:00Z): one of the two is wrong")]
#[tokio::test]
async fn a_proposal_lasts_its_time(#[case] later: TimeDelta, #[case] outcome: &str, #[case] told: &str) {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    let mut desk = desk_of(&world, "Bob", 102);
    desk.clock = Arc::new(OtherClock(later));
    let desk = Arc::new(desk);
    let decided = approve(&desk, approval(&proposal, false)).await.unwrap();
    assert_eq!(decided.outcome.as_str(), outcome, "{:?}", decided.outcome);
    if outcome == "refused" {
        assert_eq!(why(&decided), told);
        assert_eq!(world.source.row("inv-41"), Some(stuck_row("inv-41")));
    }
    let is_over = later > TimeDelta::zero() && outcome == "refused";
    assert_eq!(
        world.count(Event::Lapsed),
        usize::from(is_over),
        "a clock can be mended, a time that is over cannot"
    );
    assert_eq!(waiting(&desk).await.unwrap().len(), usize::from(later < TimeDelta::zero()));
}

/// Silence is not another answer.
#[tokio::test]
async fn a_provider_that_does_not_answer_lapses_nothing() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    world.script.trouble_in("provider.ask", Trouble::FailBefore);
    let decided = approve(&bob(&world), approval(&proposal, false)).await.unwrap();
    assert!(why(&decided).starts_with("the provider gave no answer that counts"), "{}", why(&decided));
    assert_eq!(world.events(), ["proposed", "refused"]);
    let decided = approve(&bob(&world), approval(&proposal, false)).await.unwrap();
    assert_eq!(decided.outcome.as_str(), "applied");
}

#[tokio::test]
async fn a_second_proposal_on_the_item_is_refused_while_the_first_stands() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let first = proposed(&world, MarkDone, false).await;
    let short = first.short_id();
    for (choice, insists) in [(MarkDone, false), (Retry, true)] {
        let second = decide(&bob(&world), Order { insists, ..order("inv-41", choice) }).await.unwrap();
        let told = format!("already proposed by Ada as {short}: mark done, until 2027-01-15T12:00:00Z");
        assert_eq!(why(&second), told);
        assert!(second.do_next.unwrap().contains(&format!("unstuck approve {short}")));
    }
    assert_eq!(world.events(), ["proposed", "refused", "refused"]);
    // Once it has lapsed, there is room for another, and the record says so.
    world.source.overwrite("inv-41", "running");
    let third = decide(&bob(&world), Order { shown: None, ..order("inv-41", MarkDone) }).await.unwrap();
    assert_eq!(third.outcome.as_str(), "proposed");
    assert_eq!(world.events()[3..], ["lapsed", "proposed"]);
    assert_eq!(body(&world, "lapsed")["attempted"], "propose");
}

/// What somebody saw before the proposal was made does not lapse it: they look again, and find that it stands.
#[rstest]
#[case::row(|world: &World| world.source.overwrite("inv-41", "failed"))]
#[case::evidence(|world: &World| drop(world.clone().happened("inv-41", 2)))]
#[tokio::test]
async fn an_older_look_lapses_no_proposal(#[case] moves: fn(&World)) {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let gate = world.script.hold("source.payload");
    let slow = tokio::spawn({
        let (desk, order) = (bob(&world), Order { insists: true, ..order("inv-41", MarkDone) });
        async move { decide(&desk, order).await }
    });
    // Bob has read and asked by now; Ada does both later.
    world.script.begun("source.payload", 1).await;
    world.script.calm();
    moves(&world);
    let first = Order { shown: None, insists: true, ..order("inv-41", MarkDone) };
    let first = decide(&ada(&world), first).await.unwrap();
    assert_eq!(first.outcome.as_str(), "proposed", "{:?}", first.outcome);
    gate.add_permits(1);
    let second = slow.await.unwrap().unwrap();
    assert!(why(&second).starts_with("already proposed by Ada"), "{}", why(&second));
    assert_eq!(world.events(), ["proposed", "refused"]);
}

#[rstest]
#[case::by_the_proposer("Ada", true)]
#[case::by_the_proposer_otherwise_spelled("ADA", true)]
#[case::by_another("Bob", false)]
#[tokio::test]
async fn a_withdrawn_proposal_is_never_approved(#[case] name: &str, #[case] by_proposer: bool) {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    let reason = Reason::new("the customer paid in cash").unwrap();
    let desk = desk_of(&world, name, 102);
    let withdrawn = withdraw(&desk, proposal.id, &reason).await.unwrap().unwrap();
    assert_eq!((withdrawn.by_proposer, withdrawn.entry), (by_proposer, 2));
    let entries = world.entries();
    assert_eq!((&*entries[1].event, &*entries[1].operator), ("withdrawn", name));
    let told = body(&world, "withdrawn");
    assert_eq!(
        (&told["reason"], &told["by_proposer"]),
        (&"the customer paid in cash".into(), &by_proposer.into())
    );

    let late = approve(&Arc::new(desk_of(&world, "Cleo", 104)), approval(&proposal, false)).await.unwrap();
    let expected = format!("it was withdrawn by {name} at 2027-01-15T08:00:00Z (audit entry 2)");
    assert_eq!(why(&late), expected);
    let twice = withdraw(&desk, proposal.id, &reason).await.unwrap().unwrap_err();
    assert_eq!(twice.to_string(), expected);
    assert_eq!(world.source.row("inv-41"), Some(stuck_row("inv-41")));
    assert_eq!(world.events(), ["proposed", "withdrawn", "refused"]);
}

/// Begins an approval and holds it in the last look before its intent.
async fn held_before_its_intent(
    world: &World,
    name: &str,
    process: u32,
    proposal: &Proposal,
) -> tokio::task::JoinHandle<Result<Decided, OrderFault>> {
    let (desk, order) = (Arc::new(desk_of(world, name, process)), approval(proposal, false));
    let begun = world.script.count("provider.ask");
    let task = tokio::spawn(async move { approve(&desk, order).await });
    world.script.begun("provider.ask", begun + 1).await;
    task
}

/// Both saw that it waits; the record lets one in.
#[tokio::test]
async fn of_two_who_approve_at_once_one_is_late_and_writes_nothing() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    world.script.hold("provider.ask");
    world.script.hold("source.apply");
    let bob = held_before_its_intent(&world, "Bob", 102, &proposal).await;
    let cleo = held_before_its_intent(&world, "Cleo", 104, &proposal).await;
    // Until both came to their intent the row is as both saw it.
    world.script.let_go("provider.ask", 2);
    world.script.begun("record.append intended", 2).await;
    world.script.let_go("source.apply", 2);
    let outcomes = [bob.await.unwrap().unwrap(), cleo.await.unwrap().unwrap()];
    let late: Vec<_> = outcomes.iter().filter(|decided| decided.outcome.as_str() != "applied").collect();
    let [late] = late[..] else { panic!("{outcomes:?}") };
    assert!(why(late).starts_with("somebody approved it a moment ago ("), "{}", why(late));
    assert_eq!((late.entry, world.script.count("source.apply")), (None, 1));
    assert_eq!(world.events(), ["proposed", "intended", "applied"]);
}

/// The late one finds the row as the first one left it: it is told of the first one, not that the row moved on.
#[tokio::test]
async fn who_comes_after_the_write_is_told_that_it_was_approved() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    world.script.hold("source.read");
    let late = tokio::spawn({
        let (desk, order) = (Arc::new(desk_of(&world, "Cleo", 104)), approval(&proposal, false));
        async move { approve(&desk, order).await }
    });
    world.script.begun("source.read", 2).await;
    // Meanwhile Bob's program has carried it out.
    let intent = crate::domain::audit::NewEntry {
        at: now(),
        event: Event::Intended,
        decision: Some(proposal.id),
        source: SOURCE.to_owned(),
        key: "inv-41".to_owned(),
        operator: "Bob".to_owned(),
        origin: "bob@desk-1".to_owned(),
        body: serde_json::json!({}),
        attachments: Vec::new(),
    };
    bob(&world).record.as_ref().unwrap().append_once(intent).await.unwrap();
    world.source.overwrite("inv-41", "done");
    world.script.let_go("source.read", 1);
    let late = late.await.unwrap().unwrap();
    assert_eq!(why(&late), "it was approved by Bob at 2027-01-15T08:00:00Z (audit entry 2)");
    assert_eq!(world.events(), ["proposed", "intended"]);
}

#[tokio::test]
async fn what_is_withdrawn_while_somebody_approves_it_is_not_carried_out() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    world.script.hold("provider.ask");
    let bob = held_before_its_intent(&world, "Bob", 102, &proposal).await;
    let reason = Reason::new("not any more").unwrap();
    withdraw(&ada(&world), proposal.id, &reason).await.unwrap().unwrap();
    world.script.let_go("provider.ask", 1);
    let late = bob.await.unwrap().unwrap();
    assert_eq!(why(&late), "somebody withdrew it a moment ago (Ada, audit entry 2)");
    assert_eq!((late.entry, world.script.count("source.apply")), (None, 0));
    assert_eq!(world.events(), ["proposed", "withdrawn"]);
}

#[tokio::test]
async fn a_row_that_changes_after_the_approval_is_not_overwritten() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    world.script.hold("record.append");
    let task = tokio::spawn({
        let (desk, order) = (bob(&world), approval(&proposal, false));
        async move { approve(&desk, order).await }
    });
    world.script.begun("record.append intended", 1).await;
    world.source.overwrite("inv-41", "failed");
    let theirs = world.source.row("inv-41");
    world.script.let_go("record.append", 2);
    let decided = task.await.unwrap().unwrap();
    assert_eq!((decided.outcome.as_str(), world.source.row("inv-41")), ("refused", theirs));
    assert_eq!(world.events(), ["proposed", "intended", "refused"]);
}

#[tokio::test]
async fn read_only_lets_neither_person_do_anything() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    world.script.calm();
    let mut desk = desk_of(&world, "Bob", 102);
    desk.read_only = true;
    let reason = Reason::new("because").unwrap();
    assert_eq!(withdraw(&desk, proposal.id, &reason).await.unwrap_err(), OrderFault::ReadOnly);
    let desk = Arc::new(desk);
    assert_eq!(approve(&desk, approval(&proposal, true)).await.unwrap_err(), OrderFault::ReadOnly);
    assert_eq!(decide(&desk, order("inv-41", MarkDone)).await.unwrap_err(), OrderFault::ReadOnly);
    assert_eq!(world.script.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn a_review_shows_then_and_now_and_writes_nothing() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    let seen = review(&bob(&world), proposal.id).await.unwrap();
    assert_eq!((&seen.proposal, seen.why_not), (&proposal, None));
    assert_eq!(seen.now.unwrap().row, stuck_row("inv-41"));
    let own = review(&ada(&world), proposal.id).await.unwrap();
    assert!(own.why_not.unwrap().to_string().contains("of their own"));
    world.source.overwrite("inv-41", "running");
    let moved = review(&bob(&world), proposal.id).await.unwrap();
    assert!(moved.why_not.unwrap().to_string().contains("the row changed"));
    world.source.remove("inv-41");
    let gone = review(&bob(&world), proposal.id).await.unwrap();
    assert_eq!(gone.now.unwrap_err().why, "the source has no such item");
    assert_eq!(world.events(), ["proposed"], "a look lapses nothing");
}

#[tokio::test]
async fn a_proposal_is_called_by_its_end_whatever_became_of_it() {
    let world = World::with_stuck(&["inv-41"]).happened("inv-41", 1);
    let proposal = proposed(&world, MarkDone, false).await;
    let desk = bob(&world);
    for typed in [proposal.id.to_string(), proposal.short_id(), proposal.short_id().to_uppercase()] {
        assert_eq!(find(&desk, &typed).await.unwrap(), Called::One(Box::new(proposal.clone())));
    }
    assert_eq!(find(&desk, "00000000").await.unwrap(), Called::Unknown);
    assert_eq!(find(&desk, &proposal.short_id()[1..]).await.unwrap(), Called::NoId);
    approve(&desk, approval(&proposal, false)).await.unwrap();
    let Called::One(used) = find(&desk, &proposal.short_id()).await.unwrap() else { panic!() };
    assert_eq!(used.closed.unwrap().closing, Closing::Approved);
    let unknown = approve(&desk, ApprovalOrder { decision: Uuid::nil(), ..approval(&proposal, false) }).await;
    assert_eq!(unknown.unwrap_err(), OrderFault::NoSuchProposal(Uuid::nil().to_string()));
}
