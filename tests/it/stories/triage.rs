//! Triage down to the last finding: everything that has an advice is settled by the keys, and only what must wait is left.

use super::reel::{Reel, SIZE};
use crate::pty::steps::{check_all, clear_filter, confirm_all, pick, plan_all};
use crate::pty::terminal::{Start, Terminal};
use crate::world::World;
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;

#[test]
fn triage_to_the_last_finding() {
    let mut reel = Reel::new("triage", "unstuck: triage to the last finding");
    let mut terminal = Terminal::start(&Start {
        arguments: "demo --seed 7 --items 20 --operator ana",
        size: SIZE,
        ..Start::default()
    });
    reel.keep(&terminal, "38 jobs that nobody can vouch for", &["38 findings", "unchecked"]);
    check_all(&mut terminal, 38);
    reel.keep(&terminal, "C: the providers are asked about all of them", &["# duplicated", "+ happened"]);

    pick(&mut terminal, "mark done");
    reel.keep(&terminal, "t: how many of what; h filters by what happened once", &["[x] mark done", "24"]);
    terminal.escape("+ Triage");
    plan_all(&mut terminal, "d", "one effect each at the provider");
    reel.keep(
        &terminal,
        "a, d: all of them in one plan, with a reason",
        &["24 happened, advice mark done", "Reason ["],
    );
    confirm_all(&mut terminal, 24);
    reel.keep(&terminal, "Asked again, then written, one by one", &["24 marked done.", "APPLIED"]);
    terminal.escape(": outcome");
    clear_filter(&mut terminal, 14);

    pick(&mut terminal, "retry");
    terminal.escape("+ Triage");
    plan_all(&mut terminal, "r", "nothing there, and time enough to show");
    reel.keep(
        &terminal,
        "The same for what never happened: retry",
        &["10 not found, advice retry", "Reason ["],
    );
    confirm_all(&mut terminal, 10);
    terminal.shows("10 retried.");
    terminal.escape(": outcome");
    clear_filter(&mut terminal, 4);

    pick(&mut terminal, "escalate");
    terminal.escape("+ Triage");
    plan_all(&mut terminal, "e", "one of the two must be undone");
    reel.keep(
        &terminal,
        "And what happened twice is handed on",
        &["3 duplicated, advice escalate", "Reason ["],
    );
    confirm_all(&mut terminal, 3);
    terminal.shows("3 escalated.");
    terminal.escape(": outcome");
    terminal.press("\x1b");
    println!("{}", terminal.contents());
    terminal.press("\x03");
    terminal.is_over(0);
    reel.end();
    let _: BTreeMap<String, World> = BTreeMap::new();
    assert_eq!(1, 2);
}
