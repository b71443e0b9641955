//! One configured provider: its client, its pace and its secret, shared by all its operations.

use crate::adapters::http::client::{self, Way};
use crate::adapters::http::pacer::Pacer;
use crate::adapters::http::reach::Reach;
use crate::adapters::http::request::Planned;
use crate::adapters::http::secret::SecretKeeper;
use crate::adapters::http::sigv4::{self, Credentials, Unsigned};
use crate::adapters::http::token::{TokenDesk, token_url};
use crate::adapters::secret::Environment;
use crate::domain::cell::hex;
use crate::domain::evidence::{Fault, FaultKind};
use crate::preset::provider::{Auth, ProviderPreset, ProviderSettings};
use crate::preset::template::{Fields, Template};
use chrono::{DateTime, Utc};
use minijinja::value::Value;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Request, RequestBuilder};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use url::Url;

/// The service whose paths are signed as they are sent.
const S3: &str = "s3";

/// What all operations of one configured provider share.
pub struct Endpoint {
    pub(super) base: Url,
    pub(super) vars: Fields,
    pub(super) secret: SecretKeeper,
    pub(super) reach: Reach,
    pub(super) pacer: Pacer,
    pub(super) in_flight: Arc<Semaphore>,
    pub(super) in_flight_max: usize,
    client: Result<Client, String>,
    auth: ReadyAuth,
    pub(super) headers: HeaderMap,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({})", self.base)
    }
}

/// How to prove who asks, with everything but the secret filled in.
enum ReadyAuth {
    None,
    Bearer,
    BasicUser,
    BasicPassword(String),
    BasicPair,
    Header(HeaderName, String),
    Token(TokenDesk),
    Signed { service: String, region: String },
}

impl Endpoint {
    /// Makes ready one configured provider. Nothing is sent, and the secret is not read yet.
    ///
    /// A machine without certificates is no error here but a fault of each question: other providers still answer.
    ///
    /// # Errors
    /// A sentence naming the preset and what the configuration leaves out.
    pub fn build(
        preset: &ProviderPreset,
        settings: &ProviderSettings,
        environment: Environment,
    ) -> Result<Self, String> {
        let wrong = |sentence: String| format!("provider `{}`: {sentence}", preset.name);
        let base = ProviderSettings::parse_base_url(settings.base_url.as_str()).map_err(wrong)?;
        let vars = vars(preset, settings).map_err(wrong)?;
        let may_do_without = matches!(preset.auth, Auth::None | Auth::AwsSigV4 { .. });
        if !may_do_without && settings.secret.is_none() {
            return Err(wrong("it needs a secret, and the configuration names none".to_owned()));
        }
        if settings.proxy.as_ref().is_some_and(|proxy| proxy.password().is_some()) {
            return Err(wrong(
                "the proxy's address holds a password, and a configuration holds no secrets".to_owned(),
            ));
        }
        let way = Way {
            proxy: settings.proxy.as_ref(),
            certificates: settings.certificates.as_deref(),
            client_certificate: settings.client_certificate.as_deref(),
        };
        let in_flight_max = settings.in_flight_max.unwrap_or(preset.in_flight_max).max(1);
        Ok(Self {
            client: client::build(&base, way),
            reach: Reach::default(),
            pacer: Pacer::new(settings.pace_per_second.unwrap_or(preset.pace_per_second)),
            in_flight: Arc::new(Semaphore::new(in_flight_max)),
            in_flight_max,
            secret: SecretKeeper::new(settings.secret.clone(), environment),
            auth: match (&preset.auth, &settings.secret) {
                // Somebody on the way signs, or nobody has to.
                (Auth::AwsSigV4 { .. }, None) => ReadyAuth::None,
                (auth, _) => ready(auth, &base, &vars).map_err(wrong)?,
            },
            headers: fixed_headers(&preset.headers, &vars).map_err(wrong)?,
            vars,
            base,
        })
    }

    /// Where it is, without secrets.
    pub fn place(&self) -> String {
        self.base.to_string()
    }

