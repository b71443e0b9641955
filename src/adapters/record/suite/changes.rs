//! What the engine itself refuses, and what is found where somebody changed it all the same.

use super::*;
use pretty_assertions::assert_eq;

/// Three entries, the second with something attached.
async fn audit_of(engine: Engine) -> Option<Audit> {
    let audit = Audit::of(engine).await?;
    let record = audit.record();
    for new in [entry(Event::Checked, None, "a"), attached("b", &["{}"]), entry(Event::Checked, None, "c")] {
        record.append(vec![new]).await.unwrap();
    }
    Some(audit)
}

#[rstest]
#[case::change("UPDATE entries SET operator = 'eve'")]
#[case::removal("DELETE FROM entries")]
#[case::change_beside("UPDATE attachments SET text = ''")]
#[case::removal_beside("DELETE FROM attachments")]
#[tokio::test]
async fn the_engine_itself_refuses_changes(
    #[values(Sqlite, Postgres)] engine: Engine,
    #[case] statement: &str,
) {
    let Some(audit) = audit_of(engine).await else { return };
    let told = audit.sql(statement).await.unwrap_err();
    assert!(told.contains("the audit only grows"), "{told}");
    assert!(audit.verify().await.is_whole());
}

/// The owner of the audit can do what no role can: then the chain shows it.
#[rstest]
#[case::a_field("UPDATE entries SET operator = 'eve' WHERE seq = 2", 2)]
#[case::a_body("UPDATE entries SET body = replace(body, 'ledger', 'mirror') WHERE seq = 3", 3)]
#[case::an_answer("UPDATE attachments SET text = '[]'", 2)]
#[case::no_answer("DELETE FROM attachments", 2)]
#[case::a_gap("DELETE FROM attachments; DELETE FROM entries WHERE seq = 2", 2)]
#[case::the_last("DELETE FROM entries WHERE seq = 3", 3)]
#[case::all("DELETE FROM attachments; DELETE FROM entries", 1)]
#[case::numbers("UPDATE entries SET seq = seq + 10 WHERE seq = 3", 3)]
#[tokio::test]
async fn what_the_owner_changes_is_found(
    #[values(Sqlite, Postgres)] engine: Engine,
    #[case] statement: &str,
    #[case] first_bad: i64,
) {
    let Some(audit) = audit_of(engine).await else { return };
    assert!(audit.verify().await.is_whole());
    audit.tamper(statement).await;
    assert_eq!(audit.verify().await.first_bad(), Some(first_bad));
}

/// What is around the entries keeps them as they are, so it is compared too.
#[rstest]
#[case::trigger_gone(
    "DROP TRIGGER entries_stay ON entries",
    "the trigger `entries_stay` is missing or changed"
)]
#[case::trigger_off(
    "ALTER TABLE entries DISABLE TRIGGER entries_place",
    "the trigger `entries_place` is missing or changed"
)]
#[case::trigger_asleep(
    "ALTER TABLE entries ENABLE TRIGGER entries_stay",
    "the trigger `entries_stay` is missing or changed"
)]
#[case::function_changed(
    "CREATE OR REPLACE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "the function `stay` is missing or changed"
)]
#[case::foreign_function(
    "CREATE FUNCTION eve() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "the function `eve` is not of this program"
)]
#[case::index_gone(
    "DROP INDEX entries_once_a_decision",
    "the index `entries_once_a_decision` is missing or changed"
)]
#[case::index_not_unique(
    "DROP INDEX entries_once_a_decision; CREATE INDEX entries_once_a_decision ON entries (decision)",
    "the index `entries_once_a_decision` is missing or changed"
)]
#[case::rows_hidden(
    "ALTER TABLE entries ENABLE ROW LEVEL SECURITY",
    "the table `entries` is missing or changed"
)]
#[case::rule(
    "CREATE RULE lost AS ON INSERT TO attachments DO INSTEAD NOTHING",
    "the table `attachments` is missing or changed"
)]
#[tokio::test]
async fn what_is_around_the_entries_is_compared(#[case] statement: &str, #[case] told: &str) {
    let Some(audit) = audit_of(Postgres).await else { return };
    audit.sql(statement).await.unwrap();
    let flaws: Vec<String> = audit.verify().await.flaws.iter().map(ToString::to_string).collect();
    assert_eq!(flaws, [format!("the audit: {told}")]);
}

