//! Sizes: values as large as a file holds are cut in the database, whatever their type.

use super::*;
use crate::domain::item::LastError;
use pretty_assertions::assert_eq;
use rstest::rstest;

const FIFTY_MB: usize = 50_000_000;
const SHOWN: usize = 4_096;

#[rstest]
#[case::text("CAST(zeroblob(50000000) AS TEXT)", FIFTY_MB as u64, vec![0; SHOWN])]
#[case::blob("zeroblob(50000000)", FIFTY_MB as u64, vec![0; SHOWN])]
#[case::short("'{not json'", 9, b"{not json".to_vec())]
#[case::letters_of_two_bytes("'éé'", 4, "éé".as_bytes().to_vec())]
#[case::bad_utf8("CAST(x'E9' AS TEXT)", 1, vec![0xE9])]
#[case::number("1970670598291982290", 19, b"1970670598291982290".to_vec())]
#[case::null("NULL", 0, Vec::new())]
#[tokio::test]
async fn a_payload_is_cut_and_its_whole_size_told(
    #[case] value: &str,
    #[case] size: u64,
    #[case] bytes: Vec<u8>,
) {
    let file = File::with(&format!("CREATE TABLE t (k, s, p); INSERT INTO t VALUES (1, 'failed', {value})"));
    let source = file.mapped("payload = \"p\"");
    let items = scan_all(&source, &everything()).await;
    let payload = source.payload(&items[0].key, SHOWN).await.unwrap().unwrap();
    assert_eq!((payload.size_bytes, payload.bytes == bytes), (size, true));
    assert!(items[0].fields.iter().all(|(name, _)| &**name != "p"), "the list holds no payload");
    let read = reading(&source, "1").await;
    assert_eq!(read.row.get("p"), None, "nor does the row that a decision is compared with");
}

#[rstest]
#[case::text("'first' || printf('%.50000000c', 'x') || 'timed out'", "first", "timed out")]
#[case::bytes("zeroblob(50000000)", "x'0000", "00'")]
#[tokio::test]
async fn a_huge_error_keeps_its_ends(#[case] value: &str, #[case] begins: &str, #[case] ends: &str) {
    let file =
        File::with(&format!("{TABLES} INSERT INTO jobs VALUES ('a','failed','2026-05-04 10:00:00',{value})"));
    let items = scan_all(&file.preset("jobs"), &everything()).await;
    let LastError::Text(error) = &items[0].last_error else { panic!("{:?}", items[0].last_error) };
    assert!(error.starts_with(begins) && error.ends_with(ends), "{error:.20}");
    assert!(error.len() < 20_000, "{} bytes", error.len());
}
