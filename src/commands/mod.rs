//! The commands: arguments in, one call of the workflow, output out. One file each.

pub mod arguments;
mod audit;
mod check;
mod completions;
mod console;
mod decide;
mod demo;
mod doctor;
mod duplicates;
pub mod failure;
mod incident;
mod init;
mod lead;
mod list;
mod presets;
mod proposals;
mod reconcile;
mod report;
mod session;
mod show;
mod tell;
mod watch;
pub mod wrong_call;

use crate::runtime::interrupt;
use arguments::{Arguments, Command};
use failure::{Exit, Failure};

/// Runs what the arguments ask for.
///
/// # Errors
/// A [`Failure`] with its two lines and its exit code.
pub async fn run(arguments: Arguments) -> Result<Exit, Failure> {
    let ended = carry_out(arguments).await;
    let asked_by = interrupt::asked_by();
    ended
        .map(|exit| exit.asked_by(asked_by))
        .map_err(|failure| Failure { exit: failure.exit.asked_by(asked_by), ..failure })
}

async fn carry_out(arguments: Arguments) -> Result<Exit, Failure> {
    let Arguments { common, command } = arguments;
    match command {
        None => console::run(&common).await,
        Some(Command::Demo(demo)) => demo::run(&common, &demo).await,
        Some(Command::List(list)) => list::run(&common, &list).await,
        Some(Command::Check(check)) => check::run(&common, &check).await,
        Some(Command::Show(arguments)) => show::run(&common, &arguments).await,
        Some(Command::Duplicates(arguments)) => duplicates::run(&common, &arguments).await,
        Some(Command::Reconcile(arguments)) => reconcile::run(&common, &arguments).await,
        Some(Command::Decide(decide)) => decide::run(&common, &decide).await,
        Some(Command::Proposals(proposals)) => proposals::list(&common, &proposals).await,
        Some(Command::Approve(approve)) => proposals::approve_one(&common, &approve).await,
        Some(Command::Withdraw(withdraw)) => proposals::withdraw_one(&common, &withdraw).await,
        Some(Command::Audit(audit)) => audit::run(&common, &audit).await,
        Some(Command::Watch(arguments)) => watch::run(&common, &arguments).await,
        Some(Command::Incident(arguments)) => incident::run(&common, &arguments).await,
        Some(Command::Report(arguments)) => report::run(&common, &arguments).await,
        Some(Command::Doctor(doctor)) => doctor::run(&common, &doctor).await,
        Some(Command::Init(init)) => init::run(&common, &init).await,
        Some(Command::Presets(presets)) => presets::run(&common, &presets).await,
        Some(Command::Completions(completions)) => completions::run(&completions),
    }
}
