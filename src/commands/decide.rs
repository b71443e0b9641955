//! `unstuck decide`: settle one item, or many, with a reason.

use super::arguments::{ChoiceArguments, Common, Decide};
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse, Troubles};
use super::tell;
use crate::domain::advice::Advice;
use crate::domain::decision::{Choice, Outcome, Reason};
use crate::domain::evidence::{FaultKind, Hindrance};
use crate::domain::plan::Wish;
use crate::domain::text::{clean, count_of};
use crate::output::{json, say};
use crate::ports::source::Source;
use crate::runtime::progress::Progress;
use crate::workflow::scan::Pages;
use crate::workflow::settle::{self, look_up};
use crate::workflow::sweep::{Recorded, answers, plan_all, recorded};
use crate::workflow::watch::facts;
use crate::workflow::{Checked, Desk, Found, Order};
use futures_util::StreamExt;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Carries out the decision, or shows it.
pub(super) async fn run(common: &Common, arguments: &Decide) -> Result<Exit, Failure> {
    let reason = reason_of(&arguments.reason)?;
    let settings = session::settings(common).await?;
    // A key may be in the database that could not be read: nothing is decided while that is open.
    if let Some(fault) = settings.unread.first() {
        return Err(fault.clone().into());
    }
    session::at_desk(common, &settings, AuditUse::Write, async |desk| {
        if desk.read_only && !arguments.dry_run {
            return Err(settle::OrderFault::ReadOnly.into());
        }
        if !arguments.dry_run && desk.record.is_ok() {
            session::recover(desk).await?;
        }
        let choice = choice_of(arguments.choice);
        match &arguments.key {
            Some(key) => one(desk, arguments, choice, reason, key).await,
            None => many(desk, &settings, arguments, choice, reason).await,
        }
    })
    .await
}

/// The reason that was typed.
pub(super) fn reason_of(typed: &str) -> Result<Reason, Failure> {
    Reason::new(typed)
        .ok_or_else(|| Failure::usage("the reason says nothing", "Say why, in words: it goes on record."))
}

fn choice_of(arguments: ChoiceArguments) -> Choice {
    match (arguments.done, arguments.retry) {
        (true, _) => Choice::MarkDone,
        (false, true) => Choice::Retry,
        (false, false) => Choice::Escalate,
    }
}

async fn one(
    desk: &Arc<Desk>,
    arguments: &Decide,
    choice: Choice,
    reason: Reason,
    key: &str,
) -> Result<Exit, Failure> {
    let source = find_source(desk, arguments.source.as_deref(), key).await?;
    if arguments.dry_run {
        return dry_run(desk, &source, key, (choice, &reason), (arguments.insists, arguments.json)).await;
    }
    let order = Order {
        source,
        key: key.into(),
        shown: None,
        shown_verdict: None,
        choice,
        reason,
        insists: arguments.insists,
    };
    let decided = settle::decide(desk, order.clone()).await?;
    tell::decided(&order.source, &order.key, &decided, arguments.json);
    Ok(tell::exit_of(&decided))
}

/// The source of a key: the named one, or the only one that has it.
async fn find_source(desk: &Desk, named: Option<&str>, key: &str) -> Result<Arc<str>, Failure> {
    let sources = session::sources(desk, named)?;
    if let ([only], Some(_) | None) = (&sources[..], named) {
        return Ok(Arc::clone(&only.facts().name));
    }
    let mut having = Vec::new();
    for source in &sources {
        if look_up(desk, &source.facts().name, key).await?.is_some() {
            having.push(Arc::clone(&source.facts().name));
        }
    }
    match having.as_slice() {
        [only] => Ok(Arc::clone(only)),
        [] => Err(Failure::new(
            Exit::No,
            format!("no source has an item `{key}`"),
            "`unstuck list` shows the keys of the findings.",
        )),
        several => Err(Failure::usage(
            format!("several sources have an item `{key}`: {}", several.join(", ")),
            "Name one with --source.",
        )),
    }
}

