//! Every port call of every console waits here before it acts, most once more after they acted, until the schedule lets
//! them go.

use std::collections::HashSet;
use std::sync::Mutex;
use tokio::sync::oneshot;

/// Where a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// It has not acted yet.
    Before,
    /// It has acted, and its answer is not back yet.
    After,
}

impl Phase {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// How a call goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Luck {
    /// It does what it is for.
    Good,
    /// It fails and did nothing, and that is known.
    FailsBefore,
    /// It did nothing, and its fault says that it may have.
    LostBefore,
    /// It did its work, and its answer is lost.
    LostAfter,
    /// Somebody else holds it for too long.
    Locked,
    /// A statement would change another number of rows than it must.
    WrongCount,
    /// The provider does not answer in time.
    TimesOut,
    /// The provider answers 500.
    ServerError,
    /// A page of the answer is missing.
    MissingPage,
}

impl Luck {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::FailsBefore => "fails before",
            Self::LostBefore => "lost before",
            Self::LostAfter => "lost after",
            Self::Locked => "locked",
            Self::WrongCount => "wrong count",
            Self::TimesOut => "times out",
            Self::ServerError => "server error",
            Self::MissingPage => "missing page",
        }
    }

    /// How a call may go wrong.
    pub(super) fn bad(call: &str) -> &'static [Self] {
        match call {
            "record.append" => &[Self::FailsBefore, Self::LostAfter, Self::Locked],
            "record.unfinished"
            | "record.of_item"
            | "record.of_decision"
            | "record.waiting"
            | "record.waiting_on"
            | "record.proposals_ending" => &[Self::Locked],
            "source.apply" => {
                &[Self::FailsBefore, Self::LostBefore, Self::LostAfter, Self::Locked, Self::WrongCount]
            }
            "source.scan" | "source.read" | "source.payload" => &[Self::FailsBefore, Self::Locked],
            "provider.ask" => &[Self::TimesOut, Self::ServerError, Self::MissingPage],
            "escalation.send" => &[Self::FailsBefore, Self::LostAfter],
            other => panic!("nobody said how `{other}` may go wrong"),
        }
    }

    /// Every call that is made, for whoever makes sure that everything was met.
    pub(super) const CALLS: [&'static str; 13] = [
        "record.append",
        "record.unfinished",
        "record.of_item",
        "record.of_decision",
        "record.waiting",
        "record.waiting_on",
        "record.proposals_ending",
        "source.apply",
        "source.scan",
        "source.read",
        "source.payload",
        "provider.ask",
        "escalation.send",
    ];

    /// The calls that wait once more after they acted: where it matters what happens before the answer is back.
    pub(super) const HELD_AFTER: [&'static str; 5] =
        ["record.append", "source.apply", "source.read", "provider.ask", "escalation.send"];
}

/// A call that waits.
pub(super) struct Held {
    /// The process that makes it.
    pub process: u32,
    /// The port and its method.
    pub call: &'static str,
    /// The key or event that it is about.
    pub detail: String,
    /// The decision that it writes, where it writes one.
    pub decision: String,
    /// Where it waits.
    pub phase: Phase,
    go: oneshot::Sender<Luck>,
}

impl Held {
    pub(super) fn go(self, luck: Luck) {
        // Whoever dropped the call meanwhile does not need it any more.
        let _dropped = self.go.send(luck);
    }
}

/// Where the calls wait.
#[derive(Default)]
pub(super) struct Gates {
    held: Mutex<Vec<Held>>,
    crashed: Mutex<HashSet<u32>>,
}

impl Gates {
    /// Waits until the schedule lets the call go. In a process that crashed, forever.
    pub(super) async fn pass(
        &self,
        process: u32,
        call: &'static str,
        detail: &str,
        decision: &str,
        phase: Phase,
    ) -> Luck {
        let (go, gone) = oneshot::channel();
        if !self.crashed.lock().unwrap().contains(&process) {
            let (detail, decision) = (detail.to_owned(), decision.to_owned());
            self.held.lock().unwrap().push(Held { process, call, detail, decision, phase, go });
        }
        match gone.await {
            Ok(luck) => luck,
            Err(_) => std::future::pending().await,
        }
    }

    /// How many calls wait. Those that were dropped do not.
    pub(super) fn count(&self) -> usize {
        let mut held = self.held.lock().unwrap();
        held.retain(|held| !held.go.is_closed());
        held.len()
    }

    /// Takes one of the waiting calls, by its place.
    pub(super) fn take(&self, at: usize) -> Held {
        self.held.lock().unwrap().remove(at)
    }

    /// A process ends: its calls never return. Tells where they were.
    pub(super) fn crash(&self, process: u32) -> Vec<(&'static str, Phase)> {
        self.crashed.lock().unwrap().insert(process);
        let mut held = self.held.lock().unwrap();
        let places = held.iter().filter(|held| held.process == process);
        let places = places.map(|held| (held.call, held.phase)).collect();
        held.retain(|held| held.process != process);
        places
    }
}
