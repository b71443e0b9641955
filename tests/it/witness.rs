//! Witnesses of what was done: the source's own triggers, which log every change of a row, and the audit's entries, read
//! without the program. Their stories must agree.

use rusqlite::Connection;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The columns of the three tables, the key first.
const COLUMNS: [(&str, &[&str]); 3] = [
    ("jobs", &["key", "status", "updated_at", "last_error"]),
    ("processed_items", &["item_key", "status", "attempts", "updated_at", "last_error"]),
    ("sent_emails", &["email_key", "status", "created_at"]),
];

/// A log table, and triggers that write every later change of a row into it, in the transaction of the change.
pub fn triggers() -> String {
    let mut sql = String::from("CREATE TABLE witness (n INTEGER PRIMARY KEY, at, source, key, old, new);");
    for (table, columns) in COLUMNS {
        let row = |alias: &str| {
            let pairs: Vec<String> = columns.iter().map(|name| format!("'{name}', {alias}.{name}")).collect();
            format!("json_object({})", pairs.join(", "))
        };
        let (old, new, key) = (row("OLD"), row("NEW"), columns[0]);
        for (what, alias, old, new) in [
            ("UPDATE", "OLD", &*old, &*new),
            ("DELETE", "OLD", &*old, "NULL"),
            ("INSERT", "NEW", "NULL", &*new),
        ] {
            sql.push_str(&format!(
                "CREATE TRIGGER {table}_{what} AFTER {what} ON {table} BEGIN
                   INSERT INTO witness (at, source, key, old, new)
                   VALUES (strftime('%Y-%m-%dT%H:%M:%f', 'now'), '{table}', {alias}.{key}, {old}, {new});
                 END;"
            ));
        }
    }
    sql
}

/// A connection that waits for its turn.
fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(Duration::from_secs(30)).unwrap();
    connection
}

/// One change of a row, as the triggers saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// When, UTC, to the millisecond.
    pub at: String,
    pub source: String,
    pub key: String,
    /// The row before; `None` for a new one.
    pub old: Option<Value>,
    /// The row after; `None` for one that was deleted.
    pub new: Option<Value>,
}

/// Every change so far, the oldest first.
pub fn changes_of(database: &Path) -> Vec<Change> {
    let connection = open(database);
    let mut statement =
        connection.prepare("SELECT at, source, key, old, new FROM witness ORDER BY n").unwrap();
    let row = |text: Option<String>| text.map(|text| serde_json::from_str(&text).unwrap());
    let changes = statement.query_map([], |found| {
        Ok(Change {
            at: found.get(0)?,
            source: found.get(1)?,
            key: found.get(2)?,
            old: row(found.get(3)?),
            new: row(found.get(4)?),
        })
    });
    changes.unwrap().collect::<Result<_, _>>().unwrap()
}

/// An entry of the audit.
#[derive(Debug, Clone)]
pub struct Entry {
    pub seq: i64,
    pub at: String,
    pub event: String,
    pub decision: String,
    pub source: String,
    pub key: String,
    pub operator: String,
    pub origin: String,
    pub body: Value,
}

impl Entry {
    /// A row in the body; `None` for NULL.
    pub fn row(&self, name: &str) -> Option<Value> {
        Some(self.body[name].clone()).filter(|row| !row.is_null())
    }

    fn is_outcome(&self) -> bool {
        matches!(&*self.event, "applied" | "refused" | "failed")
    }
}

/// Every entry of an audit, the oldest first. Not to be called on the file of a program that was killed before its next
/// start: to read it is to roll back what was under way, which is for the program to do.
pub fn entries_of(audit: &Path) -> Vec<Entry> {
    let connection = open(audit);
    // A program that was killed early enough has made no tables yet.
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    if tables == 0 {
        return Vec::new();
    }
    let mut statement = connection
        .prepare(
            "SELECT seq, at, event, decision, source, key, operator, origin, body FROM entries ORDER BY seq",
        )
        .unwrap();
    let entries = statement.query_map([], |row| {
        Ok(Entry {
            seq: row.get(0)?,
            at: row.get(1)?,
            event: row.get(2)?,
            decision: row.get(3)?,
            source: row.get(4)?,
            key: row.get(5)?,
            operator: row.get(6)?,
            origin: row.get(7)?,
            body: serde_json::from_str(&row.get::<_, String>(8)?).unwrap(),
        })
    });
    entries.unwrap().collect::<Result<_, _>>().unwrap()
}

