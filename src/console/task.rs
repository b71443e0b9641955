//! What the console wants done: plain data, so that a test presses keys and compares a list.

use crate::console::model::matching::Matching;
use crate::console::model::trail::SavedView;
use crate::domain::decision::{Choice, Reason};
use crate::domain::proposal::Proposal;
use crate::workflow::reconcile::Scope;
use crate::workflow::settle::approve::ApprovalOrder;
use crate::workflow::{Checked, Found, Order};
use std::sync::Arc;
use uuid::Uuid;

/// One thing for the runtime to do. A newer task of the same kind makes the older one's answers late.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// Read every source's findings.
    Scan {
        /// Its number.
        run: u64,
    },
    /// Ask the providers of these findings, in this order.
    Check {
        /// Its number.
        run: u64,
        /// The findings.
        found: Vec<Arc<Found>>,
    },
    /// Stop asking; what was answered stays.
    CancelChecks,
    /// Read an item's row, payload and history.
    Open {
        /// Its number.
        run: u64,
        /// The source's name.
        source: Arc<str>,
        /// The item's key.
        key: Arc<str>,
    },
    /// Find out what a choice would do.
    Prepare {
        /// Its number.
        run: u64,
        /// The source's name.
        source: Arc<str>,
        /// The item's key.
        key: Arc<str>,
        /// The choice.
        choice: Choice,
        /// A check that may still be fresh.
        recent: Option<Arc<Checked>>,
    },
    /// Carry out orders, one after the other. Once begun, each is carried to its outcome.
    Decide {
        /// Its number.
        run: u64,
        /// The orders.
        orders: Vec<Order>,
    },
    /// Pause before the next order of a running `Decide`, or go on.
    PauseDeciding(bool),
    /// Stop before the next order of a running `Decide`.
    StopDeciding,
    /// Settle decisions that had broken off (at the start).
    Recover,
    /// Read a page of the audit.
    ReadAudit {
        /// Its number.
        run: u64,
        /// Entries before this one; `None` from the end.
        before: Option<i64>,
    },
    /// Tell everything that is known of an item.
    TellStory {
        /// Its number.
        run: u64,
        /// The source's name.
        source: Arc<str>,
        /// The item's key.
        key: Arc<str>,
        /// Whether its provider is asked; else what is on record counts.
        asks_anew: bool,
    },
    /// Match what the providers did with what the jobs say.
    Match {
        /// Which matching.
        which: Matching,
        /// Its number.
        run: u64,
        /// Over how long.
        scope: Scope,
    },
    /// Stop a matching.
    StopMatching(Matching),
    /// Read the proposals that wait.
    ReadProposals,
    /// Look at a proposal beside its item as it is now.
    Review {
        /// Its number.
        run: u64,
        /// The decision that was proposed.
        decision: Uuid,
    },
    /// Approve a proposal. Once begun, it is carried to its outcome.
    Approve {
        /// Its number.
        run: u64,
        /// What was proposed.
        proposal: Arc<Proposal>,
        /// The order.
        order: ApprovalOrder,
    },
    /// Take a proposal back, or reject it.
    Withdraw {
        /// What was proposed.
        proposal: Arc<Proposal>,
        /// Why.
        reason: Reason,
    },
    /// Put on record that hidden fields of an item are shown.
    RecordUnmask {
        /// The source's name.
        source: Arc<str>,
        /// The item's key.
        key: Arc<str>,
    },
    /// Keep a view for the next start.
    SaveView(SavedView),
    /// Put text on the clipboard (OSC 52).
    Copy(String),
    /// Turn mouse reports on or off.
    CaptureMouse(bool),
    /// Draw the whole screen anew (`Ctrl-L`).
    Redraw,
    /// Stop as the shell's job (`Ctrl-Z`).
    Suspend,
    /// End: wait for writes that have begun, then leave the terminal.
    Quit,
}
