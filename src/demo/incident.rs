//! The incident: rows as workers leave them, beside what the provider did.

use super::faults::{self, Fault};
use super::ledger::{Book, Ledger};
use crate::domain::finding::FindingKind;
use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{Connection, params};
use std::path::Path;

/// How long ago it all happened.
const AGO: TimeDelta = TimeDelta::hours(2);
/// How long ago what is not visible yet happened: less than the example's `settle`.
const A_MOMENT: TimeDelta = TimeDelta::seconds(20);

/// The tables, as everybody starts with them.
const TABLES: [(&str, &str, &str, Book); 3] = [
    (
        "jobs",
        "invoice",
        "CREATE TABLE jobs (key TEXT PRIMARY KEY, status TEXT NOT NULL, updated_at TEXT NOT NULL, last_error TEXT)",
        Book::Charges,
    ),
    (
        "processed_items",
        "order",
        "CREATE TABLE processed_items (item_key TEXT PRIMARY KEY, status TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, \
         updated_at TEXT NOT NULL, last_error TEXT)",
        Book::Charges,
    ),
    (
        "sent_emails",
        "receipt",
        "CREATE TABLE sent_emails (email_key TEXT PRIMARY KEY, status TEXT NOT NULL, created_at TEXT NOT NULL)",
        Book::Emails,
    ),
];

/// What must be found about an item: from how it was made, not from how the program judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The table.
    pub table: &'static str,
    /// The key.
    pub key: String,
    /// What went wrong.
    pub fault: Fault,
    /// The finding it must be; `None` for an item that must not be listed.
    pub finding: Option<FindingKind>,
    /// The provider's list it is in.
    pub book: Book,
}

/// A whole incident.
#[derive(Debug)]
pub struct Incident {
    /// Every item, in the order it was made.
    pub cases: Vec<Case>,
    /// What the provider did.
    pub ledger: Ledger,
}

impl Incident {
    /// Makes the database file and the provider's memory.
    ///
    /// # Errors
    /// The database's own.
    pub fn make(path: &Path, seed: u64, items: u32, now: DateTime<Utc>) -> rusqlite::Result<Self> {
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        let transaction = connection.transaction()?;
        let mut incident = Self { cases: Vec::new(), ledger: Ledger::default() };
        for (table, prefix, create, book) in TABLES {
            transaction.execute(create, [])?;
            for number in 0..items {
                let key = format!("{prefix}:{number}:2026-05");
                let item = Item { table, book, number, fault: faults::of(seed, &key), key, seed };
                item.leave_row(&transaction, now)?;
                item.leave_effects(&mut incident.ledger, now);
                incident.cases.push(item.case());
            }
        }
        transaction.commit()?;
        Ok(incident)
    }
}

/// How clients of several languages word a read time-out.
const TIMED_OUT: [&str; 4] = [
    "timed out",
    "HTTPSConnectionPool(host='api.example.com', port=443): Read timed out. (read timeout=10)",
    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
    "Net::ReadTimeout with #<TCPSocket:(closed)>",
];

/// One item on its way.
struct Item {
    table: &'static str,
    book: Book,
    number: u32,
    fault: Fault,
    key: String,
    seed: u64,
}

impl Item {
    fn at(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        match self.fault {
            Fault::Fresh | Fault::NotVisibleYet => now - A_MOMENT,
            _ => now - AGO + TimeDelta::milliseconds(i64::from(self.number) * 40),
        }
    }

