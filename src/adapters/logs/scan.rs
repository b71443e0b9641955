//! One pass over the logs: only lines of wanted items are kept, everything else is counted.

use super::matcher::Matcher;
use super::{files, lines};
use crate::domain::log_line::{Layout, LogLine, read_line};
use crate::domain::timeline::{Clock, Happening, ItemName, Origin};
use crate::ports::logs::{LogPlace, LogsRead, WantedLines};
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many lines of wanted items are kept.
const LINES_KEPT_MAX: usize = 50_000;

pub(super) fn receipts(places: &[LogPlace], wanted: &WantedLines) -> LogsRead {
    let mut pass = Pass {
        matcher: Matcher::new(wanted),
        wanted,
        read: LogsRead::default(),
        kept: BTreeMap::new(),
        seen: BTreeSet::new(),
    };
    pass.read.coverage.given = places.len();
    for place in places {
        let (found, trouble) = files::find(&place.path);
        pass.read.coverage.troubles.extend(trouble);
        for file in found {
            // Two patterns may mean one file.
            let whole = file.canonicalize().unwrap_or_else(|_| file.clone());
            if pass.seen.insert(whole) {
                pass.file(place, &file);
            }
        }
    }
    pass.read
}

struct Pass<'a> {
    matcher: Matcher,
    wanted: &'a WantedLines,
    read: LogsRead,
    /// The lines that were kept, each with the file it stands in: a rotated file may have been copied.
    kept: BTreeMap<[u8; 32], PathBuf>,
    seen: BTreeSet<PathBuf>,
}

impl Pass<'_> {
    fn file(&mut self, place: &LogPlace, file: &Path) {
        let shown = files::shown_name(file);
        let mut has_first = false;
        let mut last = Vec::new();
        let ended = lines::each(file, |number, line| {
            let line = line.trim_ascii();
            if line.is_empty() {
                return;
            }
            self.read.coverage.lines += 1;
            let may_fit = self.matcher.may_fit(line);
            // Of others only the shape is looked at: that finds a line that broke off.
            let is_object = line.starts_with(b"{") && line.ends_with(b"}");
            if !may_fit && !is_object {
                self.read.coverage.broken += 1;
                return;
            }
            if may_fit {
                self.keep(place, file, &format!("{shown}:{number}"), line);
            }
            if !has_first {
                has_first = self.note_time(line, &place.layout);
            }
            last.clear();
            last.extend_from_slice(line);
        });
        self.note_time(&last, &place.layout);
        match ended {
            Ok(overlong) => {
                self.read.coverage.files += 1;
                self.read.coverage.lines += overlong;
                self.read.coverage.broken += overlong;
            }
            Err(fault) => self.read.coverage.troubles.push(files::unreadable(file, &fault)),
        }
    }

    /// Widens the reach of the logs by the time of a line; whether it has one.
    fn note_time(&mut self, line: &[u8], layout: &Layout) -> bool {
        let Ok(LogLine { told, .. }) = read_line(line, layout) else { return false };
        let times: Vec<DateTime<Utc>> = told.iter().filter_map(|(at, _)| at.known()).collect();
        let coverage = &mut self.read.coverage;
        for at in &times {
            coverage.first = Some(coverage.first.map_or(*at, |first| first.min(*at)));
            coverage.last = Some(coverage.last.map_or(*at, |last| last.max(*at)));
        }
        !times.is_empty()
    }

    fn keep(&mut self, place: &LogPlace, file: &Path, at: &str, line: &[u8]) {
        let Ok(read) = read_line(line, &place.layout) else {
            self.read.coverage.broken += 1;
            return;
        };
        let is_wanted = read.key.as_ref().is_some_and(|key| self.wanted.keys.contains(key))
            || read.natural_key.as_ref().is_some_and(|key| self.wanted.natural_keys.contains(key));
        if !is_wanted || read.told.is_empty() {
            return;
        }
        if self.kept.len() >= LINES_KEPT_MAX {
            self.read.coverage.is_cut = true;
            return;
        }
        // The same line in another file is a copy; in one file it is a second one.
        let hash: [u8; 32] = Sha256::digest(line).into();
        if self.kept.get(&hash).is_some_and(|first| first != file) {
            return;
        }
        self.kept.insert(hash, file.to_owned());
        let source = place.source.clone().unwrap_or_default();
        let key = read.key.or(read.natural_key).unwrap_or_default();
        let item = Some(ItemName { source, key: key.into() });
        for (moment, what) in read.told {
            self.read.happenings.push(Happening {
                at: moment,
                clock: Clock::Log(Arc::clone(&place.name)),
                origin: Origin::Receipt,
                place: at.to_owned(),
                item: item.clone(),
                what,
            });
        }
    }
}
