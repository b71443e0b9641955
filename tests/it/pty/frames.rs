//! What is written: whole frames, few bytes, no colours where none are wanted.

use super::terminal::{BEGIN_FRAME, CLEAR, END_FRAME, Start, Terminal};
use regex::Regex;
use std::time::Duration;
use unstuck::adapters::system::SystemClock;
use unstuck::ports::clock::Clock;

/// The most bytes of a frame in which one cell changed.
const SMALL_FRAME_BYTES_MAX: usize = 200;

/// The frames in what was written, and what was written between them.
fn frames(written: &str) -> (Vec<&str>, Vec<&str>) {
    let mut parts = written.split(BEGIN_FRAME);
    let (mut frames, mut between) = (Vec::new(), vec![parts.next().unwrap()]);
    for part in parts {
        let (frame, rest) = part.split_once(END_FRAME).expect("a frame that begins ends");
        frames.push(frame);
        between.push(rest);
    }
    (frames, between)
}

fn checked() -> Terminal {
    let mut terminal = Terminal::demo((80, 24));
    terminal.shows("38 findings");
    terminal.press("C");
    terminal.shows("38 of 38 checked, 0 unknown.");
    terminal
}

#[test]
fn every_frame_is_one_synchronized_update_and_only_the_first_may_clear() {
    let mut terminal = checked();
    terminal.press("jjj\r");
    terminal.hides("-- Findings");
    terminal.press("?");
    terminal.shows("ask the provider of this");
    terminal.escape("ask the provider of this");
    terminal.press("\x03");
    terminal.is_over(0);
    let written = terminal.written();
    let (frames, between) = frames(&written);
    assert!(frames.len() > 4, "{} frames", frames.len());
    for frame in &frames[1..] {
        assert!(
            !frame.contains(CLEAR) && !frame.contains("\x1b[J") && !frame.contains("\x1b[3J"),
            "{frame:?}"
        );
    }
    // Between frames stand only the modes of the start and of the end; the shell speaks last.
    let code = Regex::new(r"\x1b\[[?0-9;]*[A-Za-z]").unwrap();
    let (end, others) = between.split_last().unwrap();
    for part in others {
        assert_eq!(code.replace_all(part, ""), "", "text outside of a frame");
        assert!(!part.contains(CLEAR), "{part:?}");
    }
    assert_eq!(code.replace_all(end, "").trim(), "OVER");
}

#[test]
fn a_frame_with_one_cell_changed_is_small() {
    let mut terminal = checked();
    terminal.press("d");
    terminal.shows("Tab goes there");
    let before = terminal.written_len();
    terminal.press("x");
    terminal.shows("Reason [x ");
    let written = terminal.written();
    let (frames, _) = frames(&written[written.floor_char_boundary(before)..]);
    assert!(frames.iter().all(|frame| frame.len() < SMALL_FRAME_BYTES_MAX), "{frames:?}");
    terminal.press("\x03");
    terminal.is_over(0);
}

#[test]
fn an_idle_console_writes_a_few_bytes_a_second() {
    let mut terminal = checked();
    let seconds = Regex::new(r"asked (\d+)s ago").unwrap();
    let age = |screen: &vt100::Screen| -> u64 {
        seconds.captures(&screen.contents()).map_or(0, |found| found[1].parse().unwrap())
    };
    let started = age(&terminal.screen());
    terminal.until("the next tick", |screen| age(screen) > started);
    let (from, before) = (age(&terminal.screen()), terminal.written_len());
    terminal.until("two ticks more", |screen| age(screen) >= from + 2);
    let bytes = terminal.written_len() - before;
    // The clock of the screen and that of the ticks may be a tick apart.
    assert!(bytes < 3 * SMALL_FRAME_BYTES_MAX, "{bytes} bytes in two seconds");
    terminal.press("q");
    terminal.is_over(0);
}

/// Ages move on together, once a minute, but for those of less than a minute: between two minutes nothing at all is written.
#[test]
fn a_console_on_which_nothing_moves_writes_nothing() {
    let mut terminal = Terminal::demo((200, 50));
    terminal.shows("38 findings");
    // One receipt of the demo is some seconds old.
    terminal.press("/invoice:\r");
    terminal.until("the invoices alone", |screen| !screen.contents().contains("receipt:"));
    let minute = || SystemClock.now().timestamp() / 60;
    let written = |terminal: &Terminal| {
        // The frame after the last change says that nothing differs any more.
        std::thread::sleep(Duration::from_secs(2));
        let (before, began) = (terminal.written_len(), minute());
        std::thread::sleep(Duration::from_secs(4));
        (began == minute()).then(|| terminal.written_len() - before)
    };
    // A minute that goes by meanwhile moves the ages, and a busy machine draws late.
    let is_silent = (0..5).any(|_| written(&terminal) == Some(0));
    assert!(is_silent, "something is written all the time");
    terminal.press("q");
    terminal.is_over(0);
}

#[test]
fn a_key_draws_everything_anew_over_what_somebody_else_wrote() {
    let mut terminal = checked();
    terminal.scribble("\x1b[5;1Hbroadcast message from root");
    terminal.shows("broadcast message from root");
    terminal.press("\x0c");
    terminal.hides("broadcast message from root");
    terminal.shows("Findings");
    terminal.press("q");
    terminal.is_over(0);
}

#[test]
fn without_colours_there_are_none_in_the_bytes() {
    for (environment, has_colors) in [(&[][..], true), (&[("NO_COLOR", "1")][..], false)] {
        let mut terminal = Terminal::start(&Start { environment, ..Start::default() });
        terminal.shows("38 findings");
        terminal.press("C");
        terminal.shows("38 of 38 checked, 0 unknown.");
        terminal.press("gd");
        terminal.shows("AGAINST THE ADVICE");
        terminal.press("\x03");
        terminal.is_over(0);
        assert_eq!(colors(&terminal.written()) > 0, has_colors, "{environment:?}");
    }
}

/// How often a colour is chosen; going back to the terminal's own is no colour.
fn colors(written: &str) -> usize {
    let graphics = Regex::new(r"\x1b\[([0-9;:]*)m").unwrap();
    let of = |code: &str| matches!(code.parse().unwrap_or(0), 30..=38 | 40..=48 | 58 | 90..=97 | 100..=107);
    graphics.captures_iter(written).filter(|found| found[1].split([';', ':']).any(of)).count()
}
