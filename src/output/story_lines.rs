//! A story as it leaves the program: lines for people, one object for programs.

use super::duplicate_lines;
use crate::domain::mask::mask_json;
use crate::domain::moment::stamp;
use crate::domain::questions::{Answered, Coverage};
use crate::domain::text::clean;
use crate::domain::timeline::{Happening, LOOK_FIRST, Run, Timeline, see};
use crate::workflow::story::Story;
use serde_json::{Value, json};

/// What is said of a verdict that the record did not take.
pub(super) const CHECK_NOT_ON_RECORD: &str = "NOT ON RECORD: the record did not take this check.";

/// The story as one JSON object; `on_record` says whether the check that was made for it is. Fields are only ever added.
pub fn to_json(story: &Story, on_record: Option<bool>) -> Value {
    let first = story.members.first();
    let item = first.map(|member| &member.found.finding.item);
    json!({
        "source": &*story.source,
        "key": &*story.key,
        "kind": item.map(|item| &*item.kind),
        "status": item.map(|item| &*item.status),
        "state": item.map(|item| item.state.as_str()),
        "attempts": item.and_then(|item| item.attempts),
        "finding": first.filter(|member| member.is_finding).map(|member| member.found.finding.kind.as_str()),
        "reference": story.reference.as_deref().ok(),
        "operation": story.operation,
        "row": first.map(|member| mask_json(&member.row.to_json(), &member.found.mask)),
        "siblings": story.members.iter().skip(1).map(|member| {
            let item = &member.found.finding.item;
            json!({ "source": &*item.source, "key": item.key.as_str(), "status": &*item.status })
        }).collect::<Vec<_>>(),
        "timeline": lines_json(&story.timeline),
        "untimed": untimed_json(&story.timeline),
        "runs": story.runs.iter().map(run_json).collect::<Vec<_>>(),
        "hints": story.hints.iter().map(|hint| {
            json!({ "hint": hint.as_str(), "text": hint.sentence(), "lines": hint.lines() })
        }).collect::<Vec<_>>(),
        "warns_against_retry": story.warns_against_retry(),
        "questions": answers_json(&story.answers),
        "check": check_json(story, on_record),
        "record": record_json(story),
        "duplicate": story.duplicate.as_ref().map(duplicate_lines::group_json),
        "logs": coverage_json(&story.logs),
        "marks": coverage_json(&story.marks),
        "notes": story.notes,
    })
}

/// The lines of a timeline.
pub(super) fn lines_json(timeline: &Timeline) -> Vec<Value> {
    let each = timeline.lines.iter().map(|line| {
        let mut told = happening_json(&line.happening);
        told["line"] = json!(line.number);
        told["at"] = json!(stamp(line.at));
        told["uncertain"] = json!(line.uncertain);
        told
    });
    each.collect()
}

fn untimed_json(timeline: &Timeline) -> Vec<Value> {
    let each = timeline.untimed.iter().map(|untimed| {
        let mut told = happening_json(&untimed.happening);
        told["why"] = json!(untimed.why);
        told
    });
    each.collect()
}

fn happening_json(happening: &Happening) -> Value {
    let item = happening.item.as_ref();
    json!({
        "line": null,
        "at": null,
        "clock": happening.clock.to_string(),
        "origin": happening.origin.as_str(),
        "place": happening.place,
        "source": item.map(|item| &*item.source),
        "key": item.map(|item| &*item.key),
        "what": happening.what.as_str(),
        "attempt": happening.what.told().and_then(|told| told.attempt),
        "text": happening.what.sentence(),
    })
}

/// One run.
pub(super) fn run_json(run: &Run) -> Value {
    use crate::domain::timeline::Ending;
    json!({
        "source": run.item.as_ref().map(|item| &*item.source),
        "key": run.item.as_ref().map(|item| &*item.key),
        "attempt": run.attempt,
        "owner": run.owner,
        "started_at": run.start.map(stamp),
        "ended_at": run.end.map(stamp),
        "ending": run.ending.map(|ending| match ending { Ending::Done => "done", Ending::Failed => "failed" }),
        "error": run.error,
        "idempotency_key": run.idempotency_key,
        "effect": run.effect,
        "on_record": run.is_on_record,
        "lines": run.lines,
    })
}

