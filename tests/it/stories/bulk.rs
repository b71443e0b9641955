//! All that happened is marked done in one plan, while two of the rows change and a new one comes.

use super::desk::{Desk, failed};
use super::reel::Reel;
use crate::pty::steps::{check_all, confirm_all, plan_all};
use crate::world::rows_of;
use pretty_assertions::assert_eq;

const KEYS: [&str; 8] =
    ["charged-1", "charged-2", "charged-3", "charged-4", "charged-5", "charged-6", "absent-1", "absent-2"];

#[test]
fn a_plan_is_frozen_and_rows_that_change_meanwhile_are_refused() {
    let desk = Desk::new(&KEYS, "refresh = \"5s\"");
    let mut reel = Reel::new("bulk", "unstuck: six at once, and two of them change meanwhile");
    let mut terminal = desk.console("ana");
    terminal.shows("8 findings");
    check_all(&mut terminal, 8);
    terminal.press("/charged\r");
    terminal.shows("6 of 8, filter: charged");
    reel.keep(&terminal, "Six of eight were charged", &["+ happened", "charged-6"]);

    plan_all(&mut terminal, "d", "one charge each");
    let planned = ["6 happened, advice mark done", "6 selected of 6"];
    reel.keep(&terminal, "a, d: a plan of six; what is in it is fixed from here on", &planned);
    // A worker wakes up and tries two of them again, and a seventh fails.
    desk.sql(
        "UPDATE jobs SET updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now', '-1 hours'), last_error = 'connection reset by peer'
          WHERE key IN ('charged-2', 'charged-5')",
    );
    desk.sql(&failed("charged-7"));
    let newcomer = "came since, NOT included: charged-7";
    reel.keep(&terminal, "Meanwhile a worker touches two of them, and a seventh comes", &[newcomer]);

    confirm_all(&mut terminal, 6);
    let outcome = ["4 marked done", "2 refused", "APPLIED: marked done charged-1"];
    reel.keep(&terminal, "Four are written; two rows are not as they were seen: refused", &outcome);
    terminal.escape(": outcome");
    terminal.shows("3 of 5, filter: charged");
    reel.keep(
        &terminal,
        "The two stay selected, to be asked about anew; the newcomer is not",
        &["charged-7", "2 selected"],
    );
    let marked: Vec<String> = terminal
        .contents()
        .lines()
        .filter(|line| line.contains("* ") && line.contains("charged-"))
        .map(|line| KEYS.iter().find(|key| line.contains(*key)).unwrap_or(&"another").to_string())
        .collect();
    assert_eq!(marked, ["charged-2", "charged-5"]);
    terminal.press("\x03");
    terminal.is_over(0);
    reel.end();

    let done: Vec<String> = rows_of(&desk.world.path("jobs.db"), "jobs")
        .into_iter()
        .filter(|row| row.contains("'done'"))
        .map(|row| row.split('\'').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(done, ["charged-1", "charged-3", "charged-4", "charged-6"]);
    let listed = desk.world.run("--config config.toml audit list --json --limit 1000");
    let ended = |event: &str| {
        let entries = listed.json();
        let mut keys: Vec<String> = entries
            .iter()
            .filter(|entry| entry["event"] == event)
            .map(|entry| entry["key"].as_str().unwrap().to_owned())
            .collect();
        keys.sort_unstable();
        keys
    };
    assert_eq!(ended("applied"), done);
    assert_eq!(ended("refused"), ["charged-2", "charged-5"]);
}
