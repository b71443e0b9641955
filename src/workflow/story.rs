//! Story: everything that is known of one item, or of all that share its reference, gathered from source, logs, provider and
//! record, and put in order by pure code.

mod doubles;
#[cfg(test)]
mod tests;
mod words;

use crate::domain::audit::Entry;
use crate::domain::duplicates::{Duplicate, Parts, group};
use crate::domain::evidence::Effect;
use crate::domain::item::{Item, Lease, Row};
use crate::domain::questions::{Answered, Coverage, EffectsKnown, ItemFacts, Known, answer};
use crate::domain::timeline::origins::{
    RecordedCheck, latest_check, name_of, of_effects, of_entries, of_row,
};
use crate::domain::timeline::{Clock, Gaps, Happening, Hint, Limits, Run, Timeline, hints, merge, runs};
use crate::ports::logs::{LogsRead, WantedLines};
use crate::ports::record::RecordFault;
use crate::ports::source::{Source, SourceFault};
use crate::workflow::check::{Checked, check};
use crate::workflow::desk::Desk;
use crate::workflow::look::HISTORY_ENTRIES_MAX;
use crate::workflow::scan::{Found, Pages, asked_about, complete, sort_out};
use crate::workflow::settle::OrderFault;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use doubles::{Doubles, duplicates};

/// Among how many items of a source those that share a reference are looked for.
const SIBLINGS_SOUGHT_MAX: usize = 40_000;

/// One item with its row as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The item, and what policy adds to it.
    pub found: Found,
    /// Whether it is a finding by its row.
    pub is_finding: bool,
    /// Its row.
    pub row: Row,
}

/// Everything that is known.
#[derive(Debug, Clone)]
pub struct Story {
    /// The source that was asked for.
    pub source: Arc<str>,
    /// The key that was asked for.
    pub key: Arc<str>,
    /// The items that share the reference, the one that was asked for first. Empty where its row is gone.
    pub members: Vec<Member>,
    /// What the provider knows them by, or why that cannot be said.
    pub reference: Result<Arc<str>, Arc<str>>,
    /// Which operation of which provider is asked; empty where nobody is.
    pub operation: String,
    /// Everything in order.
    pub timeline: Timeline,
    /// The runs it adds up to.
    pub runs: Vec<Run>,
    /// What an experienced eye would see.
    pub hints: Vec<Hint>,
    /// The six questions.
    pub answers: Vec<Answered>,
    /// What the provider said when it was asked for this; `None` where nobody asked.
    pub checked: Option<Checked>,
    /// The latest check on record; `None` where there is none.
    pub recorded: Option<RecordedCheck>,
    /// Why the record could not be read; `None` where it was, and where there is none yet. Then nothing that is on record is
    /// in here, and whether anybody asked or decided is not known.
    pub unread: Option<RecordFault>,
    /// The group, where more than one effect happened.
    pub duplicate: Option<Duplicate>,
    /// How far the logs were read.
    pub logs: Coverage,
    /// How far the lists of marks were read.
    pub marks: Coverage,
    /// What else a person should know, in sentences.
    pub notes: Vec<String>,
}

impl Story {
    /// Whether something in it says to look before a retry.
    pub fn warns_against_retry(&self) -> bool {
        self.hints.iter().any(Hint::warns_against_retry)
    }
}

/// Tells everything that is known of one item. With `asks_anew` its provider is asked; else what is on record counts.
///
/// `None` where no row, no log and no record knows the key.
///
/// # Errors
/// The source's own fault.
pub async fn story(
    desk: &Desk,
    source: &str,
    key: &str,
    asks_anew: bool,
) -> Result<Option<Story>, OrderFault> {
    let own = desk.source(source).ok_or_else(|| OrderFault::NoSuchSource(source.to_owned()))?;
    let mut notes = Vec::new();
    let mut members: Vec<Member> =
        member(desk, own, key).await.map_err(OrderFault::Source)?.into_iter().collect();
    if let Some(first) = members.first() {
        let siblings = siblings(desk, own, &first.found, &mut notes).await;
        members.extend(siblings);
    }
    let (history, unread) = history(desk, source, key, &members, &mut notes).await;
    let checked = match members.first() {
        Some(first) if asks_anew => Some(check(desk, &first.found).await),
        _ => None,
    };
    let wanted = wanted([(&members[..], key)]);
    let (receipts, marks) = futures_util::join!(desk.logs.receipts(&wanted), desk.logs.marks());
    let nothing_is_known = members.is_empty() && history.is_empty() && receipts.happenings.is_empty();
    if nothing_is_known {
        // Whether the record knows it is not known either: that is no "nothing".
        return unread.map_or(Ok(None), |fault| Err(OrderFault::Unread(fault)));
    }
    let parts = Gathered {
        source,
        key,
        members,
        history,
        unread,
        checked,
        receipts: &receipts,
        marks: &marks,
        notes,
    };
    Ok(Some(assemble(desk, parts)))
}

