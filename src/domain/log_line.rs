//! Receipts of an application: one JSON object a line, read through names that a configuration may change.

use crate::domain::cell::Cell;
use crate::domain::mask::mask_text;
use crate::domain::moment::{Reading, TimeFormat, Zone, read};
use crate::domain::text::clean_cut;
use crate::domain::timeline::{Ending, Told, What};
use serde_json::Value;

/// Where each part of a line is: names to try in order, each a path with dots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields {
    /// The item's key.
    pub key: Vec<String>,
    /// When the line was written.
    pub ts: Vec<String>,
    /// What kind of line it is.
    pub event: Vec<String>,
    /// What the run did.
    pub action: Vec<String>,
    /// Which attempt it is of.
    pub attempt: Vec<String>,
    /// The error.
    pub error: Vec<String>,
    /// The provider's id of the effect.
    pub effect: Vec<String>,
    /// What the item is by its nature.
    pub natural_key: Vec<String>,
    /// The idempotency key that was sent.
    pub idempotency_key: Vec<String>,
    /// Who ran it.
    pub owner: Vec<String>,
    /// When the run began, where one line tells the whole run.
    pub started: Vec<String>,
    /// When the run ended, where one line tells the whole run.
    pub finished: Vec<String>,
}

impl Default for Fields {
    fn default() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            key: names(&["job_key", "item_key", "email_key", "key", "job_id"]),
            ts: names(&["ts", "time", "timestamp", "@timestamp", "at"]),
            event: names(&["event", "msg", "message"]),
            action: names(&["action", "status", "state", "outcome", "result"]),
            attempt: names(&["attempt", "try", "attempts"]),
            error: names(&["error", "reason", "exception", "last_error"]),
            effect: names(&["effect_id", "provider_id", "charge_id"]),
            natural_key: names(&["natural_key", "reference", "business_key"]),
            idempotency_key: names(&["idempotency_key"]),
            owner: names(&["owner", "worker", "locked_by", "node", "host"]),
            started: names(&["started_at"]),
            finished: names(&["finished_at", "ended_at"]),
        }
    }
}

/// How a log is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Where each part of a line is.
    pub fields: Fields,
    /// How it spells times.
    pub format: TimeFormat,
    /// The zone of times that name none.
    pub zone: Zone,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The item's key; `None` where the line names none.
    pub key: Option<String>,
    /// What the item is by its nature.
    pub natural_key: Option<String>,
    /// What the line tells, each with its time: one, or the beginning and the end of a run.
    pub told: Vec<(Reading, What)>,
}

/// The longest text that is kept of a field, in characters.
const TEXT_CHARS_MAX: usize = 300;

/// Reads one line.
///
/// # Errors
/// Why it is no receipt.
pub fn read_line(line: &[u8], layout: &Layout) -> Result<LogLine, &'static str> {
    let Ok(value) = serde_json::from_slice::<Value>(line) else { return Err("it is not whole JSON") };
    if !value.is_object() {
        return Err("it is no JSON object");
    }
    let fields = &layout.fields;
    let text = |names: &[String]| find(&value, names).and_then(plain);
    let shown = |names: &[String]| text(names).map(|text| clean_cut(&mask_text(&text), TEXT_CHARS_MAX));
    let (event, action) =
        (shown(&fields.event).unwrap_or_default(), shown(&fields.action).unwrap_or_default());
    if event.starts_with("unstuck_") {
        // Our own lines are a copy of what the audit tells better.
        return Ok(LogLine { key: None, natural_key: None, told: Vec::new() });
    }
    let told = Told {
        attempt: find(&value, &fields.attempt).and_then(whole_number),
        owner: shown(&fields.owner),
        word: if action.is_empty() { event.clone() } else { action.clone() },
        error: shown(&fields.error).filter(|error| !error.trim().is_empty()),
        effect: shown(&fields.effect),
        natural_key: shown(&fields.natural_key),
        idempotency_key: shown(&fields.idempotency_key),
    };
    let at = |names: &[String]| time(find(&value, names), layout);
    let (started, finished) = (at(&fields.started), at(&fields.finished));
    let what = meaning(&event, &action, told.clone());
    let mut lines = Vec::new();
    let is_whole_run = matches!(what, What::Ended(..) | What::Noted(_));
    if !started.is_missing() && is_whole_run {
        let began = Told { error: None, effect: None, word: String::new(), ..told };
        lines.push((started, What::Started(began)));
    }
    let at_its_end = if is_whole_run && !finished.is_missing() { finished } else { at(&fields.ts) };
    lines.push((at_its_end, what));
    Ok(LogLine { key: text(&fields.key), natural_key: text(&fields.natural_key), told: lines })
}

