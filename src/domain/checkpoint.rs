//! Checkpoints: what the audit held at a moment, signed with a key that is kept elsewhere.
//!
//! The chain shows every change but two, because whoever can write the file can compute its hashes too: a tail that was
//! cut off, and a chain that was written anew. A checkpoint shows both to whoever has the key's public half.

use crate::domain::audit::{Break, GENESIS};
use crate::domain::cell::hex;
use crate::domain::signing::{PublicKey, SigningKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The version of what is signed below; a line with another one is not a checkpoint of this program.
pub const VERSION: u32 = 1;
/// What the signed bytes begin with, so that a signature means nothing anywhere else.
const PURPOSE: &str = "unstuck audit checkpoint";

/// What the audit held at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// [`VERSION`].
    pub version: u32,
    /// Which audit: the hash of its first entry.
    pub audit: String,
    /// How many entries it held.
    pub entries: i64,
    /// The hash of the last of them.
    pub head: String,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// Its file's bytes; `None` in the middle of a run, and for a file too large to be read at every end.
    pub file: Option<FileSeal>,
    /// The hash of the checkpoint before it; of the first, [`GENESIS`].
    pub prev: String,
    /// The fingerprint of the key that signs it.
    pub key: String,
}

/// The bytes of a file at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSeal {
    /// SHA-256 of all bytes.
    pub sha256: String,
    /// How many there are.
    pub bytes: u64,
}

impl Checkpoint {
    /// What is signed: each field with its length before it, so that none can lend a character to the next.
    fn message(&self) -> Vec<u8> {
        let (sha256, bytes) = self
            .file
            .as_ref()
            .map_or((String::new(), String::new()), |file| (file.sha256.clone(), file.bytes.to_string()));
        let (version, entries) = (self.version.to_string(), self.entries.to_string());
        let fields: [&str; 10] = [
            PURPOSE,
            &version,
            &self.audit,
            &entries,
            &self.head,
            &self.at,
            &sha256,
            &bytes,
            &self.prev,
            &self.key,
        ];
        let mut message = Vec::new();
        for field in fields {
            message.extend(u64::try_from(field.len()).unwrap_or(u64::MAX).to_be_bytes());
            message.extend(field.as_bytes());
        }
        message
    }

    /// Signs it.
    pub fn sign(self, key: &SigningKey) -> Signed {
        let signature = key.sign(&self.message());
        Signed { checkpoint: self, signature }
    }
}

/// A checkpoint with its signature: one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// What is said.
    pub checkpoint: Checkpoint,
    /// Who says so, in base64.
    pub signature: String,
}

/// Why a line counts for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// No checkpoint, or not spelled as this program spells one: a single changed byte is enough.
    #[error("is not a checkpoint")]
    NotOne,
    /// Another key's than those that are known.
    #[error("was signed by another key")]
    OtherKey,
    /// This key never signed that.
    #[error("is forged: its signature does not fit what it says")]
    Forged,
}

impl Signed {
    /// The line, without its end.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The checkpoint in a line that one of these keys signed.
    ///
    /// # Errors
    /// [`LineFault`].
    pub fn from_line(line: &str, keys: &[PublicKey]) -> Result<Self, LineFault> {
        let signed: Self = serde_json::from_str(line).map_err(|_| LineFault::NotOne)?;
        if signed.to_line() != line || signed.checkpoint.version != VERSION || signed.checkpoint.entries < 1 {
            return Err(LineFault::NotOne);
        }
        let by_name = |key: &&PublicKey| key.fingerprint() == signed.checkpoint.key;
        let Some(key) = keys.iter().find(by_name) else {
            let is_ours = keys.iter().any(|key| signed.is_by(*key));
            return Err(if is_ours { LineFault::Forged } else { LineFault::OtherKey });
        };
        if key.has_signed(&signed.checkpoint.message(), &signed.signature) {
            Ok(signed)
        } else {
            Err(LineFault::Forged)
        }
    }

    /// Whether a key signed it under its own name, whatever name stands there now.
    fn is_by(&self, key: PublicKey) -> bool {
        let named = Checkpoint { key: key.fingerprint(), ..self.checkpoint.clone() };
        key.has_signed(&named.message(), &self.signature)
    }

    /// What the next checkpoint carries as its `prev`.
    pub fn hash(&self) -> String {
        hex(&Sha256::digest(self.to_line().as_bytes()))
    }
}

/// What stands in `prev` of the checkpoint after this one; of the first, [`GENESIS`].
pub fn prev_of(last: Option<&Signed>) -> String {
    last.map_or_else(|| GENESIS.to_owned(), Signed::hash)
}

/// What checkpoints say a chain must be, in the order of its entries, and how much of it they have vouched for so far.
#[derive(Debug, Clone, Default)]
pub struct Marks {
    in_order: Vec<Checkpoint>,
    next: usize,
    sound: Option<usize>,
}

