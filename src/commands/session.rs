//! From the common arguments to settings and a desk.

use super::arguments::Common;
use super::failure::{Exit, Failure};
use crate::config::load::{self, Folders, Looked};
use crate::config::{ConfigFault, Database, Settings};
use crate::domain::evidence::Hindrance;
use crate::domain::filter::Filter;
use crate::output::say;
use crate::ports::source::Source;
use crate::preset::source::Engine;
use crate::runtime::interrupt;
use crate::wiring;
pub(super) use crate::wiring::AuditUse;
use crate::workflow::{Checked, Desk};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The settings that the arguments and the configuration add up to.
pub(super) async fn settings(common: &Common) -> Result<Settings, Failure> {
    let folders = Folders::of_platform();
    let audit = || folders.clone().map(|known| known.audit_file());
    if let (Some(file), false) = (&common.config, common.db.is_empty()) {
        // Which of the two is meant is nobody's to guess: a decision would land in the other database.
        return Err(Failure::usage(
            format!("both a configuration ({}) and --db are named", file.display()),
            "Name one of the two: --db looks without a configuration, --config (or $UNSTUCK_CONFIG) names the sources itself.",
        ));
    }
    let mut settings = if !common.db.is_empty() && common.config.is_none() {
        let folder = std::env::current_dir().map_err(|fault| no_folder(&fault))?;
        load::detect(look(&common.db).await?, &folder, audit()?)?
    } else {
        let file = match &common.config {
            Some(file) => file.clone(),
            None => default_file(&folders.clone()?)?,
        };
        // An audit that the file names needs no home folder.
        load::load(&file, audit().unwrap_or_else(|_| PathBuf::from("audit.db")))?
    };
    if let Some(audit) = &common.audit_file {
        settings.audit = named_audit(audit)?;
    }
    Ok(settings)
}

/// The settings of a command that needs the audit alone: no database is looked into, and where there is no configuration the
/// audit is the one that `--db` uses.
pub(super) async fn audit_settings(common: &Common) -> Result<Settings, Failure> {
    if !common.db.is_empty() && common.config.is_none() {
        return without_sources(common);
    }
    settings_or_audit(common).await
}

/// The settings as ever; where there is neither a configuration nor a database, the audit alone.
pub(super) async fn settings_or_audit(common: &Common) -> Result<Settings, Failure> {
    let has_file = Folders::of_platform().is_ok_and(|folders| folders.config_file().exists());
    if common.config.is_none() && common.db.is_empty() && !has_file {
        return without_sources(common);
    }
    settings(common).await
}

fn without_sources(common: &Common) -> Result<Settings, Failure> {
    let folders = Folders::of_platform();
    let Some(named) = &common.audit_file else {
        return Ok(load::audit_alone(Database::File(folders?.audit_file()))?);
    };
    // An audit that is named needs no home folder. Its key is where it is by default, whatever the audit's own place.
    let mut settings = load::audit_alone(named_audit(named)?)?;
    settings.audit_key = folders.ok().and_then(|folders| load::key_of(&folders.audit_file()));
    Ok(settings)
}

/// The audit that `--audit-file` names: a file, or a database's address.
pub(super) fn named_audit(named: &Path) -> Result<Database, Failure> {
    match named.to_str().filter(|text| text.contains("://")) {
        None => Ok(Database::File(named.to_owned())),
        Some(address) => match Database::parse(address)? {
            Database::Server(server) if server.engine == Engine::Mysql => Err(Failure::usage(
                "only PostgreSQL keeps an audit for many operators",
                "Name postgres://USER@HOST/DATABASE, or a file.",
            )),
            audit => Ok(audit),
        },
    }
}

fn no_folder(fault: &std::io::Error) -> Failure {
    Failure::usage(format!("the current folder cannot be found ({fault})"), "Change to a folder that exists.")
}

fn default_file(folders: &Folders) -> Result<PathBuf, Failure> {
    let file = folders.config_file();
    if file.exists() {
        return Ok(file);
    }
    Err(Failure::usage(
        format!("there is no configuration at {}", file.display()),
        "Name one with --config, look into a database with --db sqlite://PATH, or try `unstuck demo`.",
    ))
}

/// What the catalogues of some databases show, looked at side by side.
pub(super) async fn look(urls: &[String]) -> Result<Vec<Looked>, ConfigFault> {
    let databases = urls.iter().map(|url| Database::parse(url)).collect::<Result<Vec<_>, _>>()?;
    let each = databases.into_iter().map(async |database| {
        let tables = wiring::tables_of(&database).await.map_err(|fault| {
            let is_unreachable = Failure::from(fault.clone()).exit == Exit::Unreachable;
            ConfigFault { is_unreachable, ..ConfigFault::new(fault.what, fault.do_next) }
        });
        (database, tables)
    });
    Ok(futures_util::future::join_all(each).await)
}

/// Works at a desk, and signs what that put on record however it ended: the one way for a command to its desk.
///
/// # Errors
/// The work's own. That nothing could be signed is told beside it: what was decided is decided.
pub(super) async fn at_desk(
    common: &Common,
    settings: &Settings,
    audit: AuditUse,
    work: impl AsyncFnOnce(&Arc<Desk>) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let options = wiring::Options {
        operator: common.operator.clone(),
        read_only: common.read_only,
        audit,
        marks: common.marks.clone(),
    };
    let desk = Arc::new(wiring::desk(settings, &options)?);
    let ended = work(&desk).await;
    if let Ok(record) = &desk.record
        && let Err(fault) = record.seal(desk.clock.now()).await
    {
        say::aside(Failure::from(fault));
    }
    ended
}

