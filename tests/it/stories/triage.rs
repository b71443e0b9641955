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
    reel.keep(&terminal, "t: how many of what; h filters by what happened once", &["h [x] mark done", "24"]);
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
    let left = ["4 findings", "escalated", "- not found", "wait"];
    reel.keep(&terminal, "Left: what was handed on, and one that is too young to tell", &left);

    let folder = terminal.demo_folders().remove(0);
    each_has_one_decision(&folder.join("audit.db").display().to_string());

    terminal.press("A");
    terminal.shows("entries, newest first");
    reel.keep(
        &terminal,
        "A: who did what and why, in a chain that shows any change",
        &["escalate", "applied", "ana"],
    );
    terminal.press("q");
    terminal.is_over(0);
    reel.end();
}

/// Counts again by the record: one decision an item, intended and then applied, and none for what must wait.
fn each_has_one_decision(audit: &str) {
    let listed = World::new().run_all(&["audit", "list", "--limit", "1000", "--json", "--audit-file", audit]);
    assert_eq!((listed.code, listed.err.as_str()), (Some(0), ""));
    let mut by_item: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for entry in listed.json().iter().rev() {
        let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
        let decisions = by_item.entry(text("key")).or_default();
        if !text("decision").is_empty() {
            decisions.entry(text("decision")).or_default().push(text("event"));
        }
    }
    // A list that was read is on record too, under its own name.
    by_item.retain(|key, _| key.ends_with(":2026-05"));
    assert_eq!(by_item.len(), 38);
    let undecided: Vec<&String> =
        by_item.iter().filter(|(_, all)| all.is_empty()).map(|(key, _)| key).collect();
    assert_eq!(undecided, ["receipt:0:2026-05"]);
    for (key, decisions) in by_item.iter().filter(|(_, all)| !all.is_empty()) {
        let events: Vec<&Vec<String>> = decisions.values().collect();
        assert_eq!(events, [&["intended", "applied"]], "{key}");
    }
}
