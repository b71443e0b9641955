//! What is sent, where the effects are in its answer, and how one is read.

use super::{BodyTemplate, Paging};
use crate::domain::evidence::EffectState;
use crate::domain::moment::{TimeFormat, Zone};
use crate::domain::money::Unit;
use crate::preset::template::{Fields, Template};
use chrono::TimeDelta;
use serde_json::Value;
use serde_json_path::JsonPath;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A request and how to read its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct LookUp {
    /// What is sent.
    pub request: RequestTemplate,
    /// What must hold for a 200 to be a good answer.
    pub success: Vec<BodyTest>,
    /// What an absence looks like.
    pub absence: Absence,
    /// What must answer before a 404 counts; `None` where its body proves enough.
    pub confirm: Option<Confirm>,
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

    /// The look-up with the names that a configuration fills in.
    ///
    /// # Errors
    /// A sentence: a name is missing, or does not fit into a path.
    pub fn filled_in(&self, vars: &Fields) -> Result<Self, String> {
        let mut look = self.clone();
        if let Some(template) = &self.effects.reference_template {
            let filled = Place::parse(&template.render(vars)?)?;
            match &mut look.effects.reference {
                ReferencePlace::InEffect { place, .. } | ReferencePlace::InItem { place, .. } => {
                    *place = filled;
                }
                ReferencePlace::InAddress => {}
            }
        }
        Ok(look)
    }
}

/// What is sent. Always a read.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestTemplate {
    /// The method.
    pub method: Method,
    /// The path below the base address, segment by segment: a value can never add a segment of its own.
    pub path: Vec<Template>,
    /// Whether a slash in a value parts segments, as in a key of S3: then a value may add segments, but none made of dots.
    pub path_keeps_slashes: bool,
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

/// How long a path may be, and how many brackets and signs it may have: its parser calls itself for each, takes twice as long
/// for each that stands in another, and a stack that overflows ends the whole program.
const PATH_BYTES_MAX: usize = 200;
const PATH_DEPTH_MAX: usize = 8;

/// A path into JSON (RFC 9535), parsed when the preset is loaded.
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
        if source.len() > PATH_BYTES_MAX || source.matches(['(', '[', '!']).count() > PATH_DEPTH_MAX {
            let begin = crate::domain::text::clean_cut(source, 80);
            return Err(format!(
                "`{begin}` is longer than {PATH_BYTES_MAX} bytes, or has more than {PATH_DEPTH_MAX} brackets"
            ));
        }
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
    /// Nothing does: who asks by the provider's own id knows already that the effect was there.
    Never,
}

/// A question beside that for our reference. It must be answered with a 200 before a 404 counts as an absence: where the place
/// that holds our addresses is itself not there, each of them is a 404.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirm {
    /// `GET` or `HEAD`.
    pub method: Method,
    /// The path below the base address, segment by segment.
    pub path: Vec<Template>,
    /// The query's parameters.
    pub query: BTreeMap<String, Template>,
    /// What must hold in the answer, beside its status.
    pub success: Vec<BodyTest>,
}

/// Where the effects are, and how to read one.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectsPlace {
    /// Where the answer's items are.
    pub items: ItemsPlace,
    /// Whether an answer without items is an empty object: only that counts, so a misspelt path is never an empty list.
    pub list_left_out_when_empty: bool,
    /// Where an item's effects are, within it; `None` when the item is the effect.
    pub each: Option<Place>,
    /// The provider's id of an effect, within it.
    pub id: Place,
    /// Our reference.
    pub reference: ReferencePlace,
    /// The path of the reference, where it has names that a configuration fills in (`$.metadata.{{ vars.key }}`).
    pub reference_template: Option<Template>,
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
