//! What a watch knows, as the textfile collector of `node_exporter` reads it.

use crate::domain::text::clean;
use crate::domain::watch::{Seen, State};
use chrono::{DateTime, Utc};
use rust_decimal::Decimal;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

/// How many kinds are told apart: a kind may come from a column, and each makes series that are kept for months.
const KINDS_MAX: usize = 100;
/// What the others are counted as.
const OTHER_KINDS: &str = "(others)";
/// The currency of an amount without one.
const NO_CURRENCY: &str = "(none)";

/// All metrics, each with what it means. Of a source that could not be read they tell what was last known.
pub fn text(state: &State, now: DateTime<Utc>) -> String {
    let mut out = String::new();
    findings(&mut out, state);
    let gauge = |out: &mut String, name: &str, help: &str| head(out, name, help, "gauge");
    gauge(&mut out, "unstuck_oldest_age_seconds", "Age of the oldest finding whose age is known.");
    for (name, source) in &state.sources {
        if let Some(since) = source.items.values().filter_map(|seen| seen.since).min() {
            let age = (now - since).num_seconds().max(0);
            line(&mut out, "unstuck_oldest_age_seconds", &[("source", name)], age);
        }
    }
    money(&mut out, state);
    gauge(&mut out, "unstuck_source_read", "Whether the last look could read the source.");
    for (name, source) in &state.sources {
        let is_read = i32::from(source.unread.is_none());
        line(&mut out, "unstuck_source_read", &[("source", name)], is_read);
    }
    gauge(&mut out, "unstuck_sources_unread", "How many sources the last look could not read.");
    line(&mut out, "unstuck_sources_unread", &[], state.unread().len());
    let moments = [
        ("unstuck_last_look_timestamp_seconds", "When it was last looked.", state.looked_at),
        (
            "unstuck_last_success_timestamp_seconds",
            "When every source was last read; 0 where that never was.",
            Some(state.succeeded_at.unwrap_or_default()),
        ),
    ];
    for (name, help, at) in moments {
        gauge(&mut out, name, help);
        if let Some(at) = at {
            line(&mut out, name, &[], at.timestamp());
        }
    }
    gauge(&mut out, "unstuck_look_seconds", "How long the last look took.");
    let seconds = Decimal::new(state.took_ms, 3);
    line(&mut out, "unstuck_look_seconds", &[], seconds);
    gauge(&mut out, "unstuck_notices_waiting", "How many notices the webhook has not taken yet.");
    line(&mut out, "unstuck_notices_waiting", &[], state.outbox.len());
    let counters = [
        ("unstuck_looks_total", "How many looks there were.", state.looks),
        ("unstuck_notices_given_up_total", "Notices given up because too many waited.", state.given_up),
    ];
    for (name, help, count) in counters {
        head(&mut out, name, help, "counter");
        line(&mut out, name, &[], count);
    }
    out
}

fn findings(out: &mut String, state: &State) {
    head(out, "unstuck_findings", "Findings by source, kind, finding and verdict.", "gauge");
    let mut counts: BTreeMap<[&str; 4], usize> = BTreeMap::new();
    let kinds = kinds(state);
    for (name, source) in &state.sources {
        for seen in source.items.values() {
            let kind = if kinds.contains(&seen.kind.as_str()) { &seen.kind } else { OTHER_KINDS };
            let verdict = seen.verdict.as_deref().unwrap_or("");
            *counts.entry([name, kind, &seen.finding, verdict]).or_default() += 1;
        }
    }
    for ([source, kind, finding, verdict], count) in counts {
        let labels = [("source", source), ("kind", kind), ("finding", finding), ("verdict", verdict)];
        line(out, "unstuck_findings", &labels, count);
    }
    head(out, "unstuck_source_findings", "All findings of a source; 0 where it has none.", "gauge");
    for (name, source) in &state.sources {
        line(out, "unstuck_source_findings", &[("source", name)], source.items.len());
    }
}

fn kinds(state: &State) -> Vec<&str> {
    let all = state.sources.values().flat_map(|source| source.items.values());
    let kinds: std::collections::BTreeSet<&str> = all.map(|seen| seen.kind.as_str()).collect();
    kinds.into_iter().take(KINDS_MAX).collect()
}

