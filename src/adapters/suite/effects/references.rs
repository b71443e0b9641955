//! References: found exactly as they are written, whatever the database calls the same.

use super::*;
use pretty_assertions::assert_eq;
use rstest::rstest;

/// Texts that a careless query would read as something else.
const HOSTILE: [&str; 14] = [
    "it's",
    "\"; DROP TABLE ledger; --",
    "' OR '1'='1",
    "x\\' OR 1=1 #",
    "100%_",
    ":reference",
    "?1 $1 {{ key }}",
    "a\nb\tc\r",
    "ordem-ção-№-🧾",
    "\u{202e}gnp.exe",
    "\u{1b}[2J",
    " leading",
    "NULL",
    "0x1F",
];

#[rstest]
#[tokio::test]
async fn a_hostile_reference_is_only_a_value(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    let provider = provider(&db, COLUMNS, None);
    let before = db.dump("ledger").await;
    for reference in HOSTILE {
        assert_eq!(effects(&provider, reference).await, [], "{reference:?} is nobody's yet");
    }
    assert_eq!(db.dump("ledger").await, before);
    for (number, reference) in HOSTILE.iter().enumerate() {
        // Written as bytes, so that nothing of it is read on the way in.
        let hex = crate::domain::cell::hex(reference.as_bytes()).to_uppercase();
        let text = match on {
            Sqlite => format!("CAST(x'{hex}' AS TEXT)"),
            Postgres => format!("convert_from('\\x{hex}'::bytea, 'UTF8')"),
            Mysql => format!("CONVERT(x'{hex}' USING utf8mb4)"),
        };
        let id = number + 100;
        db.run(&format!("INSERT INTO ledger VALUES ({id}, {text}, 'booked', 1, 'EUR', NULL)")).await;
    }
    for (number, reference) in HOSTILE.iter().enumerate() {
        let found = effects(&provider, reference).await;
        let ids: Vec<&str> = found.iter().map(|effect| effect.id.as_str()).collect();
        assert_eq!(ids, [(number + 100).to_string()], "{reference:?}");
    }
    let evidence = told(&provider, "it's").await.evidence;
    assert_eq!((evidence.asked.len(), evidence.bodies.len()), (1, 1));
    assert!(!evidence.asked[0].url.contains("it's"), "a value is bound: {}", evidence.asked[0].url);
}

/// What no row can carry proves nothing by being absent.
#[rstest]
#[tokio::test]
async fn a_reference_that_no_row_can_carry_is_unknown(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    let provider = provider(&db, COLUMNS, None);
    let huge = "x".repeat(1024 * 1024);
    let (kind, why) = fault(&provider, &huge).await;
    assert_eq!((kind, why.as_str()), (FaultKind::Question, "the reference is longer than 16384 bytes"));
    assert_eq!(fault(&provider, " \t").await.0, FaultKind::Question);
    let with_nul = "a\0b";
    if on == Sqlite {
        db.run("INSERT INTO ledger VALUES (9, CAST(x'610062' AS TEXT), 'booked', 1, 'EUR', NULL)").await;
        assert_eq!(effects(&provider, with_nul).await.len(), 1, "SQLite keeps it");
        assert_eq!(effects(&provider, "a").await, []);
    } else {
        assert_eq!(fault(&provider, with_nul).await.0, FaultKind::Question);
    }
}

/// A column that keeps so many characters may have cut what was longer.
#[rstest]
#[tokio::test]
async fn a_reference_longer_than_its_column_is_unknown(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE ledger (id {int} PRIMARY KEY, ref VARCHAR(6), state {text});
        INSERT INTO ledger VALUES (1, 'order-', 'booked')";
    let Some(db) = Db::with(on, create).await else { return };
    let told = provider(&db, &format!("{COLUMNS}reference_chars_max = 6"), None);
    let why = "the reference is longer than the 6 characters that its column keeps";
    assert_eq!(fault(&told, "order-1042").await, (FaultKind::Question, why.to_owned()));
    assert_eq!(effects(&told, "órdem-").await, [], "characters are counted, not bytes");
    if on != Sqlite {
        let untold = provider(&db, COLUMNS, None);
        assert_eq!(fault(&untold, "order-1042").await, (FaultKind::Question, why.to_owned()));
    }
}