/// Reads one item with its row; `None` when it is gone.
async fn member(desk: &Desk, source: &Arc<dyn Source>, key: &str) -> Result<Option<Member>, SourceFault> {
    let Some(reading) = source.read(key).await? else { return Ok(None) };
    let clock_gap = reading.source_now - desk.clock.now();
    let sorted = sort_out(desk, reading.item.clone(), reading.source_now);
    let is_finding = sorted.is_some();
    let finding = sorted.unwrap_or_else(|| asked_about(reading.item, reading.source_now));
    let found = complete(desk, source, finding, Some(&reading.row), clock_gap).await?;
    Ok(Some(Member { found, is_finding, row: reading.row }))
}

/// The other items of the same reference that the same operation answers for: in other sources under the same key, and in
/// its own source where the reference is not the key.
async fn siblings(desk: &Desk, own: &Arc<dyn Source>, first: &Found, notes: &mut Vec<String>) -> Vec<Member> {
    let Ok(reference) = &first.reference else { return Vec::new() };
    let item = &first.finding.item;
    let mut found = Vec::new();
    for source in desk.sources.iter().filter(|source| source.facts().name != own.facts().name) {
        match member(desk, source, item.key.as_str()).await {
            Ok(Some(other)) if shares(desk, first, &other.found) => found.push(other),
            Ok(Some(_)) => notes.push(format!(
                "{} has an item of this key too, with another reference: a line of a log that names no source may be of either.",
                source.facts().name
            )),
            Ok(None) => {}
            Err(fault) => notes.push(format!("{} could not be looked into: {}", source.facts().name, fault.what)),
        }
    }
    let kind = desk.kind(&item.kind);
    if !kind.reference.is_key() && !kind.reference.uses_payload() {
        match sharing(desk, own, first, reference).await {
            Ok((keys, is_cut)) => {
                for key in keys {
                    found.extend(member(desk, own, &key).await.ok().flatten());
                }
                if is_cut {
                    notes.push(format!(
                        "Items of the same reference were looked for among {SIBLINGS_SOUGHT_MAX} only."
                    ));
                }
            }
            Err(fault) => {
                notes.push(format!("Items of the same reference were not all looked for: {}", fault.what));
            }
        }
    }
    found
}

fn shares(desk: &Desk, one: &Found, other: &Found) -> bool {
    let check = |found: &Found| desk.kind(&found.finding.item.kind).policy.check.clone();
    one.reference.is_ok() && one.reference == other.reference && check(one) == check(other)
}

/// The keys of the other items of a source that share a reference, and whether not all were looked at.
async fn sharing(
    desk: &Desk,
    source: &Arc<dyn Source>,
    first: &Found,
    reference: &str,
) -> Result<(Vec<String>, bool), SourceFault> {
    let mut pages = Pages::of_every_item(desk, source);
    let (mut keys, mut seen) = (Vec::new(), 0);
    while let Some(page) = pages.next_items().await {
        let page = page?;
        for item in page.items {
            seen += 1;
            let key = item.key.clone();
            if key == first.finding.item.key || item.kind != first.finding.item.kind {
                continue;
            }
            let other =
                complete(desk, source, asked_about(item, page.source_now), None, first.clock_gap).await?;
            if other.reference.as_deref() == Ok(reference) {
                keys.push(key.as_str().to_owned());
            }
        }
        if seen >= SIBLINGS_SOUGHT_MAX {
            return Ok((keys, true));
        }
    }
    Ok((keys, false))
}

/// The entries of all the items, those of the one that was asked for first and the newest first; and why they, or some of
/// them, could not be read.
async fn history(
    desk: &Desk,
    source: &str,
    key: &str,
    members: &[Member],
    notes: &mut Vec<String>,
) -> (Vec<Entry>, Option<RecordFault>) {
    let record = match &desk.record {
        Ok(record) => record,
        Err(fault) => return (Vec::new(), Some(fault.clone()).filter(|fault| !fault.is_absent)),
    };
    let asked = (
        source.to_owned(),
        members.first().map_or(key, |first| first.found.finding.item.key.as_str()).to_owned(),
    );
    let others = members.iter().skip(1).map(|member| {
        let item = &member.found.finding.item;
        (item.source.to_string(), item.key.as_str().to_owned())
    });
    let (mut entries, mut told, mut unread) = (Vec::new(), BTreeSet::new(), None);
    for (source, key) in std::iter::once(asked).chain(others) {
        match record.of_item(&desk.subject(&source, &key), HISTORY_ENTRIES_MAX).await {
            Ok(of_item) => {
                if of_item.len() == HISTORY_ENTRIES_MAX {
                    notes.push(format!(
                        "Only the latest {HISTORY_ENTRIES_MAX} entries of the audit are told."
                    ));
                }
                // Two sources of one table have one history.
                entries.extend(of_item.into_iter().filter(|entry| told.insert(entry.seq)));
            }
            Err(fault) if fault.is_absent => {}
            Err(fault) => unread = unread.or(Some(fault)),
        }
    }
    (entries, unread)
}