fn money(out: &mut String, state: &State) {
    let all = || state.sources.values().flat_map(|source| source.items.values());
    let mut sums: BTreeMap<&str, Decimal> = BTreeMap::new();
    let mut unknown = 0_usize;
    for seen in all() {
        match amount(seen) {
            None => unknown += 1,
            Some(amount) => {
                let sum = sums.entry(seen.currency.as_deref().unwrap_or(NO_CURRENCY)).or_default();
                *sum = sum.saturating_add(amount);
            }
        }
    }
    let help = "What the findings are about, by currency, as far as somebody said it.";
    head(out, "unstuck_money_at_stake", help, "gauge");
    for (currency, sum) in sums {
        line(out, "unstuck_money_at_stake", &[("currency", currency)], sum);
    }
    head(out, "unstuck_findings_without_amount", "Findings of which nobody said how much it is.", "gauge");
    line(out, "unstuck_findings_without_amount", &[], unknown);
}

fn amount(seen: &Seen) -> Option<Decimal> {
    Decimal::from_str(seen.amount.as_deref()?).ok()
}

fn head(out: &mut String, name: &str, help: &str, kind: &str) {
    // Memory takes whatever is written.
    let _never = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn line(out: &mut String, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
    let labels: Vec<String> =
        labels.iter().map(|(name, text)| format!("{name}=\"{}\"", label(text))).collect();
    let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    let _never = writeln!(out, "{name}{labels} {value}");
}

/// A label's value: what a terminal would obey made visible, then the format's own three signs escaped.
fn label(text: &str) -> String {
    clean(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::watch::{Items, Look};
    use chrono::TimeDelta;
    use pretty_assertions::assert_eq;

    fn seen(kind: &str, amount: Option<(&str, &str)>) -> Seen {
        Seen {
            kind: kind.to_owned(),
            finding: "stuck".to_owned(),
            since: Some("2026-11-30T07:00:00Z".parse().unwrap()),
            amount: amount.map(|(amount, _)| amount.to_owned()),
            currency: amount.map(|(_, currency)| currency.to_owned()),
            ..Seen::default()
        }
    }

    fn state(sources: &[(&str, Result<Vec<Seen>, String>)]) -> State {
        let mut state = State::new("");
        let of = |seen: &Vec<Seen>| -> Items {
            seen.iter().enumerate().map(|(at, seen)| (at.to_string(), seen.clone())).collect()
        };
        let sources = sources
            .iter()
            .map(|(name, read)| ((*name).to_owned(), read.as_ref().map(of).map_err(Clone::clone)));
        let at = "2026-11-30T08:00:00Z".parse().unwrap();
        let took = TimeDelta::milliseconds(1_250);
        state.take(Look { at, took, sources: sources.collect() });
        state
    }

    #[test]
    fn the_file_is_as_node_exporter_reads_it() {
        let odd = "a\"b\\c\nd\u{1b}";
        let state = state(&[
            (
                "jobs",
                Ok(vec![
                    seen("invoice", Some(("10.50", "EUR"))),
                    seen("invoice", Some(("0.25", "EUR"))),
                    seen(odd, Some(("100", "JPY"))),
                    seen("mail", None),
                ]),
            ),
            ("away", Err("no connection".to_owned())),
        ]);
        insta::assert_snapshot!(text(&state, "2026-11-30T08:00:10Z".parse().unwrap()));
    }

    #[test]
    fn many_kinds_make_no_more_series() {
        let many: Vec<Seen> = (0..500).map(|number| seen(&format!("tenant-{number:03}"), None)).collect();
        let text = text(&state(&[("jobs", Ok(many))]), "2026-11-30T08:00:10Z".parse().unwrap());
        let series: Vec<&str> = text.lines().filter(|line| line.starts_with("unstuck_findings{")).collect();
        assert_eq!(series.len(), KINDS_MAX + 1);
        let sum: usize =
            series.iter().map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap()).sum();
        assert_eq!(sum, 500);
    }
}
