//! From rows to effects, or to the fault that they are. Pure.
//!
//! Everything here errs to one side: what is not exactly as the preset describes is a fault, and a fault is `unknown`.

use super::{Bounds, RowsFacts, Standing};
use crate::domain::cell::{Cell, hex};
use crate::domain::evidence::{Effect, EffectState, Fault, FaultKind};
use crate::domain::listing::{ListedEffect, Listing};
use crate::domain::moment::{self, Reading, span};
use crate::domain::money::Money;
use crate::domain::text::clean_cut;
use crate::ports::source::{SourceFault, SourceFaultKind};
use crate::preset::provider::{AmountColumn, CurrencyColumn, SqlLookUp, StatusColumn};
use crate::preset::source::TimeColumn;
use crate::preset::template::Fields;
use chrono::{DateTime, TimeDelta, Utc};

const SHOWN_CHARS_MAX: usize = 80;
const LINK_CHARS_MAX: usize = 2_000;
/// A longer id is none: ids go on record and into every output as they are.
const ID_CHARS_MAX: usize = 500;

/// What a database's fault is to somebody who asked it for an effect.
pub fn fault_of(fault: SourceFault) -> Fault {
    let kind = match fault.kind {
        SourceFaultKind::Unreachable => FaultKind::Connect,
        SourceFaultKind::Busy => FaultKind::Timeout,
        SourceFaultKind::Broken => FaultKind::CutOff,
        SourceFaultKind::Mismatch => FaultKind::Shape,
        SourceFaultKind::Interrupted => FaultKind::Cancelled,
    };
    Fault::new(kind, fault.what)
}

/// Whether so much may be read.
pub(super) fn check_bounds(rows: usize, bytes: usize, bounds: Bounds) -> Result<(), Fault> {
    if rows > bounds.rows_max {
        let sentence = format!("there are more than {} rows", bounds.rows_max);
        return Err(Fault::new(FaultKind::TooManyPages, sentence));
    }
    if bytes > bounds.bytes_max {
        let sentence = format!("the rows have more than {} bytes", bounds.bytes_max);
        return Err(Fault::new(FaultKind::BodyTooLarge, sentence));
    }
    Ok(())
}

/// Why an absence would prove nothing on this server.
pub(super) fn doubt(facts: &RowsFacts, replica_lag_max: Option<TimeDelta>) -> Option<Fault> {
    let unanswerable = |sentence: String| Some(Fault::new(FaultKind::Unanswerable, sentence));
    if let Some(doubt) = facts.doubts.first() {
        return unanswerable(format!("nothing was found, and that proves nothing: {doubt}"));
    }
    let Standing::Replica { lag } = facts.standing else { return None };
    match (replica_lag_max, lag) {
        (None, _) => unanswerable(
            "nothing was found on a replica, which may lag: name the primary, or say `replica_lag_max`"
                .to_owned(),
        ),
        (Some(_), None) => unanswerable(
            "nothing was found on a replica that does not tell how far it lags: name the primary".to_owned(),
        ),
        (Some(max), Some(lag)) if lag > max => Some(Fault::new(
            FaultKind::ServerError,
            format!(
                "nothing was found on a replica that lags {}, longer than `replica_lag_max` ({})",
                span(lag),
                span(max)
            ),
        )),
        (Some(_), Some(_)) => None,
    }
}

/// The effects of rows that the database calls of one reference.
///
/// # Errors
/// A row that cannot be read; or one whose reference is nearly ours, or that the database calls the same, and not exactly
/// ours: then somebody may have changed references on the way, and neither its presence nor its absence counts.
pub(super) fn effects_of(
    look: &SqlLookUp,
    rows: &[Vec<Cell>],
    reference: &str,
) -> Result<Vec<Effect>, Fault> {
    let mut listing = Listing::new(look.reference_chars_max);
    for row in rows {
        let listed = listed(look, row)?;
        if let Some(theirs) = listed.references.iter().find(|theirs| *theirs != reference) {
            return Err(shape(format!(
                "effect {} carries `{}`, the same as our reference but for case, blanks or what the database calls equal: are references changed on the way?",
                shown(&listed.id),
                shown(theirs)
            )));
        }
        listing.keep(listed)?;
    }
    let effects = listing.effects().iter().map(|listed| listed.read.clone());
    effects.collect()
}

/// The list of a window.
///
/// # Errors
/// A row whose id or reference cannot be read, or one that contradicts another.
pub(super) fn listing_of(
    look: &SqlLookUp,
    rows: &[Vec<Cell>],
    from: Option<DateTime<Utc>>,
) -> Result<Listing, Fault> {
    let mut listing = Listing::new(look.reference_chars_max);
    for row in rows {
        listing.keep(listed(look, row)?)?;
    }
    listing.set_seen_from(from);
    Ok(listing)
}

/// Whether something happened among effects: only then nothing rests on what was not seen.
pub(super) fn shows_one(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| effect.state == EffectState::Happened)
}

