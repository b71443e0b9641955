//! `unstuck doctor`: every source, provider, permission, clock and preset, each with a clear line.

mod asking;
mod configured;
mod trial;

use super::arguments::{Common, Doctor};
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse};
use crate::adapters::record::key::{self, KeyState};
use crate::config::{Database, Settings};
use crate::domain::evidence::{Answer, FaultKind};
use crate::domain::policy::{Approvals, Policy};
use crate::domain::text::{clean, count_of};
use crate::output::{json, say};
use crate::ports::escalation::Escalation;
use crate::ports::provider::{Provider, Question};
use crate::ports::source::{Examined, Health};
use crate::workflow::Desk;
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A reference that no item has: asking for it shows that a provider answers, and changes nothing.
const PROBE_REFERENCE: &str = "unstuck-doctor-probe";

#[derive(Serialize)]
struct Line<'a> {
    subject: &'a str,
    what: &'a str,
    health: &'static str,
    finding: &'a str,
}

/// Looks at everything and prints a line each.
pub(super) async fn run(common: &Common, arguments: &Doctor) -> Result<Exit, Failure> {
    if let (Some(provider), Some(reference)) = (&arguments.provider, &arguments.reference) {
        return asking::run(common, arguments, provider, reference).await;
    }
    let settings = match &arguments.preset {
        Some(file) => trial::settings(common, file).await?,
        None => session::settings(common).await?,
    };
    // A trial puts nothing on record, and needs none.
    let audit = if arguments.preset.is_some() { AuditUse::Read } else { AuditUse::Write };
    session::at_desk(common, &settings, audit, async |desk| examine(desk, &settings, arguments).await).await
}

async fn examine(desk: &Desk, settings: &Settings, arguments: &Doctor) -> Result<Exit, Failure> {
    let mut worst = Health::Good;
    let mut print = |subject: &str, lines: Vec<Examined>| -> std::io::Result<()> {
        for line in lines {
            worst = worst.max(line.health);
            let health = word(line.health);
            if arguments.json {
                let line = Line { subject, what: &line.what, health, finding: &line.finding };
                say::line(json::line(&line))?;
            } else {
                say::line(format_args!(
                    "{health:<11}  {:<22}  {:<10}  {}",
                    clean(subject),
                    clean(&line.what),
                    clean(&line.finding)
                ))?;
            }
        }
        Ok(())
    };
    if arguments.preset.is_none() {
        print("configuration", vec![configuration(settings.file.as_deref(), &settings.catalogue)])?;
    }
    if arguments.preset.is_none() {
        print("configuration", configured::of_console(settings))?;
    }
    let unread = settings.unread.iter().map(|fault| Examined {
        what: "file".to_owned(),
        health: Health::Unreachable,
        finding: format!("{}. {}", fault.what, fault.do_next),
    });
    print("database", unread.collect())?;
    // All are looked at at once: one that does not answer holds no other up.
    let mut examined: FuturesOrdered<_> = desk.sources.iter().map(|source| source.examine()).collect();
    for source in &desk.sources {
        let subject = format!("source {}", source.facts().name);
        print(&subject, examined.next().await.unwrap_or_default())?;
        if arguments.preset.is_some() {
            print(&subject, trial::sees(desk, source).await)?;
        }
    }
    if arguments.preset.is_some() {
        return Ok(exit_of(worst));
    }
    for (name, provider) in &desk.providers {
        let of_provider = settings.providers.get(&name.provider);
        let operation = of_provider.and_then(|(_, settings)| settings.operations.get(&*name.operation));
        let canary = operation.and_then(|operation| operation.canary.as_deref());
        let line = match canary {
            Some(canary) => find_canary(&**provider, canary).await,
            None => None,
        };
        let examined = provider.examine().await;
        let asked = if examined.is_empty() { vec![ask(&**provider).await] } else { examined };
        // An absence that a canary does not confirm is no answer, and that was said already.
        let lines = match line {
            Some(line) if line.health != Health::Good => vec![line],
            line => [asked, line.into_iter().collect()].concat(),
        };
        print(&format!("provider {name}"), lines)?;
    }
    if let Some(escalation) = &desk.escalation {
        print("escalation", place(&**escalation).await)?;
    }
    for (name, escalation) in &desk.escalations {
        print(&format!("escalation {name}"), place(&**escalation).await)?;
    }
    print("watch", configured::watch(settings).await)?;
    print("receipts", configured::receipts(settings.receipts.as_deref()))?;
    print("kinds", kinds(desk))?;
    print("audit", vec![audit(desk, &settings.audit).await, audit_key(settings.audit_key.as_deref())])?;
    print("audit", configured::public_keys(settings))?;
    print("operator", vec![good("who", format!("{} ({})", desk.operator.name, desk.origin()))])?;
    session::tell_waiting(desk).await;
    Ok(exit_of(worst))
}

/// A place that escalations go to, and whether a notice can be made for it.
async fn place(escalation: &dyn Escalation) -> Vec<Examined> {
    let mut lines = vec![escalation.examine().await];
    lines.extend(configured::notice_of(escalation));
    lines
}

/// How much of the console is set.
fn settings_line(keys: usize, views: usize) -> String {
    format!("{} of its own, {}", count_of(keys, "key binding"), count_of(views, "view"))
}

fn exit_of(worst: Health) -> Exit {
    match worst {
        Health::Good | Health::Doubtful => Exit::Fine,
        Health::Bad => Exit::No,
        // As `list` says of the same table.
        Health::Misfit => Exit::Usage,
        Health::Unreachable => Exit::Unreachable,
    }
}

fn word(health: Health) -> &'static str {
    match health {
        Health::Good => "good",
        Health::Doubtful => "doubtful",
        Health::Bad | Health::Misfit => "bad",
        Health::Unreachable => "unreachable",
    }
}

