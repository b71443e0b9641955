//! Follows the chain page by page: what takes long (hashes, attachments) for many entries at once, the links one by one.

use super::told;
use crate::adapters::record::append::{ATTACHMENTS, sha256_of};
use crate::adapters::record::read::{COLUMNS, entry_of};
use crate::domain::audit::{Break, Entry, Walk};
use crate::ports::record::RecordFault;
use rayon::prelude::*;
use rusqlite::{Connection, Row, Rows};
use serde_json::Value;

/// How many entries are read in one transaction at most: between two, others can append.
pub(in crate::adapters::record) const PAGE_ENTRIES: i64 = 2_000;
/// How many bytes of entries and attachments a page holds at most, but for its last entry: what bounds the memory.
const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Fewer entries than these are looked at sooner than they are handed to other processors.
const ALONE_BELOW: usize = 200;

/// Why a walk ended before the end.
#[derive(Debug)]
pub(in crate::adapters::record) enum Stop {
    /// The first entry that is wrong.
    Entry(Break),
    /// The file around the entries.
    File(String),
    /// SQLite's own.
    Sql(rusqlite::Error),
    /// A server's: nothing is said of what could not be read.
    Fault(RecordFault),
}

impl Stop {
    pub(in crate::adapters::record) fn at(seq: i64, what: impl Into<String>) -> Self {
        Self::Entry(Break { seq, what: what.into() })
    }
}

impl From<rusqlite::Error> for Stop {
    fn from(fault: rusqlite::Error) -> Self {
        Self::Sql(fault)
    }
}

/// An entry with what lies beside it, as it was read.
#[derive(Debug)]
pub(in crate::adapters::record) struct Whole {
    pub(in crate::adapters::record) seq: i64,
    pub(in crate::adapters::record) entry: Result<Entry, String>,
    pub(in crate::adapters::record) beside: Vec<Kept>,
}

/// An attachment as it lies there; `None` where a column is not of its type.
#[derive(Debug)]
pub(in crate::adapters::record) struct Kept {
    pub(in crate::adapters::record) place: Option<i64>,
    pub(in crate::adapters::record) texts: Option<KeptTexts>,
}

/// The texts of an attachment.
#[derive(Debug)]
pub(in crate::adapters::record) struct KeptTexts {
    pub(in crate::adapters::record) sha256: String,
    pub(in crate::adapters::record) text: String,
    pub(in crate::adapters::record) text_sha256: String,
}

/// Some entries in a row.
struct Page {
    entries: Vec<Whole>,
    /// Whether nothing comes after them.
    is_last: bool,
}

/// Follows the chain from where the walk is to the end, and shows the walk after each entry.
pub(in crate::adapters::record) fn follow(
    connection: &Connection,
    walk: &mut Walk,
    mut seen: impl FnMut(&Walk),
) -> Result<(), Stop> {
    let mut pages = Pages::from(walk);
    loop {
        let is_last = pages.step(connection, walk, &mut seen)?;
        if is_last {
            return Ok(());
        }
    }
}

/// The pages of a chain: while one is read, the one before it is looked at on the other processors.
#[derive(Debug)]
pub(in crate::adapters::record) struct Pages {
    waiting: Vec<Whole>,
    from: i64,
}

impl Pages {
    /// From where the walk is. An entry with a number below the first would be a foreign one: begin below it.
    pub(in crate::adapters::record) fn from(walk: &Walk) -> Self {
        let from = if walk.count() == 0 { i64::MIN } else { walk.count() + 1 };
        Self { waiting: Vec::new(), from }
    }

    /// Reads a page and follows the one before it; says whether that was the last, which is then followed too.
    pub(in crate::adapters::record) fn step(
        &mut self,
        connection: &Connection,
        walk: &mut Walk,
        seen: &mut impl FnMut(&Walk),
    ) -> Result<bool, Stop> {
        let before = std::mem::take(&mut self.waiting);
        let mut looked = Vec::new();
        let page = if before.is_empty() {
            read_page(connection, self.from)
        } else {
            rayon::in_place_scope(|scope| {
                scope.spawn(|_| looked = look_at(&before));
                read_page(connection, self.from)
            })
        };
        // What was read before comes first, also where nothing more can be read.
        follow_looked(looked, walk, seen)?;
        let page = page?;
        if page.is_last {
            return follow_page(&page.entries, walk, seen).map(|()| true);
        }
        self.from = page.entries.last().map_or(self.from, |last| last.seq.saturating_add(1));
        self.waiting = page.entries;
        Ok(false)
    }
}

