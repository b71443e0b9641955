//! A provider on loopback with answers in order, and the real adapter that asks it.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use unstuck::adapters::http::{Endpoint, HttpProvider};
use unstuck::domain::attempt::Attempts;
use unstuck::domain::evidence::Answer as Told;
use unstuck::domain::verdict::{Judgement, judge};
use unstuck::ports::clock::Clock;
use unstuck::ports::provider::{Listed, Provider, Question, Window};
use unstuck::preset::provider::{Auth, ProviderPreset, ProviderSettings, SecretPlace};
use url::Url;
use uuid::Uuid;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

const SECRET: &str = "user-1:pass-2";
const TOKEN: &str = "token-of-an-hour";
/// Where tokens are given, in all cases that need one.
const TOKEN_PATHS: [&str; 2] = ["/v1/oauth2/token", "/oauth/token"];

/// When everything is asked.
pub fn now() -> DateTime<Utc> {
    "2026-11-30T08:00:00Z".parse().unwrap()
}

/// When everything was tried: long enough ago to be settled, and not too long for any look-up.
fn tried() -> DateTime<Utc> {
    now() - TimeDelta::hours(18)
}

struct FixedClock(DateTime<Utc>);

impl Clock for FixedClock {
    fn now(&self) -> DateTime<Utc> {
        self.0
    }

    fn new_id(&self) -> Uuid {
        Uuid::nil()
    }

    fn process(&self) -> u32 {
        1
    }

    fn lives(&self, _process: u32) -> Option<bool> {
        None
    }
}

/// One answer; that of a HEAD is its headers.
#[derive(Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub is_head: bool,
    pub document: Value,
}

impl Answer {
    fn template(&self, base: &str) -> ResponseTemplate {
        let mut template = ResponseTemplate::new(self.status);
        let of_document = self.document["headers"].as_object().filter(|_| self.is_head).into_iter().flatten();
        for (name, value) in of_document {
            template = template.insert_header(name.as_str(), value.as_str().unwrap());
        }
        for (name, value) in &self.headers {
            template = template.insert_header(name.as_str(), value.replace("{base}", base).as_str());
        }
        if self.is_head {
            return template;
        }
        // A body that was no JSON is left out of an example.
        let body = if self.document.is_null() { String::new() } else { self.document.to_string() };
        template.set_body_string(body.replace("{base}", base))
    }
}

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Method, path and decoded query.
    pub line: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

#[derive(Clone, Default)]
struct Script(Arc<Mutex<Acts>>);

#[derive(Default)]
struct Acts {
    answers: Vec<Answer>,
    asked: Vec<Asked>,
    tokens_given: usize,
}

impl Respond for Script {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut script = self.0.lock().unwrap();
        if TOKEN_PATHS.iter().any(|path| request.url.path().ends_with(path)) {
            script.tokens_given += 1;
            let answer =
                serde_json::json!({"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600});
            return ResponseTemplate::new(200).set_body_json(answer);
        }
        let nth = script.asked.len();
        script.asked.push(asked(request));
        let base = request.headers["host"].to_str().unwrap();
        match script.answers.get(nth) {
            Some(answer) => answer.template(&format!("http://{base}")),
            None => ResponseTemplate::new(400),
        }
    }
}

fn asked(request: &Request) -> Asked {
    let query: Vec<String> =
        request.url.query_pairs().map(|(name, value)| format!("{name}={value}")).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    let headers = request.headers.iter();
    let body =
        if request.body.is_empty() { Value::Null } else { serde_json::from_slice(&request.body).unwrap() };
    Asked {
        line: format!("{} {}{mark}{}", request.method, request.url.path(), query.join("&")),
        headers: headers
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect(),
        body,
    }
}

/// One operation on a provider of its own.
pub struct Stage {
    script: Script,
    provider: HttpProvider,
    auth: Auth,
    _server: MockServer,
}

impl Stage {
    pub async fn new(preset: &ProviderPreset, operation: &str, variables: &BTreeMap<String, String>) -> Self {
        let base_path = preset.base_url.as_ref().map_or("", |usual| usual.path());
        Self::at(now(), preset, operation, base_path, variables).await
    }

