//! What needs no database: how queries are spelled, and when an absence counts.

use super::spell::Spelled;
use super::*;
use crate::adapters::sql::Held;
use crate::domain::evidence::FaultKind;
use crate::preset::provider::{How, ProviderPreset};
use pretty_assertions::assert_eq;
use rstest::rstest;

fn look() -> SqlLookUp {
    let preset =
        ProviderPreset::parse(crate::preset::catalogue::built_in_text("sql_ledger").unwrap()).unwrap();
    match &preset.operations["entry"].how {
        How::Sql(look) => (**look).clone(),
        other => panic!("{other:?}"),
    }
}

fn facts(held: Held, standing: Standing) -> RowsFacts {
    let names = ["id", "reference", "status", "amount", "currency", "created_at"];
    let column = |name: &str| Column {
        name: name.into(),
        held: if name == "reference" { held } else { Held::Text },
        may_be_null: true,
        words: None,
    };
    RowsFacts {
        columns: names.iter().map(|name| column(name)).collect(),
        chars_max: Vec::new(),
        standing,
        doubts: Vec::new(),
        now: "2026-11-30T08:00:00Z".parse().unwrap(),
    }
}

#[rstest]
#[case::sqlite(
    Engine::Sqlite,
    r#"SELECT "id", "reference", "status", "amount", "currency", "created_at" FROM "ledger_entries" WHERE "reference" IN (:reference, :bytes, :number) LIMIT 6"#
)]
#[case::postgres(
    Engine::Postgres,
    r#"SELECT "id"::text, "reference"::text, "status"::text, "amount"::text, "currency"::text, "created_at"::text FROM "ledger_entries" WHERE "reference" = :reference LIMIT 6"#
)]
#[case::mysql(
    Engine::Mysql,
    "SELECT `id`, `reference`, `status`, `amount`, `currency`, `created_at` FROM `ledger_entries` WHERE `reference` = :reference LIMIT 6"
)]
fn one_query_asks_for_one_reference(#[case] engine: Engine, #[case] sql: &str) {
    let (look, facts) = (look(), facts(Held::Text, Standing::Primary));
    let query = Spelled { engine, look: &look, facts: &facts }.of_reference("42", 5).unwrap();
    assert_eq!(query.sql, sql);
    assert_eq!(query.values[0], (":reference".to_owned(), Cell::text("42")));
}

#[test]
fn a_column_of_numbers_is_asked_for_a_number() {
    let (look, facts) = (look(), facts(Held::Integer, Standing::Primary));
    let of = |reference| {
        Spelled { engine: Engine::Mysql, look: &look, facts: &facts }
            .of_reference(reference, 5)
            .map(|query| query.values)
    };
    assert_eq!(of("42").unwrap(), [(":reference".to_owned(), Cell::Integer(42))]);
    for odd in ["042", "42abc", "+42", "4e1", " 42", "99999999999999999999"] {
        assert_eq!(of(odd).unwrap_err().kind, FaultKind::Question, "{odd}");
    }
}

const MINUTE: TimeDelta = TimeDelta::minutes(1);

#[rstest]
#[case::primary(Standing::Primary, None, None)]
#[case::primary_with_a_bound(Standing::Primary, Some(MINUTE), None)]
#[case::replica(Standing::Replica { lag: Some(TimeDelta::zero()) }, None, Some(FaultKind::Unanswerable))]
#[case::replica_that_tells_nothing(Standing::Replica { lag: None }, Some(MINUTE), Some(FaultKind::Unanswerable))]
#[case::at_the_bound(Standing::Replica { lag: Some(MINUTE) }, Some(MINUTE), None)]
#[case::beyond_the_bound(
    Standing::Replica { lag: Some(TimeDelta::milliseconds(60_001)) },
    Some(MINUTE),
    Some(FaultKind::ServerError)
)]
fn an_absence_counts_on_the_primary_or_near_enough(
    #[case] standing: Standing,
    #[case] replica_lag_max: Option<TimeDelta>,
    #[case] expected: Option<FaultKind>,
) {
    let facts = facts(Held::Text, standing);
    assert_eq!(read::doubt(&facts, replica_lag_max).map(|fault| fault.kind), expected);
    let forgetful = RowsFacts { doubts: vec!["it forgets".to_owned()], ..facts };
    assert_eq!(
        read::doubt(&forgetful, replica_lag_max).map(|fault| fault.kind),
        Some(FaultKind::Unanswerable)
    );
}

#[test]
fn every_column_that_is_not_there_is_told_at_once() {
    let look = look();
    let mut facts = facts(Held::Text, Standing::Primary);
    facts.columns.retain(|column| !matches!(&*column.name, "status" | "amount"));
    let fault = Spelled { engine: Engine::Postgres, look: &look, facts: &facts }.check_columns().unwrap_err();
    assert_eq!(fault.detail, "`ledger_entries` has no column `amount`, `status`");
}
