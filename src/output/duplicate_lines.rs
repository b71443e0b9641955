//! What happened more than once, as it leaves the program.

use super::csv_rows::record;
use super::story_lines::{answers_json, lines_json, record_json, run_json};
use crate::domain::duplicates::{Cause, DECISION, Duplicate};
use crate::domain::evidence::{Effect, EffectState};
use crate::domain::moment::stamp;
use crate::domain::text::{clean, clean_for_sheet as cell};
use crate::workflow::story::Story;
use serde_json::{Value, json};

const CSV: [&str; 17] = [
    "reference",
    "operation",
    "source",
    "key",
    "kind",
    "status",
    "effect_id",
    "effect_status",
    "amount",
    "currency",
    "at",
    "link",
    "is_beyond_first",
    "causes",
    "decision",
    "evidence",
    "on_record",
];

/// What is said of a group where the record did not take the check of one of its items.
pub const NOT_ON_RECORD: &str = "  record   NOT ON RECORD: the record did not take this check.";

/// One group as a JSON object, and whether its checks are on record. Fields are only ever added.
pub fn to_json(story: &Story, duplicate: &Duplicate, on_record: bool) -> Value {
    let mut line = group_json(duplicate);
    line["runs"] = json!(duplicate.runs.iter().map(run_json).collect::<Vec<_>>());
    line["questions"] = json!(answers_json(&story.answers));
    line["timeline"] = json!(lines_json(&story.timeline));
    line["evidence"] = json!(evidence(story));
    line["notes"] = json!(story.notes);
    line["on_record"] = json!(on_record);
    line["record"] = record_json(story);
    line
}

fn evidence(story: &Story) -> Option<&str> {
    let checked = story.checked.as_ref().and_then(|checked| checked.evidence.as_ref());
    checked.map(|evidence| evidence.hash.as_str())
}

/// The group itself.
pub(super) fn group_json(duplicate: &Duplicate) -> Value {
    json!({
        "reference": duplicate.reference,
        "operation": duplicate.operation,
        "items": duplicate.items.iter().map(|item| json!({
            "source": &*item.name.source,
            "key": &*item.name.key,
            "kind": &*item.kind,
            "status": &*item.status,
            "attempts": item.attempts,
        })).collect::<Vec<_>>(),
        "effects": duplicate.happened_count(),
        "effects_told": duplicate.effects.iter().map(effect_json).collect::<Vec<_>>(),
        "second_at": duplicate.second_at.map(stamp),
        "causes": duplicate.causes.iter().map(|cause| {
            json!({ "cause": cause.as_str(), "text": cause.sentence() })
        }).collect::<Vec<_>>(),
        "beyond_first": duplicate.beyond_first.iter().map(|money| {
            json!({ "amount": money.amount.to_string(), "currency": money.currency })
        }).collect::<Vec<_>>(),
        "unpriced": duplicate.unpriced,
        "decision": "escalate",
        "reason": duplicate.escalation_reason(),
    })
}

fn effect_json(effect: &Effect) -> Value {
    crate::domain::timeline::origins::effect_json(effect)
}

/// The group for people.
pub fn group_text(duplicate: &Duplicate) -> Vec<String> {
    let mut lines = vec![clean(&duplicate.headline())];
    let mut tell = |label: &str, text: &str| lines.push(format!("  {label:<8} {}", clean(text)));
    duplicate.items_told().iter().for_each(|item| tell("item", item));
    duplicate.runs_told().iter().for_each(|run| tell("run", run));
    duplicate.effects_told().iter().for_each(|(_, effect)| tell("effect", effect));
    duplicate.causes.iter().for_each(|cause| tell("how", &cause.sentence()));
    tell("decision", DECISION);
    lines
}

/// The head line of the sheet, its line break included.
pub fn csv_head() -> String {
    record(CSV)
}

/// One line of the sheet for each effect that happened, so that a refund needs nothing else.
pub fn csv_rows(story: &Story, duplicate: &Duplicate, on_record: bool) -> String {
    let first = duplicate.items.first();
    let causes: Vec<&str> = duplicate.causes.iter().map(Cause::as_str).collect();
    let happened = duplicate.effects.iter().filter(|effect| effect.state == EffectState::Happened);
    let rows = happened.enumerate().map(|(place, effect)| {
        let money = effect.money.as_ref();
        record([
            cell(&duplicate.reference),
            cell(&duplicate.operation),
            cell(first.map_or("", |item| &item.name.source)),
            cell(first.map_or("", |item| &item.name.key)),
            cell(first.map_or("", |item| &item.kind)),
            cell(first.map_or("", |item| &item.status)),
            cell(&effect.id),
            cell(&effect.status),
            money.map(|money| money.amount.to_string()).unwrap_or_default(),
            cell(money.and_then(|money| money.currency.as_deref()).unwrap_or("")),
            effect.at.map(stamp).unwrap_or_default(),
            cell(effect.link.as_deref().unwrap_or("")),
            (place > 0).to_string(),
            causes.join(" "),
            "escalate".to_owned(),
            evidence(story).unwrap_or("").to_owned(),
            on_record.to_string(),
        ])
    });
    rows.collect()
}
