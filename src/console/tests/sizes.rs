//! No size is too small to be drawn on (cases 44 and 65).

use super::helpers::*;
use super::screens::SCENES;
use crate::console::Message;

fn draws(console: &mut Console, width: u16, height: u16) {
    console.resize(width, height);
    let is_small = width < 20 || height < 5;
    let screen = console.screen();
    let says = screen.trim_end().replace('\n', "");
    if is_small && height > 0 {
        let told: String = "terminal too small".chars().take(usize::from(width)).collect();
        assert_eq!(says, told.trim_end(), "{width}x{height}");
    }
}

#[test]
fn every_scene_is_drawn_at_every_size() {
    for (_, play) in SCENES {
        let mut console = Console::with(80, 24, 12);
        play(&mut console);
        let small = (1..=21).flat_map(|width| (1..=7).map(move |height| (width, height)));
        let larger = [24, 33, 34, 40, 60, 79, 80]
            .into_iter()
            .flat_map(|width| [5, 9, 10, 16, 20, 24].map(|height| (width, height)));
        for (width, height) in small.chain(larger) {
            draws(&mut console, width, height);
        }
        for (width, height) in
            [(0, 0), (0, 5), (5, 0), (19, 5), (5, 3), (100, 27), (119, 26), (120, 5), (300, 80)]
        {
            draws(&mut console, width, height);
        }
    }
}

#[test]
fn keys_and_scrolling_survive_small_sizes() {
    for (_, play) in SCENES {
        let mut console = Console::with(80, 24, 12);
        play(&mut console);
        for (width, height) in [(20, 5), (21, 6), (40, 10), (80, 24), (1, 1), (80, 24)] {
            console.resize(width, height);
            console.press("j PgDn G Ctrl-d k PgUp Ctrl-u Tab Shift-Tab");
        }
    }
}

#[test]
fn a_size_told_by_the_terminal_alone_is_enough() {
    let mut console = Console::with(80, 24, 12);
    console.send(Message::Resize { width: 0, height: 0 });
    assert!(console.screen().contains("unstuck"), "drawn by the frame's size, keys held back by the model's");
    assert_eq!(console.press("d"), []);
}
