//! Points in time as job systems write them, read without guessing.

mod stored;

use crate::domain::cell::Cell;
use chrono::{DateTime, FixedOffset, NaiveDateTime, SecondsFormat, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use std::fmt;
pub use stored::is_stored_as;

/// How a column spells a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeFormat {
    /// ISO 8601 text with `T` or a space, with or without fraction, offset or `Z`.
    #[default]
    Iso,
    /// Seconds since 1970, whole or with a fraction.
    EpochS,
    /// Milliseconds since 1970.
    EpochMs,
    /// Microseconds since 1970.
    EpochUs,
    /// Nanoseconds since 1970.
    EpochNs,
    /// Julian days, as SQLite's `julianday()` counts them.
    Julian,
}

impl TimeFormat {
    /// How many of its units a second has; `None` for text and Julian days.
    pub fn units_per_second(self) -> Option<i64> {
        match self {
            Self::EpochS => Some(1),
            Self::EpochMs => Some(1_000),
            Self::EpochUs => Some(1_000_000),
            Self::EpochNs => Some(1_000_000_000),
            Self::Iso | Self::Julian => None,
        }
    }
}

/// The zone of times that do not name one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zone {
    /// Coordinated Universal Time: what a naive time means unless somebody says otherwise.
    #[default]
    Utc,
    /// A fixed distance from UTC.
    Fixed(FixedOffset),
    /// Nobody knows: a naive time may be up to fourteen hours off either way.
    Unclear,
}

/// What reading a time came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Reading {
    /// Nothing there, or the source keeps no such time.
    #[default]
    Missing,
    /// A point in time.
    Known(DateTime<Utc>),
    /// A naive time whose zone nobody declared; read as if it were UTC.
    ZoneUnclear(DateTime<Utc>),
    /// A bare number, and nobody declared its unit.
    UnitUnclear(Box<NoTime>),
    /// Something else.
    Unreadable(Box<NoTime>),
}

/// A value that tells no point in time. Rare, so a reading has it elsewhere: items have five readings, and there are
/// many items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoTime {
    /// The value as it was, cut.
    pub raw: String,
    /// Why it is no time.
    pub why: &'static str,
}

impl Reading {
    /// A bare number whose unit nobody declared.
    pub fn unit_unclear(raw: impl Into<String>) -> Self {
        Self::UnitUnclear(Box::new(NoTime { raw: raw.into(), why: "unit unclear" }))
    }

    /// A value that is no time, and why.
    pub fn unreadable(raw: impl Into<String>, why: &'static str) -> Self {
        Self::Unreadable(Box::new(NoTime { raw: raw.into(), why }))
    }

    /// The point in time, where it is certain.
    pub fn known(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Known(at) => Some(*at),
            Self::Missing | Self::ZoneUnclear(_) | Self::UnitUnclear(_) | Self::Unreadable(_) => None,
        }
    }

    /// Whether there is something, readable or not.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("none"),
            Self::Known(at) => f.write_str(&at.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
            Self::ZoneUnclear(at) => write!(f, "{} (zone?)", at.format("%Y-%m-%dT%H:%M:%S%.f")),
            Self::UnitUnclear(no_time) | Self::Unreadable(no_time) => {
                write!(f, "{} ({})", no_time.raw, no_time.why)
            }
        }
    }
}

/// Times outside these years are a wrong unit or garbage, not a job.
const YEARS_BELIEVED: std::ops::RangeInclusive<i32> = 1990..=2200;
const RAW_CHARS_MAX: usize = 40;
/// The length of `2026-05-04`: the separator follows.
const DATE_BYTES: usize = 10;

