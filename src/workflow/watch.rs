//! Watch: one look at all sources, for what is remembered between looks.

use crate::domain::evidence::{EffectState, Hindrance};
use crate::domain::filter::{Facts, Filter};
use crate::domain::money::Money;
use crate::domain::watch::{Items, Look, Seen};
use crate::ports::record::RecordFault;
use crate::ports::source::{Source, SourceFault};
use crate::workflow::check::Checked;
use crate::workflow::desk::Desk;
use crate::workflow::scan::{Found, Pages};
use crate::workflow::sweep::{Recorded, sweep};
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is looked at.
#[derive(Debug, Clone)]
pub struct Watched {
    /// The sources.
    pub sources: Vec<Name>,
    /// Which findings.
    pub filter: Filter,
    /// Whether the providers are asked.
    pub checks: bool,
}

/// A source's name.
pub type Name = Arc<str>;

/// A look, and what went wrong on the way.
#[derive(Debug)]
pub struct Looked {
    /// What was seen.
    pub look: Look,
    /// The sources' own faults.
    pub faults: Vec<SourceFault>,
    /// Why the checks are not on record; `None` where they are, or none was made.
    pub record_fault: Option<RecordFault>,
    /// What kept a provider from answering, each once, and what stood in the way.
    pub unasked: Vec<(String, Hindrance)>,
}

/// Looks once. A source that breaks off counts as not read: half of its findings would make the others look gone.
pub async fn look(desk: &Desk, watched: &Watched) -> Looked {
    let at = desk.clock.now();
    let (mut found, mut sources, mut faults) = (Vec::new(), BTreeMap::new(), Vec::new());
    let wanted = |source: &&Arc<dyn Source>| watched.sources.contains(&source.facts().name);
    // All begin at once: one that does not answer holds no other up.
    let begun = desk.sources.iter().filter(wanted).map(|source| (source, Pages::in_order(desk, source)));
    for (source, pages) in begun.collect::<Vec<_>>() {
        let name = source.facts().name.to_string();
        match read(pages, &watched.filter).await {
            Ok(of_source) => {
                sources.insert(name, Ok(Items::new()));
                found.extend(of_source);
            }
            Err(fault) => {
                sources.insert(name, Err(fault.what.clone()));
                faults.push(fault);
            }
        }
    }
    let (mut record_fault, mut unasked) = (None, Vec::new());
    let mut keep = |found: &Found, checked: Option<&Checked>| {
        if watched.filter.passes(&facts(found, checked)) {
            let item = &found.finding.item;
            if let Some(Ok(items)) = sources.get_mut(&*item.source) {
                items.insert(item.key.as_str().to_owned(), seen(found, checked));
            }
        }
    };
    if watched.checks {
        let mut batches = sweep(desk, found.into_iter().map(Arc::new));
        while let Some(Recorded { answered, fault, .. }) = batches.next().await {
            record_fault = fault.or(record_fault);
            for (found, checked) in &answered {
                keep(found, Some(checked));
                if let Some(fault) = &checked.judgement.fault
                    && let Some(hindrance) = fault.kind.hindrance()
                    && !unasked.iter().any(|(detail, _)| *detail == fault.detail)
                    && unasked.len() < UNASKED_TOLD_MAX
                {
                    unasked.push((fault.detail.clone(), hindrance));
                }
            }
        }
    } else {
        for found in &found {
            keep(found, None);
        }
    }
    let took = desk.clock.now() - at;
    Looked { look: Look { at, took, sources }, faults, record_fault, unasked }
}

/// How many different faults of providers are told of one look.
const UNASKED_TOLD_MAX: usize = 5;

async fn read(mut pages: Pages<'_>, filter: &Filter) -> Result<Vec<Found>, SourceFault> {
    let mut found = Vec::new();
    while let Some(page) = pages.next().await {
        found.extend(page?.found.into_iter().filter(|found| filter.may_pass(&found.facts())));
    }
    Ok(found)
}

/// The facts of a finding for a filter. Where nobody knows what the job asked for, the money is what really moved.
pub fn facts<'a>(found: &'a Found, checked: Option<&'a Checked>) -> Facts<'a> {
    let before = found.facts();
    let money = money_of(found, checked);
    Facts {
        verdict: checked.map_or("", |checked| checked.verdict().as_str()),
        advice: checked.map_or("", |checked| checked.advice().as_str()),
        amount: money.map(|money| &money.amount),
        currency: money.and_then(|money| money.currency.as_deref()).unwrap_or(""),
        ..before
    }
}

/// How much it is about: what the job asked for, else what the provider says really moved.
fn money_of<'a>(found: &'a Found, checked: Option<&'a Checked>) -> Option<&'a Money> {
    let moved = || {
        let mut effects = checked?.judgement.effects.iter();
        effects.find(|effect| effect.state == EffectState::Happened)?.money.as_ref()
    };
    found.money.as_deref().or_else(moved)
}

fn seen(found: &Found, checked: Option<&Checked>) -> Seen {
    let (finding, item) = (&found.finding, &found.finding.item);
    let money = money_of(found, checked);
    Seen {
        kind: item.kind.to_string(),
        status: item.status.to_string(),
        finding: finding.kind.as_str().to_owned(),
        risk: found.risk.as_str().to_owned(),
        since: finding.since,
        attempts: item.attempts,
        verdict: checked.map(|checked| checked.verdict().as_str().to_owned()),
        advice: checked.map(|checked| checked.advice().as_str().to_owned()),
        effects: checked.map(|checked| checked.judgement.happened_count()),
        amount: money.map(|money| money.amount.to_string()),
        currency: money.and_then(|money| money.currency.clone()),
        is_unasked: checked
            .and_then(|checked| checked.judgement.fault.as_ref())
            .is_some_and(|fault| fault.kind.is_unreachable()),
    }
}
