//! Escalation presets: how to hand an item to somebody else's system. Data, not code.
//!
//! A preset is a provider preset for who is asked and how (`base_url`, `auth`, `headers`, `variables`), with one request that is
//! sent, and perhaps one look-up that says whether the key is there already.

use crate::domain::text::clean_cut;
use crate::preset::provider::{BodyTemplate, BodyTest, Place, ProviderPreset, ProviderSettings};
use crate::preset::template::Template;
use crate::preset::webhook::WebhookSettings;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the look-up is called within the preset.
pub const LOOK_UP: &str = "look_up";

/// Every name that the templates of a request may use, beside `vars`, `base` and `secret`.
pub const NOTICE_NAMES: [&str; 18] = [
    "dedup_key",
    "source",
    "key",
    "kind",
    "status",
    "finding",
    "verdict",
    "provider",
    "reference",
    "effects_count",
    "effect_ids",
    "effects",
    "reasons",
    "operator",
    "reason",
    "audit",
    "summary",
    "details",
];

/// How to escalate to one kind of system, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct EscalationPreset {
    /// Who it is and how requests prove who asks. Its only operation is the look-up, [`LOOK_UP`].
    pub target: ProviderPreset,
    /// What is sent.
    pub send: SendTemplate,
    /// Whether the target itself takes a repeat with the same key for the first one. Where it does not, and there is a
    /// look-up, that is asked before anything is sent.
    pub key_protects: bool,
    /// What a repeat comes to, for people, in a sentence.
    pub repeat: String,
}

/// The one request that is sent, once.
#[derive(Debug, Clone, PartialEq)]
pub struct SendTemplate {
    /// The path below the base address, segment by segment.
    pub path: Vec<Template>,
    /// The query's parameters.
    pub query: BTreeMap<String, Template>,
    /// Headers, templates over the notice.
    pub headers: BTreeMap<String, Template>,
    /// The body.
    pub body: BodyTemplate,
    /// The statuses that say that it was taken.
    pub success: Vec<u16>,
    /// What must hold in such an answer besides.
    pub tests: Vec<BodyTest>,
    /// Where what was made has its id; `None` where the answer tells none.
    pub id: Option<Place>,
    /// A link for people, made of `base` and `id`; `None` where there is none.
    pub link: Option<Template>,
    /// Whether the secret stands in one of the templates.
    pub uses_secret: bool,
}

impl EscalationPreset {
    /// Reads a preset from its TOML text.
    ///
    /// # Errors
    /// One sentence naming preset and field.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fault = |fault: toml::de::Error| crate::preset::catalogue::one_line(&fault, text);
        let mut table: toml::Table = toml::from_str(text).map_err(fault)?;
        let own = |table: &mut toml::Table, name: &str| {
            table.remove(name).ok_or_else(|| format!("`{name}` is missing"))
        };
        let send = own(&mut table, "send")?;
        let look_up = own(&mut table, LOOK_UP)?;
        let key_protects =
            own(&mut table, "key_protects")?.as_bool().ok_or("`key_protects` must be true or false")?;
        let repeat = own(&mut table, "repeat")?;
        let repeat = repeat.as_str().map(str::trim).filter(|text| !text.is_empty());
        let repeat = repeat.ok_or("`repeat` must say what a repeat comes to")?.to_owned();
        table.insert("type".to_owned(), "provider".into());
        table.insert("operations".to_owned(), toml::Table::from_iter([(LOOK_UP.to_owned(), look_up)]).into());
        let (target, send) = ProviderPreset::with_send(table, send)
            .map_err(|sentence| sentence.replace("provider preset", "escalation preset"))?;
        Ok(Self { target, send, key_protects, repeat: clean_cut(&repeat, REPEAT_CHARS_MAX) })
    }
}

const REPEAT_CHARS_MAX: usize = 300;

/// Where escalations go.
#[derive(Debug, Clone, PartialEq)]
pub enum EscalationSettings {
    /// One declared POST.
    Webhook(Box<WebhookSettings>),
    /// A system that a preset describes.
    Target(Arc<EscalationPreset>, Box<ProviderSettings>),
}

#[cfg(test)]
mod tests;
