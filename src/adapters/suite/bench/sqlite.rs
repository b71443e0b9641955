//! SQLite: a file in a folder of its own.

use super::{Bench, Printed, Session};
use crate::adapters::sql::effects::EffectsDatabase;
use crate::adapters::sqlite::{SqliteEffects, SqliteSource};
use crate::ports::source::Source;
use crate::preset::source::SourcePreset;
use async_trait::async_trait;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

const WORDS: &[(&str, &str)] = &[
    ("{name}", "TEXT"),
    ("{text}", "TEXT"),
    ("{int}", "INTEGER"),
    ("{real}", "REAL"),
    ("{bytes}", "BLOB"),
    ("{moment}", "TEXT"),
    ("{begin}", "BEGIN IMMEDIATE"),
];

pub(super) struct File {
    folder: TempDir,
}

impl File {
    pub(super) fn new() -> Self {
        let file = Self { folder: TempDir::new().unwrap() };
        let connection = Connection::open(file.path()).unwrap();
        connection.execute_batch("PRAGMA journal_mode = wal").unwrap();
        file
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("jobs.db")
    }
}

#[async_trait]
impl Bench for File {
    fn words(&self) -> &'static [(&'static str, &'static str)] {
        WORDS
    }

    fn bytes(&self, digits: &str) -> String {
        format!("x'{digits}'")
    }

    fn source(&self, preset: SourcePreset) -> Box<dyn Source> {
        Box::new(SqliteSource::new("mapped", self.path(), preset))
    }

    fn effects(&self) -> Box<dyn EffectsDatabase> {
        Box::new(SqliteEffects::new(self.path()))
    }

    async fn session(&self) -> Box<dyn Session> {
        let connection = Connection::open(self.path()).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        Box::new(Application(connection))
    }

    fn waiting(&self) -> Option<&'static str> {
        None
    }

    fn running(&self, _word: &str) -> Option<String> {
        None
    }

    fn place(&self) -> String {
        self.path().display().to_string()
    }
}

struct Application(Connection);

#[async_trait]
impl Session for Application {
    async fn run(&mut self, sql: &str) -> Result<(), String> {
        self.0.execute_batch(sql).map_err(|fault| fault.to_string())
    }

    async fn rows(&mut self, sql: &str) -> Vec<Printed> {
        let mut statement = self.0.prepare(sql).unwrap();
        let columns = statement.column_count();
        let rows =
            statement.query_map([], |row| (0..columns).map(|at| Ok(print(row.get_ref(at)?))).collect());
        rows.unwrap().collect::<Result<_, _>>().unwrap()
    }
}

fn print(value: ValueRef<'_>) -> Option<Vec<u8>> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string().into_bytes()),
        ValueRef::Real(number) => Some(format!("{number:?}").into_bytes()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_vec()),
    }
}
