//! Provider presets: how to ask one provider about one operation, and how to read its answer. Data, not code.
//!
//! A preset is written as TOML (`assets/presets/ledger.toml` is the commented example). What a file may say is private
//! to this module; what the program uses are the checked plain types here.

mod body;
mod check;
mod file;
mod settings;

pub use body::BodyTemplate;
pub use settings::{Lookback, OperationSettings, ProviderSettings, SecretPlace};

use crate::domain::evidence::{Clocks, EffectState};
use crate::domain::moment::{TimeFormat, Zone};
use crate::domain::money::Unit;
use crate::domain::pace::Patience;
use crate::preset::template::Template;
use chrono::{NaiveDate, TimeDelta};
use serde_json::Value;
use serde_json_path::JsonPath;
use std::collections::BTreeMap;
use std::fmt;
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
pub const REQUEST_SECONDS_MAX: u64 = 20;
/// The longest that one check may take, waits and all pages included, in seconds.
pub const CHECK_SECONDS_MAX: u64 = 90;
/// How many requests a second a provider gets that says nothing about it.
pub const PACE_PER_SECOND: f64 = 5.0;
/// How many checks may be in flight at once with a provider that says nothing about it.
pub const IN_FLIGHT_MAX: usize = 4;
/// How much earlier than the first attempt a window begins: the provider's clock is not ours.
pub const WINDOW_MARGIN_SECONDS: i64 = 600;

/// The provider presets that are built in, by name.
const BUILT_IN: [(&str, &str); 1] = [("ledger", include_str!("../../assets/presets/ledger.toml"))];

/// The names of the built-in provider presets.
pub fn built_in_names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// A built-in provider preset; `None` where there is none of that name.
///
/// # Errors
/// A sentence naming preset, operation and field, should a built-in file be wrong.
pub fn built_in(name: &str) -> Option<Result<ProviderPreset, String>> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| ProviderPreset::parse(text))
}

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
        check::preset(file::parse(text)?)
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
}

/// How an operation is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum How {
    /// By this look-up.
    Ask(Box<LookUp>),
    /// Not at all, and why: an honest `unknown`.
    Unanswerable(String),
}

/// A request and how to read its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct LookUp {
    /// What is sent.
    pub request: RequestTemplate,
    /// What must hold for a 200 to be a good answer.
    pub success: Vec<BodyTest>,
    /// What an absence looks like.
    pub absence: Absence,
    /// Where the effects are and how to read one.
    pub effects: EffectsPlace,
    /// Which statuses amount to what. One that is not listed is [`EffectState::Unlisted`].
    pub statuses: BTreeMap<String, EffectState>,
    /// How further pages are asked for.
    pub paging: Paging,
}

impl LookUp {
    /// What a status amounts to. Compared exactly: `Succeeded` is not `succeeded`.
    pub fn state_of(&self, status: &str) -> EffectState {
        self.statuses.get(status).copied().unwrap_or(EffectState::Unlisted)
    }
}

/// What is sent. Always a read.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestTemplate {
    /// The method.
    pub method: Method,
    /// The path below the base address, segment by segment: a value can never add a segment of its own.
    pub path: Vec<Template>,
    /// The query's parameters.
    pub query: BTreeMap<String, Template>,
    /// Parameters that are sent only when the window's start is known.
    pub window: BTreeMap<String, Template>,
    /// How much earlier than the first attempt the window begins.
    pub window_margin: TimeDelta,
    /// Headers of this operation, templates over `vars`.
    pub headers: BTreeMap<String, Template>,
    /// The body of a POST that only reads.
    pub body: Option<BodyTemplate>,
}

/// The methods of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Method {
    /// `GET`.
    Get,
    /// `HEAD`: the answer's headers are the document, as `$.headers`.
    Head,
    /// A `POST` that only reads, and why it is one.
    ReadOnlyPost(String),
}

impl Method {
    /// The method as HTTP spells it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::ReadOnlyPost(_) => "POST",
        }
    }
}

/// A JSONPath (RFC 9535), parsed when the preset is loaded.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    source: Arc<str>,
    path: JsonPath,
}

impl Place {
    /// Parses a path.
    ///
    /// # Errors
    /// A sentence saying where it is wrong.
    pub fn parse(source: &str) -> Result<Self, String> {
        let path = JsonPath::parse(source).map_err(|fault| format!("`{source}` is no JSONPath: {fault}"))?;
        Ok(Self { source: source.into(), path })
    }

    /// The path as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Every node that it selects.
    pub fn all<'value>(&self, value: &'value Value) -> Vec<&'value Value> {
        self.path.query(value).all()
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({})", self.source)
    }
}

/// What must hold in an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyTest {
    /// Where to look.
    pub place: Place,
    /// What must be there.
    pub must: Must,
}

/// What must be at a place.
#[derive(Debug, Clone, PartialEq)]
pub enum Must {
    /// Something that is not null.
    Exist,
    /// Nothing, or null.
    NotExist,
    /// Exactly this.
    Equal(Value),
}

