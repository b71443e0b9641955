//! A whole incident at three sizes: look, filter, check, decide thrice, read the record, leave.

use super::steps::{clear_filter, close_outcome, find, give_reason};
use super::terminal::{Size, Terminal};
use rstest::rstest;

#[rstest]
#[case::usual((80, 24))]
#[case::large((200, 50))]
#[case::small((40, 10))]
fn an_incident_is_worked_through(#[case] size: Size) {
    let mut terminal = Terminal::demo(size);
    terminal.shows("38 findings");
    terminal.shows("unchecked");
    assert!(terminal.screen().alternate_screen());
    assert_eq!(terminal.demo_folders().len(), 1);
    if size.0 == 200 {
        let folder = terminal.demo_folders()[0].display().to_string();
        assert!(terminal.contents().contains("demo, seed 7, in "), "{}", terminal.contents());
        assert!(folder.contains("unstuck-demo-"), "{folder}");
    }

    find(&mut terminal, "order:9:");
    clear_filter(&mut terminal, 38);
    terminal.press("C");
    terminal.shows("38 of 38 checked, 0 unknown.");
    terminal.hides("unchecked");

    find(&mut terminal, "invoice:13:");
    terminal.shows("happened");
    give_reason(&mut terminal, "d", "Mark done", "charge seen at the provider");
    terminal.press("y");
    close_outcome(&mut terminal, "marked done", 37);

    find(&mut terminal, "invoice:16:");
    terminal.shows("not found");
    give_reason(&mut terminal, "r", "Retry", "nothing in the ledger");
    // It moves money: the key has to be typed out, and anything else confirms nothing.
    terminal.press("y");
    terminal.shows("Type  invoice:16:2026-05");
    terminal.press("yes\r");
    terminal.shows("! Type exactly: invoice:16:2026-05");
    terminal.press("\x15invoice:16:2026-05\r");
    close_outcome(&mut terminal, "retried", 36);

    find(&mut terminal, "invoice:0:");
    terminal.shows("duplicated");
    give_reason(&mut terminal, "e", "Escalate", "one of the two must be refunded");
    terminal.press("y");
    close_outcome(&mut terminal, "escalated", 36);

    terminal.press("A");
    terminal.shows("entries, newest first");
    for key in ["invoice:0:", "invoice:16", "invoice:13"] {
        terminal.shows(key);
    }
    terminal.shows("intended");
    terminal.shows("applied");
    terminal.press("q");
    terminal.is_over(0);
}
