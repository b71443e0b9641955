//! What is written, in which order, and what is refused.

use super::*;
use pretty_assertions::assert_eq;

#[rstest]
#[tokio::test]
async fn entries_are_chained_and_given_back_as_they_were_written(#[values(Sqlite, Postgres)] engine: Engine) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    let odd = "inv\0-1\u{202e}\n'; DROP TABLE entries; --";
    let first = record.append(vec![entry(Event::Checked, None, odd)]).await.unwrap();
    let more =
        record.append(vec![attached("b", &["{}", ""]), entry(Event::Unmasked, None, "c")]).await.unwrap();
    assert_eq!((seqs(&first), seqs(&more)), (vec![1], vec![2, 3]));
    assert_eq!((first[0].prev.as_str(), &more[0].prev), (GENESIS, &first[0].hash));
    assert_eq!(first[0].at, "2027-01-15T08:00:00Z");
    assert!(
        first[0].body.starts_with(r#"{"reason":"seen in the ledger","amount":10.1"#),
        "{}",
        first[0].body
    );

    let mut walk = Walk::default();
    let mut read = audit.record().page(None, 10).await.unwrap();
    read.reverse();
    assert_eq!(read, [first, more].concat());
    assert!(read.iter().all(|entry| walk.step(entry).is_ok()));
    let body: Value = serde_json::from_str(&read[1].body).unwrap();
    assert_eq!(body["attachments"][0]["text_sha256"], append::sha256_of("{}"));
}

/// Cases 21, 55 and 56: every act is one entry that says who, from where, when, on what and why.
#[rstest]
#[tokio::test]
async fn every_act_is_kept_with_who_when_and_why(#[values(Sqlite, Postgres)] engine: Engine) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    for (decision, event) in (1..).zip(Event::ALL) {
        record.append(vec![entry(event, Some(decision), "inv-1")]).await.unwrap();
    }
    let kept = record.of_item(&of("billing", "inv-1"), usize::MAX).await.unwrap();
    assert_eq!(kept.len(), Event::ALL.len());
    for (entry, event) in kept.iter().rev().zip(Event::ALL) {
        let said = [&*entry.event, &entry.at, &entry.operator, &entry.origin, &entry.source, &entry.key];
        assert_eq!(said, [event.as_str(), "2027-01-15T08:00:00Z", "ana", "ana@ops-1", "billing", "inv-1"]);
        assert!(entry.body.contains("seen in the ledger"));
    }
}

#[rstest]
#[tokio::test]
async fn an_intent_is_unfinished_until_its_outcome(#[values(Sqlite, Postgres)] engine: Engine) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    let events = [
        (Event::Intended, 1),
        (Event::Intended, 2),
        (Event::Applied, 1),
        (Event::Intended, 3),
        (Event::Intended, 4),
        (Event::Failed, 4),
        (Event::Refused, 5),
        (Event::DryRun, 2),
    ];
    let entries = events.iter().map(|(event, id)| entry(*event, Some(*id), "a")).collect();
    record.append(entries).await.unwrap();
    record.append(vec![entry(Event::Checked, None, "a")]).await.unwrap();
    assert_eq!(seqs(&record.unfinished().await.unwrap()), [2, 4]);
    record.append(vec![entry(Event::Refused, Some(2), "a")]).await.unwrap();
    assert_eq!(seqs(&record.unfinished().await.unwrap()), [4]);
    assert_eq!(seqs(&record.of_decision(Uuid::from_u128(2)).await.unwrap()), [2, 8, 10]);
    assert_eq!(record.of_decision(Uuid::from_u128(9)).await.unwrap(), []);
}

/// Two consoles may settle the same decision at the same time: whoever comes second is told, and writes nothing.
#[rstest]
#[case::the_same(Event::Applied)]
#[case::another(Event::Refused)]
#[tokio::test]
async fn a_decision_ends_once(#[values(Sqlite, Postgres)] engine: Engine, #[case] second: Event) {
    let Some(audit) = Audit::of(engine).await else { return };
    let (one, other) = (audit.record(), audit.record());
    let ended = [Event::Intended, Event::Applied].map(|event| entry(event, Some(1), "a"));
    one.append(ended.to_vec()).await.unwrap();
    let batch = vec![entry(Event::Checked, None, "b"), entry(second, Some(1), "a")];
    let fault = other.append(batch).await.unwrap_err();
    assert!(fault.what.contains("has an outcome already (entry 2)"), "{}", fault.what);
    assert_eq!(seqs(&one.page(None, 9).await.unwrap()), [2, 1], "the whole batch is refused");
    other.append(vec![entry(second, Some(2), "a")]).await.unwrap();
}

