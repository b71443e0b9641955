//! Fuzzy find: from some letters of a key or reference to its finding.

use super::{list, look, outlook};
use crate::console::model::finder::Finder;
use crate::console::model::{Dialog, Focus, Model, Notice};

/// Opens the box.
pub fn open(model: &mut Model) {
    model.dialog = Dialog::Find(Box::new(Finder::new(&model.findings)));
}

/// Looks for what is typed now.
pub fn find(model: &mut Model) {
    if let Dialog::Find(finder) = &mut model.dialog {
        finder.find(&model.findings);
    }
}

/// Looks again where the findings are others than before.
pub fn find_again(model: &mut Model) {
    if let Dialog::Find(finder) = &mut model.dialog {
        finder.find_again(&model.findings);
    }
}

/// Puts the cursor on what was found. A filter that hides it goes, which can be undone as any change of it.
pub fn go_to(model: &mut Model) {
    let Dialog::Find(finder) = &model.dialog else { return };
    let Some(identity) = finder.current() else { return };
    model.dialog = Dialog::None;
    model.focus = Focus::List;
    let before = model.here();
    if !model.findings.uncover(&identity) {
        list::set_filter(model, "");
        model.findings.uncover(&identity);
        outlook::remember(model, before);
        let back = model.key_of(crate::console::keymap::Action::JumpBack);
        model.notice =
            Some(Notice::info(format!("The filter hid it and is gone; {back} brings the filter back.")));
    }
    look::leave_other_item(model);
}
