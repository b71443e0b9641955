//! `unstuck doctor --provider NAME --reference X`: one question, step by step, and what it comes to.

mod example;

use crate::adapters::http::HttpProvider;
use crate::adapters::http::trial::{Rules, Trial, TriedOnce};
use crate::commands::arguments::{Common, Doctor};
use crate::commands::failure::{Exit, Failure};
use crate::commands::session;
use crate::config::Settings;
use crate::domain::attempt::Attempts;
use crate::domain::cell::Cell;
use crate::domain::evidence::{Answer, Effect, EffectState};
use crate::domain::moment::{self, Reading, TimeFormat, Zone, parse_duration, span, stamp};
use crate::domain::policy::CheckName;
use crate::domain::text::{clean, clean_cut};
use crate::domain::verdict::{Judgement, judge};
use crate::output::{json, say};
use crate::ports::provider::{Provider, Question};
use crate::wiring;
use crate::workflow::check::WINDOW_MARGIN;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::path::Path;

/// How many effects of a page are told that are not ours.
const OTHERS_TOLD_MAX: usize = 5;
const SHOWN_CHARS_MAX: usize = 200;

/// Asks once, and tells everything.
pub(super) async fn run(
    common: &Common,
    arguments: &Doctor,
    provider: &str,
    reference: &str,
) -> Result<Exit, Failure> {
    let settings = session::settings(common).await?;
    let name = operation(&settings, provider, arguments.operation.as_deref())?;
    let provider = wiring::trial(&settings, &name)?;
    let clock = wiring::clock();
    let asked_at = clock.now();
    let tried = arguments.tried.as_deref().map(|text| tried_at(text, asked_at)).transpose()?;
    let question = Question {
        reference: reference.to_owned(),
        from: tried.map(|at| at - WINDOW_MARGIN),
        fields: arguments.fields.iter().cloned().collect(),
        mask: settings.kinds.values().flat_map(|kind| kind.policy.mask.iter().cloned()).collect(),
    };
    // Before anybody is asked: what cannot be kept need not be asked for.
    if let Some(folder) = &arguments.record {
        example::prepare(folder)?;
    }
    let trial = provider.try_out(&question).await;
    let attempts = Attempts { first: tried, last: tried };
    let judgement = judge(trial.answer.clone(), provider.facts().clocks, attempts, None, asked_at);
    let case =
        Case { name: &name, question: &question, asked_at, tried, trial: &trial, judgement: &judgement };
    tell(&provider, &case, arguments.json)?;
    if let Some(folder) = &arguments.record {
        keep(&provider, &case, folder, arguments.json)?;
    }
    Ok(match &trial.answer {
        Answer::Complete { .. } => Exit::Fine,
        Answer::Fault(fault) => Exit::of_no(fault.kind.hindrance()),
    })
}

/// One question with what came of it.
struct Case<'a> {
    name: &'a CheckName,
    question: &'a Question,
    asked_at: DateTime<Utc>,
    tried: Option<DateTime<Utc>>,
    trial: &'a Trial,
    judgement: &'a Judgement,
}

fn operation(settings: &Settings, provider: &str, named: Option<&str>) -> Result<CheckName, Failure> {
    let Some((preset, _)) = settings.providers.get(provider) else {
        let known: Vec<&str> = settings.providers.keys().map(|name| &**name).collect();
        let there = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Failure::usage(
            format!("no provider `{provider}` is configured (there is {there})"),
            "Write a `[providers.NAME]` section; docs/providers.md shows one.",
        ));
    };
    let known: Vec<&str> = preset.operations.keys().map(String::as_str).collect();
    let operation = match (named, known.as_slice()) {
        (Some(name), _) if known.contains(&name) => name,
        (None, [only]) => only,
        _ => {
            return Err(Failure::usage(
                format!("provider `{provider}` has the operations {}", known.join(", ")),
                "Name one of them with --operation.",
            ));
        }
    };
    Ok(CheckName { provider: provider.into(), operation: operation.into() })
}

