//! Tasks against a world in memory: what is cancelled, what is waited for, what is told.

mod stories;

use super::*;
use crate::console::message::CheckMessage;
use crate::domain::audit::Event;
use crate::domain::decision::Choice::MarkDone;
use crate::workflow::Found;
use crate::workflow::fakes::{SOURCE, Trouble, World, found, order};
use pretty_assertions::assert_eq;
use std::time::Duration;
use tokio::time::timeout;

/// Tasks on a world, and what they tell.
struct Bench {
    tasks: Tasks,
    messages: mpsc::Receiver<Message>,
}

impl Bench {
    fn on(desk: Arc<Desk>) -> Self {
        let (sender, messages) = mpsc::channel(256);
        Self { tasks: Tasks::new(desk, sender, None), messages }
    }

    /// The next message.
    async fn next(&mut self) -> Message {
        timeout(Duration::from_secs(10), self.messages.recv()).await.unwrap().unwrap()
    }

    /// Every message until all tasks have ended.
    async fn rest(&mut self) -> Vec<String> {
        timeout(Duration::from_secs(10), self.tasks.ended()).await.unwrap();
        let mut told = Vec::new();
        while let Ok(message) = self.messages.try_recv() {
            told.push(spell(&message));
        }
        told
    }
}

/// A message in a word.
fn spell(message: &Message) -> String {
    match message {
        Message::Scan(ScanMessage::Page { run, page, .. }) => {
            format!("scan {run}: {} found", page.found.len())
        }
        Message::Scan(ScanMessage::Fault { run, .. }) => format!("scan {run}: fault"),
        Message::Scan(ScanMessage::Ended { run, .. }) => format!("scan {run}: ended"),
        Message::Check(CheckMessage::Done { run, found, checked, on_record }) => {
            let missing = if *on_record { "" } else { " not on record" };
            format!("check {run}: {} {}{missing}", found.finding.item.key.as_str(), checked.verdict())
        }
        Message::Check(CheckMessage::Ended { run, record_fault }) => {
            format!("check {run}: ended{}", if record_fault.is_some() { " unrecorded" } else { "" })
        }
        Message::Item(ItemMessage::Opened { run, .. }) => format!("open {run}: opened"),
        Message::Item(ItemMessage::Fault { run, .. }) => format!("open {run}: fault"),
        Message::Item(ItemMessage::Unmasked { record_fault, .. }) => {
            format!("unmasked: {}", record_fault.is_none())
        }
        Message::Settle(SettleMessage::Decided { run, key, result, .. }) => {
            let outcome = result.as_ref().as_ref().map_or("fault", |decided| decided.outcome.as_str());
            format!("decide {run}: {key} {outcome}")
        }
        Message::Settle(SettleMessage::Ended { run }) => format!("decide {run}: ended"),
        Message::Settle(SettleMessage::Recovered(recovered)) => {
            format!("recovered {}", recovered.as_ref().map_or(0, Vec::len))
        }
        Message::Settle(SettleMessage::Prepared { run, .. }) => format!("prepare {run}: prepared"),
        Message::Audit(AuditMessage::Page { run, entries, more }) => {
            format!("audit {run}: {} entries, more {more}", entries.len())
        }
        Message::Escalations(read) => {
            format!("escalations: {}", read.as_ref().map_or("fault".to_owned(), |all| all.len().to_string()))
        }
        Message::Proposals(ProposalsMessage::Read { waiting, .. }) => {
            format!("proposals: {}", waiting.as_ref().map_or("fault".to_owned(), |all| all.len().to_string()))
        }
        Message::Proposals(ProposalsMessage::Reviewed { run, review }) => {
            let told =
                review.as_ref().as_ref().map(|review| review.why_not.as_ref().map(ToString::to_string));
            format!("review {run}: {told:?}")
        }
        Message::Proposals(ProposalsMessage::Withdrawn { key, result }) => {
            format!("withdraw {key}: {}", matches!(**result, Ok(Ok(_))))
        }
        Message::Notice { what, .. } => format!("notice: {what}"),
        other => format!("{other:?}"),
    }
}

async fn findings(world: &World, keys: &[&str]) -> Vec<Arc<Found>> {
    let desk = world.desk();
    let mut findings = Vec::new();
    for key in keys {
        findings.push(found(&desk, key).await);
    }
    findings
}

const KEYS: [&str; 5] = ["a", "b", "c", "d", "e"];

