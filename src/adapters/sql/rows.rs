//! From a row's values to an item.

use crate::domain::cell::Cell;
use crate::domain::item::{Holder, Item, ItemKey, LastError, Lease, State, Times};
use crate::domain::moment::{self, Reading};
use crate::preset::source::{KindFrom, LeaseColumns, Mapping, TimeColumn};
use std::sync::Arc;

/// The values of one row by name, as a scan or a look-up selected them.
pub struct Named {
    /// Each with its name.
    pub cells: Vec<(Arc<str>, Cell)>,
}

impl Named {
    fn get(&self, name: &str) -> &Cell {
        self.cells.iter().find(|(known, _)| &**known == name).map_or(&Cell::Null, |(_, cell)| cell)
    }
}

/// A value as plain text; a text is not copied. `None` for NULL.
fn plain_of(cell: &Cell) -> Option<Arc<str>> {
    match cell {
        Cell::Text(text) => Some(Arc::clone(text)),
        other => other.to_plain().map(Arc::from),
    }
}

/// An item from its row. `state` is what the preset's rules made of it.
pub fn item_of(source: &Arc<str>, mapping: &Mapping, row: Named, error: Cell, state: State) -> Item {
    let mut oddities = Vec::new();
    let kind = match &mapping.kind {
        KindFrom::Fixed(kind) => Arc::clone(kind),
        KindFrom::Column(column) => plain_of(row.get(column)).unwrap_or_default(),
    };
    let attempts =
        mapping.attempts.as_ref().and_then(|column| attempts_of(row.get(column), column, &mut oddities));
    let error_column = mapping.error.as_deref();
    let key = ItemKey::new(mapping.key.iter().map(|column| row.get(column).clone()).collect());
    let status = plain_of(row.get(&mapping.status)).unwrap_or_else(|| "NULL".into());
    let times = times_of(mapping, &row, state);
    oddities.extend(mapping.notes.iter().filter_map(|column| note_of(row.get(column))));
    let mut fields = row.cells;
    // A note may change while the row stays as it is.
    let is_note = |name: &str| mapping.notes.iter().any(|note| note == name);
    fields.retain(|(name, _)| Some(&**name) != error_column && !is_note(name));
    Item {
        source: Arc::clone(source),
        key,
        kind,
        status,
        state,
        attempts,
        tried_once: mapping.tried_once,
        times,
        last_error: match (error_column, error) {
            (None, _) => LastError::NotKept,
            (Some(_), Cell::Null) => LastError::Absent,
            (Some(_), cell) => LastError::Text(plain_of(&cell).unwrap_or_default()),
        },
        fields,
        oddities,
    }
}

/// How much of a note is told, in characters.
const NOTE_CHARS_MAX: usize = 200;

fn note_of(cell: &Cell) -> Option<String> {
    let text = cell.to_plain().filter(|text| !text.trim().is_empty())?;
    Some(crate::domain::text::clean_cut(text.trim(), NOTE_CHARS_MAX))
}

fn attempts_of(cell: &Cell, column: &str, oddities: &mut Vec<String>) -> Option<i64> {
    match cell {
        Cell::Null => None,
        Cell::Integer(count) => Some(*count),
        other => {
            let count = other.as_text().and_then(|text| text.trim().parse().ok());
            if count.is_none() {
                let shown = crate::domain::text::clean_cut(&other.shown(), 40);
                oddities.push(format!("Its {column} holds {shown}, which is not a number."));
            }
            count
        }
    }
}

fn times_of(mapping: &Mapping, row: &Named, state: State) -> Times {
    let read = |time: &TimeColumn| moment::read(row.get(&time.column), time.format, time.zone);
    let of = |time: &Option<TimeColumn>| time.as_ref().map_or(Reading::Missing, read);
    Times {
        created: of(&mapping.times.created),
        first_attempt: of(&mapping.times.first_attempt),
        started: match &mapping.times.started {
            None if mapping.updated_when_taken && state == State::Running => of(&mapping.times.updated),
            started => of(started),
        },
        updated: of(&mapping.times.updated),
        lease: match &mapping.lease {
            LeaseColumns::None => Lease::None,
            LeaseColumns::Lasts(seconds) => Lease::Seconds(Some(*seconds)),
            LeaseColumns::Told(column) => Lease::Told(holder_of(row.get(column))),
            LeaseColumns::EndsAt(time) => Lease::EndsAt(read(time)),
            LeaseColumns::Seconds { column, unlimited } => seconds_of(row.get(column), unlimited),
            LeaseColumns::Heartbeat { beat, limit_seconds } => {
                Lease::Heartbeat { beat: read(beat), limit_seconds: *limit_seconds }
            }
        },
    }
}

fn seconds_of(cell: &Cell, unlimited: &[i64]) -> Lease {
    match cell {
        Cell::Integer(seconds) if unlimited.contains(seconds) => Lease::Seconds(None),
        Cell::Integer(seconds) if *seconds >= 0 => Lease::Seconds(Some(*seconds)),
        // Without a readable limit of its own, the policy's counts.
        _ => Lease::None,
    }
}

/// What a query made of heartbeats, claims or locks. Any other word is none.
fn holder_of(cell: &Cell) -> Holder {
    match cell.as_text() {
        Some("live") => Holder::Live,
        Some("expired") => Holder::Expired,
        _ => Holder::Unknown,
    }
}

/// A state from its number, as the rules' SQL gives it.
pub fn state_of(cell: &Cell) -> Option<State> {
    match cell {
        Cell::Integer(number) => usize::try_from(*number).ok().and_then(|at| State::ALL.get(at).copied()),
        _ => None,
    }
}