fn listed(look: &SqlLookUp, row: &[Cell]) -> Result<ListedEffect, Fault> {
    let cell = |at: usize| row.get(at).unwrap_or(&Cell::Null);
    let id = id(look, cell(0))?;
    let references = reference(look, cell(1), &id)?;
    let read = effect(look, row, id.clone(), references.as_deref().unwrap_or_default());
    Ok(ListedEffect { id, references: references.into_iter().collect(), page: 0, read })
}

fn id(look: &SqlLookUp, cell: &Cell) -> Result<String, Fault> {
    let column = &look.id;
    let text = match cell {
        // Bytes are told apart by their digits.
        Cell::Blob(bytes) => Some(hex(bytes)),
        other => plain(other),
    };
    match text {
        Some(id) if id.chars().nth(ID_CHARS_MAX).is_some() => {
            Err(shape(format!("an effect's id is longer than {ID_CHARS_MAX} characters: {}", shown(&id))))
        }
        Some(id) if !id.is_empty() => Ok(id),
        _ => Err(shape(format!(
            "an effect's id (`{column}`) is no text and no whole number: {}",
            cell.shown()
        ))),
    }
}

fn reference(look: &SqlLookUp, cell: &Cell, id: &str) -> Result<Option<String>, Fault> {
    let text = match cell {
        Cell::Null => return Ok(None),
        Cell::Blob(bytes) => std::str::from_utf8(bytes).ok().map(str::to_owned),
        other => plain(other),
    };
    let wrong = || shape(format!("the reference of effect {} (`{}`) is no text", shown(id), look.reference));
    text.map(Some).ok_or_else(wrong)
}

fn effect(look: &SqlLookUp, row: &[Cell], id: String, reference: &str) -> Result<Effect, Fault> {
    let cell = |at: usize| row.get(at).unwrap_or(&Cell::Null);
    let status = match &look.status {
        StatusColumn::Fixed(word) => word.clone(),
        StatusColumn::Column(column) => plain(cell(2)).ok_or_else(|| {
            shape(format!(
                "effect {} has no readable status (`{column}` is {})",
                shown(&id),
                shown(&cell(2).shown())
            ))
        })?,
    };
    let amount = look.amount.as_ref();
    Ok(Effect {
        state: look.state_of(&status),
        status,
        money: amount.map(|amount| money(amount, cell(3), cell(4), &id)).transpose()?,
        at: look.time.as_ref().map(|time| time_of(time, cell(5), &id)).transpose()?.flatten(),
        link: look.link.as_ref().and_then(|link| link_of(link, &id, reference)),
        id,
    })
}

fn money(place: &AmountColumn, amount: &Cell, currency: &Cell, id: &str) -> Result<Money, Fault> {
    let wrong = |what: String| shape(format!("the amount of effect {}: {what}", shown(id)));
    let text = match amount {
        Cell::Real(_) => {
            return Err(wrong(format!(
                "{} is a floating-point number, and an amount is a decimal: make one of it in a `select`",
                amount.shown()
            )));
        }
        other => {
            plain(other).ok_or_else(|| wrong(format!("`{}` is {}", place.column, shown(&other.shown()))))?
        }
    };
    let currency = match &place.currency {
        CurrencyColumn::Fixed(code) => Some(code.clone()),
        CurrencyColumn::Column(_) => currency.as_text().map(str::to_owned),
    };
    Money::told(&text, currency.as_deref(), place.unit).map_err(wrong)
}

/// A missing time is none; an unreadable one is a fault.
fn time_of(place: &TimeColumn, cell: &Cell, id: &str) -> Result<Option<DateTime<Utc>>, Fault> {
    match moment::read(cell, place.format, place.zone) {
        Reading::Known(at) => Ok(Some(at)),
        Reading::Missing => Ok(None),
        other @ (Reading::ZoneUnclear(_) | Reading::UnitUnclear(_) | Reading::Unreadable(_)) => {
            Err(shape(format!("the time of effect {} (`{}`): {other}", shown(id), place.column)))
        }
    }
}

/// A link is a convenience: one that is not http is left out.
fn link_of(link: &crate::preset::template::Template, id: &str, reference: &str) -> Option<String> {
    let fields = Fields::from([("id".to_owned(), id.into()), ("reference".to_owned(), reference.into())]);
    let link = link.render(&fields).ok()?;
    let is_web = link.starts_with("https://") || link.starts_with("http://");
    (is_web && link.chars().count() <= LINK_CHARS_MAX).then_some(link)
}

/// A text as it is, a whole number digit for digit; `None` for everything else.
fn plain(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text.to_string()),
        Cell::Integer(number) => Some(number.to_string()),
        Cell::Null | Cell::Real(_) | Cell::BadText(_) | Cell::Blob(_) => None,
    }
}

fn shape(sentence: String) -> Fault {
    Fault::new(FaultKind::Shape, sentence)
}

fn shown(text: &str) -> String {
    clean_cut(text, SHOWN_CHARS_MAX)
}
