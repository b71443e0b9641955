//! What of the findings is shown: triage, groups, views, and the way back.

use super::{list, look};
use crate::console::model::groups::Grouping;
use crate::console::model::palette::Palette;
use crate::console::model::trail::{Jump, Outlook, SavedView};
use crate::console::model::triage::Triage;
use crate::console::model::{Dialog, Model, Notice};
use crate::console::task::Task;
use tui_input::Input;

/// How long the name of a view may be, in characters.
pub const NAME_CHARS_MAX: usize = 40;

/// Opens the counts.
pub fn open_triage(model: &mut Model) {
    model.dialog = Dialog::Triage(Box::new(Triage::new(&model.findings, &model.setup.keys)));
}

/// Counts anew, where the counts are open.
pub fn count_again(model: &mut Model) {
    if let Dialog::Triage(triage) = &mut model.dialog {
        triage.count_again(&model.findings);
    }
}

/// Filters by the count of a letter, or not any more.
pub fn pick_letter(model: &mut Model, letter: char) {
    let Dialog::Triage(triage) = &mut model.dialog else { return };
    if let Some(at) = triage.at_letter(letter) {
        triage.cursor = at;
        pick(model);
    }
}

/// Filters by the count under the cursor, or not any more.
pub fn pick(model: &mut Model) {
    let Dialog::Triage(triage) = &model.dialog else { return };
    let Some(tally) = triage.tallies.get(triage.cursor) else { return };
    let typed =
        crate::console::model::facets::toggled(model.findings.typed(), tally.facet, tally.value.as_deref());
    filter(model, &typed);
    count_again(model);
}

/// Filters, and remembers what was before.
pub fn filter(model: &mut Model, typed: &str) {
    let before = model.here();
    list::set_filter(model, typed);
    remember(model, before);
}

/// Groups by the next thing.
pub fn group_next(model: &mut Model) {
    let before = model.here();
    let grouping = model.findings.grouping().next();
    model.findings.set_grouping(grouping);
    look::leave_other_item(model);
    remember(model, before);
    let told = match grouping {
        Grouping::None => "Not grouped.".to_owned(),
        other => {
            let groups = crate::console::words::count(model.findings.groups().list.len(), "group");
            format!("Grouped by {}: {groups}.", other.as_str())
        }
    };
    model.notice = Some(Notice::info(told));
}

/// Remembers where the operator was, if that was elsewhere.
pub fn remember(model: &mut Model, before: Jump) {
    if before.outlook != model.outlook() {
        model.trail.leave(before);
    }
}

/// Goes back to the filter and grouping before, or forward again.
pub fn jump(model: &mut Model, forward: bool) {
    let here = model.here();
    let there = if forward { model.trail.forward_from(here) } else { model.trail.back_from(here) };
    let Some(Jump { outlook, at }) = there else {
        let told =
            if forward { "This is the newest." } else { "This is how it began: there is nothing to undo." };
        model.notice = Some(Notice::info(told));
        return;
    };
    show(model, &outlook);
    if let Some(identity) = at {
        model.findings.go_to(&identity);
        look::leave_other_item(model);
    }
    model.notice = Some(Notice::info(format!("Shown: {}.", outlook.told())));
}

fn show(model: &mut Model, outlook: &Outlook) {
    model.findings.set_sort(outlook.sort);
    if model.findings.grouping() != outlook.grouping {
        model.findings.set_grouping(outlook.grouping);
    }
    list::set_filter(model, &outlook.filter);
}

/// Shows every finding, in a list without groups.
pub fn show_all(model: &mut Model) {
    let outlook = Outlook { filter: String::new(), grouping: Grouping::None, ..model.outlook() };
    show(model, &outlook);
}

/// Opens the palette of the place.
pub fn open_palette(model: &mut Model) {
    let palette = Palette::new(&model.setup.keys, model.place(), named(&model.setup.views));
    model.dialog = Dialog::Palette(Box::new(palette));
}

/// Opens the saved views.
pub fn open_views(model: &mut Model) {
    if model.setup.views.is_empty() {
        let save = model.key_of(crate::console::keymap::Action::SaveView);
        model.notice = Some(Notice::info(format!("No view is saved: {save} saves this one under a name.")));
        return;
    }
    model.dialog = Dialog::Palette(Box::new(Palette::of_views(named(&model.setup.views))));
}

fn named(views: &[SavedView]) -> impl Iterator<Item = (String, String)> {
    views.iter().map(|view| (view.name.clone(), view.outlook.told()))
}

/// Shows a saved view.
pub fn show_view(model: &mut Model, number: usize) {
    let Some(view) = model.setup.views.get(number).cloned() else { return };
    let before = model.here();
    show(model, &view.outlook);
    remember(model, before);
    model.notice = Some(Notice::info(format!("View {}: {}.", view.name, view.outlook.told())));
}

/// Asks for the name under which the view is saved.
pub fn open_name(model: &mut Model) {
    model.dialog = Dialog::Name(Input::default(), None);
}

/// Saves the view under the name that was typed.
pub fn keep_name(model: &mut Model) -> Vec<Task> {
    let outlook = model.outlook();
    let Dialog::Name(input, hint) = &mut model.dialog else { return Vec::new() };
    let name = input.value().trim().to_owned();
    if name.is_empty() {
        *hint = Some("A name is needed.".to_owned());
        return Vec::new();
    }
    let view = SavedView { name, outlook };
    match model.setup.views.iter_mut().find(|known| known.name == view.name) {
        Some(known) => known.clone_from(&view),
        None => model.setup.views.push(view.clone()),
    }
    model.dialog = Dialog::None;
    model.notice = Some(Notice::info(format!("View {} saved: {}.", view.name, view.outlook.told())));
    vec![Task::SaveView(view)]
}