    /// The header that proves who asks, as a person may see it; `None` where there is none.
    pub(super) fn shown_auth(&self) -> Option<(String, String)> {
        let name = match &self.auth {
            ReadyAuth::None => return None,
            ReadyAuth::Header(name, _) => name.to_string(),
            ReadyAuth::Bearer
            | ReadyAuth::BasicUser
            | ReadyAuth::BasicPassword(_)
            | ReadyAuth::BasicPair
            | ReadyAuth::Signed { .. }
            | ReadyAuth::Token(_) => AUTHORIZATION.to_string(),
        };
        Some((name, crate::domain::mask::MASK.to_owned()))
    }

    /// The client.
    ///
    /// # Errors
    /// [`FaultKind::Tls`] on a machine without certificates.
    pub(super) fn client(&self) -> Result<&Client, Fault> {
        self.client.as_ref().map_err(|sentence| Fault::new(FaultKind::Tls, sentence.clone()))
    }

    /// Gets a token where requests carry one and there is none that still holds.
    ///
    /// # Errors
    /// The fault that kept it from being given.
    pub(super) async fn get_token(&self, time_max: Duration) -> Result<(), Fault> {
        match &self.auth {
            ReadyAuth::Token(desk) => desk.get(self.client()?, &self.secret, time_max).await,
            _ => Ok(()),
        }
    }

    /// Forgets a token that the provider does not take any more.
    pub(super) fn forget_token(&self) {
        if let ReadyAuth::Token(desk) = &self.auth {
            desk.forget();
        }
    }