#[tokio::test]
async fn a_scan_tells_page_by_page_and_its_end() {
    let world = World::with_stuck(&KEYS);
    let mut bench = Bench::on(world.desk());
    bench.tasks.start(Task::Scan { run: 7 });
    assert_eq!(
        bench.rest().await,
        [
            "scan 7: 2 found",
            "scan 7: 2 found",
            "scan 7: 1 found",
            "proposals: 0",
            "escalations: 0",
            "scan 7: ended"
        ]
    );
}

#[tokio::test]
async fn a_source_that_breaks_is_told_and_the_scan_ends() {
    let world = World::with_stuck(&KEYS);
    let mut bench = Bench::on(world.desk());
    world.script.trouble_at(1, Trouble::FailBefore);
    bench.tasks.start(Task::Scan { run: 1 });
    assert_eq!(
        bench.rest().await,
        ["scan 1: 2 found", "scan 1: fault", "proposals: 0", "escalations: 0", "scan 1: ended"]
    );
}

#[tokio::test]
async fn a_newer_scan_cancels_the_older_and_never_runs_beside_it() {
    let world = World::with_stuck(&KEYS);
    let mut bench = Bench::on(world.desk());
    world.script.hold("source.scan");
    for run in 1..=20 {
        bench.tasks.start(Task::Scan { run });
    }
    world.script.begun("source.scan", 1).await;
    bench.tasks.start(Task::Scan { run: 21 });
    world.script.begun("source.scan", 2).await;
    world.script.let_go("source.scan", 10);
    assert_eq!(
        bench.rest().await,
        [
            "scan 21: 2 found",
            "scan 21: 2 found",
            "scan 21: 1 found",
            "proposals: 0",
            "escalations: 0",
            "scan 21: ended"
        ]
    );
    // The first that began was dropped at its first page; those between never began.
    assert_eq!(world.script.count("source.scan"), 4);
}

#[tokio::test]
async fn tasks_of_another_kind_are_left_alone() {
    let world = World::with_stuck(&KEYS);
    let mut bench = Bench::on(world.desk());
    world.script.hold("source.scan");
    bench.tasks.start(Task::Scan { run: 1 });
    world.script.begun("source.scan", 1).await;
    bench.tasks.start(Task::Open { run: 1, source: SOURCE.into(), key: "a".into() });
    assert_eq!(spell(&bench.next().await), "open 1: opened");
    world.script.let_go("source.scan", 3);
    assert_eq!(bench.rest().await.last().unwrap(), "scan 1: ended");
}

#[tokio::test]
async fn an_item_is_opened_with_the_beginning_of_its_payload() {
    let world = World::with_stuck(&KEYS);
    let mut bench = Bench::on(world.desk());
    bench.tasks.start(Task::Open { run: 3, source: SOURCE.into(), key: "a".into() });
    let Message::Item(ItemMessage::Opened { run: 3, details }) = bench.next().await else { panic!() };
    let payload = details.payload.unwrap();
    assert_eq!((payload.bytes.len(), payload.size_bytes), (4_096, 5_000_000));
    assert!(details.now.unwrap().found.is_some());

    bench.tasks.start(Task::Open { run: 4, source: SOURCE.into(), key: "nowhere".into() });
    let Message::Item(ItemMessage::Opened { run: 4, details }) = bench.next().await else { panic!() };
    assert!(details.now.is_none() && details.payload.is_none());

    bench.tasks.start(Task::Open { run: 5, source: "nowhere".into(), key: "a".into() });
    assert_eq!(spell(&bench.next().await), "open 5: fault");
}

#[tokio::test]
async fn a_history_that_cannot_be_read_is_told_with_the_item() {
    let world = World::with_stuck(&KEYS);
    let mut bench = Bench::on(world.desk());
    world.script.trouble_in("record.of_item", Trouble::FailBefore);
    bench.tasks.start(Task::Open { run: 1, source: SOURCE.into(), key: "a".into() });
    let Message::Item(ItemMessage::Opened { run: 1, details }) = bench.next().await else { panic!() };
    assert_eq!(details.history.unwrap_err().what, "the audit cannot be read");
}

