//! `unstuck` without a command: the console.

use super::arguments::Common;
use super::failure::{Exit, Failure};
use super::session::{self, AuditUse};
use crate::adapters::system;
use crate::runtime::event_loop;
use crate::workflow::Desk;
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
    let options = event_loop::Options { title, no_color: system::wants_no_color() };
    event_loop::run(desk, options).await?;
    Ok(Exit::Fine)
}
