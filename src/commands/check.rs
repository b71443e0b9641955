//! `unstuck check`: ask the providers of findings, or of the items that are named.

use super::arguments::{By, Check, Common};
use super::failure::{Exit, Failure};
use super::list::Printer;
use super::session::{self, AuditUse, Troubles};
use crate::domain::evidence::FaultKind;
use crate::domain::filter::Filter;
use crate::domain::plan::{LISTED_ITEMS_MIN, Wish};
use crate::output::{FindingLine, json, plan_lines, say};
use crate::ports::source::Source;
use crate::runtime::progress::Progress;
use crate::workflow::scan::Pages;
use crate::workflow::settle::{OrderFault, look_up};
use crate::workflow::slowness::slowness;
use crate::workflow::sweep::{Planned, Recorded, answers, plan_all, recorded};
use crate::workflow::watch::facts;
use crate::workflow::{Checked, Desk, Found};
use futures_util::StreamExt;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How many findings are held at once; a larger table is checked in so many parts.
const FINDINGS_HELD_MAX: usize = 20_000;

/// Checks and prints one line an item.
pub(super) async fn run(common: &Common, arguments: &Check) -> Result<Exit, Failure> {
    let filter = session::filter(arguments.filter.as_deref())?;
    let settings = session::settings(common).await?;
    let stop = session::stop_token()?;
    session::at_desk(common, &settings, AuditUse::Write, async |desk| {
        let run = Run {
            desk,
            filter,
            stop,
            printer: Printer::of_checks(arguments.format),
            troubles: Troubles::of(&settings),
            findings_count: 0,
            answered_count: 0,
            wish: wish(arguments.by),
            plans_only: arguments.plan,
            plans_as_json: arguments.format.json,
            lacks_record: false,
            told: BTreeSet::new(),
        };
        check(run, arguments).await
    })
    .await
}

async fn check(mut run: Run<'_>, arguments: &Check) -> Result<Exit, Failure> {
    let sources = session::sources(run.desk, arguments.source.as_deref())?;
    if arguments.all {
        run.check_findings(&sources).await?;
    } else {
        run.check_keys(&sources, &arguments.keys).await?;
    }
    let stopped = run.stop.is_cancelled();
    let (worst, findings_count, lacks_record) = (run.troubles.worst(), run.findings_count, run.lacks_record);
    // Of items that were named, it was said already that they are not there; of a plan, what there is.
    let says_nothing_found = arguments.all && !arguments.plan && !stopped;
    let printed = run.printer.finish(says_nothing_found.then(|| run.troubles.of_nothing_found()))?;
    if !run.lacks_record {
        session::tell_waiting(run.desk).await;
    }
    if stopped {
        say::aside(match (run.answered_count, printed) {
            (0, _) => "Stopped before the first answer: nothing is known.",
            (_, _) if lacks_record => {
                "Stopped: what was answered is printed, and says where it is not on record."
            }
            (_, 0) => "Stopped: nothing of what was answered passes the filter; it is on record.",
            (_, _) => "Stopped: what was answered is printed and on record.",
        });
        return Ok(Exit::Interrupted);
    }
    if worst == Exit::Fine && arguments.fail_on_findings && findings_count > 0 {
        return Ok(Exit::No);
    }
    Ok(worst)
}

/// One run of the command.
struct Run<'a> {
    desk: &'a Desk,
    filter: Filter,
    stop: CancellationToken,
    printer: Printer,
    troubles: Troubles,
    findings_count: usize,
    /// How many items have an answer, whether or not it counts.
    answered_count: usize,
    wish: Wish,
    /// Whether only the plan is wanted.
    plans_only: bool,
    /// Whether a program reads it.
    plans_as_json: bool,
    /// Whether the record did not take something: that was told.
    lacks_record: bool,
    /// What was told on stderr already: each trouble once.
    told: BTreeSet<String>,
}