/// Reads a cell as a time. Never fails: what cannot be read is said in the answer.
pub fn read(cell: &Cell, format: TimeFormat, zone: Zone) -> Reading {
    match (cell, format) {
        (Cell::Null, _) => Reading::Missing,
        (Cell::Text(text), _) if text.trim().is_empty() => unreadable(cell, "empty text"),
        (Cell::Text(text), TimeFormat::Iso) => read_iso(text, zone),
        (Cell::Integer(_) | Cell::Real(_), TimeFormat::Iso) => Reading::unit_unclear(cut(&cell.shown())),
        // Julian days have seven digits: an i32 holds any that is believed.
        (Cell::Integer(number), TimeFormat::Julian) => match i32::try_from(*number) {
            Ok(days) => read_julian(cell, f64::from(days)),
            Err(_) => unreadable(cell, "out of range (is it a Julian day?)"),
        },
        (Cell::Real(number), TimeFormat::Julian) => read_julian(cell, *number),
        (Cell::Integer(number), epoch) => read_epoch_whole(cell, *number, epoch),
        (Cell::Real(number), epoch) => read_epoch_real(cell, *number, epoch),
        // A number kept as text: read it as the number that was declared.
        (Cell::Text(text), declared) => match (text.trim().parse::<i64>(), text.trim().parse::<f64>()) {
            (Ok(whole), _) => read(&Cell::Integer(whole), declared, zone),
            (_, Ok(real)) => read(&Cell::Real(real), declared, zone),
            _ => unreadable(cell, "not a number"),
        },
        (Cell::BadText(_), _) => unreadable(cell, "not valid text"),
        (Cell::Blob(_), _) => unreadable(cell, "bytes, not a time"),
    }
}

fn read_iso(text: &str, zone: Zone) -> Reading {
    let cell = || Cell::text(text);
    let trimmed = text.trim();
    // The spelling that most write, read without a format: a scan reads one time a row.
    if let (Zone::Utc, Ok(naive)) = (zone, trimmed.parse::<NaiveDateTime>()) {
        return believed(cell, naive.and_utc());
    }
    if trimmed.parse::<f64>().is_ok() {
        return Reading::unit_unclear(cut(trimmed));
    }
    let spaced = normal_iso(trimmed);
    if let Some(at) = parse_with_offset(&spaced) {
        return believed(cell, at);
    }
    let Some(naive) = parse_naive(&spaced) else {
        let why = if chrono::NaiveDate::parse_from_str(&spaced, "%Y-%m-%d").is_ok() {
            "a date without a time"
        } else {
            "not a time"
        };
        return unreadable(&cell(), why);
    };
    match zone {
        Zone::Utc => believed(cell, naive.and_utc()),
        Zone::Fixed(offset) => match naive.and_local_timezone(offset).single() {
            Some(at) => believed(cell, at.with_timezone(&Utc)),
            None => unreadable(&cell(), "out of range"),
        },
        Zone::Unclear => match believed(cell, naive.and_utc()) {
            Reading::Known(at) => Reading::ZoneUnclear(at),
            other => other,
        },
    }
}

/// One spelling for the variants met in the field: `T`, `t` or a space between, `,` as decimal sign, ` UTC` at the end.
fn normal_iso(text: &str) -> String {
    let mut spaced = text.replace(',', ".");
    if matches!(text.as_bytes().get(DATE_BYTES), Some(b'T' | b't')) {
        spaced.replace_range(DATE_BYTES..=DATE_BYTES, " ");
    }
    for utc in [" UTC", " GMT", "UTC", "z"] {
        if let Some(head) = spaced.strip_suffix(utc) {
            spaced = format!("{}Z", head.trim_end());
            break;
        }
    }
    spaced
}

fn parse_with_offset(spaced: &str) -> Option<DateTime<Utc>> {
    let numbered = spaced.strip_suffix('Z').map(|head| format!("{head}+00:00"));
    let spaced = numbered.as_deref().unwrap_or(spaced);
    ["%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f %#z", "%Y-%m-%d %H:%M%#z", "%Y-%m-%d %H:%M:%S%.f %z"]
        .iter()
        .find_map(|format| DateTime::parse_from_str(spaced, format).ok())
        .map(|at| at.with_timezone(&Utc))
}

fn parse_naive(spaced: &str) -> Option<NaiveDateTime> {
    ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(spaced, format).ok())
}

fn read_epoch_whole(cell: &Cell, number: i64, format: TimeFormat) -> Reading {
    let Some(per_second) = format.units_per_second() else {
        return unreadable(cell, "not a time");
    };
    let nanos = i128::from(number) * i128::from(1_000_000_000 / per_second);
    from_nanos(cell, nanos)
}

