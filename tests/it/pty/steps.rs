//! What an operator does again and again, each step waited for.

use super::terminal::Terminal;

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
pub fn clear_filter(terminal: &mut Terminal, total: usize) {
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
pub fn close_outcome(terminal: &mut Terminal, applied: &str, total: usize) {
    terminal.shows("APPLIED");
    terminal.shows(applied);
    terminal.escape("APPLIED");
    clear_filter(terminal, total);
}

/// Asks the providers about everything and waits for the last answer.
pub fn check_all(terminal: &mut Terminal, total: usize) {
    terminal.press("C");
    terminal.shows(&format!("{total} of {total} checked, 0 unknown."));
}

/// Filters by a count of the triage, by its letter; the triage stays open.
pub fn pick(terminal: &mut Terminal, count: &str) {
    terminal.press("t");
    terminal.shows("+ Triage: ");
    let contents = terminal.contents();
    let line = contents.lines().find(|line| line.contains(&format!("[ ] {count} ")));
    let line = line.unwrap_or_else(|| panic!("no count {count:?} in\n{contents}"));
    let letter = line.split("[ ]").next().unwrap().trim().rsplit(' ').next().unwrap();
    terminal.press(letter);
    terminal.shows(&format!("[x] {count} "));
}

/// Selects everything the filter lets through, opens a dialog for it and gives the reason.
pub fn plan_all(terminal: &mut Terminal, key: &str, reason: &str) {
    terminal.press("a");
    terminal.press(key);
    terminal.shows("Reason [");
    terminal.press(reason);
    terminal.shows(reason);
    terminal.press("\t");
}

/// Confirms a plan: where a number is to be typed, by typing it.
pub fn confirm_all(terminal: &mut Terminal, count: usize) {
    let typed = format!("Type  {count} ");
    terminal.until("how to confirm", |screen| {
        let contents = screen.contents();
        contents.contains("y confirms") || contents.lines().any(|l| l.contains('>') && l.contains(&typed))
    });
    if terminal.contents().contains("y confirms") {
        terminal.press("y");
    }
    if terminal.contents().contains(&typed) {
        terminal.press(&format!("{count}\r"));
    }
    terminal.shows(": outcome");
}