/// Follows the first path that leads to something.
fn find<'value>(value: &'value Value, names: &[String]) -> Option<&'value Value> {
    names.iter().find_map(|name| {
        // A name that has a dot in it comes before a path.
        let direct = value.get(name.as_str());
        let found = direct.or_else(|| name.split('.').try_fold(value, |inner, part| inner.get(part)));
        found.filter(|found| !found.is_null())
    })
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn whole_number(value: &Value) -> Option<i64> {
    plain(value)?.trim().parse().ok()
}

fn time(value: Option<&Value>, layout: &Layout) -> Reading {
    let cell = match value {
        None | Some(Value::Null) => return Reading::Missing,
        Some(Value::String(text)) => Cell::text(text.as_str()),
        Some(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Cell::Integer(whole),
            (None, Some(real)) => Cell::Real(real),
            (None, None) => Cell::text(number.to_string()),
        },
        Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            return Reading::unreadable("a value", "neither text nor number");
        }
    };
    read(&cell, layout.format, layout.zone)
}

/// What the words of a log mean. The action counts before the event; what no word tells is only noted.
fn meaning(event: &str, action: &str, told: Told) -> What {
    let of = |text: &str| word_meaning(text);
    match of(action).or_else(|| of(event)) {
        Some(Word::Skipped) => What::Skipped(told),
        Some(Word::Started) => What::Started(told),
        Some(Word::Unlocked) => What::Unlocked(told),
        Some(Word::Requeued) => What::Requeued(told),
        Some(Word::Dead) => What::DeclaredDead(told),
        Some(Word::Failed) => What::Ended(Ending::Failed, told),
        // "finished" with an error did not end well.
        Some(Word::Ended) if told.error.is_some() => What::Ended(Ending::Failed, told),
        Some(Word::Done | Word::Ended) => What::Ended(Ending::Done, told),
        None => What::Noted(told),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Skipped,
    Dead,
    Unlocked,
    Requeued,
    Failed,
    Done,
    Ended,
    Started,
}

fn word_meaning(text: &str) -> Option<Word> {
    // In this order: "retry_failed" failed, "start_skipped" was skipped.
    const WORDS: [(Word, &[&str]); 8] = [
        (Word::Skipped, &["skip", "skipped", "ignored", "noop", "deduplicated"]),
        (Word::Dead, &["stale", "orphan", "orphaned", "zombie", "stalled", "abandoned", "lost"]),
        (Word::Unlocked, &["unlock", "unlocked", "released"]),
        (
            Word::Failed,
            &[
                "failed",
                "failure",
                "fail",
                "error",
                "errored",
                "timeout",
                "exception",
                "crashed",
                "killed",
                "discarded",
                "cancelled",
                "canceled",
                "rejected",
                "declined",
            ],
        ),
        (
            Word::Requeued,
            &[
                "requeue",
                "requeued",
                "requeueing",
                "rescheduled",
                "enqueued",
                "snoozed",
                "retry",
                "retrying",
                "retried",
                "rescued",
            ],
        ),
        (Word::Done, &["done", "success", "succeeded", "ok", "sent", "charged", "delivered", "paid"]),
        (Word::Ended, &["completed", "complete", "finished", "ended", "processed"]),
        (
            Word::Started,
            &[
                "start",
                "started",
                "starting",
                "begin",
                "began",
                "begun",
                "claim",
                "claimed",
                "picked",
                "taken",
                "running",
                "executing",
                "processing",
                "received",
                "reserved",
                "lock",
                "locked",
            ],
        ),
    ];
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    // "not started", "unable to lock", "no longer running": a word that is denied says nothing.
    if words.iter().any(|word| matches!(*word, "not" | "no" | "never" | "unable" | "cannot" | "without")) {
        return None;
    }
    WORDS.into_iter().find(|(_, known)| words.iter().any(|word| known.contains(word))).map(|(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn one(line: &str) -> (String, What) {
        let receipt = read_line(line.as_bytes(), &Layout::default()).unwrap();
        let (at, what) = receipt.told.into_iter().next_back().unwrap();
        (at.to_string(), what)
    }

    /// As the worker writes it that everyone starts with: no mapping is needed.
    #[test]
    fn the_usual_line_needs_no_mapping() {
        let line = r#"{"ts": "2026-11-30T12:00:00.250000Z", "event": "job_attempt", "job_key": "order:7", "attempt": 2, "previous_status": "failed", "action": "failed", "reason": "timed out"}"#;
        let receipt = read_line(line.as_bytes(), &Layout::default()).unwrap();
        assert_eq!(receipt.key.as_deref(), Some("order:7"));
        let told = Told {
            attempt: Some(2),
            word: "failed".to_owned(),
            error: Some("timed out".to_owned()),
            ..Told::default()
        };
        assert_eq!(one(line), ("2026-11-30T12:00:00.250Z".to_owned(), What::Ended(Ending::Failed, told)));
    }

    #[rstest]
    #[case::done(r#"{"action":"done"}"#, "ended_done")]
    #[case::skip(r#"{"action":"skip_pending_reconciliation"}"#, "skipped")]
    #[case::claimed(r#"{"event":"job.claimed"}"#, "started")]
    #[case::running(r#"{"event":"job","status":"running"}"#, "started")]
    #[case::unlocked(r#"{"event":"unlocked"}"#, "unlocked")]
    #[case::requeued(r#"{"event":"requeued"}"#, "requeued")]
    #[case::zombie(r#"{"event":"zombie found"}"#, "declared_dead")]
    #[case::finished(r#"{"event":"finished"}"#, "ended_done")]
    #[case::finished_badly(r#"{"event":"finished","error":"timed out"}"#, "ended_failed")]
    #[case::denied(r#"{"event":"not started: disabled"}"#, "noted")]
    #[case::other(r#"{"event":"heard something"}"#, "noted")]
    fn words_have_meanings(#[case] line: &str, #[case] meaning: &str) {
        assert_eq!(one(line).1.as_str(), meaning);
    }

    #[test]
    fn other_names_and_deep_ones_are_mapped() {
        let mut layout = Layout { format: TimeFormat::EpochMs, ..Layout::default() };
        layout.fields.key = vec!["job.id".to_owned()];
        layout.fields.ts = vec!["t".to_owned()];
        let line = br#"{"job":{"id":41},"t":1796040000500,"event":"done"}"#;
        let receipt = read_line(line, &layout).unwrap();
        assert_eq!(receipt.key.as_deref(), Some("41"));
        assert_eq!(receipt.told[0].0.to_string(), "2026-11-30T12:00:00.500Z");
    }

    #[test]
    fn one_line_may_tell_a_whole_run() {
        let line = br#"{"key":"k","started_at":"2026-11-30T12:00:00Z","finished_at":"2026-11-30T12:05:00Z","status":"done"}"#;
        let told = read_line(line, &Layout::default()).unwrap().told;
        let words: Vec<(String, &str)> =
            told.iter().map(|(at, what)| (at.to_string(), what.as_str())).collect();
        assert_eq!(
            words,
            [
                ("2026-11-30T12:00:00Z".to_owned(), "started"),
                ("2026-11-30T12:05:00Z".to_owned(), "ended_done")
            ]
        );
    }

    #[rstest]
    #[case::no_unit(r#"{"ts":1796040000,"action":"done"}"#, "1796040000 (unit unclear)")]
    #[case::garbage(r#"{"ts":"yesterday","action":"done"}"#, "yesterday (not a time)")]
    #[case::list(r#"{"ts":[1],"action":"done"}"#, "a value (neither text nor number)")]
    #[case::missing(r#"{"action":"done"}"#, "none")]
    fn a_time_is_never_guessed(#[case] line: &str, #[case] at: &str) {
        assert_eq!(one(line).0, at);
    }

    #[rstest]
    #[case::half("{\"ts\": \"2026", "it is not whole JSON")]
    #[case::list("[1]", "it is no JSON object")]
    fn a_broken_line_is_said(#[case] line: &str, #[case] why: &str) {
        assert_eq!(read_line(line.as_bytes(), &Layout::default()).unwrap_err(), why);
    }

    #[test]
    fn secrets_and_escapes_in_a_log_are_not_passed_on() {
        let line = r#"{"action":"failed","error":"\u001b[31mcard 4111 1111 1111 1111"}"#;
        let What::Ended(_, told) = one(line).1 else { panic!("it failed") };
        let error = told.error.unwrap();
        assert!(!error.contains('\u{1b}') && !error.contains("4111 1111"), "{error}");
    }

    #[test]
    fn our_own_lines_are_left_to_the_audit() {
        let line = br#"{"ts":"2026-11-30T12:00:00Z","event":"unstuck_check","job_key":"k","action":"check"}"#;
        assert_eq!(read_line(line, &Layout::default()).unwrap().told, Vec::new());
    }
}