/// Reads the entries from a number on, and the attachments beside them.
fn read_page(connection: &Connection, from: i64) -> rusqlite::Result<Page> {
    let asked = format!("SELECT {COLUMNS} FROM entries WHERE seq >= ?1 ORDER BY seq LIMIT ?2");
    let mut statement = connection.prepare_cached(&asked)?;
    let mut rows = statement.query([from, PAGE_ENTRIES])?;
    let beside =
        "SELECT seq, place, sha256, text, text_sha256 FROM attachments WHERE seq >= ?1 ORDER BY seq, place";
    let mut beside = connection.prepare_cached(beside)?;
    let mut beside = Beside { rows: beside.query([from])?, next: None };
    beside.step()?;
    let (mut entries, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        let entry = entry_of(row).map_err(|fault| format!("cannot be read ({})", told(&fault)));
        let kept = beside.of(seq)?;
        bytes += entry.as_ref().map_or(0, |entry| entry.body.len() + entry.key.len());
        bytes += kept.iter().filter_map(|kept| Some(kept.texts.as_ref()?.text.len())).sum::<usize>();
        entries.push(Whole { seq, entry, beside: kept });
        if bytes > PAGE_BYTES_MAX {
            return Ok(Page { entries, is_last: false });
        }
    }
    let is_last = i64::try_from(entries.len()).is_ok_and(|count| count < PAGE_ENTRIES);
    Ok(Page { entries, is_last })
}

/// Attachments in the order of their entries, read alongside these.
struct Beside<'a> {
    rows: Rows<'a>,
    next: Option<(i64, Kept)>,
}

impl Beside<'_> {
    fn step(&mut self) -> rusqlite::Result<()> {
        self.next = match self.rows.next()? {
            None => None,
            Some(row) => Some((row.get(0)?, kept_of(row))),
        };
        Ok(())
    }

    /// Those of one entry. What belongs to no entry is passed over: it is looked for at the end.
    fn of(&mut self, seq: i64) -> rusqlite::Result<Vec<Kept>> {
        let mut all = Vec::new();
        while let Some((of, kept)) = self.next.take_if(|(of, _)| *of <= seq) {
            if of == seq {
                all.push(kept);
            }
            self.step()?;
        }
        Ok(all)
    }
}

fn kept_of(row: &Row<'_>) -> Kept {
    let texts = || -> rusqlite::Result<KeptTexts> {
        Ok(KeptTexts { sha256: row.get(2)?, text: row.get(3)?, text_sha256: row.get(4)? })
    };
    Kept { place: row.get(1).ok(), texts: texts().ok() }
}

/// Checks some entries in a row, and shows the walk after each.
pub(in crate::adapters::record) fn follow_page(
    entries: &[Whole],
    walk: &mut Walk,
    seen: &mut impl FnMut(&Walk),
) -> Result<(), Stop> {
    follow_looked(look_at(entries), walk, seen)
}

/// What can be said of an entry by itself: its hash, and what is wrong with its attachments.
struct Looked<'a> {
    entry: &'a Entry,
    expected_hash: String,
    wrong_beside: Option<String>,
}

fn look_at(entries: &[Whole]) -> Vec<Result<Looked<'_>, Stop>> {
    if entries.len() < ALONE_BELOW {
        return entries.iter().map(look_at_one).collect();
    }
    entries.par_iter().map(look_at_one).collect()
}

fn look_at_one(whole: &Whole) -> Result<Looked<'_>, Stop> {
    let entry = whole.entry.as_ref().map_err(|what| Stop::at(whole.seq, what.clone()))?;
    let wrong_beside = look_at_attachments(entry, &whole.beside);
    Ok(Looked { entry, expected_hash: entry.expected_hash(), wrong_beside })
}

fn follow_looked(
    looked: Vec<Result<Looked<'_>, Stop>>,
    walk: &mut Walk,
    seen: &mut impl FnMut(&Walk),
) -> Result<(), Stop> {
    for looked in looked {
        let Looked { entry, expected_hash, wrong_beside } = looked?;
        if let Some(what) = wrong_beside {
            // Not counted, because it is not as it was written; but what is wrong with its place comes first.
            walk.clone().step_hashed(entry, &expected_hash).map_err(Stop::Entry)?;
            return Err(Stop::at(entry.seq, what));
        }
        walk.step_hashed(entry, &expected_hash).map_err(Stop::Entry)?;
        seen(walk);
    }
    Ok(())
}

/// Compares an entry's attachments with the hashes in its body, which its own hash vouches for.
fn look_at_attachments(entry: &Entry, beside: &[Kept]) -> Option<String> {
    let listed = attachments_listed(&entry.body);
    for (place, kept) in (1..).zip(beside) {
        let Some((sha256, text_sha256)) = usize::try_from(place - 1).ok().and_then(|at| listed.get(at))
        else {
            return Some("has an attachment that was not written with it".to_owned());
        };
        let is_same = kept.place == Some(place)
            && kept.texts.as_ref().is_some_and(|there| {
                there.sha256 == *sha256
                    && there.text_sha256 == *text_sha256
                    && there.text_sha256 == sha256_of(&there.text)
            });
        if !is_same {
            return Some(format!("its attachment {place} is not what was written"));
        }
    }
    let is_short = beside.len() < listed.len();
    is_short.then(|| format!("its attachment {} is missing", beside.len() + 1))
}

/// Each attachment's hash as it came and as it is kept.
fn attachments_listed(body: &str) -> Vec<(String, String)> {
    // Most bodies list none: do not parse them.
    if !body.contains(ATTACHMENTS) {
        return Vec::new();
    }
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let listed = body.get(ATTACHMENTS).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let hash =
        |kept: &Value, name: &str| kept.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    listed.iter().map(|kept| (hash(kept, "sha256"), hash(kept, "text_sha256"))).collect()
}