/// What an absence looks like.
#[derive(Debug, Clone, PartialEq)]
pub enum Absence {
    /// A good answer without effects.
    EmptyList,
    /// A 404 on an address made from our own id, whose body passes these tests (perhaps none).
    Status404(Vec<BodyTest>),
}

/// Where the effects are, and how to read one.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectsPlace {
    /// Where the answer's items are.
    pub items: ItemsPlace,
    /// Where an item's effects are, within it; `None` when the item is the effect.
    pub each: Option<Place>,
    /// The provider's id of an effect, within it.
    pub id: Place,
    /// Our reference.
    pub reference: ReferencePlace,
    /// The longest reference that the provider keeps whole, in characters; `None` when it cuts none.
    pub reference_chars_max: Option<usize>,
    /// The status, within the effect.
    pub status: StatusPlace,
    /// The amount, within the effect.
    pub amount: Option<AmountPlace>,
    /// The time, within the effect.
    pub time: Option<TimePlace>,
    /// A link for people.
    pub link: Option<LinkPlace>,
}

/// Where the answer's items are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemsPlace {
    /// The elements of exactly one array. Its absence is a fault, so a misspelt path is never an empty list.
    List(Place),
    /// Exactly one object.
    One(Place),
}

/// Where our reference is. It is compared on our side: servers ignore filters they do not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReferencePlace {
    /// Within the effect.
    InEffect {
        /// Where; several values are as many references.
        place: Place,
        /// Whether an effect without one is simply not ours.
        may_be_missing: bool,
    },
    /// Within the item that holds the effect.
    InItem {
        /// Where; several values are as many references.
        place: Place,
        /// Whether an item without one is simply not ours.
        may_be_missing: bool,
    },
    /// In the address alone: what is found there is ours.
    InAddress,
}

/// Where the status is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusPlace {
    /// Within the effect.
    At(Place),
    /// Existing is the status, says the preset: this word stands for it.
    Fixed(String),
}

/// Where the amount is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmountPlace {
    /// The amount, a number or its text.
    pub place: Place,
    /// The currency.
    pub currency: CurrencyPlace,
    /// The unit of the amount.
    pub unit: Unit,
}

/// Where the currency is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CurrencyPlace {
    /// Within the effect.
    At(Place),
    /// Always the same.
    Fixed(String),
}

/// Where the time is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimePlace {
    /// The time.
    pub place: Place,
    /// How it is written.
    pub format: EffectTimeFormat,
    /// The zone of times that name none.
    pub zone: Zone,
}

/// How a provider writes times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectTimeFormat {
    /// As job systems do.
    Plain(TimeFormat),
    /// As mail does (`Mon, 30 Nov 2026 08:00:00 +0000`), HTTP dates included.
    Rfc2822,
}

/// Where a link for people is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkPlace {
    /// Within the effect.
    At(Place),
    /// Made from `id`, `reference` and `vars`.
    Made(Template),
}

/// How further pages are asked for, and how the last one is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    /// What the next request has more or other than this one.
    pub step: PageStep,
    /// How the last page is known.
    pub end: PageEnd,
}

/// What the next request has more or other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageStep {
    /// There is one page, always.
    Single,
    /// The id of the last item, at this place within it.
    LastId {
        /// The parameter that carries it.
        parameter: Parameter,
        /// Where the item's id is.
        id: Place,
    },
    /// A token from the answer's body.
    Token {
        /// The parameter that carries it.
        parameter: Parameter,
        /// Where the token is.
        next: Place,
        /// Whether the last page leaves it out (else only null and the empty text end).
        may_be_missing: bool,
    },
    /// A token from an answer's header; without the header the page is the last.
    HeaderToken {
        /// The parameter that carries it.
        parameter: Parameter,
        /// The header's name, in small letters.
        header: String,
    },
    /// The number of the page.
    PageNumber {
        /// The parameter that carries it.
        parameter: Parameter,
        /// The first page's number.
        first: u64,
    },
    /// How many items were read so far.
    Offset {
        /// The parameter that carries it.
        parameter: Parameter,
    },
    /// A whole address from the body, on the same host.
    NextUrl {
        /// Where the address is.
        next: Place,
        /// Whether the last page leaves it out (else only null and the empty text end).
        may_be_missing: bool,
    },
    /// The `Link` header's `rel="next"`, on the same host.
    LinkHeader,
}

/// A parameter of the next request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Whether it goes into the body of a POST instead of the query.
    pub in_body: bool,
}

/// How the last page is known. There is no "a short page is the last": servers cap page sizes without saying so, and
/// a page that was taken for the last is a false absence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageEnd {
    /// The step itself ends: no token, no address.
    StepEnds,
    /// A boolean in the body says whether there is more.
    More(Place),
    /// A number in the body says how many items there are in all.
    Total(Place),
    /// A number in the body says how many pages there are in all.
    Pages(Place),
    /// Only an empty page is the last.
    EmptyPage,
}

#[cfg(test)]
mod tests;
