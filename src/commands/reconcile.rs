//! `unstuck reconcile`: match what the providers did over a window with what the jobs say, both ways.

use super::arguments::{Common, Format, Reconcile};
use super::failure::{Exit, Failure};
use super::list::columns;
use super::session::{self, AuditUse, Troubles};
use crate::domain::evidence::FaultKind;
use crate::output::reconciled::{self, ReconciledLine};
use crate::output::{json, say};
use crate::workflow::Desk;
use crate::workflow::reconcile::words::not_listed;
use crate::workflow::reconcile::{Reconciled, Scope, reconcile};
use crate::workflow::sweep::{Unrecorded, record_all};
use tokio_util::sync::CancellationToken;

/// What to do about an item that a list left open.
const ASK_ALONE: &str = "`unstuck check KEY` asks about single items.";

/// Matches, and prints one line for each item and effect that does not.
pub(super) async fn run(common: &Common, arguments: &Reconcile) -> Result<Exit, Failure> {
    let settings = session::settings(common).await?;
    let stop = session::stop_token()?;
    session::at_desk(common, &settings, AuditUse::Write, async |desk| {
        if let Some(name) = &arguments.source {
            session::sources(desk, Some(name))?;
        }
        match_both(desk, Troubles::of(&settings), &stop, arguments).await
    })
    .await
}

async fn match_both(
    desk: &Desk,
    mut troubles: Troubles,
    stop: &CancellationToken,
    arguments: &Reconcile,
) -> Result<Exit, Failure> {
    let scope = Scope { since: arguments.since, source: arguments.source.as_deref().map(Into::into) };
    let Some(result) = stop.run_until_cancelled(reconcile(desk, &scope, &|_| {})).await else {
        say::aside("Stopped: nothing is said of what was not matched yet.");
        return Ok(Exit::Interrupted);
    };
    let unrecorded = record_all(desk, result.items.clone()).await;
    tell_unrecorded(&unrecorded, &mut troubles);
    tell_troubles(&result, &mut troubles);
    print(&result, &unrecorded, arguments.format)?;
    say::aside(result.summary(&scope));
    if unrecorded.fault.is_none() {
        session::tell_waiting(desk).await;
    }
    let worst = troubles.worst();
    if worst == Exit::Fine && arguments.fail_on_findings && result.odd_count() > 0 {
        return Ok(Exit::No);
    }
    Ok(worst)
}

/// Tells once what the record, or the receipts, did not take.
pub(super) fn tell_unrecorded(unrecorded: &Unrecorded, troubles: &mut Troubles) {
    if let Some(fault) = &unrecorded.fault {
        troubles.tell(&Failure::unrecorded(fault.clone()));
    }
}

/// Tells what was not looked at: nothing that was not read is ever taken for a match, nor for a loss.
pub(super) fn tell_troubles(result: &Reconciled, troubles: &mut Troubles) {
    for (name, fault, items) in &result.not_listed {
        let told = not_listed(name, fault, *items);
        troubles.tell(&Failure::new(exit_of_unlisted(fault.kind), told, ASK_ALONE));
    }
    for fault in &result.unread {
        troubles.tell(&fault.clone().into());
    }
    if let Some((told, kind)) = result.unconfirmed_told() {
        troubles.tell(&Failure::new(exit_of_unlisted(kind), told, ASK_ALONE));
    }
    for told in result.short_sighted_told().chain(result.unreferenced_told()) {
        say::aside(told);
    }
}

/// What was not matched was not read, whatever the answer was; what can be listed by nobody is a matter of configuration.
fn exit_of_unlisted(kind: FaultKind) -> Exit {
    let of_kind = kind.hindrance().map(Exit::of);
    of_kind.unwrap_or(if kind == FaultKind::Unanswerable { Exit::Usage } else { Exit::Unreachable })
}

fn print(result: &Reconciled, unrecorded: &Unrecorded, format: Format) -> Result<(), Failure> {
    let width = columns();
    let items = result.items.iter().map(|(found, checked)| {
        ReconciledLine::of_item(found, checked, unrecorded.is_on_record(&found.finding.item))
    });
    let effects = result.unaccounted.iter().map(ReconciledLine::of_effect);
    if format.csv {
        say::text(reconciled::csv_head())?;
    }
    for (place, line) in items.chain(effects).enumerate() {
        match (format.json, format.csv) {
            (true, _) => say::line(json::line(&line))?,
            (_, true) => say::text(reconciled::csv_row(&line))?,
            _ => {
                if place == 0 {
                    say::line(reconciled::head())?;
                }
                say::line(reconciled::row(&line, width))?;
            }
        }
    }
    Ok(())
}
