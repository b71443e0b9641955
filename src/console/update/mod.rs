//! What happens on a message: one file a subject, the only code that changes the model. No I/O: tasks say what to do.

mod audit;
mod check;
mod decide;
pub(in crate::console) mod edit;
mod finder;
mod keys;
mod list;
mod look;
mod matching;
mod mouse;
mod outlook;
mod proposals;
mod record;
mod scan;
mod settle;
mod story;
mod ways;

use crate::console::message::Message;
use crate::console::model::{Model, Notice};
use crate::console::task::Task;
use crate::console::view::ViewState;

/// Takes in what happened, and says what to do.
pub fn update(model: &mut Model, view: &ViewState, message: Message) -> Vec<Task> {
    let tasks = take_in(model, view, message);
    finder::find_again(model);
    tasks
}

fn take_in(model: &mut Model, view: &ViewState, message: Message) -> Vec<Task> {
    match message {
        Message::Key(event) => keys::on_key(model, view, event),
        Message::Mouse(event) => mouse::on_mouse(model, view, event),
        Message::Paste(text) => {
            edit::paste(model, &text);
            Vec::new()
        }
        Message::Resize { width, height } => {
            model.size = ratatui::layout::Size { width, height };
            Vec::new()
        }
        Message::Tick(now) => {
            model.now = now;
            outlook::count_again(model);
            scan::refresh_if_due(model)
        }
        Message::Scan(message) => scan::on_scan(model, message),
        Message::Check(message) => check::on_check(model, message),
        Message::Item(message) => look::on_item(model, message),
        Message::Settle(message) => settle::on_settle(model, message),
        Message::Audit(message) => audit::on_audit(model, message),
        Message::Escalations(read) => {
            record::learn_escalations(model, read);
            Vec::new()
        }
        Message::Proposals(message) => proposals::on_proposals(model, message),
        Message::Story(message) => story::on_story(model, message),
        Message::Match(message) => matching::on_match(model, message),
        Message::Notice { what, do_next } => {
            model.notice = Some(Notice::alarm(what, do_next.unwrap_or_default()));
            Vec::new()
        }
        Message::Terminate => vec![Task::Quit],
    }
}
