//! A report in four spellings: Markdown for a pager, HTML for a browser, JSON for programs, CSV for sheets.

use super::csv_rows::record;
use super::json;
use crate::domain::moment::stamp;
use crate::domain::proposal::Proposal;
use crate::domain::report::Report;
use crate::domain::text::{clean, clean_for_sheet as cell};
use chrono::{DateTime, SubsecRound, Utc};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use serde::Serialize;

const MARKDOWN: &str = include_str!("../../assets/report/report.md.jinja");
const HTML: &str = include_str!("../../assets/report/report.html.jinja");

/// A report with what is open at the moment it is written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Written<'a> {
    /// What happened.
    #[serde(flatten)]
    pub report: &'a Report,
    /// When it is written.
    pub written_at: String,
    /// Who writes it.
    pub written_by: &'a str,
    /// The audit that it is drawn from.
    pub audit: String,
    /// Proposals that wait now.
    pub waiting_now: Vec<WaitingNow>,
    /// What needs a person now; `None` where no source was looked at.
    pub now: Option<Now>,
}

/// A proposal that waits now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingNow {
    /// Its id's end, as `unstuck approve` takes it.
    pub short: String,
    /// What was chosen.
    pub choice: String,
    /// The source's name.
    pub source: String,
    /// The item's key.
    pub key: String,
    /// Who proposes.
    pub operator: String,
    /// Until when it waits.
    pub until: String,
}

impl WaitingNow {
    /// A proposal, as a report shows it.
    pub fn of(proposal: &Proposal) -> Self {
        Self {
            short: proposal.short_id(),
            choice: proposal.choice.as_str().to_owned(),
            source: proposal.source.to_string(),
            key: proposal.key.to_string(),
            operator: proposal.proposer.name.to_string(),
            until: stamp(proposal.until),
        }
    }
}

/// What needs a person now, by a look at the sources.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Now {
    /// How many findings there are in what could be read; `None` where nothing could, so that nobody knows.
    pub findings: Option<usize>,
    /// By source and finding.
    pub by_source: Vec<FindingCount>,
    /// The sources that could not be read.
    pub unread: Vec<String>,
}

/// How many findings of a sort a source has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingCount {
    /// The source's name.
    pub source: String,
    /// The finding.
    pub finding: String,
    /// How many.
    pub count: usize,
}

/// As Markdown that a pager shows.
///
/// # Errors
/// A sentence; the template is ours, so it is an error of the program.
pub fn markdown(written: &Written<'_>) -> Result<String, String> {
    render(MARKDOWN, AutoEscape::None, written)
}

/// As one HTML page that needs nothing else, and runs nothing.
///
/// # Errors
/// A sentence; the template is ours, so it is an error of the program.
pub fn html(written: &Written<'_>) -> Result<String, String> {
    render(HTML, AutoEscape::Html, written)
}

/// As one JSON object on one line.
pub fn json_line(written: &Written<'_>) -> String {
    json::line(written)
}

fn render(template: &str, escape: AutoEscape, written: &Written<'_>) -> Result<String, String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    // A line of a template that only decides something leaves no line behind.
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .map_err(|fault| format!("the report's template cannot be read ({fault})"))?;
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(move |_| escape.clone());
    environment.add_filter("shown", |text: String| clean(&text));
    environment.add_filter("md", |text: String| for_markdown(&text));
    environment.add_filter("words", |word: String| word.replace('_', " "));
    environment.add_filter("time", |text: String| time(&text));
    let title = written.report.incident.as_ref().map_or("What happened", |incident| incident.name.as_str());
    environment
        .render_str(template, context! { r => Value::from(Serde(written)), title => title })
        .map_err(|fault| format!("the report cannot be written ({fault})"))
}

/// A text that Markdown shows as it is: no link, no picture, no HTML, no table cell of its own.
fn for_markdown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 8);
    for character in clean(text).chars() {
        match character {
            '<' => shown.push_str("&lt;"),
            '[' | ']' | '`' | '|' | '\\' | '*' => {
                shown.push('\\');
                shown.push(character);
            }
            plain => shown.push(plain),
        }
    }
    shown
}

/// A time on record, to the second.
fn time(text: &str) -> String {
    text.parse::<DateTime<Utc>>().map_or_else(|_| clean(text), |at| stamp(at.trunc_subsecs(0)))
}

/// The columns of the sheet: one row a decision.
const CSV: [&str; 23] = [
    "decision",
    "at",
    "ended_at",
    "source",
    "key",
    "kind",
    "choice",
    "outcome",
    "why",
    "reason",
    "insisted",
    "operator",
    "origin",
    "approved_by",
    "approval_reason",
    "verdict",
    "advice",
    "effects",
    "effect_ids",
    "amount",
    "currency",
    "evidence",
    "audit_entries",
];

/// The decisions as CSV, one row each under a head row.
pub fn csv(report: &Report) -> String {
    let mut sheet = record(CSV);
    let optional = |text: &Option<String>| text.as_deref().map(cell).unwrap_or_default();
    for one in &report.decisions {
        let entries: Vec<String> = one.entries.iter().map(ToString::to_string).collect();
        sheet.push_str(&record([
            one.decision.clone(),
            one.at.clone(),
            one.ended_at.clone().unwrap_or_default(),
            cell(&one.source),
            cell(&one.key),
            cell(&one.kind),
            one.choice.clone(),
            one.outcome.as_str().to_owned(),
            optional(&one.why),
            cell(&one.reason),
            one.insisted.to_string(),
            cell(&one.operator),
            cell(&one.origin),
            optional(&one.approved_by),
            optional(&one.approval_reason),
            one.verdict.clone(),
            one.advice.clone(),
            one.effects.map(|count| count.to_string()).unwrap_or_default(),
            cell(&one.effect_ids.join(" ")),
            one.amount.map(|amount| amount.0.to_string()).unwrap_or_default(),
            optional(&one.currency),
            one.evidence.clone().unwrap_or_default(),
            entries.join(" "),
        ]));
    }
    sheet
}

#[cfg(test)]
mod tests;
