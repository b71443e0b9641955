//! The header: who and when, how many of what, and how the sources are.

use super::lines::{bar, joined};
use crate::console::keymap::{Action, Place};
use crate::console::model::matching::Matching;
use crate::console::model::{Loading, Model, Screen};
use crate::console::words;
use crate::domain::advice::Advice;
use crate::domain::finding::FindingKind;
use crate::domain::moment::span;
use crate::domain::text::clean_cut;
use crate::domain::verdict::Verdict;
use chrono::{DateTime, TimeDelta, Utc};
use ratatui::text::{Line, Span};
use std::collections::BTreeMap;

/// From which age on what was read is told as old.
const READ_OLD_MIN: TimeDelta = TimeDelta::minutes(5);
/// How many different sets of words are summed up for a frame.
const WORD_SETS_MAX: usize = 500;
/// From which gap on two clocks count as different.
const CLOCK_GAP_SHOWN_MIN: TimeDelta = TimeDelta::seconds(2);

/// From which height on the header has a line for advice, risk, kind and error.
const TRIAGE_HEIGHT_MIN: u16 = 30;

/// The header's lines: four where there is room, else the first ones.
pub fn lines(model: &Model, width: u16, height: u16) -> Vec<Line<'static>> {
    let wanted = match height {
        0..10 => 1,
        10..16 => 2,
        16..TRIAGE_HEIGHT_MIN => 3,
        _ => 4,
    };
    let all = if height < TRIAGE_HEIGHT_MIN {
        [first, counts, sources, triage]
    } else {
        [first, counts, triage, sources]
    };
    all.iter().take(wanted).map(|line| line(model, width)).collect()
}

/// A time of day in UTC.
pub fn clock(at: DateTime<Utc>) -> String {
    at.format("%H:%M:%SZ").to_string()
}

fn first(model: &Model, width: u16) -> Line<'static> {
    let theme = model.theme;
    let mut parts = vec![Span::styled("unstuck", theme.strong())];
    if model.setup.read_only {
        parts.push(Span::styled("READ-ONLY", theme.caution()));
    }
    if model.setup.audit_fault.is_some() {
        parts.push(Span::styled("NO AUDIT", theme.alarm()));
    }
    if model.record_fault.is_some() {
        parts.push(Span::styled("RECORD NOT WRITTEN", theme.alarm()));
    }
    if model.unread_record.is_some() {
        parts.push(Span::styled("RECORD NOT READ", theme.alarm()));
    }
    if let Some(checks) = checks(model, width) {
        parts.push(Span::styled(checks, theme.busy()));
    }
    for which in Matching::ALL {
        if let Loading::Loading { since, .. } = &model.matching(which).result
            && model.screen != Screen::Matching(which)
        {
            let seconds = (model.now - *since).num_seconds().max(0);
            let told = format!("{} {seconds}s", which.name().to_lowercase());
            parts.push(Span::styled(told, theme.busy()));
        }
    }
    parts.push(Span::raw(words::count(model.findings.total(), "finding")));
    if model.scan.fresh > 0 {
        parts.push(Span::styled(format!("{} new", model.scan.fresh), theme.caution()));
    }
    if model.proposals.are_any() {
        let told = words::count(model.proposals.waiting().len(), "proposal");
        parts.push(Span::styled(told, theme.caution()));
    }
    if model.is_settling() {
        parts.push(Span::styled("writing", theme.caution()));
    }
    parts.push(match (model.scan.since, model.scan.ended) {
        (Some(since), _) => {
            let seconds = (model.now - since).num_seconds().max(0);
            Span::styled(format!("reading {seconds}s"), theme.busy())
        }
        (None, Some(at)) if model.now - at > READ_OLD_MIN => {
            Span::styled(format!("read {} ago", words::short_span(model.now - at)), theme.caution())
        }
        (None, Some(at)) => Span::raw(format!("read {}", clock(at))),
        (None, None) => Span::raw(""),
    });
    parts.push(Span::raw(clean_cut(&model.setup.operator, 40)));
    parts.push(Span::styled(clean_cut(model.setup.title.as_deref().unwrap_or(""), 60), theme.quiet()));
    joined(parts, width)
}

/// `checks 12/60 (3 unknown)` with a bar, while checks run.
fn checks(model: &Model, width: u16) -> Option<String> {
    const BAR_WIDTH_MIN: u16 = 60;
    model.checks.run?;
    let (done, total, unknown) = (model.checks.done, model.checks.total.max(1), model.checks.unknown);
    let bar = if width < BAR_WIDTH_MIN { String::new() } else { format!("{} ", bar(done, total)) };
    let stopping = if model.checks.cancelled { " stopping" } else { "" };
    Some(format!("{bar}checks {done}/{} ({unknown} unknown){stopping}", model.checks.total))
}

