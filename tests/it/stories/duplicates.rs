//! What was charged twice, from the list of duplicates to whoever can give the money back.

use super::desk::Desk;
use super::reel::Reel;
use chrono::{DateTime, Utc};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

#[test]
fn a_duplicate_is_handed_on_once_with_what_a_refund_needs() {
    let desk = Desk::new(&["charged-1", "twice-2", "absent-3"], "");
    let mut reel = Reel::new("duplicates", "unstuck: charged twice, and handed on once");
    let mut terminal = desk.console("ana");
    terminal.shows("3 findings");
    terminal.press("D");
    let group = ["1 twice or more, 12.00 EUR too much", "34 s after the first", "ch_twice-2_again"];
    terminal.hides("NOT READ");
    reel.keep(&terminal, "D: what happened more than once, when and how, and how much too much", &group);
    terminal.press("e");
    let reason = ["Reason [", "2 effects under `twice-2`", "Beyond the first: 12.00 EUR", "sent once to"];
    reel.keep(&terminal, "e: the reason has all that a refund needs", &reason);
    terminal.press("\t");
    terminal.shows("y confirms");
    terminal.press("y");
    // Not while it is being told step by step.
    terminal.shows("close");
    reel.keep(
        &terminal,
        "Handed on, and nothing written into the row",
        &["APPLIED: escalated twice-2", "nothing in the row changed"],
    );
    terminal.escape(": outcome");
    reel.keep(&terminal, "Whoever looks next sees that somebody is at it", &["twice-2", "escalated"]);
    terminal.press("\x03");
    terminal.is_over(0);
    reel.end();

    // One notice, with what is needed to give the money back, and the record says the same.
    let told = desk.ledger.told();
    assert_eq!(told.len(), 1, "{told:?}");
    let notice: Value = serde_json::from_str(&told[0]).unwrap();
    assert_eq!((&notice["key"], &notice["reference"]), (&json!("twice-2"), &json!("twice-2")));
    assert_eq!(notice["effect_ids"], json!(["ch_twice-2", "ch_twice-2_again"]));
    for effect in notice["effects"].as_array().unwrap() {
        assert_eq!((&effect["amount"], &effect["currency"]), (&json!("12.00"), &json!("EUR")));
        let at: DateTime<Utc> = effect["at"].as_str().unwrap().parse().unwrap();
        assert!([0, 34].contains(&(at - desk.charged_at).num_seconds()), "{effect}");
    }
    let reason = notice["reason"].as_str().unwrap();
    assert!(
        reason.contains("ch_twice-2_again succeeded 12.00 EUR")
            && reason.contains("Beyond the first: 12.00 EUR"),
        "{reason}"
    );
    assert_eq!(notice["operator"], "ana");
    let listed = desk.world.run("--config config.toml audit list --key twice-2 --json").json();
    let events: Vec<_> = listed
        .iter()
        .rev()
        .filter(|entry| entry["decision"].as_str().is_some_and(|decision| !decision.is_empty()))
        .map(|entry| {
            (entry["event"].as_str().unwrap(), entry["body"]["choice"].as_str().unwrap_or("escalate"))
        })
        .collect();
    assert_eq!(events, [("intended", "escalate"), ("applied", "escalate")]);
}
