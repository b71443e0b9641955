//! Where an absence proves something, and where it does not.

use super::*;
use pretty_assertions::assert_eq;
use rstest::rstest;
use std::time::Duration;

#[rstest]
#[tokio::test]
async fn a_table_without_any_reference_proves_nothing(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE ledger (id {int} PRIMARY KEY, ref {name}, state {text})";
    let Some(db) = Db::with(on, create).await else { return };
    let provider = provider(&db, COLUMNS, None);
    let why = "no row of `ledger` has a reference, which proves nothing of ours: is it the right one?";
    assert_eq!(fault(&provider, "a").await, (FaultKind::Shape, why.to_owned()));
    db.run("INSERT INTO ledger VALUES (1, NULL, 'booked')").await;
    assert_eq!(fault(&provider, "a").await.0, FaultKind::Shape);
    db.run("INSERT INTO ledger VALUES (2, 'b', 'booked')").await;
    assert_eq!(verdict(&provider, "a").await, Verdict::NotFound);
}

#[rstest]
#[tokio::test]
async fn what_is_not_there_is_told_by_its_name(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    let (kind, why) = fault(&provider(&db, &COLUMNS.replace("ledger", "ledgers"), None), "a").await;
    assert_eq!(kind, FaultKind::Shape);
    assert!(why.contains("has no table `ledgers`"), "{why}");
    let (kind, why) = fault(&provider(&db, &COLUMNS.replace("\"ref\"", "\"reference\""), None), "a").await;
    assert_eq!((kind, why.as_str()), (FaultKind::Shape, "`ledger` has no column `reference`"));
}

/// Until it is committed it is nobody's, and `settle` waits for it; the look itself waits for nobody.
#[rstest]
#[tokio::test]
async fn a_row_that_is_not_committed_is_not_seen(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    let provider = provider(&db, COLUMNS, None);
    let mut writer = db.session().await;
    writer.run("{begin}").await;
    writer.run("INSERT INTO ledger VALUES (5, 'a', 'booked', 1, 'EUR', NULL)").await;
    assert_eq!(effects(&provider, "a").await, []);
    writer.run("COMMIT").await;
    assert_eq!(effects(&provider, "a").await.len(), 1);
}

/// Reading never writes, whatever a query of a preset calls.
#[tokio::test]
async fn a_query_that_would_write_is_refused() {
    let Some(db) = Db::with(Postgres, &format!("{LEDGER} CREATE SEQUENCE numbers;")).await else { return };
    let columns = COLUMNS.replace(
        "table = \"ledger\"",
        "select = \"SELECT id, ref, state FROM ledger WHERE nextval('numbers') > 0\"",
    );
    let (kind, why) = fault(&provider(&db, &columns, None), "a").await;
    assert!(why.contains("read-only transaction"), "{kind:?} {why}");
}

#[tokio::test]
async fn rows_that_a_policy_may_hide_prove_nothing() {
    let Some(db) = Db::with(Postgres, LEDGER).await else { return };
    let role = format!("unstuck_reader_{}", uuid::Uuid::now_v7().simple());
    db.run(&format!(
        "CREATE ROLE {role}; GRANT SELECT ON ledger TO {role}; ALTER TABLE ledger ENABLE ROW LEVEL SECURITY;
         CREATE POLICY own ON ledger FOR SELECT TO {role} USING (id > 100);
         CREATE VIEW shown AS SELECT * FROM ledger; ALTER VIEW shown OWNER TO {role};
         INSERT INTO ledger VALUES (5, 'hidden', 'booked', 1, 'EUR', NULL), (105, 'shown', 'booked', 1, 'EUR', NULL)"
    ))
    .await;
    // A view reads with its owner's eyes: also what lies behind it counts.
    let through_view = provider(&db, &COLUMNS.replace("\"ledger\"", "\"shown\""), None);
    let seen = [fault(&through_view, "hidden").await, fault(&through_view, "shown").await];
    db.run(&format!("DROP VIEW shown; DROP POLICY own ON ledger; DROP OWNED BY {role}; DROP ROLE {role}"))
        .await;
    for (kind, why) in seen {
        assert_eq!(kind, FaultKind::Shape, "{why}");
        assert!(why.contains("row-level security may hide rows from this role"), "{why}");
    }
    // Whom no policy holds back sees everything.
    assert_eq!(effects(&provider(&db, COLUMNS, None), "hidden").await.len(), 1);
}

#[tokio::test]
async fn the_table_that_is_meant_is_said_where_there_are_two() {
    let Some(db) = Db::with(Postgres, LEDGER).await else { return };
    db.run("CREATE SCHEMA old; CREATE TABLE old.ledger AS SELECT * FROM ledger").await;
    let (kind, why) = fault(&provider(&db, COLUMNS, None), "a").await;
    assert_eq!(kind, FaultKind::Shape);
    assert!(
        why.contains("has a table `ledger` in several schemas (old, public): which one is meant?"),
        "{why}"
    );
    let named = provider(&db, &format!("{COLUMNS}schema = \"public\""), None);
    assert_eq!(effects(&named, "a").await, []);
    let elsewhere = provider(&db, &format!("{COLUMNS}schema = \"nowhere\""), None);
    assert_eq!(fault(&elsewhere, "a").await.0, FaultKind::Shape);
}

