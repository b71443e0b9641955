//! Order, filter, selection and place.

use super::helpers::*;
use crate::console::model::sort::Column;
use crate::console::{Task, sample};
use crate::domain::finding::FindingKind;
use crate::domain::verdict::Verdict;
use rstest::rstest;

fn keys(console: &Console) -> Vec<String> {
    console.model.findings.shown().map(|row| row.found.finding.item.key.as_str().to_owned()).collect()
}

#[test]
fn what_hurts_most_comes_first_and_unknown_is_no_absence() {
    let mut console = Console::with(80, 24, 12);
    let tasks = console.press("C");
    console.answer_checks(&tasks, |number| Verdict::ALL[number % Verdict::ALL.len()]);
    let rows: Vec<_> = console.model.findings.shown().collect();
    assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(row.plight().weight())));
    assert_eq!(rows[0].verdict(), Some(Verdict::Duplicated));
    let place = |verdict| rows.iter().position(|row| row.verdict() == Some(verdict)).unwrap();
    assert!(
        place(Verdict::Unknown) < place(Verdict::NotFound),
        "what is not known stands before what is known to be absent"
    );
}

#[test]
fn the_cursor_stays_on_the_worst_until_somebody_moves_it() {
    let mut console = Console::with(80, 24, 12);
    assert_eq!(console.model.findings.cursor(), 0);
    let tasks = console.press("C");
    console.answer_checks(&tasks, |number| Verdict::ALL[number % Verdict::ALL.len()]);
    assert_eq!(console.model.findings.cursor(), 0, "the worst came to the top, and so it is looked at");
    let mut moved = Console::with(80, 24, 12);
    moved.press("j");
    let before = moved.current();
    let tasks = moved.press("C");
    moved.answer_checks(&tasks, |number| Verdict::ALL[number % Verdict::ALL.len()]);
    assert_eq!(moved.current().finding.item.key, before.finding.item.key);
}

/// Case 37.
#[test]
fn no_start_time_comes_before_every_age() {
    let mut console = Console::with(80, 24, 12);
    console.press("/");
    console.enter("kind:invoice");
    console.press("Enter");
    assert_eq!(keys(&console)[0], "invoice:7:2026-05");
    assert!(console.screen().contains("no time"));
    let ages: Vec<_> = console.model.findings.shown().filter_map(|row| row.found.finding.age).collect();
    assert!(ages.is_sorted_by(|a, b| a >= b));
}

#[test]
fn every_column_sorts_and_turns_round() {
    let mut console = Console::with(200, 50, 30);
    let tasks = console.press("C");
    console.answer_checks(&tasks, |number| Verdict::ALL[number % Verdict::ALL.len()]);
    for column in Column::ALL {
        assert_eq!(console.model.findings.sort().column, column);
        let there = keys(&console);
        console.press("S");
        let back = keys(&console);
        assert_eq!(there.len(), back.len());
        assert_ne!(there, back, "{column:?}");
        console.press("s");
    }
    assert_eq!(console.model.findings.sort().column, Column::Worst);
}

#[test]
fn the_cursor_stays_on_its_finding_through_sort_and_filter() {
    let mut console = Console::with(80, 24, 30);
    console.press("j j j j");
    let key = console.current().finding.item.key.as_str().to_owned();
    console.press("s s S");
    assert_eq!(console.current().finding.item.key.as_str(), key);
    console.press("/");
    console.enter(&key[..9]);
    assert_eq!(console.current().finding.item.key.as_str(), key);
    console.press("Esc");
    assert_eq!(keys(&console).len(), 30, "Esc brings the former filter back");
}

#[rstest]
#[case("i")]
#[case("inv timed")]
#[case("kind:email -reset")]
#[case("age>1h invoice")]
#[case("\"read timed\"")]
#[case("unchecked")]
fn a_filter_typed_letter_by_letter_shows_what_the_whole_shows(#[case] typed: &str) {
    let mut slowly = Console::with(80, 24, 60);
    slowly.press("/");
    slowly.enter(typed);
    let mut at_once = Console::with(80, 24, 60);
    at_once.model.findings.set_filter(typed).unwrap();
    assert_eq!(keys(&slowly), keys(&at_once));
    slowly.press("Backspace Backspace");
    let shorter: String = typed.chars().take(typed.chars().count().saturating_sub(2)).collect();
    if at_once.model.findings.set_filter(&shorter).is_ok() {
        assert_eq!(keys(&slowly), keys(&at_once));
    }
}

