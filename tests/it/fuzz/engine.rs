//! The machine: kept inputs, changes to them from a seed, and what is kept when a promise is broken.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What must hold for an input; the error says what does not.
pub type Promise = fn(&[u8]) -> Result<(), String>;

/// How many changed inputs a target gets where nobody says: enough to notice, and little time.
const INPUTS_USUAL: usize = 300;
const SEED_USUAL: u64 = 7;
/// Larger inputs are cut: what is read in a second is what is fuzzed.
const INPUT_BYTES_MAX: usize = 16 * 1024;
/// The longest that one input may take: generous, because the machine may be busy; a loop without end is far above it.
const TIME_MAX: Duration = Duration::from_secs(10);
/// How many changes an input gets at most.
const CHANGES_MAX: u64 = 6;

/// Pieces that readers of text have stumbled over.
const NASTY: [&[u8]; 40] = [
    b"\0",
    b"\r\n",
    b"\t",
    b"\"",
    b"'",
    b"\\",
    b"{{",
    b"}}",
    b"{%",
    b"[",
    b"]",
    b"{",
    b"}",
    b"null",
    b"NaN",
    b"-0",
    b"1e999",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"0.1",
    b"2026-02-30",
    b"24:00:00",
    b"+14:00",
    b"Z",
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\x1b[31m",
    b"\x9b",
    b"\xe2\x80\xae",
    b"\xe2\x80\x8b",
    b"\xf3\xa0\x80\x81",
    b"\\u0000",
    b"\\ud800",
    b"4242424242424242",
    b"password=",
    b"Bearer abcdefgh",
    b"==",
    b"/*",
];

/// One reader and its promise.
pub struct Target<'a> {
    pub name: &'a str,
    pub promise: Promise,
}

impl Target<'_> {
    /// Tries every kept input, then changed ones.
    pub fn run(&self) {
        let kept = self.kept();
        assert!(!kept.is_empty(), "there are inputs in {}", self.folder().display());
        for (name, input) in &kept {
            self.try_one(input, &format!("the kept input {name}"));
        }
        let seed = number_of("UNSTUCK_FUZZ_SEED").unwrap_or(SEED_USUAL);
        let count =
            number_of("UNSTUCK_FUZZ_INPUTS").map_or(INPUTS_USUAL, |count| usize::try_from(count).unwrap());
        let mut dice = Dice(seed ^ checksum(self.name.as_bytes()));
        let words = words_of(&kept);
        for nth in 0..count {
            let input = changed(&mut dice, &kept, &words);
            self.try_one(&input, &format!("input {nth} of seed {seed}"));
        }
    }

    fn folder(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/corpus").join(self.name)
    }

    /// The kept inputs, by name.
    fn kept(&self) -> Vec<(String, Vec<u8>)> {
        let mut kept: Vec<_> = std::fs::read_dir(self.folder())
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
            })
            .collect();
        kept.sort();
        kept
    }

    fn try_one(&self, input: &[u8], which: &str) {
        // An input that ends the whole process (a stack that overflows) is told by nobody: it is left lying there.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz");
        let at_work = folder.join(format!("{}-at-work", self.name));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&at_work, input).unwrap();
        let began = Instant::now();
        let came_to = std::panic::catch_unwind(|| (self.promise)(input));
        let took = began.elapsed();
        let broken = match came_to {
            Ok(Ok(())) if took < TIME_MAX => return,
            Ok(Ok(())) => format!("it took {took:?}"),
            Ok(Err(sentence)) => sentence,
            Err(_) => "it panicked".to_owned(),
        };
        let kept_as = folder.join(format!("{}-{:016x}", self.name, checksum(input)));
        std::fs::write(&kept_as, input).unwrap();
        panic!(
            "{}: {which}: {broken}\n  input: {}\n  kept as {}; copied into {} it is tried first",
            self.name,
            input.escape_ascii(),
            kept_as.display(),
            self.folder().display()
        );
    }
}

#[expect(clippy::disallowed_methods, reason = "how much a test does is nothing that the program reads")]
fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

fn checksum(input: &[u8]) -> u64 {
    input
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Numbers from a seed: the same seed, the same inputs (`SplitMix64`).
pub struct Dice(pub u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one, which is above zero.
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.roll() % bound as u64).unwrap()
    }

    fn one_of<'all, T>(&mut self, all: &'all [T]) -> &'all T {
        &all[self.below(all.len())]
    }

    /// A place in an input, its end included, and a later one.
    fn part(&mut self, length: usize) -> (usize, usize) {
        let from = self.below(length + 1);
        (from, from + self.below((length - from).min(64) + 1))
    }
}

/// The words of all kept inputs, and the pieces that are always nasty.
fn words_of(kept: &[(String, Vec<u8>)]) -> Vec<Vec<u8>> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-:".contains(byte);
    let words: BTreeSet<Vec<u8>> = kept
        .iter()
        .flat_map(|(_, input)| input.split(|byte| !is_word(byte)))
        .filter(|word| !word.is_empty())
        .map(<[u8]>::to_vec)
        .chain(NASTY.iter().map(|piece| piece.to_vec()))
        .collect();
    words.into_iter().collect()
}

/// A kept input with a few changes.
fn changed(dice: &mut Dice, kept: &[(String, Vec<u8>)], words: &[Vec<u8>]) -> Vec<u8> {
    let mut input = dice.one_of(kept).1.clone();
    for _ in 0..=dice.roll() % CHANGES_MAX {
        change(dice, &mut input, kept, words);
        input.truncate(INPUT_BYTES_MAX);
    }
    input
}

fn change(dice: &mut Dice, input: &mut Vec<u8>, kept: &[(String, Vec<u8>)], words: &[Vec<u8>]) {
    let (from, to) = dice.part(input.len());
    match dice.below(9) {
        0 if !input.is_empty() => {
            let at = dice.below(input.len());
            input[at] ^= 1 << dice.below(8);
        }
        1 => input.truncate(from),
        2 => drop(input.drain(from..to)),
        3 => {
            let again = input[from..to].repeat(1 + dice.below(40));
            input.splice(to..to, again);
        }
        4 => {
            let other = &dice.one_of(kept).1;
            let (begin, end) = (dice.below(other.len() + 1), other.len());
            input.splice(from..to, other[begin..end].iter().copied());
        }
        5 => drop(input.splice(from..to, dice.one_of(words).iter().copied())),
        6 => {
            let (begin, end) = dice.part(input.len());
            let moved = input[begin..end].to_vec();
            input.splice(from..from, moved);
        }
        // A digit more or less is what numbers and times are sensitive to.
        7 => {
            if let Some(digit) = input[from..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                *digit = b'0' + u8::try_from(dice.below(10)).unwrap();
            }
        }
        _ => drop(input.splice(from..from, dice.one_of(words).iter().copied())),
    }
}
