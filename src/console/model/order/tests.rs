//! The list against a plain sort and a plain filter, whatever happened to it before.

use crate::console::model::findings::{Findings, Identity, Listed, Row};
use crate::console::model::groups::Grouping;
use crate::console::model::names::compare_keys;
use crate::console::model::sort::{Column, Sort, verdict_rank};
use crate::console::sample;
use crate::domain::filter::{Facts, Filter};
use crate::domain::verdict::Verdict;
use crate::workflow::Found;
use chrono::TimeDelta;
use proptest::prelude::*;
use proptest::sample::select;
use std::cmp::Ordering;
use std::sync::Arc;

const FINDINGS: usize = 24;
const FILTERS: [&str; 8] =
    ["", "in", "inv", "kind:email", "unknown", "-happened age>40m", "attempts>2 error:reset", "happ"];

/// A finding as a scan may bring it: few ages and attempts, so that much is equal, one key in two sources.
fn found(number: usize, minutes: Option<i64>) -> Found {
    let mut found = sample::found(number);
    found.finding.age = minutes.map(TimeDelta::minutes);
    found.finding.item.attempts = i64::try_from(number % 3).ok().filter(|count| *count > 0);
    if number.is_multiple_of(5) {
        found.finding.item.key = sample::found(1).finding.item.key;
        found.finding.item.source = format!("source{}", number / 5).into();
    }
    found
}