/// Case 18: a time-out is "not confirmed", and nothing of ours calls it failed.
#[test]
fn a_time_out_is_not_confirmed() {
    let mut console = Console::with(80, 14, 12);
    console.press("/");
    console.enter("finding:ambiguous");
    console.press("Enter");
    assert_eq!(console.current().finding.kind, FindingKind::Ambiguous);
    let screen = console.screen().to_lowercase();
    assert!(screen.contains("not confirmed"));
    assert!(!screen.contains("failed"), "{screen}");
}

#[test]
fn escape_leaves_one_thing_at_a_time() {
    let mut console = Console::with(80, 24, 12);
    console.press("/");
    console.enter("invoice");
    console.press("Enter a");
    assert_eq!(console.model.findings.counts().selected, 8);
    console.press("Esc");
    assert_eq!(console.model.findings.counts().selected, 0);
    assert_eq!(console.model.findings.typed(), "invoice");
    console.press("Esc");
    assert_eq!(console.model.findings.typed(), "");
}

#[test]
fn a_hundred_thousand_findings_are_drawn_as_a_hundred() {
    let mut console = Console::with(200, 50, 100_000);
    console.press("G");
    let height = usize::from(console.state.list.area.height);
    assert_eq!(console.state.list.offset, 100_000 - height);
    assert_eq!(console.model.findings.window(console.state.list.offset, height).count(), height);
    // What a frame touches is what `window` gives: it takes no more than the height, whatever the total.
    assert_eq!(console.model.findings.window(0, height).count(), height);
    assert_eq!(console.press("k PgUp"), []);
    assert_eq!(console.model.findings.cursor(), 100_000 - 2 - height);
}

#[test]
fn an_age_grows_with_time() {
    let mut console = Console::with(80, 24, 2);
    assert!(console.model.wants_ticks());
    assert!(console.screen().contains("38m"));
    console.send(crate::console::Message::Tick(sample::now() + chrono::TimeDelta::minutes(5)));
    assert!(console.screen().contains("43m"), "{}", console.screen());
}

#[test]
fn a_check_takes_what_is_selected_or_under_the_cursor() {
    let mut console = Console::with(80, 24, 12);
    let keys_of = |tasks: &[Task]| -> Vec<String> {
        let [Task::Check { found, .. }] = tasks else { panic!("{tasks:?}") };
        found.iter().map(|found| found.finding.item.key.as_str().to_owned()).collect()
    };
    let tasks = console.press("c");
    assert_eq!(keys_of(&tasks), ["invoice:7:2026-05"]);
    console.answer_checks(&tasks, |_| Verdict::Unknown);
    console.press("Space Space");
    let selected = console.press("c");
    assert_eq!(keys_of(&selected).len(), 2);
}

/// The order is the same whether rows came page by page or were sorted at once.
#[test]
fn merging_pages_and_sorting_give_one_order() {
    for column in Column::ALL {
        for reversed in [false, true] {
            let mut merged = Console::with(80, 24, 0);
            merged.model.findings.set_sort(crate::console::model::sort::Sort { column, reversed });
            let mut page = sample::page("billing", 0..300).found;
            page.extend(sample::page("mailer", 0..300).found);
            let rest = page.split_off(120);
            merged.model.findings.merge(1, rest);
            merged.model.findings.merge(1, page);
            let by_merging = keys(&merged);
            merged.model.findings.settle_order();
            assert_eq!(by_merging, keys(&merged), "{column:?} {reversed}");
        }
    }
}

/// Names of sources and kinds are told whole where there is room, and columns that tell less go first.
#[test]
fn names_are_not_cut_while_columns_that_tell_less_stand() {
    use crate::console::message::{Message, ScanMessage};
    for width in [112, 180] {
        let mut console = Console::with(width, 16, 3);
        console.press("R");
        let mut page = sample::page("billing", 0..6);
        for found in &mut page.found {
            found.finding.item.source = "processed_items".into();
            found.finding.item.kind = "renewal_mail".into();
        }
        console.send(Message::Scan(ScanMessage::Page { run: 2, source: "processed_items".into(), page }));
        let screen = console.screen();
        assert!(screen.contains("processed_items"), "{width}\n{screen}");
        assert!(screen.contains(" renewal_mail "), "{width}\n{screen}");
    }
}
