//! One reference under which more than one effect happened: how that came about, and items, attempts and effects side by side.

use super::lines::Lines;
use super::timeline::{notes, questions};
use crate::console::keymap::{Action, Place};
use crate::console::model::Model;
use crate::console::model::matching::member_of;
use crate::console::shown::{self, pad};
use crate::console::theme::Theme;
use crate::domain::duplicates::{DECISION, Duplicate};
use crate::domain::evidence::EffectState;
use crate::workflow::story::Story;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// From which width on the three stand side by side.
const BESIDE_MIN: usize = 96;
/// The space between two columns.
const BETWEEN: usize = 2;

/// Everything of a group.
pub fn lines(model: &Model, story: &Story, group: &Duplicate, lines: &mut Lines) {
    facts(model.theme, group, lines);
    for member in &story.members {
        super::detail::escalated(model, &member.found.finding.item, lines);
    }
    next(model, story, lines);
    side_by_side(model.theme, group, lines);
    questions(model.theme, &story.answers, lines);
    notes(&story.notes, lines);
}

/// What was charged twice, when and how.
pub fn facts(theme: Theme, group: &Duplicate, lines: &mut Lines) {
    lines.sentence(&shown::line(&group.headline()), theme.alarm());
    lines.fact("second", &shown::line(&group.second_told()));
    for (number, cause) in group.causes.iter().enumerate() {
        lines.fact(if number == 0 { "how" } else { "" }, &shown::line(&cause.sentence()));
    }
    lines.fact("decision", DECISION);
}

/// What to press, and on which item it is decided.
fn next(model: &Model, story: &Story, lines: &mut Lines) {
    let Some(member) = member_of(story) else { return };
    let key = shown::key(member.found.finding.item.key.as_str());
    let told = |action| model.setup.keys.told(Place::Duplicates, action);
    if model.is_escalated(&member.found.finding.item) {
        let next = format!(
            "nothing here: {key} was escalated; {} copies all that a refund needs; {} shows its timeline.",
            told(Action::CopyKey),
            told(Action::Timeline)
        );
        lines.styled_fact("next", &next, model.theme.strong());
        return;
    }
    let next = format!(
        "{} escalates {key}, with all that a refund needs as its reason; {} copies that; {} shows its timeline.",
        told(Action::Escalate),
        told(Action::CopyKey),
        told(Action::Timeline)
    );
    lines.styled_fact("next", &next, model.theme.strong());
}

/// Items, attempts and effects: in three columns, or one below the other.
fn side_by_side(theme: Theme, group: &Duplicate, lines: &mut Lines) {
    let plain = |told: Vec<String>| told.iter().map(|text| format!("- {}", shown::line(text))).collect();
    let effects = group.effects_told();
    let effects = effects.iter().map(|(state, text)| format!("{} {}", sign(*state), shown::line(text)));
    let columns: [(&str, Vec<String>); 3] = [
        ("Items", plain(group.items_told())),
        ("Attempts", plain(group.runs_told())),
        ("Effects (+ happened)", effects.collect()),
    ];
    if lines.width() < BESIDE_MIN {
        for (heading, texts) in &columns {
            lines.heading(heading);
            none(texts, lines, theme);
            for text in texts {
                let (mark, rest) = text.split_at(1);
                lines.point(mark, rest.trim_start(), Style::new());
            }
        }
        return;
    }
    lines.blank();
    let width = (lines.width() - 2 * BETWEEN) / 3;
    let wrapped: Vec<Vec<String>> = columns.iter().map(|(_, texts)| wrap_all(texts, width)).collect();
    let heads = columns.iter().map(|(heading, _)| pad(heading, width + BETWEEN)).collect::<String>();
    lines.push(Line::styled(heads.trim_end().to_owned(), theme.strong()));
    for at in 0..wrapped.iter().map(Vec::len).max().unwrap_or(0) {
        let cells = wrapped
            .iter()
            .map(|column| Span::raw(pad(column.get(at).map_or("", String::as_str), width + BETWEEN)));
        lines.push(Line::from(cells.collect::<Vec<_>>()));
    }
}

fn none(texts: &[String], lines: &mut Lines, theme: Theme) {
    if texts.is_empty() {
        lines.sentence("none is told of", theme.quiet());
    }
}

/// Texts of a column, each further line of one indented.
fn wrap_all(texts: &[String], width: usize) -> Vec<String> {
    if texts.is_empty() {
        return vec!["none is told of".to_owned()];
    }
    let of_one = |text: &String| {
        let (mark, rest) = text.split_at(1);
        let parts = shown::wrap(rest.trim_start(), width.saturating_sub(2)).into_iter().enumerate();
        let indented = |(number, part): (usize, String)| {
            if number == 0 { format!("{mark} {part}") } else { format!("  {part}") }
        };
        parts.map(indented).collect::<Vec<_>>()
    };
    texts.iter().flat_map(of_one).collect()
}

/// What an effect amounts to, as a sign.
fn sign(state: EffectState) -> &'static str {
    match state {
        EffectState::Happened => "+",
        EffectState::Pending => "~",
        EffectState::Failed => "x",
        EffectState::Unlisted => "?",
    }
}
