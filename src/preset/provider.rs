//! Provider presets: how to ask one provider about one operation, and how to read its answer. Data, not code.
//!
//! A preset is written as TOML (`assets/presets/ledger.toml` is the commented example). What a file may say is private
//! to this module; what the program uses are the checked plain types here.

mod body;
mod check;
mod file;
mod listing;
mod look_up;
mod page;
mod settings;
mod sql;

pub use body::BodyTemplate;
pub use listing::{
    LISTING_BYTES_MAX, LISTING_KEPT_BYTES_MAX, LISTING_PAGES_MAX, LISTING_SECONDS_MAX, ListLookUp, Order,
};
pub use look_up::{
    Absence, AmountPlace, BodyTest, Confirm, CurrencyPlace, EffectTimeFormat, EffectsPlace, ItemsPlace,
    LinkPlace, LookUp, Method, Must, Place, ReferencePlace, RequestTemplate, StatusPlace, TimePlace,
};
pub use page::{PageEnd, PageStep, Paging, Parameter, SecondPage};
pub use settings::{Lookback, OperationSettings, ProviderSettings, SecretPlace};
pub use sql::{
    AmountColumn, CurrencyColumn, RowsFrom, SQL_LISTING_SECONDS_MAX, SQL_PACE_PER_SECOND, SQL_PAGE_ROWS,
    SQL_PAGES_MAX, SQL_REFERENCE_BYTES_MAX, SqlLookUp, StatusColumn,
};

use crate::domain::evidence::Clocks;
use crate::domain::pace::Patience;
use crate::preset::template::Template;
use chrono::NaiveDate;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The most bytes of one answer that are read.
pub const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The most bytes of all answers of one check that are kept for a person to look at.
pub const BODIES_KEPT_BYTES_MAX: usize = 64 * 1024;
/// The most pages of one answer that are read.
pub const PAGES_MAX: usize = 20;
/// The longest that one request may take, in seconds.
pub const REQUEST_SECONDS_MAX: u64 = 10;
/// The longest that one check may take, waits and all pages included, in seconds.
pub const CHECK_SECONDS_MAX: u64 = 30;
/// How many requests a second a provider gets that says nothing about it.
pub const PACE_PER_SECOND: f64 = 5.0;
/// How many checks may be in flight at once with a provider that says nothing about it.
pub const IN_FLIGHT_MAX: usize = 4;
/// How much earlier than the first attempt a window begins: the provider's clock is not ours.
pub const WINDOW_MARGIN_SECONDS: i64 = 600;

/// How to ask one provider, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderPreset {
    /// The name that a configuration uses.
    pub name: Arc<str>,
    /// What it is, for people.
    pub title: String,
    /// What it was really tried with; empty when it only follows the provider's pages.
    pub verified_with: Vec<String>,
    /// When it was last compared with its source; `None` when nobody said.
    pub verified_on: Option<NaiveDate>,
    /// Where its facts come from; `None` when nobody said.
    pub source: Option<String>,
    /// Where the provider usually lives; `None` when every configuration must say it.
    pub base_url: Option<Url>,
    /// How requests prove who asks.
    pub auth: Auth,
    /// Headers of every request, templates over `vars`.
    pub headers: BTreeMap<String, Template>,
    /// What a configuration must fill in (an account, a channel), each with what it is.
    pub variables: BTreeMap<String, String>,
    /// What a configuration may fill in, each with what it is; empty where it does not.
    pub optional_variables: BTreeMap<String, String>,
    /// The bounds of a check.
    pub limits: Limits,
    /// How many requests a second are sent at most.
    pub pace_per_second: f64,
    /// How many checks may be in flight at once.
    pub in_flight_max: usize,
    /// What it can be asked about, by name.
    pub operations: BTreeMap<String, Operation>,
}

impl ProviderPreset {
    /// Reads a preset from its TOML text.
    ///
    /// # Errors
    /// One sentence naming preset, operation and field.
    pub fn parse(text: &str) -> Result<Self, String> {
        check::preset(&file::parse(text)?)
    }

