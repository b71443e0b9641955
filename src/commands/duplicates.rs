//! `unstuck duplicates`: what happened more than once, with everything that a refund needs. It refunds nothing.

use super::arguments::{Common, Duplicates};
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse, Troubles};
use crate::domain::duplicates::{Duplicate, sums};
use crate::domain::evidence::Effect;
use crate::domain::moment::span;
use crate::domain::text::count_of;
use crate::output::{duplicate_lines, json, say};
use crate::workflow::Desk;
use crate::workflow::reconcile::Scope;
use crate::workflow::story::{Doubles, duplicates};
use crate::workflow::sweep::recorded;
use futures_util::{StreamExt, stream};
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
    let Some(found) = stop.run_until_cancelled(duplicates(desk, &scope)).await else {
        say::aside("Stopped: nothing is said of what was not looked at yet.");
        return Ok(Exit::Interrupted);
    };
    let mut batches = recorded(desk, stream::iter(found.reconciled.items.clone()));
    while let Some(batch) = batches.next().await {
        if let Err(fault) = batch.outcome {
            troubles.tell(&Failure::new(
                Exit::Unreachable,
                format!("recording the checks: {}", fault.what),
                fault.do_next,
            ));
        }
    }
    super::reconcile::tell_troubles(&found.reconciled, &mut troubles);
    let groups: Vec<_> =
        found.stories.iter().filter_map(|story| Some((story, story.duplicate.as_ref()?))).collect();
    if arguments.format.csv {
        say::text(duplicate_lines::csv_head())?;
    }
    for (place, (story, duplicate)) in groups.iter().enumerate() {
        match (arguments.format.json, arguments.format.csv) {
            (true, _) => say::line(json::line(&duplicate_lines::to_json(story, duplicate)))?,
            (_, true) => say::text(duplicate_lines::csv_rows(story, duplicate))?,
            _ => {
                if place > 0 {
                    say::line("")?;
                }
                for line in duplicate_lines::group_text(duplicate) {
                    say::line(line)?;
                }
            }
        }
    }
    let groups: Vec<&Duplicate> = groups.into_iter().map(|(_, duplicate)| duplicate).collect();
    say::aside(summary(&found, &groups, &scope));
    if let Some(told) = without_an_item(&found, &scope) {
        say::aside(told);
    }
    let worst = troubles.worst();
    if worst == Exit::Fine && arguments.fail_on_findings && !groups.is_empty() {
        return Ok(Exit::No);
    }
    Ok(worst)
}

/// What happened twice under a reference that no item has has no story: where to see it.
fn without_an_item(found: &Doubles, scope: &Scope) -> Option<String> {
    if scope.source.is_some() {
        return Some("References that no item has are looked at without --source alone.".to_owned());
    }
    let told = match found.doubled_without_item {
        0 => return None,
        1 => "1 reference that no item has happened more than once too".to_owned(),
        many => format!("{many} references that no item has happened more than once too"),
    };
    Some(format!("{told}: `unstuck reconcile` shows what no item accounts for."))
}

fn summary(found: &Doubles, groups: &[&Duplicate], scope: &Scope) -> String {
    let looked = format!(
        "{} and {} of the last {} were matched",
        count_of(found.reconciled.items_matched, "item"),
        count_of(found.reconciled.effects_listed, "effect"),
        span(scope.since)
    );
    let alone = match found.asked_alone {
        0 => String::new(),
        count => format!(", {} asked about one by one", count_of(count, "finding")),
    };
    if groups.is_empty() {
        return format!("{looked}{alone}: nothing happened twice in what could be read.");
    }
    let beyond: Vec<&Effect> = groups.iter().flat_map(|group| group.happened().skip(1)).collect();
    let (sums, unpriced) = sums(&beyond);
    let mut parts: Vec<String> = sums.iter().map(ToString::to_string).collect();
    if unpriced > 0 {
        let tell = if unpriced == 1 { "tells" } else { "tell" };
        parts.push(format!("{} that {tell} no amount", count_of(unpriced, "effect")));
    }
    let money = if parts.is_empty() { "no money".to_owned() } else { parts.join(" and ") };
    format!(
        "{looked}{alone}: {} happened more than once; beyond the first: {money}.",
        count_of(groups.len(), "reference")
    )
}
