//! What does not match, or happened twice: the list, and one line of it in full.

use super::lines::{Lines, bar, draw_scrolled, title};
use super::list::offset_around;
use super::{ViewState, duplicate, evidence};
use crate::console::keymap::{Action, Place};
use crate::console::model::findings::Identity;
use crate::console::model::matching::{Heading, MatchView, Matched, Matching, Row};
use crate::console::model::{Focus, Loading, Model};
use crate::console::shown::{self, fit, pad};
use crate::console::words;
use crate::domain::evidence::Effect;
use crate::domain::finding::FindingKind;
use crate::domain::item::Item;
use crate::domain::moment::stamp;
use crate::domain::money::Money;
use crate::workflow::reconcile::Unaccounted;
use crate::workflow::reconcile::words::Step;
use crate::workflow::sweep::Answered;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

/// From which width on a line tells more than key and amount.
const WIDE_MIN: u16 = 70;
/// The sign of an effect that no item accounts for.
const UNACCOUNTED_SIGN: &str = "&";
/// How many lines of what it adds up to stand above a list at most.
const SUMMARY_LINES_MAX: usize = 2;
/// From which height on a list has them.
const SUMMARY_HEIGHT_MIN: u16 = 10;

/// How high the list has to be, at most so much.
pub fn list_height(model: &Model, max: u16) -> u16 {
    let rows = u16::try_from(model.matching(Matching::Duplicates).rows().len()).unwrap_or(u16::MAX);
    // Title, summary, a line to breathe.
    rows.saturating_add(4).max(6).min(max)
}

/// Draws the list.
pub fn draw_list(model: &Model, which: Matching, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let view = model.matching(which);
    let summary = summary(view, area);
    let [top, above, rows] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(u16::try_from(summary.len()).unwrap_or(0)),
        Constraint::Min(0),
    ])
    .areas(area);
    frame.render_widget(
        title(model.theme, which.name(), &subtitle(view), model.focus == Focus::List, top.width),
        top,
    );
    let above_lines: Vec<Line<'_>> = summary.into_iter().map(Line::raw).collect();
    frame.render_widget(Paragraph::new(above_lines), above);
    let height = usize::from(rows.height);
    state.matching_offset = offset_around(state.matching_offset, view.cursor, height, view.rows().len());
    state.list = super::Listed { area: rows, offset: state.matching_offset };
    if view.rows().is_empty() {
        let mut lines = Lines::new(model.theme, rows.width);
        emptiness(model, which, &mut lines);
        frame.render_widget(Paragraph::new(lines.into_lines()), rows);
        return;
    }
    let lines = view.rows().iter().enumerate().skip(state.matching_offset).take(height);
    for ((number, row), y) in lines.zip(rows.y..rows.bottom()) {
        let line = row_line(model, row, number == view.cursor, rows.width);
        frame.render_widget(line, Rect { y, height: 1, ..rows });
    }
}

/// What it adds up to, where there is room: how much was looked at says what an absence is worth.
fn summary(view: &MatchView, area: Rect) -> Vec<String> {
    let Some(matched) = view.result.ready().filter(|matched| !matched.rows.is_empty()) else {
        return Vec::new();
    };
    if area.height < SUMMARY_HEIGHT_MIN {
        return Vec::new();
    }
    let mut lines = shown::wrap(&shown::line(&matched.summary), usize::from(area.width));
    lines.truncate(SUMMARY_LINES_MAX);
    lines
}

fn subtitle(view: &MatchView) -> String {
    let reach = view.reach.as_str();
    match &view.result {
        Loading::Idle | Loading::Failed { .. } => format!("last {reach}"),
        Loading::Loading { .. } => format!("last {reach}, matching..."),
        Loading::Ready { at, value } => {
            let Matched { odd, not_read, beyond_first, is_nothing_read, .. } = value;
            let not_read = if *not_read > 0 { format!(", {not_read} NOT READ") } else { String::new() };
            let odd = match beyond_first {
                _ if *is_nothing_read && *odd == 0 => "nothing could be read".to_owned(),
                Some((sums, unpriced)) if *odd > 0 => {
                    format!("{odd} twice or more, {} too much", charged(sums, *unpriced))
                }
                Some(_) => "nothing twice".to_owned(),
                None if *odd == 1 => "1 does not match".to_owned(),
                None => format!("{odd} do not match"),
            };
            format!("last {reach}{not_read}, {odd}, at {}", super::header::clock(*at))
        }
    }
}

