//! The end of a shift: an incident with a name, its decisions, and a report whose numbers are those of the audit.

use super::desk::Desk;
use super::reel::Reel;
use crate::pty::steps::{check_all, close_outcome, find, give_reason};
use crate::reports::{marked, recounted};
use pretty_assertions::assert_eq;
use serde_json::Value;

#[test]
fn a_shift_is_handed_over_with_a_report() {
    let desk = Desk::new(&["charged-1", "charged-2", "absent-1", "absent-2"], "");
    let mut reel = Reel::new("handover", "unstuck: a shift is handed over");
    let run = |arguments: &[&str]| {
        let ran = desk.world.run_all(&[&["--config", "config.toml"], arguments].concat());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{arguments:?}");
        ran.out
    };
    let opened =
        run(&["incident", "open", "card outage", "--since", "3h", "--note", "time-outs since the deploy"]);
    let command = "unstuck incident open \"card outage\" --since 3h --note \"time-outs since the deploy\"";
    reel.keep_command(command, &opened, "The incident gets a name", &["card outage"]);

    let mut terminal = desk.console("ana");
    terminal.shows("4 findings");
    check_all(&mut terminal, 4);
    reel.keep(&terminal, "Its jobs, and what the provider says about them", &["+ happened", "- not found"]);
    find(&mut terminal, "charged-1");
    give_reason(&mut terminal, "d", "Mark done", "the charge is there");
    reel.keep(&terminal, "Each decision with its reason", &["the charge is there", "y confirms"]);
    terminal.press("y");
    close_outcome(&mut terminal, "marked done", 3);
    find(&mut terminal, "absent-1");
    give_reason(&mut terminal, "r", "Retry", "nothing arrived");
    terminal.press("y");
    terminal.press("absent-1\r");
    close_outcome(&mut terminal, "retried", 2);
    reel.keep(
        &terminal,
        "Two settled, two are left for the next shift",
        &["2 findings", "charged-2", "absent-2"],
    );
    terminal.press("q");
    terminal.is_over(0);

    let report = |format: &str| run(&["report", "--incident", "card outage", "--format", format]);
    let (text, page) = (report("md"), report("html"));
    let command = "unstuck report --incident \"card outage\"";
    reel.keep_command(command, &text, "The report for whoever comes next", &["card outage", "## In short"]);
    let (_, decisions) = text.split_once("## Decisions").unwrap();
    let rest = format!("…\n## Decisions{decisions}");
    reel.keep_command(command, &rest, "Each decision with its reason and its evidence", &["charged-1"]);
    reel.end();

    let expected = recounted(&desk.world);
    assert_eq!((expected["decisions"], expected["applied"], expected["open_items"]), (2, 2, 2));
    let json: Value = serde_json::from_str(&report("json")).unwrap();
    let told = marked(&page);
    for (name, count) in &expected {
        assert_eq!(told.get(name.to_owned()), Some(count), "{name} on the page");
        assert_eq!(json["counts"][name].as_u64(), Some(*count), "{name} in JSON");
    }
    let listed: Vec<u64> = text
        .split_once("## In short\n\n")
        .unwrap()
        .1
        .lines()
        .take_while(|line| line.starts_with("- "))
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    let (mut listed, mut counted) = (listed, expected.values().copied().collect::<Vec<_>>());
    listed.sort_unstable();
    counted.sort_unstable();
    assert_eq!(listed, counted, "numbers in Markdown");
}
