//! Carries out what the console wants done: each task a future of its own, whose answers come back as messages.
//!
//! - **Reads** (scan, open, prepare, audit): a newer one of a kind cancels the older and begins once that has let go, so
//!   that there is at most one of a kind at work. Their answers carry their number, so late ones can be dropped.
//! - **Stories and matchings** are reads too; what they asked is on record before they answer.
//! - **Checks**: cancelling stops the asking; what was answered is put on record nonetheless.
//! - **Decisions** (and the recovery at the start) go one after the other in one line, and are never dropped.

mod checks;
mod stories;

use crate::console::message::{
    AuditMessage, Details, ItemMessage, Message, ProposalsMessage, ScanMessage, SettleMessage,
};
use crate::console::model::matching::Matching;
use crate::console::{SavedView, Task};
use crate::domain::decision::Choice;
use crate::domain::proposal::Proposal;
use crate::ports::source::{Source, SourceFault, SourceFaultKind};
use crate::runtime::event_loop::SaveView;
use crate::workflow::check::Checked;
use crate::workflow::look::{audit_page, escalations, look};
use crate::workflow::recover::recover;
use crate::workflow::scan::Pages;
use crate::workflow::settle::approve::{self, ApprovalOrder};
use crate::workflow::settle::{self, OrderFault, propose};
use crate::workflow::{Desk, Order};
use futures_util::future::join_all;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The kinds of tasks of which there is at most one at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Scan,
    Check,
    Open,
    Prepare,
    Audit,
    Proposals,
    Review,
    Story,
    Match(Matching),
}

/// A task at work.
#[derive(Debug)]
struct Running {
    cancel: CancellationToken,
    ended: JoinHandle<()>,
}

/// The tasks at work.
#[derive(Debug)]
pub(super) struct Tasks {
    outlet: Outlet,
    running: HashMap<Kind, Running>,
    /// The last in the line of decisions.
    last_decision: Option<JoinHandle<()>>,
    /// Stops every decision in the line before its next order.
    stop_deciding: CancellationToken,
    /// Whether the line waits before its next order.
    pause: watch::Sender<bool>,
    /// Cancels every read and stops the line.
    ending: CancellationToken,
    reads: TaskTracker,
    decisions: TaskTracker,
    recordings: TaskTracker,
}

/// What a task works with, and where its answers go.
#[derive(Clone)]
struct Outlet {
    desk: Arc<Desk>,
    messages: mpsc::Sender<Message>,
    /// What keeps a view for the next start; `None` where nothing does.
    save_view: Option<SaveView>,
}

impl std::fmt::Debug for Outlet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outlet").finish_non_exhaustive()
    }
}

impl Outlet {
    /// Hands a message to the event loop, waiting while the loop has too many.
    async fn send(&self, message: Message) {
        // The loop takes messages as long as a task lives: only a loop that broke is not there any more.
        let _loop_is_gone = self.messages.send(message).await;
    }

    async fn notice(&self, what: String, do_next: String) {
        self.send(Message::Notice { what, do_next: Some(do_next) }).await;
    }
}

impl Tasks {
    /// No tasks yet; answers will go to `messages`.
    pub(super) fn new(desk: Arc<Desk>, messages: mpsc::Sender<Message>, save_view: Option<SaveView>) -> Self {
        let ending = CancellationToken::new();
        let tracker = || {
            let tracker = TaskTracker::new();
            // Closed trackers still take tasks; it is what lets `wait` return once they are empty.
            tracker.close();
            tracker
        };
        Self {
            outlet: Outlet { desk, messages, save_view },
            running: HashMap::new(),
            last_decision: None,
            stop_deciding: ending.child_token(),
            pause: watch::Sender::new(false),
            ending,
            reads: tracker(),
            decisions: tracker(),
            recordings: tracker(),
        }
    }

