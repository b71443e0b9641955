//! `unstuck proposals`, `approve` and `withdraw`: what waits for a second person.

use super::arguments::{Approve, Common, Proposals, Withdraw};
use super::decide::reason_of;
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse};
use super::tell;
use crate::config::Database;
use crate::domain::decision::Reason;
use crate::domain::moment::stamp;
use crate::domain::proposal::Proposal;
use crate::domain::text::{clean, clean_cut};
use crate::output::{json, say};
use crate::workflow::Desk;
use crate::workflow::settle::approve::{ApprovalOrder, Review, approve, review};
use crate::workflow::settle::propose::{Called, find, waiting, withdraw};
use crate::workflow::settle::{OrderFault, record_dry_run};
use serde_json::{Value, json};
use std::sync::Arc;

/// How much of a name is shown.
const NAME_CHARS_MAX: usize = 60;

/// Lists the proposals that wait.
pub(super) async fn list(common: &Common, arguments: &Proposals) -> Result<Exit, Failure> {
    let settings = session::settings(common).await?;
    // Where nothing was ever recorded, nothing waits.
    if matches!(&settings.audit, Database::File(path) if !path.exists()) {
        return print_all(&[], arguments);
    }
    session::at_desk(common, &settings, AuditUse::Read, async |desk| {
        print_all(&waiting(desk).await?, arguments)
    })
    .await
}

fn print_all(waiting: &[Proposal], arguments: &Proposals) -> Result<Exit, Failure> {
    for proposal in waiting {
        if arguments.json {
            say::line(json::line(&proposal_json(proposal)))?;
        } else {
            print(proposal)?;
        }
    }
    if waiting.is_empty() && !arguments.json {
        say::aside("No proposals wait for a second person.");
    }
    Ok(Exit::Fine)
}

fn proposal_json(proposal: &Proposal) -> Value {
    json!({
        "decision": proposal.id.to_string(),
        "short": proposal.short_id(),
        "source": &*proposal.source,
        "key": &*proposal.key,
        "choice": proposal.choice.as_str(),
        "operator": &*proposal.proposer.name,
        "origin": proposal.proposer.origin(),
        "reason": proposal.reason.as_str(),
        "insisted": proposal.insists,
        "verdict": proposal.sight.verdict.as_str(),
        "advice": proposal.advice,
        "effects": proposal.sight.effects,
        "proposed_at": stamp(proposal.at),
        "until": stamp(proposal.until),
        "audit": proposal.entry,
    })
}

/// A proposal in two lines: what, and who with which words.
fn print(proposal: &Proposal) -> std::io::Result<()> {
    let against = if proposal.insists { ", AGAINST THE ADVICE" } else { "" };
    say::line(format_args!(
        "{}  {}  {} {}: {}, effects {}{against}",
        proposal.short_id(),
        proposal.choice.verb(),
        clean(&proposal.source),
        clean(&proposal.key),
        proposal.sight.verdict,
        clean(&proposal.sight.shown()),
    ))?;
    say::line(format_args!(
        "          by {} ({}) at {}, until {}: {}",
        clean_cut(&proposal.proposer.name, NAME_CHARS_MAX),
        clean_cut(&proposal.proposer.origin(), NAME_CHARS_MAX),
        stamp(proposal.at),
        stamp(proposal.until),
        clean(proposal.reason.as_str()),
    ))
}

/// Approves a proposal and carries it out, or shows what that would do.
pub(super) async fn approve_one(common: &Common, arguments: &Approve) -> Result<Exit, Failure> {
    at_desk(common, &arguments.reason, arguments.dry_run, async |desk, reason| {
        let proposal = called(desk, &arguments.id).await?;
        if arguments.dry_run {
            return show(desk, &proposal, arguments).await;
        }
        let order = ApprovalOrder { decision: proposal.id, reason, insists: arguments.insists };
        let decided = approve(desk, order).await?;
        tell::decided(&proposal.source, &proposal.key, &decided, arguments.json);
        Ok(tell::exit_of(&decided))
    })
    .await
}

/// Takes a proposal back, or rejects somebody else's.
pub(super) async fn withdraw_one(common: &Common, arguments: &Withdraw) -> Result<Exit, Failure> {
    at_desk(common, &arguments.reason, false, async |desk, reason| {
        take_back(desk, &called(desk, &arguments.id).await?, &reason).await
    })
    .await
}