    /// Whether it reads a database instead of asking over HTTP.
    pub fn is_sql(&self) -> bool {
        self.operations.values().any(|operation| matches!(operation.how, How::Sql(_)))
    }

    /// Reads a preset and the request that an escalation sends through it.
    ///
    /// # Errors
    /// One sentence naming preset and field.
    pub(in crate::preset) fn with_send(
        table: toml::Table,
        send: toml::Value,
    ) -> Result<(Self, crate::preset::escalation::SendTemplate), String> {
        check::send::preset_with_send(table, send)
    }
}

/// How requests prove who asks. The secret itself is in the configuration, never here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// They do not.
    None,
    /// `Authorization: Bearer SECRET`.
    Bearer,
    /// Basic, the secret being the user and the password empty.
    BasicUser,
    /// Basic, the secret being the password of this user (a template over `vars`).
    BasicPassword(Template),
    /// Basic, the secret being `user:password`.
    BasicPair,
    /// A header of its own, with something before the secret.
    Header {
        /// The header's name.
        name: String,
        /// What stands before the secret, such as `GenieKey `; may be empty.
        prefix: String,
    },
    /// `Authorization: Bearer TOKEN`, the token being given for the secret `client:secret` (OAuth 2.0, RFC 6749, 4.4) and
    /// used again until it ends.
    ClientCredentials {
        /// Where tokens are given (a template over `vars`): below the provider's own origin where it begins with `/`.
        token_url: Template,
        /// What the token is for; `None` asks for everything that the client may.
        scope: Option<String>,
    },
    /// Signed as AWS wants it (Signature Version 4), the secret being `access_key_id:secret_access_key[:session_token]`. Without
    /// a secret nothing is signed: a proxy on the way may do it, or the store lets our address read.
    AwsSigV4 {
        /// The service that is asked, such as `s3`.
        service: String,
        /// Its region (a template over `vars`); empty for the one that the address names.
        region: Template,
    },
}

/// The bounds of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of one answer that are read.
    pub body_bytes_max: usize,
    /// The most bytes of all answers that are kept for a person to look at.
    pub bodies_kept_bytes_max: usize,
    /// The most pages that are read.
    pub pages_max: usize,
    /// The longest that one request may take.
    pub request_max: Duration,
    /// The longest that the whole check may take.
    pub check_max: Duration,
    /// How many times a request is tried, and the waits between.
    pub patience: Patience,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes_max: BODY_BYTES_MAX,
            bodies_kept_bytes_max: BODIES_KEPT_BYTES_MAX,
            pages_max: PAGES_MAX,
            request_max: Duration::from_secs(REQUEST_SECONDS_MAX),
            check_max: Duration::from_secs(CHECK_SECONDS_MAX),
            patience: Patience::default(),
        }
    }
}

impl Limits {
    /// The same with another bound on the whole check; `None` leaves it. No request is longer than its check.
    #[must_use]
    pub fn within(mut self, check_max: Option<Duration>) -> Self {
        self.check_max = check_max.unwrap_or(self.check_max);
        self.request_max = self.request_max.min(self.check_max);
        self
    }
}

/// One thing that a provider can be asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// What it is, for people.
    pub title: String,
    /// When an absence means something, and how long a key protects.
    pub clocks: Clocks,
    /// A pace of its own, beside the provider's; `None` when it has none.
    pub pace_per_second: Option<f64>,
    /// A bound of its own, beside the provider's; `None` when it has none.
    pub in_flight_max: Option<usize>,
    /// How it is asked.
    pub how: How,
    /// How its whole list is read; `None` where it cannot be.
    pub listing: Option<Box<ListLookUp>>,
}

/// How an operation is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum How {
    /// By this look-up.
    Ask(Box<LookUp>),
    /// By reading a table or a query of a database.
    Sql(Box<SqlLookUp>),
    /// Not at all, and why: an honest `unknown`.
    Unanswerable(String),
}

#[cfg(test)]
mod tests;