async fn dry_run(
    desk: &Desk,
    source: &str,
    key: &str,
    (choice, reason): (Choice, &Reason),
    (insists, as_json): (bool, bool),
) -> Result<Exit, Failure> {
    let prepared = match settle::prepare(desk, source, key, choice, None).await? {
        Ok(prepared) => prepared,
        Err(not_open) => {
            let what = format!("{key}: {}", not_open.why);
            return Err(Failure::new(Exit::No, what, "Look at it as it is now: `unstuck list`."));
        }
    };
    if let Err(fault) = settle::record_dry_run(desk, source, key, choice, &prepared).await {
        say::aside(Failure::from(fault));
    }
    let request = match choice {
        Choice::Escalate => settle::shown_escalation(desk, &prepared, reason),
        Choice::MarkDone | Choice::Retry => None,
    };
    if as_json {
        say::line(json::line(&tell::dry_run_json(desk, &prepared, choice, request.as_ref())))?;
    } else {
        say::line("Dry run: nothing was written.")?;
        tell::print_prepared(desk, &prepared, choice)?;
        if let Some(request) = &request {
            tell::print_request(request)?;
        }
    }
    let is_permitted = prepared.permission.against.is_none() || insists;
    let is_possible = is_permitted && prepared.statements.is_ok();
    Ok(if is_possible { Exit::Fine } else { Exit::of_no(prepared.checked.hindrance()) })
}

/// What a bulk decision came to.
#[derive(Debug, Default)]
struct Summary {
    applied: usize,
    proposed: usize,
    refused: Vec<Arc<str>>,
    failed: Vec<Arc<str>>,
    left_out: usize,
    /// The worst of what stood in the way of those that failed or were refused.
    hindrance: Option<Hindrance>,
}

async fn many(
    desk: &Arc<Desk>,
    settings: &crate::config::Settings,
    arguments: &Decide,
    choice: Choice,
    reason: Reason,
) -> Result<Exit, Failure> {
    let filter = session::filter(arguments.filter.as_deref())?;
    let stop = session::stop_token()?;
    let mut troubles = Troubles::of(settings);
    let found =
        find_all(desk, &session::sources(desk, arguments.source.as_deref())?, &filter, &mut troubles).await;
    let checked = check_all(desk, found, &stop, &mut troubles).await;
    let passing = checked.into_iter().filter(|(found, checked)| filter.passes(&facts(found, Some(checked))));
    let mut summary = Summary::default();
    let mut orders = Vec::new();
    for (found, checked) in passing {
        if fits(choice, checked.advice()) || arguments.insists {
            orders.push(order_of(&found, &checked, choice, &reason, arguments.insists));
        } else {
            summary.left_out += 1;
            if let Some(why) = unasked(&checked) {
                let failure = Failure::new(
                    Exit::No,
                    format!("{}: left out: {why}", clean(found.finding.item.key.as_str())),
                    "Mend its row or its kind's templates; the others are decided without it.",
                );
                troubles.tell(&failure);
            }
        }
    }
    if arguments.dry_run {
        for order in &orders {
            say::line(format_args!(
                "would {}: {} {}",
                choice.verb(),
                clean(&order.source),
                clean(&order.key)
            ))?;
        }
        say::line(format_args!(
            "{} to {}, {} left out (their advice is another)",
            orders.len(),
            choice.verb(),
            summary.left_out
        ))?;
        return Ok(troubles.worst());
    }
    if !confirmed(orders.len(), choice, arguments.filter.as_deref())? {
        return Err(Failure::new(Exit::No, "not confirmed: nothing was written", "Type the count to go on."));
    }
    for order in orders {
        if stop.is_cancelled() {
            troubles.note(Exit::Interrupted);
            break;
        }
        settle_one(desk, order, arguments.json, &mut summary).await?;
    }
    tell_summary(&summary, choice);
    let has_losses = !summary.refused.is_empty() || !summary.failed.is_empty();
    if has_losses {
        troubles.note(Exit::of_no(summary.hindrance));
    }
    Ok(troubles.worst())
}

/// Why an item could not even be asked about, if so: what is wrong with itself, not with its provider.
fn unasked(checked: &Checked) -> Option<&str> {
    let fault = checked.judgement.fault.as_ref()?;
    (fault.kind == FaultKind::Question).then_some(&*fault.detail)
}

/// A bulk decision takes only the items whose advice it is; anybody may hand an item on.
fn fits(choice: Choice, advice: Advice) -> bool {
    match choice {
        Choice::MarkDone => advice == Advice::MarkDone,
        Choice::Retry => advice == Advice::Retry,
        Choice::Escalate => true,
    }
}

fn order_of(found: &Found, checked: &Checked, choice: Choice, reason: &Reason, insists: bool) -> Order {
    let item = &found.finding.item;
    Order {
        source: Arc::clone(&item.source),
        key: item.key.as_str().into(),
        shown: Some(item.clone()),
        shown_verdict: Some(checked.verdict()),
        choice,
        reason: reason.clone(),
        insists,
    }
}

