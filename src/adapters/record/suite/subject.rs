//! Which entries are of an item.

use super::*;
use pretty_assertions::assert_eq;

/// A table has one history, whatever its source is called; entries of earlier programs are found by the name.
#[rstest]
#[tokio::test]
async fn an_item_is_found_by_its_table_under_any_name_of_its_source(
    #[values(Sqlite, Postgres)] engine: Engine,
) {
    let Some(audit) = Audit::of(engine).await else { return };
    let record = audit.record();
    let told = |event, decision: u128, source: &str, table: Option<&str>| NewEntry {
        source: source.to_owned(),
        body: json!({ "table": table }),
        ..entry(event, Some(decision), "a")
    };
    let (ledger, other) = (Some("postgres:7/app/public.ledger"), Some("postgres:8/app/public.ledger"));
    let all = vec![
        told(Event::Proposed, 1, "billing", ledger),
        told(Event::Proposed, 2, "db-1", ledger),
        told(Event::Proposed, 3, "db-1", other),
        told(Event::Proposed, 4, "billing", None),
        told(Event::Intended, 5, "db-1", ledger),
        NewEntry { key: "b".to_owned(), ..told(Event::Proposed, 6, "billing", ledger) },
    ];
    record.append(all).await.unwrap();
    let subject =
        |source: &str, table: Option<&str>| Subject { table: table.map(str::to_owned), ..of(source, "a") };
    for (asked, waiting, whole) in [
        (subject("billing", ledger), vec![1, 2, 4], vec![5, 4, 2, 1]),
        (subject("a third", ledger), vec![1, 2], vec![5, 2, 1]),
        (subject("a third", other), vec![3], vec![3]),
        (subject("billing", None), vec![1, 4], vec![4, 1]),
        (subject("a third", None), vec![], vec![]),
    ] {
        assert_eq!(seqs(&record.waiting_on(&asked).await.unwrap()), waiting, "{asked:?}");
        let found = record.of_item(&asked, 9).await.unwrap();
        assert_eq!(seqs(&found), whole, "{asked:?}");
        // The rule itself, of which the query is the spelling.
        let all = record.page(None, 99).await.unwrap();
        assert_eq!(found, all.into_iter().filter(|entry| asked.is_of(entry)).collect::<Vec<_>>());
    }
    assert_eq!(seqs(&record.intended_on(&subject("a third", ledger), 9).await.unwrap()), [5]);
}