fn read_epoch_real(cell: &Cell, number: f64, format: TimeFormat) -> Reading {
    let Some(per_second) = format.units_per_second() else {
        return unreadable(cell, "not a time");
    };
    if !number.is_finite() {
        return unreadable(cell, "not a finite number");
    }
    // A double holds today's epoch seconds to about a quarter of a microsecond: round there, not further.
    #[expect(clippy::cast_precision_loss, reason = "at most 1e9")]
    let micros = number / per_second as f64 * 1e6;
    if micros.abs() > 1e17 {
        return unreadable(cell, "out of range (is the unit right?)");
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounded just above")]
    let nanos = i128::from(micros.round() as i64) * 1_000;
    from_nanos(cell, nanos)
}

fn read_julian(cell: &Cell, days: f64) -> Reading {
    /// The Julian day of 1970-01-01T00:00:00Z.
    const UNIX_EPOCH_JULIAN_DAY: f64 = 2_440_587.5;
    let millis = (days - UNIX_EPOCH_JULIAN_DAY) * 86_400_000.0;
    if !millis.is_finite() || millis.abs() > 1e14 {
        return unreadable(cell, "out of range (is it a Julian day?)");
    }
    #[expect(clippy::cast_possible_truncation, reason = "bounded just above")]
    let nanos = i128::from(millis.round() as i64) * 1_000_000;
    from_nanos(cell, nanos)
}

fn from_nanos(cell: &Cell, nanos: i128) -> Reading {
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000));
    let fraction = u32::try_from(nanos.rem_euclid(1_000_000_000));
    match (seconds, fraction) {
        (Ok(seconds), Ok(fraction)) => match DateTime::from_timestamp(seconds, fraction) {
            Some(at) => believed(|| cell.clone(), at),
            None => unreadable(cell, "out of range (is the unit right?)"),
        },
        _ => unreadable(cell, "out of range (is the unit right?)"),
    }
}

fn believed(raw: impl FnOnce() -> Cell, at: DateTime<Utc>) -> Reading {
    use chrono::Datelike;
    if YEARS_BELIEVED.contains(&at.year()) {
        Reading::Known(at)
    } else {
        unreadable(&raw(), "year out of range (is the unit right?)")
    }
}

fn unreadable(cell: &Cell, why: &'static str) -> Reading {
    Reading::unreadable(cut(&cell.shown()), why)
}

fn cut(raw: &str) -> String {
    crate::domain::text::clean_cut(raw, RAW_CHARS_MAX)
}

/// Writes a time the way the value that stands there now is written.
///
/// A decision must leave a time that the application reads back: same separator, same offset sign, same type.
pub fn write_like(seen: &Cell, format: TimeFormat, zone: Zone, at: DateTime<Utc>) -> Cell {
    let number = |per_second: i64| {
        let nanos = i128::from(at.timestamp()) * 1_000_000_000 + i128::from(at.timestamp_subsec_nanos());
        i64::try_from(nanos / i128::from(1_000_000_000 / per_second)).unwrap_or(i64::MAX)
    };
    #[expect(clippy::cast_precision_loss, reason = "a double is what the column holds")]
    match (seen, format) {
        (Cell::Real(_), TimeFormat::EpochS) => Cell::Real(at.timestamp_micros() as f64 / 1e6),
        (Cell::Text(_), TimeFormat::EpochS) => Cell::text(at.timestamp().to_string()),
        (_, TimeFormat::Julian) => Cell::Real(at.timestamp_millis() as f64 / 86_400_000.0 + 2_440_587.5),
        (_, TimeFormat::Iso) => Cell::text(write_iso(seen.as_text().unwrap_or(""), zone, at)),
        (_, epoch) => Cell::Integer(number(epoch.units_per_second().unwrap_or(1))),
    }
}