/// What stands where there are no lines.
fn emptiness(model: &Model, which: Matching, lines: &mut Lines) {
    let view = model.matching(which);
    match &view.result {
        Loading::Idle => {}
        Loading::Loading { since, .. } => {
            let seconds = (model.now - *since).num_seconds().max(0);
            let told = format!(
                "Matching the last {} of every provider and source, {seconds} s.",
                view.reach.as_str()
            );
            lines.sentence(&told, model.theme.busy());
            lines.sentence(&view.step.as_ref().map(progress).unwrap_or_default(), model.theme.busy());
            lines.sentence(
                &format!("{} stops it. Nothing is written but the record of it.", model.key_of(Action::Back)),
                Style::new(),
            );
        }
        Loading::Failed { what, do_next } => {
            lines.sentence(&shown::line(what), model.theme.caution());
            lines.sentence(&shown::line(do_next), Style::new());
        }
        Loading::Ready { value, .. } => lines.sentence(&shown::line(&value.summary), Style::new()),
    }
}

fn progress(step: &Step) -> String {
    let bar = match step {
        Step::Lists { read, total } => format!("{} ", bar(*read, *total)),
        Step::Judged { done, total } => format!("{} ", bar(*done, *total)),
        Step::Items { .. } | Step::Alone(_) | Step::Stories(_) => String::new(),
    };
    format!("{bar}{}", step.sentence())
}

fn row_line(model: &Model, row: &Row, is_cursor: bool, width: u16) -> Line<'static> {
    let mark = match (is_cursor, is_on_record(model, row)) {
        (true, true) => ">",
        (false, true) => " ",
        (_, false) => "u",
    };
    let is_wide = width >= WIDE_MIN;
    let (text, style) = match row {
        Row::Heading(heading, count) => {
            let none = if *count == 0 { ", in what could be read" } else { "" };
            let style = match (heading, count) {
                (Heading::NotRead, _) => model.theme.caution(),
                (_, 0) => model.theme.quiet(),
                (Heading::Items(_) | Heading::Unaccounted | Heading::Twice, _) => model.theme.strong(),
            };
            (format!("{}: {count}{none}", word(*heading)), style)
        }
        Row::NotRead { what, .. } => (format!("  ! {}", shown::line(what)), model.theme.caution()),
        Row::Item(item) => (item_line(model, item, is_wide), model.theme.plain()),
        Row::Effect(effect) => (effect_line(effect, is_wide), model.theme.plain()),
        Row::Group(_) => (group_line(model, row, is_wide), model.theme.plain()),
    };
    let line = Line::styled(fit(&format!("{mark} {text}"), usize::from(width)), style);
    if is_cursor { line.style(model.theme.cursor()) } else { line }
}

/// Whether every check that a line rests on is on record.
fn is_on_record(model: &Model, row: &Row) -> bool {
    let matched = Matching::ALL.iter().filter_map(|which| model.matching(*which).result.ready());
    matched
        .filter(|matched| matched.unrecorded.are_any())
        .all(|matched| row.is_on_record(&matched.unrecorded))
}

/// The word of a heading, as the command writes it.
fn word(heading: Heading) -> &'static str {
    match heading {
        Heading::NotRead => "not read",
        Heading::Items(kind) => kind.as_str(),
        Heading::Unaccounted => "unaccounted",
        Heading::Twice => "happened more than once (too much, second)",
    }
}

fn amounts<'a>(effects: impl Iterator<Item = &'a Effect>) -> String {
    let told = effects.filter_map(|effect| effect.money.as_ref().map(ToString::to_string));
    told.collect::<Vec<_>>().join(" + ")
}

/// What was charged too much, short: `10.41 BRL + 2 without amount`.
fn charged(sums: &[Money], unpriced: usize) -> String {
    let unpriced = (unpriced > 0).then(|| format!("{unpriced} without amount"));
    let parts: Vec<String> = sums.iter().map(ToString::to_string).chain(unpriced).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(" + ") }
}

