//! "Surely young", in SQL: what need not be handed out. Where the database and [`crate::domain::moment::read`] might read
//! a value differently, nothing is filtered.

use super::spell::{Held, Sql};
use crate::domain::moment::{TimeFormat, Zone};
use crate::preset::source::{Engine, TimeColumn};
use chrono::{DateTime, TimeDelta, Utc};

/// A condition that holds only for rows whose time lies between the cutoff and now; `None` where SQL cannot tell.
pub fn young_sql(
    sql: &Sql<'_>,
    time: &TimeColumn,
    cutoff: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Option<String> {
    if time.zone != Zone::Utc {
        return None;
    }
    let column = sql.quoted(&time.column);
    match (sql.engine, sql.held(&time.column)) {
        (Engine::Sqlite, _) => young_in_sqlite(&column, time.format, cutoff, now),
        (Engine::Postgres, Held::Moment | Held::NaiveMoment) if time.format == TimeFormat::Iso => {
            let of = if sql.held(&time.column) == Held::Moment { "timestamptz" } else { "timestamp" };
            let spelled = |at: DateTime<Utc>| {
                let zone = if of == "timestamptz" { "+00" } else { "" };
                format!("{of} '{}{zone}'", at.naive_utc().format("%Y-%m-%d %H:%M:%S%.6f"))
            };
            Some(format!("coalesce({column} BETWEEN {} AND {}, false)", spelled(cutoff), spelled(now)))
        }
        (Engine::Mysql, Held::Moment | Held::NaiveMoment) if time.format == TimeFormat::Iso => {
            let spelled = |at: DateTime<Utc>| format!("'{}'", at.naive_utc().format("%Y-%m-%d %H:%M:%S%.6f"));
            Some(format!("coalesce({column} BETWEEN {} AND {}, 0)", spelled(cutoff), spelled(now)))
        }
        (Engine::Postgres | Engine::Mysql, Held::Integer) => {
            let per_second = time.format.units_per_second()?;
            let units = |at: DateTime<Utc>| i128::from(at.timestamp()) * i128::from(per_second);
            let no = if sql.engine == Engine::Postgres { "false" } else { "0" };
            Some(format!("coalesce({column} BETWEEN {} AND {}, {no})", units(cutoff), units(now)))
        }
        (Engine::Postgres | Engine::Mysql, _) => None,
    }
}

/// A condition that holds for every row that is not surely older than a moment: whatever the database cannot read as a time
/// that is believed passes. `None` where SQL cannot tell at all. On a server it is written so that an index can be used.
pub fn older_sql(
    engine: Engine,
    held: Held,
    column: &str,
    time: &TimeColumn,
    from: DateTime<Utc>,
) -> Option<String> {
    // Naive times of another zone are up to so much off; a little more, because columns round.
    let from = from - if time.zone == Zone::Utc { TimeDelta::seconds(1) } else { TimeDelta::days(1) };
    match (engine, held) {
        (Engine::Sqlite, _) => {
            let (first, from) = (first_believed()?, from);
            let old = young_in_sqlite(column, time.format, first, from)?;
            Some(format!("NOT {old}"))
        }
        (Engine::Postgres, Held::Moment | Held::NaiveMoment) if time.format == TimeFormat::Iso => {
            let (of, zone) = if held == Held::Moment { ("timestamptz", "+00") } else { ("timestamp", "") };
            let spelled = |at: DateTime<Utc>| {
                format!("{of} '{}{zone}'", at.naive_utc().format("%Y-%m-%d %H:%M:%S%.6f"))
            };
            Some(not_older(column, &spelled(from), &spelled(first_believed()?)))
        }
        (Engine::Mysql, Held::Moment | Held::NaiveMoment) if time.format == TimeFormat::Iso => {
            let spelled = |at: DateTime<Utc>| format!("'{}'", at.naive_utc().format("%Y-%m-%d %H:%M:%S%.6f"));
            Some(not_older(column, &spelled(from), &spelled(first_believed()?)))
        }
        (Engine::Postgres | Engine::Mysql, Held::Integer) => {
            let per_second = time.format.units_per_second()?;
            let units = |at: DateTime<Utc>| (i128::from(at.timestamp()) * i128::from(per_second)).to_string();
            Some(not_older(column, &units(from), &units(first_believed()?)))
        }
        (Engine::Postgres | Engine::Mysql, _) => None,
    }
}

fn not_older(column: &str, from: &str, first_believed: &str) -> String {
    format!("({column} >= {from} OR {column} < {first_believed} OR {column} IS NULL)")
}

/// What lies before it is no time that [`crate::domain::moment::read`] believes, but garbage or another unit.
fn first_believed() -> Option<DateTime<Utc>> {
    chrono::NaiveDate::from_ymd_opt(1990, 1, 2)?.and_hms_opt(0, 0, 0).map(|at| at.and_utc())
}

/// SQLite's values tell for themselves what they are, so each is asked.
fn young_in_sqlite(
    column: &str,
    format: TimeFormat,
    cutoff: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Option<String> {
    let between = |read: &str, is_number: &str, low: String, high: String| {
        Some(format!("coalesce({is_number} AND {read} BETWEEN {low} AND {high}, 0)"))
    };
    let julian = |at: DateTime<Utc>| {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of this century")]
        let days = at.timestamp_millis() as f64 / 86_400_000.0 + 2_440_587.5;
        format!("{days:.9}")
    };
    match format {
        // As a time, never as text: an isoformat `T` sorts after a space.
        TimeFormat::Iso => {
            between(&format!("julianday({column})"), &is_iso_sql(column), julian(cutoff), julian(now))
        }
        TimeFormat::Julian => {
            between(column, &format!("typeof({column}) = 'real'"), julian(cutoff), julian(now))
        }
        epoch => {
            let per_second = epoch.units_per_second()?;
            let units = |at: DateTime<Utc>| i128::from(at.timestamp()) * i128::from(per_second);
            let number = format!("typeof({column}) IN ('integer', 'real')");
            between(column, &number, units(cutoff).to_string(), units(now).to_string())
        }
    }
}

/// Whether a column holds a text that SQLite reads as the same time as [`crate::domain::moment::read`]. SQLite alone
/// would also take a date without a time, a 31st of February, an hour 24, bytes, and a text that goes on after a NUL.
fn is_iso_sql(column: &str) -> String {
    format!(
        "typeof({column}) = 'text' AND length({column}) = octet_length({column}) \
         AND {column} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][T ][0-9][0-9]:[0-9][0-9]*' \
         AND substr({column}, 12, 2) < '24' AND date(substr({column}, 1, 10)) = substr({column}, 1, 10)"
    )
}
