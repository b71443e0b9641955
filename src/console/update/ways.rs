//! From screen to screen, and back to where one came from.

use crate::console::model::{Focus, Model, Screen};

/// Goes to a screen, and remembers the way. A screen that was left on the way here is gone back to.
pub fn go(model: &mut Model, screen: Screen) {
    match model.ways.iter().position(|(left, _)| *left == screen) {
        Some(at) => model.ways.truncate(at),
        None => model.ways.push((model.screen, model.focus)),
    }
    (model.screen, model.focus) = (screen, Focus::List);
}

/// Goes to the item in the list of findings, and remembers the way.
pub fn go_to_finding(model: &mut Model) {
    model.ways.push((model.screen, model.focus));
    (model.screen, model.focus) = (Screen::Findings, Focus::List);
}

/// Whether the finding that is looked at was come to from another screen: then the way back leads there at once.
pub fn came_to_finding(model: &Model) -> bool {
    model.screen == Screen::Findings && !model.ways.is_empty()
}

/// Goes back to the screen before; tells whether there was one.
pub fn back(model: &mut Model) -> bool {
    let before =
        model.ways.pop().or((model.screen != Screen::Findings).then_some((Screen::Findings, Focus::List)));
    let Some((screen, focus)) = before else { return false };
    (model.screen, model.focus) = (screen, focus);
    if screen == Screen::Findings {
        super::look::leave_other_item(model);
    }
    true
}