/// Which lines are of these items.
fn wanted<'a>(groups: impl IntoIterator<Item = (&'a [Member], &'a str)>) -> WantedLines {
    let mut wanted = WantedLines::default();
    for (members, asked) in groups {
        if members.is_empty() {
            wanted.keys.insert(asked.to_owned());
        }
        for Member { found, .. } in members {
            wanted.keys.insert(found.finding.item.key.as_str().to_owned());
            wanted.natural_keys.extend(found.reference.as_deref().ok().map(str::to_owned));
        }
    }
    wanted
}

/// What was gathered of one reference.
struct Gathered<'a> {
    source: &'a str,
    key: &'a str,
    members: Vec<Member>,
    history: Vec<Entry>,
    unread: Option<RecordFault>,
    checked: Option<Checked>,
    receipts: &'a LogsRead,
    marks: &'a LogsRead,
    notes: Vec<String>,
}

/// Puts what was gathered in order. Pure.
fn assemble(desk: &Desk, gathered: Gathered<'_>) -> Story {
    let Gathered { source, key, members, history, unread, checked, receipts, marks, mut notes } = gathered;
    // Of several items whose entries were not all read, the latest check may be the one that was not.
    let recorded = latest_check(&history).filter(|_| unread.is_none());
    let (operation, limits) = told_by_policy(desk, &members);
    let (effects, known) = effects_of(checked.as_ref(), recorded.as_ref(), unread.as_ref());
    let mut happenings: Vec<Happening> = Vec::new();
    let mut gaps = Gaps::default();
    for Member { found, row, .. } in &members {
        let item = &found.finding.item;
        happenings.extend(of_row(item, Some(row), &found.mask));
        gaps.0.insert(Clock::Source(Arc::clone(&item.source)), found.clock_gap);
    }
    let reference = members
        .first()
        .map_or_else(|| Err(Arc::from("its row is gone")), |first| first.found.reference.clone());
    happenings.extend(receipts_of(receipts, &members, key, reference.as_deref().ok()));
    happenings.extend(of_effects(&operation, &effects));
    happenings.extend(of_entries(&history));
    happenings.extend(marks.happenings.iter().cloned());
    let timeline = merge(happenings, gaps);
    let runs = runs(&timeline);
    let limits = with_told_timeouts(limits, &runs);
    let hints = hints(&timeline, &runs, &limits);
    let items: Vec<ItemFacts> = members.iter().map(|member| facts_of(&member.found.finding.item)).collect();
    let facts = Known {
        items: &items,
        reference: reference.as_deref().map_err(|why| &**why),
        timeline: &timeline,
        runs: &runs,
        effects: &known,
        logs: &receipts.coverage,
        marks: &marks.coverage,
        errors: &desk.errors,
    };
    let answers = answer(&facts);
    let duplicate = reference.as_deref().ok().and_then(|reference| {
        group(&Parts {
            reference,
            operation: &operation,
            items: &items,
            runs: &runs,
            effects: &effects,
            hints: &hints,
            errors: &desk.errors,
        })
    });
    notes.extend(
        trouble_notes("log", &receipts.coverage).chain(trouble_notes("list of marks", &marks.coverage)),
    );
    Story {
        source: source.into(),
        key: members.first().map_or_else(|| key.into(), |first| first.found.finding.item.key.shared()),
        members,
        reference,
        operation,
        timeline,
        runs,
        hints,
        answers,
        checked,
        recorded,
        unread,
        duplicate,
        logs: receipts.coverage.clone(),
        marks: marks.coverage.clone(),
        notes,
    }
}

/// What could not be read of logs or marks, in sentences.
fn trouble_notes<'a>(called: &'a str, coverage: &'a Coverage) -> impl Iterator<Item = String> + 'a {
    let broken = (coverage.broken > 0)
        .then(|| format!("{} of {} lines of a {called} cannot be read.", coverage.broken, coverage.lines));
    let cut = coverage.is_cut.then(|| format!("A {called} has more lines than are kept."));
    let troubles =
        coverage.troubles.iter().map(move |trouble| format!("A {called} could not be read: {trouble}."));
    troubles.chain(broken).chain(cut)
}