    /// The same at another moment and below another path.
    pub async fn at(
        now: DateTime<Utc>,
        preset: &ProviderPreset,
        operation: &str,
        base_path: &str,
        variables: &BTreeMap<String, String>,
    ) -> Self {
        let server = MockServer::builder().disable_request_recording().start().await;
        let script = Script::default();
        Mock::given(any()).respond_with(script.clone()).mount(&server).await;
        let mut base = Url::parse(&server.uri()).unwrap();
        base.set_path(base_path);
        let mut settings = ProviderSettings::new(base);
        settings.secret = Some(SecretPlace::Env("SECRET".to_owned()));
        settings.variables.clone_from(variables);
        settings.pace_per_second = Some(100_000.0);
        let mut preset = preset.clone();
        for operation in preset.operations.values_mut() {
            operation.pace_per_second = None;
        }
        let environment: unstuck::adapters::http::Environment = Arc::new(|_| Some(SECRET.to_owned()));
        let endpoint = Endpoint::build(&preset, &settings, environment).unwrap();
        let name = format!("{}.{operation}", preset.name);
        let clock = Arc::new(FixedClock(now));
        let provider =
            HttpProvider::build(&name, &preset, operation, &settings, Arc::new(endpoint), clock).unwrap();
        Self { script, provider, auth: preset.auth, _server: server }
    }

    /// Asks once, against these answers in order; a question beyond them gets a 400.
    pub async fn ask(
        &self,
        reference: &str,
        fields: &BTreeMap<String, String>,
        answers: Vec<Answer>,
    ) -> (Told, Judgement, Vec<Asked>) {
        let moments = (Some(tried()), Some(tried()), now());
        self.ask_at(reference, fields, answers, moments).await
    }

    /// The same with its moments: where the window begins, when it was tried, and when it is asked.
    pub async fn ask_at(
        &self,
        reference: &str,
        fields: &BTreeMap<String, String>,
        answers: Vec<Answer>,
        (from, tried, now): (Option<DateTime<Utc>>, Option<DateTime<Utc>>, DateTime<Utc>),
    ) -> (Told, Judgement, Vec<Asked>) {
        {
            let mut script = self.script.0.lock().unwrap();
            script.answers = answers;
            script.asked.clear();
        }
        let question =
            Question { reference: reference.to_owned(), from, fields: fields.clone(), mask: Arc::default() };
        let told = self.provider.ask(&question).await.answer;
        let attempts = Attempts { first: tried, last: tried };
        let judgement = judge(told.clone(), self.provider.facts().clocks, attempts, None, now);
        (told, judgement, self.script.0.lock().unwrap().asked.clone())
    }

    /// Reads the whole list once, against these answers in order.
    pub async fn list(&self, answers: Vec<Answer>) -> (Listed, Vec<Asked>) {
        {
            let mut script = self.script.0.lock().unwrap();
            script.answers = answers;
            script.asked.clear();
        }
        let window = Window { from: Some(tried()), pages_max: 10, mask: Arc::default() };
        let listed = self.provider.list(&window).await;
        (listed, self.script.0.lock().unwrap().asked.clone())
    }

    /// The headers that prove who asks, the one with the secret or its signature first.
    pub fn auth_headers(&self) -> Vec<String> {
        let names: &[&str] = match &self.auth {
            Auth::None => &[],
            Auth::Header { name, .. } => return vec![name.to_ascii_lowercase()],
            Auth::AwsSigV4 { .. } => &["authorization", "x-amz-content-sha256", "x-amz-date"],
            _ => &["authorization"],
        };
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Whether the header holds what the preset says, and a token was asked for once however much was asked with it.
    pub fn assert_who_asks(&self, asked: &Asked) {
        let Some(header) = self.auth_headers().into_iter().next() else { return };
        let value = &asked.headers[&header];
        match &self.auth {
            Auth::ClientCredentials { .. } => {
                assert_eq!(value, &format!("Bearer {TOKEN}"));
                assert_eq!(self.script.0.lock().unwrap().tokens_given, 1);
            }
            Auth::AwsSigV4 { service, .. } => {
                // What signs is AWS's own vectors' to check; here it is that the right things are signed, and by whom.
                let scope = format!("Credential=user-1/20261130/us-east-1/{service}/aws4_request");
                let signed = "SignedHeaders=host;x-amz-content-sha256;x-amz-date";
                assert!(
                    value.starts_with(&format!("AWS4-HMAC-SHA256 {scope}, {signed}, Signature=")),
                    "{value}"
                );
                assert_eq!(asked.headers["x-amz-date"], "20261130T080000Z");
                assert!(
                    !asked.headers.values().any(|value| value.contains("pass-2")),
                    "the key is never sent"
                );
            }
            Auth::Bearer => assert_eq!(value, &format!("Bearer {SECRET}")),
            Auth::Header { prefix, .. } => assert_eq!(value, &format!("{prefix}{SECRET}")),
            _ => assert!(value.starts_with("Basic "), "{value}"),
        }
    }
}
