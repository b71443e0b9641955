//! Hostile text on the screens of the console, judged by the bytes that reach the terminal.

use super::harmless::is_harmless;
use super::stage::{Stage, all_in_one};
use crate::pty::terminal::{Size, Start, Terminal};
use pretty_assertions::assert_eq;
use regex::Regex;
use rstest::rstest;

/// Everything that our own drawing says to a terminal: modes, colours, the cursor's place, and what clears.
const OURS: &str = r"\x1b\[(?:\?(?:25|1000|1002|1003|1006|1015|1049|2004|2026)[hl]|[0-9;:]*m|[0-9]+;[0-9]+H|[0-9]+[ABCDGXd]|2J|K)";

/// What is left of what was written without our own sequences, where it is not text.
fn foreign(written: &str) -> Vec<String> {
    let text = Regex::new(OURS).unwrap().replace_all(written, "").into_owned();
    let is_text = |character: char| is_harmless(character) || matches!(character, '\r' | '\n');
    let odd = text.char_indices().filter(|(_, character)| !is_text(*character));
    odd.map(|(at, _)| text[at..].chars().take(12).collect::<String>().escape_debug().to_string()).collect()
}

/// The parser finds what it is there to find.
#[test]
fn a_sequence_that_is_not_ours_is_found() {
    for own in ["\x1b[?25l", "\x1b[38;5;9m", "\x1b[1;2H", "\x1b[2J", "é漢 ␛[31m\r\n"] {
        assert_eq!(foreign(own), Vec::<String>::new(), "{own:?}");
    }
    for others in [
        "\x1b[6n",
        "\x1bc",
        "\x1b]0;x\x07",
        "\x1b]52;c;eA==\x07",
        "\u{9b}31m",
        "\u{202e}",
        "\u{200b}",
        "\x08",
        "\x1b[?1049",
        "\x1bPq\x1b\\",
    ] {
        assert_ne!(foreign(others), Vec::<String>::new(), "{others:?}");
    }
}

#[rstest]
#[case::usual((80, 24))]
#[case::large((220, 60))]
#[case::small((40, 10))]
fn no_screen_says_anything_to_the_terminal_but_our_own(#[case] size: Size) {
    let stage = Stage::new();
    let arguments = format!("--config '{}'", stage.world.path("config.toml").display());
    let operator = all_in_one().replace('\'', "");
    let environment = [("UNSTUCK_LEDGER_TOKEN", "sk_test_7"), ("UNSTUCK_OPERATOR", operator.as_str())];
    let mut terminal = Terminal::start(&Start {
        arguments: &arguments,
        size,
        environment: &environment,
        ..Start::default()
    });
    terminal.shows("56 findings");
    terminal.press("C");
    terminal.shows("56 of 56 checked");
    // Each item in turn: its row, payload, evidence and history, hidden fields too.
    terminal.press("g\r");
    terminal.until("the item", |screen| !screen.contents().contains("Enter reads its row"));
    terminal.press("u");
    for _ in 0..3 {
        terminal.press("\x06\x06");
    }
    terminal.press("Gh");
    // A dialog, and what is pasted into its reason.
    let pasted = format!("\x1b[200~{}\x1b[201~", all_in_one().replace('\x1b', ""));
    terminal.press("e");
    terminal.shows("Reason [");
    terminal.press(&pasted);
    terminal.until("the pasted reason", |screen| !screen.contents().contains("Reason [ "));
    terminal.escape("Reason [");
    terminal.press("?");
    terminal.shows("ask the provider of this");
    terminal.escape("ask the provider of this");
    // The record: its list, and an entry in full.
    terminal.press("A");
    terminal.shows("-- Audit");
    terminal.press("\r");
    terminal.shows("-- Entry");
    terminal.press("\x06G");
    terminal.press("A");
    terminal.hides("-- Entry");
    // The filter, and what is pasted into it.
    terminal.press("/");
    terminal.shows("Filter: ");
    terminal.press(&pasted);
    terminal.shows("0 shown");
    terminal.press("\x03");
    terminal.is_over(0);
    assert_eq!(foreign(&terminal.written()), Vec::<String>::new());
}
