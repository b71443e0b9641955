//! `unstuck watch`: look, tell what is new, and look again; without a screen.

mod memory;

use super::arguments::{Common, Watch};
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse, Troubles};
use crate::adapters::whole_file::{self, Readers};
use crate::config::Settings;
use crate::domain::watch::{Change, State};
use crate::output::{json, metrics, say};
use crate::ports::alerts::Alerts;
use crate::ports::escalation::NotTaken;
use crate::preset::webhook::WebhookSettings;
use crate::wiring;
use crate::workflow::Desk;
use crate::workflow::watch::{Looked, Watched, look};
use chrono::TimeDelta;
use memory::Memory;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The shortest time between two looks.
const EVERY_MIN: TimeDelta = TimeDelta::seconds(1);
/// How many different troubles are told again after each is over: a watch runs for months.
const TOLD_MAX: usize = 100;

/// Looks once, or until a signal ends it.
pub(super) async fn run(common: &Common, arguments: &Watch) -> Result<Exit, Failure> {
    let filter = session::filter(arguments.filter.as_deref())?;
    if filter.needs_check() && !arguments.check {
        return Err(Failure::usage(
            "without --check no provider is asked, so there is no verdict and no advice to filter by",
            "Add --check, or take those words out of --where.",
        ));
    }
    if filter.asks_for_money() && !arguments.check {
        say::aside("Findings whose amount or currency only their provider knows are left out: --check asks.");
    }
    if arguments.every < EVERY_MIN {
        return Err(Failure::usage("--every is shorter than a second", "Write for example --every 60s."));
    }
    let settings = session::settings(common).await?;
    if let Some(fault) = settings.unread.first() {
        // What its sources are, and so how all of them are called, is not known: each finding would seem to be another one.
        return Err(fault.clone().into());
    }
    let alerts = alerts(arguments, &settings)?;
    if arguments.once && alerts.is_some() && arguments.state.is_none() {
        return Err(Failure::usage(
            "a single look without --state knows no earlier one, so each would tell the webhook everything anew",
            "Name a file with --state, or take the webhook out.",
        ));
    }
    let memory = Memory::open(arguments.state.as_deref(), &scope(arguments))?;
    let stop = session::stop_token()?;
    let audit = if arguments.check { AuditUse::Write } else { AuditUse::Read };
    session::at_desk(common, &settings, audit, async |desk| {
        let names = session::sources(desk, arguments.source.as_deref())?;
        let watched = Watched {
            sources: names.iter().map(|source| Arc::clone(&source.facts().name)).collect(),
            filter: filter.clone(),
            checks: arguments.check,
        };
        let run = Run { desk, arguments, watched, memory, alerts, stop, told: BTreeSet::new() };
        run.watch(&settings).await
    })
    .await
}

/// Where changes are told: what the command line names, else what the configuration does.
fn alerts(arguments: &Watch, settings: &Settings) -> Result<Option<Arc<dyn Alerts>>, Failure> {
    let webhook = match &arguments.webhook {
        Some(url) => Some(WebhookSettings::new(url).map_err(|what| {
            Failure::usage(
                what,
                "Write --webhook https://HOST/PATH; where it needs a secret, write `[watch]` in the configuration.",
            )
        })?),
        None => settings.watch.clone(),
    };
    Ok(webhook.map(wiring::alerts).transpose()?)
}

/// What is watched, in words: a state file is of one watch.
fn scope(arguments: &Watch) -> String {
    let source = arguments.source.as_deref().map(|name| format!("source {name}"));
    let filter = arguments.filter.as_deref().map(|filter| format!("where {filter}"));
    source.into_iter().chain(filter).collect::<Vec<_>>().join(", ")
}

/// One run of the command. Looks come one after the other: none is begun while another is under way.
struct Run<'a> {
    desk: &'a Desk,
    arguments: &'a Watch,
    watched: Watched,
    memory: Memory,
    alerts: Option<Arc<dyn Alerts>>,
    stop: CancellationToken,
    /// What was told on stderr already: a trouble that stays is told once.
    told: BTreeSet<String>,
}

/// What a look came to, as one line.
#[derive(Serialize)]
struct LookLine<'a> {
    event: &'static str,
    at: String,
    took_ms: i64,
    findings: usize,
    #[serde(flatten)]
    counts: crate::domain::watch::Counts,
    unread: Vec<&'a str>,
}