impl Marks {
    /// The marks of checkpoints from anywhere: a line that is kept in several places counts once.
    pub fn new(checkpoints: impl IntoIterator<Item = Checkpoint>) -> Self {
        let mut in_order: Vec<Checkpoint> = checkpoints.into_iter().collect();
        in_order.sort_by(|one, other| (one.entries, &one.at).cmp(&(other.entries, &other.at)));
        in_order.dedup();
        Self { in_order, next: 0, sound: None }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.in_order.len()
    }

    /// Compares a chain of so many entries with what was signed of it. To be called after each entry, until it finds
    /// something: an entry that is not what was signed makes every later one another.
    pub fn look(&mut self, count: i64, head: &str) -> Option<Break> {
        if count == 1
            && let Some(other) = self.in_order.iter().find(|mark| mark.audit != head)
        {
            let what = format!(
                "is not what was signed: the checkpoint of {} is of an audit that begins with another entry",
                other.at
            );
            return Some(Break { seq: 1, what });
        }
        while let Some(mark) = self.in_order.get(self.next).filter(|mark| mark.entries == count) {
            if mark.head != head {
                let first = self.sound().map_or(0, |mark| mark.entries) + 1;
                let what = format!(
                    "is not what was signed: the checkpoint of {} covers entries {first} to {count}",
                    mark.at
                );
                return Some(Break { seq: first, what });
            }
            self.sound = Some(self.next);
            self.next += 1;
        }
        None
    }

    /// What is missing at the end of a chain that is whole in itself.
    pub fn missing_after(&self, count: i64) -> Option<Break> {
        let last = self.in_order.last().filter(|mark| mark.entries > count)?;
        let were = were_in_words(last.entries);
        let mut what = format!("is missing: a checkpoint of {} says that there {were}", last.at);
        let sound = self.sound().map_or(0, |mark| mark.entries);
        if sound < count {
            what.push_str(&format!("; for entries {} to {count} no checkpoint vouches", sound + 1));
        }
        Some(Break { seq: count + 1, what })
    }

    /// The last checkpoint that fitted.
    pub fn sound(&self) -> Option<&Checkpoint> {
        self.in_order.get(self.sound?)
    }

    /// The one that covers the most entries.
    pub fn last(&self) -> Option<&Checkpoint> {
        self.in_order.last()
    }

    /// The seals of the file's bytes that hold for a chain of exactly so many entries.
    pub fn file_seals(&self, count: i64) -> impl Iterator<Item = (&str, &FileSeal)> {
        self.in_order
            .iter()
            .filter(move |mark| mark.entries == count)
            .filter_map(|mark| Some((mark.at.as_str(), mark.file.as_ref()?)))
    }
}

/// So many entries that were there, with the verb.
pub fn were_in_words(count: i64) -> String {
    format!("{} {}", if count == 1 { "was" } else { "were" }, entries_in_words(count))
}

