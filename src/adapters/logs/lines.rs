//! The lines of a file one by one, in bounded memory, compressed or not.

use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// The longest line that is read, in bytes; a longer one is passed over and counted.
pub(super) const LINE_BYTES_MAX: usize = 1 << 20;
const BUFFER_BYTES: usize = 1 << 16;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Calls back with each line and its number, from 1; how many lines were too long.
///
/// # Errors
/// What keeps the file from being read to its end: lines before that were called back.
pub(super) fn each(path: &Path, mut take: impl FnMut(u64, &[u8])) -> io::Result<u64> {
    let mut reader = open(path)?;
    let mut line = Vec::new();
    let (mut number, mut overlong) = (0, 0);
    while let Some(length) = read_line(&mut reader, &mut line)? {
        number += 1;
        if length > LINE_BYTES_MAX {
            overlong += 1;
            continue;
        }
        let whole = if number == 1 { line.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(&line) } else { &line };
        take(number, whole);
    }
    Ok(overlong)
}

fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = File::open(path)?;
    // A pipe would keep us waiting for whoever writes into it.
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let head = reader.fill_buf()?;
    if head.starts_with(&ZSTD_MAGIC) {
        return Err(io::Error::other("it is compressed with zstd: unpack it, or use gzip"));
    }
    if head.starts_with(&GZIP_MAGIC) {
        return Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(reader))));
    }
    Ok(Box::new(reader))
}

/// Reads a line without its break; how long it was, however much of it was kept. `None` at the end.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<usize>> {
    line.clear();
    let (mut length, mut is_at_end) = (0, true);
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok((!is_at_end).then_some(length));
        }
        is_at_end = false;
        let ends = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..ends.unwrap_or(buffer.len())];
        length += part.len();
        if length <= LINE_BYTES_MAX {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(ends.is_some());
        reader.consume(used);
        if ends.is_some() {
            return Ok(Some(length));
        }
    }
}