/// One thing that happens to a list.
#[derive(Debug, Clone)]
enum Step {
    Page(Vec<(usize, Option<i64>)>),
    Check(usize, Verdict),
    Settle,
    Sort(Sort),
    Filter(&'static str),
    Remove(usize),
    Group(Grouping),
    Fold,
    Move(usize),
    Scan(Vec<(usize, Option<i64>)>),
}

fn step() -> impl Strategy<Value = Step> {
    let minutes = prop_oneof![Just(None), (30_i64..34).prop_map(Some)];
    let page = proptest::collection::vec((0..FINDINGS, minutes), 0..12);
    let sort = (select(Column::ALL.to_vec()), any::<bool>())
        .prop_map(|(column, reversed)| Step::Sort(Sort { column, reversed }));
    prop_oneof![
        3 => page.clone().prop_map(Step::Page),
        3 => (0..FINDINGS, select(Verdict::ALL.to_vec())).prop_map(|(number, verdict)| Step::Check(number, verdict)),
        1 => Just(Step::Settle),
        2 => sort,
        2 => select(FILTERS.to_vec()).prop_map(Step::Filter),
        1 => (0..FINDINGS).prop_map(Step::Remove),
        1 => select(Grouping::ALL.to_vec()).prop_map(Step::Group),
        1 => Just(Step::Fold),
        1 => (0..FINDINGS).prop_map(Step::Move),
        1 => page.prop_map(Step::Scan),
    ]
}

fn take(findings: &mut Findings, step: Step, run: &mut u64) {
    let pages =
        |page: Vec<(usize, Option<i64>)>| page.into_iter().map(|(n, minutes)| found(n, minutes)).collect();
    let identity = |number| Identity::of(&found(number, None).finding.item);
    match step {
        Step::Page(page) => drop(findings.merge(*run, pages(page))),
        Step::Group(grouping) => findings.set_grouping(grouping),
        Step::Fold => findings.toggle_folds(),
        Step::Move(line) => findings.move_to(line),
        Step::Check(number, verdict) => {
            let checked = Arc::new(sample::checked(&found(number, None), verdict));
            findings.change(&identity(number), |row| row.checked = Some(checked));
        }
        Step::Settle => findings.settle_order(),
        Step::Sort(sort) => findings.set_sort(sort),
        Step::Filter(typed) => findings.set_filter(typed).unwrap(),
        Step::Remove(number) => findings.remove(&identity(number)),
        Step::Scan(page) => {
            *run += 1;
            findings.merge(*run, pages(page));
            findings.retire(*run, |source| source == "mailer");
        }
    }
}

fn plain_order(sort: Sort, a: &Row, b: &Row) -> Ordering {
    let (a_item, b_item) = (&a.found.finding.item, &b.found.finding.item);
    let by_name =
        || compare_keys(a_item.key.as_str(), b_item.key.as_str()).then(a_item.source.cmp(&b_item.source));
    // The oldest first, and no known age before all.
    let by_age = || match (a.found.finding.age, b.found.finding.age) {
        (Some(a), Some(b)) => b.cmp(&a),
        (a, b) => a.is_some().cmp(&b.is_some()),
    };
    let by_verdict = || verdict_rank(a.verdict()).cmp(&verdict_rank(b.verdict()));
    let by_weight = || b.plight().weight().cmp(&a.plight().weight());
    let advice = |row: &Row| row.checked.as_ref().map(|checked| checked.advice());
    let by_column = match sort.column {
        Column::Worst => by_weight().then_with(by_age),
        Column::Age => by_age(),
        Column::Key => by_name(),
        Column::Source => a_item.source.cmp(&b_item.source),
        Column::Kind => a_item.kind.cmp(&b_item.kind),
        Column::Finding => a.found.finding.kind.cmp(&b.found.finding.kind),
        Column::Verdict => by_verdict(),
        Column::Advice => advice(a).is_none().cmp(&advice(b).is_none()).then(advice(a).cmp(&advice(b))),
        Column::Attempts => b_item.attempts.cmp(&a_item.attempts),
    };
    let turned = if sort.reversed { by_column.reverse() } else { by_column };
    turned.then_with(by_weight).then_with(by_age).then_with(by_name)
}

/// Each line shows something, each group stands once, and an unfolded one has exactly its rows below it.
fn is_laid_out(findings: &Findings) -> Result<(), TestCaseError> {
    let lines: Vec<Listed<'_>> = findings.window(0, usize::MAX).collect();
    prop_assert_eq!(lines.len(), findings.lines_len());
    let groups = &findings.groups().list;
    let rows = lines.iter().filter(|line| matches!(line, Listed::Row(_))).count();
    let open: usize = groups.iter().filter(|group| group.is_open).map(|group| group.rows.len()).sum();
    if findings.grouping() == Grouping::None {
        prop_assert_eq!(rows, findings.shown_len());
    } else {
        prop_assert_eq!((rows, lines.len() - rows), (open, groups.len()));
        prop_assert_eq!(groups.iter().map(|group| group.rows.len()).sum::<usize>(), findings.shown_len());
    }
    prop_assert!(lines.is_empty() || findings.cursor() < lines.len());
    Ok(())
}

fn plain_passes(filter: &Filter, row: &Row) -> bool {
    let checked = row.checked.as_ref();
    filter.passes(&Facts {
        verdict: checked.map_or("", |checked| checked.verdict().as_str()),
        advice: checked.map_or("", |checked| checked.advice().as_str()),
        ..row.found.facts()
    })
}

proptest! {
    #[test]
    fn the_quick_list_is_the_plain_one(steps in proptest::collection::vec(step(), 1..24)) {
        let (mut findings, mut run) = (Findings::default(), 1);
        for step in steps {
            take(&mut findings, step, &mut run);
            // What was not placed since a check keeps its line until it is: placed, all is as a plain sort has it.
            let mut settled = findings.clone();
            settled.settle_order();
            is_laid_out(&settled)?;
            settled.set_grouping(Grouping::None);
            let filter = Filter::parse(settled.typed()).unwrap();
            let mut plain: Vec<&Row> = settled.all().filter(|row| plain_passes(&filter, row)).collect();
            plain.sort_by(|a, b| plain_order(settled.sort(), a, b));
            let identities = |rows: &mut dyn Iterator<Item = &Row>| rows.map(Row::identity).collect::<Vec<_>>();
            prop_assert_eq!(identities(&mut settled.shown()), identities(&mut plain.into_iter()));
        }
    }

    /// Without checks there is nothing to be placed: the list is right after each step by itself.
    #[test]
    fn pages_and_keys_leave_nothing_to_be_placed(steps in proptest::collection::vec(step(), 1..24)) {
        let (mut findings, mut run) = (Findings::default(), 1);
        for step in steps.into_iter().filter(|step| !matches!(step, Step::Check(..))) {
            take(&mut findings, step, &mut run);
            let before: Vec<Identity> = findings.shown().map(Row::identity).collect();
            findings.settle_order();
            prop_assert_eq!(before, findings.shown().map(Row::identity).collect::<Vec<_>>());
        }
    }
}
