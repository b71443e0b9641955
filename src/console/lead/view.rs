//! Drawing the first run: a head, the step's lines, what there is to say, and the keys.

use super::message::{Needs, Seen, SeenSystem, Tried};
use super::model::{Field, KindForm, Lead, Page, Step};
use crate::console::model::SIZE_MIN;
use crate::console::shown::{fit, line};
use crate::console::view::Scrolled;
use crate::console::view::dialog::{FootLine, text_box};
use crate::console::view::lines::{Lines, draw_scrolled, joined, title};
use crate::console::view::notice::whole;
use crate::console::words;
use crate::domain::mask::MASK;
use crate::domain::policy::Risk;
use crate::domain::text::{clean_cut, is_variable_name};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// What drawing must remember: where the text was, and how far it can be scrolled.
pub type LeadView = Scrolled;

/// How many providers are shown to choose from at once.
const CHOICES_SHOWN_MAX: usize = 5;
/// How many names of unknown tables are told.
const TABLES_TOLD_MAX: usize = 12;

/// The lines of a step, and which of them has the keys.
struct Body {
    lines: Lines,
    /// The line to keep in sight.
    focus: Option<usize>,
    /// The line and column of the text cursor.
    cursor: Option<(usize, u16)>,
}

impl Body {
    fn push_box(&mut self, foot: FootLine) {
        if foot.is_active {
            let line = self.lines.len();
            (self.focus, self.cursor) = (Some(line), foot.cursor.map(|column| (line, column)));
        }
        self.lines.push(foot.line);
    }

    fn push_row(&mut self, line: Line<'static>, has_keys: bool) {
        if has_keys {
            (self.focus, self.cursor) = (Some(self.lines.len()), None);
        }
        self.lines.push(line);
    }
}

/// Draws the first run.
pub fn view(lead: &Lead, state: &mut LeadView, frame: &mut Frame<'_>) {
    let area = frame.area();
    *state = LeadView::default();
    if area.width < SIZE_MIN.width || area.height < SIZE_MIN.height {
        frame.render_widget(Paragraph::new(Line::raw("terminal too small")), area);
        return;
    }
    let theme = lead.theme;
    let told = lead.notice.as_ref().map(|notice| whole(theme, notice, area.width)).unwrap_or_default();
    let told_rows = u16::try_from(told.len()).unwrap_or(1).clamp(1, (area.height / 3).max(1));
    let [head, rule, body, notice, footer] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(0),
        Constraint::Length(told_rows),
        Constraint::Length(1),
    ])
    .areas(area);
    let step = format!("first run, step {} of 4", lead.step.number());
    let parts = vec![
        Span::styled("unstuck", theme.strong()),
        Span::raw(step),
        Span::styled("nothing is written before the last key", theme.quiet()),
    ];
    frame.render_widget(joined(parts, head.width), head);
    let (name, rest) = heading(lead);
    frame.render_widget(title(theme, &name, &rest, true, rule.width), rule);
    draw_body(lead, state, frame, body);
    frame.render_widget(Paragraph::new(told), notice);
    frame.render_widget(keys(lead, footer.width), footer);
}

fn heading(lead: &Lead) -> (String, String) {
    match (lead.step, lead.current_page()) {
        (Step::Where, _) => ("Where are your jobs?".to_owned(), format!("{} picked", lead.picked().len())),
        (Step::Look, _) if lead.is_busy => {
            let told = format!("looking, {} of {} answered", lead.seen().count(), lead.looks.len());
            ("What is there".to_owned(), told)
        }
        (Step::Look, _) => ("What is there".to_owned(), String::new()),
        (Step::Ask, Some(Page::Password(address))) => ("A password".to_owned(), clean_cut(&address, 80)),
        (Step::Ask, Some(Page::Kind(at))) => {
            let name = lead.kinds.get(at).map(|kind| clean_cut(&kind.seen.name, 40)).unwrap_or_default();
            (format!("Kind {name}"), format!("{} of {}", lead.page + 1, lead.pages().len()))
        }
        (Step::Ask, None) => ("Kinds".to_owned(), String::new()),
        (Step::Write, _) => ("The configuration".to_owned(), String::new()),
    }
}

