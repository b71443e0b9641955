//! `unstuck duplicates`: what happened more than once, with everything that a refund needs. It refunds nothing.

use super::arguments::{Common, Duplicates};
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse, Troubles};
use crate::output::{duplicate_lines, json, say};
use crate::workflow::Desk;
use crate::workflow::reconcile::Scope;
use crate::workflow::story::duplicates;
use crate::workflow::sweep::record_all;
use tokio_util::sync::CancellationToken;

/// Finds and prints them, one line a reference.
pub(super) async fn run(common: &Common, arguments: &Duplicates) -> Result<Exit, Failure> {
    let settings = session::settings(common).await?;
    let stop = session::stop_token()?;
    session::at_desk(common, &settings, AuditUse::Write, async |desk| {
        if let Some(name) = &arguments.source {
            session::sources(desk, Some(name))?;
        }
        find(desk, Troubles::of(&settings), &stop, arguments).await
    })
    .await
}

async fn find(
    desk: &Desk,
    mut troubles: Troubles,
    stop: &CancellationToken,
    arguments: &Duplicates,
) -> Result<Exit, Failure> {
    let scope = Scope { since: arguments.since, source: arguments.source.as_deref().map(Into::into) };
    let Some(found) = stop.run_until_cancelled(duplicates(desk, &scope, &|_| {})).await else {
        say::aside("Stopped: nothing is said of what was not looked at yet.");
        return Ok(Exit::Interrupted);
    };
    let unrecorded = record_all(desk, found.checks()).await;
    super::reconcile::tell_unrecorded(&unrecorded, &mut troubles);
    super::reconcile::tell_troubles(&found.reconciled, &mut troubles);
    let groups: Vec<_> = found.groups().collect();
    if arguments.format.csv {
        say::text(duplicate_lines::csv_head())?;
    }
    for (place, (story, duplicate)) in groups.iter().enumerate() {
        let members = story.members.iter().map(|member| &member.found.finding.item);
        let on_record = members.into_iter().all(|item| unrecorded.is_on_record(item));
        match (arguments.format.json, arguments.format.csv) {
            (true, _) => say::line(json::line(&duplicate_lines::to_json(story, duplicate, on_record)))?,
            (_, true) => say::text(duplicate_lines::csv_rows(story, duplicate, on_record))?,
            _ => {
                if place > 0 {
                    say::line("")?;
                }
                for line in duplicate_lines::group_text(duplicate) {
                    say::line(line)?;
                }
                if !on_record {
                    say::line(duplicate_lines::NOT_ON_RECORD)?;
                }
            }
        }
    }
    say::aside(found.summary(&scope));
    if let Some(told) = found.without_item_told(&scope) {
        say::aside(told);
    }
    // What could not be written could not be read either, and was told.
    let unread = groups.iter().filter_map(|(story, _)| story.unread.clone());
    for fault in unread.filter(|_| unrecorded.fault.is_none()) {
        troubles.tell(&fault.into());
    }
    let worst = troubles.worst();
    if worst == Exit::Fine && arguments.fail_on_findings && !groups.is_empty() {
        return Ok(Exit::No);
    }
    Ok(worst)
}
