//! What decisions would do and what came of them, in text and JSON.

use super::failure::{Exit, Failure};
use crate::domain::decision::{Choice, Outcome};
use crate::domain::mask::{MASK, is_hidden_name, mask_text};
use crate::domain::moment::stamp;
use crate::domain::permission::Permission;
use crate::domain::text::clean;
use crate::domain::verdict::Verdict;
use crate::output::{json, say};
use crate::ports::escalation::ShownRequest;
use crate::ports::source::{LateWriter, PlannedStatement};
use crate::workflow::settle::{Prepared, masked_row, masked_statements};
use crate::workflow::{Checked, Decided, Desk};
use serde_json::{Value, json};

/// What a decision would do, as JSON.
pub(super) fn dry_run_json(
    desk: &Desk,
    prepared: &Prepared,
    choice: Choice,
    request: Option<&Result<ShownRequest, String>>,
) -> Value {
    let (permitted, told) = permission_words(&prepared.permission);
    json!({
        "dry_run": true,
        "choice": choice.as_str(),
        "verdict": prepared.checked.verdict().as_str(),
        "advice": prepared.checked.advice().as_str(),
        "reasons": prepared.checked.advised.reasons,
        "permitted": permitted,
        "cautions": told,
        "statements": prepared.statements.as_ref().map(|statements| masked_statements(desk, statements)).ok(),
        "unsupported": prepared.statements.as_ref().err(),
        "late_writer": prepared.late_writer.as_str(),
        "escalates_to": prepared.escalates_to,
        "request": request.and_then(|request| request.as_ref().ok()),
        "request_fault": request.and_then(|request| request.as_ref().err()),
        "row": masked_row(desk, &prepared.row),
    })
}

/// What a decision takes, and what stands against it or could go wrong.
fn permission_words(permission: &Permission) -> (&'static str, Vec<String>) {
    let permitted = match (&permission.against, &permission.second_person) {
        (None, None) => "yes",
        (Some(_), None) => "only with --override",
        (None, Some(_)) => "only with a second person's approval",
        (Some(_), Some(_)) => "only with --override and a second person's approval",
    };
    let told = permission.against.iter().chain(&permission.cautions).chain(&permission.second_person);
    (permitted, told.cloned().collect())
}

/// What a decision would do, as text.
pub(super) fn print_prepared(desk: &Desk, prepared: &Prepared, choice: Choice) -> std::io::Result<()> {
    let (permitted, told) = permission_words(&prepared.permission);
    let masks = desk.masks();
    say::line(format_args!("verdict    {}", prepared.checked.verdict()))?;
    say::line(format_args!("advice     {}", prepared.checked.advice()))?;
    for reason in &prepared.checked.advised.reasons {
        say::line(format_args!("           {}", clean(reason)))?;
    }
    say::line(format_args!("permitted  {permitted}"))?;
    for sentence in told {
        say::line(format_args!("           {}", clean(&sentence)))?;
    }
    match &prepared.statements {
        Err(why) => say::line(format_args!("statements none: {}", clean(why)))?,
        Ok(statements) if statements.is_empty() => {
            say::line(format_args!("statements none: {} writes nothing here", choice.verb()))?;
        }
        Ok(statements) => {
            for statement in statements {
                say::line(format_args!(
                    "statement  {} -- must change {} row(s)",
                    clean(&statement.sql),
                    statement.rows
                ))?;
                for (name, cell) in &statement.parameters {
                    let is_hidden =
                        is_hidden_name(PlannedStatement::column_of(name), &masks) && !cell.is_null();
                    let shown =
                        if is_hidden { MASK.to_owned() } else { mask_text(&cell.shown()).into_owned() };
                    say::line(format_args!("           {name} = {shown}"))?;
                }
            }
        }
    }
    if prepared.late_writer == LateWriter::Unguarded {
        say::line("late       A worker that still lives would overwrite this later.")?;
    }
    if let Some(place) = &prepared.escalates_to {
        say::line(format_args!("sends      {}", clean(place)))?;
    }
    Ok(())
}

