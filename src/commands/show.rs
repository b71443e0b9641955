//! `unstuck show`: everything that is known of one item.

use super::arguments::{Common, Show};
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse, Troubles};
use crate::output::{json, say, story_lines};
use crate::workflow::check::record_checks;
use crate::workflow::settle::{OrderFault, look_up};
use crate::workflow::story::{Story, story};
use crate::workflow::{Desk, Found};
use std::sync::Arc;

/// Tells the story of one item.
pub(super) async fn run(common: &Common, arguments: &Show) -> Result<Exit, Failure> {
    let settings = session::settings(common).await?;
    let stop = session::stop_token()?;
    let audit = if arguments.check { AuditUse::Write } else { AuditUse::Read };
    session::at_desk(common, &settings, audit, async |desk| {
        let telling = tell(desk, Troubles::of(&settings), arguments);
        stop.run_until_cancelled(telling).await.unwrap_or(Ok(Exit::Interrupted))
    })
    .await
}

async fn tell(desk: &Arc<Desk>, mut troubles: Troubles, arguments: &Show) -> Result<Exit, Failure> {
    let sources = session::sources(desk, arguments.source.as_deref())?;
    let key = arguments.key.as_str();
    let mut having: Vec<(Arc<str>, Found)> = Vec::new();
    for source in &sources {
        let name = Arc::clone(&source.facts().name);
        match look_up(desk, &name, key).await {
            Ok(Some((found, _))) => having.push((name, found)),
            Ok(None) => {}
            // Nobody was going to change anything.
            Err(OrderFault::Source(fault)) => troubles.tell(&fault.into()),
            Err(fault) => troubles.tell(&fault.into()),
        }
    }
    if having.len() > 1 && !share_a_reference(desk, &having) {
        let names: Vec<&str> = having.iter().map(|(name, _)| &**name).collect();
        return Err(Failure::usage(
            format!("several sources have an item `{key}`: {}", names.join(", ")),
            "Name one with --source.",
        ));
    }
    // Where no source has the row, a log or the record may still tell of it.
    let names: Vec<Arc<str>> = match having.first() {
        Some((name, _)) => vec![Arc::clone(name)],
        None if troubles.worst() < Exit::Usage => {
            sources.iter().map(|source| Arc::clone(&source.facts().name)).collect()
        }
        None => Vec::new(),
    };
    for name in names {
        match story(desk, &name, key, arguments.check).await {
            Ok(Some(told)) => {
                let on_record = put_on_record(desk, &told, &mut troubles).await;
                print(&told, on_record, arguments.json)?;
                if let Some(fault) = &told.unread {
                    troubles.tell(&fault.clone().into());
                }
                return Ok(troubles.worst());
            }
            Ok(None) => {}
            // Another source may still have its row.
            Err(fault @ OrderFault::Unread(_)) => troubles.tell(&fault.into()),
            Err(fault) => return Err(fault.into()),
        }
    }
    if troubles.worst() < Exit::Usage {
        troubles.tell(&Failure::new(
            Exit::No,
            format!("no source, no log and no record has an item `{key}`"),
            "`unstuck list` shows the keys of the findings.",
        ));
    }
    Ok(troubles.worst())
}

fn print(told: &Story, on_record: Option<bool>, as_json: bool) -> Result<(), Failure> {
    if as_json {
        return Ok(say::line(json::line(&story_lines::to_json(told, on_record)))?);
    }
    for line in story_lines::to_text(told, on_record) {
        say::line(line)?;
    }
    Ok(())
}

/// A check is on record, wherever it was made: whether this one is. `None` where none was made.
async fn put_on_record(desk: &Desk, told: &Story, troubles: &mut Troubles) -> Option<bool> {
    let (Some(member), Some(checked)) = (told.members.first(), &told.checked) else { return None };
    let recorded = record_checks(desk, &[(&member.found, checked)]).await;
    let is_on_record = recorded.is_ok();
    if let Some(fault) = recorded.unwrap_or_else(Some) {
        troubles.tell(&fault.into());
    }
    troubles.tell_unanswered(checked);
    Some(is_on_record)
}

/// Items of one reference are told in one story, whichever is asked for.
fn share_a_reference(desk: &Desk, having: &[(Arc<str>, Found)]) -> bool {
    let of = |found: &Found| {
        let check = desk.kind(&found.finding.item.kind).policy.check.clone();
        found.reference.clone().ok().zip(check)
    };
    let mut all = having.iter().map(|(_, found)| of(found));
    let first = all.next().flatten();
    first.is_some() && all.all(|other| other == first)
}