    /// Begins a task.
    pub(super) fn start(&mut self, task: Task) {
        let outlet = self.outlet.clone();
        match task {
            Task::Scan { run } => self.read(Kind::Scan, scan(outlet, run)),
            Task::Check { run, found } => {
                self.begin(Kind::Check, |cancel| checks::ask(outlet, run, found, cancel));
            }
            Task::CancelChecks => self.cancel(Kind::Check),
            Task::Open { run, source, key } => self.read(Kind::Open, open(outlet, run, source, key)),
            Task::Prepare { run, source, key, choice, recent } => {
                self.read(Kind::Prepare, prepare(outlet, run, source, key, choice, recent));
            }
            Task::Decide { run, orders } => {
                let stop = self.stop_deciding.clone();
                self.pause.send_replace(false);
                self.line_up(decide(outlet, run, orders, (stop, self.pause.subscribe())));
            }
            Task::PauseDeciding(pause) => {
                self.pause.send_replace(pause);
            }
            Task::StopDeciding => {
                self.pause.send_replace(false);
                self.stop_deciding.cancel();
                self.stop_deciding = self.ending.child_token();
            }
            // In the same line: what it finds under way must not be a decision of ours.
            Task::Recover => self.line_up(async move {
                let recovered = recover(&outlet.desk).await;
                outlet.send(Message::Settle(SettleMessage::Recovered(recovered))).await;
            }),
            Task::ReadAudit { run, before } => self.read(Kind::Audit, read_audit(outlet, run, before)),
            Task::TellStory { run, source, key, asks_anew } => {
                self.begin(Kind::Story, |cancel| {
                    stories::tell(outlet, run, (source, key), asks_anew, cancel)
                });
            }
            Task::Match { which, run, scope } => {
                self.begin(Kind::Match(which), |cancel| {
                    stories::match_both(outlet, which, run, scope, cancel)
                });
            }
            Task::StopMatching(which) => self.cancel(Kind::Match(which)),
            Task::ReadProposals => {
                self.read(Kind::Proposals, async move { read_proposals(&outlet).await });
            }
            Task::Review { run, decision } => {
                self.read(Kind::Review, async move {
                    let review = Box::new(approve::review(&outlet.desk, decision).await);
                    outlet.send(Message::Proposals(ProposalsMessage::Reviewed { run, review })).await;
                });
            }
            Task::Approve { run, proposal, order } => self.line_up(take_up(outlet, run, proposal, order)),
            Task::Withdraw { proposal, reason } => self.line_up(async move {
                let result = Box::new(propose::withdraw(&outlet.desk, proposal.id, &reason).await);
                let key = Arc::clone(&proposal.key);
                outlet.send(Message::Proposals(ProposalsMessage::Withdrawn { key, result })).await;
            }),
            Task::RecordUnmask { source, key } => {
                self.recordings.spawn(async move {
                    let record_fault = settle::record_unmask(&outlet.desk, &source, &key).await.err();
                    outlet.send(Message::Item(ItemMessage::Unmasked { source, key, record_fault })).await;
                });
            }
            Task::SaveView(view) => {
                self.recordings.spawn(keep_view(outlet, view));
            }
            // These are the event loop's own: they need the terminal.
            Task::Copy(_) | Task::CaptureMouse(_) | Task::Redraw | Task::Suspend | Task::Quit => {}
        }
    }

    /// Takes no more work upon itself: reads are dropped, decisions stop before their next order.
    pub(super) fn end(&self) {
        self.ending.cancel();
    }

    /// Returns once every task has let go; a write that has begun is waited for.
    pub(super) async fn ended(&self) {
        self.at_rest().await;
        self.recordings.wait().await;
    }

    /// Whether nothing holds a source at this moment.
    pub(super) fn are_at_rest(&self) -> bool {
        self.reads.is_empty() && self.decisions.is_empty()
    }

    /// Returns once nothing holds a source.
    pub(super) async fn at_rest(&self) {
        self.reads.wait().await;
        self.decisions.wait().await;
    }

    fn cancel(&mut self, kind: Kind) {
        if let Some(running) = self.running.get(&kind) {
            running.cancel.cancel();
        }
    }

    /// A task that may be dropped at any moment.
    fn read(&mut self, kind: Kind, work: impl Future<Output = ()> + Send + 'static) {
        self.begin(kind, |cancel| async move {
            cancel.run_until_cancelled(work).await;
        });
    }

    /// Cancels the older task of a kind, and begins the newer once the older has let go.
    fn begin<F>(&mut self, kind: Kind, work: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let cancel = self.ending.child_token();
        let older = self.running.remove(&kind);
        if let Some(older) = &older {
            older.cancel.cancel();
        }
        let work = work(cancel.clone());
        let tracker = if kind == Kind::Check { &self.recordings } else { &self.reads };
        let ended = tracker.spawn(async move {
            if let Some(older) = older {
                // Also when we are cancelled ourselves meanwhile: whoever comes after us must find nobody at work.
                let _broke = older.ended.await;
            }
            work.await;
        });
        self.running.insert(kind, Running { cancel, ended });
    }

    /// A task that begins when the one before it in the line has ended, and is never dropped.
    fn line_up(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        let before = self.last_decision.take();
        self.last_decision = Some(self.decisions.spawn(async move {
            if let Some(before) = before {
                let _broke = before.await;
            }
            work.await;
        }));
    }
}

/// Reads all sources at once, each page by page, a message a page.
async fn scan(outlet: Outlet, run: u64) {
    join_all(outlet.desk.sources.iter().map(|source| scan_source(&outlet, run, source))).await;
    read_proposals(&outlet).await;
    if outlet.desk.record.is_ok() {
        let read = escalations(&outlet.desk).await;
        outlet.send(Message::Escalations(read)).await;
    }
    let at = outlet.desk.clock.now();
    outlet.send(Message::Scan(ScanMessage::Ended { run, at })).await;
}