fn item_line(model: &Model, (found, checked): &Answered, is_wide: bool) -> String {
    let (item, kind) = (&found.finding.item, found.finding.kind);
    let key = shown::item_key(&item.key);
    let sign = words::finding_sign(kind);
    let amounts = amounts(checked.judgement.effects.iter());
    if !is_wide {
        return format!("  {sign} {}{key}  {amounts}", escalated_word(model, item));
    }
    let effects = words::count(checked.judgement.happened_count(), "effect");
    format!(
        "  {sign} {} {} {} {} {}",
        pad(&key, 26),
        pad(&effects, 9),
        pad(&amounts, 21),
        pad(&status_or_escalated(model, item), 10),
        shown::line(&item.source)
    )
}

/// What stands first on a narrow line of an item that was escalated, whoever did it.
fn escalated_word(model: &Model, item: &Item) -> &'static str {
    if model.is_escalated(item) { "escalated " } else { "" }
}

/// Where it was escalated that says more than its status, and no narrow screen cuts it off.
fn status_or_escalated(model: &Model, item: &Item) -> String {
    if model.is_escalated(item) { "escalated".to_owned() } else { shown::beginning(&item.status, 10) }
}

fn effect_line(effect: &Unaccounted, is_wide: bool) -> String {
    let listed = &effect.effect;
    let reference = listed.references.first().map_or("no reference", String::as_str);
    let read = listed.read.as_ref().ok();
    let amount = amounts(read.into_iter());
    if !is_wide {
        return format!("  {UNACCOUNTED_SIGN} {}  {amount}", shown::line(reference));
    }
    let at = read.and_then(|effect| effect.at).map(stamp).unwrap_or_default();
    format!(
        "  {UNACCOUNTED_SIGN} {} {} {} {} {at}",
        pad(&shown::line(reference), 26),
        pad("1 effect", 9),
        pad(&amount, 21),
        pad(&shown::line(&effect.operation.to_string()), 20)
    )
}

fn group_line(model: &Model, row: &Row, is_wide: bool) -> String {
    let Some((story, group)) = row.duplicate() else { return String::new() };
    let sign = words::finding_sign(FindingKind::Duplicate);
    let decided = story.members.iter().map(|member| &member.found.finding.item);
    let decided = decided.into_iter().find(|item| model.is_escalated(item));
    let charged = shown::line(&charged(&group.beyond_first, group.unpriced));
    let reference = shown::line(&group.reference);
    if !is_wide {
        let decided = decided.map_or("", |item| escalated_word(model, item));
        return format!("  {sign} {decided}{reference}  {charged}");
    }
    // The year is none of what is looked for over a week. Where it was escalated that says more; the time stands beside.
    let second = match (decided, group.second_at) {
        (Some(_), _) => "escalated".to_owned(),
        (None, Some(at)) => at.format("%m-%d %H:%M:%SZ").to_string(),
        (None, None) => "no time".to_owned(),
    };
    format!(
        "  {sign} {} {} {} {}",
        pad(&reference, 26),
        pad(&words::count(group.happened_count(), "effect"), 9),
        pad(&charged, 20),
        pad(&second, 15),
    )
}

/// Draws the line under the cursor in full.
pub fn draw_one(model: &Model, which: Matching, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    let [top, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let view = model.matching(which);
    let row = view.current();
    let name = match row {
        Some(Row::Group(_)) => "Duplicate",
        Some(Row::Item(_)) => "Item",
        Some(Row::Effect(_)) => "Effect",
        Some(Row::Heading(..) | Row::NotRead { .. }) | None => "About",
    };
    let rest = row.and_then(Row::identity).map(|identity| shown::key(&identity.key)).unwrap_or_default();
    let has_keys = model.focus == Focus::Detail;
    frame.render_widget(title(model.theme, name, &rest, has_keys, top.width), top);
    let mut lines = Lines::new(model.theme, body.width);
    if row.is_some_and(|row| !is_on_record(model, row)) {
        super::lines::not_on_record(model, &mut lines);
    }
    match row {
        None => {}
        Some(Row::Heading(heading, _)) => lines.sentence(meaning(*heading), Style::new()),
        Some(Row::NotRead { what, do_next }) => {
            lines.sentence(&shown::line(what), model.theme.caution());
            lines.sentence(meaning(Heading::NotRead), Style::new());
            let check = model.setup.keys.told(Place::Findings, Action::Check);
            let alone = || format!("{check} on a finding asks about it alone.");
            lines.sentence(&do_next.as_deref().map_or_else(alone, shown::line), Style::new());
        }
        Some(Row::Item(item)) => item_lines(model, item, &mut lines),
        Some(Row::Effect(effect)) => effect_lines(model, effect, &mut lines),
        Some(row @ Row::Group(_)) => {
            if let Some((story, group)) = row.duplicate() {
                duplicate::lines(model, story, group, &mut lines);
            }
        }
    }
    state.detail = draw_scrolled(model.theme, lines.into_lines(), view.scroll, frame, body);
}

fn meaning(heading: Heading) -> &'static str {
    match heading {
        Heading::NotRead => {
            "What counts as not read says nothing: what would be on it is neither matched nor lost, and may be missing here."
        }
        Heading::Items(FindingKind::Duplicate) | Heading::Twice => {
            "More than one effect happened under one reference."
        }
        Heading::Items(FindingKind::Lost) => {
            "The job says done, and the provider, asked for it alone as well, has nothing."
        }
        Heading::Items(FindingKind::Mismatch) => {
            "It happened, with another amount or currency than the job asked for."
        }
        Heading::Items(FindingKind::Stuck | FindingKind::Ambiguous) => "It needs a person by its row.",
        Heading::Unaccounted => "The provider did it, and no item of any source accounts for it.",
    }
}

