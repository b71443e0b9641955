//! Many operators, each with a key of their own.

use super::*;
use crate::adapters::record::PostgresRecord;
use crate::adapters::record::verify::Verified;
use crate::adapters::record::verify::export::verify_export;
use crate::adapters::record::verify::signed::Against;
use crate::adapters::suite::bench::address_of;
use pretty_assertions::assert_eq;

async fn run_of(audit: &Audit, operator: &str, at: i64) {
    let record = audit.signed_by(operator);
    record.append(vec![entry(Event::Checked, None, "a"), entry(Event::Checked, None, "b")]).await.unwrap();
    record.seal(moment(at)).await.unwrap();
}

/// How many checkpoints fit, how many entries they cover, and how many keys are not known.
fn reach(verified: &Verified) -> (usize, Option<i64>, usize) {
    assert_eq!(verified.flaws, Vec::new());
    let signatures = &verified.signatures;
    (signatures.count, signatures.last.as_ref().map(|last| last.entries), signatures.others)
}

/// One audit, signed by two; each knows the other's key.
#[tokio::test]
async fn two_operators_sign_one_audit_and_verify_each_others() {
    let Some(audit) = Audit::of(Postgres).await else { return };
    for (at, operator) in (0..).zip(["ana", "ben", "ana", "ben"]) {
        run_of(&audit, operator, at).await;
    }
    let (ana, ben) = (audit.key_of("ana"), audit.key_of("ben"));
    assert_eq!(reach(&audit.verify_as("ana", &[]).await), (2, Some(6), 1));
    assert_eq!(reach(&audit.verify_as("ana", &[ben]).await), (4, Some(8), 0));
    // Somebody without a key of their own.
    assert_eq!(reach(&audit.verify_as("auditor", &[ana, ben]).await), (4, Some(8), 0));
}

/// The owner of the database cuts off the end, with the checkpoints that tell of it: whoever signed has them too.
#[tokio::test]
async fn a_cut_off_end_is_found_by_what_was_signed_elsewhere() {
    let Some(audit) = Audit::of(Postgres).await else { return };
    run_of(&audit, "ana", 0).await;
    run_of(&audit, "ben", 1).await;
    let ben = audit.key_of("ben");
    let cut = "DELETE FROM entries WHERE seq > 2;
        UPDATE head SET seq = 2, hash = (SELECT hash FROM entries WHERE seq = 2)";
    audit.tamper(cut).await;
    // In the database stands what ben signed.
    assert_eq!(audit.verify_as("ana", &[ben]).await.first_bad(), Some(3));
    // Without it nobody can tell but ben.
    audit.tamper("DELETE FROM checkpoints WHERE id = 2").await;
    assert!(audit.verify_as("ana", &[ben]).await.is_whole());
    let verified = audit.verify_as("ben", &[]).await;
    assert_eq!(verified.first_bad(), Some(3));
    let told: Vec<String> = verified.flaws.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|flaw| flaw.contains("kept here, is not in the database")), "{told:?}");
    // And ben writes nothing on top of it.
    let fault = audit.signed_by("ben").append(vec![entry(Event::Checked, None, "c")]).await.unwrap_err();
    assert!(fault.what.contains("it became shorter, or another is in its place"), "{fault:?}");
}

/// A chain that was written anew fits itself, and no signature.
#[rstest]
#[tokio::test]
async fn a_chain_written_anew_is_found(#[values(Sqlite, Postgres)] engine: Engine) {
    let Some(audit) = Audit::of(engine).await else { return };
    run_of(&audit, "ana", 0).await;
    let [second, first]: [Entry; 2] = audit.record().page(None, 9).await.unwrap().try_into().unwrap();
    let first = Entry { operator: "eve".to_owned(), ..first };
    let after = first.expected_hash();
    let last = Entry { prev: after.clone(), ..second }.expected_hash();
    let remembered = match engine {
        Postgres => format!("; UPDATE head SET hash = '{last}'"),
        Sqlite | Engine::Mysql => String::new(),
    };
    audit
        .tamper(&format!(
            "UPDATE entries SET operator = 'eve', hash = '{after}' WHERE seq = 1;
             UPDATE entries SET prev = '{after}', hash = '{last}' WHERE seq = 2{remembered}"
        ))
        .await;
    assert!(audit.verify().await.is_whole(), "the chain fits itself");
    assert_eq!(audit.verify_as("ana", &[]).await.first_bad(), Some(1));
}

