//! What a key, or what was found out, changes on the first run.

use super::judge::{missing, wrong};
use super::message::{Ended, LeadMessage, LeadTask, SeenKind, Told};
use super::model::{Field, KindForm, Lead, Look, Page, Step, USUAL_REFERENCE};
use super::view::LeadView;
use crate::console::model::{Notice, SIZE_MIN};
use crate::console::update::edit::request_of;
use crate::domain::policy::Risk;
use crate::domain::text::is_plain;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::collections::BTreeMap;
use tui_input::{Input, InputRequest};

/// How long what is typed may be, in characters.
const TYPED_CHARS_MAX: usize = 1_000;
/// How many kinds are asked about; the others are written by hand.
const KINDS_MAX: usize = 12;
/// How many databases may be picked.
const DATABASES_MAX: usize = 20;

/// Takes in what happened, and says what to do.
pub fn update(lead: &mut Lead, view: &LeadView, message: LeadMessage) -> Vec<LeadTask> {
    match message {
        LeadMessage::Key(key) if key.kind == KeyEventKind::Release => Vec::new(),
        LeadMessage::Key(key) => on_key(lead, view, key),
        LeadMessage::Paste(text) => paste(lead, &text),
        LeadMessage::Resize { width, height } => {
            lead.size = ratatui::layout::Size { width, height };
            Vec::new()
        }
        LeadMessage::Looked { run, at, seen, kinds } if run == lead.run => {
            if let Some(look) = lead.looks.get_mut(at) {
                look.seen = Some((seen, kinds));
            }
            if lead.looks.iter().all(|look| look.seen.is_some()) {
                lead.is_busy = false;
                take_kinds(lead);
            }
            Vec::new()
        }
        LeadMessage::Previewed { run, shown } if run == lead.run => {
            if let Some(Page::Kind(at)) = lead.current_page()
                && let Some(kind) = lead.kinds.get_mut(at)
            {
                kind.preview = Some(shown);
            }
            Vec::new()
        }
        LeadMessage::Composed { run, text, fault } if run == lead.run => {
            lead.text = Some(text);
            lead.is_refused = fault.is_some();
            lead.notice = fault.map(|told| alarm(&told));
            Vec::new()
        }
        LeadMessage::Looked { .. } | LeadMessage::Previewed { .. } | LeadMessage::Composed { .. } => {
            Vec::new()
        }
        LeadMessage::Written { path } => {
            vec![LeadTask::End(Ended::Written { path, has_sources: lead.has_sources() })]
        }
        LeadMessage::NotWritten(told) => {
            lead.is_busy = false;
            lead.notice = Some(alarm(&told));
            Vec::new()
        }
    }
}

fn alarm(told: &Told) -> Notice {
    Notice::alarm(told.what.clone(), told.do_next.clone())
}

fn say(lead: &mut Lead, what: &str, do_next: &str) -> Vec<LeadTask> {
    lead.notice = Some(Notice::alarm(what.to_owned(), do_next.to_owned()));
    Vec::new()
}

/// The kinds that are there now; what was answered of one before stays.
fn take_kinds(lead: &mut Lead) {
    let mut before = std::mem::take(&mut lead.kinds);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for kind in lead.looks.iter().filter_map(|look| look.seen.as_ref()).flat_map(|(_, kinds)| kinds) {
        *counts.entry(kind.name.clone()).or_default() += kind.findings;
    }
    for (name, findings) in counts.into_iter().take(KINDS_MAX) {
        let seen = SeenKind { name, findings };
        let known = before.iter().position(|kind| kind.seen.name == seen.name);
        let kind = match known {
            Some(at) => KindForm { seen, ..before.swap_remove(at) },
            None => KindForm {
                seen,
                sought: Input::default(),
                at: 0,
                risk: Risk::CheckFirst,
                reference: USUAL_REFERENCE.into(),
                preview: None,
            },
        };
        lead.kinds.push(kind);
    }
    let mut before = std::mem::take(&mut lead.passwords);
    let with_password = lead.seen().filter(|seen| seen.result.as_ref().is_ok_and(|seen| seen.had_password));
    let passwords = with_password
        .map(|seen| (seen.address.clone(), before.remove(&seen.address).unwrap_or_default()))
        .collect();
    lead.passwords = passwords;
}