fn item_lines(model: &Model, (found, checked): &Answered, lines: &mut Lines) {
    let item = &found.finding.item;
    let kind = found.finding.kind;
    super::detail::escalated(model, item, lines);
    let told = format!("{} {}", words::finding_sign(kind), words::finding(kind));
    lines.styled_fact("finding", &told, model.theme.alarm());
    lines.fact("", meaning(Heading::Items(kind)));
    let verdict = Some(checked.verdict());
    let told = format!("{} {}", words::verdict_sign(verdict), words::verdict(verdict));
    lines.styled_fact("verdict", &told, model.theme.verdict(verdict));
    for (number, reason) in checked.advised.reasons.iter().enumerate() {
        lines.fact(if number == 0 { "why" } else { "" }, &shown::line(reason));
    }
    lines.fact("source", &format!("{}, kind {}", shown::line(&item.source), shown::line(&item.kind)));
    let state = format!(
        "{} {}  (`{}` in the table)",
        words::state_sign(item.state),
        words::state(item.state),
        shown::beginning(&item.status, 40)
    );
    lines.fact("state", &state);
    if let Ok(reference) = &found.reference {
        lines.fact("reference", &shown::line(reference));
    }
    let told = |action| model.setup.keys.told(Place::Reconcile, action);
    let next = if model.findings.find(&Identity::of(item)).is_some() {
        format!(
            "{} goes to it in the list of findings, {} shows its timeline.",
            told(Action::ToItem),
            told(Action::Timeline)
        )
    } else {
        format!(
            "{} shows its timeline. By its row it is no finding: nothing waits for a person there.",
            told(Action::Timeline)
        )
    };
    lines.styled_fact("next", &next, model.theme.strong());
    evidence::lines(model, checked, lines);
}

fn effect_lines(model: &Model, unaccounted: &Unaccounted, lines: &mut Lines) {
    let listed = &unaccounted.effect;
    lines.styled_fact("finding", &format!("{UNACCOUNTED_SIGN} unaccounted"), model.theme.alarm());
    lines.fact("why", &shown::line(&unaccounted.why()));
    lines.fact("operation", &shown::line(&unaccounted.operation.to_string()));
    lines.fact("effect", &shown::line(&listed.id));
    if let Ok(effect) = &listed.read {
        lines.fact("status", &shown::line(&effect.status));
        let money = effect.money.as_ref().map_or_else(|| "no amount told".to_owned(), ToString::to_string);
        lines.fact("amount", &shown::line(&money));
        lines.fact("at", &effect.at.map_or_else(|| "no time told".to_owned(), stamp));
        if let Some(link) = &effect.link {
            lines.fact("link", &shown::line(link));
        }
    }
    for (number, reference) in listed.references.iter().enumerate() {
        lines.fact(if number == 0 { "references" } else { "" }, &shown::line(reference));
    }
    lines.fact("list begun", &stamp(unaccounted.at));
    if let Some(hash) = &unaccounted.evidence {
        lines.fact("hash", &shown::line(hash));
    }
}
