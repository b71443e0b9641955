//! `unstuck` without a command: the console.

use super::arguments::Common;
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse};
use crate::adapters::system;
use crate::runtime::event_loop;
use crate::workflow::Desk;
use std::io::IsTerminal;
use std::sync::Arc;

/// Opens the console on the configured sources.
pub(super) async fn run(common: &Common) -> Result<Exit, Failure> {
    let settings = session::settings(common)?;
    if let Some(fault) = settings.unread.first() {
        return Err(fault.clone().into());
    }
    let desk = session::desk(common, &settings, AuditUse::Write)?;
    open(desk, None).await
}

/// Opens the console on a desk.
pub(super) async fn open(desk: Arc<Desk>, title: Option<String>) -> Result<Exit, Failure> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(Failure::usage(
            "the console needs a terminal",
            "Use `unstuck list` or `unstuck check` in a pipe; `unstuck --help` shows all commands.",
        ));
    }
    let options = event_loop::Options { title, no_color: system::wants_no_color() };
    event_loop::run(desk, options)
        .await
        .map_err(|fault| Failure::new(Exit::Unreachable, fault.to_string(), fault.do_next()))?;
    Ok(Exit::Fine)
}
