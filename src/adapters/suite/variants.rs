//! Which shape a preset's tables have is told by the catalogue; on an unknown one nothing is read or written.

use super::*;
use crate::domain::decision::Choice;
use crate::ports::source::{Applied, Health, SourceFaultKind};
use pretty_assertions::assert_eq;
use rstest::rstest;

/// Two shapes of one job system: the newer keeps a count of versions.
fn shapes(on: Engine) -> String {
    let of = match on {
        Sqlite => "INTEGER",
        Postgres => "bigint",
        Mysql => "bigint(20)",
    };
    format!(
        r#"
table = "t"
key = "k"
status = "s"
state = [
    {{ is = "running", when = {{ s = "running" }} }},
    {{ is = "failed", when = {{ s = "failed" }} }},
    {{ is = "done", when = {{ s = "done" }} }},
]
[[variant]]
name = "3"
has = ["t.v: {of}"]
version = ["s", "v"]
[variant.decisions]
late_writer = "guarded"
done = {{ leaves = "done", statements = [{{ rows = 1, sql = "UPDATE {{table}} SET s = 'done', v = v + 1 WHERE {{unchanged}}" }}] }}
[[variant]]
name = "2"
has = ["t"]
lacks = ["t.v"]
version = ["s"]
[variant.decisions]
late_writer = "unguarded"
done = {{ leaves = "done", statements = [{{ rows = 1, sql = "UPDATE {{table}} SET s = 'done' WHERE {{unchanged}}" }}] }}
"#
    )
}

#[rstest]
#[case::newer("k {int} PRIMARY KEY, s {text}, v {int}", "1, 'failed', 1", "3", "1|done|2")]
#[case::older("k {int} PRIMARY KEY, s {text}", "1, 'failed'", "2", "1|done")]
#[tokio::test]
async fn the_shape_is_told_by_the_catalogue(
    #[case] columns: &str,
    #[case] row: &str,
    #[case] variant: &str,
    #[case] written: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let Some(db) = Db::with(on, &format!("CREATE TABLE t ({columns}); INSERT INTO t VALUES ({row})")).await
    else {
        return;
    };
    let source = db.through(&shapes(on));
    assert_eq!(&*source.facts().variant, "");
    let change = change_of(&reading(&*source, "1").await);
    assert_eq!(&*source.facts().variant, variant);
    source.apply(Choice::MarkDone, &change).await.unwrap();
    assert_eq!(db.dump("t").await, [written]);
}

/// Neither of the shapes: the column is there, and is of another type.
#[rstest]
#[tokio::test]
async fn nothing_is_read_or_written_on_an_unknown_shape(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create =
        "CREATE TABLE t (k {int} PRIMARY KEY, s {text}, v {int}); INSERT INTO t VALUES (1, 'failed', 1)";
    let Some(db) = Db::with(on, create).await else { return };
    let change = change_of(&reading(&*db.through(&shapes(on)), "1").await);
    db.run("DROP TABLE t; CREATE TABLE t (k {int} PRIMARY KEY, s {text}, v {text}); INSERT INTO t VALUES (1, 'failed', '1')")
        .await;
    let source = db.through(&shapes(on));
    let before = db.dump("t").await;
    let faults = [
        source.scan(&everything(), None).await.unwrap_err(),
        source.read("1").await.unwrap_err(),
        source.payload(&change.key, 10).await.unwrap_err(),
        source.apply(Choice::MarkDone, &change).await.unwrap_err(),
        source.has_decision(change.decision).await.unwrap_err(),
    ];
    for fault in faults {
        let [what, do_next] = db.told(&fault);
        assert!(
            what.starts_with("db: has none of the shapes that preset `mapped` knows; what is missing: 3: ")
        );
        assert!(do_next.starts_with("Nothing is read or written on an unknown shape"), "{do_next}");
        assert_eq!((fault.kind, fault.may_have_written), (SourceFaultKind::Mismatch, false));
    }
    assert_eq!(db.dump("t").await, before);
    assert_eq!(source.examine().await.iter().map(|line| line.health).max(), Some(Health::Misfit));
}

/// Between a look and a decision the job system may be migrated.
#[rstest]
#[tokio::test]
async fn a_shape_that_changed_since_it_was_seen_is_noticed(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE t (k {int} PRIMARY KEY, s {text}); INSERT INTO t VALUES (1, 'failed')";
    let Some(db) = Db::with(on, create).await else { return };
    let source = db.through(&shapes(on));
    let change = change_of(&reading(&*source, "1").await);
    db.run("ALTER TABLE t ADD COLUMN v {int}; UPDATE t SET v = 5").await;
    // The newer shape compares a column that was not seen.
    let applied = source.apply(Choice::MarkDone, &change).await;
    assert!(!matches!(applied, Ok(Applied::Written { .. })), "{applied:?}");
    assert_eq!(db.dump("t").await, ["1|failed|5"]);
}

#[rstest]
#[tokio::test]
async fn a_preset_for_another_engine_is_told(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE t (k {int} PRIMARY KEY, s {text}); INSERT INTO t VALUES (1, 'failed')";
    let Some(db) = Db::with(on, create).await else { return };
    let other = if on == Sqlite { "postgres" } else { "sqlite" };
    let fault = db.mapped("").scan(&everything(), None).await;
    assert!(fault.is_ok());
    let fault = db.through(&format!("engines = [\"{other}\"]\n{MAPPING}")).read("1").await.unwrap_err();
    assert_eq!(fault.kind, SourceFaultKind::Mismatch);
    assert!(db.told(&fault)[0].starts_with("db: preset `mapped` knows no "), "{}", fault.what);
}
