//! Doubles: every reference of a window under which more than one effect happened, with its whole story.

use super::{Gathered, Member, Story, assemble, history, member, wanted};
use crate::domain::duplicates::{Duplicate, sums};
use crate::domain::evidence::{Effect, EffectState};
use crate::domain::listing::window::touches;
use crate::domain::money::Money;
use crate::domain::plan::Wish;
use crate::domain::policy::CheckName;
use crate::domain::text::{clean, count_of};
use crate::domain::verdict::Verdict;
use crate::workflow::desk::Desk;
use crate::workflow::reconcile::words::Step;
use crate::workflow::reconcile::{Reconciled, Scope, Told, Unaccounted, is_in_window, reconcile};
use crate::workflow::scan::Pages;
use crate::workflow::sweep::{Answered, answers, plan_all};
use futures_util::StreamExt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What happened more than once, and what could not be looked at.
#[derive(Debug, Clone, Default)]
pub struct Doubles {
    /// One story a reference, the earliest second effect first.
    pub stories: Vec<Story>,
    /// How both sides were matched: what could not be read or asked is in there.
    pub reconciled: Reconciled,
    /// How many references that no item has have more than one effect that happened.
    pub doubled_without_item: usize,
    /// The findings that were asked about one by one, where an operation has no list.
    pub alone: Vec<Answered>,
}

impl Doubles {
    /// Every check that is to be put on record.
    pub fn checks(&self) -> Vec<Answered> {
        self.reconciled.items.iter().chain(&self.alone).cloned().collect()
    }

    /// The groups, each with its story.
    pub fn groups(&self) -> impl Iterator<Item = (&Story, &Duplicate)> {
        self.stories.iter().filter_map(|story| Some((story, story.duplicate.as_ref()?)))
    }

    /// What was charged beyond the first effects of all groups, by currency, and how many effects tell no amount.
    pub fn beyond_first(&self) -> (Vec<Money>, usize) {
        let beyond: Vec<&Effect> = self.groups().flat_map(|(_, group)| group.happened().skip(1)).collect();
        sums(&beyond)
    }

    /// The same in words.
    fn beyond_first_told(&self) -> String {
        let (sums, unpriced) = self.beyond_first();
        let mut parts: Vec<String> = sums.iter().map(ToString::to_string).collect();
        if unpriced > 0 {
            let tell = if unpriced == 1 { "tells" } else { "tell" };
            parts.push(format!("{} that {tell} no amount", count_of(unpriced, "effect")));
        }
        if parts.is_empty() { "no money".to_owned() } else { parts.join(" and ") }
    }

    /// Why nothing could be looked at, neither by a list nor one by one; `None` where something was.
    pub fn nothing_read(&self) -> Option<String> {
        let is_answered = |(_, checked): &Answered| checked.judgement.fault.is_none();
        self.reconciled.nothing_read().filter(|_| !self.alone.iter().any(is_answered))
    }

    /// What it adds up to.
    pub fn summary(&self, scope: &Scope) -> String {
        if let Some(why) = self.nothing_read() {
            let why = clean(&why);
            return format!("Nothing could be read, so whether anything happened twice is not known: {why}.");
        }
        let looked = self.reconciled.looked_at(scope);
        let alone = match self.alone.len() {
            0 => String::new(),
            count => format!(", {} asked about one by one", count_of(count, "finding")),
        };
        match self.groups().count() {
            0 => format!("{looked}{alone}: nothing happened twice in what could be read."),
            groups => format!(
                "{looked}{alone}: {} happened more than once; beyond the first: {}.",
                count_of(groups, "reference"),
                self.beyond_first_told()
            ),
        }
    }

    /// What happened twice under a reference that no item has has no story: where to see it.
    pub fn without_item_told(&self, scope: &Scope) -> Option<String> {
        if scope.source.is_some() {
            return Some("References that no item has are looked at without --source alone.".to_owned());
        }
        let told = match self.doubled_without_item {
            0 => return None,
            1 => "1 reference that no item has happened more than once too".to_owned(),
            many => format!("{many} references that no item has happened more than once too"),
        };
        Some(format!("{told}: `unstuck reconcile` shows what no item accounts for."))
    }
}

/// Finds them: by the providers' lists over the window, whatever an item's state; and where an operation has no list, by
/// asking about each finding.
pub async fn duplicates(desk: &Desk, scope: &Scope, told: Told<'_>) -> Doubles {
    let mut reconciled = reconcile(desk, scope, told).await;
    let mut doubled: Vec<Answered> = reconciled
        .items
        .iter()
        .filter(|(_, checked)| checked.verdict() == Verdict::Duplicated)
        .map(|(found, checked)| (Arc::clone(found), Arc::clone(checked)))
        .collect();
    let alone = ask_alone(desk, scope, &reconciled, told).await;
    for answered in alone.iter().filter(|(_, checked)| checked.verdict() == Verdict::Duplicated) {
        if is_of_window(desk, answered, scope) {
            doubled.push(answered.clone());
        } else {
            reconciled.left_out += answered.1.judgement.effects.len();
        }
    }
    let mut groups: BTreeMap<(String, Arc<str>), Vec<Answered>> = BTreeMap::new();
    for (found, checked) in doubled {
        let Ok(reference) = found.reference.clone() else { continue };
        let check = desk.kind(&found.finding.item.kind).policy.check.as_ref();
        let operation = check.map(ToString::to_string).unwrap_or_default();
        groups.entry((operation, reference)).or_default().push((found, checked));
    }
    told(Step::Stories(groups.len()));
    let stories = tell(desk, groups.into_values().collect()).await;
    let doubled_without_item = doubled_without_item(&reconciled);
    Doubles { stories, reconciled, doubled_without_item, alone }
}

