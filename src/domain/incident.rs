//! An incident: a name for a stretch of time, with notes. Its entries are in the audit like any other. Pure.

use crate::domain::audit::{Entry, Event};
use crate::domain::moment::stamp;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// The key of every entry of an incident: they have no source and no item, and are found together by it.
pub const INCIDENT_KEY: &str = "incident";
/// How long a name is at most.
pub const NAME_CHARS_MAX: usize = 80;
/// How long a note is at most.
pub const NOTE_CHARS_MAX: usize = 4_000;

/// A name, or a note, as it may be written down.
///
/// # Errors
/// A sentence: it is empty or too long.
pub fn checked_text(what: &str, text: &str, chars_max: usize) -> Result<String, String> {
    let text = text.trim();
    match text.chars().count() {
        0 => Err(format!("the incident's {what} is empty")),
        count if count > chars_max => {
            Err(format!("the incident's {what} has {count} characters, {chars_max} at most"))
        }
        _ => Ok(text.to_owned()),
    }
}

/// Who did something, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// When, as it is on record.
    pub at: String,
    /// Who.
    pub by: String,
    /// The audit entry that tells it.
    pub entry: i64,
}

impl Mark {
    fn of(entry: &Entry) -> Self {
        Self { at: entry.at.clone(), by: entry.operator.clone(), entry: entry.seq }
    }
}

/// What somebody wrote down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// By whom and when.
    #[serde(flatten)]
    pub mark: Mark,
    /// The words.
    pub text: String,
}

/// An incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Incident {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Since when it counts.
    pub since: DateTime<Utc>,
    /// Who opened it.
    pub opened: Mark,
    /// Who closed it; `None` while it is open.
    pub closed: Option<Mark>,
    /// What was written down, in order.
    pub notes: Vec<Note>,
}

impl Incident {
    /// Every incident that entries tell of, the oldest first. Entries come oldest first.
    pub fn all_of(entries: &[Entry]) -> Vec<Self> {
        let mut incidents: Vec<Self> = Vec::new();
        for entry in entries.iter().filter(|entry| entry.source.is_empty() && entry.key == INCIDENT_KEY) {
            let (Some(event), Ok(body)) = (Event::from_word(&entry.event), serde_json::from_str(&entry.body))
            else {
                continue;
            };
            Self::take(&mut incidents, event, entry, &body);
        }
        incidents
    }

    fn take(incidents: &mut Vec<Self>, event: Event, entry: &Entry, body: &Value) {
        let Some(id) = body["incident"].as_str().and_then(|id| id.parse::<Uuid>().ok()) else { return };
        if event == Event::Opened {
            let since = body["since"].as_str().and_then(|at| at.parse().ok());
            let (Some(name), Some(since)) = (body["name"].as_str(), since) else { return };
            let (name, opened) = (name.to_owned(), Mark::of(entry));
            incidents.push(Self { id, name, since, opened, closed: None, notes: Vec::new() });
        }
        let Some(incident) = incidents.iter_mut().find(|incident| incident.id == id) else { return };
        if let Some(text) = body["text"].as_str() {
            incident.notes.push(Note { mark: Mark::of(entry), text: text.to_owned() });
        }
        // Two may close it at once: the first did.
        if event == Event::Closed && incident.closed.is_none() {
            incident.closed = Some(Mark::of(entry));
        }
    }

    /// The one that a name means: the open one of that name, else the latest.
    pub fn called<'a>(incidents: &'a [Self], name: &str) -> Option<&'a Self> {
        let name = name.trim();
        let of_name = || incidents.iter().rev().filter(|incident| incident.name.eq_ignore_ascii_case(name));
        of_name().find(|incident| incident.closed.is_none()).or_else(|| of_name().next())
    }

    /// When it ended; `None` while it is open.
    pub fn until(&self) -> Option<DateTime<Utc>> {
        self.closed.as_ref().and_then(|closed| closed.at.parse().ok())
    }

    /// The body of the entry that opens one.
    pub fn opening(id: Uuid, name: &str, since: DateTime<Utc>, note: Option<&str>) -> Value {
        json!({ "incident": id.to_string(), "name": name, "since": stamp(since), "text": note })
    }

    /// The body of an entry of one that is there.
    pub fn further(&self, note: Option<&str>) -> Value {
        json!({ "incident": self.id.to_string(), "name": self.name, "text": note })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn entry(seq: i64, event: Event, operator: &str, body: &Value) -> Entry {
        Entry {
            seq,
            at: format!("2026-11-30T08:{seq:02}:00Z"),
            event: event.as_str().to_owned(),
            decision: String::new(),
            source: String::new(),
            key: INCIDENT_KEY.to_owned(),
            operator: operator.to_owned(),
            origin: "ana@host".to_owned(),
            body: body.to_string(),
            prev: String::new(),
            hash: String::new(),
        }
    }

    #[test]
    fn entries_tell_an_incident() {
        let since = "2026-11-30T07:30:00Z".parse().unwrap();
        let opening =
            |number, name| Incident::opening(Uuid::from_u128(number), name, since, Some("it began"));
        let mut entries = vec![entry(1, Event::Opened, "ana", &opening(1, "card outage"))];
        let first = Incident::all_of(&entries)[0].clone();
        entries.push(entry(2, Event::Noted, "ben", &first.further(Some("the provider is back"))));
        entries.push(entry(3, Event::Closed, "ana", &first.further(None)));
        entries.push(entry(4, Event::Closed, "ben", &first.further(Some("closed too"))));
        entries.push(entry(5, Event::Opened, "cy", &opening(2, "Card outage")));
        // What is none, or of none, is left out.
        entries.push(entry(
            6,
            Event::Noted,
            "eve",
            &json!({ "incident": Uuid::nil().to_string(), "text": "x" }),
        ));
        entries.push(Entry { source: "jobs".to_owned(), ..entry(7, Event::Opened, "eve", &opening(3, "x")) });
        entries.push(Entry { body: "{".to_owned(), ..entry(8, Event::Opened, "eve", &opening(4, "x")) });
        let all = Incident::all_of(&entries);
        assert_eq!(all.len(), 2);
        let texts: Vec<&str> = all[0].notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(texts, ["it began", "the provider is back", "closed too"]);
        let closed = all[0].closed.as_ref().unwrap();
        assert_eq!((closed.by.as_str(), closed.entry, all[0].since), ("ana", 3, since));
        assert_eq!(all[0].until(), Some("2026-11-30T08:03:00Z".parse().unwrap()));
        assert_eq!(Incident::called(&all, " CARD outage").map(|one| one.id), Some(Uuid::from_u128(2)));
        assert_eq!(Incident::called(&all[..1], "card outage").map(|one| one.id), Some(Uuid::from_u128(1)));
        assert_eq!(Incident::called(&all, "mail"), None);
    }

    #[test]
    fn a_name_is_not_empty_and_not_long() {
        assert_eq!(checked_text("name", "  card outage ", 20).unwrap(), "card outage");
        assert_eq!(checked_text("name", " ", 20).unwrap_err(), "the incident's name is empty");
        let told = checked_text("note", "xxxx", 3).unwrap_err();
        assert_eq!(told, "the incident's note has 4 characters, 3 at most");
    }
}