    /// The request as it is sent, who asks included.
    ///
    /// # Errors
    /// [`FaultKind::Secret`] when the secret is missing, [`FaultKind::Question`] when the request cannot be made.
    pub(super) fn request(
        &self,
        planned: &Planned,
        headers: &HeaderMap,
        now: DateTime<Utc>,
    ) -> Result<Request, Fault> {
        let method = Method::from_bytes(planned.method.as_bytes())
            .map_err(|_| Fault::new(FaultKind::Question, "the method is none"))?;
        let mut builder = self
            .client()?
            .request(method, planned.url.clone())
            .header(ACCEPT, "application/json")
            // Evidence keeps the bytes as they came, so they must come unpacked.
            .header(ACCEPT_ENCODING, "identity")
            .headers(self.headers.clone())
            .headers(headers.clone());
        if let Some(body) = &planned.body {
            builder =
                builder.header(reqwest::header::CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let mut request = self.authorized(builder, planned, now)?.build().map_err(|_| {
            Fault::new(FaultKind::Question, "the question cannot be sent: its address or a header is wrong")
        })?;
        if matches!(self.auth, ReadyAuth::Signed { .. }) {
            request.url_mut().set_path(&sigv4::path_as_signed(&planned.url));
        }
        Ok(request)
    }

    /// The request with its signature, which is of this moment: each try is signed anew.
    fn signed(
        &self,
        builder: RequestBuilder,
        planned: &Planned,
        (region, service): (&str, &str),
        now: DateTime<Utc>,
    ) -> Result<RequestBuilder, Fault> {
        let mut credentials = hidden(&self.secret)?;
        if credentials.have_ended(now) {
            self.secret.forget();
            credentials = hidden(&self.secret)?;
        }
        let body = planned.body.as_ref().map(ToString::to_string).unwrap_or_default();
        let body_sha256 = hex(&Sha256::digest(body.as_bytes()));
        let request = Unsigned {
            method: planned.method,
            url: &planned.url,
            headers: &[("x-amz-content-sha256", &body_sha256)],
            body_sha256: &body_sha256,
            is_path_encoded_twice: service != S3,
        };
        let authorization = sigv4::authorization(&request, &credentials, (region, service), now);
        let mut builder = builder
            .header("x-amz-date", sigv4::date_header(now))
            .header("x-amz-content-sha256", &body_sha256)
            .header(AUTHORIZATION, sensitive(&authorization, &SecretString::default())?);
        if let Some(token) = &credentials.session_token {
            builder = builder.header("x-amz-security-token", sensitive("", token)?);
        }
        Ok(builder)
    }

    fn authorized(
        &self,
        builder: RequestBuilder,
        planned: &Planned,
        now: DateTime<Utc>,
    ) -> Result<RequestBuilder, Fault> {
        if matches!(self.auth, ReadyAuth::None) {
            return Ok(builder);
        }
        if let ReadyAuth::Signed { service, region } = &self.auth {
            return self.signed(builder, planned, (region, service), now);
        }
        let secret = self.secret.secret()?;
        let text = secret.expose_secret();
        Ok(match &self.auth {
            ReadyAuth::None | ReadyAuth::Signed { .. } => builder,
            ReadyAuth::Bearer => builder.header(AUTHORIZATION, sensitive("Bearer ", &secret)?),
            ReadyAuth::BasicUser => builder.basic_auth(text, Some("")),
            ReadyAuth::BasicPassword(user) => builder.basic_auth(user, Some(text)),
            ReadyAuth::BasicPair => match text.split_once(':') {
                Some((user, password)) => builder.basic_auth(user, Some(password)),
                None => {
                    return Err(Fault::new(FaultKind::Secret, "the secret must be written user:password"));
                }
            },
            ReadyAuth::Header(name, prefix) => builder.header(name, sensitive(prefix, &secret)?),
            ReadyAuth::Token(desk) => builder.header(AUTHORIZATION, sensitive("Bearer ", &desk.token()?)?),
        })
    }
}

/// Credentials of which neither part is ever shown.
fn hidden(secrets: &SecretKeeper) -> Result<Credentials, Fault> {
    let secret = secrets.secret()?;
    let credentials = Credentials::parse(secret.expose_secret())
        .map_err(|sentence| Fault::new(FaultKind::Secret, sentence))?;
    secrets.hide_too(credentials.secret_access_key.clone());
    credentials.session_token.iter().for_each(|token| secrets.hide_too(token.clone()));
    Ok(credentials)
}

fn sensitive(prefix: &str, secret: &SecretString) -> Result<HeaderValue, Fault> {
    let mut value = HeaderValue::from_str(&format!("{prefix}{}", secret.expose_secret()))
        .map_err(|_| Fault::new(FaultKind::Secret, "the secret has characters that no header can carry"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn vars(preset: &ProviderPreset, settings: &ProviderSettings) -> Result<Fields, String> {
    if let Some((name, what)) =
        preset.variables.iter().find(|(name, _)| !settings.variables.contains_key(*name))
    {
        return Err(format!("the configuration must say the variable `{name}` ({what})"));
    }
    let is_known =
        |name: &str| preset.variables.contains_key(name) || preset.optional_variables.contains_key(name);
    if let Some(name) = settings.variables.keys().find(|name| !is_known(name)) {
        return Err(format!("the preset has no variable `{name}`"));
    }
    let mut given: BTreeMap<String, Value> =
        preset.optional_variables.keys().map(|name| (name.clone(), "".into())).collect();
    given.extend(settings.variables.iter().map(|(name, text)| (name.clone(), text.as_str().into())));
    Ok(Fields::from([("vars".to_owned(), given.into())]))
}

fn ready(auth: &Auth, base: &Url, vars: &Fields) -> Result<ReadyAuth, String> {
    Ok(match auth {
        Auth::None => ReadyAuth::None,
        Auth::Bearer => ReadyAuth::Bearer,
        Auth::BasicUser => ReadyAuth::BasicUser,
        Auth::BasicPair => ReadyAuth::BasicPair,
        Auth::BasicPassword(user) => ReadyAuth::BasicPassword(user.render(vars)?),
        Auth::ClientCredentials { token_url: template, scope } => {
            ReadyAuth::Token(TokenDesk::new(token_url(base, &template.render(vars)?)?, scope.clone()))
        }
        Auth::AwsSigV4 { service, region } => {
            let told = region.render(vars)?;
            let region = if told.is_empty() { sigv4::region_of(base) } else { told };
            ReadyAuth::Signed { service: service.clone(), region }
        }
        Auth::Header { name, prefix } => ReadyAuth::Header(header_name(name)?, prefix.clone()),
    })
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is no header's name"))
}

/// Headers that are the same for every question.
pub(super) fn fixed_headers(
    templates: &BTreeMap<String, Template>,
    vars: &Fields,
) -> Result<HeaderMap, String> {
    templates
        .iter()
        .map(|(name, template)| {
            let value = HeaderValue::from_str(&template.render(vars)?)
                .map_err(|_| format!("the header `{name}` has characters that no header can carry"))?;
            Ok((header_name(name)?, value))
        })
        .collect()
}
