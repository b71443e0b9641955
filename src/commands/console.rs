//! `unstuck` without a command: the console.

use super::arguments::Common;
use super::failure::{Exit, Failure};
use super::lead;
use super::session::{self, AuditUse};
use crate::adapters::system;
use crate::config::file::ViewEntry;
use crate::config::load::Folders;
use crate::config::{Settings, views};
use crate::console::{Keymap, SavedView};
use crate::runtime::event_loop::{self, Seat};
use crate::workflow::Desk;
use std::sync::Arc;

/// Opens the console on the configured sources.
pub(super) async fn run(common: &Common) -> Result<Exit, Failure> {
    if let Some(place) = lead::place_of_first_run(common) {
        return lead::run(common, &place).await;
    }
    open_configured(common, None).await
}

/// Opens the console on the configured sources, on a terminal that may have been taken over already.
pub(super) async fn open_configured(common: &Common, seat: Option<Seat>) -> Result<Exit, Failure> {
    let settings = session::settings(common).await?;
    if let Some(fault) = settings.unread.first() {
        return Err(fault.clone().into());
    }
    let options = options(&settings)?;
    session::at_desk(common, &settings, AuditUse::Write, async |desk| match seat {
        Some(seat) => Ok(event_loop::run(seat, Arc::clone(desk), options).await.map(|()| Exit::Fine)?),
        None => open(desk, options).await,
    })
    .await
}

/// Everything that keeps the console from opening as the configuration says, a sentence each.
pub(super) fn faults(settings: &Settings) -> Vec<String> {
    written(settings).err().unwrap_or_default()
}

/// The keys and the views that the configuration names, or everything that is wrong with them.
fn written(settings: &Settings) -> Result<(Keymap, Vec<SavedView>), Vec<String>> {
    let console = &settings.console;
    let keys = Keymap::with(&console.keys).map_err(|whole| {
        let alone = console.keys.iter().filter_map(|(name, keys)| {
            Keymap::with(&std::iter::once((name.clone(), keys.clone())).collect()).err()
        });
        let alone: Vec<String> = alone.collect();
        // Where each can be read, they are in each other's way.
        if alone.is_empty() { vec![whole] } else { alone }
    });
    let (mut views, mut faults) = (Vec::new(), Vec::new());
    for (name, entry) in &console.views {
        match view(name, entry) {
            Ok(view) => views.push(view),
            Err(what) => faults.push(what),
        }
    }
    match keys {
        Ok(keys) if faults.is_empty() => Ok((keys, views)),
        Ok(_) => Err(faults),
        Err(of_keys) => Err(of_keys.into_iter().chain(faults).collect()),
    }
}

/// How the console is to be, from the configuration and the views that were saved.
fn options(settings: &Settings) -> Result<event_loop::Options, Failure> {
    const MEND: &str =
        "Mend the configuration; docs/console.md has every name. `unstuck doctor` tells all of it.";
    let console = &settings.console;
    let (keys, mut known) = written(settings)
        .map_err(|faults| Failure::usage(faults.into_iter().next().unwrap_or_default(), MEND))?;
    let place = Folders::of_platform().ok().map(|folders| folders.state.join(views::FILE_NAME));
    // Saved views that cannot be read keep nobody from an incident: they are missing, and saving says why.
    let saved = place.as_deref().map(views::read).and_then(Result::ok).unwrap_or_default();
    let is_new = |view: &SavedView| !console.views.contains_key(&view.name);
    known.extend(saved.iter().filter_map(|(name, entry)| view(name, entry).ok()).filter(is_new));
    let save = move |view: &SavedView| -> Result<(), (String, String)> {
        let Some(place) = &place else {
            let what = "the view is kept until the console ends: there is no home folder".to_owned();
            return Err((what, "Set $HOME, or write it into the configuration.".to_owned()));
        };
        views::save(place, &view.name, entry_of(view)).map_err(|fault| (fault.what, fault.do_next))
    };
    Ok(event_loop::Options {
        title: None,
        no_color: system::wants_no_color(),
        keys,
        views: known,
        save_view: Some(Arc::new(save)),
        refresh: console.refresh,
    })
}

fn view(name: &str, entry: &ViewEntry) -> Result<SavedView, String> {
    let words = (entry.filter.as_deref(), entry.sort.as_deref(), entry.group.as_deref());
    SavedView::read(name, words, entry.reversed)
}

fn entry_of(view: &SavedView) -> ViewEntry {
    let outlook = &view.outlook;
    ViewEntry {
        filter: Some(outlook.filter.clone()).filter(|filter| !filter.is_empty()),
        sort: Some(outlook.sort.column.as_str().to_owned()),
        reversed: outlook.sort.reversed,
        group: Some(outlook.grouping.as_str().to_owned()),
    }
}

/// Opens the console on a desk.
pub(super) async fn open(desk: &Arc<Desk>, options: event_loop::Options) -> Result<Exit, Failure> {
    event_loop::run(Seat::take()?, Arc::clone(desk), options).await?;
    Ok(Exit::Fine)
}
