//! Tokens given for a client's secret (OAuth 2.0 client credentials), used again until they end.

use crate::adapters::http::client::exchange;
use crate::adapters::http::extract::Reply;
use crate::adapters::http::secret::SecretKeeper;
use crate::domain::evidence::{Fault, FaultKind};
use reqwest::Client;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

/// An answer with a token is small.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// How much earlier than it ends a token is given up: a request takes its time to arrive.
const MARGIN: Duration = Duration::from_mins(1);
/// How long a token is used whose answer does not say when it ends.
const UNTOLD_LASTS: Duration = Duration::from_mins(5);

/// Where tokens are given, and the one that was given last.
pub(super) struct TokenDesk {
    url: Url,
    scope: Option<String>,
    held: Mutex<Option<Held>>,
    /// Only one asks at a time: the others find what it got.
    asking: tokio::sync::Mutex<()>,
}

struct Held {
    token: SecretString,
    until: Instant,
}

/// The address where tokens are given: its own, or a path below the provider's origin.
///
/// # Errors
/// A sentence: no address, or one that would send the secret in the clear to another machine.
pub(super) fn token_url(base: &Url, text: &str) -> Result<Url, String> {
    let url = if text.starts_with('/') { base.join(text) } else { Url::parse(text) };
    let url = url.map_err(|fault| format!("the address of tokens is no URL: {fault}"))?;
    let is_safe = url.scheme() == "https" || url.origin() == base.origin();
    if !is_safe || !url.username().is_empty() || url.password().is_some() {
        return Err("the address of tokens must begin with https:// and hold no user or password".to_owned());
    }
    Ok(url)
}

impl TokenDesk {
    /// A desk where nothing was asked for yet.
    pub fn new(url: Url, scope: Option<String>) -> Self {
        Self { url, scope, held: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    /// The token that [`TokenDesk::get`] got.
    ///
    /// # Errors
    /// [`FaultKind::Secret`] when there is none.
    pub fn token(&self) -> Result<SecretString, Fault> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref()
            .map(|held| held.token.clone())
            .ok_or_else(|| Fault::new(FaultKind::Secret, "there is no token to ask with"))
    }

    /// Gives up the token that is held.
    pub fn forget(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Gets a token, unless there is one that still holds.
    ///
    /// # Errors
    /// The fault that kept it from being given.
    pub async fn get(&self, client: &Client, secret: &SecretKeeper, time_max: Duration) -> Result<(), Fault> {
        let _only_one = self.asking.lock().await;
        if self.holds() {
            return Ok(());
        }
        let pair = secret.secret()?;
        let Some((id, password)) = pair.expose_secret().split_once(':') else {
            return Err(Fault::new(FaultKind::Secret, "the secret must be written client:secret"));
        };
        let request = client
            .post(self.url.clone())
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .basic_auth(id, Some(password))
            .body(self.form())
            .build()
            .map_err(|_| {
                Fault::new(FaultKind::Question, "a token cannot be asked for: its address is wrong")
            })?;
        let asked_at = Instant::now();
        let tried = exchange(client, request, time_max, ANSWER_BYTES_MAX).await;
        if tried.reply.status != 200 {
            return Err(tried
                .fault
                .filter(|_| tried.reply.status == 0)
                .unwrap_or_else(|| refused(&tried.reply)));
        }
        if let Some(fault) = tried.fault {
            return Err(fault);
        }
        let (token, lasts) = read(&tried.reply)?;
        secret.hide_too(token.clone());
        let until = asked_at + lasts.saturating_sub(MARGIN.min(lasts / 2));
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(Held { token, until });
        Ok(())
    }

    fn form(&self) -> String {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials");
        form.extend_pairs(self.scope.iter().map(|scope| ("scope", scope)));
        form.finish()
    }

    fn holds(&self) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().is_some_and(|held| Instant::now() < held.until)
    }
}

/// What a status says that is not 200. The body is not repeated: it may echo the secret.
fn refused(reply: &Reply) -> Fault {
    let kind = match reply.status {
        429 => FaultKind::RateLimited,
        300..=399 => FaultKind::Redirect,
        500..=599 => FaultKind::ServerError,
        _ => FaultKind::Refused,
    };
    Fault::new(kind, format!("no token was given for the secret: the answer was {}", reply.status))
}

/// The token in an answer, and how long it holds.
fn read(reply: &Reply) -> Result<(SecretString, Duration), Fault> {
    let wrong = || Fault::new(FaultKind::Shape, "the answer to the question for a token has no bearer token");
    let document: Value = serde_json::from_slice(&reply.body).map_err(|_| wrong())?;
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    let token = text("access_token").filter(|token| !token.is_empty()).ok_or_else(wrong)?;
    if text("token_type").is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(wrong());
    }
    let lasts = document
        .get("expires_in")
        .and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()))
        .map_or(UNTOLD_LASTS, Duration::from_secs);
    Ok((SecretString::from(token.to_owned()), lasts))
}
