//! What the line at the bottom says: whole where it can be, what to do always.

use super::helpers::*;
use crate::console::message::Message;
use crate::console::model::{Dialog, Notice};
use crate::console::theme::Theme;
use crate::console::view::notice::within;
use rstest::rstest;

const WHAT: &str =
    "billing: the database does not answer: connection to 10.0.0.7:5432 was refused three times";
const DO_NEXT: &str = "Look whether it runs, and at host and port in the configuration.";

fn told(width: u16, lines_max: usize, do_next: &str) -> Vec<String> {
    let notice = Notice::alarm(WHAT, do_next);
    within(Theme::new(true), &notice, width, lines_max, "!").iter().map(ToString::to_string).collect()
}

#[rstest]
#[case(200, 1)]
#[case(120, 2)]
#[case(80, 3)]
fn what_and_what_to_do_are_told_whole_with_a_stop_between(#[case] width: u16, #[case] lines: usize) {
    let told = told(width, 3, DO_NEXT);
    assert_eq!(told.len(), lines, "{told:?}");
    assert_eq!(told.join(" "), format!("! {WHAT}. {DO_NEXT}"));
}

/// Three lines are enough where both flow into each other, and not where each begins its own.
#[test]
fn what_to_do_follows_on_the_same_line_where_that_saves_one() {
    let told = told(64, 3, DO_NEXT);
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told.join(" "), format!("! {WHAT}. {DO_NEXT}"));
}

#[rstest]
#[case(40)]
#[case(33)]
fn what_to_do_is_whole_where_not_all_fits_and_a_key_tells_the_rest(#[case] width: u16) {
    let told = told(width, 3, "Look whether it runs, and where.");
    assert_eq!(told.len(), 3);
    assert!(told.join(" ").ends_with("~ (! tells all) Look whether it runs, and where."), "{told:?}");
}

/// At no size is a line longer than the screen, or more than it may take.
#[test]
fn no_line_is_wider_than_the_screen() {
    for width in 20..200 {
        for lines_max in 1..=3 {
            for do_next in ["", "Look.", DO_NEXT] {
                let told = told(width, lines_max, do_next);
                assert!(told.len() <= lines_max, "{width} {told:?}");
                assert!(
                    told.iter().all(|line| line.chars().count() <= usize::from(width)),
                    "{width} {told:?}"
                );
                let is_whole = told.join(" ").trim_end().len() >= WHAT.len() + do_next.len() + 2;
                assert!(is_whole || told.join(" ").contains("(! tells all)"), "{width} {told:?}");
            }
        }
    }
}

#[test]
fn a_key_shows_all_of_it_and_the_list_comes_back() {
    let mut console = Console::with(40, 10, 12);
    console.send(Message::Notice { what: WHAT.to_owned(), do_next: Some(DO_NEXT.to_owned()) });
    let screen = console.screen();
    assert!(screen.contains("invoice:"), "the list is still there\n{screen}");
    console.press("!");
    assert!(matches!(console.model.dialog, Dialog::Message(..)));
    let said: String = console.screen().split_whitespace().collect();
    assert!(said.contains("refusedthreetimes."), "{}", console.screen());
    console.press("Esc");
    assert!(matches!(console.model.dialog, Dialog::None));
    console.press("!");
    assert!(matches!(console.model.dialog, Dialog::None), "there is nothing to tell any more");
}