/// Among the three that settle a proposal there is one a decision, whoever comes first.
#[rstest]
#[case(Event::Intended, Event::Intended)]
#[case(Event::Intended, Event::Withdrawn)]
#[case(Event::Withdrawn, Event::Intended)]
#[case(Event::Lapsed, Event::Intended)]
#[tokio::test]
async fn a_decision_is_settled_once(
    #[values(Sqlite, Postgres)] engine: Engine,
    #[case] first: Event,
    #[case] second: Event,
) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    record.append(vec![entry(Event::Proposed, Some(1), "a")]).await.unwrap();
    let record = audit.other().await;
    let Once::Placed(placed) = record.append_once(entry(first, Some(1), "a")).await.unwrap() else {
        panic!()
    };
    // Also through another connection, as another process has one.
    let other = audit.record();
    assert_eq!(other.append_once(entry(second, Some(1), "a")).await.unwrap(), Once::Taken(placed.clone()));
    // And by a program that does not ask first.
    let fault = record.append(vec![entry(second, Some(1), "a")]).await.unwrap_err();
    assert!(fault.what.contains("once"), "{fault:?}");
    let of_another = record.append_once(entry(second, Some(2), "a")).await.unwrap();
    assert!(matches!(of_another, Once::Placed(entry) if entry.seq == 3));
    assert_eq!(seqs(&record.page(None, 9).await.unwrap()), [3, 2, 1]);
    assert_eq!((placed.seq, audit.verify().await.is_whole()), (2, true));
}

/// Two programs at the same instant, many times over.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_who_approve_at_once_one_is_first(#[values(Sqlite, Postgres)] engine: Engine) {
    let Some(audit) = Audit::of(engine).await else { return };
    let programs = [audit.record(), audit.record()];
    for decision in 1..=20 {
        let approve = |program: &Arc<dyn Record>| {
            let program = Arc::clone(program);
            tokio::spawn(async move {
                program.append_once(entry(Event::Intended, Some(decision), "a")).await.unwrap()
            })
        };
        let [first, second] = programs.each_ref().map(approve);
        match (first.await.unwrap(), second.await.unwrap()) {
            (Once::Placed(placed), Once::Taken(there)) | (Once::Taken(there), Once::Placed(placed)) => {
                assert_eq!(placed, there);
            }
            both => panic!("{both:?}"),
        }
    }
    assert_eq!(programs[0].unfinished().await.unwrap().len(), 20);
    assert!(audit.verify().await.is_whole());
}

#[rstest]
#[tokio::test]
async fn only_what_a_decision_has_once_is_written_once(#[values(Sqlite, Postgres)] engine: Engine) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    assert!(record.append_once(entry(Event::Applied, Some(1), "a")).await.is_err());
    assert!(record.append_once(entry(Event::Intended, None, "a")).await.is_err());
    assert_eq!(record.page(None, 9).await.unwrap(), []);
}

#[rstest]
#[tokio::test]
async fn a_proposal_waits_until_it_is_settled(#[values(Sqlite, Postgres)] engine: Engine) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    let events = [
        (Event::Proposed, 1, "a"),
        (Event::Proposed, 2, "b"),
        (Event::Proposed, 3, "a"),
        (Event::Proposed, 4, "c"),
    ];
    let closed = [
        (Event::Intended, 1, "a"),
        (Event::Withdrawn, 2, "b"),
        // An attempt that came to nothing is another decision's.
        (Event::Refused, 9, "a"),
    ];
    let each = |events: &[(Event, u128, &str)]| -> Vec<NewEntry> {
        events.iter().map(|(event, id, key)| entry(*event, Some(*id), key)).collect()
    };
    record.append(each(&events)).await.unwrap();
    audit.other().await.append(each(&closed)).await.unwrap();
    assert_eq!(seqs(&record.waiting(0, 9).await.unwrap()), [3, 4]);
    assert_eq!(seqs(&record.waiting(0, 1).await.unwrap()), [3]);
    assert_eq!(seqs(&record.waiting(3, 9).await.unwrap()), [4]);
    assert_eq!(seqs(&record.waiting_on(&of("billing", "a")).await.unwrap()), [3]);
    assert_eq!(record.waiting_on(&of("mail", "a")).await.unwrap(), []);
    record.append_once(entry(Event::Lapsed, Some(3), "a")).await.unwrap();
    assert_eq!(seqs(&record.waiting(0, 9).await.unwrap()), [4]);
}

#[rstest]
#[tokio::test]
async fn proposals_are_found_by_the_end_of_their_id(#[values(Sqlite, Postgres)] engine: Engine) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    let (one, other) = (0x1111_2222_3333_4444_5555_6666_7777_8888, 0x9999_2222_3333_4444_5555_6666_7777_8888);
    let second = audit.other().await;
    for id in [one, other] {
        record.append(vec![entry(Event::Proposed, Some(id), "a")]).await.unwrap();
        second.append(vec![entry(Event::Intended, Some(id), "a")]).await.unwrap();
    }
    let found =
        async |typed: &str| seqs(&record.proposals_ending(&IdEnding::read(typed).unwrap(), 9).await.unwrap());
    assert_eq!(found("77778888").await, [3, 1]);
    assert_eq!(found("6666-7777-8888").await, [3, 1]);
    assert_eq!(found("11112222-3333-4444-5555-666677778888").await, [1]);
    assert_eq!(found("77778889").await, Vec::<i64>::new());
}

