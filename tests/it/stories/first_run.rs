//! From no configuration to verdicts: the first run leads from the databases of a folder to a written configuration and a console.

use super::reel::{Reel, SIZE};
use crate::ledger::Ledger;
use crate::pty::terminal::{Start, Terminal};
use unstuck::adapters::system::SystemClock;
use unstuck::ports::clock::Clock;

const CONFIG: &str = ".config/unstuck/config.toml";
const JOBS: &str = "
    CREATE TABLE jobs (key TEXT PRIMARY KEY, status TEXT, updated_at TEXT, last_error TEXT);
    INSERT INTO jobs SELECT 'charged-1', 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'Read timed out';
    INSERT INTO jobs SELECT 'twice-2', 'failed', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), 'Read timed out';
    INSERT INTO jobs SELECT 'absent-3', 'running', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'), NULL;";

#[test]
fn from_no_configuration_to_verdicts() {
    let charged_at = SystemClock.now().timestamp() - 2 * 3_600 - 60;
    let ledger = Ledger::that_lists(&["charged-1", "twice-2", "absent-3"], charged_at);
    let mut reel = Reel::new("first-run", "unstuck: from no configuration to verdicts");
    let mut terminal = Terminal::start(&Start {
        arguments: "--operator ana",
        size: SIZE,
        environment: &[("UNSTUCK_LEDGER_TOKEN", "sk_test_7")],
        databases: &[("jobs.db", JOBS)],
        ..Start::default()
    });
    terminal.shows("step 1 of 4");
    terminal.press(" ");
    reel.keep(&terminal, "No configuration yet: which databases?", &["> [x] jobs.db", "1 picked"]);
    terminal.press("\r");
    reel.keep(&terminal, "What is in them, counted; reading never writes", &["+ jobs: ", "3 findings"]);
    terminal.press("\r");
    terminal.shows("Kind jobs  1 of 1");
    terminal.press("ledger.charge");
    terminal.shows("> Who knows [ledger.charge");
    terminal.press("\r");
    terminal.shows("> Address [");
    terminal.press(&ledger.url());
    terminal.press("\r");
    terminal.shows("> Secret in $ [UNSTUCK_LEDGER_TOKEN");
    terminal.press("\r ");
    terminal.shows("> Risk < financial");
    terminal.shows("the first item: ");
    let questions =
        ["Who knows", "ledger.charge", "Address [http://127.0.0.1:", "Risk < financial", "the first item: "];
    reel.keep(&terminal, "Who knows what happened, and what a mistake would cost", &questions);
    terminal.press("\r\r");
    terminal.shows("step 4 of 4");
    assert!(!terminal.has_file(CONFIG), "nothing is written before the last key");
    let text = ["# unstuck: which databases", "w writes it", "config.toml"];
    reel.keep(&terminal, "The whole text, before anything is written; w writes it", &text);
    terminal.press("w");
    terminal.shows("3 findings");
    reel.keep(&terminal, "The console opens with it", &["3 findings", "charged-1", "twice-2", "absent-3"]);
    terminal.press("C");
    terminal.shows("3 of 3 checked, 0 unknown.");
    let verdicts = ["# duplicated", "+ happened", "- not found"];
    reel.keep(&terminal, "C asks the provider: done, twice, or never", &verdicts);
    terminal.press("q");
    terminal.is_over(0);
    reel.end();
    let written = terminal.file(CONFIG);
    for line in ["check = \"ledger.charge\"", "secret_env = \"UNSTUCK_LEDGER_TOKEN\""] {
        assert!(written.contains(line), "{written}");
    }
    assert!(!written.contains("sk_test_7"), "{written}");
}
