//! "Surely young", in SQL: what need not be handed out. Where the database and [`crate::domain::moment::read`] might read
//! a value differently, nothing is filtered.

use super::spell::{Held, Sql};
use crate::domain::moment::{TimeFormat, Zone};
use crate::preset::source::{Engine, TimeColumn};
use chrono::{DateTime, Utc};

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
