//! From nothing to a console with findings: no configuration, an empty home, and a database in the folder.

use super::terminal::{Size, Start, Terminal};
use rstest::rstest;

const CONFIG: &str = ".config/unstuck/config.toml";
const JOBS: &str = "
    CREATE TABLE jobs (key TEXT PRIMARY KEY, status TEXT, updated_at TEXT, last_error TEXT);
    CREATE TABLE sent_emails (email_key TEXT PRIMARY KEY, status TEXT, created_at TEXT);
    INSERT INTO jobs VALUES ('inv-1', 'failed', '2026-05-04 10:00:00', 'timed out'),
                            ('inv-2', 'running', '2026-05-04 10:00:00', NULL);
    INSERT INTO sent_emails VALUES ('welcome-7', 'running', '2026-05-04 10:00:00');";

fn start(size: Size) -> Terminal {
    Terminal::start(&Start { arguments: "", size, databases: &[("jobs.db", JOBS)], ..Start::default() })
}

#[rstest]
#[case::small((40, 10))]
#[case::usual((80, 24))]
#[case::large((200, 50))]
fn the_first_run_leads_to_a_console_with_findings(#[case] size: Size) {
    let mut terminal = start(size);
    terminal.shows("step 1 of 4");
    terminal.press(" ");
    terminal.shows("1 picked");
    terminal.press("\r");
    terminal.shows("jobs.db");
    terminal.shows("+ jobs: ");
    terminal.press("\r");
    terminal.shows("Kind jobs  1 of 2");
    terminal.press("ledger.charge");
    terminal.shows("> Who knows [ledger.charge");
    terminal.press("\r");
    terminal.shows("> Address [");
    terminal.press("http://127.0.0.1:9\r\r\r\r");
    terminal.shows("Kind sent_emails  2 of 2");
    assert!(!terminal.has_file(CONFIG), "nothing is written before the last key");
    terminal.press("\r\r\r");
    terminal.shows("step 4 of 4");
    terminal.shows("# unstuck: which databases");
    terminal.press("w");
    terminal.shows("3 findings");
    let written = terminal.file(CONFIG);
    for line in
        ["check = \"ledger.charge\"", "[providers.\"ledger\"]", "secret_env = \"UNSTUCK_LEDGER_TOKEN\""]
    {
        assert!(written.contains(line), "{written}");
    }
    terminal.press("q");
    terminal.is_over(0);
}

/// A wrong address says what and what to do; leaving says that nothing was written.
#[test]
fn a_wrong_address_is_told_and_leaving_writes_nothing() {
    let mut terminal = start((80, 24));
    terminal.shows("step 1 of 4");
    terminal.press("\t");
    terminal.shows("> [");
    terminal.press("nowhere.db\r");
    terminal.shows("1 picked");
    terminal.press("\r");
    terminal.shows("! ");
    terminal.shows("nowhere.db");
    terminal.press("\x1b");
    terminal.shows("step 1 of 4");
    terminal.press("\x03");
    terminal.shows("Nothing was written.");
    terminal.is_over(0);
    assert!(!terminal.has_file(CONFIG));
}

/// Without a terminal nobody is led: the error is as it was.
#[test]
fn without_a_terminal_there_is_an_error() {
    let redirected = "2>told >/dev/null".to_owned();
    let mut terminal = Terminal::start(&Start { arguments: "", redirected, ..Start::default() });
    terminal.is_over(2);
    assert!(terminal.file("told").contains("there is no configuration at "), "{}", terminal.file("told"));
}
