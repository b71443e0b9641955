//! Sizes: what is large is cut in the database, and a list never reads it.

use super::*;
use crate::domain::item::LastError;
use pretty_assertions::assert_eq;
use rstest::rstest;

const SHOWN: usize = 4_096;
/// As much as a server takes as one value where nobody set it otherwise.
const LARGE: usize = 12_000_000;

/// A text of so many `x`, made by the database itself.
fn many(on: Engine, count: usize) -> String {
    match on {
        Sqlite => format!("replace(hex(zeroblob({count} / 2)), '0', 'x')"),
        Postgres | Mysql => format!("repeat('x', {count})"),
    }
}

#[rstest]
#[case::short("{text}", "'{not json'", 9, b"{not json".to_vec())]
#[case::letters_of_two_bytes("{text}", "'éé'", 4, "éé".as_bytes().to_vec())]
#[case::bytes("{bytes}", "{x:E900}", 2, vec![0xE9, 0])]
#[case::number("{int}", "1970670598291982290", 19, b"1970670598291982290".to_vec())]
#[case::empty("{text}", "''", 0, Vec::new())]
#[case::null("{text}", "NULL", 0, Vec::new())]
#[case::large("{text}", "", LARGE as u64, vec![b'x'; SHOWN])]
#[tokio::test]
async fn a_payload_is_cut_and_its_whole_size_told(
    #[case] declared: &str,
    #[case] value: &str,
    #[case] size: u64,
    #[case] bytes: Vec<u8>,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let value = if value.is_empty() { many(on, LARGE) } else { value.to_owned() };
    let create = format!(
        "CREATE TABLE t (k {{int}} PRIMARY KEY, s {{text}}, p {declared}); INSERT INTO t VALUES (1, 'failed', {value})"
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let source = db.mapped("payload = \"p\"");
    let items = scan_all(&*source, &everything()).await;
    let payload = source.payload(&items[0].key, SHOWN).await.unwrap().unwrap();
    assert_eq!((payload.size_bytes, payload.bytes == bytes), (size, true));
    assert!(items[0].fields.iter().all(|(name, _)| &**name != "p"), "the list holds no payload");
    let read = reading(&*source, "1").await;
    assert_eq!(read.row.get("p"), None, "nor does the row that a decision is compared with");
}

#[rstest]
#[case::jsonb(Postgres, "jsonb", "'{\"é\": 1}'", "{\"é\": 1}")]
#[case::list(Postgres, "text[]", "'{é}'", "{é}")]
#[case::json(Mysql, "JSON", "'{\"é\": 1}'", "{\"é\": 1}")]
#[case::latin(Mysql, "TEXT CHARACTER SET latin1", "'é'", "é")]
#[case::wide(Mysql, "TEXT CHARACTER SET utf16", "'é'", "é")]
#[tokio::test]
async fn a_payload_of_an_engines_own_type_is_read_as_utf8(
    #[case] on: Engine,
    #[case] declared: &str,
    #[case] value: &str,
    #[case] expected: &str,
) {
    let create = format!(
        "CREATE TABLE t (k {{int}} PRIMARY KEY, s {{text}}, p {declared}); INSERT INTO t VALUES (1, 'failed', {value})"
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let source = db.mapped("payload = \"p\"");
    let key = reading(&*source, "1").await.item.key;
    let payload = source.payload(&key, SHOWN).await.unwrap().unwrap();
    assert_eq!((payload.bytes.as_slice(), payload.size_bytes), (expected.as_bytes(), expected.len() as u64));
}

#[rstest]
#[tokio::test]
async fn no_payload_is_read_where_none_is_kept_or_the_item_is_gone(
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let create =
        "CREATE TABLE t (k {int} PRIMARY KEY, s {text}, p {text}); INSERT INTO t VALUES (1, 'failed', 'x')";
    let Some(db) = Db::with(on, create).await else { return };
    let key = scan_all(&*db.mapped(""), &everything()).await[0].key.clone();
    assert_eq!(db.mapped("").payload(&key, SHOWN).await.unwrap(), None);
    db.run("DELETE FROM t").await;
    assert_eq!(db.mapped("payload = \"p\"").payload(&key, SHOWN).await.unwrap(), None);
}

#[rstest]
#[tokio::test]
async fn a_huge_error_keeps_its_ends(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let value = format!("'first é' || {} || '😀 timed out'", many(on, LARGE));
    let create = format!("{TABLES} INSERT INTO jobs VALUES ('a','failed','2026-05-04 10:00:00',{value})");
    let Some(db) = Db::with(on, &create).await else { return };
    let items = scan_all(&*db.preset("jobs"), &everything()).await;
    let LastError::Text(error) = &items[0].last_error else { panic!("{:?}", items[0].last_error) };
    assert!(error.starts_with("first é") && error.ends_with("😀 timed out"), "{error:.20}");
    assert!(error.contains("x\n[cut]\nx"));
    assert!(error.len() < 20_000, "{} bytes", error.len());
}

#[rstest]
#[tokio::test]
async fn a_huge_error_that_is_bytes_keeps_its_beginning(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let zeros = match on {
        Sqlite => "zeroblob(1000000)",
        Postgres => "convert_to(repeat('x', 1000000), 'UTF8')",
        Mysql => "repeat(x'00', 1000000)",
    };
    let create = format!(
        "CREATE TABLE t (k {{int}} PRIMARY KEY, s {{text}}, e {{bytes}}); INSERT INTO t VALUES (1,'failed',{zeros})"
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let items = scan_all(&*db.mapped("error = \"e\""), &everything()).await;
    let LastError::Text(error) = &items[0].last_error else { panic!("{:?}", items[0].last_error) };
    assert!(error.starts_with("x'0000") || error.starts_with("x'7878"), "{error:.20}");
    assert!(error.len() < 40_000, "{} bytes", error.len());
}

#[rstest]
#[tokio::test]
async fn an_error_of_the_limit_is_whole(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = format!(
        "{TABLES} INSERT INTO jobs VALUES ('a','failed','x',{}),('b','failed','x',{} || 'y')",
        many(on, 16_000),
        many(on, 16_000)
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let items = scan_all(&*db.preset("jobs"), &everything()).await;
    let lengths: Vec<_> = items.iter().map(|item| item.last_error.text().unwrap().len()).collect();
    assert_eq!(lengths, [16_000, 16_000 + "\n[cut]\n".len()]);
}