async fn take_back(desk: &Desk, proposal: &Proposal, reason: &Reason) -> Result<Exit, Failure> {
    let (short, key) = (proposal.short_id(), &proposal.key);
    let withdrawn = match withdraw(desk, proposal.id, reason).await? {
        Ok(withdrawn) => withdrawn,
        Err(why) => {
            return Err(Failure::new(
                Exit::No,
                format!("{key}: {short} not withdrawn: {why}"),
                why.do_next(),
            ));
        }
    };
    let did = if withdrawn.by_proposer { "withdrawn" } else { "rejected" };
    let verb = proposal.choice.verb();
    say::line(clean(&format!("{key}: {verb} {short} {did} (audit entry {})", withdrawn.entry)))?;
    Ok(Exit::Fine)
}

/// The desk and the reason of somebody who is about to write.
async fn at_desk(
    common: &Common,
    reason: &str,
    only_looks: bool,
    work: impl AsyncFnOnce(&Arc<Desk>, Reason) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let reason = reason_of(reason)?;
    let settings = session::settings(common).await?;
    session::at_desk(common, &settings, AuditUse::Write, async |desk| {
        if desk.read_only && !only_looks {
            return Err(OrderFault::ReadOnly.into());
        }
        if desk.record.is_ok() && !only_looks {
            session::recover(desk).await?;
        }
        work(desk, reason).await
    })
    .await
}

/// The proposal that somebody calls by an id or its end.
async fn called(desk: &Desk, typed: &str) -> Result<Proposal, Failure> {
    let lists = "`unstuck proposals` lists those that wait.";
    match find(desk, typed).await? {
        Called::One(proposal) => Ok(*proposal),
        Called::Unknown => Err(Failure::new(Exit::No, format!("there is no proposal `{typed}`"), lists)),
        Called::NoId => Err(Failure::usage(
            format!("`{typed}` is no proposal's id"),
            format!("Write the id, or at least 8 characters of its end; {lists}"),
        )),
        Called::Several(ids) => {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            Err(Failure::new(
                Exit::No,
                format!("several proposals end in `{typed}`: {}", ids.join(", ")),
                "Write more of its end.",
            ))
        }
    }
}

/// Shows what an approval would do: what the proposer saw, what it is now, and what stands against it.
async fn show(desk: &Desk, proposal: &Proposal, arguments: &Approve) -> Result<Exit, Failure> {
    let review = review(desk, proposal.id).await?;
    if let Ok(prepared) = &review.now
        && let Err(fault) =
            record_dry_run(desk, &proposal.source, &proposal.key, proposal.choice, prepared).await
    {
        say::aside(Failure::from(fault));
    }
    if arguments.json {
        say::line(json::line(&review_json(desk, &review)))?;
    } else {
        print_review(desk, &review)?;
    }
    let insists_enough = arguments.insists || !proposal.insists;
    let is_possible = review.why_not.is_none()
        && insists_enough
        && review.now.as_ref().is_ok_and(|now| now.statements.is_ok());
    let hindrance = review.now.as_ref().ok().and_then(|now| now.checked.hindrance());
    Ok(if is_possible { Exit::Fine } else { Exit::of_no(hindrance) })
}

fn review_json(desk: &Desk, review: &Review) -> Value {
    json!({
        "dry_run": true,
        "proposal": proposal_json(&review.proposal),
        "why_not": review.why_not.as_ref().map(ToString::to_string),
        "now": review.now.as_ref().ok().map(|now| tell::dry_run_json(desk, now, review.proposal.choice, None)),
    })
}

fn print_review(desk: &Desk, review: &Review) -> std::io::Result<()> {
    say::line("Dry run: nothing was written.")?;
    print(&review.proposal)?;
    match &review.now {
        Ok(prepared) => {
            say::line("Now:")?;
            tell::print_prepared(desk, prepared, review.proposal.choice)?;
        }
        Err(not_open) => say::line(format_args!("now        {}", clean(&not_open.why)))?,
    }
    match &review.why_not {
        Some(why) => say::line(format_args!("approve    no: {}", clean(&why.to_string()))),
        None if review.proposal.insists => say::line("approve    only with --override"),
        None => say::line("approve    yes"),
    }
}
