//! What a configuration gives to a provider: its place, its secret and its own clocks.

use chrono::TimeDelta;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// One configured provider.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderSettings {
    /// Where the provider is; checked by [`ProviderSettings::parse_base_url`].
    pub base_url: Url,
    /// Where its secret is; `None` when it needs none.
    pub secret: Option<SecretPlace>,
    /// What the preset leaves to fill in, by name.
    pub variables: BTreeMap<String, String>,
    /// A proxy to go through; `None` goes straight there, whatever the environment says.
    pub proxy: Option<Url>,
    /// A file of certificates (PEM) to trust instead of the machine's; `None` trusts the machine's.
    pub certificates: Option<PathBuf>,
    /// A file with a certificate and its key (PEM) to show the provider; `None` shows none.
    pub client_certificate: Option<PathBuf>,
    /// Another pace than the preset's, in requests a second.
    pub pace_per_second: Option<f64>,
    /// Another bound than the preset's on checks in flight.
    pub in_flight_max: Option<usize>,
    /// Another bound than the preset's on how long one whole check may take.
    pub check_max: Option<Duration>,
    /// What single operations do otherwise, by name.
    pub operations: BTreeMap<String, OperationSettings>,
}

impl ProviderSettings {
    /// Settings with an address and nothing else.
    pub fn new(base_url: Url) -> Self {
        Self {
            base_url,
            secret: None,
            variables: BTreeMap::new(),
            proxy: None,
            certificates: None,
            client_certificate: None,
            pace_per_second: None,
            in_flight_max: None,
            check_max: None,
            operations: BTreeMap::new(),
        }
    }

    /// Reads a base address: http or https, without user, password, query or fragment.
    ///
    /// # Errors
    /// One sentence; it never repeats a password.
    pub fn parse_base_url(text: &str) -> Result<Url, String> {
        let url = Url::parse(text).map_err(|fault| format!("the base address is no URL: {fault}"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err("the base address must begin with http:// or https:// and name a host".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "the base address holds a user or password; name the secret's variable or file instead"
                    .to_owned(),
            );
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("the base address must have no query and no fragment".to_owned());
        }
        Ok(url)
    }
}

/// Where a secret is. It is read at the first question, not before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretPlace {
    /// In an environment variable of this name.
    Env(String),
    /// In a file, whose last line break does not count.
    File(PathBuf),
    /// In what a program writes: its name and its arguments, run without a shell.
    Command(Vec<String>),
}

impl fmt::Display for SecretPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "${name}"),
            Self::File(path) => write!(f, "the file {}", path.display()),
            // Its arguments are nobody's business: one may be the name of a vault.
            Self::Command(words) => write!(f, "the output of `{}`", words.first().map_or("", String::as_str)),
        }
    }
}

/// What one operation does otherwise than its preset says; `None` leaves the preset's word.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OperationSettings {
    /// How long after the last attempt an absence means something.
    pub settle: Option<TimeDelta>,
    /// How far back the look-up can see.
    pub lookback: Option<Lookback>,
    /// How long the provider remembers an idempotency key.
    pub key_ttl: Option<TimeDelta>,
    /// A reference whose effect is known to be there: an absence counts only while this one is found.
    pub canary: Option<String>,
    /// A pace of its own, in requests a second.
    pub pace_per_second: Option<f64>,
    /// A bound of its own on checks in flight.
    pub in_flight_max: Option<usize>,
}

/// How far back a look-up can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookback {
    /// It forgets nothing, and somebody said so.
    Unlimited,
    /// So far.
    Back(TimeDelta),
}

impl Lookback {
    /// Reads `unlimited` or a duration such as `90d`.
    ///
    /// # Errors
    /// A sentence saying what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim() == "unlimited" {
            return Ok(Self::Unlimited);
        }
        crate::domain::moment::parse_duration(text).map(Self::Back)
    }

    /// The span; `None` when there is no end.
    pub fn span(self) -> Option<TimeDelta> {
        match self {
            Self::Unlimited => None,
            Self::Back(span) => Some(span),
        }
    }
}