/// What waits for a second person. Without an audit nothing does, and the header says that there is none.
async fn read_proposals(outlet: &Outlet) {
    if outlet.desk.record.is_ok() {
        let at = outlet.desk.clock.now();
        let waiting = propose::waiting(&outlet.desk).await;
        outlet.send(Message::Proposals(ProposalsMessage::Read { at, waiting })).await;
    }
}

async fn scan_source(outlet: &Outlet, run: u64, source: &Arc<dyn Source>) {
    let name = Arc::clone(&source.facts().name);
    let fault_of = |fault| ScanMessage::Fault { run, source: Arc::clone(&name), fault };
    let mut pages = match Pages::side_by_side(&outlet.desk, source).await {
        Ok(pages) => pages,
        Err(fault) => return outlet.send(Message::Scan(fault_of(fault))).await,
    };
    while let Some(read) = pages.next().await {
        let message = match read {
            Ok(page) => ScanMessage::Page { run, source: Arc::clone(&name), page },
            Err(fault) => fault_of(fault),
        };
        outlet.send(Message::Scan(message)).await;
    }
}

async fn open(outlet: Outlet, run: u64, source: Arc<str>, key: Arc<str>) {
    let message = match look(&outlet.desk, &source, &key).await {
        Ok(looked) => {
            let details = Details { now: looked.now, payload: looked.payload, history: looked.history };
            ItemMessage::Opened { run, details: Box::new(details) }
        }
        Err(fault) => ItemMessage::Fault { run, fault: source_fault(fault) },
    };
    outlet.send(Message::Item(message)).await;
}

/// A fault of looking as a fault of the source that was looked at.
fn source_fault(fault: OrderFault) -> SourceFault {
    match fault {
        OrderFault::Source(fault) => fault,
        OrderFault::ReadOnly
        | OrderFault::NoSuchSource(_)
        | OrderFault::NoSuchProposal(_)
        | OrderFault::Broken
        | OrderFault::Record(_)
        | OrderFault::Unread(_) => SourceFault {
            kind: SourceFaultKind::Mismatch,
            do_next: fault.do_next(),
            what: fault.to_string(),
            may_have_written: false,
        },
    }
}

async fn prepare(
    outlet: Outlet,
    run: u64,
    source: Arc<str>,
    key: Arc<str>,
    choice: Choice,
    recent: Option<Arc<Checked>>,
) {
    let message = match settle::prepare(&outlet.desk, &source, &key, choice, recent.as_deref()).await {
        Ok(prepared) => SettleMessage::Prepared { run, prepared: Box::new(prepared) },
        Err(fault) => SettleMessage::PrepareFault { run, fault },
    };
    outlet.send(Message::Settle(message)).await;
}

/// Carries out orders one after the other, each to its outcome; `stop` ends it before the next, `pause` makes it wait there.
async fn decide(
    outlet: Outlet,
    run: u64,
    orders: Vec<Order>,
    (stop, mut pause): (CancellationToken, watch::Receiver<bool>),
) {
    for order in orders {
        // Whoever could end the pause is gone only at the end of the program, which stops as well.
        let _ended = stop.run_until_cancelled(async { pause.wait_for(|paused| !paused).await.is_ok() }).await;
        if stop.is_cancelled() {
            break;
        }
        let (source, key, choice) = (Arc::clone(&order.source), Arc::clone(&order.key), order.choice);
        let result = Box::new(settle::decide(&outlet.desk, order).await);
        outlet.send(Message::Settle(SettleMessage::Decided { run, source, key, choice, result })).await;
    }
    outlet.send(Message::Settle(SettleMessage::Ended { run })).await;
}

/// Approves one proposal, to its outcome.
async fn take_up(outlet: Outlet, run: u64, proposal: Arc<Proposal>, order: ApprovalOrder) {
    let (source, key) = (Arc::clone(&proposal.source), Arc::clone(&proposal.key));
    let result = Box::new(approve::approve(&outlet.desk, order).await);
    let choice = proposal.choice;
    outlet.send(Message::Settle(SettleMessage::Decided { run, source, key, choice, result })).await;
    outlet.send(Message::Settle(SettleMessage::Ended { run })).await;
}

/// Keeps a view for the next start; that it could not be kept is told.
async fn keep_view(outlet: Outlet, view: SavedView) {
    let Some(save) = outlet.save_view.clone() else {
        let what = "The view is there until the console ends: nothing keeps it here.".to_owned();
        return outlet.notice(what, "Write it into a configuration to keep it.".to_owned()).await;
    };
    // It waits for a disk.
    let saved = tokio::task::spawn_blocking(move || save(&view)).await;
    if let Ok(Err((what, do_next))) = saved {
        outlet.notice(what, do_next).await;
    }
}

async fn read_audit(outlet: Outlet, run: u64, before: Option<i64>) {
    let message = match audit_page(&outlet.desk, before).await {
        Ok((entries, more)) => AuditMessage::Page { run, entries, more },
        Err(fault) => AuditMessage::Fault { run, fault },
    };
    outlet.send(Message::Audit(message)).await;
}

#[cfg(test)]
mod tests;
