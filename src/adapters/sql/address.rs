//! A server's address, and what of it may be shown.

use crate::adapters::secret::{self, Environment};
use crate::ports::source::{SourceFault, SourceFaultKind};
use crate::preset::provider::SecretPlace;
use secrecy::{ExposeSecret, SecretString};
use std::fmt;

/// A server's address and what opens it.
#[derive(Clone)]
pub struct Address {
    /// As it was written; it may hold a password.
    pub url: SecretString,
    /// Without a password.
    pub shown: String,
    /// Where the password is, when it is not in the address.
    pub password: Option<SecretPlace>,
    /// How environment variables are looked up.
    pub environment: Environment,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.shown)
    }
}

impl Address {
    /// The password that the configuration names; `None` where it names none.
    ///
    /// # Errors
    /// It names one that is not there.
    pub fn password(&self) -> Result<Option<String>, SourceFault> {
        let read = self.password.as_ref().map(|place| secret::read(place, &self.environment)).transpose();
        read.map_err(|what| {
            let do_next = "Set it where `secret_env` or `secret_file` says.";
            SourceFault::at(&self.shown, SourceFaultKind::Mismatch, &what, do_next)
        })
    }

    /// The address, the parameters that are ours taken out: they are nothing to the driver.
    ///
    /// # Errors
    /// A sentence, when it is no address.
    pub fn split(&self, ours: &[&str]) -> Result<(url::Url, Vec<(String, String)>), String> {
        let mut url = url::Url::parse(self.url.expose_secret()).map_err(|fault| fault.to_string())?;
        let all: Vec<(String, String)> =
            url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        let (own, theirs): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(name, _)| ours.contains(&name.as_str()));
        url.set_query(None);
        if !theirs.is_empty() {
            url.query_pairs_mut().extend_pairs(theirs);
        }
        Ok((url, own))
    }
}
