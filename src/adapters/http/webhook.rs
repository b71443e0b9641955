//! Escalations and alerts, each as one declared POST, sent once.

use crate::adapters::http::client::{self, Tried, Way, exchange};
use crate::adapters::http::secret::SecretKeeper;
use crate::adapters::secret::Environment;
use crate::domain::cell::hex;
use crate::domain::text::{clean_cut, escape_bytes};
use crate::ports::alerts::Alerts;
use crate::ports::escalation::{Escalation, Notice};
use crate::preset::template::Fields;
use crate::preset::webhook::WebhookSettings;
use async_trait::async_trait;
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Request};
use secrecy::ExposeSecret;
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

/// The most bytes of the receiver's answer that are read.
const BODY_BYTES_MAX: usize = 16 * 1024;
/// The longest key that a header carries as it is; the shortest limit met in the field.
const KEY_CHARS_MAX: usize = 255;
const SHOWN_CHARS_MAX: usize = 200;

/// A webhook behind the port.
pub struct Webhook {
    settings: WebhookSettings,
    secret: SecretKeeper,
    client: Result<Client, String>,
}

impl Webhook {
    /// Makes ready a webhook. Nothing is sent, and the secret is not read yet.
    ///
    /// # Errors
    /// A sentence: a header's name is none.
    pub fn build(settings: WebhookSettings, environment: Environment) -> Result<Self, String> {
        for name in settings.headers.keys().chain([&settings.dedup_header]) {
            header_name(name)?;
        }
        let base = Url::parse(&settings.place())
            .map_err(|fault| format!("the webhook's address is wrong: {fault}"))?;
        let way = Way {
            proxy: settings.proxy.as_ref(),
            certificates: settings.certificates.as_deref(),
            client_certificate: None,
        };
        let secret = SecretKeeper::new(settings.secret.clone(), environment);
        Ok(Self { client: client::build(&base, way), settings, secret })
    }

    /// A POST of a body, or of the one that the settings declare, from these fields.
    fn request(
        &self,
        client: &Client,
        fields: Fields,
        whole: impl FnOnce() -> Result<Value, String>,
        dedup_key: &str,
    ) -> Result<Request, String> {
        let fields = self.with_secret(fields)?;
        let rendered = self.settings.url.render(&fields)?;
        let url = Url::parse(&rendered).map_err(|fault| format!("its address is wrong: {fault}"))?;
        let body = match &self.settings.body {
            Some(body) => body.render(&fields)?,
            None => whole()?,
        };
        let mut builder = client.post(url).header(CONTENT_TYPE, "application/json").body(body.to_string());
        for (name, template) in &self.settings.headers {
            let value = HeaderValue::from_str(&template.render(&fields)?)
                .map_err(|_| format!("the header `{name}` has characters that no header can carry"))?;
            builder = builder.header(header_name(name)?, value);
        }
        builder = builder.header(header_name(&self.settings.dedup_header)?, header_key(dedup_key));
        builder.build().map_err(|_| "its address or a header is wrong".to_owned())
    }

    fn with_secret(&self, mut fields: Fields) -> Result<Fields, String> {
        if self.settings.secret.is_some() {
            let secret = self.secret.secret().map_err(|fault| fault.detail)?;
            fields.insert("secret".to_owned(), secret.expose_secret().into());
        }
        Ok(fields)
    }

    /// Sends what was made ready, once.
    async fn send_once(
        &self,
        made: impl FnOnce(&Client) -> Result<Request, String>,
    ) -> Result<String, String> {
        let not_sent = |sentence: String| format!("{}; nothing was sent", self.secret.masked(&sentence));
        let client = self.client.as_ref().map_err(|sentence| not_sent(sentence.clone()))?;
        let request = made(client).map_err(not_sent)?;
        let tried = exchange(client, request, self.settings.request_max, BODY_BYTES_MAX).await;
        self.outcome(&tried)
    }
}

/// What templates of an escalation may use.
fn fields_of(notice: &Notice) -> Fields {
    let texts = [
        ("dedup_key", notice.dedup_key.clone()),
        ("source", notice.source.clone()),
        ("key", notice.key.clone()),
        ("kind", notice.kind.clone()),
        ("status", notice.status.clone()),
        ("finding", notice.finding.clone()),
        ("verdict", notice.verdict.clone()),
        ("effect_ids", notice.effect_ids.join(", ")),
        ("operator", notice.operator.clone()),
        ("reason", notice.reason.clone()),
        ("audit", notice.audit.to_string()),
        ("summary", summary(notice)),
    ];
    texts.into_iter().map(|(name, text)| (name.to_owned(), text.into())).collect()
}

/// What templates of an alert may use: its plain members.
fn fields_of_alert(notice: &Value) -> Fields {
    let members = notice.as_object().into_iter().flatten();
    let plain = members.filter_map(|(name, value)| match value {
        Value::String(text) => Some((name.clone(), text.as_str().into())),
        Value::Number(number) => Some((name.clone(), number.to_string().into())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    });
    plain.collect()
}

impl Webhook {
    fn outcome(&self, tried: &Tried) -> Result<String, String> {
        let status = tried.reply.status;
        let said = || {
            let text = self.secret.masked(&escape_bytes(&tried.reply.body));
            let shown = clean_cut(text.trim(), SHOWN_CHARS_MAX);
            if shown.is_empty() { String::new() } else { format!(" ({shown})") }
        };
        let not = "it was not taken";
        let maybe = "it may have arrived";
        match (status, &tried.fault) {
            (200..=299, _) => Ok(format!("the webhook answered {status}")),
            (300..=399, _) => Err(format!("the webhook answered {status}, pointing elsewhere; {not}")),
            (408 | 409, _) => Err(format!("the webhook answered {status}{}; {maybe}", said())),
            (400..=499, _) => Err(format!("the webhook answered {status}{}; {not}", said())),
            (0, Some(fault)) if tried.never_left => {
                Err(format!("{}; it surely did not arrive", self.secret.masked(&fault.detail)))
            }
            (0, Some(fault)) => Err(format!("{}; {maybe}", self.secret.masked(&fault.detail))),
            (other, _) => Err(format!("the webhook answered {other}{}; {maybe}", said())),
        }
    }
}

#[async_trait]
impl Escalation for Webhook {
    fn place(&self) -> String {
        self.settings.place()
    }

    async fn send(&self, notice: &Notice) -> Result<String, String> {
        let whole =
            || serde_json::to_value(notice).map_err(|fault| format!("the notice cannot be written: {fault}"));
        self.send_once(|client| self.request(client, fields_of(notice), whole, &notice.dedup_key)).await
    }
}

#[async_trait]
impl Alerts for Webhook {
    fn place(&self) -> String {
        self.settings.place()
    }

    async fn send(&self, dedup_key: &str, notice: &Value) -> Result<String, String> {
        let whole = || Ok(notice.clone());
        self.send_once(|client| self.request(client, fields_of_alert(notice), whole, dedup_key)).await
    }
}

fn summary(notice: &Notice) -> String {
    let verdict = if notice.verdict.is_empty() { "not checked" } else { &notice.verdict };
    clean_cut(&format!("{} {} is {}: {verdict}", notice.source, notice.key, notice.finding), SHOWN_CHARS_MAX)
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is no header's name"))
}

/// The key as a header can carry it; the same for the same key.
fn header_key(key: &str) -> String {
    let plain =
        key.len() <= KEY_CHARS_MAX && !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
    if plain { key.to_owned() } else { format!("sha256-{}", hex(&Sha256::digest(key.as_bytes()))) }
}
