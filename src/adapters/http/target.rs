//! Escalations to a system that a preset describes: asked before where its key protects nothing, and sent once.

use crate::adapters::http::client::{Tried, exchange};
use crate::adapters::http::extract::fields::{plain_text, single};
use crate::adapters::http::notice;
use crate::adapters::http::request::{Planned, address, rendered};
use crate::adapters::http::{Endpoint, Environment, HttpProvider};
use crate::domain::evidence::{Answer, Fault, FaultKind};
use crate::domain::mask::MASK;
use crate::ports::clock::Clock;
use crate::ports::escalation::{Escalation, NotTaken, Notice, ShownRequest};
use crate::ports::provider::{Provider, Question};
use crate::ports::source::{Examined, Health};
use crate::preset::escalation::{EscalationPreset, LOOK_UP};
use crate::preset::provider::{How, Must, ProviderSettings};
use crate::preset::template::Fields;
use async_trait::async_trait;
use chrono::TimeDelta;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most bytes of the answer that are read: what was made comes back whole.
const BODY_BYTES_MAX: usize = 256 * 1024;
/// How far back a look-up is asked for the key, where it names a window.
const LOOKED_BACK: TimeDelta = TimeDelta::hours(24);
/// A key that nothing has: asking for it shows that the target answers, and makes nothing.
const PROBE_KEY: &str = "unstuck-doctor-probe";

/// A configured target behind the port.
pub struct Target {
    preset: Arc<EscalationPreset>,
    endpoint: Arc<Endpoint>,
    look_up: HttpProvider,
    clock: Arc<dyn Clock>,
}

impl Target {
    /// Makes ready a target. Nothing is sent, and the secret is not read yet.
    ///
    /// # Errors
    /// A sentence naming the preset and what the configuration leaves out.
    pub fn build(
        preset: Arc<EscalationPreset>,
        settings: &ProviderSettings,
        environment: Environment,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        if preset.send.uses_secret && settings.secret.is_none() {
            return Err(format!(
                "`{}`: it needs a secret, and the configuration names none",
                preset.target.name
            ));
        }
        let endpoint = Arc::new(Endpoint::build(&preset.target, settings, environment)?);
        let name = format!("{}.{LOOK_UP}", preset.target.name);
        let look_up = HttpProvider::build(
            &name,
            &preset.target,
            LOOK_UP,
            settings,
            Arc::clone(&endpoint),
            Arc::clone(&clock),
        )?;
        Ok(Self { preset, endpoint, look_up, clock })
    }

    fn can_ask(&self) -> bool {
        matches!(self.look_up.how, How::Ask(_))
    }

    fn asks_before(&self) -> bool {
        !self.preset.key_protects && self.can_ask()
    }

    async fn ask(&self, key: &str) -> Answer {
        let question = Question {
            reference: key.to_owned(),
            from: self.clock.now().checked_sub_signed(LOOKED_BACK),
            fields: BTreeMap::new(),
            mask: Arc::default(),
        };
        self.look_up.ask(&question).await.answer
    }

    /// What templates may use; `secret` is what stands for the secret.
    fn fields(&self, notice: &Notice, secret: Option<&str>) -> Fields {
        let mut fields = notice::fields(notice);
        fields.extend(self.endpoint.vars.clone());
        fields.insert("base".to_owned(), self.endpoint.place().into());
        if let Some(secret) = secret {
            fields.insert("secret".to_owned(), secret.into());
        }
        fields
    }

    fn planned(&self, fields: &Fields) -> Result<(Planned, HeaderMap), String> {
        let send = &self.preset.send;
        let mut url =
            address(&self.endpoint.base, &send.path, false, fields).map_err(|fault| fault.detail)?;
        let query = rendered(&send.query, fields).map_err(|fault| fault.detail)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(&query);
        }
        let mut headers = HeaderMap::new();
        for (name, template) in &send.headers {
            let wrong = || format!("the header `{name}` has characters that no header can carry");
            let value = HeaderValue::from_str(&template.render(fields)?).map_err(|_| wrong())?;
            headers.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?, value);
        }
        let body = Some(send.body.render(fields)?);
        Ok((Planned { method: "POST", url, body }, headers))
    }

    fn masked(&self, text: &str) -> String {
        self.endpoint.secret.masked(text)
    }

    fn outcome(&self, tried: &Tried, notice: &Notice) -> Result<String, NotTaken> {
        let (name, secret) = (&self.preset.target.title, &self.endpoint.secret);
        let (status, send) = (tried.reply.status, &self.preset.send);
        if !send.success.contains(&status) {
            return Err(notice::not_taken(name, tried, secret));
        }
        let document: Option<Value> = serde_json::from_slice(&tried.reply.body).ok();
        let broken = send.tests.iter().find(|test| {
            let found = document.as_ref().map(|document| test.place.all(document)).unwrap_or_default();
            !match &test.must {
                Must::Exist => found.iter().any(|node| !node.is_null()),
                Must::NotExist => document.is_some() && found.iter().all(|node| node.is_null()),
                Must::Equal(wanted) => matches!(found[..], [only] if only == wanted),
            }
        });
        if let Some(test) = broken {
            // Neither the whole of a yes nor surely a no.
            let said = notice::shown(&String::from_utf8_lossy(&tried.reply.body), secret);
            let why = format!(
                "{name} answered {status}, and `{}` is not as it must be ({said}); it may have arrived",
                test.place.source()
            );
            return Err(NotTaken::new(why, FaultKind::Shape));
        }
        let id = send
            .id
            .as_ref()
            .zip(document.as_ref())
            .and_then(|(place, document)| single(place, document).ok().flatten().and_then(plain_text));
        let id = id.map(|id| notice::shown(&id, secret));
        let link = id.as_ref().zip(send.link.as_ref()).and_then(|(id, link)| {
            let mut fields = self.fields(notice, None);
            fields.insert("id".to_owned(), id.as_str().into());
            link.render(&fields).ok().map(|link| notice::shown(&link, secret))
        });
        let told: Vec<String> = [id, link].into_iter().flatten().collect();
        Ok(format!("{name} answered {status} {}", told.join(" ")).trim_end().to_owned())
    }
}

