//! The secret of a provider: read at the first question, never shown.

use crate::domain::cell::hex;
use crate::domain::evidence::{Fault, FaultKind};
use crate::domain::mask::{MASK, mask_secret, mask_text};
use crate::preset::provider::SecretPlace;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD_NO_PAD as STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How environment variables are looked up: handed in, so that nothing here reads the process's own.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// A file with more than this is no secret.
const SECRET_FILE_BYTES_MAX: u64 = 64 * 1024;

/// Where a secret is, and the secret once it was read.
pub struct SecretKeeper {
    place: Option<SecretPlace>,
    environment: Environment,
    read: Mutex<Option<SecretString>>,
}

impl fmt::Debug for SecretKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKeeper({:?})", self.place)
    }
}

impl SecretKeeper {
    /// A keeper for a place; nothing is read yet.
    pub fn new(place: Option<SecretPlace>, environment: Environment) -> Self {
        Self { place, environment, read: Mutex::new(None) }
    }

    /// The secret, read at the first call that finds it.
    ///
    /// # Errors
    /// A [`FaultKind::Secret`] naming the variable or file, when it is missing, empty or cannot be sent.
    pub fn secret(&self) -> Result<SecretString, Fault> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(secret) = read.as_ref() {
            return Ok(secret.clone());
        }
        let secret = SecretString::from(self.look_up()?);
        *read = Some(secret.clone());
        Ok(secret)
    }

    /// The text without the secret, in any spelling that an answer may echo, and without what looks like one.
    pub fn masked(&self, text: &str) -> String {
        mask_text(&self.without_secret(text)).into_owned()
    }

    /// The text without the secret alone.
    pub fn without_secret(&self, text: &str) -> String {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(secret) = read.as_ref() else { return text.to_owned() };
        spellings(secret.expose_secret())
            .iter()
            .fold(text.to_owned(), |text, spelling| mask_secret(&text, spelling))
    }

    fn look_up(&self) -> Result<String, Fault> {
        let fault = |sentence: String| Fault::new(FaultKind::Secret, sentence);
        let Some(place) = &self.place else {
            return Err(fault("the configuration names no secret for this provider".to_owned()));
        };
        let found = match place {
            SecretPlace::Env(name) => (self.environment)(name),
            SecretPlace::File(path) => {
                let size = std::fs::metadata(path).map(|data| data.len());
                match size {
                    Ok(size) if size <= SECRET_FILE_BYTES_MAX => std::fs::read_to_string(path).ok(),
                    _ => None,
                }
            }
        };
        let secret = found.map(|text| text.trim_end_matches(['\r', '\n']).to_owned()).unwrap_or_default();
        if secret.is_empty() {
            return Err(fault(format!("the secret is missing: {place} is not set, empty or not readable")));
        }
        if secret.bytes().any(|byte| !(b' '..=b'~').contains(&byte)) {
            return Err(fault(format!("the secret in {place} has characters that no header can carry")));
        }
        Ok(secret)
    }
}

/// The secret as it is, as an address, JSON, base64 and hexadecimal digits write it, and the password of a pair.
fn spellings(secret: &str) -> Vec<String> {
    let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let quoted = serde_json::Value::from(secret).to_string();
    let quoted = quoted.get(1..quoted.len() - 1).unwrap_or(secret).to_owned();
    let digits = hex(secret.as_bytes());
    let mut spellings = vec![secret.to_owned(), encoded, quoted, digits.to_uppercase(), digits];
    spellings.extend([STANDARD_NO_PAD, URL_SAFE_NO_PAD].map(|alphabet| alphabet.encode(secret)));
    if let Some((_, password)) = secret.split_once(':') {
        spellings.push(password.to_owned());
    }
    spellings.retain(|spelling| spelling != MASK);
    // The longest first: a part must not be hidden before the whole that holds it.
    spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
    spellings.dedup();
    spellings
}
