//! Everything that can happen to the console, grouped by subject.

use crate::console::model::matching::Matching;
use crate::domain::approval::WhyNot;
use crate::domain::audit::Entry;
use crate::domain::decision::Choice;
use crate::domain::escalated::Escalated;
use crate::domain::proposal::Proposal;
use crate::ports::record::RecordFault;
use crate::ports::source::{Payload, SourceFault};
use crate::workflow::look::Named;
use crate::workflow::reconcile::Reconciled;
use crate::workflow::reconcile::words::Step;
use crate::workflow::recover::Recovered;
use crate::workflow::scan::FoundPage;
use crate::workflow::settle::approve::Review;
use crate::workflow::settle::propose::Withdrawn;
use crate::workflow::settle::{Decided, NotOpen, OrderFault, Prepared, Reread};
use crate::workflow::story::{Doubles, Story};
use crate::workflow::sweep::Unrecorded;
use crate::workflow::{Checked, Found};
use chrono::{DateTime, Utc};
use crossterm::event::{KeyEvent, MouseEvent};
use std::sync::Arc;

/// Something that happened. Late answers carry the number of the task they belong to, so that they can be dropped.
#[derive(Debug, Clone)]
pub enum Message {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse did something (only while its toggle is on).
    Mouse(MouseEvent),
    /// Text was pasted.
    Paste(String),
    /// The terminal has another size.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// Time went on; sent about once a second while something on the screen shows an age or a progress.
    Tick(DateTime<Utc>),
    /// A scan told something.
    Scan(ScanMessage),
    /// A check told something.
    Check(CheckMessage),
    /// An item's details came.
    Item(ItemMessage),
    /// A decision told something.
    Settle(SettleMessage),
    /// The audit was read.
    Audit(AuditMessage),
    /// What was escalated, whoever did it, was read; told with every scan.
    Escalations(Result<Vec<(Named, Escalated)>, RecordFault>),
    /// Proposals were read, looked at or withdrawn.
    Proposals(ProposalsMessage),
    /// A timeline was read.
    Story(StoryMessage),
    /// A matching told something.
    Match(MatchMessage),
    /// Something that the operator should know and that belongs to no answer (a text too large for the clipboard).
    Notice {
        /// What happened, one line.
        what: String,
        /// What to do about it, one line; `None` where nothing is to be done.
        do_next: Option<String>,
    },
    /// The program is asked to end (SIGTERM, SIGHUP).
    Terminate,
}

/// News of a scan of all sources.
#[derive(Debug, Clone)]
pub enum ScanMessage {
    /// One page of one source's findings.
    Page {
        /// The scan's number.
        run: u64,
        /// The source's name.
        source: Arc<str>,
        /// What was found.
        page: FoundPage,
    },
    /// A source could not be read.
    Fault {
        /// The scan's number.
        run: u64,
        /// The source's name.
        source: Arc<str>,
        /// Why.
        fault: SourceFault,
    },
    /// Every source was read or failed.
    Ended {
        /// The scan's number.
        run: u64,
        /// When, by our clock.
        at: DateTime<Utc>,
    },
}

/// News of checks.
#[derive(Debug, Clone)]
pub enum CheckMessage {
    /// One item was checked.
    Done {
        /// The number of the checks it belongs to.
        run: u64,
        /// The item.
        found: Arc<Found>,
        /// What came of it.
        checked: Arc<Checked>,
        /// Whether the record took it.
        on_record: bool,
    },
    /// All are done, or were cancelled.
    Ended {
        /// The number of the checks.
        run: u64,
        /// Why not all of the checks are on record, or not all among the receipts, if so.
        record_fault: Option<RecordFault>,
    },
}

