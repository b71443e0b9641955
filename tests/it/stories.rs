//! What an operator does at 3 a.m., each a story from the first key to the record, in a real (pseudo-)terminal.
//!
//! Each is a recording too, which the README shows: `UNSTUCK_MAKE_PICTURES=1 cargo test --test it stories` makes them anew.
//! Without the variable the recording that is there is compared: a frame for each step, in each what was to be seen.

mod bulk;
mod desk;
mod duplicates;
mod first_run;
mod handover;
mod reel;
mod triage;
mod two_operators;

use crate::picture::svg;

/// The largest a recording may be: a page shows several.
const BYTES_MAX: usize = 300_000;

#[test]
fn every_recording_is_in_the_readme_and_moves_without_a_script() {
    let readme = include_str!("../../README.md");
    let shown: Vec<&str> =
        readme.split("(assets/stories/").skip(1).map(|rest| rest.split_once(')').unwrap().0).collect();
    let mut there: Vec<String> = std::fs::read_dir(reel::folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut sorted = shown.clone();
    sorted.sort_unstable();
    there.sort_unstable();
    assert_eq!(sorted, there, "what the README shows, and what is in assets/stories");
    for name in there {
        let recording = std::fs::read_to_string(reel::folder().join(&name)).unwrap();
        assert!(recording.len() < BYTES_MAX, "{name} has {} bytes", recording.len());
        assert!(!recording.contains("<script") && !recording.contains("href=\"http"), "{name}");
        assert!(recording.contains("prefers-reduced-motion"), "{name}");
        let frames = svg::frames_of(&recording);
        assert!(frames.len() > 3, "{name} has {} frames", frames.len());
        assert_eq!(recording.matches("@keyframes").count(), frames.len(), "{name}");
    }
}