fn write_iso(seen: &str, zone: Zone, at: DateTime<Utc>) -> String {
    let separator = if seen.as_bytes().get(DATE_BYTES) == Some(&b' ') { ' ' } else { 'T' };
    let fraction =
        match seen.split('.').nth(1).map(|tail| tail.bytes().take_while(u8::is_ascii_digit).count()) {
            Some(3) => "%.3f",
            Some(9) => "%.9f",
            // Isoformat leaves the fraction out only when it is zero; a seen value without one may be that.
            None if !seen.is_empty() => "",
            _ => "%.6f",
        };
    let (local, offset) = match zone {
        Zone::Fixed(offset) if !has_offset(seen) => (at.with_timezone(&offset).naive_local(), ""),
        _ if seen.ends_with('Z') || seen.ends_with('z') => (at.naive_utc(), "Z"),
        _ if seen.ends_with(" UTC") => (at.naive_utc(), " UTC"),
        _ if has_offset(seen) => (at.naive_utc(), "+00:00"),
        _ => (at.naive_utc(), ""),
    };
    format!("{}{offset}", local.format(&format!("%Y-%m-%d{separator}%H:%M:%S{fraction}")))
}

fn has_offset(text: &str) -> bool {
    let after_date = text.get(DATE_BYTES..).unwrap_or("");
    after_date.ends_with(['Z', 'z'])
        || after_date.contains('+')
        || after_date.contains('-')
        || text.ends_with("UTC")
}

/// Reads a duration such as `90s`, `30m`, `48h` or `7d`.
///
/// # Errors
/// A sentence saying what is wrong, for a configuration message.
pub fn parse_duration(text: &str) -> Result<TimeDelta, String> {
    let duration = humantime::parse_duration(text.trim()).map_err(|_| {
        format!("`{text}` is not a duration; write for example \"90s\", \"30m\", \"48h\" or \"7d\"")
    })?;
    TimeDelta::from_std(duration).map_err(|_| format!("`{text}` is too long a duration"))
}

/// Reads a point in time that a person wrote: UTC where it names no zone. A day alone is its beginning.
///
/// # Errors
/// A sentence saying what is wrong.
pub fn parse_moment(text: &str) -> Result<DateTime<Utc>, String> {
    let day = chrono::NaiveDate::parse_from_str(text.trim(), "%Y-%m-%d").ok();
    let whole = day.map_or_else(|| text.to_owned(), |day| format!("{day} 00:00:00"));
    read(&Cell::text(whole), TimeFormat::Iso, Zone::Utc).known().ok_or_else(|| {
        format!("`{}` is not a time; write for example 2026-11-30 or 2026-11-30T08:15:00Z", cut(text))
    })
}

/// A point in time as somebody at a keyboard says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// So long ago.
    Ago(TimeDelta),
    /// Then.
    At(DateTime<Utc>),
}

impl When {
    /// Reads a span such as `2h` or a moment such as `2026-11-30T08:15`.
    ///
    /// # Errors
    /// A sentence saying what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Ok(span) = parse_duration(text) {
            return Ok(Self::Ago(span));
        }
        parse_moment(text).map(Self::At).map_err(|_| {
            format!("`{}` is neither a span such as 2h nor a time such as 2026-11-30T08:15", cut(text))
        })
    }

    /// The point in time, seen from a present one.
    pub fn seen_from(self, now: DateTime<Utc>) -> DateTime<Utc> {
        match self {
            // Further back than there are dates is the first of them.
            Self::Ago(span) => now.checked_sub_signed(span).unwrap_or(DateTime::<Utc>::MIN_UTC),
            Self::At(at) => at,
        }
    }
}

/// A span for people: its two largest units (`2 h 5 min`, `20 d 3 h`, `0 s`).
pub fn span(delta: TimeDelta) -> String {
    let seconds = delta.num_seconds().unsigned_abs();
    let parts = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let Some(first) = parts.iter().position(|(size, _)| seconds >= *size) else {
        return "0 s".to_owned();
    };
    let (size, unit) = parts[first];
    let rest = seconds % size;
    match parts.get(first + 1) {
        Some((next, next_unit)) if rest / next > 0 => {
            format!("{} {unit} {} {next_unit}", seconds / size, rest / next)
        }
        _ => format!("{} {unit}", seconds / size),
    }
}

/// A point in time for people and JSON: UTC, whole seconds or finer where it has them.
pub fn stamp(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

#[cfg(test)]
mod tests;