/// What the database calls the same and is not exactly ours is neither there nor absent.
#[rstest]
#[case::sqlite_case(Sqlite, "{text} COLLATE NOCASE", "ORDER-7")]
#[case::sqlite_spaces(Sqlite, "{text} COLLATE RTRIM", "order-7  ")]
#[case::mysql_case(Mysql, "VARCHAR(40)", "Order-7")]
#[case::mysql_spaces(Mysql, "VARCHAR(40)", "order-7 ")]
#[case::mysql_accents(Mysql, "VARCHAR(40)", "órder-7")]
#[tokio::test]
async fn almost_our_reference_is_unknown(#[case] on: Engine, #[case] column: &str, #[case] theirs: &str) {
    let create = format!(
        "CREATE TABLE ledger (id {{int}} PRIMARY KEY, ref {column}, state {{text}}); INSERT INTO ledger VALUES (1, '{theirs}', 'booked')"
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let provider = provider(&db, COLUMNS, None);
    let (kind, why) = fault(&provider, "order-7").await;
    assert_eq!(kind, FaultKind::Shape);
    assert!(why.contains("the same as our reference but for"), "{why}");
    assert_eq!(effects(&provider, theirs).await.len(), 1, "as it is written it is found");
}

/// Where case and blanks count, a reference in another case is still nobody's proof of an absence, as in a list.
#[rstest]
#[tokio::test]
async fn nearly_our_reference_is_unknown_where_case_counts_too(#[values(Sqlite, Postgres)] on: Engine) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    let provider = provider(&db, COLUMNS, None);
    for ours in ["SOMEBODY-ELSES", "somebody-elses ", "\tsomebody-elses"] {
        let (kind, why) = fault(&provider, ours).await;
        assert_eq!(kind, FaultKind::Shape, "{ours:?}");
        assert!(why.contains("the same as our reference but for"), "{why}");
    }
    assert_eq!(effects(&provider, "somebody-else").await, []);
}

/// MySQL would call `42abc` the number 42, and two long numbers the same.
#[rstest]
#[tokio::test]
async fn numbers_and_texts_are_not_mixed_up(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE ledger (id {int} PRIMARY KEY, ref {int}, state {text});
        INSERT INTO ledger VALUES (1, 42, 'booked'), (2, 9007199254740993, 'booked');
        CREATE TABLE texts (id {int} PRIMARY KEY, ref {name}, state {text});
        INSERT INTO texts VALUES (1, '42abc', 'booked'), (2, '42.0', 'booked')";
    let Some(db) = Db::with(on, create).await else { return };
    let numbers = provider(&db, COLUMNS, None);
    assert_eq!(effects(&numbers, "42").await.len(), 1);
    assert_eq!(effects(&numbers, "9007199254740993").await.len(), 1);
    assert_eq!(effects(&numbers, "9007199254740992").await, [], "one less is another");
    for odd in ["042", "42.0", "4.2e1"] {
        assert!(matches!(fault(&numbers, odd).await.0, FaultKind::Question | FaultKind::Shape), "{odd}");
    }
    if on != Sqlite {
        let (kind, why) = fault(&numbers, "42abc").await;
        let told = "the reference is no whole number, and its column holds nothing else";
        assert_eq!((kind, why.as_str()), (FaultKind::Question, told));
    }
    let texts = provider(&db, &COLUMNS.replace("ledger", "texts"), None);
    assert_eq!(effects(&texts, "42").await, [], "a text that begins with a number is no number");
    assert_eq!(effects(&texts, "42.0").await.len(), 1);
}

/// A value of SQLite is of its own type, whatever its column says.
#[tokio::test]
async fn sqlite_finds_a_reference_that_was_written_as_bytes_or_as_a_number() {
    let create = "CREATE TABLE ledger (id INTEGER PRIMARY KEY, ref, state);
        INSERT INTO ledger VALUES (1, x'6F72646572', 'booked'), (2, 77, 'booked'), (3, '78', 'booked')";
    let db = Db::with(Sqlite, create).await.unwrap();
    let provider = provider(&db, COLUMNS, None);
    for (reference, id) in [("order", "1"), ("77", "2"), ("78", "3")] {
        assert_eq!(effects(&provider, reference).await[0].id, id);
    }
}

#[rstest]
#[tokio::test]
async fn a_column_of_bytes_holds_no_references(#[values(Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE ledger (id {int} PRIMARY KEY, ref {bytes}, state {text})";
    let Some(db) = Db::with(on, create).await else { return };
    let (kind, why) = fault(&provider(&db, COLUMNS, None), "a").await;
    assert_eq!(kind, FaultKind::Shape);
    assert!(why.starts_with("the column `ref` holds bytes, and a reference is a text"), "{why}");
}

/// A thousand effects of one reference are more than anybody did.
#[rstest]
#[tokio::test]
async fn too_many_rows_of_one_reference_are_a_fault(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    let rows: Vec<String> =
        (0..1_001).map(|n| format!("({}, 'often', 'booked', 1, 'EUR', NULL)", n + 10)).collect();
    db.run(&format!("INSERT INTO ledger VALUES {}", rows.join(", "))).await;
    let (kind, why) = fault(&provider(&db, COLUMNS, None), "often").await;
    assert_eq!((kind, why.as_str()), (FaultKind::TooManyPages, "there are more than 1000 rows"));
    db.run("DELETE FROM ledger WHERE id = 10").await;
    assert_eq!(effects(&provider(&db, COLUMNS, None), "often").await.len(), 1_000);
}
