//! Keys where they could be taken for something else, and sizes that no terminal should have.

use super::terminal::{Size, Start, Terminal};
use rstest::rstest;
use std::time::{Duration, Instant};

#[test]
fn a_letter_in_the_filter_box_is_text_and_ctrl_c_leaves_from_there() {
    let mut terminal = Terminal::demo((80, 24));
    terminal.shows("38 findings");
    terminal.press("/");
    terminal.shows("Filter: ");
    terminal.press("qCdre");
    terminal.shows("Filter: qCdre");
    terminal.shows("0 shown");
    terminal.press("\x03");
    terminal.is_over(0);
}

#[test]
fn keys_are_taken_when_they_are_pressed_and_not_with_the_next_tick() {
    let mut terminal = Terminal::demo((80, 24));
    terminal.shows("38 findings");
    terminal.press("/");
    let (began, mut typed) = (Instant::now(), String::from("Filter: "));
    for letter in "invoice:1".chars() {
        terminal.press(&letter.to_string());
        typed.push(letter);
        terminal.shows(&typed);
    }
    // Nine keys, each awaited: with the ticks they would take nine seconds, by themselves a tenth of one.
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    terminal.press("\x03");
    terminal.is_over(0);
}

/// From the counts to a filter by one letter, to groups, and the whole way back; then an action found by its name.
#[test]
fn triage_leads_from_the_counts_to_groups_and_back() {
    let mut terminal = Terminal::demo((80, 24));
    terminal.shows("38 findings");
    terminal.press("C");
    terminal.shows("38 of 38 checked");
    terminal.press("t");
    terminal.shows("Triage: 38 findings");
    terminal.press("a");
    terminal.shows("of 38, verdict:");
    terminal.press("t");
    terminal.shows("filter: verdict:");
    terminal.press("z");
    terminal.shows("Grouped by error");
    terminal.press("[[");
    terminal.shows("Findings  38, what hurts most first");
    terminal.press(":");
    terminal.shows("Palette");
    terminal.press("audit\r");
    terminal.shows("-- Audit");
    terminal.press("\x03");
    terminal.is_over(0);
}

#[test]
fn pasted_text_is_text_and_nothing_in_it_is_a_key() {
    let mut terminal = Terminal::demo((80, 24));
    terminal.shows("38 findings");
    // In the list it is nothing at all.
    terminal.press("\x1b[200~q\r\x1b[201~/");
    terminal.shows("Filter: ");
    terminal.press("\x1b[200~order:9:\r\x1b[201~");
    terminal.shows("Filter: order:9:");
    terminal.shows("1 shown");
    terminal.press("\x03");
    terminal.is_over(0);
}

/// Case 43 and 66: a key goes to the clipboard through the terminal itself, inside of tmux or not; no helper that may hang is
/// started, though there are some.
#[rstest]
#[case::plain(&[("SSH_CONNECTION", "10.0.0.1 5000 10.0.0.2 22")])]
#[case::tmux(&[("TMUX", "/tmp/tmux-0/default,1,0")])]
#[case::with_a_display(&[("DISPLAY", ":0"), ("WAYLAND_DISPLAY", "wayland-0")])]
fn copying_starts_no_helper_and_goes_out_as_osc_52(#[case] environment: &[(&str, &str)]) {
    use std::os::unix::fs::PermissionsExt;
    let helpers = tempfile::tempdir().unwrap();
    for name in ["xclip", "xsel", "wl-copy", "pbcopy", "clip.exe", "tmux"] {
        let path = helpers.path().join(name);
        std::fs::write(&path, "#!/bin/sh\ntouch \"$0.started\"\nsleep 30\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let searched = format!("{}:{}", helpers.path().display(), std::env::var_os("PATH").unwrap().display());
    let environment: Vec<(&str, &str)> =
        environment.iter().copied().chain([("PATH", searched.as_str())]).collect();
    let mut terminal = Terminal::start(&Start { environment: &environment, ..Start::default() });
    terminal.shows("38 findings");
    terminal.press("y");
    terminal.until_written("the key", |written| written.contains("\x1b]52;c;"));
    terminal.press("q");
    terminal.is_over(0);
    let started = std::fs::read_dir(helpers.path()).unwrap().filter_map(Result::ok);
    let started: Vec<_> = started
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().contains(".started"))
        .collect();
    assert!(started.is_empty(), "{started:?}");
}

#[rstest]
#[case::nothing((0, 0))]
#[case::one_cell((1, 1))]
#[case::five_by_three((5, 3))]
#[case::one_row_short((80, 1))]
#[case::one_column((1, 24))]
#[case::just_too_small((19, 5))]
fn a_size_that_is_too_small_breaks_nothing_and_lets_one_quit(#[case] size: Size) {
    let mut terminal = Terminal::demo((80, 24));
    terminal.shows("38 findings");
    terminal.press("d");
    terminal.shows("Reason [");
    terminal.resize(size);
    if size.0 > 10 {
        terminal.shows("terminal too small");
    }
    // `d` would be text in the dialog behind; nobody decides on a screen that cannot be read, but `q` leaves.
    terminal.press("q");
    terminal.until("the end", |screen| !screen.alternate_screen());
    terminal.resize_unseen((80, 24));
    terminal.is_over(0);
    assert!(!terminal.written().contains("panicked"), "{}", terminal.written());
}

#[test]
fn a_terminal_that_grows_again_is_drawn_whole() {
    let mut terminal = Terminal::demo((80, 24));
    terminal.shows("38 findings");
    for size in [(0, 0), (40, 10), (1, 1), (200, 50)] {
        terminal.resize(size);
    }
    terminal.shows("Item  ");
    terminal.until("both panes", |screen| {
        screen.contents().lines().any(|line| line.contains("-- Findings") && line.contains("-- Item"))
    });
    terminal.press("q");
    terminal.is_over(0);
}
