//! The list over a window: one query, and the same answers as item by item.

use super::*;
use crate::domain::listing::Listing;
use crate::ports::provider::Window;
use chrono::DateTime;
use pretty_assertions::assert_eq;
use rstest::rstest;

fn from() -> DateTime<Utc> {
    "2026-05-04T10:00:00Z".parse().unwrap()
}

fn window(from: Option<DateTime<Utc>>, pages_max: usize) -> Window {
    Window { from, pages_max, mask: Arc::default() }
}

async fn listed(provider: &dyn Provider, from: Option<DateTime<Utc>>) -> Listing {
    provider.list(&window(from, 5)).await.outcome.unwrap_or_else(|fault| panic!("{fault}"))
}

fn ids(listing: &Listing) -> Vec<&str> {
    let mut ids: Vec<&str> = listing.effects().iter().map(|effect| effect.id.as_str()).collect();
    ids.sort_unstable();
    ids
}

#[rstest]
#[tokio::test]
async fn the_list_says_what_each_question_says(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    db.run(
        "INSERT INTO ledger VALUES (10, 'a', 'booked', 1, 'EUR', '2026-05-04 10:00:00'), (11, 'b', 'rejected', 1, 'EUR', '2026-05-05 10:00:00'),
         (12, 'b', 'booked', 1, 'EUR', '2026-05-05 10:00:01'), (13, 'c', 'new', 1, 'EUR', '2026-05-05 10:00:00'),
         (14, 'd', 'booked', 1, 'EUR', NULL), (15, 'old', 'booked', 1, 'EUR', '2026-05-04 09:59:50'),
         (16, NULL, 'booked', 1, 'EUR', '2026-05-05 10:00:00'), (17, 'e', NULL, 1, 'EUR', '2026-05-05 10:00:00')",
    )
    .await;
    let provider = provider(&db, &format!("{COLUMNS}time = \"at\""), None);
    assert!(provider.facts().listing.is_some());
    let listing = listed(&provider, Some(from())).await;
    assert_eq!(
        ids(&listing),
        ["1", "10", "11", "12", "13", "14", "16", "17"],
        "all but what is surely older"
    );
    assert_eq!(listing.seen_from(), Some(from()));
    for reference in ["a", "b", "c", "d", "e", "never"] {
        let alone = told(&provider, reference).await.answer;
        let from_list = match listing.answer(reference) {
            Answer::Complete { effects, .. } => Answer::Complete { effects, seen_from: None },
            fault @ Answer::Fault(_) => fault,
        };
        assert_eq!(from_list, alone, "{reference}");
    }
    assert_eq!(ids(&listed(&provider, None).await).len(), 9, "without a bound everything is read");
    let without_time = super::provider(&db, COLUMNS, None);
    assert!(without_time.facts().listing.is_none());
}

/// However a column spells times, nothing of the window is left out, and what the database cannot read comes along.
#[rstest]
#[case::epoch_ms("{int}", "epoch_ms", ["1777888800000", "1777888700000", "0"])]
#[case::epoch_s("{int}", "epoch_s", ["1777888800", "1777888700", "1"])]
#[case::text("{text}", "iso", ["'2026-05-04T10:00:00'", "'2026-05-04T09:00:00Z'", "'yesterday'"])]
#[case::moment("{moment}", "iso", ["'2026-05-04 10:00:00.000001'", "'2026-05-04 09:59:00'", "'1970-01-01 00:00:01'"])]
#[tokio::test]
async fn a_window_leaves_out_only_what_is_surely_older(
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
    #[case] column: &str,
    #[case] format: &str,
    #[case] times: [&str; 3],
) {
    let [inside, older, unreadable] = times;
    let create = format!(
        "CREATE TABLE ledger (id {{int}} PRIMARY KEY, ref {{name}}, state {{text}}, at {column});
         INSERT INTO ledger VALUES (1, 'in', 'booked', {inside}), (2, 'old', 'booked', {older}), (3, 'odd', 'booked', {unreadable}), (4, 'untold', 'booked', NULL)"
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let provider = provider(&db, &format!("{COLUMNS}time = \"at\"\ntime_format = \"{format}\""), None);
    let listing = listed(&provider, Some(from())).await;
    let told = ids(&listing);
    // A text of a server is compared with no time: all of them are read, and sorted out here.
    let is_told_apart = on == Sqlite || column != "{text}";
    assert_eq!(told, if is_told_apart { vec!["1", "3", "4"] } else { vec!["1", "2", "3", "4"] });
    assert!(matches!(listing.answer("in"), Answer::Complete { effects, .. } if effects.len() == 1));
    assert!(
        matches!(listing.answer("odd"), Answer::Fault(_)),
        "a time that cannot be read is a fault for whoever it is"
    );
    assert!(matches!(listing.answer("untold"), Answer::Complete { effects, .. } if effects.len() == 1));
}

/// A list that has more than it may is not read.
#[rstest]
#[tokio::test]
async fn a_list_beyond_its_bounds_counts_as_not_read(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    let rows: Vec<String> = (0..1_000)
        .map(|n| format!("({}, 'r{n}', 'booked', 1, 'EUR', '2026-05-05 10:00:00')", n + 10))
        .collect();
    db.run(&format!("INSERT INTO ledger VALUES {}", rows.join(", "))).await;
    let provider = provider(&db, &format!("{COLUMNS}time = \"at\""), None);
    let listed = provider.list(&window(None, 1)).await;
    assert_eq!(listed.outcome.unwrap_err().kind, FaultKind::TooManyPages);
    let evidence = listed.evidence.unwrap();
    assert_eq!(evidence.asked[0].tries[0].fault, Some(FaultKind::TooManyPages));
    assert_eq!(provider.list(&window(None, 2)).await.outcome.unwrap().effects().len(), 1_001);
}

#[rstest]
#[tokio::test]
async fn a_list_counts_only_while_the_canary_is_found(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    let columns = format!("{COLUMNS}time = \"at\"");
    for (canary, counts) in [("somebody-elses", true), ("never", false)] {
        let listed = with_canary(&db, &columns, canary).list(&window(Some(from()), 5)).await;
        assert_eq!(listed.outcome.is_ok(), counts, "{canary}: {:?}", listed.outcome);
    }
}