#[tokio::test]
async fn checks_are_asked_while_the_audit_is_slow_and_recorded_in_few_transactions() {
    let keys: Vec<String> = (0..40).map(|number| format!("inv-{number}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let world = World::with_stuck(&keys).happened("inv-7", 1);
    let findings = findings(&world, &keys).await;
    let mut bench = Bench::on(world.desk());
    world.script.hold("record.append");
    bench.tasks.start(Task::Check { run: 2, found: findings });
    // The audit is slow: the asking goes on, the answers gather, and none is told that is not on record.
    world.script.begun("provider.ask", 40).await;
    assert!(bench.messages.is_empty());
    world.script.let_go("record.append", 40);
    let told = bench.rest().await;
    assert_eq!((told.len(), told[40].as_str()), (41, "check 2: ended"));
    assert_eq!(world.count(Event::Checked), 40);
    let transactions = world.record.transactions();
    assert!(transactions.len() <= 3, "{transactions:?}");
}

#[tokio::test]
async fn no_provider_is_asked_more_at_once_than_it_takes() {
    let world = World::with_stuck(&KEYS);
    let findings = findings(&world, &KEYS).await;
    let mut bench = Bench::on(world.desk());
    world.script.hold("provider.ask");
    bench.tasks.start(Task::Check { run: 1, found: findings });
    world.script.begun("provider.ask", 3).await;
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.script.count("provider.ask"), 3, "its facts say three");
    world.script.let_go("provider.ask", 5);
    assert_eq!(bench.rest().await.len(), 6);
}

#[tokio::test]
async fn cancelled_checks_keep_what_was_answered() {
    let world = World::with_stuck(&KEYS);
    let findings = findings(&world, &KEYS).await;
    let mut bench = Bench::on(world.desk());
    world.script.hold("provider.ask");
    bench.tasks.start(Task::Check { run: 1, found: findings });
    world.script.begun("provider.ask", 3).await;
    world.script.let_go("provider.ask", 2);
    let told = [spell(&bench.next().await), spell(&bench.next().await)];
    bench.tasks.start(Task::CancelChecks);
    assert_eq!(bench.rest().await, ["check 1: ended"]);
    assert_eq!(told, ["check 1: a not_found", "check 1: b not_found"]);
    let recorded: Vec<String> = world.entries().into_iter().map(|entry| entry.key).collect();
    assert_eq!(recorded, ["a", "b"]);
}

#[tokio::test]
async fn newer_checks_end_the_older_with_its_number() {
    let world = World::with_stuck(&KEYS);
    let findings = findings(&world, &KEYS).await;
    let mut bench = Bench::on(world.desk());
    world.script.hold("provider.ask");
    bench.tasks.start(Task::Check { run: 1, found: findings.clone() });
    world.script.begun("provider.ask", 3).await;
    bench.tasks.start(Task::Check { run: 2, found: findings[4..].to_vec() });
    world.script.begun("provider.ask e", 1).await;
    world.script.let_go("provider.ask", 1);
    assert_eq!(bench.rest().await, ["check 1: ended", "check 2: e not_found", "check 2: ended"]);
}

#[tokio::test]
async fn checks_that_cannot_be_recorded_are_told_once() {
    let world = World::with_stuck(&KEYS);
    let findings = findings(&world, &KEYS).await;
    let mut bench = Bench::on(world.desk());
    world.script.trouble_in("record.append", Trouble::FailBefore);
    bench.tasks.start(Task::Check { run: 1, found: findings });
    let told = bench.rest().await;
    assert_eq!(told.len(), 6);
    assert!(told[..5].iter().all(|told| told.ends_with("not on record")), "{told:?}");
    assert_eq!(told[5], "check 1: ended unrecorded");
}

#[tokio::test]
async fn orders_go_one_after_the_other_and_stop_before_the_next() {
    let world = World::with_stuck(&KEYS).happened("a", 1).happened("b", 1).happened("c", 1);
    let mut bench = Bench::on(world.desk());
    world.script.hold("source.apply");
    let orders = ["a", "b", "c"].map(|key| order(key, MarkDone)).to_vec();
    bench.tasks.start(Task::Decide { run: 1, orders });
    world.script.begun("source.apply", 1).await;
    assert_eq!(world.script.count("source.read"), 1, "one at a time");
    world.script.let_go("source.apply", 1);
    assert_eq!(spell(&bench.next().await), "decide 1: a applied");
    world.script.begun("source.apply", 2).await;
    bench.tasks.start(Task::StopDeciding);
    world.script.let_go("source.apply", 2);
    // The one that had begun is carried to its outcome; the third is never looked at.
    assert_eq!(bench.rest().await, ["decide 1: b applied", "decide 1: ended"]);
    assert_eq!(world.script.count("source.read c"), 0);

    // What was stopped stays stopped, and what comes later is not.
    bench.tasks.start(Task::Decide { run: 2, orders: vec![order("c", MarkDone)] });
    assert_eq!(bench.rest().await, ["decide 2: c applied", "decide 2: ended"]);
}

#[tokio::test]
async fn a_series_waits_while_it_is_paused_and_stops_from_there() {
    let world = World::with_stuck(&KEYS).happened("a", 1).happened("b", 1).happened("c", 1);
    let mut bench = Bench::on(world.desk());
    world.script.hold("source.apply");
    let orders = ["a", "b", "c"].map(|key| order(key, MarkDone)).to_vec();
    bench.tasks.start(Task::Decide { run: 1, orders });
    world.script.begun("source.apply", 1).await;
    bench.tasks.start(Task::PauseDeciding(true));
    world.script.let_go("source.apply", 1);
    // What had begun is carried to its outcome; the next is not looked at until it goes on.
    assert_eq!(spell(&bench.next().await), "decide 1: a applied");
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.script.count("source.read b"), 0);
    bench.tasks.start(Task::PauseDeciding(false));
    world.script.begun("source.apply", 2).await;
    bench.tasks.start(Task::PauseDeciding(true));
    world.script.let_go("source.apply", 2);
    assert_eq!(spell(&bench.next().await), "decide 1: b applied");
    bench.tasks.start(Task::StopDeciding);
    assert_eq!(bench.rest().await, ["decide 1: ended"], "a pause keeps nobody from stopping");
    assert_eq!(world.script.count("source.read c"), 0);
}