/// What the owner of an audit takes away or changes at its end is not built upon.
#[rstest]
#[case::head_moved("UPDATE head SET seq = 4", "it ends at entry 3, and entry 4 was written")]
#[case::another_last(
    "UPDATE head SET hash = repeat('0', 64)",
    "its last entry (3) is not the one that was written"
)]
#[case::changed_last(
    "UPDATE entries SET operator = 'eve' WHERE seq = 3",
    "its last entry (3) is not what was written"
)]
#[tokio::test]
async fn nothing_is_chained_to_an_end_that_is_not_remembered(#[case] statement: &str, #[case] told: &str) {
    let Some(audit) = audit_of(Postgres).await else { return };
    let record = audit.record();
    audit.tamper(statement).await;
    let fault = record.append(vec![entry(Event::Checked, None, "d")]).await.unwrap_err();
    assert!(fault.what.contains(told), "{fault:?}");
    assert!(!audit.verify().await.is_whole());
}

/// A server that was restored from a copy, or whose standby took over without the newest entries.
#[tokio::test]
async fn an_audit_that_became_shorter_is_not_gone_on_with() {
    let Some(audit) = audit_of(Postgres).await else { return };
    let record = audit.record();
    record.append(vec![entry(Event::Checked, None, "d")]).await.unwrap();
    let back = "DELETE FROM entries WHERE seq = 4;
        UPDATE head SET seq = 3, hash = (SELECT hash FROM entries WHERE seq = 3)";
    audit.tamper(back).await;
    let fault = record.append(vec![entry(Event::Checked, None, "e")]).await.unwrap_err();
    assert!(fault.what.contains("it ends at entry 3, and this run has seen entry 4"), "{fault:?}");
}

/// A role whose commits may be lost is asked for more; tables that a crash empties are refused.
#[rstest]
#[case::commits_that_may_be_lost("ALTER ROLE {ana} SET synchronous_commit = off", None)]
#[case::tables_that_may_be_lost(
    "ALTER TABLE attachments SET UNLOGGED; ALTER TABLE entries SET UNLOGGED",
    Some("would not outlive a crash (synchronous_commit is on, its tables are logged: false)")
)]
#[tokio::test]
async fn what_is_written_outlives_a_crash_or_is_refused(#[case] statement: &str, #[case] told: Option<&str>) {
    let Some(audit) = Audit::of(Postgres).await else { return };
    let ana = audit.role("ana").await;
    audit.sql(&statement.replace("{ana}", &ana)).await.unwrap();
    let written = audit.record_of(&ana).append(vec![entry(Event::Checked, None, "a")]).await;
    let what = written.err().map(|fault| fault.what);
    assert_eq!(what.is_some(), told.is_some(), "{what:?}");
    assert!(told.is_none_or(|told| what.as_deref().unwrap().ends_with(told)), "{what:?}");
}

#[tokio::test]
async fn it_is_made_by_its_command_alone_and_once() {
    let Some(audit) = Audit::of(Postgres).await else { return };
    audit.sql(&format!("DROP SCHEMA {} CASCADE", audit.schema())).await.unwrap();
    let record = audit.record_of("");
    for fault in [
        record.append(vec![entry(Event::Checked, None, "a")]).await.unwrap_err(),
        record.unfinished().await.unwrap_err(),
    ] {
        assert!(fault.what.ends_with("there is no audit in this database yet"), "{fault:?}");
        assert!(fault.do_next.contains("unstuck audit init"), "{fault:?}");
    }
    // What is shown is what is run.
    let shown = record.statements(&[]).unwrap();
    audit.sql(&shown.join(";\n")).await.unwrap();
    assert!(!record.make(&[]).await.unwrap());
    assert_eq!(seqs(&record.append(vec![entry(Event::Checked, None, "a")]).await.unwrap()), [1]);
    assert!(audit.verify().await.is_whole());
    audit.sql("UPDATE about SET format = 2").await.unwrap();
    let fault = record.make(&[]).await.unwrap_err();
    assert!(fault.what.contains("has version 2, and this program knows version 1"), "{fault:?}");
}
