//! The dialog in which several items are decided at once. The count has to be typed out before anything is written.

use super::findings::Row;
use crate::console::keymap::Place;
use crate::console::words;
use crate::domain::decision::{Choice, Reason};
use crate::domain::permission::{Permission, permission};
use crate::workflow::{Checked, Found, Order};
use std::collections::BTreeMap;
use std::sync::Arc;
use tui_input::Input;

/// One item of a series, as it is shown.
#[derive(Debug, Clone)]
pub struct Target {
    /// The finding.
    pub found: Arc<Found>,
    /// Its check; `None` where an unchecked item is escalated.
    pub checked: Option<Arc<Checked>>,
}

/// The dialog.
#[derive(Debug)]
pub struct BulkDialog {
    /// What is chosen for all.
    pub choice: Choice,
    /// The items it is written for.
    pub targets: Vec<Target>,
    /// How many there are by verdict and advice, in words.
    pub groups: Vec<(String, usize)>,
    /// How many of them take a second person, so that they are proposed and not yet written.
    pub proposed: usize,
    /// How many are left out, by why.
    pub left_out: Vec<(String, usize)>,
    /// How many selected items the filter hides: they are left out too.
    pub hidden: usize,
    /// How many findings the filter lets through, selected or not.
    pub passing: usize,
    /// How many findings there are in all.
    pub total: usize,
    /// The keys of findings that came since, and would pass the filter: they are not included.
    pub newcomers: Vec<Arc<str>>,
    /// The filter as it was typed.
    pub filter: String,
    /// Sentences about what could go wrong, each with how many items it is about.
    pub cautions: Vec<(String, usize)>,
    /// Why.
    pub reason: Input,
    /// The count typed.
    pub typed: Input,
    /// Whether the count has the keys, and not the reason.
    pub types_count: bool,
    /// What is still missing.
    pub hint: Option<String>,
    /// How far the text is scrolled.
    pub scroll: u16,
}

impl BulkDialog {
    /// Sorts rows into those that the choice is written for and those left out, with why.
    pub fn new<'a>(
        choice: Choice,
        rows: impl Iterator<Item = &'a Row>,
        (hidden, passing, total): (usize, usize, usize),
        filter: &str,
        is_escalated: impl Fn(&Row) -> bool,
    ) -> Self {
        let mut targets = Vec::new();
        let (mut groups, mut left_out) = (BTreeMap::new(), BTreeMap::new());
        let mut cautions = BTreeMap::new();
        let mut proposed = 0;
        for row in rows {
            let admitted = match choice {
                Choice::Escalate if is_escalated(row) => {
                    Err("escalated already, exactly as it is".to_owned())
                }
                Choice::Escalate | Choice::MarkDone | Choice::Retry => admits(choice, row),
            };
            match admitted {
                Ok(permission) => {
                    *groups.entry(group_of(row)).or_insert(0) += 1;
                    proposed += usize::from(permission.second_person.is_some());
                    for caution in permission.cautions {
                        *cautions.entry(caution).or_insert(0) += 1;
                    }
                    targets.push(Target { found: Arc::clone(&row.found), checked: row.checked.clone() });
                }
                Err(why) => *left_out.entry(why).or_insert(0) += 1,
            }
        }
        Self {
            choice,
            targets,
            proposed,
            groups: groups.into_iter().collect(),
            left_out: left_out.into_iter().collect(),
            hidden,
            passing,
            total,
            newcomers: Vec::new(),
            filter: filter.to_owned(),
            cautions: cautions.into_iter().collect(),
            reason: Input::default(),
            typed: Input::default(),
            types_count: false,
            hint: None,
            scroll: 0,
        }
    }

    /// Where its keys are pressed.
    pub fn place(&self) -> Place {
        match (self.targets.is_empty(), self.types_count) {
            (true, _) => Place::Blocked,
            (false, true) => Place::Typed,
            (false, false) => Place::Reason,
        }
    }

    /// The orders, where nothing is missing: each with the item and the verdict that were shown.
    ///
    /// # Errors
    /// Whether the count is what is missing (else the reason), and what to do there.
    pub fn orders(&self) -> Result<Vec<Order>, (bool, String)> {
        let Some(reason) = Reason::new(self.reason.value()) else {
            return Err((false, "A reason is needed: it goes on record for each of them.".to_owned()));
        };
        let count = self.targets.len();
        if self.typed.value().trim() != count.to_string() {
            let verb = self.choice.verb();
            return Err((true, format!("Type {count} to {verb} {}.", words::count(count, "item"))));
        }
        let order = |target: &Target| {
            let item = &target.found.finding.item;
            Order {
                source: Arc::clone(&item.source),
                key: item.key.as_str().into(),
                shown: Some(item.clone()),
                shown_verdict: target.checked.as_ref().map(|checked| checked.verdict()),
                choice: self.choice,
                reason: reason.clone(),
                insists: false,
            }
        };
        Ok(self.targets.iter().map(order).collect())
    }
}

/// Whether a choice is written for a row as one of many: only with the advice, never against it.
fn admits(choice: Choice, row: &Row) -> Result<Permission, String> {
    let advice = row.checked.as_ref().map(|checked| checked.advice());
    match (choice, &row.checked) {
        // An escalation repeats nothing: it may be the answer to any verdict, and to none.
        (Choice::Escalate, _) => Ok(Permission::default()),
        (Choice::MarkDone | Choice::Retry, None) => Err("not checked yet".to_owned()),
        // Nobody would find later what it was decided on.
        (Choice::MarkDone | Choice::Retry, Some(_)) if row.is_unrecorded => {
            Err("verdict not on record: check it again".to_owned())
        }
        (Choice::MarkDone | Choice::Retry, Some(checked)) => {
            if advice.and_then(words::choice_of) != Some(choice) {
                return Err(group_of(row));
            }
            let permission = permission(choice, row.found.stakes(), &checked.judgement, &checked.advised);
            match permission.against {
                Some(why) => Err(why),
                None => Ok(permission),
            }
        }
    }
}

fn group_of(row: &Row) -> String {
    match &row.checked {
        None => words::verdict(None).to_owned(),
        Some(checked) => {
            format!("{}, advice {}", words::verdict(row.verdict()), words::advice(checked.advice()))
        }
    }
}
