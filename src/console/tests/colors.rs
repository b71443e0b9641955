//! Colours: the terminal's own, never alone, never where they cannot be read.

use super::helpers::*;
use super::screens::SCENES;
use crate::console::{Setup, sample, words};
use crate::domain::finding::FindingKind;
use crate::domain::item::State;
use crate::domain::verdict::Verdict;
use ratatui::style::{Color, Modifier};
use std::collections::HashSet;
use unicode_width::UnicodeWidthStr;

/// Case 68, 42: nothing white, black or bright on the default ground, and the cursor sets neither of the two.
#[test]
fn only_colours_that_can_be_read_on_every_ground() {
    for (name, play) in SCENES {
        let mut console = Console::with(200, 50, 12);
        play(&mut console);
        for cell in &console.buffer().content {
            assert_eq!(cell.bg, Color::Reset, "{name}");
            let readable = [Color::Reset, Color::Red, Color::Green, Color::Cyan, Color::Magenta];
            assert!(readable.contains(&cell.fg), "{name}: {:?}", cell.fg);
            if cell.modifier.contains(Modifier::REVERSED) {
                assert_eq!(cell.fg, Color::Reset, "{name}: {}", cell.symbol());
            }
        }
    }
}

#[test]
fn no_color_means_none() {
    for (name, play) in SCENES {
        let mut console = Console::from_setup(Setup { no_color: true, ..sample::setup(80, 24) }, 12);
        play(&mut console);
        let is_plain = |cell: &ratatui::buffer::Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
        assert!(console.buffer().content.iter().all(is_plain), "{name}");
    }
}

/// Case 47: without any colour, each verdict, state and finding is told by a word and a sign of its own.
#[test]
fn words_and_signs_tell_everything_apart() {
    let verdicts: Vec<_> = Verdict::ALL.into_iter().map(Some).chain([None]).collect();
    let kinds = [
        FindingKind::Stuck,
        FindingKind::Ambiguous,
        FindingKind::Duplicate,
        FindingKind::Lost,
        FindingKind::Mismatch,
    ];
    let told: [Vec<(&str, &str)>; 3] = [
        verdicts.iter().map(|v| (words::verdict_sign(*v), words::verdict(*v))).collect(),
        kinds.iter().map(|kind| (words::finding_sign(*kind), words::finding(*kind))).collect(),
        State::ALL.iter().map(|state| (words::state_sign(*state), words::state(*state))).collect(),
    ];
    for pairs in told {
        assert_eq!(pairs.iter().map(|(sign, _)| sign).collect::<HashSet<_>>().len(), pairs.len());
        assert_eq!(pairs.iter().map(|(_, word)| word).collect::<HashSet<_>>().len(), pairs.len());
        assert!(pairs.iter().all(|(sign, word)| sign.len() == 1 && !word.is_empty()));
    }
    let mut console = Console::from_setup(Setup { no_color: true, ..sample::setup(200, 50) }, 12);
    let tasks = console.press("C");
    console.answer_checks(&tasks, |number| Verdict::ALL[number % Verdict::ALL.len()]);
    let screen = console.screen();
    for verdict in Verdict::ALL.into_iter().map(Some) {
        assert!(screen.contains(&format!("{} {}", words::verdict_sign(verdict), words::verdict(verdict))));
    }
}

/// Case 17: unknown looks like nothing that went well.
#[test]
fn unknown_never_looks_like_a_success() {
    let theme = crate::console::theme::Theme::new(false);
    assert_ne!(theme.verdict(Some(Verdict::Unknown)).fg, theme.verdict(Some(Verdict::Happened)).fg);
    assert_ne!(theme.verdict(None).fg, theme.verdict(Some(Verdict::Happened)).fg);
}

/// Case 67: whatever is not the domain's own mask is one cell wide on every terminal.
#[test]
fn our_own_signs_have_one_width_everywhere() {
    for (name, play) in SCENES {
        for (width, height) in [(40, 10), (80, 24), (200, 50)] {
            let mut console = Console::with(width, height, 12);
            play(&mut console);
            let screen = console.screen().replace(crate::domain::mask::MASK, "");
            assert_eq!(screen.as_str().width(), screen.as_str().width_cjk(), "{name}");
        }
    }
}