fn on_key(lead: &mut Lead, view: &LeadView, key: KeyEvent) -> Vec<LeadTask> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    if control && key.code == KeyCode::Char('c') {
        return leave(lead);
    }
    let is_small = lead.size.width < SIZE_MIN.width || lead.size.height < SIZE_MIN.height;
    if is_small {
        return if key.code == KeyCode::Char('q') { leave(lead) } else { Vec::new() };
    }
    // What is being written is not to be left half way.
    if lead.step == Step::Write && lead.is_busy {
        return Vec::new();
    }
    if key.code == KeyCode::Esc {
        return back(lead);
    }
    let is_text = lead.input().is_some();
    if is_text && let Some(request) = request_of(key) {
        return edit(lead, request);
    }
    if key.code == KeyCode::Char('q') {
        return leave(lead);
    }
    lead.notice = None;
    match lead.step {
        Step::Where => on_where(lead, key.code),
        Step::Look => match key.code {
            KeyCode::Enter => go_to_questions(lead),
            other => scroll(lead, view, other),
        },
        Step::Ask => on_question(lead, key.code),
        Step::Write => on_text(lead, view, key.code),
    }
}

fn leave(lead: &Lead) -> Vec<LeadTask> {
    // A write that began is told of when it has ended.
    if lead.step == Step::Write && lead.is_busy { Vec::new() } else { vec![LeadTask::End(Ended::Left)] }
}

/// One step back; from the first one there is none.
fn back(lead: &mut Lead) -> Vec<LeadTask> {
    lead.notice = None;
    lead.scroll = 0;
    match lead.step {
        Step::Where => {
            lead.notice = Some(Notice::info("This is the first step: Ctrl-C leaves, with nothing written."));
        }
        Step::Look => {
            // Whatever is still being looked into is not heard any more.
            lead.run += 1;
            lead.is_busy = false;
            lead.step = Step::Where;
            lead.row = lead.rows() - 1;
        }
        Step::Ask if lead.page > 0 => return open_page(lead, lead.page - 1),
        Step::Ask => lead.step = Step::Look,
        Step::Write if lead.edits_place => lead.edits_place = false,
        Step::Write => {
            let last = lead.pages().len().saturating_sub(1);
            if lead.pages().is_empty() {
                lead.step = Step::Look;
            } else {
                lead.step = Step::Ask;
                return open_page(lead, last);
            }
        }
    }
    Vec::new()
}

fn edit(lead: &mut Lead, request: InputRequest) -> Vec<LeadTask> {
    lead.notice = None;
    if matches!(request, InputRequest::InsertChar(_)) {
        replace_offered(lead);
    }
    lead.is_fresh = false;
    let Some(input) = lead.input() else { return Vec::new() };
    let is_refused = match request {
        InputRequest::InsertChar(letter) => {
            !is_plain(letter) || input.value().chars().count() >= TYPED_CHARS_MAX
        }
        _ => false,
    };
    if !is_refused {
        input.handle(request);
    }
    after_edit(lead)
}

/// What is typed into a box that was filled in before takes its place: joined to it, it would be neither. Whoever moves in
/// it first keeps it.
fn replace_offered(lead: &mut Lead) {
    let offered = lead.offered().filter(|_| lead.is_fresh);
    if let Some(input) = lead.input()
        && offered.is_some_and(|offered| offered == input.value())
    {
        *input = Input::default();
    }
}

fn paste(lead: &mut Lead, text: &str) -> Vec<LeadTask> {
    lead.notice = None;
    replace_offered(lead);
    lead.is_fresh = false;
    let Some(input) = lead.input() else { return Vec::new() };
    let room = TYPED_CHARS_MAX.saturating_sub(input.value().chars().count());
    for letter in text.trim_end_matches(['\r', '\n']).chars().take(room) {
        input.handle(InputRequest::InsertChar(if is_plain(letter) { letter } else { ' ' }));
    }
    after_edit(lead)
}

fn after_edit(lead: &mut Lead) -> Vec<LeadTask> {
    let (Step::Ask, Some(Page::Kind(at))) = (lead.step, lead.current_page()) else { return Vec::new() };
    match lead.current_field() {
        Some(Field::Provider) => {
            if let Some(kind) = lead.kinds.get_mut(at) {
                kind.at = 0;
            }
            lead.make_provider_form(at);
            Vec::new()
        }
        Some(Field::Reference) => preview(lead, at),
        _ => Vec::new(),
    }
}

