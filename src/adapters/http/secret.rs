//! The secret of a provider: read at the first question, never shown.

use crate::adapters::secret::Environment;
use crate::domain::cell::hex;
use crate::domain::evidence::{Effect, Fault, FaultKind};
use crate::domain::mask::{MASK, mask_secret, mask_text};
use crate::domain::money::Money;
use crate::preset::provider::SecretPlace;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD_NO_PAD as STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Fewer bytes of a secret give nothing away, and may be anything.
const BEGINNING_BYTES_MIN: usize = 4;
/// How many tokens are hidden: an answer may echo the one before the latest, and none from before.
const GIVEN_MAX: usize = 4;

/// Where a secret is, and the secret once it was read.
pub struct SecretKeeper {
    place: Option<SecretPlace>,
    environment: Environment,
    known: Mutex<Known>,
}

/// What is known of a secret by now.
#[derive(Default)]
struct Known {
    /// The secret, once it was read.
    read: Option<SecretString>,
    /// What was given for the secret, the latest last: shown as little as the secret itself.
    given: Vec<SecretString>,
    /// Each of them in any spelling that an answer may echo: looked for in every text of every answer.
    hidden: Arc<[SecretString]>,
}

impl Known {
    fn spell(&mut self) {
        let all = self.read.iter().chain(&self.given);
        self.hidden = all.flat_map(|secret| spellings(secret.expose_secret())).map(Into::into).collect();
    }
}

impl fmt::Debug for SecretKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKeeper({:?})", self.place)
    }
}

impl SecretKeeper {
    /// A keeper for a place; nothing is read yet.
    pub fn new(place: Option<SecretPlace>, environment: Environment) -> Self {
        Self { place, environment, known: Mutex::default() }
    }

    /// The secret, read at the first call that finds it.
    ///
    /// # Errors
    /// A [`FaultKind::Secret`] naming the variable or file, when it is missing, empty or cannot be sent.
    pub fn secret(&self) -> Result<SecretString, Fault> {
        let mut known = self.known();
        if let Some(secret) = &known.read {
            return Ok(secret.clone());
        }
        let secret = SecretString::from(self.look_up()?);
        known.read = Some(secret.clone());
        known.spell();
        Ok(secret)
    }

    /// Reads the secret anew at the next question: it is one that ends.
    pub fn forget(&self) {
        self.known().read = None;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hides this text too from now on: a token that was given for the secret, or a part of it.
    pub fn hide_too(&self, token: SecretString) {
        let mut known = self.known();
        let given = &mut known.given;
        if given.iter().any(|known| known.expose_secret() == token.expose_secret()) {
            return;
        }
        if given.len() >= GIVEN_MAX {
            given.remove(0);
        }
        given.push(token);
        known.spell();
    }

    /// The secret and what was given for it, in any spelling that an answer may echo.
    fn hidden(&self) -> Arc<[SecretString]> {
        Arc::clone(&self.known().hidden)
    }

    /// The text without the secret, in any spelling that an answer may echo, and without what looks like one.
    ///
    /// Also without the secret's beginning where the text was cut within it.
    pub fn masked(&self, text: &str) -> String {
        let text = self.without_secret(text);
        let whole = if text.contains('…') { self.without_beginnings(text) } else { text };
        mask_text(&whole).into_owned()
    }

    fn without_beginnings(&self, text: String) -> String {
        // What is masked ends in no character of the spelling, so that one pass over the lengths is enough.
        self.hidden().iter().map(SecretString::expose_secret).fold(text, |text, spelling| {
            (BEGINNING_BYTES_MIN..spelling.len()).rev().fold(text, |text, end| match spelling.get(..end) {
                Some(beginning) => text.replace(&format!("{beginning}…"), &format!("{MASK}…")),
                None => text,
            })
        })
    }

    /// The effects as they may leave: no text of theirs holds the secret or what looks like one.
    ///
    /// Effects are counted by their ids, so two ids stay two where masking makes them one text; and a link that would
    /// have to be masked leads nowhere, and is left out.
    pub fn masked_effects(&self, effects: Vec<Effect>) -> Vec<Effect> {
        let ids: BTreeSet<&String> = effects.iter().map(|effect| &effect.id).collect();
        let (open, hidden): (Vec<_>, Vec<_>) =
            ids.into_iter().map(|id| (id.clone(), self.masked(id))).partition(|(id, shown)| id == shown);
        let mut taken: HashSet<String> = open.into_iter().map(|(id, _)| id).collect();
        let mut shown_ids: HashMap<String, String> = HashMap::new();
        for (id, shown) in hidden {
            let mut distinct = shown.clone();
            let mut count = 1;
            while !taken.insert(distinct.clone()) {
                count += 1;
                distinct = format!("{shown} ({count})");
            }
            shown_ids.insert(id, distinct);
        }
        let masked = |effect: Effect| Effect {
            id: shown_ids.get(&effect.id).cloned().unwrap_or(effect.id),
            status: self.masked(&effect.status),
            state: effect.state,
            money: effect
                .money
                .map(|money| Money { currency: money.currency.map(|code| self.masked(&code)), ..money }),
            at: effect.at,
            link: effect.link.filter(|link| self.masked(link) == *link),
        };
        effects.into_iter().map(masked).collect()
    }

    /// The text without the secret alone.
    pub fn without_secret(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for spelling in self.hidden().iter() {
            if let Cow::Owned(masked) = mask_secret(&shown, spelling.expose_secret()) {
                shown = masked;
            }
        }
        shown
    }

    fn look_up(&self) -> Result<String, Fault> {
        let fault = |sentence: String| Fault::new(FaultKind::Secret, sentence);
        let Some(place) = &self.place else {
            return Err(fault("the configuration names no secret for this provider".to_owned()));
        };
        let secret = crate::adapters::secret::read(place, &self.environment).map_err(fault)?;
        // Programs print JSON on several lines.
        let is_json = secret.starts_with('{') && secret.trim_end().ends_with('}');
        let secret = if is_json { secret.replace(['\n', '\r', '\t'], " ") } else { secret };
        if secret.bytes().any(|byte| !(b' '..=b'~').contains(&byte)) {
            return Err(fault(format!("the secret in {place} has characters that no header can carry")));
        }
        Ok(secret)
    }
}

/// The secret as it is, in capitals and small letters (a currency is read so), as an address, JSON, base64 and hexadecimal digits write it, and the password of a pair.
fn spellings(secret: &str) -> Vec<String> {
    let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let quoted = serde_json::Value::from(secret).to_string();
    let quoted = quoted.get(1..quoted.len() - 1).unwrap_or(secret).to_owned();
    let digits = hex(secret.as_bytes());
    let mut spellings = vec![secret.to_owned(), encoded, quoted, digits.to_uppercase(), digits];
    spellings.extend([secret.to_uppercase(), secret.to_lowercase()]);
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

#[cfg(test)]
mod tests;
