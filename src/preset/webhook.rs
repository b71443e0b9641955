//! Where escalations go: one declared POST.

use crate::preset::provider::{BodyTemplate, SecretPlace};
use crate::preset::template::Template;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// The longest that sending an escalation may take, in seconds.
pub const WEBHOOK_SECONDS_MAX: u64 = 20;
/// The header that makes a repeat harmless, unless the configuration names another.
pub const DEDUP_HEADER: &str = "Idempotency-Key";

/// A declared POST, checked.
///
/// Its templates know the notice's fields (`dedup_key`, `source`, `key`, `kind`, `status`, `finding`, `verdict`,
/// `effect_ids`, `operator`, `reason`, `audit`), a `summary` of one line, and `secret`.
#[derive(Debug, Clone, PartialEq)]
pub struct WebhookSettings {
    /// The address; where the address itself is the secret, it ends in `{{ secret }}`.
    pub url: Template,
    /// Headers.
    pub headers: BTreeMap<String, Template>,
    /// The header that carries the dedup key.
    pub dedup_header: String,
    /// Where the secret is; `None` when no template uses one.
    pub secret: Option<SecretPlace>,
    /// The body; `None` sends the notice's fields.
    pub body: Option<BodyTemplate>,
    /// The longest that it may take.
    pub request_max: Duration,
    /// A proxy to go through; `None` goes straight there.
    pub proxy: Option<Url>,
    /// A file of certificates (PEM) to trust instead of the machine's; `None` trusts the machine's.
    pub certificates: Option<PathBuf>,
}

impl WebhookSettings {
    /// A POST of the notice's fields to an address.
    ///
    /// # Errors
    /// A sentence: the address does not begin with http(s) and a fixed host.
    pub fn new(url: &str) -> Result<Self, String> {
        check_host(url)?;
        Ok(Self {
            url: Template::parse(url)?,
            headers: BTreeMap::new(),
            dedup_header: DEDUP_HEADER.to_owned(),
            secret: None,
            body: None,
            request_max: Duration::from_secs(WEBHOOK_SECONDS_MAX),
            proxy: None,
            certificates: None,
        })
    }

    /// With these headers.
    ///
    /// # Errors
    /// A sentence naming the header whose template is wrong.
    pub fn with_headers(mut self, headers: &BTreeMap<String, String>) -> Result<Self, String> {
        for (name, text) in headers {
            let template =
                Template::parse(text).map_err(|sentence| format!("header `{name}`: {sentence}"))?;
            self.headers.insert(name.clone(), template);
        }
        Ok(self)
    }

    /// With this body, a table whose texts are templates.
    ///
    /// # Errors
    /// A sentence naming the text that is no template.
    pub fn with_body(mut self, body: &toml::Table) -> Result<Self, String> {
        self.body = Some(BodyTemplate::parse(body)?);
        Ok(self)
    }

    /// Every name that its templates use.
    pub fn names(&self) -> Vec<String> {
        let mut names = self.url.names();
        names.extend(self.headers.values().flat_map(Template::names));
        names.extend(self.body.iter().flat_map(BodyTemplate::names));
        names.sort();
        names.dedup();
        names
    }

    /// Where it goes: scheme and host alone, because the rest of such an address is often a secret.
    pub fn place(&self) -> String {
        let (scheme, rest) = self.url.source().split_once("://").unwrap_or(("", ""));
        let host = rest.split('/').next().unwrap_or("");
        format!("{scheme}://{host}")
    }
}

/// The host must be written out: a field of an item must not decide where its data goes.
fn check_host(url: &str) -> Result<(), String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or("");
    let good = !host.is_empty() && !host.contains(['{', '}', '@', '%', ' ']);
    if good {
        Ok(())
    } else {
        Err("the webhook's address must begin with http:// or https:// and a host without user or template"
            .to_owned())
    }
}