fn preview(lead: &mut Lead, at: usize) -> Vec<LeadTask> {
    lead.run += 1;
    let Some(kind) = lead.kinds.get_mut(at) else { return Vec::new() };
    kind.preview = None;
    let (kind, template) = (kind.seen.name.clone(), kind.reference.value().to_owned());
    vec![LeadTask::Preview { run: lead.run, kind, template }]
}

fn on_where(lead: &mut Lead, key: KeyCode) -> Vec<LeadTask> {
    let (files, rows) = (lead.setup.files.len(), lead.rows());
    match key {
        KeyCode::Down | KeyCode::Tab => lead.row = (lead.row + 1) % rows,
        KeyCode::Up | KeyCode::BackTab => lead.row = (lead.row + rows - 1) % rows,
        KeyCode::Char(' ' | 'x') if lead.row < files => {
            if let Some(ticked) = lead.ticked.get_mut(lead.row) {
                *ticked = !*ticked;
            }
        }
        KeyCode::Delete | KeyCode::Backspace | KeyCode::Char('x' | ' ')
            if lead.row >= files && !lead.is_on_address() =>
        {
            // Back into the field, to be corrected.
            lead.address = lead.added.remove(lead.row - files).into();
            lead.row = lead.rows() - 1;
        }
        KeyCode::Enter if lead.is_on_address() && !lead.address.value().trim().is_empty() => {
            if lead.picked().len() >= DATABASES_MAX {
                return say(
                    lead,
                    "no more databases fit",
                    "Take one out, or write the others into the file later.",
                );
            }
            let typed = lead.address.value().trim().to_owned();
            lead.address = Input::default();
            if !lead.added.contains(&typed) {
                lead.added.push(typed);
            }
            lead.row = lead.rows() - 1;
        }
        KeyCode::Enter => return look(lead),
        _ => {}
    }
    Vec::new()
}

fn look(lead: &mut Lead) -> Vec<LeadTask> {
    let addresses = lead.picked();
    if addresses.is_empty() {
        return say(
            lead,
            "no database is picked",
            "Tick a file with Space, or type an address and press Enter.",
        );
    }
    lead.run += 1;
    (lead.step, lead.is_busy, lead.scroll) = (Step::Look, true, 0);
    (lead.page, lead.field) = (0, 0);
    lead.looks = addresses.iter().map(|address| Look { address: address.clone(), seen: None }).collect();
    let run = lead.run;
    let each = addresses.into_iter().enumerate();
    each.map(|(at, address)| LeadTask::Look { run, at, address }).collect()
}

fn go_to_questions(lead: &mut Lead) -> Vec<LeadTask> {
    if lead.is_busy {
        return Vec::new();
    }
    if lead.seen().all(|seen| seen.result.is_err()) {
        return say(lead, "none of them could be read", "Esc goes back, to correct the address.");
    }
    if lead.pages().is_empty() {
        return compose(lead);
    }
    lead.step = Step::Ask;
    open_page(lead, 0)
}

fn open_page(lead: &mut Lead, page: usize) -> Vec<LeadTask> {
    (lead.page, lead.field, lead.scroll) = (page, 0, 0);
    lead.is_fresh = true;
    match lead.current_page() {
        Some(Page::Kind(at)) => preview(lead, at),
        Some(Page::Password(_)) | None => Vec::new(),
    }
}

fn on_question(lead: &mut Lead, key: KeyCode) -> Vec<LeadTask> {
    let (Some(page), Some(field)) = (lead.current_page(), lead.current_field()) else { return Vec::new() };
    let fields = lead.fields(&page).len();
    if matches!(key, KeyCode::Enter | KeyCode::Tab | KeyCode::Down | KeyCode::BackTab | KeyCode::Up) {
        lead.is_fresh = true;
    }
    match (key, &field, &page) {
        // What cannot be right is told where it was typed.
        (KeyCode::Enter, ..) if let Some(told) = wrong(lead, &page, &field) => {
            lead.notice = Some(alarm(&told));
        }
        (KeyCode::Down, Field::Provider, Page::Kind(at)) => move_choice(lead, *at, true),
        (KeyCode::Up, Field::Provider, Page::Kind(at)) => move_choice(lead, *at, false),
        (KeyCode::Left, Field::Risk, Page::Kind(at)) => turn_risk(lead, *at, 2),
        (KeyCode::Right | KeyCode::Char(' '), Field::Risk, Page::Kind(at)) => turn_risk(lead, *at, 1),
        (KeyCode::Enter, ..) if lead.field + 1 >= fields => return next_page(lead, &page),
        (KeyCode::Enter | KeyCode::Tab | KeyCode::Down, ..) => lead.field = (lead.field + 1) % fields,
        (KeyCode::BackTab | KeyCode::Up, ..) => lead.field = (lead.field + fields - 1) % fields,
        _ => {}
    }
    Vec::new()
}