fn counts(model: &Model, width: u16) -> Line<'static> {
    let counts = model.findings.counts();
    let plain = |number: usize, word: &str| Span::raw(format!("{number} {word}"));
    let mut parts: Vec<Span<'static>> = Vec::new();
    if counts.selected > 0 {
        parts.push(Span::styled(format!("* {} selected", counts.selected), model.theme.strong()));
    }
    let of_verdicts = Verdict::ALL.iter().zip(counts.verdicts).filter(|(_, number)| *number > 0);
    parts.extend(of_verdicts.map(|(verdict, number)| {
        let told = format!("{number} {}", words::verdict(Some(*verdict)));
        Span::styled(told, model.theme.verdict(Some(*verdict)))
    }));
    if counts.unchecked > 0 {
        parts.push(plain(counts.unchecked, words::verdict(None)));
    }
    // Verdicts before findings: where a line is short, they are what counts.
    let mut of_kinds = FindingKind::ALL.iter().zip(counts.findings).filter(|(_, number)| *number > 0);
    if let Some((kind, number)) = of_kinds.next() {
        parts.push(Span::raw(format!("| {number} {}", words::finding(*kind))));
    }
    parts.extend(of_kinds.map(|(kind, number)| plain(number, words::finding(*kind))));
    joined(parts, width)
}

/// What is to be done, what money moved, and what the findings are of: as much as fits.
fn triage(model: &Model, width: u16) -> Line<'static> {
    let counts = model.findings.counts();
    let mut parts = vec![Span::styled(
        format!("triage {}", model.setup.keys.told(Place::Findings, Action::Triage)),
        model.theme.quiet(),
    )];
    let of_advices = Advice::ALL.iter().zip(counts.advices).filter(|(_, number)| *number > 0);
    parts.extend(
        of_advices.map(|(advice, number)| Span::raw(format!("{number} to {}", words::advice(*advice)))),
    );
    for (moved, twice, _) in counts.stake.sums() {
        if !twice.amount.is_zero() {
            parts.push(Span::styled(format!("{twice} too much"), model.theme.alarm()));
        }
        parts.push(Span::raw(format!("{moved} moved")));
    }
    let (mut risks, mut classes, mut kinds) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    // A source with a kind for each row would make this long: then triage has them.
    for (set, number) in
        model.findings.words_counted().take_while(|_| model.findings.word_sets() <= WORD_SETS_MAX)
    {
        *risks.entry(std::cmp::Reverse(set.risk)).or_insert(0) += number;
        *kinds.entry(set.kind()).or_insert(0) += number;
        if let Some(class) = set.class {
            *classes.entry(class).or_insert(0) += number;
        }
    }
    let of_risk = risks
        .into_iter()
        .map(|(risk, number): (_, usize)| format!("{number} {}", risk.0.as_str().replace('_', " ")));
    let of_kind =
        kinds.into_iter().map(|(kind, number): (_, usize)| format!("{number} {}", clean_cut(kind, 24)));
    let of_class = classes
        .into_iter()
        .map(|(class, number): (_, usize)| format!("{number} error {}", words::class(class)));
    for (place, told) in of_risk.chain(of_kind).chain(of_class).enumerate() {
        parts.push(Span::raw(if place == 0 { format!("| {told}") } else { told }));
    }
    joined(parts, width)
}

fn sources(model: &Model, width: u16) -> Line<'static> {
    let theme = model.theme;
    let mut parts = vec![Span::styled("sources", theme.quiet())];
    // What could not be read must not fall off a short line.
    let (unread, read): (Vec<_>, Vec<_>) = model.sources.iter().partition(|source| source.fault.is_some());
    for source in unread.into_iter().chain(read) {
        let name = clean_cut(&source.name, 24);
        parts.push(match (&source.fault, source.clock_gap) {
            (Some(_), _) => Span::styled(format!("! {name} NOT READ"), theme.alarm()),
            (None, None) => Span::styled(format!("{name} .."), theme.quiet()),
            (None, Some(gap)) if gap.abs() > CLOCK_GAP_SHOWN_MIN => {
                let way = if gap > TimeDelta::zero() { "ahead" } else { "behind" };
                Span::styled(format!("{name} (clock {} {way})", span(gap.abs())), theme.caution())
            }
            (None, Some(_)) => Span::raw(format!("{name} ok")),
        });
    }
    joined(parts, width)
}
