//! Escalations and alerts, each as one declared POST, sent once.

use crate::adapters::http::client::{self, Tried, Way, exchange};
use crate::adapters::http::notice::{self, BODY_BYTES_MAX};
use crate::adapters::http::secret::SecretKeeper;
use crate::adapters::secret::Environment;
use crate::domain::cell::hex;
use crate::domain::evidence::FaultKind;
use crate::domain::mask::{MASK, is_secret_name};
use crate::ports::alerts::Alerts;
use crate::ports::escalation::{Escalation, NotTaken, Notice, ShownRequest};
use crate::ports::source::{Examined, Health};
use crate::preset::template::{Fields, Template};
use crate::preset::webhook::WebhookSettings;
use async_trait::async_trait;
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Request};
use secrecy::ExposeSecret;
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

/// The longest key that a header carries as it is; the shortest limit met in the field.
const KEY_CHARS_MAX: usize = 255;

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

    /// The body that the settings declare, or the whole notice.
    fn body(&self, fields: &Fields, whole: impl FnOnce() -> Result<Value, String>) -> Result<Value, String> {
        match &self.settings.body {
            Some(body) => body.render(fields),
            None => whole(),
        }
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
        let body = self.body(&fields, whole)?;
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
    ) -> Result<String, NotTaken> {
        let not_sent = |sentence: &str, kind: FaultKind| {
            NotTaken::new(format!("{}; nothing was sent", self.secret.masked(sentence)), kind)
        };
        if self.settings.secret.is_some() {
            self.secret.secret().map_err(|fault| not_sent(&fault.detail, fault.kind))?;
        }
        let client = self.client.as_ref().map_err(|sentence| not_sent(sentence, FaultKind::Secret))?;
        let request = made(client).map_err(|sentence| not_sent(&sentence, FaultKind::Question))?;
        let tried = exchange(client, request, self.settings.request_max, BODY_BYTES_MAX).await;
        self.outcome(&tried)
    }
}

/// The whole of a notice.
fn whole(notice: &Notice) -> Result<Value, String> {
    serde_json::to_value(notice).map_err(|fault| format!("the notice cannot be written: {fault}"))
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
    fn outcome(&self, tried: &Tried) -> Result<String, NotTaken> {
        match tried.reply.status {
            status @ 200..=299 => Ok(format!("the webhook answered {status}")),
            _ => Err(notice::not_taken("the webhook", tried, &self.secret)),
        }
    }
}

#[async_trait]
impl Escalation for Webhook {
    fn place(&self) -> String {
        self.settings.place()
    }

    async fn examine(&self) -> Examined {
        let secret = match self.settings.secret {
            Some(_) => self.secret.secret().map(drop).map_err(|fault| fault.detail),
            None => Ok(()),
        };
        let (health, finding) = match secret.and(self.client.as_ref().map(drop).map_err(Clone::clone)) {
            Ok(()) => (
                Health::Doubtful,
                format!(
                    "{}: not tried, for an address that takes a POST tells nothing before one",
                    Escalation::place(self)
                ),
            ),
            // A secret or a file of certificates that is not there.
            Err(sentence) => (
                Health::Misfit,
                format!(
                    "{}: {}. Nothing could be sent.",
                    Escalation::place(self),
                    self.secret.masked(&sentence)
                ),
            ),
        };
        Examined { what: "target".to_owned(), health, finding }
    }

    fn shown(&self, notice: &Notice) -> Result<ShownRequest, String> {
        // The secret itself is not needed to show where it stands.
        let mut fields = notice::fields(notice);
        fields.insert("secret".to_owned(), MASK.into());
        let header = |(name, template): (&String, &Template)| {
            let value = if is_secret_name(name) { MASK.to_owned() } else { template.render(&fields)? };
            Ok((name.clone(), value))
        };
        let mut headers = self.settings.headers.iter().map(header).collect::<Result<Vec<_>, String>>()?;
        headers.push((self.settings.dedup_header.clone(), header_key(&notice.dedup_key)));
        Ok(ShownRequest {
            method: "POST".to_owned(),
            url: self.settings.url.render(&fields)?,
            headers,
            body: self.body(&fields, || whole(notice))?.to_string(),
            asks_before: None,
            repeat: format!(
                "Harmless where the receiver knows the key in `{}` again; whether it does is not known here.",
                self.settings.dedup_header
            ),
        })
    }

    async fn send(&self, notice: &Notice) -> Result<String, NotTaken> {
        let key = &notice.dedup_key;
        self.send_once(|client| self.request(client, notice::fields(notice), || whole(notice), key)).await
    }
}

#[async_trait]
impl Alerts for Webhook {
    fn place(&self) -> String {
        self.settings.place()
    }

    async fn send(&self, dedup_key: &str, notice: &Value) -> Result<String, NotTaken> {
        let whole = || Ok(notice.clone());
        self.send_once(|client| self.request(client, fields_of_alert(notice), whole, dedup_key)).await
    }
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