/// The six answers.
pub(super) fn answers_json(answers: &[Answered]) -> Vec<Value> {
    let each = answers.iter().map(|answered| {
        json!({
            "question": answered.question.as_str(),
            "text": answered.question.sentence(),
            "answer": answered.answer.as_str(),
            "told": answered.told,
            "lines": answered.lines,
        })
    });
    each.collect()
}

/// Whether what is on record could be read, and why not.
pub(super) fn record_json(story: &Story) -> Value {
    let fault = story.unread.as_ref();
    json!({ "read": fault.is_none(), "fault": fault.map(|fault| &fault.what) })
}

fn check_json(story: &Story, on_record: Option<bool>) -> Value {
    match (&story.checked, &story.recorded) {
        (Some(checked), _) => json!({
            "from": "asked",
            "verdict": checked.verdict().as_str(),
            "effects": checked.judgement.happened_count(),
            "advice": checked.advice().as_str(),
            "reasons": checked.advised.reasons,
            "evidence": checked.evidence.as_ref().map(|evidence| evidence.hash.as_str()),
            "checked_at": stamp(checked.at),
            "on_record": on_record,
        }),
        (None, Some(recorded)) => json!({
            "from": format!("audit entry {}", recorded.entry),
            "verdict": recorded.verdict,
            "advice": recorded.advice,
            "reasons": recorded.reasons,
            "evidence": recorded.evidence,
            "checked_at": recorded.at,
            "on_record": true,
        }),
        (None, None) => Value::Null,
    }
}

fn coverage_json(coverage: &Coverage) -> Value {
    json!({
        "given": coverage.given,
        "files": coverage.files,
        "lines": coverage.lines,
        "broken": coverage.broken,
        "first": coverage.first.map(stamp),
        "last": coverage.last.map(stamp),
        "troubles": coverage.troubles,
        "cut": coverage.is_cut,
    })
}

/// The story for people.
pub fn to_text(story: &Story, on_record: Option<bool>) -> Vec<String> {
    let mut lines = head(story);
    if on_record == Some(false) {
        lines.push(format!("{:<10} {}", "", CHECK_NOT_ON_RECORD));
    }
    lines.push(String::new());
    lines.extend(timeline(&story.timeline));
    if !story.hints.is_empty() {
        lines.push(String::new());
        lines.extend(
            story.hints.iter().map(|hint| format!("! {}{}", clean(&hint.sentence()), see(hint.lines()))),
        );
        if story.warns_against_retry() {
            lines.push(format!("! {LOOK_FIRST}"));
        }
    }
    lines.push(String::new());
    lines.extend(answers(&story.answers));
    if let Some(duplicate) = &story.duplicate {
        lines.push(String::new());
        lines.extend(duplicate_lines::group_text(duplicate));
    }
    lines.extend(story.notes.iter().map(|note| clean(note)));
    lines
}

fn head(story: &Story) -> Vec<String> {
    let told = story.head("--check");
    let first = format!("{} of {}", clean(&story.key), clean(&story.source));
    let rest = told.iter().map(|(label, text)| format!("{label:<10} {}", clean(text)));
    std::iter::once(first).chain(rest).collect()
}

/// The timeline for people: number, time, origin, place, what.
pub(super) fn timeline(timeline: &Timeline) -> Vec<String> {
    let mut lines = Vec::new();
    for line in &timeline.lines {
        let happening = &line.happening;
        lines.push(format!(
            "{:>3}  {:<27}  {:<8}  {:<24}  {}",
            line.number,
            stamp(line.at),
            happening.origin.as_str(),
            clean(&happening.place),
            clean(&happening.words()),
        ));
        lines.extend(line.uncertainty().map(|told| format!("     {}", clean(&told))));
    }
    for untimed in &timeline.untimed {
        let happening = &untimed.happening;
        lines.push(format!(
            "  -  {:<27}  {:<8}  {:<24}  {} ({})",
            "no time",
            happening.origin.as_str(),
            clean(&happening.place),
            clean(&happening.what.sentence()),
            clean(&untimed.why),
        ));
    }
    lines
}

/// The six answers for people.
pub(super) fn answers(answers: &[Answered]) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, answered) in answers.iter().enumerate() {
        lines.push(format!("{}. {}", number + 1, answered.question.sentence()));
        lines.push(format!("   {}{}", clean(&answered.sentence()), see(&answered.lines)));
    }
    lines
}
