//! What an error text proves: nothing happened, the provider said no, or nobody can tell.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use crate::domain::attempt::KeyTold;
pub use crate::domain::error_rules::ErrorTableFault;
use crate::domain::error_rules::Layer;
use crate::domain::error_text::{self, Story};

/// What an error proves about the effect of the call that failed.
///
/// The order is that of danger: a retry after the last one may repeat an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The request never left, or was turned away whole.
    BeforeEffect,
    /// The provider decided no.
    Refused,
    /// The request may have been carried out.
    Ambiguous,
}

impl ErrorClass {
    /// Every one, what proves least first.
    pub const ALL: [Self; 3] = [Self::Ambiguous, Self::Refused, Self::BeforeEffect];

    /// The name used in configuration and output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BeforeEffect => "before_effect",
            Self::Refused => "refused",
            Self::Ambiguous => "ambiguous",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One error text, sorted, with the reason to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classified<'a> {
    /// What the text proves.
    pub class: ErrorClass,
    /// The id of the rule that decided; `None` when no rule knew the text.
    pub rule: Option<&'a str>,
    /// A short reason for people.
    pub why: &'a Arc<str>,
    /// What the text tells of the request's idempotency key; `None` for most texts.
    pub key: Option<KeyTold>,
}

static NO_TEXT: LazyLock<Arc<str>> = LazyLock::new(|| "no error text".into());
static NOT_KNOWN: LazyLock<Arc<str>> =
    LazyLock::new(|| "no rule knows this text: look before a retry".into());

impl Classified<'_> {
    fn no_text() -> Self {
        Self { class: ErrorClass::Ambiguous, rule: None, why: &NO_TEXT, key: None }
    }

    pub(super) fn not_known() -> Self {
        Self { class: ErrorClass::Ambiguous, rule: None, why: &NOT_KNOWN, key: None }
    }
}

/// The rules that sort error texts.
///
/// It holds layers: the rules of whoever runs the console in front, the built-in ones behind. A layer is
/// asked only when no rule of those before it knew the text. An empty table calls every text ambiguous.
#[derive(Debug, Clone, Default)]
pub struct ErrorTable {
    layers: Vec<Arc<LaterLayer>>,
}

/// A layer that is compiled when it is first asked, or [`ErrorTable::prepare`] is called.
type LaterLayer = LazyLock<Layer, Box<dyn FnOnce() -> Layer + Send>>;

impl ErrorTable {
    /// Reads rules from TOML; the head of `errors.toml` explains the format.
    ///
    /// # Errors
    /// When the text is not TOML, has a key nobody knows, or a rule that cannot work.
    pub fn parse(toml_text: &str) -> Result<Self, ErrorTableFault> {
        let layer = Layer::parse(toml_text)?;
        Ok(Self::of(move || layer))
    }

    /// The same for rules that a test has tried: they are compiled when they are first needed, which takes some
    /// hundredths of a second. Rules that cannot be used would know no text, so every error would be ambiguous.
    #[must_use]
    pub fn parse_later(toml_text: &'static str) -> Self {
        Self::of(|| Layer::parse(toml_text).unwrap_or_default())
    }

    fn of(layer: impl FnOnce() -> Layer + Send + 'static) -> Self {
        Self { layers: vec![Arc::new(LazyLock::new(Box::new(layer)))] }
    }

    /// Compiles what is not compiled yet, so that the first text need not wait.
    pub fn prepare(&self) {
        for layer in &self.layers {
            LazyLock::force(layer);
        }
    }

    /// Puts other rules in front of these: where one of them knows a text, these are not asked.
    #[must_use]
    pub fn with_first(self, own: Self) -> Self {
        Self { layers: own.layers.into_iter().chain(self.layers).collect() }
    }

    /// Sorts one text as a job system stored it: bare, in a traceback, in JSON or in a list of errors.
    #[must_use]
    pub fn classify(&self, text: Option<&str>) -> Classified<'_> {
        let Some(story) = text.and_then(error_text::unwrap) else {
            return Classified::no_text();
        };
        self.layers.iter().find_map(|layer| decide(layer, &story)).unwrap_or_else(Classified::not_known)
    }
}

/// Asks one layer; `None` when none of its rules knows the story.
fn decide<'a>(layer: &'a Layer, story: &Story) -> Option<Classified<'a>> {
    let doubt = layer.first_doubt(&story.text, story.last);
    if !layer.has_proof(&story.text) {
        return doubt.map(|rule| layer.classified(rule));
    }
    // Addresses and numbers that are no status must not pass for proof.
    let masked = layer.mask(&story.text);
    let Some(proof) = layer.first_proof(masked.get(story.proof..).unwrap_or_default()) else {
        return doubt.map(|rule| layer.classified(rule));
    };
    if doubt.is_none() {
        return Some(layer.classified(proof));
    }
    let uncovered = layer.uncover(&masked, &story.text);
    let doubt = layer.first_doubt(&uncovered, story.last);
    Some(layer.classified(doubt.unwrap_or(proof)))
}