impl Run<'_> {
    async fn check_findings(&mut self, sources: &[Arc<dyn Source>]) -> Result<(), Failure> {
        let mut held: Vec<Arc<Found>> = Vec::new();
        // All begin at once: one that does not answer holds no other up.
        let begun: Vec<_> = sources.iter().map(|source| Pages::in_order(self.desk, source)).collect();
        for mut pages in begun {
            while let Some(read) = pages.next().await {
                if self.stop.is_cancelled() {
                    return Ok(());
                }
                match read {
                    Ok(page) => {
                        // Verdict and advice are not known yet: those filters are applied to the answer.
                        let passing =
                            page.found.into_iter().filter(|found| self.filter.may_pass(&found.facts()));
                        held.extend(passing.map(Arc::new));
                    }
                    Err(fault) => self.troubles.tell(&fault.into()),
                }
                if held.len() >= FINDINGS_HELD_MAX {
                    self.check(std::mem::take(&mut held), true).await?;
                }
            }
        }
        self.check(held, true).await
    }

    async fn check_keys(&mut self, sources: &[Arc<dyn Source>], keys: &[String]) -> Result<(), Failure> {
        for key in keys {
            let mut is_known = false;
            for source in sources {
                match look_up(self.desk, &source.facts().name, key).await {
                    Ok(Some((found, is_finding))) => {
                        is_known = true;
                        self.check(vec![Arc::new(found)], is_finding).await?;
                    }
                    Ok(None) => {}
                    Err(fault) => self.tell_order_fault(fault),
                }
            }
            if !is_known && self.troubles.worst() < Exit::Usage {
                let failure = Failure::new(
                    Exit::No,
                    format!("no source has an item `{key}`"),
                    "`unstuck list` shows the keys of the findings.",
                );
                self.troubles.tell(&failure);
            }
        }
        Ok(())
    }

    fn tell_order_fault(&mut self, fault: OrderFault) {
        // Nobody was going to change anything.
        let failure = match fault {
            OrderFault::Source(fault) => Failure::from(fault),
            other => Failure::from(other),
        };
        self.troubles.tell(&failure);
    }

    async fn check(&mut self, found: Vec<Arc<Found>>, are_findings: bool) -> Result<(), Failure> {
        if found.is_empty() {
            return Ok(());
        }
        let count = found.len();
        let desk = self.desk;
        let planned = plan_all(desk, found, self.wish);
        let is_told = self.plans_only || self.wish != Wish::Cheapest || count >= LISTED_ITEMS_MIN;
        if is_told {
            let slowness = slowness(desk).await;
            for planned in &planned {
                let slowness = planned.name.as_ref().and_then(|name| slowness.get(&name.to_string()));
                if self.plans_only && self.plans_as_json {
                    say::line(json::line(&plan_lines::plan_json(planned, slowness)))?;
                } else {
                    say::aside(plan_lines::plan(planned, slowness));
                }
            }
        }
        if self.plans_only {
            return Ok(());
        }
        let outcomes: Vec<Planned> = planned.iter().map(Planned::without_findings).collect();
        let ended = self.ask(planned, count, are_findings).await;
        for given_up in outcomes.iter().filter_map(plan_lines::given_up) {
            say::aside(given_up);
        }
        ended
    }

    async fn ask(&mut self, planned: Vec<Planned>, count: usize, are_findings: bool) -> Result<(), Failure> {
        let progress = Progress::new("checking", count);
        let desk = self.desk;
        let asked = planned.iter().filter_map(|planned| desk.providers.get(planned.name.as_ref()?));
        if let Some(max) = asked.map(|provider| provider.facts().check_max).max() {
            // Whoever waits for a provider that hangs knows until when.
            progress.tell(&format!("each {} s at most (check_seconds_max)", max.as_secs_f64()));
        }
        // A stop ends the asking: what was answered until then is still recorded and told.
        let stop = self.stop.clone();
        let mut batches = recorded(desk, answers(desk, planned).take_until(stop.cancelled()));
        while let Some(Recorded { answered, are_on_record, fault }) = batches.next().await {
            if let Some(fault) = fault {
                self.lacks_record |= !are_on_record;
                self.troubles.note(Exit::Unreachable);
                self.tell_once(&progress, &Failure::unrecorded(fault));
            }
            self.answered_count += answered.len();
            for (found, checked) in &answered {
                progress.advance();
                self.note_faults(&progress, checked);
                if self.filter.passes(&facts(found, Some(checked))) {
                    self.findings_count += 1;
                    let line = if are_findings {
                        FindingLine::of_checked(found, checked, are_on_record)
                    } else {
                        FindingLine::of_asked(found, checked, are_on_record)
                    };
                    progress.aside(|| self.printer.print(&line))?;
                }
            }
            progress.aside(|| self.printer.flush())?;
        }
        Ok(())
    }

    /// Says once what kept a provider from answering, and remembers the exit code.
    fn note_faults(&mut self, progress: &Progress, checked: &Checked) {
        let Some(fault) = &checked.judgement.fault else { return };
        if fault.kind == FaultKind::NobodyToAsk {
            let do_next = "Give the kind a `check` in the configuration.";
            self.tell_once(progress, &Failure::new(Exit::Fine, &*fault.detail, do_next));
        }
        progress.aside(|| self.troubles.tell_unanswered(checked));
    }

    fn tell_once(&mut self, progress: &Progress, told: &Failure) {
        if self.told.len() < TOLD_MAX && self.told.insert(told.what.clone()) {
            progress.aside(|| say::aside(told));
        }
    }
}

fn wish(by: Option<By>) -> Wish {
    match by {
        None => Wish::Cheapest,
        Some(By::Item) => Wish::ByItem,
        Some(By::Listing) => Wish::ByListing,
    }
}

/// How many different troubles are told on stderr.
const TOLD_MAX: usize = 5;