impl Run<'_> {
    async fn watch(mut self, settings: &Settings) -> Result<Exit, Failure> {
        let mut troubles = Troubles::of(settings);
        loop {
            let began = self.desk.clock.now();
            let stop = self.stop.clone();
            let looked = tokio::select! {
                biased;
                // What was not looked at whole is forgotten: the next watch looks anew.
                () = stop.cancelled() => return Ok(self.ended()),
                looked = look(self.desk, &self.watched) => looked,
            };
            let worst = self.take(looked).await?;
            troubles.note(worst);
            if self.arguments.once {
                let worst = troubles.worst();
                let fails = self.arguments.fail_on_findings && self.memory.state.findings_count() > 0;
                return Ok(if worst == Exit::Fine && fails { Exit::No } else { worst });
            }
            let next = began + self.arguments.every;
            if self.wait_until(next).await? {
                return Ok(self.ended());
            }
        }
    }

    /// Asked to end: a watch that was to go on has done what it was there for.
    fn ended(&self) -> Exit {
        if self.arguments.once { Exit::Interrupted } else { Exit::Fine }
    }

    /// Tells and remembers what was seen, and hands it on.
    async fn take(&mut self, looked: Looked) -> Result<Exit, Failure> {
        let (at, mut worst) = (looked.look.at, Exit::Fine);
        let mut troubles: Vec<Failure> = looked.faults.into_iter().map(Failure::from).collect();
        troubles.extend(looked.record_fault.map(Failure::unrecorded));
        troubles.extend(looked.unasked.iter().map(|(what, hindrance)| {
            Failure::new(
                Exit::of(*hindrance),
                what,
                "`unstuck doctor` asks each provider and says what it sees.",
            )
        }));
        let changes = self.memory.state.take(looked.look);
        print(&self.memory.state, &changes)?;
        if self.alerts.is_some() {
            self.memory.state.post(&changes, at);
        }
        troubles.extend(self.memory.keep().err());
        troubles.extend(self.send().await);
        troubles.extend(self.write_metrics().err());
        if let Ok(record) = &self.desk.record {
            troubles.extend(record.seal(self.desk.clock.now()).await.err().map(Failure::from));
        }
        for trouble in &troubles {
            worst = worst.max(trouble.exit);
        }
        self.tell(&troubles);
        Ok(worst)
    }

    /// Sends what waits and is due, in order; the first that is not taken holds up the others. What went wrong, if something
    /// did.
    async fn send(&mut self) -> Option<Failure> {
        let alerts = self.alerts.clone()?;
        loop {
            let now = self.desk.clock.now();
            let Some(waiting) = self.memory.state.due(now) else { return self.not_told_yet(&alerts.place()) };
            let sent = alerts.send(&waiting.dedup_key, &waiting.body).await;
            match &sent {
                Ok(_) => self.memory.state.sent(),
                Err(_) => self.memory.state.not_sent(self.desk.clock.now()),
            }
            if let Err(failure) = self.memory.keep() {
                return Some(failure);
            }
            if let Err(NotTaken { why, hindrance }) = sent {
                let (left, wait) = match self.memory.state.outbox.len() {
                    1 => ("1 notice".to_owned(), "waits and is"),
                    many => (format!("{many} notices"), "wait and are"),
                };
                return Some(Failure::new(
                    hindrance.map_or(Exit::Unreachable, Exit::of),
                    format!("the webhook at {} was not told: {why}", alerts.place()),
                    format!("{left} {wait} sent again; check its address and its secret."),
                ));
            }
        }
    }

    /// What still waits for its next try is no success, also where nothing was tried now.
    fn not_told_yet(&self, place: &str) -> Option<Failure> {
        let left = self.memory.state.outbox.len();
        (left > 0).then(|| {
            Failure::new(
                Exit::Unreachable,
                if left == 1 {
                    format!("1 notice waits for the webhook at {place}, which did not take it")
                } else {
                    format!("{left} notices wait for the webhook at {place}, which did not take them")
                },
                "What waits is sent again by itself; check its address and its secret.",
            )
        })
    }

    /// Tells each trouble once, and again after it was over.
    fn tell(&mut self, troubles: &[Failure]) {
        let now: BTreeSet<String> = troubles.iter().map(ToString::to_string).take(TOLD_MAX).collect();
        for trouble in now.difference(&self.told) {
            say::aside(trouble);
        }
        self.told = now;
    }

    fn write_metrics(&self) -> Result<(), Failure> {
        let Some(path) = &self.arguments.metrics else { return Ok(()) };
        let text = metrics::text(&self.memory.state, self.desk.clock.now());
        whole_file::replace(path, text.as_bytes(), Readers::All).map_err(|fault| {
            Failure::new(
                Exit::Unreachable,
                format!("the metrics cannot be written to {} ({fault})", path.display()),
                "Check the path and the permissions of its folder.",
            )
        })
    }

    /// Waits for the next look, and sends meanwhile what is due again; whether it was asked to end. A look that took longer
    /// than the time between two is followed by the next at once, and by one only.
    async fn wait_until(&mut self, next: chrono::DateTime<chrono::Utc>) -> Result<bool, Failure> {
        loop {
            let now = self.desk.clock.now();
            let resend = self.memory.state.next_try_at().filter(|_| self.alerts.is_some());
            let wake = resend.map_or(next, |resend| resend.min(next));
            // A clock that is set back makes nobody wait for longer than the time between two looks.
            let wait = (wake - now).min(self.arguments.every).to_std().unwrap_or(Duration::ZERO);
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return Ok(true),
                () = tokio::time::sleep(wait) => {}
            }
            if wake == next {
                return Ok(false);
            }
            let failure = self.send().await;
            self.tell(failure.as_slice());
            self.write_metrics()?;
        }
    }
}

/// A line for each change, and one for the look where there was any: nothing new, nothing said.
fn print(state: &State, changes: &[Change]) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Line<'a> {
        at: String,
        #[serde(flatten)]
        change: &'a Change,
    }
    if changes.is_empty() {
        return Ok(());
    }
    let at = state.looked_at.map(crate::domain::moment::stamp).unwrap_or_default();
    for change in changes {
        say::line(json::line(&Line { at: at.clone(), change }))?;
    }
    let line = LookLine {
        event: "look",
        at,
        took_ms: state.took_ms,
        findings: state.findings_count(),
        counts: crate::domain::watch::Counts::of(changes),
        unread: state.unread(),
    };
    Ok(say::line(json::line(&line))?)
}
