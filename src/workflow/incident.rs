//! Incidents: opened, noted and closed in the audit.

use crate::domain::audit::{Entry, Event, NewEntry};
use crate::domain::incident::{INCIDENT_KEY, Incident, NAME_CHARS_MAX, NOTE_CHARS_MAX, checked_text};
use crate::domain::mask::mask_text;
use crate::ports::record::RecordFault;
use crate::workflow::desk::Desk;
use chrono::{DateTime, Utc};
use serde_json::Value;

/// How many entries of incidents are read at most.
const ENTRIES_MAX: usize = 20_000;

/// Why nothing was written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncidentFault {
    /// The audit's own.
    Record(RecordFault),
    /// A name or a note that cannot be one.
    Text(String),
    /// One of that name is open already.
    IsOpen(String),
    /// There is none of that name.
    Unknown(String),
    /// It is over already.
    IsClosed(String),
    /// It would begin in the future.
    Future,
}

impl From<RecordFault> for IncidentFault {
    fn from(fault: RecordFault) -> Self {
        Self::Record(fault)
    }
}

/// Every incident on record, the oldest first.
///
/// # Errors
/// The audit's own.
pub async fn all(desk: &Desk) -> Result<Vec<Incident>, RecordFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let mut entries = record.of_item(&desk.subject("", INCIDENT_KEY), ENTRIES_MAX).await?;
    entries.reverse();
    Ok(Incident::all_of(&entries))
}

/// Opens one.
///
/// # Errors
/// [`IncidentFault`]; then nothing was written.
pub async fn open(
    desk: &Desk,
    name: &str,
    since: Option<DateTime<Utc>>,
    note: Option<&str>,
) -> Result<Incident, IncidentFault> {
    let name = text("name", name, NAME_CHARS_MAX)?;
    let note = note.map(|note| text("note", note, NOTE_CHARS_MAX)).transpose()?;
    let now = desk.clock.now();
    if since.is_some_and(|since| since > now) {
        return Err(IncidentFault::Future);
    }
    if Incident::called(&all(desk).await?, &name).is_some_and(|known| known.closed.is_none()) {
        return Err(IncidentFault::IsOpen(name));
    }
    let body = Incident::opening(desk.clock.new_id(), &name, since.unwrap_or(now), note.as_deref());
    let entry = append(desk, Event::Opened, body).await?;
    Incident::all_of(&[entry]).pop().ok_or(IncidentFault::Unknown(name))
}

/// Writes something down about one, also after it is over: a post-mortem comes later.
///
/// # Errors
/// [`IncidentFault`]; then nothing was written.
pub async fn note(desk: &Desk, name: &str, note: &str) -> Result<Entry, IncidentFault> {
    let note = text("note", note, NOTE_CHARS_MAX)?;
    let incident = called(desk, name).await?;
    append(desk, Event::Noted, incident.further(Some(&note))).await
}

/// Closes one.
///
/// # Errors
/// [`IncidentFault`]; then nothing was written.
pub async fn close(desk: &Desk, name: &str, note: Option<&str>) -> Result<Entry, IncidentFault> {
    let note = note.map(|note| text("note", note, NOTE_CHARS_MAX)).transpose()?;
    let incident = called(desk, name).await?;
    if incident.closed.is_some() {
        return Err(IncidentFault::IsClosed(incident.name));
    }
    append(desk, Event::Closed, incident.further(note.as_deref())).await
}

/// The incident of a name.
///
/// # Errors
/// [`IncidentFault`]: there is none.
pub async fn called(desk: &Desk, name: &str) -> Result<Incident, IncidentFault> {
    let all = all(desk).await?;
    Incident::called(&all, name).cloned().ok_or_else(|| IncidentFault::Unknown(name.trim().to_owned()))
}

/// A text as it goes on record: what looks secret is hidden there too.
fn text(what: &str, text: &str, chars_max: usize) -> Result<String, IncidentFault> {
    checked_text(what, &mask_text(text), chars_max).map_err(IncidentFault::Text)
}

async fn append(desk: &Desk, event: Event, body: Value) -> Result<Entry, IncidentFault> {
    let record = desk.record.as_ref().map_err(Clone::clone)?;
    let entry = NewEntry {
        at: desk.clock.now(),
        event,
        decision: None,
        source: String::new(),
        key: INCIDENT_KEY.to_owned(),
        operator: desk.operator.name.to_string(),
        origin: desk.origin(),
        body,
        attachments: Vec::new(),
    };
    let mut placed = record.append(vec![entry]).await?;
    placed.pop().ok_or_else(|| {
        IncidentFault::Record(RecordFault {
            is_absent: false,
            what: "the audit took nothing in".to_owned(),
            do_next: "Run `unstuck audit verify`; it says whether the audit is whole.".to_owned(),
        })
    })
}
