//! Connections that are lost: what is told as written is written, and what is told as not written is not.

use super::*;
use crate::adapters::record::PostgresRecord;
use crate::adapters::suite::bench::address_of;
use pretty_assertions::assert_eq;
use std::time::Duration;

/// Ends every session of a login.
async fn end_sessions(audit: &Audit, login: &str) {
    let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{login}'");
    audit.sql(&end).await.unwrap();
}

#[tokio::test]
async fn a_connection_that_was_lost_between_two_writes_is_made_anew() {
    let Some(audit) = Audit::of(Postgres).await else { return };
    let ana = audit.role("ana").await;
    let record = audit.record_of(&ana);
    record.append(vec![entry(Event::Checked, None, "a")]).await.unwrap();
    end_sessions(&audit, &ana).await;
    assert_eq!(seqs(&record.append(vec![entry(Event::Checked, None, "b")]).await.unwrap()), [2]);
    end_sessions(&audit, &ana).await;
    assert_eq!(seqs(&record.page(None, 9).await.unwrap()), [2, 1]);
}

/// While a write waits for its turn its session is ended: nothing is written, and that is told.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_lost_while_it_waits_writes_nothing() {
    let Some(audit) = Audit::of(Postgres).await else { return };
    let ana = audit.role("ana").await;
    let holder = bench::connect(&audit.bare_address("")).await;
    let hold = format!("BEGIN; SET LOCAL search_path = {}; SELECT * FROM head FOR UPDATE", audit.schema());
    holder.batch_execute(&hold).await.unwrap();
    let record = audit.record_of(&ana);
    let write = tokio::spawn(async move { record.append(vec![entry(Event::Intended, Some(1), "a")]).await });
    let waits = format!(
        "SELECT 1 / count(*) FROM pg_stat_activity WHERE usename = '{ana}' AND wait_event_type = 'Lock'"
    );
    while audit.sql(&waits).await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    end_sessions(&audit, &ana).await;
    holder.batch_execute("COMMIT").await.unwrap();
    let fault = write.await.unwrap().unwrap_err();
    assert!(!fault.what.is_empty() && !fault.do_next.is_empty());
    assert_eq!(audit.record().page(None, 9).await.unwrap(), []);
}

/// A server that is not there keeps everything from being decided, and says where it was looked for.
#[tokio::test]
async fn a_server_that_is_not_there_is_told() {
    let address = "postgres://ana@127.0.0.1:1/ops";
    let record = PostgresRecord::new(address_of(address, address));
    let fault = record.append(vec![entry(Event::Intended, Some(1), "a")]).await.unwrap_err();
    assert!(fault.what.starts_with(&format!("audit {address}: cannot be reached")), "{fault:?}");
    assert_eq!(record.unfinished().await.unwrap_err(), fault);
}

/// The session ends while it commits: what became of it is read behind the lock, and told; the next write goes on.
#[tokio::test]
async fn a_connection_that_is_lost_while_it_commits_is_told_by_reading() {
    let Some(audit) = Audit::of(Postgres).await else { return };
    let ana = audit.role("ana").await;
    let dies = "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON entries DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (NEW.key = 'doomed') EXECUTE FUNCTION die()";
    audit.sql(dies).await.unwrap();
    let record = audit.record_of(&ana);
    let fault = record.append(vec![entry(Event::Intended, Some(1), "doomed")]).await.unwrap_err();
    assert!(fault.what.ends_with("; nothing was written"), "{fault:?}");
    assert_eq!(record.unfinished().await.unwrap(), []);
    assert_eq!(seqs(&record.append(vec![entry(Event::Checked, None, "a")]).await.unwrap()), [1]);
}
