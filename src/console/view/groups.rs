//! A group of findings as one line of the list, and as the text beside it.

use super::lines::Lines;
use crate::console::model::Model;
use crate::console::model::findings::Row;
use crate::console::model::groups::{Group, PARTS, told_minute};
use crate::console::shown::{beginning, fit, pad};
use crate::console::words;
use crate::domain::verdict::Verdict;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// From which width on a group's line has its histogram.
const HISTOGRAM_WIDTH_MIN: usize = 60;
/// How many members are looked at for the text beside: a group may have 200,000.
const LOOKED_AT_MAX: usize = 2_000;
/// How many keys are listed.
const KEYS_LISTED_MAX: usize = 20;

/// A group's line: its sign, its size, what it has in common, and when its members began.
pub fn group_line(model: &Model, group: &Group, width: usize, is_cursor: bool) -> Line<'static> {
    let sign = if group.is_open { "-" } else { "+" };
    let mark = if is_cursor { ">" } else { " " };
    let before = format!("{mark}{sign} {:>6}  ", group.rows.len());
    let after = if width >= HISTOGRAM_WIDTH_MIN {
        format!("  [{}] ", histogram(&group.began))
    } else {
        String::new()
    };
    let room = width.saturating_sub(before.len() + after.len());
    let label = pad(&beginning(&model.findings.label_of(group), room), room);
    let line = Line::from(vec![
        Span::styled(before, model.theme.strong()),
        Span::styled(fit(&label, room), model.theme.strong()),
        Span::styled(after, model.theme.quiet()),
    ]);
    if is_cursor { line.style(model.theme.cursor()) } else { line }
}

/// Counts as signs, from nothing to the most: ASCII, which is one cell wide on every terminal.
fn histogram(began: &[u32; PARTS]) -> String {
    const STEPS: [char; 5] = ['.', ':', '+', '*', '#'];
    let most = began.iter().copied().max().unwrap_or(0);
    let sign = |count: &u32| match (*count, most) {
        (0, _) | (_, 0) => ' ',
        (count, most) => {
            let steps = u64::try_from(STEPS.len()).unwrap_or(1);
            let step = (u64::from(count) * steps).div_ceil(u64::from(most)).saturating_sub(1);
            usize::try_from(step).ok().and_then(|step| STEPS.get(step).copied()).unwrap_or('#')
        }
    };
    began.iter().map(sign).collect()
}

/// What is told of a group beside the list.
pub fn lines(model: &Model, group: &Group, lines: &mut Lines) {
    lines.styled_fact(
        "group",
        &crate::console::shown::line(&model.findings.label_of(group)),
        model.theme.strong(),
    );
    lines.fact("by", model.findings.grouping().as_str());
    lines.fact("findings", &group.rows.len().to_string());
    if let Some((from, to)) = model.findings.groups().minutes {
        lines.fact(
            "began",
            &format!("{} [{}] {}", told_minute(from), histogram(&group.began), told_minute(to)),
        );
    }
    let looked_at: Vec<&Row> = model.findings.members(group).take(LOOKED_AT_MAX).collect();
    let selected = looked_at.iter().filter(|row| row.selected).count();
    if selected > 0 {
        lines.fact("selected", &selected.to_string());
    }
    lines.blank();
    for verdict in Verdict::ALL.into_iter().map(Some).chain([None]) {
        let count = looked_at.iter().filter(|row| row.verdict() == verdict).count();
        if count > 0 {
            let told = format!("{} {}", words::verdict_sign(verdict), words::verdict(verdict));
            lines.styled_fact(&format!("{count:>6}"), &told, model.theme.verdict(verdict));
        }
    }
    if group.rows.len() > LOOKED_AT_MAX {
        lines.sentence(&format!("(of the first {LOOKED_AT_MAX})"), model.theme.quiet());
    }
    lines.blank();
    for row in looked_at.iter().take(KEYS_LISTED_MAX) {
        lines.verbatim(&crate::console::shown::item_key(&row.found.finding.item.key));
    }
    let more = group.rows.len().saturating_sub(KEYS_LISTED_MAX);
    if more > 0 {
        lines.sentence(&format!("and {more} more"), Style::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_is_a_full_sign_and_nothing_is_none() {
        let mut began = [0; PARTS];
        (began[0], began[1], began[2], began[15]) = (1, 50, 100, 99);
        assert_eq!(histogram(&began), ".+#            #");
        assert_eq!(histogram(&[0; PARTS]), " ".repeat(PARTS));
    }
}
