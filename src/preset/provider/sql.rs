//! How effects are read from a table or a query of a database, instead of being asked for over HTTP.

use crate::domain::evidence::EffectState;
use crate::domain::money::Unit;
use crate::domain::plan::ListingFacts;
use crate::preset::source::TimeColumn;
use crate::preset::template::Template;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many rows a plan counts as one page of a list.
pub const SQL_PAGE_ROWS: usize = 1_000;
/// The most such pages of one list that are read.
pub const SQL_PAGES_MAX: usize = 200;
/// The longest that reading one list may take, in seconds.
pub const SQL_LISTING_SECONDS_MAX: u64 = 120;
/// The longest reference that a database is asked for, in bytes: none that a job sends comes near it.
pub const SQL_REFERENCE_BYTES_MAX: usize = 16 * 1024;
/// How many look-ups a second a database gets that says nothing about it.
pub const SQL_PACE_PER_SECOND: f64 = 50.0;

/// How the effects of a reference are read. Its database is in the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlLookUp {
    /// Where the rows are.
    pub from: RowsFrom,
    /// The column with an effect's id.
    pub id: String,
    /// The column with our reference.
    pub reference: String,
    /// The longest reference that the column keeps whole, in characters; `None` where only the database tells.
    pub reference_chars_max: Option<usize>,
    /// The status.
    pub status: StatusColumn,
    /// The amount; `None` where there is none.
    pub amount: Option<AmountColumn>,
    /// When the effect came about; `None` where no column tells, and then there is no list over a window.
    pub time: Option<TimeColumn>,
    /// A link for people, made from `id` and `reference`.
    pub link: Option<Template>,
    /// Which statuses amount to what. One that is not listed is [`EffectState::Unlisted`].
    pub statuses: BTreeMap<String, EffectState>,
}

/// Where the rows are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowsFrom {
    /// A table or a view.
    Table {
        /// Its schema; `None` for wherever the connection looks first.
        schema: Option<String>,
        /// Its name.
        table: String,
    },
    /// A query.
    Select(String),
}

/// Where the status is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusColumn {
    /// In a column.
    Column(String),
    /// A row is the effect, says the preset: this word stands for it.
    Fixed(String),
}

/// Where the amount is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmountColumn {
    /// The column.
    pub column: String,
    /// The currency.
    pub currency: CurrencyColumn,
    /// The unit of the amount.
    pub unit: Unit,
}

/// Where the currency is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CurrencyColumn {
    /// In a column.
    Column(String),
    /// Always the same.
    Fixed(String),
}

impl SqlLookUp {
    /// What a status amounts to. Compared exactly: `Booked` is not `booked`.
    pub fn state_of(&self, status: &str) -> EffectState {
        self.statuses.get(status).copied().unwrap_or(EffectState::Unlisted)
    }

    /// Every column that is read, each once.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns = vec![self.id.as_str(), self.reference.as_str()];
        if let StatusColumn::Column(column) = &self.status {
            columns.push(column);
        }
        if let Some(amount) = &self.amount {
            columns.push(&amount.column);
            if let CurrencyColumn::Column(column) = &amount.currency {
                columns.push(column);
            }
        }
        columns.extend(self.time.as_ref().map(|time| time.column.as_str()));
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// What it is read from, for a sentence.
    pub fn name(&self) -> &str {
        match &self.from {
            RowsFrom::Table { table, .. } => table,
            RowsFrom::Select(_) => "the query",
        }
    }

    /// What a plan needs to know of its list; `None` where no column tells when an effect came about.
    pub fn listing_facts(&self) -> Option<ListingFacts> {
        self.time.as_ref().map(|_| ListingFacts {
            page_items: SQL_PAGE_ROWS,
            pages_max: SQL_PAGES_MAX,
            listing_max: Duration::from_secs(SQL_LISTING_SECONDS_MAX),
        })
    }
}