/// A checkpoint that could not be put into the database is put there by the next run.
#[tokio::test]
async fn what_was_signed_here_gets_into_the_database() {
    let Some(audit) = Audit::of(Postgres).await else { return };
    run_of(&audit, "ana", 0).await;
    let ana = audit.role("ana").await;
    audit.sql(&format!("REVOKE INSERT ON checkpoints FROM {ana}")).await.unwrap();
    let record = PostgresRecord::signed(address_of(&audit.address(&ana), "server"), audit.seals_of("ana"));
    record.append(vec![entry(Event::Checked, None, "c")]).await.unwrap();
    let fault = record.seal(moment(1)).await.unwrap_err();
    assert!(fault.what.contains("is signed here and not in the database"), "{fault:?}");
    let told = audit.verify_as("ana", &[]).await.flaws[0].to_string();
    assert!(told.contains("for 3 entries, kept here, is not in the database"), "{told}");
    run_of(&audit, "ana", 2).await;
    assert_eq!(reach(&audit.verify_as("ana", &[]).await), (3, Some(5), 0));
}

/// An export needs the public keys alone, and says the same as the database.
#[tokio::test]
async fn an_export_is_verified_elsewhere_by_the_keys_of_all() {
    let Some(audit) = Audit::of(Postgres).await else { return };
    audit.record().append(vec![attached("inv\0-1\u{e000}", &["a\0b"])]).await.unwrap();
    run_of(&audit, "ana", 0).await;
    run_of(&audit, "ben", 1).await;
    let mut out = Vec::new();
    assert_eq!(audit.record_of("").export_json_lines(&mut out).await, Ok(5));
    let path = audit.folder.path().join("export.jsonl");
    std::fs::write(&path, &out).unwrap();
    let verified = |keys: Vec<_>| verify_export(&path, &Against { keys, ..Against::default() }).unwrap();
    let both = verified(vec![audit.key_of("ana"), audit.key_of("ben")]);
    assert_eq!((both.entries, reach(&both)), (5, (2, Some(5), 0)));
    assert_eq!(reach(&verified(vec![audit.key_of("ana")])), (1, Some(3), 1));
    assert!(!verified(vec![crate::domain::signing::tests::key(9).public()]).is_whole());
    let cut: Vec<u8> = out.split_inclusive(|byte| *byte == b'\n').skip(1).flatten().copied().collect();
    std::fs::write(&path, cut).unwrap();
    assert!(!verified(vec![audit.key_of("ana")]).is_whole());

    let mut sheet = Vec::new();
    assert_eq!(audit.record_of("").export_csv(&mut sheet).await, Ok(5));
    assert_eq!(String::from_utf8(sheet).unwrap().lines().count(), 6);
}

/// A database that became shorter than what was signed here (an older copy, a standby that was behind) is not written on.
#[tokio::test]
async fn what_became_shorter_is_not_written_on() {
    let Some(audit) = Audit::of(Postgres).await else { return };
    run_of(&audit, "ana", 0).await;
    let whole = audit.record().page(None, 9).await.unwrap();
    let cut = "DELETE FROM entries WHERE seq > 1;
        UPDATE head SET seq = 1, hash = (SELECT hash FROM entries WHERE seq = 1)";
    audit.tamper(cut).await;
    let fault = audit.signed_by("ana").append(vec![entry(Event::Checked, None, "later")]).await.unwrap_err();
    assert!(fault.what.contains("it became shorter, or another is in its place"), "{fault:?}");
    assert_eq!(audit.record().page(None, 9).await.unwrap(), whole[1..]);
}
