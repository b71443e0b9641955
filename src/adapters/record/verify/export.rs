//! Whether an export is whole, where the audit is not at hand: its chain, its attachments, and the checkpoints in it.

use super::signed::{Against, Read};
use super::walk::{Kept, KeptTexts, Stop, Whole, follow_page};
use super::{Comparison, Verified};
use crate::adapters::record::append::sha256_of;
use crate::adapters::record::checkpoints::{ENTRY_BEGINS, EXPORT_LINE_BYTES_MAX, next_line};
use crate::adapters::record::export::read_line;
use crate::adapters::record::{absolute, fault};
use crate::domain::audit::Walk;
use crate::ports::record::RecordFault;
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

/// How many lines are looked at at once.
const LINES_AT_ONCE: usize = 1_000;
/// How many bytes of lines are looked at at once, but for the last line.
const BYTES_AT_ONCE: usize = 8 * 1024 * 1024;

/// Walks an export (JSON Lines) and says what is not as it was written. Its own checkpoints count, and those that are kept
/// elsewhere; an export that nothing vouches for is not whole, because its end may be missing.
///
/// # Errors
/// [`RecordFault`] where the export or a file to compare against cannot be read, or there is no key.
pub fn verify_export(path: &Path, against: &Against) -> Result<Verified, RecordFault> {
    let path = absolute(path)?;
    let mut copies = against.copies.clone();
    copies.push(path.clone());
    let against = Against { keys: against.keys.clone(), copies, must_be_signed: true, ..Against::default() };
    let Read { marks, flaws, others } = against.read(&path)?;
    let mut comparison = Comparison::new(marks);
    let (mut walk, mut verified) = (Walk::default(), Verified::nothing_yet());
    let walked = walk_lines(&path, &mut walk, &mut comparison)
        .map_err(|io| fault::of_io(&path, "the export cannot be read", &io))?;
    verified.take(&walk);
    comparison.end(walked, &path, &mut verified)?;
    verified.signatures.others = others;
    verified.take_flaws_of_checkpoints(flaws, &against);
    Ok(verified)
}

fn walk_lines(path: &Path, walk: &mut Walk, comparison: &mut Comparison) -> io::Result<Result<(), Stop>> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut number = 0;
    loop {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while lines.len() < LINES_AT_ONCE
            && bytes < BYTES_AT_ONCE
            && let Some(line) = next_line(&mut reader, EXPORT_LINE_BYTES_MAX)?
        {
            // The other lines are checkpoints, which were read before.
            if line.starts_with(ENTRY_BEGINS) {
                number += 1;
                bytes += line.len();
                lines.push((number, line));
            }
        }
        if lines.is_empty() {
            return Ok(Ok(()));
        }
        let entries: Vec<Whole> = lines.par_iter().map(|(number, line)| whole_of(*number, line)).collect();
        if let Err(stop) = follow_page(&entries, walk, &mut |walk| comparison.see(walk)) {
            return Ok(Err(stop));
        }
    }
}

fn whole_of(number: i64, line: &[u8]) -> Whole {
    let text = line.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
    let Some(exported) = text.and_then(read_line) else {
        return Whole { seq: number, entry: Err("is not what was exported".to_owned()), beside: Vec::new() };
    };
    let kept = (1..).zip(exported.attachments).map(|(place, kept)| Kept {
        place: Some(place),
        texts: Some(KeptTexts { sha256: kept.sha256, text_sha256: sha256_of(&kept.text), text: kept.text }),
    });
    Whole { seq: exported.entry.seq, beside: kept.collect(), entry: Ok(exported.entry) }
}