#[rstest]
#[tokio::test]
async fn items_and_pages_are_read_newest_first(#[values(Sqlite, Postgres)] engine: Engine) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    for key in ["a", "b", "a", "a"] {
        record.append(vec![entry(Event::Checked, None, key)]).await.unwrap();
    }
    assert_eq!(seqs(&record.of_item(&of("billing", "a"), 2).await.unwrap()), [4, 3]);
    assert_eq!(seqs(&record.of_item(&of("billing", "a"), usize::MAX).await.unwrap()), [4, 3, 1]);
    assert_eq!(record.of_item(&of("mail", "a"), 9).await.unwrap(), []);
    assert_eq!(seqs(&record.page(None, 2).await.unwrap()), [4, 3]);
    assert_eq!(seqs(&record.page(Some(3), 9).await.unwrap()), [2, 1]);
    assert_eq!(record.page(Some(1), 9).await.unwrap(), []);
}

#[rstest]
#[tokio::test]
async fn a_batch_is_written_whole_or_not_at_all(#[values(Sqlite, Postgres)] engine: Engine) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    let mut bad = entry(Event::Checked, None, "b");
    bad.body = json!("no object");
    let fault = record.append(vec![entry(Event::Checked, None, "a"), bad]).await.unwrap_err();
    assert!(fault.what.contains("must be a JSON object"), "{fault:?}");
    assert_eq!(record.page(None, 9).await.unwrap(), []);
    assert_eq!(record.append(Vec::new()).await.unwrap(), []);
}

#[rstest]
#[case::reserved_member(json!({ "attachments": [] }), Event::Checked, "a member of the record's own")]
#[case::intent_of_nothing(json!({}), Event::Intended, "belongs to no decision")]
#[case::list(json!([]), Event::Checked, "must be a JSON object")]
#[tokio::test]
async fn what_could_not_be_found_again_is_refused(
    #[values(Sqlite, Postgres)] engine: Engine,
    #[case] body: Value,
    #[case] event: Event,
    #[case] told: &str,
) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    let fault = record.append(vec![NewEntry { body, ..entry(event, None, "a") }]).await.unwrap_err();
    assert!(fault.what.contains(told), "{fault:?}");
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn several_connections_append_at_once_and_the_chain_stays_whole(
    #[values(Sqlite, Postgres)] engine: Engine,
) {
    let Some(audit) = Audit::of(engine).await else { return };
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let record = audit.record();
            tokio::spawn(async move {
                for at in 0..15 {
                    let key = format!("{writer}-{at}");
                    record
                        .append(vec![attached(&key, &["x"]), entry(Event::Checked, None, &key)])
                        .await
                        .unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let verified = audit.verify().await;
    assert_eq!((verified.entries, verified.flaws), (120, Vec::new()));
}

/// However often a decision on an item was refused since, what was carried out on it is found.
#[rstest]
#[tokio::test]
async fn refusals_crowd_no_decision_out(#[values(Sqlite, Postgres)] engine: Engine) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    record
        .append([Event::Intended, Event::Applied].map(|event| entry(event, Some(1), "a")).to_vec())
        .await
        .unwrap();
    let others = [entry(Event::Checked, None, "a"), entry(Event::Intended, Some(7), "b")];
    record.append(others.to_vec()).await.unwrap();
    let refused = (100..400).map(|decision| entry(Event::Refused, Some(decision), "a"));
    record.append(refused.collect()).await.unwrap();
    assert_eq!(seqs(&record.intended_on(&of("billing", "a"), 5).await.unwrap()), [2, 1]);
    assert_eq!(seqs(&record.intended_on(&of("billing", "a"), 1).await.unwrap()), [2]);
}

/// What others escalated is found by its outcome, the newest first, and by nothing that only looks like it.
#[rstest]
#[tokio::test]
async fn escalations_that_arrived_are_found(#[values(Sqlite, Postgres)] engine: Engine) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    for (number, choice, outcome) in [
        (1, "escalate", Event::Applied),
        (2, "retry", Event::Applied),
        (3, "escalate", Event::Refused),
        (4, "escalate", Event::Applied),
    ] {
        let decision = Some(number);
        for event in [Event::Intended, outcome] {
            let mut new = entry(event, decision, "a");
            new.body = serde_json::json!({ "choice": choice });
            record.append(vec![new]).await.unwrap();
        }
    }
    assert_eq!(seqs(&record.escalated(9).await.unwrap()), [8, 2]);
    assert_eq!(seqs(&record.escalated(1).await.unwrap()), [8]);
}