/// The request that an escalation would send; its number in the audit is 0 until it has one.
pub(super) fn print_request(request: &Result<ShownRequest, String>) -> std::io::Result<()> {
    let request = match request {
        Ok(request) => request,
        Err(why) => return say::line(format_args!("request    none: {}", clean(why))),
    };
    let masked = |text: &str| clean(&mask_text(text));
    say::line(format_args!("request    {} {}", request.method, masked(&request.url)))?;
    for (name, value) in &request.headers {
        say::line(format_args!("           {}: {}", clean(name), masked(value)))?;
    }
    say::line(format_args!("           {}", masked(&request.body)))?;
    if let Some(asks) = &request.asks_before {
        say::line(format_args!("before     {}", clean(asks)))?;
    }
    say::line(format_args!("repeat     {}", clean(&request.repeat)))
}

/// The exit code of a decision: a proposal is as good an end as an outcome.
pub(super) fn exit_of(decided: &Decided) -> Exit {
    match (&decided.outcome, &decided.record_fault) {
        (Outcome::Applied { .. } | Outcome::Proposed { .. }, None) => Exit::Fine,
        (
            Outcome::Applied { .. }
            | Outcome::Proposed { .. }
            | Outcome::Refused { .. }
            | Outcome::Failed { .. },
            _,
        ) => Exit::of_no(decided.hindrance),
    }
}

/// Tells what came of a decision: JSON or text on stdout, troubles on stderr.
pub(super) fn decided(source: &str, key: &str, decided: &Decided, as_json: bool) {
    if as_json {
        // What was decided is decided, whether or not anybody still reads it.
        let _closed = say::line(json::line(&decided_json(source, key, decided)));
    }
    let verb = decided.choice.verb();
    let entry = decided.entry.map(|entry| format!(" (audit entry {entry})")).unwrap_or_default();
    match &decided.outcome {
        Outcome::Applied { .. } if !as_json => {
            let _closed = say::line(format_args!("{}: {verb} applied{entry}", clean(key)));
        }
        Outcome::Proposed { proposal, why } if !as_json => {
            let (short, until) = (proposal.short_id(), stamp(proposal.until));
            let told = format!("{key}: {verb} proposed as {short}, until {until}{entry}");
            let _closed = say::line(clean(&told));
            let _closed = say::line(format_args!("{why} Nothing was written yet."));
            if let Some(do_next) = &decided.do_next {
                let _closed = say::line(do_next);
            }
        }
        Outcome::Applied { .. } | Outcome::Proposed { .. } => {}
        Outcome::Refused { why, .. } | Outcome::Failed { why } => {
            let what = format!("{key}: {verb} {}: {why}", decided.outcome.as_str());
            say::aside(Failure::new(Exit::No, what, decided.do_next.clone().unwrap_or_default()));
        }
    }
    let goes_on = matches!(decided.outcome, Outcome::Applied { .. } | Outcome::Proposed { .. });
    if let Some(why) = decided.checked.as_ref().and_then(why_unknown).filter(|_| goes_on && !as_json) {
        say::aside(clean(&format!("{key}: the verdict is `{}`: {why}", Verdict::Unknown)));
    }
    if let Some(fault) = &decided.record_fault {
        say::aside(Failure::from(fault.clone()));
    }
}

/// Why nothing that counts is known; `None` where something is.
fn why_unknown(checked: &Checked) -> Option<String> {
    (checked.verdict() == Verdict::Unknown).then(|| checked.judgement.reasons.join(" "))
}

fn decided_json(source: &str, key: &str, decided: &Decided) -> Value {
    let (why, proposal) = match &decided.outcome {
        Outcome::Applied { .. } => (None, None),
        Outcome::Proposed { proposal, why } => (Some(why), Some(proposal)),
        Outcome::Refused { why, .. } | Outcome::Failed { why } => (Some(why), None),
    };
    let mut line = json!({
        "source": source,
        "key": key,
        "choice": decided.choice.as_str(),
        "outcome": decided.outcome.as_str(),
        "why": why,
        "verdict": decided.checked.as_ref().map(|checked| checked.verdict().as_str()),
        "reasons": decided.checked.as_ref().map(|checked| &checked.judgement.reasons),
        "decision": decided.decision.to_string(),
        "audit": decided.entry,
    });
    if let Some(proposal) = proposal {
        line["short"] = json!(proposal.short_id());
        line["until"] = json!(stamp(proposal.until));
    }
    line
}
