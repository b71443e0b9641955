//! Who stops waiting for a scan also stops it on the server.

use super::*;
use rstest::rstest;
use std::time::Duration;

const WORD: &str = "unstuck_waits_in_vain";

/// An expression that takes a minute for each row, or for ever.
fn endless(on: Engine) -> String {
    match on {
        Sqlite => "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n)"
            .to_owned(),
        Postgres => format!("pg_sleep(60) /* {WORD} */"),
        Mysql => format!("sleep(60) /* {WORD} */"),
    }
}

#[rstest]
#[tokio::test]
async fn a_scan_that_nobody_waits_for_is_stopped(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE t (k {int} PRIMARY KEY, s {text});
        INSERT INTO t VALUES (1, 'failed'), (2, 'failed'), (3, 'failed')";
    let Some(db) = Db::with(on, create).await else { return };
    let source = db.mapped(&format!("[fields]\nendless = \"{}\"", endless(on)));
    let wanted = everything();
    let mut scan = source.scan(&wanted, None);
    let runs = async {
        if !db.until_runs(WORD, true).await {
            // SQLite does not tell what runs: its own test shows that the query was under way.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        page = &mut scan => panic!("the query has no end: {page:?}"),
        () = runs => {}
    }
    drop(scan);
    db.until_runs(WORD, false).await;
    // Nothing of it is left: the table can be had alone, and the source goes on.
    db.run(
        "DROP TABLE t; CREATE TABLE t (k {int} PRIMARY KEY, s {text}); INSERT INTO t VALUES (4, 'failed')",
    )
    .await;
    assert_eq!(keys(&scan_all(&*db.mapped(""), &everything()).await), ["4"]);
}

/// A session that was told to stop is never lent again: what was meant for one query must not end the next.
#[rstest]
#[tokio::test]
async fn scans_that_are_dropped_at_any_moment_disturb_no_later_one(
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let create = "CREATE TABLE t (k {int} PRIMARY KEY, s {text}); INSERT INTO t VALUES (1, 'failed')";
    let Some(db) = Db::with(on, create).await else { return };
    let source = db.mapped("");
    let wanted = everything();
    for micros in (0..6_000).step_by(200) {
        let given_up = tokio::time::timeout(Duration::from_micros(micros), source.scan(&wanted, None)).await;
        drop(given_up);
        let items = scan_all(&*source, &wanted).await;
        assert_eq!(keys(&items), ["1"]);
    }
}
