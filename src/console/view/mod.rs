//! Drawing: one file a region of the screen, each a function of the model.
//!
//! ```text
//! wide (120 columns and more)               stacked (80x20 and more)      narrow
//! +--------------------------------------+  +------------------------+   +---------------+
//! | header: counts, sources, clock       |  | header                 |   | header        |
//! |-- Findings --------|-- Item ---------|  |-- Findings ------------|   |-- Findings ---|
//! | list               | facts, timeline,|  | list                   |   | list          |
//! |                    | evidence, advice|  |-- Item ----------------|   |   (Enter: the |
//! |                    |                 |  | its first facts        |   |   item, whole |
//! |--------------------------------------|  |------------------------|   |   screen)     |
//! | notice: what, and what to do         |  | notice                 |   | notice        |
//! | footer: keys                         |  | footer                 |   | footer        |
//! +--------------------------------------+  +------------------------+   +---------------+
//! ```
//! Stacked and narrow, `Enter` gives the item the whole screen. A dialog lies over all but notice and footer. Rules and
//! frames are ASCII: box-drawing signs are two cells wide on East Asian terminals and would shift everything.

mod approval;
mod audit;
mod bulk;
mod decision;
mod detail;
pub(in crate::console) mod dialog;
mod duplicate;
mod evidence;
mod finder;
mod form;
mod groups;
mod header;
mod help;
pub(in crate::console) mod lines;
mod list;
mod matching;
mod message;
pub(in crate::console) mod notice;
mod outcome;
mod palette;
mod proposals;
mod recovered;
mod rows;
mod status;
mod timeline;
mod triage;

use crate::console::model::matching::Matching;
use crate::console::model::{Dialog, Focus, Model, Screen};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Clear, Paragraph};

/// Where a list was drawn, and its first line.
#[derive(Debug, Default, Clone, Copy)]
pub struct Listed {
    /// Its rows, without title and heads.
    pub area: Rect,
    /// The number of its first line.
    pub offset: usize,
}

/// Where a scrolled text was drawn, and how far it can be scrolled.
#[derive(Debug, Default, Clone, Copy)]
pub struct Scrolled {
    /// Its lines.
    pub area: Rect,
    /// The furthest it can be scrolled.
    pub scroll_max: u16,
}

/// What can be chosen in a dialog, line by line of its text.
#[derive(Debug, Default)]
struct Choices {
    /// The first line on the screen.
    first: usize,
    /// The choice on each line; `None` where there is none.
    of_line: Vec<Option<usize>>,
}

/// What drawing must remember: scroll offsets and where things were, for the mouse and for pages.
#[derive(Debug, Default)]
pub struct ViewState {
    /// The list on the screen.
    pub list: Listed,
    /// The item or audit entry on the screen.
    pub detail: Scrolled,
    /// The timeline on the screen.
    pub timeline: Scrolled,
    /// The dialog on the screen.
    pub dialog: Scrolled,
    /// What can be chosen in the dialog on the screen.
    choices: Choices,
    findings_offset: usize,
    audit_offset: usize,
    proposals_offset: usize,
    matching_offset: usize,
}

impl ViewState {
    /// What can be chosen at a place of the screen.
    pub fn choice_at(&self, at: Position) -> Option<usize> {
        let area = self.dialog.area;
        let line = self.choices.first + usize::from(at.y.checked_sub(area.y)?);
        area.contains(at).then(|| self.choices.of_line.get(line).copied().flatten()).flatten()
    }
}

/// From which width on list and item stand side by side.
const WIDE_MIN: u16 = 120;
/// From which height on list and item stand one above the other.
const STACKED_HEIGHT_MIN: u16 = 20;
/// The part of the width or height that the list takes, in percent.
const LIST_PERCENT: u16 = 60;

