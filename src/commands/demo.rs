//! `unstuck demo`: a whole incident on this machine.

use super::arguments::{Common, Demo};
use super::failure::{Exit, Failure};
use super::list::print_checked_table;
use super::session::{self, AuditUse};
use crate::adapters::system::{self, SystemClock};
use crate::demo::score::{Said, Score};
use crate::demo::stage::Stage;
use crate::output::say;
use crate::ports::clock::Clock;
use crate::runtime::event_loop;
use crate::runtime::progress::Progress;
use crate::workflow::scan::Pages;
use crate::workflow::sweep::{Recorded, sweep};
use crate::workflow::{Checked, Desk, Found};
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Sets the stage, then opens the console on it or prints the score.
pub(super) async fn run(common: &Common, arguments: &Demo) -> Result<Exit, Failure> {
    let stage = Stage::set(arguments.seed, arguments.items, SystemClock.now()).await?;
    session::at_desk(common, &stage.settings, AuditUse::Write, async |desk| {
        if arguments.headless {
            return headless(&stage, desk, arguments.seed).await;
        }
        let title = format!("demo, seed {}, in {}", arguments.seed, stage.folder.path().display());
        let options = event_loop::Options {
            title: Some(title),
            no_color: system::wants_no_color(),
            ..event_loop::Options::default()
        };
        super::console::open(desk, options).await
    })
    .await
}

async fn headless(stage: &Stage, desk: &Desk, seed: u64) -> Result<Exit, Failure> {
    say::line(format_args!(
        "demo: seed {seed}, folder {} (removed at the end)",
        stage.folder.path().display()
    ))?;
    let found = find(desk).await?;
    let checked = ask(desk, found).await?;
    print_checked_table(&checked)?;
    let score = Score::of(&stage.incident, &said(&checked));
    say::line(&score)?;
    Ok(if score.is_perfect() { Exit::Fine } else { Exit::No })
}

async fn find(desk: &Desk) -> Result<Vec<Arc<Found>>, Failure> {
    let mut all = Vec::new();
    for source in &desk.sources {
        let mut pages = Pages::in_order(desk, source);
        while let Some(page) = pages.next().await {
            all.extend(page?.found.into_iter().map(Arc::new));
        }
    }
    Ok(all)
}

async fn ask(desk: &Desk, found: Vec<Arc<Found>>) -> Result<Vec<(Arc<Found>, Arc<Checked>)>, Failure> {
    let progress = Progress::new("checking", found.len());
    let mut batches = sweep(desk, found);
    let mut all = Vec::new();
    while let Some(Recorded { answered, fault, .. }) = batches.next().await {
        fault.map_or(Ok(()), Err)?;
        for _ in &answered {
            progress.advance();
        }
        all.extend(answered);
    }
    // The order of answers is chance; the printed one is not.
    all.sort_by(|(a, _), (b, _)| {
        let place = |found: &Found| {
            (Arc::clone(&found.finding.item.source), found.finding.item.key.as_str().to_owned())
        };
        place(a).cmp(&place(b))
    });
    Ok(all)
}

fn said(checked: &[(Arc<Found>, Arc<Checked>)]) -> BTreeMap<(String, String), Said> {
    checked
        .iter()
        .map(|(found, checked)| {
            let item = &found.finding.item;
            let said = Said {
                finding: found.finding.kind,
                verdict: checked.verdict(),
                effects: checked.judgement.happened_count(),
                advice: checked.advice(),
            };
            ((item.source.to_string(), item.key.as_str().to_owned()), said)
        })
        .collect()
}