/// What is there is there; what is not there may have been emptied, or not refreshed.
#[rstest]
#[case::materialized(
    Postgres,
    "CREATE MATERIALIZED VIEW kept AS SELECT * FROM ledger",
    "is a materialized view, which shows what there was when it was refreshed"
)]
#[case::unlogged(
    Postgres,
    "CREATE UNLOGGED TABLE kept AS SELECT * FROM ledger",
    "is an unlogged table, which a crash of the server empties"
)]
#[case::memory(
    Mysql,
    "CREATE TABLE kept (id INT, ref VARCHAR(40), state VARCHAR(40)) ENGINE = MEMORY; INSERT INTO kept SELECT id, ref, state FROM ledger",
    "is kept in memory, and empty after each start of the server"
)]
#[tokio::test]
async fn a_table_that_forgets_shows_presences_and_no_absences(
    #[case] on: Engine,
    #[case] create: &str,
    #[case] told: &str,
) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    db.run(create).await;
    let provider = provider(&db, &COLUMNS.replace("\"ledger\"", "\"kept\""), None);
    assert_eq!(verdict(&provider, "somebody-elses").await, Verdict::Happened);
    let (kind, why) = fault(&provider, "a").await;
    assert_eq!(kind, FaultKind::Unanswerable);
    assert!(why.ends_with(&format!("`kept` {told}")), "{why}");
    let lines = provider.examine().await;
    assert!(lines.iter().any(|line| line.what == "absence" && line.finding.contains(told)), "{lines:?}");
}

#[tokio::test]
async fn a_database_that_cannot_be_reached_is_a_fault() {
    use crate::adapters::sql::Address;
    let address = |url: &str| Address {
        url: url.to_owned().into(),
        shown: "somewhere".to_owned(),
        password: None,
        environment: Arc::new(|_| None),
    };
    let (postgres, mysql) = ("postgres://ana@127.0.0.1:1/app", "mysql://ana@127.0.0.1:1/app");
    let databases: [Box<dyn crate::adapters::sql::effects::EffectsDatabase>; 3] = [
        Box::new(crate::adapters::sqlite::SqliteEffects::new("no/such/file.db".into())),
        Box::new(crate::adapters::postgres::PostgresEffects::new(address(postgres))),
        Box::new(crate::adapters::mysql::MysqlEffects::new(address(mysql))),
    ];
    for database in databases {
        let shared = Arc::new(SharedDatabase::new(database, 100.0, 4, None, None));
        let plain = OperationSettings::default();
        let provider = SqlProvider::build(
            "mine.entry",
            &preset(COLUMNS),
            "entry",
            &plain,
            shared,
            Arc::new(SystemClock),
        )
        .unwrap();
        assert_eq!(fault(&provider, "a").await.0, FaultKind::Connect);
        assert_eq!(provider.examine().await[0].health, crate::ports::source::Health::Unreachable);
        assert!(told(&provider, "a").await.evidence.asked.is_empty(), "nothing was asked");
    }
}

const WORD: &str = "unstuck_effects_in_vain";

/// Who stops waiting also stops it on the server; and a look has its own end.
#[rstest]
#[tokio::test]
async fn a_look_that_nobody_waits_for_is_stopped(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    let endless = match on {
        Sqlite => "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n)"
            .to_owned(),
        Postgres => format!("(SELECT pg_sleep(60)::text /* {WORD} */)"),
        Mysql => format!("sleep(60) /* {WORD} */"),
    };
    let columns = COLUMNS.replace(
        "table = \"ledger\"",
        &format!("select = \"SELECT id, ref, {endless} AS state FROM ledger\""),
    );
    let provider = provider(&db, &columns, None);
    let asked = question("somebody-elses");
    let mut look = provider.ask(&asked);
    let runs = async {
        if !db.until_runs(WORD, true).await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        told = &mut look => panic!("the query has no end: {told:?}"),
        () = runs => {}
    }
    drop(look);
    db.until_runs(WORD, false).await;
    db.run("DROP TABLE ledger").await;
}

#[rstest]
#[tokio::test]
async fn doctor_sees_the_table_its_indexes_and_its_statuses(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    db.run("INSERT INTO ledger VALUES (2, 'b', 'odd', 1, 'EUR', NULL)").await;
    let lines = provider(&db, &format!("{COLUMNS}time = \"at\""), None).examine().await;
    let told = |what: &str| {
        let line =
            lines.iter().find(|line| line.what == what).unwrap_or_else(|| panic!("no {what}: {lines:?}"));
        format!("{:?}: {}", line.health, line.finding)
    };
    assert!(told("server").starts_with("Good"), "{lines:?}");
    assert_eq!(told("table"), "Good: ledger(id, ref, state, amount, cur, at)");
    assert_eq!(
        told("index"),
        "Doubtful: there is none that begins with `at`: each look reads the whole table"
    );
    assert!(told("statuses").contains("`booked` = happened (1)"), "{lines:?}");
    assert!(told("statuses").contains("`odd` = NOT IN THE PRESET (1)"), "{lines:?}");
    assert_eq!(told("rows"), "Good: there are some with a reference");
    assert_eq!(told("clock"), "Good: the server's is this machine's");
    db.run("CREATE INDEX ledger_at ON ledger (at)").await;
    let lines = provider(&db, &format!("{COLUMNS}time = \"at\""), None).examine().await;
    assert!(lines.iter().any(|line| line.finding == "reference and time can be looked up"), "{lines:?}");
}