/// What is on record of one decision.
#[derive(Debug, Clone)]
pub struct Decision {
    /// `None` for one that was refused before it was intended.
    pub intent: Option<Entry>,
    /// `None` for one that broke off.
    pub outcome: Option<Entry>,
}

impl Decision {
    /// The last entry, or the only one.
    pub fn last(&self) -> &Entry {
        self.outcome.as_ref().or(self.intent.as_ref()).unwrap()
    }

    /// Whether it came to this outcome.
    pub fn came_to(&self, event: &str) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| outcome.event == event)
    }

    /// Whether it was applied and writes: an escalation changes no row.
    fn wrote(&self) -> bool {
        self.came_to("applied") && self.last().body["choice"] != "escalate"
    }

    /// Whether it broke off and was settled by a later start.
    pub fn was_recovered(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| outcome.body["recovered"] == true)
    }
}

/// Decisions by their id. Panics where one has two intents, two outcomes, or an outcome before its intent.
pub fn decisions_of(entries: &[Entry]) -> BTreeMap<String, Decision> {
    let mut decisions: BTreeMap<String, Decision> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| !entry.decision.is_empty()) {
        let decision =
            decisions.entry(entry.decision.clone()).or_insert(Decision { intent: None, outcome: None });
        assert!(decision.outcome.is_none(), "entry {} follows the outcome of its decision", entry.seq);
        if entry.event == "intended" {
            assert!(decision.intent.is_none(), "entry {} is a second intent", entry.seq);
            decision.intent = Some(entry.clone());
        } else {
            assert!(entry.is_outcome(), "entry {} is neither intent nor outcome", entry.seq);
            if let Some(intent) = &decision.intent {
                assert_eq!((&intent.key, &intent.source), (&entry.key, &entry.source));
                assert_eq!(entry.body["intent"], intent.seq, "entry {}", entry.seq);
            } else {
                assert_eq!(entry.event, "refused", "entry {} touched something without an intent", entry.seq);
            }
            decision.outcome = Some(entry.clone());
        }
    }
    decisions
}

/// Pairs each applied decision that writes with exactly one change of the source, of the row as it was intended and by
/// then on record, to the row as it is on record. Panics where one of either side is left over: a change that nobody
/// intended, a decision that was carried out twice or not at all, a refusal that wrote.
pub fn agree<'a>(
    decisions: impl IntoIterator<Item = &'a Decision>,
    changes: impl IntoIterator<Item = &'a Change>,
) -> usize {
    let mut written: Vec<&Decision> = decisions.into_iter().filter(|decision| decision.wrote()).collect();
    let mut paired = 0;
    for change in changes {
        let is_of = |decision: &Decision| {
            let outcome = decision.last();
            (&outcome.source, &outcome.key) == (&change.source, &change.key)
                && outcome.row("row_before") == change.old
                && outcome.row("row_after") == change.new
        };
        let at = written.iter().position(|decision| is_of(decision));
        let decision = written.swap_remove(at.unwrap_or_else(|| panic!("nobody decided this: {change:?}")));
        let intent = decision.intent.as_ref().unwrap();
        assert_eq!(intent.row("row_seen"), change.old, "{change:?} replaced another row than was intended");
        assert!(to_the_millisecond(&intent.at) <= change.at, "{change:?} came before its intent {intent:?}");
        paired += 1;
    }
    assert!(written.is_empty(), "on record as applied, but the source never changed so: {written:?}");
    paired
}

/// A time of the record in the spelling of the triggers.
fn to_the_millisecond(at: &str) -> String {
    let (seconds, fraction) =
        at.trim_end_matches('Z').split_once('.').unwrap_or((at.trim_end_matches('Z'), ""));
    format!("{seconds}.{fraction:0<3.3}")
}
