//! What a row is worth: its status, its amount, its time.

use super::*;
use crate::domain::evidence::EffectState;
use pretty_assertions::assert_eq;
use rstest::rstest;

const MONEY: &str = "amount = \"amount\"\nunit = \"major\"\ncurrency = \"cur\"\ntime = \"at\"";

#[rstest]
#[tokio::test]
async fn a_row_is_an_effect_as_its_status_says(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, LEDGER).await else { return };
    db.run(
        "INSERT INTO ledger VALUES (10, 'once', 'booked', 19, 'EUR', '2026-05-04 10:00:00.25'),
         (11, 'twice', 'booked', 1, 'EUR', NULL), (12, 'twice', 'booked', 1, 'EUR', NULL),
         (13, 'tried', 'rejected', 1, 'EUR', NULL), (14, 'tried', 'booked', 1, 'EUR', NULL),
         (15, 'open', 'new', 1, 'EUR', NULL), (16, 'turned-down', 'rejected', 1, 'EUR', NULL),
         (17, 'odd', 'Booked', 1, 'EUR', NULL), (18, 'none', NULL, 1, 'EUR', NULL)",
    )
    .await;
    let provider = provider(&db, &format!("{COLUMNS}{MONEY}"), None);
    let of = async |reference| verdict(&provider, reference).await;
    assert_eq!(of("once").await, Verdict::Happened);
    assert_eq!(of("twice").await, Verdict::Duplicated);
    assert_eq!(of("tried").await, Verdict::Happened, "a decline and a success are one");
    assert_eq!(of("open").await, Verdict::Pending);
    assert_eq!(of("turned-down").await, Verdict::Failed);
    assert_eq!(of("odd").await, Verdict::Unknown, "a status counts as it is written");
    assert_eq!(of("never").await, Verdict::NotFound);
    let (kind, why) = fault(&provider, "none").await;
    assert_eq!(
        (kind, why.as_str()),
        (FaultKind::Shape, "effect 18 has no readable status (`state` is NULL)")
    );

    let one = effects(&provider, "once").await.remove(0);
    assert_eq!((one.id.as_str(), one.state), ("10", EffectState::Happened));
    assert_eq!(one.money.unwrap().to_string(), "19.00 EUR");
    assert_eq!(one.at, Some("2026-05-04T10:00:00.25Z".parse().unwrap()));
}

/// A decimal is exact, and what is no decimal is none.
#[rstest]
#[tokio::test]
async fn amounts_are_decimals_with_a_currency(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE ledger (id {int} PRIMARY KEY, ref {name}, state {text}, amount {text}, cents {int}, cur {text});
        INSERT INTO ledger VALUES (1, 'exact', 'booked', '1234567890123456.7891', 500, 'EUR'), (2, 'yen', 'booked', '1', 500, 'jpy'),
        (3, 'dinar', 'booked', '1', 1500, 'TND'), (4, 'word', 'booked', 'ten', 500, 'EUR'), (5, 'void', 'booked', NULL, NULL, 'EUR'),
        (6, 'nowhere', 'booked', '1', 500, NULL);";
    let Some(db) = Db::with(on, create).await else { return };
    let major =
        provider(&db, &format!("{COLUMNS}amount = \"amount\"\nunit = \"major\"\ncurrency = \"cur\""), None);
    let minor =
        provider(&db, &format!("{COLUMNS}amount = \"cents\"\nunit = \"minor\"\ncurrency = \"cur\""), None);
    let money =
        async |provider, reference| effects(provider, reference).await[0].money.clone().unwrap().to_string();
    assert_eq!(money(&major, "exact").await, "1234567890123456.7891 EUR");
    assert_eq!(money(&minor, "yen").await, "500 JPY");
    assert_eq!(money(&minor, "dinar").await, "1.500 TND");
    let why = async |reference| fault(&major, reference).await.1;
    assert_eq!(why("word").await, "the amount of effect 4: `ten` is not an amount");
    assert_eq!(why("void").await, "the amount of effect 5: `amount` is NULL");
    assert_eq!(why("nowhere").await, "the amount of effect 6: its currency is missing");
}

#[rstest]
#[tokio::test]
async fn a_floating_point_number_is_no_amount(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create =
        "CREATE TABLE ledger (id {int} PRIMARY KEY, ref {name}, state {text}, amount {real}, cur {text});
        INSERT INTO ledger VALUES (1, 'a', 'booked', 19.99, 'EUR');";
    let Some(db) = Db::with(on, create).await else { return };
    let provider =
        provider(&db, &format!("{COLUMNS}amount = \"amount\"\nunit = \"major\"\ncurrency = \"cur\""), None);
    let (kind, why) = fault(&provider, "a").await;
    assert_eq!(kind, FaultKind::Shape);
    assert!(why.contains("floating-point number"), "{why}");
}

/// A query instead of a table: what the table lacks is made there, by whoever knows what it means.
#[rstest]
#[tokio::test]
async fn a_query_is_read_as_a_table_is(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "CREATE TABLE moves (id {int} PRIMARY KEY, order_no {int}, undone {int}, cents {int});
        INSERT INTO moves VALUES (1, 42, 0, 1999), (2, 43, 1, 1999), (3, 44, 0, -1999);";
    let Some(db) = Db::with(on, create).await else { return };
    let text = if on == Mysql { "CHAR" } else { "TEXT" };
    let columns = format!(
        "select = \"SELECT id, CAST(order_no AS {text}) AS ref, CASE undone WHEN 0 THEN 'booked' ELSE 'rejected' END AS state, cents \
         FROM moves WHERE cents > 0;\"\nid = \"id\"\nreference = \"ref\"\nstatus = \"state\"\namount = \"cents\"\nunit = \"minor\"\n\
         currency_fixed = \"EUR\"\nlink = \"https://ledger.example.com/{{{{ id }}}}\""
    );
    let provider = provider(&db, &columns, None);
    let one = effects(&provider, "42").await.remove(0);
    assert_eq!(one.money.unwrap().to_string(), "19.99 EUR");
    assert_eq!(one.link.as_deref(), Some("https://ledger.example.com/1"));
    assert_eq!(verdict(&provider, "43").await, Verdict::Failed);
    assert_eq!(verdict(&provider, "44").await, Verdict::NotFound);
}
