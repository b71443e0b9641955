//! `unstuck completions`: what a shell needs to complete commands and options.

use super::arguments::{Arguments, Completions, Shell};
use super::failure::{Exit, Failure};
use super::session;
use crate::output::say;
use clap::CommandFactory;

/// Prints the script.
pub(super) fn run(arguments: &Completions) -> Result<Exit, Failure> {
    let shell = match arguments.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "unstuck", &mut script);
    let said = say::text(String::from_utf8_lossy(&script));
    session::end(said.map(|()| Exit::Fine).map_err(Failure::from))
}