/// Whether the window is about a finding that was asked about alone: by its last attempt, or by any of its effects.
fn is_of_window(desk: &Desk, (found, checked): &Answered, scope: &Scope) -> bool {
    let source_now = checked.at + found.clock_gap;
    let from = source_now.checked_sub_signed(scope.since);
    is_in_window(desk, &found.finding.item, source_now, scope.since)
        || from.is_none_or(|from| touches(&checked.judgement.effects, from))
}

fn doubled_without_item(reconciled: &Reconciled) -> usize {
    let mut ids: BTreeMap<(&CheckName, &str), BTreeSet<&str>> = BTreeMap::new();
    for Unaccounted { operation, effect, .. } in &reconciled.unaccounted {
        let happened = effect.read.as_ref().is_ok_and(|read| read.state == EffectState::Happened);
        for reference in effect.references.iter().filter(|_| happened) {
            ids.entry((operation, reference)).or_default().insert(&effect.id);
        }
    }
    ids.values().filter(|ids| ids.len() > 1).count()
}

/// Findings whose operation could not be listed, asked about one by one.
async fn ask_alone(desk: &Desk, scope: &Scope, reconciled: &Reconciled, told: Told<'_>) -> Vec<Answered> {
    let not_listed: Vec<_> = reconciled.not_listed.iter().map(|(name, ..)| name.clone()).collect();
    if not_listed.is_empty() {
        return Vec::new();
    }
    let mut asked = Vec::new();
    let is_told = |name: &Arc<str>| scope.source.as_ref().is_none_or(|told| told == name);
    for source in desk.sources.iter().filter(|source| is_told(&source.facts().name)) {
        let mut pages = Pages::in_order(desk, source);
        while let Some(Ok(page)) = pages.next().await {
            let of_these = page.found.into_iter().filter(|found| {
                let check = desk.kind(&found.finding.item.kind).policy.check.as_ref();
                check.is_some_and(|name| not_listed.contains(name))
            });
            let planned = plan_all(desk, of_these.map(Arc::new), Wish::ByItem);
            let mut answers = answers(desk, planned);
            while let Some(answered) = answers.next().await {
                asked.push(answered);
                told(Step::Alone(asked.len()));
            }
        }
    }
    asked
}

/// The whole story of each group; the logs are read once for all of them.
async fn tell(desk: &Desk, groups: Vec<Vec<Answered>>) -> Vec<Story> {
    let mut read: Vec<(Vec<Member>, Answered, Vec<String>)> = Vec::new();
    for group in groups {
        let Some(first) = group.first().cloned() else { continue };
        let (mut members, mut notes) = (Vec::new(), Vec::new());
        for (found, _) in group {
            let item = &found.finding.item;
            let Some(source) = desk.source(&item.source) else { continue };
            match member(desk, source, item.key.as_str()).await {
                Ok(Some(now)) => members.push(now),
                Ok(None) => notes.push(format!("The row of `{}` is gone.", item.key.as_str())),
                Err(fault) => notes.push(format!(
                    "The row of `{}` could not be read: {}",
                    item.key.as_str(),
                    fault.what
                )),
            }
        }
        read.push((members, first, notes));
    }
    let keys = wanted(
        read.iter().filter(|(members, ..)| !members.is_empty()).map(|(members, ..)| (&members[..], "")),
    );
    let (receipts, marks) = futures_util::join!(desk.logs.receipts(&keys), desk.logs.marks());
    let mut stories = Vec::new();
    for (members, (_, checked), mut notes) in read {
        let Some(first) = members.first() else { continue };
        let (source, key) =
            (Arc::clone(&first.found.finding.item.source), first.found.finding.item.key.shared());
        let (history, unread) = history(desk, &source, &key, &members, &mut notes).await;
        let gathered = Gathered {
            source: &source,
            key: &key,
            members,
            history,
            unread,
            checked: Some(Arc::unwrap_or_clone(checked)),
            receipts: &receipts,
            marks: &marks,
            notes,
        };
        stories.push(assemble(desk, gathered));
    }
    stories.sort_by_key(|story| {
        let second = story.duplicate.as_ref().and_then(|duplicate| duplicate.second_at);
        (second.is_none(), second)
    });
    stories
}
