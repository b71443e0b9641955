//! Two operators on one audit in PostgreSQL: one proposes a financial retry, the other sees it and approves it.

use super::desk::console;
use super::reel::Reel;
use crate::commands_team::Team;
use crate::pty::steps::{check_all, find};
use pretty_assertions::assert_eq;

#[test]
fn what_ana_proposes_ben_approves_in_his_own_console() {
    let Some(team) = Team::new() else { return };
    team.make();
    let mut reel = Reel::new("two-operators", "unstuck: a retry that moves money takes two");
    let world = &team.incident.world;
    let mut ana = console(world, "ana.toml", "ana");
    ana.shows("2 findings");
    check_all(&mut ana, 2);
    find(&mut ana, "inv-2");
    reel.keep(&ana, "Ana: nothing arrived at the provider", &["- not found", "inv-2"]);
    ana.press("r");
    ana.shows("Reason [");
    ana.press("no charge, and I called them\t");
    ana.shows("y proposes");
    reel.keep(&ana, "It moves money: she can only propose it", &["once approved", "y proposes"]);
    ana.press("y");
    ana.shows("Type  inv-2");
    ana.press("inv-2\r");
    reel.keep(&ana, "Ana proposes; nothing is written yet", &["PROPOSED", "Esc close"]);
    assert_eq!(team.incident.status_of("inv-2").as_deref(), Some("failed"));

    let mut ben = console(world, "ben.toml", "ben");
    ben.shows("2 findings");
    ben.press("P");
    reel.keep(&ben, "Ben, on his own console: P shows what waits for him", &["inv-2", "ana"]);
    ben.press("a");
    ben.shows("Reason [");
    ben.press("I looked too");
    ben.press("\t");
    ben.shows("y approves");
    reel.keep(&ben, "The row was read and the provider asked anew", &["I looked too", "y approves"]);
    ben.press("y");
    ben.shows("Type  inv-2");
    ben.press("inv-2\r");
    reel.keep(&ben, "Approved and carried out", &["APPLIED", "Esc close"]);
    for mut terminal in [ana, ben] {
        terminal.press("\x03");
        terminal.is_over(0);
    }
    reel.end();

    // Row and audit agree: it was released, by both.
    assert_eq!(team.incident.status_of("inv-2"), None);
    let entries = team.run("ben", "audit list --key inv-2 --json").json();
    let told: Vec<_> = entries
        .iter()
        .rev()
        .filter(|entry| entry["decision"].as_str().is_some_and(|decision| !decision.is_empty()))
        .map(|entry| (entry["event"].as_str().unwrap(), entry["operator"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("proposed", "ana"), ("intended", "ben"), ("applied", "ben")]);
}