    fn status(&self) -> &'static str {
        match self.fault {
            Fault::Fine => "done",
            Fault::KilledAfter | Fault::KilledBefore | Fault::Fresh => "running",
            Fault::Slow
            | Fault::Late
            | Fault::Dropped
            | Fault::BadGateway
            | Fault::Unavailable
            | Fault::NeverSent
            | Fault::Declined
            | Fault::Pending
            | Fault::OddStatus
            | Fault::Twice
            | Fault::DeclinedThenHappened
            | Fault::NotVisibleYet => "failed",
        }
    }

    /// The error as one of the field's clients words it.
    fn error(&self) -> Option<&'static str> {
        let one_of = |texts: &[&'static str]| {
            let at = faults::draw(self.seed, "error", &self.key, texts.len() as u64);
            usize::try_from(at).ok().and_then(|at| texts.get(at).copied())
        };
        match self.fault {
            Fault::Fine | Fault::KilledAfter | Fault::KilledBefore | Fault::Fresh => None,
            Fault::Slow
            | Fault::Late
            | Fault::Pending
            | Fault::OddStatus
            | Fault::Twice
            | Fault::DeclinedThenHappened
            | Fault::NotVisibleYet => one_of(&TIMED_OUT),
            Fault::Dropped => one_of(&["Remote end closed connection without response", "socket hang up"]),
            Fault::BadGateway => Some("HTTP Error 502: Bad Gateway"),
            Fault::Unavailable => Some("HTTP Error 503: Service Unavailable"),
            Fault::NeverSent => one_of(&[
                "<urlopen error [Errno 111] Connection refused>",
                "getaddrinfo ENOTFOUND api.example.com",
            ]),
            Fault::Declined => Some("Your card was declined. (card_declined: insufficient_funds)"),
        }
    }

    fn attempts(&self) -> i64 {
        if matches!(self.fault, Fault::Twice | Fault::DeclinedThenHappened) { 2 } else { 1 }
    }

    fn leave_row(&self, connection: &Connection, now: DateTime<Utc>) -> rusqlite::Result<()> {
        let at = self.at(now).format("%Y-%m-%dT%H:%M:%S%.6f").to_string();
        let (key, status, error) = (&self.key, self.status(), self.error());
        match self.table {
            "jobs" => connection
                .execute("INSERT INTO jobs VALUES (?1, ?2, ?3, ?4)", params![key, status, at, error])?,
            "processed_items" => connection.execute(
                "INSERT INTO processed_items VALUES (?1, ?2, ?3, ?4, ?5)",
                params![key, status, self.attempts(), at, error],
            )?,
            _ => {
                connection.execute("INSERT INTO sent_emails VALUES (?1, ?2, ?3)", params![key, status, at])?
            }
        };
        Ok(())
    }

    fn leave_effects(&self, ledger: &mut Ledger, now: DateTime<Utc>) {
        let at = self.at(now).timestamp();
        let amount = (self.book == Book::Charges).then(|| 1_000 + i64::from(self.number));
        let mut add = |status, after_seconds, is_visible| {
            ledger.add(self.book, &self.key, status, amount, at + after_seconds, is_visible);
        };
        match self.fault {
            Fault::Fine | Fault::Slow | Fault::Dropped | Fault::BadGateway | Fault::KilledAfter => {
                add("succeeded", 0, true);
            }
            Fault::Late => add("succeeded", 4, true),
            Fault::Unavailable | Fault::NeverSent | Fault::KilledBefore | Fault::Fresh => {}
            Fault::Declined => add("failed", 0, true),
            Fault::Pending => add("pending", 0, true),
            Fault::OddStatus => add("under_review", 0, true),
            Fault::Twice => {
                add("succeeded", -34, true);
                add("succeeded", 0, true);
            }
            Fault::DeclinedThenHappened => {
                add("failed", -34, true);
                add("succeeded", 0, true);
            }
            Fault::NotVisibleYet => add("succeeded", 0, false),
        }
    }

    fn case(&self) -> Case {
        let keeps_errors = self.table != "sent_emails";
        let finding = match self.fault {
            Fault::Fine | Fault::Fresh => None,
            Fault::KilledAfter | Fault::KilledBefore => Some(FindingKind::Stuck),
            // A definite error is no case; a table without errors cannot tell, so there it is one.
            Fault::NeverSent | Fault::Declined if keeps_errors => None,
            _ => Some(FindingKind::Ambiguous),
        };
        Case { table: self.table, key: self.key.clone(), fault: self.fault, finding, book: self.book }
    }
}
