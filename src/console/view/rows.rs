//! One finding as one line, in the columns that fit.

use crate::console::model::Model;
use crate::console::model::findings::Row;
use crate::console::model::sort::{Column, Sort};
use crate::console::shown::{beginning, item_key, pad};
use crate::console::theme::Theme;
use crate::console::words;
use crate::domain::decision::Choice;
use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar;

/// What a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fact {
    Verdict,
    Age,
    Key,
    Finding,
    Advice,
    Kind,
    Attempts,
    Source,
    State,
    Class,
    Error,
}

/// Each column in the order of the screen: its fact, head, width, and its rank when room is scarce (0 is always there).
const COLUMNS: [(Fact, &str, usize, usize); 11] = [
    (Fact::Verdict, "verdict", 12, 0),
    (Fact::Age, "age", 7, 0),
    (Fact::Key, "key", KEY_WIDTH_MIN, 0),
    (Fact::Finding, "finding", 15, 1),
    (Fact::Advice, "next", 9, 2),
    (Fact::Kind, "kind", 8, 3),
    (Fact::Attempts, "tries", 5, 4),
    (Fact::Source, "source", 9, 5),
    (Fact::State, "state", 10, 6),
    (Fact::Class, "error", 13, 7),
    (Fact::Error, "error text", 30, 8),
];
const KEY_WIDTH_MIN: usize = 16;
const KEY_WIDTH_MAX: usize = 44;
/// How much more than the least the key gets before the last columns come.
const KEY_SPARE_MAX: usize = 4;
/// Cursor, selection, and what there is to know: a proposal that waits, an earlier reading, a check that is not on
/// record, a newcomer, an old check.
const MARKS: usize = 3;

/// The longest name of a source or kind that gets its whole column.
const NAME_WIDTH_MAX: usize = 24;

/// How wide the longest names are that stand in the columns.
#[derive(Debug, Clone, Copy, Default)]
pub struct NameWidths {
    source: usize,
    kind: usize,
}

impl NameWidths {
    /// Those of all findings, so that no column moves while somebody scrolls.
    pub fn of(model: &Model) -> Self {
        let shown =
            |name: &str| name.chars().take(NAME_WIDTH_MAX).map(|c| c.width().unwrap_or(1)).sum::<usize>();
        model.findings.words_counted().fold(Self::default(), |widest, (words, _)| Self {
            source: widest.source.max(shown(words.source())),
            kind: widest.kind.max(shown(words.kind())),
        })
    }
}

/// The columns that fit a width.
pub struct Columns {
    shown: Vec<(Fact, &'static str, usize)>,
}

impl Columns {
    /// As many columns as fit, the most telling first; what is left over goes to the names, the key, then to the error's text.
    /// Columns that tell less than the names of source and kind are left out before one of those is cut.
    pub fn for_width(width: u16, names: NameWidths) -> Self {
        // The space behind the last column may fall off.
        let mut room = (usize::from(width) + 1).saturating_sub(MARKS);
        let mut rank_max = 0;
        for rank in 0..COLUMNS.len() {
            let needed: usize =
                COLUMNS.iter().filter(|(.., own)| *own == rank).map(|(.., wide, _)| wide + 1).sum();
            // A further column must leave the key some room to be read.
            let kept_for_key = rank.min(KEY_SPARE_MAX);
            if needed == 0 || (needed + kept_for_key > room && rank > 0) {
                break;
            }
            room = room.saturating_sub(needed);
            rank_max = rank;
        }
        let more = |fact: Fact, needed: usize| {
            let own = COLUMNS.iter().find(|(other, ..)| *other == fact);
            own.filter(|(.., rank)| *rank <= rank_max)
                .map_or(0, |(_, _, wide, _)| needed.min(NAME_WIDTH_MAX).saturating_sub(*wide))
        };
        let (mut to_source, mut to_kind) = (more(Fact::Source, names.source), more(Fact::Kind, names.kind));
        let needed = to_source + to_kind + KEY_SPARE_MAX;
        let source_rank =
            COLUMNS.iter().find(|(fact, ..)| *fact == Fact::Source).map_or(0, |(.., rank)| *rank);
        let has_more = to_source + to_kind > 0;
        while has_more && room < needed && rank_max > source_rank {
            room += COLUMNS
                .iter()
                .filter(|(.., own)| *own == rank_max)
                .map(|(.., wide, _)| wide + 1)
                .sum::<usize>();
            rank_max -= 1;
        }
        let mut spare = room.saturating_sub(KEY_SPARE_MAX);
        to_source = to_source.min(spare);
        spare -= to_source;
        to_kind = to_kind.min(spare);
        room -= to_source + to_kind;
        let to_key = room.min(KEY_WIDTH_MAX - KEY_WIDTH_MIN);
        let to_error = room - to_key;
        let shown = COLUMNS
            .iter()
            .filter(|(.., rank)| *rank <= rank_max)
            .map(|(fact, head, wide, _)| match fact {
                Fact::Key => (*fact, *head, wide + to_key),
                Fact::Error => (*fact, *head, wide + to_error),
                Fact::Source => (*fact, *head, wide + to_source),
                Fact::Kind => (*fact, *head, wide + to_kind),
                _ => (*fact, *head, *wide),
            })
            .collect();
        Self { shown }
    }