#[tokio::test]
async fn newer_decisions_wait_for_the_older_and_both_for_the_recovery() {
    let world = World::with_stuck(&KEYS).happened("a", 1).happened("b", 1);
    let mut bench = Bench::on(world.desk());
    world.script.hold("record.unfinished");
    bench.tasks.start(Task::Recover);
    bench.tasks.start(Task::Decide { run: 1, orders: vec![order("a", MarkDone)] });
    bench.tasks.start(Task::Decide { run: 2, orders: vec![order("b", MarkDone)] });
    world.script.begun("record.unfinished", 1).await;
    assert_eq!(world.script.count("source"), 0);
    world.script.let_go("record.unfinished", 1);
    let told = bench.rest().await;
    assert_eq!(
        told,
        ["recovered 0", "decide 1: a applied", "decide 1: ended", "decide 2: b applied", "decide 2: ended"]
    );
}

#[tokio::test]
async fn the_end_drops_reads_and_waits_for_a_write_that_has_begun() {
    let world = World::with_stuck(&KEYS).happened("a", 1).happened("b", 1);
    let mut bench = Bench::on(world.desk());
    world.script.hold("source.apply");
    world.script.hold("source.scan");
    bench.tasks.start(Task::Scan { run: 1 });
    bench.tasks.start(Task::Decide { run: 1, orders: vec![order("a", MarkDone), order("b", MarkDone)] });
    world.script.begun("source.apply", 1).await;
    world.script.begun("source.scan", 1).await;
    bench.tasks.end();
    assert!(timeout(Duration::from_millis(50), bench.tasks.ended()).await.is_err(), "the write is under way");
    world.script.let_go("source.apply", 2);
    assert_eq!(bench.rest().await, ["decide 1: a applied", "decide 1: ended"]);
    assert_eq!(world.events(), ["intended", "applied"]);
    assert_eq!(world.script.count("source.scan"), 1);
}

#[tokio::test]
async fn the_end_stops_the_asking_and_records_what_was_answered() {
    let world = World::with_stuck(&KEYS);
    let findings = findings(&world, &KEYS).await;
    let mut bench = Bench::on(world.desk());
    world.script.hold("provider.ask");
    bench.tasks.start(Task::Check { run: 1, found: findings });
    world.script.begun("provider.ask", 3).await;
    world.script.let_go("provider.ask", 1);
    assert_eq!(spell(&bench.next().await), "check 1: a not_found");
    bench.tasks.end();
    assert_eq!(bench.rest().await, ["check 1: ended"]);
    assert_eq!(world.count(Event::Checked), 1);
}

