//! `unstuck report`: what happened, for the next shift and for the post-mortem.

use super::arguments::{Common, ReportArguments, ReportFormat};
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse, Troubles};
use crate::config::{ConfigFault, Settings};
use crate::domain::filter::Filter;
use crate::domain::moment::stamp;
use crate::domain::report::Scope;
use crate::output::report::{FindingCount, Now, WaitingNow, Written, csv, html, json_line, markdown};
use crate::output::say;
use crate::workflow::Desk;
use crate::workflow::incident::called;
use crate::workflow::report::report;
use crate::workflow::settle::propose::waiting;
use crate::workflow::watch::{Watched, look};
use chrono::TimeDelta;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::sync::Arc;

/// How far back a report goes that nobody gave a beginning: a shift and the one before it.
const SINCE_UNSAID: TimeDelta = TimeDelta::hours(24);

/// Reads the audit, looks at the sources, and writes the report.
pub(super) async fn run(common: &Common, arguments: &ReportArguments) -> Result<Exit, Failure> {
    let settings = session::settings_or_audit(common).await?;
    let ended = session::at_desk(common, &settings, AuditUse::Read, async |desk| {
        write(desk, &settings, arguments).await
    });
    session::end(ended.await)
}

async fn write(desk: &Desk, settings: &Settings, arguments: &ReportArguments) -> Result<Exit, Failure> {
    let report = report(desk, scope(desk, arguments).await?).await?;
    let mut troubles = Troubles::of(settings);
    let written = Written {
        report: &report,
        written_at: stamp(desk.clock.now()),
        written_by: &desk.operator.name,
        audit: settings.audit.shown(),
        waiting_now: waiting(desk).await?.iter().map(WaitingNow::of).collect(),
        now: now(desk, settings, &mut troubles).await,
    };
    let broken = |what: String| Failure::new(Exit::Broken, what, "Report this.");
    let text = match arguments.format {
        ReportFormat::Md => markdown(&written).map_err(broken)?,
        ReportFormat::Html => html(&written).map_err(broken)?,
        ReportFormat::Json => json_line(&written) + "\n",
        ReportFormat::Csv => csv(&report),
    };
    hand_over(&text, &arguments.output)?;
    Ok(troubles.worst())
}

async fn scope(desk: &Desk, arguments: &ReportArguments) -> Result<Scope, Failure> {
    if let Some(name) = &arguments.incident {
        let incident = called(desk, name).await?;
        let (from, until) = (Some(incident.since), incident.until());
        return Ok(Scope { incident: Some(incident), from, until });
    }
    let now = desk.clock.now();
    let since = arguments.since.map(|since| since.seen_from(now));
    let from = since.or_else(|| now.checked_sub_signed(SINCE_UNSAID));
    let until = arguments.until.map(|until| until.seen_from(now));
    if from.zip(until).is_some_and(|(from, until)| from >= until) {
        return Err(Failure::usage("--until is not after --since", "Say first when it began."));
    }
    Ok(Scope { incident: None, from, until })
}

/// What needs a person now; `None` where there is no source to look at.
async fn now(desk: &Desk, settings: &Settings, troubles: &mut Troubles) -> Option<Now> {
    if desk.sources.is_empty() {
        return None;
    }
    let watched = Watched {
        sources: desk.sources.iter().map(|source| Arc::clone(&source.facts().name)).collect(),
        filter: Filter::default(),
        checks: false,
    };
    let looked = look(desk, &watched).await;
    for fault in looked.faults {
        troubles.tell(&fault.into());
    }
    let (mut counts, mut unread, mut is_any_read) = (BTreeMap::new(), Vec::new(), false);
    for (name, read) in looked.look.sources {
        match read {
            Err(_) => unread.push(name),
            Ok(items) => {
                is_any_read = true;
                for seen in items.into_values() {
                    *counts.entry((name.clone(), seen.finding)).or_insert(0) += 1;
                }
            }
        }
    }
    unread.extend(settings.unread.iter().map(|fault| place_of(fault).to_owned()));
    let findings = is_any_read.then(|| counts.values().sum());
    let by_source = counts
        .into_iter()
        .map(|((source, finding), count)| FindingCount { source, finding, count })
        .collect();
    Some(Now { findings, by_source, unread })
}

/// Which database a fault is of: its sentence begins with it.
fn place_of(fault: &ConfigFault) -> &str {
    fault.what.split_once(": ").map_or(&*fault.what, |(place, _)| place)
}

fn hand_over(text: &str, output: &str) -> Result<(), Failure> {
    if output == "-" {
        return Ok(say::text(text)?);
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(output).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|fault| match fault.kind() {
        ErrorKind::AlreadyExists => Failure::usage(
            format!("{output}: is there already and was left as it is"),
            "Name another file with --output, or `-` for standard output.",
        ),
        _ => Failure::new(
            Exit::Unreachable,
            format!("the report cannot be written to {output} ({fault})"),
            "Check the path and the permissions of its folder.",
        ),
    })?;
    say::aside(format_args!("Written to {output}."));
    Ok(())
}