fn draw_body(lead: &Lead, state: &mut LeadView, frame: &mut Frame<'_>, area: Rect) {
    // What it says of where it goes stays in sight beside a long text.
    let (area, foot) = if lead.step == Step::Write {
        let [text, foot] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(area);
        (text, Some(foot))
    } else {
        (area, None)
    };
    let mut body = Body { lines: Lines::new(lead.theme, area.width), focus: None, cursor: None };
    match (lead.step, lead.current_page()) {
        (Step::Where, _) => where_lines(lead, &mut body, area.width),
        (Step::Look, _) => look_lines(lead, &mut body),
        (Step::Ask, Some(page)) => ask_lines(lead, &page, &mut body, area.width),
        (Step::Ask, None) => {}
        (Step::Write, _) => write_lines(lead, &mut body),
    }
    let lines = body.lines.into_lines();
    let scroll = match body.focus {
        None => lead.scroll,
        Some(focus) => u16::try_from(focus.saturating_sub(usize::from(area.height) / 2)).unwrap_or(u16::MAX),
    };
    *state = draw_scrolled(lead.theme, lines, scroll, frame, area);
    if let Some((line, column)) = body.cursor {
        let row = u16::try_from(line).unwrap_or(u16::MAX).checked_sub(scroll.min(state.scroll_max));
        let column = column.min(area.width.saturating_sub(1));
        if let Some(row) = row.filter(|row| *row < state.area.height) {
            frame.set_cursor_position(Position { x: area.x + column, y: state.area.y + row });
        }
    }
    if let Some(foot) = foot {
        let place = text_box(lead.theme, "File", &lead.place, lead.edits_place, foot.width);
        if let Some(cursor) = place.cursor {
            frame.set_cursor_position(Position { x: foot.x + cursor.min(foot.width - 1), y: foot.y });
        }
        frame.render_widget(place.line, foot);
    }
}

fn where_lines(lead: &Lead, body: &mut Body, width: u16) {
    let theme = lead.theme;
    let cells = usize::from(width);
    let row = |at: usize, told: String| {
        let has_keys = at == lead.row;
        let mark = if has_keys { ">" } else { " " };
        let style = if has_keys { theme.cursor() } else { theme.plain() };
        (Line::styled(fit(&format!("{mark} {told}"), cells), style), has_keys)
    };
    body.lines.sentence(
        "unstuck reads the tables where jobs keep their state, and never writes to them by looking.",
        theme.plain(),
    );
    if !lead.setup.files.is_empty() {
        body.lines.heading("SQLite files in this folder (Space ticks)");
    }
    for (at, (name, _)) in lead.setup.files.iter().enumerate() {
        let mark = if lead.ticked.get(at) == Some(&true) { "[x]" } else { "[ ]" };
        let (line, has_keys) = row(at, format!("{mark} {}", clean_cut(name, 200)));
        body.push_row(line, has_keys);
    }
    body.lines.heading("Addresses: a path, sqlite://, postgres://, mysql://");
    for (at, address) in lead.added.iter().enumerate() {
        // A password in it is hidden.
        let (one, has_keys) = row(lead.setup.files.len() + at, format!("[x] {}", shown_address(address)));
        body.push_row(one, has_keys);
    }
    body.push_box(text_box(theme, "", &lead.address, lead.is_on_address(), width));
}

/// An address without its password, also where its beginning is missing.
fn shown_address(address: &str) -> String {
    match address.rsplit_once('@') {
        Some((before, rest)) if !before.contains("://") && before.contains(':') => {
            format!("{MASK}@{}", line(rest))
        }
        _ => line(address),
    }
}

fn look_lines(lead: &Lead, body: &mut Body) {
    let theme = lead.theme;
    if lead.is_busy {
        body.lines.sentence("Looking into the databases; Esc goes back.", theme.busy());
    }
    for look in &lead.looks {
        if let Some((seen, _)) = &look.seen {
            seen_lines(lead, seen, &mut body.lines);
        } else {
            body.lines.heading(&shown_address(&look.address));
            body.lines.point(" ", "waiting for its answer, some ten seconds at most", theme.busy());
        }
    }
}