/// Details of the item under the cursor.
#[derive(Debug, Clone)]
pub enum ItemMessage {
    /// The row, payload and history came.
    Opened {
        /// The task's number.
        run: u64,
        /// What was read.
        details: Box<Details>,
    },
    /// They could not be read.
    Fault {
        /// The task's number.
        run: u64,
        /// Why.
        fault: SourceFault,
    },
    /// A look at hidden fields was put on record, or could not be: only then, and only if it was, are they shown.
    Unmasked {
        /// The source's name.
        source: Arc<str>,
        /// The item's key.
        key: Arc<str>,
        /// Why it is not on record, if it is not.
        record_fault: Option<RecordFault>,
    },
}

/// What is read when somebody looks at an item.
#[derive(Debug, Clone)]
pub struct Details {
    /// The item as it is now; `None` when it is gone.
    pub now: Option<Reread>,
    /// The payload's beginning; `None` where the source keeps none.
    pub payload: Option<Payload>,
    /// Its earlier entries in the audit, the newest first, or why they cannot be read.
    pub history: Result<Vec<Entry>, RecordFault>,
}

/// News of decisions.
#[derive(Debug, Clone)]
pub enum SettleMessage {
    /// What a choice would do.
    Prepared {
        /// The task's number.
        run: u64,
        /// What is known; the inner error says why there is nothing to decide.
        prepared: Box<Result<Prepared, NotOpen>>,
    },
    /// It could not be found out.
    PrepareFault {
        /// The task's number.
        run: u64,
        /// Why.
        fault: OrderFault,
    },
    /// One order came to its end.
    Decided {
        /// The task's number.
        run: u64,
        /// The source's name.
        source: Arc<str>,
        /// The item's key.
        key: Arc<str>,
        /// The choice.
        choice: Choice,
        /// The outcome, or why it came to nothing.
        result: Box<Result<Decided, OrderFault>>,
    },
    /// All orders of a task came to their end.
    Ended {
        /// The task's number.
        run: u64,
    },
    /// Decisions that had broken off were settled at the start.
    Recovered(Result<Vec<Recovered>, RecordFault>),
}

/// News of proposals.
#[derive(Debug, Clone)]
pub enum ProposalsMessage {
    /// Those that wait; told with every scan.
    Read {
        /// When the reading began.
        at: DateTime<Utc>,
        /// The proposals, the oldest first.
        waiting: Result<Vec<Proposal>, RecordFault>,
    },
    /// One beside its item as it is now.
    Reviewed {
        /// The task's number.
        run: u64,
        /// What is known, or why that could not be found out.
        review: Box<Result<Review, OrderFault>>,
    },
    /// One was withdrawn, or not.
    Withdrawn {
        /// The item's key.
        key: Arc<str>,
        /// What came of it; the inner error says that it had its end before.
        result: Box<Result<Result<Withdrawn, WhyNot>, OrderFault>>,
    },
}

/// News of the audit.
#[derive(Debug, Clone)]
pub enum AuditMessage {
    /// A page of entries, the newest first.
    Page {
        /// The task's number.
        run: u64,
        /// The entries.
        entries: Vec<Entry>,
        /// Whether older ones follow.
        more: bool,
    },
    /// It could not be read.
    Fault {
        /// The task's number.
        run: u64,
        /// Why.
        fault: RecordFault,
    },
}

/// News of a timeline.
#[derive(Debug, Clone)]
pub struct StoryMessage {
    /// The task's number.
    pub run: u64,
    /// What is known, where anything is.
    pub story: Result<Option<Arc<Story>>, OrderFault>,
    /// Whether the record took the check that was made for it.
    pub unrecorded: Unrecorded,
}

/// News of a matching.
#[derive(Debug, Clone)]
pub struct MatchMessage {
    /// Which one.
    pub which: Matching,
    /// The task's number.
    pub run: u64,
    /// What it tells.
    pub told: MatchTold,
}

/// What a matching tells.
#[derive(Debug, Clone)]
pub enum MatchTold {
    /// How far it is.
    Step(Step),
    /// What does not match, and what of it the record did not take.
    Both(Arc<Reconciled>, Unrecorded),
    /// What happened more than once, and what of it the record did not take.
    Doubles(Arc<Doubles>, Unrecorded),
}
