//! Effects that are rows of a database, behind the provider's port: what every engine's way of reading them shares.
//!
//! ```text
//!  Question ─> spell (pure) ─> session ─> read (pure) ─> Answer
//!                 ^               │          │
//!                 └─ columns ─────┘          └─> record ─> Evidence
//! ```
//! A session is one snapshot in which nothing can be written. What keeps it from being a place where an absence would show (a
//! replica, a table that a crash empties) is told with its columns.

mod provider;
mod read;
mod record;
mod spell;
#[cfg(test)]
mod tests;

pub use provider::{SharedDatabase, SqlProvider};
pub use read::fault_of;
pub use spell::from_sql;

use super::Column;
use crate::domain::cell::Cell;
use crate::domain::evidence::Fault;
use crate::ports::source::SourceFault;
use crate::preset::provider::SqlLookUp;
use crate::preset::source::Engine;
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

/// A database that holds effects.
#[async_trait]
pub trait EffectsDatabase: Send + Sync {
    /// Its engine.
    fn engine(&self) -> Engine;

    /// Where it is, without a password.
    fn place(&self) -> &str;

    /// Begins to read: one snapshot, in which nothing can be written. Dropping the session stops whatever it reads.
    ///
    /// # Errors
    /// It cannot be reached, or what the look-up reads is not there.
    async fn begin(&self, look: &SqlLookUp) -> Result<Box<dyn EffectsSession>, SourceFault>;
}

/// One snapshot of a database.
#[async_trait]
pub trait EffectsSession: Send {
    /// What is known of what is read.
    fn facts(&self) -> &RowsFacts;

    /// The rows of a query, its values named as they are in it.
    ///
    /// # Errors
    /// The query's own, or that there is more than the bounds allow.
    async fn rows(
        &mut self,
        sql: &str,
        values: &[(String, Cell)],
        bounds: Bounds,
    ) -> Result<Vec<Vec<Cell>>, Fault>;

    /// The server in words: version, account, database.
    ///
    /// # Errors
    /// The query's own.
    async fn server(&mut self) -> Result<String, Fault>;

    /// The columns of a table that come first in some index; `None` where it is no table.
    ///
    /// # Errors
    /// The query's own.
    async fn indexed(&mut self) -> Result<Option<Vec<String>>, Fault>;

    /// Ends it after everything went well.
    async fn end(self: Box<Self>);
}

/// How much may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most rows.
    pub rows_max: usize,
    /// The most bytes of all values together.
    pub bytes_max: usize,
}

/// What is known of what is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsFacts {
    /// Its columns.
    pub columns: Vec<Column>,
    /// The most characters that a column keeps, where the database tells and may have cut what is longer.
    pub chars_max: Vec<(String, usize)>,
    /// Whether it is the server that is written to.
    pub standing: Standing,
    /// Why an absence would prove nothing here, each in a sentence's words.
    pub doubts: Vec<String>,
    /// The server's clock when it began.
    pub now: DateTime<Utc>,
}

/// Whether a server is the one that is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Primary,
    /// It follows another one.
    Replica {
        /// How far behind; `None` where it does not tell.
        lag: Option<TimeDelta>,
    },
}

impl RowsFacts {
    /// A column by its name: as it is written, else whatever its case.
    pub fn column(&self, name: &str) -> Option<&Column> {
        let exactly = self.columns.iter().find(|column| &*column.name == name);
        exactly.or_else(|| self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name)))
    }
}

/// Counts what is read against its bounds.
#[derive(Debug)]
pub struct Tally {
    bounds: Bounds,
    rows: Vec<Vec<Cell>>,
    bytes: usize,
}

impl Tally {
    /// Nothing read yet.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, rows: Vec::new(), bytes: 0 }
    }

    /// Takes a row in.
    ///
    /// # Errors
    /// It is one too many, or too large.
    pub fn keep(&mut self, row: Vec<Cell>) -> Result<(), Fault> {
        self.bytes += row.iter().map(Cell::size_bytes).sum::<usize>();
        read::check_bounds(self.rows.len() + 1, self.bytes, self.bounds)?;
        self.rows.push(row);
        Ok(())
    }

    /// Every row.
    pub fn into_rows(self) -> Vec<Vec<Cell>> {
        self.rows
    }
}
