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
    let settings = session::settings(common).await?;
    if let Some(fault) = settings.unread.first() {
        return Err(fault.clone().into());
    }
    session::at_desk(common, &settings, AuditUse::Write, async |desk| open(desk, None).await).await
}

/// Opens the console on a desk.
pub(super) async fn open(desk: &Arc<Desk>, title: Option<String>) -> Result<Exit, Failure> {
    let options = event_loop::Options { title, no_color: system::wants_no_color() };
    event_loop::run(Arc::clone(desk), options).await?;
    Ok(Exit::Fine)
}
