//! `unstuck reconcile`: match what the providers did over a window with what the jobs say, both ways.

use super::arguments::{Common, Format, Reconcile};
use super::failure::{Exit, Failure};
use super::list::columns;
use super::session::{self, AuditUse, Troubles};
use crate::domain::evidence::FaultKind;
use crate::domain::moment::span;
use crate::domain::text::{clean, count_of, were};
use crate::output::reconciled::{self, ReconciledLine};
use crate::output::{json, say};
use crate::workflow::Desk;
use crate::workflow::reconcile::{Reconciled, Scope, reconcile};
use crate::workflow::sweep::recorded;
use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

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
    let Some(result) = stop.run_until_cancelled(reconcile(desk, &scope)).await else {
        say::aside("Stopped: nothing is said of what was not matched yet.");
        return Ok(Exit::Interrupted);
    };
    let mut batches = recorded(desk, stream::iter(result.items.clone()));
    while let Some(batch) = batches.next().await {
        if let Err(fault) = batch.outcome {
            troubles.tell(&Failure::new(
                Exit::Unreachable,
                format!("recording the checks: {}", fault.what),
                fault.do_next,
            ));
        }
    }
    tell_troubles(&result, &mut troubles);
    let counted = print(&result, arguments.format)?;
    say::aside(summary(&result, counted, &scope));
    session::tell_waiting(desk).await;
    let worst = troubles.worst();
    if worst == Exit::Fine && arguments.fail_on_findings && counted > 0 {
        return Ok(Exit::No);
    }
    Ok(worst)
}

/// Tells what was not looked at: nothing that was not read is ever taken for a match, nor for a loss.
pub(super) fn tell_troubles(result: &Reconciled, troubles: &mut Troubles) {
    for (name, fault, items) in &result.not_listed {
        let exit = exit_of_unlisted(fault.kind);
        troubles.tell(&Failure::new(
            exit,
            format!("{name} was not listed, so {} not matched: {}", were(*items, "item"), fault.detail),
            "`unstuck check KEY` asks about single items.",
        ));
    }
    for fault in &result.unread {
        troubles.tell(&fault.clone().into());
    }
    if let Some((found, fault)) = result.unconfirmed.first() {
        let (count, key) = (result.unconfirmed.len(), clean(found.finding.item.key.as_str()));
        troubles.tell(&Failure::new(
            exit_of_unlisted(fault.kind),
            format!("{} not matched, `{key}` among them: {}", were(count, "item"), fault.detail),
            "`unstuck check KEY` asks about single items.",
        ));
    }
    for (name, lookback) in &result.short_sighted {
        say::aside(format_args!(
            "{name} is listed for the last {} alone (its `lookback`): of what is older nothing is said.",
            span(*lookback)
        ));
    }
    match result.unreferenced {
        0 => {}
        1 => say::aside("1 item has no reference: effects of its are told as unaccounted."),
        many => say::aside(format_args!(
            "{many} items have no reference: effects of theirs are told as unaccounted."
        )),
    }
}

/// What was not matched was not read, whatever the answer was; what can be listed by nobody is a matter of configuration.
fn exit_of_unlisted(kind: FaultKind) -> Exit {
    let of_kind = kind.hindrance().map(Exit::of);
    of_kind.unwrap_or(if kind == FaultKind::Unanswerable { Exit::Usage } else { Exit::Unreachable })
}

fn print(result: &Reconciled, format: Format) -> Result<usize, Failure> {
    let width = columns();
    let items = result.items.iter().map(|(found, checked)| ReconciledLine::of_item(found, checked));
    let effects = result.unaccounted.iter().map(ReconciledLine::of_effect);
    let mut counted = 0;
    if format.csv {
        say::text(reconciled::csv_head())?;
    }
    for line in items.chain(effects) {
        match (format.json, format.csv) {
            (true, _) => say::line(json::line(&line))?,
            (_, true) => say::text(reconciled::csv_row(&line))?,
            _ => {
                if counted == 0 {
                    say::line(reconciled::head())?;
                }
                say::line(reconciled::row(&line, width))?;
            }
        }
        counted += 1;
    }
    Ok(counted)
}

fn summary(result: &Reconciled, counted: usize, scope: &Scope) -> String {
    let what = format!(
        "{} and {} of the last {} were matched",
        count_of(result.items_matched, "item"),
        count_of(result.effects_listed, "effect"),
        span(scope.since)
    );
    match counted {
        0 if result.effects_listed == 0 && !result.not_listed.is_empty() => {
            "No provider's list could be read: nothing was matched.".to_owned()
        }
        0 => format!("{what}: nothing is odd in what could be read."),
        1 => format!("{what}: 1 does not match."),
        many => format!("{what}: {many} do not match."),
    }
}
