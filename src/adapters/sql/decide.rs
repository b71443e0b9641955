//! The statements of a decision, every value spelled; and whether a row is still as it was seen.

use super::decisions_table;
use super::spell::{Held, Sql};
use crate::domain::cell::Cell;
use crate::domain::decision::Choice;
use crate::domain::item::Row;
use crate::domain::moment::{TimeFormat, write_like};
use crate::ports::source::{Change, PlannedStatement, Unsupported};
use crate::preset::source::{Engine, Mapping, Writing, parameters_of};

/// The statements of a choice with every value spelled.
///
/// # Errors
/// The job system cannot take it by SQL, with the reason and what to do instead.
pub fn plan(sql: &Sql<'_>, choice: Choice, change: &Change) -> Result<Vec<PlannedStatement>, Unsupported> {
    let mapping = sql.mapping;
    let statements = match mapping.decisions.of(choice) {
        Writing::Unsupported(reason) => {
            return Err(Unsupported(reason.replace("{key}", change.key.as_str())));
        }
        Writing::Statements { statements, .. } => statements,
    };
    let unchanged = unchanged_sql(sql);
    let kept = mapping
        .decisions_table
        .iter()
        .map(|table| Ok(decisions_table::insert(sql.engine, table, choice, change)));
    let own = statements.iter().map(|statement| {
        let spelled = sql.filled(&statement.sql).replace("{unchanged}", &unchanged);
        let parameters = parameters_of(&spelled)
            .into_iter()
            .map(|name| match value_of(sql, &name, change) {
                Some(value) => Ok((name, value)),
                None => Err(Unsupported(format!("the row has no column for `{name}`"))),
            })
            .collect::<Result<_, _>>()?;
        Ok(PlannedStatement { sql: spelled, parameters, rows: statement.rows, why: statement.why.clone() })
    });
    kept.chain(own).collect()
}

/// "The row is still as it was seen": NULL-safe, on the key and every version column.
fn unchanged_sql(sql: &Sql<'_>) -> String {
    let same = |column: &String| {
        let (name, seen) = (sql.quoted(column), Mapping::seen_parameter(column));
        match (sql.engine, sql.held(column)) {
            // As the database spells it: every digit counts, and a type without equality has a spelling too.
            (Engine::Postgres, Held::Text | Held::Word | Held::Moment | Held::NaiveMoment | Held::Any) => {
                format!("{name}::text IS NOT DISTINCT FROM {seen}")
            }
            _ => format!("{name} {} {seen}", sql.is()),
        }
    };
    // An index is used for what is compared as it is.
    let found = |column: &String| {
        let is_spelled = sql.engine == Engine::Postgres;
        is_spelled.then(|| format!("{} = {}", sql.quoted(column), Mapping::seen_parameter(column)))
    };
    let mapping = sql.mapping;
    let parts: Vec<String> = match sql.engine {
        Engine::Postgres => {
            // One parameter has one type: a key that is part of the version too is compared as the key.
            let others = mapping.version.iter().filter(|column| !mapping.key.contains(column));
            mapping.key.iter().filter_map(found).chain(others.map(same)).collect()
        }
        Engine::Sqlite | Engine::Mysql => mapping.key.iter().chain(&mapping.version).map(same).collect(),
    };
    format!("({})", parts.join(" AND "))
}

fn value_of(sql: &Sql<'_>, parameter: &str, change: &Change) -> Option<Cell> {
    match parameter {
        ":operator" => Some(Cell::text(change.operator.to_string())),
        ":reason" => Some(Cell::text(change.reason.to_string())),
        ":decision" => Some(Cell::text(change.decision.to_string())),
        ":released" => Some(Cell::text(format!("{RELEASED}{}", change.decision))),
        ":now" => {
            let time = sql.mapping.times.written()?;
            let seen = column_of(&change.seen, &time.column)?;
            let is_native = matches!(sql.held(&time.column), Held::Moment | Held::NaiveMoment);
            // A column of the database's own type takes any spelling of a time, except that MySQL wants no zone.
            let like = match seen {
                Cell::Null if is_native && time.format == TimeFormat::Iso => Cell::text(NATIVE_SAMPLE),
                seen => seen.clone(),
            };
            Some(write_like(&like, time.format, time.zone, change.now))
        }
        // The preset's own columns come first: another one's name may become the same parameter.
        seen => match compared(sql.mapping).find(|column| Mapping::seen_parameter(column) == seen) {
            Some(column) => column_of(&change.seen, column).cloned(),
            None => change
                .seen
                .columns
                .iter()
                .find(|(name, _)| Mapping::seen_parameter(name) == seen)
                .map(|(_, cell)| cell.clone()),
        },
    }
}

/// How a text begins that a released item carries, so that it is no longer a finding. Presets know it too.
const RELEASED: &str = "released for retry by unstuck ";
/// How a time is spelled where the database has a type for it and nothing stands there yet.
const NATIVE_SAMPLE: &str = "2026-01-01 00:00:00.000000";

fn column_of<'a>(row: &'a Row, column: &str) -> Option<&'a Cell> {
    let exactly = row.columns.iter().find(|(name, _)| &**name == column);
    let found = exactly.or_else(|| row.columns.iter().find(|(name, _)| name.eq_ignore_ascii_case(column)));
    found.map(|(_, cell)| cell)
}

/// The columns that a decision is compared by.
fn compared(mapping: &Mapping) -> impl Iterator<Item = &String> {
    mapping.key.iter().chain(&mapping.version)
}

/// Whether a row is as it was seen, value by value on the key and every version column.
pub fn is_as_seen(mapping: &Mapping, row: &Row, seen: &Row) -> bool {
    // A column that is in neither was not compared.
    compared(mapping)
        .all(|column| column_of(row, column).is_some_and(|cell| Some(cell) == column_of(seen, column)))
}
