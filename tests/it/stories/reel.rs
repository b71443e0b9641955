//! A story's recording: the screens that a test kept, made or compared.

use crate::picture::{are_made, fits, svg};
use crate::pty::terminal::{Size, Terminal};
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// The size of every recording.
pub const SIZE: Size = (120, 32);

/// How long a screen is shown.
const SECONDS: f32 = 4.0;
/// How long the last one is, before it begins anew.
const LAST_SECONDS: f32 = 8.0;

/// Where the recordings lie.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/stories")
}

/// A recording while its story is told.
pub struct Reel {
    name: &'static str,
    title: &'static str,
    frames: Vec<svg::Frame>,
    /// What must be seen in each frame.
    regions: Vec<Vec<String>>,
}

impl Reel {
    /// Begins a recording; `name` is its file's.
    pub fn new(name: &'static str, title: &'static str) -> Self {
        Self { name, title, frames: Vec::new(), regions: Vec::new() }
    }

    /// Keeps the screen as a step, with what must be seen on it.
    pub fn keep(&mut self, terminal: &Terminal, caption: &str, regions: &[&str]) {
        for region in regions {
            terminal.shows(region);
        }
        self.add(terminal.screen(), caption, regions);
    }

    /// Keeps a command and what it printed; of a long one the first lines.
    pub fn keep_command(&mut self, command: &str, printed: &str, caption: &str, regions: &[&str]) {
        let (columns, rows) = SIZE;
        let mut parser = vt100::Parser::new(NonZero::new(rows).unwrap(), NonZero::new(columns).unwrap(), 0);
        let lines: Vec<String> = printed
            .lines()
            .take(usize::from(rows) - 2)
            .map(|line| line.chars().take(usize::from(columns)).collect())
            .collect();
        parser.process(format!("\x1b[1m$ {command}\x1b[0m\r\n{}", lines.join("\r\n")).as_bytes());
        self.add(parser.screen().clone(), caption, regions);
    }

    fn add(&mut self, screen: vt100::Screen, caption: &str, regions: &[&str]) {
        let contents = screen.contents();
        for region in regions {
            assert!(contents.contains(region), "{region:?} is not on the screen:\n{contents}");
        }
        self.frames.push(svg::Frame { caption: caption.to_owned(), screen, seconds: SECONDS });
        self.regions.push(regions.iter().map(|&region| region.to_owned()).collect());
    }

    /// Makes the recording, or compares the one that is there: a frame for each step, in each what was seen.
    pub fn end(mut self) {
        self.frames.last_mut().unwrap().seconds = LAST_SECONDS;
        let path = folder().join(format!("{}.svg", self.name));
        if are_made() {
            std::fs::create_dir_all(folder()).unwrap();
            // Whose machine made it is nobody's business.
            let account = regex::Regex::new(r"[a-z_][a-z0-9_-]*@[A-Za-z0-9.-]+").unwrap();
            let recording = svg::animate(&self.frames, self.title);
            std::fs::write(&path, &*account.replace_all(&recording, "ana@ops")).unwrap();
        }
        let recorded = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}: make it, as tests/it/picture.rs says", self.name));
        let recorded = svg::frames_of(&recorded);
        let captions: Vec<&str> = recorded.iter().map(|(caption, _)| caption.as_str()).collect();
        let steps: Vec<&str> = self.frames.iter().map(|frame| frame.caption.as_str()).collect();
        assert_eq!(captions, steps, "{}: make it anew, as tests/it/picture.rs says", self.name);
        for (frame, (caption, text)) in self.frames.iter().zip(&recorded) {
            fits(&frame.screen.contents(), text, &format!("{caption:?} of {}", self.name));
        }
        for ((caption, text), regions) in recorded.iter().zip(&self.regions) {
            for region in regions {
                assert!(
                    text.contains(region),
                    "{region:?} is not in {:?} of {}:\n{text}",
                    caption,
                    self.name
                );
            }
        }
    }
}