#[tokio::test]
async fn a_page_of_the_audit_says_whether_more_follow() {
    let keys: Vec<String> = (0..201).map(|number| format!("inv-{number:03}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let world = World::with_stuck(&keys);
    let findings = findings(&world, &keys).await;
    let mut bench = Bench::on(world.desk());
    bench.tasks.start(Task::Check { run: 1, found: findings });
    bench.rest().await;
    bench.tasks.start(Task::ReadAudit { run: 2, before: None });
    assert_eq!(bench.rest().await, ["audit 2: 200 entries, more true"]);
    bench.tasks.start(Task::ReadAudit { run: 3, before: Some(2) });
    assert_eq!(bench.rest().await, ["audit 3: 1 entries, more false"]);
}

#[tokio::test]
async fn hidden_fields_are_shown_only_after_that_is_on_record() {
    let world = World::with_stuck(&KEYS);
    let mut bench = Bench::on(world.desk());
    bench.tasks.start(Task::RecordUnmask { source: SOURCE.into(), key: "a".into() });
    assert_eq!(bench.rest().await, ["unmasked: true"]);
    assert_eq!(world.events(), ["unmasked"]);
    world.script.trouble_in("record.append", Trouble::FailBefore);
    bench.tasks.start(Task::RecordUnmask { source: SOURCE.into(), key: "a".into() });
    assert_eq!(bench.rest().await, ["unmasked: false"]);
}

/// A desk where decisions take two persons.
fn desk_of_two(world: &World, name: &str) -> Arc<Desk> {
    let mut desk = world.desk_of_process(crate::workflow::fakes::PROCESS);
    let mut kind = (*desk.other_kinds).clone();
    kind.policy.approvals = crate::domain::policy::Approvals::Two;
    desk.other_kinds = Arc::new(kind);
    (desk.operator.name, desk.operator.login) = (name.into(), name.into());
    Arc::new(desk)
}

/// What somebody else proposed on each of two items.
async fn two_proposals(world: &World) -> Vec<Arc<Proposal>> {
    let mut ada = Bench::on(desk_of_two(world, "ada"));
    let orders = ["a", "b"].map(|key| order(key, MarkDone)).to_vec();
    ada.tasks.start(Task::Decide { run: 1, orders });
    assert_eq!(ada.rest().await, ["decide 1: a proposed", "decide 1: b proposed", "decide 1: ended"]);
    let waiting = propose::waiting(&desk_of_two(world, "bob")).await.unwrap();
    waiting.into_iter().map(Arc::new).collect()
}

fn approval_of(proposal: &Arc<Proposal>, run: u64) -> Task {
    let reason = crate::domain::decision::Reason::new("me too").unwrap();
    let order = ApprovalOrder { decision: proposal.id, reason, insists: false };
    Task::Approve { run, proposal: Arc::clone(proposal), order }
}

#[tokio::test]
async fn proposals_are_told_with_every_scan_looked_at_approved_and_withdrawn() {
    let world = World::with_stuck(&["a", "b"]).happened("a", 1).happened("b", 1);
    let proposals = two_proposals(&world).await;
    let mut bob = Bench::on(desk_of_two(&world, "bob"));
    bob.tasks.start(Task::Scan { run: 2 });
    assert_eq!(bob.rest().await, ["scan 2: 2 found", "proposals: 2", "escalations: 0", "scan 2: ended"]);
    bob.tasks.start(Task::Review { run: 3, decision: proposals[0].id });
    assert_eq!(bob.rest().await, ["review 3: Ok(None)"]);
    bob.tasks.start(approval_of(&proposals[0], 4));
    assert_eq!(bob.rest().await, ["decide 4: a applied", "decide 4: ended"]);
    let reason = crate::domain::decision::Reason::new("not this one").unwrap();
    bob.tasks.start(Task::Withdraw { proposal: Arc::clone(&proposals[1]), reason });
    assert_eq!(bob.rest().await, ["withdraw b: true"]);
    bob.tasks.start(Task::ReadProposals);
    assert_eq!(bob.rest().await, ["proposals: 0"]);
    assert_eq!(world.events(), ["proposed", "proposed", "intended", "applied", "withdrawn"]);
}

#[tokio::test]
async fn the_end_waits_for_an_approval_that_has_begun_and_drops_a_review() {
    let world = World::with_stuck(&["a", "b"]).happened("a", 1).happened("b", 1);
    let proposals = two_proposals(&world).await;
    let mut bob = Bench::on(desk_of_two(&world, "bob"));
    world.script.hold("source.apply");
    bob.tasks.start(approval_of(&proposals[0], 1));
    world.script.begun("source.apply", 1).await;
    world.script.hold("provider.ask");
    bob.tasks.start(Task::Review { run: 2, decision: proposals[1].id });
    world.script.begun("provider.ask b", 2).await;
    bob.tasks.end();
    assert!(timeout(Duration::from_millis(50), bob.tasks.ended()).await.is_err(), "the write is under way");
    world.script.let_go("source.apply", 1);
    assert_eq!(bob.rest().await, ["decide 1: a applied", "decide 1: ended"]);
    assert_eq!(world.events(), ["proposed", "proposed", "intended", "applied"]);
}