/// A number of entries in words.
pub fn entries_in_words(count: i64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::signing::tests::key;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use rstest::rstest;

    fn checkpoint(file: Option<FileSeal>) -> Checkpoint {
        Checkpoint {
            version: VERSION,
            audit: "ab".repeat(32),
            entries: 6,
            head: "cd".repeat(32),
            at: "2027-01-15T08:00:00Z".to_owned(),
            file,
            prev: GENESIS.to_owned(),
            key: key(1).public().fingerprint(),
        }
    }

    fn seal() -> FileSeal {
        FileSeal { sha256: "ef".repeat(32), bytes: 45_056 }
    }

    fn read(line: &str) -> Result<Signed, LineFault> {
        Signed::from_line(line, &[key(1).public()])
    }

    #[rstest]
    #[case::with_file(Some(seal()))]
    #[case::without(None)]
    fn a_signed_checkpoint_is_read_from_its_line(#[case] file: Option<FileSeal>) {
        let signed = checkpoint(file).sign(&key(1));
        assert_eq!(read(&signed.to_line()), Ok(signed));
    }

    /// The line and the signature are a file format: they must never change by accident.
    #[test]
    fn a_line_is_the_same_in_every_version() {
        let line = checkpoint(Some(seal())).sign(&key(1)).to_line();
        insta::assert_snapshot!(line);
    }

    #[test]
    fn another_keys_checkpoint_and_a_forged_one_are_told_apart() {
        let by_another = Checkpoint { key: key(2).public().fingerprint(), ..checkpoint(None) }.sign(&key(2));
        assert_eq!(read(&by_another.to_line()), Err(LineFault::OtherKey));
        let both = [key(1).public(), key(2).public()];
        assert_eq!(Signed::from_line(&by_another.to_line(), &both), Ok(by_another));
        // Another name on what this key signed does not make it somebody else's.
        let mut renamed = checkpoint(None).sign(&key(1));
        renamed.checkpoint.key = key(2).public().fingerprint();
        assert_eq!(read(&renamed.to_line()), Err(LineFault::Forged));
        let forged = checkpoint(None).sign(&key(2));
        assert_eq!(read(&forged.to_line()), Err(LineFault::Forged));
        let mut more = checkpoint(None).sign(&key(1));
        more.checkpoint.entries = 7;
        assert_eq!(read(&more.to_line()), Err(LineFault::Forged));
    }

    #[rstest]
    #[case::nothing("")]
    #[case::another_object("{\"seq\":1}")]
    #[case::no_json("checkpoint")]
    fn what_is_no_checkpoint_is_said(#[case] line: &str) {
        assert_eq!(read(line), Err(LineFault::NotOne));
    }

    #[test]
    fn another_version_is_not_one_of_ours() {
        let newer = Checkpoint { version: 2, ..checkpoint(None) }.sign(&key(1));
        assert_eq!(read(&newer.to_line()), Err(LineFault::NotOne));
    }

    fn mark(entries: i64, head: &str) -> Checkpoint {
        let at = format!("2027-01-15T08:00:{entries:02}Z");
        Checkpoint { audit: "h1".to_owned(), entries, head: head.to_owned(), at, ..checkpoint(None) }
    }

    /// Walks entries with these heads and says what the marks say of them, up to the first break.
    fn walked(marks: &mut Marks, heads: &[&str]) -> Option<String> {
        let mut counted = (1..).zip(heads);
        let broken = counted.find_map(|(count, head)| marks.look(count, head));
        let count = i64::try_from(heads.len()).unwrap();
        broken.or_else(|| marks.missing_after(count)).map(|broken| broken.to_string())
    }

    #[rstest]
    #[case::whole(&["h1", "h2", "h3"], None, Some(3))]
    #[case::gone_on(&["h1", "h2", "h3", "h4"], None, Some(3))]
    #[case::cut_off(&["h1", "h2"], Some("entry 3: is missing: a checkpoint of 2027-01-15T08:00:03Z says that there were 3 entries"), Some(2))]
    #[case::emptied(&[], Some("entry 1: is missing: a checkpoint of 2027-01-15T08:00:03Z says that there were 3 entries"), None)]
    #[case::written_anew(&["h1", "h2", "x3", "x4"], Some("entry 3: is not what was signed: the checkpoint of 2027-01-15T08:00:03Z covers entries 3 to 3"), Some(2))]
    #[case::written_anew_earlier(&["h1", "x2", "x3"], Some("entry 2: is not what was signed: the checkpoint of 2027-01-15T08:00:02Z covers entries 2 to 2"), Some(1))]
    #[case::another_audit(&["x1", "x2", "x3"], Some("entry 1: is not what was signed: the checkpoint of 2027-01-15T08:00:01Z is of an audit that begins with another entry"), None)]
    fn marks_show_what_a_chain_cannot(
        #[case] heads: &[&str],
        #[case] told: Option<&str>,
        #[case] sound: Option<i64>,
    ) {
        let mut marks = Marks::new([mark(3, "h3"), mark(1, "h1"), mark(2, "h2"), mark(2, "h2")]);
        assert_eq!(marks.count(), 3);
        assert_eq!(walked(&mut marks, heads).as_deref(), told);
        assert_eq!(marks.sound().map(|mark| mark.entries), sound);
    }

    #[test]
    fn the_range_begins_after_the_last_checkpoint_that_fits() {
        let mut marks = Marks::new([mark(2, "h2"), mark(6, "h6")]);
        let told = walked(&mut marks, &["h1", "h2", "h3", "x4", "x5", "x6"]).unwrap();
        assert!(
            told.starts_with("entry 3: is not what was signed") && told.ends_with("entries 3 to 6"),
            "{told}"
        );
    }

    #[test]
    fn a_seal_of_the_file_counts_only_at_its_own_entry() {
        let sealed = Checkpoint { file: Some(seal()), ..mark(3, "h3") };
        let marks = Marks::new([mark(2, "h2"), mark(3, "h3"), sealed.clone()]);
        assert_eq!(marks.file_seals(3).collect::<Vec<_>>(), [(sealed.at.as_str(), &seal())]);
        assert_eq!(marks.file_seals(2).count() + marks.file_seals(4).count(), 0);
    }

    proptest! {
        #[test]
        fn any_changed_byte_of_a_line_is_found(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let line = checkpoint(Some(seal())).sign(&key(1)).to_line();
            let mut bytes = line.clone().into_bytes();
            let at = at.index(bytes.len());
            prop_assume!(bytes[at] != byte);
            bytes[at] = byte;
            if let Ok(changed) = String::from_utf8(bytes) {
                prop_assert!(read(&changed).is_err());
            }
        }
    }
}