fn move_choice(lead: &mut Lead, at: usize, is_down: bool) {
    let Some(kind) = lead.kinds.get(at) else { return };
    let count = lead.matches(kind).len().max(1);
    let moved = if is_down { (kind.at + 1).min(count - 1) } else { kind.at.saturating_sub(1) };
    if let Some(kind) = lead.kinds.get_mut(at) {
        kind.at = moved;
    }
    lead.make_provider_form(at);
}

fn turn_risk(lead: &mut Lead, at: usize, by: usize) {
    if let Some(kind) = lead.kinds.get_mut(at) {
        const ORDER: [Risk; 3] = [Risk::Safe, Risk::CheckFirst, Risk::Financial];
        let now = ORDER.iter().position(|risk| *risk == kind.risk).unwrap_or(0);
        kind.risk = ORDER[(now + by) % ORDER.len()];
    }
}

/// On to the next page, or to the text: once nothing is missing that the configuration cannot do without.
fn next_page(lead: &mut Lead, page: &Page) -> Vec<LeadTask> {
    if let Some((field, what)) = missing(lead, page) {
        lead.field = field;
        return say(lead, &what, "Fill it in, or choose nobody for now.");
    }
    // Tab leads past what Enter would have told.
    let fields = lead.fields(page);
    let first = fields.iter().enumerate().find_map(|(at, field)| Some((at, wrong(lead, page, field)?)));
    if let Some((at, told)) = first {
        lead.field = at;
        lead.notice = Some(alarm(&told));
        return Vec::new();
    }
    if lead.page + 1 < lead.pages().len() {
        return open_page(lead, lead.page + 1);
    }
    compose(lead)
}

fn compose(lead: &mut Lead) -> Vec<LeadTask> {
    lead.run += 1;
    (lead.step, lead.text, lead.scroll, lead.edits_place) = (Step::Write, None, 0, false);
    lead.is_refused = false;
    let path = lead.place.value().trim().to_owned();
    vec![LeadTask::Compose { run: lead.run, path, answers: lead.answers() }]
}

fn on_text(lead: &mut Lead, view: &LeadView, key: KeyCode) -> Vec<LeadTask> {
    match key {
        KeyCode::Tab | KeyCode::BackTab => {
            lead.edits_place = !lead.edits_place;
            lead.is_fresh = true;
        }
        KeyCode::Enter if lead.edits_place => lead.edits_place = false,
        KeyCode::Char('w') => return write(lead),
        other => return scroll(lead, view, other),
    }
    // A file elsewhere has other folders beside it.
    if lead.edits_place { Vec::new() } else { compose(lead) }
}

fn write(lead: &mut Lead) -> Vec<LeadTask> {
    let Some(text) = lead.text.clone() else { return Vec::new() };
    if lead.is_refused {
        return say(lead, "this text would be refused", "Esc goes back, to mend what it says.");
    }
    let path = lead.place.value().trim().to_owned();
    if path.is_empty() {
        return say(lead, "no file is named", "Press Tab and name one.");
    }
    lead.is_busy = true;
    vec![LeadTask::Write { path, text }]
}

fn scroll(lead: &mut Lead, view: &LeadView, key: KeyCode) -> Vec<LeadTask> {
    let page = view.area.height.max(1);
    let to = match key {
        KeyCode::Down | KeyCode::Char('j') => lead.scroll.saturating_add(1),
        KeyCode::Up | KeyCode::Char('k') => lead.scroll.saturating_sub(1),
        KeyCode::PageDown | KeyCode::Char(' ') => lead.scroll.saturating_add(page),
        KeyCode::PageUp => lead.scroll.saturating_sub(page),
        KeyCode::Home | KeyCode::Char('g') => 0,
        KeyCode::End | KeyCode::Char('G') => view.scroll_max,
        _ => lead.scroll,
    };
    lead.scroll = to.min(view.scroll_max);
    Vec::new()
}