    /// The heads, the sorted column with a mark.
    pub fn heads(&self, theme: Theme, sort: Sort) -> Line<'static> {
        let mut text = " ".repeat(MARKS);
        for (fact, head, width) in &self.shown {
            let mark = match (is_sorted_by(*fact, sort.column), sort.reversed) {
                (false, _) => "",
                (true, false) => " v",
                (true, true) => " ^",
            };
            text.push_str(&pad(&format!("{head}{mark}"), *width));
            text.push(' ');
        }
        Line::styled(text.trim_end().to_owned(), theme.quiet())
    }
}

fn is_sorted_by(fact: Fact, column: Column) -> bool {
    match column {
        Column::Worst => false,
        Column::Age => fact == Fact::Age,
        Column::Key => fact == Fact::Key,
        Column::Source => fact == Fact::Source,
        Column::Kind => fact == Fact::Kind,
        Column::Finding => fact == Fact::Finding,
        Column::Verdict => fact == Fact::Verdict,
        Column::Advice => fact == Fact::Advice,
        Column::Attempts => fact == Fact::Attempts,
    }
}

/// A finding's line. Under the cursor it is reversed as a whole and has no colours of its own.
pub fn row_line(model: &Model, row: &Row, columns: &Columns, is_cursor: bool) -> Line<'static> {
    let is_proposed = model.proposals.are_any() && model.proposals.on(&row.identity()).is_some();
    let mark = |is: bool, sign: &'static str| if is { sign } else { " " };
    let news = if is_proposed {
        "P"
    } else if model.is_from_before(row) {
        "!"
    } else if row.is_unrecorded {
        "u"
    } else if model.is_new(row) {
        "N"
    } else {
        mark(model.is_check_old(row), "o")
    };
    let marks = format!("{}{}{news}", mark(is_cursor, ">"), mark(row.selected, "*"));
    let mut spans = vec![Span::styled(marks, model.theme.strong())];
    for (fact, _, width) in &columns.shown {
        let style = match fact {
            Fact::Verdict if !is_cursor => model.theme.verdict(row.verdict()),
            _ => Style::new(),
        };
        let text = match fact {
            Fact::Advice if is_proposed => "proposed".to_owned(),
            fact => text_of(model, row, *fact, *width),
        };
        spans.push(Span::styled(pad(&text, *width), style));
        spans.push(Span::raw(" "));
    }
    let line = Line::from(spans);
    if is_cursor { line.style(model.theme.cursor()) } else { line }
}

fn text_of(model: &Model, row: &Row, fact: Fact, width: usize) -> String {
    let finding = &row.found.finding;
    let item = &finding.item;
    match fact {
        Fact::Verdict if row.asked.is_some() => "checking..".to_owned(),
        Fact::Verdict => format!("{} {}", words::verdict_sign(row.verdict()), words::verdict(row.verdict())),
        Fact::Age => {
            let age = age_now(row, model.now).map_or_else(|| "no time".to_owned(), words::short_span);
            format!("{age:>7}")
        }
        Fact::Key => item_key(&item.key),
        Fact::Finding => format!("{} {}", words::finding_sign(finding.kind), words::finding(finding.kind)),
        Fact::Advice => match (&row.decided, &row.checked) {
            (Some(choice), _) => words::done(*choice).to_owned(),
            (None, _) if model.is_escalated(item) => words::done(Choice::Escalate).to_owned(),
            (None, Some(checked)) => words::advice(checked.advice()).to_owned(),
            (None, None) => "check".to_owned(),
        },
        Fact::Kind => beginning(&item.kind, width),
        Fact::Attempts => item.attempts.map_or_else(|| "    -".to_owned(), |count| format!("{count:>5}")),
        Fact::Source => beginning(&item.source, width),
        Fact::State => format!("{} {}", words::state_sign(item.state), words::state(item.state)),
        Fact::Class => finding.error.as_ref().map_or("-", |sorted| words::class(sorted.class)).to_owned(),
        Fact::Error => match item.last_error.text() {
            Some("") => "''".to_owned(),
            Some(text) => beginning(text, width),
            None => "-".to_owned(),
        },
    }
}

/// How old a finding is by now, by its source's clock; `None` where no time tells.
///
/// All ages move on together, once a minute; those of less than a minute, with each second.
pub fn age_now(row: &Row, now: DateTime<Utc>) -> Option<TimeDelta> {
    let since = row.found.finding.since? - row.found.clock_gap;
    let by_minute = now.duration_trunc(TimeDelta::minutes(1)).unwrap_or(now) - since;
    let age = if by_minute < TimeDelta::minutes(1) { now - since } else { by_minute };
    Some(age.max(TimeDelta::zero()))
}
