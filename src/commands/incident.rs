//! `unstuck incident`: a name, a window and notes for what is going on.

use super::arguments::{Common, IncidentAction, IncidentArguments};
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse};
use crate::domain::incident::Incident;
use crate::domain::moment::stamp;
use crate::domain::text::{clean, clean_cut};
use crate::output::{json, say};
use crate::workflow::Desk;
use crate::workflow::incident::{IncidentFault, all, close, note, open};

/// Opens, notes, closes or lists.
pub(super) async fn run(common: &Common, arguments: &IncidentArguments) -> Result<Exit, Failure> {
    let settings = session::audit_settings(common).await?;
    let audit = match &arguments.action {
        IncidentAction::List { .. } => AuditUse::Read,
        IncidentAction::Open { .. } | IncidentAction::Note { .. } | IncidentAction::Close { .. } => {
            AuditUse::Write
        }
    };
    let ended =
        session::at_desk(common, &settings, audit, async |desk| act(desk, &arguments.action).await).await;
    session::end(ended)
}

async fn act(desk: &Desk, action: &IncidentAction) -> Result<Exit, Failure> {
    match action {
        IncidentAction::Open { name, since, note } => {
            let since = since.map(|since| since.seen_from(desk.clock.now()));
            let incident = open(desk, name, since, note.as_deref()).await?;
            let (name, since, entry) = (clean(&incident.name), stamp(incident.since), incident.opened.entry);
            say::line(format_args!("{name}: open since {since} (audit entry {entry})"))?;
        }
        IncidentAction::Note { name, text } => {
            let entry = note(desk, name, text).await?;
            say::line(format_args!("{}: noted (audit entry {})", clean(name), entry.seq))?;
        }
        IncidentAction::Close { name, note } => {
            let entry = close(desk, name, note.as_deref()).await?;
            say::line(format_args!("{}: closed (audit entry {})", clean(name), entry.seq))?;
            say::aside("Next: unstuck report --incident NAME --format html --output report.html");
        }
        IncidentAction::List { json } => list(&all(desk).await?, *json)?,
    }
    Ok(Exit::Fine)
}

fn list(incidents: &[Incident], as_json: bool) -> Result<(), Failure> {
    if incidents.is_empty() {
        say::aside("No incidents.");
    }
    for incident in incidents.iter().rev() {
        if as_json {
            say::line(json::line(incident))?;
            continue;
        }
        let ended = match &incident.closed {
            Some(closed) => format!("closed {} by {}", clean(&closed.at), clean_cut(&closed.by, 40)),
            None => "open".to_owned(),
        };
        say::line(format_args!(
            "{:<32}  since {:<20}  {ended}, {} notes",
            clean(&incident.name),
            stamp(incident.since),
            incident.notes.len(),
        ))?;
    }
    Ok(())
}

impl From<IncidentFault> for Failure {
    fn from(fault: IncidentFault) -> Self {
        match fault {
            IncidentFault::Record(fault) => fault.into(),
            IncidentFault::Text(what) => Self::usage(what, "Write it a little differently."),
            IncidentFault::Future => {
                Self::usage("--since is in the future", "Say when it began, such as 2h or 2026-11-30T08:15.")
            }
            IncidentFault::IsOpen(name) => Self::new(
                Exit::No,
                format!("an incident `{name}` is open already"),
                "Add to it with `unstuck incident note`, or give this one another name.",
            ),
            IncidentFault::Unknown(name) => Self::new(
                Exit::No,
                format!("there is no incident `{name}`"),
                "`unstuck incident list` shows those there are.",
            ),
            IncidentFault::IsClosed(name) => Self::new(
                Exit::No,
                format!("the incident `{name}` is closed already"),
                "Notes can still be added with `unstuck incident note`.",
            ),
        }
    }
}
