//! Proposals: their view, and the dialog in which one is approved or withdrawn.

use super::{settle, ways};
use crate::console::message::ProposalsMessage;
use crate::console::model::approval::{Act, ApprovalDialog, Knowledge, Ordered};
use crate::console::model::{Dialog, Focus, Model, Notice, Screen, Tone};
use crate::console::task::Task;
use crate::domain::approval::WhyNot;
use crate::workflow::settle::OrderFault;
use crate::workflow::settle::approve::Review;
use crate::workflow::settle::propose::Withdrawn;
use std::sync::Arc;

/// Goes to the proposals, or back from them.
pub fn toggle(model: &mut Model) -> Vec<Task> {
    if model.screen == Screen::Proposals {
        ways::back(model);
        return Vec::new();
    }
    ways::go(model, Screen::Proposals);
    vec![Task::ReadProposals]
}

/// Opens the dialog that approves the proposal under the cursor.
pub fn open_approval(model: &mut Model) -> Vec<Task> {
    if !may_open(model) {
        return Vec::new();
    }
    let Some(proposal) = model.proposals.current().map(Arc::clone) else { return Vec::new() };
    let (run, decision) = (model.next_run(), proposal.id);
    let act = Act::Approve(Knowledge::Loading { run });
    model.dialog = Dialog::Approval(Box::new(ApprovalDialog::new(act, proposal)));
    vec![Task::Review { run, decision }]
}

/// Opens the dialog that withdraws the proposal under the cursor.
pub fn open_withdrawal(model: &mut Model) {
    if may_open(model)
        && let Some(proposal) = model.proposals.current().map(Arc::clone)
    {
        model.dialog = Dialog::Approval(Box::new(ApprovalDialog::new(Act::Withdraw, proposal)));
    }
}

fn may_open(model: &mut Model) -> bool {
    let refusal = model.refuses_decisions().or_else(|| {
        model.is_settling().then(|| Notice::info("Decisions are being written: wait for their outcome."))
    });
    let refusal = refusal.or_else(|| {
        (!model.proposals.are_any()).then(|| Notice::info("No proposal waits for a second person."))
    });
    let may = refusal.is_none();
    if refusal.is_some() {
        model.notice = refusal;
    }
    may
}

/// `y` on the button: orders, or asks the second question where the rules ask twice.
pub fn confirm(model: &mut Model) -> Vec<Task> {
    let Dialog::Approval(dialog) = &mut model.dialog else { return Vec::new() };
    let (order, asks_twice) = (dialog.order(), dialog.word().is_some());
    dialog.answers.confirm(order, asks_twice).map(|ordered| begin(model, ordered)).unwrap_or_default()
}

/// Enter behind the typed word: orders, if it is the word asked for.
pub fn confirm_typed(model: &mut Model) -> Vec<Task> {
    let Dialog::Approval(dialog) = &mut model.dialog else { return Vec::new() };
    let (order, word) = (dialog.order(), dialog.word());
    dialog.answers.confirm_typed(order, word).map(|ordered| begin(model, ordered)).unwrap_or_default()
}

fn begin(model: &mut Model, ordered: Ordered) -> Vec<Task> {
    let Dialog::Approval(dialog) = &model.dialog else { return Vec::new() };
    let proposal = Arc::clone(&dialog.proposal);
    match ordered {
        Ordered::Approve(order) => {
            let run = settle::begin_series(model, proposal.choice, 1);
            vec![Task::Approve { run, proposal, order }]
        }
        Ordered::Withdraw(reason) => {
            model.dialog = Dialog::None;
            vec![Task::Withdraw { proposal, reason }]
        }
    }
}

/// Takes in news of proposals; late ones are dropped.
pub fn on_proposals(model: &mut Model, message: ProposalsMessage) -> Vec<Task> {
    match message {
        ProposalsMessage::Read { at, waiting } => {
            model.proposals.renew(at, waiting);
            if model.screen == Screen::Proposals && !model.proposals.are_any() {
                model.focus = Focus::List;
            }
            Vec::new()
        }
        ProposalsMessage::Reviewed { run, review } => {
            on_reviewed(model, run, *review);
            Vec::new()
        }
        ProposalsMessage::Withdrawn { key, result } => {
            model.notice = Some(told(&key, *result));
            vec![Task::ReadProposals]
        }
    }
}

fn on_reviewed(model: &mut Model, number: u64, review: Result<Review, OrderFault>) {
    let Dialog::Approval(dialog) = &mut model.dialog else { return };
    if matches!(dialog.act, Act::Approve(Knowledge::Loading { run }) if run == number) {
        dialog.act = Act::Approve(match review {
            Ok(review) => Knowledge::Ready(Box::new(review)),
            Err(fault) => Knowledge::Failed { do_next: fault.do_next(), what: fault.to_string() },
        });
    }
}

fn told(key: &str, result: Result<Result<Withdrawn, WhyNot>, OrderFault>) -> Notice {
    match result {
        Ok(Ok(withdrawn)) => {
            let did = if withdrawn.by_proposer { "withdrawn" } else { "rejected" };
            let verb = withdrawn.proposal.choice.verb();
            let what = format!("{key}: {verb} {did}, audit entry {}.", withdrawn.entry);
            Notice { tone: Tone::Good, what, do_next: String::new() }
        }
        Ok(Err(why)) => Notice::alarm(format!("{key}: not withdrawn: {why}."), why.do_next()),
        Err(fault) => Notice::alarm(format!("{key}: not withdrawn: {fault}."), fault.do_next()),
    }
}