fn seen_lines(lead: &Lead, seen: &Seen, lines: &mut Lines) {
    let theme = lead.theme;
    lines.heading(&shown_address(&seen.address));
    let found = match &seen.result {
        Err(told) => {
            lines.point("!", &line(&told.what), theme.alarm());
            lines.point(" ", &line(&told.do_next), theme.plain());
            return;
        }
        Ok(found) => found,
    };
    for system in &found.systems {
        system_lines(lead, system, lines);
    }
    if let Some(note) = &found.note {
        lines.point("!", &line(&note.what), theme.caution());
        lines.point(" ", &line(&note.do_next), theme.plain());
    }
    if !found.unknown.is_empty() {
        let names: Vec<String> =
            found.unknown.iter().take(TABLES_TOLD_MAX).map(|name| clean_cut(name, 60)).collect();
        let more = found.unknown.len().saturating_sub(TABLES_TOLD_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let told = format!(
            "{} not known: {}{more}. The file will hold a mapping to fill in for each.",
            words::count(found.unknown.len(), "table"),
            names.join(", ")
        );
        lines.point("?", &told, theme.quiet());
    }
}

fn system_lines(lead: &Lead, system: &SeenSystem, lines: &mut Lines) {
    let theme = lead.theme;
    let named = format!("{}: {}", clean_cut(&system.name, 60), line(&system.title));
    match &system.findings {
        Ok(found) => {
            let more = if found.has_more { " or more" } else { "" };
            let told = format!("{named}. {}{more}.", words::count(found.count, "finding"));
            lines.point("+", &told, theme.good());
        }
        Err(told) => {
            lines.point("!", &format!("{named}. It cannot be read: {}", line(&told.what)), theme.alarm());
            lines.point(" ", &line(&told.do_next), theme.plain());
        }
    }
}

fn ask_lines(lead: &Lead, page: &Page, body: &mut Body, width: u16) {
    let theme = lead.theme;
    let at = match page {
        Page::Password(address) => {
            body.lines.sentence(
                "The address holds a password, which is not written down. Which environment variable has it?",
                theme.plain(),
            );
            body.lines.blank();
            if let Some(input) = lead.passwords.get(address) {
                body.push_box(text_box(theme, "Variable", input, true, width));
                unset_line(lead, input.value(), body);
            }
            body.lines.sentence(
                "It must be set when unstuck starts. Left empty, the platform's own ways are tried (.pgpass, PG*).",
                theme.quiet(),
            );
            return;
        }
        Page::Kind(at) => *at,
    };
    let Some(kind) = lead.kinds.get(at) else { return };
    let needing =
        format!("{} of this kind among what was read.", words::count(kind.seen.findings, "finding"));
    body.lines.sentence(&needing, theme.quiet());
    for (number, field) in lead.fields(page).iter().enumerate() {
        field_lines(lead, kind, field, (number == lead.field, width), body);
    }
}

fn field_lines(lead: &Lead, kind: &KindForm, field: &Field, (has_keys, width): (bool, u16), body: &mut Body) {
    let theme = lead.theme;
    let offer = lead.chosen(kind);
    let form = offer.and_then(|offer| lead.providers.get(&offer.preset));
    match field {
        Field::Password => {}
        Field::Provider => provider_lines(lead, kind, has_keys, width, body),
        Field::Place => {
            let label = match offer.map(|offer| &offer.needs) {
                Some(Needs::Database) => "Database",
                Some(Needs::BaseUrl(_)) | None => "Address",
            };
            if let Some(form) = form {
                body.push_box(text_box(theme, label, &form.place, has_keys, width));
            }
        }
        Field::Secret => {
            if let Some(form) = form {
                body.push_box(text_box(theme, "Secret in $", &form.secret, has_keys, width));
                if has_keys {
                    let told = "the environment variable's name, never the secret itself";
                    body.lines.point(" ", told, theme.quiet());
                }
                unset_line(lead, form.secret.value(), body);
            }
        }
        Field::Variable(name) => {
            if let Some(input) = form.and_then(|form| form.variables.get(name)) {
                body.push_box(text_box(theme, &clean_cut(name, 30), input, has_keys, width));
                let means = offer.and_then(|offer| offer.variables.iter().find(|one| one.name == *name));
                if let (true, Some(means)) = (has_keys, means) {
                    let may = if means.is_required { "" } else { " (may stay empty)" };
                    body.lines.point(" ", &format!("{}{may}", line(&means.means)), theme.quiet());
                }
            }
        }
        Field::Risk => {
            let mark = if has_keys { ">" } else { " " };
            let told = format!("{mark} Risk < {} > {}", kind.risk, risk_means(kind.risk));
            let style = if has_keys { theme.strong() } else { theme.plain() };
            body.push_row(Line::styled(fit(&told, usize::from(width)), style), has_keys);
        }
        Field::Reference => {
            body.push_box(text_box(theme, "Reference", &kind.reference, has_keys, width));
            match &kind.preview {
                None => body.lines.point(" ", "..", theme.quiet()),
                Some(Tried::Shown(shown)) => {
                    body.lines.point(" ", &format!("the first item: {}", line(shown)), theme.good());
                }
                Some(Tried::Untried(why)) => body.lines.point(" ", &line(why), theme.caution()),
                Some(Tried::Wrong(told)) => {
                    body.lines.point("!", &line(&told.what), theme.alarm());
                    body.lines.point(" ", &line(&told.do_next), theme.plain());
                }
            }
        }
    }
}

/// That a variable which is named is not set here, and nothing can be read with it yet.
fn unset_line(lead: &Lead, name: &str, body: &mut Body) {
    let name = name.trim();
    if is_variable_name(name) && !lead.setup.variables.contains(name) {
        let told = format!("${name} is not set now: it must be when unstuck starts");
        body.lines.point("?", &told, lead.theme.caution());
    }
}

fn provider_lines(lead: &Lead, kind: &KindForm, has_keys: bool, width: u16, body: &mut Body) {
    let theme = lead.theme;
    let chosen =
        lead.chosen(kind).map_or_else(|| "nobody for now".to_owned(), |offer| clean_cut(&offer.check, 60));
    if !has_keys {
        let told = format!("  Who knows  {chosen}");
        body.lines.push(Line::raw(fit(&told, usize::from(width))));
        return;
    }
    body.push_box(text_box(theme, "Who knows", &kind.sought, true, width));
    let matches = lead.matches(kind);
    if matches.is_empty() {
        body.lines.point(" ", "No provider is called like that; type less.", theme.caution());
    }
    let first = kind.at.saturating_sub(CHOICES_SHOWN_MAX - 1);
    for (at, offer) in matches.iter().enumerate().skip(first).take(CHOICES_SHOWN_MAX) {
        let told = offer.map_or_else(
            || "nobody for now: every verdict is unknown".to_owned(),
            |offer| format!("{}  {}", clean_cut(&offer.check, 60), line(&offer.title)),
        );
        let is_chosen = at == kind.at;
        if is_chosen && at > 0 {
            body.focus = Some(body.lines.len());
        }
        let (mark, style) = if is_chosen { (">", theme.cursor()) } else { (" ", theme.plain()) };
        body.lines.push(Line::styled(fit(&format!("   {mark} {told}"), usize::from(width)), style));
    }
    let left = matches.len().saturating_sub(first + CHOICES_SHOWN_MAX);
    if left > 0 {
        body.lines.point(" ", &format!("  {left} more below; type to find one"), theme.quiet());
    }
}

fn risk_means(risk: Risk) -> &'static str {
    match risk {
        Risk::Safe => "a repeat does no harm",
        Risk::CheckFirst => "look before deciding",
        Risk::Financial => "a repeat costs somebody money",
    }
}