/// A moment, or how long ago it was.
fn tried_at(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, Failure> {
    if let Ok(ago) = parse_duration(text) {
        return Ok(now - ago);
    }
    match moment::read(&Cell::text(text), TimeFormat::Iso, Zone::Utc) {
        Reading::Known(at) => Ok(at),
        _ => Err(Failure::usage(
            format!("--tried `{text}` is no moment"),
            "Write how long ago it was (3h), or when (2026-11-29T14:02:05Z).",
        )),
    }
}

fn tell(provider: &HttpProvider, case: &Case<'_>, as_json: bool) -> std::io::Result<()> {
    let mut steps = Steps { as_json };
    let facts = provider.facts();
    steps.say(
        "question",
        &json!({
            "check": &*facts.name,
            "place": facts.place,
            "reference": case.question.reference,
            "tried_at": case.tried.map(stamp),
            "asked_at": stamp(case.asked_at),
        }),
    )?;
    for (at, tried) in case.trial.tries.iter().enumerate() {
        exchange(&mut steps, at + 1, tried, &case.trial.rules)?;
    }
    steps.say("absence", &json!({ "an_absence_is": case.trial.rules.absence }))?;
    for line in clocks(case) {
        steps.say("clock", &line)?;
    }
    let judgement = case.judgement;
    let effects: Vec<Value> = judgement.effects.iter().map(effect_json).collect();
    steps.say(
        "verdict",
        &json!({
            "verdict": judgement.verdict.as_str(),
            "effects": judgement.happened_count(),
            "settled": judgement.settled,
            "reasons": judgement.reasons,
            "all_effects": effects,
        }),
    )
}

fn exchange(steps: &mut Steps, nth: usize, tried: &TriedOnce, rules: &Rules) -> std::io::Result<()> {
    let pairs = |pairs: &[(String, String)]| -> Vec<String> {
        pairs.iter().map(|(name, value)| format!("{name}: {value}")).collect()
    };
    steps.say(
        "request",
        &json!({
            "nth": nth,
            "request": format!("{} {}", tried.method, tried.url),
            "headers": pairs(&tried.headers),
            "body": tried.body,
        }),
    )?;
    steps.say(
        "answer",
        &json!({
            "nth": nth,
            "status": tried.status,
            "took_ms": tried.took_ms,
            "bytes": tried.answer_bytes,
            "headers": pairs(&tried.answer_headers),
            "body": tried.answer_body,
            "no_answer_because": tried.fault.as_ref().map(|fault| &fault.detail),
        }),
    )?;
    let Some(told) = &tried.told else { return Ok(()) };
    steps.say(
        "page",
        &json!({
            "nth": nth,
            "items": told.items,
            "matched_by": rules.matching,
            "further": told.further,
            "counts_for_nothing_because": told.fault.as_ref().map(|fault| &fault.detail),
        }),
    )?;
    let (ours, others): (Vec<_>, Vec<_>) = told.effects.iter().partition(|effect| effect.is_ours);
    for effect in ours.iter().chain(others.iter().take(OTHERS_TOLD_MAX)) {
        let mut line = json!({
            "nth": nth,
            "id": effect.id,
            "carries": effect.references,
            "is_ours": effect.is_ours,
        });
        if let (Value::Object(line), Some(read)) = (&mut line, &effect.read) {
            line.extend(effect_json(read).as_object().cloned().unwrap_or_default());
        }
        steps.say("effect", &line)?;
    }
    if others.len() > OTHERS_TOLD_MAX {
        steps.say(
            "effect",
            &json!({ "nth": nth, "more_that_are_not_ours": others.len() - OTHERS_TOLD_MAX }),
        )?;
    }
    if ours.iter().any(|effect| effect.read.as_ref().is_some_and(|read| read.state == EffectState::Unlisted))
    {
        steps.say("statuses", &json!({ "nth": nth, "listed": rules.statuses }))?;
    }
    Ok(())
}

fn effect_json(effect: &Effect) -> Value {
    let amounts_to = match effect.state {
        EffectState::Happened => "happened",
        EffectState::Pending => "pending",
        EffectState::Failed => "failed",
        EffectState::Unlisted => "unlisted, so the verdict is unknown",
    };
    json!({
        "id": effect.id,
        "status": effect.status,
        "amounts_to": amounts_to,
        "money": effect.money.as_ref().map(ToString::to_string),
        "at": effect.at.map(stamp),
        "link": effect.link,
    })
}

/// An effect in one line: id, status, money, time.
fn effect_line(effect: &Effect) -> String {
    let money = effect.money.as_ref().map_or("-".to_owned(), ToString::to_string);
    let at = effect.at.map_or("-".to_owned(), stamp);
    format!("{} | {} | {money} | {at}", effect.id, effect.status)
}

/// The three clocks, each with what it says of this question.
fn clocks(case: &Case<'_>) -> [Value; 3] {
    let clocks = case.trial.rules.clocks;
    let age = case.tried.map(|at| case.asked_at - at);
    let nobody = "when it was last tried is not known (--tried), so an absence proves nothing";
    let settle = match age {
        None => nobody.to_owned(),
        Some(age) if age >= clocks.settle => {
            format!("tried {} ago: an absence has had time to show", span(age))
        }
        Some(age) => format!("tried {} ago: an effect may still come to show", span(age)),
    };
    let lookback = match (age, clocks.lookback) {
        (None, _) => nobody.to_owned(),
        (Some(_), None) => "it forgets nothing".to_owned(),
        (Some(age), Some(back)) if age < back => format!("tried {} ago: it still sees that", span(age)),
        (Some(age), Some(_)) => format!("tried {} ago: it no longer sees that", span(age)),
    };
    let key_ttl = match (age, clocks.key_ttl) {
        (_, None) => "how long it remembers a key is not known, so none protects a retry".to_owned(),
        (None, Some(_)) => "when it was first tried is not known (--tried)".to_owned(),
        (Some(age), Some(ttl)) if age < ttl => {
            format!("first tried {} ago: a key sent then still protects", span(age))
        }
        (Some(age), Some(_)) => format!("first tried {} ago: a key sent then may be forgotten", span(age)),
    };
    let unlimited = || "unlimited".to_owned();
    [
        json!({ "clock": "settle", "is": span(clocks.settle), "says": settle }),
        json!({ "clock": "lookback", "is": clocks.lookback.map_or_else(unlimited, span), "says": lookback }),
        json!({ "clock": "key_ttl", "is": clocks.key_ttl.map(span), "says": key_ttl }),
    ]
}

fn keep(provider: &HttpProvider, case: &Case<'_>, folder: &Path, as_json: bool) -> Result<(), Failure> {
    let files = example::write(provider, case, folder)?;
    let mut steps = Steps { as_json };
    steps.say("recorded", &json!({
        "files": files,
        "look": "Personal details are struck out by name and by looks: read them before you hand them on.",
    }))?;
    Ok(())
}

/// One line of JSON a step, or a few lines of text.
struct Steps {
    as_json: bool,
}

impl Steps {
    fn say(&mut self, step: &str, fields: &Value) -> std::io::Result<()> {
        let fields = fields.as_object().cloned().unwrap_or_default();
        if self.as_json {
            let mut line = serde_json::Map::from_iter([("step".to_owned(), Value::from(step))]);
            line.extend(fields);
            return say::line(json::line(&line));
        }
        let mut head = step;
        for (name, value) in fields.iter().filter(|(_, value)| !is_nothing(value)) {
            let texts = match value {
                Value::Array(values) => values.iter().map(plain).collect(),
                other => vec![plain(other)],
            };
            let mut name = name.replace('_', " ");
            for text in texts {
                // Only the answer's body has a limit of its own.
                let shown = if name == "body" { clean(&text) } else { clean_cut(&text, SHOWN_CHARS_MAX) };
                say::line(format_args!("{head:<9} {name:<14} {shown}"))?;
                head = "";
                name.clear();
            }
        }
        Ok(())
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            fields.values().filter(|value| !is_nothing(value)).map(plain).collect::<Vec<_>>().join(" | ")
        }
        other => other.to_string(),
    }
}