/// Draws the console.
pub fn view(model: &Model, state: &mut ViewState, frame: &mut Frame<'_>) {
    let area = frame.area();
    (state.list.area, state.detail.area, state.dialog.area) = (Rect::ZERO, Rect::ZERO, Rect::ZERO);
    state.timeline.area = Rect::ZERO;
    state.choices = Choices::default();
    let is_small = area.width < crate::console::model::SIZE_MIN.width
        || area.height < crate::console::model::SIZE_MIN.height;
    if is_small {
        frame.render_widget(Paragraph::new(Line::raw("terminal too small")), area);
        return;
    }
    let header = header::lines(model, area.width, area.height);
    let header_height = u16::try_from(header.len()).unwrap_or(1);
    let room = area.height.saturating_sub(header_height + 1);
    let told = status::notice_lines(model, area.width, room);
    let [top, body, notice, footer] = Layout::vertical([
        Constraint::Length(header_height),
        Constraint::Min(0),
        Constraint::Length(u16::try_from(told.len()).unwrap_or(1)),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(header), top);
    draw_body(model, state, frame, body, notice.height.saturating_sub(1));
    status::draw(model, told, frame, (notice, footer));
    draw_dialog(model, state, frame, Rect { height: top.height + body.height, ..area });
}

/// Where list and detail stand, and the rule between them.
fn places(model: &Model, (body, notice_more): (Rect, u16)) -> (Option<Rect>, Option<Rect>, Option<Rect>) {
    let is_wide = body.width >= WIDE_MIN;
    // A pane does not go because there is more to say than fits a line.
    let is_high = body.height + notice_more >= STACKED_HEIGHT_MIN.saturating_sub(5);
    let is_of_doubles = model.screen == Screen::Matching(Matching::Duplicates);
    if is_wide && !is_of_doubles {
        let parts = [Constraint::Percentage(LIST_PERCENT), Constraint::Length(2), Constraint::Min(0)];
        let [list, rule, detail] = Layout::horizontal(parts).areas(body);
        (Some(list), Some(rule), Some(detail))
    } else if model.focus == Focus::Detail && !(is_wide && is_high) {
        (None, None, Some(body))
    } else if is_high {
        // Items, attempts and effects side by side take the whole width, so that list is above and as short as it may be.
        let split = if is_of_doubles {
            Constraint::Length(matching::list_height(model, body.height / 2))
        } else {
            Constraint::Percentage(LIST_PERCENT)
        };
        let [list, detail] = Layout::vertical([split, Constraint::Min(0)]).areas(body);
        (Some(list), None, Some(detail))
    } else {
        (Some(body), None, None)
    }
}

fn draw_body(model: &Model, state: &mut ViewState, frame: &mut Frame<'_>, body: Rect, notice_more: u16) {
    if model.screen == Screen::Timeline {
        return timeline::draw(model, state, frame, body);
    }
    let (list, rule, detail) = places(model, (body, notice_more));
    if let Some(rule) = rule {
        let line = Line::styled("|", model.theme.quiet());
        frame.render_widget(Paragraph::new(vec![line; usize::from(rule.height)]), rule);
    }
    match model.screen {
        Screen::Findings => {
            if let Some(list) = list {
                list::draw(model, state, frame, list);
            }
            if let Some(detail) = detail {
                detail::draw(model, state, frame, detail);
            }
        }
        Screen::Audit => {
            if let Some(list) = list {
                audit::draw_list(model, state, frame, list);
            }
            if let Some(detail) = detail {
                audit::draw_entry(model, state, frame, detail);
            }
        }
        Screen::Proposals => {
            if let Some(list) = list {
                proposals::draw_list(model, state, frame, list);
            }
            if let Some(detail) = detail {
                proposals::draw_one(model, state, frame, detail);
            }
        }
        Screen::Matching(which) => {
            if let Some(list) = list {
                matching::draw_list(model, which, state, frame, list);
            }
            if let Some(detail) = detail {
                matching::draw_one(model, which, state, frame, detail);
            }
        }
        Screen::Timeline => {}
    }
}

fn draw_dialog(model: &Model, state: &mut ViewState, frame: &mut Frame<'_>, area: Rect) {
    if !matches!(model.dialog, Dialog::None | Dialog::Filter(_)) {
        // What is behind would show in pieces beside a dialog: nobody can read it, and it looks as if it belonged.
        frame.render_widget(Clear, area);
    }
    match &model.dialog {
        Dialog::None | Dialog::Filter(_) => {}
        Dialog::Triage(triage) => triage::draw(model, triage, state, frame, area),
        Dialog::Palette(palette) => palette::draw(model, palette, state, frame, area),
        Dialog::Name(input, hint) => {
            palette::draw_name(model, (input, hint.as_deref()), state, frame, area);
        }
        Dialog::Find(finder) => finder::draw(model, finder, state, frame, area),
        Dialog::Message(notice, scroll) => message::draw(model, notice, *scroll, state, frame, area),
        Dialog::Help(scroll) => help::draw(model, *scroll, state, frame, area),
        Dialog::Decision(dialog) => decision::draw(model, dialog, state, frame, area),
        Dialog::Bulk(dialog) => bulk::draw(model, dialog, state, frame, area),
        Dialog::Approval(dialog) => approval::draw(model, dialog, state, frame, area),
        Dialog::Outcome(scroll) => outcome::draw(model, *scroll, state, frame, area),
        Dialog::Recovered(recovered, scroll) => {
            recovered::draw(model, recovered, *scroll, state, frame, area);
        }
    }
}