/// A filter that was typed.
pub(super) fn filter(typed: Option<&str>) -> Result<Filter, Failure> {
    Filter::parse(typed.unwrap_or(""))
        .map_err(|what| Failure::usage(what, "A filter looks like \"kind:invoice finding:stuck age>2h\"."))
}

/// The sources that are asked for: all, or the named one.
pub(super) fn sources(desk: &Desk, named: Option<&str>) -> Result<Vec<Arc<dyn Source>>, Failure> {
    let Some(name) = named else { return Ok(desk.sources.clone()) };
    if let Some(source) = desk.source(name) {
        Ok(vec![Arc::clone(source)])
    } else {
        let known: Vec<String> = desk.sources.iter().map(|source| source.facts().name.to_string()).collect();
        Err(Failure::usage(
            format!("there is no source `{name}`"),
            format!("There are {}.", known.join(", ")),
        ))
    }
}

/// How many different troubles of providers are told: thousands of items may each have one of their own.
const TOLD_MAX: usize = 5;

/// What went wrong on the way, each trouble told once on stderr so that the rest still counts, and the worst exit code.
#[derive(Debug)]
pub(super) struct Troubles {
    told: BTreeSet<String>,
    worst: Exit,
}

impl Troubles {
    /// None yet, but for the databases that could not be looked into.
    pub(super) fn of(settings: &Settings) -> Self {
        let mut troubles = Self { told: BTreeSet::new(), worst: Exit::Fine };
        for fault in &settings.unread {
            troubles.tell(&Failure::from(fault.clone()));
        }
        troubles
    }

    /// Tells one more. Three tables of one broken file are one trouble.
    pub(super) fn tell(&mut self, failure: &Failure) {
        if self.told.insert(failure.to_string()) {
            say::aside(failure);
        }
        self.note(failure.exit);
    }

    /// Tells once what kept a provider from answering, and remembers the exit code that it comes to.
    pub(super) fn tell_unanswered(&mut self, checked: &Checked) {
        let Some(fault) = &checked.judgement.fault else { return };
        let Some(hindrance) = fault.kind.hindrance() else { return };
        let do_next = match hindrance {
            Hindrance::Misconfigured => "Set it, then ask again.",
            Hindrance::Unreachable => "`unstuck doctor` asks each provider and says what it sees.",
        };
        let failure = Failure::new(Exit::of(hindrance), fault.detail.clone(), do_next);
        self.note(failure.exit);
        if self.told.len() < TOLD_MAX {
            self.tell(&failure);
        }
    }

    /// Remembers an exit code without a word.
    pub(super) fn note(&mut self, exit: Exit) {
        self.worst = self.worst.max(exit);
    }

    /// The worst exit code so far.
    pub(super) fn worst(&self) -> Exit {
        self.worst
    }

    /// What to say where nothing was found: what could not be read may hold something.
    pub(super) fn of_nothing_found(&self) -> &'static str {
        if self.worst < Exit::Usage { "No findings." } else { "No findings in what could be read." }
    }
}

/// A token that `Ctrl-C` cancels.
pub(super) fn stop_token() -> Result<CancellationToken, Failure> {
    interrupt::token().map_err(|fault| {
        Failure::new(Exit::Unreachable, format!("signals cannot be heard ({fault})"), "Report this.")
    })
}

/// Settles what broke off before anything new is decided, and tells it.
pub(super) async fn recover(desk: &Desk) -> Result<(), Failure> {
    for one in crate::workflow::recover::recover(desk).await? {
        let choice = one.choice.map_or("a decision", crate::domain::decision::Choice::verb);
        let told = format!("{choice} {} (audit entry {}): {}", one.intent.key, one.intent.seq, one.told);
        say::aside(format!("Broken off earlier: {}", crate::domain::text::clean(&told)));
    }
    Ok(())
}

/// Tells in one line that proposals wait, so that nobody has to think of looking for them; or that nobody can tell, because
/// the audit cannot be read. The exit code is that of what was asked for.
pub(super) async fn tell_waiting(desk: &Desk) {
    let waiting = match crate::workflow::settle::propose::waiting(desk).await {
        Ok(waiting) => waiting.len(),
        Err(fault) if fault.is_absent => 0,
        Err(fault) => {
            let what = format!("whether proposals wait for a second person is not known: {}", fault.what);
            return say::aside(Failure::new(Exit::Fine, what, fault.do_next));
        }
    };
    match waiting {
        0 => {}
        1 => say::aside("1 proposal waits for a second person: `unstuck proposals` shows it."),
        many => say::aside(format_args!(
            "{many} proposals wait for a second person: `unstuck proposals` shows them."
        )),
    }
}

/// Turns a closed output (`| head`) into a good end.
pub(super) fn end(result: Result<Exit, Failure>) -> Result<Exit, Failure> {
    match result {
        Err(failure) if failure.exit == Exit::Fine => Ok(Exit::Fine),
        other => other,
    }
}