#[async_trait]
impl Escalation for Target {
    fn place(&self) -> String {
        format!("{} ({})", self.endpoint.place(), self.preset.target.name)
    }

    async fn examine(&self) -> Examined {
        let place = self.place();
        let (health, finding) = match (self.ask(PROBE_KEY).await, self.endpoint.secret.secret()) {
            (Answer::Complete { .. }, _) => (
                Health::Good,
                format!(
                    "{place} answers when it is asked for a key; whether it lets us send shows when we do"
                ),
            ),
            (Answer::Fault(fault), Ok(_)) if fault.kind == FaultKind::Unanswerable => {
                (Health::Doubtful, format!("{place}: not tried: {fault}"))
            }
            (Answer::Fault(fault), Ok(_)) if self.preset.key_protects => (
                Health::Doubtful,
                format!(
                    "{place}: {fault}. Nothing is asked before it is sent, so it may be taken all the same."
                ),
            ),
            (Answer::Fault(fault), _) if fault.kind.is_unreachable() => {
                (Health::Unreachable, format!("{place}: {fault}. Nothing could be sent."))
            }
            (Answer::Fault(_), Err(fault)) => {
                (Health::of(fault.kind), format!("{place}: {fault}. Nothing could be sent."))
            }
            (Answer::Fault(fault), Ok(_)) => (
                Health::Bad,
                format!("{place}: {fault}. It is asked before anything is sent, so nothing would be."),
            ),
        };
        Examined { what: "target".to_owned(), health, finding }
    }

    fn shown(&self, notice: &Notice) -> Result<ShownRequest, String> {
        let (planned, own) = self.planned(&self.fields(notice, Some(MASK)))?;
        let headers =
            self.endpoint.headers.iter().chain(&own).map(|(name, value)| {
                (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            });
        Ok(ShownRequest {
            method: planned.method.to_owned(),
            url: planned.url.to_string(),
            headers: headers.chain(self.endpoint.shown_auth()).collect(),
            body: planned.body.unwrap_or_default().to_string(),
            asks_before: self.asks_before().then(|| {
                format!("it is asked for {} first; what is there is not sent again", notice.dedup_key)
            }),
            repeat: self.preset.repeat.clone(),
        })
    }

    async fn send(&self, notice: &Notice) -> Result<String, NotTaken> {
        let not_sent = |sentence: &str, kind: FaultKind| {
            NotTaken::new(format!("{}; nothing was sent", self.masked(sentence)), kind)
        };
        let of_fault = |fault: Fault| not_sent(&fault.detail, fault.kind);
        let secret = self.preset.send.uses_secret.then(|| self.endpoint.secret.secret()).transpose();
        let secret = secret.map_err(of_fault)?;
        let secret = secret.as_ref().map(ExposeSecret::expose_secret);
        let (planned, headers) = self
            .planned(&self.fields(notice, secret))
            .map_err(|sentence| not_sent(&sentence, FaultKind::Question))?;
        if self.asks_before() {
            match self.ask(&notice.dedup_key).await {
                Answer::Complete { effects, .. } => {
                    if let Some(there) = effects.first() {
                        let (name, id) =
                            (&self.preset.target.title, notice::shown(&there.id, &self.endpoint.secret));
                        return Ok(format!("{name} has it already: {id}; nothing was sent again"));
                    }
                }
                Answer::Fault(fault) => {
                    let sentence = format!("whether it is there already could not be asked: {fault}");
                    return Err(not_sent(&sentence, fault.kind));
                }
            }
        }
        let request_max = self.preset.target.limits.request_max;
        self.endpoint.get_token(request_max).await.map_err(of_fault)?;
        let request = self.endpoint.request(&planned, &headers, self.clock.now()).map_err(of_fault)?;
        let client = self.endpoint.client().map_err(of_fault)?;
        let tried = exchange(client, request, request_max, BODY_BYTES_MAX).await;
        self.outcome(&tried, notice)
    }
}
