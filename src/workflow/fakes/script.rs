//! Which port is called when, and what goes wrong.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};

/// How a port call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It fails and did nothing.
    FailBefore,
    /// It did its work and its answer is lost.
    FailAfter,
    /// The program ends before the call did anything: the call never returns.
    CrashBefore,
    /// The program ends after the call did its work: the call never returns.
    CrashAfter,
}

impl Trouble {
    /// Every way.
    pub(crate) const ALL: [Self; 4] =
        [Self::FailBefore, Self::FailAfter, Self::CrashBefore, Self::CrashAfter];
}

/// The port calls of a test, in order, and what goes wrong with them.
#[derive(Default)]
pub(crate) struct Script {
    calls: Mutex<Vec<String>>,
    troubles: Mutex<HashMap<usize, Trouble>>,
    named_troubles: Mutex<HashMap<&'static str, Trouble>>,
    gates: Mutex<HashMap<&'static str, Arc<Semaphore>>>,
    called: Notify,
    crashed: Notify,
}

/// A call that has begun.
#[must_use]
pub(crate) struct Call<'a> {
    script: &'a Script,
    trouble: Option<Trouble>,
}

impl Script {
    /// Makes the call of this number, from 0 and from now on, go wrong.
    pub(crate) fn trouble_at(&self, number: usize, trouble: Trouble) {
        self.calls.lock().unwrap().clear();
        *self.troubles.lock().unwrap() = HashMap::from([(number, trouble)]);
    }

    /// Makes the next call of a name go wrong.
    pub(crate) fn trouble_in(&self, name: &'static str, trouble: Trouble) {
        self.named_troubles.lock().unwrap().insert(name, trouble);
    }

    /// Nothing goes wrong any more.
    pub(crate) fn calm(&self) {
        self.troubles.lock().unwrap().clear();
        self.named_troubles.lock().unwrap().clear();
        self.gates.lock().unwrap().clear();
        self.calls.lock().unwrap().clear();
    }

    /// Holds every call of a name until it is let go, also by the gate that is returned when others are not held any more.
    pub(crate) fn hold(&self, name: &'static str) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        self.gates.lock().unwrap().insert(name, Arc::clone(&gate));
        gate
    }

    /// Lets so many held calls go.
    pub(crate) fn let_go(&self, name: &'static str, count: usize) {
        if let Some(gate) = self.gates.lock().unwrap().get(name) {
            gate.add_permits(count);
        }
    }

    /// The calls so far, in order.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    /// How many calls of a name have begun.
    pub(crate) fn count(&self, name: &str) -> usize {
        self.calls.lock().unwrap().iter().filter(|call| call.starts_with(name)).count()
    }

    /// Waits until so many calls of a name have begun.
    pub(crate) async fn begun(&self, name: &str, count: usize) {
        let enough = async {
            loop {
                let called = self.called.notified();
                if self.count(name) >= count {
                    return;
                }
                called.await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(10), enough).await;
        assert!(waited.is_ok(), "{count} calls of {name} were awaited, there were {:?}", self.calls());
    }

    /// Returns when the program "crashed".
    pub(crate) async fn crashed(&self) {
        self.crashed.notified().await;
    }

    /// A call begins. `detail` stands beside the name in the log.
    pub(super) async fn begin(&self, name: &'static str, detail: &str) -> Call<'_> {
        let number = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(if detail.is_empty() { name.to_owned() } else { format!("{name} {detail}") });
            calls.len() - 1
        };
        self.called.notify_waiters();
        let gate = self.gates.lock().unwrap().get(name).cloned();
        if let Some(gate) = gate {
            gate.acquire().await.unwrap().forget();
        }
        let named = self.named_troubles.lock().unwrap().remove(name);
        let trouble = named.or_else(|| self.troubles.lock().unwrap().get(&number).copied());
        if trouble == Some(Trouble::CrashBefore) {
            self.crash().await;
        }
        Call { script: self, trouble }
    }

    async fn crash(&self) {
        self.crashed.notify_one();
        std::future::pending::<()>().await;
    }
}

impl Call<'_> {
    /// Whether the call is to fail without having done anything.
    pub(super) fn fails_before(&self) -> bool {
        self.trouble == Some(Trouble::FailBefore)
    }

    /// The call has done its work; whether its answer is lost.
    pub(super) async fn fails_after(self) -> bool {
        if self.trouble == Some(Trouble::CrashAfter) {
            self.script.crash().await;
        }
        self.trouble == Some(Trouble::FailAfter)
    }
}