async fn find_all(
    desk: &Desk,
    sources: &[Arc<dyn Source>],
    filter: &crate::domain::filter::Filter,
    troubles: &mut Troubles,
) -> Vec<Arc<Found>> {
    let mut found = Vec::new();
    // All begin at once: one that does not answer holds no other up.
    let begun: Vec<_> = sources.iter().map(|source| Pages::in_order(desk, source)).collect();
    for mut pages in begun {
        while let Some(read) = pages.next().await {
            match read {
                Ok(page) => {
                    let passing = page.found.into_iter().filter(|found| filter.may_pass(&found.facts()));
                    found.extend(passing.map(Arc::new));
                }
                Err(fault) => troubles.tell(&fault.into()),
            }
        }
    }
    found
}

async fn check_all(
    desk: &Desk,
    found: Vec<Arc<Found>>,
    stop: &CancellationToken,
    troubles: &mut Troubles,
) -> Vec<(Arc<Found>, Arc<Checked>)> {
    let progress = Progress::new("checking", found.len());
    let asked = answers(desk, plan_all(desk, found, Wish::Cheapest));
    let mut batches = recorded(desk, asked.take_until(stop.cancelled()));
    let mut all = Vec::new();
    while let Some(Recorded { answered, are_on_record, fault }) = batches.next().await {
        if let Some(fault) = fault {
            progress.aside(|| {
                if are_on_record {
                    say::aside(Failure::from(fault));
                } else {
                    troubles.tell(&Failure::unrecorded(fault));
                }
            });
        }
        for (_, checked) in &answered {
            progress.aside(|| troubles.tell_unanswered(checked));
            progress.advance();
        }
        all.extend(answered);
    }
    all
}

/// At a terminal a person types the count; a script has said what it wants.
fn confirmed(count: usize, choice: Choice, filter: Option<&str>) -> Result<bool, Failure> {
    if count == 0 || !std::io::stdin().is_terminal() {
        return Ok(true);
    }
    eprint!(
        "{} {} matching `{}`? Type {count}: ",
        choice.verb(),
        count_of(count, "item"),
        clean(filter.unwrap_or(""))
    );
    std::io::stderr().flush()?;
    let mut typed = String::new();
    std::io::stdin().read_line(&mut typed)?;
    Ok(typed.trim() == count.to_string())
}

async fn settle_one(
    desk: &Arc<Desk>,
    order: Order,
    as_json: bool,
    summary: &mut Summary,
) -> Result<(), Failure> {
    match settle::decide(desk, order.clone()).await {
        Ok(decided) => {
            tell::decided(&order.source, &order.key, &decided, as_json);
            match &decided.outcome {
                Outcome::Applied { .. } => summary.applied += 1,
                Outcome::Proposed { .. } => summary.proposed += 1,
                Outcome::Refused { .. } => summary.refused.push(order.key),
                Outcome::Failed { .. } => summary.failed.push(order.key),
            }
            if !matches!(decided.outcome, Outcome::Applied { .. } | Outcome::Proposed { .. }) {
                summary.hindrance = summary.hindrance.max(decided.hindrance);
            }
            Ok(())
        }
        // Without an audit nothing more can be decided; a source that cannot be read skips its item.
        Err(
            fault @ (settle::OrderFault::Record(_)
            | settle::OrderFault::Broken
            | settle::OrderFault::ReadOnly),
        ) => Err(fault.into()),
        Err(
            fault @ (settle::OrderFault::Source(_)
            | settle::OrderFault::NoSuchSource(_)
            | settle::OrderFault::Unread(_)
            | settle::OrderFault::NoSuchProposal(_)),
        ) => {
            let failure = Failure::from(fault);
            if failure.exit == Exit::Unreachable {
                summary.hindrance = Some(Hindrance::Unreachable);
            }
            say::aside(failure);
            summary.failed.push(order.key);
            Ok(())
        }
    }
}

fn tell_summary(summary: &Summary, choice: Choice) {
    let ids = |keys: &[Arc<str>]| {
        let shown: Vec<String> = keys.iter().map(|key| clean(key)).collect();
        if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) }
    };
    let proposed =
        if summary.proposed == 0 { String::new() } else { format!(" {} proposed,", summary.proposed) };
    say::aside(format_args!(
        "{}: {} applied,{proposed} {} refused{}, {} failed{}, {} left out (their advice is another)",
        choice.verb(),
        summary.applied,
        summary.refused.len(),
        ids(&summary.refused),
        summary.failed.len(),
        ids(&summary.failed),
        summary.left_out,
    ));
}