fn facts_of(item: &Item) -> ItemFacts {
    ItemFacts {
        name: name_of(item),
        kind: Arc::clone(&item.kind),
        status: Arc::clone(&item.status),
        state: item.state,
        attempts: item.attempts,
        tried_once: item.tried_once,
    }
}

/// Who is asked, and the limits that policy, lease and provider tell.
fn told_by_policy(desk: &Desk, members: &[Member]) -> (String, Limits) {
    let mut limits = Limits::default();
    let Some(first) = members.first() else { return (String::new(), limits) };
    let kind = desk.kind(&first.found.finding.item.kind);
    let policy = &kind.policy;
    limits.visibility.extend(policy.visibility_limit.map(|limit| ("as its kind says".to_owned(), limit)));
    limits.timeouts.extend(policy.call_timeout.map(|timeout| ("as its kind says".to_owned(), timeout)));
    let times = &first.found.finding.item.times;
    match &times.lease {
        Lease::Seconds(Some(seconds)) => {
            let lease = chrono::TimeDelta::try_seconds(*seconds);
            limits.visibility.extend(lease.map(|lease| ("its lease".to_owned(), lease)));
        }
        Lease::EndsAt(end) => {
            let lease = end.known().zip(times.started.known()).map(|(end, start)| end - start);
            limits.visibility.extend(lease.map(|lease| ("its lease".to_owned(), lease)));
        }
        Lease::None | Lease::Seconds(None) | Lease::Told(_) | Lease::Heartbeat { .. } => {}
    }
    let provider = policy.check.as_ref().and_then(|name| desk.providers.get(name));
    limits.key_ttl = provider
        .and_then(|provider| provider.facts().clocks.key_ttl)
        .filter(|_| policy.idempotency_key.is_some());
    (policy.check.as_ref().map(ToString::to_string).unwrap_or_default(), limits)
}

fn with_told_timeouts(mut limits: Limits, runs: &[Run]) -> Limits {
    for error in runs.iter().filter_map(|run| run.error.as_ref()) {
        limits.add_timeout_of(error);
    }
    limits
}

/// The effects and what is known of them: what was asked for just now, else what is on record.
fn effects_of(
    checked: Option<&Checked>,
    recorded: Option<&RecordedCheck>,
    unread: Option<&RecordFault>,
) -> (Vec<Effect>, EffectsKnown) {
    match (checked, recorded) {
        (Some(checked), _) => match &checked.judgement.fault {
            Some(fault) => (checked.judgement.effects.clone(), EffectsKnown::Fault(fault.to_string())),
            None => (checked.judgement.effects.clone(), EffectsKnown::Told),
        },
        (None, Some(RecordedCheck { effects: Some(effects), verdict, at, .. })) => {
            let known = match verdict.as_str() {
                "unknown" => EffectsKnown::Fault(format!("as the record of {at} says")),
                _ => EffectsKnown::OnRecord(at.clone()),
            };
            (effects.clone(), known)
        }
        (None, Some(RecordedCheck { effects: None, .. }) | None) => {
            let unread = unread.map(|fault| EffectsKnown::RecordUnread(fault.what.clone()));
            (Vec::new(), unread.unwrap_or(EffectsKnown::NotAsked))
        }
    }
}

/// The lines of logs that are of these items, each with its source where only one item has its key.
fn receipts_of<'a>(
    read: &'a LogsRead,
    members: &'a [Member],
    asked: &'a str,
    reference: Option<&'a str>,
) -> impl Iterator<Item = Happening> + 'a {
    let mut sources: BTreeMap<&str, Vec<&Arc<str>>> = BTreeMap::new();
    for member in members {
        let item = &member.found.finding.item;
        sources.entry(item.key.as_str()).or_default().push(&item.source);
    }
    read.happenings.iter().filter_map(move |happening| {
        let mut happening = happening.clone();
        let item = happening.item.as_mut()?;
        let natural = happening.what.told().and_then(|told| told.natural_key.as_deref());
        let of_reference = natural.is_some() && natural == reference;
        match sources.get(&*item.key) {
            None if members.is_empty() && *item.key == *asked => {}
            None if of_reference => {}
            None => return None,
            Some(known) if item.source.is_empty() => {
                if let [only] = known[..] {
                    item.source = Arc::clone(only);
                }
            }
            Some(known) if !known.contains(&&item.source) => return None,
            Some(_) => {}
        }
        Some(happening)
    })
}