fn good(what: &str, finding: impl Into<String>) -> Examined {
    Examined { what: what.to_owned(), health: Health::Good, finding: finding.into() }
}

fn configuration(file: Option<&Path>, catalogue: &crate::preset::catalogue::Catalogue) -> Examined {
    let from = file.map_or_else(|| "none; tables are detected".to_owned(), |file| file.display().to_string());
    good(
        "file",
        format!(
            "{from} ({} source and {} provider presets)",
            catalogue.sources.len(),
            catalogue.providers.len()
        ),
    )
}

/// A question for a reference, and nothing else.
fn question(reference: &str) -> Question {
    Question {
        reference: reference.to_owned(),
        from: None,
        fields: BTreeMap::new(),
        mask: std::sync::Arc::default(),
    }
}

/// Asks for what is known to be there: a filter or a field that is misspelt shows nothing, which looks like an absence. `None`
/// where the question got no answer, for another line to say why.
async fn find_canary(provider: &dyn Provider, canary: &str) -> Option<Examined> {
    let line = |health, finding| Some(Examined { what: "canary".to_owned(), health, finding });
    match provider.ask(&question(canary)).await.answer {
        Answer::Complete { effects, .. } => match &effects[..] {
            [] => line(
                Health::Bad,
                format!(
                    "nothing is found under `{canary}`, which is known to be there: is what the look-up asks by spelled right, and \
                     the place the right one? Every absence will be `unknown`."
                ),
            ),
            [first, ..] => line(Health::Good, format!("`{canary}` is found ({})", first.id)),
        },
        Answer::Fault(fault) if fault.kind == FaultKind::Shape => line(
            Health::Bad,
            format!(
                "`{canary}`, which is known to be there, is not found: {fault}. Every absence will be `unknown`."
            ),
        ),
        Answer::Fault(_) => None,
    }
}

async fn ask(provider: &dyn Provider) -> Examined {
    let told = provider.ask(&question(PROBE_REFERENCE)).await;
    let place = &provider.facts().place;
    let (health, finding) = match told.answer {
        Answer::Complete { .. } => {
            (Health::Good, format!("{place} answers as its preset says, in {} ms", told.evidence.took_ms))
        }
        Answer::Fault(fault) => {
            (Health::of(fault.kind), format!("{place}: {fault}. Every verdict of it will be `unknown`."))
        }
    };
    Examined { what: "answer".to_owned(), health, finding }
}

/// What each kind's policy says; a kind that nobody can be asked about is worth knowing.
fn kinds(desk: &Desk) -> Vec<Examined> {
    desk.kinds
        .iter()
        .map(|(name, kind)| {
            let policy = &kind.policy;
            let (health, check) = match &policy.check {
                Some(check) => (Health::Good, format!("asks {check}")),
                None => (Health::Doubtful, "asks nobody: its verdicts are always `unknown`".to_owned()),
            };
            let persons = match policy.approvals {
                Approvals::One => "",
                Approvals::Two => ", two persons a decision",
            };
            let stuck = match policy.stuck_after {
                Policy::NEVER => "never stuck by its age".to_owned(),
                after => format!("stuck after {}", crate::domain::moment::span(after)),
            };
            Examined {
                what: name.to_string(),
                health,
                finding: format!("risk {}{persons}, {stuck}, {check}", policy.risk),
            }
        })
        .collect()
}

async fn audit(desk: &Desk, place: &Database) -> Examined {
    let what = match place {
        Database::File(_) => "file",
        Database::Server(_) => "database",
    };
    let line = |health, finding| Examined { what: what.to_owned(), health, finding };
    let fault = match &desk.record {
        Ok(record) => match record.unfinished().await {
            Ok(open) if open.is_empty() => match record.recorded_by().await {
                Ok(Some(by)) => {
                    return good(what, format!("{} knows this console as `{}`", place.shown(), by.login));
                }
                Ok(None) => return good(what, format!("{} can be written", place.shown())),
                Err(fault) => fault,
            },
            Ok(open) => {
                let told = match open.len() {
                    1 => "1 decision has no outcome yet: it broke off, or is under way".to_owned(),
                    many => format!("{many} decisions have no outcome yet: they broke off, or are under way"),
                };
                return line(
                    Health::Doubtful,
                    format!("{told}. The console and `decide` settle what broke off first."),
                );
            }
            Err(fault) => fault,
        },
        Err(fault) => fault.clone(),
    };
    line(Health::Bad, format!("{}. {} Without it nothing is decided.", fault.what, fault.do_next))
}

/// Whether the audit can be signed. The key is not made here: to look changes nothing.
fn audit_key(file: Option<&Path>) -> Examined {
    let line = |health, finding| Examined { what: "key".to_owned(), health, finding };
    let unsigned = "Until then nobody could tell if the end of the audit were cut off.";
    let Some(file) = file else {
        let place = "Set $HOME, or name a file as `key` in the configuration's `[audit]`.";
        return line(
            Health::Bad,
            format!("there is no home folder for the key that signs the audit. {place} {unsigned}"),
        );
    };
    let shown = file.display();
    match key::look(file) {
        Ok(KeyState::Private(public)) => {
            line(Health::Good, format!("{shown} signs the audit ({})", public.fingerprint()))
        }
        Ok(KeyState::Missing) => {
            line(Health::Good, format!("{shown} is made when something is put on record for the first time"))
        }
        Ok(KeyState::Shared(_)) => line(
            Health::Doubtful,
            format!(
                "{shown} can be read by other accounts, which could sign in your place. Take that away: chmod 600."
            ),
        ),
        Err(why) => line(Health::Bad, format!("{shown} {why}. Mend that file or its folder. {unsigned}")),
    }
}
