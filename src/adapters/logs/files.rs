//! Which files a path means: itself, those that a pattern fits, and those that were rotated away beside it.

use crate::domain::text::{clean, clean_cut};
use std::io;
use std::path::{Path, PathBuf};

/// How many files one path may mean.
const FILES_MAX: usize = 1_000;

/// The files that a path means, the oldest names first, and why there is none or not all.
pub(super) fn find(path: &Path) -> (Vec<PathBuf>, Option<String>) {
    let (Some(name), folder) = (path.file_name().and_then(|name| name.to_str()), path.parent()) else {
        return (Vec::new(), Some(format!("{}: names no file", clean(&path.display().to_string()))));
    };
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(fault) => return (Vec::new(), Some(unreadable(folder, &fault))),
    };
    let is_pattern = name.contains(['*', '?']);
    let fits = |candidate: &str| {
        if is_pattern { is_like(name.as_bytes(), candidate.as_bytes()) } else { is_rotated(name, candidate) }
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_str().is_some_and(fits))
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    found.sort_by(|one, other| age_of(other).cmp(&age_of(one)).then_with(|| one.cmp(other)));
    if found.is_empty() {
        let what = if is_pattern { "no file is called so" } else { "there is no such file" };
        return (found, Some(format!("{}: {what}", clean(&path.display().to_string()))));
    }
    if found.len() > FILES_MAX {
        let trouble = format!(
            "{}: means {} files, of which {FILES_MAX} were read",
            clean(&path.display().to_string()),
            found.len()
        );
        found.truncate(FILES_MAX);
        return (found, Some(trouble));
    }
    (found, None)
}

/// The number of a rotated file, the larger the older; none is the youngest.
fn age_of(path: &Path) -> u64 {
    let name = path.to_str().unwrap_or("");
    let bare = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    bare.rsplit('.').next().and_then(|last| last.parse().ok()).filter(|age| *age < 10_000).unwrap_or(0)
}

/// Whether a file is another one or what was rotated away from it: `a.jsonl.1`, `a.jsonl.2.gz`, `a.jsonl-20261130.gz`.
fn is_rotated(name: &str, candidate: &str) -> bool {
    let Some(rest) = candidate.strip_prefix(name) else { return false };
    let bare = rest.strip_suffix(".gz").or_else(|| rest.strip_suffix(".zst")).unwrap_or(rest);
    let Some(number) = bare.strip_prefix(['.', '-']) else { return bare.is_empty() };
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | 'T' | 'Z');
    number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(is_number)
}

/// Whether a name fits a pattern: `*` is any characters, `?` any one.
fn is_like(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut star, mut from) = (0, None, 0);
    let mut place = 0;
    while place < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                (star, from) = (Some(at), place);
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[place] => {
                at += 1;
                place += 1;
            }
            _ => {
                let Some(back) = star else { return false };
                (at, from) = (back + 1, from + 1);
                place = from;
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// The name of a file, as a timeline shows it.
pub(super) fn shown_name(path: &Path) -> String {
    clean(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy())
}

/// Why a file is not read, in a sentence.
pub(super) fn unreadable(path: &Path, fault: &io::Error) -> String {
    format!("{}: cannot be read ({})", clean(&path.display().to_string()), clean_cut(&fault.to_string(), 200))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("a.jsonl", true)]
    #[case("a.jsonl.1", true)]
    #[case("a.jsonl.12.gz", true)]
    #[case("a.jsonl.gz", true)]
    #[case("a.jsonl-20261130", true)]
    #[case("a.jsonl-2026-11-30.gz", true)]
    #[case("a.jsonl.bak", false)]
    #[case("a.jsonl2", false)]
    #[case("b.a.jsonl", false)]
    fn rotated_files_are_known_by_their_names(#[case] candidate: &str, #[case] fits: bool) {
        assert_eq!(is_rotated("a.jsonl", candidate), fits);
    }

    #[rstest]
    #[case("*.jsonl", "a.jsonl", true)]
    #[case("w?rker-*.log*", "worker-1.log.3", true)]
    #[case("w?rker-*.log", "worker-1.log.3", false)]
    #[case("*", "", true)]
    #[case("a*b*c", "aXbYbZc", true)]
    #[case("a*b*c", "aXbYbZ", false)]
    fn patterns_fit_names(#[case] pattern: &str, #[case] name: &str, #[case] fits: bool) {
        assert_eq!(is_like(pattern.as_bytes(), name.as_bytes()), fits);
    }
}
