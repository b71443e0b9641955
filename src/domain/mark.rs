//! Marks: what happened around the jobs, such as a deploy, a restart or a network incident, as somebody wrote it down.

use crate::domain::cell::Cell;
use crate::domain::mask::mask_text;
use crate::domain::moment::{Reading, TimeFormat, Zone, read};
use crate::domain::text::clean_cut;
use serde_json::Value;

/// What a mark is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkKind {
    /// Another version began to run.
    Deploy,
    /// Something was ended or started again.
    Restart,
    /// The way between machines was disturbed.
    Network,
    /// Something else that somebody found worth writing down.
    Other,
}

impl MarkKind {
    /// The word for people and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deploy => "deploy",
            Self::Restart => "restart",
            Self::Network => "network incident",
            Self::Other => "mark",
        }
    }

    /// Reads it from the words of a text.
    pub fn of(text: &str) -> Self {
        const WORDS: [(MarkKind, &[&str]); 3] = [
            (MarkKind::Deploy, &["deploy", "release", "rollout", "rolled out", "rollback", "migration"]),
            (
                MarkKind::Restart,
                &["restart", "reboot", "crash", "oom", "killed", "shutdown", "sigterm", "failover"],
            ),
            (
                MarkKind::Network,
                &[
                    "network",
                    "dns",
                    "outage",
                    "partition",
                    "packet",
                    "latency",
                    "unreachable",
                    "timeout",
                    "time-out",
                ],
            ),
        ];
        let lower = text.to_lowercase();
        let fits = |words: &&[&str]| words.iter().any(|word| lower.contains(word));
        WORDS.into_iter().find(|(_, words)| fits(words)).map_or(Self::Other, |(kind, _)| kind)
    }
}

/// One mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub at: Reading,
    /// Of what.
    pub kind: MarkKind,
    /// What somebody wrote.
    pub text: String,
}

/// How much of a mark's text is kept, in characters.
const TEXT_CHARS_MAX: usize = 200;

/// Reads one line: a JSON object with a time and a text, or `TIME TEXT`.
///
/// # Errors
/// A sentence that says why the line is no mark.
pub fn read_line(line: &str) -> Result<Mark, &'static str> {
    let line = line.trim();
    if line.starts_with('{') { read_json(line) } else { read_plain(line) }
}

fn read_json(line: &str) -> Result<Mark, &'static str> {
    let Ok(Value::Object(object)) = serde_json::from_str::<Value>(line) else {
        return Err("it is not whole JSON");
    };
    let first = |names: &[&str]| names.iter().find_map(|name| object.get(*name));
    let at = match first(&["ts", "time", "timestamp", "@timestamp", "at", "date"]) {
        Some(Value::String(text)) => read(&Cell::text(text.as_str()), TimeFormat::Iso, Zone::Utc),
        Some(number @ Value::Number(_)) => Reading::unit_unclear(number.to_string()),
        Some(_) | None => Reading::Missing,
    };
    let text = first(&["text", "message", "msg", "event", "title"]).and_then(Value::as_str).unwrap_or("");
    let kind = first(&["kind", "type"]).and_then(Value::as_str);
    if text.is_empty() && kind.is_none() {
        return Err("it has no text");
    }
    let words = format!("{} {text}", kind.unwrap_or(""));
    let shown = if text.is_empty() { kind.unwrap_or("") } else { text };
    Ok(Mark { at, kind: MarkKind::of(&words), text: shown_of(shown) })
}

/// A text as it may be shown: whoever writes marks may paste anything into them.
fn shown_of(text: &str) -> String {
    clean_cut(&mask_text(text), TEXT_CHARS_MAX)
}

/// The time is the longest beginning that reads as one: `2026-11-30 12:00:00 deploy` has a space in it.
fn read_plain(line: &str) -> Result<Mark, &'static str> {
    let breaks = line.match_indices(char::is_whitespace).map(|(at, _)| at).chain([line.len()]);
    let known = breaks.take(3).filter_map(|at| {
        let (time, rest) = line.split_at(at);
        match read(&Cell::text(time), TimeFormat::Iso, Zone::Utc) {
            reading @ Reading::Known(_) => Some((reading, rest.trim())),
            _ => None,
        }
    });
    let Some((at, text)) = known.last() else { return Err("it does not begin with a time") };
    if text.is_empty() {
        return Err("it has no text");
    }
    Ok(Mark { at, kind: MarkKind::of(text), text: shown_of(text) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::t("2026-11-30T12:00:00Z deploy v1.42", "2026-11-30T12:00:00Z", MarkKind::Deploy, "deploy v1.42")]
    #[case::space(
        "2026-11-30 12:00:00 worker-3 restarted",
        "2026-11-30T12:00:00Z",
        MarkKind::Restart,
        "worker-3 restarted"
    )]
    #[case::offset(
        "2026-11-30 09:00:00 -03:00 packet loss",
        "2026-11-30T12:00:00Z",
        MarkKind::Network,
        "packet loss"
    )]
    #[case::minutes("2026-11-30 12:00 lunch", "2026-11-30T12:00:00Z", MarkKind::Other, "lunch")]
    #[case::json(
        r#"{"ts":"2026-11-30T12:00:00Z","kind":"deploy","text":"v1.42"}"#,
        "2026-11-30T12:00:00Z",
        MarkKind::Deploy,
        "v1.42"
    )]
    #[case::unit(
        r#"{"ts":1796040000,"text":"rollback"}"#,
        "1796040000 (unit unclear)",
        MarkKind::Deploy,
        "rollback"
    )]
    #[case::no_time(r#"{"text":"dns down"}"#, "none", MarkKind::Network, "dns down")]
    fn a_line_is_a_mark(#[case] line: &str, #[case] at: &str, #[case] kind: MarkKind, #[case] text: &str) {
        let mark = read_line(line).unwrap();
        assert_eq!((&*mark.at.to_string(), mark.kind, &*mark.text), (at, kind, text));
    }

    #[rstest]
    #[case("deploy", "it does not begin with a time")]
    #[case("2026-11-30T12:00:00Z", "it has no text")]
    #[case("{\"ts\":", "it is not whole JSON")]
    #[case("{\"ts\":\"2026-11-30T12:00:00Z\"}", "it has no text")]
    fn what_is_no_mark_is_said(#[case] line: &str, #[case] why: &str) {
        assert_eq!(read_line(line).unwrap_err(), why);
    }
}
