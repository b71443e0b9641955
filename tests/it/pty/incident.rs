//! A whole incident at three sizes: look, filter, check, decide thrice, read the record, leave.

use super::terminal::{Size, Terminal};
use rstest::rstest;

/// Narrows the list down to one item, which gets the cursor.
pub fn find(terminal: &mut Terminal, key: &str) {
    terminal.press("/");
    terminal.shows("Filter: ");
    terminal.press(key);
    terminal.shows(&format!("Filter: {key}"));
    terminal.shows("1 shown");
    terminal.press("\r");
    terminal.hides("Filter: ");
    terminal.until(key, |screen| {
        screen.contents().lines().any(|line| line.starts_with('>') && line.contains(key))
    });
}

/// Clears the filter; then the whole list is back.
fn clear_filter(terminal: &mut Terminal, total: usize) {
    terminal.press("\x1b");
    terminal.shows(&format!("-- Findings  {total}, "));
}

/// Opens a dialog, gives a reason and goes to the button, once the provider was asked.
pub fn give_reason(terminal: &mut Terminal, key: &str, button: &str, reason: &str) {
    terminal.press(key);
    terminal.shows(&format!("{button} ("));
    terminal.shows("Reason [");
    terminal.press(reason);
    terminal.press("\t");
    terminal.shows("y confirms");
}

/// Reads the outcome and goes back to the whole list.
fn close_outcome(terminal: &mut Terminal, applied: &str, total: usize) {
    terminal.shows("APPLIED");
    terminal.shows(applied);
    terminal.escape("APPLIED");
    clear_filter(terminal, total);
}

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