fn write_lines(lead: &Lead, body: &mut Body) {
    let Some(text) = &lead.text else {
        body.lines.sentence("The text is being put together..", lead.theme.busy());
        return;
    };
    for one in text.lines() {
        // Wrapped and not cut: it is to be read whole. The writer made what is hidden visible.
        let style = if one.starts_with('#') { lead.theme.quiet() } else { lead.theme.plain() };
        body.lines.sentence(&clean_cut(one, 4_000), style);
    }
}

/// The keys that do something here.
fn keys(lead: &Lead, width: u16) -> Line<'static> {
    let told: &[&str] = match lead.step {
        Step::Where if lead.is_on_address() && lead.address.value().trim().is_empty() => {
            &["Enter next", "Ctrl-C leaves", "Tab moves"]
        }
        Step::Where if lead.is_on_address() => &["Enter adds it", "Tab moves", "Ctrl-C leaves"],
        Step::Where if lead.row < lead.setup.files.len() => {
            &["Space ticks", "Enter next", "Tab moves", "q leaves"]
        }
        Step::Where => &["Space corrects it", "Enter next", "Tab moves", "q leaves"],
        Step::Look => &["Enter next", "Esc back", "q leaves", "PgDn scrolls"],
        Step::Ask => match lead.current_field() {
            Some(Field::Provider) => {
                &["Enter takes it", "type to find", "Down/Up choose", "Esc back", "Ctrl-C leaves"]
            }
            Some(Field::Risk) => &["Space changes it", "Enter next", "Tab moves", "Esc back", "q leaves"],
            _ => &["Enter next", "Tab moves", "Esc back", "Ctrl-C leaves"],
        },
        Step::Write if lead.edits_place => &["Enter takes it", "Esc back", "Ctrl-C leaves"],
        Step::Write => &["w writes it", "Tab: another file", "Esc back", "q leaves", "PgDn scrolls"],
    };
    joined(told.iter().map(|key| Span::raw((*key).to_owned())).collect(), width)
}
