//! The consoles: who sits there, what is under way, and what came of it.

use super::mutants::Mutant;
use super::ports::{Process, SimProvider, SimSource};
use super::record::{SimEscalation, SimRecord};
use super::{Shared, truth::Setting};
use crate::config::kind::Kind;
use crate::domain::approval::{ApprovalRules, WhyNot};
use crate::domain::decision::{Choice, Operator, Reason};
use crate::domain::policy::{Approvals, CheckName, Policy, Risk};
use crate::ports::record::RecordFault;
use crate::workflow::check::{check, record_checks};
use crate::workflow::fakes::{SOURCE, World};
use crate::workflow::look::look;
use crate::workflow::recover::{Recovered, recover};
use crate::workflow::scan::Pages;
use crate::workflow::settle::approve::{ApprovalOrder, approve, review};
use crate::workflow::settle::propose::{Called, Withdrawn, find, waiting, withdraw};
use crate::workflow::settle::{self, Decided, OrderFault, decide, prepare, record_dry_run, record_unmask};
use crate::workflow::sweep::{Answered, Recorded, sweep};
use crate::workflow::{Checked, Desk, Found, Order};
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::task::JoinHandle;
use uuid::Uuid;

/// Who sits at a console.
pub(super) struct Sits {
    pub name: &'static str,
    pub login: &'static str,
    pub host: &'static str,
}

const fn sits(name: &'static str, login: &'static str, host: &'static str) -> Sits {
    Sits { name, login, host }
}

/// Who sits where: several at one machine, two at another. Ada has two more consoles: one under another name, one under
/// another account.
pub(super) const SEATS: [Sits; 5] = [
    sits("Ada", "ada", "desk-1"),
    sits("Bob", "bob", "desk-1"),
    sits("Cleo", "cleo", "desk-2"),
    sits("Dan", "ada", "desk-1"),
    sits(" ADA ", "root", "desk-2"),
];

/// The consoles that tell Ada's own account or name, so that what one proposes the other must not approve. Who uses another
/// name and another account is another person for all that anybody can tell.
const ONE_PERSON: [(usize, usize); 2] = [(0, 3), (0, 4)];

/// Whether those who sit at two consoles are two persons.
pub(super) fn are_two(one: usize, other: usize) -> bool {
    one != other && !ONE_PERSON.contains(&(one.min(other), one.max(other)))
}

/// What a console does.
#[derive(Debug, Clone)]
pub(super) enum Errand {
    Scan,
    Check(Arc<Found>),
    Sweep(Vec<Arc<Found>>),
    Prepare(String, Choice),
    Look(String),
    Decide(Box<Order>),
    /// Lists the proposals that wait, finds one by its short name and looks at it.
    Review(String),
    Approve(Box<ApprovalOrder>),
    Withdraw(Uuid),
    Recover,
}

/// What came of it.
pub(super) enum Report {
    Scanned(Vec<Arc<Found>>),
    Checked(Vec<Answered>),
    Decided(Choice, Box<Result<Decided, OrderFault>>),
    Approved(Uuid, Box<Result<Decided, OrderFault>>),
    Withdrawn(Uuid, Box<Result<Result<Withdrawn, WhyNot>, OrderFault>>),
    Recovered(Result<Vec<Recovered>, RecordFault>),
    Nothing,
}

