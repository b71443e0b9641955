//! One suite of tests for whatever stands behind the port [`Record`]: each runs on the file and, where
//! `$UNSTUCK_TEST_POSTGRES` names a server, on a database. What is about one of the two alone is tested beside it.

mod bench;
mod chain;
mod changes;
mod logins;
mod losses;
mod signing;
mod subject;

use super::append;
use super::tests::{attached, entry, moment};
use crate::domain::audit::{Entry, Event, GENESIS, NewEntry, Subject, Walk};
use crate::domain::proposal::IdEnding;
use crate::ports::record::{Once, Record};
use crate::preset::source::Engine::{self, Postgres, Sqlite};
use bench::Audit;
use rstest::rstest;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

fn seqs(entries: &[Entry]) -> Vec<i64> {
    entries.iter().map(|entry| entry.seq).collect()
}

fn of(source: &str, key: &str) -> Subject {
    Subject { source: source.to_owned(), key: key.to_owned(), table: None }
}
