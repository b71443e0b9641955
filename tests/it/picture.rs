//! The pictures of the console in the README, taken from the real program.
//!
//! `UNSTUCK_MAKE_PICTURES=1 cargo test --test it picture` makes them anew. Without the variable the same screens are
//! drawn, and their words compared both ways: numbers, ages, ports and folders differ from run to run, words do not.

pub mod svg;

use crate::pty::steps::{find, give_reason};
use crate::pty::terminal::{Start, Terminal};
use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;

/// A picture, and what must be named in it as on the screen.
struct Picture {
    file: &'static str,
    title: &'static str,
    regions: &'static [&'static str],
}

const CONSOLE: Picture = Picture {
    file: "assets/console.svg",
    title: "unstuck: every unconfirmed job, and what the provider says about it",
    regions: &[
        "unstuck",
        "sources",
        "Findings",
        "Item",
        "verdict",
        "finding",
        "next",
        "duplicated",
        "happened",
        "not found",
        "escalate",
        "mark done",
        "retry",
        "? help",
    ],
};

const DIALOG: Picture = Picture {
    file: "assets/console-dialog.svg",
    title: "unstuck: a retry that moves money is asked for twice",
    regions: &[
        "invoice:16",
        "Known",
        "not found",
        "What could go wrong",
        "What will be written",
        "Reason [",
        "invoice:16:2026-05",
    ],
};

impl Picture {
    /// Makes the picture, or compares the one that is there with the screen.
    fn take(&self, terminal: &Terminal) {
        let screen = terminal.screen();
        let contents = screen.contents();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(self.file);
        if are_made() {
            std::fs::write(&path, svg::draw(&screen, self.title)).unwrap();
        }
        let shown = svg::text_of(&std::fs::read_to_string(&path).unwrap());
        for region in self.regions {
            assert!(contents.contains(region), "{region:?} is not on the screen any more:\n{contents}");
            assert!(
                shown.contains(region),
                "{region:?} is not in {}: make it anew, as said above",
                self.file
            );
        }
        fits(&format!("{contents} {}", self.title), &shown, self.file);
    }
}

/// How many words a picture and the screen may have for themselves: what an age or a width cuts off.
const STRANGERS_MAX: usize = 3;

/// Makes sure that a picture says what the screen says, and the other way round.
pub fn fits(screen: &str, picture: &str, name: &str) {
    let (drawn, shown) = (words(screen), words(picture));
    let missing: Vec<_> = drawn.difference(&shown).collect();
    let gone: Vec<_> = shown.difference(&drawn).collect();
    assert!(
        missing.len() <= STRANGERS_MAX && gone.len() <= STRANGERS_MAX,
        "{name} is out of date (the screen alone has {missing:?}, the picture alone {gone:?}): make it anew, as said above"
    );
}

/// The words of a text that are the same in every run: no numbers, names of folders and accounts, nor what is cut off.
fn words(text: &str) -> BTreeSet<String> {
    let parts = text.split(|letter: char| letter.is_whitespace() || "()[]<>,;:|\"'`=.".contains(letter));
    let is_word =
        |part: &&str| part.len() > 3 && part.chars().all(|one| one.is_ascii_alphabetic() || one == '-');
    let is_rule = |part: &str| part.contains("--");
    parts.filter(is_word).filter(|part| !is_rule(part)).map(str::to_lowercase).collect()
}

#[test]
fn a_picture_of_another_screen_does_not_fit() {
    let screen = "38 findings  triage: 3 to escalate, 24 to mark done  what hurts most comes first";
    fits(
        screen,
        "37 findings triage: 4 to escalate, 23 to mark done  what hurts most comes first",
        "same words",
    );
    let older = "38 findings  worst first  no such line here at all";
    assert!(std::panic::catch_unwind(|| fits(screen, older, "older")).is_err());
}

#[test]
fn no_space_of_a_picture_gets_lost_in_a_browser() {
    let mut parser = vt100::Parser::new(NonZero::new(1).unwrap(), NonZero::new(20).unwrap(), 0);
    parser.process(b"\x1b[7mtwice-2   12.00 EUR");
    let svg = svg::draw(parser.screen(), "spaces");
    assert!(svg.contains(">twice-2\u{a0}\u{a0}\u{a0}12.00\u{a0}EUR</text>"), "{svg}");
    assert!(svg::text_of(&svg).contains("twice-2   12.00 EUR"));
}

/// Whether pictures are made anew.
pub fn are_made() -> bool {
    std::env::var_os("UNSTUCK_MAKE_PICTURES").is_some()
}

fn console() -> Terminal {
    let mut terminal = Terminal::start(&Start {
        arguments: "demo --seed 7 --items 20 --operator ana",
        size: (120, 34),
        has_own_temporary: false,
        ..Start::default()
    });
    terminal.shows("38 findings");
    terminal.press("C");
    terminal.shows("38 of 38 checked, 0 unknown.");
    terminal
}

#[test]
fn the_console_is_as_pictured() {
    let mut terminal = console();
    terminal.press("g\r");
    terminal.hides("38 of 38 checked");
    terminal.until("the worst finding, opened", |screen| {
        let contents = screen.contents();
        contents.contains(">  # duplicated") && contents.contains("Enter read again")
    });
    CONSOLE.take(&terminal);
    terminal.press("q");
    terminal.is_over(0);
}

#[test]
fn the_dialog_is_as_pictured() {
    let mut terminal = console();
    find(&mut terminal, "invoice:16:");
    give_reason(&mut terminal, "r", "Retry", "no charge at the provider, key still valid");
    terminal.press("y");
    terminal.shows("Type  invoice:16:2026-05");
    terminal.press("invoice:16:2026-05");
    terminal.shows("[invoice:16:2026-05");
    DIALOG.take(&terminal);
    terminal.press("\x03");
    terminal.is_over(0);
}