impl Errand {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Scan => "scans",
            Self::Check(_) => "checks",
            Self::Sweep(_) => "sweeps",
            Self::Prepare(..) => "prepares",
            Self::Look(_) => "looks",
            Self::Decide(_) => "decides",
            Self::Review(_) => "reviews",
            Self::Approve(_) => "approves",
            Self::Withdraw(_) => "withdraws",
            Self::Recover => "recovers",
        }
    }

    /// Does it, as the console and the commands do.
    pub(super) async fn run(self, desk: Arc<Desk>) -> Report {
        match self {
            Self::Scan => {
                let source = Arc::clone(&desk.sources[0]);
                let mut pages = Pages::in_order(&desk, &source);
                let mut found = Vec::new();
                while let Some(Ok(page)) = pages.next().await {
                    found.extend(page.found.into_iter().map(Arc::new));
                }
                Report::Scanned(found)
            }
            Self::Check(found) => {
                let checked = Arc::new(check(&desk, &found).await);
                let _may_be_full = record_checks(&desk, &[(&found, &checked)]).await;
                Report::Checked(vec![(found, checked)])
            }
            Self::Sweep(found) => {
                let mut all = Vec::new();
                let mut batches = sweep(&desk, found);
                while let Some(Recorded { answered, .. }) = batches.next().await {
                    all.extend(answered);
                }
                Report::Checked(all)
            }
            Self::Prepare(key, choice) => {
                let Ok(Ok(prepared)) = prepare(&desk, SOURCE, &key, choice, None).await else {
                    return Report::Nothing;
                };
                let _may_be_full = record_dry_run(&desk, SOURCE, &key, choice, &prepared).await;
                let settle::Prepared { found, checked, .. } = prepared;
                Report::Checked(vec![(Arc::new(found), Arc::new(checked))])
            }
            Self::Look(key) => {
                let _may_be_unreadable = look(&desk, SOURCE, &key).await;
                let _may_be_full = record_unmask(&desk, SOURCE, &key).await;
                Report::Nothing
            }
            Self::Decide(order) => {
                let choice = order.choice;
                Report::Decided(choice, Box::new(decide(&desk, *order).await))
            }
            Self::Review(short) => {
                let _may_be_unreadable = waiting(&desk).await;
                if let Ok(Called::One(proposal)) = find(&desk, &short).await {
                    let _may_be_unreadable = review(&desk, proposal.id).await;
                }
                Report::Nothing
            }
            Self::Approve(order) => {
                let id = order.decision;
                Report::Approved(id, Box::new(approve(&desk, *order).await))
            }
            Self::Withdraw(id) => {
                let reason = Reason::new("another way was found").unwrap();
                Report::Withdrawn(id, Box::new(withdraw(&desk, id, &reason).await))
            }
            Self::Recover => Report::Recovered(recover(&desk).await),
        }
    }
}

/// An errand that is under way.
pub(super) struct UnderWay {
    pub name: &'static str,
    pub task: JoinHandle<Report>,
    /// How often the console's clock had been set when it began.
    pub clock_sets: u32,
    /// The step at which it began.
    pub step: u64,
}

/// What an operator remembers of an item, however old.
pub(super) struct Sight {
    pub found: Arc<Found>,
    pub checked: Option<Arc<Checked>>,
    /// How often the console's clock had been set when the row was read.
    pub clock_sets: u32,
}

/// A console and who sits there.
#[derive(Default)]
pub(super) struct Seat {
    /// The process that runs there, and its desk.
    pub process: Option<(u32, Arc<Desk>)>,
    /// Decisions and the recovery go one after the other.
    pub deciding: Option<UnderWay>,
    pub reading: Option<UnderWay>,
    pub sights: BTreeMap<String, Sight>,
    pub clock_sets: u32,
    /// Whether the process dropped an errand: what that began may still go on.
    pub has_dropped: bool,
}

/// What a seed's desks share.
pub(super) fn kind(setting: &Setting, mutant: Option<Mutant>) -> Arc<Kind> {
    let check = CheckName { provider: "pay".into(), operation: "charges".into() };
    let policy = Policy {
        risk: if setting.is_financial { Risk::Financial } else { Risk::CheckFirst },
        approvals: if setting.takes_two && mutant != Some(Mutant::OnePersonIsEnough) {
            Approvals::Two
        } else {
            Approvals::One
        },
        check: Some(check),
        idempotency_key: setting.sends_key.then(|| "{{ key }}".into()),
        ..Policy::unconfigured("job")
    };
    Arc::new(Kind::new(policy).unwrap())
}

/// The desk of a process.
pub(super) fn desk(sim: &Shared, world: &World, kind: &Arc<Kind>, process: &Process) -> Arc<Desk> {
    let escalates = sim.truth.lock().unwrap().setting.escalates;
    let provider = SimProvider::new(process.clone());
    let check = kind.policy.check.clone().unwrap();
    Arc::new(Desk {
        sources: vec![Arc::new(SimSource::new(process.clone()))],
        other_kinds: Arc::clone(kind),
        providers: BTreeMap::from([(check, Arc::new(provider) as _)]),
        record: Ok(Arc::new(SimRecord(process.clone()))),
        escalations: BTreeMap::new(),
        escalation: escalates.then(|| Arc::new(SimEscalation(process.clone())) as _),
        clock: Arc::new(process.clone()),
        operator: operator(process),
        approval_rules: ApprovalRules { from_same_login: process.has(Mutant::OneAccountIsTwo) },
        ..world.desk_of_process(process.number)
    })
}

/// Who a process says that sits there.
fn operator(process: &Process) -> Operator {
    let Sits { name, login, host, .. } = SEATS[process.seat];
    if process.has(Mutant::NewFaceAtEveryStart) {
        let face = format!("{name}-{}", process.number);
        return Operator { name: face.as_str().into(), login: face.as_str().into(), host: host.into() };
    }
    let login = if process.has(Mutant::LoginIsALie) { name } else { login };
    Operator { name: name.into(), login: login.into(), host: host.into() }
}
